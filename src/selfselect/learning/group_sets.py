"""Which groups to let in, once it is known what each is worth: the best ratio of two sums over sets of groups.

    maximise  sum_S gain / sum_S n   over sets S of groups, subject to  sum_S cover >= need

where some groups cannot come, some cannot stay out, and at least one must come. Dinkelbach's iteration turns the ratio
into sums: at the best value v, the largest ``sum_S (gain - v n)`` is 0. Without a need, each such sum is maximised
group by group. With one it is a knapsack: its relaxation (one sort) bounds it from above, and its prices settle
almost every group, so that an integer program is left of the few that are in doubt.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from .._validation import BoolArray, FloatArray

#: Sums over people are compared to this, per person: above the rounding of a long sum, far below one person.
ROUNDING = 1e-13
#: Size of the largest coefficient of an integer program; the solver's own (absolute) gap is 1e-6.
COEFFICIENT = 1e4
#: Groups in doubt that are tried first.
CORE = 25
#: Branches of one integer program. What is left open at the end is in the gap.
MOST_BRANCHES = 20_000


@dataclass(frozen=True, eq=False)
class Choices:
    """What may be done with each group, and what it is worth.

    Attributes
    ----------
    gain : ndarray of shape (n_groups,)
        What the group adds to the numerator if it comes; -inf if it cannot.
    n : ndarray of shape (n_groups,)
        What it adds to the denominator.
    cover : ndarray of shape (n_groups,)
        What it adds to that of which some is needed; at most ``n``.
    counted_on : ndarray of bool of shape (n_groups,)
        Whether the group, if it comes, is one of those of which there must be at least one.
    may_stay_out : ndarray of bool of shape (n_groups,)
    """

    gain: FloatArray
    n: FloatArray
    cover: FloatArray
    counted_on: BoolArray
    may_stay_out: BoolArray

    @property
    def may_come(self) -> BoolArray:
        """Groups that can be let in."""
        return np.asarray(self.gain > -np.inf)

    @property
    def must_come(self) -> BoolArray:
        """Groups that have no way to stay out."""
        return self.may_come & ~self.may_stay_out

    @property
    def possible(self) -> bool:
        """Whether there is something to do with every group."""
        return bool((self.may_come | self.may_stay_out).all())

    def ratio(self, share: FloatArray | BoolArray) -> float:
        """Gain over people, of groups or shares of groups."""
        some = share > 0
        return float((share[some] * self.gain[some]).sum() / (share[some] * self.n[some]).sum())


@dataclass(frozen=True, eq=False)
class GroupSet:
    """Groups that come, the ratio that follows, and a bound that no other set is above."""

    inside: BoolArray
    value: float
    upper: float


def best_set(choices: Choices, need: float, *, exact: bool = True) -> GroupSet | None:
    """Set of groups with the largest ratio, or None if no set does what is needed.

    Parameters
    ----------
    choices : Choices
    need : float
        Least sum of ``cover``; nothing is needed at 0 and below.
    exact : bool, default=True
        Whether to close the gap with integer programs where a relaxation leaves one. Otherwise the set is a good one.

    Examples
    --------
    >>> choices = Choices(
    ...     gain=np.array([9.0, 16.0, 5.0]),
    ...     n=np.array([10.0, 20.0, 10.0]),
    ...     cover=np.array([2.0, 8.0, 5.0]),
    ...     counted_on=np.ones(3, dtype=bool),
    ...     may_stay_out=np.ones(3, dtype=bool),
    ... )
    >>> best_set(choices, need=0).inside
    array([ True, False, False])
    >>> best_set(choices, need=5).inside
    array([ True,  True, False])
    """
    if not choices.possible or not (choices.may_come & choices.counted_on).any():
        return None
    if need <= 0:
        return _best_of_any(choices)
    relaxed = _relaxation(choices, need)
    if relaxed is None:
        return None
    inside = relaxed > 0  # the one group that came in part comes as a whole
    value, upper = choices.ratio(inside), choices.ratio(relaxed)
    if upper - value <= ROUNDING or not exact:
        return GroupSet(inside, value, max(upper, value))
    return _closed(choices, need, GroupSet(inside, value, upper))


def _best_of_any(choices: Choices) -> GroupSet:
    """Best set where nothing is needed: groups worth more than the whole, and those that cannot stay out."""
    eligible = choices.may_come & choices.counted_on
    inside = choices.may_come
    value = choices.ratio(inside)
    while True:
        worth = choices.gain - value * choices.n
        taken = choices.must_come | (choices.may_come & (worth > 0))
        if not (taken & eligible).any():
            taken[np.argmax(np.where(eligible, worth, -np.inf))] = True
        better = choices.ratio(taken)
        if not better > value:  # nor if it is undefined
            return GroupSet(inside, value, value)
        inside, value = taken, better


def _shares(choices: Choices, need: float, value: float) -> tuple[FloatArray, float]:
    """Shares of groups with the largest ``sum gain - value n`` that cover a need within reach, and the need's price."""
    worth = choices.gain - value * choices.n
    share = np.where(choices.must_come | (choices.may_come & (worth > 0)), 1.0, 0.0)
    short = need - choices.cover[share > 0].sum()
    rest = np.flatnonzero(choices.may_come & (share == 0) & (choices.cover > 0))
    if short <= 0 or len(rest) == 0:
        return share, 0.0
    loss = -worth[rest] / choices.cover[rest]
    order = np.argsort(loss, kind="stable")
    rest, reached = rest[order], np.cumsum(choices.cover[rest[order]])
    last = min(int(np.searchsorted(reached, short)), len(rest) - 1)
    share[rest[:last]] = 1.0
    share[rest[last]] = min(1.0 - (reached[last] - short) / choices.cover[rest[last]], 1.0)
    return share, float(loss[order[last]])


def _relaxation(choices: Choices, need: float) -> FloatArray | None:
    """Shares of groups with the largest ratio; at most one is neither 0 nor 1."""
    share = np.where(choices.may_come, 1.0, 0.0)
    if choices.cover[choices.may_come].sum() < need:
        return None
    while True:
        better, _ = _shares(choices, need, choices.ratio(share))
        if choices.ratio(better) <= choices.ratio(share):
            return share
        share = better


def _closed(choices: Choices, need: float, start: GroupSet) -> GroupSet:
    """Improve a set until an integer program shows that it is best."""
    inside, value = start.inside, start.value
    fixed, free = choices.must_come, choices.may_come & choices.may_stay_out
    rounding = ROUNDING * float(choices.n.sum())
    fewest = max(need, float(choices.n[fixed].sum()))  # people of any set that will do, at least
    while True:
        _, price = _shares(choices, need, value)
        worth = np.where(choices.may_come, choices.gain - value * choices.n, 0.0)
        priced = worth + price * choices.cover
        surplus = float(np.maximum(priced[free], 0).sum() + priced[fixed].sum() - price * need)
        # a group that the prices put on one side by more than all there is to win stays there
        doubt = np.where(free, np.abs(priced), np.inf)
        if surplus <= rounding:
            return GroupSet(inside, value, min(start.upper, value + max(surplus, 0.0) / fewest))
        # at first, those most in doubt usually suffice to find a better set, and that leaves fewer in doubt
        nearest = np.sort(doubt)[min(CORE, len(doubt) - 1)]
        for limit in (nearest, surplus) if nearest < surplus and inside is start.inside else (surplus,):
            open_ = doubt < limit
            settled = fixed | (free & ~open_ & (priced > 0))
            taken, most = _program(worth, choices.cover, need, settled, np.flatnonzero(open_))
            better = choices.ratio(taken) if taken is not None else -np.inf
            if better > value:
                break
        if taken is None or better <= value:
            return GroupSet(inside, value, min(start.upper, value + max(min(most, surplus), 0.0) / fewest))
        inside, value = taken, better


def _program(
    worth: FloatArray, cover: FloatArray, need: float, settled: BoolArray, open_: NDArray[np.intp]
) -> tuple[BoolArray | None, float]:
    """Integer program over the open groups: the set of the largest worth (None if there is none), and a bound on it."""
    if len(open_) == 0:
        return (settled, float(worth[settled].sum())) if cover[settled].sum() >= need else (None, -np.inf)
    size = COEFFICIENT / float(np.abs(worth[open_]).max() or 1.0)
    missing, base, most = need - float(cover[settled].sum()), float(worth[settled].sum()), np.inf
    unit = float(cover[open_].max() or 1.0)
    if (cover[open_] == np.floor(cover[open_])).all():
        missing, unit = float(np.ceil(missing)), 1.0  # whole numbers leave the solver nothing to round
    for margin in (0.0, 1e-6):  # it rounds weights: if that leaves the need uncovered, ask for a little more
        found = milp(
            -size * worth[open_],
            integrality=np.ones(len(open_)),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(cover[open_][None, :] / unit, missing / unit + margin, np.inf),
            options={"mip_rel_gap": 0.0, "node_limit": MOST_BRANCHES},
        )
        if margin == 0:
            bound = getattr(found, "mip_dual_bound", None)
            # a program without any solution has nothing to win
            most = -np.inf if found.status == 2 else np.inf if bound is None else base - bound / size
        if found.x is None:
            return None, most
        taken = settled.copy()
        taken[open_[found.x > 0.5]] = True
        if cover[taken].sum() >= need:
            return taken, most
    return None, most
