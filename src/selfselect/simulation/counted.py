"""A population given as counts per group and score, screened by thresholds. Everything is an expected value.

A cell holds the people of one group with one score. A share of a cell applies, passes, and has a label; nothing is
drawn. So a round costs a few sums over cells, whatever the number of people.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .._validation import (
    BoolArray,
    FloatArray,
    check_binary,
    check_floats,
    check_fraction,
    check_same_length,
    check_threshold,
    list_some,
)
from ..counting import CountCurves, GroupCounts, encode_groups, position_of, values_by_group
from ..counting.counts import correct_decisions
from ..publishing.splits import TrainingSet, as_publishing
from ..statistics import Published
from .exploration import Exploration, Labels
from .retraining import NO_LABEL, Retraining, as_retraining, label_weights

if TYPE_CHECKING:
    from .entry import Entry

COLUMNS = ("group", "score", "n", "positives")
#: A smaller share of a cell is nobody.
NOBODY = 1e-12


@dataclass(frozen=True, eq=False)
class CountedPopulation:
    """People counted by group and score. Make one with :meth:`from_frame`, :meth:`from_scores` or :meth:`from_curves`.

    Attributes
    ----------
    groups : Index
        The groups.
    codes, score, n, positives : ndarray of shape (n_cells,)
        Group (position in ``groups``) and score of each cell, its people, and its qualified people; need not be whole.
    """

    groups: pd.Index
    codes: NDArray[np.intp]
    score: FloatArray
    n: FloatArray
    positives: FloatArray

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> Self:
        """Take a table with the columns group, score, n and positives, one row per cell.

        Examples
        --------
        >>> cells = {"group": list("AABB"), "score": [1, 2, 1, 2], "n": [5, 5, 8, 2], "positives": [1, 4, 1, 1]}
        >>> CountedPopulation.from_frame(pd.DataFrame(cells)).at(1.0).precision
        array([0.8, 0.5])
        """
        absent = [name for name in COLUMNS if name not in frame]
        if absent:
            raise ValueError(f"The counts lack column(s) {', '.join(absent)}; they need {', '.join(COLUMNS)}.")
        groups = encode_groups(frame["group"])
        score, n, positives = (check_floats(frame[name], name) for name in COLUMNS[1:])
        wrong = (n < 0) | (positives < 0) | (positives > n)
        if wrong.any():
            raise ValueError(
                f"positives must lie between 0 and n, and n must not be negative; wrong in row(s) "
                f"{list_some(np.flatnonzero(wrong))}."
            )
        return cls(groups.labels, groups.codes, score, n, positives)

    @classmethod
    def from_scores(cls, y_true: ArrayLike, score: ArrayLike, *, sensitive_features: Any = None) -> Self:
        """Count people by group and score."""
        y, values = check_binary(y_true, "y_true"), check_floats(score, "score")
        check_same_length(y_true=y, score=values)
        groups = encode_groups(sensitive_features, n_rows=len(y))
        cells, cell = np.unique(np.column_stack([groups.codes, values]), axis=0, return_inverse=True)
        n, positives = np.bincount(cell).astype(float), np.bincount(cell, y)
        return cls(groups.labels, cells[:, 0].astype(np.intp), cells[:, 1], n, np.asarray(positives, dtype=float))

    @classmethod
    def from_curves(cls, curves: CountCurves) -> Self:
        """Take counts at every threshold, such as :class:`~selfselect.ThresholdCurves`."""
        last = np.isin(np.arange(len(curves.threshold)), curves.start[1:] - 1)
        cell = np.flatnonzero(~last)  # the people whose score is that of the next step
        n, positives = (-np.diff(part)[cell].astype(float) for part in (curves.selected, curves.true_positives))
        return cls(curves.groups, curves.group[cell], curves.threshold[cell + 1], n, positives)

    def times(self, share: Any) -> CountedPopulation:
        """The same cells with a share of their people."""
        return replace(self, n=self.n * share, positives=self.positives * share)

    def plus(self, other: CountedPopulation) -> CountedPopulation:
        """Cells of both, which may repeat. The groups of the other must be among these."""
        codes = other.codes
        if other.groups is not self.groups:
            codes = position_of(other.groups, self.groups, "The new people", "the population")[codes]
        parts = ((self.codes, codes), *((getattr(self, name), getattr(other, name)) for name in _CELLS))
        return CountedPopulation(self.groups, *map(np.concatenate, parts))

    def over_groups(self, values: FloatArray) -> FloatArray:
        """Sum over the cells of each group."""
        return np.asarray(np.bincount(self.codes, values, len(self.groups)))

    def at(self, threshold: Any) -> GroupCounts:
        """Counts of each group at a threshold, or at a threshold of each group."""
        above = self.above(threshold)
        sums = (self.n, self.positives, self.n * above, self.positives * above)
        return GroupCounts(*map(self.over_groups, sums))

    def above(self, threshold: Any) -> BoolArray:
        """Which cells pass."""
        limits = np.asarray(threshold, dtype=np.float64)
        return np.asarray(self.score > (limits[self.codes] if limits.ndim else limits))


_CELLS = ("score", "n", "positives")


def as_counts(population: Any) -> CountedPopulation | None:
    """A population of counts in any of its forms; None if it is none."""
    if isinstance(population, CountCurves):
        return CountedPopulation.from_curves(population)
    if isinstance(population, pd.DataFrame):
        return CountedPopulation.from_frame(population)
    return population if isinstance(population, CountedPopulation) else None


class ThresholdFirm(Protocol):
    """A firm that screens a counted population by thresholds."""

    def thresholds(self, labelled: CountedPopulation) -> Any:
        """One threshold, or one for each group in order; people with a higher score pass."""
        ...


@dataclass(frozen=True)
class FixedThreshold:
    """The same thresholds in all rounds.

    Parameters
    ----------
    threshold : float or mapping from group to float
        People with a higher score pass.
    """

    threshold: float | Mapping[Any, float]

    def __post_init__(self) -> None:
        for threshold in self.threshold.values() if isinstance(self.threshold, Mapping) else [self.threshold]:
            check_threshold(threshold)

    def thresholds(self, labelled: CountedPopulation) -> Any:
        """The thresholds, whatever the labels."""
        if isinstance(self.threshold, Mapping):
            return values_by_group(self.threshold, labelled.groups, "threshold", default=None)
        return float(self.threshold)


@dataclass(frozen=True)
class BestThreshold:
    """The threshold that is most accurate on the labels found so far, one for all groups. Of several, the highest.

    Examples
    --------
    >>> cells = {"group": ["A"] * 3, "score": [1, 2, 3], "n": [9, 9, 9], "positives": [1, 5, 8]}
    >>> BestThreshold().thresholds(CountedPopulation.from_frame(pd.DataFrame(cells)))
    1.0
    """

    def thresholds(self, labelled: CountedPopulation) -> float:
        """Search all scores of people with a label."""
        order = np.argsort(labelled.score, kind="stable")[::-1]
        score, n, positives = labelled.score[order], labelled.n[order], labelled.positives[order]
        selected, true_positives = (np.concatenate([[0.0], np.cumsum(part)]) for part in (n, positives))
        correct = correct_decisions(selected[-1], true_positives[-1], selected, true_positives)
        # after the first i cells, in falling order of scores, the threshold is the score of the next one
        limits = np.append(score, -np.inf)
        possible = np.append(True, limits[1:] < limits[:-1])
        best = float(np.max(correct[possible]))
        return float(limits[possible][np.argmax(correct[possible] >= best - NOBODY * max(best, 1.0))])


class CountedWorld:
    """A counted population and a firm that screens it by thresholds. Methods replace arrays and never change them."""

    def __init__(
        self,
        population: CountedPopulation,
        firm: Any,
        *,
        initial: Any = 0.3,
        publish: Any = None,
        retrain: str | Retraining = "all",
    ) -> None:
        if isinstance(firm, Real | Mapping) and not isinstance(firm, bool):
            firm = FixedThreshold(firm)  # type: ignore[arg-type]
        if isinstance(firm, type) or not hasattr(firm, "thresholds"):
            raise TypeError(
                f"firm must be a threshold, FixedThreshold or BestThreshold for a population of counts, got {firm!r}."
            )
        self.firm, self.retraining = firm, as_retraining(retrain)
        publishing = TrainingSet() if publish is None else publish
        self.statistic = publishing if hasattr(publishing, "value") else as_publishing(publishing).statistic
        self.groups = population.groups
        known = as_counts(initial)
        if known is not None:
            # cells of the population without people, so that both have the same groups
            self.start, self.pool = population.times(0.0).plus(known), population
        else:
            share = check_fraction(initial, "initial", inclusive=False)
            self.start, self.pool = population.times(share), population.times(1 - share)
        self.model: Any = np.nan
        self.missed = np.ones(len(self.pool.n))
        #: share of each cell whose newest label is of a round
        self.layers: dict[int, FloatArray] = {}
        self.labelled = self.start

    def retrain(self, number: int, cost: FloatArray) -> None:
        """Choose thresholds by all labels."""
        shares = np.zeros(len(self.pool.n))
        for found, part in self.layers.items():
            age = np.full(len(part), number - 1 - found)
            shares = shares + part * label_weights(self.retraining, age, 1 - self.missed)
        ones = np.ones(len(self.start.n))
        start = self.start.times(label_weights(self.retraining, (number - 1) * ones, ones))
        pool = self.pool.times(shares)
        if start.codes is pool.codes:
            self.labelled = replace(pool, n=start.n + pool.n, positives=start.positives + pool.positives)
        else:
            self.labelled = start.plus(pool)
        if not self.labelled.n.any():
            raise ValueError(NO_LABEL)
        self.model = self.firm.thresholds(self.labelled)

    def published(self) -> Published:
        """The statistic of people with a label, at the thresholds."""
        return Published(self.labelled.at(self.model), self.statistic, self.groups)

    def counts(self) -> GroupCounts:
        """Counts of the pool at the thresholds."""
        return self.pool.at(self.model)

    def learn(
        self, number: int, shares: FloatArray, labels: Labels, exploration: Exploration, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Find labels of a share of each cell; people tested by exploration only, and those of them who qualify."""
        applies = shares[self.pool.codes]
        explored, chance = exploration.chances(labels, applies, applies * self.pool.above(self.model))
        self.missed = self.missed * (1 - chance)
        if getattr(self.retraining, "uses_age", True):
            horizon = getattr(self.retraining, "rounds", np.inf)
            older = {found: part * (1 - chance) for found, part in self.layers.items() if number - found < horizon}
            self.layers = {found: part for found, part in older.items() if part.max() > NOBODY} | {number: chance}
        else:
            self.layers = {number: 1 - self.missed}
        found = self.pool.times(explored)
        return found.over_groups(found.n), found.over_groups(found.positives)

    def enter(self, entry: Entry | None, outcome: pd.DataFrame | None, rng: np.random.Generator) -> None:
        """Add cells to the pool."""
        new = None if entry is None else entry.enter(outcome, self.pool, rng)
        if new is None:
            return
        if not isinstance(new, CountedPopulation):
            raise TypeError(f"entry must return a CountedPopulation here, got {type(new).__name__}.")
        same_cells = new.codes is self.pool.codes and np.array_equal(new.score, self.pool.score)
        if same_cells and np.allclose(new.positives * self.pool.n, self.pool.positives * new.n):
            # more such people in the same cells: their labels are unknown
            grown = self.pool.n + new.n
            kept = np.divide(self.pool.n, grown, out=np.ones_like(grown), where=grown > 0)
            self.pool = replace(self.pool, n=grown, positives=self.pool.positives + new.positives)
            self.missed = 1 - (1 - self.missed) * kept
            self.layers = {found: part * kept for found, part in self.layers.items()}
            return
        self.pool, size = self.pool.plus(new), len(new.n)
        self.missed = np.append(self.missed, np.ones(size))
        self.layers = {found: np.append(part, np.zeros(size)) for found, part in self.layers.items()}
