"""Reading other people's tables, and writing ours: CSV (plain or gzip) and Parquet, in chunks.

A table is text until a column is asked to be more. Every complaint names the file, the row as a spreadsheet counts it
(the header is row 1) and the column, and says what to do.
"""

from __future__ import annotations

import csv
import difflib
import gc
import gzip
import hashlib
import io
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from .._text import inert_cell, printable, shown
from .._validation import BoolArray, FloatArray

#: Rows that are turned from text into numbers at a time.
CHUNK_ROWS = 20_000
#: A line longer than this is no line of a table (a quote that never closes, a binary file).
LONGEST_LINE = 16 * 2**20
BLOCK_LINES = 4096
#: What a byte becomes that the encoding does not know.
UNDECODED = re.compile("[\udc80-\udcff]")
#: Texts that say yes or no without being told which is which.
YES, NO = frozenset({"1", "true"}), frozenset({"0", "false"})

Progress = Callable[[int], object]


class TableError(ValueError):
    """A table that cannot be used, with the place and the reason."""


# ---------------------------------------------------------------------- the file


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

    def finish(self) -> str:
        """Hash of everything, also of what was not needed."""
        while data := self._source.read(2**20):
            self._hash.update(data)
        return self._hash.hexdigest()


@dataclass
class Chunk:
    """Some rows of the columns asked for, as text.

    Attributes
    ----------
    rows : sequence of int
        Where the rows are in the file; the header is row 1.
    columns : list of lists of str
        One list of cells per column asked for.
    """

    rows: Sequence[int]
    columns: list[list[str]]


class TableReader:
    """One pass over a table, in chunks of text.

    Use :func:`open_table`. The names of all columns are in ``header``.
    """

    def __init__(self, name: str, header: list[str], chunks: Callable[[list[int]], Iterator[Chunk]], hidden: Any):
        self.name = name
        self.header = header
        self._chunks = chunks
        self._hidden = hidden

    def error(self, message: str, *, row: int | None = None, column: str | None = None) -> TableError:
        """Complaint about a place in this table."""
        place = printable(self.name)
        if row is not None:
            place += f", row {row}"
        if column is not None:
            place += f", column {shown(column)}"
        return TableError(f"{place}: {message}")

    def position(self, column: str, option: str) -> int:
        """Where a column is, or a complaint that suggests the nearest name."""
        found = [i for i, name in enumerate(self.header) if name == column]
        if len(found) == 1:
            return found[0]
        if found:
            raise self.error(
                f"{len(found)} columns have this name ({option}); rename them so that each is there once.",
                row=1,
                column=column,
            )
        plain = {name.strip().casefold(): name for name in self.header}
        near = difflib.get_close_matches(column.strip().casefold(), list(plain), n=1, cutoff=0.6)
        hint = f"Did you mean {shown(plain[near[0]])}? " if near else ""
        names = ", ".join(shown(name) for name in self.header[:20])
        more = f" and {len(self.header) - 20} more" if len(self.header) > 20 else ""
        delimiter = ""
        if len(self.header) == 1:
            other = [sign for sign in (";", "\t", "|") if sign in self.header[0]]
            delimiter = (
                f" If its columns are separated by {other[0]!r}, pass --delimiter {other[0]!r}." if other else ""
            )
        raise self.error(f"there is no column {shown(column)} ({option}). {hint}Its columns: {names}{more}.{delimiter}")

    def chunks(self, columns: Sequence[int]) -> Iterator[Chunk]:
        """The rows, once, in order; only the columns asked for."""
        return self._chunks(list(columns))

    def sha256(self) -> str:
        """Hash of the file's bytes, as they lie on the disk."""
        return str(self._hidden.finish())


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
    name = "standard input" if str(path) == "-" else str(path)
    if len(delimiter) != 1 or delimiter in '"\r\n\0':
        raise TableError(f"The delimiter must be one character, got {shown(delimiter)}.")
    try:
        "".encode(encoding)
    except LookupError as error:
        raise TableError(f"Unknown encoding {shown(encoding)}; try utf-8, latin-1, cp1252 or utf-16.") from error
    try:
        source = sys.stdin.buffer if str(path) == "-" else open(path, "rb")  # noqa: SIM115
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise TableError(f"Cannot read {printable(name)}: {reason}.") from error
    try:
        watched = _Watched(source, progress)
        raw = io.BufferedReader(watched, 2**20)
        start = raw.peek(8)[:8]
        if start.startswith(b"PAR1"):
            yield _parquet_reader(name, raw, watched, path)
            return
        plain: Any = gzip.GzipFile(fileobj=raw) if start.startswith(b"\x1f\x8b") else raw
        yield _csv_reader(name, plain, watched, encoding, delimiter)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise TableError(f"{printable(name)} is a damaged or truncated gzip file: {error}.") from error
    finally:
        if str(path) != "-":
            source.close()


def _csv_reader(name: str, binary: Any, watched: _Watched, encoding: str, delimiter: str) -> TableReader:
    text = io.TextIOWrapper(binary, encoding=encoding, errors="surrogateescape", newline=None)
    reader = TableReader(name, [], lambda columns: chunks(columns), watched)

    def trouble(line: str) -> str:
        if len(line) >= LONGEST_LINE:
            return f"a line of more than {LONGEST_LINE:,} characters: this is not a CSV file."
        if "\0" in line:
            return "it holds a NUL byte: this is not a text file, or it is damaged."
        if not line.isascii() and UNDECODED.search(line):
            return (
                f"it holds a byte that is not {encoding}; if the file comes from an older program, try "
                "--encoding latin-1 (or cp1252), or save it as UTF-8."
            )
        return ""

    def blocks() -> Iterator[list[str]]:
        """Lines by the thousand: a block is looked at as a whole, and line by line only if something is wrong."""
        lines = iter(partial(text.readline, LONGEST_LINE), "")
        first = next(lines, "")
        if first.startswith(("\udcff\udcfe", "\udcfe\udcff")):
            raise ValueError("the file is in UTF-16; pass --encoding utf-16, or save it as UTF-8.")
        block = [first.removeprefix("\ufeff")] if first else []
        while block:
            if trouble("".join(block)):
                for i, line in enumerate(block):
                    if wrong := trouble(line):
                        yield block[:i]  # what comes before is counted first, so that the row is right
                        raise ValueError(wrong)
            yield block
            block = list(islice(lines, BLOCK_LINES))

    parser = csv.reader(chain.from_iterable(blocks()), delimiter=delimiter, strict=True)

    @contextmanager
    def complaints(at: Callable[[], int]) -> Iterator[None]:
        try:
            yield
        except csv.Error as error:
            raise reader.error(_csv_reason(error), row=at()) from error
        except TableError:
            raise
        except UnicodeError as error:
            raise reader.error(f"it is not {encoding}: {error}", row=at()) from error
        except ValueError as error:
            raise reader.error(str(error), row=at()) from error

    last = 0  # row that was read last
    with complaints(lambda: last + 1):
        for cells in parser:
            last += 1
            if cells:
                reader.header.extend(cells)
                break
    if not reader.header:
        raise reader.error("the file is empty; its first row must name the columns.")

    def chunks(columns: list[int]) -> Iterator[Chunk]:
        row, width = last, len(reader.header)
        pick = itemgetter(*columns) if len(columns) > 1 else lambda cells: (cells[columns[0]],)
        while True:
            before, kept, blank = row, [], set()
            with _no_collection(), complaints(lambda: row + 1):  # noqa: B023
                for cells in islice(parser, CHUNK_ROWS):
                    row += 1
                    if len(cells) == width:
                        kept.append(pick(cells))
                    elif not cells:
                        blank.add(row)
                    else:
                        raise reader.error(
                            f"{len(cells)} cell(s), but the header names {width} column(s). A cell that holds the "
                            f"delimiter {delimiter!r} must be quoted.",
                            row=row,
                        )
            if row == before:
                return
            rows: Sequence[int] = range(before + 1, row + 1)
            if blank:
                rows = [at for at in rows if at not in blank]
            if kept:
                yield Chunk(rows, [list(column) for column in zip(*kept, strict=True)])

    return reader


@contextmanager
def _no_collection() -> Iterator[None]:
    """Pause the search for reference cycles: rows make none, and it takes as long as the parsing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _csv_reason(error: csv.Error) -> str:
    text = str(error)
    if "unexpected end of data" in text or "field larger" in text:
        return 'a cell begins with a quote (") that never closes, or holds more than 131,072 characters.'
    if "expected after" in text:
        return 'text follows a closing quote; inside a quoted cell, a quote must be doubled ("").'
    return f"{text}."


def _parquet_reader(name: str, raw: Any, watched: _Watched, path: str | Path) -> TableReader:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise TableError(
            f"{printable(name)} is a Parquet file, which needs pyarrow: pip install pyarrow, or save it as CSV."
        ) from error
    source = io.BytesIO(raw.read()) if str(path) == "-" else str(path)
    try:
        file = pyarrow.parquet.ParquetFile(source)
        header = [str(field.name) for field in file.schema_arrow]
    except (pyarrow.ArrowException, OSError) as error:
        raise TableError(f"{printable(name)} is a damaged Parquet file: {error}.") from error

    def chunks(columns: list[int]) -> Iterator[Chunk]:
        row = 2
        wanted = [header[i] for i in columns]
        try:
            for batch in file.iter_batches(CHUNK_ROWS, columns=list(dict.fromkeys(wanted))):
                cells = {field: _as_text(batch.column(field).to_pylist()) for field in batch.schema.names}
                yield Chunk(range(row, row + batch.num_rows), [cells[field] for field in wanted])
                row += batch.num_rows
        except (pyarrow.ArrowException, OSError, KeyError) as error:
            raise TableError(f"{printable(name)}: cannot read its columns: {error}.") from error

    return TableReader(name, header, chunks, watched)


def _as_text(values: list[Any]) -> list[str]:
    return ["" if value is None else str(value) for value in values]


# ---------------------------------------------------------------------- columns that are more than text


def as_numbers(table: TableReader, chunk: Chunk, at: int, column: str, *, hint: str = "") -> FloatArray:
    """Cells as finite numbers, or a complaint about the first that is none."""
    cells = chunk.columns[at]
    try:
        if "_" in "".join(cells):  # Python reads 1_000 as a number; a table that holds it means something else
            raise ValueError
        numbers = np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
    except ValueError:
        wrong = next(i for i, cell in enumerate(cells) if not is_number(cell))
        cell = cells[wrong].strip()
        if not cell:
            problem = "the cell is empty; fill or drop such rows."
        else:
            comma = " Write decimals with a point." if is_number(cell.replace(",", ".")) else ""
            problem = f"{shown(cell)} is not a number.{comma}{hint}"
        raise table.error(problem, row=chunk.rows[wrong], column=column) from None
    infinite = np.flatnonzero(~np.isfinite(numbers))
    if infinite.size:
        wrong = int(infinite[0])
        raise table.error(f"{shown(cells[wrong])} is not a finite number.", row=chunk.rows[wrong], column=column)
    return numbers


def is_number(cell: str) -> bool:
    """Whether a cell reads as a number."""
    if "_" in cell:
        return False
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _plain(cell: str) -> str:
    """One spelling for values that mean the same: 1, 1.0 and ' 1 ' are equal, and so are True and true."""
    text = cell.strip()
    if text.casefold() in YES | NO:
        return text.casefold()
    if is_number(text):
        number = float(text)
        return repr(int(number)) if np.isfinite(number) and number == int(number) else repr(number)
    return text


class TwoValues:
    """Column of two values, one of which counts as positive.

    Parameters
    ----------
    column : str
        Its name, for complaints.
    positive : str or None
        The value that counts as positive; None if the column speaks for itself (0 and 1, false and true).
    what : str
        What positive means, for complaints.
    """

    def __init__(self, column: str, positive: str | None, what: str, option: str = "--positive") -> None:
        self.column, self.positive, self.what, self.option = column, positive, what, option
        self._seen: dict[str, tuple[str, int]] = {}

    def __call__(self, table: TableReader, chunk: Chunk, at: int, *, hint: str = "") -> BoolArray:
        """Which cells are positive."""
        codes, texts = pd.factorize(np.array(chunk.columns[at], dtype=object))
        plain = [_plain(text) for text in texts]
        for code, (text, value) in enumerate(zip(texts, plain, strict=True)):
            if value in self._seen:
                continue
            row = chunk.rows[int(np.argmax(codes == code))]
            if not value:
                raise table.error("the cell is empty; fill or drop such rows.", row=row, column=self.column)
            if len(self._seen) == 2:
                first, second = (shown(seen) for seen, _ in self._seen.values())
                raise table.error(
                    f"a third value {shown(text)}, after {first} and {second}; it must hold two values, one of which "
                    f"means {self.what}.{hint}",
                    row=row,
                    column=self.column,
                )
            self._seen[value] = (str(text), row)
        return np.asarray(np.isin(codes, self._positive_codes(table, plain)), dtype=bool)

    def _positive_codes(self, table: TableReader, plain: list[str]) -> list[int]:
        if self.positive is not None:
            return [code for code, value in enumerate(plain) if value == _plain(self.positive)]
        unclear = [seen for seen in self._seen if seen not in YES | NO]
        if unclear:
            text, row = self._seen[unclear[0]]
            raise table.error(
                f"{shown(text)} is neither 0 nor 1; say which value means {self.what} with {self.option} VALUE "
                f"(found: {', '.join(shown(seen.strip()) for seen, _ in self._seen.values())}).",
                row=row,
                column=self.column,
            )
        return [code for code, value in enumerate(plain) if value in YES]

    @property
    def seen(self) -> set[str]:
        """Values seen so far, as they are compared."""
        return set(self._seen)

    def adopt(self, positive: str, chunk: Chunk, at: int) -> None:
        """Take another column's word for positive, if this one does not speak for itself."""
        if any(_plain(text) not in YES | NO for text in set(chunk.columns[at])):
            self.positive = positive

    def finish(self, table: TableReader) -> None:
        """Once all rows are read: the value named as positive must have been among them, if there were two others."""
        if self.positive is None or _plain(self.positive) in self._seen:
            return
        found = " and ".join(shown(text) for text, _ in self._seen.values())
        raise table.error(f"no row holds {shown(self.positive)} ({self.option}); it holds {found}.", column=self.column)


# ---------------------------------------------------------------------- writing


def csv_text(frame: pd.DataFrame) -> str:
    r"""Frame as CSV without its index, with texts that a spreadsheet would run made inert.

    Examples
    --------
    >>> csv_text(pd.DataFrame({"group": ["=1+1", "A"], "n": [-1, 2]}))
    "group,n\n'=1+1,-1\nA,2\n"
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([inert_cell(str(name)) for name in frame.columns])
    for row in frame.itertuples(index=False):
        writer.writerow(["" if value is None or value != value else inert_cell(value) for value in row])
    return out.getvalue()
