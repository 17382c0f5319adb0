"""Scores that are trained for shares of groups that apply, by L-BFGS on the strategic objective.

Under a behaviour of yes or no the optimum lets in few groups, and scores are refined for these (:mod:`.starts`). Where
a share of every group applies, :class:`~selfselect.learning.objective.StrategicObjective` has a gradient everywhere and
is minimised as it is: first with the log-loss, then with errors and ever sharper predictions. For m rows and d features
this takes O(m d) per step, at most 160 steps from each start.
"""

from __future__ import annotations

import numpy as np

from .._validation import FloatArray
from ..constraints import InfeasibleError
from ..counting.rows import InMemoryRows
from .candidates import Candidate, with_best_threshold, with_group_thresholds
from .linear import LinearLoss
from .objective import StrategicObjective
from .problem import Problem
from .starts import FittedScore

#: Loss, sharpness of predictions and of the smooth precision, and steps, from stage to stage.
STAGES = (("log", 2.0, 5.0, 40), ("errors", 10.0, 10.0, 60), ("errors", 40.0, 40.0, 60))
#: Gaussian starts besides the informed ones.
RANDOM_STARTS = 2
#: Weight of ``|w|^2 / 2``: only to keep the weights finite.
RIDGE = 1e-5


def scores_for_shares(problem: Problem, start: FloatArray, gaussian: FloatArray) -> list[FittedScore]:
    """Scores from the logistic start, from the best thresholds on it, and from Gaussian starts (one row each)."""
    starts = {"logistic": start}
    thresholds = _best_by_thresholds(problem, start)
    if thresholds is not None:
        starts["thresholds"] = thresholds.parameters
    starts |= {f"random start {i + 1}": parameters for i, parameters in enumerate(gaussian)}
    return [FittedScore(f"strategic from {name}", _minimise(problem, at)) for name, at in starts.items()]


def gaussian_starts(random: np.random.RandomState, n_features: int) -> FloatArray:
    """Parameters drawn from a normal distribution, one row per start."""
    return np.asarray(random.normal(size=(RANDOM_STARTS, n_features + 1)))


def _best_by_thresholds(problem: Problem, start: FloatArray) -> Candidate | None:
    """The logistic score with the best common threshold, or the best threshold per group."""
    if problem.offset_of_group is None or problem.terms.between_groups:
        return with_best_threshold(problem, start, 1.0, "")
    try:
        return max(with_group_thresholds(problem, start, 1.0, ""), key=lambda candidate: candidate.rank)
    except InfeasibleError:
        return None


def _minimise(problem: Problem, parameters: FloatArray) -> FloatArray:
    """Parameters after all stages."""
    terms, ridge = problem.terms, np.full(problem.n_features, RIDGE + problem.l2)
    for loss, temperature, precision_temperature, steps in STAGES:
        objective = StrategicObjective(
            terms.costs,
            behaviour=terms.behaviour,
            constraints=tuple(constraint.with_weight() for constraint in terms.between_groups),
            margin=terms.margin,
            loss=loss,
            temperature=temperature,
            precision_temperature=precision_temperature,
            corrected=False,
            groups=terms.groups,
        )
        parameters = LinearLoss(InMemoryRows(problem.block), objective, ridge).minimise(parameters, steps)
    return parameters
