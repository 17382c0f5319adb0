"""Figure 5: social cost against the cost of applying, for all methods."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from ..data import DATASETS
from ..methods import PAPER_METHODS
from ..summaries import paper_part, summarise
from .style import BLACK, BLUE, GREEN, ORANGE, PINK, RED, new_figure

_STYLES = zip((BLACK, ORANGE, BLUE, GREEN, RED, PINK), "os^DvP", strict=True)
_STYLE = dict(zip(PAPER_METHODS, _STYLES, strict=True))


def draw(results: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Draw one panel per data set and one line per method."""
    data = summarise(paper_part(results))[["dataset", "method", "cost", "social_cost", "social_cost_se", "splits"]]
    datasets = list(dict.fromkeys(data["dataset"]))
    figure, axes = new_figure(1, len(datasets), max(5.0, 3.4 * len(datasets)), 3.8, sharey=True)
    for ax, dataset in zip(axes[0], datasets, strict=True):
        part = data[data["dataset"] == dataset]
        methods = [name for name in PAPER_METHODS if (part["method"] == name).any()]
        for place, name in enumerate(methods):
            line = part[part["method"] == name].sort_values("cost")
            colour, marker = _STYLE[name]
            shift = 0.0012 * (place - (len(methods) - 1) / 2)  # separates points that coincide
            error = line["social_cost_se"].fillna(0)
            style = {"color": colour, "marker": marker, "ms": 4, "lw": 1.3, "capsize": 1.5, "elinewidth": 0.8}
            ax.errorbar(line["cost"] + shift, line["social_cost"], yerr=error, label=name, **style)
        ax.set_title(DATASETS[dataset], loc="left")
        ax.set_xlabel("cost c")
    axes[0, 0].set_ylabel("social cost (% of qualified people\nwho do not apply)")
    axes[0, 0].set_ylim(-3, 103)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return figure, data
