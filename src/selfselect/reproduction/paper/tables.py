"""Tables of results in the layout of the paper, with its numbers beside ours.

Conventions, as in the paper: accuracies in percent, averaged over the splits in which somebody applies; in brackets
where that is only some of the splits, a dash where it is none. Standard errors use ``ddof=1``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

import numpy as np
import pandas as pd

from ..methods import METHODS
from ..people import BUNDLED
from ..sweep.store import Result

Format = Literal["text", "markdown", "csv", "latex"]
#: Formats of a table and the endings of their files.
ENDINGS: dict[Format, str] = {"text": "txt", "markdown": "md", "csv": "csv", "latex": "tex"}
#: What the main table of the paper shows.
MAIN_BLOCKS = (("adult", 0.7), ("adult", 0.8), ("bank_30", 0.7), ("bank_30", 0.8))


def paper_results() -> pd.DataFrame:
    """Results as the paper prints them (its extended table), indexed by data set, method and cost.

    Returns
    -------
    DataFrame
        paper_accuracy and paper_accuracy_se in percent, paper_applying_groups, paper_rank_r2, paper_applicants_in ("all
        splits", "some splits" or "no split").

    Examples
    --------
    >>> float(paper_results().loc[("adult", "strat_x", 0.7), "paper_accuracy"])
    91.1
    """
    with resources.as_file(resources.files(__package__) / "paper_results.csv") as path:
        frame = pd.read_csv(path, comment="#")
    return frame.set_index(["dataset", "method", "cost"]).add_prefix("paper_")


def results_frame(results: Iterable[Result]) -> pd.DataFrame:
    """One row per fit: the cell, test metrics, the order of precisions on training data, and seconds."""
    rows = []
    for result in results:
        cell = result.cell
        numbers = {name: np.nan if value is None else value for name, value in result.test_metrics.items()}
        order = {
            name: np.nan if result.train_metrics[name] is None else result.train_metrics[name]
            for name in ("rank_r2", "spearman", "kendall", "respected")
        }
        rows.append(
            {
                "dataset": cell.dataset,
                "method": cell.method,
                "cost": cell.cost,
                "split": cell.split,
                "n_groups": len(result.groups),
                **numbers,
                **order,
                "selection_rate": sum(result.test_counts["selected"]) / sum(result.test_counts["n"]),
                "seconds": result.seconds,
            }
        )
    return pd.DataFrame(rows)


def _standard_error(values: pd.Series) -> float:
    return float(values.std(ddof=1) / np.sqrt(values.count())) if values.count() > 1 else np.nan


def summarise(results: Iterable[Result]) -> pd.DataFrame:
    """Averages over splits, with the paper's numbers beside them; one row per data set, cost and method.

    Returns
    -------
    DataFrame
        dataset, cost, method; splits and splits_with_applicants; accuracy, accuracy_se (percent, over splits with
        applicants; NaN if there are none); applying_groups, n_groups; rank_r2, spearman, kendall (over splits where
        they are defined); respected (share of splits whose precisions respect the order of base rates, of
        splits_with_order in which at least two groups have one); social_cost, social_cost_se, application_rate,
        assumed_accuracy, selection_rate (of everybody, percent); seconds; the columns of :func:`paper_results`;
        difference (ours minus the paper's accuracy).
    """
    frame = results_frame(results)
    if frame.empty:
        raise ValueError("The store is empty: there is nothing to put into a table. Run selfselect reproduce first.")
    rows = []
    for (dataset, cost, method), part in frame.groupby(["dataset", "cost", "method"], sort=False):
        accuracy = 100 * part["induced_accuracy"]
        rows.append(
            {
                "dataset": dataset,
                "cost": cost,
                "method": method,
                "splits": len(part),
                "splits_with_applicants": int(accuracy.count()),
                "accuracy": accuracy.mean(),
                "accuracy_se": _standard_error(accuracy.dropna()),
                "applying_groups": part["applying_groups"].mean(),
                "n_groups": int(part["n_groups"].iloc[0]),
                "rank_r2": part["rank_r2"].mean(),
                "spearman": part["spearman"].mean(),
                "kendall": part["kendall"].mean(),
                "respected": part["respected"].mean(),
                "splits_with_order": int(part["respected"].count()),
                "social_cost": 100 * part["social_cost"].mean(),
                "social_cost_se": _standard_error(100 * part["social_cost"]),
                "application_rate": 100 * part["application_rate"].mean(),
                "assumed_accuracy": 100 * part["assumed_accuracy"].mean(),
                "selection_rate": 100 * part["selection_rate"].mean(),
                "seconds": part["seconds"].mean(),
            }
        )
    summary = pd.DataFrame(rows).join(paper_results(), on=["dataset", "method", "cost"])
    summary["difference"] = summary["accuracy"] - summary["paper_accuracy"]
    places = {name: place for place, name in enumerate([*BUNDLED, *sorted(set(summary["dataset"]) - set(BUNDLED))])}
    methods = {name: place for place, name in enumerate(METHODS)}
    order = np.lexsort((summary["method"].map(methods), summary["cost"], summary["dataset"].map(places)))
    return summary.iloc[order].reset_index(drop=True)


def below_the_paper(summary: pd.DataFrame) -> pd.DataFrame:
    """Cells whose accuracy is below the paper's mean minus one of its standard errors.

    Cells without a standard error in the paper (nobody applied in some splits) have no such bar.
    """
    bar = summary["paper_accuracy"] - summary["paper_accuracy_se"]
    return summary[summary["accuracy"] < bar.round(1)].reset_index(drop=True)


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


def _results_cells(row: Any) -> list[str]:
    """The paper's three columns: ours, and in square brackets the paper's (with the difference)."""
    all_ours = row.splits_with_applicants == row.splits
    none_ours = row.splits_with_applicants == 0
    accuracy = _accuracy(row.accuracy, row.accuracy_se, all_ours)
    apply = f"{row.applying_groups:.1f}/{row.n_groups}"
    rank = "-" if none_ours else _bracketed(_number(row.rank_r2, 3), all_ours)
    if pd.isna(row.paper_applicants_in):  # the paper has no such cell
        return [accuracy, apply, rank]
    all_paper = row.paper_applicants_in == "all splits"
    theirs = _accuracy(row.paper_accuracy, row.paper_accuracy_se, all_paper)
    difference = "" if np.isnan(row.difference) else f"; {_number(row.difference, 1, sign=True)}"
    return [
        f"{accuracy} [{theirs}{difference}]",
        f"{apply} [{row.paper_applying_groups:.1f}]",
        f"{rank} [{_bracketed(_number(row.paper_rank_r2, 3), all_paper)}]",
    ]


def _extra_cells(row: Any) -> list[str]:
    cost = _number(row.social_cost, 1)
    if not np.isnan(row.social_cost_se):
        cost += f" ±{row.social_cost_se:.1f}"
    ordered = row.splits_with_order
    respected = f"{round(row.respected * ordered)}/{ordered}" if ordered else "-"
    return [cost, _number(row.spearman, 2), _number(row.kendall, 2), respected]


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
    cells: Any
    note: str


_RESULTS = Layout(
    "induced accuracy, applying groups and rank agreement",
    ("ind. acc.", "apply", "rank r²"),
    _results_cells,
    "Induced accuracy in percent on test data with its standard error over splits; number of applying groups; squared "
    "correlation of base rates with ranks of precisions on training data. In square brackets the paper's number and, "
    "for accuracy, ours minus the paper's. Round brackets: nobody applied in some splits, which are left out; a dash: "
    "nobody applied in any.",
)
_EXTRA = Layout(
    "social cost and order",
    ("social cost", "Spearman", "Kendall", "order"),
    _extra_cells,
    "Social cost: percent of qualified people whose group does not apply, on test data, with its standard error. "
    "Spearman and Kendall: rank correlations of base rates and precisions on training data. Order: in how many splits "
    "a higher base rate never came with a lower precision, of those in which at least two groups had anyone selected. "
    "The paper has none of these.",
)


# ---------------------------------------------------------------------- whole tables


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
    sections : tuple of (str, tuple of (str, tuple of str))
        Each a heading and rows, each a name and the text of all cells.
    """

    title: str
    note: str
    blocks: tuple[str, ...]
    columns: tuple[str, ...]
    sections: tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...]


def _title(dataset: str) -> str:
    return BUNDLED.get(dataset, dataset)


def _make_grid(summary: pd.DataFrame, layout: Layout, *, main: bool) -> Grid:
    rows = {(row.dataset, row.cost, row.method): row for row in summary.itertuples()}
    methods = [name for name in METHODS if name in set(summary["method"])]
    costs = sorted(set(summary["cost"]))
    if main:
        blocks: Sequence[tuple[str, float | None]] = [b for b in MAIN_BLOCKS if (summary["dataset"] == b[0]).any()]
        headings = [f"{_title(dataset)}, c = {cost:g}" for dataset, cost in blocks]
        section_costs: Sequence[float | None] = [None]
    else:
        blocks = [(dataset, None) for dataset in dict.fromkeys(summary["dataset"])]
        headings = [_title(dataset) for dataset, _ in blocks]
        section_costs = costs
    sections = []
    for section in section_costs:
        lines = []
        for method in methods:
            cells: list[str] = []
            for dataset, cost in blocks:
                row = rows.get((dataset, section if cost is None else cost, method))
                cells.extend([""] * len(layout.columns) if row is None else layout.cells(row))
            if any(cells):
                lines.append((METHODS[method].title, tuple(cells)))
        sections.append(("" if section is None else f"c = {section:g}", tuple(lines)))
    name = "Main results" if main else "Extended results"
    return Grid(f"{name}: {layout.title}", layout.note, tuple(headings), layout.columns, tuple(sections))


def _as_markdown(grid: Grid) -> str:
    wide = len(grid.sections) > 1
    heads = [
        f"{block}: {column}" if i == 0 else column for block in grid.blocks for i, column in enumerate(grid.columns)
    ]
    lines = [f"**{grid.title}.** {grid.note}", ""]
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
    for b, block in enumerate(grid.blocks):
        part = widths[b * size : (b + 1) * size]
        widths[(b + 1) * size - 1] += max(0, len(block) - sum(part) - 2 * (size - 1))
        top += "   " + block.ljust(sum(widths[b * size : (b + 1) * size]) + 2 * (size - 1))

    def line(name: str, cells: Sequence[str]) -> str:
        text = name.ljust(left)
        for i, cell in enumerate(cells):
            text += ("   " if i % size == 0 else "  ") + cell.rjust(widths[i])
        return text.rstrip()

    lines = [grid.title, "", top.rstrip(), line("", heads)]
    for heading, rows in grid.sections:
        if heading:
            lines.append(heading)
        lines.extend(line(name, cells) for name, cells in rows)
    lines += ["", *_wrap(grid.note)]
    return "\n".join(lines) + "\n"


def _wrap(text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(text, 100)


def _tex(text: str) -> str:
    for plain, escaped in (("%", r"\%"), ("_", r"\_"), ("±", r"$\pm$"), ("²", "$^2$"), ("c = ", "$c=$")):
        text = text.replace(plain, escaped)
    return text


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


_RENDERERS = {"text": _as_text, "markdown": _as_markdown, "latex": _as_latex}


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
        inside = [(d, c) in set(MAIN_BLOCKS) for d, c in zip(summary["dataset"], summary["cost"], strict=True)]
        summary = summary[inside]
        if summary.empty:
            raise ValueError("The store has no result of the main table (adult and bank_30 at costs .7 and .8).")
    if format == "csv":
        return str(summary.to_csv(index=False, lineterminator="\n"))
    grids = [_make_grid(summary, layout, main=main) for layout in (_RESULTS, _EXTRA)]
    return "\n\n".join(_RENDERERS[format](grid) for grid in grids)
