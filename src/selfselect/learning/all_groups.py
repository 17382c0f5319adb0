"""Solve for all groups at once, where they share one threshold or their rates are tied to each other.

For each of a few sets of groups that might apply, the errors on that set are lowered on all rows, with walls around the
constraints; every score on the way is judged by hard counts at every threshold.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from .._validation import FloatArray
from .judging import Candidate, best_threshold, describe, groups_in_order
from .objectives import TargetedObjective
from .problem import Problem
from .single_groups import pooled_start, shortlist, target_sets

#: Sharpness of predictions and steps of L-BFGS, from stage to stage; the first lowers the logistic loss, then errors.
STAGES = ((2.0, 30), (10.0, 60), (40.0, 60))
#: How many sets of groups are tried, and how many of them reach the last stage.
MOST_SETS, MOST_LAST = 5, 3
#: Precision is pushed beyond the cost (or below it, for groups to be kept out) by at least this much.
LEAST_MARGIN = 0.02
#: Part of a tolerance within which rates may differ freely, so that the hard rates stay within all of it.
FREE_PART = 0.5
RIDGE = 1e-5


def solve_together(problem: Problem, max_iter: int = 1000) -> tuple[list[Candidate], int]:
    """Candidates from scores that are made on all rows under walls; and steps of the logistic start."""
    start, n_iter = pooled_start(problem, max_iter)
    free = problem.rows.X.shape[1]
    candidates = [best_threshold(problem, start, 1.0, "everybody")]
    runs: list[tuple[TargetedObjective, FloatArray, Candidate]] = [
        (objective, start, candidates[0]) for objective in _objectives(problem, start)
    ]

    def advance(stage: int, hardened: float = 1.0) -> None:
        sharpness, iterations = STAGES[stage]
        for i, (objective, parameters, _) in enumerate(runs):
            sharper = _harden(
                replace(objective, temperature=sharpness, with_log_loss=stage == 0 and hardened == 1.0), hardened
            )
            parameters = minimize(sharper, parameters, jac=True, method="L-BFGS-B", options={"maxiter": iterations}).x
            origin = f"together for {describe(problem.labels, np.flatnonzero(objective.target))}, stage {stage + 1}"
            runs[i] = (objective, parameters, best_threshold(problem, parameters, free, origin))
            candidates.append(runs[i][2])

    for stage in range(len(STAGES)):
        if stage == len(STAGES) - 1:
            runs.sort(key=lambda run: run[2].rank, reverse=True)
            del runs[MOST_LAST:]
        advance(stage)
    if all(candidate.violation > 0 for candidate in candidates):  # once more, against higher walls
        advance(1, 10.0)
        advance(len(STAGES) - 1, 10.0)
    return candidates, n_iter


def _objectives(problem: Problem, start: FloatArray) -> list[TargetedObjective]:
    rows, n_groups = problem.rows, problem.n_groups
    margin = LEAST_MARGIN if problem.tolerance == "auto" else max(LEAST_MARGIN, problem.tolerance)
    inside = np.clip(np.minimum(problem.costs + margin, (1 + problem.costs) / 2), 1e-6, 1 - 1e-6)
    outside = np.clip(np.maximum(problem.costs - margin, problem.costs / 2), 1e-6, 1 - 1e-6)
    ordered = problem.parity > 0 and problem.equal_tpr > 0
    objectives = []
    for groups, shut_out in _sets(problem, start, ordered):
        target = np.zeros(n_groups)
        target[groups] = 1.0
        at_most = np.where((target == 0) & shut_out, outside, np.nan)
        objectives.append(
            TargetedObjective(
                rows,
                target=target,
                scale=float(rows.n[groups].sum()),
                at_least=np.where(target > 0, inside, np.nan),
                at_most=at_most if shut_out else None,
                order=groups_in_order(problem) if ordered else None,
                parity=problem.parity,
                parity_wall=problem.parity_tolerance**-2.0,
                parity_tolerance=FREE_PART * problem.parity_tolerance,
                equal_tpr=problem.equal_tpr,
                tpr_wall=problem.tpr_tolerance**-2.0,
                tpr_tolerance=FREE_PART * problem.tpr_tolerance,
                stay=np.full(rows.X.shape[1], RIDGE + problem.l2),
            )
        )
    return objectives


def _sets(problem: Problem, start: FloatArray, ordered: bool) -> list[tuple[NDArray[np.intp], bool]]:
    """Sets of groups that might apply, each with whether the others are pushed out."""
    n_groups = problem.n_groups
    if ordered:  # who applies must then be those of the highest base rates
        ranked = np.argsort(-problem.rows.positives / problem.rows.n, kind="stable")
        sizes = np.unique(np.linspace(1, n_groups, min(n_groups, MOST_SETS)).round().astype(int))
        return [(ranked[:size].astype(np.intp), False) for size in sizes]
    everyone = np.arange(n_groups, dtype=np.intp)
    if problem.constrained:
        sets = [(groups, False) for groups in target_sets(problem, start)]
    elif n_groups > 1:
        sets = [(np.array([g], dtype=np.intp), True) for g in shortlist(problem, start, MOST_SETS - 1)]
    else:
        sets = []
    return [(everyone, False), *sets[: MOST_SETS - 1]]


def _harden(objective: TargetedObjective, factor: float) -> TargetedObjective:
    return replace(
        objective,
        hinge=objective.hinge * factor,
        parity_wall=objective.parity_wall * factor,
        tpr_wall=objective.tpr_wall * factor,
    )
