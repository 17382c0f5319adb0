"""``python -m simulations``: simulate promises and intervals, and write the page of results."""

from __future__ import annotations

import click


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Simulate what the library claims with certainty."""


@main.command()
@click.option("--name", default="", help="Only cells with this text in 'kind,population,method,publish,repeats'.")
@click.option("--repeats", type=click.IntRange(min=4), default=100, show_default=True, help="Populations of a cell.")
@click.option("--workers", type=click.IntRange(min=1), default=2, show_default=True, help="Processes.")
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="Results, a CSV file; finished cells stay.")
def run(name: str, repeats: int, workers: int, out: str) -> None:
    """Simulate all cells that the file of results does not hold yet."""
    from .run import plan_cells
    from .run import run as run_cells

    click.echo(f"Simulated {run_cells(plan_cells(repeats, name), out, workers)} cells into {out}.")


@main.command()
@click.option("--results", required=True, type=click.Path(exists=True, dir_okay=False), help="File of results.")
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="The page, a Markdown file.")
def page(results: str, out: str) -> None:
    """Write the page of results."""
    from .page import write_page

    write_page(results, out)
    click.echo(f"Wrote {out}.")


if __name__ == "__main__":
    main(prog_name="python -m simulations")
