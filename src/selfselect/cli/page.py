"""``selfselect page``."""

from __future__ import annotations

import click

from .lazy import work_of
from .options import beside_option


@click.command()
@click.option("--store", "path", required=True, type=click.Path(dir_okay=False), help="SQLite file of results.")
@beside_option
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="Markdown file to write.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def page(path: str, beside: tuple[str, ...], out: str, force: bool) -> None:
    """Write the page of the reproduction: tables, figures, a verdict on each claim, corrections.

    Of the paper's data it needs a complete sweep, shows what more there is beside it, and links to what the commands
    tables and figures write to the folder reproduction beside it. Of a store that holds data of one's own only, it
    says what was run, and has its tables and figures.
    """
    work_of("page").run(path=path, beside=beside, out=out, force=force)
