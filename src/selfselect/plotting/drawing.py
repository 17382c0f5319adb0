"""Common parts of all displays: axes, colours, names of groups, rows, and labels that do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

from .._text import plot_label
from ..auditing import group_names

#: Okabe and Ito's colours for the colour-blind.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
UNNAMED = "0.75"
#: Largest number of groups with a colour and a name; the others are grey.
MAX_NAMED = len(COLOURS)
#: Height of a line of small text, in points.
LINE_HEIGHT = 11.0


class Display:
    """Base of all displays: it keeps the axes and the figure."""

    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        self.ax_ = self._draw(ax)
        self.figure_ = self.ax_.figure
        return self

    def _draw(self, ax: Any) -> Any:
        raise NotImplementedError


def new_axes(ax: Any, size: tuple[float, float] = (7, 4.5)) -> Any:
    """The given axes, or those of a new figure."""
    try:
        import matplotlib.pyplot as plt  # an optional dependency
    except ImportError as error:
        raise ImportError("Plots need matplotlib: pip install selfselect[plot].") from error
    return plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def plot_labels(groups: pd.Index) -> list[str]:
    """Names of groups, escaped for matplotlib."""
    return [plot_label(name) for name in group_names(groups)]


def largest(people: Any, most: int) -> NDArray[np.intp]:
    """Positions of the largest groups, in their original order."""
    return np.sort(np.argsort(-np.asarray(people, dtype=np.float64), kind="stable")[:most])


def name_lines(axes: Any, ends: Sequence[tuple[float, float]], texts: Sequence[str], colours: Sequence[str]) -> None:
    """Write names to the right of the axes, connected to the ends of their lines. Set the limits of y before.

    Names that would overlap form a block around the mean of their lines.
    """
    height = axes.get_position().height * axes.figure.get_figheight() * 72
    low, high = axes.get_ylim()
    wanted, steps = np.array([y for _, y in ends]), LINE_HEIGHT / height * (high - low) * np.arange(len(ends))
    order, levels = np.argsort(wanted, kind="stable"), np.empty(len(ends))
    lowest = np.maximum(isotonic_regression(wanted[order] - steps), low)
    levels[order] = np.minimum(lowest, high - steps[-1]) + steps
    for end, level, text, colour in zip(ends, levels, texts, colours, strict=True):
        axes.annotate(
            text,
            end,
            xytext=(1.04, float((level - low) / (high - low))),
            textcoords="axes fraction",
            va="center",
            fontsize="small",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "linestyle": ":", "shrinkA": 1, "shrinkB": 0},
        )


#: Possible places of a name beside its point, in points; the first choices come first.
_PLACES = tuple(
    (x * reach, y * reach, side)
    for reach in (1.0, 1.8, 2.8, 4.0)
    for x, y, side in ((7, 6, "left"), (7, -6, "left"), (-7, 6, "right"), (-7, -6, "right"), (0, 10, "center"))
)


def small_text(axes: Any, text: str, point: tuple[float, float], offset: tuple[float, float], **options: Any) -> Any:
    """Write a small text beside a point, at an offset in points."""
    return axes.annotate(text, point, offset, textcoords="offset points", fontsize="small", **options)


def name_points(axes: Any, points: Sequence[tuple[float, float]], texts: Sequence[str], colours: Sequence[str]) -> None:
    """Write names beside points, at the first place inside the axes that covers no other point and no other text."""
    axes.figure.draw_without_rendering()  # so that positions are final
    inside = axes.get_window_extent()
    dots = axes.transData.transform(np.asarray(points, dtype=np.float64).reshape(-1, 2))
    taken = [text.get_window_extent() for text in axes.texts]
    halo = {"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.5}
    for number, (point, text, colour) in enumerate(zip(points, texts, colours, strict=True)):
        others = np.delete(dots, number, axis=0)
        best, fewest = None, np.inf
        for x, y, side in _PLACES:
            label = small_text(axes, text, point, (x, y), ha=side, va="center", color=colour, bbox=halo, zorder=4)
            box = label.get_window_extent().padded(2)
            overlaps = sum(box.overlaps(other) for other in taken) + box.count_contains(others)
            overlaps += 2 * (box.x0 < inside.x0 or box.x1 > inside.x1 or box.y0 < inside.y0 or box.y1 > inside.y1)
            if overlaps < fewest:
                if best is not None:
                    best[0].remove()
                best, fewest = (label, box), overlaps
            else:
                label.remove()
            if not overlaps:
                break
        if best is not None:
            taken.append(best[1])
