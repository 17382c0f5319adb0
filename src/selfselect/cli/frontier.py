"""``selfselect frontier``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from selfselect._files import write_atomically
from selfselect._formats import percent
from selfselect._text import printable
from selfselect.planning import ThresholdFrontier, frontier_for
from selfselect.plotting import FrontierDisplay
from selfselect.report.sentences.frontiers import NOTES, frontier_warnings
from selfselect.report.tables import point_row

from .errors import CONDITION_FAILED
from .inputs import load_audits, meaning_line
from .outputs import check_files, check_pictures, deliver, picture
from .terminal import text_table


def run(file: str, max_social_cost: float | None, **options: Any) -> None:
    """Compare all thresholds of a score, and fail if none for all keeps the limit."""
    figure = options["figure"]
    check_files(options, force=options["force"], inputs=[file, options["costs_file"]])
    check_pictures(figure)
    (audit,) = load_audits(file, options["cost"], options)
    result = frontier_for(audit, max_social_cost=max_social_cost, random_state=options["seed"])
    if figure is not None:
        write_atomically(figure, picture(FrontierDisplay(result), Path(figure).suffix[1:].lower()))
    deliver(result, options, _show)
    for warning in frontier_warnings(result):
        click.echo(f"Warning: {printable(warning)}", err=True)
    if figure is not None:
        click.echo(f"\nPicture: {printable(figure)}", err=options["json"] == "-")
    if not result.met:
        limit = percent(max_social_cost or 0.0)
        failed = f"with one threshold for all, more than {limit} of qualified people stay away (--max-social-cost)."
        click.echo(f"Condition failed: {failed}", err=True)
        sys.exit(CONDITION_FAILED)


def _show(result: ThresholdFrontier) -> None:
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
