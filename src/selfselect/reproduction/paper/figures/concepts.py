"""Figures that need no data: the process, distributions, regions and curves that follow from formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from ...._validation import FloatArray
from ....behaviour import smooth_applies
from ....datasets import make_calibrated_score
from ....publishing import PublishedStatistics
from ....theory import application_region, paper_accuracy_bounds
from .style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PINK,
    SKY,
    colour_map,
    legend_line,
    legend_patch,
    letter,
    new_figure,
    selected_area,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# ---------------------------------------------------------------------- 1: the process


def process_data() -> pd.DataFrame:
    """Figure 1: steps of the process and where each leads: step, text, x, y, next."""
    steps = [
        ("learn", "Firm trains a\nclassifier on past data", 0.0, 1.0, "publish", ""),
        ("publish", "Firm publishes each\ngroup's precision", 1.0, 1.0, "decide", ""),
        ("decide", "Candidate compares\nprecision with cost", 1.0, 0.0, "screen", "precision ≥ cost:\napply"),
        ("screen", "Screening\nclassifier", 2.15, 0.0, "test", "selected"),
        ("test", "Test, which costs\nthe candidate c", 3.3, 0.0, "hire", "qualified"),
        ("hire", "Hired", 4.3, 0.0, "", ""),
        ("candidates", "Candidates with\nfeatures and group", 0.0, 0.0, "decide", ""),
        ("stay", "Stays away", 1.0, -0.85, "", ""),
    ]
    return pd.DataFrame(steps, columns=["step", "text", "x", "y", "next", "condition"])


def draw_process(data: pd.DataFrame) -> Figure:
    """Figure 1: boxes and arrows."""
    figure, axes = new_figure(1, 1, 9.5, 3.4)
    ax = axes[0, 0]
    place = {row.step: (row.x * 1.7, row.y * 1.15) for row in data.itertuples()}
    text = dict(zip(data["step"], data["text"], strict=True))
    colours = {"learn": SKY, "publish": SKY, "screen": SKY, "hire": GREEN, "stay": ORANGE}
    boxes = {
        name: ax.text(
            *where,
            text[name],
            ha="center",
            va="center",
            zorder=3,
            bbox={"boxstyle": "round,pad=0.5", "facecolor": "white", "edgecolor": colours.get(name, BLACK), "lw": 1.8},
        )
        for name, where in place.items()
    }
    arrows = [(row.step, row.next, row.condition) for row in data.itertuples() if row.next]
    arrows.append(("decide", "stay", "precision < cost"))
    for start, end, label in arrows:
        ax.annotate(
            "",
            xy=place[end],
            xytext=place[start],
            arrowprops={
                "arrowstyle": "-|>",
                "color": GREY,
                "patchA": boxes[start].get_bbox_patch(),
                "patchB": boxes[end].get_bbox_patch(),
                "shrinkA": 2,
                "shrinkB": 2,
                "lw": 1.4,
            },
        )
        middle = (np.array(place[start]) + np.array(place[end])) / 2
        upright = place[start][0] == place[end][0]
        offset = np.array([0.12, 0.0]) if upright else np.array([0.0, 0.34])
        ax.text(*(middle + offset), label, ha="left" if upright else "center", va="center", fontsize=8, color="#404040")
    ax.set_xlim(-0.95, 8.0)
    ax.set_ylim(-1.4, 1.7)
    ax.axis("off")
    return figure


# ---------------------------------------------------------------------- 2: precision of the optimal threshold


def optimal_precision(base_rate: float) -> tuple[float, float]:
    """Most accurate threshold and its precision, for x | y ~ N(-.5, .5) and N(.5, .5).

    Examples
    --------
    >>> [round(value, 3) for value in optimal_precision(0.15)]
    [0.434, 0.759]
    """
    threshold = 0.25 * np.log((1 - base_rate) / base_rate)
    hits = base_rate * norm.sf(threshold, 0.5, 0.5)
    return float(threshold), float(hits / (hits + (1 - base_rate) * norm.sf(threshold, -0.5, 0.5)))


def base_rate_data() -> pd.DataFrame:
    """Figure 2: densities of the qualified and the others for a high and a low base rate, with threshold, precision."""
    x = np.linspace(-2.2, 2.2, 221)
    parts = []
    for rate in (0.85, 0.15):
        threshold, precision = optimal_precision(rate)
        parts.append(
            pd.DataFrame(
                {
                    "base_rate": rate,
                    "x": x,
                    "not_qualified": (1 - rate) * norm.pdf(x, -0.5, 0.5),
                    "qualified": rate * norm.pdf(x, 0.5, 0.5),
                    "threshold": threshold,
                    "precision": precision,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def draw_base_rate(data: pd.DataFrame) -> Figure:
    """Figure 2: one panel per base rate; what lies right of the threshold is selected."""
    figure, axes = new_figure(1, 2, 8.2, 3.0, sharey=True)
    for ax, (rate, part) in zip(axes[0], data.groupby("base_rate", sort=False), strict=True):
        threshold, precision = part["threshold"].iloc[0], part["precision"].iloc[0]
        x, right = part["x"], part["x"] >= threshold
        ax.plot(x, part["qualified"], color=BLUE, label="qualified")
        ax.plot(x, part["not_qualified"], color=ORANGE, ls="--", label="not qualified")
        selected_area(ax, x[right], part["qualified"][right], part["not_qualified"][right])
        ax.axvline(threshold, color=BLACK, lw=1, ls=":")
        ax.set_title(f"base rate {rate:g}: threshold {threshold:.3f}, precision {precision:.3f}", loc="left")
        ax.set_xlabel("feature x")
    axes[0, 0].set_ylabel("share-weighted density")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


# ---------------------------------------------------------------------- 3: who applies shapes the population

_MIXTURE = [(-4.0, 1.0, 0.2), (-2.0, 0.5, 0.125), (0.0, 1.2, 0.375), (3.0, 1.6, 0.2)]


def mixture_data() -> pd.DataFrame:
    """Figure 3: density of the people who apply, and each group's part, for three sets of groups that apply.

    A group that stays away has its part in the population of everybody (``applies`` is false), an applying one its part
    in that of the applicants.
    """
    x = np.linspace(-8, 9, 341)
    everybody = sum(weight for _, _, weight in _MIXTURE)
    rows = []
    for title, members in {"all": (1, 2, 3, 4), "groups 1 and 3": (1, 3), "groups 3 and 4": (3, 4)}.items():
        applicants = sum(_MIXTURE[member - 1][2] for member in members)
        whole = np.zeros_like(x)
        for member, (mean, deviation, weight) in enumerate(_MIXTURE, start=1):
            comes = member in members
            part = weight / (applicants if comes else everybody) * norm.pdf(x, mean, deviation)
            whole += part * comes
            rows.append(_series(title, f"group {member}", comes, x, part))
        rows.append(_series(title, "applicants", True, x, whole))
    return pd.concat(rows, ignore_index=True)


def _series(title: str, name: str, applies: bool, x: FloatArray, density: FloatArray) -> pd.DataFrame:
    return pd.DataFrame({"applying": title, "series": name, "applies": applies, "x": x, "density": density})


def draw_mixture(data: pd.DataFrame) -> Figure:
    """Figure 3: one panel per set of applying groups; those that stay away are dashed."""
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
    return figure


# ---------------------------------------------------------------------- 7: regions of application

_REGION_NAMES = {"applies": "must apply", "stays away": "cannot apply", "free": "accuracy does not decide"}


def region_data(size: int = 101) -> pd.DataFrame:
    """Figure 7: what accuracy says about application, over costs and accuracies, by the paper and exactly."""
    cost, accuracy = np.meshgrid(np.linspace(0.005, 0.995, size), np.linspace(0.0, 1.0, size))
    parts = []
    for rate in (0.25, 0.75):
        low, high = paper_accuracy_bounds(rate, cost)
        paper = np.where(accuracy < low, "stays away", np.where(accuracy >= high, "applies", "free"))
        exact = application_region(rate, accuracy, cost)
        for source, region in (("paper", paper), ("exact", exact)):
            parts.append(
                pd.DataFrame(
                    {
                        "base_rate": rate,
                        "source": source,
                        "cost": cost.ravel(),
                        "accuracy": accuracy.ravel(),
                        "region": region.ravel(),
                    }
                )
            )
    return pd.concat(parts, ignore_index=True)


def draw_regions(data: pd.DataFrame) -> Figure:
    """Figure 7: base rates side by side, the paper's regions above the exact ones."""
    colours = {"applies": BLUE, "stays away": ORANGE, "free": "#F2F2F2", "undefined": BLACK}
    figure, axes = new_figure(2, 2, 7.0, 6.2, sharex=True, sharey=True)
    codes = {name: code for code, name in enumerate(colours)}
    for (rate, source), part in data.groupby(["base_rate", "source"], sort=False):
        ax = axes[0 if source == "paper" else 1, 0 if rate == 0.25 else 1]
        side = round(len(part) ** 0.5)
        image = part["region"].map(codes).to_numpy().reshape(side, side)
        ax.imshow(
            image,
            origin="lower",
            extent=(0, 1, 0, 1),
            cmap=colour_map(list(colours.values())),
            vmin=0,
            vmax=len(colours) - 1,
            interpolation="nearest",
        )
        ax.set_title(f"base rate {rate:g}, {'as the paper has it' if source == 'paper' else 'exact'}", loc="left")
    for ax in axes[:, 0]:
        ax.set_ylabel("accuracy on the group")
    for ax in axes[1]:
        ax.set_xlabel("cost c")
    handles = [legend_patch(label, colours[region]) for region, label in _REGION_NAMES.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


# ---------------------------------------------------------------------- 8: a calibrated score that is not monotone


def calibrated_data() -> pd.DataFrame:
    """Figure 8: chance of being qualified at and above each score: formulas, and a sample of 100,000."""
    sample = make_calibrated_score(100_000, random_state=0)
    score, y = sample.data["x"].to_numpy(), sample.target.to_numpy()
    t = np.linspace(0, 0.99, 100)
    rows: list[dict[str, Any]] = []
    for value in t:
        near = np.abs(score - value) <= 0.01
        above = PublishedStatistics.from_scores(y, score, threshold=value)
        rows.append(
            {
                "t": value,
                "at": (value - 1 / 3) ** 2 + 1 / 3,
                "above": (4 + 3 * value**2) / 9,
                "at_sample": y[near].mean(),
                "above_sample": float(above.precision.iloc[0]),
            }
        )
    return pd.DataFrame(rows)


def draw_calibrated(data: pd.DataFrame) -> Figure:
    """Figure 8: both curves in one panel."""
    figure, axes = new_figure(1, 1, 5.2, 3.6)
    ax = axes[0, 0]
    ax.plot(data["t"], data["above"], color=BLUE, label="score above t: precision (never falls)")
    ax.plot(data["t"], data["at"], color=ORANGE, ls="--", label="score equal to t (falls up to 1/3)")
    some = data.iloc[::5]
    ax.plot(some["t"], some["above_sample"], "o", ms=3.5, color=BLUE, label="the same in a sample of 100,000")
    ax.plot(some["t"], some["at_sample"], "s", ms=3.5, color=ORANGE)
    ax.set_xlabel("score t")
    ax.set_ylabel("share of qualified people")
    ax.set_ylim(0.25, 0.85)
    ax.legend(loc="upper left")
    return figure


# ---------------------------------------------------------------------- 9: applications made smooth


def sigmoid_data() -> pd.DataFrame:
    """Figure 9: smooth application against precision minus cost, for costs and temperatures.

    Its domain, from minus the cost to one minus the cost, shifts with the cost; it is one half at 0 whatever the cost.
    """
    q = np.linspace(0, 1, 201)
    settings = [("cost", 2.0, c) for c in (0.25, 0.5, 0.75)] + [("temperature", t, 0.5) for t in (1.5, 3.0, 6.0)]
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "varies": varies,
                    "temperature": temperature,
                    "cost": cost,
                    "precision": q,
                    "above_cost": q - cost,
                    "application": smooth_applies(q, np.full_like(q, cost), temperature)[0],
                }
            )
            for varies, temperature, cost in settings
        ],
        ignore_index=True,
    )


def draw_sigmoid(data: pd.DataFrame) -> Figure:
    """Figure 9: costs on top, temperatures below; dots are the ends of each domain and the fixed point at 0."""
    figure, axes = new_figure(2, 1, 5.0, 5.4, sharex=True)
    for ax, name, varies in zip(axes[:, 0], "AB", ("cost", "temperature"), strict=True):
        part = data[data["varies"] == varies]
        for (value, line), style, colour in zip(
            part.groupby(varies), ("-", "--", "-."), (BLUE, ORANGE, GREEN), strict=True
        ):
            symbol = "c" if varies == "cost" else "τ"
            ax.plot(line["above_cost"], line["application"], color=colour, ls=style, label=f"{symbol} = {value:g}")
            ends = line.iloc[[0, -1]]
            ax.plot(ends["above_cost"], ends["application"], "o", ms=4, color=colour, clip_on=False)
        ax.plot([0], [0.5], "o", ms=5, color=BLACK, zorder=3)
        ax.axvline(0, color=GREY, lw=0.8, ls=":", zorder=0)
        ax.axhline(0.5, color=GREY, lw=0.8, ls=":", zorder=0)
        letter(ax, name, "different costs, τ = 2: from -c to 1 - c" if varies == "cost" else "different τ, c = 0.5")
        ax.set_ylabel("smooth application")
        ax.legend(loc="upper left" if varies == "cost" else "lower right")
    axes[1, 0].set_xlabel("precision minus cost")
    return figure
