"""``selfselect plan``."""

from __future__ import annotations

from typing import Any

import click

from .lazy import work_of
from .options import (
    CostRange,
    Number,
    check_model_options,
    cost_of_option,
    file_options,
    model_options,
    output_options,
    people_options,
    weight_option,
)


@click.command()
@click.argument("file")
@people_options
@model_options
@weight_option
@click.option("--cost", "costs", type=CostRange(), multiple=True, required=True, help="Cost of being tested.")
@cost_of_option
@click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="NAME",
    help="Group to bring in [default: all that stay away]; with --budget, a group that may be paid.",
)
@click.option(
    "--budget",
    type=Number(0),
    metavar="AMOUNT",
    help="Pay at most this in all, so that social cost is lowest, in units of what being hired is worth to a person.",
)
@click.option(
    "--confidence",
    type=Number(0, 1, min_open=True, max_open=True),
    metavar="LEVEL",
    help="Pay up to the lower bound of precision (0.9: at 90%), so that a group is not left on the boundary.",
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
    """Least subsidies that bring groups in, or the best use of a budget: who is paid, and what it changes.

    Everyone of a subsidised group who applies and passes screening receives the subsidy. A report (--report) opens with
    the subsidies set. With --retrain, what subsidies do is compared with a firm that re-trains and pays nothing.

    \b
    Example:
      selfselect plan loans.csv --label repaid --positive yes --group region --score score --cost 0.7 --target North
      selfselect plan loans.csv --label repaid --positive yes --group region --score score --cost 0.7 --budget 50

    Exit code 0: the subsidies bring all targets in, or make the best of a budget; 1: for some target no subsidy
    can, or it drives another group out; 2: wrong input.
    """  # noqa: D301
    if len({cost for option in options["costs"] for cost in option}) != 1:
        raise click.UsageError("A plan is for one --cost.")
    if not options["retrain"] and (options["drop_group"] or options["ignore"]):
        raise click.UsageError("--drop-group and --ignore belong to --retrain.")
    if options["retrain"] and options["file"] == "-":
        raise click.UsageError("--retrain reads the table twice; standard input cannot be.")
    if options["retrain"] and options["weight"] is not None:
        raise click.UsageError("--weight and --retrain do not go together: the firm trains on people, not on weights.")
    check_model_options(**options)
    work_of("plan").run(**options)
