"""What each group faces: cost, subsidies, what is published, and how people respond, together as :class:`Terms`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ._errors import InputError
from ._validation import FloatArray, check_choice, check_fraction, list_some
from .behaviour import Behaviour, BestResponse, Shares, check_behaviour, evaluate_shares, max_accepted_cost
from .counting.counts import GroupCounts
from .counting.groups import position_of, values_by_group
from .statistics import Precision, Published, Statistic, check_statistic, confidence_of

Cost: TypeAlias = float | Mapping[Any, float] | pd.Series
Subsidies: TypeAlias = float | Mapping[Any, float] | pd.Series | None
SubsidyKind: TypeAlias = Literal["additive", "proportional"]
#: A subsidy may exceed the cost by this much, because subsidies are rounded up to thousandths.
SUBSIDY_ROUNDING = 1e-3
COST_FORMS = (
    "cost is one number, or a mapping from group to number (a dict, or a Series indexed by group); people of one group "
    "face the same cost."
)
SUBSIDY_KINDS: tuple[SubsidyKind, ...] = ("additive", "proportional")


def check_no_column(cost: Any) -> Any:
    """Refuse an array or list of costs, such as one of each person."""
    if np.ndim(cost) > 0 and not isinstance(cost, pd.Series):
        raise TypeError(f"cost has {len(cost)} entries without groups. {COST_FORMS}")
    return cost


def least_proportional(precision: FloatArray, cost: FloatArray) -> FloatArray:
    """Smallest share of the cost at which a group of this precision applies: ``max(0, 1 - prc / c)``."""
    below = precision < cost  # elsewhere nothing is divided, because the cost may be 0
    share = 1 - precision / np.where(below, cost, 1.0)
    return np.where(np.isnan(precision + cost), np.nan, np.where(below, share, 0.0))


@dataclass(frozen=True, eq=False)
class Terms:
    """What groups face, and how they respond.

    Attributes
    ----------
    cost : float, or mapping from group to float
        Cost of the test in [0, 1], in units of the gain from being hired. A mapping must name every group.
    subsidies : float, or mapping from group to float, optional
        Subsidies of at least 0. Groups that a mapping does not name get none. An additive subsidy is at most the cost.
    kind : {"additive", "proportional"}, default="additive"
        ``c_z = c - s_z``, or ``c_z = c (1 - s_z)`` with subsidies in [0, 1].
    behaviour : Behaviour, default=BestResponse()
        How people respond to what is published and to the cost.
    statistic : Statistic, default=Precision()
        What is published.
    cost_of : mapping from group to float, optional
        Costs of single groups; the other groups face ``cost``.

    Examples
    --------
    >>> terms = Terms(0.75, {"B": 0.25})
    >>> terms.effective_cost(pd.Index(["A", "B"]))
    array([0.75, 0.5 ])
    """

    cost: Cost
    subsidies: Subsidies = None
    kind: SubsidyKind = "additive"
    behaviour: Behaviour = field(default_factory=BestResponse)
    statistic: Statistic = field(default_factory=Precision)
    cost_of: Mapping[Any, float] | None = None

    def __post_init__(self) -> None:
        check_choice(self.kind, "subsidy_kind", SUBSIDY_KINDS)
        check_behaviour(self.behaviour)
        check_statistic(self.statistic)

    @property
    def uniform_cost(self) -> float | None:
        """Cost before subsidies if it is the same for all groups, otherwise None."""
        differs = isinstance(self.cost, Mapping | pd.Series) or bool(self.cost_of)
        return None if differs else check_fraction(check_no_column(self.cost), "cost")

    @property
    def confidence(self) -> float | None:
        """Confidence of the lower bound that is published; None if another statistic is."""
        return confidence_of(self.statistic)

    def at_cost(self, cost: Cost) -> Terms:
        """The same terms at another cost."""
        return replace(self, cost=cost)

    def with_subsidies(self, subsidies: Subsidies, kind: SubsidyKind | None = None) -> Terms:
        """The same terms with other subsidies."""
        return replace(self, subsidies=subsidies, kind=self.kind if kind is None else kind)

    def among(self, groups: pd.Index, some: pd.Index) -> Terms:
        """The same terms for some of the groups, whose costs include the subsidies."""
        costs = self.effective_cost(groups)[position_of(some, groups, "The groups", "the terms")]
        return Terms(pd.Series(costs, index=some), behaviour=self.behaviour, statistic=self.statistic)

    def listed_cost(self, groups: pd.Index) -> FloatArray:
        """Cost of each group before subsidies."""
        if isinstance(self.cost, Mapping | pd.Series):
            try:
                listed = values_by_group(self.cost, groups, "cost", default=None)
            except ValueError as error:
                if isinstance(self.cost, Mapping):
                    raise
                raise ValueError(f"{error} {COST_FORMS}") from None  # may be a Series of people
        else:
            listed = np.full(len(groups), check_fraction(check_no_column(self.cost), "cost"))
        if self.cost_of:
            own = values_by_group(self.cost_of, groups, "cost_of", default=np.inf)
            listed = np.where(np.isinf(own), listed, own)
        outside = (listed < 0) | (listed > 1)
        if outside.any():
            raise ValueError(f"cost must lie in [0, 1]; it does not for group(s) {list_some(groups[outside])}.")
        return listed

    def subsidies_for(self, groups: pd.Index) -> FloatArray:
        """Subsidy of each group: an amount, or a share of the cost."""
        if self.subsidies is None:
            return np.zeros(len(groups))
        if isinstance(self.subsidies, Mapping | pd.Series):
            given = values_by_group(self.subsidies, groups, "subsidies", default=0.0)
        else:
            try:
                given = np.full(len(groups), float(self.subsidies))
            except (TypeError, ValueError) as error:
                raise TypeError(
                    f"subsidies must be a number or a mapping from group to number, got {list_some([self.subsidies])}."
                ) from error
        highest = 1.0 if self.kind == "proportional" else np.inf
        wrong = ~((given >= 0) & (given <= highest) & np.isfinite(given))
        if wrong.any():
            limit = "between 0 and 1 when proportional" if self.kind == "proportional" else "finite and at least 0"
            raise ValueError(f"subsidies must be {limit}; wrong for group(s) {list_some(groups[wrong])}.")
        return given

    def effective_cost(self, groups: pd.Index) -> FloatArray:
        """Cost that each group faces after subsidies, ``c_z``."""
        listed, paid = self.listed_cost(groups), self.subsidies_for(groups)
        beyond = paid > listed + SUBSIDY_ROUNDING if self.kind == "additive" else np.zeros(len(groups), dtype=bool)
        if beyond.any():
            first = int(np.flatnonzero(beyond)[0])
            raise InputError(
                f"subsidies must not be larger than the cost: group {list_some(groups[[first]])} would be paid "
                f"{paid[first]:g} towards a cost of {listed[first]:g}"
                + (f", and {beyond.sum() - 1} more group(s) likewise" if beyond.sum() > 1 else "")
                + ". Pay at most the cost.",
                key="subsidy",
            )
        return listed * (1 - paid) if self.kind == "proportional" else np.maximum(listed - paid, 0.0)

    def further_subsidy(self, groups: pd.Index, precision: ArrayLike) -> FloatArray:
        """Smallest additional subsidy at which each group applies: 0 if it does, NaN without a precision.

        Examples
        --------
        >>> groups = pd.Index(["A"])
        >>> Terms(0.7).further_subsidy(groups, [0.62]).round(3).tolist()
        [0.08]
        >>> Terms(0.7, kind="proportional").further_subsidy(groups, [0.62]).round(3).tolist()
        [0.114]
        """
        reached, cost = np.asarray(precision, dtype=np.float64), self.effective_cost(groups)
        if self.kind == "additive":
            return np.maximum(cost - reached, 0.0)
        # c (1 - s - s') must come down to the precision, where s is paid already
        return np.maximum(least_proportional(reached, self.listed_cost(groups)) - self.subsidies_for(groups), 0.0)

    def published(self, groups: pd.Index, counts: GroupCounts) -> Published:
        """What people see of the counts of each group."""
        return Published(counts, self.statistic, groups)

    def max_accepted_cost(self, groups: pd.Index, counts: GroupCounts) -> FloatArray:
        """Highest cost at which each group applies; NaN if it applies at none."""
        return max_accepted_cost(self.behaviour, self.published(groups, counts))

    def shares(self, groups: pd.Index, counts: GroupCounts) -> Shares:
        """Share of each group that applies, given its published counts."""
        return evaluate_shares(self.behaviour, self.published(groups, counts), self.effective_cost(groups))
