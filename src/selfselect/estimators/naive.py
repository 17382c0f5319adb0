"""A classifier that ignores applications, with the statistics it publishes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._frames import take_rows, to_pandas
from ..behaviour import Behaviour
from ..costs import Cost, Subsidies, SubsidyKind
from ..publishing.splits import Publishing, Rows
from .docs import with_shared_docs
from .training_data import TrainingPeople
from .wrapped import WrappedClassifier, default_threshold_of, has_score, inner_has, score_of


@with_shared_docs
class NaiveClassifier(WrappedClassifier):
    """Any classifier, trained as if everybody applied.

    Parameters
    ----------
    estimator : classifier, optional
        Any scikit-learn classifier; by default a logistic regression without penalty.
    cost : float or mapping from group to float, default=0.7
        Cost of the test in [0, 1]. Training ignores it; :meth:`applies` and :meth:`audit` use it.
    $subsidies
    $publishing

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    $attributes

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
        behaviour: Behaviour | None = None,
        publish: str | Publishing = "cross_fit",
        pos_label: Any = None,
    ) -> None:
        super().__init__(cost, subsidies, subsidy_kind, behaviour, publish, pos_label)
        self.estimator = estimator

    def _fit(self, X: Any, y: Any, people: TrainingPeople, sample_weight: Any) -> None:
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

    def predict(self, X: Any) -> NDArray[Any]:
        """Label of each row."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict(to_pandas(X)))

    @available_if(inner_has("decision_function"))
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Score of each row, positive for the second class."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.decision_function(to_pandas(X)))

    @available_if(inner_has("predict_proba"))
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Probabilities of both classes by the inner classifier, in the order of ``classes_``."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict_proba(to_pandas(X)))

    @property
    def intercept_(self) -> NDArray[Any]:
        """Intercept of a linear inner classifier."""
        check_is_fitted(self, "estimator_")
        intercept: NDArray[Any] = self.estimator_.intercept_
        return intercept
