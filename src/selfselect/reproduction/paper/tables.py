"""Tables of results in the layout of the paper, with its numbers beside ours: as text, Markdown, LaTeX and CSV.

Conventions, as in the paper: accuracies in brackets where somebody applies in only some of the splits, a dash where it
is none.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import Literal

import pandas as pd

from ..._errors import InputError
from ..._text import latex_text, markdown_text, printable
from ...tabular.write import csv_text
from .layout import EXTRA, RESULTS, Grid, is_of_main_table, make_grid, promise_grids
from .splits import split_grid

Format = Literal["text", "markdown", "csv", "latex"]
#: Formats of a table and the endings of their files.
ENDINGS: dict[Format, str] = {"text": "txt", "markdown": "md", "csv": "csv", "latex": "tex"}
#: Widest line of the note below a table of text.
NOTE_WIDTH = 100


def tables_in(summary: pd.DataFrame) -> list[str]:
    """Names of the tables that a summary can fill: a data set of one's own has no main table."""
    return ["main", "extended"] if is_of_main_table(summary).any() else ["extended"]


def render_table(summary: pd.DataFrame, format: Format, *, main: bool) -> str:
    """Table of results as text.

    Parameters
    ----------
    summary : DataFrame
        From :func:`summarise`.
    format : {"text", "markdown", "csv", "latex"}
        CSV has one row per data set, cost and method, with all numbers unrounded; the others are in the paper's layout:
        methods below each other, data sets side by side.
    main : bool
        The paper's main table (two costs, two data sets), or its extended one (everything).

    Returns
    -------
    str
        Two tables: the paper's columns, and the ones it lacks.
    """
    if main:
        summary = summary[is_of_main_table(summary)]
        if summary.empty:
            raise InputError("The store has no result of the main table (adult and bank_30 at costs .7 and .8).")
    if format == "csv":
        return csv_text(summary)
    grids = [make_grid(summary, layout, main=main) for layout in (RESULTS, EXTRA)]
    return "\n\n".join(_RENDERERS[format](grid) for grid in grids)


def render_promises(summary: pd.DataFrame, format: Format) -> str:
    """Table of what was promised and delivered.

    Parameters
    ----------
    summary : DataFrame
        From :func:`~.promises.summarise_promises`.
    format : {"text", "markdown", "csv", "latex"}
        CSV has one row per data set, method and cost, with all numbers; the others a table per data set, with methods
        below each other and costs side by side.
    """
    if format == "csv":
        return csv_text(summary, digits=10)
    return "\n\n".join(_RENDERERS[format](grid) for grid in promise_grids(summary))


def render_splits(table: pd.DataFrame, format: Format) -> str:
    """Table of the splits that constants were chosen on, and of later ones beside them.

    Parameters
    ----------
    table : DataFrame
        From :func:`~.splits.compare_splits`.
    format : {"text", "markdown", "csv", "latex"}
        CSV has one row per data set, cost and method.
    """
    if table.empty:
        raise InputError("There is no result of splits from 10 on.", key="no_splits")
    if format == "csv":
        return csv_text(table, digits=10)
    return _RENDERERS[format](split_grid(table))


def _as_markdown(grid: Grid) -> str:
    wide = len(grid.sections) > 1
    heads = [
        f"{block}: {column}" if i == 0 and block else column
        for block in map(markdown_text, grid.blocks)
        for i, column in enumerate(grid.columns)
    ]
    lines = [f"**{markdown_text(grid.title)}.** {grid.note}".rstrip(), ""]
    first = ["cost", "method"] if wide else ["method"]
    lines.append("| " + " | ".join([*first, *heads]) + " |")
    lines.append("|" + "---|" * len(first) + "--:|" * len(heads))
    for heading, rows in grid.sections:
        for i, (name, cells) in enumerate(rows):
            front = [heading.removeprefix("c = ") if i == 0 else "", name] if wide else [name]
            lines.append("| " + " | ".join([*front, *cells]) + " |")
    return "\n".join(lines) + "\n"


def _as_text(grid: Grid) -> str:
    names = [name for _, rows in grid.sections for name, _ in rows]
    left = max(map(len, [*names, *(heading for heading, _ in grid.sections)]))
    all_cells = [cells for _, rows in grid.sections for _, cells in rows]
    heads = list(grid.columns) * len(grid.blocks)
    widths = [max([len(head), *(len(cells[i]) for cells in all_cells)]) for i, head in enumerate(heads)]
    size = len(grid.columns)
    top = " " * left
    for b, block in enumerate(map(printable, grid.blocks)):
        part = widths[b * size : (b + 1) * size]
        widths[(b + 1) * size - 1] += max(0, len(block) - sum(part) - 2 * (size - 1))
        top += "   " + block.ljust(sum(widths[b * size : (b + 1) * size]) + 2 * (size - 1))

    def line(name: str, cells: Sequence[str]) -> str:
        text = name.ljust(left)
        for i, cell in enumerate(cells):
            text += ("   " if i % size == 0 else "  ") + cell.rjust(widths[i])
        return text.rstrip()

    lines = [printable(grid.title), "", top.rstrip(), line("", heads)]
    for heading, rows in grid.sections:
        if heading:
            lines.append(heading)
        lines.extend(line(name, cells) for name, cells in rows)
    lines += ["", *textwrap.wrap(grid.note, NOTE_WIDTH)]
    return "\n".join(lines) + "\n"


def _tex(text: str) -> str:
    return latex_text(text).replace("c = ", "$c=$")


def _as_latex(grid: Grid) -> str:
    size, wide = len(grid.columns), len(grid.sections) > 1
    front = 2 if wide else 1
    lines = [
        r"% needs the packages booktabs and multirow",
        r"\begin{table*}",
        rf"\caption{{{_tex(grid.title)}. {_tex(grid.note)}}}",
        r"\centering\tiny",
        rf"\begin{{tabular}}{{{'l' * front}{('r' * size) * len(grid.blocks)}}}",
        r"\toprule",
        " & " * (front - 1)
        + "".join(rf" & \multicolumn{{{size}}}{{c}}{{\textbf{{{_tex(block)}}}}}" for block in grid.blocks)
        + r" \\",
        "".join(rf"\cmidrule(lr){{{front + 1 + b * size}-{front + (b + 1) * size}}}" for b in range(len(grid.blocks))),
        " & " * (front - 1) + "".join(f" & {_tex(column)}" for _ in grid.blocks for column in grid.columns) + r" \\",
    ]
    for heading, rows in grid.sections:
        lines.append(r"\midrule")
        for i, (name, cells) in enumerate(rows):
            first = rf"\multirow{{{len(rows)}}}{{*}}{{{_tex(heading)}}} & " if i == 0 else " & "
            lines.append((first if wide else "") + " & ".join(map(_tex, [name, *cells])) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table*}"]
    return "\n".join(lines) + "\n"


_RENDERERS: dict[Format, Callable[[Grid], str]] = {"text": _as_text, "markdown": _as_markdown, "latex": _as_latex}
