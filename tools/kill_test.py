"""Kill a sweep many times at random moments, resume it, and compare with one that was left alone.

    python tools/kill_test.py [--kills 20] [--workers 2] [--splits 10] [--seed 0]

After every kill (SIGKILL, to the command itself) the store must be whole, hold everything it held before, and have lost
at most one unit of work per worker; no process may survive. In the end the results must be, byte for byte, those of a
sweep that ran through, and no result may have been written twice. Exit code 0 if all of this holds.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from selfselect.reproduction import METHODS, BundledDataset, InProcess, Plan, Store, run_sweep

COSTS = (0.7, 0.8)


def rows(path: Path) -> set[tuple[str, str, float, int]]:
    if not path.exists():
        return set()
    db = sqlite3.connect(path)
    try:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",), "the store is damaged"
        found = db.execute("SELECT dataset, method, cost, split FROM results").fetchall()
        assert len(found) == len(set(found)), "a result was written twice"
        return set(found)
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):  # killed before it made its tables
            return set()
        raise
    finally:
        db.close()


def count(path: Path) -> int:
    """Results so far, without looking closely."""
    if not path.exists():
        return 0
    db = sqlite3.connect(path)
    try:
        return int(db.execute("SELECT count(*) FROM results").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        db.close()


def leased_units(path: Path) -> int:
    """Units that were under way at the kill: what is lost."""
    db = sqlite3.connect(path)
    try:
        leases = db.execute("SELECT dataset, method, cost, split FROM leases").fetchall()
    except sqlite3.OperationalError:
        return 0
    finally:
        db.close()
    return len({(d, m, None if METHODS[m].shares else c, s) for d, m, c, s in leases})


def kill_once(command: list[str], path: Path, chance: random.Random) -> float:
    """Start the sweep and kill it at a random moment; how many seconds after its start."""
    before = len(rows(path))
    process = subprocess.Popen([*command, "--store", str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    started = time.monotonic()
    if chance.random() < 0.75:  # else: while it starts, before there is anything to lose
        while count(path) <= before and process.poll() is None:
            time.sleep(0.05)
    time.sleep(chance.uniform(0.0, 2.0))
    moment = time.monotonic() - started
    process.send_signal(signal.SIGKILL)
    process.wait()
    return moment


def kill_often(command: list[str], path: Path, options: argparse.Namespace, complete: int) -> int:
    """Kill the sweep again and again, and look at the store after each; most units that were lost at a time."""
    chance, worst = random.Random(options.seed), 0
    for kill in range(1, options.kills + 1):
        before = rows(path)
        moment = kill_once(command, path, chance)
        after = rows(path)
        assert before <= after, "results have disappeared"
        lost = leased_units(path) if path.exists() else 0
        worst = max(worst, lost)
        assert lost <= options.workers, f"{lost} units lost by {options.workers} workers"
        print(f"kill {kill} after {moment:.1f} s: {len(after)} results, {lost} units lost", flush=True)
        if len(after) == complete:
            for file in path.parent.glob("killed.sqlite*"):
                file.unlink()
            print("it was complete; starting over", flush=True)
    return worst


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    plan = Plan((BundledDataset("adult"),), tuple(METHODS), COSTS, options.splits)
    command = [sys.executable, "-c", "from selfselect.cli import main; main()", "reproduce", "--dataset", "adult"]
    command += ["--workers", str(options.workers), "--splits", str(options.splits)]
    for cost in COSTS:
        command += ["--cost", str(cost)]

    with tempfile.TemporaryDirectory() as folder:
        path, whole = Path(folder) / "killed.sqlite", Path(folder) / "whole.sqlite"
        print(f"{len(plan.cells())} fits; first one sweep that runs through", flush=True)
        with Store(whole) as store:
            run_sweep(plan, store, InProcess())
            expected = store.contents()
        worst = kill_often(command, path, options, len(expected))
        finished = subprocess.run([*command, "--store", str(path)], capture_output=True, text=True, check=False)
        assert finished.returncode == 0, finished.stderr
        with Store(path) as store:
            assert store.contents() == expected, "the results differ from those of one run"
            assert not store.leases.under_way()
        left = [p for p in Path("/proc").glob("[0-9]*/cmdline") if _mentions(p, str(path))]
        assert not left, f"processes are left over: {left}"
        print(f"{options.kills} kills: the same results, none twice, at most {worst} units lost at a time")
    return 0


def _mentions(file: Path, text: str) -> bool:
    try:
        return int(file.parent.name) != os.getpid() and text.encode() in file.read_bytes()
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main())
