"""Pages that state something once: a headline, a picture, sentences and tables, in the style of the report."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from .._text import printable
from .rendering import COMMON, dated, render_page, shown_tables

#: What draws the picture of such a page, in the order of dependence.
DOCUMENT_SCRIPTS = (
    *COMMON,
    "comparison_chart",  # two audits side by side
    "frontier_chart",  # accuracy against social cost
    "furniture",
    "document",  # which picture there is
)


def render_document(content: dict[str, Any], *, date: datetime | None = None) -> str:
    """Page that shows some content.

    Parameters
    ----------
    content : dict
        ``eyebrow``, ``title``, ``headline``, ``paragraphs`` (list of str), ``tables`` (a list of dicts of ``title``,
        ``rows``: dicts from column to text, and ``left``: columns that are text), ``chart`` (a dict of ``kind``:
        "comparison" or "frontier", ``title``, ``text``, and what the script of that kind draws), ``constants`` of the
        library and ``provenance`` (a dict of ``command``, ``sha256``, ``note`` and ``dated``).
    date : datetime, optional
        When it was made; by default now.
    """
    said = _printable(content)
    return render_page(
        "document.html.j2",
        DOCUMENT_SCRIPTS,
        {"constants": said["constants"], "chart": said["chart"], **dated(date)},
        content=said,
        tables=shown_tables(said["tables"]),
    )


def _printable(content: Any) -> Any:
    """The same with all texts in it printable: names of strangers are in many of them."""
    if isinstance(content, str):
        return printable(content)
    if isinstance(content, dict):
        return {_printable(name): _printable(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [_printable(value) for value in content]
    return content
