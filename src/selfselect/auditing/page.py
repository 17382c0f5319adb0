"""Everything that the report computes from: counts per group at a list of thresholds, terms, and where they come from.

The page recomputes all findings from this content alone, by the rules of ``report/scripts``; it holds no row of data.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from .._errors import InputError
from .._text import printable
from .._validation import FloatArray
from ..behaviour import MOST_OF_A_GROUP, SLACK, Behaviour, BestResponse, PromisedRule, SureRule
from ..costs import Terms
from ..counting.groups import position_of, with_same_columns
from ..counting.intervals import ratio
from ..publishing import ThresholdCurves
from ..report.rendering import NO_OPENING
from .formats import MOST_NAMED, count, level
from .promises import RARE
from .provenance import Provenance
from .screening import ScreeningResult
from .words import FEW_SELECTED

#: With more groups than this a page would be neither small nor usable.
MOST_GROUPS = 2000
#: Counts embedded for thresholds, over all groups together: what keeps a page below two megabytes.
MOST_CELLS = 60_000
#: Thresholds offered: a slider of some 200 steps can still be set by hand, one of fewer than ten is of little use.
MOST_THRESHOLDS, FEWEST_THRESHOLDS = 201, 11
#: Where not all thresholds can be offered, they are rounded to so many digits, to be read and typed.
THRESHOLD_DIGITS = 3
#: Names longer than this are shortened on the page, which leaves so much room for a remark on their length.
LONGEST_NAME, ROOM_FOR_LENGTH = 120, 20
#: A command is cut here: some shells allow megabytes.
LONGEST_COMMAND = 4000
#: Sentences that stand in the file itself, for readers without scripts, and how long they may be: names of groups are
#: as long as strangers make them.
MOST_SENTENCES, LONGEST_SENTENCE, LONGEST_VERDICT = 50, 1000, 2000
#: A note on the page is cut here.
LONGEST_NOTE = 2000
#: Intervals on the page are those of ``PublishedStatistics.to_frame``.
CONFIDENCE = 0.95


#: A name that begins with a number, maybe after a bracket or a sign: (22, 25], 25-34, <25, over 60, 3.
NUMBERED = re.compile(
    r"[\[(]?\s*(?P<sign><=?|>=?|\u2264|\u2265|under|below|up to|over|above)?\s*(?P<number>-?\d+(?:\.\d+)?)",
    re.IGNORECASE,
)
#: Signs that place a name before, or after, the others with its number.
BEFORE, AFTER = ("<", "<=", "\u2264", "under", "below", "up to"), (">", ">=", "\u2265", "over", "above")


def own_order(names: Sequence[str]) -> list[int] | None:
    """Positions of names in the order that their numbers have; None where they are no numbers or ranges.

    One name may be none (people of whom it is missing): it comes last.

    Examples
    --------
    >>> own_order(["25-34", ">60", "<25", "35-60", "unknown"])
    [2, 0, 3, 1, 4]
    >>> own_order(["A", "B"]) is None
    True
    """
    places: list[tuple[float, int, int]] = []
    for position, name in enumerate(names):
        found = NUMBERED.match(name.strip())
        if found is None:
            places.append((np.inf, 0, position))
            continue
        sign = (found["sign"] or "").lower()
        places.append((float(found["number"]), (sign in AFTER) - (sign in BEFORE), position))
    without = sum(place[0] == np.inf for place in places)
    if without > 1 or len(places) - without < 2:
        return None
    return [position for *_, position in sorted(places)]


@dataclass(frozen=True)
class Opening:
    """How a page opens that is about more than an audit.

    Attributes
    ----------
    eyebrow : str
        What kind of page it is, in a few words.
    headline : str
        Its own headline, before the one of the audit; empty where the audit's is enough.
    paragraphs : tuple of str
        What else is said at once.
    tables : tuple of dict
        ``title``, ``rows`` (dicts from column to text) and ``left`` (columns that are text) of each.
    published, counted : str
        Who the people are whose counts are published, and those who are counted: "8,000 training people".
    """

    eyebrow: str = str(NO_OPENING["eyebrow"])
    headline: str = ""
    paragraphs: tuple[str, ...] = ()
    tables: tuple[dict[str, Any], ...] = ()
    published: str = ""
    counted: str = ""

    def to_content(self) -> dict[str, Any]:
        """The same as plain values, with texts that cannot do harm."""
        return {
            "eyebrow": self.eyebrow,
            "headline": printable(self.headline)[:LONGEST_VERDICT],
            "paragraphs": [printable(text) for text in self.paragraphs],
            "tables": [
                {
                    **table,
                    "rows": [{name: short_name(str(cell)) for name, cell in row.items()} for row in table["rows"]],
                }
                for table in self.tables
            ],
            "published": printable(self.published),
            "counted": printable(self.counted),
        }


def short_name(name: str) -> str:
    """A name as the page shows it: on one line, without marks that change the direction, not too long."""
    text = printable(name) or "(empty)"
    if len(text) <= LONGEST_NAME:
        return text
    return f"{text[: LONGEST_NAME - ROOM_FOR_LENGTH]}... ({len(name):,} characters)"


def threshold_grid(curves: ThresholdCurves, own: float, most: int) -> tuple[FloatArray, int, bool]:
    """Thresholds that the page offers, rising, from -inf (everyone passes) on.

    Parameters
    ----------
    curves : ThresholdCurves
        The score, by group.
    own : float
        The threshold in use: always offered as it is. Only +inf, for which no chart has a place, stands at the largest
        score, from which on nobody passes.
    most : int
        About how many to offer.

    Returns
    -------
    thresholds : ndarray
    position : int
        Where among them the threshold in use is.
    exact : bool
        Whether these are all thresholds that make a difference. Otherwise they are spread over the range and over the
        scores, rounded to three digits.

    Examples
    --------
    >>> curves = ThresholdCurves.from_scores([0, 1], [0.25, 0.75])
    >>> thresholds, position, exact = threshold_grid(curves, 0.5, 100)
    >>> thresholds.tolist(), position, exact
    ([-inf, 0.25, 0.5, 0.75], 2, True)
    """
    values = np.unique(curves.threshold)[1:]
    in_use = float(values[-1]) if own == np.inf else own
    largest = float(values[-1]) if len(values) else in_use
    exact = len(values) <= most
    if not exact:
        spread = values[np.linspace(0, len(values) - 1, most // 2).astype(int)]
        low, high = float(values[0]), float(values[-1])
        even = low + np.linspace(0, 1, most // 2) * (high - low) if np.isfinite(high - low) else spread
        values = np.array([float(f"{value:.{THRESHOLD_DIGITS}g}") for value in np.concatenate([spread, even])])
    # rounded or not, none lies beyond the largest score, from which on nobody passes, and that one is there
    values = np.concatenate([values[values < largest], [largest]])
    thresholds = np.unique(np.concatenate([[-np.inf, in_use], values]))
    return thresholds, int(np.searchsorted(thresholds, in_use)), exact


def page_content(
    published_by: ScreeningResult,
    counted_on: ScreeningResult,
    terms: Terms,
    *,
    names: Sequence[str],
    verdict: str,
    sentences: Sequence[str],
    provenance: Provenance,
) -> dict[str, Any]:
    """Everything that the page computes from, as values that JSON can hold.

    Parameters
    ----------
    published_by, counted_on : ScreeningResult
        The people whose counts are published, and those whose accuracy and social cost are counted.
    terms : Terms
        What groups face at first. People must decide by a rule that the page knows: the hard one, or the sure one.
    names, sentences : sequence of str
        The published groups, and one sentence on each.
    verdict : str
        What it comes to.
    provenance : Provenance
        Where the numbers come from.
    """
    groups = published_by.groups
    if len(groups) > MOST_GROUPS:
        raise InputError(
            f"{len(groups):,} groups are too many for a page ({MOST_GROUPS:,} at most); merge small groups, or "
            "group by fewer columns.",
            key="report_groups",
        )
    same = counted_on is published_by
    thresholds, position, exact = _thresholds(published_by, counted_on)
    told = [printable(sentence) for sentence in sentences[:MOST_SENTENCES]]
    return {
        **source_content(provenance),
        "constants": page_constants(),
        "levels": _levels(terms.confidence),
        "terms": _terms_content(terms, groups),
        "names": [short_name(name) for name in names],
        "order": own_order(names),
        "thresholds": None if thresholds is None else [None, *thresholds[1:].tolist()],  # JSON has no -inf
        "threshold_position": position,
        "exact": exact,
        "published": _counts(published_by, groups, thresholds, position),
        "population": None if same else _counts(counted_on, groups, thresholds, position),
        "untested": "" if counted_on.counts.is_known else count(float(counted_on.counts.unknown.sum())),
        "verdict": printable(verdict) if len(verdict) < LONGEST_VERDICT else "",
        "sentences": [sentence for sentence in told if len(sentence) < LONGEST_SENTENCE],
    }


def static_content(
    over_costs: str,
    impact: Sequence[dict[str, Any]],
    sure: Sequence[str] = (),
    warnings: Sequence[str] = (),
    opening: Opening | None = None,
) -> dict[str, Any]:
    """What the page says of the setting it was made with, and does not compute again.

    Parameters
    ----------
    over_costs : str
        What holds over a range of costs; empty without one.
    impact : sequence of dicts
        Tables of impact ratios, as :func:`selfselect.auditing.impact.impact_rows` makes them.
    sure : sequence of str
        What the bootstrap says, in lines.
    warnings : sequence of str
        What looks wrong with the data.
    opening : Opening, optional
        What the page is about, where it is more than an audit.
    """
    tables = [
        table
        | {
            "by": short_name(table["by"]),
            "rows": [row | {"category": short_name(row["category"])} for row in table["rows"]],
        }
        for table in impact
    ]
    return {
        "over_costs": printable(over_costs) if len(over_costs) < LONGEST_VERDICT else "",
        "impact": tables,
        "sure": [printable(line) for line in sure],
        "warnings": [printable(warning) for warning in warnings],
        "opening": (opening or Opening()).to_content(),
    }


def source_content(source: Provenance) -> dict[str, str]:
    """Where the numbers come from, as a page states it."""
    return {
        "title": short_name(source.title) if source.title else "Screening model",
        "command": printable(source.command)[:LONGEST_COMMAND],
        "sha256": source.sha256,
        "label": short_name(source.label) if source.label else "",
        "group_by": short_name(source.groups) if source.groups else "group",
        "score": short_name(source.score) if source.score else "score",
        "note": printable(source.note)[:LONGEST_NOTE],
        "dated": short_name(source.dated) if source.dated else "",
    }


def page_constants() -> dict[str, float]:
    """Numbers that the script needs and the library has: stated once, there."""
    quantile = float(ndtri((1 + CONFIDENCE) / 2))
    return {
        "slack": SLACK,
        "most_of_a_group": MOST_OF_A_GROUP,
        "few_selected": FEW_SELECTED,
        "most_named": MOST_NAMED,
        "quantile": quantile,
        "quantile_squared": quantile**2,
        "interval_tail": (1 - CONFIDENCE) / 2,
        "rare": RARE,
    }


def _levels(confidence: float | None) -> dict[str, str | None]:
    """Probabilities that explanations on the page name."""
    return {
        "sure": None if confidence is None else level(confidence),
        "unsure": None if confidence is None else level(1 - confidence),
        "rare": level(RARE),
    }


def _terms_content(terms: Terms, groups: pd.Index) -> dict[str, Any]:
    uniform = terms.uniform_cost
    return {
        "cost": uniform,
        "group_costs": None if uniform is not None else terms.listed_for(groups).tolist(),
        "subsidies": terms.subsidies_for(groups).tolist(),
        "kind": terms.kind,
        "behaviour": _behaviour_content(terms.behaviour),
    }


def _behaviour_content(behaviour: Behaviour) -> dict[str, Any]:
    """What the script needs to decide as people do; refuses what it could not follow."""
    if type(behaviour) is BestResponse:
        return {"rule": "hard", "undefined": behaviour.undefined}
    if type(behaviour) is SureRule:
        return {"rule": "sure", "undefined": behaviour.undefined, "confidence": behaviour.confidence}
    if type(behaviour) is PromisedRule:
        told = {"promised": list(behaviour.promised)}
        return {"rule": "sure", "undefined": behaviour.undefined, "confidence": behaviour.confidence} | told
    raise InputError(
        f"The page recomputes who applies by BestResponse() or SureRule(), and cannot follow {behaviour!r}; a report "
        "would contradict itself. Make the report for one of these, or take the numbers from to_frame() and to_json().",
        key="behaviour",
    )


def _thresholds(published_by: ScreeningResult, counted_on: ScreeningResult) -> tuple[FloatArray | None, int, bool]:
    """Thresholds to offer; none unless both sets of people can be counted at each, and are at the same one now."""
    curves, own = published_by.curves, published_by.threshold
    if curves is None or own is None or counted_on.curves is None or counted_on.threshold != own:
        return None, 0, True
    most = int(np.clip(MOST_CELLS // len(published_by.groups), FEWEST_THRESHOLDS, MOST_THRESHOLDS))
    return threshold_grid(curves, own, most)


def _counts(people: ScreeningResult, groups: pd.Index, thresholds: FloatArray | None, position: int) -> dict[str, Any]:
    """Counts in the order of the published groups; a group of which nobody is here has none."""
    aligned = with_same_columns(people.groups, groups, "The population", "what is published")
    place = position_of(aligned, groups, "The population", "what is published")

    def spread(values: NDArray[Any]) -> list[Any]:
        row = np.zeros(len(groups), dtype=values.dtype)
        row[place] = values
        return list(row.tolist())

    counts = people.counts
    selected, hits, worth = counts.selected[None], counts.true_positives[None], None
    if counts.squares is not None:
        worth = ratio(counts.selected, counts.squares.selected)[None]
    if people.curves is not None and thresholds is not None:
        kind = people.curves.selected.dtype  # whole numbers stay whole, and short
        selected, hits = (found.astype(kind) for found in people.curves.counts_at(thresholds))
        if people.curves.squares is not None and worth is not None:
            at_own, worth = worth[0], ratio(selected, people.curves.squares.counts_at(thresholds)[0])
            worth[position] = at_own
        # sums of weights along the way carry rounding; the page opens with the very numbers of the table
        selected[position], hits[position] = counts.selected, counts.true_positives
    return {
        # how many equally weighted people a unit of weight is worth among those who pass; null where each counts once
        "worth": None if worth is None else [spread(np.nan_to_num(row)) for row in worth],
        "n": spread(counts.n),
        "positives": spread(counts.positives),
        "untested": None if counts.is_known else spread(counts.unknown),
        "selected": [spread(row) for row in selected],
        "true_positives": [spread(row) for row in hits],
    }
