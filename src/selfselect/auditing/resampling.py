"""Chance in an audit's numbers: the Bayesian bootstrap over people, on counts.

Each person is counted a random number of times, exponential with mean 1. The sum of each cell of the table (group,
passed or not, qualified or not) is then a gamma variable. It needs the sums of weights and of their squares only, and
is exact where weights within a cell are equal. A prior of one person, spread over the table, keeps intervals of rare
events from being too short.

The ``"random"`` design draws people from the whole table, as the next sample of the population would be: group sizes
vary. The ``"fixed"`` design keeps the size of each group, as in a sample that was drawn by group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray, check_choice
from ..behaviour import Shares, as_decisions
from ..costs import Terms
from ..counting import GroupCounts, position_of, ratio
from ..outcomes import outcome_bounds
from .screening import ScreeningResult
from .undecided import Decisions, decision_ranges

#: Whether group sizes vary by chance, or are fixed.
Design: TypeAlias = Literal["random", "fixed"]
#: People that the prior adds to the table.
PRIOR_PEOPLE = 1.0
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


def draw_cells(
    cells: NDArray[Any], squares: NDArray[Any], possible: BoolArray, size: int, rng: np.random.Generator, design: Design
) -> FloatArray:
    """Sums of weights of each group and cell, drawn ``size`` times; ``squares`` has the sums of squared weights.

    The prior is spread over the ``possible`` cells.
    """
    scale = np.where(cells > 0, ratio(squares, cells), ratio(squares.sum(), cells.sum()))
    shape = ratio(cells, scale) + PRIOR_PEOPLE * possible / possible.sum()
    drawn = rng.standard_gamma(shape, size=(size, *cells.shape)) * scale
    kept = (-1,) if design == "fixed" else (-2, -1)
    totals = drawn.sum(axis=kept, keepdims=True)
    return np.asarray(np.nan_to_num(ratio(drawn, totals)) * cells.sum(axis=kept, keepdims=True))


def _cells(counts: GroupCounts) -> FloatArray:
    """True positives, false positives, false negatives, true negatives and untested people of each group."""
    missed = counts.positives - counts.true_positives
    rejected = counts.n - counts.selected - counts.unknown - missed
    cells = [counts.true_positives, counts.selected - counts.true_positives, missed, rejected]
    if counts.untested is not None:
        cells.append(counts.untested)
    stacked = np.stack(cells, axis=-1)
    return np.where(stacked > 1e-12 * counts.n[:, None], stacked, 0)  # differences of sums of weights leave rounding


def resampled_counts(counts: GroupCounts, size: int, rng: np.random.Generator, design: Design) -> GroupCounts:
    """Counts of people drawn again, of shape (size, n_groups)."""
    cells = _cells(counts)
    squares = cells if counts.squares is None else _cells(counts.squares)
    # a decision that nobody of a group got stays impossible
    some = [counts.selected > 0] * 2 + [counts.selected + counts.unknown < counts.n] * 2 + [counts.unknown > 0]
    possible = np.stack(some[: cells.shape[1]], axis=-1)
    drawn = draw_cells(cells, squares, possible, size, rng, design)
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
    numbers of each resample, NaN where they are undefined. The two differ where it is not certain which groups apply
    (see :func:`~selfselect.auditing.undecided.decision_ranges`), and where people were not tested: they are the bounds
    over their labels. ``undefined`` says in which resamples a number is undefined if people decide by ``shares``.
    """

    groups: pd.Index
    shares: Shares
    low: dict[str, FloatArray]
    high: dict[str, FloatArray]
    undefined: dict[str, BoolArray]

    @property
    def applies(self) -> pd.Series:
        """Share of resamples in which each group applies."""
        return pd.Series(as_decisions(self.shares).mean(axis=0), index=self.groups, name="applies")

    @classmethod
    def from_counts(
        cls, groups: pd.Index, shares: Shares, counted: GroupCounts, decisions: Decisions | None
    ) -> Resamples:
        """One block: the outcome of the people counted, for the decisions at either end of each number."""
        own = _outcome(counted, shares)
        low, high = (
            {name: _outcome(counted, decisions[name][end])[name][end] for name in MEASURED}
            if decisions
            else {name: own[name][end] for name in MEASURED}
            for end in (0, 1)
        )
        return cls(groups, shares, low, high, {name: np.isnan(own[name][0]) for name in MEASURED})

    @classmethod
    def concatenate(cls, blocks: Sequence[Resamples]) -> Resamples:
        """All resamples of several blocks."""
        low, high, undefined = (
            {name: np.concatenate([getattr(block, end)[name] for block in blocks]) for name in MEASURED}
            for end in ("low", "high", "undefined")
        )
        shares: Any = np.concatenate([block.shares for block in blocks])
        return cls(blocks[0].groups, shares, low, high, undefined)


def _outcome(counts: GroupCounts, shares: Shares) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Bounds of each number, given the share of each group that applies."""
    shares = np.broadcast_to(shares, counts.n.shape)
    rate = ratio((shares * counts.n).sum(axis=-1), counts.n.sum(axis=-1))
    return outcome_bounds(counts, shares) | {"application_rate": (rate, rate)}


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
    confidence: float = 0.95,
    design: Design = "random",
) -> Resamples:
    """Draw people with replacement.

    If those whose counts are published and those who are counted are one object, groups decide by the counts of those
    drawn, and ``low`` and ``high`` hold what follows from the decisions that chance could turn, at ``confidence``.
    Otherwise only the people counted are drawn: what is published is fixed, and so are decisions. Draws of different
    tables are independent if their seeds differ, as ``[seed, 0]`` and ``[seed, 1]`` do.
    """
    check_choice(design, "design", ("random", "fixed"))
    rng = np.random.default_rng(random_state)
    same, groups = counted_on is published_by, published_by.groups
    if same:
        decisions = decision_ranges(groups, counted_on.counts, terms, confidence)
    else:
        position = position_of(counted_on.groups, groups, "The population", "what is published")
        shares = terms.shares(groups, published_by.counts)
        decisions = dict.fromkeys(MEASURED, (shares[position],) * 2)
    blocks = []
    for size in block_sizes(n_resamples, len(counted_on.groups)):
        drawn = resampled_counts(counted_on.counts, size, rng, design)
        decided = terms.shares(groups, drawn) if same else np.broadcast_to(shares[position], drawn.n.shape)
        blocks.append(Resamples.from_counts(counted_on.groups, decided, drawn, decisions))
    made = Resamples.concatenate(blocks)
    return made if same else replace(made, groups=groups, shares=np.broadcast_to(shares, (n_resamples, len(groups))))


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Intervals of an audit's numbers by the bootstrap. Made by :meth:`Audit.uncertainty`.

    ``confidence`` is their level, ``seed`` that of the draws, and ``design`` how people were drawn.
    """

    resamples: Resamples
    confidence: float
    seed: Any
    design: Design

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
        undefined = self.resamples.undefined
        rows = [(*self.interval(name), float(undefined[name].mean())) for name in MEASURED]
        return pd.DataFrame(rows, index=pd.Index(MEASURED, name="number"), columns=["low", "high", "undefined"])
