"""From a problem to the classifier that is kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from .._validation import FloatArray, list_some
from ..behaviour import SLACK
from ..constraints import InfeasibleError
from ..counting import GroupCounts, ratio
from .all_groups import solve_all_groups
from .candidates import Candidate, curves_of, names_of, with_best_threshold
from .group_thresholds import with_group_thresholds
from .paper import DescentSettings, solve_by_descent, solve_by_stages
from .problem import Problem
from .refinement import refined_scores
from .starts import logistic_start, target_sets

SOLVERS = ("auto", "constructive", "gradient_descent")
#: Numbers of groups that a message lists.
MAX_NUMBERS = 5


def solve(
    problem: Problem,
    *,
    solver: str = "auto",
    random: np.random.RandomState,
    n_starts: int | None = None,
    max_iter: int | None = None,
    settings: DescentSettings | None = None,
) -> tuple[Candidate, int]:
    """Best candidate of a solver, and the steps that ``max_iter`` limits.

    Parameters
    ----------
    problem : Problem
    solver : {"auto", "constructive", "gradient_descent"}
        "constructive" is a logistic score with a threshold per group, or a common one if the features do not tell
        groups apart. "auto" refines such scores. "gradient_descent" is the paper's.
    random : RandomState
        For Gaussian starts.
    n_starts : int, optional
        Gaussian starts; 5 for the descent, none otherwise.
    max_iter : int, optional
        Steps of the descent (30,000), or of the logistic start (1,000).
    settings : DescentSettings, optional
        Settings of the descent. The weight of the application penalty also holds for Gaussian starts of other solvers.

    Raises
    ------
    InfeasibleError
        If constraints on who applies, or on how many are selected, cannot be met.
    """
    settings = settings or DescentSettings()
    if solver == "gradient_descent":
        settings = replace(settings, starts=n_starts or settings.starts, steps=max_iter or settings.steps)
        candidates, n_iter = solve_by_descent(problem, random, settings)
    else:
        if solver == "auto" and problem.shares_threshold:
            candidates, n_iter = solve_all_groups(problem, max_iter)
        else:
            candidates, n_iter = solve_single_groups(problem, with_refinement=solver == "auto", max_iter=max_iter)
        if n_starts:
            candidates += solve_by_stages(problem, random, n_starts, settings.application)
    best = max(candidates, key=lambda candidate: candidate.rank)
    refuse_infeasible(problem, best, candidates)
    return best, n_iter


def solve_single_groups(
    problem: Problem, *, with_refinement: bool = True, max_iter: int | None = None
) -> tuple[list[Candidate], int]:
    """Candidates from a logistic score and from scores refined for few groups; and steps of the logistic start.

    For m rows, d features and any number of groups, the start takes one logistic regression, and each evaluation
    O(m (d + log m)).
    """
    start, n_iter = logistic_start(problem, max_iter)
    by_group = problem.offset_of_group is not None
    candidates = [] if by_group else [with_best_threshold(problem, start, 1.0, "everybody")]
    sets = target_sets(problem, start)
    for groups in sets if with_refinement else []:
        for parameters, ridge in refined_scores(problem, start, groups):
            origin = f"refined for {names_of(problem.labels, groups)}, ridge {ridge:g}"
            if by_group:
                candidates += with_group_thresholds(problem, parameters, problem.n_varying, origin, [groups])
            else:
                candidates.append(with_best_threshold(problem, parameters, problem.n_varying, origin))
    if by_group:
        prescribed = sets if problem.terms.constraints.prescribes_applicants else None
        candidates += with_group_thresholds(problem, start, 1.0, "constructive", prescribed)
    return candidates, n_iter


def refuse_infeasible(problem: Problem, best: Candidate, candidates: list[Candidate]) -> None:
    """Raise :class:`InfeasibleError` if the best candidate violates who must apply or how many must be selected."""
    if best.shortfall > 0:
        rows = problem.block.rows
        counts = GroupCounts(rows.n, rows.positives, *rows.hard_counts(problem.block.score(best.parameters)))
        raise InfeasibleError(too_few_selected(problem.labels, counts, problem.terms.constraints.min_selection_rate))
    if best.violation > 0 and problem.terms.constraints.prescribes_applicants:
        raise InfeasibleError(_why_infeasible(problem, candidates))


def too_few_selected(labels: pd.Index, counts: GroupCounts, min_selection_rate: float) -> str:
    """Message that a least selection rate could not be kept, and what came nearest."""
    rate = counts.selection_rate
    short = np.flatnonzero(counts.selected < (min_selection_rate - SLACK) * counts.n)
    short = short[np.argsort(rate[short], kind="stable")]
    return (
        f"At least {min_selection_rate:g} of each group must be selected (min_selection_rate), but what came nearest "
        f"selects {_numbers(rate[short])} of {list_some(labels[short])}. Lower min_selection_rate, or use another "
        "solver: gradient descent cannot enforce it."
    )


def _why_infeasible(problem: Problem, candidates: list[Candidate]) -> str:
    """Message about the constraints that cannot be met, and what came nearest."""
    terms, constraints, reasons = problem.terms, problem.terms.constraints, []
    if terms.required.any():
        margin = terms.margin(auto=0.0)
        highest = _highest_precisions(problem, candidates)
        low = terms.required & (highest < terms.costs + margin)
        if low.any():
            reasons.append(
                f"the highest precision found for {list_some(problem.labels[low])} is {_numbers(highest[low])}, below "
                f"the cost{' plus tolerance' if margin else ''} of {_numbers(terms.costs[low] + margin)}"
            )
        else:
            reasons.append(
                f"no score was found with which {list_some(problem.labels[terms.required])} all apply at once"
            )
    if constraints.max_social_cost < 1:
        reasons.append(f"the social cost could not be brought down to {constraints.max_social_cost:g}")
    conditions = ["the constraints between groups hold"] if constraints.between_groups else []
    if constraints.limits_selection:
        conditions.append(f"at least {constraints.min_selection_rate:g} of each group is selected")
    condition = f" while {' and '.join(conditions)}" if conditions else ""
    return (
        f"The constraints of training cannot be met: {'; '.join(reasons)}{condition}. Lower the cost or tolerance, "
        "subsidise these groups (subsidies=...), require fewer, or let X tell groups apart (one-hot group columns)."
    )


def _highest_precisions(problem: Problem, candidates: list[Candidate]) -> FloatArray:
    """Highest precision of each group at any threshold of any of the scores, among those that select enough."""
    highest, width = np.full(problem.n_groups, np.nan), problem.n_varying
    for candidate in candidates:
        curves, _ = curves_of(problem, problem.block.X[:, :width] @ candidate.parameters[:width])
        precision = ratio(curves.true_positives, curves.selected)
        enough = problem.terms.constraints.selects_enough(curves)
        precision = precision if enough is None else np.where(enough, precision, np.nan)
        highest = np.fmax(highest, np.fmax.reduceat(precision, curves.start[:-1]))
    return highest


def _numbers(values: FloatArray) -> str:
    return ", ".join(f"{value:.3f}" for value in values[:MAX_NUMBERS])
