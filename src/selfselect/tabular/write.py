"""Write tables as CSV that a spreadsheet does not run."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from .._text import escape_formula, printable
from .columns import is_number
from .errors import TableError
from .table import Table

#: Bytes of a copy that are kept in memory; a larger one is kept on the disk.
IN_MEMORY = 2**26


def csv_text(frame: pd.DataFrame, digits: int | None = None) -> str:
    r"""Frame as CSV without its index. Texts that a spreadsheet would run are made inert.

    ``digits`` are the significant digits of floats; by default all.

    Examples
    --------
    >>> csv_text(pd.DataFrame({"group": ["=1+1", "A"], "n": [-1, 2]}))
    "group,n\n'=1+1,-1\nA,2\n"
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


class CsvCopy:
    r"""Copy of a table as CSV, with columns added. It may grow to what a compressed table may expand to.

    Numbers stay as they are, also with a sign in front. Any other text that a spreadsheet would run is made inert.

    Examples
    --------
    >>> with CsvCopy(["name", "n"]) as copy:
    ...     copy.add([["=1+1", "-1"]])
    ...     list(copy)
    [b'name,n\n', b"'=1+1,-1\n"]
    """

    def __init__(self, header: Iterable[str], table: Table | None = None) -> None:
        self._table = table
        self._size = 0
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115
        self.add([header])

    def __enter__(self) -> CsvCopy:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, rows: Iterable[Iterable[str]]) -> None:
        """Write some rows."""
        for row in rows:
            data = _line([_inert(cell) for cell in row]).encode()
            self._size += len(data)
            if self._table is not None:
                self._table.check_size(self._size)
            try:
                self._file.write(data)
            except OSError as error:
                where = printable(tempfile.gettempdir())
                raise TableError(f"Cannot keep rows in {where} until all are there: {error.strerror}") from error

    def __iter__(self) -> Iterator[bytes]:
        """Everything written so far, by the line."""
        self._file.seek(0)
        return iter(self._file)


def _inert(cell: str) -> str:
    return cell if is_number(cell) else str(escape_formula(cell))
