"""Figures of synthetic populations: precision curves, assumed against induced accuracy, the ordering constraint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from ....datasets import make_base_rate_groups, make_ordering_constraint, make_precision_curves
from ....metrics import outcome
from ....publishing import ThresholdCurves
from .style import (
    BLACK,
    BLUE,
    GREY,
    MANY,
    ORANGE,
    applies_bars,
    letter,
    line_of,
    new_figure,
    new_mosaic,
    selected_area,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def _naive_model(bunch: Any) -> LogisticRegression:
    return LogisticRegression(C=np.inf, max_iter=1000).fit(bunch.data, bunch.target)


def curve_table(curves: ThresholdCurves, thresholds: NDArray[Any], cost: float) -> pd.DataFrame:
    """Published precision and decision of each group, and accuracies, at some thresholds: one row per threshold.

    Columns are ``precision: NAME`` and ``applies: NAME`` for each group, ``assumed accuracy``, ``induced accuracy``.
    """
    rows = []
    for threshold in thresholds:
        published = curves.at(float(threshold))
        applies = published.applies(cost)
        result = outcome(published, applies)
        row: dict[str, float | bool] = {"threshold": float(threshold)}
        row |= {f"precision: {name}": value for name, value in published.precision.items()}
        row |= {f"applies: {name}": bool(value) for name, value in applies.items()}
        row |= {"assumed accuracy": result.assumed_accuracy, "induced accuracy": result.induced_accuracy}
        rows.append(row)
    return pd.DataFrame(rows)


def _groups(data: pd.DataFrame) -> list[str]:
    # a table of several experiments has a column for every group of any of them
    return [
        name.removeprefix("precision: ")
        for name in data.columns
        if name.startswith("precision: ") and data[name].notna().any()
    ]


def _applies(data: pd.DataFrame) -> pd.DataFrame:
    return data[[f"applies: {name}" for name in _groups(data)]].rename(columns=lambda c: c.removeprefix("applies: "))


# ---------------------------------------------------------------------- 4: precision curves of ten groups


def precision_curves_data() -> pd.DataFrame:
    """Figure 4: precision and decision of ten groups over thresholds on a naive score.

    Groups are numbered by their base rate, from the highest (z0) on, as the authors number them.
    """
    bunch = make_precision_curves(random_state=0)
    score = _naive_model(bunch).predict_proba(bunch.data)[:, 1]
    rate = bunch.target.groupby(bunch.group, observed=True).mean().sort_values(ascending=False, kind="stable")
    number = {name: f"z{place}" for place, name in enumerate(rate.index)}
    group = bunch.group.astype(object).map(number)
    curves = ThresholdCurves.from_scores(bunch.target, score, sensitive_features=group)
    table = curve_table(curves, np.arange(100) / 100, bunch.cost)
    table.insert(1, "cost", bunch.cost)
    return table


def draw_precision_curves(data: pd.DataFrame) -> Figure:
    """Figure 4: curves above, who applies below, sorted by the threshold from which on a group does."""
    figure, axes = new_figure(2, 1, 7.0, 6.4, sharex=True, height_ratios=[1.5, 1])
    groups = _groups(data)
    for index, name in enumerate(groups):
        axes[0, 0].plot(data["threshold"], data[f"precision: {name}"], label=name, **line_of(index))
    cost = data["cost"].iloc[0]
    axes[0, 0].axhline(cost, color=GREY, lw=1)
    axes[0, 0].annotate(
        f"cost {cost:g}", (1.0, cost), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8, color=GREY
    )
    axes[0, 0].set_ylabel("published precision")
    axes[0, 0].set_xlim(0, 1)
    axes[0, 0].legend(ncols=1, loc="upper left", bbox_to_anchor=(1.0, 0.72), title="group")
    applies = _applies(data)
    first = [np.inf if not applies[name].any() else applies[name].to_numpy().argmax() for name in groups]
    order = np.argsort(first, kind="stable")
    applies_bars(
        axes[1, 0],
        data["threshold"].to_numpy(),
        applies[[groups[i] for i in order]],
        [MANY[i % len(MANY)] for i in order],
    )
    axes[1, 0].set_xlabel("threshold on the score")
    return figure


# ---------------------------------------------------------------------- 10: assumed against induced accuracy

_RATES = {"z0": 0.5, "z1": 0.5, "z2": 0.15, "z3": 0.85}
_EXPERIMENTS = [("z1", 0.8), ("z2", 0.8), ("z3", 0.9)]
_THRESHOLDS = np.linspace(0.01, 0.99, 99)


def assumed_induced_data() -> pd.DataFrame:
    """Figure 10: densities of four groups; then three experiments with z0 and one other group: curves over thresholds.

    ``learned`` is the threshold of the naive classifier, ``cutoff: NAME`` the value of x from which on it selects.
    """
    x = np.linspace(-2.2, 2.2, 221)
    parts = [_density_table(name, x, rate, (-0.5, 0.5), (0.5, 0.5)) for name, rate in _RATES.items()]
    for other, cost in _EXPERIMENTS:
        names = ["z0", other]
        bunch = make_base_rate_groups([_RATES[name] for name in names], random_state=0)
        group = bunch.group.cat.rename_categories(names)
        model = _naive_model(bunch)
        score = model.predict_proba(bunch.data)[:, 1]
        curves = ThresholdCurves.from_scores(bunch.target, score, sensitive_features=group)
        table = curve_table(curves, _THRESHOLDS, cost)
        slope = model.coef_[0, -1]
        for code, name in enumerate(names):
            table[f"cutoff: {name}"] = -(model.intercept_[0] + model.coef_[0, code]) / slope
        table.insert(0, "panel", f"z0 and {other}")
        table.insert(1, "cost", cost)
        table["learned"] = 0.5
        parts.append(table)
    return pd.concat(parts, ignore_index=True)


def _densities(ax: Axes, part: pd.DataFrame) -> None:
    ax.plot(part["x"], part["qualified"], color=BLUE, label="qualified")
    ax.plot(part["x"], part["not qualified"], color=ORANGE, ls="--", label="not qualified")
    ax.set_yticks([])


def _density_table(
    title: str, x: NDArray[Any], rate: float, negative: tuple[float, float], positive: tuple[float, float]
) -> pd.DataFrame:
    """Densities of the qualified and the others, weighted by their shares; rows of the same table as the curves."""
    return pd.DataFrame(
        {
            "panel": title,
            "x": x,
            "qualified": rate * norm.pdf(x, *positive),
            "not qualified": (1 - rate) * norm.pdf(x, *negative),
        }
    )


def _accuracy_panel(ax: Axes, bars: Axes, part: pd.DataFrame, learned: float | None) -> None:
    ax.plot(part["threshold"], part["assumed accuracy"], color=BLACK, ls="--", lw=1.2, label="assumed accuracy")
    ax.plot(part["threshold"], part["induced accuracy"], color=BLUE, lw=1.8, label="induced accuracy")
    if learned is not None:
        nearest = part.iloc[(part["threshold"] - learned).abs().argmin()]
        for name, colour in (("assumed accuracy", BLACK), ("induced accuracy", BLUE)):
            label = "learned threshold" if name == "assumed accuracy" else None
            ax.plot([learned], [nearest[name]], "*", ms=10, color=colour, label=label, zorder=4)
    names = _groups(part)
    applies_bars(bars, part["threshold"].to_numpy(), _applies(part), [GREY] * len(names))
    bars.set_xlabel("threshold")


def draw_assumed_induced(data: pd.DataFrame) -> Figure:
    """Figure 10: densities, precision curves, and per experiment accuracies with who applies."""
    figure, axes = new_mosaic(
        ("AAABBBCCCDDD", "EEEEEEkkkkkk", "FFFFGGGGHHHH", "ffffgggghhhh"), 10.5, 8.2, (1, 1.2, 1.2, 0.42)
    )
    figure.set_layout_engine("tight")  # rows of four, two and three: matplotlib before 3.11 can constrain no such thing
    _group_panels(axes, data)
    _precision_panel(axes["E"], data)
    _experiment_panels(axes, data[data["threshold"].notna()])
    axes["k"].axis("off")
    top = axes["A"].get_legend_handles_labels()
    bottom = axes["F"].get_legend_handles_labels()
    first = axes["k"].legend(*top, loc="upper left", title="(A) to (D)", bbox_to_anchor=(0.08, 0.95))
    axes["k"].add_artist(first)
    axes["k"].legend(*bottom, loc="upper left", title="(F) to (H)", bbox_to_anchor=(0.55, 0.95))
    return figure


def _group_panels(axes: dict[str, Axes], data: pd.DataFrame) -> None:
    """Densities of each group, and who of it is selected."""
    for name, (group, rate) in zip("ABCD", _RATES.items(), strict=True):
        ax = axes[name]
        part = data[data["panel"] == group]
        _densities(ax, part)
        right = part[part["x"] >= data[f"cutoff: {group}"].dropna().iloc[0]]
        selected_area(ax, right["x"], right["qualified"], right["not qualified"])
        letter(ax, name, f"{group}, base rate {rate:g}")
        ax.set_xlabel("feature x")
        ax.set_ylim(0, 0.75)
    axes["A"].set_ylabel("density")


def _precision_panel(ax: Axes, data: pd.DataFrame) -> None:
    """Precision curves of all groups, and the costs."""
    for index, group in enumerate(_RATES):
        part = data[data["panel"] == f"z0 and {group if group != 'z0' else 'z1'}"]
        ax.plot(part["threshold"], part[f"precision: {group}"], label=group, **line_of(index))
    for _, cost in _EXPERIMENTS[1:]:
        ax.axhline(cost, color=GREY, lw=1)
        ax.annotate(
            f"c = {cost:g}", (1, cost), xytext=(3, 0), textcoords="offset points", fontsize=8, va="center", color=GREY
        )
    letter(ax, "E", "published precision")
    ax.set_xlim(0, 1)
    ax.set_xlabel("threshold")
    ax.set_ylabel("precision")
    ax.legend(loc="lower right", title="group", ncols=4)


def _experiment_panels(axes: dict[str, Axes], curves: pd.DataFrame) -> None:
    """Accuracies of each experiment, and who applies."""
    verdicts = ("as assumed", "below assumed", "above assumed")
    for name, verdict, (experiment, part) in zip("FGH", verdicts, curves.groupby("panel", sort=False), strict=True):
        _accuracy_panel(axes[name], axes[name.lower()], part, part["learned"].iloc[0])
        letter(axes[name], name, f"{experiment}, c = {part['cost'].iloc[0]:g}: {verdict}")
        axes[name].set_ylim(0.45, 1.0)
        for ax in (axes[name], axes[name.lower()]):
            ax.set_xlim(0, 1)
        if name != "F":
            axes[name.lower()].set_ylabel("")
    axes["F"].set_ylabel("accuracy")


# ---------------------------------------------------------------------- 11: the ordering constraint


def ordering_data() -> pd.DataFrame:
    """Figure 11: densities of both features; then curves over thresholds on the naive score and on x1 alone."""
    bunch = make_ordering_constraint(random_state=0)
    naive = _naive_model(bunch).predict_proba(bunch.data)[:, 1]
    x = np.linspace(-1.4, 1.4, 281)
    x1_of_z0, x1_of_z1, x2 = ((-0.3, 0.1), (0.2, 0.1)), ((0.0, 0.2), (0.0, 0.2)), ((-0.35, 0.3), (0.25, 0.3))
    parts = [
        _density_table("z0: x1", x, 0.3, *x1_of_z0),
        _density_table("z0: x2", x, 0.3, *x2),
        _density_table("z1: x1", x, 0.7, *x1_of_z1),
        _density_table("z1: x2", x, 0.7, *x2),
    ]
    for title, score, grid in (
        ("naive score", naive, np.linspace(0.01, 0.99, 99)),
        ("x1 alone", bunch.data["x1"].to_numpy(), np.linspace(-0.5, 0.5, 101)),
    ):
        curves = ThresholdCurves.from_scores(bunch.target, score, sensitive_features=bunch.group)
        table = curve_table(curves, grid, bunch.cost)
        table.insert(0, "panel", title)
        table.insert(1, "cost", bunch.cost)
        parts.append(table)
    return pd.concat(parts, ignore_index=True)


def draw_ordering(data: pd.DataFrame) -> Figure:
    """Figure 11: densities of both features in both groups, precision curves, accuracies with who applies."""
    figure, axes = new_mosaic(("ABCD", "EEFF", "GGHH", "gghh"), 10.5, 8.0, (1, 1.2, 1.2, 0.35))
    rates = {"z0": 0.3, "z1": 0.7}
    for name, title in zip("ABCD", ("z0: x1", "z0: x2", "z1: x1", "z1: x2"), strict=True):
        group, _, feature = title.partition(": ")
        _densities(axes[name], data[data["panel"] == title])
        letter(axes[name], name, f"{feature} in {group} (base rate {rates[group]:g})")
        axes[name].set_xlabel(feature)
    axes["A"].set_ylabel("density")
    axes["A"].legend(loc="upper right")
    curves = data[data["threshold"].notna()]
    for name, below, (title, part) in zip("EF", "GH", curves.groupby("panel", sort=False), strict=True):
        for index, group in enumerate(_groups(part)):
            axes[name].plot(part["threshold"], part[f"precision: {group}"], label=group, **line_of(index))
        cost = part["cost"].iloc[0]
        axes[name].axhline(cost, color=GREY, lw=1, label=f"cost {cost:g}")
        letter(axes[name], name, f"precision, threshold on {'the ' if title == 'naive score' else ''}{title}")
        axes[name].set_ylim(0.2, 1.03)
        _accuracy_panel(axes[below], axes[below.lower()], part, None)
        best = part.loc[part["induced accuracy"].idxmax()]
        axes[below].plot([best["threshold"]], [best["induced accuracy"]], "*", ms=11, color=BLUE, zorder=4)
        both = [group for group in _groups(part) if best[f"applies: {group}"]]
        letter(axes[below], below, f"best {best['induced accuracy']:.2f}, {' and '.join(both)} applying")
        axes[below].set_ylim(0.2, 1.05)
        limits = (part["threshold"].min(), part["threshold"].max())
        for ax in (axes[name], axes[below], axes[below.lower()]):
            ax.set_xlim(*limits)
    axes["E"].set_ylabel("published precision")
    axes["G"].set_ylabel("accuracy")
    axes["E"].legend(loc="lower right", ncols=3)
    axes["G"].legend(loc="lower left")
    axes["h"].set_ylabel("")
    return figure
