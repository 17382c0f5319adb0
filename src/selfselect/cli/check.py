"""``selfselect check``."""

from __future__ import annotations

from typing import Any

import click

from .lazy import work_of
from .options import check_model_options, file_options, model_options, people_options


@click.command()
@click.argument("file")
@people_options
@model_options
@click.option("--ignore", multiple=True, metavar="COLUMN", help="Column not to look at.")
@file_options
def check(**options: Any) -> None:
    """Look for what would mislead in a table, before anything is computed from it.

    Labels and groups are looked at, what a model says (--score or --prediction, if given), and all other columns as a
    model would learn from them. Every other command does the same with what it reads.

    \b
    Example:
      selfselect check loans.csv --label repaid --positive yes --group region --score score

    Exit code 0: nothing was found; 1: something that would mislead; 2: wrong input.
    """  # noqa: D301
    if options["score"] is not None or options["prediction"] is not None:
        check_model_options(**options)
    work_of("check").run(**options)
