"""The published table as a picture."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._formats import count
from ..auditing import Audit
from ..costs import Cost, Terms
from ..publishing import PublishedStatistics
from .drawing import COLOURS, MOST_ROWS, draw_costs, label_texts, largest, left_out, name_rows, row_axes
from .finding import table_of


class PublishedTableDisplay:
    """What is published about each group: precision with its 95% interval, and the base rate beside it.

    Rows are sorted by precision. Where people were not tested, the base rate is drawn as the range that it may lie in.

    Parameters
    ----------
    published : PublishedStatistics
        The table.
    cost : float, or mapping from group to float, optional
        What groups face, drawn as a line or as marks.

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
            published.costs(cost)  # complains before anything is drawn

    @classmethod
    def from_audit(cls, audit: Audit, *, ax: Any = None) -> Self:
        """Draw what the people of an audit decide by, with what they face.

        Parameters
        ----------
        audit : Audit
            Of any model.
        ax : matplotlib Axes, optional
            By default, new ones.
        """
        groups = audit.published.groups
        faced = dict(zip(groups, audit.terms.effective_cost(groups).tolist(), strict=True))
        return cls(audit.published, faced).plot(ax)

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
        """Draw from labels and predictions of 0 and 1.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_rows,)
            Labels (1 = qualified) and predictions (1 = passes screening).
        sensitive_features : array-like, Series, DataFrame or dict of columns, optional
            Group of each row.
        cost : float, or mapping from group to float, optional
            What groups face.
        ax : matplotlib Axes, optional
            By default, new ones.
        """
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
        """Draw what a fitted classifier has published; or, of people who are given, what it would publish.

        Parameters
        ----------
        estimator : fitted classifier
            Of this package, also in a pipeline or a search; or any other, of which X and y are needed.
        X, y : array-like, optional
            Features and labels of people.
        sensitive_features : array-like, Series, DataFrame or dict of columns, optional
            Their groups.
        cost : float, or mapping from group to float, optional
            What groups face.
        ax : matplotlib Axes, optional
            By default, new ones.
        """
        return cls(table_of(estimator, X, y, sensitive_features), cost).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default, new ones.
        """
        counts, groups = self.published.counts, self.published.groups
        shown = largest(counts.n, MOST_ROWS)
        shown = shown[np.argsort(-np.nan_to_num(counts.precision[shown], nan=-1.0), kind="stable")]
        frame, names = self.published.to_frame().iloc[shown], label_texts(groups)
        rows = np.arange(len(shown))
        axes = row_axes(ax, len(shown))
        axes.hlines(rows, frame["precision_low"], frame["precision_high"], color=COLOURS[0], linewidth=2, zorder=3)
        axes.plot(frame["precision"], rows, "o", color=COLOURS[0], markersize=7, zorder=3, label="published precision")
        low, high = (bounds[shown] for bounds in counts.base_rate_bounds)
        axes.hlines(rows, low, high, color=COLOURS[1], linewidth=1.4, zorder=2)
        axes.plot(low, rows, "D", color=COLOURS[1], markersize=6, markerfacecolor="white", zorder=3, label="base rate")
        axes.plot(high, rows, "D", color=COLOURS[1], markersize=6, markerfacecolor="white", zorder=3)
        if self.cost is not None:
            draw_costs(axes, Terms(self.cost).effective_cost(groups)[shown])
        notes = [
            f"{count(passing)} of {count(people)} pass"
            for passing, people in zip(frame["selected"], frame["n"], strict=True)
        ]
        name_rows(axes, [names[code] for code in shown], notes)
        axes.set(xlim=(0, 1.02), xlabel=f"share of qualified people{left_out(len(shown), len(groups))}")
        handles, labels = axes.get_legend_handles_labels()
        raised = 0.2 if self.cost is None else 1.4  # above the name of the cost
        axes.legend(
            handles,
            labels,
            loc="lower left",
            bbox_to_anchor=(0, 1),
            borderaxespad=raised,
            ncols=2,
            frameon=False,
            fontsize="small",
        )
        self.ax_, self.figure_ = axes, axes.figure
        return self
