"""The one engine of training: from scores to smooth sums per group, and from a gradient in the sums to one per score.

    scores  ->  sums per group  ->  (objective: value and gradient in the sums)  ->  gradient per score

Both passes over rows take O(m) for m rows and any number of groups. Where scores come from is unknown here; several
scores of the same rows can be passed over at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from .._validation import BoolArray, FloatArray
from ..counting.groups import sort_by_group
from ..counting.sums import Gradient, Sums, add_optional

#: Numbers in single or double precision.
Numbers: TypeAlias = NDArray[Any]


@dataclass(frozen=True, eq=False)
class GroupedRows:
    """Labels (0.0 or 1.0) and weights of rows, sorted by group, so that a sum per group is one pass.

    ``start`` is the first row of each group; a group without rows starts where the next one does. ``size``, ``n`` and
    ``positives`` are the rows of each group, and sums of weights of all and of qualified rows.
    """

    y: FloatArray
    weight: FloatArray
    start: NDArray[np.intp]
    size: NDArray[np.intp] = field(init=False)
    n: FloatArray = field(init=False)
    positives: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", np.append(self.start[1:], len(self.y)) - self.start)
        object.__setattr__(self, "n", self.total(self.weight))
        object.__setattr__(self, "positives", self.total(self.weight_of_positives))

    @classmethod
    def from_unsorted(
        cls, y: BoolArray, codes: NDArray[np.intp], weight: FloatArray, n_groups: int
    ) -> tuple[GroupedRows, NDArray[np.intp]]:
        """Sort by group; also return the order of the sorted rows."""
        order = sort_by_group(codes, n_groups)
        size = np.bincount(codes, minlength=n_groups)
        start = (np.cumsum(size) - size).astype(np.intp)
        return cls(y[order].astype(np.float64), weight[order], start), order

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.start)

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """Group of each row."""
        return np.repeat(np.arange(self.n_groups), self.size)

    @cached_property
    def cells(self) -> NDArray[np.intp]:
        """Twice the group of each row, plus its label."""
        return 2 * self.codes + (self.y > 0)

    @cached_property
    def weight_of_positives(self) -> FloatArray:
        """``v y`` of each row."""
        return np.asarray(self.weight * self.y)

    @cached_property
    def unweighted(self) -> bool:
        """Whether every weight is 1."""
        return bool((self.weight == 1).all())

    @cached_property
    def _every_group_has_rows(self) -> bool:
        return bool(self.size.all())

    def total(self, values: Numbers) -> FloatArray:
        """Sum of values over the rows of each group, in double precision; values may have leading axes."""
        return self.reduce(np.add, values, dtype=np.float64)

    def reduce(self, ufunc: np.ufunc, values: Numbers, dtype: Any = None) -> FloatArray:
        """Values of the rows of each group, reduced by a ufunc; 0 for a group without rows."""
        if self._every_group_has_rows:
            return np.asarray(ufunc.reduceat(values, self.start, axis=-1, dtype=dtype))
        result = np.zeros((*values.shape[:-1], self.n_groups))
        present = np.flatnonzero(self.size)  # reduceat has no empty sums
        if len(present):
            result[..., present] = ufunc.reduceat(values, self.start[present], axis=-1, dtype=dtype)
        return result

    def hard_counts(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Selected people (with a positive score) of each group, and true positives."""
        above = score > 0
        return self.total(self.weight * above), self.total(self.weight_of_positives * above)

    def rows_of(self, groups: NDArray[np.intp]) -> slice | BoolArray:
        """Rows of some groups; those of a single group as a slice, so that taking them copies nothing."""
        if len(groups) == 1:
            first = self.start[groups[0]]
            return slice(first, first + self.size[groups[0]])
        return np.isin(self.codes, groups)

    def take(self, rows: slice | NDArray[Any], size: NDArray[np.intp]) -> GroupedRows:
        """Some of the rows, of groups of these sizes."""
        return GroupedRows(self.y[rows], self.weight[rows], (np.cumsum(size) - size).astype(np.intp))


class SmoothScores:
    """Forward and backward passes over scores.

    ``temperature`` is ``t`` of ``y~ = sigma(t s)``, in the loss and in penalties on rates; ``precision_temperature`` is
    ``t'`` of ``p = sigma(t' s)``, in the smooth precision, by default ``t``. ``soft`` and ``sharp`` are ``y~`` and
    ``p`` in the last pass forward; passes over scores of one shape reuse these arrays. ``with_largest`` also computes
    the largest prediction of each group, and hard counts. ``vectorised`` uses numpy's exp and log1p, several times
    faster than scipy's expit and log_expit; their last digits depend on the processor, and L-BFGS would amplify these.
    """

    def __init__(
        self,
        rows: GroupedRows,
        temperature: float,
        precision_temperature: float | None = None,
        *,
        with_loss: bool = True,
        with_largest: bool = False,
        vectorised: bool = False,
    ) -> None:
        self.rows = rows
        self.temperature = temperature
        self.precision_temperature = temperature if precision_temperature is None else precision_temperature
        self.with_loss, self.with_largest, self.vectorised = with_loss, with_largest, vectorised
        self.soft = self.sharp = np.empty(0)
        self._layout: tuple[Any, ...] = ()

    def _allocate(self, score: Numbers) -> None:
        """Arrays for scores of a shape and precision: fresh ones in every pass would cost more than the arithmetic."""
        rows, dtype = self.rows, score.dtype
        if self._layout == (score.shape, dtype):
            return
        self._layout = (score.shape, dtype)
        self._y, self._weight, self._weight_of_positives = (
            values.astype(dtype, copy=False) for values in (rows.y, rows.weight, rows.weight_of_positives)
        )
        self.soft, self._above, self._scratch, self._slope, self._result = (np.empty_like(score) for _ in range(5))
        self.sharp = self.soft if self.temperature == self.precision_temperature else np.empty_like(score)

    # ------------------------------------------------------------------ forward

    def forward(self, score: Numbers) -> Sums:
        """Sums per group, from scores of shape (..., n_rows) in single or double precision."""
        self._allocate(score)
        rows = self.rows
        if self.vectorised or self.with_largest:
            np.greater(score, 0, out=self._above)
        predict = self._predict_vectorised if self.vectorised else self._predict
        loss = predict(score, self.temperature, self.soft, with_loss=self.with_loss)
        soft = sharp = self._selected(self.soft)
        if self.sharp is not self.soft:
            predict(score, self.precision_temperature, self.sharp)
            sharp = self._selected(self.sharp)
        if not self.with_largest:
            return Sums(rows.n, rows.positives, loss, *soft, *sharp)
        self._largest = rows.reduce(np.maximum, self.soft).astype(score.dtype)
        hard = self._selected(self._above)
        return Sums(rows.n, rows.positives, loss, *soft, *sharp, self._largest.astype(np.float64), *hard)

    def _predict(self, score: Numbers, temperature: float, out: Numbers, with_loss: bool = False) -> FloatArray:
        """Fill in predictions ``sigma(t s)``; return the log-loss per group, or 0."""
        expit(np.multiply(score, temperature, out=out), out=out)
        if not with_loss:
            return np.zeros((*score.shape[:-1], self.rows.n_groups))
        loss = np.multiply(score, temperature * (2 * self._y - 1), out=self._scratch)
        log_expit(loss, out=loss)
        return -self.rows.total(self._weighted(loss, out=loss))

    def _predict_vectorised(
        self, score: Numbers, temperature: float, out: Numbers, with_loss: bool = False
    ) -> FloatArray:
        """Like :meth:`_predict`: with ``u = exp(-t |s|)``, which never overflows, ``sigma`` is 1 or u over ``1 + u``.

        The log-loss is ``log(1 + u)``, plus ``t |s|`` where the sign of s is wrong.
        """
        magnitude = np.abs(score, out=self._result)
        u = np.multiply(magnitude, -temperature, out=out)
        np.exp(u, out=u)
        loss = np.zeros((*score.shape[:-1], self.rows.n_groups))
        if with_loss:
            magnitude *= np.abs(np.subtract(self._above, self._y, out=self._slope), out=self._slope)
            loss = temperature * self.rows.total(self._weighted(magnitude, out=magnitude))
            loss += self.rows.total(self._weighted(np.log1p(u, out=self._slope), out=self._slope))
        denominator = np.add(u, 1, out=self._scratch)
        np.maximum(u, self._above, out=u)  # u is at most 1
        u /= denominator
        return loss

    def _weighted(self, values: Numbers, out: Numbers) -> Numbers:
        """Values times weights; as they are if every weight is 1."""
        return values if self.rows.unweighted else np.multiply(values, self._weight, out=out)

    def _selected(self, prediction: Numbers) -> tuple[FloatArray, FloatArray]:
        """Counts of selected people and of true positives per group, from predictions in [0, 1]."""
        selected = self.rows.total(self._weighted(prediction, out=self._scratch))
        return selected, self.rows.total(np.multiply(prediction, self._weight_of_positives, out=self._scratch))

    # ------------------------------------------------------------------ backward

    def backward(self, gradient: Gradient) -> Numbers:
        """Gradient per score, from one in the sums of the last pass forward; the next pass overwrites it."""
        soft, result, g = self.soft, self._result, gradient
        result[:] = 0
        if self.sharp is soft:
            selected = add_optional(g.soft_selected, g.sharp_selected)
            true_positives = add_optional(g.soft_true_positives, g.sharp_true_positives)
            self._add_through_sigmoid(soft, self.temperature, selected, true_positives)
        else:
            self._add_through_sigmoid(soft, self.temperature, g.soft_selected, g.soft_true_positives)
            self._add_through_sigmoid(self.sharp, self.precision_temperature, g.sharp_selected, g.sharp_true_positives)
        if g.loss is not None:
            residual = np.subtract(soft, self._y, out=self._scratch)
            residual *= self.temperature
            residual *= self._for_each_row(g.loss, None, out=self._slope)
            result += residual
        result = self._weighted(result, out=result)
        if g.largest is not None:
            self._add_largest(g.largest)
        return result

    def backward_with_curvature(self, gradient: Gradient) -> tuple[Numbers, Numbers]:
        """Gradient per score, and a curvature of at least 0: second derivatives, without those between rows.

        That of the log-loss is exact, ``t^2 y~ (1 - y~)`` times its weight. Every other part depends on a score through
        ``p (1 - p)``, whose derivative is at most ``t'`` times as large, so that the rest of the gradient bounds it.
        """
        rest = self.backward(replace(gradient, loss=None)).copy()
        curvature = max(self.temperature, self.precision_temperature) * np.abs(rest)
        if gradient.loss is None:
            return rest, curvature
        total = rest + self.backward(Gradient(loss=gradient.loss))
        # the derivative of a residual t (y~ - y) is that of the prediction
        curvature += self.backward(Gradient(soft_selected=self.temperature * gradient.loss))
        return total, curvature

    def _add_through_sigmoid(
        self, prediction: Numbers, temperature: float, selected: FloatArray | None, true_positives: FloatArray | None
    ) -> None:
        """Add ``t p (1 - p)`` times the derivative with respect to the weighted sum of p."""
        if selected is None and true_positives is None:
            return
        slope = np.multiply(prediction, temperature, out=self._slope)
        slope *= np.subtract(1, prediction, out=self._scratch)
        slope *= self._for_each_row(selected, true_positives, out=self._scratch)
        self._result += slope

    def _for_each_row(self, everybody: FloatArray | None, positives: FloatArray | None, out: Numbers) -> Numbers:
        """Derivatives per group as derivatives per row; those of positives count for qualified rows only."""
        first = positives if everybody is None else everybody
        assert first is not None
        table = np.zeros((*first.shape, 2), dtype=self.soft.dtype)
        if everybody is not None:
            table += everybody[..., None]
        if positives is not None:
            table[..., 1] += positives
        return np.take(table.reshape(*first.shape[:-1], -1), self.rows.cells, axis=-1, mode="clip", out=out)

    def _add_largest(self, largest: FloatArray) -> None:
        """Add the derivative with respect to the largest prediction of each group, to the first row that has it."""
        rows = self.rows
        largest_of_group = np.take(self._largest, rows.codes, axis=-1, mode="clip", out=self._scratch)
        at = np.flatnonzero(self.soft == largest_of_group)
        owner = at // len(rows.y) * rows.n_groups + rows.codes[at % len(rows.y)]
        first = np.append(True, owner[1:] != owner[:-1])[: len(at)]  # rows are sorted by group, and so are owners
        at, owner = at[first], owner[first]
        prediction = self.soft.ravel()[at]
        self._result.ravel()[at] += self.temperature * prediction * (1 - prediction) * largest.ravel()[owner]
