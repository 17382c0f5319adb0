"""What to buy with a budget: the set of the largest worth whose price is within it, and of such sets the cheapest.

It is a knapsack. Its relaxation (one sort) bounds the worth from above, and at its prices almost every thing is
settled: whatever would lose more by changing sides than there is left to win stays where it is. Of the few in doubt,
the sets that no other beats in price and worth are listed, thing by thing, without those that cannot win any more.
Where the list grows too long, an integer program (scipy's ``milp``) takes over. It is not asked first because it is
slower, takes sets a hair too dear for affordable, and at times writes to the terminal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from .._validation import BoolArray, FloatArray

#: Sums of prices and worths are compared to this, of the whole: above the rounding of long sums, far below a person.
ROUNDING = 1e-9
#: Sets that may be listed at a time, and in all.
LONGEST_LIST, MOST_LISTED = 200_000, 20_000_000
#: Size of the largest coefficient of an integer program; what the solver lets pass is 1e-6 of one.
COEFFICIENT = 1.0
#: Branches of one integer program. What is left open at the end is in the bound.
MOST_BRANCHES = 2_000
#: Sets a hair above the budget that the solver may come up with, before it is left at what was found.
MOST_REPAIRS = 20


@dataclass(frozen=True, eq=False)
class Purchase:
    """What was bought.

    Attributes
    ----------
    taken : ndarray of bool
        The things bought.
    worth, price : float
        Their sums.
    upper : float
        No other set within the budget is worth more.
    """

    taken: BoolArray
    worth: float
    price: float
    upper: float

    @property
    def exact(self) -> bool:
        """Whether it is shown that nothing is better."""
        return self.upper <= self.worth + ROUNDING * max(1.0, self.worth)


def best_purchase(worth: ArrayLike, price: ArrayLike, budget: float) -> Purchase:
    """Set of the largest worth whose price is within a budget; of such sets the cheapest.

    Parameters
    ----------
    worth, price : array-like of shape (n_things,)
        What each is worth, and what it costs, at least 0. Things that are worth nothing are not bought, those that
        cost nothing always are.
    budget : float
        The most that may be spent.

    Examples
    --------
    >>> bought = best_purchase([6, 5, 5, 0], [6.0, 4.0, 4.0, 0.0], budget=8)
    >>> bought.taken, bought.worth, bought.price
    (array([False,  True,  True, False]), 10.0, 8.0)
    """
    values, prices = np.asarray(worth, dtype=np.float64), np.asarray(price, dtype=np.float64)
    room = budget + ROUNDING * max(1.0, budget)
    for_free = (values > 0) & (prices <= 0)
    open_ = np.flatnonzero((values > 0) & (prices > 0) & (prices <= room))
    task = _Knapsack(values[open_], prices[open_], room)
    inside, upper = task.solve()
    taken = for_free.copy()
    taken[open_[inside]] = True
    free_worth = float(values[for_free].sum())
    return Purchase(taken, float(values[taken].sum()), float(prices[taken].sum()), upper + free_worth)


@dataclass(frozen=True, eq=False)
class _Knapsack:
    """Things of positive worth and price, each of which would fit alone."""

    worth: FloatArray
    price: FloatArray
    room: float

    def solve(self) -> tuple[BoolArray, float]:
        """The best set, and a bound on its worth."""
        inside = self._greedy()
        if inside.all():
            return inside, float(self.worth.sum())
        rate = self._marginal_rate()
        gain = self.worth - rate * self.price
        bound = rate * self.room + float(np.maximum(gain, 0).sum())
        upper, reached = self._rounded_down(bound), float(self.worth[inside].sum())
        doubt = np.abs(gain) <= bound - reached + self._rounding
        listed = self._by_lists(gain > 0, np.flatnonzero(doubt), reached)
        if listed is not None:
            return listed, float(self.worth[listed].sum())
        if reached < upper - self._rounding:
            better, most = self._most_worth(gain > 0, np.flatnonzero(doubt))
            upper = min(upper, max(self._rounded_down(most), reached))
            if better is not None and self.worth[better].sum() > reached:
                inside, reached = better, float(self.worth[better].sum())
        doubt = np.abs(gain) <= bound - reached + self._rounding
        return self._cheapest(inside, reached, gain > 0, np.flatnonzero(doubt)), max(upper, reached)

    @property
    def _rounding(self) -> float:
        return ROUNDING * max(1.0, float(self.worth.sum()))

    @cached_property
    def _whole(self) -> bool:
        """Whether people are counted, not weighed: then a gap of less than one of them is none."""
        return bool((self.worth == np.floor(self.worth)).all())

    def _rounded_down(self, bound: float) -> float:
        return float(np.floor(bound + self._rounding)) if self._whole and np.isfinite(bound) else bound

    def _greedy(self) -> BoolArray:
        """What fits, the most worth for its price first."""
        inside = np.zeros(len(self.worth), dtype=bool)
        left = self.room
        for i in np.lexsort((self.price, -self.worth / self.price)):
            if self.price[i] <= left:
                inside[i] = True
                left -= self.price[i]
        return inside

    def _marginal_rate(self) -> float:
        """Worth for its price of the thing that, in order of that, is the first not to fit."""
        order = np.argsort(-self.worth / self.price, kind="stable")
        split = int(np.searchsorted(np.cumsum(self.price[order]), self.room, side="right"))
        last = order[min(split, len(order) - 1)]
        return float(self.worth[last] / self.price[last])

    def _by_lists(self, at_rate: BoolArray, open_: NDArray[np.intp], reached: float) -> BoolArray | None:
        """The best set that differs from those of the marginal rate in open things only; None if lists grow too long.

        A set is kept if no other of the same things is as cheap and worth as much, and if it can still come to what is
        reached already. The last that is kept is the best, and of those worth as much the cheapest.
        """
        settled = at_rate.copy()
        settled[open_] = False
        order = open_[np.lexsort((self.price[open_], -self.worth[open_] / self.price[open_]))]
        worths, prices = self.worth[order], self.price[order]
        room = self.room - float(self.price[settled].sum())
        least = reached - float(self.worth[settled].sum()) - self._rounding
        spent, won = np.zeros(1), np.zeros(1)
        steps: list[tuple[NDArray[np.intp], BoolArray]] = []
        n_listed = 0
        for i in range(len(order)):
            spent = np.concatenate([spent, spent + prices[i]])
            won = np.concatenate([won, won + worths[i]])
            rows = np.lexsort((-won, spent))
            rows = rows[spent[rows] <= room]
            best_before = np.maximum.accumulate(np.concatenate([[-np.inf], won[rows][:-1]]))
            rows = rows[won[rows] > best_before + self._rounding]
            rows = rows[won[rows] + _most_for(room - spent[rows], worths[i + 1 :], prices[i + 1 :]) >= least]
            n_before = len(spent) // 2
            steps.append((rows % n_before, rows >= n_before))
            spent, won = spent[rows], won[rows]
            n_listed += len(rows)
            if len(rows) > LONGEST_LIST or n_listed > MOST_LISTED:
                return None
        at, taken = len(won) - 1, settled
        for i in range(len(order) - 1, -1, -1):
            parent, is_in = steps[i]
            taken[order[i]] = is_in[at]
            at = int(parent[at])
        return taken

    def _most_worth(self, at_rate: BoolArray, open_: NDArray[np.intp]) -> tuple[BoolArray | None, float]:
        """Among sets that differ from those of the marginal rate in open things only, the one worth most."""
        settled = at_rate.copy()
        settled[open_] = False
        size = COEFFICIENT / float(self.worth[open_].max())
        unit = COEFFICIENT / float(self.price[open_].max())
        limits = [LinearConstraint(self.price[open_] * unit, -np.inf, (self.room - self.price[settled].sum()) * unit)]
        most = np.inf
        enough = 0.9 / float(self.worth[open_].sum()) if self._whole else 0.0
        for attempt in range(MOST_REPAIRS):
            found = _program(-size * self.worth[open_], limits, enough)
            if attempt == 0 and found.get("mip_dual_bound") is not None:
                most = float(self.worth[settled].sum()) - found["mip_dual_bound"] / size
            if found.x is None:
                break
            chosen = found.x > 0.5
            inside = settled.copy()
            inside[open_[chosen]] = True
            if self.price[inside].sum() <= self.room:
                return inside, most
            # a hair too dear, which the solver takes for rounding: neither this set nor any that holds it will do
            limits.append(LinearConstraint(chosen.astype(np.float64), -np.inf, chosen.sum() - 1))
        return None, most

    def _cheapest(self, inside: BoolArray, reached: float, at_rate: BoolArray, open_: NDArray[np.intp]) -> BoolArray:
        """Among sets of that worth that differ from those of the marginal rate in open things only, the cheapest."""
        if len(open_) == 0:
            return inside
        settled = at_rate.copy()
        settled[open_] = False
        size = COEFFICIENT / float(self.worth[open_].max())
        unit = COEFFICIENT / float(self.price[open_].max())
        missing = reached - float(self.worth[settled].sum()) - self._rounding / 2
        found = _program(self.price[open_] * unit, [LinearConstraint(self.worth[open_] * size, missing * size, np.inf)])
        if found.x is None:
            return inside
        other = settled.copy()
        other[open_[found.x > 0.5]] = True
        as_good = float(self.worth[other].sum()) >= reached - self._rounding
        cheaper = float(self.price[other].sum()) < float(self.price[inside].sum()) - ROUNDING * max(1.0, self.room)
        return other if as_good and cheaper else inside


def _most_for(room: FloatArray, worth: FloatArray, price: FloatArray) -> FloatArray:
    """Most worth that some room can hold of things in order of worth for their price, the last of them in part."""
    room_for, won = np.concatenate([[0.0], np.cumsum(price)]), np.concatenate([[0.0], np.cumsum(worth)])
    whole = np.searchsorted(room_for, room, side="right") - 1
    rest = np.minimum(whole, len(worth) - 1)
    in_part = (room - room_for[whole]) * worth[rest] / price[rest] if len(worth) else 0.0
    return np.asarray(won[whole] + np.where(whole < len(worth), in_part, 0.0))


def _program(cost: FloatArray, limits: list[LinearConstraint], gap: float = 0.0) -> Any:
    return milp(
        cost,
        integrality=np.ones(len(cost)),
        bounds=Bounds(0, 1),
        constraints=limits,
        options={"mip_rel_gap": gap, "node_limit": MOST_BRANCHES},
    )
