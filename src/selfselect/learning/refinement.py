"""Scores that are refined for a few groups, on their rows only.

An average over applicants is never better than its best part, so it pays to find, for one group (or a required set),
the most accurate score whose precision reaches the cost. A logistic score of everybody misses groups of a low base
rate, in which none of its thresholds is precise enough. Refinement turns the score towards precision at the very top.

One refinement takes O(m_z d) per step, for the m_z rows of its groups and d features.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from .._validation import FloatArray
from ..counting.rows import InMemoryRows
from .evaluation import MIN_SELECTED
from .linear import FeatureBlock, LinearLoss
from .objective import TargetedObjective
from .problem import Problem
from .scores import GroupedRows

#: Strengths of the ridge that keeps a refined score near the logistic one; evaluation chooses among the results.
RIDGES = (0.1, 0.01)
#: Sharpness of predictions, and power of the price of a false positive, from stage to stage.
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


def refined_scores(problem: Problem, start: FloatArray, groups: NDArray[np.intp]) -> list[tuple[FloatArray, float]]:
    """Scores that are refined on the rows of some groups, each with the strength of its ridge."""
    block, terms = problem.block.of_groups(groups), problem.terms
    if block.rows.positives.sum() <= 0:
        return []
    # within one group, columns that are constant there act as intercepts and keep their weights
    width = problem.n_varying if len(groups) == 1 else problem.n_features
    block = replace(block, X=block.X[:, :width])
    cost = min(float(terms.costs[groups].max()) + terms.margin(auto=0.0), 1.0)
    inner_start = np.append(start[:width], start[-1])
    scores = []
    for ridge in RIDGES:
        inner = refine(block, inner_start, cost, ridge, problem.l2)
        scores.append((np.concatenate([inner[:-1], np.zeros(problem.n_features - width), inner[-1:]]), ridge))
    return scores


def refine(block: FeatureBlock, start: FloatArray, cost: float, ridge: float, l2: float) -> FloatArray:
    """Turn a score towards precision at the cost, on the rows of the groups that should apply.

    Stages minimise :func:`~selfselect.learning.objective.weighted_error` with sharper predictions and a higher price of
    false positives, up to ``c / (1 - c)``. Before each, the score is rescaled and its threshold set where the hard gain
    is largest, so that L-BFGS starts where the gradient is and does not end with nobody selected.
    """
    highest_price = min(cost / (1 - cost), MAX_PRICE) if cost < 1 else MAX_PRICE
    weight = block.rows.weight
    centre = start / score_size(block.score(start), weight)
    strength = ridge * (weighted_variance(block.X, weight) + MIN_VARIANCE) + l2
    parameters = centre
    for sharpness, power in STAGES:
        price = highest_price**power
        score = block.score(parameters)
        size = score_size(score, weight)
        parameters = parameters / size
        parameters[-1] -= best_threshold(block.rows, score / size, price, MIN_SELECTED)
        objective = TargetedObjective(
            target=np.ones(block.rows.n_groups),
            scale=max(float(block.rows.positives.sum()), 1.0),
            price=price,
            temperature=sharpness,
        )
        loss = LinearLoss(InMemoryRows(block), objective, strength, centre)
        parameters = minimise(loss, parameters, STAGE_ITERATIONS)
    return np.asarray(parameters)


def minimise(loss: LinearLoss, parameters: FloatArray, iterations: int) -> FloatArray:
    """Parameters after some iterations of L-BFGS."""
    return np.asarray(minimize(loss, parameters, jac=True, method="L-BFGS-B", options={"maxiter": iterations}).x)


def best_threshold(rows: GroupedRows, score: FloatArray, price: float, min_selected: float) -> float:
    """Threshold with the largest ``TP - price FP`` among those that select at least some people."""
    order = np.argsort(-score, kind="stable")
    weight, y = rows.weight[order], rows.y[order]
    true_positives, selected = np.cumsum(weight * y), np.cumsum(weight)
    gain = true_positives - price * (selected - true_positives)
    gain[selected < min(min_selected, selected[-1])] = -np.inf
    ranked = score[order]
    gain[:-1][ranked[:-1] - ranked[1:] <= SAME_SCORE] = -np.inf  # people with one score are selected together
    i = int(np.argmax(gain))
    return float((ranked[i] + ranked[i + 1]) / 2) if i + 1 < len(ranked) else float(ranked[-1] - BELOW_ALL)


def score_size(score: FloatArray, weight: FloatArray) -> float:
    """Standard deviation of a score, by which it is divided before further training; 1 if the score is constant."""
    return float(np.sqrt(weighted_variance(score, weight))) or 1.0


def weighted_variance(values: FloatArray, weight: FloatArray) -> FloatArray:
    """Variance over people, of values of shape (n_rows,) or of each column of shape (n_rows, n_columns).

    Examples
    --------
    >>> round(float(weighted_variance(np.array([1.0, 4.0]), np.array([2.0, 1.0]))), 6)  # of 1, 1 and 4
    2.0
    """
    if (weight == 1).all():
        return np.asarray(values.var(axis=0))
    share = weight / weight.sum()
    return np.asarray(share @ (values - share @ values) ** 2)


def weighted_quantile(values: FloatArray, weight: FloatArray, share: float) -> float:
    """Linearly interpolated quantile of people, as :func:`numpy.quantile` gives it of repeated values.

    Examples
    --------
    >>> weighted_quantile(np.array([1.0, 4.0]), np.array([2.0, 1.0]), 0.75)  # of 1, 1 and 4
    2.5
    """
    if (weight == 1).all():
        return float(np.quantile(values, share))
    order = np.argsort(values, kind="stable")
    ranked, below = values[order], np.cumsum(weight[order])
    place = max(below[-1] - 1, 0.0) * share
    whole = np.floor(place)
    low, high = ranked[np.minimum(np.searchsorted(below, [whole, whole + 1], side="right"), len(ranked) - 1)]
    return float(low + (place - whole) * (high - low))
