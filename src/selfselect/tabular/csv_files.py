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
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv as pc

from .dialect import MAX_TEXT, find_decimal, find_delimiter, find_header, first_rows
from .table import Block, Table

#: First bytes of a gzip file.
GZIP = b"\x1f\x8b"
#: Bytes that pyarrow parses at a time, and rows that the csv module does.
BLOCK_BYTES, BLOCK_ROWS = 2**22, 2**16
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
        self._rows_above = header_row - 1
        self._compressed = file.read(len(GZIP)) == GZIP
        self._encoding, self._valid = self._find_encoding(encoding)
        start = self._beginning()
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
        first = next(self._strict_rows(self._utf8(), self._rows_above), None)
        if first is None:
            raise self.error("the file is empty; its first row must name the columns")
        self.header = first[1]

    def header_guess(self) -> int | None:
        """The row that seems to name the columns, if it is another one."""
        at = find_header(self._beginning())
        return None if at is None else at + self._rows_above

    def _beginning(self) -> str:
        """Enough text to guess how the file is written."""
        return next(self._utf8(), b"")[: 4 * MAX_TEXT + 4].decode("utf-8", "surrogateescape")

    def _raw(self) -> Iterator[bytes]:
        """The bytes of the text, piece by piece."""
        self._file.seek(0)
        file = gzip.GzipFile(fileobj=self._file) if self._compressed else self._file
        while piece := file.read(BLOCK_BYTES):
            yield piece

    def _find_encoding(self, encoding: str) -> tuple[str, bool]:
        """The encoding of the text, and whether all bytes are of it. Reading refuses those that are not, by row."""
        start = next(self._raw(), b"")
        marked = next((name for mark, name in MARKS if start.startswith(mark)), "utf-8")
        name = marked if encoding == "auto" else encoding
        decoder = codecs.getincrementaldecoder(name)("surrogateescape")
        size, valid, ascii_else, undefined = 0, True, True, False
        try:
            for piece in chain(self._raw(), [b""]):
                size += len(piece)
                if self._compressed:
                    self.check_size(size)
                if name == "utf-8" and piece.isascii() and piece and not decoder.getstate()[0]:
                    continue
                text = decoder.decode(piece, final=not piece)
                valid = valid and UNDECODED.search(text) is None
                ascii_else = ascii_else and UNDECODED.sub("", text).isascii()
                undefined = undefined or bool(UNDEFINED_BYTES.intersection(piece))
        except UnicodeError as error:
            raise self.error(f"it is not {name}: {error}", key="encoding") from error
        if encoding == "auto" and not valid and ascii_else and not undefined:
            return FALLBACK_ENCODING, True
        return name, valid

    def _utf8(self) -> Iterator[bytes]:
        """The text from the header on, as UTF-8, piece by piece; bytes that are not of the encoding as they are."""
        pieces = self._raw()
        if self._encoding != "utf-8":
            decoder = codecs.getincrementaldecoder(self._encoding)("surrogateescape")
            texts = (decoder.decode(piece, final=not piece) for piece in chain(pieces, [b""]))
            pieces = (text.encode("utf-8", "surrogateescape") for text in texts)
        first = next(filter(None, pieces), b"")
        return chain([without_rows(first.removeprefix(codecs.BOM_UTF8), self._rows_above)], pieces)

    def read(self, positions: Sequence[int]) -> Iterator[Block]:
        """Rows of some columns; what pyarrow would misread, and all that follows it, by the csv module."""
        pieces, rest, start = self._utf8(), b"", self._rows_above
        while self._valid:
            piece = next(pieces, b"")
            rest += piece
            end = last_row_end(rest) if piece else len(rest)
            block = rest[:end] if piece else rest.rstrip(b"\r\n")
            try:
                table = self._parse(block, positions) if end and is_regular(block, self._delimiter) else None
            except pa.ArrowInvalid:  # the csv module names the row
                table = None
            if table is None:
                break
            header = int(start == self._rows_above)
            rows = range(start + 1 + header, start + 1 + table.num_rows)
            yield rows, [table.column(str(at)).slice(header) for at in positions]
            start, rest = start + table.num_rows, rest[end:]
            if not piece:
                return
        yield from self._read_strictly(chain([rest], pieces), start, positions)

    def _read_strictly(self, pieces: Iterable[bytes], start: int, positions: Sequence[int]) -> Iterator[Block]:
        width = len(self.header)
        rows = self._strict_rows(pieces, start)
        if start == self._rows_above:
            next(rows)  # the header
        while block := list(islice(rows, BLOCK_ROWS)):
            for row, cells in block:
                if len(cells) != width:
                    advice = f"A cell that holds the delimiter {self._delimiter!r} must be quoted."
                    problem = f"{len(cells)} cell(s), but the header names {width} column(s)"
                    raise self.error(problem, row=row, advice=advice, **self.header_hint())
            columns = [[cells[at] for _, cells in block] for at in positions]
            yield [row for row, _ in block], [pa.chunked_array([column], pa.string()) for column in columns]

    def _parse(self, data: bytes, positions: Sequence[int]) -> pa.Table:
        """Whole rows by pyarrow."""
        names = [str(at) for at in range(len(self.header))]
        return pc.read_csv(
            pa.BufferReader(data),
            pc.ReadOptions(column_names=names, use_threads=False, block_size=max(len(data), 1)),
            pc.ParseOptions(delimiter=self._delimiter, newlines_in_values=True),
            pc.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                include_columns=list(dict.fromkeys(str(at) for at in positions)),
                strings_can_be_null=False,
            ),
        )

    def _strict_rows(self, pieces: Iterable[bytes], row: int) -> Iterator[tuple[int, list[str]]]:
        """Rows that are not blank with their numbers, by the csv module. ``row`` counts those before."""
        before = row

        def lines() -> Iterator[str]:
            for line in text_lines(pieces):
                if not line.isascii() and UNDECODED.search(line):
                    advice = "Perhaps the file comes from an older program; save it as UTF-8."
                    problem, hint = f"it holds a byte that is not {self._encoding}", "latin-1 (or cp1252, utf-16)"
                    raise self.error(problem, row=row + 1, advice=advice, key="encoding", encoding=hint)
                if "\0" in line:
                    raise self.error("it holds a NUL byte: this is not a text file, or it is damaged", row=row + 1)
                yield line

        try:
            for row, cells in enumerate(csv.reader(lines(), delimiter=self._delimiter, strict=True), before + 1):
                if cells:
                    yield row, cells
        except csv.Error as error:
            text = str(error)
            if "unexpected end of data" in text or "field larger" in text:
                text = 'a cell begins with a quote (") that never closes, or holds more than 131,072 characters'
            elif "expected after" in text:
                text = 'text follows a closing quote; inside a quoted cell, a quote must be doubled ("")'
            raise self.error(text, row=row + 1) from error


def text_lines(pieces: Iterable[bytes]) -> Iterator[str]:
    """Lines of a text with their ends, whatever these are."""
    rest = b""
    for piece in chain(pieces, [None]):
        rest += piece or b""
        end = len(rest) if piece is None else rest.rfind(b"\n") + 1
        yield from io.StringIO(rest[:end].decode("utf-8", "surrogateescape"), newline="")
        rest = rest[end:]


def without_rows(data: bytes, rows: int) -> bytes:
    """A text without its first rows."""
    read = 0

    def lines() -> Iterator[str]:
        nonlocal read
        for line in text_lines([data]):
            read += len(line.encode("utf-8", "surrogateescape"))
            yield line

    if rows:
        for _ in islice(csv.reader(lines()), rows):
            pass
    return data[read:]


def last_row_end(data: bytes) -> int:
    """Position after the last line end that no quotes surround; 0 if there is none."""
    end, quotes = len(data), data.count(b'"')
    while end > 0:
        start = data.rfind(b"\n", 0, end) + 1
        quotes -= data.count(b'"', start, end)
        if quotes % 2 == 0:
            return start
        end = start - 1
    return 0


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
