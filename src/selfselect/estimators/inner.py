"""Shared by classifiers that hold another one, of any kind, and use its score."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from .._frames import plain_frame, take_rows
from .._threads import one_thread
from .._validation import check_floats
from ..publishing.splits import Rows
from .base import SelfSelectionClassifier
from .files import decode, encode, linear_state, restore_linear

#: Columns of other spreads than between the first two, or further from 0 than so many spreads, are scaled before a
#: logistic regression is fitted: its solver would stop far from the best weights, and say nothing.
NARROWEST, WIDEST, FARTHEST = 5e-3, 1e2, 30.0


def default_estimator() -> LogisticRegression:
    """Logistic regression without penalty, as in the paper."""
    return LogisticRegression(C=np.inf, max_iter=1000)


def fit_default(X: Any, y: Any, **given: Any) -> LogisticRegression:
    """Fit the default estimator, on scaled columns if some are of another size than its solver can take.

    Without a penalty the best predictions are the same; the weights are those for the columns as they are. Tables whose
    columns are standardised, indicators or shares are taken as they stand.

    Examples
    --------
    >>> seconds = np.linspace(1.6e9, 1.7e9, 200)[:, None]
    >>> late = seconds[:, 0] + np.tile([2e7, -2e7], 100) > 1.65e9
    >>> round(fit_default(seconds, late).score(seconds, late), 2)
    0.8
    """
    inner = default_estimator()
    columns = _dense_numbers(X)
    if columns is None:
        return inner.fit(X, y, **given)
    centre, spread = columns.mean(axis=0), columns.std(axis=0)
    indicator = ((columns == 0) | (columns == 1)).all(axis=0)
    fine = (spread >= NARROWEST) & (spread <= WIDEST) & (np.abs(centre) <= FARTHEST * spread)
    constant = spread <= np.finfo(np.float64).eps * np.abs(centre)
    if (fine | indicator | constant & (np.abs(centre) <= WIDEST)).all():
        return inner.fit(X, y, **given)
    unit = np.where(constant, 1.0, spread)
    inner.fit(np.where(constant, 0.0, (columns - centre) / unit), y, **given)
    validate_data(inner, X, skip_check_array=True)  # names of features are those of the table
    inner.coef_ = inner.coef_ / unit
    inner.intercept_ = inner.intercept_ - inner.coef_ @ centre
    return inner


def _dense_numbers(X: Any) -> NDArray[np.float64] | None:
    """Table as numbers, if it is one of finite numbers; what else it is, the estimator complains about."""
    if issparse(X):
        return None
    try:
        columns = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return columns if columns.ndim == 2 and len(columns) and np.isfinite(columns).all() else None


def fitted_or_default(classifier: Any) -> Any:
    """Inner classifier where it is fitted, else the one that would be."""
    for inner in (getattr(classifier, "estimator_", None), classifier.estimator):
        if inner is not None:  # never by truth: an ensemble that is not fitted has no length
            return inner
    return default_estimator()


def inner_has(method: str) -> Any:
    """Whether the inner classifier has a method, for ``available_if``."""

    def check(self: Any) -> bool:
        getattr(fitted_or_default(self), method)
        return True

    return check


def score_of(estimator: Any, X: Any, positive: Any) -> NDArray[np.float64]:
    """Score of each row by any classifier, larger for the positive label.

    ``decision_function``, turned round if it is for the other label; else the probability of the positive label.
    """
    classes = list(getattr(estimator, "classes_", [None, positive]))
    if hasattr(estimator, "decision_function"):
        score = np.asarray(estimator.decision_function(X))
        score = score if classes[1] == positive else -score
    elif hasattr(estimator, "predict_proba"):
        score = np.asarray(estimator.predict_proba(X))[:, classes.index(positive)]
    else:
        raise TypeError(
            f"estimator must have decision_function or predict_proba to get a threshold; {estimator!r} has neither."
        )
    return check_floats(score, "score of the estimator")


def has_score(estimator: Any) -> bool:
    """Whether a classifier has a score to put a threshold on."""
    return hasattr(estimator, "decision_function") or hasattr(estimator, "predict_proba")


def default_threshold_of(estimator: Any) -> float:
    """Threshold by which a classifier decides by itself."""
    return 0.0 if hasattr(estimator, "decision_function") else 0.5


def is_plain(estimator: Any) -> bool:
    """Whether a fitted classifier is a logistic regression that JSON has words for."""
    if type(estimator) is not LogisticRegression or not isinstance(estimator.coef_, np.ndarray):
        return False
    try:
        encode(estimator.get_params())
    except TypeError:
        return False
    return True


class InnerClassifier(SelfSelectionClassifier):
    """Shared by classifiers that hold another one as ``estimator_``."""

    estimator: Any
    _STATE: tuple[str, ...] = ("coef", "intercept", "estimator", "estimator_")

    def __sklearn_tags__(self) -> Any:
        """What the inner classifier can take, this one can."""
        tags = super().__sklearn_tags__()
        inner = fitted_or_default(self)
        if hasattr(inner, "__sklearn_tags__"):
            tags.input_tags = inner.__sklearn_tags__().input_tags
        return tags

    def _check_inner(self, X: Any, y: Any) -> None:
        # names and number of features are noted; what X may hold is the inner classifier's business
        validate_data(self, X, y, skip_check_array=True)
        check_consistent_length(X, y)
        if self.estimator is not None and not hasattr(self.estimator, "fit"):
            raise TypeError(f"estimator must be a scikit-learn classifier, got {self.estimator!r}.")

    def _check_same_classes(self, fitted: Any) -> None:
        """Refuse a fitted classifier of other labels: its score would be taken for that of the wrong one."""
        known = getattr(fitted, "classes_", self.classes_)
        if set(known) != set(self.classes_):
            raise ValueError(f"estimator was fitted to classes {known}, y holds {self.classes_}.")

    def _fit_inner(self, X: Any, y: Any, sample_weight: Any, rows: Rows, candidate: Any = None) -> Any:
        """A fresh inner classifier (by default ``estimator``), fitted to some rows."""
        unfitted = self.estimator if candidate is None else candidate
        given = {} if sample_weight is None else {"sample_weight": take_rows(sample_weight, rows)}
        with one_thread():
            if unfitted is None:
                return fit_default(take_rows(X, rows), take_rows(y, rows), **given)
            return clone(unfitted).fit(take_rows(X, rows), take_rows(y, rows), **given)

    def _inner_score(self, X: Any) -> NDArray[np.float64]:
        """Score of the fitted inner classifier, larger for the qualified."""
        return score_of(self.estimator_, plain_frame(X), self.positive_)

    @property
    def coef_(self) -> NDArray[Any]:
        """Weights of a linear inner classifier."""
        check_is_fitted(self, "estimator_")
        coef: NDArray[Any] = self.estimator_.coef_
        return coef

    # ------------------------------------------------------------------ as data

    def _held(self) -> dict[str, Any]:
        competing = getattr(self, "estimators", None)
        if competing is None and is_plain(self.estimator_):
            return {}
        fitted = getattr(self, "prefit", False)
        held: dict[str, Any] = {"estimator_": self.estimator_}
        if competing is not None:
            held["estimators"] = [one if fitted or one is None else clone(one) for one in competing]
        elif not fitted and self.estimator is not None:
            held["estimator"] = clone(self.estimator)
        return held

    def _fitted_state(self) -> dict[str, Any]:
        if self._held():
            return {}
        inner = self.estimator_
        state: dict[str, Any] = {}
        if self.estimator is not None:  # so that what is read back can be fitted again as it was
            state["estimator"] = {key: encode(value) for key, value in inner.get_params().items()}
        return state | linear_state(inner)

    def _restore(self, state: dict[str, Any], groups: pd.Index) -> None:
        if "estimator_" in state:
            self._restore_held(state["estimator_"])
        else:
            self._restore_plain(state)

    def _restore_held(self, inner: Any) -> None:
        """Take back a classifier of any kind, if it fits."""
        if not isinstance(inner, BaseEstimator) or not hasattr(inner, "predict"):
            raise ValueError(f"It is damaged: instead of a classifier it holds a {type(inner).__name__}.")
        check_is_fitted(inner)
        classes = np.asarray(getattr(inner, "classes_", self.classes_)).tolist()
        if sorted(classes) != sorted(self.classes_.tolist()):
            raise ValueError(f"It is damaged: the classifier inside knows the classes {classes!r}.")
        features = getattr(inner, "n_features_in_", self.n_features_in_)
        if features != self.n_features_in_:
            raise ValueError(f"It is damaged: the classifier inside is for {features} features.")
        if getattr(self, "prefit", False) and getattr(self, "estimators", None) is None:
            self.estimator = inner
        self.estimator_ = inner

    def _restore_plain(self, state: dict[str, Any]) -> None:
        params = {key: decode(value) for key, value in state.get("estimator", {}).items()}
        if not set(params) <= set(LogisticRegression._get_param_names()):
            raise ValueError("It holds something unknown about its logistic regression.")
        inner = LogisticRegression(**params) if params else default_estimator()
        if params:
            self.estimator = inner if getattr(self, "prefit", False) else clone(inner)
        inner.classes_, inner.n_features_in_ = self.classes_, self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            inner.feature_names_in_ = self.feature_names_in_
        restore_linear(inner, state, self.n_features_in_)
        self.estimator_ = inner
