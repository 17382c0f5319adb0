"""Write tables as CSV that a spreadsheet does not run."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any

from .._text import escape_formula
from .columns import is_number


def csv_lines(rows: Iterable[Iterable[Any]]) -> Iterator[bytes]:
    """Rows as lines of CSV. None and NaN are empty; texts that a spreadsheet would run are made inert.

    Cells with line ends of any kind are quoted, which Python's csv module does only for its own.
    """
    for row in rows:
        out = io.StringIO(newline="")
        csv.writer(out, lineterminator="\r\n").writerow(map(_cell, row))
        yield (out.getvalue()[:-2] + "\n").encode()


def _cell(value: Any) -> Any:
    if value is None or value != value:
        return ""
    return value if isinstance(value, str) and is_number(value) else escape_formula(value)
