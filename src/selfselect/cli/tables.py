"""``selfselect tables``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from selfselect.reproduction.paper.tables import Format


@click.command()
@click.option("--store", "path", required=True, type=click.Path(dir_okay=False), help="SQLite file of results.")
@click.option(
    "--table",
    type=click.Choice(["main", "extended", "both"]),
    default="both",
    show_default=True,
    help="The paper's main table (two costs), its extended one (everything), or both.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "markdown", "csv", "latex"]),
    default="text",
    show_default=True,
    help="How to print it.",
)
@click.option("--out", type=click.Path(file_okay=False), help="Write all tables in all formats to this folder instead.")
@click.option("--force", is_flag=True, help="Overwrite existing files.")
def tables(path: str, table: str, format_: Format, out: str | None, force: bool) -> None:
    """Print results in the layout of the paper, with its numbers and the difference beside ours."""
    from pathlib import Path

    from selfselect.reproduction import Store
    from selfselect.reproduction.paper.tables import ENDINGS, MAIN_BLOCKS, render_table, summarise

    from ._files import refuse_existing, write_whole

    with Store(path, create=False) as store:
        summary = summarise(store.results())
    wanted = ["main", "extended"] if table == "both" else [table]
    has_main = any(block in MAIN_BLOCKS for block in zip(summary["dataset"], summary["cost"], strict=True))
    if table == "both" and not has_main:
        wanted = ["extended"]  # a table of one's own has no main table
    if out is None:
        if format_ == "csv":
            wanted = wanted[-1:]  # the extended table holds the main one
        click.echo("\n\n".join(render_table(summary, format_, main=name == "main") for name in wanted), nl=False)
        return
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    files = {folder / f"{name}.{ending}": (name, kind) for name in wanted for kind, ending in ENDINGS.items()}
    refuse_existing(files, force=force)
    for file, (name, kind) in files.items():
        write_whole(file, render_table(summary, kind, main=name == "main"), force=force)
    click.echo(f"Wrote {len(files)} files to {folder}.")
