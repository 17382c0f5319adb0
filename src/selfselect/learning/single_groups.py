"""Solve for a few groups at a time, on their rows only.

An average over applicants is never better than its best part, so it pays to find, for one group (or a required set),
the most accurate score whose precision reaches the cost. The constructive start is a logistic regression of everybody
with the best threshold for the group. It misses groups of a low base rate, in which no threshold on that score is
precise enough: there the score has to turn towards precision at the very top, and this is what the refinement does.

Of m rows, d features and K groups, the start takes one logistic regression, each judgement O(m (d + log m)), and each
of a few refinements O(m_z d) per step for the m_z rows of its groups; K adds nothing but the sorting of K numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from .._validation import BoolArray, FloatArray
from ..counting import GroupCounts
from ..counting.rows import HeldRows
from ..publishing import ThresholdCurves
from .asking import Ask
from .candidates import Candidate, curves_of, cut_between, describe, with_best_threshold
from .judging import HANDFUL, Verdict, cautious, judge_counts
from .linear import FeatureBlock, LinearLoss
from .objectives import TargetedObjective
from .problem import Problem
from .starts import logistic_start, target_sets
from .sums import People
from .weighing import variance

#: Strengths with which a refined score is held near the logistic one; the judge chooses among them.
HOLDS = (0.1, 0.01)
#: Sharpness of predictions, and power of the price of a false positive, from stage to stage.
STAGES = ((4.0, 0.5), (12.0, 1.0))
#: Steps of L-BFGS in each stage.
STAGE_ITERATIONS = 25
#: Highest price of a false positive, where the cost comes near 1.
HIGHEST_PRICE = 1e3
#: Variance that every column is taken to have at least, so that even constant ones are held.
LEAST_VARIANCE = 1e-4
#: A threshold below all scores lies below the lowest by this much.
BELOW_ALL = 1e-6
#: Scores of size 1 that differ by rounding only.
SAME_SCORE = 1e-9
#: Offset of a group that is shut out, as a multiple of the size of the score: nobody of it is selected, also among
#: newcomers whose scores lie somewhat beyond those seen; or everybody, with the other sign.
SHUT_OUT = -10.0


def solve_single_groups(
    problem: Problem, *, with_refinement: bool = True, max_iter: int | None = None
) -> tuple[list[Candidate], int]:
    """Candidates from scores that are made for one group, or a few; and steps of the logistic start."""
    start, n_iter = logistic_start(problem, max_iter)
    apart = problem.offset_of_group is not None  # groups can be given thresholds of their own
    candidates = [] if apart else [with_best_threshold(problem, start, 1.0, "everybody")]
    sets = target_sets(problem, start)
    for groups in sets if with_refinement else []:
        for parameters, hold in refined(problem, start, groups):
            origin = f"refined for {describe(problem.labels, groups)}, hold {hold:g}"
            if apart:
                candidates += with_own_thresholds(problem, parameters, problem.n_varying, origin, [groups])
            else:
                candidates.append(with_best_threshold(problem, parameters, problem.n_varying, origin))
    if apart:
        prescribed = sets if problem.ask.prescribes_applicants else None
        candidates += with_own_thresholds(problem, start, 1.0, "constructive", prescribed)
    return candidates, n_iter


# ---------------------------------------------------------------------- refinement


def refined(problem: Problem, start: FloatArray, groups: NDArray[np.intp]) -> list[tuple[FloatArray, float]]:
    """Scores that are refined on the rows of some groups, each with how strongly it was held."""
    block, ask = problem.block.of_groups(groups), problem.ask
    if block.people.positives.sum() <= 0:
        return []
    # within one group, columns that are constant there are intercepts and are left as they are
    width = problem.n_varying if len(groups) == 1 else problem.n_features
    block = replace(block, X=block.X[:, :width])
    cost = min(float(ask.costs[groups].max()) + ask.margin(auto=0.0), 1.0)
    inner_start = np.append(start[:width], start[-1])
    found = []
    for hold in HOLDS:
        inner = refine(block, inner_start, cost, hold, problem.l2)
        found.append((np.concatenate([inner[:-1], np.zeros(problem.n_features - width), inner[-1:]]), hold))
    return found


def refine(block: FeatureBlock, start: FloatArray, cost: float, hold: float, l2: float) -> FloatArray:
    """Turn a score towards precision at the cost, on the rows of the groups that shall apply.

    Stages lower :func:`~selfselect.learning.objectives.weighted_error` with sharper predictions and a higher price of
    false positives, up to ``c / (1 - c)``. Before each, the score is rescaled and its threshold set where the hard gain
    is largest, so that the descent starts where the gradient is, and does not end with nobody selected.
    """
    highest_price = min(cost / (1 - cost), HIGHEST_PRICE) if cost < 1 else HIGHEST_PRICE
    weight = block.people.weight
    anchor = start / score_size(block.score(start), weight)
    pull = hold * (variance(block.X, weight) + LEAST_VARIANCE) + l2
    parameters = anchor
    for sharpness, power in STAGES:
        price = highest_price**power
        score = block.score(parameters)
        size = score_size(score, weight)
        parameters = parameters / size
        parameters[-1] -= best_cut(block.people, score / size, price, HANDFUL)
        objective = TargetedObjective(
            target=np.ones(block.people.n_groups),
            scale=max(float(block.people.positives.sum()), 1.0),
            price=price,
            temperature=sharpness,
        )
        loss = LinearLoss(HeldRows(block), objective, pull, anchor)
        parameters = minimize(loss, parameters, jac=True, method="L-BFGS-B", options={"maxiter": STAGE_ITERATIONS}).x
    return np.asarray(parameters)


def score_size(score: FloatArray, weight: FloatArray) -> float:
    """Size of a score, by which it is divided before it is trained further; 1 where it does not vary."""
    return float(np.sqrt(variance(score, weight))) or 1.0


def best_cut(people: People, score: FloatArray, price: float, least: float) -> float:
    """Threshold with the largest ``TP - price FP`` among those that select at least some people."""
    order = np.argsort(-score, kind="stable")
    weight, y = people.weight[order], people.y[order]
    hits, passes = np.cumsum(weight * y), np.cumsum(weight)
    gain = hits - price * (passes - hits)
    gain[passes < min(least, passes[-1])] = -np.inf
    ranked = score[order]
    gain[:-1][ranked[:-1] - ranked[1:] <= SAME_SCORE] = -np.inf  # people of one score pass together, or fail
    i = int(np.argmax(gain))
    return float((ranked[i] + ranked[i + 1]) / 2) if i + 1 < len(ranked) else float(ranked[-1] - BELOW_ALL)


# ---------------------------------------------------------------------- a threshold for each group


def with_own_thresholds(
    problem: Problem,
    parameters: FloatArray,
    fitted_weights: float,
    origin: str,
    sets: list[NDArray[np.intp]] | None = None,
) -> list[Candidate]:
    """Candidates in which each group of a set has its own best threshold, and the others are shut out.

    Nobody of the others is selected, or as few as the least selection rate allows. Without sets, the one group that is
    worth most makes the only one.
    """
    width = problem.n_varying
    curves, size = curves_of(problem, problem.block.X[:, :width] @ parameters[:width])
    return [
        Candidate.judged(
            with_offsets(problem, parameters, choice, choice.cut * size, size),
            choice.verdict,
            0,
            f"{origin}{choice.note}: {describe(problem.labels, np.flatnonzero(choice.let_in))}",
        )
        for choice in own_thresholds(problem.ask, curves, fitted_weights, sets)
    ]


@dataclass(frozen=True, eq=False)
class OwnThresholds:
    """A threshold for each group.

    Attributes
    ----------
    let_in : ndarray of bool of shape (n_groups,)
        Groups that shall apply.
    all_in : ndarray of bool of shape (n_groups,)
        Of the others, those of whom everybody is selected.
    opened : ndarray of bool of shape (n_groups,)
        Groups that have a threshold, to apply or because some of each group must be selected; nobody is of those that
        have none, unless everybody.
    cut : ndarray of shape (n_groups,)
        The thresholds.
    verdict : Verdict
    note : str
        What an origin should say about it.
    """

    let_in: BoolArray
    all_in: BoolArray
    opened: BoolArray
    cut: FloatArray
    verdict: Verdict
    note: str


def own_thresholds(
    ask: Ask, curves: ThresholdCurves, fitted_weights: float, sets: list[NDArray[np.intp]] | None
) -> list[OwnThresholds]:
    """The best thresholds for each set of groups; without sets, for the one group that is worth most.

    Groups that cannot be kept out come along: those that pay nothing, and, where some of each group must be selected,
    those that apply at every such step.
    """
    step = _own_steps(ask, curves)
    outside = _steps_outside(ask, curves)
    kept_out_by_all = ask.kept_out_by_all(curves.n, curves.positives)
    # who has no step outside comes at its best one, or, if even that cannot be counted on, at the most accurate
    comes_along = ask.free if outside is None else (outside < 0) & ~kept_out_by_all
    own = np.where(comes_along & (step < 0), _most_accurate_steps(ask, curves), step) if comes_along.any() else step
    if sets is None:
        sets = [_worth_most(curves, step, own, comes_along, fitted_weights)]
    choices = []
    for groups in sets:
        asked_for = np.isin(np.arange(len(curves.groups)), groups)
        let_in = (asked_for & (step >= 0)) | comes_along
        all_in = kept_out_by_all & ~let_in
        opened = let_in if outside is None else ~all_in
        at = own if outside is None else np.where(let_in, own, outside)
        selected, hits = (
            np.where(opened, column[at], np.where(all_in, everybody, 0))
            for column, everybody in ((curves.selected, curves.n), (curves.true_positives, curves.positives))
        )
        counts = GroupCounts(curves.n, curves.positives, selected[None, :], hits[None, :])
        verdict = judge_counts(ask, counts, fitted_weights)
        left_out = len(groups) - int((let_in & asked_for).sum())
        note = f", {left_out} left out" if left_out and verdict.violation[0] == 0 else ""
        choices.append(OwnThresholds(let_in, all_in, opened, cut_between(curves.threshold, at), verdict, note))
    return choices


def _worth_most(
    curves: ThresholdCurves,
    step: NDArray[np.intp],
    own: NDArray[np.intp],
    comes_along: BoolArray,
    fitted_weights: float,
) -> NDArray[np.intp]:
    """The one group that is worth most by itself; or, of those that need not come, the ones that better the others."""
    if not comes_along.any():
        value = cautious(curves.counts_of(step).correct, curves.n, fitted_weights)
        return np.array([np.argmax(np.where(step >= 0, value, -np.inf))])
    counts = curves.counts_of(own)
    may_come = np.flatnonzero((step >= 0) & ~comes_along)
    ranked = may_come[np.argsort(-counts.accuracy[may_come], kind="stable")]
    # the share of people judged rightly is highest with the most accurate ones, as many as better it
    correct = counts.correct[comes_along].sum() + np.append(0, np.cumsum(counts.correct[ranked]))
    people = counts.n[comes_along].sum() + np.append(0, np.cumsum(counts.n[ranked]))
    return np.asarray(ranked[: int(np.argmax(cautious(correct, people, fitted_weights)))], dtype=np.intp)


def with_offsets(
    problem: Problem, parameters: FloatArray, choice: OwnThresholds, cut: FloatArray, size: float
) -> FloatArray:
    """Parameters whose score is above 0 where that of the varying columns, of a given size, is above the group's cut.

    Of groups that are not opened, nobody is selected, or everybody; everybody also of those without a lowest score.
    """
    assert problem.offset_of_group is not None
    out = shut_out_offset(size)
    everybody = choice.all_in | (choice.opened & np.isneginf(cut))
    offsets = np.where(everybody, -out, np.where(choice.opened, -cut, out))
    return np.concatenate([parameters[: problem.n_varying], problem.offset_of_group @ offsets])


def shut_out_offset(size: float) -> float:
    """What is added to a score of a given size in groups that are shut out."""
    return SHUT_OUT * (1.0 + size)


def _own_steps(ask: Ask, curves: ThresholdCurves) -> NDArray[np.intp]:
    """Step of each group at which it is judged best while it applies, -1 if there is none.

    Not by a handful of people, if possible. Who must apply may do so by a few; where nobody else can, anybody may, in
    the end even by a hair.
    """
    among = ask.enough_selected(curves)
    step = curves.best_steps(ask.costs, ask.tolerance, HANDFUL, ask.behaviour, among)
    if ask.prescribes_applicants or (step < 0).all():
        by_few = curves.best_steps(ask.costs, ask.tolerance, behaviour=ask.behaviour, among=among)
        step = np.where(step >= 0, step, by_few)
        if (step < 0).all() and not ask.prescribes_applicants:
            step = curves.best_steps(ask.costs, behaviour=ask.behaviour, among=among)
    return step


def _steps_outside(ask: Ask, curves: ThresholdCurves) -> NDArray[np.intp] | None:
    """Step of each group at which it stays away although enough are selected, the fewest of such; -1 if there is none.

    None where nothing is asked: then nobody needs to be selected of a group that stays away.
    """
    enough = ask.enough_selected(curves)
    if enough is None:
        return None
    stays = np.flatnonzero(enough & ~ask.steps_clear(curves))
    step = np.full(len(curves.groups), -1, dtype=np.intp)
    step[curves.group[stays]] = stays  # the last one of a group remains, which selects the fewest
    return step


def _most_accurate_steps(ask: Ask, curves: ThresholdCurves) -> NDArray[np.intp]:
    """Step of each group at which it is judged most accurately while enough are selected, whether it applies or not."""
    return curves.best_steps(np.zeros(len(ask.costs)), among=ask.enough_selected(curves))
