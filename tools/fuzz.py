"""Run the fuzzers of tests/fuzzing for minutes and write what came out as a table: inputs, seconds, findings.

Every input is made from a number (its seed), so that a finding can be made again:
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
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from fuzzing.models import try_model  # noqa: E402
from fuzzing.tables import Tally, generator, try_csv, try_parquet  # noqa: E402

KINDS: dict[str, Callable[..., None]] = {"csv": try_csv, "parquet": try_parquet, "model": try_model}
TITLES = {"csv": "CSV, plain and gzipped", "parquet": "Parquet", "model": "model files (JSON)"}


@dataclass
class Run:
    """What became of one kind of files."""

    kind: str
    first_seed: int
    tally: Any = field(default_factory=Tally)
    seconds: float = 0.0
    findings: list[str] = field(default_factory=list)


def fuzz(kind: str, seed: int, files: int | None, seconds: float) -> Run:
    run, started = Run(kind, seed), time.monotonic()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while (run.tally.tried < files) if files is not None else (time.monotonic() - started < seconds):
            number = seed + run.tally.tried
            try:
                KINDS[kind](generator(number), Path(folder), run.tally)
            except Exception:
                run.findings.append(f"{kind}, seed {number}:\n{traceback.format_exc()}")
                print(run.findings[-1], file=sys.stderr)
    run.seconds = time.monotonic() - started
    return run


def table(runs: list[Run]) -> str:
    lines = [
        "# Fuzzing",
        "",
        "Damaged files, made from a seed each: bits flipped, pieces cut out, put in, doubled and swapped, values of",
        "the wrong kind, keys twice. A finding is an error in other words than ours, or a number that an independent,",
        "slow reading of the same file does not confirm (`tests/fuzzing`). A quick run is among the tests; this is the",
        "long one. Written by `make fuzz`; do not edit.",
        "",
        "| files | inputs tried | refused | read | numbers compared | seconds | findings |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for run in runs:
        t = run.tally
        lines.append(
            f"| {TITLES[run.kind]} | {t.tried:,} | {t.refused:,} | {t.read:,} | {t.compared:,} | {run.seconds:,.0f} | "
            f"{len(run.findings)} |"
        )
    seeds = ", ".join(f"{run.kind} from {run.first_seed}" for run in runs)
    lines += ["", f"Seeds: {seeds}. {date.today().isoformat()}, Python {platform.python_version()}."]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=3.0, help="for each kind of files")
    parser.add_argument("--seed", type=int, default=1_000_000, help="of the first input")
    parser.add_argument("--files", type=int, help="so many inputs instead of so many minutes")
    parser.add_argument("--kind", choices=list(KINDS), action="append", help="default: all")
    parser.add_argument("--out", type=Path, help="where the table goes; by default it is shown only")
    given = parser.parse_args()
    runs = [fuzz(kind, given.seed, given.files, 60 * given.minutes) for kind in given.kind or KINDS]
    text = table(runs)
    print(text)
    if given.out is not None:
        given.out.write_text(text, encoding="utf-8")
    return int(any(run.findings for run in runs))


if __name__ == "__main__":
    sys.exit(main())
