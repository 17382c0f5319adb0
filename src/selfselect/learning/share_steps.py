"""Steps at which shares of groups apply: those among very many that a set of groups should use.

At a value v and a price p of cover, a step adds ``gain - v n + p cover`` with ``n`` and ``cover`` in proportion to the
share: its contribution is linear in the share and the gain. One pass over the steps finds the best of each group.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray
from .group_sets import GroupChoices


@dataclass(frozen=True, eq=False)
class StepOptions:
    """Steps that may be chosen, group after group, in each those that select the fewest first.

    ``step`` is the position in the steps of the score, ``share`` the share of the group that applies, and ``gain`` what
    these people add (-inf where nobody applies). ``n``, ``cover`` and ``reliable`` are of whole groups: what a group
    adds if everybody applies, see :class:`.GroupChoices`. ``rates`` has an array for each kind of rate that is bounded:
    it never falls within a group, and is NaN in a group that does not count.
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
    def all_or_none(self) -> bool:
        """Whether every group applies as a whole or stays away as a whole at each step."""
        return bool(((self.share == 0) | (self.share == 1)).all())


class ShareSteps:
    """All options at which somebody applies."""

    def __init__(self, options: StepOptions) -> None:
        somebody = ~options.stays_out
        self._options = options
        self._share, self._gain = options.share[somebody], options.gain[somebody]
        self._before = np.concatenate([[0], np.cumsum(somebody)])

    def choices(self, begin: NDArray[np.intp], end: NDArray[np.intp], may_stay_out: BoolArray) -> GroupChoices:
        """What each group can do with the options of a run."""
        begin, end = self._before[begin], self._before[end]
        length = end - begin
        if length.sum() == len(self._gain):
            share, gain = self._share, self._gain
        else:
            position = np.arange(length.sum()) + np.repeat(end - np.cumsum(length), length)
            share, gain = self._share[position], self._gain[position]
        return _Run(self._options, share, gain, length).largest_shares(may_stay_out)


class _Run:
    """Options of a run at which somebody applies, group after group; ``length`` is their number in each group."""

    def __init__(self, options: StepOptions, share: FloatArray, gain: FloatArray, length: NDArray[np.intp]) -> None:
        self.options, self.share, self.gain = options, share, gain
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
