"""The bootstrap over people, stratified by group, on counts.

Drawing as many people of a group again, with replacement, and counting them is the same as drawing the group's counts
from a multinomial distribution. So the bootstrap needs the counts only.

Weighted people are drawn by the Bayesian bootstrap: each is counted a random number of times, exponential with mean 1.
The sum of weights in each cell of a group (passed or not, qualified or not) is then approximated by a gamma variable of
the same mean and variance. It needs the sums of weights and of their squares only, and is exact where weights within a
cell are equal. Group totals are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._validation import FloatArray
from ..behaviour import Shares, as_decisions
from ..costs import Terms
from ..counting import GroupCounts, position_of, ratio
from ..outcomes import outcome_bounds
from .screening import ScreeningResult

#: Numbers drawn at a time. This bounds memory if there are many groups.
MAX_DRAWN = 2_000_000
#: Numbers that have an interval.
MEASURED = ("assumed_accuracy", "induced_accuracy", "application_rate", "social_cost")


def block_sizes(n_resamples: Any, n_groups: int) -> list[int]:
    """Sizes of blocks of resamples that fit into memory."""
    if not isinstance(n_resamples, int) or n_resamples < 2:
        raise ValueError(f"n_resamples must be a whole number of at least 2, got {n_resamples!r}.")
    block = max(1, MAX_DRAWN // max(8 * n_groups, 1))
    return [min(block, n_resamples - start) for start in range(0, n_resamples, block)]


def draw_cells(cells: NDArray[Any], squares: FloatArray | None, size: int, rng: np.random.Generator) -> NDArray[Any]:
    """People of each group and cell, drawn again ``size`` times; with sums of squared weights, weighted people."""
    people = cells.sum(axis=-1)
    if squares is None:
        shares = np.nan_to_num(ratio(cells, people[:, None]))
        shares[people == 0, -1] = 1.0
        return rng.multinomial(people.astype(np.int64), shares, size=(size, len(cells)))
    some = (cells > 0) & (squares > 0)
    shape, scale = (np.where(some, ratio(*pair), 0.0) for pair in ((cells**2, squares), (squares, cells)))
    drawn = rng.gamma(shape, 1.0, size=(size, *cells.shape)) * scale
    shares = np.nan_to_num(ratio(drawn, drawn.sum(axis=-1, keepdims=True)))
    return np.asarray(shares * people[:, None])


def _cells(counts: GroupCounts) -> FloatArray:
    """True positives, false positives, false negatives, true negatives and untested people of each group."""
    missed = counts.positives - counts.true_positives
    rejected = counts.n - counts.selected - counts.unknown - missed
    cells = [counts.true_positives, counts.selected - counts.true_positives, missed, rejected]
    if counts.untested is not None:
        cells.append(counts.untested)
    stacked = np.stack(cells, axis=-1)
    return np.where(stacked > 1e-12 * counts.n[:, None], stacked, 0)  # differences of sums of weights leave rounding


def resampled_counts(counts: GroupCounts, size: int, rng: np.random.Generator) -> GroupCounts:
    """Counts of people drawn again, of shape (size, n_groups)."""
    cells = _cells(counts)
    squares = None if counts.squares is None else _cells(counts.squares)
    if squares is None and not np.issubdtype(counts.n.dtype, np.integer):
        squares = cells  # sums of weights without their squares: as if each person counted once
    drawn = draw_cells(cells, squares, size, rng)
    true_positives, false_positives, false_negatives = drawn[..., 0], drawn[..., 1], drawn[..., 2]
    return GroupCounts(
        drawn.sum(axis=-1),
        true_positives + false_negatives,
        true_positives + false_positives,
        true_positives,
        drawn[..., 4] if counts.untested is not None else None,
    )


@dataclass(frozen=True, eq=False)
class Resamples:
    """Outcomes of resamples, one entry each.

    ``shares`` has the share of each group that applies, by resample. ``low`` and ``high`` have the :data:`MEASURED`
    numbers of each resample, NaN where they are undefined. The two differ only where people were not tested: they are
    the bounds over their labels.
    """

    groups: pd.Index
    shares: Shares
    low: dict[str, FloatArray]
    high: dict[str, FloatArray]

    @property
    def applies(self) -> pd.Series:
        """Share of resamples in which each group applies."""
        return pd.Series(as_decisions(self.shares).mean(axis=0), index=self.groups, name="applies")

    @classmethod
    def from_counts(
        cls, groups: pd.Index, published: GroupCounts, counted_groups: pd.Index, counted: GroupCounts, terms: Terms
    ) -> Resamples:
        """One block: groups decide by their published counts, and the outcome is that of the people counted."""
        shares = terms.shares(groups, published)
        position = position_of(counted_groups, groups, "The population", "what is published")
        applying = np.asarray(shares, dtype=np.float64)[..., position]
        rate = ratio((applying * counted.n).sum(axis=-1), counted.n.sum(axis=-1))
        bounds = outcome_bounds(counted, applying) | {"application_rate": (rate, rate)}
        low, high = ({name: bounds[name][end] for name in MEASURED} for end in (0, 1))
        return cls(groups, shares, low, high)

    @classmethod
    def concatenate(cls, blocks: Sequence[Resamples]) -> Resamples:
        """All resamples of several blocks."""
        low, high = (
            {name: np.concatenate([getattr(block, end)[name] for block in blocks]) for name in MEASURED}
            for end in ("low", "high")
        )
        shares: Any = np.concatenate([block.shares for block in blocks])
        return cls(blocks[0].groups, shares, low, high)


def percentile_interval(low: FloatArray, high: FloatArray, confidence: float) -> tuple[float, float]:
    """Percentile interval over the resamples in which a number is defined; NaN if it never is."""
    tail = (1 - confidence) / 2
    ends = []
    for values, at in ((low, tail), (high, 1 - tail)):
        defined = values[~np.isnan(values)]
        ends.append(float(np.quantile(defined, at)) if defined.size else np.nan)
    return ends[0], ends[1]


def resample(
    published_by: ScreeningResult,
    counted_on: ScreeningResult,
    terms: Terms,
    *,
    n_resamples: int = 1000,
    random_state: Any = 0,
) -> Resamples:
    """Draw people with replacement; groups decide by the counts of those drawn.

    If those whose counts are published and those who are counted are one object, they are drawn once; otherwise each
    set is drawn on its own. Draws of different tables are independent if their seeds differ, as ``[seed, 0]`` and
    ``[seed, 1]`` do.
    """
    rng = np.random.default_rng(random_state)
    same = counted_on is published_by
    streams = [rng] if same else rng.spawn(2)
    people = [published_by] if same else [published_by, counted_on]
    blocks = []
    for size in block_sizes(n_resamples, max(len(one.groups) for one in people)):
        drawn = [resampled_counts(one.counts, size, stream) for one, stream in zip(people, streams, strict=True)]
        blocks.append(Resamples.from_counts(published_by.groups, drawn[0], counted_on.groups, drawn[-1], terms))
    return Resamples.concatenate(blocks)


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Intervals of an audit's numbers by the bootstrap. Made by :meth:`Audit.uncertainty`.

    ``confidence`` is their level, ``seed`` that of the draws, and ``weighted`` whether people have weights and were
    therefore drawn by the Bayesian bootstrap.
    """

    resamples: Resamples
    confidence: float
    seed: Any
    weighted: bool

    @property
    def applies(self) -> pd.Series:
        """Share of resamples in which each group applies."""
        return self.resamples.applies

    @property
    def n_resamples(self) -> int:
        """Number of resamples."""
        return len(self.resamples.shares)

    def interval(self, name: str) -> tuple[float, float]:
        """Interval of assumed_accuracy, induced_accuracy, application_rate or social_cost."""
        return percentile_interval(self.resamples.low[name], self.resamples.high[name], self.confidence)

    def to_frame(self) -> pd.DataFrame:
        """Interval of each number, and the share of resamples in which it is undefined."""
        low = self.resamples.low
        rows = [(*self.interval(name), float(np.isnan(low[name]).mean())) for name in MEASURED]
        return pd.DataFrame(rows, index=pd.Index(MEASURED, name="number"), columns=["low", "high", "undefined"])
