"""Run the fuzzers of tests/fuzzing for minutes and write what came out as a table: inputs, seconds, findings.

Every input is made from a number (its seed), so that a finding can be made again:
``--kind KIND --seed NUMBER --files 1``. Many names are on one page, which has one seed.
"""

from __future__ import annotations

import argparse
import platform
import sys
import tempfile
import textwrap
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
from fuzzing.kinds import FOUND, KINDS  # noqa: E402
from fuzzing.tables import Tally, generator  # noqa: E402

#: What the page says before its table.
WHAT = (
    "Damaged files, made from a seed each: bits flipped, pieces cut out, put in, doubled and swapped, values of "
    "the wrong kind, keys twice; of workbooks also the parts within, their names, order, flags and sizes. A "
    "finding is an error in other words than ours, or a number that an independent, slow reading of the same file "
    "does not confirm. And names of groups and columns, titles and notes, put together from pieces that browsers, "
    "scripts, templates and spreadsheets obey, on reports of every kind that chromium opens. There a finding is a "
    "script that runs, a dialog, a word on the console, a request, an element or a link that a name made, a name "
    "that is not shown as it is, or a cell of a saved table that a spreadsheet would run (`tests/fuzzing`). A "
    "quick run is among the tests; this is the long one. Written by `make fuzz`; do not edit."
)


@dataclass
class Run:
    """What became of one kind of inputs."""

    kind: str
    tally: Any = field(default_factory=Tally)
    seconds: float = 0.0
    findings: list[str] = field(default_factory=list)
    skipped: str = ""


@contextmanager
def ready(kind: str) -> Iterator[Callable[..., None]]:
    """What tries one input of a kind, with a browser where it needs one."""
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


def wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 118, break_long_words=False, break_on_hyphens=False)


def page(runs: list[Run], seed: int, asked: str) -> str:
    """The page about a run."""
    lines = [
        "# Fuzzing",
        "",
        *wrapped(WHAT),
        "",
        "| inputs | tried | refused | read or shown | compared | seconds | findings |",
        "|---|--:|--:|--:|--:|--:|--:|",
        *map(row, runs),
        "",
        *wrapped(
            f"This run: {asked}. The first input of each kind is made from seed {seed}, the others from the numbers "
            "after it (a page of names counts as many as it has names). Compared are the numbers of what could be read "
            "with the slow reading, and names with what the page shows. "
            f"{date.today().isoformat()}, Python {platform.python_version()}."
        ),
    ]
    if FOUND:
        lines += [
            "",
            "Found in earlier runs, mended since, and among the tests (the table is of this run only):",
            "",
        ]
        lines += [f"- {kind}, seed {number}: {what}" for kind, number, what in FOUND]
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
    asked = f"`make fuzz FUZZ_MINUTES={given.minutes:g} FUZZ_SEED={given.seed}`"
    if given.kind or given.files is not None:
        long = f"{given.files:,} inputs" if given.files is not None else f"{given.minutes:g} minutes"
        asked = f"{long} of each of {', '.join(kinds)}, from seed {given.seed}"
    text = page(runs, given.seed, asked)
    print(text)
    if given.out is not None:
        given.out.write_text(text, encoding="utf-8")
    return int(any(run.findings for run in runs))


if __name__ == "__main__":
    sys.exit(main())
