"""Base of classifiers that wrap another classifier and use its score."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted, validate_data

from .._frames import take_rows, to_pandas
from .._threads import one_thread
from .._validation import FloatArray, check_floats, check_same_rows
from ..costs import Cost
from ..publishing.splits import Rows
from .base import SelfSelectionClassifier
from .docs import estimator_class
from .training_data import TrainingPeople, groups_for, plain_groups

#: Columns whose standard deviation is outside the first two, or whose mean is more than so many standard deviations
#: from 0, are scaled before a logistic regression: its solver would stop far from the optimum without a warning.
MIN_STD, MAX_STD, MAX_MEAN_IN_STD = 5e-3, 1e2, 30.0


def default_estimator() -> LogisticRegression:
    """Logistic regression without penalty, as in the paper."""
    return LogisticRegression(C=np.inf, max_iter=1000)


def fit_default(X: Any, y: Any, **fit_params: Any) -> LogisticRegression:
    """Fit the default estimator, on scaled columns if some are too large or too small for its solver.

    Without a penalty scaling does not change the optimum. The coefficients are those of the columns as they are.
    Columns that are standardised, indicators or shares are not scaled.
    """
    inner = default_estimator()
    columns = _finite_numbers(X)
    if columns is None:
        return inner.fit(X, y, **fit_params)
    mean, std = columns.mean(axis=0), columns.std(axis=0)
    indicator = ((columns == 0) | (columns == 1)).all(axis=0)
    moderate = (std >= MIN_STD) & (std <= MAX_STD) & (np.abs(mean) <= MAX_MEAN_IN_STD * std)
    constant = std <= np.finfo(np.float64).eps * np.abs(mean)
    if (moderate | indicator | constant & (np.abs(mean) <= MAX_STD)).all():
        return inner.fit(X, y, **fit_params)
    unit = np.where(constant, 1.0, std)
    inner.fit(np.where(constant, 0.0, (columns - mean) / unit), y, **fit_params)
    validate_data(inner, X, skip_check_array=True)  # sets the names of the features
    inner.coef_ = inner.coef_ / unit
    inner.intercept_ = inner.intercept_ - inner.coef_ @ mean
    return inner


def _finite_numbers(X: Any) -> NDArray[np.float64] | None:
    """A dense table of finite numbers as an array, else None: then the estimator decides what to do with it."""
    if issparse(X):
        return None
    try:
        columns = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return columns if columns.ndim == 2 and len(columns) and np.isfinite(columns).all() else None


def fitted_or_default(classifier: Any) -> Any:
    """The fitted inner classifier, or before fit the one that will be fitted."""
    for inner in (getattr(classifier, "estimator_", None), classifier.estimator):
        if isinstance(inner, list | tuple) and inner:
            return inner[0]
        if inner is not None:  # an unfitted ensemble has no length, and so no truth value
            return inner
    return default_estimator()


def inner_has(method: str) -> Any:
    """Whether the inner classifier has a method, for ``available_if``."""

    def check(self: Any) -> bool:
        getattr(fitted_or_default(self), method)
        return True

    return check


def score_of(estimator: Any, X: Any, positive: int, groups: Any = None) -> NDArray[np.float64]:
    """Score of each row by any classifier, larger for the class at the position ``positive`` (0 or 1).

    ``decision_function``, negated if it is larger for the other class; else the probability of the class.
    """
    if hasattr(estimator, "decision_function"):
        score = np.asarray(estimator.decision_function(X, **groups_for(estimator, "decision_function", groups)))
        score = score if positive == 1 else -score
    elif hasattr(estimator, "predict_proba"):
        score = np.asarray(estimator.predict_proba(X, **groups_for(estimator, "predict_proba", groups)))[:, positive]
    else:
        raise TypeError(
            f"estimator must have decision_function or predict_proba to get a threshold; {estimator!r} has neither."
        )
    return check_floats(score, "score of the estimator")


def default_threshold_of(estimator: Any) -> float:
    """Threshold by which a classifier predicts: 0 for ``decision_function``, 0.5 for a probability."""
    return 0.0 if hasattr(estimator, "decision_function") else 0.5


@estimator_class
class WrappedClassifier(SelfSelectionClassifier):
    """Base of classifiers that hold another classifier as ``estimator_``."""

    # with metadata routing, groups are requested by default
    __metadata_request__predict = {"sensitive_features": True}  # noqa: RUF012
    __metadata_request__decision_function = {"sensitive_features": True}  # noqa: RUF012

    estimator: Any = field(default=None, kw_only=False)
    cost: Cost = 0.7
    prefit = False

    def __sklearn_tags__(self) -> Any:
        """Tags of the inner classifier for what X may hold."""
        tags = super().__sklearn_tags__()
        inner = fitted_or_default(self)
        if hasattr(inner, "__sklearn_tags__"):
            tags.input_tags = inner.__sklearn_tags__().input_tags
        return tags

    def _validate(self, X: Any, y: Any) -> tuple[Any, Any]:
        for estimator in self._candidates():
            if estimator is not None and not hasattr(estimator, "fit"):
                raise TypeError(f"estimator must be a scikit-learn classifier, got {estimator!r}.")
        return super()._validate(X, y)

    def _candidates(self) -> list[Any]:
        """Inner classifiers to choose from."""
        return [self.estimator]

    def _fit_and_score(self, people: TrainingPeople, inner: Any) -> tuple[NDArray[Any], Any]:
        """Scores of the evaluated rows by classifiers that were not fitted to them, and the final classifier."""
        if self.prefit:
            self._check_prefit(inner)
        return people.splits.run(
            lambda rows: inner if self.prefit else self._fit_inner(people, rows, inner),
            lambda model, rows: self._score_of(model, *people.take(rows)),
        )

    def _score_fitted(self, people: TrainingPeople, score: NDArray[Any]) -> NDArray[Any]:
        """Scores of the rows that the final classifier is fitted to, given those of the evaluated rows."""
        if people.splits.mode == "train":
            return score
        return self._score_of(self.estimator_, *people.take(people.splits.final))

    def _check_prefit(self, estimator: Any) -> None:
        """Refuse a missing estimator, one that is not fitted, and one that was fitted to other labels."""
        if estimator is None:
            raise ValueError("prefit=True needs a fitted estimator; estimator is None.")
        check_is_fitted(estimator)
        classes = getattr(estimator, "classes_", self.classes_)
        if set(classes) != set(self.classes_):
            raise ValueError(f"estimator was fitted to classes {classes}, y holds {self.classes_}.")

    def _fit_inner(self, people: TrainingPeople, rows: Rows, unfitted: Any) -> Any:
        """Fit a clone of an inner classifier (None: the default) to some rows."""
        (X, groups), y, weights = people.take(rows), take_rows(people.y, rows), take_rows(people.given_weights, rows)
        fit_params = {} if weights is None else {"sample_weight": weights}
        self.labels_encoded_ = False
        with one_thread():
            if unfitted is None:
                return fit_default(X, y, **fit_params)
            fit_params |= groups_for(unfitted, "fit", groups)
            try:
                return clone(unfitted).fit(X, y, **fit_params)
            except (TypeError, ValueError):
                if set(self.classes_) == {0, 1}:
                    raise
                self.labels_encoded_ = True  # some classifiers take no other labels than 0 and 1
                return clone(unfitted).fit(X, (np.asarray(y) == self.classes_[1]).astype(int), **fit_params)

    def _score_of(self, inner: Any, X: Any, groups: Any) -> NDArray[np.float64]:
        """Score of a fitted inner classifier, larger for the qualified."""
        classes = getattr(inner, "classes_", self.classes_)
        classes = classes if set(classes) == set(self.classes_) else self.classes_  # 0 and 1 are in the same order
        return score_of(inner, X, list(classes).index(self.positive_), groups)

    def _checked(self, X: Any, sensitive_features: Any) -> tuple[Any, Any]:
        """Features and groups of new people, as the inner classifier gets them."""
        check_is_fitted(self, "published_")
        check_same_rows(X=X, sensitive_features=sensitive_features)
        X = to_pandas(X)
        return X, plain_groups(self._groups_of(X, sensitive_features))

    def _above_threshold(self, X: Any, sensitive_features: Any) -> FloatArray:
        """Inner score minus the threshold; positive means selected."""
        X, groups = self._checked(X, sensitive_features)
        score = self._score_of(self.estimator_, X, groups)
        return np.asarray(score - self._threshold_of(groups, len(score)))

    def _threshold_of(self, groups: Any, n_rows: int) -> Any:
        """Threshold of all people, or of each person."""
        raise NotImplementedError

    def decision_function(self, X: Any, sensitive_features: Any = None) -> NDArray[np.float64]:
        """Inner score minus the threshold; positive for the second class."""
        return self._for_second_class(self._above_threshold(X, sensitive_features))

    def predict(self, X: Any, sensitive_features: Any = None) -> NDArray[Any]:
        """Label of each row: qualified where the inner score is above the threshold."""
        return self._as_labels(self._above_threshold(X, sensitive_features) > 0)

    def _predict_with_groups(self, X: Any, sensitive_features: Any) -> NDArray[Any]:
        return np.asarray(self.predict(X, sensitive_features))

    @property
    def coef_(self) -> NDArray[Any]:
        """Coefficients of a linear inner classifier."""
        check_is_fitted(self, "estimator_")
        coef: NDArray[Any] = self.estimator_.coef_
        return coef
