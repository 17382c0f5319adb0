"""The table of published statistics, drawn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._formats import count
from ..auditing import Audit
from ..costs import Cost, Terms
from ..publishing import PublishedStatistics
from .drawing import COLOURS, Display, draw_costs, group_rows, left_out, note_rows
from .inputs import table_of


class PublishedTableDisplay(Display):
    """Published precision of each group with its 95% interval, and the base rate; sorted by precision.

    If people were not tested, the base rate is drawn as the range in which it lies.

    Parameters
    ----------
    published : PublishedStatistics
        The statistics.
    cost : float, or mapping from group to float, optional
        Cost that groups face, drawn as a line or as marks.

    Examples
    --------
    >>> from selfselect.plotting import PublishedTableDisplay
    >>> display = PublishedTableDisplay.from_predictions(
    ...     [1, 1, 0, 1, 0, 0], [1, 1, 1, 1, 1, 0], sensitive_features=list("AAABBB")
    ... )
    >>> [text.get_text() for text in display.ax_.texts]
    ['3 of 3 pass', '2 of 3 pass']
    """

    def __init__(self, published: PublishedStatistics, cost: Cost | None = None) -> None:
        self.published, self.cost = published, cost
        if cost is not None:
            published.costs(cost)  # raises errors before anything is drawn

    @classmethod
    def from_audit(cls, audit: Audit, *, ax: Any = None) -> Self:
        """Draw the published statistics of an audit, with the cost that each group faces."""
        groups = audit.published.groups
        costs = dict(zip(groups, audit.terms.effective_cost(groups).tolist(), strict=True))
        return cls(audit.published, costs).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        sensitive_features: Any = None,
        cost: Cost | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw from labels and predictions; see :mod:`selfselect.plotting` for the parameters."""
        table = PublishedStatistics.from_predictions(y_true, y_pred, sensitive_features=sensitive_features)
        return cls(table, cost).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        sensitive_features: Any = None,
        cost: Cost | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw what a fitted classifier has published, or would publish about the people in X."""
        return cls(table_of(estimator, X, y, sensitive_features), cost).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        counts, groups = self.published.counts, self.published.groups
        axes, shown = group_rows(ax, groups, counts.n, counts.precision)
        frame = self.published.to_frame().iloc[shown]
        rows = np.arange(len(shown))
        axes.hlines(rows, frame["precision_low"], frame["precision_high"], color=COLOURS[0], linewidth=2, zorder=3)
        axes.plot(frame["precision"], rows, "o", color=COLOURS[0], markersize=7, zorder=3, label="published precision")
        low, high = (bounds[shown] for bounds in counts.base_rate_bounds)
        axes.hlines(rows, low, high, color=COLOURS[1], linewidth=1.4, zorder=2)
        axes.plot(low, rows, "D", color=COLOURS[1], markersize=6, markerfacecolor="white", zorder=3, label="base rate")
        axes.plot(high, rows, "D", color=COLOURS[1], markersize=6, markerfacecolor="white", zorder=3)
        if self.cost is not None:
            draw_costs(axes, Terms(self.cost).effective_cost(groups)[shown])
        passing = zip(frame["selected"], frame["n"], strict=True)
        note_rows(axes, [f"{count(selected)} of {count(n)} pass" for selected, n in passing])
        axes.set(xlim=(0, 1.02), xlabel=f"share of qualified people{left_out(len(shown), len(groups))}")
        distance = 0.2 if self.cost is None else 1.4  # above the name of the cost
        place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": distance}
        axes.legend(**place, ncols=2, frameon=False, fontsize="small")
        return self._drawn_on(axes)
