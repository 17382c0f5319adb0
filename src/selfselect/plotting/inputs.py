"""Published statistics, terms and audits of fitted classifiers of any type."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from ..costs import Cost, Subsidies, Terms
from ..estimators.training_data import is_qualified
from ..metrics.scorers import final_step
from ..publishing import PublishedStatistics


def table_of(estimator: Any, X: Any, y: ArrayLike | None, sensitive_features: Any) -> PublishedStatistics:
    """Published statistics of a classifier, or those that it would publish about the given people."""
    final, features = final_step(estimator, X)
    if X is None:
        if not hasattr(final, "published_"):
            raise TypeError(f"{type(final).__name__} has published nothing itself; pass X, y and sensitive_features.")
        own: PublishedStatistics = final.published_
        return own
    if y is None:
        raise TypeError("Pass y as well: the labels of the people in X.")
    if hasattr(final, "audit"):
        counted: PublishedStatistics = final.audit(features, y, sensitive_features).population
        return counted
    positive = final.classes_[1]
    return PublishedStatistics.from_predictions(
        is_qualified(y, final.classes_, positive),
        final.predict(features) == positive,
        sensitive_features=sensitive_features,
    )


def terms_of(estimator: Any, cost: Cost | None, subsidies: Subsidies) -> Terms:
    """Terms of a classifier, with another cost or other subsidies if given."""
    final, _ = final_step(estimator)
    own: Terms | None = getattr(final, "terms_", None)
    if own is None:
        if cost is None:
            raise TypeError(f"{type(final).__name__} has no cost of its own; pass cost.")
        return Terms(cost, subsidies)
    terms = own if cost is None else own.at_cost(cost)
    return terms if subsidies is None else terms.with_subsidies(subsidies)
