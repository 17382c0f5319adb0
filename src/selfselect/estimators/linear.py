"""Linear classifiers that are trained on the problem of :mod:`selfselect.learning`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from .._frames import take_rows, to_pandas
from .._threads import one_thread
from .._validation import FloatArray, list_some
from ..constraints import InfeasibleError
from ..learning import Candidate, Problem, TrainingTerms, too_few_selected
from ..publishing.splits import Rows
from ..statistics import SLACK
from .base import SelfSelectionClassifier
from .training_data import TrainingPeople, as_counts

#: Sharpness of ``predict_proba``: the y~ = sigma(2 s) of the training objective.
TEMPERATURE = 2.0


class LinearClassifier(SelfSelectionClassifier):
    """Base of linear classifiers: a subclass says what it is trained for, and how."""

    l2: float = 0.0
    transformer: Any = None

    def _validate(self, X: Any, y: Any) -> tuple[Any, Any]:
        if self.transformer is None:
            X, y = validate_data(self, X, y, dtype=np.float64)
            return X, y
        if not (hasattr(self.transformer, "fit_transform") and hasattr(self.transformer, "transform")):
            raise TypeError(
                f"transformer must be a scikit-learn transformer (with fit_transform and transform), got "
                f"{self.transformer!r}."
            )
        return super()._validate(X, y)

    def _transform(self, people: TrainingPeople, rows: Rows) -> tuple[FloatArray, Any]:
        """Features of all rows by a transformer that is fitted to some of them, and this transformer."""
        if people.weights is not None:
            rows = rows[people.weights[rows] > 0]
        transformer, others = clone(self.transformer), np.setdiff1d(np.arange(len(people.qualified)), rows)
        fitted = self._check_features(transformer.fit_transform(take_rows(people.X, rows), take_rows(people.y, rows)))
        if not len(others):
            return fitted, transformer
        features = np.empty((len(people.qualified), fitted.shape[1]))
        features[rows] = fitted
        features[others] = self._check_features(transformer.transform(take_rows(people.X, others)))
        return features, transformer

    def _check_features(self, X: Any) -> FloatArray:
        """What a transformer returns, as a dense table of finite numbers."""
        X = X.toarray() if issparse(X) else X
        return np.asarray(check_array(X, dtype=np.float64, input_name="the output of transformer", estimator=self))

    @abstractmethod
    def _terms_of_training(self, people: TrainingPeople) -> TrainingTerms:
        """What the classifier is trained for; raises if a setting is wrong."""

    @abstractmethod
    def _solve(
        self, X: FloatArray, people: TrainingPeople, problem: Problem, problem_of: Callable[[Rows], Problem] | None
    ) -> tuple[Candidate, FloatArray | None]:
        """The classifier that is kept, and scores of the evaluated rows if others than those fitted are evaluated.

        ``problem_of`` gives the problem of a fold by its training rows, if there is a transformer.
        """

    def _fit(self, people: TrainingPeople) -> tuple[NDArray[Any], NDArray[Any]]:
        terms, X, problem_of = self._terms_of_training(people), people.X, None
        self.__dict__.pop("transformer_", None)  # of an earlier fit
        with one_thread():
            if self.transformer is not None:
                X, self.transformer_ = self._transform(people, people.splits.final)

                def problem_of(rows: Rows) -> Problem:
                    return self._problem(self._transform(people, rows)[0], people, terms)

            problem = self._problem(X, people, terms)
            best, unseen = self._solve(X, people, problem, problem_of)
        coefficients, intercept = problem.standardisation.undo_parameters(best.parameters)
        self.coef_ = self._for_second_class(coefficients)[None, :]
        self.intercept_ = self._for_second_class(np.array([intercept]))
        self.origin_ = best.origin
        in_sample = X[people.splits.final] @ coefficients + intercept
        score = in_sample if unseen is None else unseen
        counts, least = people.counts(people.splits.evaluated, score > 0), terms.constraints.min_selection_rate
        if least > 0 and (counts.selected < (least - SLACK) * counts.n).any():
            raise InfeasibleError(too_few_selected(people.groups.labels, counts, least))
        return score, in_sample

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
        X = to_pandas(X)
        if hasattr(self, "transformer_"):
            X = self._check_features(self.transformer_.transform(X))
        else:
            X = validate_data(self, X, reset=False, dtype=np.float64)
        return np.asarray(X @ self.coef_[0] + self.intercept_[0])

    def predict(self, X: Any) -> NDArray[Any]:
        """Label of each row."""
        score = self.decision_function(X)
        return self._as_labels(score < 0 if self._positive_is_first else score > 0)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Smooth predictions ``sigma(2 score)`` of both classes: they rank people, and are not calibrated."""
        second = expit(TEMPERATURE * self.decision_function(X))
        return np.column_stack([1 - second, second])
