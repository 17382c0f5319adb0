"""``selfselect check``."""

from __future__ import annotations

import sys
from typing import Any

import click

from selfselect._formats import count
from selfselect._text import printable
from selfselect.tabular.data_checks import check_column_roles
from selfselect.tabular.loading import read_for_checking

from .errors import CONDITION_FAILED, SEVERITY_WORDS, finding_message, sort_findings
from .inputs import meaning_line, model_column, people_columns, table_at, title_of


def run(file: str, ignore: tuple[str, ...], **options: Any) -> None:
    """Show what looks wrong with a table, and fail if anything does."""
    columns = people_columns(options)
    model = model_column(options) if options["score"] is not None or options["prediction"] is not None else None
    findings = list(check_column_roles(columns.label, columns.groups, None if model is None else model.name))
    size = ""
    if not findings:
        with table_at(file, options) as table:
            people = read_for_checking(table, columns, model, ignore=ignore, findings=findings)
        size = f"{count(people.n_people)} people, {len(table.header)} columns"
        click.echo(meaning_line(people))
    command = click.get_current_context().command
    for finding in sort_findings(findings):
        click.echo(f"{SEVERITY_WORDS[finding.severity]}: {finding_message(finding, command)}")
    title = printable(title_of(file))
    problems = sum(finding.severity != "hint" for finding in findings)
    if problems:
        click.echo(f"{problems} {'problem was' if problems == 1 else 'problems were'} found in {title}.")
        sys.exit(CONDITION_FAILED)
    click.echo(f"No problem was found in {title}: {size}.")
