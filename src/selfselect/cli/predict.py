"""``selfselect predict``."""

from __future__ import annotations

from typing import Any

import click

from selfselect._files import write_atomically
from selfselect._formats import MAX_NAMED
from selfselect._text import printable, quote
from selfselect.tabular.data_checks import Finding
from selfselect.tabular.table import Table, listing
from selfselect.tabular.train import load_table_model, predict_table
from selfselect.tabular.write import csv_lines

from .errors import BadInput, show_findings
from .inputs import table_at
from .outputs import check_files, print_table

NEW_COLUMNS = ("score", "prediction", "applies")


def run(model_file: str, file: str, strict: bool, prefix: str, **options: Any) -> None:
    """Add the predictions of a model to a table."""
    findings: list[Finding] = []
    check_files(options, force=options["force"], inputs=[file, model_file])
    model, output = load_table_model(model_file), options["csv"]
    with table_at(file, options) as table:
        header = [*table.header, *_new_names(table, prefix)]
        columns, unknown = predict_table(model, table, findings)
    new_groups = f"groups that were not there in training: {listing(sorted(unknown), MAX_NAMED)}" if unknown else ""
    if strict and (findings or unknown):
        problems = [*map(str, findings), *([f"There are {new_groups}."] if unknown else [])]
        raise BadInput("\n".join([*problems, "Nothing is predicted, because of --strict."]))
    show_findings(findings)
    lines = csv_lines([header, *zip(*columns, strict=True)])
    if output is not None:
        write_atomically(output, lines)
    if unknown:
        empty = "score, prediction and applies are" if model.decides_by_group else "applies is"
        click.echo(f"Note: {new_groups}. Their {empty} left empty.", err=True)
    if model.qualified:
        click.echo(f"Note: prediction 1 means {printable(model.qualified)}.", err=True)
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
