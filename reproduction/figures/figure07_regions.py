"""Figure 7: what accuracy on a group says about its application, by the paper and exactly."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from selfselect.theory import application_region, paper_accuracy_bounds

from .style import BLACK, BLUE, GREY, ORANGE, new_figure

_COLOURS = {"applies": BLUE, "stays away": ORANGE, "free": "#F2F2F2", "undefined": BLACK}
_LABELS = {"applies": "must apply", "stays away": "cannot apply", "free": "accuracy does not decide"}


def draw() -> tuple[Figure, pd.DataFrame]:
    """Draw base rates side by side, the paper's regions above the exact ones."""
    cost, accuracy = np.meshgrid(np.linspace(0.005, 0.995, 101), np.linspace(0.0, 1.0, 101))
    codes = {name: code for code, name in enumerate(_COLOURS)}
    colours = ListedColormap(list(_COLOURS.values()))
    figure, axes = new_figure(2, 2, 7.0, 6.2, sharex=True, sharey=True)
    parts = []
    for column, rate in enumerate((0.25, 0.75)):
        low, high = paper_accuracy_bounds(rate, cost)
        paper = np.where(accuracy < low, "stays away", np.where(accuracy >= high, "applies", "free"))
        exact = application_region(rate, accuracy, cost)
        for row, (source, region) in enumerate((("paper", paper), ("exact", exact))):
            values = {"cost": cost.ravel(), "accuracy": accuracy.ravel(), "region": region.ravel()}
            parts.append(pd.DataFrame({"base_rate": rate, "source": source} | values))
            image = np.vectorize(codes.get)(region)
            extent = {"origin": "lower", "extent": (0, 1, 0, 1), "interpolation": "nearest"}
            axes[row, column].imshow(image, cmap=colours, vmin=0, vmax=len(codes) - 1, **extent)
            title = "as the paper has it" if source == "paper" else "exact"
            axes[row, column].set_title(f"base rate {rate:g}, {title}", loc="left")
    for ax in axes[:, 0]:
        ax.set_ylabel("accuracy on the group")
    for ax in axes[1]:
        ax.set_xlabel("cost c")
    handles = [Patch(facecolor=_COLOURS[name], edgecolor=GREY, label=label) for name, label in _LABELS.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure, pd.concat(parts, ignore_index=True)
