"""Smooth sums per group: the differentiable counterpart of counts, and gradients with respect to them.

Predictions are ``y~ = sigma(t s)`` (soft) and ``p = sigma(t' s)`` (sharp) for the score ``s`` of a row, with
temperatures ``t`` and ``t'``. Everything here is K numbers per score, for K groups.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from .._validation import FloatArray

#: Replaces 0 in denominators.
TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over the rows of each group, with label ``y`` and weight ``v``. Sums of disjoint rows merge by ``+``.

    Attributes
    ----------
    n, positives : ndarray of shape (n_groups,)
        ``sum v`` and ``sum v y``.
    loss : ndarray of shape (..., n_groups)
        ``sum v log-loss(y, y~)``; 0 if it was not computed.
    soft_selected, soft_true_positives : ndarray of shape (..., n_groups)
        ``sum v y~`` and ``sum v y y~``.
    sharp_selected, sharp_true_positives : ndarray of shape (..., n_groups)
        ``sum v p`` and ``sum v y p``; their ratio is the smooth precision.
    largest : ndarray of shape (..., n_groups), optional
        ``max y~``, which does not merge over rows. Only the paper's objective uses this and the next two.
    selected, true_positives : ndarray of shape (..., n_groups), optional
        Hard counts: ``sum v 1{s > 0}`` and ``sum v y 1{s > 0}``.
    """

    n: FloatArray
    positives: FloatArray
    loss: FloatArray
    soft_selected: FloatArray
    soft_true_positives: FloatArray
    sharp_selected: FloatArray
    sharp_true_positives: FloatArray
    largest: FloatArray | None = None
    selected: FloatArray | None = None
    true_positives: FloatArray | None = None

    @cached_property
    def precision(self) -> FloatArray:
        """Smooth precision ``sharp_true_positives / sharp_selected``."""
        return np.asarray(self.sharp_true_positives / np.maximum(self.sharp_selected, TINY))

    def __add__(self, other: Sums) -> Sums:
        if self.largest is not None or other.largest is not None:
            raise TypeError(
                "The paper's objective needs the largest score of each group, which does not add up over blocks: hold "
                "all rows in memory, or use another objective."
            )
        return Sums(*(getattr(self, part.name) + getattr(other, part.name) for part in fields(self)[:7]))


@dataclass(frozen=True, eq=False)
class Gradient:
    """Derivatives of a value with respect to the :class:`Sums` of the same names; None is 0.

    The derivative with respect to the smooth precision is resolved by :meth:`through_precision`. Gradients of several
    values add up by ``+``.
    """

    loss: FloatArray | None = None
    soft_selected: FloatArray | None = None
    soft_true_positives: FloatArray | None = None
    sharp_selected: FloatArray | None = None
    sharp_true_positives: FloatArray | None = None
    precision: FloatArray | None = None
    largest: FloatArray | None = None

    def __add__(self, other: Gradient) -> Gradient:
        return Gradient(*map(add_optional, vars(self).values(), vars(other).values()))

    def through_precision(self, sums: Sums) -> Gradient:
        """Apply the chain rule: precision depends on the sharp sums."""
        if self.precision is None:
            return self
        selected = np.maximum(sums.sharp_selected, TINY)
        inner = Gradient(
            sharp_selected=self.precision * (-sums.precision / selected),
            sharp_true_positives=self.precision * (1 / selected),
        )
        return replace(self, precision=None) + inner


def add_optional(one: FloatArray | None, other: FloatArray | None) -> FloatArray | None:
    """Sum of two arrays, of which None is 0."""
    if one is None or other is None:
        return other if one is None else one
    return np.asarray(one + other)
