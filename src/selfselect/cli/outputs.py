"""Output files: written whole or not at all, and never over an existing one unless asked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pandas as pd

from selfselect._files import is_stream, write_whole
from selfselect._text import printable
from selfselect.report import check_available
from selfselect.tabular.write import csv_text

from .errors import BadInput, has_option
from .streams import print_json


def refuse_existing(paths: Iterable[str | Path | None], *, force: bool, inputs: Iterable[str | Path] = ()) -> None:
    """Complain before any work is done, rather than after it, about output files that cannot be written.

    Parameters
    ----------
    paths : iterable of path or None
        Output files.
    force : bool
        Whether files that exist may be replaced.
    inputs : iterable of path
        Files that are read: they are never replaced.
    """
    chosen = [Path(path) for path in paths if path is not None]
    read = {os.path.realpath(path) for path in inputs if str(path) != "-"}
    seen: set[str] = set()
    for path in chosen:
        real = os.path.realpath(path)
        if str(path) == "-":
            context = click.get_current_context(silent=True)
            other = context is not None and has_option(context.command, "--json")
            raise BadInput(f"- (the terminal) is {'only for --json' if other else 'no file'}; give this file a name.")
        if real in read:
            raise BadInput(f"{path} is read by this command; write to another file.")
        if real in seen:
            raise BadInput(f"{path} is named for two outputs; give each its own.")
        seen.add(real)
        if os.path.exists(path) and not (os.path.isfile(path) or is_stream(path)):
            raise BadInput(f"Cannot write {path}: it is not an ordinary file.")
        if not os.path.isdir(os.path.dirname(real)):
            raise BadInput(f"Cannot write {path}: there is no folder {os.path.dirname(path) or '.'}.")
    existing = [str(path) for path in chosen if path.exists() and not is_stream(path)]
    if existing and not force:
        raise BadInput(f"{', '.join(existing)} exists already; choose another name or pass --force.")


def write_output(path: str | Path, content: str | bytes | Iterable[bytes], *, force: bool) -> None:
    """Write a file whole, unless it exists and may not be replaced."""
    refuse_existing([path], force=force)
    try:
        write_whole(path, content)
    except OSError as error:
        raise BadInput(f"Cannot write {path}: {error.strerror or error}.") from error


def check_report_available() -> None:
    """Complain before any work is done if a report cannot be made."""
    try:
        check_available()
    except ImportError as error:
        raise BadInput(str(error)) from error


def by_name(finding: Any, names: Sequence[str]) -> pd.DataFrame:
    """The table of a finding, with the names of its groups as people read them in the first column."""
    frame: pd.DataFrame = finding.to_frame()
    frame.insert(0, "group", names)
    return frame


@dataclass(frozen=True)
class Outputs:
    """Where a finding goes besides the terminal.

    Attributes
    ----------
    report, json, csv : str or None
        Files; ``-`` as ``json`` is the terminal, which then shows nothing else.
    force : bool
        Whether files that exist may be replaced.
    """

    report: str | None
    json: str | None
    csv: str | None
    force: bool

    def check(self, inputs: Iterable[str | Path]) -> None:
        """Complain about what cannot be written before anything is read."""
        on_disk = self.json if self.json != "-" else None
        refuse_existing([self.report, on_disk, self.csv], force=self.force, inputs=inputs)
        if self.report is not None:
            check_report_available()

    def deliver(self, finding: Any, frame: pd.DataFrame, show: Callable[[Any], None]) -> None:
        """Write the files of a finding, then show it; ``frame`` is what goes into the CSV file."""
        self.write(finding, frame)
        if self.json == "-":
            print_json(finding.to_json())
        else:
            show(finding)
        self.name_report()

    def write(self, finding: Any, frame: pd.DataFrame) -> None:
        """Write the files: before anything is printed, so that a reader who stops early does not cost them."""
        if self.json is not None and self.json != "-":
            write_output(self.json, finding.to_json(), force=self.force)
        if self.csv is not None:
            write_output(self.csv, csv_text(frame), force=self.force)
        if self.report is not None:
            write_output(self.report, finding.to_html(), force=self.force)

    def name_report(self) -> None:
        """Say where the report is."""
        if self.report is not None:
            said = f"\nReport: {printable(self.report)} (open it in any browser; it needs no network)"
            click.echo(said, err=self.json == "-")
