"""``selfselect figures``."""

from __future__ import annotations

from typing import Any

import click

from .lazy import work_of
from .options import beside_option


@click.command()
@click.option("--out", required=True, type=click.Path(file_okay=False), help="Folder to write to.")
@click.option("--store", "path", type=click.Path(dir_okay=False), help="Results, which figures 5, 6 and 12 show.")
@beside_option
@click.option(
    "--figure",
    "numbers",
    multiple=True,
    type=click.IntRange(1, 12),
    help="Number of a figure; repeatable. Default: all.",
)
@click.option("--force", is_flag=True, help="Overwrite existing files.")
def figures(**options: Any) -> None:
    """Draw the figures of the paper as SVG and PNG, each with its data as CSV; 12 is ours, of promises."""
    work_of("figures").run(**options)
