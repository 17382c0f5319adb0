"""Files into chunks of text: CSV (plain or gzip) and Parquet, from the disk or from standard input."""

from __future__ import annotations

import gzip
import hashlib
import io
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from .._text import printable, shown
from .chunks import Chunk, TableReader
from .csv_files import CsvReader
from .errors import TableError
from .parquet_files import ParquetReader

__all__ = ["Chunk", "Progress", "TableError", "TableReader", "open_table"]

#: Told how many bytes were read.
Progress: TypeAlias = Callable[[int], object]
#: What Parquet and gzip files begin with.
PARQUET, GZIP = b"PAR1", b"\x1f\x8b"


@contextmanager
def open_table(
    path: str | Path,
    *,
    encoding: str = "utf-8",
    delimiter: str = ",",
    progress: Progress | None = None,
) -> Iterator[TableReader]:
    r"""Open a CSV file (plain or gzip), a Parquet file (with pyarrow), or standard input (``-``).

    Parameters
    ----------
    path : str or Path
        The file.
    encoding, delimiter : str
        Of a CSV file. A byte-order mark is skipped.
    progress : callable, optional
        Told how many bytes were read.

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
    _check_writing(encoding, delimiter)
    piped = str(path) == "-"
    name = "standard input" if piped else str(path)
    try:
        source = sys.stdin.buffer if piped else open(path, "rb")  # noqa: SIM115
    except (OSError, ValueError) as error:
        raise TableError(f"Cannot read {printable(name)}: {_reason(error)}") from error
    try:
        yield _reader(name, source, "" if piped else str(path), encoding, delimiter, progress)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise TableError(f"this is a damaged or truncated gzip file: {error}", place=printable(name)) from error
    except (OSError, UnicodeError) as error:
        raise TableError(f"Cannot read {printable(name)}: {_reason(error)}") from error
    finally:
        if not piped:
            source.close()


def _check_writing(encoding: str, delimiter: str) -> None:
    if len(delimiter) != 1 or delimiter in '"\r\n\0':
        raise TableError(f"The delimiter must be one character, got {shown(delimiter)}", named_by="delimiter")
    try:
        "".encode(encoding)
    except LookupError as error:
        advice = "Try utf-8, latin-1, cp1252 or utf-16."
        raise TableError(f"Unknown encoding {shown(encoding)}", advice=advice, named_by="encoding") from error


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _reader(
    name: str, source: BinaryIO, path: str, encoding: str, delimiter: str, progress: Progress | None
) -> TableReader:
    """The reader for what the first bytes say."""
    watched = _Watched(source, progress)
    raw = io.BufferedReader(watched, 2**20)
    start = raw.peek(8)[:8]
    if start.startswith(PARQUET):  # its table of contents is at the end, so that it cannot be read as it comes
        return ParquetReader(name, watched.sha256, path or io.BytesIO(raw.read()))
    binary: Any = gzip.GzipFile(fileobj=raw) if start.startswith(GZIP) else raw
    return CsvReader(name, watched.sha256, binary, encoding, delimiter)


class _Watched(io.RawIOBase):
    """Bytes on their way in: hashed, and reported to a progress bar."""

    def __init__(self, source: BinaryIO, progress: Progress | None) -> None:
        self._source = source
        self._progress = progress
        self._hash = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._source.read(len(buffer))
        buffer[: len(data)] = data
        self._hash.update(data)
        if self._progress is not None:
            self._progress(len(data))
        return len(data)

    def sha256(self) -> str:
        """Hash of everything, also of what was not needed."""
        while data := self._source.read(2**20):
            self._hash.update(data)
        return self._hash.hexdigest()
