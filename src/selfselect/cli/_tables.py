"""Tables in a terminal."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from selfselect._text import printable

#: Longer tables are cut in the terminal; files hold everything.
MOST_LINES = 50
LONGEST_CELL = 60


def _cell(text: str) -> str:
    shown = printable(text)
    return shown if len(shown) <= LONGEST_CELL else shown[: LONGEST_CELL - 3] + "..."


def text_table(rows: Sequence[Mapping[str, str]], left: Collection[str], total: int | None = None) -> str:
    """Rows as aligned text, numbers to the right; columns that are empty throughout are left out."""
    columns = [name for name in rows[0] if any(row[name] for row in rows)]
    cells = [columns] + [[_cell(row[name]) for name in columns] for row in rows[:MOST_LINES]]
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    lines = [
        "  ".join(
            text.ljust(width) if name in left else text.rjust(width)
            for text, width, name in zip(line, widths, columns, strict=True)
        ).rstrip()
        for line in cells
    ]
    hidden = (len(rows) if total is None else total) - min(len(rows), MOST_LINES)
    if hidden:
        lines.append(f"... and {hidden:,} more; --csv and --json hold all.")
    return "\n".join(lines)
