"""Running a sweep: all that is asked for and not yet there is handed to an engine, and stored as it comes back."""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import scipy
import sklearn

from ..methods import ALL_METHODS
from ..people import CsvDataset, Dataset
from .database import StoreError
from .engines import Engine
from .leases import LEASE_SECONDS
from .plan import Plan
from .results import Result
from .rows import now
from .store import Store
from .units import Unit, fingerprint_of

#: Signs of life within the time of a lease: some may come late on a busy machine.
BEATS_PER_LEASE = 6
#: Called with the number of fits whenever some are stored.
Report = Callable[[int], Any]


def run_sweep(plan: Plan, store: Store, engine: Engine, report: Report = lambda fits: None, poll: float = 0.5) -> int:
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
    >>> from selfselect.reproduction import BundledDataset, InProcess
    >>> plan = Plan((BundledDataset("adult"),), ("naive",), (0.7, 0.8), splits=1)
    >>> with tempfile.TemporaryDirectory() as folder, Store(f"{folder}/results.sqlite") as store:
    ...     run_sweep(plan, store, InProcess()), run_sweep(plan, store, InProcess())
    (2, 0)
    """
    hashes = _check_same_origin(plan, store)
    started_at, started = now(), time.perf_counter()
    sweep = _Sweep(plan, store, engine, report, poll, hashes)
    sweep.look()
    if not sweep.left:
        return 0
    try:
        with engine, _heartbeat(store):
            sweep.run()
    finally:
        store.leases.release()  # also of what was under way when something went wrong
    if sweep.fits:
        store.note_sweep(started_at, time.perf_counter() - started, sweep.fits, engine.name, machine())
    return sweep.fits


def _check_same_origin(plan: Plan, store: Store) -> dict[str, str]:
    """Refuse to mix results of other people or settings with those that are asked for; fingerprints of the people."""
    stored, hashes = store.results(), {}
    for dataset in plan.datasets:
        _check_unchanged(dataset)
        settings = {
            cell: ALL_METHODS[cell.method].settings(cell.dataset, cell.cost)
            for cell in plan.cells()
            if cell.dataset == dataset.name
        }
        hashes[dataset.name] = fingerprint_of(dataset.load())
        store.check_same_origin(stored, dataset.name, hashes[dataset.name], settings)
    return hashes


def _check_unchanged(dataset: Dataset) -> None:
    """Refuse a table that is not as it was when it was first read."""
    if isinstance(dataset, CsvDataset):
        dataset.check()


class _Sweep:
    """A sweep under way: what is left, what is pending, and what was done."""

    def __init__(
        self, plan: Plan, store: Store, engine: Engine, report: Report, poll: float, hashes: dict[str, str]
    ) -> None:
        self.plan, self.store, self.engine, self.report, self.poll = plan, store, engine, report, poll
        self.hashes = hashes
        self.wanted = set(plan.cells())
        self.left: list[Unit] = []
        self.pending: dict[Any, Unit] = {}
        self.fits = self.reported = 0

    def look(self) -> None:
        """See which units are left; what other sweeps have done since the last look is reported."""
        done = self.wanted & self.store.done()
        self.report(len(done) - self.reported)
        self.reported = len(done)
        self.left = self.plan.units(done)

    def run(self) -> None:
        """Go on until all that is asked for is there, from this sweep or from another."""
        while self.left or self.pending:
            self._hand_over()
            self._collect()
            if not self.left and not self.pending:
                self.look()  # what is left now, another sweep has leased, or had and gave back
                if self.left and {cell for unit in self.left for cell in unit.cells} <= self.store.leases.under_way():
                    time.sleep(self.poll)

    def _hand_over(self) -> None:
        while self.left and len(self.pending) < self.engine.slots:
            unit = self.left.pop(0)
            ours = self.store.leases.take(unit.cells)
            if ours:
                mine = replace(unit, costs=tuple(cell.cost for cell in ours))
                self.pending[self.engine.submit(mine)] = mine
            else:  # other sweeps are ahead of us: one look at where they are, instead of a try for each unit
                taken = self.store.done() | self.store.leases.under_way()
                self.left = [each for each in self.left if not taken.issuperset(each.cells)]

    def _check_people(self, unit: Unit, results: list[Result]) -> None:
        """Refuse results of other people than those the sweep began with: their file may have changed meanwhile."""
        _check_unchanged(unit.dataset)
        if any(result.data_hash != self.hashes[unit.dataset.name] for result in results):
            where = unit.dataset.path if isinstance(unit.dataset, CsvDataset) else f"Data set {unit.dataset.name}"
            raise StoreError(
                f"{where} has changed since the sweep began: {unit} was made from other people, and was not stored. "
                "Put it back and run the same sweep again to go on; for new people, choose another file of results.",
                key="store",
            )

    def _collect(self) -> None:
        for finished in self.engine.wait(self.pending, timeout=self.poll) if self.pending else ():
            results = self.engine.result(finished)
            self._check_people(self.pending[finished], results)
            written = self.store.write(results)
            del self.pending[finished]
            self.fits += written
            self.reported += written
            self.report(written)  # what another sweep wrote before, the next look reports


@contextmanager
def _heartbeat(store: Store) -> Iterator[None]:
    """Keep our leases alive from a thread of its own, as fits may take longer than a lease."""
    stop = threading.Event()

    def beat() -> None:
        while not stop.wait(LEASE_SECONDS / BEATS_PER_LEASE):
            try:
                store.leases.renew()
            except StoreError:
                return  # the main thread meets the same error and reports it

    thread = threading.Thread(target=beat, daemon=True, name="selfselect-heartbeat")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def machine() -> dict[str, Any]:
    """What the numbers of seconds refer to: processor, cores that may be used, system and versions.

    Examples
    --------
    >>> sorted(machine())
    ['cores', 'numpy', 'processor', 'python', 'scikit-learn', 'scipy', 'system']
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "processor": _processor(),
        "cores": cores,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()
