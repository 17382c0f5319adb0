"""CSV files in chunks of text: whatever is no table is found where it stands."""

from __future__ import annotations

import csv
import gc
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from operator import itemgetter
from typing import Any

from .chunks import CHUNK_ROWS, Chunk, TableReader
from .errors import TableError

#: A line longer than this is no line of a table (a quote that never closes, a binary file).
LONGEST_LINE = 16 * 2**20
#: Lines that are looked at as a whole.
BLOCK_LINES = 4096
#: What a byte becomes that the encoding does not know.
UNDECODED = re.compile("[\udc80-\udcff]")
#: How the mark at the start of a UTF-16 file looks to another encoding.
UTF16_MARKS = ("\udcff\udcfe", "\udcfe\udcff")


class CsvReader(TableReader):
    """One pass over a CSV file.

    Parameters
    ----------
    name, digest
        As for every :class:`TableReader`.
    binary : binary file
        Its bytes, decompressed.
    encoding, delimiter : str
        How it is written.
    """

    def __init__(self, name: str, digest: Callable[[], str], binary: Any, encoding: str, delimiter: str) -> None:
        super().__init__(name, digest)
        self._encoding, self._delimiter = encoding, delimiter
        text = io.TextIOWrapper(binary, encoding=encoding, errors="surrogateescape", newline=None)
        self._parser = csv.reader(chain.from_iterable(self._blocks(text)), delimiter=delimiter, strict=True)
        self._row = 0  # the last that was read
        self.header = self._read_header()

    def _read_header(self) -> list[str]:
        with self._complaints():
            for cells in self._parser:
                self._row += 1
                if cells:
                    return cells
        raise self.error("the file is empty; its first row must name the columns")

    def chunks(self, columns: Sequence[int]) -> Iterator[Chunk]:
        """The rows, once, in order; only the columns asked for, by their position in the header."""
        pick: Any = itemgetter(*columns) if len(columns) > 1 else lambda cells: (cells[columns[0]],)
        while True:
            before = self._row
            kept, blank = self._read_rows(pick)
            if self._row == before:
                return
            rows: Sequence[int] = range(before + 1, self._row + 1)
            if blank:
                rows = [row for row in rows if row not in blank]
            if kept:
                yield Chunk(rows, [list(column) for column in zip(*kept, strict=True)])

    def _read_rows(self, pick: Callable[[list[str]], tuple[str, ...]]) -> tuple[list[tuple[str, ...]], set[int]]:
        """Chosen cells of the next rows, and which rows are blank."""
        width = len(self.header)
        kept: list[tuple[str, ...]] = []
        blank: set[int] = set()
        with _no_collection(), self._complaints():
            for cells in islice(self._parser, CHUNK_ROWS):
                self._row += 1
                if len(cells) == width:
                    kept.append(pick(cells))
                elif not cells:
                    blank.add(self._row)
                else:
                    raise self.error(
                        f"{len(cells)} cell(s), but the header names {width} column(s)",
                        row=self._row,
                        advice=f"A cell that holds the delimiter {self._delimiter!r} must be quoted.",
                    )
        return kept, blank

    # ------------------------------------------------------------------ what is no table

    def _blocks(self, text: io.TextIOWrapper) -> Iterator[list[str]]:
        """Lines by the thousand: a block is looked at as a whole, and line by line only if something is wrong."""
        lines = iter(partial(text.readline, LONGEST_LINE), "")
        first = next(lines, "")
        if first.startswith(UTF16_MARKS):
            advice = "Save it as UTF-8."
            raise self.error("the file is in UTF-16", row=1, advice=advice, key="encoding", encoding="utf-16")
        block = [first.removeprefix("\ufeff")] if first else []
        while block:
            wrong = [i for i, line in enumerate(block) if _is_wrong(line)] if _is_wrong("".join(block)) else []
            if wrong:
                yield block[: wrong[0]]  # what comes before is counted first, so that the row is right
                raise self._what_is_wrong(block[wrong[0]])
            yield block
            block = list(islice(lines, BLOCK_LINES))

    def _what_is_wrong(self, line: str) -> TableError:
        row = self._row + 1
        if len(line) >= LONGEST_LINE:
            return self.error(f"a line of more than {LONGEST_LINE:,} characters: this is not a CSV file", row=row)
        if "\0" in line:
            return self.error("it holds a NUL byte: this is not a text file, or it is damaged", row=row)
        return self.error(
            f"it holds a byte that is not {self._encoding}",
            row=row,
            advice="Perhaps the file comes from an older program; save it as UTF-8.",
            key="encoding",
            encoding="latin-1 (or cp1252)",
        )

    @contextmanager
    def _complaints(self) -> Iterator[None]:
        """Complaints of the parser and the decoder, with the row that comes next."""
        try:
            yield
        except csv.Error as error:
            raise self.error(_csv_reason(error), row=self._row + 1) from error
        except UnicodeError as error:
            raise self.error(f"it is not {self._encoding}: {error}", row=self._row + 1, key="encoding") from error


def _is_wrong(line: str) -> bool:
    return len(line) >= LONGEST_LINE or "\0" in line or (not line.isascii() and UNDECODED.search(line) is not None)


def _csv_reason(error: csv.Error) -> str:
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
