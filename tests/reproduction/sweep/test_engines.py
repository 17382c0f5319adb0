"""Where units run makes no difference to what comes out."""

import io
import json
import logging
import os
import signal
import subprocess
import sys
import time
from contextlib import nullcontext, suppress
from http.client import HTTPConnection, HTTPException
from types import SimpleNamespace

import psutil
import pytest

from selfselect._errors import InputError
from selfselect.reproduction import BundledDataset, DaskCluster, LocalProcesses, Plan, Store, run_sweep
from selfselect.reproduction.sweep import clusters
from selfselect.reproduction.sweep.clusters import WorkerDiedError
from selfselect.reproduction.sweep.units import Unit, UnitError, run_unit


def test_results_are_the_same_from_processes(small_plan, reference, tmp_path):
    with Store(tmp_path / "a.sqlite") as store:
        reported = []
        assert run_sweep(small_plan, store, LocalProcesses(2), reported.append) == 24
        assert store.contents() == reference
        assert sum(reported) == 24
        assert run_sweep(small_plan, store, LocalProcesses(2)) == 0
        (note,) = store.sweeps()
        assert (note["fits"], note["engine"]) == (24, "2 processes")


def test_a_dead_worker_is_a_clear_error_and_the_next_run_goes_on(small_plan, reference, tmp_path):
    class Killer(LocalProcesses):
        def submit(self, unit):
            future = super().submit(unit)
            if unit.split == 1:
                for pid in list(self._pool._processes):
                    os.kill(pid, signal.SIGKILL)
            return future

    with Store(tmp_path / "a.sqlite") as store:
        with pytest.raises(WorkerDiedError, match=r"worker process has died.*run the same sweep again"):
            run_sweep(small_plan, store, Killer(2))
        assert 0 < len(store.done()) < 24
        run_sweep(small_plan, store, LocalProcesses(2))
        assert store.contents() == reference


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_dask_cluster_gives_the_same_results_even_if_a_worker_is_killed(small_plan, reference, tmp_path):
    from distributed import LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster,
        Store(tmp_path / "a.sqlite") as store,
    ):
        victims = [worker.pid for worker in cluster.workers.values()]
        killed = []

        def report(fits):
            if fits and not killed:  # the first result is there, the rest is under way
                killed.append(victims[0])
                os.kill(victims[0], signal.SIGKILL)

        assert run_sweep(small_plan, store, DaskCluster(cluster.scheduler_address), report) == 24
        assert killed
        assert store.contents() == reference


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_local_dask_cluster_listens_on_loopback_only(small_plan, tmp_path):
    with DaskCluster("local", workers=1) as engine:
        here = psutil.Process()
        open_ports = []
        for process in [here, *here.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):  # a worker of an earlier test may be gone by now
                connections = process.net_connections(kind="inet")
                open_ports += [c.laddr.ip for c in connections if c.status == psutil.CONN_LISTEN]
        assert open_ports
        assert set(open_ports) == {"127.0.0.1"}
        assert engine.slots >= 1
        future = engine.submit(Unit(small_plan.datasets[0], "naive", 0, (0.7,)))
        (result,) = future.result()
        assert result == run_unit(Unit(small_plan.datasets[0], "naive", 0, (0.7,)))[0]


PAGES = ("/", "/status", "/info/main/workers.html", "/metrics", "/health", "/json/identity.json", "/sitemap.json")


def pages_shown():
    """Pages that servers of this process, and of those it has started, show to a browser."""
    here = psutil.Process()
    ports = set()
    for process in [here, *here.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            found = process.net_connections(kind="inet")
            ports |= {c.laddr.port for c in found if c.status == psutil.CONN_LISTEN}
    shown, asked = {}, 0
    for port in ports:
        for page in PAGES:
            connection = HTTPConnection("127.0.0.1", port, timeout=2)
            try:
                connection.request("GET", page)
                answer = connection.getresponse()
                asked += 1
                if answer.status != 404:
                    shown[page] = answer.read()
            except (OSError, HTTPException):
                pass  # speaks no HTTP at all
            finally:
                connection.close()
    assert asked
    return shown


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_local_dask_cluster_shows_browsers_nothing_nor_does_a_worker_that_is_started_later():
    with DaskCluster("local", workers=1) as engine:
        (nanny,) = engine._cluster.workers.values()
        first = nanny.pid
        for _ in range(2):
            shown = pages_shown()
            assert json.loads(shown.pop("/sitemap.json", "{}")).get("paths", []) == [
                "/sitemap.json"
            ]  # the list of pages
            assert shown == {}
            with suppress(ProcessLookupError):
                os.kill(first, signal.SIGKILL)
            until = time.monotonic() + 60
            while (nanny.pid in (None, first) or not engine._client.nthreads()) and time.monotonic() < until:
                time.sleep(0.1)
        assert nanny.pid not in (None, first)


def test_an_unreachable_scheduler_is_named(monkeypatch):
    monkeypatch.setattr(clusters, "ANSWER_SECONDS", 0.2)
    with (
        pytest.raises(InputError, match=r"Cannot reach a Dask scheduler at 'tcp://127\.0\.0\.1:1'"),
        DaskCluster("tcp://127.0.0.1:1"),
    ):
        pass


@pytest.mark.parametrize("kind", [OSError, ValueError, TypeError])
def test_whatever_the_library_refuses_an_address_with_is_said_in_our_words(kind, monkeypatch):
    import distributed

    def refuse(*settings, **more):
        raise kind("not that one")

    monkeypatch.setattr(distributed, "Client", refuse)
    with (
        pytest.raises(InputError, match="Cannot reach a Dask scheduler at 'tcp://x:1': not that one"),
        DaskCluster("tcp://x:1"),
    ):
        pass


@pytest.mark.parametrize(
    "address",
    [
        *("not an address", "", "localhost", "nonsense://x", "tcp://:8786", "a:b", "x:123456"),
        *("x:0", "x:65536", "tcp://127.0.0.1:99999", "x:\u0661"),
        *("nonsense://x:1", "tls://127.0.0.1:1", "ucx://127.0.0.1:1", "ws://x:1", "inproc://x:1"),
    ],
)
def test_what_is_no_address_is_refused_at_once(address):
    with pytest.raises(InputError, match="is no address of a Dask scheduler: write tcp://HOST:PORT"):
        DaskCluster(address)


@pytest.mark.parametrize("address", ["x:1", "tcp://x:65535", "tcp://[::1]:8786", "tcp://10.0.0.1:8786", "local"])
def test_what_may_be_an_address_is_tried(address):
    assert DaskCluster(address).address == address


@pytest.fixture
def scheduler():
    """A scheduler in a process of its own, without workers, on loopback."""
    code = (
        "import asyncio, dask\n"
        "from distributed import Scheduler\n"
        "async def main():\n"
        "    async with Scheduler(host='127.0.0.1', port=0, dashboard_address='127.0.0.1:0') as s:\n"
        "        print(s.address, flush=True)\n"
        "        await asyncio.wait_for(s.finished(), 120)\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip(), process
        finally:
            process.kill()


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("own_table", [True, False])
def test_a_scheduler_without_workers_is_named_instead_of_waited_for(
    own_table, small_plan, tmp_path, scheduler, monkeypatch
):
    monkeypatch.setattr(clusters, "IDLE_SECONDS", 1)
    address, _ = scheduler
    plan = small_plan if own_table else Plan((BundledDataset("adult"),), ("naive",), (0.7,), splits=1)
    with (
        Store(tmp_path / "a.sqlite") as store,
        pytest.raises(WorkerDiedError, match=r"no worker for 1 seconds.*What was done is stored"),
    ):
        run_sweep(plan, store, DaskCluster(address), poll=0.2)


def test_a_scheduler_that_goes_away_is_named_in_our_words_alone(scheduler):
    address, server = scheduler
    code = (
        "import sys\n"
        "from selfselect.reproduction import BundledDataset, DaskCluster\n"
        "from selfselect.reproduction.sweep.clusters import WorkerDiedError\n"
        "from selfselect.reproduction.sweep.units import Unit\n"
        "try:\n"
        "    with DaskCluster(sys.argv[1]) as engine:\n"
        "        future = engine.submit(Unit(BundledDataset('adult'), 'naive', 0, (0.7,)))\n"
        "        print('ready', flush=True)\n"
        "        for _ in range(100):\n"
        "            engine.wait([future], timeout=0.5)\n"
        "except WorkerDiedError as error:\n"
        "    print(error)\n"
    )
    words = [sys.executable, "-c", code, address]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        server.kill()
        said, errors = process.communicate(timeout=60)
    assert said == (
        "The Dask scheduler is gone, or the connection to it: it was ended, or has dropped what it was doing for us. "
        "What was done is stored; start a scheduler and run the same sweep again to go on.\n"
    )
    assert errors == ""


def test_what_the_scheduler_has_dropped_is_not_taken_for_done(monkeypatch):
    import distributed

    dropped = Future()
    dropped.cancelled = lambda: True
    monkeypatch.setattr(distributed, "wait", lambda pending, **how: SimpleNamespace(done=set(pending)))
    with pytest.raises(WorkerDiedError, match="has dropped what it was doing for us"):
        cluster_of(Client()).wait([dropped], timeout=1)


def test_the_library_is_silent_for_as_long_as_it_is_asked_to_be():
    heard = io.StringIO()
    handler, logger = logging.StreamHandler(heard), logging.getLogger("distributed.client")
    logger.addHandler(handler)
    try:
        with clusters._in_silence():
            with clusters._in_silence():
                logger.error("not this")
            logger.error("nor this")
        logger.error("but this")
    finally:
        logger.removeHandler(handler)
    assert heard.getvalue() == "but this\n"


def test_a_cluster_that_is_slow_to_close_does_not_make_a_sweep_a_failure():
    class Slow:
        closed = 0

        def close(self, timeout):
            self.closed += 1
            raise TimeoutError("deadline")

    engine = DaskCluster("local")
    engine._client = engine._cluster = slow = Slow()
    engine.__exit__(None, None, None)
    assert slow.closed == 2


def test_without_dask_its_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"needs Dask: pip install 'selfselect\[distributed\]'"), DaskCluster("local"):
        pass


class Future:
    """A unit that is done; what asking for its results gives, in order."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def result(self, timeout):
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


class Client:
    """A scheduler that answers, with so many workers."""

    status = "running"

    def __init__(self, workers=1):
        self.workers = workers

    def nthreads(self):
        return dict.fromkeys(range(self.workers), 1)

    def as_current(self):
        return nullcontext()

    def close(self, timeout):
        pass


def cluster_of(client, address="local"):
    engine = DaskCluster(address)
    engine._client = client
    return engine


@pytest.mark.parametrize("own", [True, False])
def test_workers_that_die_one_after_another_are_named_in_our_words(own):
    from distributed import KilledWorker

    engine = cluster_of(Client())
    engine._cluster = Client() if own else None
    with pytest.raises(
        WorkerDiedError, match=r"died one after another.*out of memory.*What was done is stored"
    ) as told:
        engine.result(Future(KilledWorker("unit", None, 3)))
    assert told.value.key == ("workers" if own else "scheduler")


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_sweep_whose_workers_keep_dying_ends_with_our_words(small_plan, tmp_path):
    import dask

    class Deadly(DaskCluster):
        def submit(self, unit):
            return self._client.submit(os._exit, 1, pure=False)

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        Store(tmp_path / "a.sqlite") as store,
        pytest.raises(WorkerDiedError, match="died one after another"),
    ):
        run_sweep(small_plan, store, Deadly("local"))


def test_results_that_went_away_with_their_worker_are_waited_for_as_long_as_there_are_workers(monkeypatch):
    assert cluster_of(Client()).result(Future(TimeoutError(), TimeoutError(), ["made again"])) == ["made again"]
    monkeypatch.setattr(clusters, "IDLE_SECONDS", -1)
    with pytest.raises(WorkerDiedError, match="has had no worker"):
        cluster_of(Client(workers=0)).result(Future(TimeoutError(), ["never"]))


def test_a_fit_that_fails_on_a_cluster_says_so_itself():
    with pytest.raises(UnitError, match="adult, naive"):
        cluster_of(Client()).result(Future(UnitError("adult, naive: wrong")))
