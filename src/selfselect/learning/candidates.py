"""Finished classifiers with their evaluation: a score with one threshold for all groups, or one for each.

Columns that are constant within groups (one-hot groups, say) turn thresholds of groups into offsets of their scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray
from ..behaviour import Shares, as_decisions
from ..constraints import Constraints, InfeasibleError
from ..counting import GroupCounts
from ..counting.sums import TINY
from ..publishing import ThresholdCurves
from .evaluation import MIN_SELECTED, Evaluation, accuracy_lower_bound, evaluate_counts, evaluate_thresholds
from .problem import Problem, TrainingTerms
from .thresholds import optimise_thresholds

Found = TypeVar("Found")

#: Digits to which scores are compared: no threshold falls between two that differ by rounding only.
DIGITS = 9
#: Names of groups that an origin lists.
MAX_NAMES = 3
#: Offset of a group that is shut out, as a multiple of the size of the score: it also holds for new people whose scores
#: lie somewhat beyond those seen.
SHUT_OUT_OFFSET = 10.0


@dataclass(frozen=True, eq=False)
class Candidate:
    """A classifier, its origin in words, and its numbers of an :class:`~selfselect.learning.evaluation.Evaluation`.

    ``parameters`` are weights and intercept, for standardised features.
    """

    parameters: FloatArray
    origin: str
    violation: float
    value: float
    accuracy: float
    shortfall: float

    @classmethod
    def from_evaluation(cls, parameters: FloatArray, evaluation: Evaluation, which: int, origin: str) -> Candidate:
        """Candidate with its entry of an evaluation."""
        return cls(parameters, origin, **{name: float(part[which]) for name, part in vars(evaluation).items()})

    @property
    def rank(self) -> tuple[float, float, float]:
        """Sort key: constraints first, then value, as in :meth:`.evaluation.Evaluation.best`."""
        return -self.shortfall, -self.violation, self.value


def threshold_between(thresholds: FloatArray, i: Any) -> Any:
    """Number between the threshold at a position (or positions) and the next one: it selects the same people.

    The last threshold is returned as it is.
    """
    here = np.asarray(thresholds[i], dtype=np.float64)
    above = np.asarray(thresholds[np.minimum(np.asarray(i) + 1, len(thresholds) - 1)], dtype=np.float64)
    with np.errstate(invalid="ignore"):
        middle = np.where(np.isinf(here), above - np.maximum(1.0, np.abs(above)), here + (above - here) / 2)
        between = np.where((here < middle) & (middle < above), middle, here)
    return float(between) if between.ndim == 0 else between


def curves_of(problem: Problem, score: FloatArray) -> tuple[ThresholdCurves, float]:
    """Counts of all groups at every threshold of a score that is scaled and rounded; and the scale."""
    rows = problem.block.rows
    scale = float(np.abs(score).max()) or 1.0
    weight = None if rows.unweighted else rows.weight  # counts of whole numbers are exact, and faster
    rounded = np.round(score / scale, DIGITS)
    return ThresholdCurves.from_codes(rows.y > 0, rounded, rows.codes, problem.labels, weight), scale


def counts_of(problem: Problem, parameters: FloatArray) -> GroupCounts:
    """Counts of one linear classifier on the rows of a problem."""
    rows = problem.block.rows
    return GroupCounts(rows.n, rows.positives, *rows.hard_counts(problem.block.score(parameters)))


def names_of(labels: pd.Index, groups: NDArray[np.intp]) -> str:
    """Names of groups, for an origin."""
    return "+".join(str(labels[g]) for g in groups[:MAX_NAMES]) + ("+..." if len(groups) > MAX_NAMES else "")


# ---------------------------------------------------------------------- a threshold for each group


@dataclass(frozen=True, eq=False)
class GroupThresholds:
    """A threshold for each group (inf selects nobody, -inf everybody), and the evaluation of all together.

    ``left_out`` counts groups of the wanted set that cannot be made to apply.
    """

    applying: BoolArray
    threshold: FloatArray
    evaluation: Evaluation
    left_out: int


def group_thresholds(
    terms: TrainingTerms,
    curves: ThresholdCurves,
    fitted_weights: float,
    sets: Sequence[NDArray[np.intp]] | None = None,
) -> list[GroupThresholds]:
    """The best thresholds for each set of groups that should apply; without sets, for the best set.

    The other groups stay away if they can: none of their people are selected, or as few as the least selection rate
    allows, or all, as ``terms.shut_out`` says.
    """
    shares, reliable = terms.step_shares(curves), _reliable_steps(terms, curves)
    n, n_groups = curves.n[curves.group], len(curves.groups)
    gain = curves.correct
    if sets is None:
        gain = np.where(n > 0, accuracy_lower_bound(gain, n, fitted_weights), 0.0) * n
    constraints = Constraints(min_selection_rate=terms.constraints.min_selection_rate)
    if shares.dtype != bool:  # no set of groups is meant to apply: the shares decide
        constraints = replace(terms.constraints, between_groups=())
    shut_out: Any = terms.shut_out
    choices = []
    for groups in [None] if sets is None else sets:
        only = None if groups is None else np.isin(np.arange(n_groups), groups)
        best = optimise_thresholds(
            curves, shares, reliable, gain, shut_out=shut_out, constraints=constraints, only=only
        )
        counts = curves.counts_of(best.step)
        threshold = threshold_between(curves.threshold, best.step)
        selects_all = (counts.selected == counts.n) if shut_out == "select_all" else np.zeros(n_groups, dtype=bool)
        outside = np.where(counts.selected == 0, np.inf, np.where(selects_all, -np.inf, threshold))
        threshold = np.where(best.applying, threshold, outside)
        left_out = 0 if only is None else int((only & ~best.applying).sum())
        evaluation = evaluate_counts(terms, counts, fitted_weights)
        choices.append(GroupThresholds(best.applying, threshold, evaluation, left_out))
    return choices


def majority_steps(shares: Shares, allowed: BoolArray) -> BoolArray:
    """Allowed steps at which most of a group applies, or nobody; all that are allowed if most of no group can.

    Otherwise the highest accuracy among applicants could be that of a tiny share of one group.
    """
    most = as_decisions(shares) & allowed
    return np.asarray(allowed & (most | (shares == 0))) if most.any() else allowed


def _reliable_steps(terms: TrainingTerms, curves: ThresholdCurves) -> BoolArray:
    """Steps at which the step's group is made to apply.

    It applies with the margin, and by at least :data:`MIN_SELECTED` selected people. If applicants are prescribed, or
    no group has such a step, groups without one may apply by fewer; in the end even without the margin.
    """
    allowed = terms.constraints.selects_enough(curves)
    shares = terms.step_shares(curves, by_cost=True)
    if shares.dtype != bool:
        return majority_steps(shares, allowed & ((curves.selected >= MIN_SELECTED) | (shares == 0)))
    with_margin = as_decisions(terms.step_shares(curves, terms.margin, by_cost=True)) & allowed
    reliable = with_margin & (curves.selected >= MIN_SELECTED)
    prescribed = terms.constraints.prescribes_applicants
    if prescribed or not reliable.any():
        has_some = np.bincount(curves.group[reliable], minlength=len(curves.groups)) > 0
        reliable = np.where(has_some[curves.group], reliable, with_margin)
        if not reliable.any() and not prescribed:
            reliable = as_decisions(shares) & allowed
    return np.asarray(reliable, dtype=bool)


# ---------------------------------------------------------------------- from scores to candidates


@dataclass(frozen=True, eq=False)
class FittedScore:
    """A score with its kind, by which scores of different folds are matched.

    ``weights`` were fitted to those who apply, and ``groups`` are those it was refined for.
    """

    kind: str
    parameters: FloatArray
    weights: float = 1.0
    groups: NDArray[np.intp] | None = None


@dataclass(frozen=True, eq=False)
class ScaledScore:
    """Counts at every threshold of a score less ``centre``, divided by ``scale``; ``size`` is the largest score."""

    curves: ThresholdCurves
    scale: float
    size: float
    centre: float = 0.0

    @property
    def shut_out(self) -> float:
        """Offset of a group of which nobody is selected."""
        return SHUT_OUT_OFFSET * (1.0 + self.size)

    def margins(self, score: FloatArray, threshold: FloatArray) -> FloatArray:
        """Scaled scores with the offsets of their thresholds, on the original scale: positive for those selected."""
        unscaled = self.centre + score * self.scale
        nobody, everybody = np.minimum(unscaled - self.shut_out, 0.0), np.maximum(unscaled + self.shut_out, TINY)
        shut = np.where(np.isneginf(threshold), everybody, nobody)
        return np.where(np.isfinite(threshold), (score - threshold) * self.scale, shut)


def with_thresholds(
    problem: Problem,
    fitted: FittedScore,
    scaled: ScaledScore,
    terms: TrainingTerms,
    fitted_weights: float,
    *,
    by_group: bool,
    sets: Sequence[NDArray[np.intp]] | None = None,
) -> list[tuple[Candidate, FloatArray]]:
    """Candidates with the best thresholds of groups, or the best common one; each with the scaled thresholds.

    With ``by_group`` scores are those of the columns that vary within groups, and ``sets`` as in
    :func:`group_thresholds` for a score that was refined for none.
    """
    parameters, curves = fitted.parameters, scaled.curves
    if not by_group:
        evaluation, thresholds, evaluated = evaluate_thresholds(terms, curves, fitted_weights)
        best = evaluation.best()
        threshold = threshold_between(thresholds, int(evaluated[best]))
        parameters = np.append(parameters[:-1], parameters[-1] - (scaled.centre + scaled.scale * threshold))
        candidate = Candidate.from_evaluation(parameters, evaluation, best, fitted.kind)
        return [(candidate, np.full(problem.n_groups, threshold))]
    assert problem.offset_of_group is not None
    candidates = []
    for choice in group_thresholds(terms, curves, fitted_weights, sets if fitted.groups is None else [fitted.groups]):
        shut = -np.sign(choice.threshold) * scaled.shut_out
        offsets = np.where(np.isfinite(choice.threshold), -(scaled.centre + scaled.scale * choice.threshold), shut)
        own = np.concatenate([parameters[: problem.n_varying], problem.offset_of_group @ offsets])
        note = f", {choice.left_out} left out" if choice.left_out and choice.evaluation.violation[0] == 0 else ""
        origin = f"{fitted.kind}{note}: {names_of(problem.labels, np.flatnonzero(choice.applying))}"
        candidates.append((Candidate.from_evaluation(own, choice.evaluation, 0, origin), choice.threshold))
    return candidates


def in_training(
    problem: Problem, fitted: FittedScore, *, by_group: bool, sets: Sequence[NDArray[np.intp]] | None = None
) -> list[Candidate]:
    """Candidates with the best thresholds for the people to whom the score was fitted."""
    curves, scale = curves_of(problem, problem.score(fitted.parameters, varying=by_group))
    scaled = ScaledScore(curves, scale, scale)
    found = with_thresholds(problem, fitted, scaled, problem.terms, fitted.weights, by_group=by_group, sets=sets)
    return [candidate for candidate, _ in found]


def all_feasible(attempts: Iterable[Callable[[], list[Found]]]) -> list[Found]:
    """Results of all attempts that find any; if none does, raise why the last did not."""
    results: list[Found] = []
    for attempt in attempts:
        try:
            results += attempt()
        except InfeasibleError as error:
            infeasible = error
    if not results:
        raise infeasible
    return results
