"""Parquet files in chunks of text, with pyarrow."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, BinaryIO

from .cells import ArrowChunk, check, size_of
from .chunks import CHUNK_ROWS, Chunk, TableReader
from .parquet_pages import Pages, pages_of

#: Bytes that are taken in at a time, if the file tells the truth about itself, and that are handed on at a time.
BATCH_BYTES = 2**26
#: Bytes that texts of some rows may take at most, where a page does not say how long they are.
MOST_UNTOLD = 2**28
#: What part of all that a file may hold can be in one page, which is unpacked at once, and in a page of each column.
PAGE, PAGES = 32, 4


class ParquetReader(TableReader):
    """One pass over a Parquet file. What is missing (null, NaN) is an empty cell.

    Parameters
    ----------
    name, digest
        As for every :class:`TableReader`.
    source : binary file
        Its bytes; it must allow jumps.
    most : int
        Bytes that it may hold, decompressed, where a text counts as often as it occurs.
    """

    def __init__(self, name: str, digest: Callable[[], str], source: BinaryIO, most: int) -> None:
        super().__init__(name, digest)
        try:
            import pyarrow.parquet  # an extra: people with CSV files do without
        except ImportError as error:
            advice = "Install it (pip install pyarrow), or save the table as CSV."
            raise self.error("this is a Parquet file, which needs pyarrow", advice=advice) from error
        self.most_bytes = most
        self._unpacked = self._read = 0
        self._failures = (pyarrow.ArrowException, OSError, KeyError)
        self._source = _Source(source)
        self._readings: dict[tuple[int, ...], Any] = {}
        # memory is asked for as pages come
        self._open = partial(pyarrow.parquet.ParquetFile, self._source, buffer_size=2**20)
        try:
            self._file = self._open()
            self.header = [str(field.name) for field in self._file.schema_arrow]
            self._leaves = [self._file.schema.column(i) for i in range(len(self._file.schema))]
            self._groups = [self._file.metadata.row_group(i) for i in range(self._file.metadata.num_row_groups)]
            size = sum(group.total_byte_size for group in self._groups)
        except self._failures as error:
            raise self.error(f"this is a damaged Parquet file: {error}") from error
        self.check_size(size)

    def chunks(self, columns: Sequence[int]) -> Iterator[Chunk]:
        """The rows, once, in order; only the columns asked for, by their position in the header."""
        row = 2
        wanted = [self.header[i] for i in columns]
        names = list(dict.fromkeys(wanted))
        try:
            for batch in self._batches(names):
                self._check(batch)
                self._read += _size(batch)
                self.check_size(self._read)
                for part in self._parts(batch, row):
                    yield ArrowChunk(range(row, row + part.num_rows), [part.column(field) for field in wanted])
                    row += part.num_rows
        except self._failures as error:
            raise self.error(f"cannot read its columns: {error}") from error

    def _check(self, batch: Any) -> None:
        for name, array in zip(batch.schema.names, batch.columns, strict=True):
            try:
                check(array)
            except self._failures as error:
                raise self.error(f"its cells cannot be read: {error}", column=name) from error

    def _batches(self, names: list[str]) -> Iterator[Any]:
        """Columns of some names, as many rows at a time as :data:`BATCH_BYTES` hold by what the file says."""
        starts = tuple(f"{name}." for name in names)
        leaves = {i: leaf for i, leaf in enumerate(self._leaves) if f"{leaf.path}.".startswith(starts)}
        for number, group in enumerate(self._groups):
            how = {"row_groups": [number], "columns": names, "use_threads": False}
            # damage to what is said about a column ends the process when it is asked for, but not when it is read
            self._source.unread(self._file.iter_batches(1, **how))
            columns = {i: group.column(i) for i in leaves}
            sizes = [max(one.total_uncompressed_size, one.num_values * self._width(i)) for i, one in columns.items()]
            rows = min(CHUNK_ROWS, BATCH_BYTES * group.num_rows // max(sum(sizes), 1))
            pages = {i: self._pages(column, leaves[i].path) for i, column in columns.items()}
            self._check_page(sum(of_one.largest for of_one in pages.values()), PAGES, "pages", None)
            coded = tuple(i for i in pages if self._is_coded(i, pages[i]))
            untold = sum(pages[i].longest for i in pages if self._is_text(i) and i not in coded)
            yield from self._reading(coded).iter_batches(max(1, min(rows, MOST_UNTOLD // max(untold, 1))), **how)

    def _width(self, leaf: int) -> int:
        return max(8, int(self._leaves[leaf].length))

    def _is_text(self, leaf: int) -> bool:
        return bool(self._leaves[leaf].physical_type == "BYTE_ARRAY")

    def _is_coded(self, leaf: int, pages: Pages) -> bool:
        """Whether texts are read as numbers of texts that are there once.

        Where they are not written so throughout, pyarrow collects all that differ. In lists it must: how many texts
        are in a row nobody says.
        """
        return self._is_text(leaf) and (pages.by_number or self._leaves[leaf].max_repetition_level > 0)

    def _pages(self, column: Any, name: str) -> Pages:
        """What is in the pages of a column, if not too much."""
        try:
            pages = pages_of(self._source.file, column)
        except ValueError as error:
            raise self.error(f"this is a damaged Parquet file: {error}", column=name) from error
        self._check_page(pages.largest, PAGE, "a page", name)
        self._unpacked += pages.total
        self.check_size(self._unpacked)
        return pages

    def _check_page(self, size: int, share: int, what: str, column: str | None) -> None:
        most = max(BATCH_BYTES, (self.most_bytes or 0) // share)
        if size > most:
            problem = f"{what} of more than {most:,} bytes to unpack at once"
            raise self.error(problem, column=column, advice="Write it anew, with smaller pages.", key="most_bytes")

    def _reading(self, coded: tuple[int, ...]) -> Any:
        """The file, with the texts of some columns as numbers of texts that are there once."""
        if coded not in self._readings:
            self._readings[coded] = self._open(metadata=self._file.metadata, read_dictionary=coded)
        return self._readings[coded]

    def _parts(self, batch: Any, row: int) -> Iterator[Any]:
        """A batch in parts whose texts are not too much at a time, however often they repeat."""
        size, rows = _size(batch), batch.num_rows
        if size <= BATCH_BYTES:
            yield batch
        elif rows == 1:
            raise self.error(f"a row of more than {BATCH_BYTES:,} bytes: this is no table", row=row)
        else:
            yield from self._parts(batch.slice(0, rows // 2), row)
            yield from self._parts(batch.slice(rows // 2), row + rows // 2)


def _size(batch: Any) -> int:
    return sum(map(size_of, batch.columns))


class _UnreadError(Exception):
    """Somebody wanted to read what was not to be read yet."""


class _Source(io.RawIOBase):
    """The bytes of a file, for a library that asks for them when it knows what it wants.

    Parameters
    ----------
    file : binary file
        It must allow jumps, and stays open.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.file, self._is_shut = file, False

    def unread(self, reading: Iterator[Any]) -> None:
        """Begin to read, but no further than to what is said in the file about itself, which is known."""
        self._is_shut = True
        try:
            next(reading, None)
        except _UnreadError:
            pass
        finally:
            self._is_shut = False

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def seekable(self) -> bool:
        """Whether it allows jumps."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Some bytes."""
        if self._is_shut:
            raise _UnreadError
        return self.file.read(size)

    def seek(self, place: int, whence: int = 0) -> int:
        """Go to a place."""
        return self.file.seek(place, whence)

    def tell(self) -> int:
        """Where it is."""
        return self.file.tell()
