"""``selfselect page``."""

from __future__ import annotations

import click


@click.command()
@click.option("--store", "path", required=True, type=click.Path(dir_okay=False), help="SQLite file of results.")
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="Markdown file to write.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def page(path: str, out: str, force: bool) -> None:
    """Write the page of the reproduction: tables, figures, a verdict on each claim, corrections.

    It needs a complete sweep, and links to what the commands tables and figures write to the folder reproduction beside
    it.
    """
    from selfselect.reproduction import Store
    from selfselect.reproduction.paper.page import write_page

    from ._files import refuse_existing, write_whole

    refuse_existing([out], force=force)
    with Store(path, create=False) as store:
        text = write_page(store)
    write_whole(out, text, force=force)
    click.echo(f"Wrote {out}.")
