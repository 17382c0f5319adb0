"""A classifier that is blind to applications, with what it would publish."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._frames import plain_frame, take_rows
from ..costs import Cost, Subsidies, SubsidyKind
from ..publishing.splits import Publish, Rows
from .files import saveable
from .inner import InnerClassifier, default_threshold_of, has_score, inner_has, score_of


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
    publish : {"cross_fit", "holdout", "train"}, default="cross_fit"
        Where published counts come from: people scored by a classifier that was not fitted to them, a part set aside,
        or (as in the paper) the training data; see :mod:`selfselect.publishing.splits`.
    cv : int or splitter, default=5
        Folds of "cross_fit".
    holdout : float, default=0.3
        Share set aside by "holdout".
    confidence : float or None, default=0.9
        A group applies only if the lower Clopper-Pearson bound of its published precision, at this level, reaches its
        cost. None goes by the precision itself; so does ``publish="train"``, the paper's way.
    guarantee : bool, default=False
        Whether all promises together must hold with the probability ``confidence``, for any model and any people. It
        needs ``publish="holdout"``: everything is chosen on the people who are fitted (cross-fitted among themselves),
        and a group is told to apply only if that stands the test on the people set aside; see
        :mod:`selfselect.publishing.guarantee`.

    Attributes
    ----------
    estimator_ : classifier
        The fitted one.
    published_ : PublishedStatistics
        Counts per group that people decide by.
    promised_ : Series of bool, indexed by group
        With ``guarantee``: which groups can be promised anything at all. All these promises hold together with the
        probability ``confidence``.
    promise_level_ : float
        With ``guarantee``: level of each single test.
    classes_ : ndarray of shape (2,)
        The labels, in order.
    positive_ : label
        The one of them that means qualified.

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
        publish: Publish = "cross_fit",
        cv: Any = 5,
        holdout: float = 0.3,
        confidence: float | None = 0.9,
        guarantee: bool = False,
    ) -> None:
        self.estimator = estimator
        self.cost = cost
        self.subsidies = subsidies
        self.subsidy_kind = subsidy_kind
        self.pos_label = pos_label
        self.publish = publish
        self.cv = cv
        self.holdout = holdout
        self.confidence = confidence
        self.guarantee = guarantee

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
        if self.guarantee:
            return self._fit_and_test(X, y, sensitive_features, sample_weight)
        X, y = plain_frame(X), plain_frame(y)
        people = self._people(X, y, sensitive_features, sample_weight)
        self._check_inner(X, y)

        def selects(inner: Any, rows: Rows) -> NDArray[np.bool_]:
            return np.asarray(np.asarray(inner.predict(take_rows(X, rows))) == self.positive_)

        def scores(inner: Any, rows: Rows) -> NDArray[Any]:
            selected = selects(inner, rows)
            if people.splits.mode == "train" or not has_score(inner):
                return np.where(selected, 1, -1)
            score = score_of(inner, take_rows(X, rows), self.positive_) - default_threshold_of(inner)
            return score if ((score > 0) == selected).all() else np.where(selected, 1.0, -1.0)

        score, self.estimator_ = people.splits.run(lambda rows: self._fit_inner(X, y, sample_weight, rows), scores)
        in_sample = score if people.splits.mode == "train" else selects(self.estimator_, people.splits.final)
        self._publish(people, score, in_sample)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Label of each row."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict(plain_frame(X)))

    @available_if(inner_has("decision_function"))
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Score of each row, positive for the second class."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.decision_function(plain_frame(X)))

    @available_if(inner_has("predict_proba"))
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Probabilities of both classes, by the inner classifier, in the order of ``classes_``."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict_proba(plain_frame(X)))

    @property
    def intercept_(self) -> NDArray[Any]:
        """Intercept of a linear inner classifier."""
        check_is_fitted(self, "estimator_")
        intercept: NDArray[Any] = self.estimator_.intercept_
        return intercept
