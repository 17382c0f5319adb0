"""What training lowers, as a function of sums per group: value, and slopes with respect to the sums.

Nothing here sees a row or a feature, only K numbers of each kind for K groups: one evaluation costs O(K), ties aside,
beside the pass over rows in :mod:`.sums`. How scores come from features is the business of :mod:`.linear`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Protocol

import numpy as np
from scipy.special import logit

from .._validation import FloatArray
from ..behaviour import PRECISION_CLIP
from .sums import People, Slopes, SmoothScores, Sums
from .ties import Tie


class Objective(Protocol):
    """What training lowers: a pass over scores that makes sums, and a value of those sums."""

    def forward(self, people: People, score: FloatArray) -> SmoothScores:
        """The pass over the scores of some people."""
        ...

    def __call__(self, sums: Any) -> tuple[float, Slopes]:
        """Value, and its slopes with respect to the sums."""
        ...


def plus(some: tuple[float, Slopes], more: tuple[float, Slopes]) -> tuple[float, Slopes]:
    """Sum of two values, with its slopes."""
    return some[0] + more[0], some[1] + more[1]


def weighted_error(
    hits: FloatArray, passes: FloatArray, positives: FloatArray, target: FloatArray, price: float
) -> tuple[float, FloatArray, FloatArray]:
    """Errors on target groups, a false positive counting ``price`` times; slopes in hits and passes.

    The value is ``sum_z T_z (P_z - hits_z + price (passes_z - hits_z))``.

    At price 1 it is the smooth number of errors. At ``price = c / (1 - c)`` the gain ``hits - price (passes - hits)``
    is positive exactly for a (smooth) precision above c, so lowering it turns the score towards precision at the very
    top.
    """
    value = target @ (positives - hits + price * (passes - hits))
    return float(value), -(1 + price) * target, price * target


def precision_hinge(
    q: FloatArray, at_least: FloatArray | None = None, at_most: FloatArray | None = None
) -> tuple[float, FloatArray]:
    """Squared distance of log-odds of precision from their bounds, averaged over groups; slope in q.

    Groups are kept in by ``q >= at_least`` and out by ``q <= at_most``; NaN in a bound leaves the group alone.
    """
    clipped = np.clip(q, PRECISION_CLIP, 1 - PRECISION_CLIP)
    odds = logit(clipped)
    low = high = np.zeros(len(q))
    if at_least is not None:
        low = np.fmax(logit(at_least) - odds, 0.0)  # of a number and NaN, the number
    if at_most is not None:
        high = np.fmax(odds - logit(at_most), 0.0)
    slope = np.where(clipped == q, 2 * (high - low) / (clipped * (1 - clipped)), 0.0)
    return float(low @ low + high @ high) / len(q), slope / len(q)


@dataclass(frozen=True, eq=False)
class PrecisionWalls:
    """Walls that keep the smooth precision of some groups up, and of others down.

    Attributes
    ----------
    at_least, at_most : ndarray of shape (n_groups,), optional
        Bounds of precision, NaN where there is none; see :func:`precision_hinge`.
    height : float
        Weight.
    """

    at_least: FloatArray | None = None
    at_most: FloatArray | None = None
    height: float = 1.0

    def penalty(self, sums: Sums) -> tuple[float, Slopes]:
        """Value and slopes."""
        q, _, _ = sums.precision
        value, slope = precision_hinge(q, self.at_least, self.at_most)
        return self.height * value, Slopes(precision=self.height * slope)


@dataclass(frozen=True, eq=False)
class TargetedObjective:
    """Errors on groups that are meant to apply, with everything else as a wall.

    Where :class:`~selfselect.learning.paper.StrategicObjective` lets the data decide who applies, this one is told, and
    so cannot get stuck where a group's smooth application, and with it the gradient, is 0. Its terms:
    :func:`weighted_error` on the target, walls that keep the target in and others out, and ties between groups.

    Attributes
    ----------
    target : ndarray of shape (n_groups,)
        1 for groups meant to apply, 0 for the others.
    scale : float
        What the errors are divided by.
    price : float
        Errors that a false positive counts for.
    temperature : float
        Sharpness of predictions.
    walls : PrecisionWalls, optional
        Who is kept in, and who out.
    ties : tuple of Tie
        What is kept alike between groups.
    with_log_loss : bool
        Whether the logistic loss on the target takes the place of errors.
    """

    target: FloatArray
    scale: float
    price: float = 1.0
    temperature: float = 4.0
    walls: PrecisionWalls | None = None
    ties: tuple[Tie, ...] = ()
    with_log_loss: bool = False

    def forward(self, people: People, score: FloatArray) -> SmoothScores:
        """Pass over the scores of some people."""
        return SmoothScores(people, score, self.temperature, self.temperature, with_loss=self.with_log_loss)

    def __call__(self, sums: Sums) -> tuple[float, Slopes]:
        """Value and slopes."""
        value, slopes = reduce(plus, self._penalties(sums), self._errors(sums))
        return value, slopes.through_precision(sums)

    def _penalties(self, sums: Sums) -> Iterator[tuple[float, Slopes]]:
        """Penalties of walls and ties; those that bound precision are added up among themselves, as one."""
        bounds = [] if self.walls is None else [self.walls.penalty(sums)]
        bounds += [tie.penalty(sums) for tie in self.ties if tie.follows_base_rates]
        if bounds:
            yield reduce(plus, bounds)
        yield from (tie.penalty(sums) for tie in self.ties if not tie.follows_base_rates)

    def _errors(self, sums: Sums) -> tuple[float, Slopes]:
        """Errors on the target, or their logistic loss."""
        if self.with_log_loss:
            value = float(self.target @ sums.loss) / self.scale
            return value, Slopes(loss=self.target / self.scale)
        value, per_hit, per_pass = weighted_error(
            sums.hits, sums.passes, sums.positives, self.target / self.scale, self.price
        )
        return value, Slopes(hits=per_hit, passes=per_pass)

    def walled(self, height: float) -> TargetedObjective:
        """The same objective with walls of some height around precision and ties."""
        return replace(
            self,
            walls=replace(self.walls, height=height) if self.walls else None,
            ties=tuple(tie.walled(height) for tie in self.ties),
        )
