"""Solve for all groups at once, where they share one threshold or there are constraints between them.

For each of a few sets of groups that might apply, the errors on that set are minimised on all rows, with barriers for
the constraints; every score on the way is evaluated by hard counts at every threshold. If a group that should apply
alone does not, training is repeated from scores that were refined on its own rows. For m rows and d features this takes
O(m d) per step of L-BFGS, at most about 150 steps for each of five sets and 240 for each repetition, whatever the
number of groups.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .._validation import FloatArray
from ..behaviour import PRECISION_CLIP
from ..counting.rows import InMemoryRows
from .candidates import Candidate, names_of, with_best_threshold
from .linear import LinearLoss
from .objective import PrecisionBounds, TargetedObjective
from .problem import Problem
from .refinement import minimise, refined_scores, score_size, weighted_quantile
from .starts import logistic_start, shortlist, target_sets

#: Sharpness of predictions and steps of L-BFGS, from stage to stage; the first minimises the log-loss, then errors.
STAGES = ((2.0, 30), (10.0, 60), (40.0, 60))
FIRST, SECOND, LAST = range(len(STAGES))
#: Sets of groups that are tried, and those of them that reach the last stage.
MAX_SETS, MAX_LAST = 5, 3
#: Precision is pushed beyond the cost (or below it, for groups that should stay away) by at least this much.
MIN_MARGIN = 0.02
#: Weight of barriers, and the one that is tried if constraints are still violated.
WEIGHT, HIGHER_WEIGHT = 1.0, 10.0
#: Share of all people that a score refined for one group selects when training is repeated from it.
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
    """Candidates from scores that are trained on all rows; and steps of the logistic start."""
    start, n_iter = logistic_start(problem, max_iter)
    candidates = [with_best_threshold(problem, start, 1.0, "everybody")]
    runs = [_Run(objective, start, candidates[0]) for objective in _objectives(problem, start)]
    for stage in (FIRST, SECOND):
        candidates += [_advance(problem, run, stage, WEIGHT) for run in runs]
    runs.sort(key=lambda run: run.candidate.rank, reverse=True)
    candidates += [_advance(problem, run, LAST, WEIGHT) for run in runs[:MAX_LAST]]
    missed = [run for run in runs if not _reached(problem, run)]
    for again in [repeated for run in missed for repeated in _repeated_runs(problem, run, start)]:
        candidates += [_advance(problem, again, stage, WEIGHT) for stage in (SECOND, LAST)]
    if all(candidate.violation > 0 for candidate in candidates):
        for stage in (SECOND, LAST):
            candidates += [_advance(problem, run, stage, HIGHER_WEIGHT) for run in runs[:MAX_LAST]]
    return candidates, n_iter


def _reached(problem: Problem, run: _Run) -> bool:
    """Whether the groups that are meant to apply do, and all constraints hold."""
    selected, true_positives = problem.block.rows.hard_counts(problem.block.score(run.candidate.parameters))
    applies = problem.terms.applies(true_positives, selected, problem.terms.tolerance)
    return run.candidate.violation == 0 and bool(applies[run.groups].all())


def _repeated_runs(problem: Problem, run: _Run, start: FloatArray) -> list[_Run]:
    """Runs for the same group from scores that are refined for it alone, at a threshold that selects few of everybody.

    From the logistic start, barriers turn a score too late: where a group has few qualified people, those it ranks
    highest are not precise enough, and others apply by chance. There are none for a set of several groups, nor where
    the order of base rates determines who applies.
    """
    if len(run.groups) > 1 or problem.terms.constraints.follows_base_rates:
        return []
    runs = []
    for parameters, _ in refined_scores(problem, start, run.groups):
        weight = problem.block.rows.weight
        at = parameters / score_size(problem.block.score(parameters), weight)
        at[-1] -= weighted_quantile(problem.block.score(at), weight, 1 - FIRST_SELECTED)
        runs.append(_Run(run.objective, at, run.candidate))
    return runs


def _advance(problem: Problem, run: _Run, stage: int, weight: float) -> Candidate:
    """Train one stage further, and evaluate the result."""
    sharpness, steps = STAGES[stage]
    objective = replace(run.objective.with_weight(weight), temperature=sharpness, with_log_loss=stage == FIRST)
    ridge = np.full(problem.n_features, RIDGE + problem.l2)
    loss = LinearLoss(InMemoryRows(problem.block), objective, ridge)
    run.parameters = minimise(loss, run.parameters, steps)
    origin = f"all groups, for {names_of(problem.labels, run.groups)}, stage {stage + 1}"
    run.candidate = with_best_threshold(problem, run.parameters, problem.n_features, origin)
    return run.candidate


def _objectives(problem: Problem, start: FloatArray) -> list[TargetedObjective]:
    """The objective of each set of groups that might apply."""
    terms, costs = problem.terms, problem.terms.costs
    margin = max(MIN_MARGIN, terms.margin(auto=MIN_MARGIN))
    inside = np.clip(np.minimum(costs + margin, (1 + costs) / 2), PRECISION_CLIP, 1 - PRECISION_CLIP)
    outside = np.clip(np.maximum(costs - margin, costs / 2), PRECISION_CLIP, 1 - PRECISION_CLIP)
    objectives = []
    for groups, push_others_out in _sets_to_try(problem, start):
        target = np.zeros(problem.n_groups)
        target[groups] = 1.0
        bounds = PrecisionBounds(
            at_least=np.where(target > 0, inside, np.nan),
            at_most=np.where(target == 0, outside, np.nan) if push_others_out else None,
        )
        n = float(problem.block.rows.n[groups].sum())
        objectives.append(TargetedObjective(target, scale=n, bounds=bounds, constraints=terms.between_groups))
    return objectives


def _sets_to_try(problem: Problem, start: FloatArray) -> list[tuple[NDArray[np.intp], bool]]:
    """Sets of groups that might apply, each with whether the others are pushed out."""
    n_groups, rows = problem.n_groups, problem.block.rows
    if problem.terms.constraints.follows_base_rates:  # then those who apply are the groups with the highest base rates
        ranked = np.argsort(-rows.positives / rows.n, kind="stable")
        sizes = np.unique(np.linspace(1, n_groups, min(n_groups, MAX_SETS)).round().astype(int))
        return [(ranked[:size].astype(np.intp), False) for size in sizes]
    if problem.terms.constraints.prescribes_applicants:
        sets = [(groups, False) for groups in target_sets(problem, start)]
    elif n_groups > 1:
        alone = shortlist(problem, start, MAX_SETS - 1)
        sets = [(np.array([g], dtype=np.intp), problem.terms.push_out) for g in alone]
    else:
        sets = []
    everyone = np.arange(n_groups, dtype=np.intp)
    return [(everyone, False), *sets[: MAX_SETS - 1]]
