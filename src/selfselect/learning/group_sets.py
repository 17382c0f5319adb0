"""Which groups should apply, and how: the best ratio of two sums over one entry, or none, of each group.

    maximise  sum_i gain / sum_i n   over sets of entries, at most one per group, subject to  sum_i cover >= need

An entry is a way in which a group can apply. Some groups cannot apply, some cannot stay away, and at least one reliable
group must apply. Dinkelbach's iteration turns the ratio into sums: at the best value v, the largest ``sum_i (gain - v
n)`` is 0. Without a need, each such sum is maximised group by group. With one it is a multiple-choice knapsack problem:
its relaxation (one sort) is an upper bound, and its dual price settles almost every group, so that an integer program
is left for the few others.

Where shares of groups apply, groups have very many entries: :class:`ShareSteps` finds those that are best at some value
and price (column generation). An entry adds ``gain - value n + price cover``, linear in the share and the gain, so that
one pass over the steps finds the best of each group.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

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
    more: ShareSteps | None = None

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

    def last_of(self, entries: NDArray[np.intp]) -> BoolArray:
        """The last of some entries in each group."""
        last = np.full(len(self.reliable), -1)
        last[self.owner[entries]] = entries  # the last assignment wins
        return _mask(last[last >= 0], len(self.gain))

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
    applying = choices.last_of(np.flatnonzero(share > 0))  # a split group is given the larger cover
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
        taken = choices.last_of(picked)
        if cover[taken].sum() >= need:
            return taken, most
        others.append(LinearConstraint(np.where(~taken_steps & (added > 0), 1.0, 0.0)[None, :], 1, np.inf))
    return None, most


# ---------------------------------------------------------------------- shares of groups


@dataclass(frozen=True, eq=False)
class StepOptions:
    """Steps that may be chosen, group after group, in each those that select the fewest first.

    ``step`` is the position in the steps of the score, ``share`` the share of the group that applies, and ``gain`` what
    these people add (-inf where nobody applies). ``n``, ``cover`` and ``reliable`` are of whole groups. ``rates`` has
    an array for each kind of rate that is bounded: it never falls within a group, and is NaN if it does not count.
    """

    step: NDArray[np.intp]
    group: NDArray[np.intp]
    share: FloatArray
    gain: FloatArray
    n: FloatArray
    cover: FloatArray
    reliable: BoolArray
    rates: list[FloatArray] = field(default_factory=list)

    @cached_property
    def start(self) -> NDArray[np.intp]:
        """Options ``start[z]`` to ``start[z + 1] - 1`` are those of group z."""
        return np.searchsorted(self.group, np.arange(len(self.n) + 1)).astype(np.intp)

    @property
    def stays_out(self) -> BoolArray:
        """Whether the whole group stays away at each step."""
        return np.asarray(self.share == 0)

    @cached_property
    def somebody(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Options at which somebody applies, and how many of them come before each option."""
        return np.flatnonzero(~self.stays_out), np.concatenate([[0], np.cumsum(~self.stays_out)])

    @cached_property
    def all_or_none(self) -> bool:
        """Whether every group applies as a whole or stays away as a whole at each step."""
        return bool(((self.share == 0) | (self.share == 1)).all())


class ShareSteps:
    """Options at which somebody applies, of the options from ``begin`` to ``end - 1`` of each group."""

    def __init__(self, options: StepOptions, begin: NDArray[np.intp], end: NDArray[np.intp]) -> None:
        somebody, before = options.somebody
        length = before[end] - before[begin]
        if length.sum() < len(somebody):
            somebody = somebody[np.arange(length.sum()) + np.repeat(before[end] - np.cumsum(length), length)]
        self.options, self.share, self.gain = options, options.share[somebody], options.gain[somebody]
        self._groups = np.flatnonzero(length)
        self._length = length[self._groups]
        self._start = np.cumsum(self._length) - self._length

    def _spread(self, values: FloatArray) -> FloatArray:
        """Values of groups, for each option."""
        return np.repeat(values[self._groups], self._length)

    def _largest(self, values: FloatArray) -> tuple[FloatArray, NDArray[np.intp]]:
        """Largest value of each group and the last option that has it; -inf, and -1, in groups without options."""
        value, option = np.full(len(self.options.n), -np.inf), np.full(len(self.options.n), -1)
        value[self._groups] = np.maximum.reduceat(values, self._start) if len(values) else -np.inf
        equal = np.flatnonzero(values == self._spread(value))
        option[self._groups[np.searchsorted(self._start, equal, side="right") - 1]] = equal
        return value, option

    def _entries(self, option: NDArray[np.intp], group: NDArray[np.intp], may_stay_out: BoolArray) -> GroupChoices:
        """Options as entries; -1 for a group that cannot apply."""
        o, can_apply = self.options, option >= 0
        share = np.where(can_apply, self.share[option] if len(self.share) else 0.0, 0.0)
        gain = np.where(can_apply, self.gain[option] if len(self.gain) else 0.0, -np.inf)
        return GroupChoices(gain, share * o.n[group], share * o.cover[group], o.reliable, may_stay_out, group, self)

    def largest_shares(self, may_stay_out: BoolArray) -> GroupChoices:
        """The option with the largest share of each group, and the largest gain of those."""
        largest, _ = self._largest(self.share)
        _, option = self._largest(np.where(self.share == self._spread(largest), self.gain, -np.inf))
        return self._entries(option, np.arange(len(option)), may_stay_out)

    def better(self, choices: GroupChoices, value: float, price: float) -> GroupChoices | None:
        """The choices with the best option of each group at a value and a price; None if they have it already."""
        _, option = self._largest(self._net_gain(value, price))
        best = self._entries(option, np.arange(len(option)), choices.may_stay_out)
        present = choices.largest(choices.gain - value * choices.n + price * choices.cover)
        new = (best.gain - value * best.n + price * best.cover > present) & (present > -np.inf)
        if not new.any():
            return None
        group = np.concatenate([choices.owner, np.flatnonzero(new)])
        n = np.concatenate([choices.n, best.n[new]])
        order = np.lexsort((n, group))
        gain, cover = (np.concatenate([getattr(choices, name), getattr(best, name)[new]]) for name in ("gain", "cover"))
        return replace(choices, gain=gain[order], n=n[order], cover=cover[order], group=group[order])

    def near(self, choices: GroupChoices, value: float, price: float, limit: float) -> GroupChoices:
        """The undominated options within a limit of what is best for the group at a value and a price."""
        net_gain, n_groups = self._net_gain(value, price), len(self.options.n)
        best, top = self._largest(net_gain)
        best = np.where(choices.may_stay_out, np.maximum(best, 0.0), best)
        near = net_gain > self._spread(best - limit)
        near[top[top >= 0]] = True
        option = np.flatnonzero(near)
        group = self._groups[np.searchsorted(self._start, option, side="right") - 1]
        order = np.lexsort((self.share[option], group))
        option, group = option[order], group[order]
        while True:  # an option is dominated by another with at least its share and its gain at this value
            gain = self.gain[option] - value * self.options.n[group] * self.share[option]
            dominated = np.zeros(len(option), dtype=bool)
            dominated[:-1] = (group[:-1] == group[1:]) & (gain[:-1] <= gain[1:])
            if not dominated.any():
                break
            option, group = option[~dominated], group[~dominated]
        without = np.setdiff1d(np.arange(n_groups), group)
        group = np.concatenate([group, without])
        order = np.argsort(group, kind="stable")
        option = np.concatenate([option, np.full(len(without), -1)])[order]
        return self._entries(option, group[order], choices.may_stay_out)

    def _net_gain(self, value: float, price: float) -> FloatArray:
        net = self._spread(price * self.options.cover - value * self.options.n)
        net *= self.share
        net += self.gain
        return net
