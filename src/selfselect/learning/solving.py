"""From a problem to the classifier that is kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from .._validation import FloatArray, some_of
from ..behaviour import SLACK
from ..counting import GroupCounts, ratio
from .all_groups import solve_all_groups
from .candidates import Candidate, curves_of
from .descent import DescentSettings, solve_by_descent, solve_by_stages
from .problem import InfeasibleError, Problem
from .single_groups import solve_single_groups

SOLVERS = ("auto", "constructive", "gradient_descent")
#: Groups that a message has numbers of at most.
MOST_NUMBERS = 5


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
        "auto" refines constructive starts. "constructive" is a logistic score with a threshold per group, or a single
        one where the features do not tell groups apart. "gradient_descent" is the paper's.
    random : RandomState
        For Gaussian starts.
    n_starts : int, optional
        Gaussian starts; 5 for the descent, none otherwise.
    max_iter : int, optional
        Steps of the descent (30,000), or of the logistic start (1,000).
    settings : DescentSettings, optional
        Of the descent, whose starts and steps they are unless given here; the weight of the application penalty is
        also that of Gaussian starts of other solvers.

    Returns
    -------
    candidate : Candidate
        With a violation of 0, or of a problem without constraints; its accuracy is NaN if nobody can be made to apply.
    n_iter : int
        Steps of the logistic start, or of the descent.

    Raises
    ------
    InfeasibleError
        If constraints on who applies, or on how many are selected, cannot be met.
    """
    ask, settings = problem.ask, settings or DescentSettings()
    if solver == "gradient_descent":
        told = replace(settings, starts=n_starts or settings.starts, steps=max_iter or settings.steps)
        candidates, n_iter = solve_by_descent(problem, random, told)
    else:
        # features that address groups one by one leave nothing to be shared; ties, or one threshold for all, do
        shared = bool(ask.ties) or (ask.prescribes_applicants and problem.offset_of_group is None)
        if solver == "auto" and shared:
            candidates, n_iter = solve_all_groups(problem, max_iter)
        else:
            candidates, n_iter = solve_single_groups(problem, with_refinement=solver == "auto", max_iter=max_iter)
        if n_starts:
            candidates += solve_by_stages(problem, random, n_starts, settings.application)
    best = max(candidates, key=lambda candidate: candidate.rank)
    refuse_infeasible(problem, best, candidates)
    return best, n_iter


def refuse_infeasible(problem: Problem, best: Candidate, candidates: list[Candidate]) -> None:
    """Raise :class:`InfeasibleError` if even the best candidate breaks who must apply or how many must be selected."""
    if best.lacking > 0:
        selected, _ = problem.block.people.hard_counts(problem.block.score(best.parameters))
        counts = GroupCounts(problem.block.people.n, problem.block.people.positives, selected, selected)
        raise InfeasibleError(too_few_selected(problem.labels, counts, problem.ask.min_selection_rate))
    if best.violation > 0 and problem.ask.prescribes_applicants:
        raise InfeasibleError(_why_infeasible(problem, candidates))


def too_few_selected(labels: pd.Index, counts: GroupCounts, least: float) -> str:
    """That a selection rate could not be kept, and what came nearest."""
    rate = counts.selection_rate
    short = np.flatnonzero(counts.selected < (least - SLACK) * counts.n)
    short = short[np.argsort(rate[short], kind="stable")]
    return (
        f"At least {least:g} of each group must be selected (min_selection_rate), but what came nearest selects "
        f"{_numbers(rate[short])} of {some_of(labels[short])}. Lower min_selection_rate, or use another solver: "
        "any but gradient descent can see to it."
    )


def _why_infeasible(problem: Problem, candidates: list[Candidate]) -> str:
    """What was asked and what came nearest, in words."""
    ask, parts = problem.ask, []
    if ask.required.any():
        margin = ask.margin(auto=0.0)
        highest = _highest_precisions(problem, candidates)
        low = ask.required & (highest < ask.costs + margin)
        if low.any():
            parts.append(
                f"the highest precision found for {some_of(problem.labels[low])} is {_numbers(highest[low])}, below "
                f"the cost{' plus tolerance' if margin else ''} of {_numbers(ask.costs[low] + margin)}"
            )
        else:
            parts.append(f"no score was found with which {some_of(problem.labels[ask.required])} all apply at once")
    if ask.max_social_cost < 1:
        parts.append(f"the social cost could not be brought down to {ask.max_social_cost:g}")
    while_so = [
        *(["rates of groups are tied as asked"] if ask.ties else []),
        *([f"at least {ask.min_selection_rate:g} of each group is selected"] if ask.limits_selection else []),
    ]
    condition = f" while {' and '.join(while_so)}" if while_so else ""
    return (
        f"The constraints of training cannot be met: {'; '.join(parts)}{condition}. Lower the cost or tolerance, "
        "subsidise these groups (subsidies=...), ask for fewer, or let X tell groups apart (one-hot group columns)."
    )


def _highest_precisions(problem: Problem, candidates: list[Candidate]) -> FloatArray:
    """Highest precision that any threshold on any of the scores gives each group, of those that select enough."""
    highest = np.full(problem.n_groups, np.nan)
    for candidate in candidates:
        curves, _ = curves_of(
            problem, problem.block.X[:, : problem.n_varying] @ candidate.parameters[: problem.n_varying]
        )
        precision = ratio(curves.true_positives, curves.selected)
        enough = problem.ask.enough_selected(curves)
        precision = precision if enough is None else np.where(enough, precision, np.nan)
        reached = np.fmax.reduceat(precision, curves.start[:-1])
        highest = np.fmax(highest, reached)
    return highest


def _numbers(values: FloatArray) -> str:
    return ", ".join(f"{value:.3f}" for value in values[:MOST_NUMBERS])
