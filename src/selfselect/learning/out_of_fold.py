"""Choose among scores, groups and thresholds by out-of-fold scores.

Every kind of score (logistic; refined for some groups; ...) is fitted several times, each time without some of the
people, whom it then scores. These out-of-fold scores decide, so that overfitting does not count. The chosen kind is
then fitted once more to everybody and keeps the thresholds. Scores of one kind are centred and scaled alike each time,
to be comparable. With k folds this takes about k + 1 times as long as choosing in training.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray
from ..constraints import InfeasibleError
from ..publishing import ThresholdCurves
from .candidates import DIGITS, Candidate, group_thresholds, threshold_between
from .evaluation import evaluate_thresholds
from .problem import Problem
from .solvers import solve_all_groups
from .starts import FittedScore, fit_scores, gaussian_starts, logistic_start, scores_for_shares, target_sets


@dataclass(frozen=True, eq=False)
class OutOfFoldCandidate:
    """A classifier, fitted to the final rows, that was evaluated on people its score had not seen.

    ``score`` is the out-of-fold score of each row of the problem on the scale of the candidate, positive for those who
    are selected; NaN for rows that are in no test fold.
    """

    candidate: Candidate
    score: FloatArray


class _CandidateFitter:
    """Fits scores of all kinds to any rows of one problem, or of the same people with other features."""

    def __init__(
        self, problem: Problem, random: np.random.RandomState, *, with_refinement: bool, max_iter: int | None
    ) -> None:
        self.problem, self.random, self.with_refinement, self.max_iter = problem, random, with_refinement, max_iter
        self.gaussian = gaussian_starts(random, problem.n_features)
        self.n_iter = 0
        self._sets: list[NDArray[np.intp]] | None = None

    def fit(self, problem: Problem) -> tuple[Problem, list[FittedScore]]:
        """Scores of all kinds. The first call decides for which groups scores are refined."""
        if not problem.terms.all_or_nobody:
            start, self.n_iter = logistic_start(problem, self.max_iter)
            same_width = problem.n_features == self.problem.n_features
            gaussian = self.gaussian if same_width else gaussian_starts(self.random, problem.n_features)
            trained = scores_for_shares(problem, start, gaussian) if self.with_refinement else []
            return problem, [FittedScore("everybody", start), *trained]
        if problem.shares_threshold and self.with_refinement:
            with np.errstate(over="ignore", invalid="ignore"):  # barriers may be too steep for few people
                candidates, self.n_iter = solve_all_groups(problem.without_empty_groups(), self.max_iter)
            finite = [candidate for candidate in candidates if np.isfinite(candidate.parameters).all()]
            return problem, [FittedScore(candidate.origin, candidate.parameters) for candidate in finite]
        start, self.n_iter = logistic_start(problem, self.max_iter)
        if self._sets is None:
            self._sets = target_sets(problem, start)
        return problem, fit_scores(problem, start, self._sets if self.with_refinement else [])

    @property
    def prescribed_sets(self) -> list[NDArray[np.intp]] | None:
        """Sets of groups that meet constraints on applicants; None without such constraints."""
        return self._sets if self.problem.terms.constraints.prescribes_applicants else None

    def score(self, problem: Problem, parameters: FloatArray) -> FloatArray:
        """Scores of the rows of a problem; with a threshold per group, of the columns that vary within groups."""
        X = problem.block.X
        if self.problem.has_group_thresholds:
            width = problem.n_varying
            return np.asarray(X[:, :width] @ parameters[:width])
        return np.asarray(X @ parameters[:-1] + parameters[-1])

    def centre_and_scale(self, problem: Problem, parameters: FloatArray) -> tuple[FloatArray, float, float]:
        """Scores of the rows of a problem, with their mean and standard deviation."""
        score, weight = self.score(problem, parameters), problem.block.rows.weight
        centre = float(np.average(score, weights=weight))
        return score, centre, float(np.sqrt(np.average((score - centre) ** 2, weights=weight))) or 1.0


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
    fitter = _CandidateFitter(problem, random, with_refinement=with_refinement, max_iter=max_iter)
    final_rows = problem.rows_among(final)
    last, kinds = fitter.fit(problem.take(final_rows))
    n_rows = len(problem.row_numbers)
    out_of_fold: dict[str, FloatArray] = {fitted.kind: np.full(n_rows, np.nan) for fitted in kinds}
    for train_numbers, test_numbers in folds:
        train, test = problem.rows_among(train_numbers), problem.rows_among(test_numbers)
        again = len(folds) > 1 or (train != final_rows).any()
        everyone = problem_of(train_numbers) if problem_of is not None and again else problem
        part, scores = fitter.fit(everyone.take(train)) if again else (last, kinds)
        unseen = everyone.take(test)
        for fitted in scores:
            if fitted.kind in out_of_fold:
                _, centre, scale = fitter.centre_and_scale(part, fitted.parameters)
                out_of_fold[fitted.kind][test] = (fitter.score(unseen, fitted.parameters) - centre) / scale
    tested = problem.rows_among(np.concatenate([test for _, test in folds]))
    candidates = []
    for fitted in kinds:
        score = np.round(out_of_fold[fitted.kind][tested], DIGITS)
        if not np.isnan(score).any():  # every fold has this kind
            try:
                with_thresholds = _with_thresholds(fitter, last, fitted, tested, score, person)
            except InfeasibleError as error:
                infeasible = error
                continue
            for candidate, margins in with_thresholds:
                margin = np.full(n_rows, np.nan)
                margin[tested] = margins
                candidates.append(OutOfFoldCandidate(candidate, margin))
    if not candidates:
        raise infeasible
    return candidates, fitter.n_iter


def _with_thresholds(
    fitter: _CandidateFitter,
    last: Problem,
    fitted: FittedScore,
    tested: BoolArray,
    score: FloatArray,
    person: NDArray[np.intp] | None,
) -> list[tuple[Candidate, FloatArray]]:
    """Candidates with the best thresholds on out-of-fold scores of one kind, each with the margins of tested rows."""
    problem, rows = fitter.problem, fitter.problem.block.rows
    codes = rows.codes[tested]
    weight = None if rows.unweighted else rows.weight[tested]
    person = None if person is None else person[problem.row_numbers[tested]]
    curves = ThresholdCurves.from_codes(rows.y[tested] > 0, score, codes, problem.labels, weight, person)
    terms = problem.terms.fitted_to(curves, one_threshold=not problem.has_group_thresholds)
    raw, centre, scale = fitter.centre_and_scale(last, fitted.parameters)
    if not problem.has_group_thresholds:
        evaluation, thresholds, evaluated = evaluate_thresholds(terms, curves, fitted_weights=0.0)
        best = evaluation.best()
        threshold = float(threshold_between(thresholds, int(evaluated[best])))
        intercept = fitted.parameters[-1] - (centre + scale * threshold)
        parameters = np.append(fitted.parameters[:-1], intercept)
        return [(Candidate.from_evaluation(parameters, evaluation, best, fitted.kind), (score - threshold) * scale)]
    sets = [fitted.groups] if fitted.groups is not None else fitter.prescribed_sets
    size = float(np.abs(raw).max())
    candidates = []
    for choice in group_thresholds(terms, curves, 0.0, sets):
        parameters = choice.parameters(problem, fitted.parameters, size, scale, centre)
        candidate = Candidate.from_evaluation(parameters, choice.evaluation, 0, choice.origin(fitted.kind, problem))
        candidates.append((candidate, choice.margins(score, codes, size, scale, centre)))
    return candidates
