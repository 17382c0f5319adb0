"""Which groups should apply, once it is known what each adds: the best ratio of two sums over sets of groups.

    maximise  sum_S gain / sum_S n   over sets S of groups, subject to  sum_S cover >= need

where some groups cannot apply, some cannot stay away, and at least one reliable group must apply. Dinkelbach's
iteration turns the ratio into sums: at the best value v, the largest ``sum_S (gain - v n)`` is 0. Without a need, each
such sum is maximised group by group. With one it is a knapsack problem: its relaxation (one sort) is an upper bound,
and its dual price settles almost every group, so that an integer program is left for the few others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from .._validation import BoolArray, FloatArray

#: Sums over people are compared to this, per person: above the rounding of a long sum, far below one person.
SUM_ROUNDING = 1e-13
#: Size of the largest coefficient of an integer program; the solver's own (absolute) gap is 1e-6.
COEFFICIENT = 1e4
#: Unsettled groups that are tried first.
CORE_SIZE = 25
#: Branches of one integer program. The gap includes what is left open at the end.
MAX_BRANCHES = 20_000


@dataclass(frozen=True, eq=False)
class GroupChoices:
    """What each group can do, and what it adds; arrays of shape (n_groups,).

    If a group applies, it adds ``gain`` to the numerator (-inf: it cannot apply), ``n`` to the denominator and
    ``cover``, at most ``n``, towards the need. At least one ``reliable`` group must apply.
    """

    gain: FloatArray
    n: FloatArray
    cover: FloatArray
    reliable: BoolArray
    may_stay_out: BoolArray

    @property
    def may_apply(self) -> BoolArray:
        """Groups that can apply."""
        return np.asarray(self.gain > -np.inf)

    @property
    def must_apply(self) -> BoolArray:
        """Groups that cannot stay away."""
        return self.may_apply & ~self.may_stay_out

    @property
    def possible(self) -> bool:
        """Whether every group can do something."""
        return bool((self.may_apply | self.may_stay_out).all())

    def ratio(self, share: FloatArray | BoolArray) -> float:
        """Gain over people, of groups or shares of groups."""
        some = share > 0
        return float((share[some] * self.gain[some]).sum() / (share[some] * self.n[some]).sum())


@dataclass(frozen=True, eq=False)
class GroupSet:
    """Groups that apply, their ratio, and an upper bound on the ratio of any set."""

    applying: BoolArray
    value: float
    upper: float


def best_set(choices: GroupChoices, need: float, *, exact: bool = True) -> GroupSet | None:
    """Set of groups with the largest ratio, or None if no set covers the need (0 and below: there is none).

    Integer programs close the gap that a relaxation leaves, unless ``exact`` is False.
    """
    if not choices.possible or not (choices.may_apply & choices.reliable).any():
        return None
    if need <= 0:
        return _best_of_any(choices)
    relaxed = _relaxation(choices, need)
    if relaxed is None:
        return None
    applying = relaxed > 0  # the one fractional group applies as a whole
    value, upper = choices.ratio(applying), choices.ratio(relaxed)
    if upper - value <= SUM_ROUNDING or not exact:
        return GroupSet(applying, value, max(upper, value))
    return _closed(choices, need, GroupSet(applying, value, upper))


def _best_of_any(choices: GroupChoices) -> GroupSet:
    """Best set without a need: groups with a higher ratio than the whole, and those that cannot stay away."""
    eligible = choices.may_apply & choices.reliable
    applying = choices.may_apply
    value = choices.ratio(applying)
    while True:
        net_gain = choices.gain - value * choices.n
        taken = choices.must_apply | (choices.may_apply & (net_gain > 0))
        if not (taken & eligible).any():
            taken[np.argmax(np.where(eligible, net_gain, -np.inf))] = True
        better = choices.ratio(taken)
        if not better > value:  # nor if it is undefined
            return GroupSet(applying, value, value)
        applying, value = taken, better


def _shares(choices: GroupChoices, need: float, value: float) -> tuple[FloatArray, float]:
    """Shares of groups with the largest ``sum gain - value n`` that cover a need within reach, and the need's price."""
    net_gain = choices.gain - value * choices.n
    share = np.where(choices.must_apply | (choices.may_apply & (net_gain > 0)), 1.0, 0.0)
    short = need - choices.cover[share > 0].sum()
    rest = np.flatnonzero(choices.may_apply & (share == 0) & (choices.cover > 0))
    if short <= 0 or len(rest) == 0:
        return share, 0.0
    loss = -net_gain[rest] / choices.cover[rest]
    order = np.argsort(loss, kind="stable")
    rest, reached = rest[order], np.cumsum(choices.cover[rest[order]])
    last = min(int(np.searchsorted(reached, short)), len(rest) - 1)
    share[rest[:last]] = 1.0
    share[rest[last]] = min(1.0 - (reached[last] - short) / choices.cover[rest[last]], 1.0)
    return share, float(loss[order[last]])


def _relaxation(choices: GroupChoices, need: float) -> FloatArray | None:
    """Shares of groups with the largest ratio; at most one is neither 0 nor 1."""
    share = np.where(choices.may_apply, 1.0, 0.0)
    if choices.cover[choices.may_apply].sum() < need:
        return None
    while True:
        better, _ = _shares(choices, need, choices.ratio(share))
        if choices.ratio(better) <= choices.ratio(share):
            return share
        share = better


def _closed(choices: GroupChoices, need: float, start: GroupSet) -> GroupSet:
    """Improve a set until an integer program shows that it is best."""
    applying, value = start.applying, start.value
    fixed, free = choices.must_apply, choices.may_apply & choices.may_stay_out
    rounding = SUM_ROUNDING * float(choices.n.sum())
    fewest = max(need, float(choices.n[fixed].sum()))  # people of any set that will do, at least
    while True:
        _, price = _shares(choices, need, value)
        net_gain = np.where(choices.may_apply, choices.gain - value * choices.n, 0.0)
        priced = net_gain + price * choices.cover
        surplus = float(np.maximum(priced[free], 0).sum() + priced[fixed].sum() - price * need)
        # a group that the price puts on one side by more than the surplus stays there
        distance = np.where(free, np.abs(priced), np.inf)
        if surplus <= rounding:
            return GroupSet(applying, value, min(start.upper, value + max(surplus, 0.0) / fewest))
        # the least settled groups usually suffice to find a better set, which settles more of them
        nearest = np.sort(distance)[min(CORE_SIZE, len(distance) - 1)]
        for limit in (nearest, surplus) if nearest < surplus and applying is start.applying else (surplus,):
            open_ = distance < limit
            settled = fixed | (free & ~open_ & (priced > 0))
            taken, most = _program(net_gain, choices.cover, need, settled, np.flatnonzero(open_))
            better = choices.ratio(taken) if taken is not None else -np.inf
            if better > value:
                break
        if taken is None or better <= value:
            return GroupSet(applying, value, min(start.upper, value + max(min(most, surplus), 0.0) / fewest))
        applying, value = taken, better


def _program(
    net_gain: FloatArray, cover: FloatArray, need: float, settled: BoolArray, open_: NDArray[np.intp]
) -> tuple[BoolArray | None, float]:
    """Integer program over the open groups: the set of the largest net gain or None, and a bound on the gain."""
    if len(open_) == 0:
        return (settled, float(net_gain[settled].sum())) if cover[settled].sum() >= need else (None, -np.inf)
    size = COEFFICIENT / float(np.abs(net_gain[open_]).max() or 1.0)
    missing, base, most = need - float(cover[settled].sum()), float(net_gain[settled].sum()), np.inf
    unit = float(cover[open_].max() or 1.0)
    if (cover[open_] == np.floor(cover[open_])).all():
        missing, unit = float(np.ceil(missing)), 1.0  # whole numbers need no rounding
    for margin in (0.0, 1e-6):  # the solver rounds weights: if the need stays uncovered, require a little more
        result = milp(
            -size * net_gain[open_],
            integrality=np.ones(len(open_)),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(cover[open_][None, :] / unit, missing / unit + margin, np.inf),
            options={"mip_rel_gap": 0.0, "node_limit": MAX_BRANCHES},
        )
        if margin == 0:
            bound = getattr(result, "mip_dual_bound", None)
            # an infeasible program has no surplus
            most = -np.inf if result.status == 2 else np.inf if bound is None else base - bound / size
        if result.x is None:
            return None, most
        taken = settled.copy()
        taken[open_[result.x > 0.5]] = True
        if cover[taken].sum() >= need:
            return taken, most
    return None, most
