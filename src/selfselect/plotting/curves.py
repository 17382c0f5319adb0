"""Precision of each group over the threshold."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._validation import check_fraction
from ..estimators.training_data import is_qualified, plain_groups
from ..estimators.wrapped import score_of
from ..metrics.scorers import final_step
from ..publishing import ThresholdCurves
from ..report.sentences.words import FEW_SELECTED
from .drawing import COLOURS, MAX_NAMED, UNNAMED, Display, largest, name_lines, new_axes, plot_labels


class PrecisionCurvesDisplay(Display):
    """Precision of each group over the threshold. A group applies where its curve reaches the line of the cost.

    It is the upper part of Figure 4 of the paper, for any score. A line is thin where fewer than 30 people of the group
    are selected, because its precision is uncertain there. The picture ends where all lines are thin.

    Parameters
    ----------
    curves : ThresholdCurves
        Counts at every threshold.
    cost : float, optional
        Drawn as a line.

    Examples
    --------
    >>> from selfselect.plotting import PrecisionCurvesDisplay
    >>> display = PrecisionCurvesDisplay.from_predictions(
    ...     [0, 1, 0, 1], [0.2, 0.6, 0.4, 0.9], sensitive_features=list("AABB"), cost=0.7
    ... )
    >>> [text.get_text() for text in display.ax_.texts]
    ['A', 'B', 'cost 0.7']
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
        """Draw from labels and scores; see :mod:`selfselect.plotting` for the parameters."""
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
        """Draw from a fitted classifier with a score. The cost is by default its own, if it has one."""
        own = getattr(final_step(estimator)[0], "cost", None)
        line = own if cost is None and isinstance(own, int | float) else cost
        positive = getattr(estimator, "positive_", estimator.classes_[1])
        position = list(estimator.classes_).index(positive)
        labels = is_qualified(y, estimator.classes_, positive)
        score = score_of(estimator, X, position, plain_groups(sensitive_features))
        return cls.from_predictions(labels, score, sensitive_features=sensitive_features, cost=line, ax=ax)

    def _draw(self, ax: Any) -> Any:
        axes = new_axes(ax)
        groups, names = self.curves.groups, plot_labels(self.curves.groups)
        colours: dict[int, str] = dict(zip(largest(self.curves.n, MAX_NAMED).tolist(), COLOURS, strict=False))
        others = len(groups) - len(colours)
        note = f"\n(grey: the {others} smaller groups)" if others else ""
        axes.set(xlabel=f"threshold{note}", ylabel="published precision", ylim=(0, 1.02))
        ends, first, last = [], np.inf, -np.inf
        for code, group in enumerate(groups):
            frame = self.curves.to_frame(group)
            lowest = frame["threshold"].replace(-np.inf, np.nan)
            x = lowest.fillna(lowest.min()).to_numpy()
            y = frame["precision"].ffill().to_numpy()  # nobody is selected at the last step, which only ends the line
            enough = int((frame["selected"] >= FEW_SELECTED).sum())  # steps before the thin part of the line
            style = {"color": colours.get(code, UNNAMED), "where": "post", "zorder": 2 if code in colours else 1}
            width = 1.5 if code in colours else 0.6
            axes.step(x[: enough + 1], y[: enough + 1], linewidth=width, label=names[code], **style)
            axes.step(x[enough:], y[enough:], linewidth=width / 3, label=f"_few of {names[code]}", **style)
            end = min(enough, len(x) - 1) if enough else -1
            first, last = min(first, float(x[0])), max(last, float(x[end]))
            if code in colours:
                ends.append((float(x[end]), float(y[enough - 1])))
        margin = 0.02 * (last - first) or 1.0
        axes.set_xlim(first - margin, last + margin)
        texts, line_colours = [names[code] for code in colours], list(colours.values())
        if self.cost is not None:
            axes.axhline(self.cost, color="0.3", linestyle="--", label=f"cost {self.cost:g}")
            ends.append((axes.get_xlim()[1], self.cost))
            texts.append(f"cost {self.cost:g}")
            line_colours.append("0.3")
        name_lines(axes, ends, texts, line_colours)
        return axes
