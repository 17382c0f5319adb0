"""A classifier that is blind to applications, with what it would publish."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._frames import plain_frame
from ..deciding import Cost, Subsidies, SubsidyKind
from .files import saveable
from .inner import InnerClassifier, inner_has


@saveable
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
    pos_label : label, optional
        The label that means qualified; by default the larger of the two.

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
        pos_label: Any = None,
    ) -> None:
        self.estimator = estimator
        self.cost = cost
        self.subsidies = subsidies
        self.subsidy_kind = subsidy_kind
        self.pos_label = pos_label

    def fit(self, X: Any, y: ArrayLike, *, sensitive_features: Any = None, sample_weight: Any = None) -> Self:
        """Fit the inner classifier and publish its statistics.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            Labels of two kinds; see ``pos_label``.
        sensitive_features : array-like, Series, DataFrame or dict of columns, optional
            Group of each row; without it everyone is one group.
        sample_weight : array-like of shape (n_rows,), optional
            Weights.
        """
        X, y = plain_frame(X), plain_frame(y)
        qualified = self._check_labels(y)
        groups = self._check_groups(sensitive_features, len(qualified))
        self._fit_inner(X, y, sample_weight)
        self._publish(qualified, self.estimator_.predict(X), groups, sample_weight)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Label of each row."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict(plain_frame(X)))

    @available_if(inner_has("decision_function"))
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Score of each row, positive for the qualified."""
        check_is_fitted(self, "estimator_")
        score = np.asarray(self.estimator_.decision_function(plain_frame(X)))
        return -score if self._turned else score

    @available_if(inner_has("predict_proba"))
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Probabilities of both classes, by the inner classifier, in the order of ``classes_``."""
        check_is_fitted(self, "estimator_")
        both = np.asarray(self.estimator_.predict_proba(plain_frame(X)))
        return both[:, ::-1] if self._turned else both

    @property
    def intercept_(self) -> NDArray[Any]:
        """Intercept of a linear inner classifier."""
        check_is_fitted(self, "estimator_")
        intercept: NDArray[Any] = self.estimator_.intercept_
        return -intercept if self._turned else intercept
