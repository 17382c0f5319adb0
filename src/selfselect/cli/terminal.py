"""Tables, numbers and progress in a terminal."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from tqdm import tqdm

from selfselect._formats import percent
from selfselect._text import printable

#: Longer tables are cut in the terminal; files hold everything.
MOST_LINES = 50
LONGEST_CELL = 60


def or_dash(value: float, form: Callable[[float], str] = percent) -> str:
    """A number for a table, where a dash says briefly what sentences call undefined.

    Examples
    --------
    >>> or_dash(0.0125), or_dash(float("nan"))
    ('1.3%', '-')
    """
    return "-" if math.isnan(value) else form(value)


def yes_or_no(value: object) -> str:
    """A decision as a word."""
    return "yes" if value else "no"


def text_table(
    rows: Sequence[Mapping[str, str]], left: Collection[str] = (), *, total: int | None = None, rest: str = ""
) -> str:
    """Rows as aligned text, numbers to the right; columns that are empty throughout are left out.

    Parameters
    ----------
    rows : sequence of mappings
        Text by column.
    left : collection of str
        Columns aligned to the left.
    total : int, optional
        How many rows there are, if not all are given.
    rest : str, optional
        Where to find the rows that are too many to show.

    Examples
    --------
    >>> print(text_table([{"group": "A", "n": "5"}, {"group": "B", "n": "10"}], left=("group",)))
    group   n
    A       5
    B      10
    """
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
        lines.append(f"... and {hidden:,} more" + (f"; {rest}." if rest else "."))
    return "\n".join(lines)


def _cell(text: str) -> str:
    shown = printable(text)
    return shown if len(shown) <= LONGEST_CELL else shown[: LONGEST_CELL - 3] + "..."


@contextmanager
def progress_bar(file: str) -> Iterator[Callable[[int], object] | None]:
    """Bar over the bytes of a file, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    size = os.path.getsize(file) if file != "-" and os.path.isfile(file) else None
    with tqdm(total=size, unit="B", unit_scale=True, desc="reading", leave=False, file=sys.stderr) as bar:
        yield bar.update
