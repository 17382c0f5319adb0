"""Texts of strangers (names of groups, columns, cells) made harmless for where they are shown."""

from __future__ import annotations

from typing import Any


def shown(text: str, most: int = 60) -> str:
    """Quote a piece of someone's table for a message: short, on one line, and harmless to a terminal."""
    return printable(repr(text if len(text) <= most else text[: most - 3] + "..."))


def printable(text: str) -> str:
    """Text without characters that a terminal would obey: control characters and marks that reverse the direction."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def inert_cell(value: Any) -> Any:
    """Text that a spreadsheet will not take for a formula: cells that begin with = + - @ get an apostrophe in front."""
    if isinstance(value, str) and value.lstrip(" \t\r\n")[:1] in ("=", "+", "-", "@") and value.strip():
        return "'" + value
    if isinstance(value, str) and value[:1] in ("\t", "\r"):
        return "'" + value
    return value
