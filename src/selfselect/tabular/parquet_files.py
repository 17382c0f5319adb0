"""Parquet files, with pyarrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from .errors import first_line
from .table import Table

#: Errors of pyarrow about a damaged file.
DAMAGE = (pa.ArrowException, OSError, KeyError)


class ParquetTable(Table):
    """A Parquet file. What is missing (null, NaN) is an empty cell. Its metadata says what it expands to."""

    def __init__(self, name: str, file: BinaryIO, max_bytes: int) -> None:
        super().__init__(name, file, max_bytes)
        try:
            parquet = pq.ParquetFile(file)
            self._schema = parquet.schema_arrow
            metadata = parquet.metadata
            size = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
        except DAMAGE as error:
            raise self.error(f"this is a damaged Parquet file: {first_line(error)}") from error
        self.header = [str(name) for name in self._schema.names]
        self.check_size(size)

    def _read(self, positions: Sequence[int]) -> tuple[Sequence[int], list[pa.ChunkedArray]]:
        names = [self.header[at] for at in positions]
        strings = [field.name for field in self._schema if field.name in names and pa.types.is_string(field.type)]
        try:
            # a text that repeats is kept once
            parquet = pq.ParquetFile(self._file, read_dictionary=strings, page_checksum_verification=True)
            table = parquet.read(list(dict.fromkeys(names)), use_threads=False)
            arrays = [table.column(name) for name in names]
        except DAMAGE as error:
            raise self.error(f"cannot read its columns: {first_line(error)}") from error
        for name, array in zip(names, arrays, strict=True):
            try:  # a damaged array may point beyond the texts of its dictionary, or into a character
                array.validate(full=True)
            except DAMAGE as error:
                raise self.error(f"its cells cannot be read: {first_line(error)}", column=name) from error
        return range(2, table.num_rows + 2), arrays
