"""Observed application rates against the fitted response."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..counting import precision_interval
from ..estimation import EstimatedBehaviour, fit_behaviour
from .drawing import COLOURS, MAX_NAMED, UNNAMED, Display, largest, name_points, new_axes, plot_labels

#: Points of a curve, and what is left free beside the outermost values.
POINTS, MARGIN = 200, 0.03


class EstimatedResponseDisplay(Display):
    """Application rate of each group and period, with 95% intervals, against the published value; and fitted curves.

    A cross marks the cost of a group, where half of it applies. Points far from their curve are what the model does not
    explain. Of more than eight groups, the largest have colours and names.

    Parameters
    ----------
    estimate : EstimatedBehaviour
        What :func:`selfselect.estimation.fit_behaviour` returned.

    Examples
    --------
    >>> import pandas as pd
    >>> from selfselect.plotting import EstimatedResponseDisplay
    >>> log = pd.DataFrame({"z": ["A", "A", "B", "B"], "q": [0.5, 0.7, 0.6, 0.8], "a": [20, 60, 20, 60], "n": 100})
    >>> display = EstimatedResponseDisplay.from_log(log, group="z", published="q", applicants="a", pool="n")
    >>> [text.get_text() for text in display.ax_.texts]
    ['A', 'B']
    """

    def __init__(self, estimate: EstimatedBehaviour) -> None:
        self.estimate = estimate

    @classmethod
    def from_estimate(cls, estimate: EstimatedBehaviour, *, ax: Any = None) -> Self:
        """Draw an estimate."""
        return cls(estimate).plot(ax)

    @classmethod
    def from_log(cls, log: Any, *, ax: Any = None, **columns: Any) -> Self:
        """Fit and draw a log of applications; parameters as in :func:`selfselect.estimation.fit_behaviour`."""
        return cls(fit_behaviour(log, **columns)).plot(ax)

    def _draw(self, ax: Any) -> Any:
        axes = new_axes(ax)
        estimate, rows = self.estimate, self.estimate.observations
        frame = estimate.to_frame()
        named = largest(frame["pool"], MAX_NAMED).tolist()
        colours = {z: COLOURS[i] for i, z in enumerate(named)}
        shown = np.concatenate([rows["published"], estimate.cost[(estimate.cost >= 0) & (estimate.cost <= 1)]])
        axes.set(xlim=(shown.min() - MARGIN, shown.max() + MARGIN), ylim=(-0.03, 1.03))
        axes.axhline(0.5, color="0.8", linewidth=1, zorder=1)
        ends = {}
        for z, part in rows.groupby("code"):
            colour, is_named = colours.get(z, UNNAMED), z in colours
            below, above = precision_interval(part["applicants"], part["pool"])
            error = np.maximum([part["rate"] - below, above - part["rate"]], 0)
            style = {"color": colour, "markersize": 5 if is_named else 3, "elinewidth": 1 if is_named else 0.4}
            axes.errorbar(part["published"], part["rate"], yerr=error, fmt="o", zorder=3 if is_named else 2, **style)
            ends[z] = part.loc[part["published"].idxmax(), ["published", "rate"]].tolist()
            if estimate.responds and np.isfinite(estimate.cost[z]):
                x = np.linspace(shown.min() - MARGIN, shown.max() + MARGIN, POINTS)
                line = {"linewidth": 1.5 if is_named else 0.5, "zorder": 2 if is_named else 1}
                axes.plot(x, estimate.share_at(x - estimate.cost[z]), color=colour, **line)
                if is_named:
                    axes.plot(estimate.cost[z], 0.5, "x", color="black", markersize=7, zorder=4)
        others = f"\n(grey: {len(frame) - len(named)} other groups)" if len(frame) > len(named) else ""
        axes.set(xlabel=f"published value (a cross: the cost){others}", ylabel="share that applies")
        labels = plot_labels(estimate.groups)
        name_points(axes, [ends[z] for z in named], [labels[z] for z in named], [colours[z] for z in named])
        return axes
