"""``python -m reproduction``: run the paper's experiments, and write tables, figures and the page of results."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from .data import DATASETS
from .methods import ALL_METHODS, COSTS, PAPER_METHODS, SPLITS
from .results import ResultsError

_RESULTS = click.option(
    "--results",
    "paths",
    required=True,
    multiple=True,
    type=click.Path(exists=True),
    help="Folder of results, or a .csv or .csv.gz file of them; repeatable. The first that holds a fit counts.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Reproduce "Classification Under Strategic Self-Selection" (Horowitz et al., ICML 2024)."""


@main.command()
@click.option(
    "--dataset", "datasets", multiple=True, type=click.Choice(list(DATASETS)), help="Repeatable. Default: all."
)
@click.option(
    "--method",
    "methods",
    multiple=True,
    type=click.Choice(list(ALL_METHODS)),
    metavar="NAME",
    help=f"Repeatable. Default: {', '.join(PAPER_METHODS)}. Others: see reproduction/methods.py.",
)
@click.option(
    "--cost", "costs", multiple=True, type=click.FloatRange(0, 1), help="Repeatable. Default: 0.65 to 0.85 by 0.025."
)
@click.option("--splits", type=click.IntRange(min=1), default=SPLITS, show_default=True, help="Number of splits.")
@click.option("--first-split", type=click.IntRange(min=0), default=0, show_default=True, help="The first of them.")
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Processes on this machine.")
@click.option("--scheduler", metavar="ADDRESS", help="Dask scheduler to use instead.")
@click.option("--results", required=True, type=click.Path(file_okay=False), help="Folder for one file per fit.")
def run(
    datasets: tuple[str, ...], methods: tuple[str, ...], costs: tuple[float, ...], results: str, **options: Any
) -> None:
    """Run fits. A fit whose file is there is not done again, so the same command goes on after an interruption."""
    from .run import plan_units
    from .run import run as run_units

    chosen = datasets or tuple(DATASETS), methods or tuple(PAPER_METHODS), costs or COSTS
    units = plan_units(*chosen, options["splits"], options["first_split"])
    try:
        failures = run_units(units, results, workers=options["workers"], scheduler=options["scheduler"])
    except OSError as error:
        raise click.ClickException(str(error)) from error
    for failure in failures:
        click.echo(failure, err=True)
    if failures:
        raise click.ClickException(f"{len(failures)} units failed; all others are done.")
    click.echo(f"All {sum(len(unit.costs) for unit in units):,} results are in {results}.")


@main.command()
@_RESULTS
@click.option("--out", required=True, type=click.Path(file_okay=False), help="Folder for the page and its tables.")
def write(paths: tuple[str, ...], out: str) -> None:
    """Write the page of results, its tables and its figures, from results alone: nothing is fitted."""
    from .figures import write_figures
    from .page import write_page
    from .results import load_results, with_metrics

    results = with_metrics(load_results(*paths))
    files = write_page(results, Path(out) / "reproduction.md")
    files += write_figures(results, Path(out) / "reproduction")
    click.echo(f"Wrote {len(files)} files to {out}.")


@main.command()
@_RESULTS
@click.option("--method", "methods", multiple=True, metavar="NAME", help="Repeatable. Default: all.")
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="File, compressed if it ends in .gz.")
def export(paths: tuple[str, ...], methods: tuple[str, ...], out: str) -> None:
    """Write results as one CSV file, a row per fit."""
    from .results import load_results, write_results_csv

    results = load_results(*paths)
    chosen = results[results["method"].isin(methods)] if methods else results
    write_results_csv(chosen, out)
    click.echo(f"Wrote {len(chosen):,} results to {out}.")


if __name__ == "__main__":
    try:
        main(prog_name="python -m reproduction")
    except ResultsError as error:
        sys.exit(f"Error: {error}")
