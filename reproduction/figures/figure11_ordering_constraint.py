"""Figure 11: no threshold on the naive score reaches the accuracy that another score has."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from selfselect.datasets import make_ordering_constraint

from . import style

#: Means and standard deviations of the others and the qualified, by panel.
_X2 = ((-0.35, 0.3), (0.25, 0.3))
_FEATURES = {
    "z0: x1": ((-0.3, 0.1), (0.2, 0.1)),
    "z0: x2": _X2,
    "z1: x1": ((0.0, 0.2), (0.0, 0.2)),
    "z1: x2": _X2,
}
_RATES = {"z0": 0.3, "z1": 0.7}


def _table() -> pd.DataFrame:
    """Densities of both features, then curves over thresholds on the naive score and on x1 alone."""
    bunch = make_ordering_constraint(random_state=0)
    x = np.linspace(-1.4, 1.4, 281)
    parts = [style.density_table(title, x, _RATES[title[:2]], *normals) for title, normals in _FEATURES.items()]
    scores = {
        "naive score": (style.naive_score(bunch)[1], np.linspace(0.01, 0.99, 99)),
        "x1 alone": (bunch.data["x1"].to_numpy(), np.linspace(-0.5, 0.5, 101)),
    }
    for title, (score, thresholds) in scores.items():
        table = style.curve_table(bunch.target, score, bunch.group, thresholds, bunch.cost)
        table.insert(0, "panel", title)
        table.insert(1, "cost", bunch.cost)
        parts.append(table)
    return pd.concat(parts, ignore_index=True)


def draw() -> tuple[Figure, pd.DataFrame]:
    """Draw densities of both features in both groups, precision curves, and accuracies with who applies."""
    data = _table()
    figure = Figure(figsize=(10.5, 8.0), layout="constrained")
    axes = figure.subplot_mosaic("ABCD\nEEFF\nGGHH\ngghh", height_ratios=(1, 1.2, 1.2, 0.35))
    for letter, title in zip("ABCD", _FEATURES, strict=True):
        group, _, feature = title.partition(": ")
        part = data[data["panel"] == title]
        style.draw_densities(axes[letter], part["x"], part["qualified"], part["not qualified"])
        style.panel_title(axes[letter], letter, f"{feature} in {group} (base rate {_RATES[group]:g})")
        axes[letter].set_yticks([])
        axes[letter].set_xlabel(feature)
    axes["A"].set_ylabel("density")
    axes["A"].legend(loc="upper right")
    for top, below, title in (("E", "G", "naive score"), ("F", "H", "x1 alone")):
        part = data[data["panel"] == title]
        for index, group in enumerate(style.groups_of(part)):
            axes[top].plot(part["threshold"], part[f"precision: {group}"], label=group, **style.line_style(index))
        cost = part["cost"].iloc[0]
        axes[top].axhline(cost, color=style.GREY, lw=1, label=f"cost {cost:g}")
        style.panel_title(axes[top], top, f"precision, threshold on {'the ' if title == 'naive score' else ''}{title}")
        axes[top].set_ylim(0.2, 1.03)
        style.draw_accuracies(axes[below], axes[below.lower()], part)
        best = part.loc[part["induced accuracy"].idxmax()]
        axes[below].plot([best["threshold"]], [best["induced accuracy"]], "*", ms=11, color=style.BLUE, zorder=4)
        applying = " and ".join(group for group in style.groups_of(part) if best[f"applies: {group}"])
        style.panel_title(axes[below], below, f"best {best['induced accuracy']:.2f}, {applying} applying")
        axes[below].set_ylim(0.2, 1.05)
        for letter in (top, below, below.lower()):
            axes[letter].set_xlim(part["threshold"].min(), part["threshold"].max())
    axes["E"].set_ylabel("published precision")
    axes["G"].set_ylabel("accuracy")
    axes["E"].legend(loc="lower right", ncols=3)
    axes["G"].legend(loc="lower left")
    axes["h"].set_ylabel("")
    return figure, data
