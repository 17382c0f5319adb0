"""CSV files, plain or gzip: pyarrow parses them, and Python's csv module those that pyarrow would misread.

pyarrow reads ``"0.9"5`` as 0.95 and accepts a quote that never closes. So it only parses files in which quotes surround
whole cells. The csv module in its strict mode reads all others, and names the row of an error.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv as pc
from tqdm import tqdm

from .dialect import MAX_TEXT, find_decimal, find_delimiter, find_header, first_rows
from .table import Table

#: First bytes of a gzip file.
GZIP = b"\x1f\x8b"
#: Bytes that pyarrow parses at a time.
BLOCK_BYTES = 2**22
#: Encodings by the byte-order mark at the start of a file; the longer marks first.
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: Text that is not UTF-8 is most often in this encoding, which older programs write in western languages.
FALLBACK_ENCODING = "cp1252"
#: Bytes that it does not define.
UNDEFINED_BYTES = frozenset(b"\x81\x8d\x8f\x90\x9d")
#: Characters that stand for bytes that are not of the encoding.
UNDECODED = re.compile("[\udc80-\udcff]")
#: Blank lines and NUL bytes.
IRREGULAR = (b"\n\n", b"\n\r", b"\r\r", b"\0")
#: Names of delimiters that are hard to see.
DELIMITER_NAMES = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars"}


class CsvTable(Table):
    """A CSV file, plain or gzip. Options are those of ``open_table``; ``max_bytes`` is the limit of a gzip file."""

    def __init__(
        self,
        name: str,
        file: BinaryIO,
        max_bytes: int,
        header_row: int = 1,
        *,
        encoding: str,
        delimiter: str,
        decimal: str,
    ) -> None:
        super().__init__(name, file, max_bytes)
        if file.read(len(GZIP)) == GZIP:
            file.seek(0)
            with tqdm.wrapattr(file, "read", desc="reading", leave=False, disable=None) as stream:  # on a terminal
                data = gzip.GzipFile(fileobj=stream).read(max_bytes + 1)
            self.check_size(len(data))
        else:
            file.seek(0)
            data = file.read()
        self._data = self._to_utf8(data, encoding)
        self._rows_above = header_row - 1
        self._data = without_rows(self._data, self._rows_above)
        start = self._data[: 4 * MAX_TEXT + 4].decode("utf-8", "surrogateescape")
        self._delimiter, rival = find_delimiter(start) if delimiter == "auto" else (delimiter, None)
        if rival is not None:
            one, other = DELIMITER_NAMES[self._delimiter], DELIMITER_NAMES[rival]
            problem = f"its columns may be separated by {one} or by {other}; say which"
            raise self.error(problem, row=1, key="which_delimiter")
        self.decimal = decimal
        if decimal == "auto":
            self.decimal = find_decimal(first_rows(start, self._delimiter) or [], self._delimiter)
        detected = []  # what is not as in most files
        if delimiter == "auto" and self._delimiter != ",":
            detected.append(f"{DELIMITER_NAMES[self._delimiter]} between its columns")
        if decimal == "auto" and self.decimal == ",":
            detected.append("decimal commas")
        if encoding == "auto" and self._encoding != "utf-8":
            guess = " (a guess: it is not UTF-8)" if self._encoding == FALLBACK_ENCODING else ""
            detected.append(f"the encoding {self._encoding}{guess}")
        if detected:
            self.notes.append(f"{self.name} is read with {', '.join(detected)}.")
        first = next(self._strict_rows(), None)
        if first is None:
            raise self.error("the file is empty; its first row must name the columns")
        self.header = first[1]

    def header_guess(self) -> int | None:
        """The row that seems to name the columns, if it is another one."""
        start = self._data[: 4 * MAX_TEXT].decode("utf-8", "surrogateescape")
        at = find_header(start)
        return None if at is None else at + self._rows_above

    def _to_utf8(self, data: bytes, encoding: str) -> bytes:
        """The text as UTF-8. Bytes that are not of the encoding stay as they are; reading refuses them by row."""
        self._encoding = encoding
        if encoding == "auto":
            self._encoding = next((name for mark, name in MARKS if data.startswith(mark)), "utf-8")
        try:
            text = data.decode(self._encoding, "surrogateescape")
            self._valid = text.isascii() or UNDECODED.search(text) is None
            no_utf8 = not self._valid and UNDECODED.sub("", text).isascii()
            if no_utf8 and encoding == "auto" and not set(data) & UNDEFINED_BYTES:
                text, self._encoding, self._valid = data.decode(FALLBACK_ENCODING), FALLBACK_ENCODING, True
            return text.removeprefix("\ufeff").encode("utf-8", "surrogateescape")
        except UnicodeError as error:
            raise self.error(f"it is not {self._encoding}: {error}", key="encoding") from error

    def _read(self, positions: Sequence[int]) -> tuple[Sequence[int], list[pa.ChunkedArray]]:
        data = self._data.rstrip(b"\r\n")
        if self._valid and is_regular(data, self._delimiter):
            try:
                table = self._parse(data, positions)
                first, last = 2 + self._rows_above, table.num_rows + self._rows_above
                return range(first, last + 1), [table.column(str(at)).slice(1) for at in positions]
            except pa.ArrowInvalid:
                pass  # the csv module names the row
        width = len(self.header)
        rows: list[int] = []
        columns: list[list[str]] = [[] for _ in positions]
        for row, cells in self._strict_rows():
            if len(cells) != width:
                advice = f"A cell that holds the delimiter {self._delimiter!r} must be quoted."
                problem = f"{len(cells)} cell(s), but the header names {width} column(s)"
                raise self.error(problem, row=row, advice=advice, **self.header_hint())
            rows.append(row)
            for column, at in zip(columns, positions, strict=True):
                column.append(cells[at])
        return rows[1:], [pa.chunked_array([column[1:]], pa.string()) for column in columns]

    def _parse(self, data: bytes, positions: Sequence[int]) -> pa.Table:
        """All rows with the header, by pyarrow."""
        names = [str(at) for at in range(len(self.header))]
        return pc.read_csv(
            pa.BufferReader(data),
            pc.ReadOptions(column_names=names, use_threads=False, block_size=BLOCK_BYTES),
            pc.ParseOptions(delimiter=self._delimiter, newlines_in_values=True),
            pc.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                include_columns=list(dict.fromkeys(str(at) for at in positions)),
                strings_can_be_null=False,
            ),
        )

    def _strict_rows(self) -> Iterator[tuple[int, list[str]]]:
        """Rows that are not blank with their numbers, by the csv module."""
        row = self._rows_above

        def lines() -> Iterator[str]:
            for line in io.TextIOWrapper(io.BytesIO(self._data), "utf-8", "surrogateescape", newline=""):
                if not line.isascii() and UNDECODED.search(line):
                    advice = "Perhaps the file comes from an older program; save it as UTF-8."
                    problem, hint = f"it holds a byte that is not {self._encoding}", "latin-1 (or cp1252, utf-16)"
                    raise self.error(problem, row=row + 1, advice=advice, key="encoding", encoding=hint)
                if "\0" in line:
                    raise self.error("it holds a NUL byte: this is not a text file, or it is damaged", row=row + 1)
                yield line

        try:
            reader = csv.reader(lines(), delimiter=self._delimiter, strict=True)
            for row, cells in enumerate(reader, start=self._rows_above + 1):
                if cells:
                    yield row, cells
        except csv.Error as error:
            text = str(error)
            if "unexpected end of data" in text or "field larger" in text:
                text = 'a cell begins with a quote (") that never closes, or holds more than 131,072 characters'
            elif "expected after" in text:
                text = 'text follows a closing quote; inside a quoted cell, a quote must be doubled ("")'
            raise self.error(text, row=row + 1) from error


def without_rows(data: bytes, rows: int) -> bytes:
    """A text without its first rows."""
    read = 0

    def lines() -> Iterator[str]:
        nonlocal read
        for line in io.TextIOWrapper(io.BytesIO(data), "utf-8", "surrogateescape", newline=""):
            read += len(line.encode("utf-8", "surrogateescape"))
            yield line

    if rows:
        for _ in islice(csv.reader(lines()), rows):
            pass
    return data[read:]


def is_regular(data: bytes, delimiter: str) -> bool:
    """Whether pyarrow reads a text as the csv module does, with the same row numbers.

    Quotes must surround whole cells, within which they are doubled, and there must be no blank line.
    """
    starts = (b"\n", b"\r", codecs.BOM_UTF8)  # pyarrow leaves out such a mark
    if not delimiter.isascii() or data.startswith(starts) or any(part in data for part in IRREGULAR):
        return False
    ends = b"[\\r\\n" + re.escape(delimiter.encode()) + b"]"
    # no return within a cell: pyarrow loses the line feed after it at the end of a block
    quoted = rb'"(?:[^"\r]++|"")*+"(?=' + ends + rb"|\Z)"
    cells = rb"(?:" + quoted + rb')?+(?:[^"]++(?<=' + ends + rb")" + quoted + rb')*+[^"]*+'
    return b'"' not in data or re.fullmatch(cells, data) is not None
