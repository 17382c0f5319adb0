"""Which groups should apply, and how: the best ratio of two sums over one entry, or none, of each group.

    maximise  sum_i gain / sum_i n   over sets of entries, at most one per group, subject to  sum_i cover >= need

An entry is a way in which a group can apply. Some groups cannot apply, some cannot stay away, and at least one reliable
group must apply. Dinkelbach's iteration turns the ratio into sums: at the best value v, the largest ``sum_i (gain - v
n)`` is 0. Without a need, each such sum is maximised group by group. With one it is a multiple-choice knapsack problem:
its relaxation (one sort) is an upper bound, and its dual price settles almost every group, so that an integer program
is left for the few others.

If groups have very many entries, only those are looked at that are best at some value and price (column generation;
:class:`MoreEntries`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from .._validation import BoolArray, FloatArray

#: Sums over people are compared to this, per person: above the rounding of a long sum, far below one person.
SUM_ROUNDING = 1e-13
#: Size of the largest coefficient of an integer program; the solver's own (absolute) gap is 1e-6.
COEFFICIENT = 1e4
#: Unsettled entries that are tried first, and how many times more if that does not help.
CORE_SIZE = 25
CORE_GROWTH = 4
#: Ratios are not improved by less if there are very many entries.
SHARE_TOLERANCE = 5e-10
#: Sets that an integer program may propose although they do not quite cover the need.
MAX_EXCLUDED = 5
#: Branches of one integer program. The gap includes what is left open at the end.
MAX_BRANCHES = 20_000


class MoreEntries(Protocol):
    """All entries of groups that have too many to look at together."""

    def better(self, choices: GroupChoices, value: float, price: float) -> GroupChoices | None:
        """The choices with the entries of the largest ``gain - value n + price cover``; None if nothing is added."""
        ...

    def near(self, choices: GroupChoices, value: float, price: float, limit: float) -> GroupChoices:
        """The undominated entries whose ``gain - value n + price cover`` is within a limit of the group's largest."""
        ...


@dataclass(frozen=True, eq=False)
class GroupChoices:
    """What each group can do, and what it adds.

    ``gain``, ``n`` and ``cover`` have a value per entry, ``reliable`` and ``may_stay_out`` one per group. If a group
    applies by an entry, it adds ``gain`` to the numerator (-inf: it cannot apply), ``n`` to the denominator and
    ``cover``, at most ``n``, towards the need. At least one ``reliable`` group must apply. ``group`` is the group of
    each entry, rising, and within a group cover rises; each group has an entry. By default it has one. If there are
    ``more`` entries than those here, the one with the largest cover is here.
    """

    gain: FloatArray
    n: FloatArray
    cover: FloatArray
    reliable: BoolArray
    may_stay_out: BoolArray
    group: NDArray[np.intp] | None = None
    more: MoreEntries | None = None

    @cached_property
    def owner(self) -> NDArray[np.intp]:
        """Group of each entry."""
        return np.arange(len(self.gain)) if self.group is None else self.group

    @cached_property
    def start(self) -> NDArray[np.intp]:
        """First entry of each group."""
        return np.searchsorted(self.owner, np.arange(len(self.reliable))).astype(np.intp)

    def largest(self, values: FloatArray) -> FloatArray:
        """Largest value of each group."""
        return values if self.group is None else np.maximum.reduceat(values, self.start)

    def is_top(self, values: FloatArray) -> BoolArray:
        """Whether each entry is the one of its group with the largest value; of equals, the one with the most cover."""
        if self.group is None:
            return np.ones(len(values), dtype=bool)
        equal = np.flatnonzero(values == self.largest(values)[self.owner])
        top = self.start.copy()
        top[self.owner[equal]] = equal  # the last assignment wins
        return _mask(top, len(values))

    @cached_property
    def may_apply(self) -> BoolArray:
        """Groups that can apply."""
        return np.asarray(self.largest(self.gain) > -np.inf)

    @cached_property
    def must_apply(self) -> BoolArray:
        """Groups that cannot stay away."""
        return self.may_apply & ~self.may_stay_out

    @property
    def possible(self) -> bool:
        """Whether every group can do something."""
        return bool((self.may_apply | self.may_stay_out).all())

    @property
    def most_cover(self) -> BoolArray:
        """The entry of each group that can apply with the largest cover."""
        return self.is_top(np.where(self.gain > -np.inf, self.cover, -np.inf)) & (self.gain > -np.inf)

    def ratio(self, share: FloatArray | BoolArray) -> float:
        """Gain over people, of entries or shares of entries."""
        some = share > 0
        return float((share[some] * self.gain[some]).sum() / (share[some] * self.n[some]).sum())

    def set_of(self, taken: BoolArray, value: float, upper: float) -> GroupSet:
        """The set of groups that apply by some entries."""
        gain, n, applying = (np.zeros(len(self.reliable), dtype=kind) for kind in (float, float, bool))
        owner = self.owner[taken]
        gain[owner], n[owner], applying[owner] = self.gain[taken], self.n[taken], True
        return GroupSet(applying, value, upper, gain, n)


@dataclass(frozen=True, eq=False)
class GroupSet:
    """Groups that apply, their ratio, and an upper bound on the ratio of any set.

    ``gain`` and ``n`` are what each group adds, 0 if it stays away.
    """

    applying: BoolArray
    value: float
    upper: float
    gain: FloatArray
    n: FloatArray


def best_set(choices: GroupChoices, need: float, *, exact: bool = True) -> GroupSet | None:
    """Set of groups with the largest ratio, or None if no set covers the need (0 and below: there is none).

    Integer programs close the gap that a relaxation leaves, unless ``exact`` is False.
    """
    if not choices.possible or not (choices.may_apply & choices.reliable).any():
        return None
    share = np.where(choices.most_cover, 1.0, 0.0)
    if choices.cover[share > 0].sum() < need:
        return None
    choices, share = _relaxation(choices, need, share)
    applying = _rounded_up(choices, share)
    value, upper = choices.ratio(applying), choices.ratio(share)
    if not upper - value > SUM_ROUNDING or not exact:
        return choices.set_of(applying, value, max(upper, value))
    return _closed(choices, need, applying, upper)


def _relaxation(choices: GroupChoices, need: float, share: FloatArray) -> tuple[GroupChoices, FloatArray]:
    """Shares of entries with the largest ratio, at most one group being split; and the choices they are shares of."""
    value = choices.ratio(share)
    while True:
        better, price = _best_shares(choices, need, value)
        if choices.ratio(better) > value:  # nor if it is undefined
            share, value = better, choices.ratio(better)
            continue
        more = None if choices.more is None else choices.more.better(choices, value, price)
        if more is None:
            return choices, share
        choices, (share, _) = more, _best_shares(more, need, value)
        value = choices.ratio(share)


def _best_shares(choices: GroupChoices, need: float, value: float) -> tuple[FloatArray, float]:
    """Shares of entries with the largest ``sum gain - value n`` that cover a need within reach, and its price."""
    net_gain, usable = choices.gain - value * choices.n, choices.gain > -np.inf
    taken = choices.is_top(net_gain) & usable & (choices.must_apply[choices.owner] | (net_gain > 0))
    if need <= 0:
        eligible = usable & choices.reliable[choices.owner]
        if not (taken & eligible).any():
            taken[np.argmax(np.where(eligible, net_gain, -np.inf))] = True
        return np.where(taken, 1.0, 0.0), 0.0
    share, short = np.where(taken, 1.0, 0.0), need - choices.cover[taken].sum()
    if short <= 0:
        return share, 0.0
    entry, before, cover, loss = _increments(choices, net_gain, taken)
    if len(entry) == 0:
        return share, 0.0
    order = np.argsort(loss, kind="stable")
    reached = np.cumsum(cover[order])
    last = min(int(np.searchsorted(reached, short)), len(order) - 1)
    full, split = order[:last], order[last]
    share[entry[full]] = 1.0
    share[before[full][before[full] >= 0]] = 0.0
    share[entry[split]] = min(1.0 - (reached[last] - short) / cover[split], 1.0)
    if before[split] >= 0:
        share[before[split]] = 1.0 - share[entry[split]]
    return share, float(loss[split])


def _increments(
    choices: GroupChoices, net_gain: FloatArray, taken: BoolArray
) -> tuple[NDArray[np.intp], NDArray[np.intp], FloatArray, FloatArray]:
    """Entries on the way from those taken to the most cover, along the concave hull of net gain over cover.

    Returns the entry, the one it replaces (-1: none), and what cover it adds, at which loss of net gain per cover. The
    loss rises within a group.
    """
    replaced = np.full(len(choices.reliable), -1)
    replaced[choices.owner[taken]] = np.flatnonzero(taken)
    old_cover, old_gain = (np.where(replaced >= 0, part[replaced], 0.0) for part in (choices.cover, net_gain))
    entry = np.flatnonzero((choices.gain > -np.inf) & ~taken & (choices.cover > old_cover[choices.owner]))
    while True:
        group, cover, gain = choices.owner[entry], choices.cover[entry], net_gain[entry]
        first = np.ones(len(entry), dtype=bool)
        first[1:] = group[1:] != group[:-1]
        added = cover - np.where(first, old_cover[group], np.roll(cover, 1))
        with np.errstate(divide="ignore", invalid="ignore"):  # two covers may be equal but for rounding
            loss = (np.where(first, old_gain[group], np.roll(gain, 1)) - gain) / added
        below_hull = np.zeros(len(entry), dtype=bool)
        below_hull[:-1] = ~first[1:] & ((loss[:-1] >= loss[1:]) | (added[1:] <= 0))
        if not below_hull.any():
            return entry, np.where(first, replaced[group], np.roll(entry, 1)), added, loss
        entry = entry[~below_hull]


def _rounded_up(choices: GroupChoices, share: FloatArray) -> BoolArray:
    """Entries of a relaxed solution, the split group being given the larger cover."""
    some = np.flatnonzero(share > 0)
    entry = np.full(len(choices.reliable), -1)
    entry[choices.owner[some]] = some  # the last assignment wins
    return _mask(entry[entry >= 0], len(share))


def _mask(entry: NDArray[np.intp], length: int) -> BoolArray:
    mask = np.zeros(length, dtype=bool)
    mask[entry] = True
    return mask


def _closed(choices: GroupChoices, need: float, start: BoolArray, upper: float) -> GroupSet:
    """Improve a set until an integer program shows that it is best."""
    value, may_apply, fixed = choices.ratio(start), choices.may_apply, choices.must_apply
    best, free = choices.set_of(start, value, upper), may_apply & choices.may_stay_out
    rounding = SUM_ROUNDING * float(choices.largest(choices.n).sum())
    # people of any set that will do, at least
    fewest = need if choices.more is not None else max(need, -float(choices.largest(-choices.n)[fixed].sum()))
    tolerance = 0.0 if choices.more is None else SHARE_TOLERANCE
    size: float = CORE_SIZE
    while True:
        choices, price = _price(choices, need, value)
        top = choices.largest(choices.gain - value * choices.n + price * choices.cover)
        surplus = float(np.maximum(top[free], 0).sum() + top[fixed].sum() - price * need)
        if surplus <= max(rounding, tolerance * fewest):
            return replace(best, upper=min(upper, value + max(surplus, 0.0) / fewest))
        entries = choices if choices.more is None else choices.more.near(choices, value, price, surplus)
        usable = entries.gain > -np.inf
        net_gain = np.where(usable, entries.gain - value * entries.n, 0.0)
        priced = np.where(usable, net_gain + price * entries.cover, -np.inf)
        is_top, owner = entries.is_top(priced), entries.owner
        top = entries.largest(priced)
        chosen = is_top & usable & (fixed[owner] | (priced > 0))
        # what is lost if the group leaves the best of its entries, or enters this one; beyond the surplus it does not
        leaving = np.where(free[owner], np.abs(priced), np.inf)
        stays = np.where(free, np.maximum(top, 0.0), np.where(fixed, top, 0.0))
        distance = np.where(is_top, leaving, stays[owner] - priced)
        first = _mask(entries.start, len(owner))
        on_hull = first | _mask(_increments(entries, net_gain, first)[0], len(owner))
        # the least settled entries of the hull usually suffice to find a better set, which settles more of them
        while True:
            unsettled = distance < surplus
            nearest = np.sort(distance[unsettled & on_hull])
            open_ = unsettled & (on_hull | (size == np.inf))
            if size < len(nearest):
                open_ &= distance < nearest[int(size)]
            proves = bool((open_ == unsettled).all())
            taken, most = _program(net_gain, entries, need, chosen & ~open_, np.flatnonzero(open_))
            better = entries.ratio(taken) if taken is not None else -np.inf
            if choices.more is None:
                size = np.inf  # with one entry per group there are few others
            if better > value or proves:
                break
            size = size * CORE_GROWTH if size < len(nearest) else np.inf
        bound = float(min(upper, value + max(min(most, surplus), 0.0) / fewest))
        if taken is None or better <= value:
            return replace(best, upper=bound)
        best, value = entries.set_of(taken, better, upper), better
        if proves and bound <= value + tolerance:
            return replace(best, upper=max(bound, value))


def _price(choices: GroupChoices, need: float, value: float) -> tuple[GroupChoices, float]:
    """The need's price at a value, and choices that hold the best entry of each group at that price."""
    while True:
        _, price = _best_shares(choices, need, value)
        more = None if choices.more is None else choices.more.better(choices, value, price)
        if more is None:
            return choices, price
        choices = more


def _program(
    net_gain: FloatArray, choices: GroupChoices, need: float, settled: BoolArray, open_: NDArray[np.intp]
) -> tuple[BoolArray | None, float]:
    """Integer program over the open entries: the set of the largest net gain or None, and a bound on the gain.

    A group with open entries takes one of them or the settled one; without a settled one, it may also stay away. The
    program decides on each step from one of these to the next (incremental formulation): branches then divide the
    entries of a group into those with less and with more cover.
    """
    cover, owner = choices.cover, choices.owner
    if len(open_) == 0:
        return (settled, float(net_gain[settled].sum())) if cover[settled].sum() >= need else (None, -np.inf)
    is_open, has_settled = (_mask(owner[some], len(choices.reliable)) for some in (open_, settled))
    entry = np.union1d(open_, np.flatnonzero(settled & is_open[owner]))
    follows = np.zeros(len(entry), dtype=bool)
    follows[1:] = owner[entry[1:]] == owner[entry[:-1]]
    gain, added = (part[entry] - np.where(follows, part[np.roll(entry, 1)], 0.0) for part in (net_gain, cover))
    start = settled & ~is_open[owner]
    varies = follows | ~has_settled[owner[entry]]
    start[entry[~varies]] = True
    entry, gain, added = entry[varies], gain[varies], added[varies]
    size = COEFFICIENT / float(np.abs(gain).max() or 1.0)
    missing, base, most = need - float(cover[start].sum()), float(net_gain[start].sum()), np.inf
    unit = float(added.max() or 1.0)
    if (added == np.floor(added)).all():
        missing, unit = float(np.ceil(missing)), 1.0  # whole numbers need no rounding
    after = np.flatnonzero(owner[entry[1:]] == owner[entry[:-1]]) + 1
    rows = np.arange(len(after))
    in_order = csr_array(
        (np.repeat([1.0, -1.0], len(after)), (np.tile(rows, 2), np.concatenate([after - 1, after]))),
        shape=(len(after), len(entry)),
    )
    others = [LinearConstraint(in_order, 0, np.inf)] if len(after) else []
    # The solver rounds. If its set does not quite cover the need, an entry that adds cover must be picked in addition;
    # in the end, a little more is required.
    for margin in (*[0.0] * MAX_EXCLUDED, 1e-6):
        covered = LinearConstraint(added[None, :] / unit, missing / unit + margin, np.inf)
        result = milp(
            -size * gain,
            integrality=np.ones(len(entry)),
            bounds=Bounds(0, 1),
            constraints=[covered, *others],
            # presolving entries in order takes longer than solving the program
            options={"mip_rel_gap": 0.0, "node_limit": MAX_BRANCHES, "presolve": len(after) == 0},
        )
        if margin == 0:
            bound = getattr(result, "mip_dual_bound", None)
            # an infeasible program has no surplus
            most = -np.inf if result.status == 2 else np.inf if bound is None else base - bound / size
        if result.x is None:
            return None, most
        taken_steps = result.x > 0.5
        picked = np.concatenate([np.flatnonzero(start), entry[taken_steps]])
        last = np.full(len(choices.reliable), -1)
        last[owner[picked]] = picked  # the last assignment wins
        taken = _mask(last[last >= 0], len(cover))
        if cover[taken].sum() >= need:
            return taken, most
        others.append(LinearConstraint(np.where(~taken_steps & (added > 0), 1.0, 0.0)[None, :], 1, np.inf))
    return None, most
