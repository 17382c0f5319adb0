"""What all classifiers share: what they publish, who applies, and an audit on new people."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .._validation import BoolArray, check_weights
from ..auditing import Audit, Screened
from ..counting import GroupCodes, encode_groups
from ..deciding import Cost, PublishedStatistics, Subsidies, SubsidyKind, Terms
from .files import save_model
from .labels import find_classes, qualified
from .publishing import publish_on_training
from .warnings import inside_checks, warn


class SelfSelectionClassifier(ClassifierMixin, BaseEstimator, ABC):
    """Base of all classifiers here. A subclass fits a rule; this publishes its statistics and reads them.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second one means qualified.
    published_ : PublishedStatistics
        Counts of the training set per group: what people decide by.
    """

    # groups are asked for by default when metadata routing is on
    __metadata_request__fit = {"sensitive_features": True}  # noqa: RUF012

    #: What a model file holds of this class besides what all have; see :mod:`.files`.
    _STATE: tuple[str, ...] = ()

    cost: Cost
    subsidies: Subsidies
    subsidy_kind: SubsidyKind
    pos_label: Any

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that there are two classes only."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _terms(self, cost: Cost | None = None, subsidies: Subsidies = None) -> Terms:
        """The classifier's own terms, or others in their place; its subsidies also hold at another cost."""
        return Terms(
            self.cost if cost is None else cost, self.subsidies if subsidies is None else subsidies, self.subsidy_kind
        )

    def _check_labels(self, y: Any) -> BoolArray:
        """Set ``classes_`` and return which rows are qualified."""
        self.classes_: NDArray[Any]
        self.classes_, is_qualified = find_classes(y, self.pos_label, stacklevel=3)
        return is_qualified

    def _check_groups(self, sensitive_features: Any, n_rows: int) -> GroupCodes:
        """Groups of the training rows, for each of which there must be a cost."""
        if sensitive_features is None and not inside_checks():
            warn(
                "Without sensitive_features everyone is one group, which applies or stays away as a whole. Pass the "
                "group of each row to fit(..., sensitive_features=...).",
                stacklevel=3,
            )
        groups = encode_groups(sensitive_features, n_rows=n_rows)
        self._terms().faced_by(groups.labels)
        return groups

    def _publish(
        self, is_qualified: BoolArray, predicted: NDArray[Any], groups: GroupCodes, sample_weight: ArrayLike | None
    ) -> None:
        """Count, and warn about what the counts lead to."""
        weights = check_weights(sample_weight, len(is_qualified))
        counts = publish_on_training(is_qualified, predicted == self.classes_[1], groups, weights)
        self.published_ = PublishedStatistics(groups.labels, counts)
        decided = self.applies()
        if not decided.any():
            best = self.published_.precision.max()
            reached = "nobody is selected" if np.isnan(best) else f"the highest published precision is {best:.3f}"
            warn(f"Nobody applies: {reached}, below the cost. Lower the cost or subsidise a group.", stacklevel=3)
        elif decided.all() and (counts.base_rate >= self._terms().faced_by(groups.labels)).all():
            warn(
                "At this cost every group applies, even if everybody were selected (its base rate reaches the cost): "
                "self-selection has no effect here, and NaiveClassifier does as well.",
                stacklevel=3,
            )

    # ------------------------------------------------------------------ after fit

    def applies(self, cost: Cost | None = None, subsidies: Subsidies = None) -> pd.Series:
        """Whether each group applies, by the training statistics.

        Parameters
        ----------
        cost : float or mapping from group to float, optional
            Cost instead of the classifier's own.
        subsidies : float or mapping from group to float, optional
            Subsidies instead of the classifier's own (which also hold if only the cost is given).

        Returns
        -------
        Series of bool, indexed by group
        """
        check_is_fitted(self, "published_")
        return self.published_.decisions(self._terms(cost, subsidies))

    def applies_to(self, sensitive_features: Any, cost: Cost | None = None, subsidies: Subsidies = None) -> BoolArray:
        """Whether each person applies, by the training statistics of the person's group."""
        check_is_fitted(self, "published_")
        return self.published_.decisions_of(sensitive_features, self._terms(cost, subsidies))

    def audit(
        self,
        X: Any,
        y: ArrayLike,
        sensitive_features: Any = None,
        *,
        cost: Cost | None = None,
        subsidies: Subsidies = None,
        sample_weight: ArrayLike | None = None,
    ) -> Audit:
        """What the classifier does to new people, who decide by what was published in training.

        Parameters
        ----------
        X, y, sensitive_features
            New people: features, labels, groups. A group that was not there in training is an error.
        cost, subsidies
            As in :meth:`applies`.
        sample_weight : array-like of shape (n_rows,), optional
            Weights.

        Returns
        -------
        Audit
            With ``verdict()``, ``to_frame()``, ``to_html()``, and assumed_accuracy, induced_accuracy, applying_groups,
            application_rate, social_cost as attributes.
        """
        check_is_fitted(self, "published_")
        people = Screened.from_predictions(
            qualified(y, self.classes_),
            np.asarray(self.predict(X)) == self.classes_[1],
            sensitive_features=sensitive_features,
            sample_weight=sample_weight,
        )
        found = Audit(Screened(self.published_), people, self._terms(cost, subsidies))
        _ = found.outcome  # groups that were not there in training are complained about here
        return found

    def save(self, path: str | Path) -> None:
        """Write the fitted classifier as JSON; see :func:`selfselect.save_model`."""
        save_model(self, path)

    @abstractmethod
    def predict(self, X: Any) -> NDArray[Any]:
        """Label of each row; groups are not needed."""

    @abstractmethod
    def fit(self, X: Any, y: ArrayLike, *, sensitive_features: Any = None, sample_weight: Any = None) -> Self:
        """Fit the classifier."""

    @abstractmethod
    def _fitted_state(self) -> dict[str, Any]:
        """What was learnt, in JSON's own types."""

    @abstractmethod
    def _restore(self, state: dict[str, Any]) -> None:
        """The way back."""
