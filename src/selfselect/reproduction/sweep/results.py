"""One fit of a sweep, what comes out of it, and what follows from the counts that it leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from ...counting import GroupCounts
from ...deciding import PublishedStatistics
from ...metrics import outcome, rank_agreement

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
    seconds: float = field(compare=False)

    @property
    def published(self) -> PublishedStatistics:
        """What people decide by: the statistics of the training people."""
        return statistics_of(self.groups, self.train_counts)

    @property
    def population(self) -> PublishedStatistics:
        """Statistics of the test people."""
        return statistics_of(self.groups, self.test_counts)


def statistics_of(groups: Sequence[str], counts: PlainCounts) -> PublishedStatistics:
    """Statistics of groups from plain counts.

    Examples
    --------
    >>> counts = {"n": [4], "positives": [2], "selected": [2], "true_positives": [1]}
    >>> float(statistics_of(["A"], counts).precision["A"])
    0.5
    """
    return PublishedStatistics(pd.Index(list(groups), name="group"), GroupCounts.from_dict(counts))


def metrics_from_counts(
    groups: tuple[str, ...], train: PlainCounts, test: PlainCounts, cost: float
) -> tuple[Metrics, Metrics]:
    """What follows from counts on training and test people: metrics of both, None where undefined.

    Who applies is decided by what is published, which are the training counts, for both.

    Examples
    --------
    >>> counts = {"n": [4, 4], "positives": [2, 1], "selected": [2, 2], "true_positives": [2, 1]}
    >>> train, test = metrics_from_counts(("A", "B"), counts, counts, 0.7)
    >>> test["induced_accuracy"], test["social_cost"]
    (1.0, 0.3333333333333333)
    """
    published, population = statistics_of(groups, train), statistics_of(groups, test)
    applies: pd.Series = published.applies(cost)
    seen = published.counts.n > 0  # a group of which nobody is in the training set has no base rate
    order = rank_agreement(published.counts.base_rate[seen], published.counts.precision[seen])
    on_train = outcome(published, applies).to_dict() | {
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
