"""What is asked of a classifier."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from .._validation import BoolArray, FloatArray
from ..deciding import Behaviour, HardRule, Tolerance, applies_with_margin
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
    behaviour : Behaviour, default=HardRule()
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
    """

    costs: FloatArray
    tolerance: Tolerance = 0.0
    behaviour: Behaviour = field(default_factory=HardRule, kw_only=True)
    required: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    max_social_cost: float = 1.0
    ties: tuple[Tie, ...] = ()
    shut_out: str = "select_none"
    push_out: bool = True

    def __post_init__(self) -> None:
        if not len(self.required):
            object.__setattr__(self, "required", np.zeros(len(self.costs), dtype=bool))

    def clear(self, true_positives: ArrayLike, selected: ArrayLike, tolerance: Tolerance) -> BoolArray:
        """Whether groups clear their cost by a tolerance, as people answer."""
        return applies_with_margin(true_positives, selected, self.costs, tolerance, self.behaviour)

    def kept_out_by_all(self, n: FloatArray, positives: FloatArray) -> BoolArray:
        """Groups that stay away though (because) everybody of them is selected, where that is the way to shut out."""
        if self.shut_out == "select_none":
            return np.zeros(len(n), dtype=bool)
        return ~self.clear(positives, n, 0.0) & (n > 0)

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
