"""Open a file as a table: CSV (plain or gzip), Parquet or .xlsx, from the disk or from standard input."""

from __future__ import annotations

import codecs
import gzip
import io
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from .._text import printable, quote
from .csv_files import CsvTable
from .errors import TableError, too_large
from .parquet_files import ParquetTable
from .table import Table
from .workbooks import WorkbookTable

#: First bytes of a file, by its kind.
PARQUET, GZIP, ZIP, OLD_EXCEL = b"PAR1", b"\x1f\x8b", b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
#: Bytes that a compressed file may expand to by default. A workbook is kept in memory as a whole.
MAX_BYTES, MAX_WORKBOOK_BYTES = 8 * 2**30, 2**30


@contextmanager
def open_table(
    path: str | Path,
    *,
    encoding: str = "auto",
    delimiter: str = "auto",
    decimal: str = "auto",
    sheet: str | None = None,
    max_bytes: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Iterator[Table]:
    """Open a CSV file (plain or gzip), a Parquet file, a workbook (with python-calamine), or standard input (``-``).

    ``encoding``, ``delimiter`` and ``decimal`` are those of a CSV file; what is detected (``auto``) is in the notes of
    the table. ``sheet`` is the name or number of a sheet of a workbook. ``max_bytes`` is what a compressed file may
    expand to. ``progress`` is called with the number of bytes that were read.
    """
    _check_options(encoding, delimiter)
    name = "standard input" if str(path) == "-" else str(path)
    try:
        with _opened(path, name, max_bytes) as file:
            options = {"encoding": encoding, "delimiter": delimiter, "decimal": decimal, "progress": progress}
            yield _table(name, file, sheet, max_bytes, **options)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise TableError(f"this is a damaged or truncated gzip file: {error}", place=printable(name)) from error
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise TableError(f"Cannot read {printable(name)}: {reason}") from error


def _check_options(encoding: str, delimiter: str) -> None:
    if delimiter != "auto" and (len(delimiter) != 1 or delimiter in '"\r\n\0'):
        raise TableError(f"The delimiter must be one character, got {quote(delimiter)}", named_by="delimiter")
    try:
        if encoding != "auto":
            "".encode(encoding)
            codecs.getincrementaldecoder(encoding)
    except (LookupError, ValueError) as error:
        advice = "Try utf-8, latin-1, cp1252 or utf-16."
        raise TableError(f"Unknown encoding {quote(encoding)}", advice=advice, named_by="encoding") from error


def _opened(path: str | Path, name: str, max_bytes: int | None) -> BinaryIO:
    """A file that can be read twice. Standard input and pipes are kept in memory, up to the limit."""
    if str(path) == "-":
        if sys.stdin is None:  # Python was started without
            raise OSError("it is closed")
        return _in_memory(sys.stdin.buffer, name, max_bytes)
    file = open(path, "rb")  # noqa: SIM115
    if file.seekable():
        return file
    with file:
        return _in_memory(file, name, max_bytes)


def _in_memory(stream: BinaryIO, name: str, max_bytes: int | None) -> BinaryIO:
    limit = MAX_BYTES if max_bytes is None else max_bytes
    data = stream.read(limit + 1)
    if len(data) > limit:
        raise too_large(limit, printable(name))
    return io.BytesIO(data)


def _table(name: str, file: BinaryIO, sheet: str | None, max_bytes: int | None, **options: Any) -> Table:
    """The table in a file, by its first bytes."""
    start = file.read(8)
    file.seek(0)
    if start.startswith(ZIP):
        return WorkbookTable(name, file, sheet, MAX_WORKBOOK_BYTES if max_bytes is None else max_bytes)
    if sheet is not None:
        problem = f"there is no sheet {quote(sheet)}: this is not an .xlsx file"
        raise TableError(problem, place=printable(name), named_by="sheet")
    if start.startswith(OLD_EXCEL):
        problem = "this is a file of an older Excel (.xls), or a workbook with a password"
        raise TableError(problem, place=printable(name), advice="Save it as .xlsx without a password, or as CSV.")
    limit = MAX_BYTES if max_bytes is None else max_bytes
    if start.startswith(PARQUET):
        return ParquetTable(name, file, limit)
    return CsvTable(name, file, limit if start.startswith(GZIP) else None, **options)
