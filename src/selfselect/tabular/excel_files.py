"""Workbooks (.xlsx) in chunks of text, with openpyxl."""

from __future__ import annotations

import datetime
import zipfile
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, BinaryIO

from .._text import printable, shown
from .chunks import CHUNK_ROWS, MOST_LISTED, Chunk, TableReader, did_you_mean, listing
from .texts import too_large

#: What may be wrong with the XML inside; its parser is not part of openpyxl.
DAMAGE = (KeyError, ValueError, TypeError, IndexError, AttributeError, SyntaxError, EOFError, zipfile.BadZipFile)
#: Bytes that are looked through at a time.
PART = 2**20


class ExcelReader(TableReader):
    """One pass over a sheet of a workbook: the values that formulas had when it was saved, dates as text.

    Parameters
    ----------
    name, digest
        As for every :class:`TableReader`.
    source : str or binary file
        Where it is; it must allow jumps.
    sheet : str or None
        Name of the sheet, or its number from 1 on; the first by default.
    most : int
        Bytes that it may hold, decompressed.
    """

    def __init__(
        self, name: str, digest: Callable[[], str], source: str | BinaryIO, sheet: str | None, most: int
    ) -> None:
        super().__init__(name, digest)
        try:
            import openpyxl  # an extra: people with CSV files do without
        except ImportError as error:
            advice = "Install it (pip install openpyxl), or save the table as CSV."
            raise self.error("this is an .xlsx file, which needs openpyxl", advice=advice) from error
        self._row = 0  # the last that was read
        has_formulas = self._check(source, most)
        try:
            self._book = openpyxl.load_workbook(source, read_only=True, data_only=True)
            at = self._choose(sheet)
            self._values = self._rows(self._book, at)
            self._formulas: Iterator[tuple[Any, ...]] | None = None
            if has_formulas:
                self._formulas = self._rows(openpyxl.load_workbook(source, read_only=True), at)
            self.header = self._read_header()
        except DAMAGE as error:
            if isinstance(error, type(self.error(""))):
                raise
            raise self.error(f"this is a damaged .xlsx file: {error}") from error

    def _check(self, source: str | BinaryIO, most: int) -> bool:
        """Refuse what is no workbook or too large, before anything is unpacked; and say whether it holds formulas."""
        try:
            with zipfile.ZipFile(source) as archive:
                parts = archive.infolist()
                if not any(part.filename == "xl/workbook.xml" for part in parts):
                    raise self.error("this is a zip archive, but not an .xlsx file", advice="Unpack it first.")
                if sum(part.file_size for part in parts) > most:
                    raise too_large(most, printable(self.name))
                sheets = [part for part in parts if part.filename.startswith("xl/worksheets/")]
                return any(_holds(archive, part, (b"<f>", b"<f ")) for part in sheets)
        except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
            raise self.error(f"this is a damaged .xlsx file: {error}") from error

    def _choose(self, sheet: str | None) -> int:
        """Position of the sheet asked for."""
        names = [str(other.title) for other in self._book.worksheets]
        if not names:
            raise self.error("it holds no sheet with cells")
        if sheet is None:
            if len(names) > 1:
                others = listing(names[1:], MOST_LISTED)
                self.notes.append(f"{self.name} is read from its first sheet {shown(names[0])}; it also has {others}.")
            return 0
        if sheet in names:
            return names.index(sheet)
        if sheet.isdecimal() and 1 <= int(sheet) <= len(names):
            return int(sheet) - 1
        advice = f"{did_you_mean(sheet, names)}Its sheets: {listing(names, MOST_LISTED)}."
        raise self.error(f"there is no sheet {shown(sheet)}", advice=advice, named_by="sheet")

    def _rows(self, book: Any, at: int) -> Iterator[tuple[Any, ...]]:
        sheet = book.worksheets[at]
        sheet.reset_dimensions()  # what a file says about its size is not always true
        rows: Iterator[tuple[Any, ...]] = sheet.iter_rows(values_only=True)
        return rows

    def _read_header(self) -> list[str]:
        for cells in self._texts():
            if any(cells):
                while not cells[-1]:
                    cells.pop()
                return cells
        raise self.error("the sheet is empty; its first row must name the columns")

    def chunks(self, columns: Sequence[int]) -> Iterator[Chunk]:
        """The rows, once, in order; only the columns asked for, by their position in the header."""
        width = len(self.header)
        rows = self._texts()
        try:
            while part := [(self._row, cells) for cells in islice(rows, CHUNK_ROWS)]:
                for row, cells in part:
                    if any(cells[width:]):
                        raise self.error(f"a cell beyond the {width} column(s) that the first row names", row=row)
                kept = [(row, cells) for row, cells in part if any(cells)]
                if kept:
                    padded = [cells[:width] + [""] * (width - len(cells)) for _, cells in kept]
                    yield Chunk([row for row, _ in kept], [[cells[at] for cells in padded] for at in columns])
        except DAMAGE as error:
            if isinstance(error, type(self.error(""))):
                raise
            raise self.error(f"its cells cannot be read: {error}", row=self._row + 1) from error

    def _texts(self) -> Iterator[list[str]]:
        """Rows as text; a formula without a value is refused, as nobody computed it."""
        for values in self._values:
            self._row += 1
            if self._formulas is not None:
                for value, formula in zip(values, next(self._formulas, ()), strict=False):
                    if value is None and isinstance(formula, str) and formula.startswith("="):
                        advice = "Open the file in a spreadsheet and save it, or write the values themselves."
                        problem = f"the value of the formula {shown(formula)} is not in the file"
                        raise self.error(problem, row=self._row, advice=advice)
            yield [_as_text(value) for value in values]


def _holds(archive: zipfile.ZipFile, part: zipfile.ZipInfo, signs: tuple[bytes, ...]) -> bool:
    """Whether some bytes occur in a part of an archive."""
    before = b""
    with archive.open(part) as file:
        while data := file.read(PART):
            if any(sign in before + data for sign in signs):
                return True
            before = data[-8:]
    return False


def _as_text(value: Any) -> str:
    """A cell as text: a date as 2020-01-31, with the time of day if there is one."""
    if value is None:
        return ""
    if isinstance(value, datetime.datetime):
        return str(value.date()) if value.time() == datetime.time() else str(value)
    return str(value)
