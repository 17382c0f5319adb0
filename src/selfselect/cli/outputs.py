"""Output files: written whole or not at all, and never over an existing file without ``--force``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import click
import pandas as pd

from selfselect._files import is_stream, write_atomically
from selfselect._text import json_text, printable
from selfselect.report import check_available
from selfselect.report.sentences.words import merged_sentence
from selfselect.report.sheets import result_sheets
from selfselect.tabular.excel import check_excel, workbook_bytes
from selfselect.tabular.write import csv_lines

from .errors import BadInput
from .inputs import money

#: Options that name an output file, with the suffixes that it may have.
SUFFIXES = {
    "report": (".html", ".htm"),
    "json": (".json",),
    "csv": (".csv",),
    "xlsx": (".xlsx",),
    "model": (".skops",),
    "figure": (".png", ".svg", ".pdf"),
}
#: Files of a result by the options that name them; None is not asked for.
Outputs = Mapping[str, Any]


def check_files(*outputs: Outputs, force: bool, inputs: Iterable[str | None] = ()) -> None:
    """Refuse output files that cannot be written, before anything is read.

    ``force`` allows to replace files that exist, but never one of ``inputs``. A stream may have any name, and JSON may
    go to the terminal (``-``).
    """
    real_inputs = {os.path.realpath(path) for path in inputs if path not in (None, "-")}
    chosen: dict[str, Path] = {}
    for kind, given in ((kind, each.get(kind)) for each in outputs for kind in SUFFIXES):
        if given is None or (kind == "json" and given == "-"):
            continue
        path, real = Path(given), os.path.realpath(given)
        if given == "-":
            raise BadInput("- is not a file; give this output a name.")
        if real in real_inputs:
            raise BadInput(f"{path} is read by this command; write to another file.")
        if real in chosen:
            raise BadInput(f"{path} is named for two outputs; give each its own.")
        if os.path.exists(path) and not (os.path.isfile(path) or is_stream(path)):
            raise BadInput(f"Cannot write {path}: it is not an ordinary file.")
        if not os.path.isdir(os.path.dirname(real)):
            raise BadInput(f"Cannot write {path}: there is no folder {os.path.dirname(path) or '.'}.")
        if path.suffix.lower() not in SUFFIXES[kind] and not is_stream(path):
            raise BadInput(f"Cannot write {path}: its name must end in {' or '.join(SUFFIXES[kind])}.")
        chosen[real] = path
    existing = [str(path) for path in chosen.values() if path.exists() and not is_stream(path)]
    if existing and not force:
        raise BadInput(f"{', '.join(existing)} exists already; choose another name or pass --force.")
    if any(each.get("report") is not None for each in outputs):
        check_available()
    if any(each.get("xlsx") is not None for each in outputs):
        check_excel()


def check_pictures(figure: str | None) -> None:
    """Refuse a picture that cannot be drawn, before anything is read."""
    if figure is not None and find_spec("matplotlib") is None:
        raise BadInput("A picture needs matplotlib: pip install matplotlib (extra plot).")


def picture(display: Any, kind: str) -> bytes:
    """A display as a file of some kind: png, svg or pdf. The same display gives the same bytes."""
    import matplotlib as mpl  # an extra, which only pictures need

    mpl.use("Agg")
    with mpl.rc_context({"svg.hashsalt": "selfselect"}):
        drawn = BytesIO()
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
        display.plot().figure_.savefig(drawn, format=kind, dpi=150, metadata=metadata)
    return drawn.getvalue()


def print_table(pieces: Iterable[bytes]) -> None:
    """Print a table: byte by byte to a file or another program, without control characters to a terminal."""
    for piece in pieces:
        if sys.stdout.isatty():
            click.echo("\n".join(map(printable, piece.decode().split("\n"))), nl=False)
        else:
            click.echo(piece, nl=False)


def deliver(result: Any, options: Outputs, show: Callable[[Any], None]) -> None:
    """Write the files of a result, then show it exactly, or its JSON and nothing else."""
    shared = for_files(result, options["min_cell"], options) if "min_cell" in options else result
    write_files(shared, options)
    if options["json"] == "-":
        click.echo(json_text(priced_dict(shared, options)).encode(), nl=False)
    else:
        show(result)
    name_report(options)


def for_files(result: Any, min_cell: int, *outputs: Outputs) -> Any:
    """The result as files may hold it: without numbers about fewer people. Merged groups, or exact counts, are said."""
    if not any(each.get(kind) is not None for each in outputs for kind in ("report", "json", "csv", "xlsx", "model")):
        return result
    if min_cell == 0:
        click.echo("Warning: the files hold exact counts, which may single out people. Do not pass them on.", err=True)
    shared = result.protected(min_cell)
    source = shared.source
    if source.merged:
        click.echo(f"Note: {printable(merged_sentence(source))}", err=True)
    return shared


def write_files(result: Any, outputs: Outputs) -> None:
    """Write the files of a result. This comes before any printing, which ends early when its reader ends.

    The CSV file begins with the names of groups, if there are any.
    """
    if outputs["json"] not in (None, "-"):
        write_atomically(outputs["json"], json_text(priced_dict(result, outputs)))
    if outputs["csv"] is not None:
        frame, names = _priced(result.to_frame(), result, outputs), result.row_names()
        if names is not None:
            frame.insert(0, "group", names)
        write_atomically(outputs["csv"], csv_lines([map(str, frame.columns), *frame.itertuples(index=False)]))
    if outputs.get("xlsx") is not None:
        sheets = {name: _priced(frame, result, outputs) for name, frame in result_sheets(result).items()}
        write_atomically(outputs["xlsx"], workbook_bytes(sheets))
    if outputs["report"] is not None:
        write_atomically(outputs["report"], result.to_html(min_cell=0))


def priced_dict(result: Any, outputs: Outputs) -> dict[str, Any]:
    """A result as plain values, with amounts of money if the user said what shares are worth."""
    worth = money(outputs)
    content: dict[str, Any] = result.to_dict()
    return content if worth is None else {"worth": worth.worth, "currency": worth.currency} | worth.of(content)


def _priced(frame: pd.DataFrame, result: Any, outputs: Outputs) -> pd.DataFrame:
    """A table with amounts of money, if the user said what shares are worth."""
    worth = money(outputs)
    kind = getattr(result, "subsidy_kind", None) or getattr(getattr(result, "terms", None), "kind", "additive")
    return frame if worth is None else worth.of_frame(frame, proportional=kind == "proportional")


def name_report(outputs: Outputs) -> None:
    """Say where the report is."""
    if outputs["report"] is not None:
        line = f"\nReport: {printable(outputs['report'])} (open it in any browser; it needs no network)"
        click.echo(line, err=outputs.get("json") == "-")
