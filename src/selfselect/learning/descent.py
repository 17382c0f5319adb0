"""The paper's own way, kept as the reference: many small steps on the strategic objective from random starts."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from .._validation import FloatArray
from ..counting import ratio
from ..deciding import applies_rule
from .judging import Candidate, best_threshold, unfairness
from .objectives import GroupedRows, StrategicObjective
from .problem import Problem

#: The paper's settings.
LEARNING_RATE, STEPS, STARTS = 0.1, 30_000, 5
#: Norm of the gradient below which a descent counts as converged.
GRADIENT_TOLERANCE = 1e-3
#: Sharpness of the precision proxy and of applications when L-BFGS replaces the descent, from stage to stage.
STAGES = ((5.0, 5.0), (15.0, 10.0), (40.0, 20.0))
STAGE_ITERATIONS = 60


def training_costs(problem: Problem) -> FloatArray:
    """Costs that the smooth objective is trained against: with the tolerance, and inside (0, 1)."""
    margin = 0.02 if problem.tolerance == "auto" else problem.tolerance
    return np.clip(problem.costs + margin, 1e-6, 1 - 1e-6)


def objective_of(problem: Problem, rows: GroupedRows, application: float) -> StrategicObjective:
    """The paper's objective with the penalties that are asked for."""
    return StrategicObjective(
        rows,
        training_costs(problem),
        application=application,
        parity=problem.parity,
        equal_tpr=problem.equal_tpr,
        l2=problem.l2,
    )


def original_rows(problem: Problem) -> GroupedRows:
    """Rows with features as the user has them, columns in the problem's order: the descent depends on their scale."""
    rows = problem.rows
    X = rows.X * problem.scale[problem.order] + problem.centre[problem.order]
    return GroupedRows(X, rows.y, rows.weight, rows.start)


def solve_by_descent(
    problem: Problem, random: np.random.RandomState, n_starts: int, max_iter: int, application: float
) -> tuple[list[Candidate], int]:
    """Gradient descent from Gaussian starts; among them the best training accuracy is kept, as in the paper."""
    rows = original_rows(problem)
    objective = objective_of(problem, rows, application)
    candidates, slope = [], np.inf
    for start in range(n_starts):
        parameters = random.normal(size=rows.X.shape[1] + 1)
        with np.errstate(over="ignore", invalid="ignore"):  # a descent that leaves all bounds is left out below
            for _ in range(max_iter):
                _, gradient = objective(parameters)
                parameters = parameters - LEARNING_RATE * gradient
        if not np.isfinite(parameters).all():
            continue
        slope = min(slope, float(np.abs(gradient).max()))
        # back to standardised features
        scale, centre = problem.scale[problem.order], problem.centre[problem.order]
        standard = np.append(parameters[:-1] * scale, parameters[-1] + parameters[:-1] @ centre)
        candidates.append(_as_it_is(problem, standard, f"descent {start + 1}"))
    if not candidates:
        raise ValueError('Gradient descent left all bounds from every start: scale the features, or use solver="auto".')
    if slope > GRADIENT_TOLERANCE:
        warnings.warn(
            f"Gradient descent has not converged in {max_iter} steps: the largest slope is {slope:.2g}. "
            'Raise max_iter, scale the features, or use solver="auto".',
            ConvergenceWarning,
            stacklevel=4,
        )
    return candidates, max_iter


def _as_it_is(problem: Problem, parameters: FloatArray, origin: str) -> Candidate:
    """Candidate at its own threshold, valued by plain training accuracy over those who apply."""
    rows = problem.rows
    selected = rows.weight * (rows.X @ parameters[:-1] + parameters[-1] > 0)
    passes, hits = rows.total(selected), rows.total(selected * rows.y)
    applies = applies_rule(hits, passes, problem.costs)
    correct = rows.n - rows.positives - passes + 2 * hits
    accuracy = float(ratio(correct[applies].sum(), rows.n[applies].sum()))
    missing = float((problem.required & ~applies).sum())
    away = 1 - rows.positives[applies].sum() / max(rows.positives.sum(), 1e-300)
    violation = 10.0 * (not applies.any()) + missing + max(away - problem.max_social_cost - 1e-12, 0.0)
    if problem.fair:
        violation += float(unfairness(problem, passes[None, :], hits[None, :])[0][0])
    return Candidate(parameters, violation, accuracy if applies.any() else -np.inf, accuracy, origin)


def solve_by_stages(
    problem: Problem, random: np.random.RandomState, n_starts: int, application: float
) -> list[Candidate]:
    """L-BFGS on the paper's objective, sharper from stage to stage, from Gaussian starts."""
    candidates = []
    free = problem.rows.X.shape[1]
    base = objective_of(problem, problem.rows, application)
    for start in range(n_starts):
        parameters = random.normal(size=free + 1)
        for proxy, application_sharpness in STAGES:
            objective = StrategicObjective(
                base.rows,
                base.costs,
                application=base.application,
                parity=base.parity,
                equal_tpr=base.equal_tpr,
                l2=base.l2,
                precision_temperature=proxy,
                application_temperature=application_sharpness,
                corrected=False,
            )
            parameters = minimize(
                objective, parameters, jac=True, method="L-BFGS-B", options={"maxiter": STAGE_ITERATIONS}
            ).x
        candidates.append(best_threshold(problem, parameters, free, f"random start {start + 1}"))
    return candidates
