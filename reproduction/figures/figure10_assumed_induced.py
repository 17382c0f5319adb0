"""Figure 10: the accuracy that a naive learner assumes can be right, too high or too low."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from selfselect.datasets import make_base_rate_groups

from . import style

_RATES = {"z0": 0.5, "z1": 0.5, "z2": 0.15, "z3": 0.85}
#: The group beside z0, the cost, and how induced accuracy compares.
_EXPERIMENTS = [("z1", 0.8, "as assumed"), ("z2", 0.8, "below assumed"), ("z3", 0.9, "above assumed")]


def _experiment(other: str, cost: float) -> pd.DataFrame:
    """Curves of z0 and one other group; ``cutoff`` is the x from which on the learned classifier selects a group."""
    names = ["z0", other]
    bunch = make_base_rate_groups([_RATES[name] for name in names], random_state=0)
    model, score = style.naive_score(bunch)
    group = bunch.group.cat.rename_categories(names)
    table = style.curve_table(bunch.target, score, group, np.linspace(0.01, 0.99, 99), cost)
    for code, name in enumerate(names):
        table[f"cutoff: {name}"] = -(model.intercept_[0] + model.coef_[0, code]) / model.coef_[0, -1]
    table.insert(0, "panel", f"z0 and {other}")
    table.insert(1, "cost", cost)
    return table.assign(learned=0.5)


def draw() -> tuple[Figure, pd.DataFrame]:
    """Draw densities and precision curves of four groups, and accuracies in three experiments."""
    x = np.linspace(-2.2, 2.2, 221)
    densities = [style.density_table(name, x, rate, (-0.5, 0.5), (0.5, 0.5)) for name, rate in _RATES.items()]
    experiments = [_experiment(other, cost) for other, cost, _ in _EXPERIMENTS]
    data = pd.concat([*densities, *experiments], ignore_index=True)

    figure = Figure(figsize=(10.5, 8.2), layout="tight")  # constrained needs matplotlib 3.11 for rows like these
    rows = "AAABBBCCCDDD\nEEEEEEkkkkkk\nFFFFGGGGHHHH\nffffgggghhhh"
    axes = figure.subplot_mosaic(rows, height_ratios=(1, 1.2, 1.2, 0.42))
    _draw_groups(axes, data)
    _draw_precision(axes["E"], data)
    _draw_experiments(axes, data[data["threshold"].notna()])
    axes["k"].axis("off")
    top, bottom = axes["A"].get_legend_handles_labels(), axes["F"].get_legend_handles_labels()
    first = axes["k"].legend(*top, loc="upper left", title="(A) to (D)", bbox_to_anchor=(0.08, 0.95))
    axes["k"].add_artist(first)
    axes["k"].legend(*bottom, loc="upper left", title="(F) to (H)", bbox_to_anchor=(0.55, 0.95))
    return figure, data


def _draw_groups(axes: Mapping[str, Axes], data: pd.DataFrame) -> None:
    """Draw the densities of each group, and who of it is selected."""
    for letter, (group, rate) in zip("ABCD", _RATES.items(), strict=True):
        ax = axes[letter]
        part = data[data["panel"] == group]
        style.draw_densities(ax, part["x"], part["qualified"], part["not qualified"])
        right = part[part["x"] >= data[f"cutoff: {group}"].dropna().iloc[0]]
        style.draw_selected(ax, right["x"], right["qualified"], right["not qualified"])
        style.panel_title(ax, letter, f"{group}, base rate {rate:g}")
        ax.set_xlabel("feature x")
        ax.set_yticks([])
        ax.set_ylim(0, 0.75)
    axes["A"].set_ylabel("density")


def _draw_precision(ax: Axes, data: pd.DataFrame) -> None:
    """Draw the precision curves of all groups, and the costs."""
    for index, group in enumerate(_RATES):
        part = data[data["panel"] == f"z0 and {group if group != 'z0' else 'z1'}"]
        ax.plot(part["threshold"], part[f"precision: {group}"], label=group, **style.line_style(index))
    beside = {"xytext": (3, 0), "textcoords": "offset points", "va": "center", "fontsize": 8, "color": style.GREY}
    for _, cost, _ in _EXPERIMENTS[1:]:
        ax.axhline(cost, color=style.GREY, lw=1)
        ax.annotate(f"c = {cost:g}", (1, cost), **beside)
    style.panel_title(ax, "E", "published precision")
    ax.set_xlim(0, 1)
    ax.set_xlabel("threshold")
    ax.set_ylabel("precision")
    ax.legend(loc="lower right", title="group", ncols=4)


def _draw_experiments(axes: Mapping[str, Axes], curves: pd.DataFrame) -> None:
    """Draw the accuracies of each experiment, and who applies."""
    for letter, (other, cost, result) in zip("FGH", _EXPERIMENTS, strict=True):
        ax, bars = axes[letter], axes[letter.lower()]
        style.draw_accuracies(ax, bars, curves[curves["panel"] == f"z0 and {other}"], learned=0.5)
        style.panel_title(ax, letter, f"z0 and {other}, c = {cost:g}: {result}")
        ax.set_ylim(0.45, 1.0)
        ax.set_xlim(0, 1)
        bars.set_xlim(0, 1)
        if letter != "F":
            bars.set_ylabel("")
    axes["F"].set_ylabel("accuracy")
