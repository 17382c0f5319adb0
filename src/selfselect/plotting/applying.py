"""Who applies as the cost rises."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._formats import amount_down
from ..auditing import Audit
from ..costs import Cost, Subsidies, Terms
from ..publishing import PublishedStatistics
from .drawing import APPLIES, MOST_ROWS, STAYS_AWAY, draw_costs, label_texts, largest, left_out, name_rows, row_axes
from .finding import table_of, terms_of


class WhoAppliesDisplay:
    """Up to which cost each group applies, one row each, with what it faces.

    A bar runs up to the highest cost at which a group would apply: its published precision, or, where people want to be
    sure, the lower bound of it. Groups whose bar reaches their cost apply (blue), the others stay away (orange). The
    dot is the published precision, with its 95% interval. Rows are sorted by the cost up to which groups come.

    Parameters
    ----------
    published : PublishedStatistics
        What people decide by.
    terms : Terms
        What they face, and how they decide.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn on.
    figure_ : matplotlib Figure
        The figure around it.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
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
        terms.effective_cost(published.groups)  # complains about costs before anything is drawn

    @classmethod
    def from_audit(cls, audit: Audit, *, ax: Any = None) -> Self:
        """Draw what an audit has found.

        Parameters
        ----------
        audit : Audit
            Of any model.
        ax : matplotlib Axes, optional
            By default, new ones.
        """
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
        """Draw from labels and predictions of 0 and 1.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_rows,)
            Labels (1 = qualified) and predictions (1 = passes screening).
        sensitive_features : array-like, Series, DataFrame or dict of columns, optional
            Group of each row.
        cost : float, or mapping from group to float
            Cost of the test.
        subsidies : float, or mapping from group to float, optional
            What groups are paid.
        ax : matplotlib Axes, optional
            By default, new ones.
        """
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
        """Draw from a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier
            Of this package, also in a pipeline or a search; or any other, of which X, y and a cost are needed.
        X, y : array-like, optional
            People whose counts are published; by default those that the classifier itself has published.
        sensitive_features : array-like, Series, DataFrame or dict of columns, optional
            Their groups.
        cost, subsidies
            By default the classifier's own.
        ax : matplotlib Axes, optional
            By default, new ones.
        """
        table, terms = table_of(estimator, X, y, sensitive_features), terms_of(estimator, cost, subsidies)
        return cls(table, terms).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default, new ones.
        """
        table, groups = self.published, self.published.groups
        max_accepted_cost = self.terms.max_accepted_cost(table.counts)
        shown = largest(table.counts.n, MOST_ROWS)
        shown = shown[np.argsort(-np.nan_to_num(max_accepted_cost[shown], nan=-1.0), kind="stable")]
        frame, names = table.to_frame().iloc[shown], label_texts(groups)
        limits, costs = max_accepted_cost[shown], self.terms.effective_cost(groups)[shown]
        applies = table.decisions(self.terms).to_numpy()[shown]
        rows = np.arange(len(shown))
        axes = row_axes(ax, len(shown))
        axes.barh(rows, np.nan_to_num(limits), height=0.5, color=np.where(applies, APPLIES, STAYS_AWAY), alpha=0.45)
        axes.hlines(rows, frame["precision_low"], frame["precision_high"], color="0.15", linewidth=1.4, zorder=4)
        axes.plot(frame["precision"], rows, "o", color="0.15", markersize=5, zorder=4)
        draw_costs(axes, costs)
        notes = map(_note, limits.tolist(), applies.tolist(), frame["selected"].tolist())
        name_rows(axes, [names[code] for code in shown], list(notes))
        bound = self.terms.confidence
        says = "precision" if bound is None else f"precision; bars: surely, at {bound:.0%}"
        axes.set(xlim=(0, 1), xlabel=f"cost of applying (dots: published {says}){left_out(len(shown), len(groups))}")
        self.ax_, self.figure_ = axes, axes.figure
        return self


def _note(limit: float, applies: bool, passing: float) -> str:
    """What a group does, and up to which cost it would come."""
    if np.isnan(limit):
        return "applies" if applies else "stays away: nobody passes" if not passing else "stays away"
    return f"applies, up to {amount_down(limit)}" if applies else f"stays away: only up to {amount_down(limit)}"
