"""Fits in threads and audits of many groups.

Writes results/load.md. Besides times, as ratios within one run, it checks that load changes no result.
"""

from __future__ import annotations

from _common import best_of, to_markdown, write  # first: it sets the number of threads

# isort: split
import warnings
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_info

from selfselect import ApplicationWarning, StrategicClassifier, audit
from selfselect.datasets import fetch_adult

THREADS = (1, 4, 16)
ROWS = 1_000_000
GROUPS = (10, 1_000, 100_000)
COST = 0.7


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
        "# Load\n\n"
        "Made by `make bench`, which fails if load changes a result.\n\n"
        "## Fits in parallel threads\n\n"
        "`StrategicClassifier` on all of Adult.\n\n"
        f"{to_markdown(in_threads())}\n\n"
        "## Groups in an audit\n\n"
        f"{ROWS:,} people with scores; who applies is compared with sums by pandas.\n"
        "sort: numpy's stable argsort of the same scores.\n\n"
        f"{to_markdown(of_many_groups())}\n",
    )


if __name__ == "__main__":
    main()
