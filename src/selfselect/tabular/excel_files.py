"""Workbooks (.xlsx) in chunks of text, with openpyxl."""

from __future__ import annotations

import datetime
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from itertools import islice
from typing import Any, BinaryIO

from .. import _files
from .._text import shown
from .chunks import CHUNK_ROWS, MOST_LISTED, Chunk, TableReader, did_you_mean, listing
from .errors import TableError
from .texts import LONGEST_LINE
from .workbook_parts import Parts, load

#: What may be wrong with the archive, and with the XML inside; its parser is not part of openpyxl.
DAMAGE = (*_files.DAMAGE, ValueError, SyntaxError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)
#: How programs compress the parts of a workbook.
COMPRESSED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
#: Cells that are looked at at a time, and that are kept.
FEW, CHUNK_CELLS = 2**7, 2**20


class ExcelReader(TableReader):
    """One pass over a sheet of a workbook: the values that formulas had when it was saved, dates as text.

    Parameters
    ----------
    name, digest
        As for every :class:`TableReader`.
    source : binary file
        Its bytes; it must allow jumps.
    sheet : str or None
        Name of the sheet, or its number from 1 on; the first by default.
    most : int
        Bytes that it may hold, decompressed, and that openpyxl may keep of it.
    """

    def __init__(self, name: str, digest: Callable[[], str], source: BinaryIO, sheet: str | None, most: int) -> None:
        super().__init__(name, digest)
        try:
            import openpyxl  # noqa: F401  # an extra: people with CSV files do without
        except ImportError as error:
            advice = "Install it (pip install openpyxl), or save the table as CSV."
            raise self.error("this is an .xlsx file, which needs openpyxl", advice=advice) from error
        self.most_bytes, self._kept = most, 0
        self._row = 0  # the last that was read
        with self._complaints("this is a damaged .xlsx file"):
            parts = Parts(source, self._keep, self.error)
            self._check(parts.infolist())
            self._book = load(source, parts)
            at = self._choose(sheet)
            self._values = self._rows(self._book.worksheets[at])
            self._formulas = self._rows(self._with_formulas(at)) if parts.has_formulas else None
            self.header = self._read_header()

    @contextmanager
    def _complaints(self, problem: str, *, about_next: bool = False) -> Iterator[None]:
        """What others complain about, in our words; with the row that comes next, if it is about that."""
        try:
            yield
        except TableError:
            raise
        except DAMAGE as error:
            if isinstance(error.__cause__, TableError):  # openpyxl puts words of its own around ours
                raise error.__cause__ from None
            reason = str(error).partition("\n")[0]  # openpyxl adds lines of advice for whoever wrote the file
            raise self.error(f"{problem}: {reason}", row=self._row + 1 if about_next else None) from error

    def _check(self, parts: list[zipfile.ZipInfo]) -> None:
        """Refuse what is no workbook or too large, before anything is unpacked."""
        if not any(part.filename == "xl/workbook.xml" for part in parts):
            raise self.error("this is a zip archive, but not an .xlsx file", advice="Unpack it first.")
        for part in parts:
            if part.flag_bits & 1 or part.compress_type not in COMPRESSED:
                problem = f"its part {shown(part.filename)} is encrypted, or compressed in an unknown way"
                raise self.error(problem, advice="Save it anew, without a password.")
        self.check_size(sum(part.file_size for part in parts))

    def _keep(self, size: int) -> None:
        """Count what openpyxl is going to keep: a small text or style takes many times its size in the file."""
        self._kept += size
        if self.most_bytes is not None and self._kept > self.most_bytes:
            problem = f"its texts, rows and styles would take more than {self.most_bytes:,} bytes of memory"
            raise self.error(problem, key="most_bytes")

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

    def _with_formulas(self, at: int) -> Any:
        """The sheet at a position with formulas for values; its texts and styles are those of the book."""
        sheet, book = copy(self._book.worksheets[at]), copy(self._book)
        book._data_only, sheet.parent = False, book
        return sheet

    def _rows(self, sheet: Any) -> Iterator[tuple[Any, ...]]:
        sheet.reset_dimensions()  # what a file says about its size is not always true
        rows: Iterator[tuple[Any, ...]] = sheet.iter_rows(values_only=True)
        return rows

    def _read_header(self) -> list[str]:
        for cells in self._texts():
            if cells:
                return cells
        raise self.error("the sheet is empty; its first row must name the columns")

    def chunks(self, columns: Sequence[int]) -> Iterator[Chunk]:
        """The rows, once, in order; only the columns asked for, by their position in the header."""
        rows = self._filled_rows()
        at_a_time = max(1, min(CHUNK_ROWS, CHUNK_CELLS // len(self.header)))
        with self._complaints("its cells cannot be read", about_next=True):
            while part := list(islice(rows, at_a_time)):
                yield Chunk([row for row, _ in part], [[cells[at] for _, cells in part] for at in columns])

    def _filled_rows(self) -> Iterator[tuple[int, list[str]]]:
        """Rows in which something stands, with their numbers and a cell for each column."""
        width = len(self.header)
        for cells in self._texts():
            if len(cells) > width:
                raise self.error(f"a cell beyond the {width} column(s) that the first row names", row=self._row)
            if cells:
                yield self._row, cells + [""] * (width - len(cells))

    def _texts(self) -> Iterator[list[str]]:
        """Rows as text, without empty cells at their ends; a formula without a value is refused: nobody computed it."""
        for values in self._values:
            self._row += 1
            formulas = () if self._formulas is None else next(self._formulas, ())
            for value, formula in zip(values, trimmed(formulas), strict=False):
                if value is None and isinstance(formula, str) and formula.startswith("="):
                    advice = "Open the file in a spreadsheet and save it, or write the values themselves."
                    problem = f"the value of the formula {shown(formula)} is not in the file"
                    raise self.error(problem, row=self._row, advice=advice)
            cells = [_as_text(value) for value in trimmed(values)]
            if sum(map(len, cells)) > LONGEST_LINE:  # each text is in the file once, however often it occurs
                raise self.error(f"a row of more than {LONGEST_LINE:,} characters: this is no table", row=self._row)
            yield cells


def trimmed(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Cells of a row up to the last in which something stands; one style in the last column makes 16,384.

    Examples
    --------
    >>> trimmed((None, 1, "", None))
    (None, 1)
    """
    end = len(values)
    while end and values[end - 1] in (None, ""):
        end -= FEW if end >= FEW and values[end - FEW : end].count(None) == FEW else 1
    return values[:end]


def _as_text(value: Any) -> str:
    """A cell as text: a date as 2020-01-31, with the time of day if there is one."""
    if value is None:
        return ""
    if isinstance(value, datetime.datetime):
        return str(value.date()) if value.time() == datetime.time() else str(value)
    return str(value)
