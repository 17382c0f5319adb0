"""Output files: written whole or not at all, and never over an existing file without ``--force``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from selfselect._files import is_stream, write_atomically
from selfselect._text import printable

from .errors import BadInput

#: Kinds of output by their suffix.
HTML, JSON, CSV = (".html", ".htm"), (".json",), (".csv",)
MODEL, PICTURE = (".skops",), (".png", ".svg", ".pdf")


def check_files(
    paths: Iterable[tuple[str | Path | None, Sequence[str]]], *, force: bool, inputs: Iterable[str | Path] = ()
) -> None:
    """Refuse output files that cannot be written, before any work is done.

    Each of ``paths`` comes with the suffixes it may have; a stream needs none. ``force`` allows to replace files that
    exist, but never one of ``inputs``.
    """
    real_inputs = {os.path.realpath(path) for path in inputs if str(path) != "-"}
    chosen: dict[str, Path] = {}
    for path, suffixes in ((Path(path), suffixes) for path, suffixes in paths if path is not None):
        real = os.path.realpath(path)
        if str(path) == "-":
            raise BadInput("- is not a file; give this output a name.")
        if real in real_inputs:
            raise BadInput(f"{path} is read by this command; write to another file.")
        if real in chosen:
            raise BadInput(f"{path} is named for two outputs; give each its own.")
        if os.path.exists(path) and not (os.path.isfile(path) or is_stream(path)):
            raise BadInput(f"Cannot write {path}: it is not an ordinary file.")
        if not os.path.isdir(os.path.dirname(real)):
            raise BadInput(f"Cannot write {path}: there is no folder {os.path.dirname(path) or '.'}.")
        if path.suffix.lower() not in suffixes and not is_stream(path):
            raise BadInput(f"Cannot write {path}: its name must end in {' or '.join(suffixes)}.")
        chosen[real] = path
    existing = [str(path) for path in chosen.values() if path.exists() and not is_stream(path)]
    if existing and not force:
        raise BadInput(f"{', '.join(existing)} exists already; choose another name or pass --force.")


def print_table(pieces: Iterable[bytes]) -> None:
    """Print a table: byte by byte to a file or another program, without control characters to a terminal."""
    for piece in pieces:
        if sys.stdout.isatty():
            click.echo("\n".join(map(printable, piece.decode().split("\n"))), nl=False)
        else:
            click.echo(piece, nl=False)


@dataclass(frozen=True)
class Outputs:
    """Files of a result. With ``-`` as ``json``, the terminal shows the JSON and nothing else."""

    report: str | None
    json: str | None
    csv: str | None

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Outputs:
        """Outputs that the options name."""
        return cls(options["report"], options["json_file"], options["csv_file"])

    def deliver(self, result: Any, show: Callable[[Any], None], names: Sequence[str] | None = None) -> None:
        """Write the files of a result, then show it. The CSV file begins with the names of groups, if there are any."""
        self.write(result, names)
        if self.json == "-":
            click.echo(result.to_json().encode(), nl=False)
        else:
            show(result)
        self.name_report()

    def write(self, result: Any, names: Sequence[str] | None = None) -> None:
        """Write the files. This comes before any printing, which ends early when the reader of the output ends."""
        from selfselect.tabular.write import csv_text

        if self.json is not None and self.json != "-":
            write_atomically(self.json, result.to_json())
        if self.csv is not None:
            frame = result.to_frame()
            if names is not None:
                frame.insert(0, "group", names)
            write_atomically(self.csv, csv_text(frame))
        if self.report is not None:
            write_atomically(self.report, result.to_html())

    def name_report(self) -> None:
        """Say where the report is."""
        if self.report is not None:
            line = f"\nReport: {printable(self.report)} (open it in any browser; it needs no network)"
            click.echo(line, err=self.json == "-")


def check_outputs(*outputs: Outputs, force: bool, inputs: Iterable[str | Path], figure: str | None = None) -> None:
    """Refuse outputs that cannot be written, before anything is read."""
    from selfselect.report import check_available

    files: list[tuple[str | None, Sequence[str]]] = [(figure, PICTURE)]
    for each in outputs:
        files += [(each.report, HTML), (None if each.json == "-" else each.json, JSON), (each.csv, CSV)]
    check_files(files, force=force, inputs=inputs)
    if any(each.report is not None for each in outputs):
        check_available()
