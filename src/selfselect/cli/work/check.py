"""What ``selfselect check`` does."""

from __future__ import annotations

import sys

import click

from selfselect._formats import count
from selfselect._text import printable
from selfselect.tabular.loading import read_for_checking
from selfselect.tabular.suspicion import suspect_columns

from ..errors import CONDITION_FAILED
from ..findings import WORDS, in_order, worded_finding
from ..inputs import model_column, people_columns, table_at, title_of


def run(
    *,
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
    """Say what would mislead in a table."""
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
