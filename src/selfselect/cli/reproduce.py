"""``selfselect reproduce``."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import NoReturn

import click

from . import INTERRUPTED


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@click.command()
@click.option("--dataset", "datasets", multiple=True, metavar="NAME", help="adult, bank_30, bank_original; repeatable.")
@click.option("--method", "methods", multiple=True, metavar="NAME", help="Method to run; repeatable. Default: all.")
@click.option("--cost", "costs", multiple=True, type=float, help="Cost; repeatable. Default: .65 to .85 by .025.")
@click.option("--splits", default=10, show_default=True, type=click.IntRange(min=1), help="Number of random splits.")
@click.option("--workers", default=1, show_default=True, type=click.IntRange(min=1), help="Processes on this machine.")
@click.option("--scheduler", metavar="ADDRESS", help="Dask scheduler to use instead, or 'local' to start one here.")
@click.option("--store", "path", type=click.Path(dir_okay=False), help="SQLite file of results.")
@click.option("--data", type=click.Path(exists=True, dir_okay=False), help="A CSV table of your own.")
@click.option("--label", metavar="COLUMN", help="Its column of labels.")
@click.option("--positive", metavar="VALUE", help="The label that means qualified, if not 1 or true.")
@click.option("--group", metavar="COLUMN", help="Its column of groups.")
@click.option("--dry-run", is_flag=True, help="Only say how many fits are missing and how long they will take.")
def reproduce(
    datasets: tuple[str, ...],
    methods: tuple[str, ...],
    costs: tuple[float, ...],
    splits: int,
    workers: int,
    scheduler: str | None,
    path: str | None,
    data: str | None,
    label: str | None,
    positive: str | None,
    group: str | None,
    dry_run: bool,
) -> None:
    """Compare all methods on the paper's data sets, or on your own; stop and resume at any time.

    Results go to a store, one row per data set, method, cost and split. What is there is not done again: after an
    interruption the same command goes on. See also the commands status, tables, figures and page.
    """
    if (data is None) != (label is None) or (data is None) != (group is None):
        raise click.UsageError("--data, --label and --group belong together.")
    if path is None and not dry_run:
        raise click.UsageError("--store FILE says where results go; only --dry-run can do without.")
    own = None if data is None or label is None or group is None else (data, label, group, positive)
    previous = signal.signal(signal.SIGTERM, _interrupt)
    try:
        _reproduce(datasets, methods, costs, splits, workers, scheduler, path, own, dry_run)
    except KeyboardInterrupt:
        click.echo(
            f"Interrupted. What was done is in {path}; run the same command again to go on from there.", err=True
        )
        sys.exit(INTERRUPTED)
    finally:
        signal.signal(signal.SIGTERM, previous)


def _reproduce(
    datasets: tuple[str, ...],
    methods: tuple[str, ...],
    costs: tuple[float, ...],
    splits: int,
    workers: int,
    scheduler: str | None,
    path: str | None,
    own: tuple[str, str, str, str | None] | None,
    dry_run: bool,
) -> None:
    from pathlib import Path

    from tqdm import tqdm

    from selfselect.reproduction import BUNDLED, COSTS, METHODS, BundledSource, Plan, Store, choose_engine, own_table
    from selfselect.reproduction import estimate as estimate_work
    from selfselect.reproduction.people import Source
    from selfselect.reproduction.sweep.running import run_sweep

    for name in datasets:
        if name not in BUNDLED:
            raise click.BadParameter(f"no data set {name!r}; there are {', '.join(BUNDLED)}.", param_hint="--dataset")
    sources: list[Source] = [BundledSource(name) for name in datasets]
    if own is not None:
        sources.append(own_table(*own))
    plan = Plan(
        tuple(sources) or tuple(map(BundledSource, BUNDLED)),
        methods or tuple(METHODS),
        costs or COSTS,
        splits,
    )
    if dry_run:
        there = Store(path, create=False) if path is not None and Path(path).exists() else None
        work = estimate_work(plan, there, workers)
        if there is not None:
            there.close()
        click.echo(f"{len(plan.cells())} fits asked for, {work.fits} of them missing.")
        if work.fits:
            source = "times in the store" if work.measured else "typical times; rough"
            click.echo(f"About {_duration(work.seconds)} with {workers} worker(s) (by {source}).")
        return

    assert path is not None
    with (
        Store(path) as store,
        tqdm(total=len(plan.cells()), unit="fit", smoothing=0, disable=None, file=sys.stderr) as bar,
    ):
        fits = run_sweep(plan, store, choose_engine(workers, scheduler), bar.update)
    click.echo(f"{fits} fits done; all {len(plan.cells())} asked for are in {path}.")
