"""``selfselect train``."""

from __future__ import annotations

from typing import Any

import click

from .lazy import work_of
from .options import NamedAmount, Number, file_options, people_options, report_options, seed_option

#: Methods by name; see :mod:`selfselect.tabular.train`.
METHODS = ("naive", "semi", "thresholds", "strategic")


@click.command()
@click.argument("file")
@people_options
@click.option("--cost", type=Number(0, 1), required=True, help="Cost of being tested.")
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="strategic",
    show_default=True,
    help="Blind to applications; one good threshold; one for each group, over a logistic regression (it takes the "
    "group to decide); or trained for those who apply.",
)
@click.option("--use-group", is_flag=True, help="Let the model learn from the group columns too.")
@click.option("--drop-group", is_flag=True, hidden=True)
@click.option("--ignore", multiple=True, metavar="COLUMN", help="Column not to learn from.")
@click.option("--parity", type=Number(0), help="Weight of equal selection rates (strategic).")
@click.option("--equal-tpr", type=Number(0), help="Weight of equal true-positive rates (strategic).")
@click.option(
    "--tolerance",
    type=Number(0, 1),
    help="Margin by which groups must clear the cost (semi, strategic) [default: that of the method's classifier in "
    "Python].",
)
@click.option(
    "--require", multiple=True, metavar="NAME", help="Write no model (exit code 1) unless this group applies."
)
@click.option(
    "--max-social-cost",
    type=Number(0, 1),
    metavar="SHARE",
    help="Write no model (exit code 1) with which a larger share of qualified people does not apply.",
)
@click.option(
    "--min-selection-rate",
    type=Number(0, 1),
    metavar="SHARE",
    help="Write no model (exit code 1) that passes a smaller share of any group.",
)
@click.option("--allow-shut-out", is_flag=True, help="Write a model even if it passes nobody of a group.")
@click.option("--subsidy", "subsidies", type=NamedAmount(), multiple=True, help="Subsidy that training counts on.")
@click.option("--proportional", is_flag=True, help="Subsidies are shares of the cost, not amounts.")
@click.option("--holdout", type=Number(0, 0.9), default=0.3, show_default=True, help="Share kept for evaluation.")
@seed_option("Of the split.")
@click.option("--model", "model_file", required=True, metavar="SKOPS", help="Where to write the model (.skops).")
@report_options
@file_options
def train(drop_group: bool, **options: Any) -> None:
    """Train a model on a table with ordinary columns: numbers, categories, missing values.

    All columns but the label and the groups are learnt from (--ignore leaves some out, --use-group adds the groups).
    Part of the rows is held out; what the model does to those people is shown. Methods that can, are trained to meet
    --require, --max-social-cost and --min-selection-rate; of any method, a model that does not meet them is not
    written.

    \b
    Example:
      selfselect train loans.csv --label repaid --positive yes --group region \\
        --cost 0.7 --method semi --model loans.skops

    Exit code 0: fine; 1: a condition does not hold, or the model passes nobody (or under 1%) of a group with ten or
    more qualified people (--allow-shut-out writes it all the same); 2: wrong input.
    """  # noqa: D301
    if drop_group and options["use_group"]:
        raise click.UsageError("--use-group and --drop-group say the opposite.")
    if drop_group:
        click.echo("Note: --drop-group is not needed: groups are learnt from only with --use-group.", err=True)
    work_of("train").run(**options)
