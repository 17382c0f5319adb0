"""CSV files: rows in order are parsed by pyarrow, and anything out of order by Python's csv module, which is strict.

pyarrow reads ``"0.9"5`` as 0.95 and takes a quote that never closes for closed. So it gets only blocks of text in which
every quote surrounds a cell. From the first other block on the csv module reads, and names the row of an error.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv as pc

from .dialect import MAX_TEXT, find_decimal, find_delimiter, first_rows
from .table import Batch, Table
from .text_blocks import LONGEST_LINE, UNDECODED, Utf8Text, has_blank_lines, is_regular, whole_rows

#: Bytes that are read at a time, and rows that the csv module reads at a time.
BLOCK_BYTES, BLOCK_ROWS = 2**22, 20_000
#: How the byte-order mark of a UTF-16 file looks to another encoding.
UTF16_MARKS = ("\udcff\udcfe", "\udcfe\udcff")
#: Names of delimiters that are hard to see.
DELIMITER_NAMES = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars"}


class CsvTable(Table):
    """A CSV file; ``max_bytes`` is None if it is not a gzip file. Options are those of ``open_table``."""

    def __init__(
        self,
        name: str,
        sha256: Callable[[], str],
        file: BinaryIO,
        max_bytes: int | None,
        *,
        encoding: str,
        delimiter: str,
        decimal: str,
        progress: Callable[[int], object] | None = None,
    ) -> None:
        super().__init__(name, sha256)
        self.max_bytes = max_bytes
        self._row = 0  # the last row that was read
        self._text = Utf8Text(self._bytes(file, progress), encoding)
        self._blocks = whole_rows(self._text)
        start = self._next_block()
        text = start[: 4 * MAX_TEXT + 4].decode("utf-8", "surrogateescape")
        self._delimiter = self._detect_delimiter(text) if delimiter == "auto" else delimiter
        self.decimal = decimal
        if decimal == "auto":
            self.decimal = find_decimal(first_rows(text, self._delimiter) or [], self._delimiter)
        self._note_dialect(delimiter == "auto", decimal == "auto", encoding == "auto")
        self._rest = b""
        self.header = self._read_header(start)

    def _bytes(self, file: BinaryIO, progress: Callable[[int], object] | None) -> Iterator[bytes]:
        """Bytes of the file, decompressed, in blocks."""
        stream = file if self.max_bytes is None else gzip.GzipFile(fileobj=file)
        size = place = 0
        while data := stream.read(BLOCK_BYTES):
            size += len(data)
            self.check_size(size)
            if progress is not None:
                progress(file.tell() - place)
                place = file.tell()
            yield data

    def _detect_delimiter(self, start: str) -> str:
        delimiter, rival = find_delimiter(start)
        if rival is not None:
            one, other = DELIMITER_NAMES[delimiter], DELIMITER_NAMES[rival]
            problem = f"its columns may be separated by {one} or by {other}; say which"
            raise self.error(problem, row=1, key="which_delimiter")
        return delimiter

    def _note_dialect(self, delimiter: bool, decimal: bool, encoding: bool) -> None:
        """Note what was detected, where it is not as in most files."""
        detected = []
        if delimiter and self._delimiter != ",":
            detected.append(f"{DELIMITER_NAMES[self._delimiter]} between its columns")
        if decimal and self.decimal == ",":
            detected.append("decimal commas")
        if encoding and self._text.encoding != "utf-8":
            detected.append(self._text.described())
        if detected:
            self.notes.append(f"{self.name} is read with {', '.join(detected)}.")
        self._encoding_noted = not encoding or self._text.encoding != "utf-8"

    # ------------------------------------------------------------------ rows

    def _next_block(self) -> bytes:
        """Whole rows as UTF-8; empty at the end of the file."""
        try:
            block = next(self._blocks, b"")
        except UnicodeError as error:
            problem = f"it is not {self._text.encoding}: {error}"
            raise self.error(problem, row=self._row + 1, key="encoding") from error
        if self._row and self._text.guessed and not self._encoding_noted:  # only now did such bytes come
            self._encoding_noted = True
            self.notes.append(f"{self.name} is read with {self._text.described()}.")
        return block

    def _read_header(self, block: bytes) -> list[str]:
        """Names of the columns. The rest of the block is kept."""
        while block:
            lines: list[str] = []
            for cells in self._csv_rows(self._checked_lines(_collecting(lines, _lines(block)))):
                if cells:
                    self._rest = block[len("".join(lines).encode("utf-8", "surrogateescape")) :]
                    return cells
            block = self._next_block()
        raise self.error("the file is empty; its first row must name the columns")

    def _batches(self, positions: Sequence[int]) -> Iterator[Batch]:
        block, self._rest = self._rest, b""
        block = block or self._next_block()
        while block:
            filled = block.rstrip(b"\r\n")
            blank_lines = max(len(block[len(filled) :].splitlines()) - bool(filled), 0)
            if filled:
                table = self._parse(filled, positions)
                if table is None:
                    yield from self._read_strictly(block, positions)
                    return
                rows = range(self._row + 1, self._row + 1 + table.num_rows)
                self._row += table.num_rows
                yield rows, [table.column(str(at)).combine_chunks() for at in positions]
            self._row += blank_lines
            block = self._next_block()

    def _parse(self, block: bytes, positions: Sequence[int]) -> pa.Table | None:
        """Rows of a block that is in order; None if it takes the csv module."""
        odd = not self._delimiter.isascii() or not self._text.valid or len(block) >= LONGEST_LINE
        if odd or not is_regular(block, self._delimiter):
            return None
        names = [str(at) for at in range(len(self.header))]
        try:
            table = pc.read_csv(
                pa.BufferReader(block),
                pc.ReadOptions(column_names=names, use_threads=False, block_size=len(block) + 1),
                pc.ParseOptions(delimiter=self._delimiter, newlines_in_values=True),
                pc.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()),
                    include_columns=list(dict.fromkeys(str(at) for at in positions)) or names[:1],
                    strings_can_be_null=False,
                ),
            )
        except pa.ArrowInvalid:
            return None
        return None if has_blank_lines(block, table.num_rows) else table  # rows after them have other numbers

    def _read_strictly(self, block: bytes, positions: Sequence[int]) -> Iterator[Batch]:
        """A block and all that follow, by the csv module, which refuses what pyarrow accepts in silence."""
        width = len(self.header)

        def filled_rows() -> Iterator[tuple[int, list[str]]]:
            for cells in self._csv_rows(self._checked_lines(self._all_lines(block))):
                if cells and len(cells) != width:
                    raise self.error(
                        f"{len(cells)} cell(s), but the header names {width} column(s)",
                        row=self._row,
                        advice=f"A cell that holds the delimiter {self._delimiter!r} must be quoted.",
                    )
                if cells:
                    yield self._row, cells

        rows = filled_rows()
        while part := list(islice(rows, BLOCK_ROWS)):
            yield [row for row, _ in part], [pa.array([cells[at] for _, cells in part]) for at in positions]

    def _all_lines(self, block: bytes) -> Iterator[str]:
        while block:
            yield from _lines(block)
            block = self._next_block()

    def _csv_rows(self, lines: Iterator[str]) -> Iterator[list[str]]:
        """Rows as the csv module reads them, counted; a blank line is a row without cells."""
        reader = csv.reader(lines, delimiter=self._delimiter, strict=True)
        while True:
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise self.error(_csv_reason(str(error)), row=self._row + 1) from error
            self._row += 1
            yield cells

    def _checked_lines(self, lines: Iterator[str]) -> Iterator[str]:
        """Lines, up to one that cannot be in a table."""
        for line in lines:
            if len(line) >= LONGEST_LINE:
                problem = f"a line of more than {LONGEST_LINE:,} characters: this is not a CSV file"
                raise self.error(problem, row=self._row + 1)
            if not line.isascii() or "\0" in line:
                self._check_characters(line)
            yield line

    def _check_characters(self, line: str) -> None:
        row = self._row + 1
        if line.startswith(UTF16_MARKS):
            advice = "Save it as UTF-8."
            raise self.error("the file is in UTF-16", row=row, advice=advice, key="encoding", encoding="utf-16")
        if "\0" in line:
            raise self.error("it holds a NUL byte: this is not a text file, or it is damaged", row=row)
        if UNDECODED.search(line):
            raise self.error(
                f"it holds a byte that is not {self._text.encoding}",
                row=row,
                advice="Perhaps the file comes from an older program; save it as UTF-8.",
                key="encoding",
                encoding="latin-1 (or cp1252)",
            )


def _lines(block: bytes) -> Iterator[str]:
    """Lines of a block with their ends: within quotes they belong to the cell."""
    for line in io.BytesIO(block):
        yield from io.StringIO(line.decode("utf-8", "surrogateescape"), newline="")


def _collecting(collected: list[str], lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        collected.append(line)
        yield line


def _csv_reason(text: str) -> str:
    if "unexpected end of data" in text or "field larger" in text:
        return 'a cell begins with a quote (") that never closes, or holds more than 131,072 characters'
    if "expected after" in text:
        return 'text follows a closing quote; inside a quoted cell, a quote must be doubled ("")'
    return text
