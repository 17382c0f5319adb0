"""Figure 1: the application process, as boxes and arrows."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from .style import BLACK, GREEN, GREY, ORANGE, SKY, new_figure

_STEPS = [
    ("learn", "Firm trains a\nclassifier on past data", 0.0, 1.0, "publish", ""),
    ("publish", "Firm publishes each\ngroup's precision", 1.0, 1.0, "decide", ""),
    ("decide", "Candidate compares\nprecision with cost", 1.0, 0.0, "screen", "precision ≥ cost:\napply"),
    ("screen", "Screening\nclassifier", 2.15, 0.0, "test", "selected"),
    ("test", "Test, which costs\nthe candidate c", 3.3, 0.0, "hire", "qualified"),
    ("hire", "Hired", 4.3, 0.0, "", ""),
    ("candidates", "Candidates with\nfeatures and group", 0.0, 0.0, "decide", ""),
    ("stay", "Stays away", 1.0, -0.85, "", ""),
]


def draw() -> tuple[Figure, pd.DataFrame]:
    """Draw the steps of the process and where each leads."""
    data = pd.DataFrame(_STEPS, columns=["step", "text", "x", "y", "next", "condition"])
    figure, axes = new_figure(1, 1, 9.5, 3.4)
    ax = axes[0, 0]
    place = {row.step: (row.x * 1.7, row.y * 1.15) for row in data.itertuples()}
    colours = {"learn": SKY, "publish": SKY, "screen": SKY, "hire": GREEN, "stay": ORANGE}
    boxes = {}
    for step, text in zip(data["step"], data["text"], strict=True):
        box = {"boxstyle": "round,pad=0.5", "facecolor": "white", "edgecolor": colours.get(step, BLACK), "lw": 1.8}
        boxes[step] = ax.text(*place[step], text, ha="center", va="center", zorder=3, bbox=box)
    arrows = [(row.step, row.next, row.condition) for row in data.itertuples() if row.next]
    for start, end, label in [*arrows, ("decide", "stay", "precision < cost")]:
        arrow = {"arrowstyle": "-|>", "color": GREY, "shrinkA": 2, "shrinkB": 2, "lw": 1.4}
        arrow |= {"patchA": boxes[start].get_bbox_patch(), "patchB": boxes[end].get_bbox_patch()}
        ax.annotate("", xy=place[end], xytext=place[start], arrowprops=arrow)
        upright = place[start][0] == place[end][0]
        offset = np.array([0.12, 0.0]) if upright else np.array([0.0, 0.34])
        middle = (np.array(place[start]) + np.array(place[end])) / 2 + offset
        ax.text(*middle, label, ha="left" if upright else "center", va="center", fontsize=8, color="#404040")
    ax.set_xlim(-0.95, 8.0)
    ax.set_ylim(-1.4, 1.7)
    ax.axis("off")
    return figure, data
