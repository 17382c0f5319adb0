"""Evaluation of finished classifiers by hard counts: by how much they violate constraints, and their accuracy.

Raw training accuracy prefers small groups and overfitted scores. So classifiers are compared by

    accuracy - 2 standard errors - (fitted weights) / (applicants)

over those who apply. The second term allows for the number of applicants, the third takes back what fitting that many
weights gains in sample. Constraints come first: the classifier that violates them less is kept whatever its accuracy.
The least selection rate comes before all others, because it does not depend on who applies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._validation import FloatArray
from ..behaviour import as_decisions
from ..constraints import SHARE_SLACK, Constraints
from ..counting import GroupCounts, ratio
from ..publishing import ThresholdCurves
from .problem import TrainingTerms

#: Standard errors that are taken off an accuracy.
STANDARD_ERRORS = 2.0
#: Violation of a classifier with which nobody applies: far above any other violation.
NOBODY_APPLIES = 1e9
#: Taken off the value if somebody applies, but nobody with the margin: more than accuracies can differ by.
WITHOUT_MARGIN = 1.0
#: Taken off the value if most of no group applies: the best accuracy could be that of a tiny share of one group.
WITHOUT_MAJORITY = 1.0
#: Selected people that a group should have to be made to apply.
MIN_SELECTED = 10
#: Under constraints between groups, what is taken off if a group applies with fewer selected people than this.
SMALL_GROUP, SMALL_GROUP_PENALTY = MIN_SELECTED / 2, 0.5
#: Thresholds at which constraints between groups are evaluated: at most so many, and as many as a table of so many
#: cells (thresholds x groups) holds, but no fewer than a few.
MAX_THRESHOLDS, MAX_TABLE_CELLS, MIN_THRESHOLDS = 2_000, 4_000_000, 64


def accuracy_lower_bound(correct: Any, n: Any, fitted_weights: float, errors: float = STANDARD_ERRORS) -> NDArray[Any]:
    """Accuracy minus standard errors and fitted weights per applicant; -inf for n = 0."""
    n = np.asarray(n, dtype=np.float64)
    smoothed = (np.asarray(correct, dtype=np.float64) + 1) / (n + 2)  # few people give no certainty
    error = np.sqrt(ratio(np.clip(smoothed * (1 - smoothed), 0, None), n))
    return np.where(n > 0, ratio(correct, n) - errors * error - fitted_weights * ratio(1, n), -np.inf)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Evaluation of some classifiers, arrays of shape (n_classifiers,).

    ``violation`` is by how much constraints are violated in all, ``shortfall`` by groups of which too few are selected
    (0 if they hold). ``value`` is the lower bound of induced accuracy (see the module) in the worse of two cases:
    groups that clear their cost without the margin apply, or stay away. ``accuracy`` is NaN if nobody applies.
    """

    violation: FloatArray
    value: FloatArray
    accuracy: FloatArray
    shortfall: FloatArray

    def best(self) -> int:
        """Position of the best classifier: constraints first, then value; the last among equals."""
        return int(np.lexsort((self.value, -self.violation, -self.shortfall))[-1])


def evaluate_counts(terms: TrainingTerms, counts: GroupCounts, fitted_weights: float) -> Evaluation:
    """Evaluate classifiers by their counts, after so many weights were fitted to those who apply.

    ``counts.selected`` and ``counts.true_positives`` have shape (n_groups,) for one classifier, or (n_classifiers,
    n_groups).
    """
    if counts.selected.ndim == 1:
        counts = replace(counts, selected=counts.selected[None, :], true_positives=counts.true_positives[None, :])

    def applicants(margin: float) -> SimpleNamespace:
        shares = terms.shares(counts, margin)
        return SimpleNamespace(  # named as in ThresholdSums
            required_groups=(as_decisions(shares) & terms.required).sum(axis=1),
            applying_groups=as_decisions(shares).sum(axis=1),
            applicants=(shares * counts.n).sum(axis=1),
            correct_applicants=(shares * counts.correct).sum(axis=1),
            qualified_applicants=(shares * counts.positives).sum(axis=1),
        )

    sums = {margin: applicants(margin) for margin in {0.0, terms.margin}}
    shortfall = terms.constraints.shortfall(counts.selected, counts.n).sum(axis=1)
    evaluation = _worse_case(terms, sums, counts.positives.sum(), fitted_weights, shortfall)
    return _add_group_violation(terms, evaluation, counts)


def evaluate_thresholds(
    terms: TrainingTerms, curves: ThresholdCurves, fitted_weights: float
) -> tuple[Evaluation, FloatArray, NDArray[np.intp]]:
    """Evaluate every common threshold of a score; evenly thinned ones under constraints between groups.

    Returns the evaluation, all thresholds of the score rising from -inf, and the positions of the evaluated ones. For m
    rows and any number of groups this takes O(m log m).
    """
    running = {
        margin: curves.running(terms.step_shares(curves, margin), terms.required) for margin in {0.0, terms.margin}
    }
    thresholds = running[0.0].threshold
    limited = terms.constraints.limits_selection
    shortfall = shortfall_at_thresholds(terms.constraints, curves) if limited else np.zeros(len(thresholds))
    evaluation = _worse_case(terms, running, curves.positives.sum(), fitted_weights, shortfall)
    evaluated: NDArray[np.intp] = np.arange(len(thresholds))
    if terms.between_groups:
        most = max(min(MAX_THRESHOLDS, MAX_TABLE_CELLS // len(terms.costs)), MIN_THRESHOLDS)
        evenly = np.linspace(0, len(thresholds) - 1, min(len(thresholds), most))
        evaluated = np.unique(evenly.round().astype(np.intp))
        counts = curves.table_at(thresholds[evaluated])
        thinned = Evaluation(*(part[evaluated] for part in vars(evaluation).values()))
        evaluation = _add_group_violation(terms, thinned, counts)
    return evaluation, thresholds, evaluated


def violation_at_thresholds(terms: TrainingTerms, curves: ThresholdCurves) -> FloatArray:
    """By how much all constraints together are violated at every common threshold of a score, exactly.

    Constraints between groups need the counts of every group at every threshold: O(m K) time for m thresholds.
    """
    running = curves.running(terms.step_shares(curves), terms.required)
    violation = _case(terms, running, curves.positives.sum(), fitted_weights=0.0).violation
    if terms.constraints.limits_selection:
        violation = violation + shortfall_at_thresholds(terms.constraints, curves)
    if not terms.between_groups:
        return violation
    chunk = max(MAX_TABLE_CELLS // len(terms.costs), MIN_THRESHOLDS)
    for first in range(0, len(violation), chunk):
        part = slice(first, first + chunk)
        counts = curves.table_at(running.threshold[part])
        shares = terms.shares(counts)
        violation[part] += sum(constraint.violation(counts, shares) for constraint in terms.between_groups)
    return violation


def shortfall_at_thresholds(constraints: Constraints, curves: ThresholdCurves) -> FloatArray:
    """By how much selection rates are below the least one, added up over groups, at every threshold of a score.

    It is exactly 0 where every group has its rate, so always at -inf, where everybody is selected.
    """
    shortfall = constraints.shortfall(curves.selected, curves.n[curves.group])
    running = curves.running(np.zeros(len(shortfall), dtype=bool))
    # running sums of shares leave rounding errors; a number of groups does not
    short_groups = running.over_groups((shortfall > 0).astype(np.int64))
    return np.where(short_groups > 0, np.maximum(running.over_groups(shortfall), SHARE_SLACK), 0.0)


def _case(terms: TrainingTerms, sums: Any, qualified: float, fitted_weights: float) -> Evaluation:
    """Evaluation from sums over those who apply, apart from constraints on how many are selected and between groups."""
    violation = np.zeros(len(sums.applicants))
    if terms.constraints.prescribes_applicants:
        social_cost = 1 - ratio(sums.qualified_applicants, qualified)
        beyond = np.maximum(social_cost - terms.constraints.max_social_cost - SHARE_SLACK, 0)
        violation = (terms.required.sum() - sums.required_groups) + beyond
    value = accuracy_lower_bound(sums.correct_applicants, sums.applicants, fitted_weights)
    value = np.where(sums.applying_groups > 0, value, value - WITHOUT_MAJORITY)
    accuracy = ratio(sums.correct_applicants, sums.applicants)
    return Evaluation(violation, value, accuracy, shortfall=np.zeros(len(violation)))


def _worse_case(
    terms: TrainingTerms, sums: Mapping[float, Any], qualified: float, fitted_weights: float, shortfall: FloatArray
) -> Evaluation:
    """Evaluation from sums over those who apply at all, and over those who apply with the margin."""
    without, with_margin = (_case(terms, sums[margin], qualified, fitted_weights) for margin in (0.0, terms.margin))
    nobody, nobody_with_margin = np.isnan(without.accuracy), np.isnan(with_margin.accuracy)
    worse = np.minimum(without.value, with_margin.value)
    value = np.where(~nobody & nobody_with_margin, without.value - WITHOUT_MARGIN, worse)
    violation = np.where(nobody & nobody_with_margin, NOBODY_APPLIES, 0.0) + with_margin.violation + shortfall
    return replace(without, violation=violation, value=value, shortfall=shortfall)


def _add_group_violation(terms: TrainingTerms, evaluation: Evaluation, counts: GroupCounts) -> Evaluation:
    """Add violations of constraints between groups, and take off value where a group applies by few selected people."""
    if not terms.between_groups:
        return evaluation
    shares = terms.shares(counts)
    violation = sum(constraint.violation(counts, shares) for constraint in terms.between_groups)
    applies = as_decisions(terms.shares(counts, terms.margin))
    small = (applies & (counts.selected < SMALL_GROUP)).any(axis=1)
    value = evaluation.value - SMALL_GROUP_PENALTY * small
    return replace(evaluation, violation=evaluation.violation + violation, value=value)
