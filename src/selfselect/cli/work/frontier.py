"""What ``selfselect frontier`` does."""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import click

from selfselect._formats import percent
from selfselect._text import printable
from selfselect.planning import ThresholdFrontier, frontier_for
from selfselect.plotting import FrontierDisplay
from selfselect.report.sentences.frontiers import NOTES
from selfselect.report.tables import point_row

from ..errors import CONDITION_FAILED
from ..inputs import load_audit, subsidy_kind
from ..outputs import Outputs, refuse_existing, write_output
from ..terminal import text_table
from .pictures import check_picture


def run(
    *,
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
    """Find the frontier of a table's score, write and show it, and check the limit."""
    outputs = Outputs(report, json_file, csv_file, force)
    outputs.check([file])
    on_disk = [path for path in (report, json_file, csv_file) if path is not None and path != "-"]
    refuse_existing([figure, *on_disk], force=force, inputs=[file])
    check_picture(figure)
    found = load_audit(file, kind=subsidy_kind(proportional), **reading)
    if found.published_by.lower_passes:
        note = (
            "Note: lower scores pass, so scores and thresholds are shown with the opposite sign: -0.3 means below 0.3."
        )
        click.echo(note, err=True)
    made = frontier_for(found, max_social_cost=max_social_cost, random_state=seed)
    if figure is not None:
        write_output(figure, _picture(made, Path(figure).suffix[1:].lower()), force=force)
    outputs.deliver(made, made.to_frame(), _show)
    if figure is not None:
        click.echo(f"\nPicture: {printable(figure)}", err=json_file == "-")
    if not made.met:
        limit = percent(max_social_cost or 0.0)
        failed = f"with one threshold for all, more than {limit} of qualified people stay away (--max-social-cost)."
        click.echo(f"Condition failed: {failed}", err=True)
        sys.exit(CONDITION_FAILED)


def _picture(made: ThresholdFrontier, kind: str) -> bytes:
    import matplotlib as mpl  # an extra, which only pictures need

    mpl.use("Agg")
    with mpl.rc_context({"svg.hashsalt": "selfselect"}):
        drawn = BytesIO()
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
        FrontierDisplay(made).plot().figure_.savefig(drawn, format=kind, dpi=150, metadata=metadata)
    return drawn.getvalue()


def _show(made: ThresholdFrontier) -> None:
    click.echo(printable(made.verdict()))
    for title, points in (("One threshold for all", made.one), ("A threshold per group", made.per_group)):
        if points:
            rows = [point_row(made, point) for point in points]
            table = text_table(rows, left=("apply", "thresholds"), rest="--csv and --json hold all")
            click.echo(f"\n{title}: choices that no other beats in both numbers\n\n{table}")
    click.echo()
    for note in NOTES:
        click.echo(note)
