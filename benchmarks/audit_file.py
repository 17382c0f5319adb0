"""Time and memory of ``selfselect audit`` on a table of a million rows. Writes results/audit_file.md."""

from __future__ import annotations

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


def audit(path, *model):
    """Seconds of processor time of the whole command, and the most memory it held, in MB."""
    command = [sys.executable, "-c", MEASURE, "audit", str(path), "--label", "repaid", "--group", "region", *model]
    before = os.times()
    done = subprocess.run([*command, "--cost", "0.7"], capture_output=True, text=True, check=True)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return used, int(done.stderr.split()[-1]) / 1024


def main():
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder, "people.csv")
        frame = table(ROWS)
        frame.to_csv(plain, index=False)
        frame.to_csv(Path(folder, "people.csv.gz"), index=False)
        start = time.process_time()
        with plain.open(newline="") as file:
            for _ in csv.reader(file):
                pass
        reference = time.process_time() - start
        rows = []
        for name, file, model in (
            ("score", plain, ("--score", "score")),
            ("score, gzip", Path(folder, "people.csv.gz"), ("--score", "score")),
            ("score, with report", plain, ("--score", "score", "--report", str(Path(folder, "out.html")))),
            ("decisions", plain, ("--prediction", "decision")),
        ):
            used, memory = audit(file, *model)
            rows.append({"table": name, "time / csv.reader": f"{used / reference:.1f}", "peak MB": f"{memory:.0f}"})
    write(
        "audit_file.md",
        "# selfselect audit on a file\n\n"
        f"Made by `make bench`. {ROWS:,} rows of 6 columns. Time: processor time of the whole command, start\n"
        f"included, as a multiple of what Python's csv.reader needs for the same file ({reference:.2f} s here).\n\n"
        f"{to_markdown(pd.DataFrame(rows))}\n",
    )


if __name__ == "__main__":
    main()
