"""Write tables as CSV that a spreadsheet does not run."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from .._text import escape_formula
from .columns import is_number


def csv_text(frame: pd.DataFrame) -> str:
    """Frame as CSV without its index. Texts that a spreadsheet would run are made inert."""
    rows = [frame.columns.map(str), *frame.itertuples(index=False)]
    return "".join(
        _line("" if value is None or value != value else escape_formula(value) for value in row) for row in rows
    )


def _line(cells: Iterable[Any]) -> str:
    """A row as text; cells with line ends of any kind are quoted, which Python's csv module does only for its own."""
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\r\n").writerow(cells)
    return out.getvalue()[:-2] + "\n"


def csv_lines(rows: Iterable[Iterable[str]]) -> Iterator[bytes]:
    """Rows of texts as lines of CSV. Numbers keep their sign; other texts become inert as in :func:`csv_text`."""
    for row in rows:
        yield _line(cell if is_number(cell) else escape_formula(cell) for cell in row).encode()
