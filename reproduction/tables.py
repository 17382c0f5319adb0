"""Tables of results in the layout of the paper, with its numbers beside ours: as text, Markdown, LaTeX and CSV.

As in the paper, accuracies are in brackets where somebody applies in only some of the splits, and a dash where nobody
ever does.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .data import DATASETS
from .methods import ALL_METHODS
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


def write_tables(results: pd.DataFrame, folder: Path) -> list[Path]:
    """Write all tables that results can fill (main, extended, splits, promises) in all formats; the files."""
    tables: dict[str, Callable[[str], str]] = {}
    own, later, promises = paper_part(results), compare_splits(split_part(results)), promise_part(results)
    if not own.empty:
        summary = summarise(own, descent_part(results))
        if is_of_main_table(summary).any():
            tables["main"] = lambda form: render_table(summary, form, main=True)
        tables["extended"] = lambda form: render_table(summary, form, main=False)
    if not later.empty:
        tables["splits"] = lambda form: render_splits(later, form)
    if not promises.empty:
        promised = summarise_promises(promises)
        tables["promises"] = lambda form: render_promises(promised, form)
    if not tables:
        raise ResultsError("There is no result that a table shows. `python -m reproduction run` makes results.")
    contents = {folder / f"{name}.{FORMATS[form]}": render(form) for name, render in tables.items() for form in FORMATS}
    for path, text in contents.items():
        write_whole(path, text.encode())
    return list(contents)


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
        return summary.to_csv(index=False, lineterminator="\n")
    again = "descent_splits" in summary.columns
    texts = []
    for layout in (RESULTS_LAYOUT, EXTRA_LAYOUT):
        cells = (
            (
                "" if main else f"{row.cost:g}",
                row.method,
                _title(row.dataset) + (f", c = {row.cost:g}" if main else ""),
                dict(zip(layout.columns, layout.cells(row), strict=True)),
            )
            for row in summary.itertuples()
        )
        title = f"{'Main' if main else 'Extended'} results: {layout.title}"
        texts.append(_render(title, layout.note_with_descents if again else layout.note, _lay_out(cells), form))
    return "\n\n".join(texts)


def render_promises(summary: pd.DataFrame, form: str) -> str:
    """Table of published and delivered precision, from :func:`~reproduction.summaries.summarise_promises`.

    CSV has one row per data set, method and cost; the others have a table per data set, with costs side by side.
    """
    if form == "csv":
        return summary.to_csv(index=False, lineterminator="\n", float_format="%.10g")
    texts = []
    for dataset, part in summary.groupby("dataset", sort=False):
        rows = (("", row.method, "", {f"c = {row.cost:g}": _promise_cell(row)}) for row in part.itertuples())
        note = "" if texts else PROMISES_NOTE
        texts.append(_render(f"Promised and delivered: {_title(str(dataset))}", note, _lay_out(rows), form))
    return "\n\n".join(texts)


def render_splits(table: pd.DataFrame, form: str) -> str:
    """Table of accuracies by block of splits, from :func:`~reproduction.summaries.compare_splits`."""
    if form == "csv":
        return table.to_csv(index=False, lineterminator="\n", float_format="%.10g")
    blocks = [block for block in BLOCKS if table[f"splits_{block.start}"].any()]
    rows = (
        (f"{row['cost']:g}", row["method"], _title(row["dataset"]), _split_cells(row, blocks))
        for row in table.to_dict("records")
    )
    return _render(SPLITS_TITLE, SPLITS_NOTE, _lay_out(rows), form)


def is_of_main_table(summary: pd.DataFrame) -> pd.Series:
    """Which rows of a summary the main table of the paper shows."""
    blocks = zip(summary["dataset"], summary["cost"], strict=True)
    return pd.Series([block in MAIN_BLOCKS for block in blocks], index=summary.index, dtype=bool)


def _title(dataset: str) -> str:
    return DATASETS.get(dataset, dataset)


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
    """Which numbers of a summary a table shows: ``cells`` gives the texts of its columns from a row."""

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

# ---------------------------------------------------------------------- cells of the other tables

PROMISES_NOTE = (
    "In each cell: induced accuracy (percent) · delivered precision (share of qualified people among selected test "
    "people of groups that apply; to be compared with the cost c) · promises broken, of those made (a promise: a group "
    "that applies in a split). A promise is broken if, at a precision of c, so few true positives among test people "
    "would come in less than 5% of samples. †: more than one promise in ten is broken, by a binomial test at .05. "
    "Accuracy in parentheses: in some splits nobody applies; a dash: nobody ever does."
)


def _promise_cell(row: Any) -> str:
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


def _split_cells(row: Mapping[Any, Any], blocks: list[range]) -> dict[str, str]:
    return {
        **{f"splits {block_name(block)}": _with_error(row, "accuracy", block) for block in blocks},
        **{f"difference, {block_name(block)}": _with_error(row, "difference", block, "+") for block in blocks[1:]},
        **{f"minus semi, {block_name(block)}": _with_error(row, "beside", block, "+") for block in blocks},
    }


def _with_error(row: Mapping[Any, Any], name: str, block: range, sign: str = "") -> str:
    mean, error = row[f"{name}_{block.start}"], row[f"{name}_se_{block.start}"]
    if name == "beside" and row["method"] == BASELINE:
        return ""
    if np.isnan(mean):
        return "-"
    text = f"{round(mean, 1) + 0.0:+.1f}" if sign else f"{mean:.1f}"  # + 0.0: not -0.0
    return text if np.isnan(error) else f"{text} ±{error:.1f}"


# ---------------------------------------------------------------------- formats


def _lay_out(cells: Iterable[tuple[str, str, str, dict[str, str]]]) -> pd.DataFrame:
    """Texts as a frame: rows by cost and method, columns by block (a data set) and column.

    Each item is a cost, a method, a block and its texts by column; cost and block are empty where there is only one.
    """
    rows: dict[tuple[str, str], dict[tuple[str, str], str]] = {}
    for cost, method, block, texts in cells:
        rows.setdefault((cost, method), {}).update({(block, column): text for column, text in texts.items()})
    places = {name: i for i, name in enumerate(ALL_METHODS)}
    ordered = sorted(rows, key=lambda key: (float(key[0] or 0), places[key[1]]))
    columns = list(dict.fromkeys(column for texts in rows.values() for column in texts))
    frame = pd.DataFrame([rows[key] for key in ordered], columns=pd.MultiIndex.from_tuples(columns)).fillna("")
    names = [(cost, ALL_METHODS[method].title) for cost, method in ordered]
    frame.index = pd.MultiIndex.from_tuples(names, names=["cost", "method"])
    if set(frame.index.get_level_values("cost")) == {""}:
        frame = frame.droplevel("cost")
    return frame.droplevel(0, axis=1) if set(frame.columns.get_level_values(0)) == {""} else frame


def _render(title: str, note: str, cells: pd.DataFrame, form: str) -> str:
    if form == "markdown":
        return f"**{title}.** {note}".rstrip() + "\n\n" + _as_markdown(cells)
    cells = cells.rename_axis(index=[None] * cells.index.nlevels)
    if form == "latex":
        latex = cells.to_latex(caption=f"{title}. {note}", escape=True, multicolumn_format="c")
        return "% needs the packages booktabs and multirow\n" + latex
    return f"{title}\n\n{cells.to_string()}\n\n" + "".join(f"{line}\n" for line in textwrap.wrap(note, 100))


def _as_markdown(cells: pd.DataFrame) -> str:
    heads, last = [], None
    for column in cells.columns:
        block, name = column if isinstance(column, tuple) else ("", column)
        heads.append(f"{block}: {name}" if block and block != last else name)
        last = block
    front = list(cells.index.names)
    lines = [[*front, *heads], ["---"] * len(front) + ["--:"] * len(heads)]
    previous = None
    for key, texts in zip(cells.index, cells.to_numpy().tolist(), strict=True):
        cost, method = key if isinstance(key, tuple) else (None, key)
        lines.append([*([] if cost is None else ["" if cost == previous else cost]), method, *texts])
        previous = cost
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
