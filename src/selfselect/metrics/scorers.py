"""Scorers of scikit-learn's kind, which let people decide by what the classifier itself has published."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metadata_routing import MetadataRequest

from .._validation import check_fraction
from ..outcomes import Outcome

#: Slack of a limit on the social cost: rounding of a sum, far below one person.
SLACK = 1e-9


class ApplicationScorer(ABC):
    """Scorer of scikit-learn's kind: people decide by the classifier's own published statistics, and as it foresees.

    Under metadata routing it asks for ``sensitive_features``, and for ``sample_weight`` as :meth:`set_score_request`
    says.
    """

    #: Whether weights are asked for; None refuses them until that is said.
    _weighted: bool | None = None

    def __init__(self, cost: Any, subsidies: Any) -> None:
        self.cost, self.subsidies = cost, subsidies

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Score of a fitted classifier on new people; larger is better."""
        final = getattr(estimator, "best_estimator_", estimator)  # what a search has found
        steps = getattr(final, "steps", [])
        # the classifier at the end of a pipeline gets features as the steps before have made them
        features = final[:-1].transform(X) if len(steps) > 1 else X
        final = steps[-1][1] if steps else final
        found = final.audit(
            features, y, sensitive_features, cost=self.cost, subsidies=self.subsidies, sample_weight=sample_weight
        )
        return self.of(found.outcome)

    @abstractmethod
    def of(self, outcome: Outcome) -> float:
        """Score of what follows once people have decided."""

    def set_score_request(self, *, sample_weight: bool | None) -> Self:
        """Say whether people are scored by their weights, where a search is given some.

        Until it is said, scikit-learn refuses weights: scores without them would look like scores with them.

        Parameters
        ----------
        sample_weight : bool or None
            Whether to ask for them; None to refuse them.

        Examples
        --------
        >>> induced_accuracy_scorer().set_score_request(sample_weight=True).get_metadata_routing().score.requests
        {'sensitive_features': True, 'sample_weight': True}
        """
        self._weighted = sample_weight
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """Ask for the groups of the people who are scored, and for their weights if told so."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="sensitive_features", alias=True)
        request.score.add_request(param="sample_weight", alias=self._weighted)
        return request


class InducedAccuracyScorer(ApplicationScorer):
    """Accuracy over those who apply. Made by :func:`induced_accuracy_scorer`."""

    def __init__(self, cost: Any, subsidies: Any, nobody: float, max_social_cost: float | None = None) -> None:
        super().__init__(cost, subsidies)
        self.nobody, self.max_social_cost = nobody, max_social_cost

    def of(self, outcome: Outcome) -> float:
        """Induced accuracy while the social cost keeps its limit; beyond, minus what it is beyond by."""
        if np.isnan(outcome.induced_accuracy):
            return self.nobody
        beyond = 0.0 if self.max_social_cost is None else outcome.social_cost - self.max_social_cost
        # without anybody qualified the social cost is NaN, and breaks nothing
        return float(-beyond if beyond > SLACK else outcome.induced_accuracy)

    def __repr__(self) -> str:
        limit = "" if self.max_social_cost is None else f", max_social_cost={self.max_social_cost!r}"
        return (
            f"induced_accuracy_scorer(cost={self.cost!r}, subsidies={self.subsidies!r}{limit}, nobody={self.nobody!r})"
        )


class SocialCostScorer(ApplicationScorer):
    """Minus the share of the qualified who stay away. Made by :func:`social_cost_scorer`."""

    def of(self, outcome: Outcome) -> float:
        """Minus the social cost."""
        return float(-outcome.social_cost)

    def __repr__(self) -> str:
        return f"social_cost_scorer(cost={self.cost!r}, subsidies={self.subsidies!r})"


def induced_accuracy_scorer(
    cost: Any = None, *, subsidies: Any = None, max_social_cost: float | None = None, nobody: float = np.nan
) -> InducedAccuracyScorer:
    """Make a scorer for ``cross_validate`` and ``GridSearchCV``: accuracy over those who apply.

    Who applies is decided by the fitted classifier's ``published_``, the statistics of the fold it was trained on,
    never by the people who are scored.

    Parameters
    ----------
    cost : float or mapping from group to float, optional
        By default the classifier's own.
    subsidies : float or mapping from group to float, optional
        By default the classifier's own.
    max_social_cost : float, optional
        Largest share of the qualified that may stay away, of the people who are scored. A classifier that keeps it has
        its induced accuracy as score, which is at least 0; one beyond it has ``limit - social cost``, below 0: always
        worse than any that keeps it, and better the nearer it comes.
    nobody : float, default=NaN
        Score where nobody applies. A search ranks NaN last, with a warning; 0 ranks it last without, and -1 does with a
        limit.

    Examples
    --------
    >>> from selfselect import NaiveClassifier
    >>> from selfselect.datasets import make_base_rate_groups
    >>> X, y, z = make_base_rate_groups((0.5, 0.15), random_state=0, return_X_y_group=True)
    >>> model = NaiveClassifier(cost=0.8).fit(X, y, sensitive_features=z)
    >>> found = model.audit(X, y, z)
    >>> induced_accuracy_scorer()(model, X, y, sensitive_features=z) == found.induced_accuracy
    True
    >>> limited = induced_accuracy_scorer(max_social_cost=0.1)
    >>> bool(np.isclose(limited(model, X, y, sensitive_features=z), 0.1 - found.social_cost))
    True
    """
    if max_social_cost is not None:
        check_fraction(max_social_cost, "max_social_cost")
    return InducedAccuracyScorer(cost, subsidies, nobody, max_social_cost)


def social_cost_scorer(cost: Any = None, *, subsidies: Any = None) -> SocialCostScorer:
    """Make a scorer for ``cross_validate`` and ``GridSearchCV``: minus the social cost, so that larger is better.

    Who applies is decided as in :func:`induced_accuracy_scorer`. Where nobody applies it is -1: all of the qualified
    stay away. Without anybody who is qualified it is NaN.

    Parameters
    ----------
    cost, subsidies
        By default the classifier's own.

    Examples
    --------
    >>> from selfselect import NaiveClassifier
    >>> from selfselect.datasets import make_base_rate_groups
    >>> X, y, z = make_base_rate_groups((0.5, 0.15), random_state=0, return_X_y_group=True)
    >>> model = NaiveClassifier(cost=0.8).fit(X, y, sensitive_features=z)
    >>> social_cost_scorer()(model, X, y, sensitive_features=z) == -model.audit(X, y, z).social_cost
    True
    """
    return SocialCostScorer(cost, subsidies)
