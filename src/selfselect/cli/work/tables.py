"""What ``selfselect tables`` does."""

from __future__ import annotations

from pathlib import Path

import click
import pandas as pd

from selfselect.reproduction import Store
from selfselect.reproduction.paper.summary import summarise
from selfselect.reproduction.paper.tables import ENDINGS, Format, render_table, tables_in

from ..outputs import refuse_existing, write_output


def run(*, path: str, table: str, format_: Format, out: str | None, force: bool) -> None:
    """Print tables, or write all of them."""
    with Store(path, create=False) as store:
        summary = summarise(store.results())
    names = tables_in(summary) if table == "both" else [table]
    if out is not None:
        _write(summary, names, Path(out), force)
        return
    if format_ == "csv":
        names = names[-1:]  # the extended table holds the main one
    click.echo("\n\n".join(render_table(summary, format_, main=name == "main") for name in names), nl=False)


def _write(summary: pd.DataFrame, names: list[str], folder: Path, force: bool) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    files = {folder / f"{name}.{ending}": (name, kind) for name in names for kind, ending in ENDINGS.items()}
    refuse_existing(files, force=force)
    for file, (name, kind) in files.items():
        write_output(file, render_table(summary, kind, main=name == "main"), force=force)
    click.echo(f"Wrote {len(files)} files to {folder}.")
