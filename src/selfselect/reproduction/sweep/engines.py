"""Where units of work run: in this process, in processes of this machine, or on a Dask cluster.

All engines run the same function on the same units and hand its results back to the one process that writes them, so
results are the same whatever the engine.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent import futures
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Protocol, Self

from joblib.externals.loky import ProcessPoolExecutor

from ..._threads import ONE_THREAD
from .clusters import DaskCluster, WorkerDiedError
from .interrupts import uninterrupted
from .results import Result
from .surroundings import check_open_files
from .units import Unit, run_unit

#: Seconds between a worker's looks at whether its parent still lives.
WATCH_SECONDS = 0.5
#: Files that processes of this machine take in this one (measured: 13, and 1 for each).
POOL_FILES, POOL_FILES_EACH = 18, 1


class Engine(Protocol):
    """Something that runs units."""

    name: str

    @property
    def slots(self) -> int:
        """How many units it wants to have at hand."""
        ...

    def submit(self, unit: Unit) -> Any:
        """Hand over a unit; what comes back stands for it."""
        ...

    def wait(self, pending: Iterable[Any], timeout: float) -> set[Any]:
        """Those of some units that are done, after waiting for the first of them or for some seconds."""
        ...

    def result(self, finished: Any) -> list[Result]:
        """What came out of a unit that is done.

        Raises
        ------
        WorkerDiedError
            If nothing did, because those who worked on it are gone.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class InProcess:
    """Engine that does each unit when it is handed over, in this process."""

    name = "in process"
    slots = 1

    def submit(self, unit: Unit) -> futures.Future[list[Result]]:
        """Do a unit."""
        future: futures.Future[list[Result]] = futures.Future()
        future.set_result(run_unit(unit))
        return future

    def wait(self, pending: Iterable[Any], timeout: float) -> set[Any]:
        """Everything handed over is done."""
        return set(pending)

    def result(self, finished: futures.Future[list[Result]]) -> list[Result]:
        """What came out of a unit."""
        return finished.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to clean up."""


def _prepare_worker(parent: int) -> None:
    """Leave Ctrl+C to the parent, also where it could not be held back before, and do not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="selfselect-parent-watch").start()


class LocalProcesses:
    """Engine of processes on this machine, one BLAS thread each.

    Parameters
    ----------
    workers : int
        Number of processes.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.name = f"{workers} processes"
        self.slots = workers  # none in reserve: whatever happens, no more than one unit per worker is lost

    def __enter__(self) -> Self:
        check_open_files(POOL_FILES + POOL_FILES_EACH * self.workers, f"{self.workers} processes")
        self._pool = ProcessPoolExecutor(
            max_workers=self.workers,
            initializer=_prepare_worker,
            initargs=(os.getpid(),),
            env=ONE_THREAD,
        )
        return self

    def submit(self, unit: Unit) -> Any:
        """Hand over a unit."""
        with _worker_deaths_named():
            return uninterrupted(lambda: self._pool.submit(run_unit, unit))  # it may start workers

    def wait(self, pending: Iterable[Any], timeout: float) -> set[Any]:
        """Those of some units that are done, after waiting for the first of them or for some seconds."""
        return futures.wait(pending, timeout=timeout, return_when=futures.FIRST_COMPLETED).done

    def result(self, finished: futures.Future[list[Result]]) -> list[Result]:
        """What came out of a unit that is done."""
        with _worker_deaths_named():
            return finished.result()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the workers; when something went wrong, without waiting for what they are doing."""
        if kind is None:
            self._pool.shutdown(wait=True)
            return
        # the thread that watches the workers may stumble over their being killed; nobody needs to read about that
        previous = threading.excepthook
        threading.excepthook = lambda details: None
        try:
            self._pool.shutdown(wait=True, kill_workers=True)
        finally:
            threading.excepthook = previous


@contextmanager
def _worker_deaths_named() -> Iterator[None]:
    """Say in our words that a worker is gone."""
    try:
        yield
    except BrokenProcessPool as error:
        raise WorkerDiedError(
            "A worker process has died: it was killed, or the machine ran out of memory (fewer workers need less). "
            "What was done is stored; run the same sweep again to go on.",
            key="workers",
        ) from error


def choose_engine(workers: int, scheduler: str | None) -> Engine:
    """Engine for a number of workers, or for a Dask scheduler.

    Examples
    --------
    >>> choose_engine(1, None).name, choose_engine(2, None).name
    ('in process', '2 processes')
    """
    if scheduler is not None:
        return DaskCluster(scheduler, workers)
    return InProcess() if workers == 1 else LocalProcesses(workers)
