"""The data that the page of an audit computes from: counts per group at a list of thresholds, and terms.

The page recomputes everything from these data alone, by the rules of ``report/scripts``. They hold no row of data.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from .._errors import InputError
from .._formats import MAX_NAMED, level
from .._text import printable
from .._validation import FloatArray
from ..auditing import Audit, Provenance, ScreeningResult
from ..auditing.promises import RARE
from ..behaviour import MAJORITY, BestResponse
from ..costs import Terms
from ..counting.groups import position_of, with_same_columns
from ..counting.intervals import ratio
from ..publishing import ThresholdCurves
from ..statistics import SLACK, Guaranteed, LowerBound, Precision, confidence_of
from .sentences.words import FEW_SELECTED

#: With more groups than this a page would be neither small nor usable.
MAX_GROUPS = 2000
#: Counts embedded for thresholds, over all groups together: what keeps a page below two megabytes.
MAX_CELLS = 60_000
#: Thresholds offered: a slider of some 200 steps can still be set by hand, one of fewer than ten is of little use.
MAX_THRESHOLDS, MIN_THRESHOLDS = 201, 11
#: If not all thresholds can be offered, they are rounded to so many digits, to be read and typed.
THRESHOLD_DIGITS = 3
#: Names longer than this are shortened on the page, which leaves so many characters for a remark on their length.
MAX_NAME_LENGTH, REMARK_LENGTH = 120, 20
#: Level of the intervals on the page, which are those of ``PublishedStatistics.to_frame``.
CONFIDENCE = 0.95

#: A name that begins with a number, maybe after a bracket or a sign: (22, 25], 25-34, <25, over 60, 3.
NUMBERED = re.compile(
    r"[\[(]?\s*(?P<sign><=?|>=?|\u2264|\u2265|under|below|up to|over|above)?\s*(?P<number>-?\d+(?:\.\d+)?)",
    re.IGNORECASE,
)
#: Signs that place a name before, or after, the others with its number.
BEFORE, AFTER = ("<", "<=", "\u2264", "under", "below", "up to"), (">", ">=", "\u2265", "over", "above")


def natural_order(names: Sequence[str]) -> list[int] | None:
    """Positions of names in the order of the numbers they begin with; None if they are no numbers or ranges.

    One name may have no number (a missing value): it comes last.
    """
    places: list[tuple[float, int, int]] = []
    for position, name in enumerate(names):
        match = NUMBERED.match(name.strip())
        sign = (match["sign"] or "").lower() if match else ""
        places.append((float(match["number"]) if match else np.inf, (sign in AFTER) - (sign in BEFORE), position))
    without = sum(place[0] == np.inf for place in places)
    return None if without > 1 or len(places) - without < 2 else [position for *_, position in sorted(places)]


def short_name(name: str) -> str:
    """A name as the page shows it: on one line, without marks that change the direction, not too long."""
    text = printable(name) or "(empty)"
    if len(text) <= MAX_NAME_LENGTH:
        return text
    return f"{text[: MAX_NAME_LENGTH - REMARK_LENGTH]}... ({len(name):,} characters)"


def threshold_grid(curves: ThresholdCurves, in_use: float, most: int) -> tuple[FloatArray, int, bool]:
    """Rising thresholds that the page offers, the position of the one in use, and whether these are all that differ.

    The first is -inf: everybody passes. If more than ``most`` thresholds differ, those offered are spread over the
    range and over the scores, and rounded. The threshold in use is always offered; +inf, for which no chart
    has a place, becomes the largest score, at which nobody passes either.
    """
    values = np.unique(curves.threshold)[1:]
    in_use = float(values[-1]) if in_use == np.inf else in_use
    largest = float(values[-1]) if len(values) else in_use
    exact = len(values) <= most
    if not exact:
        spread = values[np.linspace(0, len(values) - 1, most // 2).astype(int)]
        low, high = float(values[0]), float(values[-1])
        even = low + np.linspace(0, 1, most // 2) * (high - low) if np.isfinite(high - low) else spread
        values = np.array([float(f"{value:.{THRESHOLD_DIGITS}g}") for value in np.concatenate([spread, even])])
    # rounding must not move a threshold beyond the largest score, from which on nobody passes
    values = np.concatenate([values[values < largest], [largest]])
    thresholds = np.unique(np.concatenate([[-np.inf, in_use], values]))
    return thresholds, int(np.searchsorted(thresholds, in_use)), exact


def audit_data(audit: Audit) -> dict[str, Any]:
    """Everything that the page computes from, as values that JSON can hold."""
    published_by, counted_on, groups = audit.published_by, audit.counted_on, audit.published.groups
    if len(groups) > MAX_GROUPS:
        raise InputError(
            f"{len(groups):,} groups are too many for a page ({MAX_GROUPS:,} at most); merge small groups, or "
            "group by fewer columns.",
            key="report_groups",
        )
    thresholds, position, exact = _thresholds(published_by, counted_on)
    terms, confidence = audit.terms, audit.terms.confidence
    return {
        **source_data(audit.provenance),
        "constants": page_constants(),
        "levels": {
            "sure": None if confidence is None else level(confidence),
            "unsure": None if confidence is None else level(1 - confidence),
            "rare": level(RARE),
        },
        "terms": {
            "cost": terms.uniform_cost,
            "group_costs": None if terms.uniform_cost is not None else terms.listed_cost(groups).tolist(),
            "subsidies": terms.subsidies_for(groups).tolist(),
            "kind": terms.kind,
            "behaviour": _behaviour_data(terms),
        },
        "names": [short_name(name) for name in audit.names],
        "order": natural_order(audit.names),
        "thresholds": None if thresholds is None else [None, *thresholds[1:].tolist()],  # JSON has no -inf
        "threshold_position": position,
        "exact": exact,
        "published": _counts(published_by, groups, thresholds, position),
        "population": _counts(counted_on, groups, thresholds, position) if audit.of_new_people else None,
    }


def source_data(source: Provenance) -> dict[str, str]:
    """Where the numbers come from, as a page states it."""
    return {
        "title": short_name(source.title or "Screening model"),
        "command": printable(source.command),
        "sha256": source.sha256,
        "label": short_name(source.label) if source.label else "",
        "group_by": short_name(source.groups or "group"),
        "score": short_name(source.score or "score"),
        "note": printable(source.note),
        "dated": short_name(source.dated) if source.dated else "",
    }


def page_constants() -> dict[str, float]:
    """Numbers of the library that the script needs."""
    quantile = float(ndtri((1 + CONFIDENCE) / 2))
    return {
        "slack": SLACK,
        "majority": MAJORITY,
        "few_selected": FEW_SELECTED,
        "max_named": MAX_NAMED,
        "quantile": quantile,
        "quantile_squared": quantile**2,
        "interval_tail": (1 - CONFIDENCE) / 2,
        "rare": RARE,
    }


def _behaviour_data(terms: Terms) -> dict[str, Any]:
    """How people decide, if the script can recompute it."""
    behaviour, statistic = terms.behaviour, terms.statistic
    inner = statistic.statistic if isinstance(statistic, Guaranteed) else statistic
    if type(behaviour) is not BestResponse or type(inner) not in (Precision, LowerBound):
        raise InputError(
            f"The page recomputes who applies by BestResponse() to a precision or its lower bound, and cannot follow "
            f"{behaviour!r} and {statistic!r}; a report would contradict itself. Take the numbers from to_frame() and "
            "to_json().",
            key="behaviour",
        )
    promised = {"promised": list(statistic.passed)} if isinstance(statistic, Guaranteed) else {}
    confidence = confidence_of(statistic)
    if confidence is None:
        return {"rule": "hard", "undefined": behaviour.undefined}
    return {"rule": "sure", "undefined": behaviour.undefined, "confidence": confidence} | promised


def _thresholds(published_by: ScreeningResult, counted_on: ScreeningResult) -> tuple[FloatArray | None, int, bool]:
    """Thresholds to offer; none unless both sets of people can be counted at each, and are at the same one now."""
    curves, in_use = published_by.curves, published_by.threshold
    if curves is None or in_use is None or counted_on.curves is None or counted_on.threshold != in_use:
        return None, 0, True
    most = int(np.clip(MAX_CELLS // len(published_by.groups), MIN_THRESHOLDS, MAX_THRESHOLDS))
    return threshold_grid(curves, in_use, most)


def _counts(people: ScreeningResult, groups: pd.Index, thresholds: FloatArray | None, position: int) -> dict[str, Any]:
    """Counts in the order of the published groups; zero for a group without people."""
    aligned = with_same_columns(people.groups, groups, "The population", "what is published")
    place = position_of(aligned, groups, "The population", "what is published")

    def spread(values: NDArray[Any]) -> list[Any]:
        row = np.zeros(len(groups), dtype=values.dtype)
        row[place] = values
        return list(row.tolist())

    counts = people.counts
    selected, true_positives, worth = counts.selected[None], counts.true_positives[None], None
    if counts.squares is not None:
        worth = ratio(counts.selected, counts.squares.selected)[None]
    if people.curves is not None and thresholds is not None:
        kind = people.curves.selected.dtype  # whole numbers stay whole, and short
        selected, true_positives = (values.astype(kind) for values in people.curves.counts_at(thresholds))
        if people.curves.squares is not None and worth is not None:
            now, worth = worth[0], ratio(selected, people.curves.squares.counts_at(thresholds)[0])
            worth[position] = now
        # cumulative sums of weights carry rounding; the page opens with the very numbers of the table
        selected[position], true_positives[position] = counts.selected, counts.true_positives
    return {
        # how many equally weighted people a unit of weight is worth among those who pass; null without weights
        "worth": None if worth is None else [spread(np.nan_to_num(row)) for row in worth],
        "n": spread(counts.n),
        "positives": spread(counts.positives),
        "untested": None if counts.labels_known else spread(counts.unknown),
        "selected": [spread(row) for row in selected],
        "true_positives": [spread(row) for row in true_positives],
    }
