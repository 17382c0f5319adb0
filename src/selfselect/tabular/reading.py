"""Files into chunks of text: CSV (plain or gzip), Parquet and .xlsx, from the disk or from standard input."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from .._text import printable, shown
from .chunks import Chunk, TableReader
from .csv_files import CsvReader
from .errors import TableError, too_large
from .excel_files import ExcelReader
from .parquet_files import ParquetReader
from .texts import Bounded

__all__ = ["Chunk", "Progress", "TableError", "TableReader", "open_table"]

#: Told how many bytes were read.
Progress: TypeAlias = Callable[[int], object]
#: What files begin with, by their kind.
PARQUET, GZIP, ZIP, OLD_EXCEL = b"PAR1", b"\x1f\x8b", b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
#: Bytes that a compressed file may hold, if nobody says otherwise. The texts of a workbook are all kept in memory.
MOST_BYTES, MOST_BYTES_OF_WORKBOOKS = 8 * 2**30, 2**30


@contextmanager
def open_table(
    path: str | Path,
    *,
    encoding: str = "auto",
    delimiter: str = "auto",
    decimal: str = "auto",
    sheet: str | None = None,
    most_bytes: int | None = None,
    progress: Progress | None = None,
) -> Iterator[TableReader]:
    r"""Open a CSV file (plain or gzip), a Parquet file (with pyarrow), a workbook (with openpyxl), or standard input.

    Parameters
    ----------
    path : str or Path
        The file; ``-`` is standard input.
    encoding : str, default="auto"
        Of a CSV file. ``auto``: what its byte-order mark says, else UTF-8, else cp1252 if nothing in it is UTF-8.
    delimiter : str, default="auto"
        Between the columns of a CSV file. ``auto``: the comma if its rows make sense with it, else the one of
        semicolon, tab and bar with which they do.
    decimal : {"auto", ".", ","}, default="auto"
        Decimal sign of a CSV file. ``auto``: a point if commas separate the columns, else as in the first rows.
    sheet : str, optional
        Name or number of the sheet of a workbook; the first by default.
    most_bytes : int, optional
        What a compressed file may hold, decompressed: by default 8 GiB, and 1 GiB for a workbook.
    progress : callable, optional
        Told how many bytes were read.

    Yields
    ------
    TableReader
        Its ``notes`` say what was found out about the file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "t.csv")
    ...     _ = path.write_text("label,group\n1,A\n0,B\n")
    ...     with open_table(path) as table:
    ...         print(table.header, next(table.chunks([1])).columns)
    ['label', 'group'] [['A', 'B']]
    """
    _check_writing(encoding, delimiter, decimal)
    piped = str(path) == "-"
    name = "standard input" if piped else str(path)
    try:
        source = _standard_input() if piped else open(path, "rb")  # noqa: SIM115
    except (OSError, ValueError) as error:
        raise TableError(f"Cannot read {printable(name)}: {_reason(error)}") from error
    opening = _Opening(name, _Watched(source, progress), most_bytes, jumps=not piped and source.seekable())
    try:
        yield opening.reader(encoding, delimiter, decimal, sheet)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise TableError(f"this is a damaged or truncated gzip file: {error}", place=printable(name)) from error
    except (OSError, UnicodeError) as error:
        raise TableError(f"Cannot read {printable(name)}: {_reason(error)}") from error
    finally:
        if not piped:
            source.close()


def _standard_input() -> BinaryIO:
    if sys.stdin is None:  # Python was started without
        raise ValueError("it is closed")
    return sys.stdin.buffer


def _check_writing(encoding: str, delimiter: str, decimal: str) -> None:
    if delimiter != "auto" and (len(delimiter) != 1 or delimiter in '"\r\n\0'):
        raise TableError(f"The delimiter must be one character, got {shown(delimiter)}", named_by="delimiter")
    if decimal not in ("auto", ".", ","):
        raise TableError(f"The decimal sign must be a point or a comma, got {shown(decimal)}", named_by="decimal")
    try:
        if encoding != "auto":
            "".encode(encoding)
            codecs.getincrementaldecoder(encoding)
    except (LookupError, ValueError) as error:
        advice = "Try utf-8, latin-1, cp1252 or utf-16."
        raise TableError(f"Unknown encoding {shown(encoding)}", advice=advice, named_by="encoding") from error


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


class _Opening:
    """A file of which only the first bytes are known.

    Parameters
    ----------
    name : str
        What it is called in complaints.
    watched : _Watched
        Its bytes.
    most : int or None
        Bytes that it may hold, decompressed.
    jumps : bool
        Whether it can be read other than from front to back.
    """

    def __init__(self, name: str, watched: _Watched, most: int | None, *, jumps: bool) -> None:
        self._name, self._watched, self._most, self._jumps = name, watched, most, jumps
        self._raw = io.BufferedReader(watched, 2**20)

    def reader(self, encoding: str, delimiter: str, decimal: str, sheet: str | None) -> TableReader:
        """The reader for what the first bytes say."""
        start = self._raw.peek(8)[:8]
        if start.startswith(ZIP):
            most = MOST_BYTES_OF_WORKBOOKS if self._most is None else self._most
            return ExcelReader(self._name, self._watched.sha256, self._whole(most), sheet, most)
        if sheet is not None:
            problem = f"there is no sheet {shown(sheet)}: this is not an .xlsx file"
            raise TableError(problem, place=printable(self._name), named_by="sheet")
        if start.startswith(OLD_EXCEL):
            advice = "Save it as .xlsx or as CSV."
            raise TableError("this is a file of an older Excel (.xls)", place=printable(self._name), advice=advice)
        most = MOST_BYTES if self._most is None else self._most
        if start.startswith(PARQUET):
            return ParquetReader(self._name, self._watched.sha256, self._whole(most), most)
        if not start.startswith(GZIP):
            return CsvReader(self._name, self._watched.sha256, self._raw, encoding, delimiter, decimal)
        binary = Bounded(gzip.GzipFile(fileobj=self._raw), most, self._too_large)
        reader = CsvReader(self._name, self._watched.sha256, binary, encoding, delimiter, decimal)
        reader.most_bytes = most
        return reader

    def _whole(self, most: int) -> BinaryIO:
        """The file for readers that jump in it: its table of contents is at the end."""
        if self._jumps:
            return self._watched.left_to_others()
        data = self._raw.read(most + 1)
        if len(data) > most:
            raise self._too_large(most)
        return io.BytesIO(data)

    def _too_large(self, most: int) -> TableError:
        return too_large(most, printable(self._name))


class _Watched(io.RawIOBase):
    """Bytes on their way in: hashed, and reported to a progress bar."""

    def __init__(self, source: BinaryIO, progress: Progress | None) -> None:
        self._source = source
        self._progress = progress
        self._hash = hashlib.sha256()
        self._hashed = 0
        self._state: tuple[int, int] | None = None  # while others read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._source.read(len(buffer))
        buffer[: len(data)] = data
        self._hash.update(data)
        self._hashed += len(data)
        if self._progress is not None:
            self._progress(len(data))
        return len(data)

    def left_to_others(self) -> BinaryIO:
        """The file itself, for readers that jump in it: the one that is hashed, whatever is under its name by then."""
        self._state = _state(self._source)
        return self._source

    def sha256(self) -> str:
        """Hash of everything, also of what was not needed."""
        if self._state is not None:
            self._source.seek(self._hashed)
        while data := self._source.read(2**20):
            self._hash.update(data)
            self._hashed += len(data)
        if self._state is not None and _state(self._source) != self._state:
            raise OSError("it was changed while it was read.")
        return self._hash.hexdigest()


def _state(file: BinaryIO) -> tuple[int, int]:
    """What changes if anybody writes to a file."""
    found = os.fstat(file.fileno())
    return found.st_mtime_ns, found.st_size
