"""Pictures as Display objects, in scikit-learn's manner. They need matplotlib: ``pip install selfselect[plot]``."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .._text import label_text
from .._validation import check_fraction
from ..deciding import Cost, Subsidies, ThresholdCurves
from ..estimators.inner import score_of
from ..estimators.labels import qualified
from ..planning import ThresholdFrontier, accuracy_social_cost_frontier, threshold_frontier

#: Okabe and Ito's colours, told apart by colour-blind people too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
#: More curves than this are drawn as a thin grey bundle, the first few on top.
MOST_NAMED = 10


def _axes(ax: Any) -> Any:
    try:
        import matplotlib.pyplot as plt  # an extra, which only drawing needs
    except ImportError as error:
        raise ImportError("Plots need matplotlib: pip install selfselect[plot].") from error
    return plt.subplots(figsize=(7, 4.5), layout="constrained")[1] if ax is None else ax


class PrecisionCurvesDisplay:
    """Precision of each group over the threshold, with the cost as a line: a group applies where its curve is above.

    It is the upper part of Figure 4 of the paper, for any score.

    Parameters
    ----------
    curves : ThresholdCurves
    cost : float, optional
        Drawn as a line.

    Attributes
    ----------
    ax_, figure_
        Set by :meth:`plot`.
    """

    def __init__(self, curves: ThresholdCurves, cost: float | None = None) -> None:
        self.curves = curves
        self.cost = None if cost is None else check_fraction(cost, "cost")

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        score: ArrayLike,
        *,
        sensitive_features: Any = None,
        cost: float | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw from labels and scores."""
        return cls(ThresholdCurves.from_scores(y_true, score, sensitive_features=sensitive_features), cost).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sensitive_features: Any = None,
        cost: float | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw from a fitted classifier; a cost of its own is taken if none is given."""
        own = getattr(estimator, "cost", None)
        line = own if cost is None and isinstance(own, int | float) else cost
        positive = getattr(estimator, "positive_", estimator.classes_[1])
        labels, score = qualified(y, estimator.classes_, positive), score_of(estimator, X, positive)
        return cls.from_predictions(labels, score, sensitive_features=sensitive_features, cost=line, ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        axes = _axes(ax)
        named = list(self.curves.groups[:MOST_NAMED])
        for code, group in enumerate(self.curves.groups):
            frame = self.curves.to_frame(group)
            frame["precision"] = frame["precision"].ffill()  # the last step ends where nobody passes any more
            lowest = frame["threshold"].replace(-np.inf, np.nan)
            style = {"color": "0.8", "linewidth": 0.6, "zorder": 1}
            if group in named:
                style = {"color": COLOURS[code % len(COLOURS)], "label": label_text(group), "zorder": 2}
            axes.step(lowest.fillna(lowest.min()), frame["precision"], where="post", **style)
        if self.cost is not None:
            axes.axhline(self.cost, color="0.3", linestyle="--", label=f"cost {self.cost:g}")
        axes.set(xlabel="threshold", ylabel="published precision", ylim=(0, 1.02))
        axes.legend(fontsize="small", loc="lower right")
        self.ax_, self.figure_ = axes, axes.figure
        return self


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
    ax_, figure_
        Set by :meth:`plot`.
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
        axes = _axes(ax)
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
