"""Open a file as a table: CSV (plain or gzip), Parquet or .xlsx, from the disk or from standard input."""

from __future__ import annotations

import codecs
import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from .._text import printable, quote
from .csv_files import CsvTable
from .errors import TableError, too_large
from .folders import FolderTable
from .parquet_files import ParquetTable
from .table import Table
from .workbooks import WorkbookTable

#: First bytes of a file, by its kind.
PARQUET, ZIP, OLD_EXCEL = b"PAR1", b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
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
    header_row: int = 1,
    max_bytes: int | None = None,
) -> Iterator[Table]:
    """Open a CSV file (plain or gzip), a Parquet file, a folder of such files, a workbook, or standard input (``-``).

    ``encoding``, ``delimiter`` and ``decimal`` are those of a CSV file; what is detected (``auto``) is in the notes of
    the table. ``sheet`` is the name or number of a sheet of a workbook. ``header_row`` is the row that
    names the columns; rows above it are left out. Columns of one name are told apart by their position, as in
    ``score (column 3)``. ``max_bytes`` is what a compressed file may
    expand to.
    """
    _check_options(encoding, delimiter)
    name, limit = "standard input" if str(path) == "-" else str(path), MAX_BYTES if max_bytes is None else max_bytes
    if str(path) != "-" and Path(path).is_dir():
        options: dict[str, Any] = {"encoding": encoding, "delimiter": delimiter, "decimal": decimal}
        options |= {"header_row": header_row, "max_bytes": max_bytes}
        yield FolderTable(name, Path(path), limit, partial(open_table, **options))
        return
    try:
        with _opened(path, name, limit) as file:
            start = file.read(len(ZIP))
            file.seek(0)
            if start == ZIP:
                size = MAX_WORKBOOK_BYTES if max_bytes is None else max_bytes
                yield WorkbookTable(name, file, sheet, size, header_row).with_different_names()
            elif sheet is not None:
                problem = f"there is no sheet {quote(sheet)}: this is not an .xlsx file"
                raise TableError(problem, place=printable(name), named_by="sheet")
            elif start == OLD_EXCEL:
                problem = "this is a file of an older Excel (.xls), or a workbook with a password"
                advice = "Save it as .xlsx without a password, or as CSV."
                raise TableError(problem, place=printable(name), advice=advice)
            elif start == PARQUET:
                if header_row > 1:
                    problem = "this is a Parquet file, which names its columns"
                    raise TableError(problem, place=printable(name), named_by="header_row")
                yield ParquetTable(name, file, limit)
            else:
                dialect = {"encoding": encoding, "delimiter": delimiter, "decimal": decimal}
                yield CsvTable(name, file, limit, header_row, **dialect).with_different_names()
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


def _opened(path: str | Path, name: str, limit: int) -> BinaryIO:
    """A file that can be read twice. Standard input and pipes are kept in memory, up to the limit."""
    if str(path) == "-":
        if sys.stdin is None:  # Python was started without
            raise OSError("it is closed")
        data = sys.stdin.buffer.read(limit + 1)
    else:
        file = open(path, "rb")  # noqa: SIM115
        if file.seekable():
            return file
        with file:
            data = file.read(limit + 1)
    if len(data) > limit:
        raise too_large(limit, printable(name))
    return io.BytesIO(data)
