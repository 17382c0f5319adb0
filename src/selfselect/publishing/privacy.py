"""Counts that may be passed on: no difference between two of them is about fewer than k people.

A table of counts at many thresholds names people: the difference of two neighbouring thresholds counts those of one
group, with scores in between, by their label. So in what is passed on, each cell (group, step between two thresholds,
label) has at least ``min_cell`` people, or the step is empty for both labels. Neighbouring steps of a group are merged
until that holds. Groups for which it does not hold at the threshold in use are merged with each other: of several
columns, first those that share the first columns. Weighted people count by their effective number, which is never more
than the number of people.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._errors import InputError
from .._validation import BoolArray, FloatArray
from ..costs import Terms
from ..counting import GroupCounts, ratio
from ..statistics import SLACK, Guaranteed
from .curves import ThresholdCurves
from .published import PublishedStatistics

#: People that each cell has at least, unless something else is asked for.
MIN_CELL = 10
#: Name of merged groups.
OTHERS = "the rest"
#: Times that counts are raised, each by a quarter, until a group decides as before.
MAX_RAISED = 64
#: Thresholds tried as steps of a curve: more than a page offers.
MAX_STEPS = 400


def check_min_cell(value: Any) -> int:
    """A number of people; 0 means that nothing is merged."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise ValueError(f"min_cell must be a whole number of at least 0, got {value!r}.")
    return int(value)


@dataclass(frozen=True, eq=False)
class Cells:
    """People in pairs of cells: of each pair both cells have enough people, or both are empty.

    ``people`` has shape (..., n_groups, n_pairs, 2); ``squares`` has sums of squared weights, None without weights.
    """

    people: FloatArray
    squares: FloatArray | None = None

    @classmethod
    def of(cls, counts: GroupCounts) -> Cells:
        """Qualified and other people among those who pass, among those who do not, and people of unknown label."""

        def pairs(counts: GroupCounts) -> FloatArray:
            unknown = counts.unknown
            missed = counts.positives - counts.true_positives
            cells = (
                (counts.true_positives, counts.selected - counts.true_positives),
                (missed, counts.n - counts.selected - missed - unknown),
                (unknown, unknown),
            )
            return np.stack([np.stack(np.broadcast_arrays(*pair), axis=-1) for pair in cells], axis=-2).astype(float)

        return cls(pairs(counts), None if counts.squares is None else pairs(counts.squares))

    def join(self, other: Cells) -> Cells:
        """The pairs of both, of the same groups."""
        squares: FloatArray | None = None
        if self.squares is not None or other.squares is not None:
            mine, theirs = (part.people if part.squares is None else part.squares for part in (self, other))
            squares = np.concatenate([mine, theirs], axis=-2)
        return Cells(np.concatenate([self.people, other.people], axis=-2), squares)

    def of_unit(self, groups: list[int]) -> Cells:
        """Sums over some groups."""
        people, squares = (
            None if part is None else part[groups].sum(axis=0)[None] for part in (self.people, self.squares)
        )
        return Cells(people, squares)  # type: ignore[arg-type]

    def enough(self, least: int) -> BoolArray:
        """Whether both cells of each pair have enough people."""
        size = self.people if self.squares is None else np.nan_to_num(ratio(self.people**2, self.squares))
        return np.asarray((size >= least - SLACK).all(axis=-1))

    def may_be_shown(self, least: int) -> BoolArray:
        """Whether each group's cells have enough people, or none in both of a pair."""
        empty = (np.abs(self.people) <= SLACK * np.abs(self.people).sum()).all(axis=-1)
        return np.asarray((self.enough(least) | empty).all(axis=-1))


@dataclass(frozen=True, eq=False)
class Merging:
    """Which groups are shown together: ``codes`` has the unit of each of ``groups``, ``units`` their labels."""

    groups: pd.Index
    codes: NDArray[np.intp]
    units: pd.Index

    @cached_property
    def is_merged(self) -> BoolArray:
        """Whether each unit is more than one group."""
        return np.bincount(self.codes, minlength=len(self.units)) > 1

    def members(self, name_of: Callable[[pd.Index], list[str]]) -> dict[str, list[str]]:
        """Names of the groups of each merged unit."""
        names = name_of(self.groups)
        return {
            unit: [names[z] for z in np.flatnonzero(self.codes == u)]
            for u, unit in enumerate(name_of(self.units))
            if self.is_merged[u]
        }

    def among(self, groups: pd.Index) -> Merging:
        """The same for some of the groups, in their order."""
        present, codes = np.unique(self.codes[self.groups.get_indexer(groups)], return_inverse=True)
        return Merging(groups, codes.astype(np.intp), self.units.take(present))

    def units_of(self, groups: pd.Index) -> pd.Index:
        """Units that hold some of the groups."""
        return self.units.take(np.unique(self.codes[self.groups.get_indexer(groups)]))

    def added(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sums over the groups (the first axis) of each unit."""
        total = np.zeros((len(self.units), *values.shape[1:]), dtype=values.dtype)
        np.add.at(total, self.codes, values)
        return total

    def counts(self, table: PublishedStatistics) -> PublishedStatistics:
        """The same table by unit."""
        own = self.among(table.groups)

        def added(counts: GroupCounts) -> GroupCounts:
            untested = None if counts.untested is None else own.added(counts.untested)
            squares = None if counts.squares is None else added(counts.squares)
            n, positives, selected, true_positives = map(own.added, counts.columns)
            return GroupCounts(n, positives, selected, true_positives, untested, squares=squares)

        return PublishedStatistics(own.units, added(table.counts))

    def means(self, values: FloatArray) -> FloatArray:
        """Mean over the groups of each unit: of costs and subsidies."""
        return np.bincount(self.codes, weights=values) / np.bincount(self.codes)

    def terms(self, terms: Terms) -> Terms:
        """Costs and subsidies of the units; those of merged groups are means."""
        if not self.is_merged.any():
            return terms
        cost, own, paid = terms.cost, terms.cost_of, terms.subsidies
        if terms.uniform_cost is None:
            listed = pd.Series(self.means(terms.listed_cost(self.groups)), index=self.units)
            if own:
                has = np.bincount(self.codes, weights=[float(label in own) for label in self.groups]) > 0
                own = {label: value for (label, value), given in zip(listed.items(), has, strict=True) if given}
            else:
                cost = listed
        if paid is not None:
            paid = pd.Series(self.means(terms.subsidies_for(self.groups)), index=self.units)
        statistic, behaviour = terms.statistic, terms.behaviour
        if isinstance(statistic, Guaranteed):
            failed = np.bincount(self.codes, weights=[not passed for passed in statistic.passed]) > 0
            statistic = replace(statistic, passed=tuple((~failed).tolist()))
        if is_dataclass(behaviour):  # settings by group: a unit has those of its first group
            first = dict(zip(self.units, self.groups.take(np.unique(self.codes, return_index=True)[1]), strict=True))
            by_group = {
                part.name: {unit: value[label] for unit, label in first.items() if label in value}
                for part in fields(behaviour)
                if isinstance(value := getattr(behaviour, part.name), dict | pd.Series)
            }
            behaviour = replace(behaviour, **by_group)
        return replace(terms, cost=cost, cost_of=own, subsidies=paid, statistic=statistic, behaviour=behaviour)


def merge_groups(groups: pd.Index, cells: Cells, least: int) -> Merging:
    """Merge groups until all cells may be shown: as few groups as this rule needs, the smallest first."""
    levels = groups.nlevels
    rows = [label if levels > 1 else (label,) for label in groups]
    keys: list[Any] = [(*row, None) for row in rows]  # not yet the name of a merged group
    others = OTHERS
    while any(others in row for row in rows):
        others += "*"

    size = cells.people.sum(axis=(-1, -2))
    shown = cells.may_be_shown(least)
    for shared in range(levels - 1, -1, -1):  # with groups that share the first columns, at last with any
        for prefix in {rows[z][:shared] for z in np.flatnonzero(~shown)}:
            near = [z for z, row in enumerate(rows) if row[:shared] == prefix]
            pooled = (*prefix, *(others,) * (levels - shared), "merged")
            units: dict[Any, list[int]] = {}
            for z in near:
                units.setdefault(keys[z], []).append(z)
            pool = [z for z in near if not shown[z]]
            rest = sorted((unit for unit in units.values() if shown[unit[0]]), key=lambda unit: float(size[unit].sum()))
            while not (enough := cells.of_unit(pool).may_be_shown(least)[0]) and rest:
                pool += rest.pop(0)
            for z in pool:
                keys[z], shown[z] = pooled, enough
    if not shown.all():
        raise InputError(
            f"There are too few people for a file that may be passed on: even over all groups together, fewer than "
            f"{least} people passed and are qualified, or passed and are not, and so on. A smaller min_cell shows "
            "more; with min_cell=0 the file holds exact counts, for your own eyes only.",
            key="min_cell",
        )
    codes, labels = pd.factorize(pd.Series(keys, dtype=object))
    plain = [key[:-1] if levels > 1 else key[0] for key in labels]
    if len(labels) == len(groups):
        return Merging(groups, np.arange(len(groups)), groups)
    index = pd.MultiIndex.from_tuples(plain) if levels > 1 else pd.Index(plain, dtype=object, tupleize_cols=False)
    return Merging(groups, codes.astype(np.intp), index.set_names(groups.names))


def merge_steps(curves: ThresholdCurves, merging: Merging, in_use: float, least: int) -> ThresholdCurves:
    """Curves of the units with so few steps that every cell has enough people; ``in_use`` stays a step of each."""
    values = curves.distinct_thresholds
    if len(values) > MAX_STEPS:
        values = values[np.linspace(0, len(values) - 1, MAX_STEPS).astype(np.intp)]
    grid = np.unique(np.append(values, min(in_use, values[-1])))
    start = int(np.searchsorted(grid, min(in_use, values[-1])))
    own = merging.among(curves.groups)

    def pairs(part: Any) -> FloatArray:
        selected, hits = (own.added(table.T).T for table in part.counts_at(grid))
        return np.stack([hits, selected - hits], axis=-1)[:, :, None].astype(np.float64)

    people, squares = pairs(curves), None if curves.squares is None else pairs(curves.squares)

    def enough(above: Any, below: Any = None) -> BoolArray:
        """Whether enough people of both labels are selected at one row and not at another."""
        parts = [
            None if part is None else part[above] - (0.0 if below is None else part[below])
            for part in (people, squares)
        ]
        return Cells(*parts).enough(least)[:, 0]  # type: ignore[arg-type]

    kept = np.zeros(people.shape[:2], dtype=bool)
    kept[[0, start, -1]] = True  # everybody, those who pass now, nobody
    every = np.arange(len(own.units))
    last = np.full(len(every), start)
    for t in range(start + 1, len(grid) - 1):
        kept[t] |= enough((last, every), t) & enough(t)
        last = np.where(kept[t], t, last)
    last = np.full(len(every), start)
    for t in range(start - 1, 0, -1):
        kept[t] |= enough(t, (last, every)) & enough(0, t)
        last = np.where(kept[t], t, last)

    unit, step = np.nonzero(kept.T)
    begins = np.concatenate([[0], np.cumsum(kept.sum(axis=0))]).astype(np.intp)

    def made(part: Any, squared: Any = None) -> ThresholdCurves:
        selected, hits = (own.added(table.T).T[step, unit] for table in part.counts_at(grid))
        n, positives = selected[begins[:-1]], hits[begins[:-1]]
        return ThresholdCurves(own.units, begins, grid[step], selected, hits, n, positives, squared)

    return made(curves, None if curves.squares is None else made(curves.squares))


def raise_small_cells(table: PublishedStatistics, terms: Terms, least: int) -> PublishedStatistics:
    """The same table with at least so many people in each cell, on which each group decides as before.

    For a model file, where groups must keep their names: an exact small count is replaced by the least that may be
    shown. Of a group that would decide otherwise then, more people who pass count as qualified (if it applies) or as
    not qualified (if it stays away), until it decides as before.
    """
    counts, cells = table.counts, Cells.of(table.counts)
    shown = cells.may_be_shown(least)
    if shown.all():
        return table
    decided = np.asarray(table.decisions(terms))
    size = cells.people if cells.squares is None else np.nan_to_num(ratio(cells.people**2, cells.squares))
    raised = np.where((size > 0).any(axis=-1, keepdims=True), np.maximum(np.ceil(size), least), 0.0)
    for _ in range(MAX_RAISED):
        (hits, wrong), (missed, rejected), (unknown, _) = np.moveaxis(raised, 0, -1)
        made = (hits + wrong + missed + rejected + unknown, hits + missed, hits + wrong, hits, unknown)

        def kept(own: GroupCounts, made: tuple[FloatArray, ...] = made) -> list[NDArray[Any]]:
            columns = [*own.columns, own.unknown]
            return [np.where(shown, old, new.astype(old.dtype)) for old, new in zip(columns, made, strict=True)]

        squares = None if counts.squares is None else GroupCounts(*kept(counts.squares))
        n, positives, selected, true_positives, untested = kept(counts)
        known = None if counts.untested is None else untested
        table = PublishedStatistics(
            table.groups, GroupCounts(n, positives, selected, true_positives, known, squares=squares)
        )
        other = np.flatnonzero((np.asarray(table.decisions(terms)) != decided) & ~shown)
        if not len(other):
            return table
        raised[other, 0, np.where(decided[other], 0, 1)] *= 1.25
        raised = np.ceil(raised)
    raise InputError(
        "The published counts cannot be written without cells of fewer than "
        f"{least} people and decide as before. Pass min_cell=0 to write exact counts.",
        key="min_cell",
    )
