"""Scorers of scikit-learn's kind, which let people decide by what the classifier itself has published."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metadata_routing import MetadataRequest


class InducedAccuracyScorer:
    """Scorer of scikit-learn's kind: accuracy over those who apply by the classifier's own training statistics.

    Made by :func:`induced_accuracy_scorer`. Under metadata routing it asks for ``sensitive_features``.
    """

    def __init__(self, cost: Any, subsidies: Any, nobody: float) -> None:
        self.cost, self.subsidies, self.nobody = cost, subsidies, nobody

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Score of a fitted classifier on new people."""
        final = getattr(estimator, "best_estimator_", estimator)  # what a search has found
        steps = getattr(final, "steps", [])
        # the classifier at the end of a pipeline gets features as the steps before have made them
        features = final[:-1].transform(X) if len(steps) > 1 else X
        final = steps[-1][1] if steps else final
        found = final.audit(
            features, y, sensitive_features, cost=self.cost, subsidies=self.subsidies, sample_weight=sample_weight
        )
        value = float(found.induced_accuracy)
        return self.nobody if np.isnan(value) else value

    def get_metadata_routing(self) -> MetadataRequest:
        """Ask for the groups of the people who are scored."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="sensitive_features", alias=True)
        return request

    def __repr__(self) -> str:
        return f"induced_accuracy_scorer(cost={self.cost!r}, subsidies={self.subsidies!r}, nobody={self.nobody!r})"


def induced_accuracy_scorer(
    cost: Any = None, *, subsidies: Any = None, nobody: float = np.nan
) -> InducedAccuracyScorer:
    """Make a scorer for ``cross_validate`` and ``GridSearchCV``.

    Who applies is decided by the fitted classifier's ``published_``, the statistics of the fold it was trained on,
    never by the people who are scored.

    Parameters
    ----------
    cost : float or mapping from group to float, optional
        By default the classifier's own.
    subsidies : float or mapping from group to float, optional
        By default the classifier's own.
    nobody : float, default=NaN
        Score where nobody applies. A search ranks NaN last, with a warning; 0 ranks it last without.

    Examples
    --------
    >>> from selfselect import NaiveClassifier
    >>> from selfselect.datasets import make_base_rate_groups
    >>> X, y, z = make_base_rate_groups((0.5, 0.15), random_state=0, return_X_y_group=True)
    >>> model = NaiveClassifier(cost=0.8).fit(X, y, sensitive_features=z)
    >>> induced_accuracy_scorer()(model, X, y, sensitive_features=z) == model.audit(X, y, z).induced_accuracy
    True
    """
    return InducedAccuracyScorer(cost, subsidies, nobody)
