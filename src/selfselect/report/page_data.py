"""The data that the page of an audit computes from: counts per group at a list of thresholds, and terms.

The page recomputes everything from these data alone, by the rules of ``report/scripts``. They hold no row of data.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
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
from ..behaviour import MAJORITY, max_accepted_cost
from ..costs import Terms
from ..counting.groups import position_of, with_same_columns
from ..counting.intervals import ratio
from ..publishing import ThresholdCurves
from ..statistics import SLACK, Guaranteed, Published, confidence_of
from .dicts import plain_value
from .sentences.audits import response_text
from .sentences.words import FEW_SELECTED, merged_sentence

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
#: Numbers in a table of shares, and the costs per unit at which shares are listed, rounded to so many digits.
MAX_SHARES, COSTS_PER_UNIT, SHARE_DIGITS = 1_500_000, 100, 4
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
    terms = audit.terms
    by_table = response_text(audit) is not None
    divided = by_table and terms.shares(groups, audit.published.counts).dtype != bool
    thresholds, position, exact = _thresholds(
        published_by, counted_on, MAX_SHARES // (COSTS_PER_UNIT + 1) if divided else MAX_CELLS
    )
    confidence = None if by_table else terms.confidence
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
            "behaviour": _table_data(audit, thresholds, position) if by_table else _behaviour_data(terms),
        },
        "names": [short_name(name) for name in audit.names],
        "order": natural_order(audit.names),
        "thresholds": None if thresholds is None else [None, *thresholds[1:].tolist()],  # JSON has no -inf
        "lower_passes": published_by.lower_passes,
        "threshold_position": position,
        "exact": exact and not audit.provenance.min_cell,  # merged steps leave some out
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
        "passes": short_name(source.passes) if source.passes else "",
        "group_by": short_name(source.groups or "group"),
        "score": short_name(source.score or "score"),
        "note": printable(source.note),
        "persons": printable(source.persons),
        "dated": short_name(source.dated) if source.dated else "",
        "merged": printable(merged_sentence(source)),
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
    """How people decide where the script knows the formula: the best response to a precision or its lower bound."""
    statistic, undefined = terms.statistic, terms.behaviour.undefined  # type: ignore[attr-defined]
    promised = {"promised": list(statistic.passed)} if isinstance(statistic, Guaranteed) else {}
    confidence = confidence_of(statistic)
    if confidence is None:
        return {"rule": "hard", "undefined": undefined} | promised
    return {"rule": "sure", "undefined": undefined, "confidence": confidence} | promised


def _table_data(audit: Audit, thresholds: FloatArray | None, position: int) -> dict[str, Any]:
    """How people decide where the script does not know the formula: a table of what they do.

    ``groups`` has the rows of each group, one per pair of counts that occurs: true positives, selected, the highest
    accepted cost (None if there is none), and the shares that apply at costs 0, 0.01, ..., 1. Under a behaviour of yes
    or no the highest accepted cost is enough, and the last entry is the share where there is none. ``start`` has what
    each group does at first: true positives, selected, cost, share.
    """
    groups, terms, counts = audit.published.groups, audit.terms, audit.published.counts
    selected, true_positives, _ = _counts_at(audit.published_by, thresholds, position)
    squares, curves = counts.squares, audit.published_by.curves
    if squares is not None and curves is not None and curves.squares is not None and thresholds is not None:
        squared = curves.squares.counts_at(thresholds)
        squared[0][position], squared[1][position] = squares.selected, squares.true_positives
        squares = replace(squares, selected=squared[0], true_positives=squared[1])
    at_thresholds = replace(counts, selected=selected, true_positives=true_positives, squares=squares)
    published = Published(at_thresholds, terms.statistic, groups)
    accepted = np.broadcast_to(max_accepted_cost(terms.behaviour, published), selected.shape)

    def shares_at(cost: float) -> NDArray[Any]:
        return np.asarray(terms.behaviour.shares(published, np.full(selected.shape, cost)))

    shares: NDArray[Any] = shares_at(1.0)
    if shares.dtype != bool:
        listed = [shares_at(i / COSTS_PER_UNIT) for i in range(COSTS_PER_UNIT + 1)]
        shares = np.stack(listed, axis=-1).astype(np.float64).round(SHARE_DIGITS)
    # JSON writes whole numbers most shortly
    short = np.where(np.isin(shares, (0, 1)), shares.astype(np.int64).astype(object), shares.astype(object))
    rows = []
    for z in range(len(groups)):
        pairs = np.column_stack([true_positives[:, z], selected[:, z]])
        first = np.unique(pairs, axis=0, return_index=True)[1]
        numbers = short[:, z].tolist()
        rows.append([[*pairs[t].tolist(), plain_value(accepted[t, z]), numbers[t]] for t in first])
    start = (counts.true_positives, counts.selected, terms.effective_cost(groups), audit.shares)
    return {
        "rule": "table",
        "name": response_text(audit),
        "confidence": None,
        "groups": rows,
        "start": [list(row) for row in zip(*(np.asarray(part).tolist() for part in start), strict=True)],
    }


def _thresholds(
    published_by: ScreeningResult, counted_on: ScreeningResult, cells: int
) -> tuple[FloatArray | None, int, bool]:
    """Thresholds to offer; none unless both sets of people can be counted at each, and are at the same one now.

    ``cells`` is the largest number of groups times thresholds. If it leaves too few thresholds for a slider, only the
    one in use is offered.
    """
    curves, in_use = published_by.curves, published_by.threshold
    if curves is None or in_use is None or counted_on.curves is None or counted_on.threshold != in_use:
        return None, 0, True
    most = cells // len(published_by.groups)
    if most < MIN_THRESHOLDS:
        return None, 0, True
    return threshold_grid(curves, in_use, min(most, MAX_THRESHOLDS))


def _counts(people: ScreeningResult, groups: pd.Index, thresholds: FloatArray | None, position: int) -> dict[str, Any]:
    """Counts in the order of the published groups; zero for a group without people."""
    aligned = with_same_columns(people.groups, groups, "The population", "what is published")
    place = position_of(aligned, groups, "The population", "what is published")

    def spread(values: NDArray[Any]) -> list[Any]:
        row = np.zeros(len(groups), dtype=values.dtype)
        row[place] = values
        return list(row.tolist())

    counts = people.counts
    selected, true_positives, worth = _counts_at(people, thresholds, position)
    return {
        # how many equally weighted people a unit of weight is worth among those who pass; null without weights
        "worth": None if worth is None else [spread(np.nan_to_num(row)) for row in worth],
        "n": spread(counts.n),
        "positives": spread(counts.positives),
        "untested": None if counts.labels_known else spread(counts.unknown),
        "selected": [spread(row) for row in selected],
        "true_positives": [spread(row) for row in true_positives],
    }


def _counts_at(
    people: ScreeningResult, thresholds: FloatArray | None, position: int
) -> tuple[NDArray[Any], NDArray[Any], FloatArray | None]:
    """Selected people and true positives of each group at each threshold, and how many people a unit of weight is."""
    counts = people.counts
    selected, true_positives, worth = counts.selected[None], counts.true_positives[None], None
    if counts.squares is not None:
        worth = ratio(counts.effective_trials[1], counts.selected)[None]
    if people.curves is not None and thresholds is not None:
        kind = people.curves.selected.dtype  # whole numbers stay whole, and short
        selected, true_positives = (values.astype(kind) for values in people.curves.counts_at(thresholds))
        if people.curves.squares is not None and worth is not None:
            now, worth = worth[0], ratio(people.curves.table_at(thresholds).effective_trials[1], selected)
            worth[position] = now
        # cumulative sums of weights carry rounding; the page opens with the very numbers of the table
        selected[position], true_positives[position] = counts.selected, counts.true_positives
    return selected, true_positives, worth
