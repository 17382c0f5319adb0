"""From a problem to the classifier that is kept.

:func:`solve_separately` trains for few groups at a time. :func:`solve_all_groups` is for groups that share one
threshold, or for constraints between groups: for each of a few sets of groups that might apply, the errors on that set
are minimised on all rows, with barriers for the constraints. Every score on the way is evaluated by hard counts at
every threshold. If a group that should apply alone does not, training is repeated from scores refined for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._validation import FloatArray, list_some
from ..behaviour import PRECISION_CLIP, as_decisions
from ..constraints import InfeasibleError
from ..counting import GroupCounts, ratio
from ..counting.rows import InMemoryRows
from ..statistics import SLACK
from .candidates import (
    Candidate,
    FittedScore,
    all_feasible,
    counts_of,
    curves_of,
    in_training,
    names_of,
)
from .linear import LinearLoss
from .objective import PrecisionBounds, TargetedObjective
from .problem import Problem
from .starts import (
    RIDGE,
    fit_refined,
    gaussian_starts,
    logistic_start,
    refined_scores,
    score_size,
    scores_for_shares,
    shortlist,
    target_sets,
    weighted_quantile,
)

SOLVERS = ("auto", "constructive")
#: Numbers of groups that a message lists.
MAX_NUMBERS = 5
#: Sharpness of predictions and steps of L-BFGS, from stage to stage; the first minimises the log-loss, others errors.
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


def solve(
    problem: Problem, *, solver: str = "auto", random: np.random.RandomState, max_iter: int | None = None
) -> tuple[Candidate, int]:
    """Best candidate of a solver, and the steps of its logistic start, which ``max_iter`` limits.

    "constructive" is a logistic score with a threshold per group, or a common one if the features do not identify
    groups. "auto" refines such scores. If constraints on who applies, or on how many are selected, cannot be met,
    :class:`InfeasibleError` is raised.
    """
    fitter = ScoreFitter(solver == "auto", random, max_iter)
    if fitter.trains_together(problem):
        candidates, n_iter = solve_all_groups(problem, max_iter)
    else:
        candidates, n_iter = solve_separately(problem, fitter)
    best = max(candidates, key=lambda candidate: candidate.rank)
    refuse_infeasible(problem, best, candidates)
    return best, n_iter


@dataclass(eq=False)
class ScoreFitter:
    """Fits scores of all kinds to any rows of one problem, or of the same people with other features.

    Without ``trains`` the logistic score is the only one; ``max_iter`` limits its steps, ``n_iter`` of which were made
    in the last fit. The first fit decides for which ``sets`` of groups scores are refined.
    """

    trains: bool
    random: np.random.RandomState
    max_iter: int | None = None
    n_iter: int = 0
    sets: list[NDArray[np.intp]] | None = None
    gaussian: dict[int, FloatArray] = field(default_factory=dict)

    def trains_together(self, problem: Problem) -> bool:
        """Whether scores are trained on all groups at once."""
        return self.trains and problem.terms.all_or_nobody and problem.shares_threshold

    def fit(self, problem: Problem) -> list[FittedScore]:
        """Scores of all kinds, the logistic one first."""
        if self.trains_together(problem):
            with np.errstate(over="ignore", invalid="ignore"):  # barriers may be too steep for few people
                candidates, self.n_iter = solve_all_groups(problem.without_empty_groups(), self.max_iter)
            return [
                FittedScore(each.origin, each.parameters) for each in candidates if np.isfinite(each.parameters).all()
            ]
        start, self.n_iter = logistic_start(problem, self.max_iter)
        scores = [FittedScore("everybody", start)]
        if problem.terms.all_or_nobody:
            self.sets = target_sets(problem, start) if self.sets is None else self.sets
            return scores + (fit_refined(problem, start, self.sets) if self.trains else [])
        width = problem.n_features
        if self.trains and width not in self.gaussian:
            self.gaussian[width] = gaussian_starts(self.random, width)
        return scores + (scores_for_shares(problem, start, self.gaussian[width]) if self.trains else [])

    def prescribed_sets(self, problem: Problem) -> list[NDArray[np.intp]] | None:
        """Sets of groups that meet constraints on applicants; None without such constraints."""
        return self.sets if problem.terms.constraints.prescribes_applicants else None


def solve_separately(problem: Problem, fitter: ScoreFitter) -> tuple[list[Candidate], int]:
    """Candidates from scores trained for few groups, or for shares of groups; and steps of the logistic start."""
    by_group, scores = problem.has_group_thresholds, fitter.fit(problem)
    if problem.terms.all_or_nobody and problem.offset_of_group is not None:
        by_group, scores = True, [*scores[1:], scores[0]]  # of equals the first is kept
    sets = fitter.prescribed_sets(problem)
    attempts = (partial(in_training, problem, fitted, by_group=by_group, sets=sets) for fitted in scores)
    return all_feasible(attempts), fitter.n_iter


# ---------------------------------------------------------------------- all groups at once


@dataclass(eq=False)
class _Run:
    """Training for one set of groups, from stage to stage."""

    groups: NDArray[np.intp]
    objective: TargetedObjective
    parameters: FloatArray
    candidate: Candidate


def solve_all_groups(problem: Problem, max_iter: int | None = None) -> tuple[list[Candidate], int]:
    """Candidates from scores that are trained on all rows; and steps of the logistic start."""
    start, n_iter = logistic_start(problem, max_iter)
    candidates = in_training(problem, FittedScore("everybody", start), by_group=False)
    runs = [_Run(*each, start, candidates[0]) for each in _objectives(problem, start)]
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
    counts = counts_of(problem, run.candidate.parameters)
    applies = as_decisions(problem.terms.shares(counts, problem.terms.margin))
    return run.candidate.violation == 0 and bool(applies[run.groups].all())


def _repeated_runs(problem: Problem, run: _Run, start: FloatArray) -> list[_Run]:
    """Runs for the same group from scores that are refined for it alone, at a threshold that selects few of everybody.

    From the logistic start, barriers turn a score too late: where a group has few qualified people, those it ranks
    highest are not precise enough, and others apply by chance. There are none for a set of several groups, nor where
    the order of base rates determines who applies.
    """
    if len(run.groups) > 1 or problem.terms.constraints.follows_base_rates:
        return []
    runs, weight = [], problem.block.rows.weight
    for parameters in refined_scores(problem, start, run.groups):
        at = parameters / score_size(problem.block.score(parameters), weight)
        at[-1] -= weighted_quantile(problem.block.score(at), weight, 1 - FIRST_SELECTED)
        runs.append(replace(run, parameters=at))
    return runs


def _advance(problem: Problem, run: _Run, stage: int, weight: float) -> Candidate:
    """Train one stage further, and evaluate the result."""
    sharpness, steps = STAGES[stage]
    objective = replace(run.objective.with_weight(weight), temperature=sharpness, with_log_loss=stage == FIRST)
    ridge = np.full(problem.n_features, RIDGE + problem.l2)
    run.parameters = LinearLoss(InMemoryRows(problem.block), objective, ridge).minimise(run.parameters, steps)
    origin = f"all groups, for {names_of(problem.labels, run.groups)}, stage {stage + 1}"
    (run.candidate,) = in_training(problem, FittedScore(origin, run.parameters, problem.n_features), by_group=False)
    return run.candidate


def _objectives(problem: Problem, start: FloatArray) -> Iterator[tuple[NDArray[np.intp], TargetedObjective]]:
    """Sets of groups that might apply, each with its objective."""
    terms, costs = problem.terms, problem.terms.costs
    margin = max(MIN_MARGIN, terms.margin)
    inside = np.clip(np.minimum(costs + margin, (1 + costs) / 2), PRECISION_CLIP, 1 - PRECISION_CLIP)
    outside = np.clip(np.maximum(costs - margin, costs / 2), PRECISION_CLIP, 1 - PRECISION_CLIP)
    for groups, push_others_out in _sets_to_try(problem, start):
        target = np.isin(np.arange(problem.n_groups), groups).astype(np.float64)
        bounds = PrecisionBounds(
            at_least=np.where(target > 0, inside, np.nan),
            at_most=np.where((target == 0) & push_others_out, outside, np.nan),
        )
        n = float(problem.block.rows.n[groups].sum())
        objective = TargetedObjective(target, scale=n, bounds=bounds, constraints=terms.between_groups)
        yield np.sort(groups), objective


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


# ---------------------------------------------------------------------- where constraints cannot be met


def refuse_infeasible(problem: Problem, best: Candidate, candidates: list[Candidate]) -> None:
    """Raise :class:`InfeasibleError` if the best candidate violates who must apply or how many must be selected."""
    if best.shortfall > 0:
        least = problem.terms.constraints.min_selection_rate
        raise InfeasibleError(too_few_selected(problem.labels, counts_of(problem, best.parameters), least))
    if best.violation > 0 and problem.terms.constraints.prescribes_applicants:
        raise InfeasibleError(_why_infeasible(problem, candidates))


def too_few_selected(labels: pd.Index, counts: GroupCounts, min_selection_rate: float) -> str:
    """Message that a least selection rate could not be kept, and what came nearest."""
    rate = counts.selection_rate
    short = np.flatnonzero(counts.selected < (min_selection_rate - SLACK) * counts.n)
    short = short[np.argsort(rate[short], kind="stable")]
    return (
        f"At least {min_selection_rate:g} of each group must be selected (MinSelectionRate), but what came nearest "
        f"selects {_numbers(rate[short])} of {list_some(labels[short])}. Lower it."
    )


def _why_infeasible(problem: Problem, candidates: list[Candidate]) -> str:
    """Message about the constraints that cannot be met, and what came nearest."""
    terms, constraints, reasons = problem.terms, problem.terms.constraints, []
    if terms.required.any():
        margin = terms.margin
        highest = _highest_precisions(problem, candidates)
        low = terms.required & (highest < terms.costs + margin)
        reason = f"no score was found with which {list_some(problem.labels[terms.required])} all apply at once"
        if low.any():
            reason = (
                f"the highest precision found for {list_some(problem.labels[low])} is {_numbers(highest[low])}, below "
                f"the cost{' plus margin' if margin else ''} of {_numbers(terms.costs[low] + margin)}"
            )
        reasons.append(reason)
    if constraints.max_social_cost < 1:
        reasons.append(f"the social cost could not be brought down to {constraints.max_social_cost:g}")
    conditions = ["the constraints between groups hold"] if constraints.between_groups else []
    if constraints.limits_selection:
        conditions.append(f"at least {constraints.min_selection_rate:g} of each group is selected")
    condition = f" while {' and '.join(conditions)}" if conditions else ""
    return (
        f"The constraints of training cannot be met: {'; '.join(reasons)}{condition}. Lower the cost or margin, "
        "subsidise these groups (subsidies=...), require fewer, or let X tell groups apart (one-hot group columns)."
    )


def _highest_precisions(problem: Problem, candidates: list[Candidate]) -> FloatArray:
    """Highest precision of each group at any threshold of any of the scores, among those that select enough."""
    highest = np.full(problem.n_groups, np.nan)
    for candidate in candidates:
        curves, _ = curves_of(problem, problem.score(candidate.parameters, varying=True))
        precision = ratio(curves.true_positives, curves.selected)
        precision = np.where(problem.terms.constraints.selects_enough(curves), precision, np.nan)
        highest = np.fmax(highest, np.fmax.reduceat(precision, curves.start[:-1]))
    return highest


def _numbers(values: FloatArray) -> str:
    return ", ".join(f"{value:.3f}" for value in values[:MAX_NUMBERS])
