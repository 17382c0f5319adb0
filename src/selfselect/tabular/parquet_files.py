"""Parquet files in chunks of text, with pyarrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, BinaryIO

from .cells import ArrowChunk, size_of
from .chunks import CHUNK_ROWS, Chunk, TableReader

#: Bytes that are taken in at a time, if the file tells the truth about itself, and that are handed on at a time.
BATCH_BYTES = 2**26


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
        self.most_bytes, self._read = most, 0
        self._failures = (pyarrow.ArrowException, OSError, KeyError)
        try:
            # memory is asked for as pages come, and texts that repeat are kept once, also within lists
            self._file = pyarrow.parquet.ParquetFile(source)
            self.header = [str(field.name) for field in self._file.schema_arrow]
            self._leaves = [self._file.schema.column(i) for i in range(len(self._file.schema))]
            repeating = [i for i, leaf in enumerate(self._leaves) if leaf.physical_type == "BYTE_ARRAY"]
            self._file = pyarrow.parquet.ParquetFile(source, read_dictionary=repeating, buffer_size=2**20)
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
                batch.validate(full=True)  # damage may point beyond the texts of a dictionary
                self._read += _size(batch)
                self.check_size(self._read)
                for part in self._parts(batch, row):
                    yield ArrowChunk(range(row, row + part.num_rows), [part.column(field) for field in wanted])
                    row += part.num_rows
        except self._failures as error:
            raise self.error(f"cannot read its columns: {error}") from error

    def _batches(self, names: list[str]) -> Iterator[Any]:
        """Columns of some names, as many rows at a time as :data:`BATCH_BYTES` hold by what the file says."""
        starts = tuple(f"{name}." for name in names)
        leaves = [(i, max(8, leaf.length)) for i, leaf in enumerate(self._leaves) if f"{leaf.path}.".startswith(starts)]
        for number, group in enumerate(self._groups):
            read = partial(self._file.iter_batches, row_groups=[number], columns=names, use_threads=False)
            # damage to what is said about a column ends the process when it is asked for, but not when it is read
            next(read(1), None)
            columns = [(group.column(i), width) for i, width in leaves]
            size = sum(max(column.total_uncompressed_size, column.num_values * width) for column, width in columns)
            yield from read(max(min(CHUNK_ROWS, BATCH_BYTES * group.num_rows // max(size, 1)), 1))

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
