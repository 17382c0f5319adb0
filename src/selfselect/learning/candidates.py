"""Finished classifiers with their evaluation: a score with one threshold for all groups, or one for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._validation import FloatArray
from ..counting import GroupCounts
from ..publishing import ThresholdCurves
from .evaluation import Evaluation, evaluate_counts, evaluate_thresholds
from .problem import Problem

#: Digits to which scores are compared: no threshold falls between two that differ by rounding only.
DIGITS = 9
#: Names of groups that an origin lists.
MAX_NAMES = 3


@dataclass(frozen=True, eq=False)
class Candidate:
    """A classifier and its evaluation.

    Attributes
    ----------
    parameters : ndarray of shape (n_features + 1,)
        Weights and intercept, for standardised features.
    violation, value, accuracy, shortfall : float
        As in :class:`~selfselect.learning.evaluation.Evaluation`.
    origin : str
        Where it comes from.
    """

    parameters: FloatArray
    violation: float
    value: float
    accuracy: float
    origin: str
    shortfall: float

    @classmethod
    def from_evaluation(cls, parameters: FloatArray, evaluation: Evaluation, which: int, origin: str) -> Candidate:
        """Candidate with its entry of an evaluation."""
        violation, value, accuracy, shortfall = (
            float(part[which])
            for part in (evaluation.violation, evaluation.value, evaluation.accuracy, evaluation.shortfall)
        )
        return cls(parameters, violation, value, accuracy, origin, shortfall)

    @property
    def rank(self) -> tuple[float, float, float]:
        """Sort key: constraints first, then value, as in :meth:`.evaluation.Evaluation.best`."""
        return -self.shortfall, -self.violation, self.value


def threshold_between(thresholds: FloatArray, i: Any) -> Any:
    """Number between a threshold and the next one: it separates the same people, with room on both sides.

    Takes one position or an array of them; the last threshold is returned as it is.

    Examples
    --------
    >>> threshold_between(np.array([-np.inf, 0.2, 0.6]), 1)
    0.4
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
    scale = float(np.abs(score).max()) if len(score) else 1.0
    scale = scale if scale > 0 else 1.0
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


def evaluate_parameters(problem: Problem, parameters: FloatArray, fitted_weights: float = 0.0) -> Evaluation:
    """Evaluation of one linear classifier on the rows of a problem."""
    rows = problem.block.rows
    counts = GroupCounts(rows.n, rows.positives, *rows.hard_counts(problem.block.score(parameters)))
    return evaluate_counts(problem.terms, counts, fitted_weights)


def names_of(labels: pd.Index, groups: NDArray[np.intp]) -> str:
    """Names of groups, for an origin."""
    return "+".join(str(labels[g]) for g in groups[:MAX_NAMES]) + ("+..." if len(groups) > MAX_NAMES else "")
