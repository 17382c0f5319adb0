"""Escaping of names (groups, columns, files, cells): one function for each place that shows them.

``tests/hostile.py`` has names that each of them is tested with.
"""

from __future__ import annotations

import json
import re
import unicodedata
from html import escape
from typing import Any

#: A spreadsheet takes a cell that starts with one of these for a formula.
_FORMULA_SIGNS = tuple("=+-@")
#: A spreadsheet of another language ends a cell here, quotes or not.
_CELL_ENDS = re.compile(r"([;\t\r\n])")
#: Longer names are shortened in the legend of a picture.
MAX_LABEL_LENGTH = 40


def quote(text: str) -> str:
    """Quote a piece of a table for a message: short, on one line, without control characters."""
    return printable(repr(text if len(text) <= 60 else text[:57] + "..."))


def printable(text: str) -> str:
    """Escape characters that a terminal would obey: control characters and marks that reverse the direction."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def escape_formula(value: Any) -> Any:
    """Text that a spreadsheet will not take for a formula; anything else stays as it is.

    A cell that begins with = + - @ gets an apostrophe in front, also after blanks and invisible characters, and with
    full-width signs, which some spreadsheets read as the plain ones. So does a part after a semicolon, a tab or a line
    end, where a spreadsheet of another language begins a new cell.
    """
    if not isinstance(value, str) or not value:
        return value
    text = value.encode("utf-8", "backslashreplace").decode("utf-8")  # no file can hold a lone surrogate
    first, *rest = _CELL_ENDS.split(text)
    safe = first + "".join("'" + part if _begins_formula(part) else part for part in rest)
    return "'" + safe if text[0] in "\t\r" or _begins_formula(text) else safe


def _begins_formula(text: str) -> bool:
    seen = next((char for char in text if char.isprintable() and not char.isspace()), "")
    return unicodedata.normalize("NFKC", seen).startswith(_FORMULA_SIGNS)


def escape_html(text: str) -> str:
    """Escape text for HTML and SVG, also within quotes."""
    return escape(printable(text))


def plot_label(text: Any) -> str:
    """Text that matplotlib draws as it stands: in a legend, at an axis, as a title.

    Matplotlib leaves out of a legend labels that are empty or begin with an underscore, and reads text between two
    dollar signs as a formula.
    """
    name = printable(str(text))
    short = name if len(name) <= MAX_LABEL_LENGTH else name[: MAX_LABEL_LENGTH - 3] + "..."
    if not short.strip():
        return "(empty)"
    return (" " if short.startswith("_") else "") + short.replace("$", r"\$")


def json_text(content: Any) -> str:
    """JSON with a line end at the end. NaN is an error, and lone surrogates are escaped."""
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text)
