"""Workbooks (.xlsx), with python-calamine."""

from __future__ import annotations

import datetime
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import pairwise
from typing import Any, BinaryIO

import pyarrow as pa

from .._text import quote
from .dialect import MAX_ROWS, find_header_in
from .errors import first_line
from .excel import SETTINGS
from .table import Block, Table, did_you_mean, listing

#: Whole numbers beyond this are not exact in a workbook, so that two different ones may look the same.
LARGEST_EXACT = 2**53
#: Errors about a damaged or encrypted zip archive.
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
#: Cells that python-calamine reads as empty: errors such as #N/A, and formulas without a saved value.
ERROR_CELL = re.compile(rb"<(?:\w+:)?c\b[^>]*\bt=[\"']e[\"']")
FORMULA_WITHOUT_VALUE = re.compile(
    rb"(?:</(?:\w+:)?f>|<(?:\w+:)?f\b[^>]*/>)\s*(?:</(?:\w+:)?c>|<(?:\w+:)?v\s*(?:/>|></))"
)
SHEET_PART = re.compile(r"xl/worksheets/[^/]+\.xml", re.IGNORECASE)
FILLED_COLUMN = re.compile(rb"<(?:\w+:)?c\b[^>/]*\br=[\"']([A-Z]+)\d+[\"'][^>/]*>")
#: Bytes that python-calamine takes for a cell, also for an empty one.
CELL_BYTES = 32
ROW_NUMBER = re.compile(rb"<(?:\w+:)?row\b[^>]*?\br=[\"'](\d+)[\"']")


class WorkbookTable(Table):
    """One sheet of a workbook, by its name or its number from 1 on: formulas as their saved values, dates as text."""

    def __init__(self, name: str, file: BinaryIO, sheet: str | None, max_bytes: int, header_row: int = 1) -> None:
        super().__init__(name, file, max_bytes)
        try:
            import python_calamine  # an extra: people with CSV files do without
        except ImportError as error:
            advice = "Install it (pip install python-calamine), or save the table as CSV."
            raise self.error("this is an .xlsx file, which needs python-calamine", advice=advice) from error
        try:
            self._check_parts(file)
            file.seek(0)
            book = python_calamine.CalamineWorkbook.from_object(file)
            kind = python_calamine.SheetTypeEnum.WorkSheet
            names = [one.name for one in book.sheets_metadata if one.typ == kind]
            cells = book.get_sheet_by_name(self._choose(sheet, names)).to_python(skip_empty_area=False)
        except (python_calamine.CalamineError, *DAMAGE) as error:
            raise self.error(f"this is a damaged .xlsx file: {first_line(error)}") from error
        numbered = [(number, _trimmed(row)) for number, row in enumerate(cells, start=1)]
        self._rows = [(number, row) for number, row in numbered if row and number >= header_row]
        if not self._rows:
            raise self.error("the sheet is empty; its first row must name the columns")
        number, first = self._rows.pop(0)
        self.header = [self._text(value, number, None) for value in first]
        self._header_row = number

    def header_guess(self) -> int | None:
        """The row that seems to name the columns, if it is another one."""
        numbers = [self._header_row, *(number for number, _ in self._rows[:MAX_ROWS])]
        rows = [self.header, *([str(value) for value in row] for _, row in self._rows[:MAX_ROWS])]
        at = find_header_in(rows)
        return numbers[at] if at else None

    def _check_parts(self, file: BinaryIO) -> None:
        """Refuse what is no workbook or too large, and note what python-calamine reads as empty cells."""
        with zipfile.ZipFile(file) as archive:
            if not any(part.filename.lower() == "xl/workbook.xml" for part in archive.infolist()):
                raise self.error("this is a zip archive, but not an .xlsx file", advice="Unpack it first.")
            self.check_size(sum(part.file_size for part in archive.infolist()))
            damaged = archive.testzip()  # python-calamine does not verify all checksums
            if damaged is not None:
                raise self.error(f"this is a damaged .xlsx file: the checksum of its part {quote(damaged)} is wrong")
            sheets = [archive.read(part) for part in archive.namelist() if SHEET_PART.fullmatch(part)]
        for data in sheets:
            rows = [int(number) for number in ROW_NUMBER.findall(data)]
            width = max(map(_column_number, set(FILLED_COLUMN.findall(data))), default=0)
            self.check_size(CELL_BYTES * width * max(rows, default=0))  # a value far out makes all cells before it
            for before, after in pairwise(rows):
                if after <= before:
                    raise self.error(f"a sheet is out of order: row {after} follows row {before}")
        if any(ERROR_CELL.search(data) for data in sheets):
            self.notes.append(f"{self.name} holds errors such as #N/A. These cells are read as empty.")
        if any(FORMULA_WITHOUT_VALUE.search(data) for data in sheets):
            self.notes.append(
                f"{self.name} holds formulas without a saved value. These cells are read as empty: open the file in a "
                "spreadsheet and save it, or write the values themselves."
            )

    def _choose(self, sheet: str | None, names: list[str]) -> str:
        """Name of the sheet that was asked for."""
        if not names:
            raise self.error("it holds no sheet with cells")
        if sheet is None:
            if len(names) > 1 and SETTINGS not in names:
                others = listing(names[1:])
                self.notes.append(f"{self.name} is read from its first sheet {quote(names[0])}; it also has {others}.")
            return names[0]
        if sheet in names:
            return sheet
        if sheet.isdecimal() and 1 <= int(sheet) <= len(names):
            return names[int(sheet) - 1]
        advice = f"{did_you_mean(sheet, names)}Its sheets: {listing(names)}."
        raise self.error(f"there is no sheet {quote(sheet)}", advice=advice, named_by="sheet")

    def read(self, positions: Sequence[int]) -> Iterator[Block]:
        """All rows at once: a workbook is in memory anyway."""
        width = len(self.header)
        for number, row in self._rows:
            if len(row) > width:
                problem = f"a cell beyond the {width} column(s) that the first row names"
                raise self.error(problem, row=number, **self.header_hint())
        columns = [
            [self._text(row[at], number, self.header[at]) if at < len(row) else "" for number, row in self._rows]
            for at in positions
        ]
        yield [number for number, _ in self._rows], [pa.chunked_array([column], pa.string()) for column in columns]

    def _text(self, value: Any, row: int, column: str | None) -> str:
        """A cell as people write it: 3 and not 3.0, a date as 2020-01-31, with the time of day if it has one."""
        if isinstance(value, float) and value.is_integer():
            if abs(value) > LARGEST_EXACT:
                raise self.error(
                    f"{value:.0f} has more digits than a number in a workbook can hold exactly",
                    row=row,
                    column=column,
                    advice="Write such numbers as text.",
                )
            return str(int(value))
        if isinstance(value, datetime.datetime) and value.time() == datetime.time():
            return str(value.date())
        return str(value)


def _column_number(letters: bytes) -> int:
    return reduce(lambda number, letter: 26 * number + letter - ord("A") + 1, letters, 0)


def _trimmed(row: list[Any]) -> list[Any]:
    """Cells of a row up to the last one that is not empty."""
    end = len(row)
    while end and row[end - 1] == "":
        end -= 1
    return row[:end]
