"""What follows once it is decided who applies.

Every function takes the decision (``applies``, one entry per person) as an argument: it follows from statistics that
were published before, usually on training data (:meth:`selfselect.PublishedStatistics.applies_to`), and must not be
computed anew from the people under evaluation. All of them work with :class:`fairlearn.metrics.MetricFrame` by passing
``sample_params={"applies": ...}``.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.utils.metadata_routing import MetadataRequest

from ._validation import (
    FloatArray,
    as_column,
    check_applies,
    check_binary,
    check_floats,
    check_fraction,
    check_same_length,
    check_weights,
)
from .groups import position_of, with_same_columns
from .intervals import ratio
from .statistics import GroupCounts, PublishedStatistics


def _average(values: Any, weights: FloatArray | None) -> float:
    """Mean of values, NaN if there are none (or their weights sum to 0)."""
    if weights is None:
        weights = np.ones(len(values))
    return float(ratio(np.dot(values, weights), weights.sum()))


def _weights(sample_weight: ArrayLike | None, n_rows: int) -> FloatArray | None:
    """Weights that may all be 0: then there is nobody to average over, and the metric is NaN."""
    return check_weights(sample_weight, n_rows, some_positive=False)


def assumed_accuracy(y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Accuracy over everybody: ``P(y = yhat)``, what a firm believes that ignores who applies.

    Examples
    --------
    >>> assumed_accuracy([1, 0, 1, 0], [1, 0, 0, 0])
    0.75
    """
    y, selected = check_binary(y_true, "y_true"), check_binary(y_pred, "y_pred")
    check_same_length(y_true=y, y_pred=selected)
    return _average(y == selected, _weights(sample_weight, len(y)))


def induced_accuracy(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    applies: ArrayLike,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Accuracy over the people who apply: ``P(y = yhat | a = 1)``.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_rows,)
        Labels and predictions of 0 and 1.
    applies : array-like of bool of shape (n_rows,)
        Whether each person applies.
    sample_weight : array-like of shape (n_rows,), optional
        Weights.

    Returns
    -------
    float
        NaN if nobody applies.

    Examples
    --------
    >>> induced_accuracy([1, 0, 1, 0], [1, 0, 0, 0], applies=[True, True, False, False])
    1.0
    """
    y, selected = check_binary(y_true, "y_true"), check_binary(y_pred, "y_pred")
    check_same_length(y_true=y, y_pred=selected)
    mask = check_applies(applies, len(y))
    weights = _weights(sample_weight, len(y))
    return _average((y == selected)[mask], None if weights is None else weights[mask])


def social_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike | None = None,
    *,
    applies: ArrayLike,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of qualified people who do not apply: ``P(a = 0 | y = 1)``.

    ``y_pred`` is ignored; it is there so that the function can be used like any other metric.

    Returns
    -------
    float
        NaN if nobody is qualified.

    Examples
    --------
    >>> social_cost([1, 1, 1, 0], applies=[True, False, False, False])
    0.6666666666666666
    """
    y = check_binary(y_true, "y_true")
    mask = check_applies(applies, len(y))
    weights = _weights(sample_weight, len(y))
    return _average(~mask[y], None if weights is None else weights[y])


def application_rate(
    y_true: ArrayLike | None = None,
    y_pred: ArrayLike | None = None,
    *,
    applies: ArrayLike,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of people who apply: ``P(a = 1)``.

    ``y_true`` and ``y_pred`` are ignored; they are there so that the function can be used like any other metric.

    Examples
    --------
    >>> application_rate(applies=[True, True, False, False])
    0.5
    """
    mask = check_binary(applies, "applies")
    for name, column in (("y_true", y_true), ("y_pred", y_pred)):
        if column is not None:
            check_same_length(**{name: as_column(column, name), "applies": mask})
    return _average(mask, _weights(sample_weight, len(mask)))


def applicant_utility(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    cost: ArrayLike,
    applies: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Average utility of people: ``E[a yhat (y - c)]``.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_rows,)
        Labels and predictions of 0 and 1.
    cost : float or array-like of shape (n_rows,)
        Cost that each person faces, after subsidies.
    applies : array-like of bool of shape (n_rows,), optional
        Whether each person applies. Without it all people decide together, by their own precision:
        ``max(0, E[yhat (y - c)])``, which for the people of one group is ``P(yhat = 1) max(0, precision - c)``.
    sample_weight : array-like of shape (n_rows,), optional
        Weights.

    Examples
    --------
    >>> applicant_utility([1, 1, 0, 0], [1, 1, 1, 0], cost=0.5)
    0.125
    """
    y, selected = check_binary(y_true, "y_true"), check_binary(y_pred, "y_pred")
    check_same_length(y_true=y, y_pred=selected)
    if np.ndim(cost) == 0:
        costs: Any = check_fraction(cost, "cost")
    else:
        costs = check_floats(cost, "cost")
        check_same_length(y_true=y, cost=costs)
        if costs.min() < 0 or costs.max() > 1:
            raise ValueError(f"cost must lie in [0, 1], got values from {costs.min()} to {costs.max()}.")
    weights = _weights(sample_weight, len(y))
    gain = selected * (y - costs)
    if applies is None:
        return max(0.0, _average(gain, weights))
    return _average(gain * check_applies(applies, len(y)), weights)


@dataclass(frozen=True)
class RankAgreement:
    """How well published precisions follow base rates.

    Attributes
    ----------
    r2 : float
        Squared Pearson correlation of base rates with the ranks of the precisions: the number that Horowitz et al.
        (2024) report. It is blind to direction, and a perfect order need not score 1.
    spearman, kendall : float
        Rank correlations, in [-1, 1]; 1 is the perfect order, -1 the reversed one.
    respected : bool
        Whether a higher base rate never comes with a lower precision.
    n_groups : int
        Number of groups with a defined precision; the others are left out.
    """

    r2: float
    spearman: float
    kendall: float
    respected: bool
    n_groups: int


def rank_agreement(base_rates: ArrayLike, precisions: ArrayLike) -> RankAgreement:
    """Compare the order of groups by precision with their order by base rate.

    Parameters
    ----------
    base_rates, precisions : array-like of shape (n_groups,)
        One number per group; two Series are matched by their index. Groups whose precision is undefined (NaN) are left
        out; a correlation of fewer than two groups, or of a constant, is NaN.

    Examples
    --------
    >>> agreement = rank_agreement([0.1, 0.2, 0.3], [0.9, 0.8, 0.7])
    >>> round(agreement.r2, 6), agreement.kendall, agreement.respected
    (1.0, -1.0, False)
    """
    if isinstance(base_rates, pd.Series) and isinstance(precisions, pd.Series):
        duplicates = base_rates.index.has_duplicates or precisions.index.has_duplicates
        if duplicates or len(base_rates.index.symmetric_difference(precisions.index)):
            raise ValueError("base_rates and precisions must be indexed by the same groups, each once.")
        precisions = precisions.reindex(base_rates.index)
    mu = np.asarray(base_rates, dtype=np.float64)
    precision = np.asarray(precisions, dtype=np.float64)
    if mu.ndim != 1 or mu.shape != precision.shape:
        raise ValueError(
            f"base_rates and precisions must have one number per group, got {mu.shape} and {precision.shape}."
        )
    if np.isnan(mu).any():
        raise ValueError("base_rates has missing values; every group with people has a base rate.")
    defined = ~np.isnan(precision)
    mu, precision = mu[defined], precision[defined]
    order = np.lexsort((-precision, mu))  # among equal base rates, the highest precision comes first
    ordered_mu, ordered = mu[order], precision[order]
    highest_before = np.maximum.accumulate(ordered)
    rises = np.flatnonzero(np.diff(ordered_mu) > 0)
    # the worst precision of a block of equal base rates is its last, the best so far stands just before the block
    lowest_of_block = ordered[np.append(rises[1:], len(ordered) - 1)] if rises.size else ordered[:0]
    respected = bool((lowest_of_block >= highest_before[rises]).all())
    if len(mu) < 2 or np.ptp(mu) == 0 or np.ptp(precision) == 0:
        return RankAgreement(np.nan, np.nan, np.nan, respected, len(mu))
    return RankAgreement(
        r2=float(stats.pearsonr(mu, stats.rankdata(precision)).statistic ** 2),
        spearman=float(stats.spearmanr(mu, precision).statistic),
        kendall=float(stats.kendalltau(mu, precision).statistic),
        respected=respected,
        n_groups=len(mu),
    )


@dataclass(frozen=True)
class Outcome:
    """What a screening model does to a population, given who applies.

    Attributes
    ----------
    assumed_accuracy : float
        Accuracy over everybody.
    induced_accuracy : float
        Accuracy over applicants, NaN if nobody applies.
    applying_groups : int
        Number of groups that apply.
    application_rate : float
        Share of people who apply.
    social_cost : float
        Share of qualified people who do not apply, NaN if nobody is qualified.
    """

    assumed_accuracy: float
    induced_accuracy: float
    applying_groups: int
    application_rate: float
    social_cost: float

    def to_dict(self) -> dict[str, float]:
        """Names and numbers."""
        return asdict(self)


def outcome(population: PublishedStatistics, applies: pd.Series) -> Outcome:
    """All metrics of a population from its counts per group and each group's decision.

    Parameters
    ----------
    population : PublishedStatistics
        Counts of the people under evaluation (a test set, say).
    applies : Series of bool, indexed by group
        Who applies, by what was published before. It may name groups of which nobody is in the population.

    Examples
    --------
    >>> published = PublishedStatistics.from_predictions([1, 0, 1, 0], [1, 0, 1, 1], sensitive_features=list("AABB"))
    >>> outcome(published, published.applies(cost=0.7)).induced_accuracy
    1.0
    """
    if not isinstance(applies, pd.Series) or applies.index.has_duplicates:
        raise TypeError("applies must be a Series of decisions, indexed by group, each once.")
    decided = check_binary(applies, "applies")
    wanted = with_same_columns(population.groups, applies.index, "The population", "applies")
    try:
        position = position_of(wanted, applies.index, "The population", "applies")
    except ValueError as error:
        raise ValueError(f"applies says nothing about group(s) of the population. {error}") from error
    mask = decided[position]
    counts: GroupCounts = population.counts
    return Outcome(
        assumed_accuracy=float(ratio(counts.correct.sum(), counts.n.sum())),
        induced_accuracy=float(ratio(counts.correct[mask].sum(), counts.n[mask].sum())),
        applying_groups=int(decided.sum()),
        application_rate=float(ratio(counts.n[mask].sum(), counts.n.sum())),
        social_cost=float(ratio(counts.positives[~mask].sum(), counts.positives.sum())),
    )


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
        final = getattr(final, "steps", [("", final)])[-1][1]  # the classifier at the end of a pipeline
        published: PublishedStatistics = final.published_
        cost = final.cost if self.cost is None else self.cost
        subsidies = getattr(final, "subsidies", None) if self.subsidies is None else self.subsidies
        labels, positive = np.asarray(y), final.classes_[1]
        if not np.isin(labels, final.classes_).all():
            raise ValueError(f"y holds labels that were not there in training; the classifier knows {final.classes_}.")
        population = PublishedStatistics.from_predictions(
            labels == positive,
            np.asarray(estimator.predict(X)) == positive,
            sensitive_features=sensitive_features,
            sample_weight=sample_weight,
        )
        decided = published.applies(cost, subsidies, subsidy_kind=getattr(final, "subsidy_kind", "additive"))
        value = outcome(population, decided).induced_accuracy
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
