"""Displays with a row for each group: what is published, and up to which cost each group applies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._formats import amount_down, count
from .._validation import FloatArray
from ..auditing import Audit
from ..costs import Cost, Subsidies, Terms
from ..estimators.training_data import is_qualified
from ..metrics.scorers import final_step
from ..publishing import PublishedStatistics
from .drawing import COLOURS, Display, largest, new_axes, plot_labels, small_text

APPLIES, STAYS_AWAY = COLOURS[:2]
#: Largest number of rows.
MAX_ROWS = 40
#: Height of a row, and of the space above and below all rows, in inches.
ROW_HEIGHT, AROUND_ROWS = 0.36, 1.15


class RowsDisplay(Display):
    """Base of displays with a row for each group of a published table."""

    @classmethod
    def _of(cls, table: PublishedStatistics, own: Terms | None, cost: Cost | None, subsidies: Subsidies) -> Self:
        """A table with given cost and subsidies; ``own`` are the terms of the classifier that it comes from."""
        raise NotImplementedError

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        sensitive_features: Any = None,
        cost: Cost | None = None,
        subsidies: Subsidies = None,
        ax: Any = None,
    ) -> Self:
        """Draw from labels and predictions; see :mod:`selfselect.plotting` for the parameters."""
        table = PublishedStatistics.from_predictions(y_true, y_pred, sensitive_features=sensitive_features)
        return cls._of(table, None, cost, subsidies).plot(ax)

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

        A classifier of another package needs X and y.
        """
        final, features = final_step(estimator, X)
        if X is None and not hasattr(final, "published_"):
            raise TypeError(f"{type(final).__name__} has published nothing itself; pass X, y and sensitive_features.")
        if X is not None and y is None:
            raise TypeError("Pass y as well: the labels of the people in X.")
        if X is None:
            table = final.published_
        elif hasattr(final, "audit"):
            table = final.audit(features, y, sensitive_features).population
        else:
            qualified = is_qualified(y, final.classes_, final.classes_[1])
            passed = final.predict(features) == final.classes_[1]
            table = PublishedStatistics.from_predictions(qualified, passed, sensitive_features=sensitive_features)
        return cls._of(table, getattr(final, "terms_", None), cost, subsidies).plot(ax)


class WhoAppliesDisplay(RowsDisplay):
    """Up to which cost each group applies, one row per group, with the cost that it faces.

    A bar ends at the highest cost at which the group applies: its published precision, or the lower bound that people
    decide by. Groups whose bar reaches their cost apply (blue), the others do not (orange). The dot is the published
    precision with its 95% interval. Rows are sorted by the length of the bar. A classifier is drawn by default with its
    own cost and subsidies.

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
    def _of(cls, table: PublishedStatistics, own: Terms | None, cost: Cost | None, subsidies: Subsidies) -> Self:
        if cost is not None:
            own = Terms(cost) if own is None else own.at_cost(cost)
        if own is None:
            raise TypeError("There is no cost to draw; pass cost.")
        return cls(table, own if subsidies is None else own.with_subsidies(subsidies))

    def _draw(self, ax: Any) -> Any:
        table, groups = self.published, self.published.groups
        max_accepted_cost = self.terms.max_accepted_cost(groups, table.counts)
        bound = self.terms.confidence
        says = "precision" if bound is None else "precision; bars: lower bound"
        axes, shown = _group_rows(ax, table, max_accepted_cost, f"cost of applying (dots: published {says})")
        frame = table.to_frame().iloc[shown]
        limits, costs = max_accepted_cost[shown], self.terms.effective_cost(groups)[shown]
        applies = table.decisions(self.terms).to_numpy()[shown]
        rows = np.arange(len(shown))
        axes.barh(rows, np.nan_to_num(limits), height=0.5, color=np.where(applies, APPLIES, STAYS_AWAY), alpha=0.45)
        axes.hlines(rows, frame["precision_low"], frame["precision_high"], color="0.15", linewidth=1.4, zorder=4)
        axes.plot(frame["precision"], rows, "o", color="0.15", markersize=5, zorder=4)
        _draw_costs(axes, costs)
        _note_rows(axes, map(_note, limits.tolist(), applies.tolist(), frame["selected"].tolist()))
        axes.set_xlim(0, 1)
        return axes


def _note(limit: float, applies: bool, selected: float) -> str:
    """Whether a group applies, and up to which cost."""
    if np.isnan(limit):
        return "applies" if applies else "stays away: nobody passes" if not selected else "stays away"
    return f"applies, up to {amount_down(limit)}" if applies else f"stays away: only up to {amount_down(limit)}"


class PublishedTableDisplay(RowsDisplay):
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
    def _of(cls, table: PublishedStatistics, own: Terms | None, cost: Cost | None, subsidies: Subsidies) -> Self:
        return cls(table, cost if cost is None or subsidies is None else table.costs(cost, subsidies))

    def _draw(self, ax: Any) -> Any:
        counts, groups = self.published.counts, self.published.groups
        axes, shown = _group_rows(ax, self.published, counts.precision, "share of qualified people")
        frame = self.published.to_frame().iloc[shown]
        rows = np.arange(len(shown))
        axes.hlines(rows, frame["precision_low"], frame["precision_high"], color=COLOURS[0], linewidth=2, zorder=3)
        axes.plot(frame["precision"], rows, "o", color=COLOURS[0], markersize=7, zorder=3, label="published precision")
        low, high = (bounds[shown] for bounds in counts.base_rate_bounds)
        axes.hlines(rows, low, high, color=COLOURS[1], linewidth=1.4, zorder=2)
        axes.plot(low, rows, "D", color=COLOURS[1], markersize=6, markerfacecolor="white", zorder=3, label="base rate")
        axes.plot(high, rows, "D", color=COLOURS[1], markersize=6, markerfacecolor="white", zorder=3)
        if self.cost is not None:
            _draw_costs(axes, Terms(self.cost).effective_cost(groups)[shown])
        passing = zip(frame["selected"], frame["n"], strict=True)
        _note_rows(axes, [f"{count(selected)} of {count(n)} pass" for selected, n in passing])
        axes.set_xlim(0, 1.02)
        distance = 0.2 if self.cost is None else 1.4  # above the name of the cost
        place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": distance}
        axes.legend(**place, ncols=2, frameon=False, fontsize="small")
        return axes


def _group_rows(ax: Any, table: PublishedStatistics, values: FloatArray, label: str) -> tuple[Any, NDArray[np.intp]]:
    """Axes with a named row for each of the largest groups, by falling values; and the positions of these groups."""
    shown = largest(table.counts.n, MAX_ROWS)
    shown = shown[np.argsort(-np.nan_to_num(values[shown], nan=-1.0), kind="stable")]
    axes = new_axes(ax, (7, AROUND_ROWS + ROW_HEIGHT * max(len(shown), 2)))
    axes.set_yticks(range(len(shown)), labels=plot_labels(table.groups[shown]))
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.grid(axis="x", color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)
    left_out = "" if len(shown) == len(table) else f" (the {len(shown)} largest of {len(table)} groups)"
    axes.set_xlabel(label + left_out)
    return axes, shown


def _note_rows(axes: Any, notes: Iterable[str]) -> None:
    """Write a note to the right of each row."""
    for row, note in enumerate(notes):
        axes.text(1.02, row, note, transform=axes.get_yaxis_transform(), va="center", fontsize="small", color="0.25")


def _draw_costs(axes: Any, costs: FloatArray) -> None:
    """Draw the cost of each row's group: one line if it is the same for all, otherwise a mark in each row."""
    if np.ptp(costs) == 0:
        axes.axvline(costs[0], color="0.3", linestyle="--", linewidth=1, zorder=1)
        top = {"xycoords": axes.get_xaxis_transform(), "ha": "center", "color": "0.3"}
        small_text(axes, f"cost {costs[0]:g}", (costs[0], 1), (0, 3), **top)
        return
    rows = np.arange(len(costs))
    axes.vlines(costs, rows - 0.4, rows + 0.4, color="0.3", linestyle="--", linewidth=1.2, zorder=3)
    small_text(axes, "own cost", (costs[0], -0.4), (0, 3), ha="center", color="0.3")
