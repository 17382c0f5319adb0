"""Accuracy against social cost."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..costs import Cost, Subsidies
from ..planning import ThresholdFrontier, accuracy_social_cost_frontier, threshold_frontier
from ..planning.thresholds import KINDS
from .drawing import COLOURS, Display, new_axes, small_text


class FrontierDisplay(Display):
    """Induced accuracy against social cost.

    Parameters
    ----------
    frame : DataFrame or ThresholdFrontier
        Result of :func:`selfselect.accuracy_social_cost_frontier` (classifiers under limits on social cost) or of
        :func:`selfselect.threshold_frontier` (thresholds of a score).

    Examples
    --------
    >>> from selfselect.plotting import FrontierDisplay
    >>> display = FrontierDisplay.from_predictions(
    ...     [0, 1, 0, 1] * 5, [0.2, 0.6, 0.4, 0.9] * 5, sensitive_features=list("AABB") * 5, cost=0.7
    ... )
    >>> display.ax_.get_ylabel()
    'induced accuracy'
    """

    def __init__(self, frame: pd.DataFrame | ThresholdFrontier) -> None:
        self.frame = frame

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        score: ArrayLike,
        *,
        sensitive_features: Any = None,
        cost: Cost,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the frontier over the thresholds of a score; options are those of :func:`threshold_frontier`."""
        frontier = threshold_frontier(y_true, score, sensitive_features=sensitive_features, cost=cost, **options)
        return cls(frontier).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sensitive_features: Any,
        cost: Cost | None = None,
        subsidies: Subsidies = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Fit copies of a classifier that takes constraints under limits on social cost, and draw them."""
        given = {"cost": cost, "subsidies": subsidies}
        options |= {name: value for name, value in given.items() if value is not None}
        frame = accuracy_social_cost_frontier(
            X, y, sensitive_features=sensitive_features, estimator=estimator, **options
        )
        return cls(frame).plot(ax)

    def _draw(self, ax: Any) -> Any:
        axes = new_axes(ax)
        axes.set(xlabel="social cost (share of the qualified who stay away)", ylabel="induced accuracy")
        if isinstance(self.frame, ThresholdFrontier):
            _draw_thresholds(axes, self.frame)
        else:
            _draw_limits(axes, self.frame)
        return axes


def _draw_thresholds(axes: Any, frontier: ThresholdFrontier) -> None:
    """Draw both frontiers, all thresholds, and the current one."""
    every = frontier.curve.dropna(subset=["induced_accuracy"])
    axes.scatter(every["social_cost"], every["induced_accuracy"], s=4, color="0.75", zorder=1, label="every threshold")
    for colour, (kind, points) in zip(COLOURS, frontier.points.items(), strict=False):
        name = KINDS[kind]
        x, y = ([getattr(point.outcome, name) for point in points] for name in ("social_cost", "induced_accuracy"))
        # between two points the left one is the best
        axes.plot(x, y, "o-", drawstyle="steps-post", color=colour, markersize=4, zorder=2, label=name)
        x, y = ([point.held_out_social_cost for point in points], [point.held_out_accuracy for point in points])
        axes.plot(x, y, "x", color=colour, markersize=5, zorder=2, label=f"{name}, held out")
    if frontier.current is not None and not np.isnan(frontier.current.induced_accuracy):
        now = (frontier.current.social_cost, frontier.current.induced_accuracy)
        label = f"now ({frontier.people.threshold:g})"
        axes.plot(*now, "*", color=COLOURS[6], markersize=13, zorder=3, label=label)
    if frontier.max_social_cost is not None:
        axes.axvline(frontier.max_social_cost, color="0.3", linestyle="--", label=f"limit {frontier.max_social_cost:g}")
    axes.legend(fontsize="small")


def _draw_limits(axes: Any, frame: pd.DataFrame) -> None:
    """Draw classifiers under limits on social cost, with the number of groups that apply to each."""
    rows = frame[frame["feasible"]].drop_duplicates(["social_cost", "induced_accuracy"])
    rows = rows.sort_values("social_cost")
    efficient = rows[rows["efficient"]]
    axes.plot(efficient["social_cost"], efficient["induced_accuracy"], "-", color=COLOURS[0], zorder=1)
    axes.scatter(rows["social_cost"], rows["induced_accuracy"], color=COLOURS[0], zorder=2)
    for _, row in rows.iterrows():
        point = (row["social_cost"], row["induced_accuracy"])
        small_text(axes, f"{int(row['applying_groups'])}", point, (0, 7), ha="center")
    axes.margins(x=0.08, y=0.15)
    axes.set(title="Numbers: groups that apply")
