"""Colours, sizes and parts that several figures share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from selfselect import ThresholdCurves
from selfselect.metrics import outcome

#: Okabe and Ito's colours, which colour-blind people can tell apart.
ORANGE, SKY, GREEN, BLUE, RED, PINK, BLACK, GREY = (
    "#E69F00 #56B4E9 #009E73 #0072B2 #D55E00 #CC79A7 #000000 #8C8C8C".split()
)
#: Up to ten lines in one panel (Paul Tol's muted colours and black); dashes and markers differ as well.
MANY = "#332288 #CC6677 #117733 #88CCEE #882255 #DDCC77 #44AA99 #AA4499 #999933 #000000".split()
DASHES: Sequence[Any] = ["-", "--", "-.", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1))]
MARKERS = "o s ^ D v P X < > *".split()

SETTINGS: dict[Any, Any] = {
    "figure.dpi": 100,
    "savefig.dpi": 150,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.hashsalt": "selfselect",  # the same picture gives the same file
    "svg.fonttype": "none",
}


def save(figure: Figure, data: pd.DataFrame, folder: Path, name: str) -> list[Path]:
    """Write the data as CSV and the figure as SVG and PNG; the same figure gives the same bytes."""
    paths = [folder / f"{name}.{ending}" for ending in ("csv", "svg", "png")]
    data.to_csv(paths[0], index=False, float_format="%.10g", lineterminator="\n")
    figure.savefig(paths[1], metadata={"Date": None})
    figure.savefig(paths[2], metadata={"Software": None})
    return paths


def new_figure(rows: int, columns: int, width: float, height: float, **options: Any) -> tuple[Figure, Any]:
    """Return a figure and a two-dimensional array of axes."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def legend_line(label: str, **style: Any) -> Line2D:
    """Line that only the legend shows."""
    return Line2D([], [], label=label, **style)


def line_style(index: int) -> dict[str, Any]:
    """Colour and dashes of one line among many."""
    return {"color": MANY[index % len(MANY)], "linestyle": DASHES[index % len(DASHES)], "linewidth": 1.6}


def panel_title(ax: Axes, letter: str, title: str) -> None:
    """Title of a panel, with its letter."""
    ax.set_title(f"({letter}) {title}", loc="left")


# ---------------------------------------------------------------------- densities of the qualified and the others


def density_table(
    panel: str, x: Any, base_rate: float, negative: tuple[float, float], positive: tuple[float, float]
) -> pd.DataFrame:
    """Normal densities of the qualified and the others (mean, standard deviation), weighted by their shares."""
    qualified, others = base_rate * norm.pdf(x, *positive), (1 - base_rate) * norm.pdf(x, *negative)
    return pd.DataFrame({"panel": panel, "x": x, "qualified": qualified, "not qualified": others})


def draw_densities(ax: Axes, x: Any, qualified: Any, others: Any) -> None:
    """Draw both densities as lines."""
    ax.plot(x, qualified, color=BLUE, label="qualified")
    ax.plot(x, others, color=ORANGE, ls="--", label="not qualified")


def draw_selected(ax: Axes, x: Any, qualified: Any, others: Any) -> None:
    """Fill the areas below the densities of the people who are selected."""
    ax.fill_between(x, qualified, color=BLUE, alpha=0.25, lw=0, label="selected, qualified")
    ax.fill_between(x, others, facecolor="none", edgecolor=ORANGE, hatch="////", lw=0, label="selected, not qualified")


# ---------------------------------------------------------------------- curves over thresholds


def naive_score(bunch: Any) -> tuple[LogisticRegression, Any]:
    """Logistic regression without penalty, and its probabilities."""
    model = LogisticRegression(C=np.inf, max_iter=1000).fit(bunch.data, bunch.target)
    return model, model.predict_proba(bunch.data)[:, 1]


def curve_table(y: Any, score: Any, group: Any, thresholds: Any, cost: float) -> pd.DataFrame:
    """Precision and decision of each group, assumed and induced accuracy: one row per threshold on a score."""
    curves = ThresholdCurves.from_scores(y, score, sensitive_features=group)
    rows = []
    for threshold in map(float, thresholds):
        published = curves.at(threshold)
        applies = published.applies(cost)
        result = outcome(published, applies)
        row: dict[str, Any] = {"threshold": threshold}
        row |= {f"precision: {name}": value for name, value in published.precision.items()}
        row |= {f"applies: {name}": bool(value) for name, value in applies.items()}
        rows.append(row | {"assumed accuracy": result.assumed_accuracy, "induced accuracy": result.induced_accuracy})
    return pd.DataFrame(rows)


def groups_of(data: pd.DataFrame) -> list[str]:
    """Groups that a table of curves has values for."""
    names = [name for name in data.columns if name.startswith("precision: ") and data[name].notna().any()]
    return [name.removeprefix("precision: ") for name in names]


def draw_application_bars(ax: Axes, data: pd.DataFrame, groups: Sequence[str], colours: Sequence[str]) -> None:
    """Draw a bar for each group over the thresholds at which it applies."""
    x = data["threshold"].to_numpy()
    step = float(np.median(np.diff(x)))
    for row, group in enumerate(groups):
        mask = data[f"applies: {group}"].to_numpy(dtype=bool)
        edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(int), [0]])))
        spans = [(x[a] - step / 2, x[b - 1] - x[a] + step) for a, b in zip(edges[::2], edges[1::2], strict=True)]
        ax.broken_barh(spans, (row - 0.36, 0.72), facecolors=colours[row])
    ax.set_yticks(range(len(groups)), list(groups))
    ax.set_ylim(len(groups) - 0.4, -0.6)
    ax.set_ylabel("applies")


def draw_accuracies(ax: Axes, bars: Axes, data: pd.DataFrame, learned: float | None = None) -> None:
    """Draw assumed and induced accuracy over thresholds, and below them who applies."""
    lines = {"assumed accuracy": (BLACK, "--", 1.2), "induced accuracy": (BLUE, "-", 1.8)}
    for name, (colour, dashes, width) in lines.items():
        ax.plot(data["threshold"], data[name], color=colour, ls=dashes, lw=width, label=name)
    if learned is not None:
        nearest = data.iloc[(data["threshold"] - learned).abs().argmin()]
        for label, (name, (colour, _, _)) in zip(("learned threshold", None), lines.items(), strict=True):
            ax.plot([learned], [nearest[name]], "*", ms=10, color=colour, label=label, zorder=4)
    groups = groups_of(data)
    draw_application_bars(bars, data, groups, [GREY] * len(groups))
    bars.set_xlabel("threshold")
