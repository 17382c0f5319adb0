"""What one round of work on a local Dask cluster takes beyond the work itself. Writes results/dask_rounds.md."""

from __future__ import annotations

from _common import to_markdown, write  # first: it sets the number of threads

# isort: split
from time import perf_counter

import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

from selfselect.counting.rows import DaskRows

REPEATS = 15
#: Numbers that a part sends to the client: a value and a gradient of K x d.
GROUPS, FEATURES = 10, 20


def nothing(block):
    return block


def small_result(part):
    return np.zeros(GROUPS * FEATURES + 1)


def main():
    table = []
    local = {"host": "127.0.0.1", "dashboard_address": None, "worker_dashboard_address": None}
    for workers in (1, 2):
        with LocalCluster(n_workers=workers, threads_per_worker=1, **local) as cluster, Client(cluster) as client:
            for partitions in (1, 8, 32):
                rows = DaskRows.scatter(client, [np.zeros(1)] * partitions)
                parts = rows.each(nothing)
                parts.total(small_result)
                times = []
                for _ in range(REPEATS):
                    start = perf_counter()
                    parts.total(small_result)
                    times.append(1000 * (perf_counter() - start))
                table.append(
                    {
                        "workers": workers,
                        "partitions": partitions,
                        "fastest round, ms": f"{min(times):.1f}",
                        "median, ms": f"{np.median(times):.1f}",
                    }
                )
    write(
        "dask_rounds.md",
        "# A round on Dask\n\nMade by `python benchmarks/dask_rounds.py`: processes on loopback, parts that do\n"
        f"nothing and return {GROUPS * FEATURES + 1} numbers each.\n\n{to_markdown(pd.DataFrame(table))}\n",
    )


if __name__ == "__main__":
    main()
