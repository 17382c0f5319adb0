"""Tables in a terminal."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from selfselect._text import printable

#: Longer tables and cells are shortened in the terminal; files hold everything.
MAX_ROWS = 50
MAX_CELL = 60


def yes_or_no(value: object) -> str:
    """A truth value as a word."""
    return "yes" if value else "no"


def text_table(
    rows: Sequence[Mapping[str, str]], left: Collection[str] = (), *, total: int | None = None, rest: str = ""
) -> str:
    """Table as aligned text, without columns that are empty in every row.

    Columns of ``left`` are aligned to the left, all others to the right. ``total`` is the number of rows if ``rows``
    holds only the first of them, and ``rest`` says where the others are.
    """
    columns = [name for name in rows[0] if any(row[name] for row in rows)]
    cells = [columns] + [[_shorten(row[name]) for name in columns] for row in rows[:MAX_ROWS]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for line in cells:
        aligned = [
            text.ljust(width) if name in left else text.rjust(width)
            for text, width, name in zip(line, widths, columns, strict=True)
        ]
        lines.append("  ".join(aligned).rstrip())
    hidden = (len(rows) if total is None else total) - min(len(rows), MAX_ROWS)
    if hidden:
        lines.append(f"... and {hidden:,} more" + (f"; {rest}." if rest else "."))
    return "\n".join(lines)


def _shorten(text: str) -> str:
    safe = printable(text)
    return safe if len(safe) <= MAX_CELL else safe[: MAX_CELL - 3] + "..."
