"""One look for all figures: colours that colour-blind people can tell apart, sizes, and parts used by several.

Matplotlib is an extra, and is imported when something is drawn: data of figures, tables and pages do without.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Okabe and Ito's colours.
ORANGE, SKY, GREEN, BLUE, RED, PINK, BLACK, GREY = (
    "#E69F00 #56B4E9 #009E73 #0072B2 #D55E00 #CC79A7 #000000 #8C8C8C".split()
)
#: Up to ten lines in one panel (Paul Tol's muted colours and black); line styles and markers differ as well.
MANY = "#332288 #CC6677 #117733 #88CCEE #882255 #DDCC77 #44AA99 #AA4499 #999933 #000000".split()
DASHES: Sequence[Any] = ["-", "--", "-.", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1))]
MARKERS = "o s ^ D v P X < > *".split()

_SETTINGS: dict[Any, Any] = {
    "figure.dpi": 100,
    "savefig.dpi": 150,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.hashsalt": "selfselect",  # the same picture gives the same file
    "svg.fonttype": "none",
}


@contextmanager
def our_style() -> Iterator[None]:
    """Draw with our settings and leave those of others alone."""
    import matplotlib as mpl  # an extra

    with mpl.rc_context(_SETTINGS):
        yield


def _canvas(width: float, height: float) -> Figure:
    """Empty figure that needs no display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # an extra
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def new_figure(rows: int, columns: int, width: float, height: float, **options: Any) -> tuple[Figure, Any]:
    """Figure with a grid of axes, drawn without a display; axes always come as a two-dimensional array."""
    figure = _canvas(width, height)
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def new_mosaic(rows: Sequence[str], width: float, height: float, heights: Sequence[float]) -> tuple[Figure, Any]:
    """Figure with axes named by letters, laid out as in the rows of letters."""
    figure = _canvas(width, height)
    return figure, figure.subplot_mosaic("\n".join(rows), height_ratios=heights)


def legend_line(label: str, **style: Any) -> Any:
    """Line that is in the legend only."""
    from matplotlib.lines import Line2D  # an extra

    return Line2D([], [], label=label, **style)


def legend_patch(label: str, colour: str) -> Any:
    """Area that is in the legend only."""
    from matplotlib.patches import Patch  # an extra

    return Patch(facecolor=colour, edgecolor=GREY, label=label)


def colour_map(colours: Sequence[str]) -> Any:
    """Map from 0, 1, 2, ... to colours."""
    from matplotlib.colors import ListedColormap  # an extra

    return ListedColormap(list(colours))


def selected_area(ax: Axes, x: Any, qualified: Any, others: Any) -> None:
    """Areas below the densities of those who are selected: full for the qualified, hatched for the others."""
    ax.fill_between(x, qualified, color=BLUE, alpha=0.25, lw=0, label="selected, qualified")
    ax.fill_between(x, others, facecolor="none", edgecolor=ORANGE, hatch="////", lw=0, label="selected, not qualified")


def line_of(index: int) -> dict[str, Any]:
    """Colour and dashes of a line among many."""
    return {"color": MANY[index % len(MANY)], "linestyle": DASHES[index % len(DASHES)], "linewidth": 1.6}


def applies_bars(ax: Axes, x: NDArray[Any], applies: pd.DataFrame, colours: Sequence[str]) -> None:
    """Bars over the stretches of x where each group applies; one row per group, named.

    ``applies`` has one column per group and one row per entry of x.
    """
    step = float(np.median(np.diff(x)))
    for row, group in enumerate(applies.columns):
        mask = applies[group].to_numpy(dtype=bool)
        edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(int), [0]])))
        spans = [(x[a] - step / 2, x[b - 1] - x[a] + step) for a, b in zip(edges[::2], edges[1::2], strict=True)]
        ax.broken_barh(spans, (row - 0.36, 0.72), facecolors=colours[row])
    ax.set_yticks(range(len(applies.columns)), [str(group) for group in applies.columns])
    ax.set_ylim(len(applies.columns) - 0.4, -0.6)
    ax.set_ylabel("applies")


def letter(ax: Axes, name: str, title: str) -> None:
    """Title of a panel, with its letter."""
    ax.set_title(f"({name}) {title}", loc="left")
