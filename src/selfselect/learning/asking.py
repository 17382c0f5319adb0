"""What is asked of a classifier."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from .._validation import BoolArray, FloatArray
from ..behaviour import SLACK, Behaviour, BestResponse, Tolerance, applies_with_margin
from ..counting import ScoreSteps, ratio
from ..publishing import ThresholdCurves
from .ties import Tie


@dataclass(frozen=True, eq=False)
class Ask:
    """What is asked of a classifier, apart from accuracy on those who apply.

    Attributes
    ----------
    costs : ndarray of shape (n_groups,)
        Cost that each group faces, subsidies taken off.
    tolerance : float or "auto"
        Margin by which groups must clear their cost in training.
    behaviour : Behaviour, default=BestResponse()
        How people answer what is published and what they face.
    required : ndarray of bool of shape (n_groups,)
        Groups that must apply; by default none.
    max_social_cost : float
        Largest share of the qualified that may stay away; 1 for no limit.
    ties : tuple of Tie
        What must be alike between groups.
    shut_out : {"select_none", "select_all"}
        What is done, where features tell groups apart, to a group that is not meant to apply: nobody of it is selected,
        or everybody, unless that would make it apply.
    push_out : bool
        Whether training, where groups are tied, may push the precision of groups that are not meant to apply below
        their cost.
    min_selection_rate : float
        Least share of each group, whether it applies or not, that must be selected; 0 for no limit.
    """

    costs: FloatArray
    tolerance: Tolerance = 0.0
    behaviour: Behaviour = field(default_factory=BestResponse, kw_only=True)
    required: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    max_social_cost: float = 1.0
    ties: tuple[Tie, ...] = ()
    shut_out: str = "select_none"
    push_out: bool = field(default=True, kw_only=True)
    min_selection_rate: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        if not len(self.required):
            object.__setattr__(self, "required", np.zeros(len(self.costs), dtype=bool))

    def clear(self, true_positives: ArrayLike, selected: ArrayLike, tolerance: Tolerance) -> BoolArray:
        """Whether groups clear their cost by a tolerance, as people answer; who pays nothing always does."""
        clears = applies_with_margin(true_positives, selected, self.costs, tolerance, self.behaviour)
        return np.asarray(clears | self.free, dtype=bool)

    def steps_clear(self, curves: ThresholdCurves, tolerance: Tolerance = 0.0) -> BoolArray:
        """Whether the group of each step of a score clears its cost there; who pays nothing always does."""
        clears = curves.step_applies(self.costs, tolerance, self.behaviour)
        return np.asarray(clears | self.free[curves.group], dtype=bool) if self.free.any() else clears

    @property
    def free(self) -> BoolArray:
        """Groups that pay nothing: they cannot be kept out, so that they count however few of them are selected."""
        return np.asarray(self.costs <= SLACK, dtype=bool)

    def kept_out_by_all(self, n: FloatArray, positives: FloatArray) -> BoolArray:
        """Groups that stay away though (because) everybody of them is selected, where that is the way to shut out."""
        if self.shut_out == "select_none":
            return np.zeros(len(n), dtype=bool)
        return ~self.clear(positives, n, 0.0) & (n > 0)

    def lacking(self, selected: ArrayLike, n: ArrayLike) -> FloatArray:
        """What is lacking to the least selection rate, as a share of each group; 0 where it is kept.

        Examples
        --------
        >>> Ask(np.array([0.7, 0.7]), min_selection_rate=0.25).lacking([2, 1], [8, 8]).tolist()
        [0.0, 0.125]
        """
        passed, people = np.asarray(selected, dtype=np.float64), np.asarray(n, dtype=np.float64)
        short = passed < (self.min_selection_rate - SLACK) * people  # counts are compared: never so in an empty group
        return np.where(short, self.min_selection_rate - ratio(passed, people), 0.0)

    def enough_selected(self, steps: ScoreSteps) -> BoolArray | None:
        """Whether enough of its group are selected at each step of a score; None where nothing is asked."""
        if not self.limits_selection:
            return None
        return np.asarray(self.lacking(steps.selected, steps.n[steps.group]) == 0)

    @property
    def limits_selection(self) -> bool:
        """Whether some of each group must be selected."""
        return self.min_selection_rate > 0

    @property
    def prescribes_applicants(self) -> bool:
        """Whether it is prescribed who must apply, or how many."""
        return bool(self.required.any()) or self.max_social_cost < 1

    @property
    def follows_base_rates(self) -> bool:
        """Whether a tie makes precision follow base rates."""
        return any(tie.follows_base_rates for tie in self.ties)

    def margin(self, auto: float) -> float:
        """Tolerance as a number; "auto" is none, since it depends on counts, so a number is given to be used for it."""
        return auto if self.tolerance == "auto" else self.tolerance

    def as_published(self) -> Ask:
        """The same ask of what people see: groups apply as soon as they clear the cost, and ties are not judged."""
        return replace(self, tolerance=0.0, ties=())
