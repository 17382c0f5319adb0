"""Finished classifiers, each with the judge's verdict: a score with one threshold for all groups, or one for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._validation import FloatArray
from ..counting import GroupCounts
from ..publishing import ThresholdCurves
from .judging import Verdict, judge_counts, judge_thresholds
from .problem import Problem

#: Digits to which scores are compared: a threshold never falls between two that differ by rounding only.
DIGITS = 9
#: Names of groups that an origin lists.
MOST_NAMED = 3


@dataclass(frozen=True, eq=False)
class Candidate:
    """Classifier, and what it is worth.

    Attributes
    ----------
    parameters : ndarray of shape (n_features + 1,)
        Weights and intercept, in standardised features.
    violation : float
        By how much what is asked is broken; 0 if it is met.
    value : float
        What it is worth beside that; see :mod:`.judging`.
    accuracy : float
        Induced accuracy on the training set.
    origin : str
        Where it comes from.
    lacking : float
        The part of the violation that comes from groups of which too few are selected.
    """

    parameters: FloatArray
    violation: float
    value: float
    accuracy: float
    origin: str
    lacking: float

    @classmethod
    def judged(cls, parameters: FloatArray, verdict: Verdict, which: int, origin: str) -> Candidate:
        """Candidate with its entry of a verdict."""
        return cls(
            parameters,
            float(verdict.violation[which]),
            float(verdict.value[which]),
            float(verdict.accuracy[which]),
            origin,
            float(verdict.lacking[which]),
        )

    @property
    def rank(self) -> tuple[float, float, float]:
        """Sort key: what is asked first, then value; see :meth:`.judging.Verdict.best`."""
        return -self.lacking, -self.violation, self.value


def scaled_and_rounded(score: FloatArray) -> tuple[FloatArray, float]:
    """Score divided by its size and rounded, so that it can be compared; and that size."""
    size = float(np.abs(score).max()) if len(score) else 1.0
    size = size if size > 0 else 1.0
    return np.round(score / size, DIGITS), size


def cut_between(thresholds: FloatArray, i: Any) -> Any:
    """Number between one threshold and the next: it separates the same people, and leaves room on both sides.

    Takes one position or an array of them; the last threshold is its own cut.

    Examples
    --------
    >>> cut_between(np.array([-np.inf, 0.2, 0.6]), 1)
    0.4
    """
    here = np.asarray(thresholds[i], dtype=np.float64)
    above = np.asarray(thresholds[np.minimum(np.asarray(i) + 1, len(thresholds) - 1)], dtype=np.float64)
    with np.errstate(invalid="ignore"):
        middle = np.where(np.isinf(here), above - np.maximum(1.0, np.abs(above)), here + (above - here) / 2)
        cut = np.where((here < middle) & (middle < above), middle, here)
    return float(cut) if cut.ndim == 0 else cut


def curves_of(problem: Problem, score: FloatArray) -> tuple[ThresholdCurves, float]:
    """Counts of all groups at every threshold of a score that is scaled and rounded, and the size it was scaled by."""
    people = problem.block.people
    score, size = scaled_and_rounded(score)  # of many rows, each array counts: the raw score is not kept
    weight = None if people.weighs_one_each else people.weight  # whole numbers are exact, and faster
    return ThresholdCurves.from_codes(people.y > 0, score, people.codes, problem.labels, weight), size


def with_best_threshold(problem: Problem, parameters: FloatArray, fitted_weights: float, origin: str) -> Candidate:
    """Candidate that the best single threshold on a score makes, over all thresholds and by all that is asked."""
    curves, size = curves_of(problem, problem.block.score(parameters))
    verdict, thresholds, judged = judge_thresholds(problem.ask, curves, fitted_weights)
    best = verdict.best()
    cut = cut_between(thresholds, int(judged[best])) * size
    return Candidate.judged(np.append(parameters[:-1], parameters[-1] - cut), verdict, best, origin)


def verdict_on(
    problem: Problem, selected: NDArray[Any], true_positives: NDArray[Any], fitted_weights: float
) -> Verdict:
    """Verdict on a single classifier, from its counts per group."""
    people = problem.block.people
    counts = GroupCounts(people.n, people.positives, selected[None, :], true_positives[None, :])
    return judge_counts(problem.ask, counts, fitted_weights)


def describe(labels: pd.Index, groups: NDArray[np.intp]) -> str:
    """Names of groups, for an origin."""
    return "+".join(str(labels[g]) for g in groups[:MOST_NAMED]) + ("+..." if len(groups) > MOST_NAMED else "")
