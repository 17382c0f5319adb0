"""Up to which cost each group applies."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._formats import amount_down
from ..auditing import Audit
from ..costs import Cost, Subsidies, Terms
from ..publishing import PublishedStatistics
from .drawing import APPLIES, STAYS_AWAY, Display, draw_costs, group_rows, left_out, note_rows
from .inputs import table_of, terms_of


class WhoAppliesDisplay(Display):
    """Up to which cost each group applies, one row per group, with the cost that it faces.

    A bar ends at the highest cost at which the group applies: its published precision, or the lower bound that people
    decide by. Groups whose bar reaches their cost apply (blue), the others do not (orange). The dot is the published
    precision with its 95% interval. Rows are sorted by the length of the bar.

    Parameters
    ----------
    published : PublishedStatistics
        Statistics that people decide by.
    terms : Terms
        What groups face, and how they respond.

    Examples
    --------
    >>> from selfselect.plotting import WhoAppliesDisplay
    >>> display = WhoAppliesDisplay.from_predictions(
    ...     [1, 1, 0, 1, 0, 0], [1, 1, 1, 1, 1, 0], sensitive_features=list("AAABBB"), cost=0.6
    ... )
    >>> [text.get_text() for text in display.ax_.get_yticklabels()]
    ['A', 'B']
    >>> [text.get_text() for text in display.ax_.texts]
    ['cost 0.6', 'applies, up to 0.666', 'stays away: only up to 0.50']
    """

    def __init__(self, published: PublishedStatistics, terms: Terms) -> None:
        self.published, self.terms = published, terms
        terms.effective_cost(published.groups)  # raises errors before anything is drawn

    @classmethod
    def from_audit(cls, audit: Audit, *, ax: Any = None) -> Self:
        """Draw an audit."""
        return cls(audit.published, audit.terms).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        sensitive_features: Any = None,
        cost: Cost,
        subsidies: Subsidies = None,
        ax: Any = None,
    ) -> Self:
        """Draw from labels and predictions; see :mod:`selfselect.plotting` for the parameters."""
        table = PublishedStatistics.from_predictions(y_true, y_pred, sensitive_features=sensitive_features)
        return cls(table, Terms(cost, subsidies)).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        sensitive_features: Any = None,
        cost: Cost | None = None,
        subsidies: Subsidies = None,
        ax: Any = None,
    ) -> Self:
        """Draw what a fitted classifier has published, or would publish about the people in X.

        Cost and subsidies are by default its own. A classifier of another package needs X, y and a cost.
        """
        table, terms = table_of(estimator, X, y, sensitive_features), terms_of(estimator, cost, subsidies)
        return cls(table, terms).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        table, groups = self.published, self.published.groups
        max_accepted_cost = self.terms.max_accepted_cost(groups, table.counts)
        axes, shown = group_rows(ax, groups, table.counts.n, max_accepted_cost)
        frame = table.to_frame().iloc[shown]
        limits, costs = max_accepted_cost[shown], self.terms.effective_cost(groups)[shown]
        applies = table.decisions(self.terms).to_numpy()[shown]
        rows = np.arange(len(shown))
        axes.barh(rows, np.nan_to_num(limits), height=0.5, color=np.where(applies, APPLIES, STAYS_AWAY), alpha=0.45)
        axes.hlines(rows, frame["precision_low"], frame["precision_high"], color="0.15", linewidth=1.4, zorder=4)
        axes.plot(frame["precision"], rows, "o", color="0.15", markersize=5, zorder=4)
        draw_costs(axes, costs)
        note_rows(axes, map(_note, limits.tolist(), applies.tolist(), frame["selected"].tolist()))
        bound = self.terms.confidence
        says = "precision" if bound is None else f"precision; bars: at least, with {bound:.0%} confidence"
        axes.set(xlim=(0, 1), xlabel=f"cost of applying (dots: published {says}){left_out(len(shown), len(groups))}")
        return self._drawn_on(axes)


def _note(limit: float, applies: bool, selected: float) -> str:
    """Whether a group applies, and up to which cost."""
    if np.isnan(limit):
        return "applies" if applies else "stays away: nobody passes" if not selected else "stays away"
    return f"applies, up to {amount_down(limit)}" if applies else f"stays away: only up to {amount_down(limit)}"
