"""``selfselect check``."""

from __future__ import annotations

import sys

import click

from selfselect._text import printable

from .errors import CONDITION_FAILED
from .options import check_model_options, file_options, model_options, people_options


@click.command()
@click.argument("file")
@people_options
@model_options
@click.option("--ignore", multiple=True, metavar="COLUMN", help="Column not to look at.")
@file_options
def check(
    file: str,
    encoding: str,
    delimiter: str,
    label: str,
    positive: tuple[str, ...],
    groups: tuple[str, ...],
    missing: str,
    score: str | None,
    threshold: float | None,
    lower_passes: bool,
    prediction: str | None,
    prediction_positive: str | None,
    ignore: tuple[str, ...],
    force: bool,
) -> None:
    """Look for what would mislead in a table, before anything is computed from it.

    Labels and groups are looked at, what a model says (--score or --prediction, if given), and all other columns as a
    model would learn from them. Every other command does the same with what it reads.

    \b
    Example:
      selfselect check loans.csv --label repaid --positive yes --group region --score score

    Exit code 0: nothing was found; 1: something that would mislead; 2: wrong input.
    """  # noqa: D301
    if score is not None or prediction is not None:
        check_model_options(score, threshold, prediction, lower_passes)

    from selfselect.auditing.formats import count
    from selfselect.tabular.loading import read_for_checking
    from selfselect.tabular.suspicion import suspect_columns

    from .findings import WORDS, in_order, worded_finding
    from .inputs import model_column, people_columns, table_at, title_of

    columns = people_columns(label, positive, groups, missing)
    model = None
    if score is not None or prediction is not None:
        model = model_column(score, threshold, lower_passes, prediction, prediction_positive)
    found = suspect_columns(label, groups, None if model is None else model.name)
    people, wide = 0, 0
    if not found:
        with table_at(file, encoding, delimiter) as table:
            people = read_for_checking(table, columns, model, ignore=ignore, found=found)
            wide = len(table.header)
    command = click.get_current_context().command
    for finding in in_order(found):
        click.echo(f"{WORDS[finding.severity]}: {worded_finding(finding, command)}")
    grave = [finding for finding in found if finding.severity != "hint"]
    if grave:
        what = "thing" if len(grave) == 1 else "things"
        click.echo(f"{len(grave)} {what} in {printable(title_of(file))} would mislead.")
        sys.exit(CONDITION_FAILED)
    click.echo(
        f"Nothing was found in {printable(title_of(file))} that would mislead: {count(people)} people, {wide} columns."
    )
