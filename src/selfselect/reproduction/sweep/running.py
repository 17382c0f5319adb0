"""The sweep: every data set, method, cost and split that is asked for and not yet there."""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..._validation import check_fraction
from ..methods import METHODS
from ..people import BUNDLED, BundledSource, Source
from .engines import Engine
from .store import LEASE, Cell, Store, StoreError
from .units import Unit

#: Costs of the paper.
COSTS = (0.65, 0.675, 0.7, 0.725, 0.75, 0.775, 0.8, 0.825, 0.85)
#: Number of splits of the paper.
SPLITS = 10


@dataclass(frozen=True)
class Plan:
    """What a sweep is asked to do.

    Attributes
    ----------
    sources : tuple of Source
        Where people come from.
    methods : tuple of str
        Names of methods.
    costs : tuple of float
        Costs.
    splits : int
        How many splits.
    """

    sources: tuple[Source, ...] = tuple(map(BundledSource, BUNDLED))
    methods: tuple[str, ...] = tuple(METHODS)
    costs: tuple[float, ...] = COSTS
    splits: int = SPLITS

    def __post_init__(self) -> None:
        unknown = [name for name in self.methods if name not in METHODS]
        if unknown:
            raise ValueError(f"No method {unknown[0]!r}; there are {', '.join(METHODS)}.")
        if self.splits < 1:
            raise ValueError(f"splits must be at least 1, got {self.splits}.")
        # 0.7 and 0.7000000001 are one cost, and each is done once
        rounded = dict.fromkeys(round(check_fraction(cost, "cost", inclusive=False), 6) for cost in self.costs)
        object.__setattr__(self, "costs", tuple(rounded))
        object.__setattr__(self, "methods", tuple(dict.fromkeys(self.methods)))
        object.__setattr__(self, "sources", tuple({source.name: source for source in self.sources}.values()))

    def cells(self) -> list[Cell]:
        """All fits asked for."""
        return [cell for unit in self.units(set()) for cell in unit.cells]

    def units(self, done: set[Cell]) -> list[Unit]:
        """Units of work that are left; every split comes with all its methods, so that time left can be told early."""
        units: list[Unit] = []
        for split in range(self.splits):
            for source in self.sources:
                for name in self.methods:
                    missing = [c for c in self.costs if Cell(source.name, name, c, split) not in done]
                    pieces = [tuple(missing)] if METHODS[name].shares else [(cost,) for cost in missing]
                    units.extend(Unit(source, name, split, costs) for costs in pieces if costs)
        return units


@contextmanager
def _heartbeat(store: Store) -> Iterator[None]:
    """Keep our claims alive from a thread of its own, as fits may take longer than a lease."""
    stop = threading.Event()

    def beat() -> None:
        while not stop.wait(LEASE / 6):
            try:
                store.keep_alive()
            except StoreError:
                return  # the main thread meets the same error and reports it

    thread = threading.Thread(target=beat, daemon=True, name="selfselect-heartbeat")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def run_sweep(
    plan: Plan, store: Store, engine: Engine, report: Callable[[int], Any] = lambda fits: None, poll: float = 0.5
) -> int:
    """Do what is missing.

    Parameters
    ----------
    plan : Plan
        What is asked for.
    store : Store
        Where results go. Other sweeps may write to the same file; what they are doing is waited for, not done twice.
    engine : Engine
        Where units run.
    report : callable, optional
        Called with the number of fits whenever some are stored, by this sweep or by another.
    poll : float, default=0.5
        Seconds between looks at what other sweeps are doing.

    Returns
    -------
    int
        Number of fits that this sweep did.

    Examples
    --------
    >>> import tempfile
    >>> from selfselect.experiments.engines import InProcess
    >>> plan = Plan((BundledSource("adult"),), ("naive",), (0.7, 0.8), splits=1)
    >>> with tempfile.TemporaryDirectory() as folder, Store(f"{folder}/results.sqlite") as store:
    ...     run_sweep(plan, store, InProcess()), run_sweep(plan, store, InProcess())
    (2, 0)
    """
    for source in plan.sources:
        settings = {
            cell: METHODS[cell.method].settings(cell.dataset, cell.cost)
            for cell in plan.cells()
            if cell.dataset == source.name
        }
        store.check_same_origin(source.name, source.load().fingerprint(), settings)
    wanted = set(plan.cells())
    started_at, started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), time.perf_counter()
    reported = fits = 0

    def look() -> list[Unit]:
        """Units that are left; what other sweeps have done since the last look is reported."""
        nonlocal reported
        done = wanted & store.done()
        report(len(done) - reported)
        reported = len(done)
        return plan.units(done)

    left = look()
    if not left:
        return 0
    try:
        with engine, _heartbeat(store):
            pending: dict[Any, Unit] = {}
            while left or pending:
                while left and len(pending) < engine.slots:
                    unit = left.pop(0)
                    ours = store.claim(unit.cells)
                    if ours:
                        mine = Unit(unit.source, unit.method, unit.split, tuple(cell.cost for cell in ours))
                        pending[engine.submit(mine)] = mine
                for finished in engine.wait(pending, timeout=poll) if pending else ():
                    results = finished.result()
                    store.write(results)
                    del pending[finished]
                    fits += len(results)
                    reported += len(results)
                    report(len(results))
                if not left and not pending:
                    left = look()  # what is left now, another sweep has claimed, or had and gave back
                    if left and {cell for unit in left for cell in unit.cells} <= store.under_way():
                        time.sleep(poll)
    finally:
        store.release()  # also of what was under way when something went wrong
    if fits:
        store.note_sweep(started_at, time.perf_counter() - started, fits, engine.name, machine())
    return fits


def machine() -> dict[str, Any]:
    """What the numbers of seconds refer to: processor, cores that may be used, system and versions.

    Examples
    --------
    >>> sorted(machine())
    ['cores', 'numpy', 'processor', 'python', 'scikit-learn', 'scipy', 'system']
    """
    import numpy
    import scipy
    import sklearn

    processor = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
        processor = names[0] if names else processor
    except OSError:
        pass
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "processor": processor,
        "cores": cores,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


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
    done = {result.cell for result in results}
    spent: dict[tuple[str, str], list[float]] = {}
    for result in results:
        spent.setdefault((result.cell.dataset, result.cell.method), []).append(result.seconds)
    rows = {source.name: len(source.load().y) for source in plan.sources}
    total, measured, fits = 0.0, True, 0
    for cell in plan.cells():
        if cell in done:
            continue
        fits += 1
        times = spent.get((cell.dataset, cell.method))
        if times:
            total += sum(times) / len(times)
        else:
            measured = False
            total += METHODS[cell.method].typical_seconds * rows[cell.dataset] / 16_045
    return Estimate(fits, total / workers, measured)
