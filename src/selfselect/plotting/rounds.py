"""Who applies, round by round."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..simulation import History
from .drawing import COLOURS, Display, largest, new_axes, plot_labels

#: Rows of the picture: the largest groups.
MAX_ROWS = 40
#: With more rounds, shares are not written into cells.
MAX_WRITTEN = 25


class RoundsDisplay(Display):
    """Share of each group that applies, round by round: the darker a cell, the larger the share; a dot means nobody.

    Parameters
    ----------
    history : History
        Result of :func:`selfselect.simulation.simulate`.

    Examples
    --------
    >>> from selfselect import NaiveClassifier
    >>> from selfselect.datasets import make_base_rate_groups
    >>> from selfselect.simulation import simulate
    >>> people = make_base_rate_groups((0.5, 0.15), n_per_group=500, random_state=0)
    >>> history = simulate(people, NaiveClassifier(cost=0.7, publish="train"), rounds=2)
    >>> RoundsDisplay(history).plot().ax_.get_xlabel()
    'round'
    """

    def __init__(self, history: History) -> None:
        self.history = history

    def _draw(self, ax: Any) -> Any:
        shown = largest(self.history.counts.n[0], MAX_ROWS)
        shares = self.history.shares.to_numpy().T[shown]
        rows, rounds = shares.shape
        axes = new_axes(ax, (7, 1.2 + 0.32 * max(rows, 2)))
        from matplotlib.colors import LinearSegmentedColormap  # an optional dependency

        colours = LinearSegmentedColormap.from_list("shares", ["white", COLOURS[0]])
        edges = np.arange(rounds + 1) + 0.5, np.arange(rows + 1) - 0.5
        line = {"edgecolors": "0.85", "linewidth": 0.5} if rounds <= 2 * MAX_WRITTEN else {}
        axes.pcolormesh(*edges, shares, cmap=colours, vmin=0, vmax=1, **line)
        if rounds <= MAX_WRITTEN:
            for (row, number), share in np.ndenumerate(shares):
                if share < 0.005:
                    axes.plot(number + 1, row, ".", color=COLOURS[1], markersize=4)
                elif share < 0.995:
                    colour, text = "white" if share > 0.6 else "0.3", f"{share:.0%}".rstrip("%")
                    axes.text(number + 1, row, text, ha="center", va="center", fontsize="x-small", color=colour)
        names = plot_labels(self.history.groups)
        axes.set_yticks(range(rows), [names[i] for i in shown])
        axes.set_ylim(rows - 0.5, -0.5)
        hidden = len(names) - rows
        axes.set_xlabel("round" + (f"\n(the {rows} largest of {len(names)} groups)" if hidden else ""))
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.tick_params(length=0)
        return axes
