"""Scorers for scikit-learn's searches: people decide by what the classifier itself has published."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metadata_routing import MetadataRequest

from .._validation import check_fraction
from ..constraints import SHARE_SLACK
from ..counting.groups import Unseen
from ..outcomes import Outcome


def final_step(estimator: Any, X: Any = None) -> tuple[Any, Any]:
    """The classifier in a search or at the end of a pipeline, and features as the steps before it transform them."""
    final = getattr(estimator, "best_estimator_", estimator)
    steps = getattr(final, "steps", [])
    if not steps:
        return final, X
    return steps[-1][1], final[:-1].transform(X) if X is not None and len(steps) > 1 else X


class ApplicationScorer:
    """Scorer for classifiers that publish statistics: people decide by these, and the classifier is scored on them.

    Made by :func:`induced_accuracy_scorer` and :func:`social_cost_scorer`. Under metadata routing it requests
    ``sensitive_features``, and ``sample_weight`` as set by :meth:`set_score_request`.
    """

    #: Whether weights are requested; None raises an error if some are passed.
    _weighted: bool | None = None

    def __init__(self, name: str, score: Callable[..., float], terms: dict[str, Any], **options: Any) -> None:
        self._name, self._score, self._terms, self._options = name, score, terms, options

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Score a fitted classifier on new people; larger is better."""
        final, features = final_step(estimator, X)
        audit = final.audit(features, y, sensitive_features, sample_weight=sample_weight, **self._terms)
        return self.of(audit.outcome)

    def of(self, outcome: Outcome) -> float:
        """Score of an outcome."""
        return self._score(outcome, **self._options)

    def __repr__(self) -> str:
        parameters = (self._terms | self._options).items()
        return f"{self._name}({', '.join(f'{name}={value!r}' for name, value in parameters)})"

    def set_score_request(self, *, sample_weight: bool | None) -> Self:
        """Set whether scores use the weights that a search is given.

        Until it is set, scikit-learn raises an error for weights: scores without them would look like weighted ones.

        Parameters
        ----------
        sample_weight : bool or None
            Whether to request weights; None for the error.

        Examples
        --------
        >>> induced_accuracy_scorer().set_score_request(sample_weight=True).get_metadata_routing().score.requests
        {'sensitive_features': True, 'sample_weight': True}
        """
        self._weighted = sample_weight
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """Metadata that the scorer requests."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="sensitive_features", alias=True)
        request.score.add_request(param="sample_weight", alias=self._weighted)
        return request


def _induced_accuracy(outcome: Outcome, max_social_cost: float | None, nobody: float) -> float:
    if np.isnan(outcome.induced_accuracy):
        return nobody
    excess = 0.0 if max_social_cost is None else outcome.social_cost - max_social_cost
    # if nobody is qualified the social cost is NaN, which is not above the limit
    return float(-excess if excess > SHARE_SLACK else outcome.induced_accuracy)


def _minus_social_cost(outcome: Outcome) -> float:
    return float(-outcome.social_cost)


def induced_accuracy_scorer(
    cost: Any = None,
    *,
    subsidies: Any = None,
    behaviour: Any = None,
    unseen: Unseen = "error",
    max_social_cost: float | None = None,
    nobody: float = np.nan,
) -> ApplicationScorer:
    """Make a scorer for ``cross_validate`` and ``GridSearchCV``: accuracy over applicants.

    Who applies is decided by the fitted classifier's ``published_`` statistics, not by the people who are scored.

    Parameters
    ----------
    cost, subsidies : float or mapping from group to float, optional
        By default the classifier's own.
    behaviour : Behaviour, optional
        How people respond to what is published; by default as the classifier was trained for. Name it to compare
        classifiers that were trained for different behaviours.
    unseen : {"error", "abstain"}, default="error"
        Whether a group that a fold has no published statistics about is an error or stays away.
    max_social_cost : float, optional
        Largest social cost among the people who are scored. Above it the score is ``limit - social cost``, which is
        negative and so worse than any induced accuracy.
    nobody : float, default=NaN
        Score if nobody applies. A search ranks NaN last, with a warning; 0 (or -1 with a limit) ranks it last without.

    Examples
    --------
    >>> from selfselect import NaiveClassifier
    >>> from selfselect.datasets import make_base_rate_groups
    >>> X, y, z = make_base_rate_groups((0.5, 0.15), random_state=0, return_X_y_group=True)
    >>> model = NaiveClassifier(cost=0.8).fit(X, y, sensitive_features=z)
    >>> audit = model.audit(X, y, z)
    >>> induced_accuracy_scorer()(model, X, y, sensitive_features=z) == audit.induced_accuracy
    True
    >>> limited = induced_accuracy_scorer(max_social_cost=0.1)
    >>> bool(np.isclose(limited(model, X, y, sensitive_features=z), 0.1 - audit.social_cost))
    True
    """
    if max_social_cost is not None:
        check_fraction(max_social_cost, "max_social_cost")
    terms = {"cost": cost, "subsidies": subsidies, "behaviour": behaviour, "unseen": unseen}
    options = {"max_social_cost": max_social_cost, "nobody": nobody}
    return ApplicationScorer("induced_accuracy_scorer", _induced_accuracy, terms, **options)


def social_cost_scorer(
    cost: Any = None, *, subsidies: Any = None, behaviour: Any = None, unseen: Unseen = "error"
) -> ApplicationScorer:
    """Make a scorer for ``cross_validate`` and ``GridSearchCV``: minus the social cost, so that larger is better.

    It is -1 if nobody applies, and NaN if nobody is qualified.

    Parameters
    ----------
    cost, subsidies, behaviour, unseen
        As in :func:`induced_accuracy_scorer`.

    Examples
    --------
    >>> social_cost_scorer(cost=0.7)
    social_cost_scorer(cost=0.7, subsidies=None, behaviour=None, unseen='error')
    """
    terms = {"cost": cost, "subsidies": subsidies, "behaviour": behaviour, "unseen": unseen}
    return ApplicationScorer("social_cost_scorer", _minus_social_cost, terms)
