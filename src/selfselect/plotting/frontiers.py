"""Accuracy against social cost."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..costs import Cost, Subsidies
from ..planning import ThresholdFrontier, accuracy_social_cost_frontier, threshold_frontier
from .drawing import COLOURS, new_axes


class FrontierDisplay:
    """Induced accuracy against social cost.

    Of strategic classifiers under limits, as :func:`selfselect.accuracy_social_cost_frontier` finds them, or over the
    thresholds of a score, as :func:`selfselect.threshold_frontier` does.

    Parameters
    ----------
    frame : DataFrame or ThresholdFrontier
        What one of these functions returns.

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
        """Draw the frontier over the thresholds of a score; other options go to :func:`threshold_frontier`."""
        made = threshold_frontier(y_true, score, sensitive_features=sensitive_features, cost=cost, **options)
        return cls(made).plot(ax)

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
        """Fit copies of a :class:`selfselect.StrategicClassifier` under limits on social cost, and draw."""
        given = {"cost": cost, "subsidies": subsidies}
        options |= {name: value for name, value in given.items() if value is not None}
        frame = accuracy_social_cost_frontier(
            X, y, sensitive_features=sensitive_features, estimator=estimator, **options
        )
        return cls(frame).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        axes = new_axes(ax)
        if isinstance(self.frame, ThresholdFrontier):
            _draw_thresholds(axes, self.frame)
        else:
            _draw_limits(axes, self.frame)
        self.ax_, self.figure_ = axes, axes.figure
        return self


def _draw_thresholds(axes: Any, made: ThresholdFrontier) -> None:
    """Both frontiers, every threshold behind them, and the one in force."""
    every = made.curve.dropna(subset=["induced_accuracy"])
    axes.scatter(every["social_cost"], every["induced_accuracy"], s=4, color="0.75", zorder=1, label="every threshold")
    for colour, name, points in (
        (COLOURS[0], "one threshold for all", made.one),
        (COLOURS[1], "a threshold per group", made.per_group),
    ):
        across, up = (
            [getattr(point.outcome, number) for point in points] for number in ("social_cost", "induced_accuracy")
        )
        # between two points the first is the best there is
        axes.plot(across, up, "o-", drawstyle="steps-post", color=colour, markersize=4, zorder=2, label=name)
        across, up = ([point.held_out_social_cost for point in points], [point.held_out_accuracy for point in points])
        axes.plot(across, up, "x", color=colour, markersize=5, zorder=2, label=f"{name}, held out")
    if made.current is not None and not np.isnan(made.current.induced_accuracy):
        axes.plot(
            made.current.social_cost,
            made.current.induced_accuracy,
            "*",
            color=COLOURS[6],
            markersize=13,
            zorder=3,
            label=f"now ({made.people.threshold:g})",
        )
    if made.max_social_cost is not None:
        axes.axvline(made.max_social_cost, color="0.3", linestyle="--", label=f"limit {made.max_social_cost:g}")
    axes.set(xlabel="social cost (share of the qualified who stay away)", ylabel="induced accuracy")
    axes.legend(fontsize="small")


def _draw_limits(axes: Any, frame: pd.DataFrame) -> None:
    """Classifiers under limits on social cost, with the number of groups that apply to each."""
    rows = frame[frame["feasible"]].drop_duplicates(["social_cost", "induced_accuracy"])
    rows = rows.sort_values("social_cost")
    efficient = rows[rows["efficient"]]
    axes.plot(efficient["social_cost"], efficient["induced_accuracy"], "-", color=COLOURS[0], zorder=1)
    axes.scatter(rows["social_cost"], rows["induced_accuracy"], color=COLOURS[0], zorder=2)
    for _, row in rows.iterrows():
        axes.annotate(
            f"{int(row['applying_groups'])}",
            (row["social_cost"], row["induced_accuracy"]),
            textcoords="offset points",
            xytext=(0, 7),
            ha="center",
            fontsize="small",
        )
    axes.margins(x=0.08, y=0.15)
    axes.set(
        xlabel="social cost (share of the qualified who stay away)",
        ylabel="induced accuracy",
        title="Numbers: groups that apply",
    )
