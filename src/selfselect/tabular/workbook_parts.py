"""Parts of a workbook, each looked through before openpyxl reads it: what it makes of them must fit into memory."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from sys import getsizeof
from typing import IO, Any, BinaryIO, Literal
from xml.parsers import expat

from .._text import shown
from .errors import TableError
from .texts import LONGEST_LINE

#: What the elements of a spreadsheet are called after, and those that matter here.
SPREADSHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
ROW, TEXT, CELL = (f"{SPREADSHEET}}}{name}" for name in ("row", "si", "c"))
FORMULA, FORMATTING = (f"{SPREADSHEET}}}{name}" for name in ("f", "conditionalFormatting"))
#: Those that are looked at within a row or a text.
NOTED = frozenset((FORMULA, FORMATTING, ROW, TEXT))
#: Bytes that are looked through at a time.
PART = 2**20
#: The last row and column that a sheet can have, and elements that a row, or a text, can: many for each cell.
LAST_ROW, LAST_COLUMN = 2**20, 2**14
MOST_WITHIN = 32 * LAST_COLUMN
#: Different names of elements and attributes; parsers keep them all.
MOST_NAMES = 2**14
#: Bytes of a part that is no sheet and not the texts, which openpyxl reads at once. The largest are styles.
MOST_WHOLE = 2**26
#: Bytes that openpyxl takes for an element of which it makes something, and for a row or text that is over.
KEPT, PASSED = 1024, 128


class Parts(zipfile.ZipFile):
    """The parts of a workbook: whoever opens one gets it after it was looked through.

    Parameters
    ----------
    source : binary file
        The workbook.
    keep : callable
        Told how many bytes more will be kept in memory; may complain.
    error : callable
        Makes a complaint from what is wrong, and from ``advice``.

    Attributes
    ----------
    passing : str or None
        The element of which openpyxl keeps next to nothing once it is over; None where it reads the part at once.
    has_formulas : bool
        Whether a part that was opened has any.
    """

    def __init__(self, source: BinaryIO, keep: Callable[[int], None], error: Callable[..., TableError]) -> None:
        super().__init__(source)
        self._keep, self._error = keep, error
        self._seen: set[tuple[str, str | None]] = set()
        self.passing: str | None = ROW
        self.has_formulas = False

    def read(self, name: str | zipfile.ZipInfo, pwd: bytes | None = None) -> bytes:
        """All bytes of a part."""
        before, self.passing = self.passing, None
        try:
            return super().read(name, pwd)
        finally:
            self.passing = before

    def open(
        self,
        name: str | zipfile.ZipInfo,
        mode: Literal["r", "w"] = "r",
        pwd: bytes | None = None,
        *,
        force_zip64: bool = False,
    ) -> IO[bytes]:
        """A part, to be read from front to back."""
        part = name if isinstance(name, zipfile.ZipInfo) else self.getinfo(name)
        if (part.filename, self.passing) not in self._seen:
            if self.passing is None and part.file_size > MOST_WHOLE:
                raise self._wrong(part, f"has more than {MOST_WHOLE:,} bytes, which no spreadsheet writes there")
            look = Look(self.passing, self._keep, lambda problem: self._wrong(part, problem))
            with super().open(part) as file:
                look.through(file)
            if self.passing == ROW:
                self._keep(-look.kept)  # one sheet is read at a time
            self.has_formulas = self.has_formulas or look.has_formulas
            self._seen.add((part.filename, self.passing))
        return super().open(part)

    def _wrong(self, part: zipfile.ZipInfo, problem: str) -> TableError:
        advice = "Open it in a spreadsheet and save it anew, or save the table as CSV."
        return self._error(f"its part {shown(part.filename)} {problem}", advice=advice)


class Look:
    """One pass over the XML of a part, with the parser that reads it later, but without keeping anything.

    Parameters
    ----------
    passing : str or None
        The element of which next to nothing is kept once it is over.
    keep : callable
        Told how many bytes will be kept in memory.
    wrong : callable
        Makes a complaint from what is wrong with the part.

    Attributes
    ----------
    kept : int
        Bytes that were told.
    has_formulas : bool
        Whether there are any.
    """

    def __init__(self, passing: str | None, keep: Callable[[int], None], wrong: Callable[[str], TableError]) -> None:
        self._passing, self._keep, self._wrong = passing, keep, wrong
        self.kept, self.has_formulas = 0, False
        self._shared: set[str] = set()  # formulas that other cells refer to
        self._row = 0  # the last that was there
        self._fed = self._more = 0  # bytes that were parsed, and that are kept but not told yet
        self._since: int | None = None  # what was fed when the row or text began that is not over
        self._elements = self._cells = 0  # in it
        self._parser = expat.ParserCreate(namespace_separator="}", intern={})
        self._parser.ordered_attributes = True
        self._parser.buffer_text = True
        self._parser.StartElementHandler, self._parser.EndElementHandler = self._start, self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.StartNamespaceDeclHandler = lambda prefix, address: None  # the names that are told are counted

    def through(self, file: IO[bytes]) -> None:
        """Look at everything, and complain about what no workbook has."""
        try:
            while data := file.read(PART):
                self._fed += len(data)
                self._parser.Parse(data, False)
                self._check()
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise self._wrong(f"is damaged: {error}") from error

    def _check(self) -> None:
        self._keep(self._more)
        self.kept, self._more = self.kept + self._more, 0
        if len(self._parser.intern) > MOST_NAMES:
            raise self._wrong(f"has elements and attributes of more than {MOST_NAMES:,} names: this is no table")
        if self._fed - self._parser.CurrentByteIndex > LONGEST_LINE:  # parsers wait for the end
            raise self._wrong(f"has a tag or a comment of more than {LONGEST_LINE:,} bytes: this is no table")
        if self._since is not None:
            self._check_within(self._since)

    def _check_within(self, since: int) -> None:
        what = f"has a row {self._row}" if self._passing == ROW else "has a text"
        if self._fed - since > LONGEST_LINE:
            raise self._wrong(f"{what} of more than {LONGEST_LINE:,} bytes: this is no table")
        if self._cells > LAST_COLUMN:
            raise self._wrong(f"{what} of more than the {LAST_COLUMN:,} cells that a row can have")
        if self._elements > MOST_WITHIN:
            raise self._wrong(f"{what} of more than {MOST_WITHIN:,} elements: this is no table")

    # ------------------------------------------------------------------ what the parser tells

    def _doctype(self, *_: Any) -> None:
        raise self._wrong("declares entities of its own (DOCTYPE), which no spreadsheet writes")

    def _start(self, name: str, attributes: list[str]) -> None:
        if self._since is not None:
            self._elements += 1
            if name == CELL:
                self._cells += 1
            elif name in NOTED:
                self._note(name, attributes)
        elif name == self._passing:
            self._since, self._elements, self._cells = self._fed, 0, 0
            self._more += PASSED
            if name == ROW:
                self._begin_row(attributes[::2], attributes[1::2])
        else:
            self._more += KEPT + sum(map(getsizeof, attributes[1::2]))

    def _text(self, text: str) -> None:
        self._more += getsizeof(text)

    def _end(self, name: str) -> None:
        if name == self._passing and self._since is not None:
            self._check_within(self._since)
            self._since = None
            self._parser.CharacterDataHandler = self._text

    def _begin_row(self, names: list[str], values: list[str]) -> None:
        """Rows that are there twice or out of order are refused: of those openpyxl reads the first in silence."""
        here = int(values[names.index("r")]) if "r" in names else self._row + 1
        if here <= self._row:
            raise self._wrong(f"is out of order: row {here} comes after row {self._row}")
        if here > LAST_ROW:
            raise self._wrong(f"has a row beyond the {LAST_ROW:,} that a sheet can have")
        self._row = here
        self._parser.CharacterDataHandler = None  # texts in a row go with it
        if any(name not in ("r", "spans") and "}" not in name for name in names):
            self._more += sum(map(getsizeof, values))  # a height, say: openpyxl keeps it

    def _note(self, name: str, attributes: list[str]) -> None:
        """An element within a row or a text that openpyxl keeps, or that cannot be there."""
        if name == self._passing:
            raise self._wrong(f"has a {'row' if name == ROW else 'text'} within another")
        if name == FORMATTING:
            self._more += KEPT
        elif name == FORMULA:
            self.has_formulas = True
            told = dict(zip(attributes[::2], attributes[1::2], strict=True))
            shared = told.get("si", "")
            if told.get("t") == "shared" and shared not in self._shared:  # other cells refer to it
                self._shared.add(shared)
                self._more += KEPT + getsizeof(shared)


def load(source: BinaryIO, parts: Parts) -> Any:
    """A workbook of openpyxl's, the cells of which are read as they are asked for.

    Parameters
    ----------
    source : binary file
        The workbook.
    parts : Parts
        The same, looked through; what openpyxl reads it reads from there.
    """
    from openpyxl.reader.excel import ExcelReader  # an extra: people with CSV files do without

    class Reader(ExcelReader):
        def read_strings(self) -> None:
            parts.passing = TEXT
            super().read_strings()
            parts.passing = ROW

        def read_chartsheet(self, *_: Any) -> None:
            """Nothing: charts have no cells."""

    reader = Reader(source, read_only=True, data_only=True, keep_links=False)
    reader.archive = parts
    reader.read()
    return reader.wb
