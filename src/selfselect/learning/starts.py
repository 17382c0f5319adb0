"""Where solvers start: a logistic score of everybody, and the sets of groups for which it is worth refining."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from .._validation import FloatArray
from ..constraints import SHARE_SLACK
from ..counting import GroupCounts, ratio
from .candidates import curves_of
from .evaluation import MIN_SELECTED, accuracy_lower_bound
from .problem import Problem

#: Ridge of the logistic start, on the summed loss: only to keep separable data finite.
RIDGE = 1e-4
#: Steps of the logistic start at most.
MAX_LOGISTIC_STEPS = 1_000
#: Largest number of groups to refine for.
MAX_SHORTLIST = 3
#: A group is shortlisted if its accuracy, plus so many standard errors and this gain from refinement, reaches the
#: highest lower bound.
HOPED_ERRORS, HOPED_GAIN = 2, 0.02
#: Loss per person of a group that cannot be made to apply: it comes last.
UNREACHABLE = 1e9


def logistic_start(problem: Problem, max_iter: int | None = None) -> tuple[FloatArray, int]:
    """Logistic regression of everybody: weights and intercept, and the steps it took."""
    block, weight = problem.block, problem.block.rows.weight
    strength = RIDGE + problem.l2 * weight.sum()
    model = LogisticRegression(C=1 / strength, max_iter=max_iter or MAX_LOGISTIC_STEPS)
    model.fit(block.X, block.rows.y, sample_weight=weight)
    return np.append(model.coef_[0], model.intercept_[0]), int(model.n_iter_[0])


def shortlist(problem: Problem, start: FloatArray, most: int = MAX_SHORTLIST) -> NDArray[np.intp]:
    """Groups whose best accuracy at the cost may be among the highest, by falling lower bound.

    A group for which no threshold is precise enough counts as if nobody of it were selected: refinement may get there.
    """
    rows = problem.block.rows
    curves, _ = curves_of(problem, problem.block.X @ start[:-1])
    terms = problem.terms
    enough = terms.constraints.selects_enough(curves)
    step = curves.best_steps(terms.costs, terms.tolerance, MIN_SELECTED, terms.behaviour, enough)
    applies = step >= 0
    counts = GroupCounts(
        rows.n,
        rows.positives,
        np.where(applies, curves.selected[step], 0),
        np.where(applies, curves.true_positives[step], 0),
    )
    accuracy = counts.correct / rows.n
    error = np.sqrt(np.maximum(accuracy * (1 - accuracy), 0) / rows.n)
    bound = np.where(rows.positives > 0, accuracy - error, -np.inf)
    ranked = np.argsort(-bound, kind="stable")[:most]
    within_reach = accuracy[ranked] + HOPED_ERRORS * error[ranked] + HOPED_GAIN >= bound.max()
    return np.asarray(ranked[within_reach & np.isfinite(bound[ranked])], dtype=np.intp)


def target_sets(problem: Problem, start: FloatArray) -> list[NDArray[np.intp]]:
    """Sets of groups to be made to apply: single groups, or the smallest sets that meet constraints on applicants."""
    terms = problem.terms
    if not terms.constraints.prescribes_applicants:
        return [np.array([g]) for g in shortlist(problem, start)]
    rows = problem.block.rows
    curves, _ = curves_of(problem, problem.block.X @ start[:-1])
    enough = terms.constraints.selects_enough(curves)
    step = curves.best_steps(terms.costs, terms.tolerance, behaviour=terms.behaviour, among=enough)
    correct = curves.counts_of(step).correct
    value = np.where(step >= 0, accuracy_lower_bound(correct, rows.n, fitted_weights=1.0), -np.inf)
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
