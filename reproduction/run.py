"""Running fits: all that are asked for and not yet in the folder of results, in parallel, one file each."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from selfselect import __version__

from .data import DATASETS, Dataset, load_dataset, make_split
from .methods import ALL_METHODS, COSTS, PAPER_METHODS, SPLITS, fit_method
from .results import COUNTS, read_result, result_path, write_result

#: Reads a data set by name, in any process.
Loader = Callable[[str], Dataset]


@dataclass(frozen=True)
class Unit:
    """What one process does at a time: a method on one split of a data set, at one or more costs."""

    dataset: str
    method: str
    split: int
    costs: tuple[float, ...]

    def __str__(self) -> str:
        costs = ", ".join(f"{cost:g}" for cost in self.costs)
        return f"{self.dataset}, {self.method}, split {self.split}, cost {costs}"


def plan_units(
    datasets: Sequence[str] = tuple(DATASETS),
    methods: Sequence[str] = tuple(PAPER_METHODS),
    costs: Sequence[float] = COSTS,
    splits: int = SPLITS,
    first_split: int = 0,
) -> list[Unit]:
    """Units that are asked for; by default all that the paper did.

    Every split comes with all its methods, so that progress gives a good estimate of the time left.

    Examples
    --------
    >>> sum(len(unit.costs) for unit in plan_units())
    1620
    """
    datasets, methods, costs = (tuple(dict.fromkeys(names)) for names in (datasets, methods, costs))
    return [
        Unit(dataset, method, split, part)
        for split in range(first_split, first_split + splits)
        for dataset in datasets
        for method in methods
        for part in ([costs] if ALL_METHODS[method].shares_fits else [(cost,) for cost in costs])
    ]


def missing_units(units: Sequence[Unit], results: str | Path, load: Loader = load_dataset) -> list[Unit]:
    """Units without the costs whose result is there.

    A result that cannot be read, or was made with other settings or other data, counts as missing.
    """
    hashes = {name: load(name).fingerprint for name in {unit.dataset for unit in units}}
    left = []
    for unit in units:
        costs = tuple(cost for cost in unit.costs if not _is_done(unit, cost, results, hashes[unit.dataset]))
        if costs:
            left.append(Unit(unit.dataset, unit.method, unit.split, costs))
    return left


def _is_done(unit: Unit, cost: float, results: str | Path, data_hash: str) -> bool:
    row = read_result(result_path(results, unit.dataset, unit.method, cost, unit.split))
    settings = json.loads(json.dumps(ALL_METHODS[unit.method].settings(unit.dataset, cost)))
    return row is not None and (row["configuration"], row["data_hash"]) == (settings, data_hash)


def run_unit(unit: Unit, load: Loader = load_dataset) -> Iterator[dict[str, Any]]:
    """Results of a unit, one per cost.

    Examples
    --------
    >>> (result,) = run_unit(Unit("adult", "naive", 0, (0.725,)))
    >>> result["groups"], result["applies"]
    (['Asian-Pac-Islander', 'Black', 'Other', 'White'], [False, False, True, True])
    """
    # one thread, so that numbers do not depend on how many cores there are
    with threadpool_limits(1):
        dataset, method = load(unit.dataset), ALL_METHODS[unit.method]
        split = make_split(dataset, unit.split)
        started = time.perf_counter()
        for fit in fit_method(method, unit.dataset, split, unit.costs, seed=unit.split):
            people = {"train": fit.train, "test": fit.test, "published": fit.published}
            yield {
                "dataset": unit.dataset,
                "method": unit.method,
                "cost": fit.cost,
                "split": unit.split,
                "seed": unit.split,
                "configuration": method.settings(unit.dataset, fit.cost),
                "package_version": __version__,
                "data_hash": dataset.fingerprint,
                "groups": list(dataset.groups),
                **{
                    f"{who}_{count}": getattr(counts, count).tolist()
                    for who, counts in people.items()
                    for count in COUNTS
                },
                "applies": fit.applies.tolist(),
                "seconds": time.perf_counter() - started,
            }
            started = time.perf_counter()


def _run_safely(unit: Unit, load: Loader) -> tuple[Unit, list[dict[str, Any]], str | None]:
    """Results of a unit as far as they were made, and the error that ended it: one failure does not stop the others."""
    rows: list[dict[str, Any]] = []
    try:
        for row in run_unit(unit, load):
            rows.append(row)
    except Exception as error:
        return unit, rows, f"{type(error).__name__}: {error}"
    return unit, rows, None


def run(
    units: Sequence[Unit],
    results: str | Path,
    *,
    workers: int = 1,
    scheduler: str | None = None,
    load: Loader = load_dataset,
) -> list[str]:
    """Do what is missing, and write one file per fit as soon as it is made.

    Whatever stops a run, finished fits stay, and the next run goes on with the others. Two runs with one folder may do
    the same fit twice, with the same result. Work is done by processes on this machine, or by a Dask cluster, whose
    workers must be able to import ``reproduction`` and need no access to the folder.

    Returns
    -------
    list of str
        Units that failed, with their errors.
    """
    Path(results).mkdir(parents=True, exist_ok=True)
    left = missing_units(units, results, load)
    asked = sum(len(unit.costs) for unit in units)
    missing = sum(len(unit.costs) for unit in left)
    failures = []
    # without a terminal there is no bar
    with tqdm(total=asked, initial=asked - missing, unit="fit", smoothing=0, disable=None) as bar:
        for unit, rows, error in _in_parallel(left, workers, scheduler, load):
            for row in rows:
                write_result(results, row)
            bar.update(len(rows))
            if error is not None:
                failures.append(f"{unit}: {error}")
    return failures


def _in_parallel(units: Sequence[Unit], workers: int, scheduler: str | None, load: Loader) -> Iterator[Any]:
    tasks = [delayed(_run_safely)(unit, load) for unit in units]
    if scheduler is None:
        yield from Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1)(tasks)
        return
    from dask.distributed import Client

    with Client(scheduler, set_as_default=False) as client, parallel_config("dask", client=client):
        yield from Parallel(return_as="generator_unordered", batch_size=1)(tasks)
