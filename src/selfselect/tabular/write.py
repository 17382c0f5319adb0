"""Write tables as CSV that a spreadsheet does not run."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from .._text import escape_formula
from .columns import is_number


def csv_text(frame: pd.DataFrame, digits: int | None = None) -> str:
    """Frame as CSV without its index. Texts that a spreadsheet would run are made inert.

    ``digits`` are the significant digits of floats; by default all.
    """
    lines = [_line([escape_formula(str(name)) for name in frame.columns])]
    for row in frame.itertuples(index=False):
        lines.append(_line([_cell(value, digits) for value in row]))
    return "".join(lines)


def _cell(value: Any, digits: int | None) -> Any:
    if value is None or value != value:
        return ""
    if digits is not None and isinstance(value, float):
        return f"{value:.{digits}g}"
    return escape_formula(value)


def _line(cells: Iterable[Any]) -> str:
    """A row as text; cells with line ends of any kind are quoted, which Python's csv module does only for its own."""
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\r\n").writerow(cells)
    return out.getvalue()[:-2] + "\n"


def csv_lines(rows: Iterable[Iterable[str]]) -> Iterator[bytes]:
    """Rows of texts as lines of CSV. Numbers keep their sign; other texts that a spreadsheet would run are made inert.
    """
    for row in rows:
        yield _line([cell if is_number(cell) else escape_formula(cell) for cell in row]).encode()
