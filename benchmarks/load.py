"""What is held when much is asked for at once: sweeps on one store, fits in threads, groups in an audit.

Writes results/load.md. Besides times, as ratios within one run, it checks that nothing is lost, done twice or changed
by the load, and ends with an error where that is not so.
"""

from __future__ import annotations

from _common import best_of, to_markdown, write  # first: it sets the number of threads

# isort: split
import multiprocessing
import tempfile
import warnings
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_info

from selfselect import ApplicationWarning, StrategicClassifier, audit
from selfselect.datasets import fetch_adult
from selfselect.reproduction import COSTS, BundledDataset, InProcess, Plan, Store, run_sweep
from selfselect.reproduction.sweep.units import Unit, run_unit

SWEEPS = (1, 2, 4, 8, 16)
SPLITS = 100
THREADS = (1, 4, 16)
ROWS = 1_000_000
GROUPS = (10, 1_000, 100_000)
COST = 0.7


class AtOnce(InProcess):
    """Engine whose fits take no time, so that sweeps only ask the store: every split gets the results of split 0."""

    def __init__(self, ready):
        self.ready = ready

    def submit(self, unit):
        """Have a unit done."""
        future = Future()
        future.set_result([replace(self.ready[cell.cost], cell=cell) for cell in unit.cells])
        return future


def sweep(path, plan, ready, gate, done):
    """One sweep of several; how many fits it did."""
    gate.wait()
    with Store(path) as store:
        done.put(run_sweep(plan, store, AtOnce(ready), poll=0.05))


def on_one_store():
    adult = BundledDataset("adult")
    plan = Plan((adult,), ("strat_x",), COSTS, SPLITS)
    ready = {cost: run_unit(Unit(adult, "strat_x", 0, (cost,)))[0] for cost in COSTS}
    processes = multiprocessing.get_context("fork")
    expected, alone, rows = None, None, []
    for number in SWEEPS:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "results.sqlite"
            gate, done = processes.Barrier(number + 1), processes.Queue()
            sweeps = [processes.Process(target=sweep, args=(path, plan, ready, gate, done)) for _ in range(number)]
            for each in sweeps:
                each.start()
            gate.wait()
            start = perf_counter()
            for each in sweeps:
                each.join()
            seconds = perf_counter() - start
            assert all(each.exitcode == 0 for each in sweeps), "a sweep has failed"
            shares = [done.get(timeout=10) for _ in sweeps]
            with Store(path, read_only=True) as store:
                contents = store.contents()
        expected, alone = expected or contents, alone or seconds
        assert contents == expected, "results are lost or others"
        assert sum(shares) == len(plan.cells()), "a fit was done twice"
        rows.append(
            {
                "sweeps": number,
                "results": len(contents),
                "seconds": f"{seconds:.1f}",
                "results a second": round(len(contents) / seconds),
                "time / one sweep": f"{seconds / alone:.2f}",
                "fewest and most by a sweep": f"{min(shares)}, {max(shares)}",
                "lost": 0,
                "twice": 0,
            }
        )
    return pd.DataFrame(rows)


def in_threads():
    people = fetch_adult()
    X, y, z = people.data.to_numpy(), people.target.to_numpy(), people.group.to_numpy()

    def fit(_=None):
        return StrategicClassifier(COST).fit(X, y, sensitive_features=z).coef_

    blas = threadpool_info()
    expected, alone, rows = fit(), None, []
    for number in THREADS:
        with ThreadPoolExecutor(number) as pool:
            start = perf_counter()
            found = list(pool.map(fit, range(16)))
            seconds = perf_counter() - start
        same = sum((each == expected).all() for each in found)
        assert same == len(found), "fits beside each other differ from one alone"
        alone = alone or seconds
        assert threadpool_info() == blas, "threads of the linear algebra were left changed"
        rows.append(
            {
                "threads": number,
                "fits": len(found),
                "equal to one alone, bit by bit": same,
                "time / one thread": f"{seconds / alone:.2f}",
            }
        )
    return pd.DataFrame(rows)


def of_many_groups():
    rng = np.random.default_rng(0)
    score = rng.uniform(size=ROWS)
    y = (rng.uniform(size=ROWS) < score).astype(int)
    sort = best_of(lambda: np.argsort(score, kind="stable"))
    rows = []
    for number in GROUPS:
        z = rng.permutation(np.arange(ROWS) % number)
        found = audit(y, sensitive_features=z, score=score, threshold=0.5, cost=COST)
        assert found.to_frame()["n"].sum() == ROWS, "people are lost"
        frame = pd.DataFrame({"z": z, "y": y, "selected": score > 0.5})
        passed = frame[frame["selected"]].groupby("z")["y"].agg(["sum", "size"]).reindex(range(number), fill_value=0)
        expected = (passed["size"] > 0) & (passed["sum"] >= COST * passed["size"] - 1e-9)
        assert (found.to_frame()["applies"].to_numpy() == expected.to_numpy()).all(), "other groups apply"
        seconds = best_of(lambda z=z: audit(y, sensitive_features=z, score=score, threshold=0.5, cost=COST).to_frame())
        text = len(found.to_json())
        rows.append(
            {
                "groups": number,
                "applying": int(expected.sum()),
                "seconds": f"{seconds:.2f}",
                "time / sort": f"{seconds / sort:.1f}",
                "JSON, kB": round(text / 1000),
            }
        )
    return pd.DataFrame(rows)


def main():
    warnings.simplefilter("ignore", ApplicationWarning)
    write(
        "load.md",
        "# Load held\n\n"
        "Made by `make bench`. Where something is lost, done twice or changed by the load, it ends with an error\n"
        "instead of a table.\n\n"
        "## Sweeps on one store at once\n\n"
        "Processes that share the work of one file; fits take no time here, so that all they do is to lease, write\n"
        "and read.\n\n"
        f"{to_markdown(on_one_store())}\n\n"
        "## Fits beside each other in threads\n\n"
        "`StrategicClassifier` on all of Adult.\n\n"
        f"{to_markdown(in_threads())}\n\n"
        "## Groups in an audit\n\n"
        f"{ROWS:,} people with scores, counted and judged; who applies is compared with pandas' sums of the rows.\n"
        "sort: numpy's stable argsort of the same scores.\n\n"
        f"{to_markdown(of_many_groups())}\n",
    )


if __name__ == "__main__":
    main()
