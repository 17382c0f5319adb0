"""Metrics per row, given who applies.

Who applies is an argument, ``applies``, because it follows from statistics that were published before
(:meth:`selfselect.PublishedStatistics.applies_to`), not from the people under evaluation. The metrics work with
:class:`fairlearn.metrics.MetricFrame` by ``sample_params={"applies": ...}``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._validation import (
    BoolArray,
    FloatArray,
    as_column,
    check_binary,
    check_floats,
    check_fraction,
    check_nonnegative,
    check_same_length,
    check_same_rows,
    check_shares,
    check_weights,
)
from ..counting.intervals import ratio


def _columns(
    y_true: Any, y_pred: Any, sample_weight: Any, **others: Any
) -> tuple[BoolArray, BoolArray, FloatArray, FloatArray]:
    """Labels, decisions, shares that apply (1 without ``applies``) and weights; all rows must be the same people."""
    check_same_rows(y_true=y_true, y_pred=y_pred, sample_weight=sample_weight, **others)
    y, selected = check_binary(y_true, "y_true"), check_binary(y_pred, "y_pred")
    check_same_length(y_true=y, y_pred=selected)
    shares = check_shares(others["applies"], len(y)) if "applies" in others else np.ones(len(y))
    return y, selected, shares, _weights(sample_weight, len(y))


def _weights(sample_weight: ArrayLike | None, n_rows: int) -> FloatArray:
    """Weights of the rows, 1 by default. All may be 0; then metrics are NaN."""
    weights = check_weights(sample_weight, n_rows, some_positive=False)
    return np.ones(n_rows) if weights is None else weights


def _average(values: Any, weights: FloatArray) -> float:
    """Weighted mean, NaN if the weights sum to 0."""
    return float(ratio(np.dot(values, weights), weights.sum()))


def assumed_accuracy(y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Accuracy over everybody: ``P(y = yhat)``, as if all applied.

    Examples
    --------
    >>> assumed_accuracy([1, 0, 1, 0], [1, 0, 0, 0])
    0.75
    """
    y, selected, _, weights = _columns(y_true, y_pred, sample_weight)
    return _average(y == selected, weights)


def induced_accuracy(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    applies: ArrayLike,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Accuracy over applicants: ``P(y = yhat | a = 1)``.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_rows,)
        Labels and predictions of 0 and 1.
    applies : array-like of shape (n_rows,)
        Whether each person applies, or the share of the person's group that applies, in [0, 1].
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
    y, selected, shares, weights = _columns(y_true, y_pred, sample_weight, applies=applies)
    return _average(y == selected, shares * weights)


def social_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike | None = None,
    *,
    applies: ArrayLike,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of qualified people who do not apply: ``P(a = 0 | y = 1)``.

    It is NaN if nobody is qualified. ``y_pred`` is ignored; it is there for the usual signature of a metric.

    Examples
    --------
    >>> social_cost([1, 1, 1, 0], applies=[True, False, False, False])
    0.6666666666666666
    """
    check_same_rows(y_true=y_true, y_pred=y_pred, applies=applies, sample_weight=sample_weight)
    y = check_binary(y_true, "y_true")
    away = 1 - check_shares(applies, len(y))
    return _average(away[y], _weights(sample_weight, len(y))[y])


def application_rate(
    y_true: ArrayLike | None = None,
    y_pred: ArrayLike | None = None,
    *,
    applies: ArrayLike,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of people who apply: ``P(a = 1)``.

    ``y_true`` and ``y_pred`` are ignored; they are there for the usual signature of a metric.

    Examples
    --------
    >>> application_rate(applies=[True, True, False, False])
    0.5
    """
    check_same_rows(y_true=y_true, y_pred=y_pred, applies=applies, sample_weight=sample_weight)
    shares = check_shares(applies)
    for name, column in (("y_true", y_true), ("y_pred", y_pred)):
        if column is not None:
            check_same_length(**{name: as_column(column, name), "applies": shares})
    return _average(shares, _weights(sample_weight, len(shares)))


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
    y_true, y_pred, sample_weight
        As in :func:`induced_accuracy`.
    cost : float or array-like of shape (n_rows,)
        Cost that each person faces, after subsidies.
    applies : array-like of shape (n_rows,), optional
        As in :func:`induced_accuracy`. By default these people decide as one group, by their own precision. Then the
        utility is ``max(0, E[yhat (y - c)]) = P(yhat = 1) max(0, precision - c)``.

    Examples
    --------
    >>> applicant_utility([1, 1, 0, 0], [1, 1, 1, 0], cost=0.5)
    0.125
    """
    given = {} if applies is None else {"applies": applies}
    y, selected, shares, weights = _columns(y_true, y_pred, sample_weight, cost=cost, **given)
    if np.ndim(cost) == 0:
        costs: Any = check_fraction(cost, "cost")
    else:
        costs = check_floats(cost, "cost")
        check_same_length(y_true=y, cost=costs)
        if costs.min() < 0 or costs.max() > 1:
            raise ValueError(f"cost must lie in [0, 1], got values from {costs.min()} to {costs.max()}.")
    utility = _average(shares * selected * (y - costs), weights)
    return max(0.0, utility) if applies is None else utility


def firm_utility(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    applies: ArrayLike,
    price: float,
    gain: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Average utility of the firm: ``E[a yhat (gain y - price)]``.

    Applicants who are selected are tested, which costs the firm a price. Those who are qualified are hired, which is a
    gain. A threshold that maximises this utility need not maximise accuracy.

    Parameters
    ----------
    y_true, y_pred, applies, sample_weight
        As in :func:`induced_accuracy`.
    price : float
        Cost of a test to the firm, at least 0.
    gain : float, default=1.0
        Value of a hire to the firm, at least 0.

    Returns
    -------
    float
        0 if nobody applies; NaN if all weights are 0.

    Examples
    --------
    >>> firm_utility([1, 1, 0, 0], [1, 1, 1, 0], applies=[True] * 4, price=0.5)
    0.125
    """
    y, selected, shares, weights = _columns(y_true, y_pred, sample_weight, applies=applies)
    value, paid = check_nonnegative(gain, "gain"), check_nonnegative(price, "price")
    return _average(shares * selected * (value * y - paid), weights)
