"""Where solvers start: a logistic score of everybody, sets of groups that might apply, and scores refined for these.

An average over applicants is never better than its best part, so it pays to find, for one group (or a required set),
the most accurate score whose precision reaches the cost. A logistic score of everybody misses groups of a low base
rate, in which none of its thresholds is precise enough. Refinement turns the score towards precision at the very top.

Where a share of every group applies, :class:`.StrategicObjective` has a gradient everywhere and is minimised as it is:
first with the log-loss, then with errors and ever sharper predictions.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from .._validation import BoolArray, FloatArray
from ..behaviour import as_decisions
from ..constraints import SHARE_SLACK, InfeasibleError
from ..counting import GroupCounts, ratio
from ..counting.rows import InMemoryRows
from .candidates import FittedScore, curves_of, in_training, names_of
from .evaluation import MIN_SELECTED, accuracy_lower_bound
from .linear import FeatureBlock, LinearLoss
from .objective import StrategicObjective, TargetedObjective
from .problem import Problem
from .scores import GroupedRows

#: Ridge of the logistic start, on the summed loss: only to keep separable data finite.
LOGISTIC_RIDGE = 1e-4
#: Steps of the logistic start at most.
MAX_LOGISTIC_STEPS = 1_000
#: Largest number of groups to refine for.
MAX_SHORTLIST = 3
#: A group is shortlisted if its accuracy, plus so many standard errors and this gain from refinement, reaches the
#: highest lower bound.
HOPED_ERRORS, HOPED_GAIN = 2, 0.02
#: Loss per person of a group that cannot be made to apply: it is tried last.
UNREACHABLE = 1e9
#: Strengths of the ridge that keeps a refined score near the logistic one; evaluation chooses among the results.
RIDGES = (0.1, 0.01)
#: Sharpness of predictions, and power of the price of a false positive, from stage to stage of a refinement.
STAGES = ((4.0, 0.5), (12.0, 1.0))
#: Steps of L-BFGS in each stage.
STAGE_ITERATIONS = 25
#: Highest price of a false positive, where the cost is near 1.
MAX_PRICE = 1e3
#: Least variance that a column is taken to have, so that the ridge also holds constant ones.
MIN_VARIANCE = 1e-4
#: A threshold below all scores lies below the lowest by this much.
BELOW_ALL = 1e-6
#: Scores of size 1 that differ by rounding only.
SAME_SCORE = 1e-9
#: Loss, sharpness of predictions and of the smooth precision, and steps, from stage to stage where shares apply.
SHARE_STAGES = (("log", 2.0, 5.0, 40), ("errors", 10.0, 10.0, 60), ("errors", 40.0, 40.0, 60))
#: Gaussian starts besides the informed ones.
RANDOM_STARTS = 2
#: Weight of ``|w|^2 / 2``: only to keep the weights finite.
RIDGE = 1e-5


def logistic_start(problem: Problem, max_iter: int | None = None) -> tuple[FloatArray, int]:
    """Logistic regression of everybody: weights and intercept, and the steps it took."""
    block, weight = problem.block, problem.block.rows.weight
    strength = LOGISTIC_RIDGE + problem.l2 * weight.sum()
    model = LogisticRegression(C=1 / strength, max_iter=max_iter or MAX_LOGISTIC_STEPS)
    model.fit(block.X, block.rows.y, sample_weight=weight)
    return np.append(model.coef_[0], model.intercept_[0]), int(model.n_iter_[0])


# ---------------------------------------------------------------------- groups that might apply


def shortlist(problem: Problem, start: FloatArray, most: int = MAX_SHORTLIST) -> NDArray[np.intp]:
    """Groups whose best accuracy at the cost may be among the highest, by falling lower bound.

    If no threshold is precise enough for a group, it counts as if none of its people were selected: refinement may
    change that.
    """
    n, positives = problem.block.rows.n, problem.block.rows.positives
    counts, applies = _best_counts(problem, start, MIN_SELECTED)
    accuracy = np.where(applies, counts.correct, n - positives) / n
    error = np.sqrt(np.maximum(accuracy * (1 - accuracy), 0) / n)
    bound = np.where(positives > 0, accuracy - error, -np.inf)
    ranked = np.argsort(-bound, kind="stable")[:most]
    within_reach = accuracy[ranked] + HOPED_ERRORS * error[ranked] + HOPED_GAIN >= bound.max()
    return np.asarray(ranked[within_reach & np.isfinite(bound[ranked])], dtype=np.intp)


def target_sets(problem: Problem, start: FloatArray) -> list[NDArray[np.intp]]:
    """Sets of groups to be made to apply: single groups, or the smallest sets that meet constraints on applicants."""
    terms, rows = problem.terms, problem.block.rows
    if not terms.constraints.prescribes_applicants:
        return [np.array([g]) for g in shortlist(problem, start)]
    counts, applies = _best_counts(problem, start, 0)
    value = np.where(applies, accuracy_lower_bound(counts.correct, rows.n, fitted_weights=1.0), -np.inf)
    # required groups first, then by value; and once more by loss per qualified person
    loss = ratio(np.nan_to_num(1 - value, posinf=UNREACHABLE) * rows.n, rows.positives)
    sets = {}
    for preference in (-value, np.where(np.isnan(loss), np.inf, loss)):
        ranked = np.lexsort((preference, ~terms.required))
        social_cost = 1 - np.cumsum(rows.positives[ranked]) / rows.positives.sum()
        reached = np.flatnonzero(social_cost <= terms.constraints.max_social_cost + SHARE_SLACK)
        size = max(int(terms.required.sum()), int(reached[0]) + 1 if len(reached) else problem.n_groups, 1)
        for some in (size, min(size + 1, problem.n_groups)):
            chosen = np.sort(ranked[:some])
            sets[tuple(chosen.tolist())] = chosen
    return list(sets.values())


def _best_counts(problem: Problem, start: FloatArray, min_selected: int) -> tuple[GroupCounts, BoolArray]:
    """Counts of each group at the most accurate threshold at which it applies, and whether there is one."""
    curves, _ = curves_of(problem, problem.block.X @ start[:-1])
    terms = problem.terms
    applies = as_decisions(terms.step_shares(curves, terms.margin, by_cost=True))
    enough = terms.constraints.selects_enough(curves) & (curves.selected >= min_selected)
    step = curves.best_steps(applies & enough)
    return curves.counts_of(step), step >= 0


# ---------------------------------------------------------------------- refinement


def fit_refined(problem: Problem, start: FloatArray, sets: list[NDArray[np.intp]]) -> list[FittedScore]:
    """Scores that are refined for each of some sets of groups."""
    return [
        FittedScore(
            f"refined for {names_of(problem.labels, groups)}, ridge {ridge:g}", refined, problem.n_varying, groups
        )
        for groups in sets
        for ridge, refined in zip(RIDGES, refined_scores(problem, start, groups), strict=False)
    ]


def refined_scores(problem: Problem, start: FloatArray, groups: NDArray[np.intp]) -> list[FloatArray]:
    """Scores that are refined on the rows of some groups, one for each of :data:`RIDGES`; none without positives."""
    block, terms = problem.block.of_groups(groups), problem.terms
    if block.rows.positives.sum() <= 0:
        return []
    # within one group, columns that are constant there act as intercepts and keep their weights
    width = problem.n_varying if len(groups) == 1 else problem.n_features
    block = replace(block, X=block.X[:, :width])
    cost = min(float(terms.costs[groups].max()) + terms.margin, 1.0)
    inner_start, others = np.append(start[:width], start[-1]), np.zeros(problem.n_features - width)
    inner = [_refine(block, inner_start, cost, ridge, problem.l2) for ridge in RIDGES]
    return [np.concatenate([parameters[:-1], others, parameters[-1:]]) for parameters in inner]


def _refine(block: FeatureBlock, start: FloatArray, cost: float, ridge: float, l2: float) -> FloatArray:
    """Turn a score towards precision at the cost, on the rows of the groups that should apply.

    Stages minimise :class:`.TargetedObjective` with sharper predictions and a higher price of false positives, up to
    ``c / (1 - c)``. Before each, the score is rescaled and its threshold set where the hard gain is largest, so that
    L-BFGS starts where the gradient is and does not end with nobody selected.
    """
    highest_price = min(cost / (1 - cost), MAX_PRICE) if cost < 1 else MAX_PRICE
    rows, weight = block.rows, block.rows.weight
    centre = start / score_size(block.score(start), weight)
    strength = ridge * (weighted_variance(block.X, weight) + MIN_VARIANCE) + l2
    target, scale = np.ones(rows.n_groups), max(float(rows.positives.sum()), 1.0)
    parameters = centre
    for sharpness, power in STAGES:
        price = highest_price**power
        score = block.score(parameters)
        size = score_size(score, weight)
        parameters = parameters / size
        parameters[-1] -= _best_threshold(rows, score / size, price)
        objective = TargetedObjective(target, scale, price, sharpness)
        parameters = LinearLoss(InMemoryRows(block), objective, strength, centre).minimise(parameters, STAGE_ITERATIONS)
    return np.asarray(parameters)


def _best_threshold(rows: GroupedRows, score: FloatArray, price: float) -> float:
    """Threshold with the largest ``TP - price FP`` among those that select at least :data:`MIN_SELECTED`."""
    order = np.argsort(-score, kind="stable")
    weight, y = rows.weight[order], rows.y[order]
    true_positives, selected = np.cumsum(weight * y), np.cumsum(weight)
    gain = true_positives - price * (selected - true_positives)
    gain[selected < min(MIN_SELECTED, selected[-1])] = -np.inf
    ranked = score[order]
    gain[:-1][ranked[:-1] - ranked[1:] <= SAME_SCORE] = -np.inf  # people with one score are selected together
    i = int(np.argmax(gain))
    return float((ranked[i] + ranked[i + 1]) / 2) if i + 1 < len(ranked) else float(ranked[-1] - BELOW_ALL)


def score_size(score: FloatArray, weight: FloatArray) -> float:
    """Standard deviation of a score, by which it is divided before further training; 1 if the score is constant."""
    return float(np.sqrt(weighted_variance(score, weight))) or 1.0


def weighted_variance(values: FloatArray, weight: FloatArray) -> FloatArray:
    """Variance over people, of values of shape (n_rows,) or of each column of shape (n_rows, n_columns)."""
    if (weight == 1).all():
        return np.asarray(values.var(axis=0))
    share = weight / weight.sum()
    return np.asarray(share @ (values - share @ values) ** 2)


def weighted_quantile(values: FloatArray, weight: FloatArray, share: float) -> float:
    """Linearly interpolated quantile of people, as :func:`numpy.quantile` gives it of repeated values."""
    if (weight == 1).all():
        return float(np.quantile(values, share))
    order = np.argsort(values, kind="stable")
    ranked, below = values[order], np.cumsum(weight[order])
    place = max(below[-1] - 1, 0.0) * share
    whole = np.floor(place)
    low, high = ranked[np.minimum(np.searchsorted(below, [whole, whole + 1], side="right"), len(ranked) - 1)]
    return float(low + (place - whole) * (high - low))


# ---------------------------------------------------------------------- where shares of groups apply


def scores_for_shares(problem: Problem, start: FloatArray, gaussian: FloatArray) -> list[FittedScore]:
    """Scores from the logistic start, from the best thresholds on it, and from Gaussian starts (one row each)."""
    starts = {"logistic": start}
    with suppress(InfeasibleError):
        (best,) = in_training(problem, FittedScore("", start), by_group=problem.has_group_thresholds)
        starts["thresholds"] = best.parameters
    starts |= {f"random start {i + 1}": parameters for i, parameters in enumerate(gaussian)}
    width = problem.n_varying
    return [FittedScore(f"strategic from {name}", _minimise(problem, at), width) for name, at in starts.items()]


def gaussian_starts(random: np.random.RandomState, n_features: int) -> FloatArray:
    """Parameters drawn from a normal distribution, one row per start."""
    return np.asarray(random.normal(size=(RANDOM_STARTS, n_features + 1)))


def _minimise(problem: Problem, parameters: FloatArray) -> FloatArray:
    """Parameters after all stages."""
    terms, ridge = problem.terms, np.full(problem.n_features, RIDGE + problem.l2)
    for loss, temperature, precision_temperature, steps in SHARE_STAGES:
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
