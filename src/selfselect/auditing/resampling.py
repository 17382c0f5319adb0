"""Chance in an audit's numbers: the Bayesian bootstrap over people, on counts.

Each person is counted a random number of times, exponential with mean 1. The sum of each cell of the table (group,
passed or not, qualified or not) is then a gamma variable. It needs the sums of weights and of their squares only, and
is exact where weights within a cell are equal. A prior of one person, spread over the table, keeps intervals of rare
events from being too short.

The ``"random"`` design draws people from the whole table, as the next sample of the population would be: group sizes
vary. The ``"fixed"`` design keeps the size of each group, as in a sample that was drawn by group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray, check_choice
from ..behaviour import Shares, as_decisions
from ..costs import Terms
from ..counting import GroupCounts, ratio
from ..outcomes import outcome_bounds
from .undecided import MEASURED, Decisions

#: Whether group sizes vary by chance, or are fixed.
Design: TypeAlias = Literal["random", "fixed"]
#: People that the prior adds to the table.
PRIOR_PEOPLE = 1.0
#: Numbers drawn at a time. This bounds memory if there are many groups.
MAX_DRAWN = 2_000_000


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

    The prior is spread over the ``possible`` cells. Groups are drawn in the order of their sums, whatever their names.
    """
    order = np.lexsort(np.concatenate([squares, cells], axis=1).T)
    cells, squares, possible = cells[order], squares[order], possible[order]
    scale = np.where(cells > 0, ratio(squares, cells), ratio(squares.sum(), cells.sum()))
    shape = ratio(cells, scale) + PRIOR_PEOPLE * possible / possible.sum()
    drawn = rng.standard_gamma(shape, size=(size, *cells.shape)) * scale
    kept = (-1,) if design == "fixed" else (-2, -1)
    totals = drawn.sum(axis=kept, keepdims=True)
    drawn = np.nan_to_num(ratio(drawn, totals)) * cells.sum(axis=kept, keepdims=True)
    return np.asarray(drawn[:, np.argsort(order)])


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
class Uncertainty:
    """Intervals of an audit's numbers by the bootstrap. Made by :meth:`Audit.uncertainty`.

    ``shares`` has the share of each of the ``groups`` that applies, by resample. ``low`` and ``high`` have the
    :data:`MEASURED` numbers of each resample, NaN where they are undefined. The two differ where it is not certain
    which groups apply (see :func:`~selfselect.auditing.undecided.decision_ranges`), and where people were not tested:
    they are the bounds over their labels. ``undefined`` says in which resamples a number is undefined if people decide
    by ``shares``. ``confidence`` is the level of intervals, ``seed`` that of the draws, ``design`` how people were
    drawn.
    """

    groups: pd.Index
    shares: Shares
    low: pd.DataFrame
    high: pd.DataFrame
    undefined: pd.DataFrame
    confidence: float
    seed: Any
    design: Design

    @property
    def applies(self) -> pd.Series:
        """Share of resamples in which each group applies."""
        return pd.Series(as_decisions(self.shares).mean(axis=0), index=self.groups, name="applies")

    @property
    def n_resamples(self) -> int:
        """Number of resamples."""
        return len(self.shares)

    def interval(self, name: str) -> tuple[float, float]:
        """Interval of assumed_accuracy, induced_accuracy, application_rate or social_cost."""
        low, high, _ = self.to_frame().loc[name]
        return float(low), float(high)

    def to_frame(self) -> pd.DataFrame:
        """Interval of each number, and the share of resamples in which it is undefined."""
        return intervals(self.low, self.high, self.undefined, self.confidence)


def intervals(low: pd.DataFrame, high: pd.DataFrame, undefined: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Percentile interval of each number over the resamples in which it is defined; NaN if it never is."""
    tail = (1 - confidence) / 2
    ends = {"low": low.quantile(tail), "high": high.quantile(1 - tail), "undefined": undefined.mean()}
    return pd.DataFrame(ends).rename_axis("number")


@dataclass(frozen=True, eq=False)
class Side:
    """Groups that decide by the counts of those drawn under some terms, or have ``decided`` before.

    ``decisions`` are those at either end of each number, if chance could turn them.
    """

    groups: pd.Index
    terms: Terms
    decisions: Decisions | None = None
    decided: Shares | None = None

    def outcomes(self, counts: GroupCounts) -> tuple[Shares, list[pd.DataFrame]]:
        """Shares that apply; then the lower and the upper end of each number, and whether it is undefined."""
        shares = self.terms.shares(self.groups, counts) if self.decided is None else self.decided
        own = _outcome(counts, shares)
        ends = own
        if self.decisions is not None:
            at = {name: [_outcome(counts, who)[name] for who in self.decisions[name]] for name in MEASURED}
            ends = {name: (at[name][0][0], at[name][1][1]) for name in MEASURED}
        low, high = (pd.DataFrame({name: ends[name][i] for name in MEASURED}) for i in (0, 1))
        undefined = pd.DataFrame({name: np.isnan(own[name][0]) for name in MEASURED})
        return np.broadcast_to(shares, counts.n.shape), [low, high, undefined]


def _outcome(counts: GroupCounts, shares: Shares) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Bounds of each number, given the share of each group that applies."""
    shares = np.broadcast_to(shares, counts.n.shape)
    rate = ratio((shares * counts.n).sum(axis=-1), counts.n.sum(axis=-1))
    return outcome_bounds(counts, shares) | {"application_rate": (rate, rate)}


def resampled(
    sides: Sequence[Side],
    draw: Callable[[int, np.random.Generator], Sequence[GroupCounts]],
    n_resamples: int,
    seed: Any,
    confidence: float,
    design: Design,
) -> list[Uncertainty]:
    """What each side makes of the same people: ``draw`` has its counts of so many resamples."""
    check_choice(design, "design", ("random", "fixed"))
    rng = np.random.default_rng(seed)
    blocks = [
        [side.outcomes(counts) for side, counts in zip(sides, draw(size, rng), strict=True)]
        for size in block_sizes(n_resamples, len(sides[0].groups))
    ]
    made = []
    for side, parts in zip(sides, zip(*blocks, strict=True), strict=True):
        shares: Any = np.concatenate([part[0] for part in parts])
        low, high, undefined = (pd.concat([part[1][i] for part in parts], ignore_index=True) for i in range(3))
        made.append(Uncertainty(side.groups, shares, low, high, undefined, confidence, seed, design))
    return made
