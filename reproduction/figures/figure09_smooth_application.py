"""Figure 9: the sigmoid that replaces the step from staying away to applying."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.special import expit, logit

from .style import BLACK, BLUE, GREEN, GREY, ORANGE, new_figure, panel_title


def draw() -> tuple[Figure, pd.DataFrame]:
    """Draw costs on top and temperatures below; dots are the ends of each curve and the fixed point at 0."""
    figure, axes = new_figure(2, 1, 5.0, 5.4, sharex=True)
    q = np.linspace(0, 1, 201)
    panels = {"cost": [(2.0, c) for c in (0.25, 0.5, 0.75)], "temperature": [(t, 0.5) for t in (1.5, 3.0, 6.0)]}
    parts = []
    for ax, name, (varies, settings) in zip(axes[:, 0], "AB", panels.items(), strict=True):
        styles = zip(("-", "--", "-."), (BLUE, ORANGE, GREEN), strict=True)
        for (temperature, cost), (dashes, colour) in zip(settings, styles, strict=True):
            line = pd.DataFrame({"varies": varies, "temperature": temperature, "cost": cost, "precision": q})
            line["above_cost"] = q - cost
            line["application"] = expit(temperature * (logit(q) - logit(cost)))
            parts.append(line)
            label = f"c = {cost:g}" if varies == "cost" else f"τ = {temperature:g}"
            ax.plot(line["above_cost"], line["application"], color=colour, ls=dashes, label=label)
            ends = line.iloc[[0, -1]]
            ax.plot(ends["above_cost"], ends["application"], "o", ms=4, color=colour, clip_on=False)
        ax.plot([0], [0.5], "o", ms=5, color=BLACK, zorder=3)
        ax.axvline(0, color=GREY, lw=0.8, ls=":", zorder=0)
        ax.axhline(0.5, color=GREY, lw=0.8, ls=":", zorder=0)
        title = "different costs, τ = 2: from -c to 1 - c" if varies == "cost" else "different τ, c = 0.5"
        panel_title(ax, name, title)
        ax.set_ylabel("smooth application")
        ax.legend(loc="upper left" if varies == "cost" else "lower right")
    axes[1, 0].set_xlabel("precision minus cost")
    return figure, pd.concat(parts, ignore_index=True)
