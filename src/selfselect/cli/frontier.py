"""``selfselect frontier``."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from selfselect._files import write_atomically
from selfselect._formats import percent
from selfselect._text import printable

from .errors import CONDITION_FAILED, BadInput
from .options import (
    Number,
    check_model_options,
    cost_of_option,
    cost_option,
    file_options,
    output_options,
    screening_options,
    seed_option,
    subsidy_options,
)
from .outputs import Outputs, check_outputs
from .terminal import text_table

if TYPE_CHECKING:
    from selfselect.planning import ThresholdFrontier


@click.command(short_help="Compare all thresholds of a score.")
@screening_options
@cost_option
@cost_of_option
@subsidy_options
@click.option(
    "--max-social-cost",
    type=Number(0, 1),
    metavar="SHARE",
    help="Recommend the most accurate thresholds at which no larger share of qualified people stays away [default: "
    "than now].",
)
@seed_option("Of the split into parts for held-out numbers.")
@click.option("--figure", metavar="PICTURE", help="Draw both frontiers (.png, .svg or .pdf).")
@output_options
@file_options
def frontier(file: str, max_social_cost: float | None, figure: str | None, **options: Any) -> None:
    """Compare all thresholds of a score: accuracy among applicants against social cost.

    There is a frontier of one threshold for all, and one of a threshold per group (which may be unlawful: it treats
    people of the same score differently). Thresholds are chosen on the people they are counted on; held-out numbers
    are chosen on one part, published on a second and counted on a third.

    \b
    Example:
      selfselect frontier loans.csv --label repaid --positive yes --group region --score score \\
        --cost 0.7 --max-social-cost 0.05

    Exit code 0: fine; 1: no threshold for all keeps --max-social-cost; 2: wrong input.
    """  # noqa: D301
    if options["prediction"] is not None or options["score"] is None:
        raise click.UsageError("A frontier needs --score COLUMN: decisions have no other threshold.")
    check_model_options(**options)

    from selfselect.planning import frontier_for

    from .inputs import load_audits

    outputs = Outputs.of(options)
    check_outputs(outputs, force=options["force"], inputs=[file], figure=figure)
    if figure is not None and find_spec("matplotlib") is None:
        raise BadInput("A picture needs matplotlib: pip install matplotlib (extra plot).")
    (audit,) = load_audits(file, [(options["cost"],)], options)
    if audit.published_by.lower_passes:
        click.echo(
            "Note: lower scores pass, so scores and thresholds are shown with the opposite sign: -0.3 means below 0.3.",
            err=True,
        )
    result = frontier_for(audit, max_social_cost=max_social_cost, random_state=options["seed"])
    if figure is not None:
        write_atomically(figure, _picture(result, Path(figure).suffix[1:].lower()))
    outputs.deliver(result, _show)
    if figure is not None:
        click.echo(f"\nPicture: {printable(figure)}", err=outputs.json == "-")
    if not result.met:
        limit = percent(max_social_cost or 0.0)
        failed = f"with one threshold for all, more than {limit} of qualified people stay away (--max-social-cost)."
        click.echo(f"Condition failed: {failed}", err=True)
        sys.exit(CONDITION_FAILED)


def _picture(result: ThresholdFrontier, kind: str) -> bytes:
    import matplotlib as mpl  # an extra, which only pictures need

    from selfselect.plotting import FrontierDisplay

    mpl.use("Agg")
    with mpl.rc_context({"svg.hashsalt": "selfselect"}):
        drawn = BytesIO()
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
        FrontierDisplay(result).plot().figure_.savefig(drawn, format=kind, dpi=150, metadata=metadata)
    return drawn.getvalue()


def _show(result: ThresholdFrontier) -> None:
    from selfselect.report.sentences.frontiers import NOTES
    from selfselect.report.tables import point_row

    from .inputs import meaning_line

    click.echo(printable(result.verdict()))
    click.echo(meaning_line(result.provenance))
    for title, points in (("One threshold for all", result.one), ("A threshold per group", result.per_group)):
        if points:
            rows = [point_row(result, point) for point in points]
            table = text_table(rows, left=("apply", "thresholds"), rest="--csv and --json hold all")
            click.echo(f"\n{title}: choices that no other beats in both numbers\n\n{table}")
    click.echo()
    for note in NOTES:
        click.echo(note)
