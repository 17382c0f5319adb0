"""The objectives of training: value, and gradient with respect to sums per group.

:class:`StrategicObjective` is the paper's::

    sum_z a_z L_z / sum_z a_z n_z  +  application R_app  +  penalties of constraints
    R_app = -(1/K) sum_z log(max_i y~_i + .001) - log(max_z a_z + .001)

with the smooth application ``a_z`` of group z at its smooth precision, its log-loss ``L_z`` and its people ``n_z``.
:class:`TargetedObjective` is what the default solvers minimise, for groups T that are meant to apply::

    sum_z T_z (P_z - TP_z + price (PP_z - TP_z)) / scale  +  bounds of precision  +  penalties of constraints

Both see only :class:`~selfselect.counting.sums.Sums`, K numbers of each kind for K groups; :mod:`.scores` makes these
from scores, and :mod:`.linear` makes scores from features.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Protocol

import numpy as np
from scipy.special import logit

from .._validation import FloatArray
from ..behaviour import PRECISION_CLIP, smooth_applies
from ..constraints import Constraint
from ..counting.sums import TINY, Gradient, Sums
from .scores import GroupedRows, SmoothScores

#: Added inside the logarithms of the application penalty, so that it stays finite.
LOG_OFFSET = 1e-3
#: The paper's weight of the application penalty.
APPLICATION = 1 / 6


class Objective(Protocol):
    """What training minimises: how scores become sums, and a value of these sums."""

    def smooth_scores(self, rows: GroupedRows) -> SmoothScores:
        """The passes over scores of some rows that this objective needs."""
        ...

    def __call__(self, sums: Sums) -> tuple[Any, Gradient]:
        """Value, and its gradient with respect to the sums."""
        ...


def _add_all(terms: Iterable[tuple[Any, Gradient]]) -> tuple[Any, Gradient]:
    """Sum of values, with its gradient."""
    return reduce(lambda one, other: (one[0] + other[0], one[1] + other[1]), terms)


# ---------------------------------------------------------------------- the paper's objective


def induced_loss(loss: FloatArray, n: FloatArray, applies: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Loss over applicants ``sum_z a_z L_z / sum_z a_z n_z``; derivatives in L and a."""
    applicants = (applies * n).sum(axis=-1, keepdims=True)
    value = (applies * loss).sum(axis=-1, keepdims=True) / applicants
    return value[..., 0], applies / applicants, (loss - value * n) / applicants


def application_penalty(
    largest: FloatArray, applies: FloatArray, over: str = "mean"
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """``R_app``, low if someone is selected in every group and some group applies; derivatives in ``max y~`` and a.

    Over the "sum" the factor 1/K is left out.
    """
    count = applies.shape[-1] if over == "mean" else 1
    top = applies.argmax(axis=-1)[..., None]
    highest = np.take_along_axis(applies, top, axis=-1) + LOG_OFFSET
    value = -np.log(largest + LOG_OFFSET).sum(axis=-1) / count - np.log(highest)[..., 0]
    in_applies = np.zeros_like(applies)
    np.put_along_axis(in_applies, top, -1 / highest, axis=-1)
    return value, -1 / (largest + LOG_OFFSET) / count, in_applies


@dataclass(frozen=True, eq=False)
class StrategicObjective:
    """The paper's objective, for one score or several at once; see the module for its formula.

    Parameters
    ----------
    costs : ndarray of shape (n_groups,)
        Effective cost of each group, margin included.
    application : float
        Weight of the application penalty.
    constraints : tuple of Constraint
        Their penalties are added.
    temperature, precision_temperature, application_temperature : float
        Sharpness of y~ (loss and penalties), of the smooth precision, and of applications.
    corrected : bool
        Whether hard counts correct the smooth precision; see :meth:`applications`.
    corrected_above : float
        Groups whose largest y~ is not above this are not corrected; at .5, those of which nobody is selected.
    application_over : {"mean", "sum"}
        Whether the application penalty averages over groups, or adds up.
    """

    costs: FloatArray
    application: float = APPLICATION
    constraints: tuple[Constraint, ...] = ()
    temperature: float = 2.0
    precision_temperature: float = 5.0
    application_temperature: float = 5.0
    corrected: bool = True
    corrected_above: float = 0.5
    application_over: str = "mean"

    def smooth_scores(self, rows: GroupedRows) -> SmoothScores:
        """Passes over scores with the largest prediction of each group, which takes all rows at once."""
        return SmoothScores(rows, self.temperature, self.precision_temperature, with_largest=True, vectorised=True)

    def applications(self, sums: Sums) -> tuple[FloatArray, FloatArray]:
        """Smooth applications, and their derivatives in the smooth precision.

        The correction ``((TP - c PP) - (sharp TP - c sharp PP)) / sharp PP`` by hard counts TP and PP gives
        ``precision - c`` exactly the sign of the hard rule. It is held constant in the derivatives: through it the
        gradient would point the other way.
        """
        precision = sums.precision
        if self.corrected:
            assert sums.largest is not None
            assert sums.selected is not None
            assert sums.true_positives is not None
            gap = sums.true_positives - self.costs * sums.selected
            gap = gap - (sums.sharp_true_positives - self.costs * sums.sharp_selected)
            correction = gap / np.maximum(sums.sharp_selected, TINY)
            precision = np.where(sums.largest > self.corrected_above, precision + correction, precision)
        return smooth_applies(precision, self.costs, self.application_temperature)

    def __call__(self, sums: Sums) -> tuple[FloatArray, Gradient]:
        """Value of each score, and its gradient."""
        assert sums.largest is not None
        applies, in_precision = self.applications(sums)
        # where no group applies even smoothly, the weights must not all vanish
        value, in_loss, in_applies = induced_loss(sums.loss, sums.n, applies + TINY)
        penalty, in_largest, pull = application_penalty(sums.largest, applies, self.application_over)
        gradient = Gradient(
            loss=in_loss,
            largest=self.application * in_largest,
            precision=(in_applies + self.application * pull) * in_precision,
        )
        penalties = [constraint.penalty(sums) for constraint in self.constraints]
        value, gradient = _add_all([(value + self.application * penalty, gradient), *penalties])
        return value, gradient.through_precision(sums)


# ---------------------------------------------------------------------- the objective of the default solvers


@dataclass(frozen=True, eq=False)
class PrecisionBounds:
    """Penalty that keeps the smooth precision of some groups above a bound, and of others below; NaN is no bound."""

    at_least: FloatArray
    at_most: FloatArray
    weight: float = 1.0

    def penalty(self, sums: Sums) -> tuple[float, Gradient]:
        """Squared distance of log-odds from their bounds, averaged over groups; and its gradient."""
        precision = sums.precision
        clipped = np.clip(precision, PRECISION_CLIP, 1 - PRECISION_CLIP)
        odds = logit(clipped)
        low, high = np.fmax(logit(self.at_least) - odds, 0.0), np.fmax(odds - logit(self.at_most), 0.0)  # ignores NaN
        slope = np.where(clipped == precision, 2 * (high - low) / (clipped * (1 - clipped)), 0.0) / len(odds)
        value = float(low @ low + high @ high) / len(odds)
        return self.weight * value, Gradient(precision=self.weight * slope)


@dataclass(frozen=True, eq=False)
class TargetedObjective:
    """Errors on groups that are meant to apply, with everything else as a penalty.

    :class:`StrategicObjective` lets the data decide who applies, and loses the gradient of a group whose smooth
    application is 0. This objective is given the groups (``target`` is 1 for these, 0 for others). ``bounds`` keep them
    in and others out. If ``with_log_loss``, the log-loss on the target replaces the errors.

    At ``price`` 1 the value is the smooth number of errors. At ``c / (1 - c)`` the gain ``TP - price (PP - TP)`` is
    positive exactly for a smooth precision above c: the score turns towards precision at the very top.
    """

    target: FloatArray
    scale: float
    price: float = 1.0
    temperature: float = 4.0
    bounds: PrecisionBounds | None = None
    constraints: tuple[Constraint, ...] = ()
    with_log_loss: bool = False

    def smooth_scores(self, rows: GroupedRows) -> SmoothScores:
        """Passes over scores."""
        return SmoothScores(rows, self.temperature, with_loss=self.with_log_loss)

    def __call__(self, sums: Sums) -> tuple[float, Gradient]:
        """Value and gradient."""
        bounds = [] if self.bounds is None else [self.bounds.penalty(sums)]
        bounds += [constraint.penalty(sums) for constraint in self.constraints if constraint.follows_base_rates]
        others = [constraint.penalty(sums) for constraint in self.constraints if not constraint.follows_base_rates]
        value, gradient = _add_all([self._errors(sums), *([_add_all(bounds)] if bounds else []), *others])
        return value, gradient.through_precision(sums)

    def _errors(self, sums: Sums) -> tuple[float, Gradient]:
        if self.with_log_loss:
            return float(self.target @ sums.loss) / self.scale, Gradient(loss=self.target / self.scale)
        target, price, true_positives = self.target / self.scale, self.price, sums.sharp_true_positives
        value = target @ (sums.positives - true_positives + price * (sums.sharp_selected - true_positives))
        return float(value), Gradient(sharp_true_positives=-(1 + price) * target, sharp_selected=price * target)

    def with_weight(self, weight: float) -> TargetedObjective:
        """The same objective with a weight of the bounds and of the barriers of constraints."""
        return replace(
            self,
            bounds=replace(self.bounds, weight=weight) if self.bounds else None,
            constraints=tuple(constraint.with_weight(weight) for constraint in self.constraints),
        )
