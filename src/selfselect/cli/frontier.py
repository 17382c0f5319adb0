"""``selfselect frontier``."""

from __future__ import annotations

from typing import Any

import click

from .lazy import work_of
from .options import (
    CostRange,
    NamedAmount,
    Number,
    check_model_options,
    cost_of_option,
    file_options,
    model_options,
    output_options,
    people_options,
    seed_option,
    weight_option,
)


@click.command()
@click.argument("file")
@people_options
@model_options
@weight_option
@click.option("--cost", "costs", type=CostRange(), multiple=True, required=True, help="Cost of being tested.")
@cost_of_option
@click.option("--subsidy", "subsidies", type=NamedAmount(), multiple=True, help="Pay a group an amount.")
@click.option("--proportional", is_flag=True, help="Subsidies are shares of the cost, not amounts.")
@click.option(
    "--max-social-cost",
    type=Number(0, 1),
    metavar="SHARE",
    help="Recommend the most accurate thresholds at which no larger share of qualified people stays away [default: "
    "than now].",
)
@seed_option("Of the deal into halves for held-out numbers.")
@click.option("--figure", metavar="PICTURE", help="Draw both frontiers (.png, .svg or .pdf).")
@output_options
@file_options
def frontier(**options: Any) -> None:
    """Which threshold? Accuracy on those who apply against social cost, over all thresholds of a score.

    One threshold for all, and one per group (which may be unlawful: it treats people of the same score differently).
    The numbers are chosen on the people they are counted on; held-out numbers are chosen on one half and counted on
    the other.

    \b
    Example:
      selfselect frontier loans.csv --label repaid --positive yes --group region --score score \\
        --cost 0.7 --max-social-cost 0.05

    Exit code 0: fine; 1: no threshold for all keeps --max-social-cost; 2: wrong input.
    """  # noqa: D301
    if options["prediction"] is not None or options["score"] is None:
        raise click.UsageError("A frontier needs --score COLUMN: decisions have no other threshold.")
    if len({cost for option in options["costs"] for cost in option}) != 1:
        raise click.UsageError("A frontier is for one --cost.")
    check_model_options(**options)
    work_of("frontier").run(**options)
