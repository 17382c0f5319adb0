"""Units of work on a Dask cluster, somebody's or one made for a sweep, which listens on this machine only."""

from __future__ import annotations

import logging
import os
import re
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from copy import deepcopy
from types import TracebackType
from typing import Any, Self

from ..._errors import InputError
from ..._text import shown
from ..people import BundledDataset, Dataset, LoadedDataset
from .interrupts import interrupts_held_back
from .results import Result
from .units import Unit, run_unit

#: Seconds to wait for an answer of a Dask scheduler, and for a cluster to close.
ANSWER_SECONDS, CLOSE_SECONDS = 20, 10
#: Seconds that a cluster may be without any worker while something is left to do, and between looks at that.
IDLE_SECONDS, LOOK_SECONDS = 20, 5
#: Units that a Dask cluster has at hand beyond those it is working on.
RESERVE_UNITS = 2
#: Nobody beyond this machine hears of this address; the system chooses the port.
LOOPBACK = "127.0.0.1"
#: What the servers of a cluster that is made for a sweep show to browsers: nothing.
NO_PAGES: dict[str, list[str]] = {"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}
#: Where the library logs what happens to connections.
LOGGERS = ("distributed", "distributed.client", "tornado", "tornado.application")
#: What an address of a scheduler looks like: other ways to reach one need settings, or packages, that we do not have.
ADDRESS = re.compile(r"(?:tcp://)?(?:\[[0-9a-fA-F:.]+\]|[^\s:/\[\]]+):([0-9]{1,5})")
MOST_PORTS = 65535


class WorkerDiedError(InputError, OSError):
    """A process that was working for us is gone."""


class DaskCluster:
    """Engine that hands units to a Dask scheduler; a unit whose worker dies is done again by another.

    Parameters
    ----------
    address : str
        Address of a scheduler, or ``"local"`` for a cluster of processes on this machine, made for this run: it has no
        dashboard, and nothing of it listens beyond this machine.
    workers : int
        Number of processes of a local cluster.
    """

    def __init__(self, address: str, workers: int = 1) -> None:
        found = ADDRESS.fullmatch(address)
        if address != "local" and not (found and 0 < int(found[1]) <= MOST_PORTS):
            raise InputError(
                f"{shown(address)} is no address of a Dask scheduler: write tcp://HOST:PORT, with a port from 1 to "
                f"{MOST_PORTS}, or local for processes of this machine.",
                key="scheduler",
            )
        self.address = address
        self.workers = workers
        self.name = f"Dask ({'local, ' + str(workers) + ' processes' if address == 'local' else 'cluster'})"
        self._client: Any = None
        self._cluster: Any = None
        self._sent: dict[str, Any] = {}  # data sets that only this machine has
        self._last_seen = time.monotonic()
        self._silence = ExitStack()

    def __enter__(self) -> Self:
        try:
            from distributed import Client  # an extra: most people have one machine
        except ImportError as error:
            raise InputError(
                "Working with a Dask scheduler needs Dask: pip install 'selfselect[distributed]'.", key="scheduler"
            ) from error
        try:
            if self.address == "local":
                with interrupts_held_back():
                    self._cluster = _own_cluster(self.workers)
                    self._client = Client(self._cluster, timeout=ANSWER_SECONDS, set_as_default=False)
            else:
                self._silence.enter_context(_in_silence())  # what happens to our connection we are told as well
                self._client = Client(self.address, timeout=ANSWER_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            self._leave()
            raise InputError(f"Cannot reach a Dask scheduler at {self.address!r}: {error}.", key="scheduler") from error
        except BaseException:
            self._leave()
            raise
        self._last_seen = time.monotonic()
        return self

    @property
    def slots(self) -> int:
        """A little more than the cluster can do at a time; it may grow and shrink."""
        with self._losses_named():
            return int(sum(self._client.nthreads().values())) + RESERVE_UNITS

    def submit(self, unit: Unit) -> Any:
        """Hand over a unit; a data set that only this machine has is sent along, once."""
        dataset: Any = unit.dataset
        with self._losses_named():
            if not isinstance(dataset, BundledDataset):
                if dataset.name not in self._sent:
                    loaded = LoadedDataset(dataset.name, dataset.load())
                    self._sent[dataset.name] = self._client.scatter(loaded, broadcast=True, timeout=IDLE_SECONDS)
                dataset = self._sent[dataset.name]
            return self._client.submit(_run_on_cluster, dataset, unit.method, unit.split, unit.costs, pure=False)

    def wait(self, pending: Iterable[Any], timeout: float) -> set[Any]:
        """Those of some units that are done, after waiting for the first of them or for some seconds."""
        from distributed import wait  # there, as this object could be entered

        with self._losses_named(), self._client.as_current():
            try:
                done: set[Any] = wait(list(pending), timeout=timeout, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                done = set()
            self._check_workers(bool(done))
            if any(future.cancelled() for future in done):
                raise self._lost()
        return done

    def result(self, finished: Any) -> list[Result]:
        """What came out of a unit that is done; if whoever has it is gone since, another worker does it again."""
        with self._losses_named():
            while True:
                try:
                    results: list[Result] = finished.result(timeout=LOOK_SECONDS)
                    return results
                except TimeoutError:
                    self._check_workers(some_done=False)

    def _check_workers(self, some_done: bool) -> None:
        """Complain if there has been nobody to do the work for a while."""
        if some_done or self._client.nthreads():
            self._last_seen = time.monotonic()
        elif time.monotonic() - self._last_seen > IDLE_SECONDS:
            raise self._deserted()

    @contextmanager
    def _losses_named(self) -> Iterator[None]:
        """Say in our words that the scheduler is gone, or its workers."""
        from distributed import KilledWorker

        try:
            yield
        except InputError:
            raise
        except TimeoutError as error:  # nobody to send a data set to
            raise self._deserted() from error
        except KilledWorker as error:
            raise self._killed() from error
        except Exception as error:
            if not isinstance(error, OSError) and self._client.status == "running":
                raise  # a connection that breaks is an OSError
            raise self._lost() from error

    def _deserted(self) -> WorkerDiedError:
        return WorkerDiedError(
            f"The Dask scheduler has had no worker for {IDLE_SECONDS} seconds: they were ended, or none was started "
            "(dask worker ADDRESS). What was done is stored; run the same sweep again to go on.",
            key="scheduler",
        )

    def _killed(self) -> WorkerDiedError:
        return WorkerDiedError(
            "Workers of the Dask cluster have died one after another, all with the same fit: they were killed, or "
            "their machine ran out of memory (fewer workers need less). What was done is stored; run the same sweep "
            "again to go on.",
            key="scheduler" if self._cluster is None else "workers",
        )

    def _lost(self) -> WorkerDiedError:
        return WorkerDiedError(
            "The Dask scheduler is gone, or the connection to it: it was ended, or has dropped what it was doing for "
            "us. What was done is stored; start a scheduler and run the same sweep again to go on.",
            key="scheduler",
        )

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the cluster; a local one ends, and when something went wrong without finishing what it is doing.

        What was done is stored by now: a cluster that is slow to close does not make a sweep a failure. Units that
        nobody waits for any more are dropped by the scheduler.
        """
        if kind is not None and self._cluster is not None:
            self._silence.enter_context(_in_silence())
            _end_workers(self._cluster)
        self._leave()

    def _leave(self) -> None:
        with self._silence:
            for closing in (self._client, self._cluster):
                if closing is not None:
                    with suppress(TimeoutError, OSError):
                        closing.close(timeout=CLOSE_SECONDS)


@contextmanager
def _in_silence() -> Iterator[None]:
    """Without a word of the library's: what went wrong is said in ours, and workers that are gone we have ended."""
    handlers = {handler for name in LOGGERS for handler in logging.getLogger(name).handlers}

    def nothing(record: logging.LogRecord) -> bool:
        return False

    for handler in handlers:
        handler.addFilter(nothing)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(nothing)


def _end_workers(cluster: Any) -> None:
    """End the processes of our own cluster at once; in the middle of a fit they would not hear a polite request."""
    for nanny in getattr(cluster, "workers", {}).values():
        nanny.close_gracefully()  # so that it starts no other in its place
        if nanny.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(nanny.pid, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)


def _own_cluster(workers: int) -> Any:
    """Processes of this machine; every server of theirs is told where to listen, as defaults differ by version."""
    import dask
    from distributed import Nanny, Scheduler, SpecCluster

    here = {"host": LOOPBACK, "port": 0, "dashboard": False, "dashboard_address": f"{LOOPBACK}:0"}
    with dask.config.set(NO_PAGES):
        kept = deepcopy(dask.config.config)  # for workers that are started later, in place of others
        worker = {"cls": Nanny, "options": {**here, "nthreads": 1, "silence_logs": logging.WARNING, "config": kept}}
        return SpecCluster(
            scheduler={"cls": Scheduler, "options": here},
            workers=dict.fromkeys(range(workers), worker),
            silence_logs=logging.WARNING,
        )


def _run_on_cluster(dataset: Dataset, method: str, split: int, costs: tuple[float, ...]) -> list[Result]:
    # the data set is an argument of its own, so that Dask puts the people it was sent in its place
    return run_unit(Unit(dataset, method, split, costs))
