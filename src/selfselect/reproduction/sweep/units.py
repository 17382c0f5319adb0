"""A unit of work: what one process does at a time, and what comes out of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache

from ... import __version__
from ..._threads import one_thread
from ..._validation import BoolArray
from ...counting import GroupCounts
from ..methods import ALL_METHODS, Selection
from ..people import Dataset, People, Split, split_people
from .results import Cell, PlainCounts, Result, metrics_from_counts, who_applies

#: Data sets whose fingerprints are remembered at a time.
MOST_FINGERPRINTS = 8


@dataclass(frozen=True)
class Unit:
    """Fits of one method on one split, at one or more costs.

    Attributes
    ----------
    dataset : Dataset
        Where the people come from.
    method : str
        A key of :data:`~selfselect.reproduction.methods.ALL_METHODS`.
    split : int
        Number of the split; also the seed of the method.
    costs : tuple of float
        Costs to fit for.
    """

    dataset: Dataset
    method: str
    split: int
    costs: tuple[float, ...]

    def cell(self, cost: float) -> Cell:
        """The fit at one of the costs."""
        return Cell(self.dataset.name, self.method, cost, self.split)

    @property
    def cells(self) -> list[Cell]:
        """One per cost."""
        return [self.cell(cost) for cost in self.costs]

    def __str__(self) -> str:
        costs = ", ".join(f"{cost:g}" for cost in self.costs)
        return f"{self.dataset.name}, {self.method}, split {self.split}, cost {costs}"


class UnitError(ValueError):
    """A fit failed; the message says which."""


def run_unit(unit: Unit) -> list[Result]:
    """Do a unit of work, with one BLAS thread: results must not depend on how many cores there happen to be.

    Examples
    --------
    >>> from selfselect.reproduction import BundledDataset
    >>> result, = run_unit(Unit(BundledDataset("adult"), "naive", 0, (0.725,)))
    >>> round(result.test_metrics["induced_accuracy"], 3)
    0.835
    """
    method = ALL_METHODS[unit.method]
    results = []
    try:
        with one_thread():
            people = unit.dataset.load()
            split = split_people(people, unit.split)
            started = time.perf_counter()
            for chosen in method.fit(
                split, unit.costs, lambda cost: method.settings(unit.dataset.name, cost), unit.split
            ):
                seconds = time.perf_counter() - started
                results.append(_result(unit, fingerprint_of(people), split, chosen, seconds))
                started = time.perf_counter()
    except Exception as error:
        raise UnitError(f"{unit}: {type(error).__name__}: {error}") from error
    return results


def _result(unit: Unit, data_hash: str, split: Split, chosen: Selection, seconds: float) -> Result:
    groups = split.train.groups
    train, test = _counts(split.train, chosen.train), _counts(split.test, chosen.test)
    published = train if chosen.published is None else chosen.published.to_dict()
    decided = who_applies(groups, published, chosen.cost) if chosen.applies is None else chosen.applies
    applies = tuple(map(bool, decided))
    train_metrics, test_metrics = metrics_from_counts(groups, published, train, test, applies)
    return Result(
        unit.cell(chosen.cost),
        seed=unit.split,
        configuration=ALL_METHODS[unit.method].settings(unit.dataset.name, chosen.cost),
        package_version=__version__,
        data_hash=data_hash,
        groups=groups,
        train_counts=train,
        test_counts=test,
        train_metrics=train_metrics,
        test_metrics=test_metrics,
        published_counts=published,
        applies=applies,
        seconds=seconds,
    )


def _counts(people: People, selected: BoolArray) -> PlainCounts:
    return GroupCounts.from_rows(people.y == 1, selected, people.codes, len(people.groups)).to_dict()


@lru_cache(maxsize=MOST_FINGERPRINTS)
def fingerprint_of(people: People) -> str:
    """Fingerprint of people, made once per process: they are compared by identity, and hashing them takes a while."""
    return people.fingerprint()
