"""Steps that groups may take while their rates stay close: a best-first search over windows of the rates.

Rates of groups are close if all lie in a window: from some lowest rate up to the highest that the tie allows with it.
Within a group both rates fall from step to step, so what fits a window (or two windows, of two kinds of rate) is a
run of neighbouring steps, and the best of a run is looked up in a table of maxima. A box of windows, from a lowest rate
here to one there, is bounded by letting every group use whatever fits any window of the box. Boxes are halved, the most
promising first, until none is left that could beat the best single window found.

For m steps and K groups: O(m log m) time and memory for the tables, then O(K log m) time per box. Of a million
rows about a hundred boxes are looked at with one kind of rate; with two it may be tens of thousands. The search stops
at a given effort, and says how far from the best it may be.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray
from ..behaviour import SLACK
from .group_sets import Choices, GroupSet

#: Values of sets that differ by less are equal.
EQUAL = 1e-12
#: Work beyond the groups that looking at a box takes, in groups.
OVERHEAD = 300
#: Work of one set that is made exact, in boxes.
EXACT_SET = 30

#: Positions in the sorted levels of each kind of rate.
Corner: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Tie:
    """Demand that a kind of rate be nearly the same in all groups.

    Attributes
    ----------
    rate : str
        What it is called, in the plural.
    tolerance : float
        Largest difference of any two groups.
    ratio : float
        Least that the smallest over the largest may be. Where all are 0 it holds.
    """

    rate: str
    tolerance: float = 1.0
    ratio: float = 0.0

    def highest(self, lowest: FloatArray) -> FloatArray:
        """Highest rate that goes with a lowest one."""
        top = lowest + self.tolerance + SLACK
        return np.minimum(top, (lowest + SLACK) / self.ratio) if self.ratio > 0 else top


@dataclass(frozen=True, eq=False)
class Options:
    """Steps that may be chosen, group after group, in each those that select the fewest first.

    Attributes
    ----------
    step, group : ndarray of shape (n_options,)
        Position in the steps of the score, and the group it belongs to.
    gain : ndarray of shape (n_options,)
        What the step is worth; -inf where the group stays out.
    n, cover, counted_on : ndarray of shape (n_groups,)
        As in :class:`.Choices`.
    rates : list of ndarray of shape (n_options,)
        Rates of each kind that is tied, never falling within a group; NaN throughout a group that does not count.
    """

    step: NDArray[np.intp]
    group: NDArray[np.intp]
    gain: FloatArray
    n: FloatArray
    cover: FloatArray
    counted_on: BoolArray
    rates: list[FloatArray] = field(default_factory=list)

    @cached_property
    def start(self) -> NDArray[np.intp]:
        """Options ``start[z]`` to ``start[z + 1] - 1`` are those of group z."""
        return np.searchsorted(self.group, np.arange(len(self.n) + 1)).astype(np.intp)

    @property
    def stays_out(self) -> BoolArray:
        """Whether the group stays out at each step."""
        return np.asarray(self.gain == -np.inf)


class _Maxima:
    """Largest value of any run of neighbours, from a table of the maxima of runs of 1, 2, 4, ... of them."""

    def __init__(self, values: FloatArray, longest: int) -> None:
        rows = [values]
        while 2 ** len(rows) <= longest:
            half = 2 ** (len(rows) - 1)
            row = rows[-1].copy()
            np.maximum(row[:-half], rows[-1][half:], out=row[:-half])
            rows.append(row)
        self._table = np.stack(rows)

    def of(self, begin: NDArray[np.intp], end: NDArray[np.intp]) -> FloatArray:
        """Maxima over ``begin`` to ``end - 1``, -inf where that is empty."""
        length = np.maximum(end - begin, 1)
        row = np.frexp(length)[1] - 1
        last = self._table.shape[1] - 1
        found = np.maximum(self._table[row, np.minimum(begin, last)], self._table[row, np.clip(end - 2**row, 0, last)])
        return np.where(end > begin, found, -np.inf)


@dataclass(frozen=True, eq=False)
class Found:
    """Best set of groups in the best window, the run of options that fit it, and a bound on what was not looked at."""

    set: GroupSet
    begin: NDArray[np.intp]
    end: NDArray[np.intp]
    upper: float


class RateWindows:
    """All windows that ties allow over some options; without ties there is one, and everything fits it."""

    def __init__(self, options: Options, ties: list[Tie]) -> None:
        self.options = options
        start = options.start
        self._levels = [np.unique(rate[~np.isnan(rate)]) for rate in options.rates]
        self._highest, self._keys, self._counts = [], [], []
        for tie, rate, levels in zip(ties, options.rates, self._levels, strict=True):
            # a step of group z is numbered by z and then by rank: one sorted list serves all groups, without rounding
            rank = np.searchsorted(levels, rate)
            self._keys.append(options.group * (len(levels) + 1) + rank)
            self._highest.append(np.searchsorted(levels, tie.highest(levels), side="right") - 1)
            self._counts.append(~np.isnan(rate[np.minimum(start[:-1], len(rate) - 1)]))
        self._gain = _Maxima(options.gain, int(np.diff(start).max()))
        self._out_before = np.concatenate([[0], np.cumsum(options.stays_out)])

    def run(self, low: Corner, high: Corner) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """First option of each group that fits a window of the box, and the end of those that do."""
        start = self.options.start
        begin, end, code = start[:-1], start[1:], np.arange(len(start) - 1)
        for i, (lowest, box_end) in enumerate(zip(low, high, strict=True)):
            offset = code * (len(self._levels[i]) + 1)
            first = np.searchsorted(self._keys[i], offset + lowest, side="left")
            past = np.searchsorted(self._keys[i], offset + self._highest[i][box_end], side="right")
            begin = np.maximum(begin, first)  # the start of a group that does not count: its ranks are above all
            end = np.where(self._counts[i], np.minimum(end, past), end)
        return begin, np.maximum(begin, end)

    def choices(self, begin: NDArray[np.intp], end: NDArray[np.intp]) -> Choices:
        """What may be done with each group by the options of a run."""
        o = self.options
        return Choices(
            gain=self._gain.of(begin, end),
            n=o.n,
            cover=o.cover,
            counted_on=o.counted_on,
            may_stay_out=self._out_before[end] > self._out_before[begin],
        )

    def search(self, judge: Callable[[Choices, bool], GroupSet | None], effort: float) -> tuple[Found | None, bool]:
        """Look for the window in which the judged set has the largest value.

        Parameters
        ----------
        judge : callable
            From choices, and whether to be exact, to a set with its value and an upper bound (None if impossible).
            More choices never lower the bound.
        effort : float
            How many groups to look at, all boxes together.

        Returns
        -------
        found : Found or None
        finished : bool
            Whether all was looked at, or bounded.
        """
        return _Search(self, judge, effort).run()

    def halves(self, low: Corner, high: Corner) -> list[tuple[Corner, Corner]]:
        """The box cut in two, where its lowest rates differ most."""
        width = [levels[j] - levels[i] for levels, i, j in zip(self._levels, low, high, strict=True)]
        k = max((i for i in range(len(low)) if high[i] > low[i]), key=lambda i: width[i])
        middle = (low[k] + high[k]) // 2
        return [(low, (*high[:k], middle, *high[k + 1 :])), ((*low[:k], middle + 1, *low[k + 1 :]), high)]

    @property
    def whole(self) -> tuple[Corner, Corner]:
        """The box of all windows."""
        return tuple(0 for _ in self._levels), tuple(max(len(levels) - 1, 0) for levels in self._levels)


class _Search:
    """One best-first search: a queue of boxes, the best window so far, and the work that is left."""

    def __init__(self, windows: RateWindows, judge: Callable[[Choices, bool], GroupSet | None], effort: float) -> None:
        self.windows, self.judge = windows, judge
        self.left = effort
        self.queue: list[tuple[float, int, Corner, Corner]] = []
        self.number = count()
        self.best: Found | None = None
        self.unsettled = -np.inf  # bound of windows whose sets stayed short of exact

    def look(self, low: Corner, high: Corner, exact: bool = False) -> GroupSet | None:
        """Judge a box; a box of one window may be the best so far."""
        begin, end = self.windows.run(low, high)
        found = self.judge(self.windows.choices(begin, end), exact)
        self.left -= (len(begin) + OVERHEAD) * (EXACT_SET if exact else 1)
        if found is not None and low == high and (self.best is None or found.value > self.best.set.value):
            self.best = Found(found, begin, end, found.upper)
        return found

    def add(self, low: Corner, high: Corner) -> None:
        found = self.look(low, high)
        if found is None or not self.promising(found.upper):
            return
        if low != high:
            middle = tuple((i + j) // 2 for i, j in zip(low, high, strict=True))
            self.look(middle, middle)
        elif found.upper <= found.value + EQUAL:
            return  # one window, and its set is exact already
        # of equal bounds the latest first: narrow boxes come to an end
        heapq.heappush(self.queue, (-found.upper, -next(self.number), low, high))

    def promising(self, upper: float) -> bool:
        return self.best is None or upper > self.best.set.value + EQUAL

    def run(self) -> tuple[Found | None, bool]:
        self.add(*self.windows.whole)
        while self.queue and self.promising(-self.queue[0][0]) and self.left > 0:
            _, _, low, high = heapq.heappop(self.queue)
            if low == high:
                found = self.look(low, high, exact=True)
                self.unsettled = max(self.unsettled, found.upper if found is not None else -np.inf)
            else:
                for half in self.windows.halves(low, high):
                    self.add(*half)
        open_ = -self.queue[0][0] if self.queue else -np.inf
        if self.best is None:
            return None, not self.queue
        upper = max(open_, self.unsettled, self.best.set.value)
        return Found(self.best.set, self.best.begin, self.best.end, upper), not self.promising(upper)


def closest(options: Options, kind: int) -> tuple[FloatArray, FloatArray]:
    """Narrowest windows of one kind of rate that hold an option of every group: lowest and highest rate of each.

    Walks up the rates once; meant for saying what came nearest.
    """
    rate = options.rates[kind]
    counted = np.flatnonzero(~np.isnan(rate))
    order = counted[np.argsort(rate[counted], kind="stable")]
    group, sorted_rate = options.group[order].tolist(), rate[order]
    held = [0] * len(options.n)
    missing, first, lows, highs = len(set(group)), 0, [], []
    for last, z in enumerate(group):
        missing -= held[z] == 0
        held[z] += 1
        while held[group[first]] > 1:
            held[group[first]] -= 1
            first += 1
        if missing == 0:
            lows.append(first)
            highs.append(last)
    return sorted_rate[lows], sorted_rate[highs]
