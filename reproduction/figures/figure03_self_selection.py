"""Figure 3: the distribution of applicants depends on which groups apply."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import norm

from .style import BLACK, BLUE, GREEN, GREY, ORANGE, PINK, legend_line, new_figure

#: Mean, standard deviation and weight of groups 1 to 4.
_GROUPS = [(-4.0, 1.0, 0.2), (-2.0, 0.5, 0.125), (0.0, 1.2, 0.375), (3.0, 1.6, 0.2)]
_APPLYING = {"all": (1, 2, 3, 4), "groups 1 and 3": (1, 3), "groups 3 and 4": (3, 4)}


def _densities() -> pd.DataFrame:
    """Density of all applicants, and the part of each group in it; of the others, their part in everybody."""
    x = np.linspace(-8, 9, 341)
    everybody = sum(weight for _, _, weight in _GROUPS)
    parts = []
    for title, members in _APPLYING.items():
        applicants = sum(_GROUPS[member - 1][2] for member in members)
        total = np.zeros_like(x)
        for member, (mean, deviation, weight) in enumerate(_GROUPS, start=1):
            applies = member in members
            density = weight / (applicants if applies else everybody) * norm.pdf(x, mean, deviation)
            total += density * applies
            parts.append((title, f"group {member}", applies, density))
        parts.append((title, "applicants", True, total))
    columns = ["applying", "series", "applies", "density"]
    frames = [pd.DataFrame(dict(zip(columns, part, strict=True))).assign(x=x) for part in parts]
    return pd.concat(frames, ignore_index=True)[["applying", "series", "applies", "x", "density"]]


def draw() -> tuple[Figure, pd.DataFrame]:
    """Draw one panel per set of applying groups."""
    data = _densities()
    figure, axes = new_figure(1, 3, 9.5, 2.8, sharey=True)
    colours = {"group 1": BLUE, "group 2": ORANGE, "group 3": GREEN, "group 4": PINK}
    for ax, (title, part) in zip(axes[0], data.groupby("applying", sort=False), strict=True):
        for name, line in part.groupby("series", sort=False):
            if name == "applicants":
                ax.plot(line["x"], line["density"], color=BLACK, lw=1.8, label="all applicants")
            elif not line["applies"].all():
                ax.plot(line["x"], line["density"], color=colours[name], lw=1.4, ls="--")
            else:
                ax.fill_between(line["x"], line["density"], color=colours[name], alpha=0.45, lw=0, label=name)
        ax.set_title("everyone applies" if title == "all" else f"{title} apply", loc="left")
        ax.set_xlabel("feature x")
    axes[0, 0].set_ylabel("density")
    handles, _ = axes[0, 0].get_legend_handles_labels()
    away = legend_line("group that stays away (its part in everybody)", color=GREY, lw=1.4, ls="--")
    figure.legend(handles=[*handles, away], loc="outside lower center", ncols=6)
    return figure, data
