"""Figure 6: accuracy and precision of each group over costs on one bank split, by the paper's training."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..methods import COSTS
from ..results import ResultsError, counts_of
from ..summaries import descent_part
from .style import BLACK, GREY, MARKERS, legend_line, line_style, new_figure, panel_title

_METHODS = ("naive", "strat_x", "strat_no_group")
#: The first split on which two groups apply under strat_x at c = .7, as in the paper's figure.
_SPLIT = 3


def _table(results: pd.DataFrame) -> pd.DataFrame:
    """Published precision, test accuracy and decision of each group, and accuracy of all applicants."""
    chosen = results[
        (results["dataset"] == "bank_30") & (results["split"] == _SPLIT) & results["method"].isin(_METHODS)
    ]
    if chosen.empty:
        raise ResultsError(f"Figure 6 needs results of bank_30, split {_SPLIT}.")
    parts = []
    for row in chosen.to_dict("records"):
        test = counts_of(row, "test")
        columns = {
            "group": row["groups"],
            "accuracy": test.accuracy,
            "precision": counts_of(row, "published").precision,
        }
        columns |= {"applies": row["applies"], "people": test.n, "induced_accuracy": row["induced_accuracy"]}
        parts.append(pd.DataFrame({"method": row["method"], "cost": row["cost"], **columns}))
    data = pd.concat(parts, ignore_index=True)
    return data.sort_values(["method", "cost"], key=_place, kind="stable")


def _place(column: pd.Series) -> pd.Series:
    return column.map(_METHODS.index) if column.name == "method" else column


def draw(results: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Draw the paper's training."""
    return draw_groups(descent_part(results))


def draw_groups(results: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Draw a column per method: accuracy and precision over costs, and precision against accuracy."""
    data = _table(results)
    methods, groups = list(dict.fromkeys(data["method"])), list(dict.fromkeys(data["group"]))
    figure, axes = new_figure(3, len(methods), 3.5 * max(len(methods), 2), 9.0, sharey="row")
    for column, method in enumerate(methods):
        part = data[data["method"] == method]
        top, middle, bottom = axes[:, column]
        for index, group in enumerate(groups):
            _draw_group(top, middle, bottom, part[part["group"] == group], index)
        whole = part.drop_duplicates("cost").set_index("cost").reindex(COSTS)
        top.plot(whole.index, whole["induced_accuracy"], color=BLACK, lw=2.4, marker="_", ms=8)
        middle.plot(COSTS, COSTS, color=GREY, lw=1)
        panel_title(top, "ABC"[column], f"{method}: accuracy")
        panel_title(middle, "DEF"[column], "published precision")
        panel_title(bottom, "GHI"[column], "precision and accuracy")
        for ax in (top, middle):
            ax.set_xlabel("cost c")
            ax.set_xlim(COSTS[0] - 0.01, COSTS[-1] + 0.01)
        bottom.set_xlabel("accuracy on test people")
    axes[0, 0].set_ylabel("accuracy on test people")
    axes[1, 0].set_ylabel("precision on training people")
    axes[2, 0].set_ylabel("precision on training people")
    handles = [
        legend_line(group, marker=MARKERS[index % len(MARKERS)], ms=5, **line_style(index))
        for index, group in enumerate(groups)
    ]
    handles.append(legend_line("all applicants", color=BLACK, lw=2.4))
    handles.append(legend_line("precision = cost", color=GREY, lw=1))
    title = "large filled marker: the group applies; hollow, dot or none: it does not"
    figure.legend(handles=handles, loc="outside lower center", ncols=5, title=title)
    return figure, data


def _draw_group(top: Axes, middle: Axes, bottom: Axes, line: pd.DataFrame, index: int) -> None:
    """Draw one group under one method."""
    style = line_style(index)
    marker: dict[str, Any] = {"ls": "", "marker": MARKERS[index % len(MARKERS)], "color": style["color"]}
    applies, others = line[line["applies"]], line[~line["applies"]]
    with_gaps = line.set_index("cost").reindex(COSTS)  # where it was not run
    for ax, name in ((top, "accuracy"), (middle, "precision")):
        dots = {"color": style["color"], "ls": style["linestyle"], "marker": ".", "ms": 4}
        ax.plot(with_gaps.index, with_gaps[name], lw=1.2, alpha=0.75, **dots)
        ax.plot(applies["cost"], applies[name], ms=4.5, **marker)
    bottom.plot(applies["accuracy"], applies["precision"], ms=5, **marker)
    bottom.plot(others["accuracy"], others["precision"], ms=4, mfc="none", alpha=0.6, **marker)
