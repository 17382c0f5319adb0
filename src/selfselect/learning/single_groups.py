"""Solve for a few groups at a time, on their rows only.

An average over applicants is never better than its best part, so it pays to find, for one group (or a required set),
the most accurate score whose precision reaches the cost. The constructive start is a logistic regression of everybody
with the best threshold for the group. It misses groups of a low base rate, in which no threshold on that score is
precise enough: there the score has to turn towards precision at the very top, and this is what the refinement does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from .._validation import FloatArray
from ..counting import ratio
from .judging import (
    HANDFUL,
    Candidate,
    best_threshold,
    cautious,
    curves_of,
    cut_between,
    describe,
    tidy,
    unfairness,
)
from .objectives import GroupedRows, TargetedObjective
from .problem import Problem

#: Strengths with which a refined score is held near the logistic one; the choice among them is :mod:`.choice`'s.
HOLDS = (0.1, 0.01)
#: Sharpness of predictions, and power of the price of a false positive, from stage to stage.
STAGES = ((4.0, 0.5), (12.0, 1.0))
#: Steps of L-BFGS in each stage.
STAGE_ITERATIONS = 25
#: How many groups are refined at most.
SHORTLIST = 3
#: Ridge of the logistic start, on the summed loss: only to keep separable data finite.
RIDGE = 1e-4


def pooled_start(problem: Problem, max_iter: int = 1000) -> tuple[FloatArray, int]:
    """Logistic regression of everybody: weights and intercept, and the steps it took."""
    rows = problem.rows
    model = LogisticRegression(C=1 / (RIDGE + problem.l2 * rows.weight.sum()), max_iter=max_iter)
    model.fit(rows.X, rows.y, sample_weight=rows.weight)
    return np.append(model.coef_[0], model.intercept_[0]), int(model.n_iter_[0])


def best_cut(rows: GroupedRows, score: FloatArray, price: float, least: float) -> float:
    """Threshold with the largest ``TP - price FP`` among those that select at least some people."""
    order = np.argsort(-score, kind="stable")
    weight, y = rows.weight[order], rows.y[order]
    hits, passes = np.cumsum(weight * y), np.cumsum(weight)
    gain = hits - price * (passes - hits)
    gain[passes < min(least, passes[-1])] = -np.inf
    i = int(np.argmax(gain))
    ranked = score[order]
    return float((ranked[i] + ranked[i + 1]) / 2) if i + 1 < len(ranked) else float(ranked[-1] - 1e-6)


def refine(rows: GroupedRows, start: FloatArray, cost: float, hold: float, least: float, l2: float) -> FloatArray:
    """Turn a score towards precision at the cost, on the rows of the groups that shall apply.

    Stages lower :func:`selfselect.objective.weighted_error` with sharper predictions and a higher price of false
    positives, up to ``c / (1 - c)``. Before each, the score is rescaled and its threshold set where the hard gain is
    largest, so that the descent starts where the gradient is, and does not end with nobody selected.
    """
    odds = min(cost / (1 - cost), 1e3) if cost < 1 else 1e3
    score = rows.X @ start[:-1] + start[-1]
    size = float(score.std()) or 1.0
    anchor = start / size
    stay = hold * (rows.X.var(axis=0) + 1e-4) + l2
    parameters = anchor
    for sharpness, power in STAGES:
        price = odds**power
        score = rows.X @ parameters[:-1] + parameters[-1]
        size = float(score.std()) or 1.0
        parameters = parameters / size
        parameters[-1] -= best_cut(rows, score / size, price, least)
        objective = TargetedObjective(
            rows,
            target=np.ones(rows.n_groups),
            scale=max(float(rows.positives.sum()), 1.0),
            price=price,
            temperature=sharpness,
            anchor=anchor,
            stay=stay,
        )
        parameters = minimize(
            objective, parameters, jac=True, method="L-BFGS-B", options={"maxiter": STAGE_ITERATIONS}
        ).x
    return np.asarray(parameters)


def shortlist(problem: Problem, start: FloatArray, most: int = SHORTLIST) -> NDArray[np.intp]:
    """Groups worth refining: those whose best accuracy at the cost may be among the highest."""
    rows = problem.rows
    score, _ = tidy(rows.X @ start[:-1])
    curves = curves_of(problem, score)
    step = curves.best_steps(problem.costs, problem.tolerance, HANDFUL)
    correct = np.where(
        step >= 0,
        rows.n - rows.positives - curves.selected[step] + 2 * curves.true_positives[step],
        rows.n - rows.positives,
    )
    accuracy = correct / rows.n
    error = np.sqrt(np.maximum(accuracy * (1 - accuracy), 0) / rows.n)
    sure = np.where(rows.positives > 0, accuracy - error, -np.inf)
    ranked = np.argsort(-sure, kind="stable")[:most]
    within_reach = accuracy[ranked] + 2 * error[ranked] + 0.02 >= sure.max()
    return np.asarray(ranked[within_reach & np.isfinite(sure[ranked])], dtype=np.intp)


def target_sets(problem: Problem, start: FloatArray) -> list[NDArray[np.intp]]:
    """Sets of groups to be made to apply: single ones, or the smallest that meet the constraints."""
    if not problem.constrained:
        return [np.array([g]) for g in shortlist(problem, start)]
    rows = problem.rows
    score, _ = tidy(rows.X @ start[:-1])
    curves = curves_of(problem, score)
    step = curves.best_steps(problem.costs, problem.tolerance)
    correct = rows.n - rows.positives - curves.selected[step] + 2 * curves.true_positives[step]
    value = np.where(step >= 0, cautious(correct, rows.n, 1.0), -np.inf)
    # required groups first, then by value; and once more by value per qualified person brought in
    loss = ratio(np.nan_to_num(1 - value, posinf=1e9) * rows.n, rows.positives)
    sets = {}
    for preference in (-value, np.nan_to_num(loss, nan=np.inf, posinf=1e18)):
        ranked = np.lexsort((preference, ~problem.required))
        stay_away = 1 - np.cumsum(rows.positives[ranked]) / max(rows.positives.sum(), 1e-300)
        enough = np.flatnonzero(stay_away <= problem.max_social_cost + 1e-12)
        size = max(int(problem.required.sum()), int(enough[0]) + 1 if len(enough) else problem.n_groups, 1)
        for some in {size, min(size + 1, problem.n_groups)}:
            chosen = np.sort(ranked[:some])
            sets[tuple(chosen.tolist())] = chosen
    return list(sets.values())


def solve_apart(problem: Problem, *, with_refinement: bool = True, max_iter: int = 1000) -> tuple[list[Candidate], int]:
    """Candidates from scores that are made for one group, or a few; and steps of the logistic start."""
    start, n_iter = pooled_start(problem, max_iter)
    candidates = []
    if problem.offset_of_group is None:
        candidates.append(best_threshold(problem, start, 1.0, "everybody"))
    sets = target_sets(problem, start)
    for groups in sets if with_refinement else []:
        for parameters, hold in _refined(problem, start, groups):
            origin = f"refined for {describe(problem.labels, groups)}, hold {hold:g}"
            if problem.offset_of_group is None:
                candidates.append(best_threshold(problem, parameters, problem.n_varying, origin))
            else:
                candidates += _with_offsets(problem, parameters, problem.n_varying, origin, [groups])
    if problem.offset_of_group is not None:
        candidates += _with_offsets(problem, start, 1.0, "constructive", sets if problem.constrained else None)
    return candidates, n_iter


def _refined(problem: Problem, start: FloatArray, groups: NDArray[np.intp]) -> list[tuple[FloatArray, float]]:
    rows = problem.rows.only(groups)
    if rows.positives.sum() <= 0:
        return []
    # within one group, columns that are constant there are intercepts and are left as they are
    width = problem.n_varying if len(groups) == 1 else rows.X.shape[1]
    rows = GroupedRows(rows.X[:, :width], rows.y, rows.weight, rows.start)
    fixed = start[width:-1]
    cost = float(problem.costs[groups].max())
    margin = 0.0 if problem.tolerance == "auto" else problem.tolerance
    found = []
    for hold in HOLDS:
        inner = refine(rows, np.append(start[:width], start[-1]), min(cost + margin, 1.0), hold, HANDFUL, problem.l2)
        found.append((np.concatenate([inner[:-1], np.zeros_like(fixed), inner[-1:]]), hold))
    return found


def _with_offsets(
    problem: Problem, parameters: FloatArray, free: float, origin: str, sets: list[NDArray[np.intp]] | None
) -> list[Candidate]:
    """Each group of a set at its own best threshold, the others shut out: nobody of them is selected.

    Without sets, the one group that is worth most.
    """
    assert problem.offset_of_group is not None
    rows, width = problem.rows, problem.n_varying
    raw = rows.X[:, :width] @ parameters[:width]
    score, size = tidy(raw)
    curves = curves_of(problem, score)
    step = curves.best_steps(problem.costs, problem.tolerance, HANDFUL)
    if problem.constrained or (step < 0).all():
        # who must apply may do so by a few people; where nobody else can, anybody may, in the end by a hair
        step = np.where(step >= 0, step, curves.best_steps(problem.costs, problem.tolerance))
        if (step < 0).all() and not problem.constrained:
            step = curves.best_steps(problem.costs)
    correct = rows.n - rows.positives - curves.selected[step] + 2 * curves.true_positives[step]
    if sets is None:
        sets = [np.array([np.argmax(np.where(step >= 0, cautious(correct, rows.n, free), -np.inf))])]
    cuts = -cut_between(curves.threshold, step) * size
    # nobody selected, also among newcomers whose scores lie somewhat beyond those seen
    shut = -10.0 * (1.0 + size)
    candidates = []
    for groups in sets:
        reached = groups[step[groups] >= 0]
        missing = len(groups) - len(reached)
        n = rows.n[reached].sum()
        stay_away = 1 - rows.positives[reached].sum() / max(rows.positives.sum(), 1e-300)
        violation = 10.0 * (len(reached) == 0) + (problem.required[groups].sum() - problem.required[reached].sum())
        violation += max(stay_away - problem.max_social_cost - 1e-12, 0.0)
        if problem.constrained and missing and violation <= 0:
            origin = f"{origin}, {missing} left out"
        offsets = np.full(problem.n_groups, shut)
        offsets[reached] = cuts[reached]
        if problem.fair:
            let_in = np.isin(np.arange(problem.n_groups), reached)
            counts = (np.where(let_in, column[step], 0)[None, :] for column in (curves.selected, curves.true_positives))
            violation += float(unfairness(problem, *counts)[0][0])
        tail = problem.offset_of_group @ offsets
        candidates.append(
            Candidate(
                parameters=np.concatenate([parameters[:width], tail]),
                violation=float(violation),
                value=float(cautious(correct[reached].sum(), n, free)),
                accuracy=float(ratio(correct[reached].sum(), n)),
                origin=f"{origin}: {describe(problem.labels, reached)}",
            )
        )
    return candidates
