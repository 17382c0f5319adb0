"""Precision over thresholds, group by group."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._validation import check_fraction
from ..estimators.inner import score_of
from ..estimators.labels import qualified
from ..publishing import ThresholdCurves
from ..report.sentences.words import FEW_SELECTED
from .drawing import COLOURS, MOST_NAMED, UNNAMED, label_texts, largest, name_lines, new_axes
from .finding import final_step


class PrecisionCurvesDisplay:
    """Precision of each group over the threshold, with the cost as a line: a group applies where its curve is above.

    It is the upper part of Figure 4 of the paper, for any score. Where fewer than 30 people of a group pass, so that
    its precision is mostly chance, its line is thin; the picture ends where that is so for all of them.

    Parameters
    ----------
    curves : ThresholdCurves
        What every threshold would publish.
    cost : float, optional
        Drawn as a line.

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
        """Draw from labels and scores.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels of 0 and 1.
        score : array-like of shape (n_rows,)
            Scores; who is above a threshold passes screening.
        sensitive_features : array-like, Series, DataFrame or dict of columns, optional
            Group of each row.
        cost : float, optional
            Drawn as a line.
        ax : matplotlib Axes, optional
            By default, new ones.
        """
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
        """Draw from a fitted classifier; a cost of its own is taken if none is given.

        Parameters
        ----------
        estimator : fitted classifier
            Of any kind that has a score.
        X, y : array-like
            Features and labels of the people whose precision is drawn.
        sensitive_features, cost, ax
            As in :meth:`from_predictions`.
        """
        own = getattr(final_step(estimator)[0], "cost", None)
        line = own if cost is None and isinstance(own, int | float) else cost
        positive = getattr(estimator, "positive_", estimator.classes_[1])
        labels, score = qualified(y, estimator.classes_, positive), score_of(estimator, X, positive)
        return cls.from_predictions(labels, score, sensitive_features=sensitive_features, cost=line, ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default, new ones.
        """
        axes = new_axes(ax)
        groups, names = self.curves.groups, label_texts(self.curves.groups)
        colours: dict[int, str] = dict(zip(largest(self.curves.n, MOST_NAMED).tolist(), COLOURS, strict=False))
        others = len(groups) - len(colours)
        below = f"\n(grey: the {others} smaller groups)" if others else ""
        axes.set(xlabel=f"threshold{below}", ylabel="published precision", ylim=(0, 1.02))
        ends, first, last = [], np.inf, -np.inf
        for code, group in enumerate(groups):
            frame = self.curves.to_frame(group)
            lowest = frame["threshold"].replace(-np.inf, np.nan)
            across = lowest.fillna(lowest.min()).to_numpy()
            up = frame["precision"].ffill().to_numpy()  # the last step ends where nobody passes any more
            enough = int((frame["selected"] >= FEW_SELECTED).sum())  # steps on which it is more than chance
            style = {"color": colours.get(code, UNNAMED), "where": "post", "zorder": 2 if code in colours else 1}
            width = 1.5 if code in colours else 0.6
            axes.step(across[: enough + 1], up[: enough + 1], linewidth=width, label=names[code], **style)
            axes.step(across[enough:], up[enough:], linewidth=width / 3, label=f"_few of {names[code]}", **style)
            end = min(enough, len(across) - 1) if enough else -1
            first, last = min(first, float(across[0])), max(last, float(across[end]))
            if code in colours:
                ends.append((float(across[end]), float(up[max(enough - 1, 0)] if enough else up[-1])))
        margin = 0.02 * (last - first) or 1.0
        axes.set_xlim(first - margin, last + margin)
        texts = [names[code] for code in colours]
        inks = list(colours.values())
        if self.cost is not None:
            axes.axhline(self.cost, color="0.3", linestyle="--", label=f"cost {self.cost:g}")
            ends.append((axes.get_xlim()[1], self.cost))
            texts, inks = [*texts, f"cost {self.cost:g}"], [*inks, "0.3"]
        name_lines(axes, ends, texts, inks)
        self.ax_, self.figure_ = axes, axes.figure
        return self
