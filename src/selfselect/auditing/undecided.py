"""Groups whose interval of precision includes their cost, so that chance decides whether they apply.

``report/scripts/undecided.js`` has the same functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._validation import BoolArray, FloatArray
from ..counting import GroupCounts, ratio
from ..outcomes import outcome_bounds


def undecided_groups(low: ArrayLike, high: ArrayLike, costs: FloatArray) -> BoolArray:
    """Whether the interval of each group's precision holds its cost; False where nobody passes.

    Examples
    --------
    >>> undecided_groups([0.6, 0.75, np.nan], [0.8, 0.9, np.nan], np.full(3, 0.7)).tolist()
    [True, False, False]
    """
    return np.asarray((np.asarray(low) < costs) & (costs <= np.asarray(high)), dtype=bool)


def either_way(counts: GroupCounts, applies: BoolArray, undecided: BoolArray) -> dict[str, Any]:
    """Ranges of accuracy among applicants and social cost over all decisions of the undecided groups, exactly.

    Accuracy among applicants is a ratio of sums. If adding a group raises it, so does adding any group that is judged
    more accurately: at the highest accuracy the best judged of the undecided groups apply and none of the others; at
    the lowest the worst judged. Each group that stays away adds to social cost.

    Returns
    -------
    dict
        ``induced_accuracy`` and ``social_cost``, two ends each (including the bounds over labels of people who were not
        tested), and ``nobody``: whether it may be that nobody applies.

    Examples
    --------
    >>> counts = GroupCounts(*(np.array(column) for column in ([10, 10], [5, 5], [5, 5], [4, 3])))
    >>> found = either_way(counts, np.array([True, False]), np.array([True, True]))
    >>> found["induced_accuracy"], found["social_cost"], found["nobody"]
    ((0.6, 0.8), (0.0, 1.0), True)
    """
    sure, all_in = applies & ~undecided, applies | undecided
    ends = (
        _extreme_accuracy(counts, counts.correct_bounds[0], sure, undecided, -1),
        _extreme_accuracy(counts, counts.correct_bounds[1], sure, undecided, 1),
    )
    fewest, most = (outcome_bounds(counts, who.astype(np.float64))["social_cost"] for who in (all_in, sure))
    return {
        "induced_accuracy": ends,
        "social_cost": (float(fewest[0]), float(most[1])),
        "nobody": not sure.any(),
    }


def _extreme_accuracy(
    counts: GroupCounts, right: FloatArray, sure: BoolArray, undecided: BoolArray, sign: int
) -> float:
    """Lowest (sign -1) or highest (1) accuracy over those who apply, NaN if nobody can."""
    chosen = np.flatnonzero(undecided & (counts.n > 0))
    chosen = chosen[np.argsort(-sign * right[chosen] / counts.n[chosen], kind="stable")]
    hits = np.concatenate([[right[sure].sum()], right[chosen]]).cumsum()
    people = np.concatenate([[counts.n[sure].sum()], counts.n[chosen]]).cumsum()
    reached = ratio(hits, people)
    reached = reached[~np.isnan(reached)]
    return float(sign * (sign * reached).max()) if reached.size else float("nan")
