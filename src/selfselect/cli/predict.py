"""``selfselect predict``."""

from __future__ import annotations

from typing import Any

import click

from .lazy import work_of
from .options import file_options


@click.command()
@click.argument("model")
@click.argument("file")
@click.option("--output", metavar="CSV", help="Where to write the table [default: to the terminal].")
@click.option("--prefix", default="", help="Put in front of the names of the new columns.")
@file_options
def predict(**options: Any) -> None:
    """Add the columns score, prediction and applies to a table.

    MODEL is a file that selfselect train wrote. A score above 0 passes screening (prediction 1). applies says whether
    the person's group applies, by what the model published in training; it is empty for groups that were not there.

    \b
    Example:
      selfselect predict loans.skops new.csv --output scored.csv
    """  # noqa: D301
    work_of("predict").run(**options)
