"""Parquet files, with pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import pyarrow as pa

from .errors import TableError, first_line
from .table import Block, Column, Table

#: Errors of pyarrow about a damaged file.
DAMAGE = (pa.ArrowException, OSError, KeyError)
#: Rows that are read at a time, and bytes of a column.
BLOCK_ROWS, BUFFER_BYTES = 2**17, 2**22


class ParquetTable(Table):
    """A Parquet file. What is missing (null, NaN) is an empty cell.

    Its metadata says what it expands to. That is limited if columns are held in memory.
    """

    def __init__(self, name: str, file: BinaryIO, max_bytes: int) -> None:
        super().__init__(name, file, max_bytes)
        try:
            parquet = self._open([])
            self._schema, self._metadata = parquet.schema_arrow, parquet.metadata
        except DAMAGE as error:
            raise self.error(f"this is a damaged Parquet file: {first_line(error)}") from error
        self.header = [str(name) for name in self._schema.names]

    def _open(self, strings: list[str]) -> Any:
        """The file, in which texts of some columns that repeat are kept once."""
        import pyarrow.parquet as pq  # takes long, and CSV files do without

        return pq.ParquetFile(
            self._file, read_dictionary=strings, page_checksum_verification=True, buffer_size=BUFFER_BYTES
        )

    def columns(self, positions: Sequence[int]) -> list[Column]:
        """All rows of some columns, in memory."""
        metadata = self._metadata  # not that of single columns: where it is damaged, pyarrow aborts
        self.check_size(sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups)))
        return super().columns(positions)

    def read(self, positions: Sequence[int]) -> Iterator[Block]:
        """Rows of some columns, row group by row group."""
        names, start = [self.header[at] for at in positions], 2
        strings = [field.name for field in self._schema if field.name in names and pa.types.is_string(field.type)]
        for group in range(self._metadata.num_row_groups):
            try:
                batches = self._open(strings).iter_batches(
                    BLOCK_ROWS, row_groups=[group], columns=list(dict.fromkeys(names)), use_threads=False
                )
                for batch in batches:
                    arrays = [batch.column(name) for name in names]
                    for name, array in zip(names, arrays, strict=True):
                        self._validate(array, name, group)
                    yield range(start, start + batch.num_rows), [pa.chunked_array([array]) for array in arrays]
                    start += batch.num_rows
            except DAMAGE as error:
                raise self._damaged(names, group, error) from error

    def _validate(self, array: pa.Array, name: str, group: int) -> None:
        """Refuse arrays that point beyond the texts of their dictionary, or into a character."""
        try:
            array.validate(full=True)
        except DAMAGE as error:
            raise self._unreadable(error, group, name) from error

    def _damaged(self, names: Sequence[str], group: int, error: Exception) -> TableError:
        """Error about a row group, with the first column that cannot be read by itself."""
        for name in names:
            try:
                self._open([]).read_row_group(group, [name], use_threads=False)
            except DAMAGE as own:
                return self._unreadable(own, group, name)
        return self._unreadable(error, group, None)

    def _unreadable(self, error: Exception, group: int, column: str | None) -> TableError:
        where = f"row group {group + 1} of {self._metadata.num_row_groups}"
        return self.error(f"its cells cannot be read ({where}): {first_line(error)}", column=column)
