"""Scores that are linear in the features: ``s = x.w + b``.

Features enter training here and nowhere else. A value with its gradient takes O(m d) time for m rows and d features.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from .._validation import BoolArray, FloatArray
from ..counting.rows import Rows
from ..counting.sums import Gradient, Sums
from .objective import Objective
from .scores import GroupedRows, SmoothScores


@dataclass(frozen=True, eq=False)
class FeatureBlock:
    """Some rows of a table, sorted by group: features of shape (n_rows, n_features), labels and weights."""

    X: NDArray[Any]
    rows: GroupedRows

    @classmethod
    def from_unsorted(
        cls, X: FloatArray, y: BoolArray, codes: NDArray[np.intp], weight: FloatArray, n_groups: int
    ) -> FeatureBlock:
        """Sort rows by group. The features are copied."""
        rows, order = GroupedRows.from_unsorted(y, codes, weight, n_groups)
        return cls(X[order], rows)

    def of_groups(self, groups: NDArray[np.intp]) -> FeatureBlock:
        """Rows of some groups, given in rising order; those of a single group are not copied."""
        rows = self.rows.rows_of(groups)
        return FeatureBlock(self.X[rows], self.rows.take(rows, self.rows.size[groups]))

    def score(self, parameters: FloatArray) -> FloatArray:
        """Score of each row, by weights and intercept."""
        return np.asarray(self.X @ parameters[:-1] + parameters[-1])

    def scores(self, parameters: NDArray[Any], out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Several scores of each row, by as many rows of parameters."""
        scores: NDArray[Any] = np.matmul(parameters[:, :-1], self._columns, out=out)
        scores += parameters[:, -1:]
        return scores

    @cached_property
    def _columns(self) -> NDArray[Any]:
        """A contiguous copy of ``X'``, with which products of several scores are faster."""
        return np.ascontiguousarray(self.X.T)

    def gradient(self, per_score: NDArray[Any]) -> NDArray[Any]:
        """Gradient with respect to weights and intercept, from one per score."""
        return np.concatenate([per_score @ self.X, per_score.sum(axis=-1, keepdims=True)], axis=-1)


#: A block with a pass forward over it.
_Pass: TypeAlias = tuple[FeatureBlock, SmoothScores, Sums]


def _forward(objective: Objective, parameters: FloatArray, block: FeatureBlock) -> _Pass:
    scores = objective.smooth_scores(block.rows)
    return block, scores, scores.forward(block.score(parameters))


def _backward(gradient: Gradient, done: _Pass) -> FloatArray:
    block, scores, _ = done
    return block.gradient(scores.backward(gradient))


@dataclass(frozen=True, eq=False)
class LinearLoss:
    """An objective as a function of weights and intercept, with its gradient.

    ``ridge`` adds ``(1/2) sum_j ridge_j (w_j - centre_j)^2`` for weights w; ``centre`` (by default 0) has an entry for
    the intercept as well. In memory, each evaluation makes one pass forward. In chunks it reads the table twice. On a
    cluster the passes stay with the workers, which receive the parameters and the gradient in the sums.
    """

    table: Rows[FeatureBlock]
    objective: Objective
    ridge: FloatArray | None = None
    centre: FloatArray | None = None

    def __call__(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Value and gradient at weights and intercept."""
        passes = self.table.each(partial(_forward, self.objective, parameters))
        value, in_sums = self.objective(passes.total(itemgetter(2)))
        gradient = passes.total(partial(_backward, in_sums))
        total = float(value)
        if self.ridge is not None:
            distance = parameters if self.centre is None else parameters - self.centre
            force = np.append(self.ridge * distance[:-1], 0.0)
            total += float(force @ distance) / 2
            gradient = gradient + force
        return total, gradient

    def minimise(self, parameters: FloatArray, iterations: int) -> FloatArray:
        """Weights and intercept after some iterations of L-BFGS."""
        return np.asarray(minimize(self, parameters, jac=True, method="L-BFGS-B", options={"maxiter": iterations}).x)
