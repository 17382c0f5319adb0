"""Tables of results in the layout of the paper, with its numbers beside ours: as text, Markdown, LaTeX and CSV.

As in the paper, accuracies are in brackets where somebody applies in only some of the splits, and a dash where nobody
ever does.
"""

from __future__ import annotations

import csv
import io
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .data import DATASETS
from .methods import ALL_METHODS, PAPER_METHODS
from .results import RARE, ResultsError, write_whole
from .summaries import (
    BASELINE,
    BLOCKS,
    compare_splits,
    descent_part,
    paper_part,
    promise_part,
    split_part,
    summarise,
    summarise_promises,
)

#: Formats of a table and the endings of their files.
FORMATS = {"text": "txt", "markdown": "md", "csv": "csv", "latex": "tex"}
#: Data sets and costs of the paper's main table.
MAIN_BLOCKS = (("adult", 0.7), ("adult", 0.8), ("bank_30", 0.7), ("bank_30", 0.8))
#: Between the numbers of a cell.
BETWEEN = " · "
NOT_RERUN = "not re-run"

#: Renders a table in one of :data:`FORMATS`.
Render = Callable[[str], str]


def make_tables(results: pd.DataFrame) -> dict[str, Render]:
    """All tables that results can fill, by name: main, extended, splits and promises."""
    tables: dict[str, Render] = {}
    own, later, promises = paper_part(results), compare_splits(split_part(results)), promise_part(results)
    if not own.empty:
        summary = summarise(own, descent_part(results))
        if is_of_main_table(summary).any():
            tables["main"] = lambda form: render_table(summary, form, main=True)
        tables["extended"] = lambda form: render_table(summary, form, main=False)
    if not later.empty:
        tables["splits"] = lambda form: render_splits(later, form)
    if not promises.empty:
        tables["promises"] = lambda form: render_promises(summarise_promises(promises), form)
    if not tables:
        raise ResultsError("There is no result that a table shows. `python -m reproduction run` makes results.")
    return tables


def write_tables(results: pd.DataFrame, folder: Path) -> list[Path]:
    """Write all tables in all formats; the files."""
    paths = []
    for name, render in make_tables(results).items():
        for form, ending in FORMATS.items():
            path = folder / f"{name}.{ending}"
            write_whole(path, render(form).encode())
            paths.append(path)
    return paths


def render_table(summary: pd.DataFrame, form: str, *, main: bool) -> str:
    """Table of results: the paper's columns, and those that it lacks.

    Parameters
    ----------
    summary : DataFrame
        From :func:`~reproduction.summaries.summarise`.
    form : {"text", "markdown", "csv", "latex"}
        CSV has one row per data set, cost and method, with all numbers unrounded; the others have the paper's layout:
        methods below each other, data sets side by side.
    main : bool
        The paper's main table (two costs, two data sets), or its extended one (everything).
    """
    if main:
        summary = summary[is_of_main_table(summary)]
    if form == "csv":
        return _csv(summary)
    layouts = (RESULTS_LAYOUT, EXTRA_LAYOUT)
    return "\n\n".join(_RENDERERS[form](_lay_out(summary, layout, main=main)) for layout in layouts)


def render_promises(summary: pd.DataFrame, form: str) -> str:
    """Table of published and delivered precision, from :func:`~reproduction.summaries.summarise_promises`.

    CSV has one row per data set, method and cost; the others have a table per data set, with costs side by side.
    """
    if form == "csv":
        return _csv(summary, digits=10)
    return "\n\n".join(_RENDERERS[form](grid) for grid in _promise_grids(summary))


def render_splits(table: pd.DataFrame, form: str) -> str:
    """Table of accuracies by block of splits, from :func:`~reproduction.summaries.compare_splits`."""
    return _csv(table, digits=10) if form == "csv" else _RENDERERS[form](_split_grid(table))


def is_of_main_table(summary: pd.DataFrame) -> pd.Series:
    """Which rows of a summary the main table of the paper shows."""
    blocks = zip(summary["dataset"], summary["cost"], strict=True)
    return pd.Series([block in MAIN_BLOCKS for block in blocks], index=summary.index, dtype=bool)


# ---------------------------------------------------------------------- cells of the paper's tables


def _number(value: float, digits: int) -> str:
    if np.isnan(value):
        return "-"
    text = f"{value:.{digits}f}"
    return f"{0:.{digits}f}" if float(text) == 0 else text  # not -0.0


def _accuracy(mean: float, error: float, in_all_splits: bool) -> str:
    if np.isnan(mean):
        return "-"
    if not in_all_splits:
        return f"({mean:.1f})"
    return f"{mean:.1f}" if np.isnan(error) else f"{mean:.1f} ±{error:.1f}"


def _accuracy_groups_rank(row: Any, prefix: str, in_all_splits: bool) -> tuple[str, str, str]:
    accuracy, error = getattr(row, f"{prefix}accuracy"), getattr(row, f"{prefix}accuracy_se")
    rank = "-" if np.isnan(accuracy) else _number(getattr(row, f"{prefix}rank_r2"), 3)
    if not in_all_splits and rank != "-":
        rank = f"({rank})"
    return _accuracy(accuracy, error, in_all_splits), f"{getattr(row, f'{prefix}applying_groups'):.1f}", rank


def _descent_cells(row: Any) -> tuple[str, str, str]:
    if pd.isna(row.descent_splits):
        return NOT_RERUN, NOT_RERUN, NOT_RERUN
    in_all_splits = row.descent_splits_with_applicants == row.descent_splits
    accuracy, groups, rank = _accuracy_groups_rank(row, "descent_", in_all_splits)
    few = "" if row.descent_splits == row.splits else f" [splits: {row.descent_splits:.0f}]"
    return accuracy + few, groups, rank


def _results_cells(row: Any) -> list[str]:
    """The paper's three columns, each with the numbers printed, re-run (if anything was) and ours."""
    columns = [_accuracy_groups_rank(row, "", row.splits_with_applicants == row.splits)]
    if not pd.isna(row.paper_applicants_in):  # the paper has such a cell
        if hasattr(row, "descent_splits"):
            columns.insert(0, _descent_cells(row))
        columns.insert(0, _accuracy_groups_rank(row, "paper_", row.paper_applicants_in == "all splits"))
    accuracies, groups, ranks = (BETWEEN.join(cells) for cells in zip(*columns, strict=True))
    return [accuracies, f"{groups} of {row.n_groups}", ranks]


def _extra_cells(row: Any) -> list[str]:
    """Columns that the paper lacks, of its own method re-run (if it was) and of ours."""
    ours = _social_cost_and_order(row, "")
    if not hasattr(row, "descent_splits") or pd.isna(row.paper_applicants_in):
        return ours
    again = [NOT_RERUN] * len(ours) if pd.isna(row.descent_splits) else _social_cost_and_order(row, "descent_")
    return [BETWEEN.join(cells) for cells in zip(again, ours, strict=True)]


def _social_cost_and_order(row: Any, prefix: str) -> list[str]:
    names = ("social_cost", "social_cost_se", "spearman", "kendall", "respected", "splits_with_order")
    cost, error, spearman, kendall, respected, with_order = (getattr(row, prefix + name) for name in names)
    text = _number(cost, 1) + ("" if np.isnan(error) else f" ±{error:.1f}")
    order = f"{respected * with_order:.0f}/{with_order:.0f}" if with_order else "-"
    return [text, _number(spearman, 2), _number(kendall, 2), order]


@dataclass(frozen=True)
class _Layout:
    """Which numbers of a summary a table shows: ``cells`` gives the texts of ``columns`` from a row."""

    title: str
    columns: tuple[str, ...]
    cells: Callable[[Any], list[str]]
    note: str
    note_with_descents: str


_WHAT = (
    "Induced accuracy in percent on test data with its standard error over splits; number of applying groups; squared "
    "correlation of base rates with ranks of precisions on training data. In each cell: printed in the paper · {whose}."
    " A cell of one number is not in the paper. Round brackets: nobody applied in some splits, which are left out; a "
    "dash: nobody applied in any."
)
_EXTRA_WHAT = (
    "Social cost: percent of qualified people whose group does not apply, on test data, with its standard error. "
    "Spearman and Kendall: rank correlations of base rates and precisions on training data. Order: in how many splits "
    "a higher base rate never came with a lower precision, of those in which at least two groups had anyone "
    "selected. The paper prints none of these."
)
RESULTS_LAYOUT = _Layout(
    "induced accuracy, applying groups and rank agreement",
    ("ind. acc.", "apply", "rank r²"),
    _results_cells,
    _WHAT.format(whose="our learner"),
    _WHAT.format(
        whose="the paper's own method (the descent of its released code), re-run by us · our learner; standard errors "
        "are over splits, of which there are ten"
    ),
)
EXTRA_LAYOUT = _Layout(
    "social cost and order",
    ("social cost", "Spearman", "Kendall", "order"),
    _extra_cells,
    _EXTRA_WHAT,
    _EXTRA_WHAT + " In each cell: the paper's own method, re-run by us · our learner.",
)

# ---------------------------------------------------------------------- whole tables

#: A name and the texts of its cells.
_Row = tuple[str, list[str]]


@dataclass(frozen=True)
class _Grid:
    """A table as text: blocks of the same columns side by side, rows in sections (heading and rows)."""

    title: str
    note: str
    blocks: list[str]
    columns: Sequence[str]
    sections: list[tuple[str, list[_Row]]]


def _lay_out(summary: pd.DataFrame, layout: _Layout, *, main: bool) -> _Grid:
    """Methods below each other, data sets (and in the main table, costs) side by side."""
    datasets = list(dict.fromkeys(summary["dataset"]))
    rows = {(row.dataset, row.cost, row.method): row for row in summary.itertuples()}
    if main:
        blocks = [block for block in MAIN_BLOCKS if block[0] in datasets]
        headings = [f"{_title(dataset)}, c = {cost:g}" for dataset, cost in blocks]
        sections = [("", _grid_rows(rows, blocks, layout))]
    else:
        headings = [_title(dataset) for dataset in datasets]
        sections = [
            (f"c = {cost:g}", _grid_rows(rows, [(dataset, cost) for dataset in datasets], layout))
            for cost in sorted(set(summary["cost"]))
        ]
    note = layout.note_with_descents if "descent_splits" in summary.columns else layout.note
    name = "Main results" if main else "Extended results"
    return _Grid(f"{name}: {layout.title}", note, headings, layout.columns, sections)


def _grid_rows(rows: Mapping[Any, Any], blocks: Iterable[tuple[str, float]], layout: _Layout) -> list[_Row]:
    lines = []
    for method in PAPER_METHODS:
        found = [rows.get((dataset, cost, method)) for dataset, cost in blocks]
        if any(row is not None for row in found):
            empty = [""] * len(layout.columns)
            lines.append((method, [text for row in found for text in (empty if row is None else layout.cells(row))]))
    return lines


def _title(dataset: str) -> str:
    return DATASETS.get(dataset, dataset)


PROMISES_NOTE = (
    "In each cell: induced accuracy (percent) · delivered precision (share of qualified people among selected test "
    "people of groups that apply; to be compared with the cost c) · promises broken, of those made (a promise: a group "
    "that applies in a split). A promise is broken if, at a precision of c, so few true positives among test people "
    "would come in less than 5% of samples. †: more than one promise in ten is broken, by a binomial test at .05. "
    "Accuracy in parentheses: in some splits nobody applies; a dash: nobody ever does."
)


def _promise_grids(summary: pd.DataFrame) -> list[_Grid]:
    """A grid per data set, methods below each other, costs side by side."""
    grids: list[_Grid] = []
    for dataset, part in summary.groupby("dataset", sort=False):
        rows = {(row.method, row.cost): row for row in part.itertuples()}
        costs = sorted(set(part["cost"]))
        lines = [
            (ALL_METHODS[name].title, [_promise_cell(rows.get((name, cost))) for cost in costs])
            for name in dict.fromkeys(part["method"])
        ]
        title, note = f"Promised and delivered: {_title(str(dataset))}", "" if grids else PROMISES_NOTE
        grids.append(_Grid(title, note, [""], [f"c = {cost:g}" for cost in costs], [("", lines)]))
    return grids


def _promise_cell(row: Any) -> str:
    if row is None:
        return ""
    if not row.promises:
        return "-"
    accuracy = _accuracy(row.accuracy, np.nan, row.nobody == 0)
    delivered = "-" if np.isnan(row.delivered) else f"{row.delivered:.2f}"
    mark = "†" if row.p_value < RARE else ""
    return BETWEEN.join([accuracy, delivered, f"{row.broken}/{row.promises}{mark}"])


SPLITS_TITLE = "Splits that constants were not chosen on"
SPLITS_NOTE = (
    "Induced accuracy in percent with its standard error, by block of splits; the difference of a later block to the "
    "first, with the standard errors of both; and in each block the paired difference to semi on the same splits. "
    "Constants were chosen on the first block. A dash: nobody applies, there is one split only, or it was not run."
)


def block_name(block: range) -> str:
    """Name of a block of splits.

    Examples
    --------
    >>> block_name(range(10, 30))
    '10 to 29'
    """
    return f"{block.start} to {block.stop - 1}"


def _split_grid(table: pd.DataFrame) -> _Grid:
    """Data sets side by side, methods below each other, costs in sections."""
    blocks = [block for block in BLOCKS if table[f"splits_{block.start}"].any()]
    columns = [f"splits {block_name(block)}" for block in blocks]
    columns += [f"difference, {block_name(block)}" for block in blocks[1:]]
    columns += [f"minus semi, {block_name(block)}" for block in blocks]
    datasets = list(dict.fromkeys(table["dataset"]))
    rows = {(row["dataset"], row["cost"], row["method"]): row for row in table.to_dict("records")}
    sections = []
    for cost in sorted(set(table["cost"])):
        lines: list[_Row] = []
        for method in ALL_METHODS:
            found = [rows.get((dataset, cost, method)) for dataset in datasets]
            if any(row is not None for row in found):
                cells = [cell for row in found for cell in _split_cells(row, blocks, len(columns))]
                lines.append((ALL_METHODS[method].title, cells))
        sections.append((f"c = {cost:g}", lines))
    return _Grid(SPLITS_TITLE, SPLITS_NOTE, [_title(dataset) for dataset in datasets], columns, sections)


def _split_cells(row: dict[Any, Any] | None, blocks: Sequence[range], n_columns: int) -> list[str]:
    if row is None:
        return [""] * n_columns
    accuracies = [_with_error(row, "accuracy", block, sign="") for block in blocks]
    differences = [_with_error(row, "difference", block) for block in blocks[1:]]
    return accuracies + differences + [_with_error(row, "beside", block) for block in blocks]


def _with_error(row: dict[Any, Any], name: str, block: range, sign: str = "+") -> str:
    mean, error = row[f"{name}_{block.start}"], row[f"{name}_se_{block.start}"]
    if name == "beside" and row["method"] == BASELINE:
        return ""
    if np.isnan(mean):
        return "-"
    text = f"{round(mean, 1) + 0.0:{sign}.1f}" if sign else f"{mean:.1f}"  # + 0.0: not -0.0
    return text if np.isnan(error) else f"{text} ±{error:.1f}"


# ---------------------------------------------------------------------- formats


def _csv(frame: pd.DataFrame, digits: int | None = None) -> str:
    """Frame as CSV without its index, undefined numbers empty; ``digits`` are significant ones, by default all."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(frame.columns)
    for row in frame.itertuples(index=False):
        cells = ["" if value != value else value for value in row]
        if digits is not None:
            cells = [f"{value:.{digits}g}" if isinstance(value, float) else value for value in cells]
        writer.writerow(cells)
    return out.getvalue()


def _as_markdown(grid: _Grid) -> str:
    by_cost = len(grid.sections) > 1
    heads = [
        f"{block}: {column}" if i == 0 and block else column
        for block in grid.blocks
        for i, column in enumerate(grid.columns)
    ]
    first = ["cost", "method"] if by_cost else ["method"]
    lines = [f"**{grid.title}.** {grid.note}".rstrip(), ""]
    lines.append("| " + " | ".join([*first, *heads]) + " |")
    lines.append("|" + "---|" * len(first) + "--:|" * len(heads))
    for heading, rows in grid.sections:
        for i, (name, cells) in enumerate(rows):
            front = [heading.removeprefix("c = ") if i == 0 else "", name] if by_cost else [name]
            lines.append("| " + " | ".join([*front, *cells]) + " |")
    return "\n".join(lines) + "\n"


def _as_text(grid: _Grid) -> str:
    all_rows = [row for _, rows in grid.sections for row in rows]
    left = max(len(text) for text in [*(name for name, _ in all_rows), *(heading for heading, _ in grid.sections)])
    heads = list(grid.columns) * len(grid.blocks)
    widths = [max([len(head), *(len(cells[i]) for _, cells in all_rows)]) for i, head in enumerate(heads)]
    size = len(grid.columns)
    top = " " * left
    for b, block in enumerate(grid.blocks):
        part = slice(b * size, (b + 1) * size)
        widths[part.stop - 1] += max(0, len(block) - sum(widths[part]) - 2 * (size - 1))
        top += "   " + block.ljust(sum(widths[part]) + 2 * (size - 1))

    def line(name: str, cells: Sequence[str]) -> str:
        text = name.ljust(left)
        for i, cell in enumerate(cells):
            text += ("   " if i % size == 0 else "  ") + cell.rjust(widths[i])
        return text.rstrip()

    lines = [grid.title, "", top.rstrip(), line("", heads)]
    for heading, rows in grid.sections:
        lines += [heading] if heading else []
        lines += [line(name, cells) for name, cells in rows]
    return "\n".join([*lines, "", *textwrap.wrap(grid.note, 100)]) + "\n"


_LATEX = str.maketrans({"%": r"\%", "_": r"\_", "&": r"\&", "±": r"$\pm$", "²": "$^2$", "·": r"$\cdot$"})


def _tex(text: str) -> str:
    return re.sub(r"^\[", "{}[", text.translate(_LATEX)).replace("c = ", "$c=$")


def _as_latex(grid: _Grid) -> str:
    size, by_cost = len(grid.columns), len(grid.sections) > 1
    front = 2 if by_cost else 1
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
            lines.append((first if by_cost else "") + " & ".join(map(_tex, [name, *cells])) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table*}"]) + "\n"


_RENDERERS: dict[str, Callable[[_Grid], str]] = {"text": _as_text, "markdown": _as_markdown, "latex": _as_latex}
