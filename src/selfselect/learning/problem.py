"""What is asked of a solver: rows, costs, constraints, and whether the features can address groups one by one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray
from ..deciding import Tolerance
from .objectives import GroupedRows

#: Largest number (and one over the smallest) that a feature may hold.
LARGEST = 1e100
#: Rows that are rearranged at a time.
CHUNK = 10_000


class InfeasibleError(ValueError):
    """No classifier was found that meets the constraints of training."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Training task in standardised features.

    Columns are centred, scaled to unit variance and reordered: those that vary within groups come first, then those
    that are constant within each group (one-hot groups, say). Where the latter can give each group an offset of its
    own, ``offset_of_group`` says how.

    Attributes
    ----------
    rows : GroupedRows
        Sorted by group, standardised.
    labels : Index of shape (n_groups,)
    costs : ndarray of shape (n_groups,)
        Cost that each group faces.
    tolerance : float or "auto"
        Margin by which groups must clear their cost in training.
    required : ndarray of bool of shape (n_groups,)
        Groups that must apply.
    max_social_cost : float
        Most of the qualified people that may stay away, as a share.
    parity, equal_tpr : float
        Weights of the penalties; where positive, the hard rates are also kept within the tolerances below.
    parity_tolerance, tpr_tolerance : float
        Largest difference between groups' selection rates, and true-positive rates.
    l2 : float
        Weight of ``|w|^2 / 2`` in standardised features.
    n_varying : int
        Number of columns that vary within groups.
    offset_of_group : ndarray of shape (n_features - n_varying + 1, n_groups) or None
        Weights of the constant columns, and intercept, that add 1 to the score of one group only.
    """

    rows: GroupedRows
    labels: pd.Index
    costs: FloatArray
    tolerance: Tolerance
    required: BoolArray
    max_social_cost: float
    parity: float
    equal_tpr: float
    parity_tolerance: float
    tpr_tolerance: float
    l2: float
    n_varying: int
    offset_of_group: FloatArray | None
    centre: FloatArray
    scale: FloatArray
    order: NDArray[np.intp]
    unit_weights: bool

    @classmethod
    def build(
        cls,
        X: FloatArray,
        y: BoolArray,
        codes: NDArray[np.intp],
        labels: pd.Index,
        weight: FloatArray,
        costs: FloatArray,
        *,
        tolerance: Tolerance = 0.0,
        required: BoolArray | None = None,
        max_social_cost: float = 1.0,
        parity: float = 0.0,
        equal_tpr: float = 0.0,
        parity_tolerance: float = 0.02,
        tpr_tolerance: float = 0.05,
        l2: float = 0.0,
    ) -> Problem:
        """Sort, standardise and look for columns that tell groups apart."""
        highest, lowest = X.max(axis=0), X.min(axis=0)
        size = np.maximum(highest, -lowest)
        absurd = np.flatnonzero((size > LARGEST) | ((size > 0) & (size < 1 / LARGEST)))
        if absurd.size:
            raise ValueError(
                f"X has numbers of a size that floating point cannot square, first in column {absurd[0]} "
                f"({size[absurd[0]]:.2g}); rescale it."
            )
        n_groups = len(labels)
        rows = GroupedRows.from_unsorted(X, y, codes, weight, n_groups)
        data = rows.X
        total = rows.weight.sum()
        centre = rows.weight @ data / total
        data -= centre  # the sorted copy is ours to change
        magnitude = np.maximum(data.max(axis=0), -data.min(axis=0))
        scale = np.where(magnitude > 0, magnitude, 1.0)
        data /= scale
        spread = np.sqrt(np.einsum("i,ij,ij->j", rows.weight, data, data) / total)
        # a column whose spread is rounding error carries nothing: it is set to 0 rather than blown up
        constant = spread * scale <= 1e-12 * np.maximum(np.abs(centre), 1e-300)
        spread = np.where(constant | (spread == 0), 1.0, spread)
        data /= spread
        data[:, constant] = 0.0
        highest = np.maximum.reduceat(data, rows.start, axis=0)
        lowest = np.minimum.reduceat(data, rows.start, axis=0)
        within = ((highest - lowest) > 1e-9).any(axis=0)
        telling = ~within & ~constant
        order = np.concatenate([np.flatnonzero(within), np.flatnonzero(telling), np.flatnonzero(constant)])
        if (order != np.arange(len(order))).any():
            for first in range(0, len(data), CHUNK):  # in place: there is never a third copy of the data
                data[first : first + CHUNK] = data[first : first + CHUNK, order]
        n_varying = int(within.sum())
        return cls(
            rows=rows,
            labels=labels,
            costs=costs,
            tolerance=tolerance,
            required=np.zeros(n_groups, dtype=bool) if required is None else required,
            max_social_cost=max_social_cost,
            parity=parity,
            equal_tpr=equal_tpr,
            parity_tolerance=parity_tolerance,
            tpr_tolerance=tpr_tolerance,
            l2=l2,
            n_varying=n_varying,
            offset_of_group=_group_offsets(rows.X[rows.start, n_varying:]),
            centre=centre,
            scale=scale * spread,
            order=order,
            unit_weights=bool((rows.weight == 1).all()),
        )

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.labels)

    @property
    def fair(self) -> bool:
        """Whether rates of groups are tied to each other."""
        return self.parity > 0 or self.equal_tpr > 0

    @property
    def constrained(self) -> bool:
        """Whether it is prescribed who must apply."""
        return bool(self.required.any()) or self.max_social_cost < 1

    def to_original(self, parameters: FloatArray) -> tuple[FloatArray, float]:
        """Weights and intercept for features as the user has them."""
        weights = np.empty(len(self.scale))
        weights[self.order] = parameters[:-1]
        weights /= self.scale
        return weights, float(parameters[-1] - weights @ self.centre)


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
    if rank < n_groups or not np.allclose(system @ solution, np.eye(n_groups), atol=1e-8):
        return None
    return np.asarray(solution)
