"""Ties between groups: how far a classifier is from treating them alike, as a smooth penalty and in hard counts.

A tie is an object with a ``penalty``, which training lowers, and a ``violation``, by which finished classifiers are
judged. To add one, write a class here and make it where :class:`selfselect.StrategicClassifier` makes its ties. All of
them work on K numbers per classifier, for K groups.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from .._validation import FloatArray
from ..behaviour import PRECISION_CLIP
from ..counting import GroupCounts
from .sums import TINY, Slopes, Sums

#: Slack of shares of people, wherever a share is held against a limit: far above the rounding that sums of weights
#: carry, far below one person in any population.
SHARE_SLACK = 1e-9
#: Part of a tolerance within which smooth rates may differ freely, so that the hard rates stay within all of it.
FREE_PART = 0.5
#: Groups are put in order when their base rates differ by more than this.
ORDER_MARGIN = 0.02
#: Log-odds by which the smooth precision of a group should exceed that of one of a lower base rate.
ORDER_DISTANCE = 0.05
#: What the released code of the paper multiplies distances between selection rates by, before it squares them.
RELEASED_FACTOR = 10.0
#: Groups of which all pairs are compared, in every step of training; of more, each with one neighbour only.
MOST_PAIRED = 100


class Tie(ABC):
    """What all ties have."""

    #: Whether precision must follow base rates, so that only those of the highest can be the ones who apply.
    follows_base_rates: ClassVar[bool] = False
    #: Whether sums may be of several scores at once, one row each, with slopes likewise and the values added up.
    takes_many: ClassVar[bool] = False

    @abstractmethod
    def walled(self, height: float = 1.0) -> Self:
        """The same tie with a wall in its penalty, which keeps training within the tolerance."""

    @abstractmethod
    def penalty(self, sums: Sums) -> tuple[float, Slopes]:
        """Value of the penalty, weight and wall included, and its slopes with respect to the sums."""

    @abstractmethod
    def violation(self, counts: GroupCounts) -> FloatArray:
        """By how much hard counts break the tie, 0 within the tolerance.

        ``counts.selected`` and ``counts.true_positives`` have shape (n_classifiers, n_groups); the result has shape
        (n_classifiers,).
        """


@dataclass(frozen=True)
class EqualRates(Tie):
    """Base of ties that make a rate the same for all groups.

    Attributes
    ----------
    weight : float
        Weight of the penalty, positive.
    tolerance : float
        Largest difference of hard rates, positive.
    wall : float
        Weight of smooth rates that are further from the overall one than half the tolerance. Without it the penalty is
        the paper's.
    relative : bool
        Whether the tolerance, and the wall with it, is a share of the overall rate: an absolute one means nothing where
        hardly anybody is selected.
    """

    weight: float
    tolerance: float
    wall: float = 0.0
    relative: bool = False

    def walled(self, height: float = 1.0) -> Self:
        """The same tie with a wall that is the steeper the narrower the tolerance is."""
        return replace(self, wall=self.tolerance**-2.0 * height)

    def _spread(self, accepted: FloatArray, n: FloatArray) -> tuple[float, FloatArray]:
        """Penalty on the rates ``accepted / n``, and its slope in accepted."""
        if self.relative:
            value, slope = rate_spread_penalty(accepted, n)
            wall, up = relative_spread_wall(accepted, n, FREE_PART * self.tolerance)
            return self.weight * value + self.wall * wall, self.weight * slope + self.wall * up
        value, slope = rate_spread_penalty(accepted, n, self.wall / self.weight, FREE_PART * self.tolerance)
        return self.weight * value, self.weight * slope

    def _beyond(self, accepted: FloatArray, n: FloatArray) -> FloatArray:
        """Largest difference within each row of the rates ``accepted / n``, beyond the tolerance."""
        if accepted.shape[1] == 0:
            return np.zeros(len(accepted))
        apart = np.ptp(accepted / n, axis=1)
        if self.relative:
            overall = accepted.sum(axis=1) / n.sum()
            apart = np.divide(apart, overall, out=np.zeros_like(apart), where=overall > 0)
        return np.asarray(np.maximum(apart - self.tolerance - SHARE_SLACK, 0))


class EqualSelectionRates(EqualRates):
    """Statistical parity: ``P(selected | z)`` is the same for all groups."""

    def penalty(self, sums: Sums) -> tuple[float, Slopes]:
        """Squared distances from the overall rate; see :func:`rate_spread_penalty`."""
        value, slope = self._spread(sums.accepted, sums.n)
        return value, Slopes(accepted=slope)

    def violation(self, counts: GroupCounts) -> FloatArray:
        """Largest difference of selection rates beyond the tolerance."""
        return self._beyond(counts.selected, counts.n)


class SummedSelectionRates(EqualSelectionRates):
    """Statistical parity in the form of the paper's released code: a sum of squares, ten times the distances inside.

    In units of :class:`EqualSelectionRates` (the paper's text) the weight is 100 times the number of groups larger. The
    overall rate is held constant in the slopes.
    """

    takes_many: ClassVar[bool] = True

    def penalty(self, sums: Sums) -> tuple[float, Slopes]:
        """``weight sum_z (10 e_z)^2``, with the distance ``e_z`` of a group's rate from the overall one."""
        some = sums.n > 0
        n = np.where(some, sums.n, 1.0)
        overall = sums.accepted.sum(axis=-1, keepdims=True) / sums.n.sum()
        gap = np.where(some, RELEASED_FACTOR * (sums.accepted / n - overall), 0.0)
        return self.weight * float((gap * gap).sum()), Slopes(accepted=self.weight * 2 * RELEASED_FACTOR * gap / n)


class EqualTruePositiveRates(EqualRates):
    """``P(selected | y = 1, z)`` is the same for all groups in which anybody is qualified."""

    def penalty(self, sums: Sums) -> tuple[float, Slopes]:
        """Squared distances from the overall rate; see :func:`rate_spread_penalty`."""
        value, slope = self._spread(sums.accepted_positives, sums.positives)
        return value, Slopes(accepted_positives=slope)

    def violation(self, counts: GroupCounts) -> FloatArray:
        """Largest difference of true-positive rates beyond the tolerance."""
        some = counts.positives > 0
        return self._beyond(counts.true_positives[:, some], counts.positives[some])


@dataclass(frozen=True)
class OrderByBaseRates(Tie):
    """Precision follows base rates: of two groups whose base rates differ clearly, the higher is not less precise.

    It is what equal selection and true-positive rates lead to; as a tie of its own it sees to it that small differences
    of these rates do not turn the order around.

    Attributes
    ----------
    wall : float
        Weight of the penalty, which is nothing but a wall: without it there is none.
    """

    wall: float = 0.0

    follows_base_rates: ClassVar[bool] = True

    def walled(self, height: float = 1.0) -> Self:
        """The same tie with a wall; there is no tolerance that it could be scaled by."""
        return replace(self, wall=height)

    def penalty(self, sums: Sums) -> tuple[float, Slopes]:
        """Squared differences of log-odds against the order; see :func:`order_hinge`."""
        if not self.wall:
            return 0.0, Slopes()
        q, _, _ = sums.precision
        value, slope = order_hinge(q, *pairs_in_order(sums.positives / sums.n), ORDER_DISTANCE)
        return self.wall * value, Slopes(precision=self.wall * slope)

    def violation(self, counts: GroupCounts) -> FloatArray:
        """Groups without anybody selected, who have no place in the order, and the largest difference against it."""
        order = np.argsort(counts.base_rate, kind="stable")
        rising = counts.base_rate[order]
        precision = np.nan_to_num(counts.precision[:, order], nan=0.0)
        highest_up_to = np.maximum.accumulate(precision, axis=1)
        clearly_below = np.searchsorted(rising, rising - ORDER_MARGIN, side="left")
        has = clearly_below > 0
        short = highest_up_to[:, clearly_below[has] - 1] - precision[:, has]
        against = np.maximum(short - SHARE_SLACK, 0).max(axis=1, initial=0.0)
        return np.asarray((counts.selected <= 0).sum(axis=1) + against)


def pairs_in_order(base_rate: FloatArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pairs of groups (higher, lower) in base rate by more than the margin; of many groups, neighbours only."""
    if len(base_rate) <= MOST_PAIRED:
        higher, lower = np.nonzero(base_rate[:, None] > base_rate[None, :] + ORDER_MARGIN)
        return higher.astype(np.intp), lower.astype(np.intp)
    order = np.argsort(base_rate, kind="stable")
    below = np.searchsorted(base_rate[order], base_rate[order] - ORDER_MARGIN, side="left")
    has = below > 0
    return order[has].astype(np.intp), order[below[has] - 1].astype(np.intp)


# ---------------------------------------------------------------------- their formulas


def rate_spread_penalty(
    accepted: FloatArray, n: FloatArray, wall: float = 0.0, tolerance: float = 0.0
) -> tuple[float, FloatArray]:
    """Distance of groups' rates from the overall rate: ``(1/K) sum_z e_z^2``, ``e_z = accepted_z / n_z - overall``.

    With ``accepted = sum y~`` and ``n`` people it is the parity penalty; over the qualified only, the penalty for
    equal true-positive rates. A wall adds ``wall (|e_z| - tolerance)^2`` where that is positive. Groups with ``n = 0``
    do not count. Slope in accepted.
    """
    n_groups, total = len(n), n.sum()
    counts = n > 0
    safe = np.where(counts, n, 1.0)
    gap = np.where(counts, accepted / safe - accepted.sum() / max(total, TINY), 0.0)
    beyond = np.sign(gap) * np.maximum(np.abs(gap) - tolerance, 0.0)
    value = (gap @ gap + wall * beyond @ beyond) / n_groups
    slope = 2 * (gap + wall * beyond) / n_groups
    return float(value), np.where(counts, slope / safe - slope.sum() / max(total, TINY), 0.0)


def relative_spread_wall(accepted: FloatArray, n: FloatArray, tolerance: float) -> tuple[float, FloatArray]:
    """Wall on rates in units of the overall one: ``(1/K) sum_z (|g_z| - tolerance)^2`` where that is positive.

    ``g_z = (accepted_z / n_z) / overall - 1``. Groups with ``n = 0`` do not count. Slope in accepted.
    """
    n_groups, total = len(n), max(n.sum(), TINY)
    counts = n > 0
    safe = np.where(counts, n, 1.0)
    rate = np.where(counts, accepted / safe, 0.0)
    overall = max(accepted.sum() / total, TINY)
    gap = np.where(counts, rate / overall - 1.0, 0.0)
    beyond = np.sign(gap) * np.maximum(np.abs(gap) - tolerance, 0.0)
    pull = 2 * beyond / (n_groups * overall)
    through_overall = -(pull @ rate) / overall
    return float(beyond @ beyond) / n_groups, np.where(counts, pull / safe + through_overall / total, 0.0)


def order_hinge(
    q: FloatArray, higher: NDArray[np.intp], lower: NDArray[np.intp], margin: float
) -> tuple[float, FloatArray]:
    """Squared amount by which log-odds of precision break an order of groups; slope in q.

    Group ``higher[i]`` should exceed group ``lower[i]`` by the margin.
    """
    clipped = np.clip(q, PRECISION_CLIP, 1 - PRECISION_CLIP)
    odds = logit(clipped)
    short = np.maximum(odds[lower] - odds[higher] + margin, 0.0)
    pull = np.bincount(lower, short, len(q)) - np.bincount(higher, short, len(q))
    slope = np.where(clipped == q, 2 * pull / (clipped * (1 - clipped)), 0.0)
    return float(short @ short) / len(q), slope / len(q)
