"""The task of a solver: standardised features sorted by group, which of these tell groups apart, and terms."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray, outside_weight_range
from .linear import FeatureBlock
from .scores import GroupedRows, starts_of
from .terms import TrainingTerms

#: Rows that are rearranged at a time.
CHUNK = 10_000
#: A column is constant if its spread is below this part of its mean: rounding error, not information.
CONSTANT_SPREAD = 1e-12
#: Standardised values of a group that differ by no more are the same.
SAME_VALUE = 1e-9
#: How exactly the offset of one group must leave the other groups alone.
OFFSET_PRECISION = 1e-8


@dataclass(frozen=True, eq=False)
class Standardisation:
    """How standardised columns come from those of the user: centred, scaled, reordered.

    ``centre`` and ``scale`` are in the order of the user's columns, of which standardised column j is ``order[j]``.
    """

    centre: FloatArray
    scale: FloatArray
    order: NDArray[np.intp]

    def undo_features(self, X: FloatArray) -> FloatArray:
        """Features on the user's scales; columns stay in the standardised order."""
        return np.asarray(X * self.scale[self.order] + self.centre[self.order])

    def redo_parameters(self, parameters: FloatArray) -> FloatArray:
        """Parameters for standardised features, from those for what :meth:`undo_features` gives."""
        scale, centre = self.scale[self.order], self.centre[self.order]
        return np.append(parameters[:-1] * scale, parameters[-1] + parameters[:-1] @ centre)

    def undo_parameters(self, parameters: FloatArray) -> tuple[FloatArray, float]:
        """Weights and intercept for features as the user has them."""
        weights = np.empty(len(self.scale))
        weights[self.order] = parameters[:-1]
        weights /= self.scale
        return weights, float(parameters[-1] - weights @ self.centre)


@dataclass(frozen=True, eq=False)
class Problem:
    """Training task.

    Columns are centred, scaled to unit variance and reordered: those that vary within groups come first, then those
    that are constant within each group (one-hot groups, say). Where the latter can give each group an offset of its
    own, ``offset_of_group`` says how.

    Attributes
    ----------
    block : FeatureBlock
        Standardised features and people, sorted by group.
    labels : Index of shape (n_groups,)
    terms : TrainingTerms
    l2 : float
        Weight of ``|w|^2 / 2`` in standardised features.
    n_varying : int
        Number of columns that vary within groups.
    offset_of_group : ndarray of shape (n_features - n_varying + 1, n_groups) or None
        Weights of the constant columns, and intercept, that add 1 to the score of one group only.
    standardisation : Standardisation
    row_numbers : ndarray of shape (n_rows,)
        The user's number of each row: rows are sorted by group here and nowhere else.
    """

    block: FeatureBlock
    labels: pd.Index
    terms: TrainingTerms
    l2: float
    n_varying: int
    offset_of_group: FloatArray | None
    standardisation: Standardisation
    row_numbers: NDArray[np.intp]

    @classmethod
    def build(
        cls,
        X: FloatArray,
        y: BoolArray,
        codes: NDArray[np.intp],
        labels: pd.Index,
        weight: FloatArray,
        terms: TrainingTerms,
        l2: float = 0.0,
        row_numbers: NDArray[np.intp] | None = None,
    ) -> Problem:
        """Sort, standardise and look for columns that tell groups apart: O(m d + d K^2) time and one copy of X."""
        _refuse_absurd_sizes(X)
        rows, sorted_rows = GroupedRows.from_unsorted(y, codes, weight, len(labels))
        block = FeatureBlock(X[sorted_rows], rows)
        centre, scale, constant = _standardise(block)
        highest = np.maximum.reduceat(block.X, block.rows.start, axis=0)
        lowest = np.minimum.reduceat(block.X, block.rows.start, axis=0)
        varies = ((highest - lowest) > SAME_VALUE).any(axis=0)
        telling = ~varies & ~constant
        order = np.concatenate([np.flatnonzero(varies), np.flatnonzero(telling), np.flatnonzero(constant)])
        _reorder_columns(block.X, order)
        n_varying = int(varies.sum())
        return cls(
            block=block,
            labels=labels,
            terms=terms,
            l2=l2,
            n_varying=n_varying,
            offset_of_group=_group_offsets(block.X[block.rows.start, n_varying:]),
            standardisation=Standardisation(centre, scale, order),
            row_numbers=sorted_rows if row_numbers is None else row_numbers[sorted_rows],
        )

    def take(self, which: BoolArray) -> Problem:
        """The same task for some of the rows; a group may be left without any."""
        if which.all():
            return self
        rows = self.block.rows
        start = starts_of(np.bincount(rows.codes[which], minlength=self.n_groups))
        block = FeatureBlock(self.block.X[which], GroupedRows(rows.y[which], rows.weight[which], start))
        return replace(self, block=block, row_numbers=self.row_numbers[which])

    def rows_among(self, numbers: NDArray[np.intp]) -> BoolArray:
        """Whether each row is one of those with the user's numbers."""
        return np.isin(self.row_numbers, numbers)

    def without_empty_groups(self) -> Problem:
        """The same task without the groups that have no rows."""
        rows = self.block.rows
        if rows.size.all():
            return self
        present = np.flatnonzero(rows.size)
        block = FeatureBlock(self.block.X, GroupedRows(rows.y, rows.weight, rows.start[present]))
        offsets = None if self.offset_of_group is None else self.offset_of_group[:, present]
        terms = self.terms.take(present)
        return replace(self, block=block, labels=self.labels[present], terms=terms, offset_of_group=offsets)

    @property
    def shares_threshold(self) -> bool:
        """Whether groups must be trained together: constraints tie them, or all share one threshold."""
        constraints = self.terms.constraints
        return bool(constraints.between_groups) or (constraints.prescribes_applicants and self.offset_of_group is None)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.labels)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.block.X.shape[1])


def _refuse_absurd_sizes(X: FloatArray) -> None:
    size = np.maximum(X.max(axis=0), -X.min(axis=0))
    absurd = outside_weight_range(size)
    if absurd.size:
        raise ValueError(
            f"X has numbers of a size that floating point cannot square, first in column {absurd[0]} "
            f"({size[absurd[0]]:.2g}); rescale it."
        )


def _standardise(block: FeatureBlock) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Centre and scale the columns of a block in place: it is our own copy. Centres, scales, and what was constant."""
    X, weight = block.X, block.rows.weight
    total = weight.sum()
    centre = weight @ X / total
    X -= centre
    magnitude = np.maximum(X.max(axis=0), -X.min(axis=0))
    scale = np.where(magnitude > 0, magnitude, 1.0)
    X /= scale
    spread = np.sqrt(np.einsum("i,ij,ij->j", weight, X, X) / total)
    # a column whose spread is rounding error carries nothing: it is set to 0 rather than blown up
    constant = spread * scale <= CONSTANT_SPREAD * np.maximum(np.abs(centre), np.finfo(float).tiny)
    spread = np.where(constant | (spread == 0), 1.0, spread)
    X /= spread
    X[:, constant] = 0.0
    return centre, scale * spread, constant


def _reorder_columns(X: FloatArray, order: NDArray[np.intp]) -> None:
    """Rearrange columns in place, some rows at a time: there is never a third copy of the data."""
    if (order != np.arange(len(order))).any():
        for first in range(0, len(X), CHUNK):
            X[first : first + CHUNK] = X[first : first + CHUNK, order]


def _group_offsets(table: FloatArray) -> FloatArray | None:
    """Weights of group-constant columns (and intercept) that single out each group, or None if they cannot.

    ``table`` has one row per group. Solving ``[table, 1] V = I`` takes K columns at least, so nothing is tried with
    fewer.
    """
    n_groups, n_columns = table.shape
    if n_groups < 2 or n_columns + 1 < n_groups:
        return None
    system = np.column_stack([table, np.ones(n_groups)])
    solution, _, rank, _ = np.linalg.lstsq(system, np.eye(n_groups), rcond=None)
    if rank < n_groups or not np.allclose(system @ solution, np.eye(n_groups), atol=OFFSET_PRECISION):
        return None
    return np.asarray(solution)
