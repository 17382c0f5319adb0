"""What a sweep is asked to do: every data set, method, cost and split, and the units of work they make."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from ..._errors import InputError
from ..._validation import check_fraction
from ..methods import ALL_METHODS, METHODS, PROMISING
from ..people import BUNDLED, BundledDataset, Dataset
from .results import Cell
from .units import Unit

#: Costs of the paper.
COSTS = (0.65, 0.675, 0.7, 0.725, 0.75, 0.775, 0.8, 0.825, 0.85)
#: Number of splits of the paper.
SPLITS = 10
#: The splits on which promises are compared with what is delivered: others than the paper's, and more.
PROMISE_SPLITS = range(10, 30)
#: More splits at a time are a slip of the finger: so many take a day.
MOST_SPLITS = 1_000
#: Splits are numbered from 0, and those before one that was made are expected too: no number is far off.
LAST_SPLIT = 99_999
#: Costs that agree in so many decimals are one cost.
COST_DECIMALS = 6


@dataclass(frozen=True)
class Plan:
    """What a sweep is asked to do; by default, all that the paper did.

    Attributes
    ----------
    datasets : tuple of Dataset
        Where people come from.
    methods : tuple of str
        Names of methods.
    costs : tuple of float
        Costs.
    splits : int
        How many splits.
    first_split : int
        Number of the first of them.
    only : frozenset of Cell, optional
        Leave out all fits but these, whose splits are then those of the plan.
    """

    datasets: tuple[Dataset, ...] = tuple(map(BundledDataset, BUNDLED))
    methods: tuple[str, ...] = tuple(METHODS)
    costs: tuple[float, ...] = COSTS
    splits: int = SPLITS
    first_split: int = 0
    only: frozenset[Cell] | None = None

    def __post_init__(self) -> None:
        unknown = [name for name in self.methods if name not in ALL_METHODS]
        if unknown:
            raise InputError(f"No method {unknown[0]!r}; there are {', '.join(ALL_METHODS)}.", key="method")
        check_splits(self.splits)
        if not 0 <= self.first_split <= LAST_SPLIT + 1 - self.splits:
            raise InputError(
                f"first_split must be at least 0, and the last split at most {LAST_SPLIT:,}, got first_split "
                f"{self.first_split}.",
                key="first_split",
            )
        costs = (round(check_fraction(cost, "cost", inclusive=False), COST_DECIMALS) for cost in self.costs)
        object.__setattr__(self, "costs", tuple(dict.fromkeys(costs)))
        object.__setattr__(self, "methods", tuple(dict.fromkeys(self.methods)))
        object.__setattr__(self, "datasets", tuple({dataset.name: dataset for dataset in self.datasets}.values()))

    @classmethod
    def promises(cls) -> Self:
        """What it takes to compare what methods promise with what they deliver."""
        return cls(methods=PROMISING, splits=len(PROMISE_SPLITS), first_split=PROMISE_SPLITS.start)

    @classmethod
    def of_cells(cls, cells: Iterable[Cell], datasets: Sequence[Dataset]) -> Self | None:
        """Just some fits: those of methods and data sets that there are; None if there is none."""
        there = {dataset.name: dataset for dataset in datasets}
        only = frozenset(cell for cell in cells if cell.dataset in there and cell.method in ALL_METHODS)
        if not only:
            return None
        return cls(
            tuple(dataset for name, dataset in there.items() if any(cell.dataset == name for cell in only)),
            tuple(sorted({cell.method for cell in only})),
            tuple(sorted({cell.cost for cell in only})),
            only=only,
        )

    def _numbers(self) -> Iterable[int]:
        """Numbers of the splits."""
        if self.only is not None:
            return sorted({cell.split for cell in self.only})
        return range(self.first_split, self.first_split + self.splits)

    def _wants(self, cell: Cell, done: set[Cell]) -> bool:
        return cell not in done and (self.only is None or cell in self.only)

    def cells(self) -> list[Cell]:
        """All fits asked for."""
        return [cell for unit in self.units(set()) for cell in unit.cells]

    def units(self, done: set[Cell]) -> list[Unit]:
        """Units of work that are left; every split comes with all its methods, so that time left can be told early."""
        units: list[Unit] = []
        for split in self._numbers():
            for dataset in self.datasets:
                for name in self.methods:
                    missing = [cost for cost in self.costs if self._wants(Cell(dataset.name, name, cost, split), done)]
                    pieces = [tuple(missing)] if ALL_METHODS[name].shares else [(cost,) for cost in missing]
                    units.extend(Unit(dataset, name, split, costs) for costs in pieces if costs)
        return units


def check_splits(splits: int) -> None:
    """Refuse numbers of splits that cannot be meant.

    Examples
    --------
    >>> check_splits(99999999999)
    Traceback (most recent call last):
    selfselect._errors.InputError: splits must be from 1 to 1,000 at a time, got 99999999999.
    """
    if not 1 <= splits <= MOST_SPLITS:
        raise InputError(f"splits must be from 1 to {MOST_SPLITS:,} at a time, got {splits}.", key="splits")
