"""Sweeps that are interrupted and killed, for real."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from invented import SMALL_COSTS
from selfselect.reproduction import InProcess, Store, run_sweep
from selfselect.reproduction.sweep.leases import process_mark

linux_only = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks at processes through /proc")


def command(path, small_csv, *more):
    """The command of the small sweep, as a process of its own."""
    return [
        *(sys.executable, "-c", "from selfselect.cli import main; main()", "reproduce"),
        *("--store", str(path), "--data", str(small_csv), "--label", "qualified", "--group", "group"),
        *(word for cost in SMALL_COSTS for word in ("--cost", str(cost))),
        *more,
    ]


def start(words):
    """A command in a session of its own, as in a terminal."""
    return subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # a shell that runs the tests in the background has them ignore interrupts, and that is inherited
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


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
    return process_mark(pid) is not None


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


@linux_only
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_ends_everything_within_seconds_and_says_how_to_go_on(small_csv, tmp_path, workers):
    path = tmp_path / "a.sqlite"
    process = start(command(path, small_csv, "--splits", "400", "--workers", str(workers)))
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
        assert store.leases.under_way() == set()


def interrupted(process):
    """What a command says and leaves behind when Ctrl+C is pressed now."""
    family = descendants(process.pid)
    try:
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does it: to all of them
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    wait_for(lambda: not any(map(alive, family)), 10)
    return process.returncode, errors


@linux_only
@pytest.mark.parametrize("seconds", [0.15, 0.6, 1.2, 1.8])
def test_ctrl_c_while_a_sweep_starts_ends_it_in_plain_words(small_csv, tmp_path, seconds):
    words = command(tmp_path / "a.sqlite", small_csv, "--splits", "400")
    words[2] = f"import selfselect; print('begun', flush=True); {words[2]}"  # before that, it is Python's affair
    process = start(words)
    assert process.stdout.readline() == "begun\n"
    time.sleep(seconds)
    code, errors = interrupted(process)
    assert code == 130, errors
    assert "Interrupted." in errors
    assert "Traceback" not in errors


@linux_only
@pytest.mark.parametrize(
    ("engine", "starting"), [([], True), (["--scheduler", "local"], True), (["--scheduler", "local"], False)]
)
def test_ctrl_c_reaches_no_worker_and_ends_all_of_them(small_csv, tmp_path, engine, starting):
    path = tmp_path / "a.sqlite"
    process = start(command(path, small_csv, "--splits", "400", "--workers", "2", *engine))
    if starting:
        wait_for(lambda: len(descendants(process.pid)) >= 2)
        time.sleep(0.3)
    else:
        wait_for(lambda: count_results(path) > 3)
    code, errors = interrupted(process)
    assert code == 130, errors
    assert "run the same command again" in errors
    assert "Traceback" not in errors
    with Store(path) as store:
        assert store.leases.under_way() == set()
        assert len(store.results()) == len(store.done())


PAUSED = """
import os, signal, sys
from selfselect.reproduction import InProcess, Plan, Store, own_dataset, run_sweep
from selfselect.reproduction.sweep import leases

class Paused(InProcess):
    times = 0

    def submit(self, unit):
        future = super().submit(unit)
        self.times += 1
        if self.times == 3:  # with a result in hand that is not yet stored
            os.kill(os.getpid(), signal.SIGSTOP)
        return future

path, csv = sys.argv[1:]
plan = Plan((own_dataset(csv, "qualified", "group"),), ("naive", "strat_x"), (0.7, 0.8), splits=2)
with Store(path) as store:
    print(run_sweep(plan, store, Paused()))
"""


@linux_only
def test_a_sweep_that_was_stopped_while_another_took_over_goes_on_without_complaint(small_csv, tmp_path, small_plan):
    path = tmp_path / "a.sqlite"
    process = start([sys.executable, "-c", PAUSED, str(path), str(small_csv)])
    plan = replace(small_plan, methods=("naive", "strat_x"))
    try:
        wait_for(lambda: state_of(process.pid) == "T" or process.poll() is not None)
        with Store(path) as store:
            before = len(store.done())
            assert store.leases.under_way()
            store.database.connection.execute("UPDATE owners SET heard = heard - 61")  # a minute later
            assert run_sweep(plan, store, InProcess()) == len(plan.cells()) - before
            contents = store.contents()
        process.send_signal(signal.SIGCONT)
        out, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, errors) == (0, "")
    assert int(out) == before > 0  # what it had in hand was there already
    with Store(path) as store:
        assert store.contents() == contents
        assert not store.leases.under_way()


def state_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0]


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
        assert store.database.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        there = len(store.done())
        assert run_sweep(plan, store, InProcess()) == len(plan.cells()) - there
        contents = store.contents()
    with Store(tmp_path / "whole.sqlite") as store:
        run_sweep(plan, store, InProcess())
        assert contents == store.contents()
