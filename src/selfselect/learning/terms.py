"""The terms of training: what each group pays, how people respond, and what must hold."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._validation import BoolArray, FloatArray
from ..behaviour import SLACK, Behaviour, BestResponse, Tolerance, applies_with_margin
from ..constraints import Constraint, Constraints
from ..publishing import ThresholdCurves

#: What happens to groups that are not meant to apply: nobody of them is selected, or everybody, unless they would apply
#: then. "forbid" (thresholds per group only) selects at least as many as the constraints say.
ShutOut: TypeAlias = Literal["select_none", "select_all", "forbid"]


@dataclass(frozen=True, eq=False)
class TrainingTerms:
    """Costs, behaviour and constraints that a classifier is trained for.

    Attributes
    ----------
    costs : ndarray of shape (n_groups,)
        Effective cost of each group, subsidies taken off.
    tolerance : float or "auto"
        Margin by which groups must clear their cost in training.
    constraints : Constraints
    behaviour : Behaviour, default=BestResponse()
    shut_out : {"select_none", "select_all"}
        Where features tell groups apart; see :data:`ShutOut`.
    push_out : bool
        Whether training under constraints between groups may push the precision of groups that are not meant to apply
        below their cost.
    """

    costs: FloatArray
    tolerance: Tolerance = 0.0
    constraints: Constraints = field(default_factory=Constraints)
    behaviour: Behaviour = field(default_factory=BestResponse)
    shut_out: str = "select_none"
    push_out: bool = True

    def applies(self, true_positives: ArrayLike, selected: ArrayLike, tolerance: Tolerance) -> BoolArray:
        """Whether groups apply with a margin; a group that pays nothing always does."""
        applies = applies_with_margin(true_positives, selected, self.costs, tolerance, self.behaviour)
        return np.asarray(applies | self.free, dtype=bool)

    def step_applies(self, curves: ThresholdCurves, tolerance: Tolerance = 0.0) -> BoolArray:
        """Whether the group of each step of a score applies there with a margin; see :meth:`applies`."""
        applies = curves.step_applies(self.costs, tolerance, self.behaviour)
        return np.asarray(applies | self.free[curves.group], dtype=bool) if self.free.any() else applies

    @property
    def free(self) -> BoolArray:
        """Groups that pay nothing. They cannot be kept out."""
        return np.asarray(self.costs <= SLACK, dtype=bool)

    @property
    def required(self) -> BoolArray:
        """Groups that must apply."""
        return self.constraints.required_of(len(self.costs))

    @property
    def between_groups(self) -> tuple[Constraint, ...]:
        """Constraints between groups."""
        return self.constraints.between_groups

    def margin(self, auto: float) -> float:
        """The tolerance as a number; "auto" depends on counts and is replaced by the given number."""
        return auto if self.tolerance == "auto" else self.tolerance

    def take(self, groups: NDArray[np.intp]) -> TrainingTerms:
        """The same terms for some of the groups."""
        return replace(self, costs=self.costs[groups], constraints=self.constraints.take(groups))

    def as_published(self) -> TrainingTerms:
        """The terms of what people see: no margin, and no constraints between groups."""
        return replace(self, tolerance=0.0, constraints=replace(self.constraints, between_groups=()))
