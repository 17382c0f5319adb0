"""From scores to smooth sums per group, and back: from slopes with respect to the sums to slopes per score.

Notation: score ``s_i`` of a row, its label ``y_i`` and weight ``v_i``, groups z, ``sigma`` the logistic function. Where
scores come from is not known here:

    scores  ->  sums per group  ->  (objectives: value, slopes per group)  ->  slopes per score

Both arrows are one pass over rows, O(m) for m rows; between them there are K numbers of each kind for K groups. Sums of
disjoint rows merge by ``+``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from .._validation import BoolArray, FloatArray

#: Stands in for 0 where something is divided by it.
TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class People:
    """Rows without their features, sorted by group, so that a sum per group is one pass.

    Attributes
    ----------
    y : ndarray of shape (n_rows,)
        Labels, 0.0 or 1.0.
    weight : ndarray of shape (n_rows,)
    start : ndarray of shape (n_groups,)
        First row of each group. A group without rows starts where the next one does.
    size, n, positives : ndarray of shape (n_groups,)
        Rows, people and qualified people of each group; the last two are sums of weights.
    """

    y: FloatArray
    weight: FloatArray
    start: NDArray[np.intp]
    size: NDArray[np.intp] = field(init=False)
    n: FloatArray = field(init=False)
    positives: FloatArray = field(init=False)
    present: NDArray[np.intp] | None = field(init=False)

    def __post_init__(self) -> None:
        size = np.diff(np.append(self.start, len(self.y)))
        object.__setattr__(self, "size", size)
        # reduceat has no empty sums: a block of a larger table may lack groups, which are then left out of it
        object.__setattr__(self, "present", None if size.all() else np.flatnonzero(size))
        object.__setattr__(self, "n", self.total(self.weight))
        object.__setattr__(self, "positives", self.total(self.weight * self.y))

    @classmethod
    def from_unsorted(
        cls, y: BoolArray, codes: NDArray[np.intp], weight: FloatArray, n_groups: int
    ) -> tuple[People, NDArray[np.intp]]:
        """Sort by group; also return the order in which rows are then."""
        order = np.argsort(codes, kind="stable")
        size = np.bincount(codes, minlength=n_groups)
        start = (np.cumsum(size) - size).astype(np.intp)
        return cls(y[order].astype(np.float64), weight[order], start), order

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.start)

    @property
    def codes(self) -> NDArray[np.intp]:
        """Group of each row."""
        return np.repeat(np.arange(self.n_groups), self.size)

    @property
    def weighs_one_each(self) -> bool:
        """Whether every row is one person."""
        return bool((self.weight == 1).all())

    def total(self, values: FloatArray) -> FloatArray:
        """Sum of values over the rows of each group."""
        return self.reduced(np.add, values)

    def reduced(self, how: np.ufunc, values: FloatArray) -> FloatArray:
        """Values of the rows of each group, reduced by a ufunc; 0 for a group without rows."""
        if self.present is None:
            return np.asarray(how.reduceat(values, self.start))
        result = np.zeros(self.n_groups)
        if len(self.present):
            result[self.present] = how.reduceat(values, self.start[self.present])
        return result

    def for_each_row(self, values: FloatArray) -> FloatArray:
        """Value of each row's group."""
        return np.repeat(values, self.size)

    def hard_counts(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        """People with a positive score in each group, and the qualified among them."""
        selected = self.weight * (score > 0)
        return self.total(selected), self.total(selected * self.y)

    def rows_of(self, groups: NDArray[np.intp]) -> slice | BoolArray:
        """Which rows are of some groups: for a single one as a slice, so that taking them copies nothing."""
        if len(groups) == 1:
            first = self.start[groups[0]]
            return slice(first, first + self.size[groups[0]])
        return np.isin(self.codes, groups)

    def of_groups(self, groups: NDArray[np.intp]) -> People:
        """People of some groups, given in rising order."""
        rows, size = self.rows_of(groups), self.size[groups]
        return People(self.y[rows], self.weight[rows], (np.cumsum(size) - size).astype(np.intp))


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over the rows of each group; those of disjoint rows merge by ``+``.

    Attributes
    ----------
    n, positives : ndarray of shape (n_groups,)
        ``sum v`` and ``sum v y``.
    loss : ndarray of shape (n_groups,)
        ``sum v log-loss(y, sigma(t s))``; 0 where it was not asked for.
    hits, passes : ndarray of shape (n_groups,)
        ``sum v y p`` and ``sum v p`` with ``p = sigma(t' s)``, the sharper sigmoid of the precision proxy.
    accepted, accepted_positives : ndarray of shape (n_groups,)
        ``sum v y~`` and ``sum v y y~`` with ``y~ = sigma(t s)``.
    """

    n: FloatArray
    positives: FloatArray
    loss: FloatArray
    hits: FloatArray
    passes: FloatArray
    accepted: FloatArray
    accepted_positives: FloatArray

    @cached_property
    def precision(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """``hits / passes``, and its slopes in both; several terms of an objective ask for it."""
        passes = np.maximum(self.passes, TINY)
        q = self.hits / passes
        return q, 1 / passes, -q / passes

    def __add__(self, other: Sums) -> Sums:
        if type(other) is not type(self):
            return NotImplemented
        return type(self)(*(getattr(self, part.name) + getattr(other, part.name) for part in fields(self)))


@dataclass(frozen=True, eq=False)
class Slopes:
    """Slopes of a value with respect to the sums of each group, None where it does not depend on them.

    Those of a sum of values add up by ``+``.

    Attributes
    ----------
    loss, hits, passes, accepted, accepted_positives : ndarray of shape (n_groups,) or None
        With respect to the sums of the same name in :class:`Sums`.
    precision : ndarray of shape (n_groups,) or None
        With respect to ``hits / passes``; see :meth:`through_precision`.
    largest : ndarray of shape (n_groups,) or None
        With respect to the largest ``y~`` of the group, which is no sum: only the paper's own objective has it.
    """

    loss: FloatArray | None = None
    hits: FloatArray | None = None
    passes: FloatArray | None = None
    accepted: FloatArray | None = None
    accepted_positives: FloatArray | None = None
    precision: FloatArray | None = None
    largest: FloatArray | None = None

    def __add__(self, other: Slopes) -> Slopes:
        return Slopes(
            _plus(self.loss, other.loss),
            _plus(self.hits, other.hits),
            _plus(self.passes, other.passes),
            _plus(self.accepted, other.accepted),
            _plus(self.accepted_positives, other.accepted_positives),
            _plus(self.precision, other.precision),
            _plus(self.largest, other.largest),
        )

    def through_precision(self, sums: Sums) -> Slopes:
        """Hand the slopes in ``hits / passes`` on to hits and passes."""
        if self.precision is None:
            return self
        _, per_hit, per_pass = sums.precision
        handed_on = Slopes(hits=self.precision * per_hit, passes=self.precision * per_pass)
        return replace(self, precision=None) + handed_on


def _plus(some: FloatArray | None, more: FloatArray | None) -> FloatArray | None:
    if some is None or more is None:
        return more if some is None else some
    return np.asarray(some + more)


def smooth_precision(
    sums: Sums, costs: FloatArray | None = None, hard: tuple[FloatArray, FloatArray] | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Precision proxy ``q = hits / passes + E`` of each group, and its slopes in hits and passes.

    ``E = ((TP - c PP) - (hits - c passes)) / passes`` makes ``q - c`` have the sign of the hard rule exactly; it is
    held constant in the slopes (through it the gradient would point the other way). Without ``hard`` counts, or in a
    group of which nobody is selected (where it would say q = c), E is left out.

    Parameters
    ----------
    sums : Sums
    costs : ndarray of shape (n_groups,), optional
        Wanted with hard counts only.
    hard : tuple of ndarray, optional
        Selected people and true positives at the current parameters.

    Returns
    -------
    q, dq_dhits, dq_dpasses : ndarray of shape (n_groups,)
    """
    q, slope_hits, slope_passes = sums.precision
    if hard is not None and costs is not None:
        selected, true_positives = hard
        gap = (true_positives - costs * selected) - (sums.hits - costs * sums.passes)
        q = np.where(selected > 0, q + gap / np.maximum(sums.passes, TINY), q)
    return q, slope_hits, slope_passes


class SmoothScores:
    """One pass forward over given scores, and the way back.

    Parameters
    ----------
    people : People
    score : ndarray of shape (n_rows,)
    temperature : float
        ``t`` of ``y~ = sigma(t s)`` in the loss and in the penalties.
    precision_temperature : float
        ``t'`` of ``p = sigma(t' s)`` in the precision proxy; where both are the same, p is y~ and costs nothing.
    with_loss : bool
        Whether the log-loss is wanted.
    """

    def __init__(
        self,
        people: People,
        score: FloatArray,
        temperature: float,
        precision_temperature: float,
        *,
        with_loss: bool = True,
    ) -> None:
        self.people, self.score = people, score
        self.temperature, self.precision_temperature = temperature, precision_temperature
        self.with_loss = with_loss
        self.soft = expit(temperature * score)
        sharp = precision_temperature != temperature
        self.proxy = expit(precision_temperature * score) if sharp else self.soft

    def sums(self) -> Sums:
        """Add up, per group."""
        return Sums(**self._totals())

    def _totals(self) -> dict[str, Any]:
        people, y, weight = self.people, self.people.y, self.people.weight
        weighted = weight * self.proxy
        hits, passes = people.total(weighted * y), people.total(weighted)
        same = self.proxy is self.soft
        return {
            "n": people.n,
            "positives": people.positives,
            "loss": self._log_loss() if self.with_loss else np.zeros_like(hits),
            "hits": hits,
            "passes": passes,
            "accepted": passes if same else people.total(weight * self.soft),
            "accepted_positives": hits if same else people.total(weight * y * self.soft),
        }

    def _log_loss(self) -> FloatArray:
        scaled = self.temperature * self.score
        return self.people.total(-self.people.weight * log_expit(np.where(self.people.y > 0, scaled, -scaled)))

    @property
    def bend(self) -> FloatArray:
        """``dy~ / ds`` of each row."""
        return np.asarray(self.temperature * self.soft * (1 - self.soft))

    def slopes_per_score(self, slopes: Slopes) -> FloatArray:
        """Slope of the value with respect to each score, from its slopes with respect to the sums."""
        people, y = self.people, self.people.y

        def for_each_row(slope: FloatArray | None) -> FloatArray:
            return people.for_each_row(np.zeros(people.n_groups) if slope is None else slope)

        if self.proxy is self.soft:
            per_score = y * for_each_row(_plus(slopes.accepted_positives, slopes.hits))
            per_score += for_each_row(_plus(slopes.accepted, slopes.passes))
            per_score *= self.bend
        else:
            per_score = self.bend * (for_each_row(slopes.accepted) + y * for_each_row(slopes.accepted_positives))
            sharp = self.precision_temperature * self.proxy * (1 - self.proxy)
            per_score += sharp * (for_each_row(slopes.passes) + y * for_each_row(slopes.hits))
        if slopes.loss is not None:
            per_score += self.temperature * (self.soft - y) * for_each_row(slopes.loss)
        per_score *= people.weight
        return per_score
