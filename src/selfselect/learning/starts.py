"""Where solvers start: a logistic score of everybody, and the sets of groups that are worth making it better for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from .._validation import FloatArray
from ..counting import GroupCounts, ratio
from .candidates import curves_of
from .judging import HANDFUL, cautious
from .problem import Problem
from .ties import SHARE_SLACK

#: Ridge of the logistic start, on the summed loss: only to keep separable data finite.
RIDGE = 1e-4
#: Steps of the logistic start at most.
LOGISTIC_STEPS = 1_000
#: How many groups are worth a refinement at most.
SHORTLIST = 3
#: A group is shortlisted if its accuracy, so many standard errors and this gain from refinement higher, comes up to the
#: surest one.
HOPED_ERRORS, HOPED_GAIN = 2, 0.02
#: Loss per person of a group that cannot be made to apply: it is brought in last of all.
UNREACHABLE = 1e9


def logistic_start(problem: Problem, max_iter: int | None = None) -> tuple[FloatArray, int]:
    """Logistic regression of everybody: weights and intercept, and the steps it took."""
    block, weight = problem.block, problem.block.people.weight
    strength = RIDGE + problem.l2 * weight.sum()
    model = LogisticRegression(C=1 / strength, max_iter=max_iter or LOGISTIC_STEPS)
    model.fit(block.X, block.people.y, sample_weight=weight)
    return np.append(model.coef_[0], model.intercept_[0]), int(model.n_iter_[0])


def shortlist(problem: Problem, start: FloatArray, most: int = SHORTLIST) -> NDArray[np.intp]:
    """Groups whose best accuracy at the cost may be among the highest, surest first.

    A group for which no threshold is precise enough counts as if nobody of it were selected: refinement may get there.
    """
    people = problem.block.people
    curves, _ = curves_of(problem, problem.block.X @ start[:-1])
    ask = problem.ask
    step = curves.best_steps(ask.costs, ask.tolerance, HANDFUL, ask.behaviour, ask.enough_selected(curves))
    found = step >= 0
    counts = GroupCounts(
        people.n,
        people.positives,
        np.where(found, curves.selected[step], 0),
        np.where(found, curves.true_positives[step], 0),
    )
    accuracy = counts.correct / people.n
    error = np.sqrt(np.maximum(accuracy * (1 - accuracy), 0) / people.n)
    sure = np.where(people.positives > 0, accuracy - error, -np.inf)
    ranked = np.argsort(-sure, kind="stable")[:most]
    within_reach = accuracy[ranked] + HOPED_ERRORS * error[ranked] + HOPED_GAIN >= sure.max()
    return np.asarray(ranked[within_reach & np.isfinite(sure[ranked])], dtype=np.intp)


def target_sets(problem: Problem, start: FloatArray) -> list[NDArray[np.intp]]:
    """Sets of groups to be made to apply: single ones, or, if it is prescribed who must, the smallest that do."""
    ask = problem.ask
    if not ask.prescribes_applicants:
        return [np.array([g]) for g in shortlist(problem, start)]
    people = problem.block.people
    curves, _ = curves_of(problem, problem.block.X @ start[:-1])
    step = curves.best_steps(ask.costs, ask.tolerance, behaviour=ask.behaviour, among=ask.enough_selected(curves))
    correct = curves.counts_of(step).correct
    value = np.where(step >= 0, cautious(correct, people.n, fitted_weights=1.0), -np.inf)
    # required groups first, then by value; and once more by loss per qualified person brought in
    loss = ratio(np.nan_to_num(1 - value, posinf=UNREACHABLE) * people.n, people.positives)
    sets = {}
    for preference in (-value, np.where(np.isnan(loss), np.inf, loss)):
        ranked = np.lexsort((preference, ~ask.required))
        stay_away = 1 - np.cumsum(people.positives[ranked]) / people.positives.sum()
        enough = np.flatnonzero(stay_away <= ask.max_social_cost + SHARE_SLACK)
        size = max(int(ask.required.sum()), int(enough[0]) + 1 if len(enough) else problem.n_groups, 1)
        for some in (size, min(size + 1, problem.n_groups)):
            chosen = np.sort(ranked[:some])
            sets[tuple(chosen.tolist())] = chosen
    return list(sets.values())
