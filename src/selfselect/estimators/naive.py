"""A classifier that ignores applications, with the statistics it publishes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..publishing.splits import Rows
from .docs import estimator_class
from .training_data import TrainingPeople, groups_for
from .wrapped import WrappedClassifier, default_threshold_of, inner_has


@estimator_class
class NaiveClassifier(WrappedClassifier):
    """Any classifier, trained as if everybody applied.

    Parameters
    ----------
    estimator : classifier, optional
        Any scikit-learn classifier; by default a logistic regression without penalty. It gets the groups if its
        methods take ``sensitive_features``, as fairlearn's do, or request them by metadata routing.
    cost : float or mapping from group to float, default=0.7
        Cost of the test in [0, 1]. Training ignores it; :meth:`applies` and :meth:`audit` use it.
    $subsidies
    $publishing

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    labels_encoded_ : bool
        Whether ``estimator_`` was fitted to 0 and 1 in place of ``classes_``, because it takes no other labels.
    $attributes

    Examples
    --------
    >>> from selfselect.datasets import make_base_rate_groups
    >>> X, y, z = make_base_rate_groups((0.5, 0.15), random_state=0, return_X_y_group=True)
    >>> NaiveClassifier(cost=0.8).fit(X, y, sensitive_features=z).applies().to_dict()
    {'z0': True, 'z1': False}
    """

    # with metadata routing, groups are requested by default
    __metadata_request__predict_proba = {"sensitive_features": True}  # noqa: RUF012

    def _fit(self, people: TrainingPeople) -> tuple[NDArray[Any], NDArray[Any]]:
        def selects(inner: Any, rows: Rows) -> NDArray[np.bool_]:
            return np.asarray(self._labels_of(inner, *people.take(rows)) == self.positive_)

        def scores(inner: Any, rows: Rows) -> NDArray[Any]:
            selected = selects(inner, rows)
            has_score = hasattr(inner, "decision_function") or hasattr(inner, "predict_proba")
            if people.splits.mode != "train" and has_score:
                score = self._score_of(inner, *people.take(rows)) - default_threshold_of(inner)
                if ((score > 0) == selected).all():
                    return score
            return np.where(selected, 1.0, -1.0)

        score, self.estimator_ = people.splits.run(lambda rows: self._fit_inner(people, rows, self.estimator), scores)
        return score, score if people.splits.mode == "train" else selects(self.estimator_, people.splits.final)

    def _labels_of(self, inner: Any, X: Any, groups: Any) -> NDArray[Any]:
        """Predictions of a fitted inner classifier in the user's labels."""
        predicted = np.asarray(inner.predict(X, **groups_for(inner, "predict", groups)))
        return self.classes_[predicted.astype(int)] if self.labels_encoded_ else predicted

    def predict(self, X: Any, sensitive_features: Any = None) -> NDArray[Any]:
        """Label of each row; an inner classifier that takes groups gets them."""
        X, groups = self._checked(X, sensitive_features)
        return self._labels_of(self.estimator_, X, groups)

    @available_if(inner_has("decision_function"))
    def decision_function(self, X: Any, sensitive_features: Any = None) -> NDArray[Any]:
        """Score of each row, positive for the second class."""
        return self._call_inner("decision_function", X, sensitive_features)

    @available_if(inner_has("predict_proba"))
    def predict_proba(self, X: Any, sensitive_features: Any = None) -> NDArray[Any]:
        """Probabilities of both classes by the inner classifier, in the order of ``classes_``."""
        return self._call_inner("predict_proba", X, sensitive_features)

    def _call_inner(self, method: str, X: Any, sensitive_features: Any) -> NDArray[Any]:
        X, groups = self._checked(X, sensitive_features)
        return np.asarray(getattr(self.estimator_, method)(X, **groups_for(self.estimator_, method, groups)))

    @property
    def intercept_(self) -> NDArray[Any]:
        """Intercept of a linear inner classifier."""
        check_is_fitted(self, "estimator_")
        intercept: NDArray[Any] = self.estimator_.intercept_
        return intercept
