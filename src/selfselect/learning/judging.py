"""The one judge: from hard counts and an ask to by how much the ask is broken, and what the classifier is worth.

Classifiers are judged by hard counts, never by the smooth objective. Raw training accuracy prefers small groups and
whatever was fitted hardest. So they are compared by

    accuracy - 2 standard errors - (fitted weights) / (applicants)

over those who apply on the training set: the second term asks how sure the accuracy is given the number of applicants,
the third takes back what fitting that many weights to them gains in sample. What is asked comes first: of two
classifiers the one that breaks it less is kept, whatever its accuracy; and first of all the least selection rate, which
can be kept whoever applies.

:func:`judge_counts` takes any classifiers, one row of counts each: O(r K) for r classifiers and K groups.
:func:`judge_thresholds` takes all thresholds on one score at once, O(m log m) for m rows whatever K is; only ties need
the counts of every group, and look at no more than :data:`TABLE_CELLS` of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray
from ..behaviour import Tolerance
from ..counting import GroupCounts, ratio
from ..publishing import ThresholdCurves
from .asking import Ask
from .ties import SHARE_SLACK

#: Standard errors that are taken off an accuracy.
CAUTION = 2.0
#: Violation of a classifier with which nobody applies, so that it has no induced accuracy: far above whatever else can
#: be broken (a social cost, required groups, ties between any number of groups).
NOBODY_APPLIES = 1e9
#: Taken off where nobody clears the tolerance, but someone the cost: more than accuracies can differ by, so that it is
#: better than nobody and worse than anybody else.
BARELY_APPLIES = 1.0
#: Selected people that a group must have at least, where that is possible, to be made to apply.
HANDFUL = 10
#: Of tied groups, one that applies with fewer selected people than this does so by luck; and what that takes off.
LUCKY_FEW, LUCK = HANDFUL / 2, 0.5
#: Thresholds at which ties are judged: at most so many, and, of many groups, as many as a table of so many cells (one
#: per threshold and group) takes, but no fewer than a few.
MOST_THRESHOLDS, TABLE_CELLS, LEAST_THRESHOLDS = 2_000, 4_000_000, 64


def cautious(correct: Any, n: Any, fitted_weights: float, errors: float = CAUTION) -> NDArray[Any]:
    """Accuracy that can be counted on: minus standard errors and fitted weights per applicant; -inf for n = 0.

    Examples
    --------
    >>> cautious([90, 9_000], [100, 10_000], fitted_weights=1.0).round(3).tolist()
    [0.828, 0.894]
    """
    n = np.asarray(n, dtype=np.float64)
    accuracy = ratio(correct, n)
    smoothed = (np.asarray(correct, dtype=np.float64) + 1) / (n + 2)  # no certainty from a handful of people
    unsure = np.sqrt(ratio(np.clip(smoothed * (1 - smoothed), 0, None), n))
    return np.where(n > 0, accuracy - errors * unsure - fitted_weights * ratio(1, n), -np.inf)


@dataclass(frozen=True, eq=False)
class Verdict:
    """What the judge finds of some classifiers, one entry each.

    Attributes
    ----------
    violation : ndarray of shape (n_classifiers,)
        By how much the ask is broken, ties and selection rates included; 0 if it is met.
    broken_ties : ndarray of shape (n_classifiers,)
        The part of it that ties are broken by.
    value : ndarray of shape (n_classifiers,)
        Cautious induced accuracy (see the module), in the worse of two cases: groups that clear their cost but not the
        tolerance come, or stay away.
    accuracy : ndarray of shape (n_classifiers,)
        Induced accuracy, NaN if nobody applies.
    lacking : ndarray of shape (n_classifiers,)
        The part of the violation that comes from groups of which too few are selected: what they lack, added up.
    """

    violation: FloatArray
    broken_ties: FloatArray
    value: FloatArray
    accuracy: FloatArray
    lacking: FloatArray

    def best(self) -> int:
        """Position of the best classifier: what is asked first, then value; of equals the last."""
        return int(np.lexsort((self.value, -self.violation, -self.lacking))[-1])

    def take(self, which: Any) -> Verdict:
        """Verdict on some of the classifiers."""
        return Verdict(
            self.violation[which],
            self.broken_ties[which],
            self.value[which],
            self.accuracy[which],
            self.lacking[which],
        )


class Applicants(Protocol):
    """Sums over those who apply, one entry per classifier; :class:`~selfselect.publishing.RunningSums` are such."""

    @property
    def applying_groups(self) -> NDArray[Any]:
        """Groups that apply."""

    @property
    def required_groups(self) -> NDArray[Any]:
        """Groups that apply among those that must."""

    @property
    def applicants(self) -> NDArray[Any]:
        """People who apply."""

    @property
    def correct_applicants(self) -> NDArray[Any]:
        """Applicants judged rightly."""

    @property
    def qualified_applicants(self) -> NDArray[Any]:
        """Qualified people who apply."""


@dataclass(frozen=True, eq=False)
class _CountedApplicants:
    """Sums over those who apply, from one row of counts per classifier."""

    applying_groups: NDArray[Any]
    required_groups: NDArray[Any]
    applicants: NDArray[Any]
    correct_applicants: NDArray[Any]
    qualified_applicants: NDArray[Any]

    @classmethod
    def of(cls, counts: GroupCounts, applies: BoolArray, required: BoolArray) -> _CountedApplicants:
        return cls(
            applies.sum(axis=1),
            (applies & required).sum(axis=1),
            (applies * counts.n).sum(axis=1),
            (applies * counts.correct).sum(axis=1),
            (applies * counts.positives).sum(axis=1),
        )


def judge_counts(ask: Ask, counts: GroupCounts, fitted_weights: float) -> Verdict:
    """Judge classifiers by their counts.

    Parameters
    ----------
    ask : Ask
    counts : GroupCounts
        ``n`` and ``positives`` of shape (n_groups,); ``selected`` and ``true_positives`` of shape (n_classifiers,
        n_groups).
    fitted_weights : float
        Weights that were fitted to those who apply.
    """

    def case(tolerance: Tolerance) -> _Case:
        applies = ask.clear(counts.true_positives, counts.selected, tolerance)
        applicants = _CountedApplicants.of(counts, applies, ask.required)
        return _Case.of(ask, applicants, counts.positives.sum(), fitted_weights)

    barely = case(0.0)
    verdict = _worse_case(barely, barely if ask.tolerance == 0 else case(ask.tolerance))
    if ask.limits_selection:
        verdict = _add_lacking(verdict, ask.lacking(counts.selected, counts.n).sum(axis=1))
    return _judge_ties(ask, verdict, counts)


def judge_thresholds(
    ask: Ask, curves: ThresholdCurves, fitted_weights: float
) -> tuple[Verdict, FloatArray, NDArray[np.intp]]:
    """Judge every threshold on a score, for all groups the same.

    Returns
    -------
    verdict : Verdict
        One entry per threshold that was judged: all, or evenly thinned ones where there are ties.
    thresholds : ndarray
        All thresholds of the score, rising from -inf.
    judged : ndarray
        Position among them of each one that was judged.
    """

    def case(tolerance: Tolerance) -> tuple[_Case, FloatArray]:
        running = curves.running(ask.steps_clear(curves, tolerance), ask.required)
        return _Case.of(ask, running, curves.positives.sum(), fitted_weights), running.threshold

    barely, thresholds = case(0.0)
    verdict = _worse_case(barely, barely if ask.tolerance == 0 else case(ask.tolerance)[0])
    if ask.limits_selection:
        verdict = _add_lacking(verdict, lacking_at_thresholds(ask, curves))
    judged: NDArray[np.intp] = np.arange(len(thresholds))
    if ask.ties:
        judged = _thinned(len(thresholds), min(MOST_THRESHOLDS, TABLE_CELLS // len(ask.costs)))
        selected, hits = curves.counts_at(thresholds[judged])
        verdict = _judge_ties(ask, verdict.take(judged), GroupCounts(curves.n, curves.positives, selected, hits))
    return verdict, thresholds, judged


def lacking_at_thresholds(ask: Ask, curves: ThresholdCurves) -> FloatArray:
    """What groups lack to the least selection rate, added up, at every threshold of a score; exactly 0 where nothing.

    At -inf everybody is selected, so that nothing is lacking there.
    """
    lacking = ask.lacking(curves.selected, curves.n[curves.group])
    running = curves.running(np.zeros(len(lacking), dtype=bool))
    # sums of shares leave rounding where no group lacks anything; a number of groups does not
    short_groups = running.over_groups((lacking > 0).astype(np.int64))
    return np.where(short_groups > 0, np.maximum(running.over_groups(lacking), SHARE_SLACK), 0.0)


def _thinned(length: int, most: int) -> NDArray[np.intp]:
    """Positions 0 to length - 1, all of them or evenly thinned."""
    return np.unique(np.linspace(0, length - 1, min(length, max(most, LEAST_THRESHOLDS))).round().astype(np.intp))


@dataclass(frozen=True, eq=False)
class _Case:
    """What follows if some groups apply, one entry per classifier.

    Attributes
    ----------
    somebody : ndarray of bool
        Whether any group applies.
    broken : ndarray or 0.0
        By how much it is broken who must apply; a single 0 where nobody must.
    value, accuracy : ndarray
        As in :class:`Verdict`.
    """

    somebody: BoolArray
    broken: FloatArray | float
    value: FloatArray
    accuracy: FloatArray

    @classmethod
    def of(cls, ask: Ask, applicants: Applicants, qualified: float, fitted_weights: float) -> _Case:
        somebody = applicants.applying_groups > 0
        broken: FloatArray | float = 0.0
        if ask.prescribes_applicants:
            stay_away = 1 - ratio(applicants.qualified_applicants, qualified)
            broken = (ask.required.sum() - applicants.required_groups) + np.maximum(
                stay_away - ask.max_social_cost - SHARE_SLACK, 0
            )
        return cls(
            somebody,
            broken,
            cautious(applicants.correct_applicants, applicants.applicants, fitted_weights),
            ratio(applicants.correct_applicants, applicants.applicants),
        )


def _worse_case(barely: _Case, surely: _Case) -> Verdict:
    """Verdict from who applies at all, and who does with the tolerance to spare."""
    value = barely.value
    if surely is not barely:
        value = np.minimum(value, surely.value)
        value = np.where(barely.somebody & ~surely.somebody, barely.value - BARELY_APPLIES, value)
    violation = np.where(barely.somebody | surely.somebody, 0.0, NOBODY_APPLIES) + surely.broken
    nothing = np.zeros(len(violation))
    return Verdict(violation, nothing, value, barely.accuracy, nothing)


def _add_lacking(verdict: Verdict, lacking: FloatArray) -> Verdict:
    """Add what is lacking to the least selection rate."""
    return replace(verdict, violation=verdict.violation + lacking, lacking=lacking)


def _judge_ties(ask: Ask, verdict: Verdict, counts: GroupCounts) -> Verdict:
    """Add what ties are broken by; and where there are any, beware of groups that apply by luck of a few."""
    if not ask.ties:
        return verdict
    broken = np.zeros(len(verdict.violation))
    for tie in ask.ties:
        broken = broken + tie.violation(counts)
    applies = ask.clear(counts.true_positives, counts.selected, ask.tolerance)
    lucky = (applies & (counts.selected < LUCKY_FEW)).any(axis=1)
    return replace(
        verdict, violation=verdict.violation + broken, broken_ties=broken, value=verdict.value - LUCK * lucky
    )
