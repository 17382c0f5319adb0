"""The best thresholds of a score under every limit on social cost: one for all, or one per group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray
from ..behaviour import Shares, as_decisions
from ..costs import Terms
from ..learning.group_sets import GroupChoices, best_set
from ..publishing import ThresholdCurves
from ..statistics import SLACK

#: Points of the frontier of thresholds per group; where there are more, fewer are spread over social cost.
MAX_POINTS, SPREAD_POINTS = 100, 40
#: With more groups than this, sets of groups may differ from the best by one group: integer programs for each point
#: would take a minute.
MAX_EXACT_GROUPS = 1000


@dataclass(frozen=True, eq=False)
class ThresholdSearch:
    """The best thresholds for some people, under every limit on social cost."""

    curves: ThresholdCurves
    terms: Terms

    @cached_property
    def everything(self) -> pd.DataFrame:
        """What follows from every threshold, if it is one for all."""
        return self.curves.outcomes_under(self.terms)

    @cached_property
    def efficient(self) -> NDArray[np.intp]:
        """Rows of :attr:`everything` that no other row dominates, by rising social cost and accuracy."""
        accuracy, away = (self.everything[name].to_numpy() for name in ("induced_accuracy", "social_cost"))
        defined = np.flatnonzero(~np.isnan(accuracy) & ~np.isnan(away))
        return defined[undominated(away[defined], accuracy[defined])]  # of equals, the one with the lowest threshold

    def one(self, limit: float) -> tuple[int, bool]:
        """Row of the most accurate threshold within a limit, or nearest to it (-1: none), and whether it is within."""
        away = self.everything["social_cost"].to_numpy()[self.efficient]
        if len(away) == 0:
            return -1, False
        within = int(np.searchsorted(away, limit + SLACK, side="right"))
        return int(self.efficient[max(within - 1, 0)]), within > 0

    @cached_property
    def shares(self) -> Shares:
        """Share of its group that applies at each step."""
        return self.curves.step_shares(self.terms)

    def thresholds(self, kind: str, limit: float) -> FloatArray:
        """The best threshold of each group within a limit; NaN: nobody passes."""
        if kind == "per_group":
            return np.where(self.per_group(limit)[0], self.curves.threshold[self.best_step], np.nan)
        row, _ = self.one(limit)
        value = np.nan if row < 0 else self.everything["threshold"].to_numpy()[row]
        return np.full(len(self.curves.groups), value)

    def steps_of(self, groups: pd.Index, thresholds: FloatArray) -> NDArray[np.intp]:
        """Step of each group at the thresholds of some groups; nobody passes in a group without one."""
        at = groups.get_indexer(self.curves.groups)
        return steps_at(self.curves, np.where(at >= 0, thresholds[at], np.nan))

    def sums_at(self, published: ThresholdSearch, groups: pd.Index, thresholds: FloatArray) -> FloatArray:
        """Correct decisions about applicants, applicants, qualified people who stay away, all qualified people.

        Groups decide by what is published of other people; one without any of them stays away.
        """
        decided = np.asarray(published.shares[published.steps_of(groups, thresholds)], dtype=np.float64)
        at = published.curves.groups.get_indexer(self.curves.groups)
        counts, shares = self.curves.counts_of(self.steps_of(groups, thresholds)), np.where(at >= 0, decided[at], 0.0)
        away = (1 - shares) @ counts.positives
        return np.array([shares @ counts.correct, shares @ counts.n, away, counts.positives.sum()], dtype=np.float64)

    @cached_property
    def best_step(self) -> NDArray[np.intp]:
        """Most accurate step of each group at which it applies; -1 without any."""
        return self.curves.best_steps(as_decisions(self.shares))

    @cached_property
    def choices(self) -> GroupChoices:
        """What each group adds to accuracy and to social cost."""
        curves = self.curves
        may_apply = self.best_step >= 0
        stays_away = ~as_decisions(self.shares)
        return GroupChoices(
            gain=np.where(may_apply, curves.correct[self.best_step], -np.inf).astype(np.float64),
            n=curves.n.astype(np.float64),
            cover=np.where(may_apply, curves.positives, 0.0),
            reliable=may_apply,
            may_stay_out=np.bincount(curves.group[stays_away], minlength=len(curves.n)) > 0,
        )

    def per_group(self, limit: float) -> tuple[NDArray[np.bool_], bool]:
        """Groups to let in, each at its best step, for the best accuracy within a limit, or nearest to it."""
        need = (1 - limit - SLACK) * float(self.curves.positives.sum())
        best = best_set(self.choices, need, exact=len(self.curves.groups) <= MAX_EXACT_GROUPS)
        return (best.applying, True) if best is not None else (self.choices.may_apply, False)

    def sets(self) -> list[NDArray[np.bool_]]:
        """Sets of groups of the frontier, by falling social cost; every one if there are not too many."""
        sets = list(self._sets(0.0))
        return sets if len(sets) < MAX_POINTS else list(self._sets(float(self.curves.positives.sum()) / SPREAD_POINTS))

    def _sets(self, step: float) -> Iterator[NDArray[np.bool_]]:
        cover, need = self.choices.cover, 0.0
        for _ in range(MAX_POINTS):
            best = best_set(self.choices, need, exact=len(cover) <= MAX_EXACT_GROUPS)
            if best is None:
                return
            yield best.applying
            need = float(cover[best.applying].sum()) + max(step, 1e-9 * float(cover.sum()))


def undominated(away: FloatArray, accuracy: FloatArray) -> NDArray[np.intp]:
    """Positions of pairs that no other dominates, by rising social cost and accuracy; the first of equals."""
    rows = np.lexsort((-accuracy, away))
    best = np.maximum.accumulate(np.concatenate([[-np.inf], accuracy[rows][:-1]]))
    return np.asarray(rows[accuracy[rows] > best + SLACK], dtype=np.intp)


def steps_at(curves: ThresholdCurves, thresholds: FloatArray) -> NDArray[np.intp]:
    """Step of each group at a threshold of its own; NaN: nobody passes."""
    passed_by = curves.threshold <= thresholds[curves.group]  # always true of the first step, at -inf
    step = curves.start[:-1] + np.add.reduceat(passed_by, curves.start[:-1], dtype=np.intp) - 1
    return np.asarray(np.where(np.isnan(thresholds), curves.start[1:] - 1, step), dtype=np.intp)


def three_parts(curves: ThresholdCurves, seed: int) -> list[ThresholdCurves]:
    """Split people into three parts at random, stratified by group; all rows of a person fall into the same part.

    Not by label as well: parts with equal base rates would not be independent, and the best group of one part would be
    among the best of the others. With weights, people of one group, score and label stay together, because only the sum
    of their weights is known. A very small group may be missing in a part. The split does not depend on the order of
    rows or the names of groups: they come in the order of their counts and of the ranks of their scores.
    """
    group, score, label, weight, person = _people(curves)
    ranks = curves.rank_of_threshold
    sums = [np.add.reduceat(part, curves.start[:-1]) for part in (curves.true_positives, curves.selected, ranks)]
    names = np.lexsort((*sums, curves.positives, curves.n))
    group = np.argsort(names)[group]
    listed = np.lexsort((label, score, group))
    group, score, label = group[listed], score[listed], label[listed]
    weight, person = (None if values is None else values[listed] for values in (weight, person))
    rng = np.random.default_rng(seed)
    if weight is not None and np.issubdtype(weight.dtype, np.integer):  # counts of people
        drawn = _draw_thirds(weight, group, rng)
        return [_curves_of(curves.groups, names[group], score, label, part) for part in drawn]
    unit, stratum = np.arange(len(group)), group
    if person is not None:
        unit, stratum = _in_order(person, group, score, label, weight)
    shuffled = rng.permutation(len(stratum))
    order = shuffled[np.argsort(stratum[shuffled], kind="stable")]
    _, size = np.unique(stratum, return_counts=True)
    place = np.arange(len(order)) - np.repeat(np.cumsum(size) - size, size)
    # the odd people of each group go to any part by chance, so that no part gets all of them
    part = np.empty(len(order), dtype=np.intp)
    part[order] = (place + np.repeat(rng.integers(0, 3, len(size)), size)) % 3
    parts = []
    for own in range(3):
        rows = np.flatnonzero(part[unit] == own)
        present, codes = np.unique(names[group[rows]], return_inverse=True)
        more = (None if values is None else values[rows] for values in (weight, person))
        parts.append(ThresholdCurves.from_codes(label[rows], score[rows], codes, curves.groups[present], *more))
    return parts


def _in_order(
    person: NDArray[np.intp], group: NDArray[np.intp], *others: NDArray[Any] | None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Position of each row's person, and the first group of each person; persons come in the order of their rows."""
    columns = dict(enumerate(column for column in (group, *others) if column is not None))
    rows = pd.util.hash_pandas_object(pd.DataFrame(columns), index=False).to_numpy()
    persons, code = np.unique(person, return_inverse=True)
    key, first = np.zeros(len(persons), dtype=np.uint64), np.full(len(persons), len(group))
    np.add.at(key, code, rows)
    np.minimum.at(first, code, group)
    order = np.lexsort((key, first))
    return np.argsort(order)[code], first[order]


def _draw_thirds(n: NDArray[Any], group: NDArray[np.intp], rng: np.random.Generator) -> list[NDArray[Any]]:
    """How many people of each cell are in each third, if each group is split at random; cells are sorted by group."""
    starts = np.append(np.flatnonzero(np.append(True, group[1:] != group[:-1])), len(group))
    parts = [np.zeros_like(n) for _ in range(3)]
    for start, end in pairwise(starts.tolist()):
        left = n[start:end].astype(np.int64)
        # the odd people go to any part by chance, so that no part gets all of them
        sizes = np.roll((int(left.sum()) + np.array([2, 1, 0])) // 3, rng.integers(3))
        for part, size in zip(parts, sizes[:2], strict=False):
            part[start:end] = rng.multivariate_hypergeometric(left, size, method="marginals")
            left -= part[start:end]
        parts[2][start:end] = left
    return parts


def _curves_of(
    groups: pd.Index, codes: NDArray[np.intp], score: FloatArray, label: BoolArray, n: NDArray[Any]
) -> ThresholdCurves:
    """Curves of the groups that have people."""
    some = n > 0
    present, codes = np.unique(codes[some], return_inverse=True)
    return ThresholdCurves.from_cells(groups[present], codes, score[some], n[some], (n * label)[some])


def _people(curves: ThresholdCurves) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], Any, Any]:
    """Group, score, label, weight and person of rows; from counts, how many people share the first three."""
    if curves.rows is not None:
        return curves.rows
    group = curves.group
    within = np.flatnonzero(group[1:] == group[:-1]) + 1  # between a step and the one before lie those of its score
    passed = curves.selected[within - 1] - curves.selected[within]
    true_positives = curves.true_positives[within - 1] - curves.true_positives[within]
    cells = np.concatenate([passed - true_positives, true_positives])
    codes, scores = np.tile(group[within], 2), np.tile(curves.threshold[within], 2)
    labels = np.repeat([False, True], len(within))
    rounding = 0 if np.issubdtype(cells.dtype, np.integer) else 1e-12 * curves.n[codes]  # of sums of weights
    some = cells > rounding
    return codes[some], scores[some], labels[some], cells[some], None
