"""Figure 12: published against delivered precision of every group that applies. The paper has no such figure."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..data import DATASETS
from ..methods import CROSS_FIT_METHODS
from ..results import ResultsError
from ..summaries import promise_part, promises_frame, summarise_promises
from .style import BLACK, BLUE, GREY, ORANGE, legend_line, new_figure

#: Columns of the figure: methods that differ only in what they publish, or in their score.
FAMILIES = {
    "naive": ("naive", "naive_honest"),
    "semi": ("semi", "semi_honest"),
    "strat_x": ("strat_x", "strat_x_honest"),
    "strat_no_group": ("strat_no_group", "strat_no_group_honest"),
    "thresholds": ("thresholds_lr", "thresholds_gb", "thresholds_both"),
}
_MARKERS = {"thresholds_lr": "s", "thresholds_gb": "^", "thresholds_both": "D"}
_COST = 0.75
#: Range of the axis of delivered precision.
_LOW, _HIGH = 0.45, 1.0


def _table(results: pd.DataFrame) -> pd.DataFrame:
    """Every promise at all costs, and a row without numbers where a method has no applicants in any split."""
    part = promise_part(results)
    if part.empty:
        raise ResultsError("Figure 12 needs results of cross-fitted methods.")
    promises, summary = promises_frame(part), summarise_promises(part)
    silent = summary.loc[summary["promises"] == 0, ["dataset", "method", "cost"]]
    data = pd.concat([promises.astype({"broken": object}), silent], ignore_index=True) if len(silent) else promises
    places = {key: place for place, key in enumerate(zip(summary["dataset"], summary["method"], strict=True))}
    order = [places[key] for key in zip(data["dataset"], data["method"], strict=True)]
    return data.assign(_place=order).sort_values(["_place", "cost"], kind="stable").drop(columns="_place")


def draw(results: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Draw data sets as rows and families of methods as columns; a point is a group in a split."""
    data = _table(results)
    cost = min(data["cost"].unique(), key=lambda c: (abs(c - _COST), c))
    shown = data[data["cost"] == cost]
    datasets = list(dict.fromkeys(shown["dataset"]))
    families = {name: methods for name, methods in FAMILIES.items() if shown["method"].isin(methods).any()}
    width, height = 2.25 * max(len(families), 2) + 0.6, 2.3 * len(datasets) + 1.1
    figure, axes = new_figure(len(datasets), len(families), width, height, sharex=True, sharey=True)
    for line, dataset in zip(axes, datasets, strict=True):
        part = shown[shown["dataset"] == dataset]
        for ax, methods in zip(line, families.values(), strict=True):
            _draw_panel(ax, part[part["method"].isin(methods)], cost)
        line[0].set_ylabel(f"{DATASETS[dataset]}\ndelivered to new people")
    for top, bottom, family in zip(axes[0], axes[-1], families, strict=True):
        top.set_title(family, loc="left")
        bottom.set_xlabel("published precision")
    point = {"ls": "", "ms": 5, "alpha": 0.7}
    handles = [
        legend_line("published on training data", color=ORANGE, marker="o", **point),
        legend_line("cross-fitted: published on unseen people", color=BLUE, marker="o", **point),
        legend_line("thresholds over logistic regression", color=BLUE, marker="s", **point),
        legend_line("over gradient boosting", color=BLUE, marker="^", **point),
        legend_line("over both", color=BLUE, marker="D", **point),
        legend_line("average over all selected people", color=BLACK, marker="P", mfc="white", ls="", ms=7),
        legend_line("delivered as published", color=GREY, lw=1),
        legend_line(f"cost c = {cost:g}: applying does not pay below it", color=BLACK, lw=1, ls=":"),
    ]
    title = "a point: a group that applies, in one split; its area grows with the number of selected test people"
    figure.legend(handles=handles, loc="outside lower center", ncols=3 if len(families) > 3 else 2, title=title)
    return figure, data


def _draw_panel(ax: Axes, part: pd.DataFrame, cost: float) -> None:
    ax.axhspan(_LOW - 0.05, cost, color=GREY, alpha=0.12, lw=0)
    ax.plot([_LOW, _HIGH], [_LOW, _HIGH], color=GREY, lw=1)
    ax.axhline(cost, color=BLACK, lw=1, ls=":")
    ax.set_xlim(cost - 0.05, _HIGH + 0.015)
    ax.set_ylim(_LOW - 0.03, _HIGH + 0.03)
    made = part[part["delivered"].notna()]
    for method, points in made.groupby("method", sort=False):
        colour = BLUE if method in CROSS_FIT_METHODS else ORANGE
        area = np.clip(0.35 * points["delivered_selected"].astype(float), 5.0, 90.0)
        published, delivered = points["published"].astype(float), points["delivered"].astype(float).clip(lower=_LOW)
        style = {"marker": _MARKERS.get(str(method), "o"), "alpha": 0.45, "lw": 0}
        ax.scatter(published.clip(upper=_HIGH), delivered, s=area, color=colour, **style)
    for unseen, points in made.groupby(made["method"].isin(CROSS_FIT_METHODS)):
        published = np.average(points["published"].astype(float), weights=points["published_selected"].astype(float))
        delivered = points["delivered_true_positives"].sum() / points["delivered_selected"].sum()
        ax.plot(published, delivered, marker="P", ms=7, mfc=BLUE if unseen else ORANGE, mec=BLACK, ls="")
    applicants = set(made["method"].isin(CROSS_FIT_METHODS))
    silent = set(part.loc[part["group"].isna(), "method"].isin(CROSS_FIT_METHODS)) - applicants
    for row, unseen in enumerate(sorted(silent)):
        text = "cross-fitted: nobody applies" if unseen else "on training data: nobody applies"
        where = {"transform": ax.transAxes, "fontsize": 7}
        ax.text(0.03, 0.03 + 0.09 * row, text, color=BLUE if unseen else ORANGE, **where)
