"""Parquet files in chunks of text, with pyarrow."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._text import printable
from .._validation import FloatArray
from .chunks import CHUNK_ROWS, Chunk, TableReader, TextArray
from .texts import too_large

#: Types whose values are numbers as they stand.
NUMBERS = re.compile(r"u?int\d+|float|double|halffloat")


class ParquetReader(TableReader):
    """One pass over a Parquet file. What is missing (null, NaN) is an empty cell.

    Parameters
    ----------
    name, digest
        As for every :class:`TableReader`.
    source : str or binary file
        Where it is; it must allow jumps.
    most : int
        Bytes that it may hold, decompressed.
    """

    def __init__(self, name: str, digest: Callable[[], str], source: str | BinaryIO, most: int) -> None:
        super().__init__(name, digest)
        try:
            import pyarrow.parquet  # an extra: people with CSV files do without
        except ImportError as error:
            advice = "Install it (pip install pyarrow), or save the table as CSV."
            raise self.error("this is a Parquet file, which needs pyarrow", advice=advice) from error
        self._failures = (pyarrow.ArrowException, OSError, KeyError)
        try:
            # memory is asked for as pages come, and texts that repeat are kept once
            self._file = pyarrow.parquet.ParquetFile(source)
            fields = list(self._file.schema_arrow)
            self.header = [str(field.name) for field in fields]
            repeating = [field.name for field in fields if _is_text(field.type)]
            self._file = pyarrow.parquet.ParquetFile(source, read_dictionary=repeating, buffer_size=2**20)
            groups = range(self._file.metadata.num_row_groups)
            size = sum(self._file.metadata.row_group(i).total_byte_size for i in groups)
        except self._failures as error:
            raise self.error(f"this is a damaged Parquet file: {error}") from error
        if size > most:
            raise too_large(most, printable(name))

    def chunks(self, columns: Sequence[int]) -> Iterator[Chunk]:
        """The rows, once, in order; only the columns asked for, by their position in the header."""
        row = 2
        wanted = [self.header[i] for i in columns]
        try:
            for batch in self._file.iter_batches(CHUNK_ROWS, columns=list(dict.fromkeys(wanted)), use_threads=False):
                batch.validate(full=True)  # damage may point beyond the texts of a dictionary
                yield ArrowChunk(range(row, row + batch.num_rows), [batch.column(field) for field in wanted])
                row += batch.num_rows
        except self._failures as error:
            raise self.error(f"cannot read its columns: {error}") from error


class ArrowChunk(Chunk):
    """Some rows of the columns asked for, of arrays that know which of their cells are alike.

    Parameters
    ----------
    rows : sequence of int
        Where the rows are in the file.
    arrays : list of pyarrow arrays
        One per column asked for.
    """

    def __init__(self, rows: Sequence[int], arrays: list[Any]) -> None:
        super().__init__(rows, [])
        self._arrays = arrays

    @property
    def columns(self) -> list[list[str]]:
        """One list of cells per column asked for."""
        if not self._columns:
            self._columns = [_as_texts(array) for array in self._arrays]
        return self._columns

    def texts(self, at: int) -> list[str]:
        """Cells of one column asked for."""
        return _as_texts(self._arrays[at])

    def plain_numbers(self, at: int, decimal: str) -> FloatArray | None:
        """Cells of one column asked for as numbers, if they are numbers; NaN where missing."""
        array = self._arrays[at]
        if NUMBERS.fullmatch(str(array.type)) is None:
            return None
        return np.array(array.cast("float64", safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)

    def codes(self, at: int) -> tuple[NDArray[np.intp], TextArray]:
        """Cells of one column asked for, as positions in an array of texts, in the order of their coming."""
        array = self._arrays[at]
        kind = str(array.type)
        if kind.startswith(("list", "large_list", "struct", "map", "fixed_size_list")):
            return super().codes(at)
        if not kind.startswith("dictionary"):
            array = array.dictionary_encode()
        known = [*_as_texts(array.dictionary), ""]
        codes, used = pd.factorize(array.indices.cast("int64").fill_null(len(known) - 1).to_numpy(zero_copy_only=False))
        texts = np.empty(len(used), dtype=object)
        texts[:] = [known[code] for code in used]
        return codes, texts


def _is_text(kind: Any) -> bool:
    return str(kind) in ("string", "large_string")


def _as_texts(array: Any) -> list[str]:
    """Values as text; nothing and NaN are empty, and a time of day keeps its nanoseconds."""
    kind = str(array.type)
    if kind.startswith("dictionary"):
        texts = [*_as_texts(array.dictionary), ""]
        return [texts[code] for code in array.indices.cast("int64").fill_null(len(texts) - 1).to_pylist()]
    if kind.startswith("time64"):
        array = array.cast("string")
    return ["" if value is None or value != value else str(value) for value in array.to_pylist()]
