"""Parquet files, with pyarrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from .errors import first_line
from .table import Batch, Table

#: Rows that are read at a time.
BATCH_ROWS = 2**17
#: How pyarrow complains about damage.
DAMAGE = (pa.ArrowException, OSError, KeyError)


class ParquetTable(Table):
    """A Parquet file. What is missing (null, NaN) is an empty cell. Its metadata says what it expands to."""

    def __init__(self, name: str, sha256: Callable[[], str], file: BinaryIO, max_bytes: int) -> None:
        super().__init__(name, sha256)
        self.max_bytes, self._file = max_bytes, file
        try:
            parquet = pq.ParquetFile(file)
            self._schema = parquet.schema_arrow
            metadata = parquet.metadata
            size = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
        except DAMAGE as error:
            raise self.error(f"this is a damaged Parquet file: {first_line(error)}") from error
        self.header = [str(name) for name in self._schema.names]
        self.check_size(size)

    def _batches(self, positions: Sequence[int]) -> Iterator[Batch]:
        names = [self.header[at] for at in positions]
        coded = [field.name for field in self._schema if field.name in names and pa.types.is_string(field.type)]
        row = 2
        try:
            # a text that repeats is kept once
            parquet = pq.ParquetFile(self._file, read_dictionary=coded, page_checksum_verification=True)
            for batch in parquet.iter_batches(BATCH_ROWS, columns=list(dict.fromkeys(names)), use_threads=False):
                arrays = [batch.column(name) for name in names]
                for name, array in zip(names, arrays, strict=True):
                    self._check(name, array)
                if batch.num_rows:
                    yield range(row, row + batch.num_rows), arrays
                row += batch.num_rows
        except DAMAGE as error:
            raise self.error(f"cannot read its columns: {first_line(error)}") from error

    def _check(self, name: str, array: pa.Array) -> None:
        """Refuse a damaged array: it may point beyond the texts of its dictionary, or into a character."""
        try:
            array.validate(full=True)
        except DAMAGE as error:
            raise self.error(f"its cells cannot be read: {first_line(error)}", column=name) from error
