"""``selfselect predict``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from selfselect._files import write_atomically
from selfselect._formats import MAX_NAMED
from selfselect._text import printable, quote

from .errors import BadInput, show_findings
from .options import file_options
from .outputs import CSV, check_files, print_table

if TYPE_CHECKING:
    from selfselect.tabular.data_checks import Finding
    from selfselect.tabular.table import Table

NEW_COLUMNS = ("score", "prediction", "applies")


@click.command(short_help="Add the predictions of a model to a table.")
@click.argument("model")
@click.argument("file")
@click.option("--output", metavar="CSV", help="Where to write the table [default: to the terminal].")
@click.option(
    "--strict", is_flag=True, help="Refuse (exit code 2) a table whose columns or groups are unlike those of training."
)
@click.option("--prefix", default="", help="Put in front of the names of the new columns.")
@file_options
def predict(model: str, file: str, output: str | None, strict: bool, prefix: str, force: bool, **options: Any) -> None:
    """Add the columns score, prediction and applies to a table.

    MODEL is a file that selfselect train wrote. A score above 0 passes screening (prediction 1). applies says whether
    the person's group applies, by what the model published in training; it is empty for groups that were not there.

    Columns that are unlike those of training are named: empty ones, numbers on another scale, categories that are
    unknown or written in another way.

    \b
    Example:
      selfselect predict loans.skops new.csv --output scored.csv

    Exit code 0: fine; 2: wrong input, or with --strict a column or group unlike those of training.
    """  # noqa: D301
    from selfselect.tabular.table import listing
    from selfselect.tabular.train import load_table_model, predict_table
    from selfselect.tabular.write import csv_lines

    from .inputs import table_at

    findings: list[Finding] = []
    check_files([(output, CSV)], force=force, inputs=[file, model])
    loaded = load_table_model(model)
    with table_at(file, options) as table:
        header = [*table.header, *_new_names(table, prefix)]
        columns, unknown = predict_table(loaded, table, findings)
    new_groups = f"groups that were not there in training: {listing(sorted(unknown), MAX_NAMED)}" if unknown else ""
    if strict and (findings or unknown):
        problems = [*map(str, findings), *([f"There are {new_groups}."] if unknown else [])]
        raise BadInput("\n".join([*problems, "Nothing is predicted, because of --strict."]))
    show_findings(findings)
    lines = csv_lines([header, *zip(*columns, strict=True)])
    if output is not None:
        write_atomically(output, lines)
    if unknown:
        empty = "score, prediction and applies are" if loaded.decides_by_group else "applies is"
        click.echo(f"Note: {new_groups}. Their {empty} left empty.", err=True)
    if loaded.qualified:
        click.echo(f"Note: prediction 1 means {printable(loaded.qualified)}.", err=True)
    if output is None:
        print_table(lines)
    else:
        click.echo(f"Wrote {printable(output)}.", err=True)


def _new_names(table: Table, prefix: str) -> list[str]:
    names = [prefix + name for name in NEW_COLUMNS]
    clash = [name for name in names if name in table.header]
    if clash:
        raise BadInput(
            f"{printable(table.name)} has a column {quote(clash[0])} already; pass --prefix model_ to name the new "
            "ones model_score, model_prediction, model_applies."
        )
    return names
