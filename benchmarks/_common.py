"""Shared by the benchmarks: times as ratios within one run, tables as Markdown."""

from __future__ import annotations

import platform
import tracemalloc
from pathlib import Path
from time import perf_counter

import _threads  # noqa: F401

# isort: split
import numpy as np
import sklearn

from selfselect import __version__

RESULTS = Path(__file__).parent / "results"


def best_of(call, repeats=3):
    """Least wall time of a few calls: the one least disturbed by other work."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return min(times)


def peak_memory(call):
    """Most bytes that were allocated at once during a call."""
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def to_markdown(frame):
    lines = ["| " + " | ".join(map(str, frame.columns)) + " |", "|" + "---|" * frame.shape[1]]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in frame.itertuples(index=False)]
    return "\n".join(lines)


def write(name, text):
    RESULTS.mkdir(exist_ok=True)
    machine = (
        f"selfselect {__version__}, Python {platform.python_version()}, numpy {np.__version__}, "
        f"scikit-learn {sklearn.__version__}, {platform.machine()}, one core"
    )
    (RESULTS / name).write_text(f"{text.rstrip()}\n\n{machine}\n")
    print(text)
