"""One fit of a sweep, what comes out of it, and what follows from the counts that it leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pandas as pd

from ..._validation import BoolArray
from ...auditing.promises import promise_words
from ...counting import COUNTED, GroupCounts
from ...metrics import outcome, rank_agreement
from ...publishing import PublishedStatistics

#: Counts per group in plain lists, as :meth:`~selfselect.counting.GroupCounts.to_dict` gives them.
PlainCounts = dict[str, list[Any]]
#: Numbers by name; None where one is undefined.
Metrics = dict[str, float | int | None]


@dataclass(frozen=True, order=True)
class Cell:
    """One fit.

    Attributes
    ----------
    dataset, method : str
        Names of the data set and the method.
    cost : float
        Cost of applying.
    split : int
        Number of the split.
    """

    dataset: str
    method: str
    cost: float
    split: int

    @property
    def key(self) -> tuple[str, str, float, int]:
        """The four values, in order."""
        return self.dataset, self.method, self.cost, self.split

    def __str__(self) -> str:
        return f"{self.dataset}, {self.method}, cost {self.cost:g}, split {self.split}"


@dataclass(frozen=True)
class Result:
    """What a fit gave, as stored.

    Attributes
    ----------
    cell : Cell
        What was fitted.
    seed : int
        Seed of the method.
    configuration : dict
        Its settings.
    package_version, data_hash : str
        Code and people it was made with.
    groups : tuple of str
        The groups.
    train_counts, test_counts : dict of lists
        n, positives, selected and true_positives of each group.
    train_metrics, test_metrics : dict of numbers
        What follows from the counts at this cost (None: undefined).
    published_counts : dict of lists
        The same counts of the people that the published numbers come from: those of the training people, or of people
        whom the score had not seen.
    applies : tuple of bool
        Which groups apply because of what is published.
    seconds : float
        Time that the fit took.
    """

    cell: Cell
    seed: int
    configuration: dict[str, Any]
    package_version: str
    data_hash: str
    groups: tuple[str, ...]
    train_counts: PlainCounts
    test_counts: PlainCounts
    train_metrics: Metrics
    test_metrics: Metrics
    published_counts: PlainCounts
    applies: tuple[bool, ...]
    seconds: float = field(compare=False)

    @cached_property
    def published(self) -> PublishedStatistics:
        """What people decide by."""
        return statistics_of(self.groups, self.published_counts)

    @cached_property
    def population(self) -> PublishedStatistics:
        """Statistics of the test people."""
        return statistics_of(self.groups, self.test_counts)

    @cached_property
    def broken(self) -> tuple[bool | None, ...]:
        """Whether the promise to each group is broken to test people; None of groups that stay away.

        See :func:`selfselect.auditing.promises.promise_words`.
        """
        applies, costs = np.array(self.applies, dtype=bool), np.full(len(self.groups), self.cell.cost)
        kept = promise_words(applies, costs, self.population.counts)
        return tuple(None if word == "" else word == "no" for word in kept.tolist())


def statistics_of(groups: Sequence[str], counts: PlainCounts) -> PublishedStatistics:
    """Statistics of groups from plain counts.

    Examples
    --------
    >>> counts = {"n": [4], "positives": [2], "selected": [2], "true_positives": [1]}
    >>> float(statistics_of(["A"], counts).precision["A"])
    0.5
    """
    return PublishedStatistics(_index_of(tuple(groups)), GroupCounts.from_dict(counts))


@lru_cache(maxsize=64)
def _index_of(groups: tuple[str, ...]) -> pd.Index:
    """Names of groups as an index: the same few, for thousands of results."""
    return pd.Index(list(groups), name="group")


def check_counts(counts: PlainCounts, n_groups: int) -> None:
    """Refuse counts that cannot be: of how many groups there are, each at least 0, and no part larger than its whole.

    Raises
    ------
    ValueError
        If one is so.

    Examples
    --------
    >>> check_counts({"n": [4], "positives": [2], "selected": [5], "true_positives": [1]}, 1)
    Traceback (most recent call last):
    ValueError: of 4 people 5 are selected
    """
    columns = [counts[name] for name in COUNTED]
    if not all(isinstance(column, list) and len(column) == n_groups for column in columns):
        raise ValueError("there is not one count per group")
    for count in (count for column in columns for count in column):
        if isinstance(count, bool) or not isinstance(count, int | float) or not 0 <= count < math.inf:
            raise ValueError(f"{count!r} is no count")
    for n, positives, selected, hits in zip(*columns, strict=True):
        if positives > n or selected > n:
            most, what = max((positives, "qualified"), (selected, "selected"))
            raise ValueError(f"of {n} people {most} are {what}")
        if not max(0, selected + positives - n) <= hits <= min(positives, selected):
            raise ValueError(f"of {n} people {positives} are qualified, {selected} selected, and {hits} both")


def who_applies(groups: Sequence[str], published: PlainCounts, cost: float) -> BoolArray:
    """Which groups apply as in the paper: those whose published precision reaches the cost.

    Examples
    --------
    >>> counts = {"n": [4, 4], "positives": [2, 1], "selected": [2, 2], "true_positives": [2, 1]}
    >>> who_applies(["A", "B"], counts, 0.7).tolist()
    [True, False]
    """
    return np.asarray(statistics_of(groups, published).applies(cost), dtype=bool)


def metrics_from_counts(
    groups: Sequence[str], published: PlainCounts, train: PlainCounts, test: PlainCounts, decided: Sequence[bool]
) -> tuple[Metrics, Metrics]:
    """What follows from counts on training and test people: metrics of both, None where undefined.

    Who applies was decided by what is published, for both; the order of precisions is that of the published ones.

    Examples
    --------
    >>> counts = {"n": [4, 4], "positives": [2, 1], "selected": [2, 2], "true_positives": [2, 1]}
    >>> train, test = metrics_from_counts(("A", "B"), counts, counts, counts, [True, False])
    >>> test["induced_accuracy"], test["social_cost"]
    (1.0, 0.3333333333333333)
    """
    told, people, population = (statistics_of(groups, counts) for counts in (published, train, test))
    applies = pd.Series(list(decided), index=told.groups, dtype=bool)
    seen = told.counts.n > 0  # a group of which nobody is in the training set has no base rate
    order = rank_agreement(told.counts.base_rate[seen], told.counts.precision[seen])
    on_train = outcome(people, applies).to_dict() | {
        "rank_r2": order.r2,
        "spearman": order.spearman,
        "kendall": order.kendall,
        "respected": order.respected if order.n_groups > 1 else math.nan,  # one precision is in no order
    }
    return _undefined_as_none(on_train), _undefined_as_none(outcome(population, applies).to_dict())


def _undefined_as_none(metrics: dict[str, Any]) -> Metrics:
    return {
        name: None if isinstance(value, float) and math.isnan(value) else (int(value) if name == "respected" else value)
        for name, value in metrics.items()
    }
