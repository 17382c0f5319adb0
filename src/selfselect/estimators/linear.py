"""Linear classifiers that are trained on the problem of :mod:`selfselect.learning`."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted, validate_data

from .._frames import to_pandas
from .._threads import one_thread
from .._validation import FloatArray, list_some
from ..constraints import InfeasibleError
from ..learning import Candidate, Problem, TrainingTerms, too_few_selected
from ..statistics import SLACK
from .base import SelfSelectionClassifier
from .training_data import TrainingPeople, as_counts

#: Sharpness of ``predict_proba``: the y~ = sigma(2 s) of the training objective.
TEMPERATURE = 2.0


class LinearClassifier(SelfSelectionClassifier):
    """Base of linear classifiers: a subclass says what it is trained for, and how."""

    l2: float = 0.0

    def _validate(self, X: Any, y: Any) -> tuple[Any, Any]:
        X, y = validate_data(self, X, y, dtype=np.float64)
        return X, y

    @abstractmethod
    def _terms_of_training(self, people: TrainingPeople) -> TrainingTerms:
        """What the classifier is trained for; raises if a setting is wrong."""

    @abstractmethod
    def _solve(self, X: FloatArray, people: TrainingPeople, problem: Problem) -> tuple[Candidate, FloatArray | None]:
        """The classifier that is kept, and scores of the evaluated rows if others than those fitted are evaluated."""

    def _fit(self, X: Any, y: Any, people: TrainingPeople, sample_weight: Any) -> None:
        terms = self._terms_of_training(people)
        with one_thread():
            problem = self._problem(X, people, terms)
            best, unseen = self._solve(X, people, problem)
        coefficients, intercept = problem.standardisation.undo_parameters(best.parameters)
        self.coef_ = self._for_second_class(coefficients)[None, :]
        self.intercept_ = self._for_second_class(np.array([intercept]))
        self.origin_ = best.origin
        in_sample = X[people.splits.final] @ coefficients + intercept
        self._publish(people, in_sample if unseen is None else unseen, in_sample)
        counts, least = self.published_.counts, terms.constraints.min_selection_rate
        if least > 0 and (counts.selected < (least - SLACK) * counts.n).any():
            raise InfeasibleError(too_few_selected(self.published_.groups, counts, least))
        self._check_constraints()

    def _problem(self, X: FloatArray, people: TrainingPeople, terms: TrainingTerms) -> Problem:
        """The task of the rows with a positive weight."""
        qualified, groups, weights = people.qualified, people.groups, people.weights
        counted = slice(None) if weights is None or weights.all() else weights > 0
        used, codes = np.unique(groups.codes[counted], return_inverse=True)
        gone = np.setdiff1d(np.flatnonzero(terms.required), used)
        if len(gone):
            raise ValueError(f"Groups must apply all of whose rows weigh 0: {list_some(groups.labels[gone])}.")
        if len(np.unique(qualified[counted])) < 2:
            raise ValueError("sample_weight leaves one class only: there must be qualified and unqualified people.")
        counts = (np.ones(len(qualified)) if weights is None else as_counts(weights))[counted]
        row_numbers = np.arange(len(qualified))[counted]
        labels = groups.labels[used]
        return Problem.build(
            X[counted], qualified[counted], codes, labels, counts, terms.take(used), self.l2, row_numbers
        )

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score of each row: positive for the second class."""
        check_is_fitted(self, "coef_")
        X = validate_data(self, to_pandas(X), reset=False, dtype=np.float64)
        return np.asarray(X @ self.coef_[0] + self.intercept_[0])

    def predict(self, X: Any) -> NDArray[Any]:
        """Label of each row."""
        score = self.decision_function(X)
        return self._as_labels(score < 0 if self._positive_is_first else score > 0)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Smooth predictions ``sigma(2 score)`` of both classes: they rank people, and are not calibrated."""
        second = expit(TEMPERATURE * self.decision_function(X))
        return np.column_stack([1 - second, second])


def check_whole(value: Any, name: str, least: int) -> None:
    """Refuse anything but a whole number of at least ``least``."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}.")
