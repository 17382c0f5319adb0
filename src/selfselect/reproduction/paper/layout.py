"""Where each number of a table stands, as text: in the layout of the paper, with its numbers first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ...auditing.promises import RARE
from ..methods import ALL_METHODS, METHODS, PROMISING
from ..people import BUNDLED
from ..wording import in_words, is_ones_own

#: What the main table of the paper shows: data sets and costs.
MAIN_BLOCKS = (("adult", 0.7), ("adult", 0.8), ("bank_30", 0.7), ("bank_30", 0.8))


# ---------------------------------------------------------------------- cells


def _number(value: float, digits: int, sign: bool = False) -> str:
    if np.isnan(value):
        return "-"
    text = f"{value:+.{digits}f}" if sign else f"{value:.{digits}f}"
    return f"{0:.{digits}f}" if float(text) == 0 else text  # neither -0.0 nor +0.0


def _accuracy(mean: float, error: float, everywhere: bool) -> str:
    if np.isnan(mean):
        return "-"
    if not everywhere:
        return f"({mean:.1f})"
    return f"{mean:.1f}" if np.isnan(error) else f"{mean:.1f} ±{error:.1f}"


def _bracketed(text: str, everywhere: bool) -> str:
    return text if everywhere or text == "-" else f"({text})"


#: Between the numbers of a cell.
BETWEEN = " · "
#: What stands in a cell of the paper that was not run again.
NOT_RERUN = "not re-run"


def _results_cells(row: Any) -> list[str]:
    """The paper's three columns, each with the numbers printed, re-run (if anything was) and ours."""
    columns = [_three_numbers(row, "", row.splits_with_applicants == row.splits)]
    if not pd.isna(row.paper_applicants_in):  # the paper has such a cell
        if hasattr(row, "descent_splits"):
            columns.insert(0, _descent_numbers(row))
        columns.insert(0, _three_numbers(row, "paper_", row.paper_applicants_in == "all splits"))
    accuracies, groups, ranks = (BETWEEN.join(cells) for cells in zip(*columns, strict=True))
    return [accuracies, f"{groups} of {row.n_groups}", ranks]


def _three_numbers(row: Any, whose: str, everywhere: bool) -> tuple[str, str, str]:
    """Accuracy, applying groups and rank r² of one run; brackets where nobody applied in some splits."""
    accuracy, error = getattr(row, f"{whose}accuracy"), getattr(row, f"{whose}accuracy_se")
    rank = "-" if np.isnan(accuracy) else _bracketed(_number(getattr(row, f"{whose}rank_r2"), 3), everywhere)
    return _accuracy(accuracy, error, everywhere), f"{getattr(row, f'{whose}applying_groups'):.1f}", rank


def _descent_numbers(row: Any) -> tuple[str, str, str]:
    if pd.isna(row.descent_splits):
        return NOT_RERUN, NOT_RERUN, NOT_RERUN
    accuracy, groups, rank = _three_numbers(row, "descent_", row.descent_splits_with_applicants == row.descent_splits)
    few = "" if row.descent_splits == row.splits else f" [splits: {row.descent_splits:.0f}]"
    return accuracy + few, groups, rank


def _extra_cells(row: Any) -> list[str]:
    """What the paper lacks: of its own method re-run, if it was, and of our learner."""
    ours = _social_cost_and_order(row, "")
    if not hasattr(row, "descent_splits") or pd.isna(row.paper_applicants_in):
        return ours
    again = [NOT_RERUN] * len(ours) if pd.isna(row.descent_splits) else _social_cost_and_order(row, "descent_")
    return [BETWEEN.join(cells) for cells in zip(again, ours, strict=True)]


def _social_cost_and_order(row: Any, whose: str) -> list[str]:
    names = "social_cost social_cost_se spearman kendall respected splits_with_order"
    cost, error, spearman, kendall, respected, ordered = (getattr(row, whose + name) for name in names.split())
    text = _number(cost, 1) + ("" if np.isnan(error) else f" ±{error:.1f}")
    order = f"{respected * ordered:.0f}/{ordered:.0f}" if ordered else "-"
    return [text, _number(spearman, 2), _number(kendall, 2), order]


@dataclass(frozen=True)
class Layout:
    """Which numbers a table shows.

    Attributes
    ----------
    title : str
        Its heading.
    columns : tuple of str
        Names of the columns of each block.
    cells : callable
        Text of these columns, from a row of the summary.
    note : str
        How to read it.
    """

    title: str
    columns: tuple[str, ...]
    cells: Callable[[Any], list[str]]
    note: str


#: The paper's columns.
RESULTS = Layout(
    "induced accuracy, applying groups and rank agreement",
    ("ind. acc.", "apply", "rank r²"),
    _results_cells,
    "Induced accuracy in percent on test data with its standard error over splits; number of applying groups; squared "
    "correlation of base rates with ranks of precisions on training data.{whose} Round brackets: nobody applied in "
    "some splits, which are left out; a dash: nobody applied in any.",
)
#: What the numbers of a cell are: without results of the paper's own training, and with them.
WHOSE = (
    "In each cell: printed in the paper · our learner. A cell of one number is not in the paper.",
    "In each cell: printed in the paper · the paper's own method (the descent of its released code), re-run by us · "
    "our learner; standard errors are over splits, of which there are ten. A cell of one number is not in the paper.",
)
#: The columns that it lacks.
EXTRA = Layout(
    "social cost and order",
    ("social cost", "Spearman", "Kendall", "order"),
    _extra_cells,
    "Social cost: percent of qualified people whose group does not apply, on test data, with its standard error. "
    "Spearman and Kendall: rank correlations of base rates and precisions on training data. Order: in how many splits "
    "a higher base rate never came with a lower precision, of those in which at least two groups had anyone "
    "selected.{extra}",
)
#: Said of these columns beside the paper's.
NOT_IN_PAPER = "The paper prints none of these."
#: What the numbers of a cell are that the paper lacks, with results of its own training.
WHOSE_EXTRA = ("", " In each cell: the paper's own method, re-run by us · our learner.")


# ---------------------------------------------------------------------- whole tables

#: A name and the text of all cells.
GridRow = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Grid:
    """A table as text: blocks of columns side by side, rows in sections.

    Attributes
    ----------
    title, note : str
        Heading, and how to read it.
    blocks : tuple of str
        Headings of the blocks.
    columns : tuple of str
        Columns of each block.
    sections : tuple of (str, tuple of GridRow)
        Each a heading and rows.
    """

    title: str
    note: str
    blocks: tuple[str, ...]
    columns: tuple[str, ...]
    sections: tuple[tuple[str, tuple[GridRow, ...]], ...]


def is_of_main_table(summary: pd.DataFrame) -> pd.Series:
    """Which rows of a summary the main table of the paper shows."""
    blocks = zip(summary["dataset"], summary["cost"], strict=True)
    return pd.Series([block in MAIN_BLOCKS for block in blocks], index=summary.index, dtype=bool)


def make_grid(summary: pd.DataFrame, layout: Layout, *, main: bool) -> Grid:
    """Lay a summary out: methods below each other, data sets (and in the main table, costs) side by side."""
    blocks: Sequence[tuple[str, float | None]]
    if main:
        blocks = [block for block in MAIN_BLOCKS if (summary["dataset"] == block[0]).any()]
        headings = [f"{_title(dataset)}, c = {cost:g}" for dataset, cost in blocks]
        sections = [("", _grid_rows(summary, layout, blocks, None))]
    else:
        blocks = [(dataset, None) for dataset in dict.fromkeys(summary["dataset"])]
        headings = [_title(dataset) for dataset, _ in blocks]
        costs = sorted(set(summary["cost"]))
        sections = [(f"c = {cost:g}", _grid_rows(summary, layout, blocks, cost)) for cost in costs]
    name = "Main results" if main else "Extended results"
    again = "descent_splits" in summary.columns
    own = is_ones_own(summary["dataset"])
    whose, extra = ("", "") if own else (f" {WHOSE[again]}", f" {NOT_IN_PAPER}{WHOSE_EXTRA[again]}")
    note = layout.note.replace("{whose}", whose).replace("{extra}", extra)
    return Grid(
        layout.title.capitalize() if own else f"{name}: {layout.title}",
        note,
        tuple(headings),
        layout.columns,
        tuple(sections),
    )


def _title(dataset: str) -> str:
    return BUNDLED.get(dataset, dataset)


def _grid_rows(
    summary: pd.DataFrame, layout: Layout, blocks: Sequence[tuple[str, float | None]], section_cost: float | None
) -> tuple[GridRow, ...]:
    """One row per method; a block without a cost of its own shows that of the section."""
    rows = {(row.dataset, row.cost, row.method): row for row in summary.itertuples()}
    lines = []
    for method in (name for name in METHODS if name in set(summary["method"])):
        cells: list[str] = []
        for dataset, cost in blocks:
            row = rows.get((dataset, section_cost if cost is None else cost, method))
            cells.extend([""] * len(layout.columns) if row is None else layout.cells(row))
        if any(cells):
            name = in_words(method) if is_ones_own(summary["dataset"]) else METHODS[method].title
            lines.append((name, tuple(cells)))
    return tuple(lines)


# ---------------------------------------------------------------------- promises

#: How to read a table of promises.
PROMISES_NOTE = (
    "In each cell: induced accuracy (percent) · delivered precision (of the test people who pass in groups "
    "that apply, the share that is qualified; to be compared with the cost c) · promises broken, of those "
    "made (a group that applies in a split). A promise is broken where, at a precision of c, so few hits among test "
    "people would come in less than 5% of samples. †: more than one promise in ten is broken, by a binomial "
    "test at .05. Accuracy in parentheses: in some splits nobody applies; a dash: in none does anybody."
)


def promise_grids(summary: pd.DataFrame) -> list[Grid]:
    """Lay out what was promised and delivered: a grid per data set, methods below each other, costs side by side."""
    grids: list[Grid] = []
    own = is_ones_own(summary["dataset"])
    for dataset, part in summary.groupby("dataset", sort=False):
        rows = {(row.method, row.cost): row for row in part.itertuples()}
        costs = sorted(set(part["cost"]))
        lines = tuple(
            (
                in_words(name) if own else ALL_METHODS[name].title,
                tuple(_promise_cell(rows.get((name, cost))) for cost in costs),
            )
            for name in PROMISING
            if name in set(part["method"])
        )
        columns = tuple(f"c = {cost:g}" for cost in costs)
        title = f"Promised and delivered: {_title(str(dataset))}"
        grids.append(Grid(title, PROMISES_NOTE if not grids else "", ("",), columns, (("", lines),)))
    return grids


def _promise_cell(row: Any) -> str:
    if row is None:
        return ""
    if not row.promises:
        return "-"
    accuracy = _accuracy(row.accuracy, np.nan, row.nobody == 0)
    delivered = "-" if np.isnan(row.delivered) else f"{row.delivered:.2f}"
    mark = "†" if row.p_value < RARE else ""
    return f"{accuracy} · {delivered} · {row.broken}/{row.promises}{mark}"
