"""``selfselect compare``."""

from __future__ import annotations

import math
from typing import Any

import click

from .lazy import work_of
from .options import CostRange, file_options, output_options, people_options, seed_option, weight_option

#: More draws would take long, and hardly change an interval.
MOST_DRAWS = 100_000


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE [FILE]")
@people_options
@click.option(
    "--score", "scores", multiple=True, metavar="COLUMN", help="Score; twice if the two have columns of their own."
)
@click.option("--threshold", "thresholds", multiple=True, type=float, metavar="T", help="Of the score; once or twice.")
@click.option("--lower-passes", is_flag=True, help="Below the threshold passes, not above it.")
@click.option(
    "--prediction",
    "predictions",
    multiple=True,
    metavar="COLUMN",
    help="Who passes, instead of a score; once or twice.",
)
@click.option("--prediction-positive", metavar="VALUE", help="The prediction that means passing, if not 1 or true.")
@weight_option
@click.option(
    "--cost", "costs", type=CostRange(), multiple=True, required=True, help="Cost of being tested; twice if it changed."
)
@click.option(
    "--same-people",
    metavar="COLUMN",
    help="The two files hold the same people, matched by this column: two models are compared on them.",
)
@click.option(
    "--resamples", type=click.IntRange(2, MOST_DRAWS), default=1000, show_default=True, help="Draws for the intervals."
)
@seed_option("Of these draws.")
@output_options
@file_options
def compare(**options: Any) -> None:
    """One year against another, or model A against B: who comes, who leaves, and whether that is more than chance.

    Two FILEs are two independent sets of people, or with --same-people two models' scores of the same people. One FILE
    with two --score (or two --prediction, or two --threshold) is two models on the same people. What is given twice is
    for the first first.

    \b
    Examples:
      selfselect compare 2023.csv 2024.csv --label repaid --positive yes --group region --score score --cost 0.7
      selfselect compare loans.csv --label repaid --positive yes --group region --score old --score new --cost 0.7
      selfselect compare old.csv new.csv --same-people id \\
        --label repaid --positive yes --group region --score score --cost 0.7

    Exit code 0: fine; 2: wrong input.
    """  # noqa: D301
    files = options["files"]
    if len(files) > 2:
        raise click.UsageError(f"Two files are compared, not {len(files)}.")
    if bool(options["scores"]) == bool(options["predictions"]):
        raise click.UsageError("Pass either --score COLUMN (with --threshold) or --prediction COLUMN.")
    if options["predictions"] and options["thresholds"]:
        raise click.UsageError("--threshold belongs to --score; predictions are decided already.")
    if options["predictions"] and options["lower_passes"]:
        raise click.UsageError("--lower-passes belongs to --score; for predictions say --prediction-positive.")
    if not all(math.isfinite(threshold) for threshold in options["thresholds"]):
        raise click.UsageError("--threshold must be a finite number.")
    given = {"--score": "scores", "--prediction": "predictions", "--threshold": "thresholds", "--cost": "costs"}
    for option, name in given.items():
        if len(options[name]) > 2:
            raise click.UsageError(f"{option} is given once for both, or twice; not {len(options[name])} times.")
    if any(len(cost) > 1 for cost in options["costs"]):
        raise click.UsageError("A comparison is for one --cost each, not for a range.")
    if len(files) == 1:
        if options["same_people"] is not None:
            raise click.UsageError("--same-people is for two files; in one they are the same people.")
        if max(len(options[name]) for name in given.values()) < 2:
            raise click.UsageError("With one FILE, give --score, --prediction or --threshold twice: once per model.")
    elif files.count("-") > 1:
        raise click.UsageError("Standard input can be one of the two files only.")
    work_of("compare").run(**options)
