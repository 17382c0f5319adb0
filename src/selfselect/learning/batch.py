"""Many linear scores of the same people at once: as matrix products, with sums per group for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._validation import FloatArray
from .fused import ACCEPTED, LOSS, PASSES, SELECTED, Passes
from .linear import FeatureBlock
from .sums import Sums


@dataclass(frozen=True, eq=False)
class BatchSums:
    """Sums of each group under each score; all of shape (n_scores, n_groups).

    Attributes
    ----------
    loss, hits, passes, accepted, accepted_positives : ndarray
        As in :class:`~selfselect.learning.sums.Sums`.
    selected, true_positives : ndarray
        People with a positive score, and the qualified among them.
    largest : ndarray
        ``max y~``, 0 in a group without rows.
    """

    loss: FloatArray
    hits: FloatArray
    passes: FloatArray
    accepted: FloatArray
    accepted_positives: FloatArray
    selected: FloatArray
    true_positives: FloatArray
    largest: FloatArray


@dataclass(frozen=True, eq=False)
class BatchSlopes:
    """Slopes of each score's value with respect to its sums; all of shape (n_scores, n_groups).

    Attributes
    ----------
    loss, hits, passes, accepted, accepted_positives, largest : ndarray
        With respect to what has the same name in :class:`BatchSums`.
    """

    loss: FloatArray
    hits: FloatArray
    passes: FloatArray
    accepted: FloatArray
    accepted_positives: FloatArray
    largest: FloatArray


class LinearBatch:
    """People, and several linear scores of theirs.

    Parameters
    ----------
    block : FeatureBlock
    n_scores : int
    temperature, sharpness : float
        As in :class:`~selfselect.learning.fused.Passes`.
    dtype : {"float64", "float32"}
        Precision of features, parameters and scores. Sums are in double precision.
    with_numba : bool
        Whether to use numba where it is installed.
    """

    def __init__(
        self,
        block: FeatureBlock,
        n_scores: int,
        temperature: float,
        sharpness: float,
        dtype: str = "float64",
        *,
        with_numba: bool = True,
    ) -> None:
        people = block.people
        self.n, self.positives, self.n_groups = people.n, people.positives, people.n_groups
        segment = 2 * people.codes + (people.y > 0)
        order = np.argsort(segment, kind="stable")
        self.dtype = np.dtype(dtype)
        # the ones of the intercept; the table is kept twice, as each of the two products wants it
        self._X = np.column_stack([block.X[order], np.ones(len(order))]).astype(self.dtype)
        self._columns = np.ascontiguousarray(self._X.T)
        size = np.bincount(segment, minlength=2 * self.n_groups)
        first = np.concatenate([[0], np.cumsum(size)]).astype(np.intp)
        weight = people.weight[order].astype(self.dtype)
        self._passes = Passes(weight, first, n_scores, temperature, sharpness, with_numba=with_numba)
        self._score = np.empty((n_scores, len(order)), dtype=self.dtype)
        self._each = np.arange(n_scores)[:, None]
        self._top = np.zeros((n_scores, self.n_groups), dtype=np.intp)
        self._largest = np.zeros((n_scores, self.n_groups))

    def forward(self, parameters: NDArray[Any]) -> BatchSums:
        """Sums at weights and intercepts, given as rows in the precision of the batch."""
        np.matmul(parameters, self._columns, out=self._score)
        sums, top = self._passes.forward(self._score)
        loss, passes, accepted, selected = sums[LOSS], sums[PASSES], sums[ACCEPTED], sums[SELECTED]
        self._find_largest(top)
        return BatchSums(
            _both(loss),
            passes[:, 1::2].copy(),
            _both(passes),
            _both(accepted),
            accepted[:, 1::2].copy(),
            _both(selected),
            selected[:, 1::2].copy(),
            self._largest,
        )

    def _find_largest(self, top: NDArray[np.intp]) -> None:
        """The row of the largest score of each group, from those of its two segments."""
        no, yes = top[:, ::2], top[:, 1::2]
        score = self._score
        later = (yes >= 0) & ((no < 0) | (score[self._each, yes] > score[self._each, no]))
        self._top = np.where(later, yes, no)
        self._largest = np.where(self._top >= 0, self._passes.soft[self._each, self._top], 0.0)

    def gradient(self, slopes: BatchSlopes) -> NDArray[Any]:
        """Gradient with respect to weights and intercepts, from slopes in the sums of the last pass forward."""
        per_segment = np.empty((3, len(slopes.loss), 2 * self.n_groups), dtype=self.dtype)
        for which, both, positives in (
            (LOSS, slopes.loss, None),
            (PASSES, slopes.passes, slopes.hits),
            (ACCEPTED, slopes.accepted, slopes.accepted_positives),
        ):
            per_segment[which, :, ::2] = both
            per_segment[which, :, 1::2] = both if positives is None else both + positives
        per_score = self._passes.backward(per_segment)
        soft = self._largest
        pull = self._passes.temperature * soft * (1 - soft) * slopes.largest
        some = self._top >= 0
        per_score[np.broadcast_to(self._each, some.shape)[some], self._top[some]] += pull[some].astype(self.dtype)
        return np.asarray(per_score @ self._X)

    def as_sums(self, sums: BatchSums, which: int | slice) -> Sums:
        """Sums under one of the scores, or several, one row each."""
        return Sums(
            self.n,
            self.positives,
            sums.loss[which],
            sums.hits[which],
            sums.passes[which],
            sums.accepted[which],
            sums.accepted_positives[which],
        )


def _both(sums: FloatArray) -> FloatArray:
    """Sums over both segments of each group."""
    return np.asarray(sums[:, ::2] + sums[:, 1::2])
