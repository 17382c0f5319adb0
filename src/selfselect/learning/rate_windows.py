"""Steps that groups may take while their rates stay close: a best-first search over windows of rates.

Rates of groups are close if all lie in a window, from some lowest rate up to the highest that parity allows beside it.
Within a group rates fall from step to step, so that the steps that fit a window (or two windows, of two kinds of rate)
are a run of neighbours, whose best a table of maxima gives (or, if shares of groups apply, a pass over the run). A box
of windows, over a range of lowest rates, is bounded by letting every group use any step that fits any window of the
box. Boxes are halved, the most promising first, until none could beat the best single window.

For m steps and K groups: O(m log m) time and memory for the tables, then O(K log m) time per box. The search stops
after a given amount of work, and returns how far from the best it may be.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._validation import FloatArray
from ..constraints import RateParity
from .group_sets import GroupChoices, GroupSet, ShareSteps, StepOptions

#: Values of sets that differ by less are equal.
EQUAL_VALUES = 1e-12
#: Work of looking at a box beside its groups, in groups.
BOX_WORK = 300
#: Work of a step of a window, in groups, if shares of groups apply.
SHARE_WORK = 0.05
#: Work of one set that is made exact, in boxes.
EXACT_SET_WORK = 30

#: Positions in the sorted levels of each kind of rate.
Corner: TypeAlias = tuple[int, ...]
#: From choices, and whether to be exact, to a set with its value and upper bound; None if there is none.
ChooseSet: TypeAlias = Callable[[GroupChoices, bool], GroupSet | None]


class _RangeMaxima:
    """Largest value of any run of neighbours, from a table of maxima of runs of 1, 2, 4, ... neighbours."""

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
        left, right = self._table[row, np.minimum(begin, last)], self._table[row, np.clip(end - 2**row, 0, last)]
        return np.where(end > begin, np.maximum(left, right), -np.inf)


@dataclass(frozen=True, eq=False)
class WindowResult:
    """Best set of groups in the best window, the options that fit the window, and an upper bound over all windows."""

    set: GroupSet
    begin: NDArray[np.intp]
    end: NDArray[np.intp]
    upper: float


class RateWindows:
    """All windows that parity constraints allow; without constraints there is one, and everything fits it."""

    def __init__(self, options: StepOptions, parities: list[RateParity]) -> None:
        self.options = options
        start = options.start
        self._levels = [np.unique(rate[~np.isnan(rate)]) for rate in options.rates]
        self._highest, self._keys, self._counts = [], [], []
        for parity, rate, levels in zip(parities, options.rates, self._levels, strict=True):
            # steps are numbered by group, then by rank: one sorted array serves all groups, without rounding
            rank = np.searchsorted(levels, rate)
            self._keys.append(options.group * (len(levels) + 1) + rank)
            self._highest.append(np.searchsorted(levels, parity.highest(levels), side="right") - 1)
            self._counts.append(~np.isnan(rate[np.minimum(start[:-1], len(rate) - 1)]))
        # without parity there is only one window, and no table is needed
        with_table = bool(parities) and options.all_or_none
        self._gain = _RangeMaxima(options.gain, int(np.diff(start).max())) if with_table else None
        self._out_before = np.concatenate([[0], np.cumsum(options.stays_out)])

    def run(self, low: Corner, high: Corner) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """First option of each group that fits a window of the box, and the end of those that do."""
        start = self.options.start
        begin, end, code = start[:-1], start[1:], np.arange(len(start) - 1)
        for i, (lowest, box_end) in enumerate(zip(low, high, strict=True)):
            offset = code * (len(self._levels[i]) + 1)
            first = np.searchsorted(self._keys[i], offset + lowest, side="left")
            past = np.searchsorted(self._keys[i], offset + self._highest[i][box_end], side="right")
            begin = np.maximum(begin, first)  # groups that do not count rank above all levels
            end = np.where(self._counts[i], np.minimum(end, past), end)
        return begin, np.maximum(begin, end)

    def choices(self, begin: NDArray[np.intp], end: NDArray[np.intp]) -> GroupChoices:
        """What each group can do with the options of a run."""
        o = self.options
        may_stay_out = self._out_before[end] > self._out_before[begin]
        if not o.all_or_none:
            return ShareSteps(o, begin, end).largest_shares(may_stay_out)
        return GroupChoices(
            gain=np.maximum.reduceat(o.gain, begin) if self._gain is None else self._gain.of(begin, end),
            n=o.n,
            cover=o.cover,
            reliable=o.reliable,
            may_stay_out=may_stay_out,
        )

    def search(self, choose: ChooseSet, max_work: float) -> tuple[WindowResult | None, bool]:
        """Find the window in which the chosen set has the largest value; and whether the search came to its end.

        More choices must not lower the upper bound of a set. ``max_work`` is in groups looked at, all boxes together.
        """
        queue: list[tuple[float, int, Corner, Corner]] = []
        best: WindowResult | None = None
        number, work, unsettled = count(), 0.0, -np.inf  # unsettled: bound of windows whose sets are not exact

        def promising(upper: float) -> bool:
            return best is None or upper > best.set.value + EQUAL_VALUES

        def look(low: Corner, high: Corner, exact: bool = False) -> GroupSet | None:
            """Choose a set in a box; a box of one window may be the best so far."""
            nonlocal best, work
            begin, end = self.run(low, high)
            chosen = choose(self.choices(begin, end), exact)
            n_steps = 0 if self.options.all_or_none else int((end - begin).sum())
            work += (len(begin) + BOX_WORK + SHARE_WORK * n_steps) * (EXACT_SET_WORK if exact else 1)
            if chosen is not None and low == high and (best is None or chosen.value > best.set.value):
                best = WindowResult(chosen, begin, end, chosen.upper)
            return chosen

        def add(low: Corner, high: Corner) -> None:
            chosen = look(low, high)
            if chosen is None or not promising(chosen.upper):
                return
            if low != high:
                middle = tuple((i + j) // 2 for i, j in zip(low, high, strict=True))
                look(middle, middle)
            elif chosen.upper <= chosen.value + EQUAL_VALUES:
                return  # one window, and its set is exact already
            # of equal bounds the latest first: narrow boxes come to an end
            heapq.heappush(queue, (-chosen.upper, -next(number), low, high))

        add(*self.whole)
        while queue and promising(-queue[0][0]) and work < max_work:
            _, _, low, high = heapq.heappop(queue)
            if low == high:
                chosen = look(low, high, exact=True)
                unsettled = max(unsettled, chosen.upper if chosen is not None else -np.inf)
            else:
                for half in self._halves(low, high):
                    add(*half)
        if best is None:
            return None, not queue
        upper = max(-queue[0][0] if queue else -np.inf, unsettled, best.set.value)
        return replace(best, upper=upper), not (queue and promising(-queue[0][0]))

    def _halves(self, low: Corner, high: Corner) -> list[tuple[Corner, Corner]]:
        """The box cut in two, where its lowest rates differ most."""
        width = [levels[j] - levels[i] for levels, i, j in zip(self._levels, low, high, strict=True)]
        k = max((i for i in range(len(low)) if high[i] > low[i]), key=lambda i: width[i])
        middle = (low[k] + high[k]) // 2
        return [(low, (*high[:k], middle, *high[k + 1 :])), ((*low[:k], middle + 1, *low[k + 1 :]), high)]

    @property
    def whole(self) -> tuple[Corner, Corner]:
        """The box of all windows."""
        return tuple(0 for _ in self._levels), tuple(max(len(levels) - 1, 0) for levels in self._levels)


def narrowest_windows(options: StepOptions, kind: int) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest rates of the narrowest windows that hold an option of every group, for error messages."""
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
