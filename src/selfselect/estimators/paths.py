"""Fits over several costs, which share everything that does not depend on the cost."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any, TypeVar

from sklearn.base import clone

from .._sharing import sharing
from ..costs import Cost
from .base import SelfSelectionClassifier

Classifier = TypeVar("Classifier", bound=SelfSelectionClassifier)


def cost_path(
    estimator: Classifier, X: Any, y: Any, sensitive_features: Any, costs: Iterable[Cost], **fit_params: Any
) -> list[Classifier]:
    """Fit a classifier at several costs.

    Folds, transformers, inner classifiers and logistic starts are computed once. The results are those of one fit per
    cost; inner classifiers must be deterministic.

    Parameters
    ----------
    estimator : classifier of this package
        It is not changed.
    X, y, sensitive_features
        Features, labels and groups, as ``fit`` takes them.
    costs : iterable of float or mapping from group to float
        Costs that replace that of the estimator.
    **fit_params
        ``sample_weight`` and ``person``.

    Returns
    -------
    list of classifiers
        One fitted classifier per cost.

    Examples
    --------
    >>> from selfselect import NaiveClassifier
    >>> from selfselect.datasets import make_base_rate_groups
    >>> X, y, z = make_base_rate_groups((0.5, 0.15), random_state=0, return_X_y_group=True)
    >>> path = cost_path(NaiveClassifier(), X, y, z, costs=[0.6, 0.8])
    >>> [int(model.applies().sum()) for model in path]
    [1, 1]
    """
    unfitted = clone(estimator)  # copies have one inner classifier in common
    with sharing():
        return [
            copy(unfitted).set_params(cost=cost).fit(X, y, sensitive_features=sensitive_features, **fit_params)
            for cost in costs
        ]
