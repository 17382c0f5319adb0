"""Which of several classifiers to keep: judged by hard counts, never by the smooth objective.

Raw training accuracy prefers small groups and whatever was fitted hardest. So classifiers are compared by

    accuracy - 2 standard errors - (fitted weights) / (applicants)

on the training set: the second term asks how sure the accuracy is given the number of applicants, the third takes back
what fitting that many weights to them gains in sample. Constraints come first: of two classifiers the one that breaks
them less is kept, whatever its accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray
from ..counting import ratio
from ..deciding import SLACK, ThresholdCurves, applies_with_margin
from .problem import Problem

#: Standard errors that are taken off an accuracy.
CAUTION = 2.0
#: Selected people that a group must have at least, where that is possible, to count as applying.
HANDFUL = 10
#: Digits to which scores are compared: a threshold never falls between two that differ by rounding only.
DIGITS = 9
#: Pairs of groups are put in order when their base rates differ by more than this.
ORDER_MARGIN = 0.02
#: Thresholds at which rates of groups are compared at most, and cells of the table (thresholds x groups) that takes.
MOST_THRESHOLDS, TABLE_CELLS = 2_000, 4_000_000


@dataclass(frozen=True)
class Candidate:
    """Classifier, and what it is worth.

    Attributes
    ----------
    parameters : ndarray of shape (n_features + 1,)
        Weights and intercept, in standardised features.
    violation : float
        By how much the constraints are broken; 0 if they hold.
    value : float
        Cautious induced accuracy (see the module).
    accuracy : float
        Induced accuracy on the training set.
    origin : str
        Where it comes from.
    """

    parameters: FloatArray
    violation: float
    value: float
    accuracy: float
    origin: str

    @property
    def rank(self) -> tuple[float, float]:
        """Sort key: constraints first, then value."""
        return -self.violation, self.value


def cautious(correct: Any, n: Any, free: float, errors: float = CAUTION) -> NDArray[Any]:
    """Accuracy that can be counted on: minus standard errors and fitted weights per applicant; -inf for n = 0."""
    n = np.asarray(n, dtype=np.float64)
    accuracy = ratio(correct, n)
    smoothed = (np.asarray(correct, dtype=np.float64) + 1) / (n + 2)  # no certainty from a handful of people
    value = accuracy - errors * np.sqrt(ratio(np.clip(smoothed * (1 - smoothed), 0, None), n)) - free * ratio(1, n)
    return np.where(n > 0, value, -np.inf)


def tidy(score: FloatArray) -> tuple[FloatArray, float]:
    """Score divided by its size and rounded, and that size."""
    size = float(np.abs(score).max()) if len(score) else 1.0
    size = size if size > 0 else 1.0
    return np.round(score / size, DIGITS), size


def cut_between(thresholds: FloatArray, i: Any) -> Any:
    """Number between one threshold and the next: it separates the same people, and leaves room on both sides.

    Takes one position or an array of them; the last threshold is its own cut.
    """
    here = np.asarray(thresholds[i], dtype=np.float64)
    above = np.asarray(thresholds[np.minimum(np.asarray(i) + 1, len(thresholds) - 1)], dtype=np.float64)
    with np.errstate(invalid="ignore"):
        middle = np.where(np.isinf(here), above - np.maximum(1.0, np.abs(above)), here + (above - here) / 2)
        cut = np.where((here < middle) & (middle < above), middle, here)
    return float(cut) if cut.ndim == 0 else cut


def curves_of(problem: Problem, score: FloatArray) -> ThresholdCurves:
    """Counts of all groups at every threshold of a (tidy) score."""
    rows = problem.rows
    weight = None if problem.unit_weights else rows.weight  # whole numbers are exact, and faster
    return ThresholdCurves.from_codes(rows.y > 0, score, rows.codes, problem.labels, weight)


def best_threshold(problem: Problem, parameters: FloatArray, free: float, origin: str) -> Candidate:
    """Candidate that the best single threshold on a score makes, over all thresholds and under all constraints."""
    rows = problem.rows
    score, size = tidy(rows.X @ parameters[:-1] + parameters[-1])
    curves = curves_of(problem, score)
    sums = curves.running(curves.step_applies(problem.costs), problem.required)
    threshold, accuracy = sums.threshold, ratio(sums.correct_applicants, sums.applicants)
    value = hair_value = cautious(sums.correct_applicants, sums.applicants, free)
    by_a_hair = sums.applying_groups > 0
    if problem.tolerance != 0:
        # groups within the tolerance apply by a hair: what counts is the worse of their coming and their staying away
        sums = curves.running(curves.step_applies(problem.costs, problem.tolerance), problem.required)
        value = np.minimum(value, cautious(sums.correct_applicants, sums.applicants, free))
        # nobody clears the tolerance: better someone who applies by a hair than nobody
        value = np.where((sums.applying_groups == 0) & by_a_hair, hair_value - 1.0, value)
    violation = np.where((sums.applying_groups > 0) | by_a_hair, 0.0, 10.0)
    if problem.constrained:
        violation += problem.required.sum() - sums.required_groups
        stay_away = 1 - ratio(sums.qualified_applicants, rows.positives.sum())
        violation += np.maximum(stay_away - problem.max_social_cost - SLACK, 0)
    pick: NDArray[np.intp] = np.arange(len(value))
    if problem.fair:
        pick = _thin(len(value), max(64, min(MOST_THRESHOLDS, TABLE_CELLS // problem.n_groups)))
        violation, value = violation[pick], value[pick]
        unfair, lucky = unfairness(problem, *curves.counts_at(threshold[pick]))
        violation, value = violation + unfair, value - 0.5 * lucky
    i = int(np.lexsort((value, -violation))[-1])
    j = int(pick[i])
    cut = cut_between(threshold, j) * size
    return Candidate(
        parameters=np.append(parameters[:-1], parameters[-1] - cut),
        violation=float(violation[i]) if violation[i] > SLACK else 0.0,
        value=float(value[i]),
        accuracy=float(accuracy[j]),
        origin=origin,
    )


def _thin(length: int, most: int) -> NDArray[np.intp]:
    """Positions 0 to length - 1, all of them or evenly thinned."""
    return np.unique(np.linspace(0, length - 1, min(length, most)).round().astype(np.intp))


def unfairness(problem: Problem, selected: FloatArray, hits: FloatArray) -> tuple[FloatArray, BoolArray]:
    """By how much each row of counts breaks the ties between groups, and whether a group applies by luck of a few.

    ``selected`` and ``hits`` have one row per classifier and one column per group.
    """
    rows = problem.rows
    rate = selected / rows.n
    broken = np.zeros(len(selected))
    if problem.parity > 0:
        broken += np.maximum(np.ptp(rate, axis=1) - problem.parity_tolerance - SLACK, 0)
    if problem.equal_tpr > 0:
        some = rows.positives > 0
        reached = hits[:, some] / rows.positives[some]
        broken += np.maximum(np.ptp(reached, axis=1) - problem.tpr_tolerance - SLACK, 0)
    if problem.parity > 0 and problem.equal_tpr > 0:
        broken += (selected <= 0).sum(axis=1)  # every group must have a precision to be put in order
        broken += _disorder(problem, ratio(hits, selected))
    applies = applies_with_margin(hits, selected, problem.costs, problem.tolerance)
    lucky = np.asarray((applies & (selected < HANDFUL / 2)).any(axis=1))
    return broken, lucky


def _disorder(problem: Problem, precision: FloatArray) -> FloatArray:
    """Largest amount by which a group's precision falls short of that of a group with a lower base rate."""
    base_rate = problem.rows.positives / problem.rows.n
    order = np.argsort(base_rate, kind="stable")
    rising = base_rate[order]
    ordered = np.nan_to_num(precision[:, order], nan=0.0)
    highest_up_to = np.maximum.accumulate(ordered, axis=1)
    clearly_below = np.searchsorted(rising, rising - ORDER_MARGIN, side="left")  # how many are lower by the margin
    has = clearly_below > 0
    short = highest_up_to[:, clearly_below[has] - 1] - ordered[:, has]
    return np.asarray(np.maximum(short, 0).max(axis=1, initial=0.0))


def groups_in_order(problem: Problem) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pairs of groups (higher, lower) in base rate by more than the margin; of many groups, neighbours only."""
    base_rate = problem.rows.positives / problem.rows.n
    if problem.n_groups <= 100:
        higher, lower = np.nonzero(base_rate[:, None] > base_rate[None, :] + ORDER_MARGIN)
        return higher.astype(np.intp), lower.astype(np.intp)
    order = np.argsort(base_rate, kind="stable")
    below = np.searchsorted(base_rate[order], base_rate[order] - ORDER_MARGIN, side="left")
    has = below > 0
    return order[has].astype(np.intp), order[below[has] - 1].astype(np.intp)


def describe(labels: pd.Index, groups: NDArray[np.intp]) -> str:
    """Names of groups, for an origin."""
    return "+".join(str(labels[g]) for g in groups[:3]) + ("+..." if len(groups) > 3 else "")
