"""What ``selfselect tables`` does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import click

from selfselect._text import printable
from selfselect.reproduction import Result, Store
from selfselect.reproduction.paper.promises import has_promises, paper_part, promise_part, summarise_promises
from selfselect.reproduction.paper.splits import compare_splits, split_part
from selfselect.reproduction.paper.summary import descent_part, summarise
from selfselect.reproduction.paper.tables import (
    ENDINGS,
    Format,
    render_promises,
    render_splits,
    render_table,
    tables_in,
)
from selfselect.reproduction.sweep.exchange import read_all

from ..outputs import refuse_existing, write_output
from ..streams import print_table

#: Renders a table in a format.
Render = Callable[[Format], str]


def run(*, path: str, table: str, format_: Format, beside: tuple[str, ...], out: str | None, force: bool) -> None:
    """Print tables, or write all of them."""
    with Store(path, read_only=True) as store:
        stored = store.results()
    more = read_all(beside)
    tables = _tables(stored, more, table)
    if out is not None:
        _write(tables, Path(out), force)
        return
    if format_ == "csv":  # one table: the extended one holds the main one
        name = "extended" if "extended" in tables else list(tables)[-1]
        tables = {name: tables[name]}
    print_table(["\n\n".join(render(format_) for render in tables.values()).encode()])


def _tables(stored: Sequence[Result], more: Sequence[Result], table: str) -> dict[str, Render]:
    """Tables that are asked for, by name; without a choice, all that can be filled."""
    tables: dict[str, Render] = {}
    everything = [*more, *stored]
    own, promising = paper_part(stored), table in ("both", "promises") and has_promises(everything)
    if table in ("main", "extended") or (table == "both" and (own or not promising)):
        summary = summarise(own, descent_part(everything))
        for name in tables_in(summary) if table == "both" else [table]:
            tables[name] = partial(render_table, summary, main=name == "main")
    if table in ("both", "splits"):
        splits = compare_splits(split_part(everything))
        if table == "splits" or not splits.empty:
            tables["splits"] = partial(render_splits, splits)
    if promising or table == "promises":
        tables["promises"] = partial(render_promises, summarise_promises(promise_part(everything)))
    return tables


def _write(tables: dict[str, Render], folder: Path, force: bool) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    files = {folder / f"{name}.{ending}": (name, kind) for name in tables for kind, ending in ENDINGS.items()}
    refuse_existing(files, force=force)
    for file, (name, kind) in files.items():
        write_output(file, tables[name](kind), force=force)
    click.echo(f"Wrote {len(files)} files to {printable(str(folder))}.")
