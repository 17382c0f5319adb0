"""``selfselect tables``."""

from __future__ import annotations

from typing import Any

import click

from .lazy import work_of
from .options import beside_option


@click.command()
@click.option("--store", "path", required=True, type=click.Path(dir_okay=False), help="SQLite file of results.")
@click.option(
    "--table",
    type=click.Choice(["main", "extended", "both", "splits", "promises"]),
    default="both",
    show_default=True,
    help="The paper's main table (two costs), its extended one (everything), the first splits beside later ones, "
    "what was promised and delivered; or all that there are results for (both).",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "markdown", "csv", "latex"]),
    default="text",
    show_default=True,
    help="How to print it.",
)
@beside_option
@click.option("--out", type=click.Path(file_okay=False), help="Write all tables in all formats to this folder instead.")
@click.option("--force", is_flag=True, help="Overwrite existing files.")
def tables(**options: Any) -> None:
    """Print results in the layout of the paper, with its numbers beside ours."""
    work_of("tables").run(**options)
