"""Spread and quantiles of people, each of whom counts as often as the weight says."""

from __future__ import annotations

import numpy as np

from .._validation import FloatArray


def variance(values: FloatArray, weight: FloatArray) -> FloatArray:
    """Variance over people, of one column of shape (n_rows,) or of each of shape (n_rows, n_columns).

    Examples
    --------
    >>> round(float(variance(np.array([1.0, 4.0]), np.array([2.0, 1.0]))), 6)  # of 1, 1 and 4
    2.0
    """
    if (weight == 1).all():
        return np.asarray(values.var(axis=0))
    share = weight / weight.sum()
    return np.asarray(share @ (values - share @ values) ** 2)


def quantile(values: FloatArray, weight: FloatArray, share: float) -> float:
    """Value that a share of people lie below, between the two nearest as numpy has it.

    Examples
    --------
    >>> quantile(np.array([1.0, 4.0]), np.array([2.0, 1.0]), 0.75)  # of 1, 1 and 4
    2.5
    """
    if (weight == 1).all():
        return float(np.quantile(values, share))
    order = np.argsort(values, kind="stable")
    ranked, below = values[order], np.cumsum(weight[order])
    place = max(below[-1] - 1, 0.0) * share
    whole = np.floor(place)
    low, high = ranked[np.minimum(np.searchsorted(below, [whole, whole + 1], side="right"), len(ranked) - 1)]
    return float(low + (place - whole) * (high - low))
