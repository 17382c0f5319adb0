"""``selfselect export``."""

from __future__ import annotations

from typing import Any

import click

from .lazy import work_of


@click.command()
@click.option("--store", "path", required=True, type=click.Path(dir_okay=False), help="SQLite file of results.")
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="CSV file to write; compressed if .gz.")
@click.option("--dataset", "datasets", multiple=True, metavar="NAME", help="Only this data set; repeatable.")
@click.option("--method", "methods", multiple=True, metavar="NAME", help="Only this method; repeatable.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def export(**options: Any) -> None:
    """Write results as a small table, one row per fit, that the commands tables and page read like a store."""
    work_of("export").run(**options)
