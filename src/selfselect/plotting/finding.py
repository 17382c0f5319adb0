"""From what users have (fitted classifiers of any kind) to what is drawn: published tables, terms and audits."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from ..auditing import Audit
from ..costs import Cost, Subsidies, Terms
from ..estimators.training_data import is_qualified
from ..publishing import PublishedStatistics


def final_step(estimator: Any, X: Any = None) -> tuple[Any, Any]:
    """The classifier that decides, at the end of a pipeline or a search, and features as it sees them."""
    found = getattr(estimator, "best_estimator_", estimator)
    steps = getattr(found, "steps", [])
    if not steps:
        return found, X
    return steps[-1][1], found[:-1].transform(X) if X is not None and len(steps) > 1 else X


def audit_of(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    sensitive_features: Any,
    cost: Cost | None = None,
    subsidies: Subsidies = None,
) -> Audit:
    """An audit of new people by a classifier that publishes."""
    final, features = final_step(estimator, X)
    if not hasattr(final, "audit"):
        raise TypeError(
            f"{type(final).__name__} has published nothing to compare with; wrap it: "
            "NaiveClassifier(estimator).fit(X, y, sensitive_features=...)."
        )
    found: Audit = final.audit(features, y, sensitive_features, cost=cost, subsidies=subsidies)
    return found


def table_of(estimator: Any, X: Any, y: ArrayLike | None, sensitive_features: Any) -> PublishedStatistics:
    """What a classifier has published; or, of people who are given, what it would publish."""
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
    """What groups face: by default a classifier's own terms."""
    final, _ = final_step(estimator)
    own: Terms | None = getattr(final, "terms_", None)
    if own is None:
        if cost is None:
            raise TypeError(f"{type(final).__name__} has no cost of its own; pass cost.")
        return Terms(cost, subsidies)
    terms = own if cost is None else own.at_cost(cost)
    return terms if subsidies is None else terms.with_subsidies(subsidies)
