"""Findings that are tables of their own: files first, then the terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pandas as pd

from selfselect._text import printable
from selfselect.tabular.writing import csv_text

from ..errors import BadInput
from ..outputs import Outputs, write_output

#: Kinds of pictures that can be drawn.
PICTURES = ("png", "svg", "pdf")


def check_picture(figure: str | None) -> None:
    """Complain about a picture that cannot be drawn before anything is read."""
    if figure is None:
        return
    if Path(figure).suffix.lower().lstrip(".") not in PICTURES:
        raise BadInput(f"{printable(figure)}: a picture ends in {', '.join('.' + kind for kind in PICTURES)}.")
    try:
        import matplotlib  # noqa: F401 (an optional extra)
    except ImportError as error:
        raise BadInput("A picture needs matplotlib: pip install 'selfselect[plot]'.") from error


def deliver(outputs: Outputs, finding: Any, frame: pd.DataFrame, show: Callable[[Any], None]) -> None:
    """Write a finding's files, then show it; with JSON to the terminal nothing else is shown."""
    if outputs.csv is not None:
        write_output(outputs.csv, csv_text(frame), force=outputs.force)
    if outputs.report is not None:
        write_output(outputs.report, finding.to_html(), force=outputs.force)
    if outputs.json == "-":
        click.echo(finding.to_json(), nl=False)
    else:
        if outputs.json is not None:
            write_output(outputs.json, finding.to_json(), force=outputs.force)
        show(finding)
    if outputs.report is not None:
        said = f"\nReport: {printable(outputs.report)} (open it in any browser; it needs no network)"
        click.echo(said, err=outputs.json == "-")
