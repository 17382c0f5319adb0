"""``selfselect audit``."""

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
    untested_option,
    weight_option,
)


@click.command()
@click.argument("file")
@people_options
@model_options
@weight_option
@untested_option
@click.option(
    "--cost",
    "costs",
    type=CostRange(spans=True),
    multiple=True,
    required=True,
    help="Cost of being tested, as a share of what being hired is worth; repeat it, or give FIRST:LAST:STEP. LOW:HIGH "
    "asks what holds over all of it, and where it tips.",
)
@cost_of_option
@click.option("--subsidy", "subsidies", type=NamedAmount(), multiple=True, help="Pay a group an amount.")
@click.option("--proportional", is_flag=True, help="Subsidies are shares of the cost, not amounts.")
@output_options
@click.option("--require", multiple=True, metavar="NAME", help="Fail (exit code 1) unless this group applies.")
@click.option(
    "--max-social-cost",
    type=Number(0, 1),
    metavar="SHARE",
    help="Fail (exit code 1) if a larger share of qualified people stays away.",
)
@click.option("--impact", is_flag=True, help="Show impact ratios (selection rates over the highest: four fifths).")
@click.option(
    "--separately",
    is_flag=True,
    help="With several --group: audit by each column on its own. JSON becomes a list; a report or CSV file is written "
    "for each, named after its column (out-sex.html).",
)
@file_options
def audit(**options: Any) -> None:
    """Who will not bother to apply to a screening model, and what follows.

    FILE is a CSV (also .gz) or Parquet table with one row per person; - reads standard input.

    \b
    Example:
      selfselect audit loans.csv --label repaid --positive yes --group region --score score \\
        --cost 0.7 --report loans.html

    Exit code 0: fine; 1: a condition (--require, --max-social-cost) does not hold; 2: wrong input.
    """  # noqa: D301
    check_model_options(**options)
    work_of("audit").run(**options)
