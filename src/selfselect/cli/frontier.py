"""``selfselect frontier``."""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from selfselect._text import printable

from .errors import CONDITION_FAILED
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
from .pictures import check_picture

if TYPE_CHECKING:
    from selfselect.planning import ThresholdFrontier


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
def frontier(
    file: str,
    max_social_cost: float | None,
    seed: int,
    figure: str | None,
    proportional: bool,
    report: str | None,
    json_file: str | None,
    csv_file: str | None,
    force: bool,
    **reading: Any,
) -> None:
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
    if reading["prediction"] is not None or reading["score"] is None:
        raise click.UsageError("A frontier needs --score COLUMN: decisions have no other threshold.")
    if len({cost for option in reading["costs"] for cost in option}) != 1:
        raise click.UsageError("A frontier is for one --cost.")
    check_model_options(**reading)

    from selfselect.auditing.formats import percent
    from selfselect.planning import frontier_for

    from .inputs import load_audit, subsidy_kind
    from .outputs import Outputs, refuse_existing, write_output

    outputs = Outputs(report, json_file, csv_file, force)
    outputs.check([file])
    on_disk = [path for path in (report, json_file, csv_file) if path is not None and path != "-"]
    refuse_existing([figure, *on_disk], force=force, inputs=[file])
    check_picture(figure)
    found = load_audit(file, kind=subsidy_kind(proportional), **reading)
    if found.published_by.lower_passes:
        told = (
            "Note: lower scores pass, so the score is turned round: below, a threshold of -0.3 means that those pass "
        )
        click.echo(f"{told}who have less than 0.3.", err=True)
    made = frontier_for(found, max_social_cost=max_social_cost, random_state=seed)
    if figure is not None:
        write_output(figure, _picture(made, Path(figure).suffix[1:].lower()), force=force)
    outputs.deliver(made, made.to_frame(), _show)
    if figure is not None:
        click.echo(f"\nPicture: {printable(figure)}", err=json_file == "-")
    if not made.met:
        limit = percent(max_social_cost or 0.0)
        click.echo(f"Condition failed: no one threshold keeps social cost at {limit} (--max-social-cost).", err=True)
        sys.exit(CONDITION_FAILED)


def _picture(made: ThresholdFrontier, kind: str) -> bytes:
    import matplotlib as mpl  # an extra, which only pictures need

    from selfselect.plotting import FrontierDisplay

    mpl.use("Agg")
    with mpl.rc_context({"svg.hashsalt": "selfselect"}):
        drawn = BytesIO()
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
        FrontierDisplay(made).plot().figure_.savefig(drawn, format=kind, dpi=150, metadata=metadata)
    return drawn.getvalue()


def _show(made: ThresholdFrontier) -> None:
    from .terminal import text_table

    click.echo(printable(made.verdict()))
    for title, points in (("One threshold for all", made.one), ("A threshold per group", made.per_group)):
        if points:
            rows = [made.shown(point) for point in points]
            table = text_table(rows, left=("apply", "thresholds"), rest="--csv and --json hold all")
            click.echo(f"\n{title}, those that no other beats:\n\n{table}")
    click.echo()
    for note in made.notes():
        click.echo(note)
