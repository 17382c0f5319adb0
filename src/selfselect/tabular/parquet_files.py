"""Parquet files in chunks of text, with pyarrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO

from .chunks import CHUNK_ROWS, Chunk, TableReader


class ParquetReader(TableReader):
    """One pass over a Parquet file.

    Parameters
    ----------
    name, digest
        As for every :class:`TableReader`.
    source : str or binary file
        Where it is; it must allow jumps.
    """

    def __init__(self, name: str, digest: Callable[[], str], source: str | BinaryIO) -> None:
        super().__init__(name, digest)
        try:
            import pyarrow.parquet  # an extra: people with CSV files do without
        except ImportError as error:
            advice = "Install it (pip install pyarrow), or save the table as CSV."
            raise self.error("this is a Parquet file, which needs pyarrow", advice=advice) from error
        self._failures = (pyarrow.ArrowException, OSError, KeyError)
        try:
            self._file = pyarrow.parquet.ParquetFile(source)
            self.header = [str(field.name) for field in self._file.schema_arrow]
        except self._failures as error:
            raise self.error(f"this is a damaged Parquet file: {error}") from error

    def chunks(self, columns: Sequence[int]) -> Iterator[Chunk]:
        """The rows, once, in order; only the columns asked for, by their position in the header."""
        row = 2
        wanted = [self.header[i] for i in columns]
        try:
            for batch in self._file.iter_batches(CHUNK_ROWS, columns=list(dict.fromkeys(wanted))):
                cells = {field: _as_text(batch.column(field).to_pylist()) for field in batch.schema.names}
                yield Chunk(range(row, row + batch.num_rows), [cells[field] for field in wanted])
                row += batch.num_rows
        except self._failures as error:
            raise self.error(f"cannot read its columns: {error}") from error


def _as_text(values: list[Any]) -> list[str]:
    return ["" if value is None else str(value) for value in values]
