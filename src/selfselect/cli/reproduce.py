"""``selfselect reproduce``."""

from __future__ import annotations

from typing import Any

import click

from .lazy import work_of
from .options import reading_options

#: Options that say what to do, and what holds their values.
PLANNED = {
    "--dataset": "datasets",
    "--method": "methods",
    "--cost": "costs",
    "--splits": "splits",
    "--first-split": "first_split",
    "--promises": "promises",
}


@click.command()
@click.option("--dataset", "datasets", multiple=True, metavar="NAME", help="adult, bank_30, bank_original; repeatable.")
@click.option(
    "--method", "methods", multiple=True, metavar="NAME", help="Method to run; repeatable. Default: all of the paper."
)
@click.option("--cost", "costs", multiple=True, type=float, help="Cost; repeatable. Default: .65 to .85 by .025.")
@click.option("--splits", type=click.IntRange(min=1), help="Number of random splits.  [default: 10]")
@click.option("--first-split", type=click.IntRange(min=0), help="Number of the first of them.  [default: 0]")
@click.option(
    "--promises", is_flag=True, help="Compare what is promised with what is delivered: other methods, splits 10 to 29."
)
@click.option("--workers", default=1, show_default=True, type=click.IntRange(min=1), help="Processes on this machine.")
@click.option("--scheduler", metavar="ADDRESS", help="Dask scheduler to use instead, or 'local' to start one here.")
@click.option("--store", "path", type=click.Path(dir_okay=False), help="SQLite file of results.")
@click.option("--data", type=click.Path(exists=True, dir_okay=False), help="A table of your own.")
@click.option("--label", metavar="COLUMN", help="Its column of labels.")
@click.option(
    "--positive", multiple=True, metavar="VALUE", help="The label that means qualified, if not 1 or true; repeatable."
)
@click.option("--group", "groups", multiple=True, metavar="COLUMN", help="Its column of groups; repeatable.")
@click.option(
    "--missing",
    type=click.Choice(["error", "own-group"]),
    default="error",
    show_default=True,
    help="What to do with rows of it whose group is empty.",
)
@click.option("--ignore", multiple=True, metavar="COLUMN", help="Column of it not to learn from; repeatable.")
@reading_options
@click.option("--dry-run", is_flag=True, help="Only say how many fits are missing and how long they will take.")
@click.option("--repair", is_flag=True, help="Drop results that are damaged, and make these again and no others.")
def reproduce(
    data: str | None,
    label: str | None,
    groups: tuple[str, ...],
    path: str | None,
    dry_run: bool,
    repair: bool,
    **options: Any,
) -> None:
    """Compare all methods on the paper's data sets, or on your own; stop and resume at any time.

    Results go to a store, one row per data set, method, cost and split. What is there is not done again: after an
    interruption the same command goes on. See also the commands status, tables, figures and page.
    """
    if (data is None) != (label is None) or (data is None) != (not groups):
        raise click.UsageError("--data, --label and --group belong together.")
    if data is None and (options["positive"] or options["ignore"]):
        raise click.UsageError("--positive and --ignore are about a table of your own: pass --data.")
    if path is None and not dry_run:
        raise click.UsageError("--store FILE says where results go; only --dry-run can do without.")
    if repair and (dry_run or path is None):
        raise click.UsageError("--repair needs the --store to repair, and cannot be tried by --dry-run.")
    chosen = [option for option in PLANNED if options[PLANNED[option]]]
    if repair and chosen:
        raise click.UsageError(f"--repair makes what was damaged again and nothing else: leave out {chosen[0]}.")
    work_of("reproduce").run(
        data=data, label=label, groups=groups, path=path, dry_run=dry_run, repair=repair, **options
    )
