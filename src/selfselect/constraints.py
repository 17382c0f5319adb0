"""Constraints: what a classifier must do apart from being accurate on those who apply.

A constraint has a ``violation``, by which finished classifiers are evaluated on hard counts, and it may have a
``penalty``, which training adds to its objective. Names and bounds of parity constraints are those of fairlearn.
Everything works on K numbers per classifier, for K groups. :class:`Constraints` sorts the constraints of one task by
what solvers do with them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import logit

from ._validation import BoolArray, FloatArray, check_fraction, check_nonnegative
from .behaviour import PRECISION_CLIP, Shares, as_decisions
from .counting import CountCurves, GroupCounts, locate_labels, ratio
from .counting.sums import TINY, Gradient, Sums
from .statistics import SLACK

#: Slack of shares of people that are compared with a limit: far above the rounding of sums of weights, far below one
#: person in any population.
SHARE_SLACK = 1e-9
#: Part of a bound within which smooth rates may differ without a barrier, so that hard rates stay within all of it.
FREE_PART = 0.5
#: Log-odds by which the smooth precision of a group should exceed that of one with a lower base rate.
ORDER_DISTANCE = 0.05
#: The paper's released code multiplies distances between selection rates by this before it squares them.
RELEASED_FACTOR = 10.0
#: Replaces an overall rate of 0: one over it, times the weight of a barrier, does not overflow.
SMALLEST_RATE = 1e-290
#: Up to so many groups all pairs are compared in every step of training; of more, each group with one neighbour.
MAX_PAIRED_GROUPS = 100


class InfeasibleError(ValueError):
    """No classifier was found that meets the constraints."""


class Constraint(ABC):
    """What must hold. A subclass defines ``violation``, and ``penalty`` if training is to aim at it."""

    #: Whether precision must follow base rates, so that only groups of the highest base rates can be those who apply.
    follows_base_rates: ClassVar[bool] = False

    def for_groups(self, groups: pd.Index) -> Constraint:
        """The constraint for the groups of one task, in their order."""
        return self

    @abstractmethod
    def violation(self, counts: GroupCounts, shares: Shares) -> FloatArray:
        """By how much hard counts violate the constraint; 0 if it holds.

        ``counts.selected``, ``counts.true_positives`` and the shares that apply have shape (n_classifiers, n_groups);
        ``counts.n`` and ``counts.positives`` have shape (n_groups,). The result has shape (n_classifiers,).
        """

    def penalty(self, sums: Sums) -> tuple[Any, Gradient]:
        """Penalty of smooth sums, weights included, and its gradient; by default there is none."""
        return 0.0, Gradient()

    def with_weight(self, weight: float = 1.0) -> Constraint:
        """The same constraint with a barrier of this weight in its penalty, which keeps training within the bound."""
        return self


# ---------------------------------------------------------------------- who applies, and how many are selected


class RequiredGroups(Constraint):
    """These groups must apply.

    Parameters
    ----------
    *labels : group
        Names of groups, as in ``sensitive_features``.

    Examples
    --------
    >>> RequiredGroups("Black", "Other")
    RequiredGroups('Black', 'Other')
    """

    _required: BoolArray | None = None

    def __init__(self, *labels: Any) -> None:
        self.labels = labels

    def __repr__(self) -> str:
        return f"RequiredGroups({', '.join(map(repr, self.labels))})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RequiredGroups) and self.labels == other.labels

    __hash__ = None  # type: ignore[assignment]

    def mask(self, groups: pd.Index) -> BoolArray:
        """Which of some groups are required; all labels must be among them."""
        required = np.zeros(len(groups), dtype=bool)
        required[locate_labels(list(self.labels), groups, "RequiredGroups", "the training data")] = True
        return required

    def for_groups(self, groups: pd.Index) -> Constraint:
        """The constraint for the groups of one task."""
        constraint = RequiredGroups(*self.labels)
        constraint._required = self.mask(groups)
        return constraint

    def violation(self, counts: GroupCounts, shares: Shares) -> FloatArray:
        """Number of required groups that stay away, after :meth:`for_groups`."""
        if self._required is None:
            raise TypeError("RequiredGroups names groups; use for_groups(groups) first.")
        return np.asarray((~as_decisions(shares) & self._required).sum(axis=-1), dtype=np.float64)


@dataclass(frozen=True)
class MaxSocialCost(Constraint):
    """At most a share of the qualified people stay away.

    Parameters
    ----------
    limit : float
        The largest share, in [0, 1].
    """

    limit: float

    def __post_init__(self) -> None:
        check_fraction(self.limit, "limit")

    def violation(self, counts: GroupCounts, shares: Shares) -> FloatArray:
        """Social cost beyond the limit."""
        qualified = (np.asarray(shares, dtype=np.float64) * counts.positives).sum(axis=-1)
        return np.maximum(np.nan_to_num(1 - ratio(qualified, counts.positives.sum())) - self.limit - SHARE_SLACK, 0)


@dataclass(frozen=True)
class MinSelectionRate(Constraint):
    """At least a share of each group is selected, whether it applies or not.

    Parameters
    ----------
    share : float
        The least share, in [0, 1].
    """

    share: float

    def __post_init__(self) -> None:
        check_fraction(self.share, "share")

    def violation(self, counts: GroupCounts, shares: Shares) -> FloatArray:
        """What selection rates fall short of, added up over groups."""
        return np.asarray(Constraints(min_selection_rate=self.share).shortfall(counts.selected, counts.n).sum(axis=-1))


# ---------------------------------------------------------------------- between groups


@dataclass(frozen=True, repr=False)
class RateParity(Constraint):
    """Base of constraints that a rate be about the same in all groups. All groups count, also those that stay away.

    A subclass names the counts of its rate.

    Parameters
    ----------
    difference_bound : float, optional
        Largest difference between the rates of any two groups.
    ratio_bound : float, optional
        Least ratio of the smallest rate to the largest (0.8: four fifths). It holds if all rates are 0.
    relative : bool, default=False
        Whether ``difference_bound`` is a share of the overall rate. An absolute bound is met by selecting almost
        nobody.
    weight : float, default=1.0
        Weight of ``(1/K) sum_z e_z^2`` in training, with the distance ``e_z`` of a group's smooth rate from the overall
        one.
    """

    difference_bound: float | None = None
    ratio_bound: float | None = None
    _: KW_ONLY
    relative: bool = False
    weight: float = 1.0
    barrier: float = field(default=0.0, repr=False)

    #: The rate in words, and the counts that are its numerator and denominator.
    rate_name: ClassVar[str]
    numerator: ClassVar[str]
    denominator: ClassVar[str]

    def __post_init__(self) -> None:
        for name in ("difference_bound", "ratio_bound"):
            if getattr(self, name) is not None:
                check_fraction(getattr(self, name), name)
        check_nonnegative(self.weight, "weight")

    def __repr__(self) -> str:
        given = [f"{part.name}={getattr(self, part.name)!r}" for part in fields(self) if part.repr]
        default = [f"{part.name}={part.default!r}" for part in fields(self) if part.repr]
        return f"{type(self).__name__}({', '.join(text for text in given if text not in default)})"

    def rate(self, counts: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Numerator and denominator of the rate, from hard counts."""
        return getattr(counts, self.numerator), getattr(counts, self.denominator)

    def smooth_rate(self, sums: Sums) -> tuple[FloatArray, FloatArray]:
        """Numerator and denominator of the smooth rate."""
        return getattr(sums, f"soft_{self.numerator}"), getattr(sums, self.denominator)

    def gradient(self, slope: FloatArray) -> Gradient:
        """Gradient from a derivative in the numerator of the smooth rate."""
        return Gradient(**{f"soft_{self.numerator}": slope})

    @property
    def bounds_anything(self) -> bool:
        """Whether some rates violate the constraint."""
        return self.largest_difference < 1 or bool(self.ratio_bound)

    @property
    def largest_difference(self) -> float:
        """The difference bound; 1 if there is none."""
        return 1.0 if self.difference_bound is None else self.difference_bound

    def highest(self, lowest: FloatArray) -> FloatArray:
        """Highest rate that is allowed beside a lowest one."""
        top = lowest + self.largest_difference + SLACK
        return np.minimum(top, (lowest + SLACK) / self.ratio_bound) if self.ratio_bound else top

    def with_weight(self, weight: float = 1.0) -> Self:
        """The same constraint with a barrier that is the steeper the narrower the bound is."""
        widths = [] if self.difference_bound is None else [self.difference_bound]
        widths += [1 - self.ratio_bound] if self.ratio_bound else []
        width = max(min(widths, default=1.0), SHARE_SLACK)  # rates of finite samples are never exactly equal
        return replace(self, barrier=width**-2.0 * weight)

    def penalty(self, sums: Sums) -> tuple[Any, Gradient]:
        """Squared distances from the overall rate; see :func:`rate_spread` and :func:`relative_rate_barrier`."""
        (selected, n), free = self.smooth_rate(sums), FREE_PART * self.largest_difference
        if self.weight > 0:
            value, slope = rate_spread(selected, n, 0.0 if self.relative else self.barrier / self.weight, free)
            value, slope = self.weight * value, self.weight * slope
        else:
            value, slope = rate_spread(selected, n, 0.0 if self.relative else self.barrier, free, spread=0.0)
        relative = [free] if self.relative and self.difference_bound is not None else []
        if self.ratio_bound:  # within this distance of the overall rate, no ratio of two rates is below the bound
            relative.append((1 - self.ratio_bound) / (1 + self.ratio_bound))
        if relative and self.barrier:
            beyond, steep = relative_rate_barrier(selected, n, min(relative))
            value, slope = value + self.barrier * beyond, slope + self.barrier * steep
        return value, self.gradient(slope)

    def violation(self, counts: GroupCounts, shares: Shares) -> FloatArray:
        """Largest difference beyond the bound, plus what is missing to the least ratio."""
        numerator, denominator = self.rate(counts)
        defined = denominator > 0
        numerator, denominator = numerator[:, defined], denominator[defined]
        if not defined.any():
            return np.zeros(len(numerator))
        rates = numerator / denominator
        difference = np.ptp(rates, axis=1)
        if self.relative and self.difference_bound is not None:
            overall = numerator.sum(axis=1) / denominator.sum()
            difference = np.divide(difference, overall, out=np.zeros_like(difference), where=overall > 0)
        beyond = np.maximum(difference - self.largest_difference - SHARE_SLACK, 0)
        if self.ratio_bound:
            beyond += np.maximum(self.ratio_bound * rates.max(axis=1) - rates.min(axis=1) - SHARE_SLACK, 0)
        return np.asarray(beyond)


class DemographicParity(RateParity):
    """``P(selected | z)`` is about the same in all groups.

    Parameters are those of :class:`RateParity`.

    Examples
    --------
    >>> counts = GroupCounts(np.array([10, 10]), np.array([5, 5]), np.array([[4, 2]]), np.array([[4, 2]]))
    >>> DemographicParity(ratio_bound=0.8).violation(counts, np.ones((1, 2))).round(3).tolist()
    [0.12]
    """

    rate_name, numerator, denominator = "selection rates", "selected", "n"


class ReleasedDemographicParity(DemographicParity):
    """Demographic parity as in the paper's released code: a sum of squares of ten times the distances.

    In units of :class:`DemographicParity` (the paper's text) the weight is 100 times the number of groups larger. The
    gradient holds the overall rate constant.
    """

    def penalty(self, sums: Sums) -> tuple[Any, Gradient]:
        """``weight sum_z (10 e_z)^2``, with the distance ``e_z`` of a group's rate from the overall one."""
        present = sums.n > 0
        n = np.where(present, sums.n, 1.0)
        overall = sums.soft_selected.sum(axis=-1, keepdims=True) / sums.n.sum()
        distance = np.where(present, RELEASED_FACTOR * (sums.soft_selected / n - overall), 0.0)
        value = self.weight * (distance * distance).sum(axis=-1)
        return value, Gradient(soft_selected=self.weight * 2 * RELEASED_FACTOR * distance / n)


class TruePositiveRateParity(RateParity):
    """``P(selected | y = 1, z)`` is about the same in all groups with qualified people.

    Parameters are those of :class:`RateParity`.
    """

    rate_name, numerator, denominator = "true-positive rates", "true_positives", "positives"


class FalsePositiveRateParity(RateParity):
    """``P(selected | y = 0, z)`` is about the same in all groups with unqualified people.

    Parameters are those of :class:`RateParity`.
    """

    rate_name = "false-positive rates"

    def rate(self, counts: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """False positives, and unqualified people."""
        return counts.selected - counts.true_positives, counts.n - counts.positives

    def smooth_rate(self, sums: Sums) -> tuple[FloatArray, FloatArray]:
        """Smooth false positives, and unqualified people."""
        return sums.soft_selected - sums.soft_true_positives, sums.n - sums.positives

    def gradient(self, slope: FloatArray) -> Gradient:
        """Gradient from a derivative in the smooth false positives."""
        return Gradient(soft_selected=slope, soft_true_positives=-slope)


@dataclass(frozen=True)
class BaseRateOrder(Constraint):
    """Precision follows base rates: of two groups with clearly different base rates, the higher is not less precise.

    Equal selection and true-positive rates imply it. As a separate constraint it keeps small differences of these rates
    from reversing the order.

    Parameters
    ----------
    min_gap : float, default=0.02
        Groups are ordered when their base rates differ by more than this.
    """

    min_gap: float = 0.02
    _: KW_ONLY
    barrier: float = field(default=1.0, repr=False)

    follows_base_rates: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_fraction(self.min_gap, "min_gap")

    def with_weight(self, weight: float = 1.0) -> Self:
        """The same constraint with a penalty of this weight."""
        return replace(self, barrier=weight)

    def penalty(self, sums: Sums) -> tuple[Any, Gradient]:
        """Squared differences of log-odds against the order; see :func:`order_hinge`."""
        value, slope = order_hinge(sums.precision, *pairs_in_order(ratio(sums.positives, sums.n), self.min_gap))
        return self.barrier * value, Gradient(precision=self.barrier * slope)

    def violation(self, counts: GroupCounts, shares: Shares) -> FloatArray:
        """Number of groups without anybody selected, which have no precision, plus the largest reversed difference."""
        present = np.flatnonzero(counts.n > 0)
        order = present[np.argsort(counts.base_rate[present], kind="stable")]
        rising = counts.base_rate[order]
        precision = np.nan_to_num(counts.precision[:, order], nan=0.0)
        highest_up_to = np.maximum.accumulate(precision, axis=1)
        clearly_below = np.searchsorted(rising, rising - self.min_gap, side="left")
        has_lower = clearly_below > 0
        reversed_by = highest_up_to[:, clearly_below[has_lower] - 1] - precision[:, has_lower]
        largest = np.maximum(reversed_by - SHARE_SLACK, 0).max(axis=1, initial=0.0)
        return np.asarray((counts.selected[:, present] <= 0).sum(axis=1) + largest)


# ---------------------------------------------------------------------- all constraints of a task


@dataclass(frozen=True, eq=False)
class Constraints:
    """Everything that must hold, sorted by what solvers do with it.

    Parameters
    ----------
    required : ndarray of bool of shape (n_groups,), optional
        Groups that must apply; by default none.
    max_social_cost : float, default=1.0
        Largest share of qualified people that may stay away.
    min_selection_rate, min_selected : float, ndarray of shape (n_groups,)
        Least share, and least number, of people of each group that must be selected, whether it applies or not.
    between_groups : tuple of Constraint
        All other constraints, as they were given: those between groups, in which groups that stay away count as well,
        and users' own.

    Examples
    --------
    >>> Constraints(min_selection_rate=0.25).shortfall([2, 1], [8, 8]).tolist()
    [0.0, 0.125]
    """

    required: BoolArray | None = None
    max_social_cost: float = 1.0
    min_selection_rate: float = 0.0
    min_selected: FloatArray | None = None
    between_groups: tuple[Constraint, ...] = ()

    def __post_init__(self) -> None:
        check_fraction(self.max_social_cost, "max_social_cost")
        check_fraction(self.min_selection_rate, "min_selection_rate")

    @classmethod
    def of(cls, constraints: Iterable[Constraint], groups: pd.Index) -> Constraints:
        """Sort the constraints of a task about some groups."""
        required, limits, least, others = np.zeros(len(groups), dtype=bool), [1.0], [0.0], list[Constraint]()
        for constraint in check_constraints(constraints):
            if isinstance(constraint, RequiredGroups):
                required |= constraint.mask(groups)
            elif isinstance(constraint, MaxSocialCost):
                limits.append(constraint.limit)
            elif isinstance(constraint, MinSelectionRate):
                least.append(constraint.share)
            else:
                constraint.for_groups(groups)  # raises if it names a group that is not there
                others.append(constraint)
        return cls(required, min(limits), max(least), None, tuple(others))

    def required_of(self, n_groups: int) -> BoolArray:
        """Whether each group must apply."""
        return np.zeros(n_groups, dtype=bool) if self.required is None else self.required

    def take(self, groups: NDArray[np.intp]) -> Constraints:
        """The same constraints for some of the groups."""
        required = None if self.required is None else self.required[groups]
        least = None if self.min_selected is None else self.min_selected[groups]
        return replace(self, required=required, min_selected=least)

    def shortfall(self, selected: ArrayLike, n: ArrayLike) -> FloatArray:
        """By how much the selection rate of each group is below the least one."""
        chosen, people = np.asarray(selected, dtype=np.float64), np.asarray(n, dtype=np.float64)
        short = chosen < (self.min_selection_rate - SLACK) * people  # comparing counts is exact for empty groups
        return np.where(short, self.min_selection_rate - ratio(chosen, people), 0.0)

    def selects_enough(self, steps: CountCurves) -> BoolArray:
        """Whether each step of a score keeps the least selection rate of its group."""
        return np.asarray(self.shortfall(steps.selected, steps.n[steps.group]) == 0)

    @property
    def limits_selection(self) -> bool:
        """Whether there is a least selection rate."""
        return self.min_selection_rate > 0

    @property
    def prescribes_applicants(self) -> bool:
        """Whether groups are required, or social cost is limited."""
        return (self.required is not None and bool(self.required.any())) or self.max_social_cost < 1

    @property
    def follows_base_rates(self) -> bool:
        """Whether precision must follow base rates."""
        return any(constraint.follows_base_rates for constraint in self.between_groups)


def check_constraints(constraints: Any) -> list[Constraint]:
    """Constraints as a list; refuse anything else."""
    single = hasattr(constraints, "violation") or isinstance(constraints, str)
    given = [constraints] if single else list(constraints or ())
    for constraint in given:
        if isinstance(constraint, type) or not hasattr(constraint, "violation"):
            raise TypeError(
                f"constraints must be a list of constraints such as [MaxSocialCost(0.3)], found {constraint!r}."
            )
    return [each if isinstance(each, Constraint) else _Own(each) for each in given]


class _Own(Constraint):
    """A constraint of somebody's own class, which may have no more than ``violation``."""

    def __init__(self, own: Any) -> None:
        self.own = own

    def __repr__(self) -> str:
        return repr(self.own)

    def for_groups(self, groups: pd.Index) -> Constraint:
        return _Own(self.own.for_groups(groups)) if hasattr(self.own, "for_groups") else self

    def violation(self, counts: GroupCounts, shares: Shares) -> FloatArray:
        return np.asarray(self.own.violation(counts, shares), dtype=np.float64)

    def penalty(self, sums: Sums) -> tuple[Any, Gradient]:
        own: tuple[Any, Gradient] = self.own.penalty(sums) if hasattr(self.own, "penalty") else super().penalty(sums)
        return own


def violations(constraints: Sequence[Constraint], groups: pd.Index, counts: GroupCounts, shares: Shares) -> pd.Series:
    """By how much one classifier violates each constraint, by the constraint's name; 0 if it holds."""
    one = replace(
        counts, selected=counts.selected[None, :], true_positives=counts.true_positives[None, :], squares=None
    )
    amounts = [float(each.for_groups(groups).violation(one, np.asarray(shares)[None, :])[0]) for each in constraints]
    return pd.Series(amounts, index=[repr(each) for each in constraints], name="violation", dtype=np.float64)


# ---------------------------------------------------------------------- formulas


def rate_spread(
    selected: FloatArray, n: FloatArray, barrier: float = 0.0, free: float = 0.0, spread: float = 1.0
) -> tuple[Any, FloatArray]:
    """Spread of rates: ``(1/K) sum_z spread e_z^2 + barrier max(|e_z| - free, 0)^2``; and its derivative in selected.

    ``e_z = selected_z / n_z - overall``; ``selected`` has shape (..., n_groups). Groups with ``n = 0`` do not count.
    """
    n_groups, total, present = len(n), max(n.sum(), TINY), n > 0
    safe = np.where(present, n, 1.0)
    distance = np.where(present, selected / safe - selected.sum(axis=-1, keepdims=True) / total, 0.0)
    beyond = _beyond(distance, free)
    value = (spread * _dot(distance, distance) + barrier * _dot(beyond, beyond)) / n_groups
    slope = 2 * (spread * distance + barrier * beyond) / n_groups
    return value, np.where(present, slope / safe - slope.sum(axis=-1, keepdims=True) / total, 0.0)


def relative_rate_barrier(selected: FloatArray, n: FloatArray, free: float) -> tuple[Any, FloatArray]:
    """``(1/K) sum_z max(|g_z| - free, 0)^2`` with ``g_z = selected_z / n_z / overall - 1``; see :func:`rate_spread`."""
    n_groups, total, present = len(n), max(n.sum(), TINY), n > 0
    safe = np.where(present, n, 1.0)
    rate = np.where(present, selected / safe, 0.0)
    overall = np.maximum(selected.sum(axis=-1, keepdims=True) / total, SMALLEST_RATE)
    beyond = _beyond(np.where(present, rate / overall - 1.0, 0.0), free)
    pull = 2 * beyond / (n_groups * overall)
    through_overall = -_dot(pull, rate)[..., None] / overall
    return _dot(beyond, beyond) / n_groups, np.where(present, pull / safe + through_overall / total, 0.0)


def _beyond(distance: FloatArray, free: float) -> FloatArray:
    """Part of signed distances beyond a free one."""
    return np.asarray(np.sign(distance) * np.maximum(np.abs(distance) - free, 0.0))


def _dot(one: FloatArray, other: FloatArray) -> Any:
    """Products of the last axis, added up."""
    return (one[..., None, :] @ other[..., :, None])[..., 0, 0]


def pairs_in_order(base_rate: FloatArray, min_gap: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pairs of groups (higher, lower) whose base rates differ by more than the gap; of many groups, neighbours.

    A group without a base rate (NaN) is in no pair.
    """
    if len(base_rate) <= MAX_PAIRED_GROUPS:
        higher, lower = np.nonzero(base_rate[:, None] > base_rate[None, :] + min_gap)
        return higher.astype(np.intp), lower.astype(np.intp)
    order = np.argsort(base_rate, kind="stable")
    below = np.searchsorted(base_rate[order], base_rate[order] - min_gap, side="left")
    has_lower = (below > 0) & ~np.isnan(base_rate[order])
    return order[has_lower].astype(np.intp), order[below[has_lower] - 1].astype(np.intp)


def order_hinge(precision: FloatArray, higher: NDArray[np.intp], lower: NDArray[np.intp]) -> tuple[Any, FloatArray]:
    """Squared amounts by which log-odds of precision break an order of groups, over K; derivative in precision.

    Group ``higher[i]`` should exceed group ``lower[i]`` by :data:`ORDER_DISTANCE`.
    """
    if precision.ndim > 1:  # one row per score
        values, slopes = zip(*(order_hinge(row, higher, lower) for row in precision), strict=True)
        return np.array(values), np.array(slopes)
    n_groups, clipped = len(precision), np.clip(precision, PRECISION_CLIP, 1 - PRECISION_CLIP)
    odds = logit(clipped)
    short = np.maximum(odds[lower] - odds[higher] + ORDER_DISTANCE, 0.0)
    pull = np.bincount(lower, short, n_groups) - np.bincount(higher, short, n_groups)
    slope = np.where(clipped == precision, 2 * pull / (clipped * (1 - clipped)), 0.0)
    return float(short @ short) / n_groups, slope / n_groups
