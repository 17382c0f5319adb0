"""What all classifiers share: what they publish, who applies, and an audit on new people."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._validation import BoolArray, FloatArray, check_weights, some_of
from ..behaviour import Cost, Subsidies, SubsidyKind, group_costs
from ..groups import GroupCodes, encode_groups
from ..metrics import Outcome, outcome
from ..statistics import GroupCounts, PublishedStatistics


class ApplicationWarning(UserWarning):
    """Something about who applies that the user should know."""


def _two_whole_numbers(y: NDArray[Any]) -> tuple[Any, Any]:
    """The two labels and which row has which, if they are whole numbers (or bool); else (None, None)."""
    if np.asarray(y).dtype.kind not in "biu":
        return None, None
    classes, codes = np.unique(y, return_inverse=True)
    return (classes, codes) if len(classes) == 2 else (None, None)


def qualified(y: Any, classes: NDArray[Any]) -> BoolArray:
    """Which labels are the second class; a label that was not there in training is an error that names it."""
    labels = np.asarray(column_or_1d(y))
    unknown = ~np.isin(labels, classes)
    if unknown.any():
        raise ValueError(
            f"y holds label(s) that were not there in training: {some_of(pd.unique(pd.Series(labels[unknown])))}; "
            f"the classifier knows {some_of(classes)}."
        )
    return np.asarray(labels == classes[1])


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

    cost: Cost
    subsidies: Subsidies
    subsidy_kind: SubsidyKind

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that there are two classes only."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _check_labels(self, y: Any) -> BoolArray:
        """Set ``classes_`` and return which rows are qualified."""
        y = column_or_1d(y, warn=True)
        if len(y) == 0:
            raise ValueError("y is empty: there must be at least one row (0 sample(s) found).")
        if np.asarray(y).dtype.kind == "f":
            assert_all_finite(y, input_name="y")
        classes, codes = _two_whole_numbers(y)
        if classes is None:  # anything else is looked at more closely, which takes longer
            kind = type_of_target(y, input_name="y", raise_unknown=True)
            if kind != "binary":
                check_classification_targets(y)
                raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
            classes, codes = np.unique(y, return_inverse=True)
        self.classes_: NDArray[Any] = classes
        if len(self.classes_) < 2:
            raise ValueError(
                f"y holds one class only ({self.classes_[0]!r}): there must be qualified and unqualified people."
            )
        return np.asarray(codes == 1)

    def _check_groups(self, sensitive_features: Any, n_rows: int) -> tuple[GroupCodes, FloatArray]:
        """Groups of the training rows, and the cost that each faces."""
        groups = encode_groups(sensitive_features, n_rows=n_rows)
        return groups, group_costs(groups.labels, self.cost, self.subsidies, self.subsidy_kind)

    def _publish(
        self,
        qualified: BoolArray,
        predicted: NDArray[Any],
        groups: GroupCodes,
        costs: FloatArray,
        sample_weight: ArrayLike | None,
    ) -> None:
        """Count the training set, and warn about what the counts lead to."""
        weights = check_weights(sample_weight, len(qualified))
        counts = GroupCounts.from_rows(
            qualified, predicted == self.classes_[1], groups.codes, len(groups.labels), weights
        )
        self.published_ = PublishedStatistics(groups.labels, counts)
        decided = self.applies()
        if not decided.any():
            best = self.published_.precision.max()
            reached = "nobody is selected" if np.isnan(best) else f"the highest published precision is {best:.3f}"
            warnings.warn(
                f"Nobody applies: {reached}, below the cost. Lower the cost or subsidise a group.",
                ApplicationWarning,
                stacklevel=3,
            )
        elif decided.all() and (counts.base_rate >= costs).all():
            warnings.warn(
                "At this cost every group applies, even if everybody were selected (its base rate reaches the cost): "
                "self-selection has no effect here, and NaiveClassifier does as well.",
                ApplicationWarning,
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
        return self.published_.applies(
            self.cost if cost is None else cost,
            self.subsidies if subsidies is None else subsidies,
            subsidy_kind=self.subsidy_kind,
        )

    def applies_to(self, sensitive_features: Any, cost: Cost | None = None, subsidies: Subsidies = None) -> BoolArray:
        """Whether each person applies, by the training statistics of the person's group."""
        check_is_fitted(self, "published_")
        return self.published_.applies_to(
            sensitive_features,
            self.cost if cost is None else cost,
            self.subsidies if subsidies is None else subsidies,
            subsidy_kind=self.subsidy_kind,
        )

    def audit(
        self,
        X: Any,
        y: ArrayLike,
        sensitive_features: Any = None,
        *,
        cost: Cost | None = None,
        subsidies: Subsidies = None,
        sample_weight: ArrayLike | None = None,
    ) -> Outcome:
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
        Outcome
            assumed_accuracy, induced_accuracy, applying_groups, application_rate, social_cost.
        """
        decided = self.applies(cost, subsidies)
        population = PublishedStatistics.from_predictions(
            qualified(y, self.classes_),
            np.asarray(self.predict(X)) == self.classes_[1],
            sensitive_features=sensitive_features,
            sample_weight=sample_weight,
        )
        return outcome(population, decided)

    def save(self, path: str | Path) -> None:
        """Write the fitted classifier as JSON; see :func:`selfselect.save_model`."""
        from ._saving import save_model

        save_model(self, path)

    @abstractmethod
    def predict(self, X: Any) -> NDArray[Any]:
        """Label of each row; groups are not needed."""

    @abstractmethod
    def fit(self, X: Any, y: ArrayLike, *, sensitive_features: Any = None, sample_weight: Any = None) -> Self:
        """Fit the classifier."""
