"""``selfselect plan``."""

from __future__ import annotations

from typing import Any

import click

from .lazy import work_of
from .options import CostRange, check_model_options, file_options, model_options, output_options, people_options


@click.command()
@click.argument("file")
@people_options
@model_options
@click.option("--cost", "costs", type=CostRange(), multiple=True, required=True, help="Cost of being tested.")
@click.option(
    "--target", "targets", multiple=True, metavar="NAME", help="Group to bring in [default: all that stay away]."
)
@click.option("--proportional", is_flag=True, help="Pay shares of the cost, not amounts.")
@click.option(
    "--retrain",
    is_flag=True,
    help="Search for subsidies that still work after the firm re-trains a strategic model against them, on the other "
    "columns of the table.",
)
@click.option("--drop-group", is_flag=True, help="With --retrain: the firm's model does not see the group columns.")
@click.option("--ignore", multiple=True, metavar="COLUMN", help="With --retrain: column not to learn from.")
@output_options
@file_options
def plan(**options: Any) -> None:
    """Least subsidies that bring groups in, who receives them, and what they change.

    Everyone of a subsidised group who applies and passes screening receives the subsidy. A report (--report) opens with
    the subsidies set.

    \b
    Example:
      selfselect plan loans.csv --label repaid --group region --score score --cost 0.7 --target North

    Exit code 0: the subsidies bring all targets in; 1: for some target no subsidy can; 2: wrong input.
    """  # noqa: D301
    if len({cost for option in options["costs"] for cost in option}) != 1:
        raise click.UsageError("A plan is for one --cost.")
    if not options["retrain"] and (options["drop_group"] or options["ignore"]):
        raise click.UsageError("--drop-group and --ignore belong to --retrain.")
    if options["retrain"] and options["file"] == "-":
        raise click.UsageError("--retrain reads the table twice; standard input cannot be.")
    check_model_options(**options)
    work_of("plan").run(**options)
