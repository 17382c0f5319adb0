"""The paper's own way, kept as the reference: many small steps on the strategic objective from random starts.

Of m rows and d features, each step takes O(m d); the paper makes 30,000 of them from each start.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from .._validation import FloatArray
from ..counting.rows import HeldRows
from ..deciding.behaviour import PRECISION_CLIP
from .candidates import Candidate, verdict_on, with_best_threshold
from .linear import FeatureBlock, LinearLoss
from .paper import StrategicObjective
from .problem import Problem

#: The paper's settings.
LEARNING_RATE, STEPS, STARTS = 0.1, 30_000, 5
#: Norm of the gradient below which a descent counts as converged.
GRADIENT_TOLERANCE = 1e-3
#: Sharpness of the precision proxy and of applications when L-BFGS replaces the descent, from stage to stage.
STAGES = ((5.0, 5.0), (15.0, 10.0), (40.0, 20.0))
STAGE_ITERATIONS = 60
#: What a tolerance of "auto" is in the smooth objective, which wants a number: the paper's, on Adult.
AUTO_MARGIN = 0.02


def objective_of(problem: Problem, application: float) -> StrategicObjective:
    """The paper's objective with the ties that are asked for; costs with the tolerance, and inside (0, 1)."""
    ask = problem.ask
    costs = np.clip(ask.costs + ask.margin(auto=AUTO_MARGIN), PRECISION_CLIP, 1 - PRECISION_CLIP)
    return StrategicObjective(costs, application, ask.ties)


def _loss(problem: Problem, block: FeatureBlock, objective: StrategicObjective) -> LinearLoss:
    pull = np.full(problem.n_features, problem.l2) if problem.l2 else None
    return LinearLoss(HeldRows(block), objective, pull)


def solve_by_descent(
    problem: Problem, random: np.random.RandomState, n_starts: int, max_iter: int, application: float
) -> tuple[list[Candidate], int]:
    """Gradient descent from Gaussian starts; among them the best training accuracy is kept, as in the paper.

    That is the induced accuracy, at the threshold where the descent ended. Ties are penalties here and nothing else, as
    in the paper: they have no say in which start is kept. The paper knows no required groups and no limit of the social
    cost; where these are asked for, starts that break them less come first, whatever their accuracy.
    """
    # features as the user has them: the descent depends on their scale
    block = replace(problem.block, X=problem.standardisation.undo_features(problem.block.X))
    loss = _loss(problem, block, objective_of(problem, application))
    candidates, slope = [], np.inf
    for start in range(n_starts):
        parameters = random.normal(size=problem.n_features + 1)
        with np.errstate(over="ignore", invalid="ignore"):  # a descent that leaves all bounds is left out below
            for _ in range(max_iter):
                _, gradient = loss(parameters)
                parameters = parameters - LEARNING_RATE * gradient
        if not np.isfinite(parameters).all():
            continue
        slope = min(slope, float(np.abs(gradient).max()))
        standard = problem.standardisation.redo_parameters(parameters)
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
