"""The 0-1 knapsack problem: the set of the largest value whose price is within a budget, and of such sets the cheapest.

The linear relaxation (one sort) bounds the value from above, and its prices settle almost every item: an item that
would lose more by changing sides than the bound leaves to win stays where it is. Of the others, the sets that no other
beats in price and value are listed, item by item. If the list grows too long, an integer program takes over, which
looks for the value only. It does not come first because it is slower and accepts sets slightly above the budget.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from .._validation import BoolArray, FloatArray

#: Sums of prices and values are compared to this, of the whole: above the rounding of long sums, far below a person.
ROUNDING = 1e-9
#: Sets that may be listed at a time, and in all.
LONGEST_LIST, MOST_LISTED = 200_000, 20_000_000
#: Branches of the integer program. What is left open at the end is in the bound.
MOST_BRANCHES = 2_000
#: The integer program's tolerance for constraints, as a share of the largest coefficient.
SOLVER_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Subset:
    """A set of items within a budget.

    Attributes
    ----------
    inside : ndarray of bool
        The items of the set.
    value, price : float
        Their sums.
    upper : float
        No other set within the budget has a larger value.
    """

    inside: BoolArray
    value: float
    price: float
    upper: float

    @property
    def exact(self) -> bool:
        """Whether it is proved that nothing is better."""
        return self.upper <= self.value + ROUNDING * max(1.0, self.value)


def best_subset(value: ArrayLike, price: ArrayLike, budget: float) -> Subset:
    """Set of the largest value whose price is within a budget; of such sets the cheapest.

    Parameters
    ----------
    value, price : array-like of shape (n_items,)
        Value and price of each item, at least 0. Items without value are left out, items with a value that cost nothing
        are always in.
    budget : float
        The largest sum of prices.

    Examples
    --------
    >>> best = best_subset([6, 5, 5, 0], [6.0, 4.0, 4.0, 0.0], budget=8)
    >>> best.inside, best.value, best.price
    (array([False,  True,  True, False]), 10.0, 8.0)
    """
    values, prices = np.asarray(value, dtype=np.float64), np.asarray(price, dtype=np.float64)
    room = budget + ROUNDING * max(1.0, budget)
    free = (values > 0) & (prices <= 0)
    open_ = np.flatnonzero((values > 0) & (prices > 0) & (prices <= room))
    chosen, upper = _Knapsack(values[open_], prices[open_], room).solve()
    inside = free.copy()
    inside[open_[chosen]] = True
    return Subset(inside, float(values[inside].sum()), float(prices[inside].sum()), upper + float(values[free].sum()))


@dataclass(frozen=True, eq=False)
class _Knapsack:
    """Items of positive value and price, each of which fits alone."""

    value: FloatArray
    price: FloatArray
    room: float

    def solve(self) -> tuple[BoolArray, float]:
        """The best set, and a bound on its value."""
        inside = self._greedy()
        if inside.all():
            return inside, float(self.value.sum())
        rate = self._marginal_rate()
        gain = self.value - rate * self.price
        bound = rate * self.room + float(np.maximum(gain, 0).sum())
        reached = float(self.value[inside].sum())
        open_ = np.flatnonzero(np.abs(gain) <= bound - reached + self._rounding)
        settled = gain > 0
        settled[open_] = False
        listed = self._by_lists(settled, open_, reached)
        if listed is not None:
            return listed, float(self.value[listed].sum())
        other, most = self._by_program(settled, open_)
        if self.price[other].sum() <= self.room and self.value[other].sum() > reached:
            inside, reached = other, float(self.value[other].sum())
        return inside, max(self._rounded_down(min(bound, most)), reached)

    @property
    def _rounding(self) -> float:
        return ROUNDING * max(1.0, float(self.value.sum()))

    @cached_property
    def _whole(self) -> bool:
        """Whether values are counts of people: then a gap of less than one of them is none."""
        return bool((self.value == np.floor(self.value)).all())

    def _rounded_down(self, bound: float) -> float:
        return float(np.floor(bound + self._rounding)) if self._whole and np.isfinite(bound) else bound

    def _greedy(self) -> BoolArray:
        """What fits, the most value for its price first."""
        inside = np.zeros(len(self.value), dtype=bool)
        left = self.room
        for i in np.lexsort((self.price, -self.value / self.price)):
            if self.price[i] <= left:
                inside[i] = True
                left -= self.price[i]
        return inside

    def _marginal_rate(self) -> float:
        """Value for its price of the first item, in order of that, that does not fit."""
        order = np.argsort(-self.value / self.price, kind="stable")
        split = int(np.searchsorted(np.cumsum(self.price[order]), self.room, side="right"))
        last = order[min(split, len(order) - 1)]
        return float(self.value[last] / self.price[last])

    def _by_lists(self, settled: BoolArray, open_: NDArray[np.intp], reached: float) -> BoolArray | None:
        """The best set of the settled items and some of the open ones; None if lists grow too long.

        A set is kept if no other of the same items is as cheap with as much value, and if it can still come to the
        value that is reached already. The last that is kept is the best, and of those with as much value the cheapest.
        """
        order = open_[np.lexsort((self.price[open_], -self.value[open_] / self.price[open_]))]
        values, prices = self.value[order], self.price[order]
        room = self.room - float(self.price[settled].sum())
        least = reached - float(self.value[settled].sum()) - self._rounding
        spent, won = np.zeros(1), np.zeros(1)
        steps: list[tuple[NDArray[np.intp], BoolArray]] = []
        n_listed = 0
        for i in range(len(order)):
            spent = np.concatenate([spent, spent + prices[i]])
            won = np.concatenate([won, won + values[i]])
            rows = np.lexsort((-won, spent))
            rows = rows[spent[rows] <= room]
            best_before = np.maximum.accumulate(np.concatenate([[-np.inf], won[rows][:-1]]))
            rows = rows[won[rows] > best_before + self._rounding]
            rows = rows[won[rows] + _relaxed_value(room - spent[rows], values[i + 1 :], prices[i + 1 :]) >= least]
            n_before = len(spent) // 2
            steps.append((rows % n_before, rows >= n_before))
            spent, won = spent[rows], won[rows]
            n_listed += len(rows)
            if len(rows) > LONGEST_LIST or n_listed > MOST_LISTED:
                return None
        at, inside = len(won) - 1, settled.copy()
        for i in range(len(order) - 1, -1, -1):
            parent, is_in = steps[i]
            inside[order[i]] = is_in[at]
            at = int(parent[at])
        return inside

    def _by_program(self, settled: BoolArray, open_: NDArray[np.intp]) -> tuple[BoolArray, float]:
        """The same by an integer program, without looking for the cheapest; and a bound on the value of any set."""
        size, unit = 1 / float(self.value[open_].max()), 1 / float(self.price[open_].max())
        room = (self.room - float(self.price[settled].sum())) * unit
        inside, most = settled, np.inf
        for limit in (room, room - SOLVER_TOLERANCE):  # a set that is too dear by the tolerance is sought again
            solved = milp(
                -size * self.value[open_],
                integrality=np.ones(len(open_)),
                bounds=Bounds(0, 1),
                constraints=LinearConstraint(self.price[open_] * unit, -np.inf, limit),
                options={"mip_rel_gap": 0.0, "node_limit": MOST_BRANCHES},
            )
            if limit == room and solved.get("mip_dual_bound") is not None:
                most = float(self.value[settled].sum()) - solved["mip_dual_bound"] / size
            inside = settled.copy()
            inside[open_] = False if solved.x is None else solved.x > 0.5
            if self.price[inside].sum() <= self.room:
                break
        return inside, most


def _relaxed_value(room: FloatArray, value: FloatArray, price: FloatArray) -> FloatArray:
    """Most value that some room can hold of items in order of value for their price, the last of them in part."""
    room_for, won = np.concatenate([[0.0], np.cumsum(price)]), np.concatenate([[0.0], np.cumsum(value)])
    whole = np.searchsorted(room_for, room, side="right") - 1
    rest = np.minimum(whole, len(value) - 1)
    in_part = (room - room_for[whole]) * value[rest] / price[rest] if len(value) else 0.0
    return np.asarray(won[whole] + np.where(whole < len(value), in_part, 0.0))
