"""Solve for all groups at once, where they share one threshold or are tied to each other.

For each of a few sets of groups that might apply, the errors on that set are lowered on all rows, with walls around
what is asked; every score on the way is judged by hard counts at every threshold. A group that is to apply alone and
still does not gets a second chance, from scores that were refined on its own rows. Of m rows and d features that takes
O(m d) per step of L-BFGS, at most about 150 steps for each of five sets, and 240 for each second chance, whatever the
number of groups.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from .._validation import FloatArray
from ..behaviour import PRECISION_CLIP
from ..counting.rows import HeldRows
from .candidates import Candidate, describe, with_best_threshold
from .linear import LinearLoss
from .objectives import PrecisionWalls, TargetedObjective
from .problem import Problem
from .single_groups import refined, score_size
from .starts import logistic_start, shortlist, target_sets
from .weighing import quantile

#: Sharpness of predictions and steps of L-BFGS, from stage to stage; the first lowers the logistic loss, then errors.
STAGES = ((2.0, 30), (10.0, 60), (40.0, 60))
FIRST, SECOND, LAST = range(len(STAGES))
#: How many sets of groups are tried, and how many of them reach the last stage.
MOST_SETS, MOST_LAST = 5, 3
#: Precision is pushed beyond the cost (or below it, for groups to be kept out) by at least this much.
LEAST_MARGIN = 0.02
#: Height of the walls around what is asked, and of those that are tried where it is still broken.
WALLS, HIGHER_WALLS = 1.0, 10.0
#: Share of all people whom a score refined for one group selects at first, when all others are to follow.
FIRST_SELECTED = 0.02
#: Weight of ``|w|^2 / 2``: only to keep the weights finite.
RIDGE = 1e-5


@dataclass(eq=False)
class _Run:
    """Training for one set of groups, from stage to stage."""

    objective: TargetedObjective
    parameters: FloatArray
    candidate: Candidate

    @property
    def groups(self) -> NDArray[np.intp]:
        """The set of groups."""
        return np.flatnonzero(self.objective.target)


def solve_all_groups(problem: Problem, max_iter: int | None = None) -> tuple[list[Candidate], int]:
    """Candidates from scores that are made on all rows under walls; and steps of the logistic start."""
    start, n_iter = logistic_start(problem, max_iter)
    candidates = [with_best_threshold(problem, start, 1.0, "everybody")]
    runs = [_Run(objective, start, candidates[0]) for objective in _objectives(problem, start)]
    for stage in (FIRST, SECOND):
        candidates += [_advance(problem, run, stage, WALLS) for run in runs]
    runs.sort(key=lambda run: run.candidate.rank, reverse=True)
    candidates += [_advance(problem, run, LAST, WALLS) for run in runs[:MOST_LAST]]
    missed = [run for run in runs if not _reached(problem, run)]
    for again in [chance for run in missed for chance in _second_chances(problem, run, start)]:
        candidates += [_advance(problem, again, stage, WALLS) for stage in (SECOND, LAST)]
    if all(candidate.violation > 0 for candidate in candidates):
        for stage in (SECOND, LAST):
            candidates += [_advance(problem, run, stage, HIGHER_WALLS) for run in runs[:MOST_LAST]]
    return candidates, n_iter


def _reached(problem: Problem, run: _Run) -> bool:
    """Whether the groups that are meant to apply do, and all that is asked is met."""
    selected, hits = problem.block.people.hard_counts(problem.block.score(run.candidate.parameters))
    clear = problem.ask.clear(hits[None, :], selected[None, :], problem.ask.tolerance)[0]
    return run.candidate.violation == 0 and bool(clear[run.groups].all())


def _second_chances(problem: Problem, run: _Run, start: FloatArray) -> list[_Run]:
    """Runs for the same group that begin with scores made for it alone, at a threshold that selects few of everybody.

    From the logistic start the walls turn a score too late: where a group has few qualified people, those whom it ranks
    highest are not precise enough, and others apply by chance. There is none for a set of several groups, nor where the
    order of base rates says who applies.
    """
    if len(run.groups) > 1 or problem.ask.follows_base_rates:
        return []
    chances = []
    for parameters, _ in refined(problem, start, run.groups):
        weight = problem.block.people.weight
        at = parameters / score_size(problem.block.score(parameters), weight)
        at[-1] -= quantile(problem.block.score(at), weight, 1 - FIRST_SELECTED)
        chances.append(_Run(run.objective, at, run.candidate))
    return chances


def _advance(problem: Problem, run: _Run, stage: int, walls: float) -> Candidate:
    """Train one stage further, and judge what comes out."""
    sharpness, steps = STAGES[stage]
    objective = replace(run.objective.walled(walls), temperature=sharpness, with_log_loss=stage == FIRST)
    pull = np.full(problem.n_features, RIDGE + problem.l2)
    loss = LinearLoss(HeldRows(problem.block), objective, pull)
    run.parameters = minimize(loss, run.parameters, jac=True, method="L-BFGS-B", options={"maxiter": steps}).x
    named = describe(problem.labels, run.groups)
    origin = f"all groups, for {named}, stage {stage + 1}"
    run.candidate = with_best_threshold(problem, run.parameters, problem.n_features, origin)
    return run.candidate


def _objectives(problem: Problem, start: FloatArray) -> list[TargetedObjective]:
    """What is lowered for each set of groups that might apply."""
    costs, ties = problem.ask.costs, problem.ask.ties
    margin = max(LEAST_MARGIN, problem.ask.margin(auto=LEAST_MARGIN))
    inside = np.clip(np.minimum(costs + margin, (1 + costs) / 2), PRECISION_CLIP, 1 - PRECISION_CLIP)
    outside = np.clip(np.maximum(costs - margin, costs / 2), PRECISION_CLIP, 1 - PRECISION_CLIP)
    objectives = []
    for groups, push_others_out in _sets_to_try(problem, start):
        target = np.zeros(problem.n_groups)
        target[groups] = 1.0
        walls = PrecisionWalls(
            at_least=np.where(target > 0, inside, np.nan),
            at_most=np.where(target == 0, outside, np.nan) if push_others_out else None,
        )
        people_meant = float(problem.block.people.n[groups].sum())
        objectives.append(TargetedObjective(target, scale=people_meant, walls=walls, ties=ties))
    return objectives


def _sets_to_try(problem: Problem, start: FloatArray) -> list[tuple[NDArray[np.intp], bool]]:
    """Sets of groups that might apply, each with whether the others are pushed out."""
    n_groups, people = problem.n_groups, problem.block.people
    if problem.ask.follows_base_rates:  # who applies must then be those of the highest base rates
        ranked = np.argsort(-people.positives / people.n, kind="stable")
        sizes = np.unique(np.linspace(1, n_groups, min(n_groups, MOST_SETS)).round().astype(int))
        return [(ranked[:size].astype(np.intp), False) for size in sizes]
    if problem.ask.prescribes_applicants:
        sets = [(groups, False) for groups in target_sets(problem, start)]
    elif n_groups > 1:
        alone = shortlist(problem, start, MOST_SETS - 1)
        sets = [(np.array([g], dtype=np.intp), problem.ask.push_out) for g in alone]
    else:
        sets = []
    everyone = np.arange(n_groups, dtype=np.intp)
    return [(everyone, False), *sets[: MOST_SETS - 1]]
