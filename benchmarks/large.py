"""Start-up, and audits of files of up to ten million rows: processor time and memory. Writes results/large.md.

The limit is what pyarrow alone needs to read the same three columns. With ``--rows 1000000`` it is over sooner.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from _common import to_markdown, write  # first: it sets the number of threads

# isort: split
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

PART = 1_000_000
COLUMNS = ["repaid", "region", "score"]
PEAK = 'open("/proc/self/status").read().split("VmHWM:")[1].split()[0]'
COMMAND = f"""
import sys
from selfselect.cli import main
sys.argv[0] = "selfselect"
try:
    main()
finally:
    print({PEAK}, file=sys.stderr)
"""
READ = f"""
import sys
import pyarrow as pa
columns, path = {COLUMNS}, sys.argv[1]
pa.set_cpu_count(1)
if path.endswith(".csv"):
    import pyarrow.csv as pc
    options = pc.ConvertOptions(include_columns=columns)
    blocks = pc.open_csv(path, pc.ReadOptions(use_threads=False, block_size=2**22), convert_options=options)
else:
    import pyarrow.parquet as pq
    blocks = pq.ParquetFile(path).iter_batches(2**17, columns=columns, use_threads=False)
assert sum(block.num_rows for block in blocks)
print({PEAK}, file=sys.stderr)
"""
START = f"import sys\nimport numpy, pandas, scipy.special, pyarrow.csv\nprint({PEAK}, file=sys.stderr)"
OPTIONS = ["--label", "repaid", "--group", "region", "--cost", "0.7", "--score", "score"]


def people(rows, seed):
    """Scores of six digits, so that nearly every row has its own combination of group, label and score."""
    rng = np.random.default_rng(seed)
    region = rng.choice(["North", "South", "East", "West", "Centre"], rows, p=[0.4, 0.3, 0.15, 0.1, 0.05])
    score, other = rng.random((2, rows)).round(6)
    columns = {"id": np.arange(rows), "region": region, "age": rng.integers(18, 70, rows)}
    qualified = (rng.random(rows) < score).astype(int)
    return pa.table({**columns, "repaid": qualified, "score": score, "other": other})


def write_files(folder, rows):
    """The same people as CSV and as Parquet, written piece by piece."""
    paths = Path(folder, f"{rows}.csv"), Path(folder, f"{rows}.parquet")
    schema = people(1, 0).schema
    with pc.CSVWriter(paths[0], schema) as text, pq.ParquetWriter(paths[1], schema) as parquet:
        for seed, start in enumerate(range(0, rows, PART)):
            part = people(min(PART, rows - start), seed)
            text.write(part)
            parquet.write_table(part)
    return paths


def measured(program, *arguments):
    """Seconds of processor time, and the most memory held, in MB."""
    before = os.times()
    done = subprocess.run([sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True)
    after = os.times()
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr)
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return used, int(done.stderr.split()[-1]) / 1024


def row(work, cost, limit):
    (time, memory), (least, least_memory) = cost, limit
    return {
        "work": work,
        "s": f"{time:.2f}",
        "peak MB": f"{memory:.0f}",
        "limit, s": f"{least:.2f}",
        "limit, MB": f"{least_memory:.0f}",
        "time / limit": f"{time / least:.1f}",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    largest = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        libraries = min(measured(START) for _ in range(3))
        plain = min(measured("import sys\nprint(0, file=sys.stderr)") for _ in range(3))
        tiny = write_files(folder, 200)[0]
        start = min(measured(COMMAND, "audit", tiny, *OPTIONS) for _ in range(3))
        starts = [
            row("`--version`", min(measured(COMMAND, "--version") for _ in range(3)), plain),
            row("`--help`", min(measured(COMMAND, "--help") for _ in range(3)), plain),
            row("`audit` of 200 rows", start, libraries),
        ]
        rows = []
        for size in sorted({10_000, 1_000_000, largest}):
            for path in write_files(folder, size):
                name, limit = f"{path.suffix[1:]}, {size:,} rows", measured(READ, path)
                rows.append(row(f"`audit`, {name}", measured(COMMAND, "audit", path, *OPTIONS), limit))
        for command in ("plan", "frontier"):
            rows.append(row(f"`{command}`, {name}", measured(COMMAND, command, path, *OPTIONS), limit))
        both = measured(COMMAND, "compare", path, *OPTIONS, "--score", "other")
        rows.append(row(f"`compare` of two scores, {name}", both, limit))
    write(
        "large.md",
        f"# Start-up, and large files\n\nMade by `python benchmarks/large.py --rows {largest}`: processor time of the\n"
        "whole command on one thread, and its peak memory.\n\n"
        "## Start-up\n\nThe limit is Python alone, and for the audit Python with numpy, pandas, scipy.special and\n"
        f"pyarrow.\n\n{to_markdown(pd.DataFrame(starts))}\n\n"
        "## Files\n\nScores of six digits in five groups. Up to 1,048,576 different combinations of group, label and\n"
        "score are kept exactly; the largest file has more, and its scores are rounded. The limit is pyarrow alone\n"
        f"reading the three columns.\n\n{to_markdown(pd.DataFrame(rows))}\n",
    )


if __name__ == "__main__":
    main()
