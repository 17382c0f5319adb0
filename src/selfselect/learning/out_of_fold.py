"""Choose among scores, groups and thresholds by out-of-fold scores.

Every kind of score (logistic; refined for some groups; ...) is fitted several times, each time without some of the
people, whom it then scores. These out-of-fold scores decide, so that overfitting does not count. The chosen kind is
then fitted once more to everybody and keeps the thresholds. Scores of one kind are centred and scaled alike each time,
to be comparable. With k folds this takes about k + 1 times as long as choosing in training.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray
from ..publishing import ThresholdCurves
from .candidates import DIGITS, Candidate, FittedScore, ScaledScore, all_feasible, with_thresholds
from .problem import Problem, TrainingTerms
from .solvers import ScoreFitter


@dataclass(frozen=True, eq=False)
class OutOfFoldCandidate:
    """A classifier, fitted to the final rows, that was evaluated on people its score had not seen.

    ``score`` is the out-of-fold score of each row of the problem on the scale of the candidate, positive for those who
    are selected; NaN for rows that are in no test fold. ``terms`` have the statistic that decided.
    """

    candidate: Candidate
    score: FloatArray
    terms: TrainingTerms


def select_out_of_fold(
    problem: Problem,
    folds: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]],
    final: NDArray[np.intp],
    *,
    random: np.random.RandomState,
    with_refinement: bool = True,
    max_iter: int | None = None,
    problem_of: Callable[[NDArray[np.intp]], Problem] | None = None,
    person: NDArray[np.intp] | None = None,
) -> tuple[list[OutOfFoldCandidate], int]:
    """Candidates that are evaluated out of fold, at least one per kind of score; and steps of the logistic start.

    ``folds`` are pairs (train, test) of row numbers as in ``problem.row_numbers``; the kept classifier is fitted to the
    rows ``final``. Without refinement the logistic score is the only one; ``max_iter`` limits its steps. ``problem_of``
    gives the problem of a fold by its training rows if features differ between folds, for the same rows in the same
    order. ``person`` has the code of each row's person, by row number.
    """
    fitter = ScoreFitter(with_refinement, random, max_iter)
    final_rows = problem.rows_among(final)
    last = problem.take(final_rows)
    kinds = fitter.fit(last)
    n_rows = len(problem.row_numbers)
    out_of_fold: dict[str, FloatArray] = {fitted.kind: np.full(n_rows, np.nan) for fitted in kinds}
    for train_numbers, test_numbers in folds:
        train, test = problem.rows_among(train_numbers), problem.rows_among(test_numbers)
        again = len(folds) > 1 or (train != final_rows).any()
        everyone = problem_of(train_numbers) if problem_of is not None and again else problem
        part = everyone.take(train) if again else last
        unseen = everyone.take(test)
        for fitted in fitter.fit(part) if again else kinds:
            if fitted.kind in out_of_fold:
                _, centre, scale = _centre_and_scale(part, fitted)
                score = unseen.score(fitted.parameters, varying=problem.has_group_thresholds)
                out_of_fold[fitted.kind][test] = (score - centre) / scale
    tested = problem.rows_among(np.concatenate([test for _, test in folds]))
    kinds = [each for each in kinds if not np.isnan(out_of_fold[each.kind][tested]).any()]  # every fold has these
    attempts = [
        partial(_with_thresholds, fitter, problem, last, fitted, tested, out_of_fold[fitted.kind], person, len(kinds))
        for fitted in kinds
    ]
    return all_feasible(attempts), fitter.n_iter


def _centre_and_scale(problem: Problem, fitted: FittedScore) -> tuple[FloatArray, float, float]:
    """Scores of the rows of a problem, with their mean and standard deviation."""
    score, weight = problem.score(fitted.parameters, varying=problem.has_group_thresholds), problem.block.rows.weight
    centre = float(np.average(score, weights=weight))
    return score, centre, float(np.sqrt(np.average((score - centre) ** 2, weights=weight))) or 1.0


def _with_thresholds(
    fitter: ScoreFitter,
    problem: Problem,
    last: Problem,
    fitted: FittedScore,
    tested: BoolArray,
    score: FloatArray,
    person: NDArray[np.intp] | None,
    compared: int,
) -> list[OutOfFoldCandidate]:
    """Candidates with the best thresholds on out-of-fold scores of one kind, of so many that are compared."""
    rows, seen = problem.block.rows, np.round(score[tested], DIGITS)
    codes = rows.codes[tested]
    weight = None if rows.unweighted else rows.weight[tested]
    person = None if person is None else person[problem.row_numbers[tested]]
    curves = ThresholdCurves.from_codes(rows.y[tested] > 0, seen, codes, problem.labels, weight, person)
    raw, centre, scale = _centre_and_scale(last, fitted)
    scaled = ScaledScore(curves, scale, float(np.abs(raw).max()), centre)
    by_group, sets = problem.has_group_thresholds, fitter.prescribed_sets(problem)
    terms = problem.terms.fitted_to(curves, one_threshold=not by_group, compared=compared)
    candidates = []
    for candidate, threshold in with_thresholds(problem, fitted, scaled, terms, 0.0, by_group=by_group, sets=sets):
        margins = np.full(len(score), np.nan)
        margins[tested] = scaled.margins(seen, threshold[codes])
        candidates.append(OutOfFoldCandidate(candidate, margins, terms))
    return candidates
