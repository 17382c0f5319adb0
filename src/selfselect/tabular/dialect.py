"""Detect the delimiter and the decimal sign of a CSV file by its first rows; where two are possible, say so."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from itertools import islice

#: Delimiters that are detected.
DELIMITERS = (",", ";", "\t", "|")
#: Rows, and characters of them, that are looked at.
MAX_ROWS, MAX_TEXT = 500, 2**17
#: Titles and other names stand in at most so many rows above the names of the columns.
MAX_ROWS_ABOVE = 20
#: Rows that are needed to tell names from cells.
MIN_ROWS_BELOW = 5

_DECIMAL = {sign: re.compile(rf"[+-]?\d*{re.escape(sign)}\d+([eE][+-]?\d+)?") for sign in ".,"}
_GROUPED = {sign: re.compile(rf"[+-]?[1-9]\d{{0,2}}({re.escape(sign)}\d{{3}})+") for sign in ".,"}
#: Numbers with both signs: the second is the decimal sign.
_BOTH = {".": re.compile(r"[+-]?\d{1,3}(,\d{3})+\.\d+"), ",": re.compile(r"[+-]?\d{1,3}(\.\d{3})+,\d+")}


def first_rows(text: str, delimiter: str) -> list[list[str]] | None:
    """The first rows of a text, which may end within a row, without blank ones; None if they differ in width."""
    part = text[:MAX_TEXT]
    whole = len(part) == len(text)
    rows: list[list[str]] = []
    try:
        reader = csv.reader(io.StringIO(part, newline=""), delimiter=delimiter, strict=True)
        rows.extend(row for row in islice(reader, MAX_ROWS) if row)
    except csv.Error as error:
        if "unexpected end of data" not in str(error):
            return None
        whole = True  # the row that is cut off was not added
    if not whole and len(rows) > 1 and len(rows) < MAX_ROWS:
        rows.pop()  # it may be cut off
    return rows if len({len(row) for row in rows}) == 1 else None


def find_delimiter(text: str) -> tuple[str, str | None]:
    """The delimiter of a file by its start, and a rival: another one that fits as well, so that the user must decide.

    It is the comma wherever rows make sense with it, and if nothing fits.
    """
    rows = {sign: first_rows(text, sign) for sign in DELIMITERS}
    widths = {sign: len(parsed[0]) for sign, parsed in rows.items() if parsed and len(parsed[0]) > 1}
    if "," in widths:
        rivals = [sign for sign, width in widths.items() if sign != "," and width >= widths[","]]
        return ",", rivals[0] if rivals else None
    if not widths:
        header = text[:MAX_TEXT].lstrip("\r\n").splitlines()[:1]
        named = [sign for sign in DELIMITERS if header and sign in header[0]]
        return named[0] if len(named) == 1 else ",", None
    first, *others = widths
    return first, others[0] if others else None


def find_header(text: str) -> int | None:
    """Number of the row that seems to name the columns, if it is not the first: a title or other names stand above."""
    lines = text[:MAX_TEXT].splitlines(keepends=True)
    for skipped in range(min(MAX_ROWS_ABOVE, len(lines) - 1)):
        rest = "".join(lines[skipped:])
        for sign in DELIMITERS:
            rows = first_rows(rest, sign)
            if rows and len(rows[0]) > 1 and lines[skipped].strip() and names_columns(rows):
                return skipped + 1 if skipped else None
    return None


def find_header_in(rows: Sequence[Sequence[str]]) -> int | None:
    """The same in rows of cells, of which empty ones at the end are left out."""
    width = max(map(len, rows))
    padded = [[*row, *[""] * (width - len(row))] for row in rows]
    return next((at for at in range(min(MAX_ROWS_ABOVE, len(rows) - 1)) if names_columns(padded[at:])), None)


def names_columns(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names columns, and the second does not: it has words where only numbers follow."""
    names = [cell.strip() for cell in rows[0]]
    if not all(names) or any(map(_any_number, names)) or len({name.casefold() for name in names}) < len(names):
        return False
    if len(rows) < MIN_ROWS_BELOW:
        return True
    numeric = [
        at
        for at in range(len(names))
        if all(_any_number(row[at]) for row in rows[2:] if row[at].strip()) and any(row[at].strip() for row in rows[2:])
    ]
    second = [rows[1][at].strip() for at in numeric]
    return not second or not all(cell and not _any_number(cell) for cell in second) or not all(rows[1])


def _any_number(cell: str) -> bool:
    return cell.strip().lstrip("+-").isdecimal() or looks_like_number(cell)


def find_decimal(rows: Sequence[Sequence[str]], delimiter: str) -> str | None:
    """Decimal sign of a table by its first rows, header included; None if it could be either, as in ``1,234``."""
    if delimiter == ",":
        return "."
    cells = {cell.strip() for row in rows[1:] for cell in row}
    cells = {cell for cell in cells if "," in cell or "." in cell}
    certain = {sign: any(_is_decimal(cell, sign) for cell in cells) for sign in ".,"}
    if certain["."] != certain[","]:
        return "." if certain["."] else ","
    if certain["."]:
        return None
    unclear = {sign: any(_GROUPED[sign].fullmatch(cell) for cell in cells) for sign in ".,"}
    # programs that write semicolons write decimal commas, and points between thousands
    return None if unclear[","] or (unclear["."] and delimiter == ";") else "."


def _is_decimal(cell: str, sign: str) -> bool:
    """Whether a cell is a number in which this sign cannot separate thousands."""
    if _BOTH[sign].fullmatch(cell):
        return True
    return bool(_DECIMAL[sign].fullmatch(cell)) and not _GROUPED[sign].fullmatch(cell)


def looks_like_number(cell: str) -> bool:
    """Whether a cell is a number with some decimal sign and some sign between thousands."""
    text = cell.strip()
    return any(pattern[sign].fullmatch(text) is not None for sign in ".," for pattern in (_DECIMAL, _GROUPED, _BOTH))
