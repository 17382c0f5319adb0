"""How sure? The bootstrap over people, on counts: who else might have been in the table, and what would follow.

Drawing as many people of a group again, with replacement, and counting them is drawing its counts from a multinomial
distribution: the bootstrap over people, stratified by group, exactly, and on K numbers.

Weighted people are drawn by the Bayesian bootstrap: each is counted a random number of times, exponential with mean 1.
The sum of weights in each cell of a group (passed or not, qualified or not) is then taken as a gamma of the same mean
and variance, which needs the sums of weights and of their squares only, and is exact where weights within a cell are
equal; group totals are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._validation import FloatArray, check_fraction
from ..behaviour import Shares, as_decisions
from ..costs import Terms
from ..counting import GroupCounts, position_of, ratio, with_same_columns
from ..outcomes import BOUNDED, outcome_bounds
from .plain import plain_value
from .screening import ScreeningResult

#: Numbers drawn at a time: what keeps memory small with many groups.
MOST_DRAWN = 2_000_000
#: Fewer resamples say little about the ends of an interval.
FEWEST_RESAMPLES = 2
#: What has an interval.
MEASURED = ("assumed_accuracy", "induced_accuracy", "application_rate", "social_cost")


def _cells(counts: GroupCounts) -> FloatArray:
    """People of each group by what is known of them: hired, tested in vain, missed, rightly rejected, not tested."""
    rejected = counts.n - counts.selected - counts.unknown - (counts.positives - counts.true_positives)
    cells = [
        counts.true_positives,
        counts.selected - counts.true_positives,
        counts.positives - counts.true_positives,
        rejected,
    ]
    if counts.untested is not None:
        cells.append(counts.untested)
    found = np.stack(cells, axis=-1)
    return np.where(found > 1e-12 * counts.n[:, None], found, 0)  # differences of sums of weights leave rounding


def _from_cells(cells: NDArray[Any], has_untested: bool) -> GroupCounts:
    """The way back, for any number of resamples at once: groups are the last axis."""
    hits, vain, missed = cells[..., 0], cells[..., 1], cells[..., 2]
    untested = cells[..., 4] if has_untested else None
    return GroupCounts(cells.sum(axis=-1), hits + missed, hits + vain, hits, untested)


def resampled_counts(counts: GroupCounts, n_resamples: int, rng: np.random.Generator) -> Iterator[GroupCounts]:
    """Counts of people drawn again, in blocks of resamples.

    Parameters
    ----------
    counts : GroupCounts
        The people there are, of shape (n_groups,).
    n_resamples : int
        How often to draw.
    rng : Generator
        Where chance comes from.

    Yields
    ------
    GroupCounts
        Of shape (some resamples, n_groups); all blocks together hold ``n_resamples``.

    Examples
    --------
    >>> counts = GroupCounts(*(np.array([count]) for count in (10, 4, 5, 3)))
    >>> (drawn,) = resampled_counts(counts, 2, np.random.default_rng(0))
    >>> drawn.n.tolist(), drawn.selected.tolist()
    ([[10], [10]], [[4], [4]])
    """
    cells, has_untested = _cells(counts), counts.untested is not None
    block = max(1, MOST_DRAWN // max(cells.size, 1))
    for start in range(0, n_resamples, block):
        size = min(block, n_resamples - start)
        whole = counts.squares is None and np.issubdtype(counts.n.dtype, np.integer)
        drawn = _draw_people(cells, size, rng) if whole else _draw_weights(counts, cells, size, rng)
        yield _from_cells(drawn, has_untested)


def _draw_people(cells: FloatArray, size: int, rng: np.random.Generator) -> NDArray[Any]:
    people = cells.sum(axis=-1)
    shares = np.nan_to_num(ratio(cells, people[:, None]))
    shares[people == 0, -1] = 1.0
    return rng.multinomial(people.astype(np.int64), shares, size=(size, len(cells)))


def _draw_weights(counts: GroupCounts, cells: FloatArray, size: int, rng: np.random.Generator) -> NDArray[Any]:
    squares = _cells(counts.squares) if counts.squares is not None else cells
    some = (cells > 0) & (squares > 0)
    shape, scale = (np.where(some, ratio(*pair), 0.0) for pair in ((cells**2, squares), (squares, cells)))
    drawn = rng.gamma(shape, 1.0, size=(size, *cells.shape)) * scale
    shares: FloatArray = np.nan_to_num(ratio(drawn, drawn.sum(axis=-1, keepdims=True)))
    return np.asarray(shares * cells.sum(axis=-1)[:, None])


@dataclass(frozen=True, eq=False)
class Resamples:
    """What would follow for people drawn again: one entry per resample.

    Attributes
    ----------
    groups : Index of shape (n_groups,)
        The groups whose counts are published.
    shares : ndarray of shape (n_resamples, n_groups)
        Share of each that applies.
    low, high : dict from str to ndarray of shape (n_resamples,)
        Assumed accuracy, induced accuracy (NaN where nobody applies), application rate and social cost (NaN where
        nobody is qualified). The two differ only where people were not tested: they are the bounds over their labels.
    """

    groups: pd.Index
    shares: Shares
    low: dict[str, FloatArray]
    high: dict[str, FloatArray]

    @property
    def applies(self) -> pd.Series:
        """Share of resamples in which each group applies."""
        return pd.Series(as_decisions(self.shares).mean(axis=0), index=self.groups, name="applies")

    def interval(self, name: str, confidence: float = 0.95) -> tuple[float, float]:
        """Percentile interval of a number, over the resamples in which it is defined; NaN if it never is."""
        tail = (1 - check_fraction(confidence, "confidence", inclusive=False)) / 2
        ends = []
        for values, at in ((self.low[name], tail), (self.high[name], 1 - tail)):
            defined = values[~np.isnan(values)]
            ends.append(float(np.quantile(defined, at)) if defined.size else np.nan)
        return ends[0], ends[1]

    def undefined(self, name: str) -> float:
        """Share of resamples in which a number is undefined."""
        return float(np.isnan(self.low[name]).mean())


def resample(
    published_by: ScreeningResult,
    counted_on: ScreeningResult,
    terms: Terms,
    *,
    n_resamples: int = 1000,
    random_state: Any = 0,
) -> Resamples:
    """Draw people again, let them decide by what would be published of them, and see what follows.

    Parameters
    ----------
    published_by, counted_on : ScreeningResult
        The people whose counts are published, and those who are counted. If they are one object, they are drawn once;
        otherwise each set is drawn on its own.
    terms : Terms
        What groups face.
    n_resamples : int, default=1000
        How often to draw.
    random_state : int, sequence of int, SeedSequence or Generator, default=0
        Seed, as :func:`numpy.random.default_rng` takes it. Draws of different tables are independent if their seeds
        differ: ``[seed, 0]`` and ``[seed, 1]``, say.

    Returns
    -------
    Resamples

    Examples
    --------
    >>> y, passed = [1, 1, 0, 1, 0, 0] * 20, [1, 1, 1, 1, 1, 0] * 20
    >>> people = ScreeningResult.from_predictions(y, passed, sensitive_features=list("AAABBB") * 20)
    >>> drawn = resample(people, people, Terms(0.6), n_resamples=200)
    >>> drawn.applies.to_dict()
    {'A': 0.905, 'B': 0.16}
    """
    if not isinstance(n_resamples, int) or n_resamples < FEWEST_RESAMPLES:
        raise ValueError(f"n_resamples must be a whole number of at least {FEWEST_RESAMPLES}, got {n_resamples!r}.")
    rng = np.random.default_rng(random_state)
    groups, costs = published_by.groups, terms.effective_cost(published_by.groups)
    pairs: Iterator[tuple[GroupCounts, GroupCounts]]
    if counted_on is published_by:
        position = np.arange(len(groups))
        pairs = ((block, block) for block in resampled_counts(published_by.counts, n_resamples, rng))
    else:
        wanted = with_same_columns(counted_on.groups, groups, "The population", "what is published")
        position = position_of(wanted, groups, "The population", "what is published")
        first, second = rng.spawn(2)
        pairs = _pairs(published_by.counts, counted_on.counts, n_resamples, first, second)
    shares: list[Shares] = []
    found: list[tuple[dict[str, FloatArray], dict[str, FloatArray]]] = []
    for told, counted in pairs:
        decided = terms.behaviour.shares(told.true_positives, told.selected, costs)
        shares.append(decided)
        found.append(_outcomes(counted, np.asarray(decided[..., position], dtype=np.float64)))
    low, high = ({name: np.concatenate([part[end][name] for part in found]) for name in MEASURED} for end in (0, 1))
    decisions: Any = np.concatenate(shares)
    return Resamples(groups, decisions, low, high)


def _pairs(
    told: GroupCounts, counted: GroupCounts, n_resamples: int, first: np.random.Generator, second: np.random.Generator
) -> Iterator[tuple[GroupCounts, GroupCounts]]:
    """Blocks of two sets of people, of equal size."""
    block = max(1, MOST_DRAWN // (5 * max(len(told.n), len(counted.n))))
    for start in range(0, n_resamples, block):
        size = min(block, n_resamples - start)
        yield from zip(resampled_counts(told, size, first), resampled_counts(counted, size, second), strict=True)


def _outcomes(counts: GroupCounts, shares: FloatArray) -> tuple[dict[str, FloatArray], dict[str, FloatArray]]:
    bounds = outcome_bounds(counts, shares)
    rate = ratio((shares * counts.n).sum(axis=-1), counts.n.sum(axis=-1))
    low, high = ({name: bounds[name][end] for name in BOUNDED} | {"application_rate": rate} for end in (0, 1))
    return low, high


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """How sure one can be of an audit. Made by :meth:`Audit.uncertainty`.

    Attributes
    ----------
    resamples : Resamples
        What followed in each resample.
    confidence : float
        Of the intervals.
    seed : int or other
        What was drawn with.
    weighted : bool
        Whether people were drawn by the Bayesian bootstrap, because they have weights.
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
        """How often people were drawn."""
        return len(self.resamples.shares)

    def interval(self, name: str) -> tuple[float, float]:
        """Interval of assumed_accuracy, induced_accuracy, application_rate or social_cost."""
        return self.resamples.interval(name, self.confidence)

    def to_frame(self) -> pd.DataFrame:
        """Interval of each number, and the share of resamples in which it is undefined."""
        rows = [(*self.interval(name), self.resamples.undefined(name)) for name in MEASURED]
        return pd.DataFrame(rows, index=pd.Index(MEASURED, name="number"), columns=["low", "high", "undefined"])

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; who applies how often is left to the caller, who knows the names of groups."""
        return {
            "method": "bayesian bootstrap of weighted people" if self.weighted else "bootstrap over people",
            "stratified_by": "group",
            "n_resamples": self.n_resamples,
            "seed": self.seed if isinstance(self.seed, int) else None,
            "confidence": self.confidence,
            **{
                name: {column: plain_value(value) for column, value in row.items()}
                for name, row in self.to_frame().to_dict("index").items()
            },
        }
