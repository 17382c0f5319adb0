"""Figure of what was published against what new people got."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ...._text import label_text
from ...methods import HONEST_METHODS
from ...people import BUNDLED
from ...sweep.results import Result
from ..promises import promise_part, promises_frame, summarise_promises
from .style import BLACK, BLUE, GREY, ORANGE, legend_line, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Columns of the figure: methods that differ only in what they publish, or in the score below their thresholds.
FAMILIES = {
    "naive": ("naive", "naive_honest"),
    "semi": ("semi", "semi_honest"),
    "strat_x": ("strat_x", "strat_x_honest"),
    "strat_no_group": ("strat_no_group", "strat_no_group_honest"),
    "thresholds": ("thresholds_lr", "thresholds_gb", "thresholds_both"),
}
_MARKERS = {"thresholds_lr": "s", "thresholds_gb": "^", "thresholds_both": "D"}
#: The cost that is shown: in the middle, unless there are no results of it.
SHOWN_COST = 0.75
#: Area of a point per person who passes, with a least and a largest one, in square points.
AREA, LEAST_AREA, LARGEST_AREA = 0.35, 5.0, 90.0
#: Both axes show precisions from the first to the second; what is beyond stands at the edge.
LOW, HIGH = 0.45, 1.0


def promises_data(results: Sequence[Result]) -> pd.DataFrame:
    """Every promise, at all costs; of methods and data sets without any, a row without numbers."""
    part = promise_part(results)
    made = promises_frame(part)
    summary = summarise_promises(part)
    silent = summary.loc[summary["promises"] == 0, ["dataset", "method", "cost"]]
    everything = pd.concat([made.astype({"broken": object}), silent], ignore_index=True) if len(silent) else made
    places = {key: place for place, key in enumerate(zip(summary["dataset"], summary["method"], strict=True))}
    order = [places[key] for key in zip(everything["dataset"], everything["method"], strict=True)]
    return everything.assign(_place=order).sort_values(["_place", "cost"], kind="stable").drop(columns="_place")


def draw_promises(data: pd.DataFrame) -> Figure:
    """Rows are data sets, columns are families of methods; a point is a group in a split."""
    costs = sorted(set(data["cost"]))
    cost = min(costs, key=lambda c: (abs(c - SHOWN_COST), c))
    data = data[data["cost"] == cost]
    datasets = list(dict.fromkeys(data["dataset"]))
    families = [name for name, methods in FAMILIES.items() if data["method"].isin(methods).any()]
    width, height = 2.25 * max(len(families), 2) + 0.6, 2.3 * len(datasets) + 1.1
    figure, axes = new_figure(len(datasets), len(families), width, height, sharex=True, sharey=True)
    for ax, family in zip(axes[0], families, strict=True):
        ax.set_title(family, loc="left")
    for line, dataset in zip(axes, datasets, strict=True):
        for ax, family in zip(line, families, strict=True):
            _draw_panel(ax, data[(data["dataset"] == dataset) & data["method"].isin(FAMILIES[family])], cost)
        line[0].set_ylabel(f"{label_text(BUNDLED.get(dataset, dataset))}\ndelivered to new people")
    for ax in axes[-1]:
        ax.set_xlabel("published precision")
    figure.legend(
        handles=[
            legend_line("published on training data", color=ORANGE, marker="o", ls="", ms=5, alpha=0.7),
            legend_line("honest: on people unseen", color=BLUE, marker="o", ls="", ms=5, alpha=0.7),
            legend_line("thresholds over logistic regression", color=BLUE, marker="s", ls="", ms=5, alpha=0.7),
            legend_line("over gradient boosting", color=BLUE, marker="^", ls="", ms=5, alpha=0.7),
            legend_line("over both", color=BLUE, marker="D", ls="", ms=5, alpha=0.7),
            legend_line("all people who pass, taken together", color=BLACK, marker="P", mfc="white", ls="", ms=7),
            legend_line("delivered as published", color=GREY, lw=1),
            legend_line(f"cost c = {cost:g}: below it the promise fails", color=BLACK, lw=1, ls=":"),
        ],
        loc="outside lower center",
        ncols=3 if len(families) > 3 else 2,
        title="a point: a group that applies, in one split; the larger, the more test people pass",
    )
    return figure


def _draw_panel(ax: Axes, part: pd.DataFrame, cost: float) -> None:
    ax.axhspan(LOW - 0.05, cost, color=GREY, alpha=0.12, lw=0)
    ax.plot([LOW, HIGH], [LOW, HIGH], color=GREY, lw=1)
    ax.axhline(cost, color=BLACK, lw=1, ls=":")
    ax.set_xlim(cost - 0.05, HIGH + 0.015)
    ax.set_ylim(LOW - 0.03, HIGH + 0.03)
    made = part[part["delivered"].notna()]
    for method, points in made.groupby("method", sort=False):
        honest = method in HONEST_METHODS
        people = points["delivered_selected"].astype(float)
        ax.scatter(
            points["published"].astype(float).clip(upper=HIGH),
            points["delivered"].astype(float).clip(lower=LOW),
            s=np.clip(AREA * people, LEAST_AREA, LARGEST_AREA),
            color=BLUE if honest else ORANGE,
            marker=_MARKERS.get(str(method), "o"),
            alpha=0.45,
            lw=0,
        )
    for honest, points in made.groupby(made["method"].isin(HONEST_METHODS)):
        weights = points["published_selected"].astype(float)
        ax.plot(
            np.average(points["published"].astype(float), weights=weights),
            points["delivered_true_positives"].sum() / points["delivered_selected"].sum(),
            marker="P",
            ms=7,
            mfc=BLUE if honest else ORANGE,
            mec=BLACK,
            ls="",
        )
    silent = part[part["delivered"].isna() & part["group"].isna()]
    for row, honest in enumerate(sorted({method in HONEST_METHODS for method in silent["method"]})):
        # of several honest methods of a family some may have applicants
        if not (made["method"].isin(HONEST_METHODS) == honest).any():
            said = "honest: nobody applies" if honest else "on training data: nobody applies"
            ax.text(0.03, 0.03 + 0.09 * row, said, transform=ax.transAxes, fontsize=7, color=BLUE if honest else ORANGE)
