"""``selfselect check``."""

from __future__ import annotations

import sys
from typing import Any

import click

from selfselect._errors import InputError
from selfselect._formats import count
from selfselect._text import printable
from selfselect.tabular.data_checks import FOR_TRAINING, Finding, check_column_roles
from selfselect.tabular.guessing import Guess, guess_roles, summary_rows
from selfselect.tabular.loading import read_for_checking

from .errors import CONDITION_FAILED, SEVERITY_WORDS, error_message, finding_message, sort_findings
from .inputs import meaning_line, model_column, people_columns, table_at, title_of
from .options import read_bands
from .terminal import text_table


def run(file: str, ignore: tuple[str, ...], **options: Any) -> None:
    """Show what looks wrong with a table, and fail if anything does."""
    if options["label"] is None or not options["groups"]:
        guess, options = _look(file, options)
        if options["label"] is None or not options["groups"]:
            _end(guess, file, options, [], [])
    else:
        guess = None
    columns = people_columns(options)
    model = model_column(options) if options["score"] is not None or options["prediction"] is not None else None
    findings = list(check_column_roles(columns.label, columns.groups, None if model is None else model.name))
    errors, size = [], ""
    if not findings:
        try:
            with table_at(file, options) as table:
                people = read_for_checking(table, columns, model, ignore=ignore, findings=findings)
            size = f": {count(people.n_people)} people, {len(table.header)} columns"
            click.echo(meaning_line(people))
        except InputError as error:
            if guess is None:
                raise
            errors = [error_message(error, click.get_current_context().command)]
    _end(guess, file, options, errors, findings, size)


def _look(file: str, options: dict[str, Any]) -> tuple[Guess, dict[str, Any]]:
    """Show what each column holds, and take over what is guessed."""
    with table_at(file, options) as table:
        row = table.header_guess()
    if row is not None and options["header_row"] == 1:
        click.echo(f"Row {row} seems to name the columns; --header-row {row} is assumed.\n")
        options = options | {"header_row": row}
    given = {role: options[role] for role in ("label", "score", "prediction") if options[role] is not None}
    given |= {"group": options["groups"][0]} if options["groups"] else {}
    with table_at(file, options) as table:
        for name in given.values():
            table.position(name)
        guess = guess_roles(table, given)
        click.echo(f"{printable(title_of(file))} has {len(table.header)} columns.\n")
    click.echo(text_table(summary_rows(guess), left=("column", "holds", "for example", "could be")) + "\n")
    taken: dict[str, Any] = {role: guess.roles.get(role) for role in ("label", "score", "prediction")}
    taken["groups"] = options["groups"] or ((guess.roles["group"],) if "group" in guess.roles else ())
    settings = iter(guess.options)
    for name in settings:
        key = name.removeprefix("--").replace("-", "_")
        value: Any = True if key == "untested" else next(settings)
        parsed = {
            "positive": (value,),
            "missing": "own_group",
            "bands": dict([read_bands(value)]) if key == "bands" else {},
        }
        if not options[key] or key == "missing":
            taken[key] = float(value) if key == "threshold" else parsed.get(key, value)
    return guess, options | taken


def _end(
    guess: Guess | None, file: str, options: dict[str, Any], errors: list[str], findings: list[Finding], size: str = ""
) -> None:
    """Show all problems, those of an audit apart from those of training, and how to go on; fail if there are any."""
    command, problems = click.get_current_context().command, len(errors)
    for line in errors:
        click.echo(f"Error: {printable(line)}")
    for title, training in (("For an audit", False), ("For training (selfselect train)", True)):
        these = [one for one in sort_findings(findings) if (one.key in FOR_TRAINING) == training]
        problems += sum(one.severity != "hint" for one in these)
        if these:
            click.echo(f"{title}:")
        for one in these:
            click.echo(f"  {SEVERITY_WORDS[one.severity]}: {finding_message(one, command)}")
    if guess is not None:
        for remark in guess.remarks:
            click.echo(f"Guess: {printable(remark)}")
        further = () if options["header_row"] == 1 else ("--header-row", str(options["header_row"]))
        line = guess.command(file, further)
        if line:
            click.echo("\nNext, with what is guessed above (costs from 30% to 90%, until you know yours):")
            click.echo(f"  {printable(line)}")
    title = printable(title_of(file))
    if problems:
        click.echo(f"{problems} {'problem was' if problems == 1 else 'problems were'} found in {title}.")
        sys.exit(CONDITION_FAILED)
    if size:
        click.echo(f"No problem was found in {title}{size}.")
    sys.exit(0)
