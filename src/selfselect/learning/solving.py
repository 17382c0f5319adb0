"""From a problem to the classifier that is kept."""

from __future__ import annotations

import numpy as np

from .._validation import some_of
from ..counting import ratio
from .all_groups import solve_together
from .descent import STARTS, STEPS, solve_by_descent, solve_by_stages
from .judging import Candidate, curves_of, tidy
from .problem import InfeasibleError, Problem
from .single_groups import solve_apart

SOLVERS = ("auto", "constructive", "gradient_descent")


def solve(
    problem: Problem,
    *,
    solver: str = "auto",
    random: np.random.RandomState,
    n_starts: int | None = None,
    max_iter: int | None = None,
    application: float = 1 / 6,
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
    application : float
        Weight of the application penalty in the paper's objective.

    Returns
    -------
    candidate : Candidate
        With a violation of 0, or of a problem without constraints; its accuracy is NaN if nobody can be made to apply.
    n_iter : int
        Steps of the logistic start, or of the descent.

    Raises
    ------
    InfeasibleError
        If constraints on who applies cannot be met.
    """
    if solver == "gradient_descent":
        starts = STARTS if n_starts is None else n_starts
        candidates, n_iter = solve_by_descent(problem, random, starts, max_iter or STEPS, application)
    else:
        limit = max_iter or 1000
        # features that address groups one by one leave nothing to be shared; tied rates, or one threshold for all, do
        share = problem.fair or (problem.constrained and problem.offset_of_group is None)
        if solver == "auto" and share:
            candidates, n_iter = solve_together(problem, limit)
        else:
            candidates, n_iter = solve_apart(problem, with_refinement=solver == "auto", max_iter=limit)
        if n_starts:
            candidates += solve_by_stages(problem, random, n_starts, application)
    best = max(candidates, key=lambda candidate: candidate.rank)
    if best.violation > 0 and problem.constrained:
        raise InfeasibleError(_why(problem, candidates))
    return best, n_iter


def _why(problem: Problem, candidates: list[Candidate]) -> str:
    """What was asked and what came nearest, in words."""
    rows = problem.rows
    highest = np.full(problem.n_groups, np.nan)
    for candidate in candidates:
        score, _ = tidy(rows.X[:, : problem.n_varying] @ candidate.parameters[: problem.n_varying])
        curves = curves_of(problem, score)
        reached = np.fmax.reduceat(ratio(curves.true_positives, curves.selected), curves.start[:-1])
        highest = np.fmax(highest, reached)
    parts = []
    if problem.required.any():
        margin = 0.0 if problem.tolerance == "auto" else problem.tolerance
        low = problem.required & (highest < problem.costs + margin)
        if low.any():
            parts.append(
                f"the highest precision found for {some_of(problem.labels[low])} is "
                f"{', '.join(f'{value:.3f}' for value in highest[low][:5])}, below the cost"
                f"{' plus tolerance' if margin else ''} of "
                f"{', '.join(f'{value:.3f}' for value in problem.costs[low][:5] + margin)}"
            )
        else:
            parts.append(f"no score was found with which {some_of(problem.labels[problem.required])} all apply at once")
    if problem.max_social_cost < 1:
        parts.append(f"the social cost could not be brought down to {problem.max_social_cost:g}")
    return (
        f"The constraints of training cannot be met: {'; '.join(parts)}. Lower the cost or tolerance, subsidise these "
        "groups (subsidies=...), ask for fewer, or let X tell groups apart (one-hot group columns)."
    )
