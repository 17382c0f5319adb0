"""``selfselect predict``."""

from __future__ import annotations

import csv
import io
from typing import Any

import click
import numpy as np

from selfselect._text import inert_cell, printable, shown
from selfselect.tabular.encoding import LARGEST, NumberColumn, to_numbers
from selfselect.tabular.reading import Chunk, TableReader, is_number
from selfselect.tabular.training import TableModel, load_table_model

from . import BadInput
from ._files import refuse_existing, write_whole
from ._inputs import file_options, group_columns, table_at

ADDED = ("score", "prediction", "applies")


@click.command()
@click.argument("model")
@click.argument("file")
@click.option("--output", metavar="CSV", help="Where to write the table [default: to the terminal].")
@click.option("--prefix", default="", help="Put in front of the names of the new columns.")
@file_options
def predict(model: str, file: str, output: str | None, prefix: str, encoding: str, delimiter: str, force: bool) -> None:
    """Add the columns score, prediction and applies to a table.

    MODEL is a file that selfselect train wrote. A score above 0 passes screening (prediction 1). applies says whether
    the person's group applies, by what the model published in training; it is empty for groups that were not there.

    \b
    Example:
      selfselect predict loans.json new.csv --output scored.csv
    """  # noqa: D301
    refuse_existing([output], force=force, inputs=[file, model])
    loaded = load_table_model(model)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    unknown: set[str] = set()
    rows = 0
    with table_at(file, encoding, delimiter) as table:
        added = [prefix + name for name in ADDED]
        clash = [name for name in added if name in table.header]
        if clash:
            raise BadInput(
                f"{printable(file)} has a column {shown(clash[0])} already; pass --prefix model_ to name the new ones "
                f"model_score, model_prediction, model_applies."
            )
        needed = [column.name for column in loaded.encoder.columns]
        where = {name: table.position(name, "of the model") for name in dict.fromkeys([*needed, *loaded.groups])}
        writer.writerow([_inert(name) for name in [*table.header, *added]])
        for chunk in table.chunks(range(len(table.header))):
            rows += len(chunk.rows)
            new, strangers = _score(table, chunk, loaded, where)
            unknown |= strangers
            for cells in zip(*chunk.columns, *new, strict=True):
                writer.writerow([_inert(cell) for cell in cells])
    if not rows:
        raise BadInput(f"{printable(file)}: there is a header but no row.")
    if unknown:
        listed = ", ".join(shown(name) for name in sorted(unknown)[:5])
        click.echo(f"Note: groups that were not there in training: {listed}. Their applies is left empty.", err=True)
    if output is None:
        click.echo(out.getvalue(), nl=False)
    else:
        write_whole(output, out.getvalue(), force=force)
        click.echo(f"Wrote {printable(output)}.", err=True)


def _score(
    table: TableReader, chunk: Chunk, model: TableModel, where: dict[str, int]
) -> tuple[list[list[Any]], set[str]]:
    """The three new columns of a chunk, and groups that training did not know."""
    cells = {name: np.array(chunk.columns[i], dtype=object) for name, i in where.items()}
    for column in model.encoder.columns:
        if isinstance(column, NumberColumn):
            _check_numbers(table, chunk, column.name, cells[column.name])
    score = model.score(cells)
    only = Chunk(chunk.rows, [chunk.columns[where[name]] for name in model.groups])
    groups = group_columns(table, only, model.groups, 0, model.missing.replace("_", "-"))
    applies, known = model.applies_to(groups)
    strangers = {" / ".join(map(str, row)) for row in groups[~known].itertuples(index=False)}
    decided = ["" if not sure else str(int(yes)) for yes, sure in zip(applies, known, strict=True)]
    return [[repr(float(value)) for value in score], [str(int(value > 0)) for value in score], decided], strangers


def _check_numbers(table: TableReader, chunk: Chunk, name: str, cells: Any) -> None:
    try:
        numbers = to_numbers(cells)
    except ValueError:
        for row, cell in zip(chunk.rows, cells, strict=True):
            try:
                to_numbers(np.array([cell], dtype=object))
            except ValueError as error:
                raise table.error(f"{error}; in training this column held numbers.", row=row, column=name) from error
        raise
    absurd = np.flatnonzero(np.abs(np.nan_to_num(numbers)) > LARGEST)
    if absurd.size:
        at = int(absurd[0])
        raise table.error(f"{cells[at]!r} is too large to compute with.", row=chunk.rows[at], column=name)


def _inert(cell: str) -> str:
    """Other people's cells: numbers may begin with a sign, formulas may not."""
    return cell if is_number(cell) else str(inert_cell(cell))
