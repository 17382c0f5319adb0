"""How far a sweep has come: what a store holds and lacks, and how long the rest will take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from ..methods import ALL_METHODS, DESCENT_METHODS, HONEST_METHODS, METHODS, PROMISING
from ..people import BUNDLED
from .plan import COSTS, PROMISE_SPLITS, SPLITS, Plan, check_splits
from .results import Cell, Result
from .store import Store

#: Rows of the bundled Adult data, which the typical times of methods refer to.
TYPICAL_ROWS = 16_045


@dataclass(frozen=True)
class Estimate:
    """How much is left to do.

    Attributes
    ----------
    fits : int
        Fits that are missing.
    seconds : float
        About how long they take with the workers there are.
    measured : bool
        Whether the time comes from results in the store; otherwise from typical times.
    """

    fits: int
    seconds: float
    measured: bool


def estimate(plan: Plan, store: Store | None, workers: int) -> Estimate:
    """Tell how many fits are missing and how long they will take.

    Parameters
    ----------
    plan : Plan
        What is asked for.
    store : Store or None
        Results that are there.
    workers : int
        Fits that run at a time.

    Examples
    --------
    >>> estimate(Plan(splits=1, methods=("naive",)), None, workers=1).fits
    27
    """
    results = store.results() if store is not None else []
    times = seconds_by_method(results)
    rows = {dataset.name: len(dataset.load().y) for dataset in plan.datasets}
    done = {result.cell for result in results}
    missing = [cell for cell in plan.cells() if cell not in done]
    total, measured = 0.0, True
    for cell in missing:
        known = times.get((cell.dataset, cell.method))
        if known:
            total += fmean(known)
        else:
            measured = False
            total += ALL_METHODS[cell.method].typical_seconds * rows[cell.dataset] / TYPICAL_ROWS
    return Estimate(len(missing), total / workers, measured)


def seconds_by_method(results: Sequence[Result]) -> dict[tuple[str, str], list[float]]:
    """Seconds of all fits, by names of data set and method."""
    times: dict[tuple[str, str], list[float]] = {}
    for result in results:
        times.setdefault((result.cell.dataset, result.cell.method), []).append(result.seconds)
    return times


@dataclass(frozen=True)
class Progress:
    """How far one method has come on one data set.

    Attributes
    ----------
    dataset, method : str
        Their names.
    done, under_way, missing : int
        Fits that are stored, that a living sweep works on, and that are expected beyond both.
    seconds : float or None
        Average time of a fit; None if there is none.
    """

    dataset: str
    method: str
    done: int
    under_way: int
    missing: int
    seconds: float | None


def progress(store: Store, splits: int = SPLITS) -> list[Progress]:
    """What a store holds and lacks, per data set and method.

    Of the paper's data sets, its costs and ``splits`` splits are expected; of others, every combination of the costs
    and splits of which there is any fit: what was asked for is known only by what is there. Methods that publish
    honestly are expected on data sets of which there is any such fit, on the splits on which promises are compared; of
    the paper's own descent, every combination of costs and splits that was begun.

    Parameters
    ----------
    store : Store
        Results, and what is under way.
    splits : int, default=10
        Splits to expect of the paper's data sets.

    Returns
    -------
    list of Progress
        The paper's data sets first. Data sets without any fit are left out, unless the store is empty.
    """
    check_splits(splits)
    results, under_way = store.results(), store.leases.under_way()
    times = seconds_by_method(results)
    done = {result.cell for result in results}
    there = {cell.dataset for cell in done | under_way}
    datasets = [name for name in BUNDLED if name in there or not there] + sorted(there - set(BUNDLED))
    rows = []
    for dataset in datasets:
        there_of_it = [cell for cell in done | under_way if cell.dataset == dataset]
        honest = any(cell.method in HONEST_METHODS for cell in there_of_it)
        descents = [name for name in DESCENT_METHODS if any(cell.method == name for cell in there_of_it)]
        for method in (*METHODS, *(HONEST_METHODS if honest else ()), *descents):
            expected = _expected(dataset, method, there_of_it, splits, honest=honest)
            known = times.get((dataset, method))
            rows.append(
                Progress(
                    dataset,
                    method,
                    done=len(known or ()),
                    under_way=sum((cell.dataset, cell.method) == (dataset, method) for cell in under_way),
                    missing=len(expected - done - under_way),
                    seconds=fmean(known) if known else None,
                )
            )
    return rows


def _expected(dataset: str, method: str, there: Sequence[Cell], splits: int, *, honest: bool) -> set[Cell]:
    if method in DESCENT_METHODS:
        begun = [cell for cell in there if cell.method == method]
        numbers = set(range(1 + max(cell.split for cell in begun)))
        return {Cell(dataset, method, cost, number) for cost in {cell.cost for cell in begun} for number in numbers}
    costs, numbers = list(COSTS), set(range(splits)) if method in METHODS else set()
    if dataset not in BUNDLED:
        here = {cell.split for cell in there}
        costs, numbers = sorted({cell.cost for cell in there}), here if honest else set(range(1 + max(here)))
    elif honest and method in PROMISING:
        numbers |= set(PROMISE_SPLITS)
    return {Cell(dataset, method, cost, number) for cost in costs for number in numbers}
