"""The paper's training, kept as the reference: gradient descent on its objective from random starts.

For m rows and d features each step takes O(m d); the paper takes 30,000 of them from each start. All starts take their
steps together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .._notices import warn
from .._validation import FloatArray, check_choice, check_nonnegative
from ..counting.sums import TINY, Gradient, Sums
from .candidates import Candidate, counts_of
from .evaluation import evaluate_counts
from .linear import FeatureBlock
from .objective import APPLICATION, StrategicObjective
from .problem import Problem
from .scores import SmoothScores

#: Norm of the gradient below which a descent counts as converged.
GRADIENT_TOLERANCE = 1e-3
#: Allowed values of the settings that are words.
CHOICES = {
    "application_over": ("mean", "sum"),
    "parity_over": ("mean", "sum"),
    "corrected_by": ("current", "previous"),
    "kept_by": ("hard", "smooth"),
    "dtype": ("float64", "float32"),
}


@dataclass(frozen=True)
class DescentSettings:
    """Settings of the descent; by default those of the paper's text.

    Attributes
    ----------
    temperature, precision_temperature, application_temperature, application_weight, application_over, corrected_above
        As in :class:`~selfselect.learning.objective.StrategicObjective`.
    learning_rate : float
        Factor of the gradient in a step.
    steps, starts : int
        Steps from each start, and Gaussian starts.
    corrected_by : {"current", "previous"}
        Whose hard predictions correct the smooth precision: those of this step or of the one before.
    parity_over : {"mean", "sum"}
        Whether parity is :class:`~selfselect.constraints.DemographicParity` or
        :class:`~selfselect.constraints.ReleasedDemographicParity`.
    kept_by : {"hard", "smooth"}
        Whether the start with the best training induced accuracy is kept, or that with smooth applications.
    dtype : {"float64", "float32"}
        Precision of features, parameters and scores.
    """

    temperature: float = 2.0
    precision_temperature: float = 5.0
    application_temperature: float = 5.0
    learning_rate: float = 0.1
    steps: int = 30_000
    starts: int = 5
    application_weight: float = APPLICATION
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
            if check_nonnegative(getattr(self, name), name) == 0:
                raise ValueError(f"{name} must be positive.")
        for name in ("application_weight", "corrected_above"):
            check_nonnegative(getattr(self, name), name)
        for name in ("steps", "starts"):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}.")

    @classmethod
    def of(cls, preset: str | None = None, **given: Any) -> DescentSettings:
        """Settings of a preset ("paper" by default), except for those that are given and not None."""
        preset = "paper" if preset is None else preset
        check_choice(preset, "preset", tuple(PRESETS))
        names = [field.name for field in fields(cls)]
        unknown = set(given) - set(names)
        if unknown:
            raise ValueError(f"No setting of the descent is called {min(unknown)!r}; there are {', '.join(names)}.")
        return replace(PRESETS[preset], **{name: value for name, value in given.items() if value is not None})

    @property
    def of_objective(self) -> dict[str, Any]:
        """Those that are parameters of :class:`~selfselect.learning.objective.StrategicObjective`."""
        names = {field.name for field in fields(self)} & {field.name for field in fields(StrategicObjective)}
        return {name: getattr(self, name) for name in names}


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


def strategic_objective(problem: Problem, settings: DescentSettings) -> StrategicObjective:
    """The paper's objective for a problem."""
    terms = problem.terms
    return StrategicObjective(
        cost=terms.costs,
        behaviour=terms.behaviour,
        constraints=terms.between_groups,
        margin=terms.margin,
        groups=terms.groups,
        **settings.of_objective,
    )


#: From parameters, one row per start, to their gradient, in the same precision.
GradientFunction = Callable[[NDArray[Any]], NDArray[Any]]


def strategic_gradient(
    block: FeatureBlock, objective: StrategicObjective, settings: DescentSettings, l2: float = 0.0
) -> GradientFunction:
    """Gradient of the paper's objective; it remembers the hard counts of the step before."""
    smooth, before = objective.smooth_scores(block.rows), list[Sums]()
    scores = np.empty((settings.starts, len(block.X)), dtype=block.X.dtype)

    def gradient(parameters: NDArray[Any]) -> NDArray[Any]:
        sums = smooth.forward(block.scores(parameters, out=scores))
        corrected = sums
        if before:
            previous = before.pop()
            corrected = replace(sums, selected=previous.selected, true_positives=previous.true_positives)
        if settings.corrected_by == "previous":
            before.append(sums)
        result = block.gradient(smooth.backward(objective(corrected)[1]))
        if l2:
            result[:, :-1] += parameters.dtype.type(l2) * parameters[:, :-1]
        return result

    return gradient


def descend(
    gradient: GradientFunction, parameters: NDArray[Any], learning_rate: float, steps: int
) -> tuple[NDArray[Any], FloatArray]:
    """Parameters after some steps, and the largest derivative of each start in the last step."""
    rate = parameters.dtype.type(learning_rate)
    with np.errstate(over="ignore", invalid="ignore"):  # a descent that diverges is recognised by its parameters
        for _ in range(steps):
            derivatives = gradient(parameters)
            parameters = parameters - rate * derivatives
        return parameters, np.abs(derivatives).max(axis=1).astype(np.float64)


def _gaussian_starts(random: np.random.RandomState, n_features: int, settings: DescentSettings) -> NDArray[Any]:
    return random.normal(size=(settings.starts, n_features + 1)).astype(settings.dtype)


def solve_by_descent(
    problem: Problem, random: np.random.RandomState, settings: DescentSettings
) -> tuple[list[Candidate], int]:
    """Gradient descent from Gaussian starts. The start with the best training accuracy is kept, as in the paper.

    This is induced accuracy at the threshold where the descent ended. Constraints between groups are penalties only and
    do not decide which start is kept. The paper has no required groups and no limit of the social cost; under these,
    starts that violate them less come first, whatever their accuracy.
    """
    # features on the user's scales: the descent depends on them
    X = problem.standardisation.undo_features(problem.block.X).astype(settings.dtype)
    block, objective = replace(problem.block, X=X), strategic_objective(problem, settings)
    start = _gaussian_starts(random, problem.n_features, settings)
    gradient = strategic_gradient(block, objective, settings, problem.l2)
    ended, slope = descend(gradient, start, settings.learning_rate, settings.steps)
    candidates, finite = [], np.isfinite(ended).all(axis=1)
    smooth = _smooth_accuracy(block, objective, ended) if settings.kept_by == "smooth" else None
    # people see no margin, and constraints between groups are penalties only
    constraints = replace(problem.terms.constraints, between_groups=())
    published = replace(problem.terms, margin=0.0, constraints=constraints)
    for which in np.flatnonzero(finite):
        parameters = problem.standardisation.redo_parameters(ended[which].astype(np.float64))
        evaluation = evaluate_counts(published, counts_of(problem, parameters), fitted_weights=0.0)
        candidate = Candidate.from_evaluation(parameters, evaluation, 0, f"descent {which + 1}")
        value = candidate.accuracy if smooth is None else float(smooth[which])
        candidates.append(replace(candidate, value=-np.inf if np.isnan(value) else value))
    if not candidates:
        raise ValueError("Gradient descent diverged from every start: scale the features, or use StrategicClassifier.")
    if slope[finite].min() > GRADIENT_TOLERANCE:
        warn(
            f"Gradient descent has not converged in {settings.steps} steps: the largest derivative is "
            f"{slope[finite].min():.2g}. Raise max_iter, scale the features, or use StrategicClassifier.",
            ConvergenceWarning,
        )
    return candidates, settings.steps


def _smooth_accuracy(block: FeatureBlock, objective: StrategicObjective, parameters: NDArray[Any]) -> FloatArray:
    """Training accuracy of each start, with every group weighted by its smooth application."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = objective.smooth_scores(block.rows).forward(block.scores(parameters))
        assert sums.selected is not None
        assert sums.true_positives is not None
        applies, _, _ = objective.applications(sums)
        correct = sums.n - sums.positives - sums.selected + 2 * sums.true_positives
        return np.asarray((applies * correct).sum(axis=1) / (applies @ sums.n + TINY))


def logistic_by_descent(
    block: FeatureBlock, random: np.random.RandomState, settings: DescentSettings
) -> tuple[FloatArray, float]:
    """Weights and intercept after a descent on the mean log-loss of ``y~``, and the largest derivative there.

    This is the paper's naive learner; ``block`` has everybody in one group.
    """
    block = replace(block, X=block.X.astype(settings.dtype))
    smooth = SmoothScores(block.rows, settings.temperature, vectorised=True)
    scores = np.empty((settings.starts, len(block.X)), dtype=block.X.dtype)
    mean = Gradient(loss=np.full((settings.starts, 1), 1 / block.rows.n.sum()))

    def gradient(parameters: NDArray[Any]) -> NDArray[Any]:
        smooth.forward(block.scores(parameters, out=scores))
        return block.gradient(smooth.backward(mean))

    start = _gaussian_starts(random, block.X.shape[1], settings)
    ended, slope = descend(gradient, start, settings.learning_rate, settings.steps)
    return ended[0].astype(np.float64), float(slope[0])
