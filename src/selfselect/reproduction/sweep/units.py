"""A unit of work: what one process does at a time, and what comes out of it."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from ... import __version__
from ..._validation import BoolArray
from ...counting import GroupCounts
from ...metrics import outcome, rank_agreement
from ..methods import METHODS
from ..people import Source, Table, split_table
from .store import Cell, Result, statistics_of


@dataclass(frozen=True)
class Unit:
    """Fits of one method on one split, at one or more costs.

    Attributes
    ----------
    source : Source
        Where the people come from.
    method : str
        A key of :data:`~selfselect.experiments.methods.METHODS`.
    split : int
        Number of the split; also the seed of the method.
    costs : tuple of float
        Costs to fit for.
    """

    source: Source
    method: str
    split: int
    costs: tuple[float, ...]

    @property
    def cells(self) -> list[Cell]:
        """One per cost."""
        return [Cell(self.source.name, self.method, cost, self.split) for cost in self.costs]

    def __str__(self) -> str:
        costs = ", ".join(f"{cost:g}" for cost in self.costs)
        return f"{self.source.name}, {self.method}, split {self.split}, cost {costs}"


class UnitError(ValueError):
    """A fit failed; the message says which."""


def _counts(table: Table, selected: BoolArray) -> dict[str, list[int]]:
    counts = GroupCounts.from_rows(table.y == 1, np.asarray(selected), table.codes, len(table.groups))
    names = ("n", "positives", "selected", "true_positives")
    return {name: [int(value) for value in column] for name, column in zip(names, counts.columns, strict=True)}


def _finite(metrics: dict[str, Any]) -> dict[str, float | int | None]:
    return {
        name: None if isinstance(value, float) and math.isnan(value) else (int(value) if name == "respected" else value)
        for name, value in metrics.items()
    }


def metrics_from_counts(
    groups: tuple[str, ...], train: dict[str, list[int]], test: dict[str, list[int]], cost: float
) -> tuple[dict[str, float | int | None], dict[str, float | int | None]]:
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
    return _finite(on_train), _finite(outcome(population, applies).to_dict())


def run_unit(unit: Unit) -> list[Result]:
    """Do a unit of work, with one BLAS thread: results must not depend on how many cores there happen to be.

    Examples
    --------
    >>> from selfselect.experiments.sources import BundledSource
    >>> result, = run_unit(Unit(BundledSource("adult"), "naive", 0, (0.725,)))
    >>> round(result.test_metrics["induced_accuracy"], 3)
    0.835
    """
    method = METHODS[unit.method]
    results = []
    try:
        with threadpool_limits(limits=1):
            table = unit.source.load()
            fingerprint = _fingerprint(table)
            split = split_table(table, unit.split)
            started = time.perf_counter()
            for chosen in method.fit(
                split, unit.costs, lambda cost: method.settings(unit.source.name, cost), unit.split
            ):
                finished = time.perf_counter()
                train, test = _counts(split.train, chosen.train), _counts(split.test, chosen.test)
                train_metrics, test_metrics = metrics_from_counts(table.groups, train, test, chosen.cost)
                results.append(
                    Result(
                        Cell(unit.source.name, unit.method, chosen.cost, unit.split),
                        seed=unit.split,
                        configuration=method.settings(unit.source.name, chosen.cost),
                        package_version=__version__,
                        data_hash=fingerprint,
                        groups=table.groups,
                        train_counts=train,
                        test_counts=test,
                        train_metrics=train_metrics,
                        test_metrics=test_metrics,
                        seconds=finished - started,
                    )
                )
                started = time.perf_counter()
    except Exception as error:
        raise UnitError(f"{unit}: {type(error).__name__}: {error}") from error
    return results


_fingerprints: dict[int, tuple[Table, str]] = {}


def _fingerprint(table: Table) -> str:
    """Fingerprint of a table, made once per process and table."""
    known = _fingerprints.get(id(table))
    if known is None or known[0] is not table:
        if len(_fingerprints) > 8:
            _fingerprints.clear()
        known = _fingerprints[id(table)] = (table, table.fingerprint())
    return known[1]
