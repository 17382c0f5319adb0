"""``selfselect check``."""

from __future__ import annotations

import sys
from typing import Any

import click

from selfselect._formats import count
from selfselect._text import printable

from .errors import CONDITION_FAILED, SEVERITY_WORDS, finding_message, sort_findings
from .options import check_model_options, file_options, model_options, people_options


@click.command(short_help="Find problems in a table.")
@click.argument("file")
@people_options
@model_options
@click.option("--ignore", multiple=True, metavar="COLUMN", help="Column not to check.")
@file_options
def check(file: str, ignore: tuple[str, ...], **options: Any) -> None:
    """Find problems in a table, before anything is computed from it.

    This checks labels and groups, the scores or decisions of a model (--score or --prediction, if given), and all other
    columns as features. Every other command checks the columns that it reads.

    \b
    Example:
      selfselect check loans.csv --label repaid --positive yes --group region --score score

    Exit code 0: no problem was found; 1: some were; 2: wrong input.
    """  # noqa: D301
    has_model = options["score"] is not None or options["prediction"] is not None
    if has_model:
        check_model_options(**options)

    from selfselect.tabular.data_checks import check_column_roles
    from selfselect.tabular.loading import read_for_checking

    from .inputs import meaning_line, model_column, people_columns, table_at, title_of

    people = people_columns(options)
    model = model_column(options) if has_model else None
    findings = list(check_column_roles(people.label, people.groups, None if model is None else model.name))
    n_people, n_columns = 0, 0
    if not findings:
        with table_at(file, options) as table:
            n_people, meaning = read_for_checking(table, people, model, ignore=ignore, findings=findings)
            n_columns = len(table.header)
        click.echo(meaning_line(meaning))
    command = click.get_current_context().command
    for finding in sort_findings(findings):
        click.echo(f"{SEVERITY_WORDS[finding.severity]}: {finding_message(finding, command)}")
    title = printable(title_of(file))
    problems = sum(finding.severity != "hint" for finding in findings)
    if problems:
        click.echo(f"{problems} {'problem was' if problems == 1 else 'problems were'} found in {title}.")
        sys.exit(CONDITION_FAILED)
    click.echo(f"No problem was found in {title}: {count(n_people)} people, {n_columns} columns.")
