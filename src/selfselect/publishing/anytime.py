"""A lower bound of the precision that holds at all times at once.

A bound at a level of 90% is above the truth for one sample in ten. A firm that publishes it anew after every round, as
labels come in, takes this risk each time, and the risks add up. A confidence sequence is below the truth in all rounds
together, with the stated probability.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincc, betaln, xlog1py, xlogy

from .._validation import BoolArray, FloatArray
from ..counting.intervals import ratio
from ..statistics import SLACK, Counts, LowerBound, Precision, trials

#: Halvings of the interval from 0 to the precision.
HALVINGS = 50


@dataclass(frozen=True)
class AnytimeLowerBound(LowerBound):
    """Lower bound of the precision that is valid in all rounds at once: a confidence sequence for a binomial.

    Let k of the first n people who were selected be qualified. For every q, the likelihood ratio of q to p is a
    martingale if the precision is p. So is its average over a uniform q in (p, 1), which has the closed form::

        M(p) = B(k + 1, n - k + 1) P(Beta(k + 1, n - k + 1) > p) / ((1 - p) p^k (1 - p)^(n - k))

    By Ville's inequality M(p) ever reaches ``1 / (1 - confidence)`` with probability at most ``1 - confidence``. The
    bound is the largest value below which all p have reached it. So with probability ``confidence`` it is below the
    precision of a group in all rounds, however many there are and whenever somebody looks.

    The counts must add up over rounds, over people who are new in each round, and the screen must stay the same. Each
    group has its own bound: the statement is not about all groups at once.

    Parameters
    ----------
    confidence : float, default=0.9
        Probability that the bound is valid in all rounds, in (0, 1).

    Examples
    --------
    >>> from selfselect import GroupCounts
    >>> counts = GroupCounts(*map(np.array, ([200, 20], [150, 15], [100, 10], [80, 8])))
    >>> AnytimeLowerBound(0.9).value(counts).round(3)
    array([0.682, 0.424])
    >>> LowerBound(0.9).value(counts).round(3)
    array([0.739, 0.55 ])
    """

    def value(self, counts: Counts) -> FloatArray:
        """Lower bound of each group; NaN where nobody is selected."""
        k, n = trials(counts)
        low, high = np.zeros(k.shape), np.nan_to_num(ratio(k, n))
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            reached = _log_martingale(k, n, middle) >= -np.log1p(-self.confidence)
            low, high = np.where(reached, middle, low), np.where(reached, high, middle)
        return np.where(n > 0, low, np.nan)

    def reaches(self, counts: Counts, limit: FloatArray) -> BoolArray:
        """Whether the bound reaches a limit: whether the martingale of the limit is large enough."""
        enough = Precision().reaches(counts, limit)
        k, n, limits = np.broadcast_arrays(*trials(counts), np.asarray(limit, float))
        k, n, limits = k[enough], n[enough], limits[enough]
        grown = _log_martingale(k, n, np.clip(limits - SLACK, 0.0, 1.0)) >= -np.log1p(-self.confidence) - SLACK
        enough[enough] = grown | (limits <= SLACK)
        return enough


def _log_martingale(k: FloatArray, n: FloatArray, p: FloatArray) -> FloatArray:
    """Logarithm of the likelihood of k of n, averaged over all rates above p, relative to that of p."""
    with np.errstate(divide="ignore", invalid="ignore"):
        averaged = betaln(k + 1, n - k + 1) + np.log(betaincc(k + 1, n - k + 1, p))
        grown = averaged - np.log1p(-p) - xlogy(k, p) - xlog1py(n - k, -p)
    return np.asarray(np.where(n > 0, grown, -np.inf))
