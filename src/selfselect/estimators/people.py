"""The people that a classifier is trained on, and how they are splits into fitted and judged ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray
from ..counting import GroupCodes, GroupCounts
from ..publishing import ThresholdCurves
from ..publishing.splits import Rows, Splits


def as_counts(weights: FloatArray) -> FloatArray:
    """Weights as numbers of people: whole ones are repetitions as they are, others are scaled to average 1."""
    if (weights == np.floor(weights)).all():
        return weights
    return np.asarray(weights / weights[weights > 0].mean())


@dataclass(frozen=True, eq=False)
class TrainingPeople:
    """Who is qualified, in which group, with what weight; and who is fitted and judged.

    Attributes
    ----------
    qualified : ndarray of bool
    groups : GroupCodes
    weights : ndarray of float or None
    splits : Splits
    """

    qualified: BoolArray
    groups: GroupCodes
    weights: FloatArray | None
    splits: Splits

    def counts(self, rows: Rows, selected: NDArray[np.bool_]) -> GroupCounts:
        """Counts per group of some rows."""
        weights = None if self.weights is None else self.weights[rows]
        return GroupCounts.from_rows(
            self.qualified[rows], selected, self.groups.codes[rows], self.groups.n_groups, weights
        )

    def curves(self, score: FloatArray) -> ThresholdCurves:
        """Counts at every threshold of those who are judged; who counts for nothing adds no threshold either."""
        rows = self.splits.judged
        weights = None if self.weights is None else self.weights[rows]
        if weights is not None and not weights.all():
            keep = weights > 0
            rows, score, weights = rows[keep], score[keep], weights[keep]
        groups = self.groups.take(rows)
        return ThresholdCurves.from_codes(self.qualified[rows], score, groups.codes, groups.labels, weights)
