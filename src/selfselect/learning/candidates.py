"""Finished classifiers with their evaluation: a score with one threshold for all groups, or one for each.

Columns that are constant within groups (one-hot groups, say) turn thresholds of groups into offsets of their scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray
from ..behaviour import Shares, as_decisions
from ..constraints import Constraints
from ..counting import GroupCounts
from ..counting.sums import TINY
from ..publishing import ThresholdCurves
from .evaluation import MIN_SELECTED, Evaluation, accuracy_lower_bound, evaluate_counts, evaluate_thresholds
from .problem import Problem, TrainingTerms
from .thresholds import optimise_thresholds

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


def with_best_threshold(problem: Problem, parameters: FloatArray, fitted_weights: float, origin: str) -> Candidate:
    """Candidate with the best common threshold on a score."""
    curves, scale = curves_of(problem, problem.block.score(parameters))
    evaluation, thresholds, evaluated = evaluate_thresholds(problem.terms, curves, fitted_weights)
    best = evaluation.best()
    threshold = threshold_between(thresholds, int(evaluated[best])) * scale
    parameters = np.append(parameters[:-1], parameters[-1] - threshold)
    return Candidate.from_evaluation(parameters, evaluation, best, origin)


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

    def origin(self, start: str, problem: Problem) -> str:
        """Origin of a candidate with these thresholds."""
        note = f", {self.left_out} left out" if self.left_out and self.evaluation.violation[0] == 0 else ""
        return f"{start}{note}: {names_of(problem.labels, np.flatnonzero(self.applying))}"

    def parameters(
        self, problem: Problem, parameters: FloatArray, size: float, scale: float, centre: float = 0.0
    ) -> FloatArray:
        """Parameters whose score is positive where the score of the varying columns is above the group's threshold.

        Thresholds are on the score minus ``centre``, divided by ``scale``; ``size`` is the largest score.
        """
        assert problem.offset_of_group is not None
        shut_out = SHUT_OUT_OFFSET * (1.0 + size)
        threshold = self.threshold
        offsets = np.where(np.isfinite(threshold), -(centre + scale * threshold), -np.sign(threshold) * shut_out)
        return np.concatenate([parameters[: problem.n_varying], problem.offset_of_group @ offsets])

    def margins(
        self, score: FloatArray, codes: NDArray[np.intp], size: float, scale: float, centre: float
    ) -> FloatArray:
        """Scores with the offsets that :meth:`parameters` gives to groups: positive for those who are selected."""
        threshold, shut_out = self.threshold[codes], SHUT_OUT_OFFSET * (1.0 + size)
        unscaled = centre + score * scale
        nobody, everybody = np.minimum(unscaled - shut_out, 0.0), np.maximum(unscaled + shut_out, TINY)
        shut = np.where(np.isneginf(threshold), everybody, nobody)
        return np.where(np.isfinite(threshold), (score - threshold) * scale, shut)


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


def with_best_thresholds(
    problem: Problem, parameters: FloatArray, fitted_weights: float, origin: str
) -> list[Candidate]:
    """The candidate with the best threshold of each group if groups can have their own, otherwise with a common one."""
    if problem.has_group_thresholds:
        return with_group_thresholds(problem, parameters, fitted_weights, origin)
    return [with_best_threshold(problem, parameters, fitted_weights, origin)]


def with_group_thresholds(
    problem: Problem,
    parameters: FloatArray,
    fitted_weights: float,
    origin: str,
    sets: Sequence[NDArray[np.intp]] | None = None,
) -> list[Candidate]:
    """Candidates with the best threshold of each group; see :func:`group_thresholds`."""
    width = problem.n_varying
    curves, scale = curves_of(problem, problem.block.X[:, :width] @ parameters[:width])
    return [
        Candidate.from_evaluation(
            choice.parameters(problem, parameters, scale, scale), choice.evaluation, 0, choice.origin(origin, problem)
        )
        for choice in group_thresholds(problem.terms, curves, fitted_weights, sets)
    ]
