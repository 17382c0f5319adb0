"""Groups whose interval of precision includes their cost, so that chance decides whether they apply.

``report/scripts/undecided.js`` has the same rules.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._validation import BoolArray, FloatArray
from ..counting import GroupCounts, ratio
from ..outcomes import outcome_bounds


def either_way(counts: GroupCounts, applies: BoolArray, undecided: BoolArray) -> dict[str, Any]:
    """Ranges of accuracy among applicants and social cost over all decisions of the undecided groups, exactly.

    Accuracy among applicants is a ratio of sums. If adding a group raises it, so does adding any group with a higher
    accuracy. So at the highest accuracy, the undecided groups with the highest accuracy apply; at the lowest, those
    with the lowest. Each group that stays away adds to social cost.

    Returns
    -------
    dict
        ``induced_accuracy`` and ``social_cost``, two ends each (including the bounds over labels of people who were not
        tested), and ``nobody``: whether it is possible that nobody applies.
    """
    certain, possible = applies & ~undecided, applies | undecided
    fewest, most = (outcome_bounds(counts, who.astype(np.float64))["social_cost"] for who in (possible, certain))
    low, high = (
        _extreme_accuracy(counts, correct, certain, undecided, sign)
        for correct, sign in zip(counts.correct_bounds, (-1, 1), strict=True)
    )
    return {
        "induced_accuracy": (low, high),
        "social_cost": (float(fewest[0]), float(most[1])),
        "nobody": not certain.any(),
    }


def _extreme_accuracy(
    counts: GroupCounts, correct: FloatArray, certain: BoolArray, undecided: BoolArray, sign: int
) -> float:
    """Lowest (sign -1) or highest (1) accuracy among applicants, NaN if nobody can apply."""
    order = np.flatnonzero(undecided & (counts.n > 0))
    order = order[np.argsort(-sign * correct[order] / counts.n[order], kind="stable")]
    sums = np.concatenate([[correct[certain].sum()], correct[order]]).cumsum()
    people = np.concatenate([[counts.n[certain].sum()], counts.n[order]]).cumsum()
    accuracy = sign * ratio(sums, people)
    return float(sign * np.nanmax(accuracy)) if not np.isnan(accuracy).all() else float("nan")
