"""Run the fuzzers of tests/fuzzing for minutes and write a table of inputs, seconds and findings.

A finding is an error that is not ours, a number that an independent slow reading of the same file does not confirm, or
a name that a browser or a spreadsheet would run. Every input is made from its seed, so a finding can be repeated with
``--kind KIND --seed NUMBER --files 1``.
"""

from __future__ import annotations

import argparse
import platform
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from browsing import CHROMIUM, NO_CHROMIUM, chromium  # noqa: E402
from fuzzing.kinds import KINDS  # noqa: E402
from fuzzing.tables import Tally, generator  # noqa: E402


@dataclass
class Run:
    """Outcome of one kind of input."""

    kind: str
    tally: Any = field(default_factory=Tally)
    seconds: float = 0.0
    findings: list[str] = field(default_factory=list)
    skipped: str = ""


@contextmanager
def ready(kind: str) -> Iterator[Callable[..., None]]:
    """Function that tries one input of a kind, with a browser if the kind needs one."""
    once: Any = KINDS[kind].once
    if not KINDS[kind].in_browser:
        yield once
        return
    with chromium() as browser:
        yield once(browser)


def fuzz(kind: str, seed: int, files: int | None, seconds: float) -> Run:
    run = Run(kind)
    if KINDS[kind].in_browser and CHROMIUM is None:
        run.skipped = NO_CHROMIUM
        print(f"{kind} is skipped: {NO_CHROMIUM}.", file=sys.stderr)
        return run
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(), ready(kind) as once:
        warnings.simplefilter("ignore")
        started = time.monotonic()
        while (run.tally.tried < files) if files is not None else (time.monotonic() - started < seconds):
            before = run.tally.tried
            number = seed + before
            try:
                once(generator(number), Path(folder), run.tally)
            except Exception:
                run.findings.append(f"{kind}, seed {number}:\n{traceback.format_exc()}")
                print(run.findings[-1], file=sys.stderr)
                run.tally.tried = max(run.tally.tried, before + 1)
        run.seconds = time.monotonic() - started
    return run


def row(run: Run) -> str:
    title, t = KINDS[run.kind].title, run.tally
    if run.skipped:
        return f"| {title} | not run: no chromium | | | | | |"
    numbers = f"{t.tried:,} | {t.refused:,} | {t.read:,} | {t.compared:,} | {run.seconds:,.0f} | {len(run.findings)}"
    return f"| {title} | {numbers} |"


def log(runs: list[Run], seed: int) -> str:
    """Table of the runs, and their findings."""
    lines = [
        f"Fuzzing from seed {seed}, {date.today().isoformat()}, Python {platform.python_version()}",
        "",
        "| inputs | tried | refused | read or shown | compared | seconds | findings |",
        "|---|--:|--:|--:|--:|--:|--:|",
        *map(row, runs),
        *(f"\n{finding}" for run in runs for finding in run.findings),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=3.0, help="for each kind of inputs")
    parser.add_argument("--seed", type=int, default=1_000_000, help="of the first input")
    parser.add_argument("--files", type=int, help="so many inputs instead of so many minutes")
    parser.add_argument("--kind", choices=list(KINDS), action="append", help="default: all")
    parser.add_argument("--out", type=Path, help="where the table goes; by default it is shown only")
    given = parser.parse_args()
    kinds = given.kind or list(KINDS)
    runs = [fuzz(kind, given.seed, given.files, 60 * given.minutes) for kind in kinds]
    text = log(runs, given.seed)
    print(text)
    if given.out is not None:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(text, encoding="utf-8")
    return int(any(run.findings for run in runs))


if __name__ == "__main__":
    sys.exit(main())
