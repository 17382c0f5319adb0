"""Ratios of counts, and confidence intervals of a precision."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, ndtri

from .._validation import FloatArray, check_choice, check_fraction

Interval: TypeAlias = Literal["wilson", "clopper-pearson"]

#: Relative error that comparisons of counts forgive: far above rounding of sums of weights, far below one person.
ROUNDING = 1e-12


def ratio(numerator: ArrayLike, denominator: ArrayLike) -> FloatArray:
    """``numerator / denominator``; NaN where the denominator is 0."""
    top, bottom = np.broadcast_arrays(np.asarray(numerator, float), np.asarray(denominator, float))
    result = np.full(top.shape, np.nan)
    np.divide(top, bottom, out=result, where=bottom != 0)
    return result


def effective_trials(counts: Any) -> tuple[FloatArray, FloatArray]:
    """True positives and selected people as numbers of equally weighted people that are as informative.

    ``counts`` has ``n``, ``positives``, ``selected`` and ``true_positives``, and in ``squares`` the same of squared
    weights. The variance of the precision ``p`` is ``sum w^2 (y - p)^2 / (sum w)^2``, and the number of people is ``p
    (1 - p)`` divided by it. Where hardly anybody of one label is selected, the weights of all people of the group say
    more about this variance; the smaller of the two numbers counts, and never more than Kish's ``(sum w)^2 / sum
    w^2``. Equal weights change nothing, and weights never add people; intervals are wider than necessary where the
    rarer label weighs less.
    """
    squares = counts.squares
    k, n = np.asarray(counts.true_positives, float), np.asarray(counts.selected, float)
    squared_k, squared_n = np.asarray(squares.true_positives, float), np.asarray(squares.selected, float)
    p = np.clip(np.nan_to_num(ratio(k, n)), 0.0, 1.0)
    spread = (1 - p) ** 2 * squared_k + p**2 * np.maximum(squared_n - squared_k, 0.0)
    qualified, unqualified = weights_by_label(counts)
    people = np.fmin(ratio(n**2, squared_n), ratio(p * (1 - p) * n**2, spread))
    people = np.fmin(people, ratio(n, (1 - p) * qualified + p * unqualified))
    people = np.where(n > 0, people, 0.0)
    return p * people, people


def weights_by_label(counts: Any) -> tuple[FloatArray, FloatArray]:
    """Usual weight of the qualified and of the unqualified people of each group; of all if there are none."""
    squares, everybody = counts.squares, ratio(counts.squares.n, counts.n)
    qualified = ratio(squares.positives, counts.positives)
    unqualified = ratio(squares.n - squares.positives, counts.n - counts.positives)
    return tuple(np.where(weight > 0, weight, everybody) for weight in (qualified, unqualified))  # type: ignore[return-value]


def precision_interval(
    true_positives: ArrayLike,
    selected: ArrayLike,
    *,
    interval: Interval = "wilson",
    confidence: float = 0.95,
) -> tuple[FloatArray, FloatArray]:
    """Two-sided confidence interval of a precision, from counts.

    Parameters
    ----------
    true_positives, selected : array-like
        Successes and trials; of weighted people see :func:`effective_trials`.
    interval : {"wilson", "clopper-pearson"}, default="wilson"
        Wilson's score interval covers close to ``confidence`` on average. The interval of Clopper and Pearson never
        covers less.
    confidence : float, default=0.95
        Coverage, in (0, 1).

    Returns
    -------
    low, high : ndarray
        NaN where nobody is selected.

    Examples
    --------
    >>> low, high = precision_interval(7, 10)
    >>> round(float(low), 3), round(float(high), 3)
    (0.397, 0.892)
    """
    check_choice(interval, "interval", ("wilson", "clopper-pearson"))
    level = check_fraction(confidence, "confidence", inclusive=False)
    k, n = np.broadcast_arrays(np.asarray(true_positives, float), np.asarray(selected, float))
    if not ((k >= 0) & (k <= n * (1 + ROUNDING))).all():
        raise ValueError("true_positives must lie between 0 and selected.")
    k = np.minimum(k, n)
    if interval == "clopper-pearson":
        tail = (1 - level) / 2
        low, high = betaincinv(k, n - k + 1, tail), betaincinv(k + 1, n - k, 1 - tail)
    else:
        z = ndtri((1 + level) / 2)
        half = z * np.sqrt(ratio(k * (n - k), n) + z**2 / 4)
        low, high = (k + z**2 / 2 - half) / (n + z**2), (k + z**2 / 2 + half) / (n + z**2)
    low, high = np.where(k <= 0, 0.0, low), np.where(k >= n, 1.0, high)
    undefined = n <= 0
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)
