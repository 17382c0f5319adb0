"""Figures of results in a store: social cost, and accuracy and precision of each group."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ...._errors import InputError
from ...._text import label_text
from ...methods import METHODS
from ...people import BUNDLED
from ...sweep.results import Result
from ...wording import in_words, is_ones_own
from ..summary import summarise
from .style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    MANY,
    MARKERS,
    ORANGE,
    PINK,
    RED,
    SKY,
    legend_line,
    letter,
    line_of,
    new_figure,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_METHOD_STYLE = dict(
    zip(
        ("naive", "semi", "strat_x", "strat_no_group", "strat_parity", "strat_order"),
        zip((BLACK, ORANGE, BLUE, GREEN, RED, PINK), ("o", "s", "^", "D", "v", "P"), strict=True),
        strict=True,
    )
)


def social_cost_data(results: Iterable[Result]) -> pd.DataFrame:
    """Figure 5: social cost in percent with its standard error, per data set, method and cost."""
    return summarise(results)[["dataset", "method", "cost", "social_cost", "social_cost_se", "splits"]]


def draw_social_cost(data: pd.DataFrame) -> Figure:
    """Figure 5: one panel per data set, one line per method."""
    datasets = list(dict.fromkeys(data["dataset"]))
    own = is_ones_own(datasets)
    figure, axes = new_figure(1, len(datasets), max(7.5 if own else 5.0, 3.4 * len(datasets)), 3.8, sharey=True)
    for ax, dataset in zip(axes[0], datasets, strict=True):
        part = data[data["dataset"] == dataset]
        present = [name for name in METHODS if (part["method"] == name).any()]
        for place, name in enumerate(present):
            line = part[part["method"] == name].sort_values("cost")
            colour, marker = _METHOD_STYLE.get(name, (SKY, "x"))
            shift = 0.0012 * (place - (len(present) - 1) / 2)  # so that equal points can be told apart
            ax.errorbar(
                line["cost"] + shift,
                line["social_cost"],
                yerr=line["social_cost_se"].fillna(0),
                color=colour,
                marker=marker,
                ms=4,
                lw=1.3,
                capsize=1.5,
                elinewidth=0.8,
                label=in_words(name) if own else METHODS[name].title,
            )
        ax.set_title(label_text(BUNDLED.get(dataset, dataset)), loc="left")
        ax.set_xlabel("cost c")
    axes[0, 0].set_ylabel("social cost (% of qualified people\nwho do not apply)")
    axes[0, 0].set_ylim(-3, 103)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2 if own else 6)
    return figure


def by_group_data(results: Iterable[Result], dataset: str | None = None, split: int | None = None) -> pd.DataFrame:
    """Figure 6: published precision, test accuracy and decision of each group on a split, and accuracy of applicants.

    All groups have a precision under strat_x: those that it keeps out are selected as a whole, as in the paper. By
    default it is the first split of the bank data, as in the paper, or, where there is nothing of the paper's data, of
    the first data set.
    """
    results, rows = list(results), []
    names = sorted({result.cell.dataset for result in results})
    if dataset is None:
        dataset = names[0] if names and is_ones_own(names) else "bank_30"
    if split is None:
        own = [result.cell.split for result in results if result.cell.dataset == dataset]
        split = min(own) if own and is_ones_own([dataset]) else 0
    for result in results:
        cell = result.cell
        if cell.dataset != dataset or cell.split != split:
            continue
        if cell.method not in ("naive", "strat_x", "strat_no_group"):
            continue
        published, population = result.published, result.population
        applies = published.applies(cell.cost)
        induced = result.test_metrics["induced_accuracy"]
        rows.append(
            pd.DataFrame(
                {
                    "method": cell.method,
                    "cost": cell.cost,
                    "group": published.groups,
                    "accuracy": population.counts.accuracy,
                    "precision": published.counts.precision,
                    "applies": applies.to_numpy(),
                    "people": population.counts.n,
                    "induced_accuracy": np.nan if induced is None else induced,
                }
            )
        )
    if not rows:
        raise InputError(f"There is no result of {dataset}, split {split}, which figure 6 shows.", key="no_results")
    order = {name: place for place, name in enumerate(METHODS)}
    frame = pd.concat(rows, ignore_index=True)
    frame = frame.sort_values(
        ["method", "cost"], key=lambda c: c.map(order) if c.name == "method" else c, kind="stable"
    )
    frame.attrs["in_words"] = is_ones_own([dataset])
    return frame


def draw_by_group(data: pd.DataFrame) -> Figure:
    """Figure 6: columns are methods; rows are accuracy and precision over costs, and precision against accuracy."""
    methods = list(dict.fromkeys(data["method"]))
    groups = list(dict.fromkeys(data["group"]))
    figure, axes = new_figure(3, len(methods), 3.5 * max(len(methods), 2), 9.0, sharey="row")
    for column, method in enumerate(methods):
        part = data[data["method"] == method]
        top, middle, bottom = axes[:, column]
        for index, group in enumerate(groups):
            _draw_group(top, middle, bottom, part[part["group"] == group], index)
        whole = part.drop_duplicates("cost")
        top.plot(whole["cost"], whole["induced_accuracy"], color=BLACK, lw=2.4)
        middle.plot(whole["cost"], whole["cost"], color=GREY, lw=1)
        title = in_words(method) if data.attrs.get("in_words") else METHODS[method].title
        letter(top, "ABC"[column], f"{title}: accuracy".replace(" (", "\n("))
        letter(middle, "DEF"[column], "published precision")
        letter(bottom, "GHI"[column], "precision and accuracy")
        for ax in (top, middle):
            ax.set_xlabel("cost c")
        bottom.set_xlabel("accuracy on test people")
    axes[0, 0].set_ylabel("accuracy on test people")
    axes[1, 0].set_ylabel("precision on training people")
    axes[2, 0].set_ylabel("precision on training people")
    figure.legend(
        handles=_group_handles(groups),
        loc="outside lower center",
        ncols=5,
        title="filled marker: the group applies; hollow or none: it does not",
    )
    return figure


def _draw_group(top: Axes, middle: Axes, bottom: Axes, line: pd.DataFrame, index: int) -> None:
    """One group under one method."""
    style = line_of(index)
    inside, outside = line[line["applies"]], line[~line["applies"]]
    for ax, name in ((top, "accuracy"), (middle, "precision")):
        ax.plot(line["cost"], line[name], lw=1.2, color=style["color"], ls=style["linestyle"], alpha=0.75)
        ax.plot(inside["cost"], inside[name], ls="", ms=4.5, marker=MARKERS[index % len(MARKERS)], color=style["color"])
    marker: dict[str, Any] = {"ls": "", "marker": MARKERS[index % len(MARKERS)], "color": MANY[index % len(MANY)]}
    bottom.plot(inside["accuracy"], inside["precision"], ms=5, **marker)
    bottom.plot(outside["accuracy"], outside["precision"], ms=4, mfc="none", alpha=0.6, **marker)


def _group_handles(groups: list[str]) -> list[Any]:
    handles = [
        legend_line(label_text(group), marker=MARKERS[index % len(MARKERS)], ms=5, **line_of(index))
        for index, group in enumerate(groups)
    ]
    handles.append(legend_line("all applicants", color=BLACK, lw=2.4))
    handles.append(legend_line("precision = cost", color=GREY, lw=1))
    return handles
