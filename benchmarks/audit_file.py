"""Time and memory of reading a table of a million rows and of ``selfselect audit`` on it. Writes results/audit_file.md.

With ``--rows-of-parquet 10000000`` the Parquet file has ten million rows.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _common import to_markdown, write  # first: it sets the number of threads

# isort: split
import numpy as np
import pandas as pd

from selfselect.tabular.columns import as_numbers, group_frame, read_binary
from selfselect.tabular.read import open_table

ROWS = 1_000_000
MEASURE = """
import sys
from selfselect.cli import main
sys.argv[0] = "selfselect"
try:
    main()
finally:
    status = open("/proc/self/status").read()  # the peak of this process alone, without its parent's
    print(status.split("VmHWM:")[1].split()[0], file=sys.stderr)
"""


def table(rows, seed=0):
    rng = np.random.default_rng(seed)
    region = rng.choice(["North", "South", "East", "West", "Centre"], rows, p=[0.4, 0.3, 0.15, 0.1, 0.05])
    score = rng.random(rows).round(6)
    return pd.DataFrame(
        {
            "id": np.arange(rows),
            "region": region,
            "age": rng.integers(18, 70, rows),
            "repaid": (rng.random(rows) < score).astype(int),
            "score": score,
            "decision": (score > 0.5).astype(int),
        }
    )


def write_parquet(path, rows):
    """The same kind of table, written piece by piece, so that it need not fit into memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    for seed, start in enumerate(range(0, rows, ROWS)):
        part = pa.Table.from_pandas(table(min(ROWS, rows - start), seed), preserve_index=False)
        writer = writer or pq.ParquetWriter(path, part.schema)
        writer.write_table(part, row_group_size=100_000)
    writer.close()


def processor_time(call, repeats=3):
    """Least processor time of a few calls, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def read(path):
    """Labels, groups and scores of a table, as every command reads them."""
    with open_table(path) as opened:
        where = [opened.position(name) for name in ("repaid", "region", "score")]
        labels, groups, scores = opened.columns(where)
        read_binary(opened, labels, is_label=True)
        group_frame(opened, [groups])
        as_numbers(opened, scores)
        opened.sha256()


def audit(path, *model):
    """Seconds of processor time of the whole command, and the most memory it held, in MB."""
    command = [sys.executable, "-c", MEASURE, "audit", str(path), "--label", "repaid", "--group", "region", *model]
    before = os.times()
    done = subprocess.run([*command, "--cost", "0.7"], capture_output=True, text=True, check=True)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return used, int(done.stderr.split()[-1]) / 1024


def reading_rows(folder, frame):
    """How long reading takes, beside pandas, for files that are written in different ways."""
    ways = {
        "as pandas writes it": {},
        "texts in quotes": {"quoting": csv.QUOTE_NONNUMERIC},
        "semicolons, decimal commas": {"sep": ";", "decimal": ","},
        "scores of 16 digits": {},
    }
    for name, how in ways.items():
        path = Path(folder, "ways.csv")
        written = frame.assign(score=frame["score"] / 3) if "digits" in name else frame
        written.to_csv(path, index=False, **how)
        same = {key: value for key, value in how.items() if key != "quoting"}
        pandas = processor_time(lambda path=path, same=same: pd.read_csv(path, **same))
        ours = processor_time(lambda path=path: read(path))
        yield {"file": name, "pandas.read_csv, s": f"{pandas:.2f}", "reading / pandas.read_csv": f"{ours / pandas:.1f}"}


def audit_rows(folder, frame, parquet_rows):
    """How long the command takes, beside pandas, and what memory."""
    plain, packed, parquet = (Path(folder, name) for name in ("people.csv", "people.csv.gz", "people.parquet"))
    frame.to_csv(plain, index=False)
    frame.to_csv(packed, index=False)
    write_parquet(parquet, parquet_rows)
    reference = processor_time(lambda: pd.read_csv(plain))
    for name, file, model in (
        ("score", plain, ("--score", "score")),
        ("score, gzip", packed, ("--score", "score")),
        ("score, with report", plain, ("--score", "score", "--report", str(Path(folder, "out.html")))),
        ("decisions", plain, ("--prediction", "decision")),
        (f"decisions, Parquet of {parquet_rows:,} rows", parquet, ("--prediction", "decision")),
        (f"score, Parquet of {parquet_rows:,} rows", parquet, ("--score", "score")),
    ):
        used, memory = audit(file, *model)
        yield {"table": name, "time / pandas.read_csv": f"{used / reference:.1f}", "peak MB": f"{memory:.0f}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows-of-parquet", type=int, default=2 * ROWS)
    parquet_rows = parser.parse_args().rows_of_parquet
    with tempfile.TemporaryDirectory() as folder:
        frame = table(ROWS)
        reading = pd.DataFrame(reading_rows(folder, frame))
        audits = pd.DataFrame(audit_rows(folder, frame, parquet_rows))
    write(
        "audit_file.md",
        "# Reading a file, and selfselect audit on it\n\n"
        f"Made by `python benchmarks/audit_file.py --rows-of-parquet {parquet_rows}`. {ROWS:,} rows of 6 columns;\n"
        "processor time as a multiple of what pandas.read_csv needs for the same file.\n\n"
        "## Reading\n\n"
        "Labels, groups and scores from the file, with the hash of its bytes.\n\n"
        f"{to_markdown(reading)}\n\n"
        "## The whole command\n\n"
        "Start of Python, imports and the audit included, as a multiple of pandas.read_csv of the plain CSV file;\n"
        "decisions are counted as they come, scores are kept to be sorted.\n\n"
        f"{to_markdown(audits)}\n",
    )


if __name__ == "__main__":
    main()
