"""A classifier that is fitted once to the same data, and then looked up."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Self

import joblib
from sklearn.base import BaseEstimator, ClassifierMixin, clone

#: Fitted classifiers that a process keeps: enough for the folds of two classifiers on one split.
MAX_FITTED = 16
_fitted: OrderedDict[str, Any] = OrderedDict()


class MemoizedClassifier(ClassifierMixin, BaseEstimator):
    """A deterministic classifier, whose fit to the same data with the same parameters is looked up in this process.

    Scores do not depend on the cost, so that one fit serves all costs.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def __sklearn_tags__(self) -> Any:
        """Tags of the wrapped classifier."""
        return self.estimator.__sklearn_tags__()

    def fit(self, X: Any, y: Any) -> Self:
        """Fit, or look up the same fit."""
        key = joblib.hash((type(self.estimator), self.estimator.get_params(), X, y))
        if key not in _fitted:
            _fitted[key] = clone(self.estimator).fit(X, y)
            if len(_fitted) > MAX_FITTED:
                _fitted.popitem(last=False)
        _fitted.move_to_end(key)
        self.estimator_ = _fitted[key]
        self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X: Any) -> Any:
        """Label of each row."""
        return self.estimator_.predict(X)

    def decision_function(self, X: Any) -> Any:
        """Score of each row."""
        return self.estimator_.decision_function(X)

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of both classes."""
        return self.estimator_.predict_proba(X)
