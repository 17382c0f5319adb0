"""What follows once it is decided who applies.

Every function takes the decision (``applies``, one entry per person: yes or no, or the share of people like this one
that applies, in [0, 1]) as an argument: it follows from statistics that
were published before, usually on training data (:meth:`selfselect.PublishedStatistics.applies_to`), and must not be
computed anew from the people under evaluation. All of them work with :class:`fairlearn.metrics.MetricFrame` by passing
``sample_params={"applies": ...}``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._validation import (
    FloatArray,
    as_column,
    check_at_least_zero,
    check_binary,
    check_floats,
    check_fraction,
    check_same_length,
    check_shares,
    check_weights,
)
from ..counting.intervals import ratio


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
    applies : array-like of shape (n_rows,)
        Whether each person applies, or the share of people like this one that does, in [0, 1].
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
    shares = check_shares(applies, len(y))
    weights = _weights(sample_weight, len(y))
    return _average(y == selected, shares if weights is None else shares * weights)


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
    away = 1 - check_shares(applies, len(y))
    weights = _weights(sample_weight, len(y))
    return _average(away[y], None if weights is None else weights[y])


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
    y_true, y_pred : array-like of shape (n_rows,)
        Labels and predictions of 0 and 1.
    cost : float or array-like of shape (n_rows,)
        Cost that each person faces, after subsidies.
    applies : array-like of shape (n_rows,), optional
        Whether each person applies, or a share in [0, 1]. Without it all people decide together, by their own
        precision: ``max(0, E[yhat (y - c)])``, which for the people of one group is
        ``P(yhat = 1) max(0, precision - c)``.
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
    return _average(gain * check_shares(applies, len(y)), weights)


def firm_utility(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    applies: ArrayLike,
    price: float,
    gain: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """What screening is worth to the firm, per person: ``E[a yhat (gain y - price)]``.

    Everybody who applies and is selected is tested, at a price to the firm; those of them who are qualified are hired,
    and each is a gain. A threshold that maximises it need not be one of the highest accuracy.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_rows,)
        Labels and predictions of 0 and 1.
    applies : array-like of shape (n_rows,)
        Whether each person applies, or the share of people like this one that does, in [0, 1].
    price : float
        What a test costs the firm, at least 0.
    gain : float, default=1.0
        What a hire is worth to it, at least 0.
    sample_weight : array-like of shape (n_rows,), optional
        Weights.

    Returns
    -------
    float
        0 if nobody applies (nobody is tested, nobody hired); NaN if all weights are 0.

    Examples
    --------
    >>> firm_utility([1, 1, 0, 0], [1, 1, 1, 0], applies=[True] * 4, price=0.5)
    0.125
    """
    y, selected = check_binary(y_true, "y_true"), check_binary(y_pred, "y_pred")
    check_same_length(y_true=y, y_pred=selected)
    worth, paid = check_at_least_zero(gain, "gain"), check_at_least_zero(price, "price")
    shares = check_shares(applies, len(y))
    return _average(shares * selected * (worth * y - paid), _weights(sample_weight, len(y)))
