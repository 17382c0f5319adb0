"""Texts of strangers (names of groups, columns, data sets, cells) made harmless: one function per place they go to.

=====================  ================================================================
a terminal             :func:`printable`, and in messages :func:`shown`
a cell of a CSV file   :func:`inert_cell`
HTML, SVG              :func:`html_text`
a picture's labels     :func:`label_text` (matplotlib, whatever file it then writes)
JSON                   :func:`json_text`
=====================  ================================================================

``tests/hostile.py`` has the names that all of them are tried with.
"""

from __future__ import annotations

import json
import re
import unicodedata
from html import escape
from typing import Any

#: What makes a spreadsheet take a cell for a formula.
_FORMULA_SIGNS = tuple("=+-@")
#: What ends a cell where files are split at something else than commas; quotes within a line do not hold it there.
_CELL_ENDS = re.compile(r"([;\t\r\n])")
#: Longer names are cut in the legend of a picture.
LONGEST_LABEL = 40


def shown(text: str, most: int = 60) -> str:
    """Quote a piece of someone's table for a message: short, on one line, and harmless to a terminal."""
    return printable(repr(text if len(text) <= most else text[: most - 3] + "..."))


def printable(text: str) -> str:
    """Text without characters that a terminal would obey: control characters and marks that reverse the direction."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def inert_cell(value: Any) -> Any:
    r"""Text that a spreadsheet will not take for a formula; anything else stays as it is.

    Cells that begin with = + - @ get an apostrophe in front: also after blanks and characters that are not seen, and
    with signs of another width, which some spreadsheets read as the plain ones. So do parts after a semicolon, a tab
    or a line end, where a spreadsheet set to another language begins a new cell, quotes or not.

    Examples
    --------
    >>> inert_cell("=1+1"), inert_cell(" +1"), inert_cell("a=b"), inert_cell(-1)
    ("'=1+1", "' +1", 'a=b', -1)
    >>> inert_cell("a;=1+1"), inert_cell("a; b")
    ("a;'=1+1", 'a; b')
    """
    if not isinstance(value, str) or not value:
        return value
    text = value.encode("utf-8", "backslashreplace").decode("utf-8")  # halves of characters are in no file
    first, *rest = _CELL_ENDS.split(text)
    safe = first + "".join("'" + part if _begins_formula(part) else part for part in rest)
    return "'" + safe if text[0] in "\t\r" or _begins_formula(text) else safe


def _begins_formula(text: str) -> bool:
    seen = next((char for char in text if char.isprintable() and not char.isspace()), "")
    return unicodedata.normalize("NFKC", seen).startswith(_FORMULA_SIGNS)


def html_text(text: str) -> str:
    """Text that is text in HTML and SVG, also within quotes.

    Examples
    --------
    >>> html_text('<b title="1">')
    '&lt;b title=&quot;1&quot;&gt;'
    """
    return escape(printable(text))


def label_text(text: Any, most: int = LONGEST_LABEL) -> str:
    r"""Text that matplotlib draws as it stands: in a legend, at an axis, as a title.

    Matplotlib leaves labels out of legends that are empty or begin with an underscore, and reads what is between two
    dollar signs as a formula, which may be none.

    Examples
    --------
    >>> label_text("_other"), label_text("$50_$"), label_text("")
    (' _other', '\\$50_\\$', '(empty)')
    """
    name = printable(str(text))
    short = name if len(name) <= most else name[: most - 3] + "..."
    if not short.strip():
        return "(empty)"
    return (" " if short.startswith("_") else "") + short.replace("$", r"\$")


def json_text(content: Any, indent: int | None = 2) -> str:
    r"""JSON that every other program reads, and a line end: no NaN, and halves of characters as escapes.

    Examples
    --------
    >>> json_text({"name": "Käse\ud800"}, indent=None)
    '{"name": "Käse\\ud800"}\n'
    """
    text = json.dumps(content, indent=indent, ensure_ascii=False, allow_nan=False) + "\n"
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text)
