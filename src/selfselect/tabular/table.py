"""A table of texts: its columns as codes and distinct texts, and errors that name the file, the row and the column."""

from __future__ import annotations

import difflib
import hashlib
import io
import os
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, BinaryIO, Self, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from tqdm import tqdm

from .._text import printable, quote
from .._validation import FloatArray
from .errors import TableError, too_large

#: Names of columns or groups that an error lists.
MAX_LISTED = 20

#: What Python's float ignores around a number.
BLANKS = " \t\n\v\f\r"

TextArray: TypeAlias = NDArray[np.object_]
#: Numbers of some rows as a spreadsheet counts them (the header is row 1), and their cells by column.
Block: TypeAlias = tuple[Sequence[int], list[pa.ChunkedArray]]


class Column:
    """One column of a table: its cells as texts, or as the values of a Parquet file, and the numbers of its rows."""

    def __init__(self, name: str, array: pa.ChunkedArray, rows: Sequence[int]) -> None:
        self.name, self.rows = name, rows
        self._array: pa.ChunkedArray | None = array

    @classmethod
    def joined(cls, parts: Sequence[Column]) -> Column:
        """One column of successive blocks."""
        rows: Any = [part.rows for part in parts]
        gapless = all(isinstance(each, range) for each in rows) and all(a.stop == b.start for a, b in pairwise(rows))
        rows = range(rows[0].start, rows[-1].stop) if gapless else np.concatenate([np.asarray(each) for each in rows])
        chunks = [chunk for part in parts for chunk in part.array.chunks]
        return cls(parts[0].name, pa.chunked_array(chunks, parts[0].array.type).unify_dictionaries(), rows)

    @property
    def array(self) -> pa.ChunkedArray:
        """Cells as they were read; only before the codes are asked for."""
        assert self._array is not None
        return self._array

    @cached_property
    def _coded(self) -> tuple[NDArray[np.int32], TextArray]:
        array, self._array = self._array, None  # its memory may be much larger than that of the codes
        return encode_texts(array)

    @property
    def codes(self) -> NDArray[np.int32]:
        """For each row the position of its text in :attr:`texts`."""
        return self._coded[0]

    @property
    def texts(self) -> TextArray:
        """Distinct texts, in the order of their first row. What is missing in a Parquet file is the empty text."""
        return self._coded[1]

    def take(self, kept: NDArray[np.bool_]) -> Column:
        """The column without some of its rows."""
        array = self._array
        if array is None:
            array = pa.chunked_array([pa.array(self.cells(), pa.string())])
        return Column(self.name, array.filter(pa.array(kept)), np.asarray(self.rows)[kept].tolist())

    def cells(self) -> TextArray:
        """The text of each row."""
        return np.asarray(self.texts[self.codes], dtype=object)

    def first_row(self, code: int) -> int:
        """Number of the first row that has a text."""
        return self.rows[int(np.argmax(self.codes == code))]

    def plain_numbers(self, decimal: str | None) -> FloatArray | None:
        """All cells as numbers, if Arrow can convert them; NaN where a Parquet file has none."""
        array = self._array
        if array is None:
            return None
        if pa.types.is_integer(array.type) or pa.types.is_floating(array.type):
            return np.array(array.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
        if not pa.types.is_string(array.type) or decimal is None:
            return None
        if decimal == ",":
            if pc.any(pc.match_substring(array, ".")).as_py():
                return None
            array = pc.replace_substring(array, ",", ".")
        try:
            return np.array(pc.utf8_trim(array, BLANKS).cast(pa.float64()).to_numpy(), dtype=np.float64)
        except pa.ArrowInvalid:
            return None


def encode_texts(array: pa.ChunkedArray) -> tuple[NDArray[np.int32], TextArray]:
    """Codes and distinct texts of cells. Missing values, and NaN, become the empty text."""
    try:
        coded = (array if pa.types.is_dictionary(array.type) else array.dictionary_encode()).combine_chunks()
    except pa.ArrowNotImplementedError:  # lists, structures
        codes, values = np.arange(len(array)), _texts_of(array)
    else:
        missing = len(coded.dictionary)
        codes = coded.indices.cast(pa.int64()).fill_null(missing).to_numpy(zero_copy_only=False)
        values = np.append(_texts_of(coded.dictionary), "")
    merged, texts = pd.factorize(values)  # null and NaN are one text, and so may be others
    codes, used = pd.factorize(merged[codes])  # a dictionary of a Parquet file may have texts that no row has
    return codes.astype(np.int32), np.asarray(texts[used], dtype=object)


def _texts_of(array: Any) -> TextArray:
    """Values as Python writes them; dates and times, often beyond Python, as Arrow does; durations as numbers."""
    if pa.types.is_duration(array.type):
        array = array.cast(pa.int64())
    elif pa.types.is_temporal(array.type):
        try:
            texts = array.cast(pa.string())
        except pa.ArrowInvalid:  # a time zone that is not known here
            texts = array.cast(pa.timestamp(array.type.unit, "UTC")).cast(pa.string())
        array = pc.replace_substring_regex(texts, r"\.0+(\D|$)", r"\1")
    values = array.to_pylist()
    return np.array(["" if value is None or value != value else str(value) for value in values], dtype=object)


def _state(file: BinaryIO) -> tuple[int, ...]:
    """When a file on disk was changed, and its size."""
    if isinstance(file, io.BytesIO):
        return ()
    status = os.fstat(file.fileno())
    return status.st_mtime_ns, status.st_size


class Table(ABC):
    """A table, made by :func:`selfselect.tabular.read.open_table`; errors call it by its name.

    ``header`` names all columns. ``decimal`` is the decimal sign of its numbers; None if it could be either.
    ``max_bytes`` is what a compressed file may expand to. ``notes`` are for the user.
    """

    header: list[str]
    decimal: str | None = "."

    def __init__(self, name: str, file: BinaryIO, max_bytes: int) -> None:
        self.name, self.max_bytes, self._file, self._opened = name, max_bytes, file, _state(file)
        self.notes: list[str] = []

    def sha256(self) -> str:
        """Hash of the file, which must not have changed since it was opened."""
        self._file.seek(0)
        digest = hashlib.file_digest(self._file, "sha256").hexdigest()  # type: ignore[arg-type]
        if _state(self._file) != self._opened:
            raise OSError("it was changed while it was read.")
        return digest

    @abstractmethod
    def read(self, positions: Sequence[int]) -> Iterator[Block]:
        """Rows of some columns, by their positions in the header, block by block."""

    def blocks(self, positions: Sequence[int]) -> Iterator[list[Column]]:
        """Some columns by their positions in the header, block by block. Progress is shown if it takes long."""
        empty = True
        with tqdm(desc="reading", unit=" rows", unit_scale=True, delay=2, leave=False, disable=None) as progress:
            for rows, arrays in self.read(positions):
                if len(rows):
                    empty = False
                    yield [Column(self.header[at], array, rows) for at, array in zip(positions, arrays, strict=True)]
                    progress.update(len(rows))
        if empty:
            raise self.error("there is a header but no row")

    def columns(self, positions: Sequence[int]) -> list[Column]:
        """All rows of some columns, in memory."""
        return [Column.joined(parts) for parts in zip(*self.blocks(positions), strict=True)]

    def header_guess(self) -> int | None:
        """The row that seems to name the columns, if it is another one."""
        return None

    def header_hint(self) -> dict[str, Any]:
        """Details of an error that the wrong row of names may have caused."""
        row = self.header_guess()
        return {} if row is None else {"key": "header_row", "header_row": row}

    def with_different_names(self) -> Self:
        """The same table. Columns of one name are told apart by their position."""
        times = Counter(self.header)
        self.header = [
            f"{name} (column {at})".strip() if times[name] > 1 else name for at, name in enumerate(self.header, start=1)
        ]
        return self

    def named(self, name: str) -> list[str]:
        """Columns that have a name in the file, told apart by their position."""
        pattern = re.compile(rf"{re.escape(name)} ?\(column \d+\)")
        return [name] if name in self.header else [own for own in self.header if pattern.fullmatch(own)]

    def check_size(self, size: int) -> None:
        """Raise an error if a file expands to more bytes than it may."""
        if size > self.max_bytes:
            raise too_large(self.max_bytes, printable(self.name))

    def error(
        self, problem: str, *, row: int | None = None, column: str | None = None, advice: str = "", **details: Any
    ) -> TableError:
        """Error about a place in this table; the other parameters are those of :class:`TableError`."""
        place = printable(self.name)
        if row is not None:
            place += f", row {row}"
        if column is not None:
            place += f", column {quote(column)}"
        return TableError(problem, place=place, advice=advice, **details)

    def position(self, column: str, named_by: str = "", *, use: str = "") -> int:
        """Position of a column, or an error that suggests the nearest name and says which input named it."""
        positions = [i for i, name in enumerate(self.header) if name == column]
        if len(positions) == 1:
            return positions[0]
        if same := len(positions) or len(self.named(column)):
            advice = "Rename them so that each name is there once."
            if not positions:
                advice = f"Write {' or '.join(map(quote, self.named(column)))}."
            problem = f"{same} columns have this name"
            raise self.error(problem, row=1, column=column, advice=advice, named_by=named_by)
        delimiters = [sign for sign in (";", "\t", "|") if len(self.header) == 1 and sign in self.header[0]]
        advice = f"{did_you_mean(column, self.header)}Its columns: {listing(self.header)}."
        if delimiters:
            advice += f" Perhaps they are separated by {delimiters[0]!r}."
        hint: dict[str, Any] = {"key": "delimiter", "delimiter": delimiters[0]} if delimiters else self.header_hint()
        problem = f"there is no column {quote(column)}" + (f", {use}" if use else "")
        raise self.error(problem, advice=advice, named_by=named_by, **hint)


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """A question about the nearest of some names, or the empty text."""
    plain = {other.strip().casefold()[:200]: other for other in known[:5000]}  # comparing takes long
    near = difflib.get_close_matches(name.strip().casefold()[:200], list(plain), n=1, cutoff=0.6)
    return f"Did you mean {quote(plain[near[0]])}? " if near else ""


def listing(names: Sequence[str], most: int = MAX_LISTED) -> str:
    """Names for an error, at most so many."""
    listed = ", ".join(quote(name) for name in names[:most])
    return listed + (f" and {len(names) - most} more" if len(names) > most else "")
