"""Scores that are linear in the features: ``s = x.w + b``.

Features enter training here and nowhere else. A value with its gradient takes O(m d) time for m rows and d features.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray
from ..counting.rows import Rows
from ..counting.sums import Gradient, Sums
from .lbfgs import minimise
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
        parameters = parameters.astype(self.X.dtype, copy=False)
        scores: NDArray[Any] = np.matmul(parameters[:, :-1], self.X.T, out=out)
        scores += parameters[:, -1:]
        return scores

    def gradient(self, per_score: NDArray[Any]) -> NDArray[Any]:
        """Gradient with respect to weights and intercept, from one per score."""
        return np.concatenate([per_score @ self.X, per_score.sum(axis=-1, keepdims=True)], axis=-1)

    def smooth(self, objective: Objective) -> SmoothScores:
        """Passes over scores for an objective; those of the last one are kept, so that they reuse their arrays."""
        passes = objective.smooth_scores(self.rows)
        if self._kept and self._kept[0].is_like(passes):
            return self._kept[0]
        self._kept[:] = [passes]
        return passes

    @cached_property
    def _kept(self) -> list[SmoothScores]:
        return []


@dataclass(frozen=True, eq=False)
class Folds:
    """Which parts of the rows each of several scores is fitted to.

    Rows are sorted by group, then by part: the sums of group z and part p are number ``z n_parts + p``. ``keep`` has a
    row of 0 and 1 for each score, with an entry per part. So scores of all folds are fitted at once to one table.
    """

    keep: FloatArray

    def of_groups(self, by_part: FloatArray) -> FloatArray:
        """Sums per group over the parts that each score is fitted to, from sums per group and part."""
        return np.asarray((self._by_part(by_part) * self.keep[:, None, :]).sum(axis=-1))

    def sums(self, sums: Sums) -> Sums:
        """The same for all sums; the largest prediction is the largest of any of these parts."""
        parts = {part.name: getattr(sums, part.name) for part in fields(sums)}
        merged: dict[str, Any] = {
            name: None if value is None else self.of_groups(value) for name, value in parts.items()
        }
        if sums.largest is not None:
            merged["largest"] = (self._by_part(sums.largest) * self.keep[:, None, :]).max(axis=-1)
        return Sums(**merged)

    def gradient(self, gradient: Gradient, sums: Sums) -> Gradient:
        """Derivatives in sums per group and part, from those per group."""

        def spread(values: FloatArray | None) -> FloatArray | None:
            return None if values is None else (values[..., None] * self.keep[:, None, :]).reshape(len(values), -1)

        parts = Gradient(**{name: spread(values) for name, values in vars(gradient).items()})
        if sums.largest is None or parts.largest is None:
            return parts
        kept = self._by_part(sums.largest) * self.keep[:, None, :]
        first = np.arange(kept.shape[-1]) == kept.argmax(axis=-1)[..., None]
        return replace(parts, largest=parts.largest * first.reshape(parts.largest.shape))

    def _by_part(self, values: FloatArray) -> FloatArray:
        return values.reshape(*values.shape[:-1], -1, self.keep.shape[1])


#: A block with a pass forward over it.
_Pass: TypeAlias = tuple[FeatureBlock, SmoothScores, Sums, Sums]


def _forward(objective: Objective, folds: Folds | None, parameters: FloatArray, block: FeatureBlock) -> _Pass:
    passes = block.smooth(objective)
    score = block.score(parameters) if parameters.ndim == 1 else block.scores(parameters)
    sums = passes.forward(score)
    return block, passes, sums, sums if folds is None else folds.sums(sums)


def _backward(folds: Folds | None, gradient: Gradient, done: _Pass) -> FloatArray:
    block, passes, sums, _ = done
    return block.gradient(passes.backward(gradient if folds is None else folds.gradient(gradient, sums)))


@dataclass(frozen=True, eq=False)
class LinearLoss:
    """An objective as a function of weights and intercept, with its gradient.

    ``ridge`` adds ``(1/2) sum_j ridge_j (w_j - centre_j)^2`` for weights w; ``centre`` (by default 0) has an entry for
    the intercept as well. In memory, each evaluation makes one pass forward. In chunks it reads the table twice. On a
    cluster the passes stay with the workers, which receive the parameters and the gradient in the sums.

    With one row of parameters per score, values and gradients are those of several losses at a time. These may be
    fitted to other ``folds`` of the rows; ``ridge`` and ``centre`` may have a row for each. ``at_once`` limits memory.
    """

    table: Rows[FeatureBlock]
    objective: Objective
    ridge: FloatArray | None = None
    centre: FloatArray | None = None
    folds: Folds | None = None
    at_once: int | None = None

    def __call__(self, parameters: FloatArray) -> tuple[Any, FloatArray]:
        """Value and gradient at weights and intercept."""
        passes = self.table.each(partial(_forward, self.objective, self.folds, parameters))
        value, in_sums = self.objective(passes.total(itemgetter(3)))
        gradient = np.asarray(passes.total(partial(_backward, self.folds, in_sums)), dtype=np.float64)
        if self.ridge is not None:
            distance = parameters if self.centre is None else parameters - self.centre
            force = self.ridge * distance[..., :-1]
            value = value + (force * distance[..., :-1]).sum(axis=-1) / 2
            gradient[..., :-1] += force
        return (float(value) if parameters.ndim == 1 else value), gradient

    def minimise(self, parameters: FloatArray, iterations: int) -> tuple[FloatArray, NDArray[np.intp]]:
        """Weights and intercepts, one row per score, after some iterations of L-BFGS; and the iterations of each."""
        return minimise(self.at, parameters, iterations)

    def at(self, parameters: FloatArray, which: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
        """Values and gradients of some of the losses, ``at_once`` at a time."""
        most = len(which) if self.at_once is None else self.at_once
        parts = [slice(first, first + most) for first in range(0, len(which), most)]
        values, gradients = zip(*(self.of_scores(which[part])(parameters[part]) for part in parts), strict=True)
        return np.concatenate(values), np.concatenate(gradients)

    def of_scores(self, which: NDArray[np.intp]) -> LinearLoss:
        """The losses of some scores."""

        def rows(values: FloatArray | None) -> FloatArray | None:
            return values if values is None or values.ndim == 1 else values[which]

        folds = None if self.folds is None else Folds(self.folds.keep[which])
        objective = self.objective.of_scores(which)
        return replace(self, objective=objective, ridge=rows(self.ridge), centre=rows(self.centre), folds=folds)
