"""``selfselect train``."""

from __future__ import annotations

from typing import Any

import click

from .lazy import work_of
from .options import NamedAmount, Number, file_options, people_options

#: Methods by name; see :mod:`selfselect.tabular.training`.
METHODS = ("naive", "semi", "strategic")


@click.command()
@click.argument("file")
@people_options
@click.option("--cost", type=Number(0, 1), required=True, help="Cost of being tested.")
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="strategic",
    show_default=True,
    help="Blind to applications; one good threshold; or trained for those who apply.",
)
@click.option("--drop-group", is_flag=True, help="Do not let the model see the group columns.")
@click.option("--ignore", multiple=True, metavar="COLUMN", help="Column not to learn from.")
@click.option("--parity", type=Number(0), help="Weight of equal selection rates (strategic).")
@click.option("--equal-tpr", type=Number(0), help="Weight of equal true-positive rates (strategic).")
@click.option(
    "--tolerance",
    type=Number(0, 1),
    help="Margin by which groups must clear the cost (semi, strategic) [default: that of the method's classifier in "
    "Python].",
)
@click.option("--subsidy", "subsidies", type=NamedAmount(), multiple=True, help="Subsidy that training counts on.")
@click.option("--proportional", is_flag=True, help="Subsidies are shares of the cost, not amounts.")
@click.option("--holdout", type=Number(0, 0.9), default=0.3, show_default=True, help="Share kept for evaluation.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the split.")
@click.option("--model", "model_file", required=True, metavar="JSON", help="Where to write the model.")
@click.option("--report", metavar="HTML", help="Write a page that people can play with.")
@file_options
def train(**options: Any) -> None:
    """Train a model on a table with ordinary columns: numbers, categories, missing values.

    All columns but the label are learnt from (--ignore leaves some out). Part of the rows is held out; what the model
    does to those people is shown.

    \b
    Example:
      selfselect train loans.csv --label repaid --group region --cost 0.7 --method semi --model loans.json
    """  # noqa: D301
    work_of("train").run(**options)
