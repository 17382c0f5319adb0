"""CSV files in chunks of text: ordinary blocks at once, others by the row; what is no table is found in place."""

from __future__ import annotations

import csv
import gc
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from . import texts
from .blocks import plain_block
from .chunks import Chunk, TableReader
from .errors import TableError
from .sniffing import find_decimal, find_delimiter, first_rows

#: How the mark at the start of a UTF-16 file looks to another encoding.
UTF16_MARKS = ("\udcff\udcfe", "\udcfe\udcff")
#: How people call signs that are hard to see.
CALLED = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars"}


class CsvReader(TableReader):
    """One pass over a CSV file.

    Parameters
    ----------
    name, digest
        As for every :class:`TableReader`.
    binary : binary file
        Its bytes, decompressed.
    encoding, delimiter, decimal : str
        How it is written; ``auto`` finds out.
    """

    def __init__(
        self, name: str, digest: Callable[[], str], binary: Any, encoding: str, delimiter: str, decimal: str = "auto"
    ) -> None:
        super().__init__(name, digest)
        self._row = 0  # the last that was read
        self._told = True  # whether all is said about the encoding
        self._decoded = texts.Decoded(binary, encoding)
        self._blocks = texts.whole_lines(self._decoded)
        start = self._next_block()
        self._delimiter = self._choose_delimiter(start) if delimiter == "auto" else delimiter
        self.decimal = self._choose_decimal(start) if decimal == "auto" else decimal
        self._tell_what_was_found(delimiter, decimal, encoding)
        self.header, self._rest = self._read_header(start)

    # ------------------------------------------------------------------ how it is written

    def _choose_delimiter(self, start: str) -> str:
        found, rival = find_delimiter(start)
        if rival is not None:
            raise self.error(
                f"its columns may be separated by {CALLED[found]} or by {CALLED[rival]}; say which",
                row=1,
                key="which_delimiter",
            )
        return found

    def _choose_decimal(self, start: str) -> str | None:
        return find_decimal(first_rows(start, self._delimiter) or [], self._delimiter)

    def _tell_what_was_found(self, delimiter: str, decimal: str, encoding: str) -> None:
        """Note what is not as in most files, unless the caller said so."""
        found = []
        if delimiter == "auto" and self._delimiter != ",":
            found.append(f"{CALLED[self._delimiter]} between its columns")
        if decimal == "auto" and self.decimal == ",":
            found.append("decimal commas")
        if encoding == "auto" and self._decoded.encoding != "utf-8":
            found.append(self._encoding_found())
        if found:
            self.notes.append(f"{self.name} is read with {', '.join(found)}.")
        self._told = encoding != "auto" or self._decoded.encoding != "utf-8"

    def _encoding_found(self) -> str:
        guess = " (a guess: it is not UTF-8)" if self._decoded.guessed else ""
        return f"the encoding {self._decoded.encoding}{guess}"

    # ------------------------------------------------------------------ rows

    def _next_block(self) -> str:
        """Text up to the end of a line; empty at the end of the file."""
        with self._complaints():
            block = next(self._blocks, "")
        if self._decoded.guessed and not self._told:  # only now did bytes come that are not UTF-8
            self._told = True
            self.notes.append(f"{self.name} is read with {self._encoding_found()}.")
        return block

    def _read_header(self, start: str) -> tuple[list[str], str]:
        """Names of the columns, and the text that follows them."""
        while True:
            lines = io.StringIO(start, newline="")
            row = self._row
            try:
                for cells in csv.reader(self._good(lines), delimiter=self._delimiter, strict=True):
                    self._row += 1
                    if cells:
                        return cells, lines.read()
            except (csv.Error, TableError) as error:
                more = self._more(start) if self._goes_on(error, start) else ""
                if not more:
                    raise self._complaint(error) from error
                start += more
                self._row = row
                continue
            start = self._next_block()
            if not start:
                raise self.error("the file is empty; its first row must name the columns")

    def chunks(self, columns: Sequence[int]) -> Iterator[Chunk]:
        """The rows, once, in order; only the columns asked for, by their position in the header."""
        text, self._rest = self._rest, ""
        text = text or self._next_block()
        while text:
            chunk = self._plain(text, columns) or self._by_row(text, columns)
            if chunk.rows:
                yield chunk
            text = self._next_block()

    def _plain(self, text: str, columns: Sequence[int]) -> Chunk | None:
        """Rows of a block in which nothing is out of the ordinary, at once; else None."""
        if len(text) >= texts.LONGEST_LINE or "\0" in text or texts.undecoded(text):
            return None
        block = plain_block(text, self._delimiter, len(self.header), self._row + 1, columns)
        if block is not None:
            self._row += len(block.rows)
        return block

    def _by_row(self, text: str, columns: Sequence[int]) -> Chunk:
        """Rows of a block as the csv module finds them; a row that goes on in the next block brings it along."""
        while True:
            rows: list[list[str]] = []
            try:
                with _no_collection():
                    # what was found before an error stays in the list
                    rows.extend(csv.reader(self._lines(text), delimiter=self._delimiter, strict=True))
                break
            except (csv.Error, TableError) as error:
                more = self._more(text) if self._goes_on(error, text) else ""
                if not more:
                    self._check_widths(rows)  # what is wrong first is told first
                    self._row += len(rows)
                    raise self._complaint(error) from error
                text += more
        self._check_widths(rows)
        numbers: Sequence[int] = range(self._row + 1, self._row + len(rows) + 1)
        self._row += len(rows)
        if not all(rows):
            numbers = [number for number, cells in zip(numbers, rows, strict=True) if cells]
            rows = [cells for cells in rows if cells]
        return Chunk(numbers, [[cells[at] for cells in rows] for at in columns])

    def _more(self, text: str) -> str:
        """As much text again, so that a row over many blocks is not looked at once for each of them."""
        more: list[str] = []
        size = 0
        while size < len(text) and (block := self._next_block()):
            more.append(block)
            size += len(block)
        return "".join(more)

    # ------------------------------------------------------------------ what is no table

    def _goes_on(self, error: Exception, text: str) -> bool:
        """Whether a complaint is only that the block ends within a quoted cell."""
        return "unexpected end of data" in str(error) and len(text) < 4 * texts.LONGEST_LINE

    def _lines(self, text: str) -> Iterator[str]:
        lines = io.StringIO(text, newline="")  # line ends stay as they are: within quotes they belong to the cell
        wrong = len(text) >= texts.LONGEST_LINE or "\0" in text or texts.undecoded(text)
        return self._good(lines) if wrong else lines

    def _good(self, lines: io.StringIO) -> Iterator[str]:
        """Lines up to one that belongs to no table."""
        for line in lines:
            problem = self._problem(line)
            if problem is not None:
                raise problem
            yield line

    def _problem(self, line: str) -> TableError | None:
        """What is wrong with a line; the row is added by whoever counts them."""
        if len(line) >= texts.LONGEST_LINE:
            return TableError(f"a line of more than {texts.LONGEST_LINE:,} characters: this is not a CSV file")
        if line.startswith(UTF16_MARKS):
            advice = "Save it as UTF-8."
            return TableError("the file is in UTF-16", advice=advice, key="encoding", encoding="utf-16")
        if "\0" in line:
            return TableError("it holds a NUL byte: this is not a text file, or it is damaged")
        if texts.undecoded(line):
            return TableError(
                f"it holds a byte that is not {self._decoded.encoding}",
                advice="Perhaps the file comes from an older program; save it as UTF-8.",
                key="encoding",
                encoding="latin-1 (or cp1252)",
            )
        return None

    def _check_widths(self, rows: list[list[str]]) -> None:
        """Complain about the first row that has not one cell for each column; blank rows have none."""
        width = len(self.header)
        if {len(cells) for cells in rows} <= {0, width}:
            return
        at, cells = next((i, cells) for i, cells in enumerate(rows) if len(cells) not in (0, width))
        raise self.error(
            f"{len(cells)} cell(s), but the header names {width} column(s)",
            row=self._row + at + 1,
            advice=f"A cell that holds the delimiter {self._delimiter!r} must be quoted.",
        )

    def _complaint(self, error: Exception) -> TableError:
        """A complaint about the row that comes next."""
        if isinstance(error, TableError):
            return self.error(error.problem, row=self._row + 1, advice=error.advice, key=error.key, **error.details)
        return self.error(_csv_reason(error), row=self._row + 1)

    @contextmanager
    def _complaints(self) -> Iterator[None]:
        """Complaints of the decoder, with the row that comes next."""
        try:
            yield
        except UnicodeError as error:
            problem = f"it is not {self._decoded.encoding}: {error}"
            raise self.error(problem, row=self._row + 1, key="encoding") from error


def _csv_reason(error: Exception) -> str:
    text = str(error)
    if "unexpected end of data" in text or "field larger" in text:
        return 'a cell begins with a quote (") that never closes, or holds more than 131,072 characters'
    if "expected after" in text:
        return 'text follows a closing quote; inside a quoted cell, a quote must be doubled ("")'
    return text


@contextmanager
def _no_collection() -> Iterator[None]:
    """Pause the search for reference cycles: rows make none, and it takes as long as the parsing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
