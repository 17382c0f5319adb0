"""What ``selfselect predict`` does."""

from __future__ import annotations

from contextlib import ExitStack

import click

from selfselect._text import printable, shown
from selfselect.tabular.models import TablePredictor, load_table_model
from selfselect.tabular.table import Table, listing
from selfselect.tabular.write import CsvCopy

from ..errors import BadInput
from ..inputs import table_at
from ..outputs import refuse_existing, write_output
from ..streams import print_table

ADDED = ("score", "prediction", "applies")
#: Unknown groups that are named.
MOST_NAMED = 5


def run(*, model: str, file: str, output: str | None, prefix: str, encoding: str, delimiter: str, force: bool) -> None:
    """Add a model's columns to a table."""
    refuse_existing([output], force=force, inputs=[file, model])
    loaded = load_table_model(model)
    unknown: set[str] = set()
    rows = 0
    with ExitStack() as stack:
        with table_at(file, encoding, delimiter) as table:
            copy = stack.enter_context(CsvCopy([*table.header, *_new_names(table, prefix)], table))
            predict = TablePredictor(loaded, table)
            for chunk in table.chunks(range(len(table.header))):
                rows += len(chunk.rows)
                predicted = predict(chunk)
                unknown |= predicted.strangers
                copy.add(zip(*(column.cells() for column in chunk.columns), *predicted.cells(), strict=True))
            if not rows:
                raise table.error("there is a header but no row")
        if output is not None:
            write_output(output, copy, force=force)
        if unknown:
            listed = listing(sorted(unknown), MOST_NAMED)
            empty = "score, prediction and applies are" if loaded.decides_by_group else "applies is"
            click.echo(f"Note: groups that were not there in training: {listed}. Their {empty} left empty.", err=True)
        if output is None:
            print_table(copy)
        else:
            click.echo(f"Wrote {printable(output)}.", err=True)


def _new_names(table: Table, prefix: str) -> list[str]:
    names = [prefix + name for name in ADDED]
    clash = [name for name in names if name in table.header]
    if clash:
        raise BadInput(
            f"{printable(table.name)} has a column {shown(clash[0])} already; pass --prefix model_ to name the new "
            "ones model_score, model_prediction, model_applies."
        )
    return names
