"""Units of work on a Dask cluster, somebody's or one made for a sweep, which listens on this machine only."""

from __future__ import annotations

import logging
import multiprocessing
import os
import re
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from copy import deepcopy
from types import TracebackType
from typing import Any, Self

from ..._errors import InputError
from ..._text import shown
from ..people import BundledDataset, Dataset, LoadedDataset
from .interrupts import uninterrupted
from .results import Result
from .surroundings import check_open_files, surroundings_kept
from .units import Unit, run_unit

#: Seconds to wait for an answer of a Dask scheduler, and for a cluster to close.
ANSWER_SECONDS, CLOSE_SECONDS = 20, 10
#: Seconds that a cluster of this machine may take to start, and more for each process of it.
START_SECONDS, START_SECONDS_EACH = 60, 5
#: Files that it takes in this process (measured: 16, and 11 for each of its processes).
CLUSTER_FILES, CLUSTER_FILES_EACH = 20, 12
#: Seconds that a cluster may be without any worker while something is left to do, and between looks at that.
IDLE_SECONDS, LOOK_SECONDS = 20, 5
#: Units that a Dask cluster has at hand beyond those it is working on.
RESERVE_UNITS = 2
#: Nobody beyond this machine hears of this address; the system chooses the port.
LOOPBACK = "127.0.0.1"
#: Settings of a cluster that is made for a sweep, whatever else its owner uses Dask for: its servers show nothing to
#: browsers, and talk to each other plainly and nowhere else. Units do not queue, as few are handed over at a time, and
#: the scheduler of 2024.5 loses track of those in a queue when the people that they are about go with a worker.
OWN_SETTINGS: dict[str, Any] = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.scheduler.contact-address": None,
    "distributed.comm.default-scheme": "tcp",
    "distributed.comm.require-encryption": False,
    "distributed.scheduler.worker-saturation": float("inf"),
}
#: Setting for sending what is large without a warning: it is needed, and sent once.
ANY_SIZE = {"distributed.admin.large-graph-warning-threshold": sys.maxsize}
#: Where the settings of Dask are.
SETTINGS = "files in ~/.config/dask and /etc/dask, and variables DASK_..."
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
        self._surroundings = ExitStack()
        self._starting = self._left = False

    def __enter__(self) -> Self:
        try:
            import distributed  # noqa: F401  an extra: most people have one machine
        except ImportError as error:
            raise InputError(
                "Working with a Dask scheduler needs Dask: pip install 'selfselect[distributed]'.", key="scheduler"
            ) from error
        except Exception as error:  # it reads its settings as it is imported
            raise InputError(
                f"Dask cannot be loaded: {error}. Look at its settings: {SETTINGS}", key="scheduler"
            ) from error
        self._sent, self._left = {}, False
        try:
            self._surroundings.enter_context(surroundings_kept())
            if self.address == "local":
                self._start()
            else:
                self._connect(self.address)
        except BaseException:
            self._leave()
            raise
        self._last_seen = time.monotonic()
        return self

    def _connect(self, to: Any) -> None:
        from distributed import Client

        try:
            self._client = Client(to, timeout=ANSWER_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise InputError(f"Cannot reach a Dask scheduler at {self.address!r}: {error}.", key="scheduler") from error

    def _start(self) -> None:
        """Start a cluster of our own, within some time."""

        def start() -> None:
            try:
                self._cluster = _own_cluster(self.workers)
                self._connect(self._cluster)
            finally:
                self._starting = False
                if self._left:  # nobody has waited for it
                    self._leave()

        files = CLUSTER_FILES + CLUSTER_FILES_EACH * self.workers
        check_open_files(files, f"A Dask cluster of {self.workers} worker(s)")
        seconds = START_SECONDS + START_SECONDS_EACH * self.workers
        self._starting = True
        with _strays_ended():
            try:
                uninterrupted(start, seconds)
            except TimeoutError as error:
                raise self._not_started(f"it was not there after {seconds} seconds") from error
            except Exception as error:  # of many kinds, by what is missing
                raise self._not_started(_first_cause(error)) from error

    def _not_started(self, why: str) -> InputError:
        return InputError(
            f"Cannot start a Dask cluster of {self.workers} worker(s) on this machine: {why}. This process may not be "
            f"allowed what they need (memory, open files, threads): use fewer workers, or raise the limits. "
            f"Or a setting of Dask's is in the way: {SETTINGS}",
            key="scheduler",
        )

    @property
    def slots(self) -> int:
        """A little more than the cluster can do at a time; it may grow and shrink."""
        with self._losses_named():
            return sum(self._threads().values()) + RESERVE_UNITS

    def _threads(self) -> dict[str, int]:
        """How many units each worker can do at a time, unless the scheduler has stopped answering."""
        threads: dict[str, int] = self._client.nthreads(callback_timeout=ANSWER_SECONDS)
        return threads

    def submit(self, unit: Unit) -> Any:
        """Hand over a unit; a data set that only this machine has is sent along, once."""
        dataset: Any = unit.dataset
        if not isinstance(dataset, BundledDataset):
            if dataset.name not in self._sent:
                self._sent[dataset.name] = self._send(LoadedDataset(dataset.name, dataset.load()))
            dataset = self._sent[dataset.name]
        with self._losses_named():
            return self._client.submit(_run_on_cluster, dataset, unit.method, unit.split, unit.costs, pure=False)

    def _send(self, dataset: LoadedDataset) -> Any:
        """Send a data set as if it were to be computed: the scheduler can then do it again when its worker is lost."""
        import dask

        with self._losses_named(), dask.config.set(ANY_SIZE):
            return self._client.submit(_as_it_came, dataset, pure=False)

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
        if some_done or self._threads():
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
        except TimeoutError as error:
            raise self._silent() from error
        except KilledWorker as error:
            raise self._killed() from error
        except CancelledError as error:
            raise self._lost() from error
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

    def _silent(self) -> WorkerDiedError:
        return WorkerDiedError(
            f"The Dask scheduler has not answered for {ANSWER_SECONDS} seconds: it is paused, or its machine is. What "
            "was done is stored; wake it or start another, and run the same sweep again to go on.",
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
            _end_workers(self._cluster)
        self._leave()

    def _leave(self) -> None:
        self._left = True
        if self._starting:
            return  # nothing to close yet: who starts it does so
        with self._surroundings:
            for closing in (self._client, self._cluster):
                if closing is not None:
                    with suppress(TimeoutError, OSError):
                        closing.close(timeout=CLOSE_SECONDS)


@contextmanager
def _strays_ended() -> Iterator[None]:
    """End what was started for a cluster that does not come about: nobody else knows of it."""
    before = {process.pid for process in multiprocessing.active_children()}
    try:
        yield
    except BaseException:
        for process in multiprocessing.active_children():
            if process.pid not in before and process.name.startswith("Dask"):
                process.kill()
                process.join(CLOSE_SECONDS)
        raise


def _first_cause(error: BaseException) -> str:
    while (before := error.__cause__ or error.__context__) is not None:
        error = before
    return str(error).rstrip(".") or type(error).__name__


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
    with dask.config.set(OWN_SETTINGS):
        kept = deepcopy(dask.config.config)  # for workers that are started later, in place of others
        worker = {"cls": Nanny, "options": {**here, "nthreads": 1, "silence_logs": logging.CRITICAL, "config": kept}}
        return SpecCluster(
            scheduler={"cls": Scheduler, "options": here},
            workers=dict.fromkeys(range(workers), worker),
            silence_logs=logging.CRITICAL,
        )


def _as_it_came(dataset: LoadedDataset) -> LoadedDataset:
    return dataset


def _run_on_cluster(dataset: Dataset, method: str, split: int, costs: tuple[float, ...]) -> list[Result]:
    # the data set is an argument of its own, so that Dask puts the people it was sent in its place
    return run_unit(Unit(dataset, method, split, costs))
