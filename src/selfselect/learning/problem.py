"""The task of a solver: standardised features sorted by group, which columns identify groups, and the terms."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray, outside_weight_range
from ..behaviour import Behaviour, BestResponse, Shares, shares_with_margin
from ..constraints import Constraint, Constraints
from ..counting import GroupCounts
from ..publishing import ThresholdCurves
from ..statistics import SLACK, Precision, Published, Statistic
from .linear import FeatureBlock
from .scores import GroupedRows

#: Rows that are rearranged at a time.
CHUNK = 10_000
#: A column is constant if its spread is below this part of its mean: rounding error, not information.
CONSTANT_SPREAD = 1e-12
#: Standardised values of a group that differ by no more are the same.
SAME_VALUE = 1e-9
#: How exactly the offset of one group must leave the other groups alone.
OFFSET_PRECISION = 1e-8


@dataclass(frozen=True, eq=False)
class TrainingTerms:
    """What a classifier is trained for: effective costs of groups, what is published, behaviour and constraints.

    Groups must clear their cost by the ``margin`` in training. Where features identify groups, ``shut_out`` says
    whether nobody or everybody is selected of a group that is not meant to apply ("select_none" or "select_all"; one
    that would apply with everybody selected is treated as in "select_none"). Under constraints between groups
    (``between_groups`` knows the groups), ``push_out`` says whether their precision may be pushed below their cost.
    """

    groups: pd.Index
    costs: FloatArray
    margin: float = 0.0
    constraints: Constraints = field(default_factory=Constraints)
    behaviour: Behaviour = field(default_factory=BestResponse)
    statistic: Statistic = field(default_factory=Precision)
    shut_out: str = "select_none"
    push_out: bool = True
    between_groups: tuple[Constraint, ...] = field(init=False)

    def __post_init__(self) -> None:
        bound = tuple(constraint.for_groups(self.groups) for constraint in self.constraints.between_groups)
        object.__setattr__(self, "between_groups", bound)

    def shares(self, counts: GroupCounts, margin: float = 0.0) -> Shares:
        """Share of each group that applies with a margin; where groups decide as a whole, all that pay nothing do."""
        published = Published(counts, self.statistic, self.groups)
        shares = shares_with_margin(self.behaviour, published, self.costs, margin)
        return np.asarray(shares | self.free) if shares.dtype == bool else shares

    def step_shares(self, curves: ThresholdCurves, margin: float = 0.0, *, by_cost: bool = False) -> Shares:
        """Share of its group that applies at each step of a score; see :meth:`shares`.

        With ``by_cost`` a group that pays nothing is treated like any other.
        """
        published = curves.published(self.statistic)
        shares = shares_with_margin(self.behaviour, published, self.costs[curves.group], margin)
        if by_cost or shares.dtype != bool or not self.free.any():
            return shares
        return np.asarray(shares | self.free[curves.group])

    def fitted_to(self, curves: ThresholdCurves, *, one_threshold: bool, compared: int) -> TrainingTerms:
        """The same terms with a published statistic that has learned from these counts."""
        fitted = curves.fit_statistic(self.statistic, one_threshold=one_threshold, compared=compared)
        return replace(self, statistic=fitted)

    @property
    def all_or_nobody(self) -> bool:
        """Whether groups decide as a whole, so that their shares are 0 or 1."""
        return self.shares(GroupCounts(*(np.ones(len(self.costs)),) * 4)).dtype == bool

    @property
    def free(self) -> BoolArray:
        """Groups that pay nothing. Under the best response they cannot be kept out."""
        return np.asarray((self.costs <= SLACK) & (type(self.behaviour) is BestResponse), dtype=bool)

    @property
    def required(self) -> BoolArray:
        """Groups that must apply."""
        return self.constraints.required_of(len(self.costs))

    def take(self, groups: NDArray[np.intp]) -> TrainingTerms:
        """The same terms for some of the groups."""
        constraints = self.constraints.take(groups)
        return replace(self, groups=self.groups[groups], costs=self.costs[groups], constraints=constraints)


@dataclass(frozen=True, eq=False)
class Standardisation:
    """Centres and scales of the user's columns, of which standardised column j is ``order[j]``."""

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
    """Training task. ``l2`` is the weight of ``|w|^2 / 2`` in standardised features.

    Rows are sorted by group, and ``row_numbers`` are those of the user. Columns are centred, scaled to unit variance
    and reordered: the ``n_varying`` that vary within groups come first, then those that are constant within each group
    (one-hot groups, say). Where the latter can give each group its own offset, ``offset_of_group`` has for each group
    their weights, and the intercept, that add 1 to the score of this group only.
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
        """Sort, standardise and look for columns that identify groups: O(m d + d K^2) time and one copy of X."""
        _check_magnitude(X)
        rows, sorted_rows = GroupedRows.from_unsorted(y, codes, weight, len(labels))
        block = FeatureBlock(X[sorted_rows], rows)
        centre, scale, constant = _standardise(block)
        highest = np.maximum.reduceat(block.X, block.rows.start, axis=0)
        lowest = np.minimum.reduceat(block.X, block.rows.start, axis=0)
        varies = ((highest - lowest) > SAME_VALUE).any(axis=0)
        order = np.argsort(np.where(varies, 0, np.where(constant, 2, 1)), kind="stable")
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
        rows = np.flatnonzero(which)  # faster than a mask where rows have many columns
        size = np.bincount(self.block.rows.codes[rows], minlength=self.n_groups)
        block = FeatureBlock(self.block.X[rows], self.block.rows.take(rows, size))
        return replace(self, block=block, row_numbers=self.row_numbers[rows])

    def rows_among(self, numbers: NDArray[np.intp]) -> BoolArray:
        """Whether each row is one of those with the user's numbers."""
        among = np.zeros(max(self.row_numbers.max(initial=0), numbers.max(initial=0)) + 1, dtype=bool)
        among[numbers] = True
        return np.asarray(among[self.row_numbers])

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

    def score(self, parameters: FloatArray, *, varying: bool = False) -> FloatArray:
        """Score of each row; or of the columns that vary within groups only, without an intercept."""
        if not varying:
            return self.block.score(parameters)
        return np.asarray(self.block.X[:, : self.n_varying] @ parameters[: self.n_varying])

    @property
    def shares_threshold(self) -> bool:
        """Whether groups must be trained together: there are constraints between them, or all share one threshold."""
        constraints = self.terms.constraints
        return bool(constraints.between_groups) or (constraints.prescribes_applicants and self.offset_of_group is None)

    @property
    def has_group_thresholds(self) -> bool:
        """Whether each group can get a threshold of its own, and no constraint between groups forbids to choose it."""
        return self.offset_of_group is not None and not self.terms.between_groups

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.labels)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.block.X.shape[1])


def _check_magnitude(X: FloatArray) -> None:
    size = np.maximum(X.max(axis=0), -X.min(axis=0))
    outside = outside_weight_range(size)
    if outside.size:
        raise ValueError(
            f"X has numbers of a size that floating point cannot square, first in column {outside[0]} "
            f"({size[outside[0]]:.2g}); rescale it."
        )


def _standardise(block: FeatureBlock) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Centre and scale the columns of a block in place. Return centres, scales, and which columns are constant."""
    X, weight = block.X, block.rows.weight
    total = weight.sum()
    centre = weight @ X / total
    X -= centre
    magnitude = np.maximum(X.max(axis=0), -X.min(axis=0))
    scale = np.where(magnitude > 0, magnitude, 1.0)
    X /= scale
    spread = np.sqrt(np.einsum("i,ij,ij->j", weight, X, X) / total)
    # scaling would turn rounding errors into information: such a column becomes 0
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
