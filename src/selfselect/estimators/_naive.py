"""A classifier that is blind to applications, with what it would publish."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from .._threads import one_thread
from ..behaviour import Cost, Subsidies, SubsidyKind
from ._base import SelfSelectionClassifier


def default_estimator() -> LogisticRegression:
    """Logistic regression without penalty, as in the paper."""
    return LogisticRegression(C=np.inf, max_iter=1000)


def fitted_or_default(estimator: Any) -> Any:
    """Inner classifier where it is fitted, else the one that would be."""
    return getattr(estimator, "estimator_", None) or estimator.estimator or default_estimator()


def inner_has(method: str) -> Any:
    """Whether the inner classifier has a method, for ``available_if``."""

    def check(self: Any) -> bool:
        getattr(fitted_or_default(self), method)
        return True

    return check


class InnerClassifier(SelfSelectionClassifier):
    """Shared by classifiers that hold another one as ``estimator_``."""

    estimator: Any

    def __sklearn_tags__(self) -> Any:
        """What the inner classifier can take, this one can."""
        tags = super().__sklearn_tags__()
        inner = fitted_or_default(self)
        if hasattr(inner, "__sklearn_tags__"):
            tags.input_tags = inner.__sklearn_tags__().input_tags
        return tags

    def _fit_inner(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> None:
        # names and number of features are noted; what X may hold is the inner classifier's business
        validate_data(self, X, y, skip_check_array=True)
        if self.estimator is not None and not hasattr(self.estimator, "fit"):
            raise TypeError(f"estimator must be a scikit-learn classifier, got {self.estimator!r}.")
        inner = clone(self.estimator) if self.estimator is not None else default_estimator()
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        with one_thread():
            self.estimator_ = inner.fit(X, y, **given)

    @property
    def coef_(self) -> NDArray[Any]:
        """Weights of a linear inner classifier."""
        check_is_fitted(self, "estimator_")
        coef: NDArray[Any] = self.estimator_.coef_
        return coef


class NaiveClassifier(InnerClassifier):
    """Any classifier, trained on everybody as if everybody applied.

    Parameters
    ----------
    estimator : classifier, optional
        Any scikit-learn classifier; by default a logistic regression without penalty.
    cost : float or mapping from group to float, default=0.7
        Cost of the test in [0, 1]. Training ignores it; :meth:`applies` and :meth:`audit` do not.
    subsidies : float or mapping from group to float, optional
        Subsidies.
    subsidy_kind : {"additive", "proportional"}, default="additive"
        Kind of subsidies.

    Attributes
    ----------
    estimator_ : classifier
        The fitted one.
    published_ : PublishedStatistics
        Counts of the training set per group.
    classes_ : ndarray of shape (2,)
        The labels; the second one means qualified.

    Examples
    --------
    >>> from selfselect.datasets import make_base_rate_groups
    >>> X, y, z = make_base_rate_groups((0.5, 0.15), random_state=0, return_X_y_group=True)
    >>> NaiveClassifier(cost=0.8).fit(X, y, sensitive_features=z).applies().to_dict()
    {'z0': True, 'z1': False}
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        cost: Cost = 0.7,
        subsidies: Subsidies = None,
        subsidy_kind: SubsidyKind = "additive",
    ) -> None:
        self.estimator = estimator
        self.cost = cost
        self.subsidies = subsidies
        self.subsidy_kind = subsidy_kind

    def fit(self, X: Any, y: ArrayLike, *, sensitive_features: Any = None, sample_weight: Any = None) -> Self:
        """Fit the inner classifier and publish its statistics.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            Two labels; the larger one means qualified.
        sensitive_features : array-like, Series, DataFrame or dict of columns, optional
            Group of each row; without it everyone is one group.
        sample_weight : array-like of shape (n_rows,), optional
            Weights.
        """
        qualified = self._check_labels(y)
        groups, costs = self._check_groups(sensitive_features, len(qualified))
        self._fit_inner(X, y, sample_weight)
        self._publish(qualified, self.estimator_.predict(X), groups, costs, sample_weight)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Label of each row."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict(X))

    @available_if(inner_has("decision_function"))
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Score of each row, positive for the second class."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.decision_function(X))

    @available_if(inner_has("predict_proba"))
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Probabilities of both classes, by the inner classifier."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict_proba(X))

    @property
    def intercept_(self) -> NDArray[Any]:
        """Intercept of a linear inner classifier."""
        check_is_fitted(self, "estimator_")
        intercept: NDArray[Any] = self.estimator_.intercept_
        return intercept
