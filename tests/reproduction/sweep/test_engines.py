"""Where units run makes no difference to what comes out."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError
from contextlib import nullcontext, suppress
from http.client import HTTPConnection, HTTPException
from types import SimpleNamespace

import psutil
import pytest

from selfselect._errors import InputError
from selfselect.reproduction import BundledDataset, DaskCluster, LocalProcesses, Plan, Store, run_sweep
from selfselect.reproduction.sweep import clusters, engines
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
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_people_that_only_the_lost_worker_had_are_sent_again(small_plan, reference, tmp_path):
    killed = []

    class Murderous(DaskCluster):
        def result(self, finished):
            results = super().result(finished)
            if not killed:  # the first result is there, the rest is under way
                (nanny,) = self._cluster.workers.values()
                killed.append(nanny.pid)
                os.kill(nanny.pid, signal.SIGKILL)
            return results

    with Store(tmp_path / "a.sqlite") as store:
        assert run_sweep(small_plan, store, Murderous("local", workers=1)) == 24
        assert killed
        assert store.contents() == reference


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("error:Sending large graph")
def test_people_are_sent_without_a_warning_however_many_they_are_and_again_to_the_next_cluster(small_plan):
    import dask

    engine, unit = DaskCluster("local"), Unit(small_plan.datasets[0], "naive", 0, (0.7,))
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 kB"}):
        for _ in range(2):
            with engine:
                assert engine.result(engine.submit(unit)) == run_unit(unit)


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


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_what_the_scheduler_has_dropped_is_not_taken_for_done(scheduler):
    import distributed

    address, _ = scheduler
    with DaskCluster(address) as engine, distributed.Client(address, set_as_default=False) as somebody:
        future = engine.submit(Unit(BundledDataset("adult"), "naive", 0, (0.7,)))
        assert engine.wait([future], timeout=0.1) == set()
        somebody.restart()
        with pytest.raises(WorkerDiedError, match="has dropped what it was doing for us"):
            engine.wait([future], timeout=20)
        with pytest.raises(WorkerDiedError, match="has dropped what it was doing for us"):
            engine.result(future)


@pytest.mark.parametrize("raised", [True, False])
def test_what_was_dropped_is_named_whether_the_library_raises_it_or_hands_it_back(raised, monkeypatch):
    import distributed

    def wait(pending, **how):
        if raised:
            raise CancelledError("already forgotten")
        return SimpleNamespace(done=set(pending))

    dropped = Future()
    dropped.cancelled = lambda: True
    monkeypatch.setattr(distributed, "wait", wait)
    with pytest.raises(WorkerDiedError, match="has dropped what it was doing for us"):
        cluster_of(Client()).wait([dropped], timeout=1)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="signals of POSIX")
def test_a_scheduler_that_stops_answering_is_named_instead_of_waited_for(scheduler, monkeypatch):
    address, server = scheduler
    words = r"has not answered for 1 seconds.*What was done is stored"
    with DaskCluster(address) as engine:
        future = engine.submit(Unit(BundledDataset("adult"), "naive", 0, (0.7,)))
        assert engine.slots > 0
        monkeypatch.setattr(clusters, "ANSWER_SECONDS", 1)
        server.send_signal(signal.SIGSTOP)
        for ask in (lambda: engine.slots, lambda: engine.wait([future], timeout=0.1)):
            with pytest.raises(WorkerDiedError, match=words) as told:
                ask()
            assert told.value.key == "scheduler"


def children():
    return {process.pid for process in multiprocessing.active_children()}


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_local_dask_cluster_that_cannot_start_is_named_with_the_reason_and_leaves_nothing_behind():
    import dask

    before = children()
    with (
        dask.config.set({"distributed.worker.preload": ["no_such_module"]}),
        pytest.raises(InputError, match=r"Cannot start a Dask cluster of 2 worker.*No module named 'no_such_module'"),
        DaskCluster("local", workers=2),
    ):
        pass
    assert children() <= before


def test_processes_of_a_cluster_that_does_not_come_about_are_ended():
    before = children()

    def start_some_and_fail():
        with clusters._strays_ended():
            for name in ("Dask Worker", "of somebody else"):
                settings = {"target": time.sleep, "args": (60,), "name": name, "daemon": True}
                multiprocessing.get_context("spawn").Process(**settings).start()
            raise RuntimeError("no more threads")

    with pytest.raises(RuntimeError, match="no more threads"):
        start_some_and_fail()
    (other,) = [process for process in multiprocessing.active_children() if process.pid not in before]
    assert other.name == "of somebody else"
    other.kill()
    other.join()


def test_a_local_dask_cluster_that_takes_too_long_is_named_and_closed_as_soon_as_it_is_there(monkeypatch):
    import distributed

    there, closed = threading.Event(), threading.Event()
    late = SimpleNamespace(close=lambda timeout: closed.set())
    monkeypatch.setattr(clusters, "_own_cluster", lambda workers: there.wait(20) and late)
    monkeypatch.setattr(distributed, "Client", lambda *to, **how: late)
    monkeypatch.setattr(clusters, "START_SECONDS", 0.1)
    monkeypatch.setattr(clusters, "START_SECONDS_EACH", 0.1)
    with pytest.raises(InputError, match=r"it was not there after 0\.2 seconds"), DaskCluster("local", workers=1):
        pass
    assert not closed.is_set()
    there.set()
    assert closed.wait(20)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_local_dask_cluster_is_reached_whatever_its_owner_has_set():
    import dask

    settings = {
        "distributed.comm.default-scheme": "tls",
        "distributed.comm.require-encryption": True,
        "distributed.scheduler.contact-address": "tcp://127.0.0.1:5",
    }
    with dask.config.set(settings), DaskCluster("local") as engine:
        assert engine.slots == 1 + clusters.RESERVE_UNITS
        assert engine._client.scheduler.address.startswith("tcp://127.0.0.1:")


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts open files as Linux shows them")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize(
    ("engine", "most"),
    [
        (DaskCluster("local", workers=2), clusters.CLUSTER_FILES + 2 * clusters.CLUSTER_FILES_EACH),
        (LocalProcesses(2), engines.POOL_FILES + 2 * engines.POOL_FILES_EACH),
    ],
)
def test_an_engine_opens_no_more_files_than_it_has_asked_for(engine, most, small_plan):
    before = len(os.listdir("/proc/self/fd"))
    with engine:
        pending = {engine.submit(Unit(small_plan.datasets[0], "naive", split, (0.7,))) for split in range(2)}
        while pending:
            pending -= engine.wait(pending, timeout=1)
        assert len(os.listdir("/proc/self/fd")) <= before + most


def test_settings_that_dask_cannot_read_are_named(tmp_path):
    (tmp_path / "dask.yaml").write_text("a: [b")
    code = "from selfselect.reproduction import DaskCluster\nwith DaskCluster('local'): pass"
    told = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "DASK_CONFIG": str(tmp_path)}, capture_output=True, text=True
    )
    assert "InputError: Dask cannot be loaded: A dask config file at" in told.stderr
    assert "Look at its settings: files in ~/.config/dask" in told.stderr


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

    def nthreads(self, callback_timeout):
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
@pytest.mark.parametrize("own_table", [True, False])
def test_a_sweep_whose_workers_keep_dying_ends_with_our_words(own_table, small_plan, tmp_path):
    import dask

    def die(*people):
        os._exit(1)

    class Deadly(DaskCluster):
        def submit(self, unit):
            people = [self._send(unit.dataset)] if own_table else []
            return self._client.submit(die, *people, pure=False)

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1 if own_table else 0}),
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
