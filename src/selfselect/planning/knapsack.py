"""The 0-1 knapsack problem: the set of the largest value whose price is within a budget, and of such sets the cheapest.

Sets that no other set beats in price and value are listed, item by item, in order of value for their price. A set is
dropped if the linear relaxation of what is left could not bring it to the value of the best set known: so lists stay
short. An integer program gives the same answer, but takes up to 13 seconds for 10,000 items.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._validation import BoolArray, FloatArray

#: Sums of prices and values are compared to this, of the whole: above the rounding of long sums, far below a person.
ROUNDING = 1e-9
#: Sets that are listed at a time, and in all. If there are more, the most promising are kept.
MAX_SETS, MAX_SETS_IN_ALL = 200_000, 20_000_000


@dataclass(frozen=True, eq=False)
class Subset:
    """The items ``inside`` a budget, and the sums of their values and prices. No set has a value above ``upper``."""

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

    Values and prices are at least 0. Items without value are left out; free items with a value are always in.
    """
    values, prices = np.asarray(value, dtype=np.float64), np.asarray(price, dtype=np.float64)
    room = budget + ROUNDING * max(1.0, budget)
    free = (values > 0) & (prices <= 0)
    items = np.flatnonzero((values > 0) & (prices > 0) & (prices <= room))
    items = items[np.lexsort((prices[items], -values[items] / prices[items]))]
    chosen, missed = _best_listed(values[items], prices[items], room)
    if (values == np.floor(values)).all():  # values are counts of people
        missed = float(np.floor(missed + ROUNDING * max(1.0, float(values.sum()))))
    inside = free.copy()
    inside[items[chosen]] = True
    won = float(values[inside].sum())
    return Subset(inside, won, float(prices[inside].sum()), max(won, missed + float(values[free].sum())))


def _greedy(prices: FloatArray, room: float) -> BoolArray:
    """One item after the other that still fits."""
    inside = np.zeros(len(prices), dtype=bool)
    for i, price in enumerate(prices):
        if price <= room:
            inside[i] = True
            room -= price
    return inside


def _best_listed(values: FloatArray, prices: FloatArray, room: float) -> tuple[BoolArray, float]:
    """The best set of items in order of value for their price, and a bound on the value of all sets that were missed.

    A set is kept if no other of the same items is as cheap with as much value, and if it can still reach what is
    reached by taking items in their order. The last set kept is the best, and of those with as much value the cheapest.
    """
    greedy = _greedy(prices, room)
    longest, rounding = min(MAX_SETS, MAX_SETS_IN_ALL // max(len(values), 1)), ROUNDING * max(1.0, float(values.sum()))
    least, missed = float(values[greedy].sum()) - rounding, -np.inf
    paid, bought = (np.concatenate([[0.0], np.cumsum(part)]) for part in (prices, values))
    spent, won = np.zeros(1), np.zeros(1)
    steps: list[tuple[NDArray[np.intp], BoolArray]] = []
    for i in range(len(values)):
        n_before = len(spent)
        spent, won = np.concatenate([spent, spent + prices[i]]), np.concatenate([won, won + values[i]])
        rows = np.lexsort((-won, spent))
        rows = rows[spent[rows] <= room]
        best_before = np.maximum.accumulate(np.concatenate([[-np.inf], won[rows][:-1]]))
        rows = rows[won[rows] > best_before + rounding]
        # with as much of the next items as the room that is left can hold, the last of them in part
        upper = won[rows] + np.interp(room - spent[rows] + paid[i + 1], paid, bought) - bought[i + 1]
        rows, upper = rows[upper >= least], upper[upper >= least]
        if len(rows) > longest:
            order = np.argsort(-upper, kind="stable")
            missed = max(missed, float(upper[order[longest]]))
            rows = rows[np.sort(order[:longest])]
        steps.append((rows % n_before, rows >= n_before))
        spent, won = spent[rows], won[rows]
    if len(won) == 0:  # lists were too short
        return greedy, missed
    at, inside = len(won) - 1, np.zeros(len(values), dtype=bool)
    for item, (parent, is_in) in reversed(list(enumerate(steps))):
        inside[item] = is_in[at]
        at = int(parent[at])
    return inside, missed
