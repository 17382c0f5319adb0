"""Scores that are linear in the features: ``s = x.w + b``, over rows that are fed in any way.

This is where features enter training, and nowhere else: forward as ``X w + b``, backward as ``X'g`` from the slopes
``g`` per score. A value with its gradient takes O(m d) time for m rows and d features.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray
from ..counting.rows import Rows
from .objectives import Objective
from .sums import People, Slopes, SmoothScores, Sums


@dataclass(frozen=True, eq=False)
class FeatureBlock:
    """Some rows of a table: features, and who the rows are of; sorted by group.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
    people : People
    """

    X: FloatArray
    people: People

    @classmethod
    def from_unsorted(
        cls, X: FloatArray, y: BoolArray, codes: NDArray[np.intp], weight: FloatArray, n_groups: int
    ) -> FeatureBlock:
        """Sort rows by group. The features are copied."""
        people, order = People.from_unsorted(y, codes, weight, n_groups)
        return cls(X[order], people)

    def of_groups(self, groups: NDArray[np.intp]) -> FeatureBlock:
        """Rows of some groups, given in rising order; of a single one they are not copied."""
        return FeatureBlock(self.X[self.people.rows_of(groups)], self.people.of_groups(groups))

    def score(self, parameters: FloatArray) -> FloatArray:
        """Score of each row, by weights and an intercept."""
        return np.asarray(self.X @ parameters[:-1] + parameters[-1])

    def gradient(self, slopes: FloatArray) -> FloatArray:
        """Gradient with respect to weights and intercept, from slopes per score."""
        return np.append(slopes @ self.X, slopes.sum())


@dataclass(frozen=True, eq=False)
class _BlockPass:
    """One pass over a block at some parameters."""

    block: FeatureBlock
    scores: SmoothScores

    @classmethod
    def forward(cls, objective: Objective, parameters: FloatArray, block: FeatureBlock) -> _BlockPass:
        return cls(block, objective.forward(block.people, block.score(parameters)))

    def sums(self) -> Sums:
        return self.scores.sums()

    def gradient(self, slopes: Slopes) -> FloatArray:
        return self.block.gradient(self.scores.slopes_per_score(slopes))


@dataclass(frozen=True, eq=False)
class LinearLoss:
    """An objective as a function of weights and intercept, with its gradient.

    Attributes
    ----------
    rows : Rows of FeatureBlock
        In memory the forward pass is made once per evaluation; in chunks the table is read twice; on a cluster the
        passes stay with the workers, to which the parameters and slopes are sent.
    objective : Objective
    pull : ndarray of shape (n_features,), optional
        Strength with which each weight is held near the anchor: adds ``(1/2) sum_j pull_j (w_j - anchor_j)^2``.
    anchor : ndarray of shape (n_features + 1,), optional
        Weights and intercept (which is not held); by default 0.
    """

    rows: Rows[FeatureBlock]
    objective: Objective
    pull: FloatArray | None = None
    anchor: FloatArray | None = None

    def __call__(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Value and gradient at weights and intercept."""
        passes = self.rows.each(partial(_BlockPass.forward, self.objective, parameters))
        value, slopes = self.objective(passes.total(_BlockPass.sums))
        gradient = passes.total(partial(_BlockPass.gradient, slopes=slopes))
        if self.pull is not None:
            away = parameters if self.anchor is None else parameters - self.anchor
            force = np.append(self.pull * away[:-1], 0.0)
            value += float(force @ away) / 2
            gradient = gradient + force
        return value, gradient
