"""``selfselect status``."""

from __future__ import annotations

import click

from .lazy import work_of


@click.command()
@click.option("--store", "path", required=True, type=click.Path(dir_okay=False), help="SQLite file of results.")
@click.option("--splits", default=10, show_default=True, type=click.IntRange(min=1), help="Splits to expect.")
def status(path: str, splits: int) -> None:
    """Show which results a store holds, which are missing, and which are being made."""
    work_of("status").run(path=path, splits=splits)
