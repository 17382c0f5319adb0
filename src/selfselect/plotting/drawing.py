"""What all displays draw with: axes, colours, names of groups, rows, and labels that keep clear of each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._text import label_text
from .._validation import FloatArray
from ..auditing import group_names

#: Okabe and Ito's colours, told apart by colour-blind people too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
APPLIES, STAYS_AWAY, UNNAMED = COLOURS[0], COLOURS[1], "0.75"
#: So many groups have a colour and a name of their own among curves or points; the others are grey.
MOST_NAMED = len(COLOURS)
#: So many groups have a row.
MOST_ROWS = 40
#: Inches of a row, and of what is above and below all rows.
ROW_HEIGHT, AROUND_ROWS = 0.36, 1.15
#: Height of a line of small text, in points.
LINE_HEIGHT = 11.0


def new_axes(ax: Any, size: tuple[float, float] = (7, 4.5)) -> Any:
    """The given axes, or those of a new figure."""
    try:
        import matplotlib.pyplot as plt  # an extra, which only drawing needs
    except ImportError as error:
        raise ImportError("Plots need matplotlib: pip install selfselect[plot].") from error
    return plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def label_texts(groups: pd.Index) -> list[str]:
    r"""One text per group.

    Examples
    --------
    >>> label_texts(pd.Index(["A", "$B"]))
    ['A', '\\$B']
    """
    return [label_text(name) for name in group_names(groups)]


def largest(people: Any, most: int) -> NDArray[np.intp]:
    """Positions of the groups with the most people, in the order in which they came.

    Examples
    --------
    >>> largest([5, 9, 7], 2).tolist()
    [1, 2]
    """
    return np.sort(np.argsort(-np.asarray(people, dtype=np.float64), kind="stable")[:most])


def apart(wanted: Sequence[float] | FloatArray, gap: float, low: float = -np.inf, high: float = np.inf) -> FloatArray:
    """Heights near the wanted ones, in the same order, none nearer to the next than the gap.

    Neighbours that are too near share the room around their middle, as a block, which may push on its neighbours. None
    is above ``high``, and none below ``low`` while there is room.

    Examples
    --------
    >>> apart([1.0, 0.0, 1.0], 0.5).tolist()
    [0.75, 0.0, 1.25]
    >>> apart([1.0, 0.0, 1.0], 0.5, 0.0, 1.0).tolist()
    [0.5, 0.0, 1.0]
    """
    heights = np.asarray(wanted, dtype=np.float64)
    order = np.argsort(heights, kind="stable")
    blocks: list[tuple[float, int]] = []  # middle and number of labels, from below
    for height in heights[order]:
        middle, size = float(height), 1
        while blocks and middle - blocks[-1][0] < gap * (size + blocks[-1][1]) / 2:
            below, others = blocks.pop()
            middle = (middle * size + below * others) / (size + others)
            size += others
        blocks.append((middle, size))
    rising = np.array([middle + gap * (k - (size - 1) / 2) for middle, size in blocks for k in range(size)])
    steps = gap * np.arange(len(rising))
    rising = np.maximum.accumulate(np.maximum(rising, low) - steps) + steps
    rising = np.minimum.accumulate((np.minimum(rising, high) + steps[::-1])[::-1])[::-1] - steps[::-1]
    found = np.empty(len(heights))
    found[order] = rising
    return found


def name_lines(axes: Any, ends: Sequence[tuple[float, float]], texts: Sequence[str], colours: Sequence[str]) -> None:
    """Write names to the right of the axes, each joined to the end of its line; the y axis must be set already."""
    height = axes.get_position().height * axes.figure.get_figheight() * 72
    low, high = axes.get_ylim()
    gap = LINE_HEIGHT / height * (high - low)
    levels = apart([y for _, y in ends], gap, low, high)
    for end, level, text, colour in zip(ends, levels, texts, colours, strict=True):
        axes.annotate(
            text,
            end,
            xytext=(1.04, float((level - low) / (high - low))),
            textcoords="axes fraction",
            va="center",
            fontsize="small",
            annotation_clip=False,
            # dotted: it is no part of the line
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "linewidth": 1,
                "linestyle": ":",
                "shrinkA": 1,
                "shrinkB": 0,
            },
        )


#: Where a name may stand beside its point, in points: first choices first.
_PLACES = tuple(
    (x * reach, y * reach, side)
    for reach in (1.0, 1.8, 2.8, 4.0)
    for x, y, side in ((7, 6, "left"), (7, -6, "left"), (-7, 6, "right"), (-7, -6, "right"), (0, 10, "center"))
)


def name_points(axes: Any, points: Sequence[tuple[float, float]], texts: Sequence[str], colours: Sequence[str]) -> None:
    """Write names beside points, at the first place that covers no other point and no other text, and is inside."""
    axes.figure.draw_without_rendering()  # the layout is settled, so that places can be compared
    inside = axes.get_window_extent()
    dots = axes.transData.transform(np.asarray(points, dtype=np.float64).reshape(-1, 2))
    taken = [text.get_window_extent() for text in axes.texts]
    halo = {"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.5}
    for number, (point, text, colour) in enumerate(zip(points, texts, colours, strict=True)):
        others = np.delete(dots, number, axis=0)
        best, fewest = None, np.inf
        for x, y, side in _PLACES:
            label = axes.annotate(
                text,
                point,
                (x, y),
                textcoords="offset points",
                ha=side,
                va="center",
                fontsize="small",
                color=colour,
                bbox=halo,
                zorder=4,
            )
            box = label.get_window_extent().padded(2)
            met = sum(box.overlaps(other) for other in taken) + box.count_contains(others)
            met += 2 * (box.x0 < inside.x0 or box.x1 > inside.x1 or box.y0 < inside.y0 or box.y1 > inside.y1)
            if met < fewest:
                if best is not None:
                    best[0].remove()
                best, fewest = (label, box), met
            else:
                label.remove()
            if not met:
                break
        if best is not None:
            taken.append(best[1])


def row_axes(ax: Any, n_rows: int) -> Any:
    """Axes with a row for each of so many groups, the first at the top."""
    axes = new_axes(ax, (7, AROUND_ROWS + ROW_HEIGHT * max(n_rows, 2)))
    axes.set_ylim(n_rows - 0.4, -0.6)
    axes.grid(axis="x", color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)
    return axes


def name_rows(axes: Any, texts: Sequence[str], notes: Sequence[str]) -> None:
    """Names to the left of rows, and what there is to say about each to the right."""
    axes.set_yticks(range(len(texts)), labels=list(texts))
    for row, note in enumerate(notes):
        axes.text(1.02, row, note, transform=axes.get_yaxis_transform(), va="center", fontsize="small", color="0.25")


def left_out(shown: int, groups: int) -> str:
    """What to say where not every group has a row.

    Examples
    --------
    >>> left_out(4, 4), left_out(40, 52)
    ('', ' (the 40 largest of 52 groups)')
    """
    return "" if shown == groups else f" (the {shown} largest of {groups} groups)"


def draw_costs(axes: Any, costs: FloatArray) -> None:
    """What each row's group faces: one line where it is the same for all, else a mark in each row."""
    if len(costs) and np.ptp(costs) == 0:
        axes.axvline(costs[0], color="0.3", linestyle="--", linewidth=1, zorder=1)
        axes.annotate(
            f"cost {costs[0]:g}",
            (costs[0], 1),
            (0, 3),
            xycoords=axes.get_xaxis_transform(),
            textcoords="offset points",
            ha="center",
            fontsize="small",
            color="0.3",
        )
        return
    rows = np.arange(len(costs))
    axes.vlines(costs, rows - 0.4, rows + 0.4, color="0.3", linestyle="--", linewidth=1.2, zorder=3)
    if len(costs):
        axes.annotate(
            "own cost", (costs[0], -0.4), (0, 3), textcoords="offset points", ha="center", fontsize="small", color="0.3"
        )
