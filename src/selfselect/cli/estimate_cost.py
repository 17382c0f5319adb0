"""``selfselect estimate-cost``."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from selfselect._files import write_atomically
from selfselect._text import printable
from selfselect.estimation import EstimatedBehaviour, fit_behaviour
from selfselect.plotting import EstimatedResponseDisplay
from selfselect.report.money import Money
from selfselect.report.sentences.estimates import cost_options
from selfselect.report.tables import estimate_rows
from selfselect.tabular.applications import read_applications

from .errors import CONDITION_FAILED
from .inputs import money, table_at
from .outputs import check_files, check_pictures, deliver, picture
from .terminal import text_table


def run(file: str, groups: tuple[str, ...], period: str | None, **options: Any) -> None:
    """Estimate costs, and fail if there are none."""
    figure = options["figure"]
    check_files(options, force=options["force"], inputs=[file])
    check_pictures(figure)
    numbers = {name: options[name] for name in ("published", "applicants", "pool")}
    with table_at(file, options) as table:
        log = read_applications(table, groups, period, numbers)
    result = fit_behaviour(
        log,
        group=list(groups) if len(groups) > 1 else groups[0],
        period=period,
        **numbers,
        cost="common" if options["common_cost"] else "per_group",
        **{name: options[name] for name in ("response", "scale", "confidence")},
    )
    if figure is not None:
        write_atomically(figure, picture(EstimatedResponseDisplay(result), Path(figure).suffix[1:].lower()))
    deliver(result, options | {"report": None}, partial(_show, worth=money(options)))
    in_json = options["json"] == "-"
    if figure is not None:
        click.echo(f"\nPicture: {printable(figure)}", err=in_json)
    if not result.responds:
        click.echo("There is no cost to use: more people must apply where more is published.", err=True)
        sys.exit(CONDITION_FAILED)
    if not in_json:
        _show_options(result, options["json"])


def _show(result: EstimatedBehaviour, worth: Money | None) -> None:
    click.echo(printable(result.verdict()))
    rows = estimate_rows(result)
    if worth is not None:
        costs = result.to_frame()["cost"]
        rows = [row | {f"cost {worth.column}": worth.text(cost)} for row, cost in zip(rows, costs, strict=True)]
    click.echo("\n" + text_table(rows, left=("group", "note"), rest="--csv and --costs hold all"))


def _show_options(result: EstimatedBehaviour, costs_file: str | None) -> None:
    """How other commands take these costs."""
    named = cost_options(result)
    if named:
        click.echo(f"\nOptions for audit, plan, frontier, train and simulate: {named}")
    if costs_file is not None:
        click.echo(f"{'Or' if named else 'Option'}: --costs {printable(costs_file)}")
    elif not named:
        click.echo("\nPass --costs FILE.json to write a file that audit, plan, frontier, train and simulate take.")
