"""The objectives of training: value, and gradient with respect to sums per group.

:class:`StrategicObjective` is the paper's, for any behaviour and any constraints::

    sum_z a_z L_z / sum_z a_z n_z  +  application_weight R_app  +  penalties of constraints
    R_app = -(1/K) sum_z log(max_i y~_i + .001) - log(max_z a_z + .001)

    a_z   share of group z that applies at its smooth precision q_z and cost c_z: the behaviour, made smooth
    q_z   sum_z y p / sum_z p                                  p  = sigma(precision_temperature * score)
    L_z   log-loss of y~ on group z (or its smooth errors)     y~ = sigma(temperature * score)

:class:`TargetedObjective` is what the default solvers minimise under the best response, for groups T that are meant to
apply (``a_z`` is fixed to 1 for these and 0 for others)::

    sum_z T_z (P_z - TP_z + price (PP_z - TP_z)) / scale  +  bounds of precision  +  penalties of constraints

:mod:`.scores` makes the sums from scores and takes the gradient back; :mod:`.linear` makes scores from features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import logit

from .._validation import BoolArray, FloatArray, as_column, check_binary, check_choice, check_same_rows, check_weights
from ..behaviour import (
    PRECISION_CLIP,
    Behaviour,
    BestResponse,
    check_behaviour,
    check_margin,
    smooth_behaviour,
    smooth_shares,
)
from ..constraints import Constraint, check_constraints, violations
from ..costs import Terms
from ..counting import GroupCounts, encode_groups
from ..counting.groups import values_by_group
from ..counting.sums import TINY, Gradient, Sums
from ..outcomes import Outcome, outcome
from ..publishing import PublishedStatistics
from ..statistics import Published
from .scores import GroupedRows, SmoothScores

#: Added inside the logarithms of the application penalty, so that it stays finite.
LOG_OFFSET = 1e-3
#: The paper's weight of the application penalty.
APPLICATION = 1 / 6
#: Replace 0 in denominators: added to shares, and least number of selected people. Derivatives divide by both.
SMALLEST_SHARE, SMALLEST_NUMBER = 1e-100, 1e-180


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
    is_top = np.arange(applies.shape[-1]) == applies.argmax(axis=-1)[..., None]
    highest = applies.max(axis=-1, keepdims=True) + LOG_OFFSET
    value = -np.log(largest + LOG_OFFSET).sum(axis=-1) / count - np.log(highest)[..., 0]
    in_applies = np.where(is_top, -1 / highest, 0.0)
    return value, -1 / (largest + LOG_OFFSET) / count, in_applies


@dataclass(frozen=True, eq=False)
class StrategicObjective:
    """The paper's objective, for any score, behaviour and constraints; see the module for its formula.

    Parameters
    ----------
    cost : float, mapping from group to float, or ndarray of shape (n_groups,)
        Cost that each group faces, in [0, 1]; an array is in the order of sorted groups.
    behaviour : Behaviour, optional
        How people respond; by default :class:`~selfselect.behaviour.BestResponse`, which training replaces by the
        paper's sigmoid.
    constraints : sequence of Constraint, default=()
        Their penalties are added. Those on who applies and on how many are selected have none; they count in
        :meth:`hard` only.
    margin : float, default=0.0
        Added to the cost in training.
    application_weight : float, default=1/6
        Weight of the application penalty.
    temperature, precision_temperature, application_temperature : float, default=2, 5, 5
        Sharpness of y~ (loss and penalties), of the smooth precision, and of a best response.
    loss : {"log", "errors"}, default="log"
        Whether ``L_z`` is the log-loss or the smooth number of errors.
    corrected : bool, default=True
        Whether hard counts correct the smooth precision under a best response; see :meth:`applications`.
    corrected_above : float, default=0.5
        Groups whose largest y~ is not above this are not corrected; at .5, those of which nobody is selected.
    application_over : {"mean", "sum"}, default="mean"
        Whether the application penalty averages over groups, or adds up.
    groups : Index, optional
        Names of the groups, where the objective is evaluated on sums.

    Examples
    --------
    >>> objective = StrategicObjective(cost=0.7)
    >>> score, y, group = np.array([1.0, 0.5, -1.0, -0.5]), [1, 1, 0, 1], ["A", "A", "A", "B"]
    >>> value, gradient = objective.value_and_gradient(score, y, group)
    >>> round(float(value), 3), gradient.shape
    (0.59, (4,))
    >>> objective.hard(score, y, group).outcome.induced_accuracy
    1.0
    """

    cost: Any
    behaviour: Behaviour | None = None
    constraints: tuple[Constraint, ...] = ()
    margin: float = 0.0
    application_weight: float = APPLICATION
    temperature: float = 2.0
    precision_temperature: float = 5.0
    application_temperature: float = 5.0
    loss: str = "log"
    corrected: bool = True
    corrected_above: float = 0.5
    application_over: str = "mean"
    groups: pd.Index | None = None

    def __post_init__(self) -> None:
        check_choice(self.loss, "loss", ("log", "errors"))
        if self.behaviour is not None:
            check_behaviour(self.behaviour)
        check_choice(self.application_over, "application_over", ("mean", "sum"))
        object.__setattr__(self, "constraints", tuple(check_constraints(self.constraints)))

    # ------------------------------------------------------------------ on rows

    def on_rows(self, y: ArrayLike, group: Any, sample_weight: ArrayLike | None = None) -> ObjectiveOnRows:
        """The objective for people whose labels, groups and weights stay the same while their scores change."""
        check_same_rows(y=y, group=group, sample_weight=sample_weight)
        return ObjectiveOnRows(self, y, group, sample_weight)

    def value_and_gradient(
        self, score: ArrayLike, y: ArrayLike, group: Any, sample_weight: ArrayLike | None = None
    ) -> tuple[Any, NDArray[Any]]:
        """Value, and its gradient with respect to each score.

        Parameters
        ----------
        score : array-like of shape (n_rows,) or (n_scores, n_rows)
            One score of each person, or several; positive scores are selected.
        y : array-like of shape (n_rows,)
            Labels, 1 = qualified.
        group : array-like, Series, DataFrame or dict of columns
            Group of each person.
        sample_weight : array-like of shape (n_rows,), optional
            Weights.

        Returns
        -------
        value : float, or ndarray of shape (n_scores,)
        gradient : ndarray of the shape of the score
        """
        check_same_rows(score=score, y=y)
        return self.on_rows(y, group, sample_weight).value_and_gradient(score)

    def hard(self, score: ArrayLike, y: ArrayLike, group: Any, sample_weight: ArrayLike | None = None) -> HardObjective:
        """The same on hard counts: outcome of selecting everybody with a positive score, and violations."""
        check_same_rows(score=score, y=y)
        return self.on_rows(y, group, sample_weight).hard(score)

    def for_groups(self, groups: pd.Index) -> StrategicObjective:
        """The objective for given groups: costs become an array, and constraints know their groups."""
        if self.groups is groups:
            return self
        if isinstance(self.cost, Mapping | pd.Series):
            costs = values_by_group(self.cost, groups, "cost", default=None)
        elif np.ndim(self.cost) == 0 or np.shape(self.cost) == (len(groups),):
            costs = np.broadcast_to(np.asarray(self.cost, dtype=np.float64), (len(groups),))
        else:
            raise ValueError(f"cost has shape {np.shape(self.cost)}, but there are {len(groups)} groups.")
        constraints = tuple(constraint.for_groups(groups) for constraint in self.constraints)
        return replace(self, cost=costs, constraints=constraints, groups=groups)

    # ------------------------------------------------------------------ on sums

    @cached_property
    def _costs(self) -> FloatArray:
        """Costs of training: margin included, inside (0, 1)."""
        costs = np.atleast_1d(np.asarray(self.cost, dtype=np.float64))
        if not ((costs >= 0) & (costs <= 1)).all():
            raise ValueError(f"cost must lie in [0, 1], got {self.cost!r}.")
        return np.clip(costs + check_margin(self.margin, costs), PRECISION_CLIP, 1 - PRECISION_CLIP)

    @cached_property
    def _smooth_behaviour(self) -> Behaviour:
        behaviour = BestResponse() if self.behaviour is None else self.behaviour
        return smooth_behaviour(behaviour, self.application_temperature)

    @cached_property
    def _corrects(self) -> bool:
        """Whether the smooth precision is corrected: where a behaviour of yes or no was made smooth."""
        if not self.corrected or self.behaviour is None:
            return self.corrected
        ones = np.ones(len(self._costs))
        shares = self.behaviour.shares(Published.of_value(ones, ones, self.groups), self._costs)
        return shares.dtype == bool

    def smooth_scores(self, rows: GroupedRows) -> SmoothScores:
        """Passes over scores with the largest prediction of each group, which takes all rows at once."""
        return SmoothScores(
            rows,
            self.temperature,
            self.precision_temperature,
            with_loss=self.loss == "log",
            with_largest=True,
            vectorised=True,
        )

    def applications(self, sums: Sums) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Smooth applications, and their derivatives in the smooth precision and in the smooth number of selected.

        The correction ``((TP - c PP) - (sharp TP - c sharp PP)) / sharp PP`` by hard counts TP and PP gives
        ``precision - c`` exactly the sign of the hard rule. It is held constant in the derivatives: through it the
        gradient would point the other way.
        """
        precision = sums.precision
        if self._corrects:
            assert sums.largest is not None
            assert sums.selected is not None
            assert sums.true_positives is not None
            gap = sums.true_positives - self._costs * sums.selected
            gap = gap - (sums.sharp_true_positives - self._costs * sums.sharp_selected)
            correction = gap / np.maximum(sums.sharp_selected, TINY)
            precision = np.where(sums.largest > self.corrected_above, precision + correction, precision)
        return smooth_shares(self._smooth_behaviour, precision, sums.sharp_selected, self._costs, self.groups)

    def __call__(self, sums: Sums) -> tuple[FloatArray, Gradient]:
        """Value of each score, and its gradient."""
        assert sums.largest is not None
        applies, in_precision, in_selected = self.applications(sums)
        errors = sums.positives + sums.soft_selected - 2 * sums.soft_true_positives
        losses = sums.loss if self.loss == "log" else errors
        # where no group applies even smoothly, the weights must not all vanish
        value, in_loss, in_applies = induced_loss(losses, sums.n, applies + SMALLEST_SHARE)
        penalty, in_largest, pull = application_penalty(sums.largest, applies, self.application_over)
        through = in_applies + self.application_weight * pull
        gradient = Gradient(
            largest=self.application_weight * in_largest,
            precision=through * in_precision,
            sharp_selected=through * in_selected if in_selected.any() else None,
        )
        if self.loss == "log":
            gradient += Gradient(loss=in_loss)
        else:
            gradient += Gradient(soft_selected=in_loss, soft_true_positives=-2 * in_loss)
        penalties = [constraint.penalty(sums) for constraint in self.constraints]
        value, gradient = _add_all([(value + self.application_weight * penalty, gradient), *penalties])
        selected = np.maximum(sums.sharp_selected, SMALLEST_NUMBER)
        return value, gradient.through_precision(replace(sums, sharp_selected=selected))


@dataclass(frozen=True, eq=False)
class HardObjective:
    """What :class:`StrategicObjective` stands for, on hard counts.

    Attributes
    ----------
    outcome : Outcome
        Accuracy among applicants, social cost and so on, if everybody with a positive score is selected.
    shares : Series, indexed by group
        Share of each group that applies.
    violations : Series, indexed by constraint
        By how much each constraint is violated; 0 if it holds.
    """

    outcome: Outcome
    shares: pd.Series
    violations: pd.Series


class ObjectiveOnRows:
    """A :class:`StrategicObjective` for given people; made by :meth:`StrategicObjective.on_rows`.

    Rows are sorted by group once, so that an evaluation takes O(n) time.
    """

    def __init__(
        self, objective: StrategicObjective, y: ArrayLike, group: Any, sample_weight: ArrayLike | None = None
    ) -> None:
        labels: BoolArray = check_binary(y, "y")
        codes = encode_groups(group, n_rows=len(labels))
        weights = check_weights(sample_weight, len(labels))
        self.objective = objective.for_groups(codes.labels)
        self._constraints = objective.constraints
        self._rows, self._order = GroupedRows.from_unsorted(
            labels, codes.codes, np.ones(len(labels)) if weights is None else weights, len(codes.labels)
        )
        self._smooth = self.objective.smooth_scores(self._rows)

    def _sorted(self, score: ArrayLike) -> NDArray[Any]:
        scores = np.asarray(score)
        if scores.dtype not in (np.float32, np.float64):
            scores = scores.astype(np.float64)
        if scores.shape[-1:] != (len(self._order),):
            raise ValueError(f"score has shape {scores.shape}, but there are {len(self._order)} people.")
        if not np.isfinite(scores).all():
            raise ValueError("score has values that are missing or infinite.")
        return np.take(scores, self._order, axis=-1)

    def _unsorted(self, by_group: NDArray[Any]) -> NDArray[Any]:
        """Inverse of :meth:`_sorted`."""
        values = np.empty_like(by_group)
        values[..., self._order] = by_group
        return values

    def value_and_gradient(
        self, score: ArrayLike, at: Callable[[Sums], Sums] | None = None
    ) -> tuple[Any, NDArray[Any]]:
        """Value, and its gradient with respect to each score; see :meth:`StrategicObjective.value_and_gradient`.

        ``at`` replaces the sums of these scores by others, at which the objective and its gradient in the sums are
        taken: running sums, for example, if these people are one batch of many.
        """
        sums = self._smooth.forward(self._sorted(score))
        others = sums if at is None else at(sums)
        value, in_sums = self.objective(others)
        if others is not sums:
            assert others.largest is not None
            assert sums.largest is not None
            assert in_sums.largest is not None
            # these scores do not change the largest prediction of other people
            in_sums = replace(in_sums, largest=np.where(others.largest > sums.largest, 0.0, in_sums.largest))
        return float(value) if np.ndim(value) == 0 else value, self._unsorted(self._smooth.backward(in_sums))

    def gradient_and_curvature(self, score: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gradient, and a curvature of at least 0, with respect to each score.

        The curvature is exact for the log-loss at given shares that apply, and a bound for everything else, both
        without the terms between people; see :meth:`.scores.SmoothScores.backward_with_curvature`.
        """
        _, in_sums = self.objective(self._smooth.forward(self._sorted(score)))
        gradient, curvature = self._smooth.backward_with_curvature(in_sums)
        return self._unsorted(gradient), self._unsorted(curvature)

    def hard(self, score: ArrayLike) -> HardObjective:
        """Outcome on hard counts, and violations; see :meth:`StrategicObjective.hard`."""
        objective, labels = self.objective, self.objective.groups
        assert labels is not None
        counts = GroupCounts(
            self._rows.n, self._rows.positives, *self._rows.hard_counts(self._sorted(as_column(score, "score")))
        )
        behaviour = BestResponse() if objective.behaviour is None else objective.behaviour
        terms = Terms(pd.Series(objective.cost, index=labels), behaviour=behaviour)
        table = PublishedStatistics(labels, counts)
        shares = table.shares(terms)
        broken = violations(self._constraints, labels, counts, shares.to_numpy())
        return HardObjective(outcome(table, shares), shares, broken)


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

    ``target`` is 1 for these groups, 0 for others; ``bounds`` keep them in and others out. If ``with_log_loss``, the
    log-loss on the target replaces the errors.

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
