"""Tables as CSV text that a spreadsheet will not run."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

import pandas as pd

from .._text import inert_cell
from .checking import is_number


def csv_text(frame: pd.DataFrame, digits: int | None = None) -> str:
    r"""Frame as CSV without its index, with texts that a spreadsheet would run made inert.

    Parameters
    ----------
    frame : DataFrame
    digits : int, optional
        Significant digits of numbers that are not whole by their type; by default all.

    Examples
    --------
    >>> csv_text(pd.DataFrame({"group": ["=1+1", "A"], "n": [-1, 2]}))
    "group,n\n'=1+1,-1\nA,2\n"
    """
    lines = [_line([inert_cell(str(name)) for name in frame.columns])]
    for row in frame.itertuples(index=False):
        lines.append(_line([_cell(value, digits) for value in row]))
    return "".join(lines)


def _cell(value: Any, digits: int | None) -> Any:
    if value is None or value != value:
        return ""
    if digits is not None and isinstance(value, float):
        return f"{value:.{digits}g}"
    return inert_cell(value)


def _line(cells: Iterable[Any]) -> str:
    """A row as text; cells with line ends of any kind are quoted, which Python's csv module does only for its own."""
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\r\n").writerow(cells)
    return out.getvalue()[:-2] + "\n"


class CsvCopy:
    r"""Rows of someone's table, cell by cell as text, with columns added.

    Numbers stay as they are, also with a sign in front; any other text that a spreadsheet would run is made inert.

    Examples
    --------
    >>> copy = CsvCopy(["name", "n"])
    >>> copy.add([["=1+1", "-1"]])
    >>> copy.text()
    "name,n\n'=1+1,-1\n"
    """

    def __init__(self, header: Iterable[str]) -> None:
        self._lines: list[str] = []
        self.add([header])

    def add(self, rows: Iterable[Iterable[str]]) -> None:
        """Write some rows."""
        self._lines += [_line([_inert(cell) for cell in row]) for row in rows]

    def text(self) -> str:
        """Everything written so far."""
        return "".join(self._lines)


def _inert(cell: str) -> str:
    return cell if is_number(cell) else str(inert_cell(cell))
