"""What ``selfselect reproduce`` does."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

import click
from tqdm import tqdm

from selfselect._text import printable
from selfselect.reproduction import (
    BUNDLED,
    COSTS,
    METHODS,
    PROMISE_SPLITS,
    PROMISING,
    SPLITS,
    BundledDataset,
    Plan,
    Store,
    choose_engine,
    estimate,
    own_dataset,
    run_sweep,
)
from selfselect.reproduction import repair as repair_store
from selfselect.reproduction.people import Dataset

from ..findings import tell_findings
from ..inputs import SPELLED_OUT, tell_notes
from ..options import WRITTEN
from ..starting import INTERRUPTED


def run(
    *,
    datasets: tuple[str, ...],
    methods: tuple[str, ...],
    costs: tuple[float, ...],
    splits: int | None,
    first_split: int | None,
    promises: bool,
    workers: int,
    scheduler: str | None,
    path: str | None,
    data: str | None,
    label: str | None,
    positive: tuple[str, ...],
    groups: tuple[str, ...],
    missing: str,
    ignore: tuple[str, ...],
    encoding: str,
    delimiter: str,
    dry_run: bool,
    repair: bool,
) -> None:
    """Run what is asked for and not yet in the store, or say how much that is; or make again what is damaged there."""
    with _interruptible(path):
        chosen: list[Dataset] = [BundledDataset(name) for name in datasets]
        if data is not None and label is not None and groups:
            own = own_dataset(
                data,
                label,
                groups,
                positive,
                missing=missing.replace("-", "_"),
                ignore=ignore,
                encoding=encoding,
                delimiter=SPELLED_OUT.get(delimiter, delimiter),
                **click.get_current_context().meta.get(WRITTEN, {}),
            )
            tell_notes(own.notes())
            tell_findings(own.findings())
            chosen.append(own)
        if repair and path is not None:
            _repair(path, chosen, workers, scheduler)
            return
        numbers = PROMISE_SPLITS if promises else range(SPLITS)
        plan = Plan(
            tuple(chosen) or tuple(map(BundledDataset, BUNDLED)),
            methods or (PROMISING if promises else tuple(METHODS)),
            costs or COSTS,
            splits=len(numbers) if splits is None else splits,
            first_split=numbers.start if first_split is None else first_split,
        )
        if dry_run or path is None:
            _tell_work(plan, path, workers)
        else:
            _sweep(plan, path, workers, scheduler)


@contextmanager
def _interruptible(path: str | None) -> Iterator[None]:
    """End on Ctrl+C, and on a request to terminate, with a word on how to go on."""
    heard: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        heard.append(number)
        raise KeyboardInterrupt

    signals = [signal.SIGTERM]
    if callable(signal.getsignal(signal.SIGINT)):  # else it is ignored, as in the background of a shell
        signals.append(signal.SIGINT)
    previous = {number: signal.signal(number, interrupt) for number in signals}
    try:
        yield
    except BaseException as error:
        # in the middle of a library's locks, an interruption may come out as something else
        if not heard and not isinstance(error, KeyboardInterrupt):
            raise
        kept = f" What was done is in {path}; run the same command again to go on from there." if path else ""
        click.echo(f"Interrupted.{printable(kept)}", err=True)
        sys.exit(INTERRUPTED)
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _tell_work(plan: Plan, path: str | None, workers: int) -> None:
    if path is not None and Path(path).exists():
        with Store(path, read_only=True) as store:
            work = estimate(plan, store, workers)
    else:
        work = estimate(plan, None, workers)
    click.echo(f"{len(plan.cells())} fits asked for, {work.fits} of them missing.")
    if work.fits:
        known_by = "times in the store" if work.measured else "typical times; rough"
        click.echo(f"About {_duration(work.seconds)} with {workers} worker(s) (by {known_by}).")


def _sweep(plan: Plan, path: str, workers: int, scheduler: str | None) -> None:
    fits, engine = len(plan.cells()), choose_engine(workers, scheduler)
    with (
        Store(path) as store,
        tqdm(total=fits, unit="fit", smoothing=0, disable=None, file=sys.stderr) as bar,
    ):
        done = run_sweep(plan, store, engine, bar.update)
    click.echo(f"{done} fits done; all {fits} asked for are in {printable(path)}.")


def _repair(path: str, own: Sequence[Dataset], workers: int, scheduler: str | None) -> None:
    done, name = repair_store(path), printable(path)
    if not done.dropped and done.damaged is None:
        click.echo(f"Nothing in {name} is damaged: {done.kept} results are whole.")
        return
    click.echo(f"{done.dropped} damaged rows of {name} were dropped; {done.kept} results are whole.")
    if done.damaged is not None:
        click.echo(f"The file itself was damaged and is kept as {printable(str(done.damaged))}; what lacks beyond rows")
        click.echo("that could be read is made by the same command that made it at first.")
    plan = Plan.of_cells(done.lost, [*map(BundledDataset, BUNDLED), *own])
    left = set(done.lost) - set(plan.cells() if plan is not None else ())
    if plan is not None:
        _sweep(plan, path, workers, scheduler)
    for cell in sorted(left):
        told = f"Not made again: {cell}. The same command that made it at first does (--data for its table)."
        click.echo(printable(told))


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
