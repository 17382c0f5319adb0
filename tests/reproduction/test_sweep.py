"""The sweep and its store: resumable, shareable, the same whatever runs it."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import psutil
import pytest

from selfselect.datasets import make_base_rate_groups
from selfselect.reproduction import (
    METHODS,
    BundledSource,
    Cell,
    DaskCluster,
    InProcess,
    LocalProcesses,
    Plan,
    Store,
    StoreError,
    estimate,
    own_table,
    run_sweep,
)
from selfselect.reproduction import store as store_module
from selfselect.reproduction.people import load_bundled, split_table
from selfselect.reproduction.sweep.engines import WorkerDiedError
from selfselect.reproduction.sweep.units import Unit, UnitError, metrics_from_counts, run_unit

COSTS = (0.7, 0.8)


@pytest.fixture(scope="module")
def small_csv(tmp_path_factory):
    """A table of 900 people in three groups, whose comparison takes a few seconds."""
    bunch = make_base_rate_groups((0.5, 0.3, 0.7), n_per_group=300, random_state=0, drop_group=True)
    frame = bunch.data.assign(group=bunch.group.to_numpy(), noise=np.random.RandomState(1).normal(size=900))
    path = tmp_path_factory.mktemp("data") / "people.csv"
    frame.assign(qualified=bunch.target).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def small_plan(small_csv):
    return Plan((own_table(small_csv, "qualified", "group"),), tuple(METHODS), COSTS, splits=2)


@pytest.fixture(scope="module")
def reference(small_plan, tmp_path_factory):
    """What an uninterrupted sweep in this process stores."""
    with Store(tmp_path_factory.mktemp("reference") / "results.sqlite") as store:
        assert run_sweep(small_plan, store, InProcess()) == len(small_plan.cells()) == 24
        return store.contents()


def command(path, small_csv, *more):
    """The command of the small sweep, as a process of its own."""
    return [
        *(sys.executable, "-c", "from selfselect.cli import main; main()", "reproduce"),
        *("--store", str(path), "--data", str(small_csv), "--label", "qualified", "--group", "group"),
        *(word for cost in COSTS for word in ("--cost", str(cost))),
        *more,
    ]


# ---------------------------------------------------------------------- results


def test_a_result_holds_all_that_its_metrics_follow_from():
    (result,) = run_unit(Unit(BundledSource("adult"), "naive", 0, (0.725,)))
    assert result.train_counts["n"] == [942, 2965, 553, 6771]
    assert sum(result.train_counts["positives"]) == 2495
    assert result.groups == ("Asian-Pac-Islander", "Black", "Other", "White")
    again = metrics_from_counts(result.groups, result.train_counts, result.test_counts, 0.725)
    assert again == (result.train_metrics, result.test_metrics)
    assert result.test_metrics["applying_groups"] == 2


def test_who_applies_is_decided_by_training_people_and_undefined_is_none():
    train = {"n": [10, 10], "positives": [5, 5], "selected": [4, 0], "true_positives": [3, 0]}
    test = {"n": [10, 10], "positives": [5, 5], "selected": [4, 4], "true_positives": [1, 4]}
    on_train, on_test = metrics_from_counts(("A", "B"), train, test, 0.75)
    assert on_test["applying_groups"] == 1
    assert on_test["induced_accuracy"] == pytest.approx((10 - 5 - 4 + 2) / 10)
    assert on_test["social_cost"] == 0.5
    assert metrics_from_counts(("A", "B"), train, test, 0.8)[1]["induced_accuracy"] is None
    assert on_train["spearman"] is None


def test_a_cost_gives_the_same_result_alone_and_among_others(small_plan):
    source = small_plan.sources[0]
    for method in METHODS:
        together = run_unit(Unit(source, method, 1, COSTS))
        apart = [run_unit(Unit(source, method, 1, (cost,)))[0] for cost in reversed(COSTS)]
        assert together == apart[::-1]


def test_a_failing_fit_is_named(monkeypatch, small_plan):
    def fail(*args):
        raise RuntimeError("no luck")

    monkeypatch.setitem(METHODS, "naive", replace(METHODS["naive"], fit=fail))
    with pytest.raises(UnitError, match=r"people, naive, split 1, cost 0.7: RuntimeError: no luck"):
        run_unit(Unit(small_plan.sources[0], "naive", 1, (0.7,)))


def test_splits_are_those_of_the_paper():
    halves = split_table(load_bundled("bank_30"), 0)
    assert (len(halves.train.y), len(halves.test.y)) == (22_487, 9_638)


# ---------------------------------------------------------------------- plans


def test_a_plan_counts_costs_once_and_refuses_nonsense_by_name():
    assert len(Plan().cells()) == 3 * 6 * 9 * 10
    assert Plan(costs=(0.7, 0.70000000001)).costs == (0.7,)
    with pytest.raises(ValueError, match="No method 'magic'; there are naive, semi"):
        Plan(methods=("magic",))
    with pytest.raises(ValueError, match="cost must lie in"):
        Plan(costs=(1.5,))


def test_methods_that_share_work_get_all_costs_in_one_unit():
    units = Plan(methods=("semi", "strat_x"), splits=1, sources=(BundledSource("adult"),)).units(set())
    assert [len(unit.costs) for unit in units] == [9] + [1] * 9


def test_an_estimate_uses_measured_times_where_there_are_any(small_plan, tmp_path):
    rough = estimate(small_plan, None, workers=1)
    assert (rough.fits, rough.measured) == (24, False)
    with Store(tmp_path / "results.sqlite") as store:
        run_sweep(replace(small_plan, splits=1), store, InProcess())
        better = estimate(small_plan, store, workers=2)
    assert (better.fits, better.measured) == (12, True)
    assert 0 < better.seconds < 60


# ---------------------------------------------------------------------- the store


def test_results_come_back_as_they_went_in(tmp_path):
    (result,) = run_unit(Unit(BundledSource("adult"), "naive", 0, (0.7,)))
    with Store(tmp_path / "a.sqlite") as store:
        store.write([result])
        assert store.results() == [result]
        assert store.done() == {Cell("adult", "naive", 0.7, 0)}
    with sqlite3.connect(tmp_path / "a.sqlite") as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    db.close()


def test_a_result_is_never_overwritten_and_several_are_written_all_or_none(tmp_path):
    first, second = run_unit(Unit(BundledSource("adult"), "naive", 0, (0.7, 0.8)))
    with Store(tmp_path / "a.sqlite") as store:
        store.write([first])
        with pytest.raises(StoreError, match="UNIQUE"):
            store.write([second, first])
        assert store.done() == {first.cell}


def test_a_store_of_another_schema_version_is_refused_by_name(tmp_path):
    path = tmp_path / "old.sqlite"
    Store(path).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 7")
    db.close()
    with pytest.raises(StoreError, match=r"old\.sqlite is a store of schema version 7.*reads version 1"):
        Store(path)


def test_other_files_are_left_alone(tmp_path):
    other = tmp_path / "other.sqlite"
    db = sqlite3.connect(other)
    db.execute("CREATE TABLE mine (x)")
    db.close()
    before = other.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        Store(other)
    assert other.read_bytes() == before
    text = tmp_path / "notes.txt"
    text.write_text("dear diary " * 500)
    with pytest.raises(StoreError, match="not a SQLite file"):
        Store(text)
    with pytest.raises(StoreError, match="no folder"):
        Store(tmp_path / "nowhere" / "a.sqlite")
    with pytest.raises(StoreError, match="There is no store"):
        Store(tmp_path / "nothing.sqlite", create=False)


def test_other_data_or_settings_under_the_same_name_are_refused(small_plan, small_csv, tmp_path, monkeypatch):
    plan = replace(small_plan, methods=("naive",), splits=1)
    with Store(tmp_path / "a.sqlite") as store:
        run_sweep(plan, store, InProcess())
        monkeypatch.setitem(METHODS, "naive", replace(METHODS["naive"], settings=lambda dataset, cost: {"new": 1}))
        with pytest.raises(StoreError, match=r"other settings \(people, naive, cost 0\.7, split 0\)"):
            run_sweep(plan, store, InProcess())
        monkeypatch.undo()
        other = tmp_path / "people.csv"
        other.write_text("".join(small_csv.read_text().splitlines(keepends=True)[:-1]))
        with pytest.raises(StoreError, match="other data under the name 'people'"):
            run_sweep(replace(plan, sources=(own_table(other, "qualified", "group"),)), store, InProcess())


def test_a_full_disk_is_a_clear_error_and_what_is_stored_stays(small_plan, reference, tmp_path):
    with Store(tmp_path / "a.sqlite") as store:
        run_sweep(replace(small_plan, splits=1), store, InProcess())
        before = store.contents()
        pages = store._db.execute("PRAGMA page_count").fetchone()[0]
        store._db.execute(f"PRAGMA max_page_count = {pages + 1}")
        with pytest.raises(StoreError, match=r"the disk is full.*intact.*run the same command again"):
            run_sweep(replace(small_plan, splits=20, methods=("naive",)), store, InProcess())
        store._db.execute("PRAGMA max_page_count = 1073741823")
        assert store._db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert set(before) < set(store.contents())
        run_sweep(small_plan, store, InProcess())
        assert set(reference) <= set(store.contents())


# ---------------------------------------------------------------------- claims


def test_a_fit_is_claimed_once_and_comes_back_when_given_up(tmp_path):
    cells = [Cell("adult", "naive", cost, 0) for cost in COSTS]
    with Store(tmp_path / "a.sqlite") as first, Store(tmp_path / "a.sqlite") as second:
        assert first.claim(cells[:1]) == cells[:1]
        assert second.claim(cells) == cells[1:]
        assert second.under_way() == set(cells)
        first.release()
        assert second.claim(cells) == cells[:1]


def test_claims_of_a_dead_process_are_void_at_once_and_those_of_a_silent_host_after_the_lease(tmp_path, monkeypatch):
    cells = [Cell("adult", "naive", 0.7, split) for split in range(2)]
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    with Store(tmp_path / "a.sqlite") as store:
        row = "INSERT INTO owners VALUES (?, ?, ?, ?, ?)"
        store._db.execute(row, ("dead", store_module.socket.gethostname(), child.pid, "1", time.time()))
        store._db.execute(row, ("away", "another-host", 1, "1", time.time()))
        for owner, cell in zip(("dead", "away"), cells, strict=True):
            store._db.execute("INSERT INTO claims VALUES (?, ?, ?, ?, ?)", (*cell.key, owner))
        assert store.claim(cells) == cells[:1]
        store._db.execute("UPDATE owners SET heard = ? WHERE owner = 'away'", (time.time() - store_module.LEASE - 1,))
        assert store.claim(cells) == cells[1:]


def test_two_sweeps_on_one_store_do_no_work_twice(small_plan, reference, tmp_path):
    done = {}

    def sweep(name):
        with Store(tmp_path / "shared.sqlite") as store:
            done[name] = run_sweep(small_plan, store, InProcess(), poll=0.05)

    threads = [threading.Thread(target=sweep, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(done.values()) == len(reference)
    assert min(done.values()) > 0
    with Store(tmp_path / "shared.sqlite") as store:
        assert store.contents() == reference


# ---------------------------------------------------------------------- engines


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
        with pytest.raises(WorkerDiedError, match=r"worker process has died.*run the same command again"):
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
        open_ports = [
            connection.laddr.ip
            for process in [here, *here.children(recursive=True)]
            for connection in process.net_connections(kind="inet")
            if connection.status == psutil.CONN_LISTEN
        ]
        assert open_ports
        assert set(open_ports) == {"127.0.0.1"}
        assert engine.slots >= 1
        future = engine.submit(Unit(small_plan.sources[0], "naive", 0, (0.7,)))
        (result,) = future.result()
        assert result == run_unit(Unit(small_plan.sources[0], "naive", 0, (0.7,)))[0]


def test_an_unreachable_scheduler_is_named():
    with pytest.raises(ValueError, match="Cannot reach a Dask scheduler at 'nonsense://"), DaskCluster("nonsense://x"):
        pass


# ---------------------------------------------------------------------- interruptions, for real


def descendants(pid):
    """Processes that a process has started, directly or not."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:
                    parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found, front = set(), {pid}
    while front:
        front = {child for child, parent in parents.items() if parent in front}
        found |= front
    return found


def alive(pid):
    return store_module._process_mark(pid) is not None


def busy():
    """How many times as long things take as on a machine without other work, at least about."""
    return max(1.0, os.getloadavg()[0] / len(os.sched_getaffinity(0)))


def wait_for(condition, seconds=30.0):
    end = time.monotonic() + seconds * busy()
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def count_results(path):
    if not path.exists():
        return 0
    db = sqlite3.connect(path)
    try:
        return db.execute("SELECT count(*) FROM results").fetchone()[0]
    except sqlite3.OperationalError:
        return 0
    finally:
        db.close()


linux_only = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks at processes through /proc")


@linux_only
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_ends_everything_within_seconds_and_says_how_to_go_on(small_csv, tmp_path, workers):
    path = tmp_path / "a.sqlite"
    process = subprocess.Popen(
        command(path, small_csv, "--splits", "400", "--workers", str(workers)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # a shell that runs the tests in the background has them ignore interrupts, and that is inherited
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        wait_for(lambda: count_results(path) > 3)
        family = descendants(process.pid)
        assert workers == 1 or len(family) >= 2
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does it: to all of them
        started = time.monotonic()
        _, errors = process.communicate(timeout=60)
        assert time.monotonic() - started < 5 * busy()
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130
    assert "run the same command again" in errors
    assert "Traceback" not in errors
    wait_for(lambda: not any(map(alive, family)), 5)
    with Store(path) as store:
        assert store.under_way() == set()


@linux_only
def test_after_kills_at_random_moments_the_results_are_those_of_one_run(small_csv, small_plan, tmp_path):
    path = tmp_path / "a.sqlite"
    random = np.random.RandomState(0)
    plan = replace(small_plan, splits=6)
    before = 0
    for _ in range(3):
        process = subprocess.Popen(
            command(path, small_csv, "--splits", "6", "--workers", "2"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            wait_for(lambda: count_results(path) > before or process.poll() is not None)  # noqa: B023
            time.sleep(random.uniform(0, 0.3))
            family = descendants(process.pid)
        finally:
            process.kill()
            process.wait()
        before = count_results(path)
        wait_for(lambda: not any(map(alive, family)), 5)  # noqa: B023  # workers do not outlive their parent
    with Store(path) as store:
        assert store._db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        there = len(store.done())
        assert run_sweep(plan, store, InProcess()) == len(plan.cells()) - there
        contents = store.contents()
    with Store(tmp_path / "whole.sqlite") as store:
        run_sweep(plan, store, InProcess())
        assert contents == store.contents()


def test_stored_json_is_readable_by_others(tmp_path):
    (result,) = run_unit(Unit(BundledSource("adult"), "strat_x", 0, (0.7,)))
    with Store(tmp_path / "a.sqlite") as store:
        store.write([result])
    db = sqlite3.connect(tmp_path / "a.sqlite")
    configuration, counts = db.execute("SELECT configuration, test_counts FROM results").fetchone()
    db.close()
    assert json.loads(configuration) == {"equal_tpr": 0.0, "group_columns": True, "parity": 0.0, "tolerance": 0.02}
    assert sum(json.loads(counts)["n"]) == 4814
