"""The paper's own way, kept as the reference: many small steps on the strategic objective from random starts.

Of m rows and d features, each step takes O(m d); the paper makes 30,000 of them from each start. All starts take their
steps together: see :mod:`.batch`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from .._notices import warn
from .._validation import FloatArray, check_at_least_zero, check_choice
from ..behaviour import PRECISION_CLIP, smooth_applies
from ..counting.rows import HeldRows
from .batch import BatchSlopes, BatchSums, LinearBatch
from .candidates import Candidate, verdict_on, with_best_threshold
from .linear import FeatureBlock, LinearLoss
from .paper import APPLICATION, LOG_OFFSET, StrategicObjective
from .problem import Problem
from .sums import TINY
from .ties import Tie

#: Norm of the gradient below which a descent counts as converged.
GRADIENT_TOLERANCE = 1e-3
#: Sharpness of the precision proxy and of applications when L-BFGS replaces the descent, from stage to stage.
STAGES = ((5.0, 5.0), (15.0, 10.0), (40.0, 20.0))
STAGE_ITERATIONS = 60
#: What a tolerance of "auto" is in the smooth objective, which wants a number: the paper's, on Adult.
AUTO_MARGIN = 0.02
#: What a setting may be, where it is a word.
CHOICES = {
    "application_over": ("mean", "sum"),
    "parity_over": ("mean", "sum"),
    "corrected_by": ("current", "previous"),
    "kept_by": ("hard", "smooth"),
    "dtype": ("float64", "float32"),
}


@dataclass(frozen=True)
class DescentSettings:
    """Everything that a descent can be told; by default what the paper's text says.

    Attributes
    ----------
    temperature, precision_temperature, application_temperature : float
        Sharpness of y~ (loss and penalties), of the precision proxy, and of applications.
    learning_rate : float
        Length of a step, in gradients.
    steps, starts : int
        Steps from each start, and Gaussian starts.
    application : float
        Weight of the penalty that asks for someone selected in every group, and for some group applying.
    application_over : {"mean", "sum"}
        Whether its first term is averaged over groups, or added up.
    corrected_by : {"current", "previous"}
        Whose hard predictions correct the precision proxy: those of this step or of the one before.
    corrected_above : float
        The correction is left out of groups whose largest y~ is not above this; at .5 of those without anyone selected.
    parity_over : {"mean", "sum"}
        Whether ``parity`` weighs the average over groups of squared distances from the overall selection rate, or the
        sum of squares of ten times that distance, the overall rate held constant in the gradient.
    kept_by : {"hard", "smooth"}
        Which training induced accuracy decides what start is kept: over those who apply, or with smooth applications.
    dtype : {"float64", "float32"}
        Precision of features, parameters and scores.
    """

    temperature: float = 2.0
    precision_temperature: float = 5.0
    application_temperature: float = 5.0
    learning_rate: float = 0.1
    steps: int = 30_000
    starts: int = 5
    application: float = APPLICATION
    application_over: str = "mean"
    corrected_by: str = "current"
    corrected_above: float = 0.5
    parity_over: str = "mean"
    kept_by: str = "hard"
    dtype: str = "float64"

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            check_choice(getattr(self, name), name, choices)
        for name in ("temperature", "precision_temperature", "application_temperature", "learning_rate"):
            if check_at_least_zero(getattr(self, name), name) == 0:
                raise ValueError(f"{name} must be positive.")
        for name in ("application", "corrected_above"):
            check_at_least_zero(getattr(self, name), name)
        for name in ("steps", "starts"):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}.")

    @classmethod
    def of(cls, preset: str | None = None, **given: Any) -> DescentSettings:
        """Settings of a preset ("paper" where there is none), but for those that are given and not None."""
        check_choice("paper" if preset is None else preset, "preset", tuple(PRESETS))
        unknown = set(given) - {field.name for field in fields(cls)}
        if unknown:
            raise ValueError(
                f"No setting of the descent is called {min(unknown)!r}; there are "
                f"{', '.join(field.name for field in fields(cls))}."
            )
        base = PRESETS["paper" if preset is None else preset]
        return replace(base, **{name: value for name, value in given.items() if value is not None})


#: The paper's text, and its released code where that differs.
PRESETS = {
    "paper": DescentSettings(),
    "released": DescentSettings(
        application_over="sum",
        corrected_by="previous",
        corrected_above=0.55,
        parity_over="sum",
        kept_by="smooth",
        dtype="float32",
    ),
}


def objective_of(problem: Problem, application: float) -> StrategicObjective:
    """The paper's objective with the ties that are asked for; costs with the tolerance, and inside (0, 1)."""
    return StrategicObjective(_costs(problem), application, problem.ask.ties)


def _costs(problem: Problem) -> FloatArray:
    ask = problem.ask
    return np.clip(ask.costs + ask.margin(auto=AUTO_MARGIN), PRECISION_CLIP, 1 - PRECISION_CLIP)


def _loss(problem: Problem, block: FeatureBlock, objective: StrategicObjective) -> LinearLoss:
    pull = np.full(problem.n_features, problem.l2) if problem.l2 else None
    return LinearLoss(HeldRows(block), objective, pull)


# ---------------------------------------------------------------------- steps


@dataclass(frozen=True, eq=False)
class BatchObjective:
    """The paper's objective under several scores at once: slopes only, as steps need no value.

    It is :class:`~selfselect.learning.paper.StrategicObjective`, in the form that the settings give it.

    Attributes
    ----------
    settings : DescentSettings
    costs : ndarray of shape (n_groups,)
        Cost that each group faces, tolerance included.
    ties : tuple of Tie
    """

    settings: DescentSettings
    costs: FloatArray
    ties: tuple[Tie, ...] = ()

    def applications(self, sums: BatchSums, hard: BatchSums) -> tuple[FloatArray, FloatArray]:
        """Smooth applications, and their slopes in ``hits / passes``; corrected by hard counts."""
        passes = np.maximum(sums.passes, TINY)
        gap = (hard.true_positives - self.costs * hard.selected) - (sums.hits - self.costs * sums.passes)
        q = (sums.hits + np.where(sums.largest > self.settings.corrected_above, gap, 0.0)) / passes
        return smooth_applies(q, self.costs, self.settings.application_temperature)

    def slopes(self, batch: LinearBatch, sums: BatchSums, hard: BatchSums) -> BatchSlopes:
        """Slopes of each value with respect to its sums."""
        applies, applies_q = self.applications(sums, hard)
        share = applies + TINY  # where nobody applies even smoothly, the weights must not vanish together
        applicants = (share @ batch.n)[:, None]
        loss = (share * sums.loss).sum(axis=1, keepdims=True) / applicants
        per_applying = (sums.loss - loss * batch.n) / applicants
        weight = self.settings.application
        each, top = np.arange(len(applies)), applies.argmax(axis=1)
        per_applying[each, top] -= weight / (applies[each, top] + LOG_OFFSET)
        over = batch.n_groups if self.settings.application_over == "mean" else 1
        passes = np.maximum(sums.passes, TINY)
        per_hit = per_applying * applies_q / passes
        accepted, accepted_positives = self._tied(batch, sums)
        return BatchSlopes(
            loss=share / applicants,
            hits=per_hit,
            passes=-per_hit * (sums.hits / passes),
            accepted=accepted,
            accepted_positives=accepted_positives,
            largest=-weight / over / (sums.largest + LOG_OFFSET),
        )

    def _tied(self, batch: LinearBatch, sums: BatchSums) -> tuple[FloatArray, FloatArray]:
        """Slopes of the penalties of ties in the selected and the selected qualified (the ties here have no others)."""
        accepted, positives = np.zeros_like(sums.accepted), np.zeros_like(sums.accepted)
        for tie in self.ties:
            for which in (slice(None),) if tie.takes_many else range(len(accepted)):
                _, slopes = tie.penalty(batch.as_sums(sums, which))
                if slopes.accepted is not None:
                    accepted[which] += slopes.accepted
                if slopes.accepted_positives is not None:
                    positives[which] += slopes.accepted_positives
        return accepted, positives


#: Gradient at parameters (one row per start), in their precision.
Gradient = Callable[[NDArray[Any]], NDArray[Any]]


def strategic_gradient(batch: LinearBatch, objective: BatchObjective, l2: float) -> Gradient:
    """Gradient of the strategic objective; it remembers the hard counts of the step before."""
    before: list[BatchSums] = []

    def gradient(parameters: NDArray[Any]) -> NDArray[Any]:
        sums = batch.forward(parameters)
        hard = before.pop() if before else sums
        if objective.settings.corrected_by == "previous":
            before.append(sums)
        slopes = batch.gradient(objective.slopes(batch, sums, hard))
        if l2:
            slopes[:, :-1] += batch.dtype.type(l2) * parameters[:, :-1]
        return slopes

    return gradient


def descend(gradient: Gradient, parameters: NDArray[Any], rate: float, steps: int) -> tuple[NDArray[Any], FloatArray]:
    """Parameters after some steps, and the largest slope of each start in the last of them."""
    length = parameters.dtype.type(rate)
    with np.errstate(over="ignore", invalid="ignore"):  # a descent that leaves all bounds is found by what it leaves
        for _ in range(steps):
            slopes = gradient(parameters)
            parameters = parameters - length * slopes
        return parameters, np.abs(slopes).max(axis=1).astype(np.float64)


def solve_by_descent(
    problem: Problem, random: np.random.RandomState, settings: DescentSettings
) -> tuple[list[Candidate], int]:
    """Gradient descent from Gaussian starts; among them the best training accuracy is kept, as in the paper.

    That is the induced accuracy, at the threshold where the descent ended. Ties are penalties here and nothing else, as
    in the paper: they have no say in which start is kept. The paper knows no required groups and no limit of the social
    cost; where these are asked for, starts that break them less come first, whatever their accuracy.
    """
    # features as the user has them: the descent depends on their scale
    block = replace(problem.block, X=problem.standardisation.undo_features(problem.block.X))
    objective = BatchObjective(settings, _costs(problem), problem.ask.ties)
    batch = LinearBatch(block, settings.starts, settings.temperature, settings.precision_temperature, settings.dtype)
    start = random.normal(size=(settings.starts, problem.n_features + 1)).astype(settings.dtype)
    gradient = strategic_gradient(batch, objective, problem.l2)
    ended, slope = descend(gradient, start, settings.learning_rate, settings.steps)
    candidates, finite = [], np.isfinite(ended).all(axis=1)
    value = _smooth_accuracy(batch, objective, ended) if settings.kept_by == "smooth" else None
    for which in np.flatnonzero(finite):
        standard = problem.standardisation.redo_parameters(ended[which].astype(np.float64))
        candidate = _as_it_is(problem, standard, f"descent {which + 1}")
        candidates.append(candidate if value is None else replace(candidate, value=float(value[which])))
    if not candidates:
        raise ValueError('Gradient descent left all bounds from every start: scale the features, or use solver="auto".')
    if slope[finite].min() > GRADIENT_TOLERANCE:
        warn(
            f"Gradient descent has not converged in {settings.steps} steps: the largest slope is "
            f'{slope[finite].min():.2g}. Raise max_iter, scale the features, or use solver="auto".',
            ConvergenceWarning,
        )
    return candidates, settings.steps


def _smooth_accuracy(batch: LinearBatch, objective: BatchObjective, parameters: NDArray[Any]) -> FloatArray:
    """Training accuracy of each start with everybody counted by the smooth application of the group."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = batch.forward(parameters)
        applies, _ = objective.applications(sums, sums)
        correct = batch.n - batch.positives - sums.selected + 2 * sums.true_positives
        return np.asarray((applies * correct).sum(axis=1) / (applies @ batch.n + TINY))


def logistic_by_descent(
    block: FeatureBlock, random: np.random.RandomState, settings: DescentSettings
) -> tuple[FloatArray, float]:
    """Weights and intercept that a descent on the mean log-loss of ``y~`` ends with, and the largest slope there.

    This is the paper's naive learner; ``block`` has everybody in one group.
    """
    batch = LinearBatch(block, settings.starts, settings.temperature, settings.temperature, settings.dtype)
    none = np.zeros((settings.starts, batch.n_groups))
    slopes = BatchSlopes(none + 1 / batch.n.sum(), none, none, none, none, none)

    def gradient(parameters: NDArray[Any]) -> NDArray[Any]:
        batch.forward(parameters)
        return batch.gradient(slopes)

    start = random.normal(size=(settings.starts, block.X.shape[1] + 1)).astype(settings.dtype)
    ended, slope = descend(gradient, start, settings.learning_rate, settings.steps)
    return ended[0].astype(np.float64), float(slope[0])


def _as_it_is(problem: Problem, parameters: FloatArray, origin: str) -> Candidate:
    """Candidate at its own threshold, valued by plain training accuracy over those who apply."""
    published = replace(problem, ask=problem.ask.as_published())
    counts = problem.block.people.hard_counts(problem.block.score(parameters))
    candidate = Candidate.judged(parameters, verdict_on(published, *counts, fitted_weights=0.0), 0, origin)
    return replace(candidate, value=-np.inf if np.isnan(candidate.accuracy) else candidate.accuracy)


def solve_by_stages(
    problem: Problem, random: np.random.RandomState, n_starts: int, application: float
) -> list[Candidate]:
    """L-BFGS on the paper's objective, sharper from stage to stage, from Gaussian starts."""
    candidates = []
    objective = replace(objective_of(problem, application), corrected=False)
    for start in range(n_starts):
        parameters = random.normal(size=problem.n_features + 1)
        for proxy, sharpness in STAGES:
            sharper = replace(objective, precision_temperature=proxy, application_temperature=sharpness)
            loss = _loss(problem, problem.block, sharper)
            parameters = minimize(
                loss, parameters, jac=True, method="L-BFGS-B", options={"maxiter": STAGE_ITERATIONS}
            ).x
        origin = f"random start {start + 1}"
        candidates.append(with_best_threshold(problem, parameters, problem.n_features, origin))
    return candidates
