"""From a problem to the classifier that is kept.

:class:`ScoreFitter` trains for few groups at a time. Where groups share one threshold, or for constraints between
groups, it trains on all: for each of a few sets of groups that might apply, the errors on that set are minimised on all
rows, with barriers for the constraints. Every score on the way is evaluated by hard counts at every threshold. If a
group that should apply alone does not, training is repeated from scores refined for it. Scores of all sets, and of all
folds, are trained at the same time: one matrix product per step.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._sharing import shared
from .._validation import BoolArray, FloatArray, list_some
from ..behaviour import PRECISION_CLIP, as_decisions
from ..constraints import InfeasibleError
from ..counting import GroupCounts, ratio
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
from .linear import Folds
from .objective import PrecisionBounds, TargetedObjective
from .problem import Problem, TrainingRows
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
    candidates = fitter.solve(problem)
    best = max(candidates, key=lambda candidate: candidate.rank)
    refuse_infeasible(problem, best, candidates)
    return best, fitter.n_iter


@dataclass(eq=False)
class ScoreFitter:
    """Fits scores of all kinds to any rows of one problem, or of the same people with other features.

    Without ``trains`` the logistic score is the only one; ``max_iter`` limits its steps, ``n_iter`` of which were made
    in the last fit. The first call decides, by the rows of its last fit, for which ``sets`` of groups scores are
    trained, and how far; ``candidates`` are those of that fit where all groups are trained at once.
    """

    trains: bool
    random: np.random.RandomState
    max_iter: int | None = None
    n_iter: int = 0
    sets: list[NDArray[np.intp]] | None = None
    gaussian: dict[int, FloatArray] = field(default_factory=dict)
    candidates: list[Candidate] = field(default_factory=list)
    pushed: list[bool] = field(default_factory=list)
    finished: list[int] = field(default_factory=list)
    missed: list[int] = field(default_factory=list)
    higher: bool = False

    def trains_together(self, problem: Problem) -> bool:
        """Whether scores are trained on all groups at once."""
        return self.trains and problem.terms.all_or_nobody and problem.shares_threshold

    def solve(self, problem: Problem) -> list[Candidate]:
        """Candidates that are evaluated on the rows they are fitted to."""
        kinds = self.fit(problem)
        if self.trains_together(problem):
            return self.candidates
        by_group = problem.has_group_thresholds
        if problem.terms.all_or_nobody and problem.offset_of_group is not None:
            by_group, kinds = True, [*kinds[1:], kinds[0]]  # of equals the first is kept
        sets = self.prescribed_sets(problem)
        return all_feasible(partial(in_training, problem, fitted, by_group=by_group, sets=sets) for fitted in kinds)

    def fit(
        self, problem: Problem, fits: Sequence[BoolArray] | None = None, kept: Problem | None = None
    ) -> list[FittedScore]:
        """Scores of all kinds, the logistic one first, each fitted to several choices of rows; by default to all.

        ``kept`` is the problem of the rows of the last fit.
        """
        kept = problem if kept is None else kept
        rows = [np.ones(len(problem.row_numbers), dtype=bool)] if fits is None else fits

        def begin() -> tuple[TrainingRows, tuple[FloatArray, int]]:
            training = problem.training_rows(rows)
            return training, logistic_start(problem, training, self.max_iter)

        training, (start, self.n_iter) = shared(("start", id(problem.block)), begin)
        scores = [FittedScore("everybody", start)]
        if not self.trains:
            self._choose_sets(kept, start)
            return scores
        if self.trains_together(problem):
            with np.errstate(over="ignore", invalid="ignore"):  # barriers may be too steep for few people
                return scores + self._fit_all_groups(problem, training, start, kept)
        if problem.terms.all_or_nobody:
            return scores + fit_refined(problem, training, start, self._choose_sets(kept, start))
        width = problem.n_features
        if width not in self.gaussian:
            self.gaussian[width] = gaussian_starts(self.random, width)
        best = None
        with suppress(InfeasibleError):
            (best,) = in_training(kept, scores[0], by_group=problem.has_group_thresholds)
        return scores + scores_for_shares(problem, training, start, best, self.gaussian[width])

    def _choose_sets(self, kept: Problem, start: FloatArray) -> list[NDArray[np.intp]]:
        if self.sets is None and kept.terms.all_or_nobody:
            self.sets = target_sets(kept, start[-1])
        return self.sets or []

    def prescribed_sets(self, problem: Problem) -> list[NDArray[np.intp]] | None:
        """Sets of groups that meet constraints on applicants; None without such constraints."""
        return self.sets if problem.terms.constraints.prescribes_applicants else None

    # ------------------------------------------------------------------ all groups at once

    def _fit_all_groups(
        self, problem: Problem, training: TrainingRows, start: FloatArray, kept: Problem
    ) -> list[FittedScore]:
        """Scores that are trained on all rows, for several sets of groups that might apply.

        In the first call scores of the last fit are evaluated on the way: they decide which sets are trained to the
        last stage, which are trained again, and whether barriers must be higher. Later calls do the same.
        """
        first, scores = not self.candidates, list[FittedScore]()
        if first:
            self.candidates = in_training(kept, FittedScore("everybody", start), by_group=False)
            sets = _sets_to_try(kept, start[-1])
            self.sets, self.pushed = [np.sort(groups) for groups, _ in sets], [pushed for _, pushed in sets]
        sets_to_train = self.sets or []
        latest = [self.candidates[0]] * len(sets_to_train)

        def advance(which: list[int], parameters: FloatArray, stage: int, weight: float, note: str = "") -> FloatArray:
            """Train some sets one stage further; parameters have shape (n_sets, n_fits, n_parameters)."""
            if not which:
                return parameters
            groups, pushed = [sets_to_train[i] for i in which], [self.pushed[i] for i in which]
            parameters = _advance(problem, training, groups, pushed, parameters, stage, weight)
            for place, (i, fits) in enumerate(zip(which, parameters, strict=True)):
                repetition = which[:place].count(i) + 1
                run = f"all groups, for {names_of(problem.labels, sets_to_train[i])}{note and f'{note} {repetition}'}"
                fitted = FittedScore(f"{run}, stage {stage + 1}", fits, problem.n_features)
                if np.isfinite(fits).all():
                    scores.append(fitted)
                if first:
                    (latest[i],) = in_training(kept, replace(fitted, fits=fits[-1:]), by_group=False)
                    self.candidates.append(latest[i])
            return parameters

        every = list(range(len(sets_to_train)))
        parameters = np.broadcast_to(start, (len(every), *start.shape))
        for stage in (FIRST, SECOND):
            parameters = advance(every, parameters, stage, WEIGHT)
        if first:
            self.finished = sorted(every, key=lambda i: latest[i].rank, reverse=True)[:MAX_LAST]
        finished = advance(self.finished, parameters[self.finished], LAST, WEIGHT)
        if first:
            self.missed = [i for i in every if not _reached(kept, latest[i], sets_to_train[i])]
        repeated = {i: _repeated_starts(problem, training, start, sets_to_train[i]) for i in self.missed}
        which = [i for i in self.missed for _ in repeated[i]]
        again = np.array([parameters for i in self.missed for parameters in repeated[i]])
        for stage in (SECOND, LAST):
            again = advance(which, again, stage, WEIGHT, ", again")
        if first:
            self.higher = all(candidate.violation > 0 for candidate in self.candidates)
        for stage in (SECOND, LAST) if self.higher else ():
            finished = advance(self.finished, finished, stage, HIGHER_WEIGHT, ", higher weight")
        return scores


def _reached(problem: Problem, candidate: Candidate, groups: NDArray[np.intp]) -> bool:
    """Whether the groups that are meant to apply do, and all constraints hold."""
    counts = counts_of(problem, candidate.parameters)
    applies = as_decisions(problem.terms.shares(counts, problem.terms.margin))
    return candidate.violation == 0 and bool(applies[groups].all())


def _repeated_starts(
    problem: Problem, training: TrainingRows, start: FloatArray, groups: NDArray[np.intp]
) -> list[FloatArray]:
    """Scores that are refined for a group alone, at a threshold that selects few of everybody: a row for each fit.

    From the logistic start, barriers turn a score too late: where a group has few qualified people, those it ranks
    highest are not precise enough, and others apply by chance. There are none for a set of several groups, nor where
    the order of base rates determines who applies.
    """
    if len(groups) > 1 or problem.terms.constraints.follows_base_rates:
        return []
    weights = [training.weights(fit) for fit in range(training.n_fits)]
    starts = refined_scores(problem, training, start, groups)
    for parameters in starts:
        for fit, score in enumerate(training.block.scores(parameters)):
            size, kept = score_size(score, weights[fit]), weights[fit] > 0
            parameters[fit] /= size
            parameters[fit, -1] -= weighted_quantile(score[kept] / size, weights[fit][kept], 1 - FIRST_SELECTED)
    return starts


def _advance(
    problem: Problem,
    training: TrainingRows,
    sets: list[NDArray[np.intp]],
    pushed: list[bool],
    parameters: FloatArray,
    stage: int,
    weight: float,
) -> FloatArray:
    """Train scores for some sets of groups one stage further, each in every fit."""
    sharpness, steps = STAGES[stage]
    if stage == FIRST or (stage == SECOND and not problem.terms.between_groups):  # rates of a sample differ too much
        training = training.thinned()
    terms, costs, n_fits = problem.terms, problem.terms.costs, training.n_fits
    margin = max(MIN_MARGIN, terms.margin)
    inside = np.clip(np.minimum(costs + margin, (1 + costs) / 2), PRECISION_CLIP, 1 - PRECISION_CLIP)
    outside = np.clip(np.maximum(costs - margin, costs / 2), PRECISION_CLIP, 1 - PRECISION_CLIP)
    target = np.array([np.isin(np.arange(problem.n_groups), groups) for groups in sets])
    push_out = ~target & np.array(pushed)[:, None]
    people = np.stack([training.n[:, groups].sum(axis=1) for groups in sets])
    objective = TargetedObjective(
        np.repeat(target.astype(np.float64), n_fits, axis=0),
        np.maximum(people.ravel(), 1.0),
        bounds=PrecisionBounds(
            at_least=np.repeat(np.where(target, inside, np.nan), n_fits, axis=0),
            at_most=np.repeat(np.where(push_out, outside, np.nan), n_fits, axis=0),
        ),
        constraints=terms.between_groups,
        temperature=sharpness,
        with_log_loss=stage == FIRST,
    ).with_weight(weight)
    ridge = np.full(problem.n_features, RIDGE + problem.l2)
    loss = training.loss(objective, ridge=ridge, folds=Folds(np.tile(training.keep, (len(sets), 1))))
    ended, _ = loss.minimise(parameters.reshape(-1, parameters.shape[-1]), steps)
    return ended.reshape(len(sets), n_fits, -1)


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
