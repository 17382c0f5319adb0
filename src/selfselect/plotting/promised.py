"""What was published, and what new people got."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .._formats import listed
from ..auditing import Audit, ScreeningResult
from ..costs import Cost, Subsidies, Terms
from ..publishing import PublishedStatistics
from .drawing import COLOURS, MOST_NAMED, label_texts, largest, name_points, new_axes
from .finding import audit_of

#: How a group's promise came out: marker, colour, and what is written after its name.
_FORMS = {
    "yes": ("o", COLOURS[0], ": kept"),
    "no": ("X", COLOURS[1], ": broken"),
    "undecided": ("s", COLOURS[4], ": undecided"),
    "": ("o", "0.6", ""),
}


class PromisedDeliveredDisplay:
    """Published precision of each group against what new people got: a point per group, with 95% intervals.

    On the diagonal new people get what was published; below it, less. The promise to a group that applies is that new
    people get at least its cost (dashed, where it is the same for all): each point says whether that is kept, broken or
    undecided. Groups that stay away (grey) are promised nothing.

    Parameters
    ----------
    audit : Audit
        Of new people, by a classifier that had published before.

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
    >>> from selfselect import NaiveClassifier
    >>> from selfselect.datasets import make_base_rate_groups
    >>> from selfselect.plotting import PromisedDeliveredDisplay
    >>> X, y, z = make_base_rate_groups((0.5, 0.15), random_state=0, return_X_y_group=True)
    >>> X_new, y_new, z_new = make_base_rate_groups((0.5, 0.15), random_state=1, return_X_y_group=True)
    >>> clf = NaiveClassifier(cost=0.8).fit(X, y, sensitive_features=z)
    >>> display = PromisedDeliveredDisplay.from_estimator(clf, X_new, y_new, sensitive_features=z_new)
    >>> [text.get_text() for text in display.ax_.texts][-2:]
    ['z0: kept', 'z1']
    """

    def __init__(self, audit: Audit) -> None:
        if not audit.of_new_people:
            raise ValueError(
                "The people of this audit are those whose counts are published, so there is nothing to compare. Audit "
                "new people: clf.audit(X_new, y_new, groups_new)."
            )
        self.audit = audit

    @classmethod
    def from_audit(cls, audit: Audit, *, ax: Any = None) -> Self:
        """Draw what an audit of new people has found.

        Parameters
        ----------
        audit : Audit
            As a classifier's ``audit`` makes it.
        ax : matplotlib Axes, optional
            By default, new ones.
        """
        return cls(audit).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        published: PublishedStatistics,
        sensitive_features: Any = None,
        cost: Cost,
        subsidies: Subsidies = None,
        ax: Any = None,
    ) -> Self:
        """Draw from labels and predictions of new people, and what was published before.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_rows,)
            Labels (1 = qualified) and predictions (1 = passes screening) of new people.
        published : PublishedStatistics
            What they decided by.
        sensitive_features : array-like, Series, DataFrame or dict of columns, optional
            Group of each of them.
        cost : float, or mapping from group to float
            Cost of the test.
        subsidies : float, or mapping from group to float, optional
            What groups are paid.
        ax : matplotlib Axes, optional
            By default, new ones.
        """
        new = ScreeningResult.from_predictions(y_true, y_pred, sensitive_features=sensitive_features)
        return cls(Audit(ScreeningResult(published), new, Terms(cost, subsidies))).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sensitive_features: Any = None,
        cost: Cost | None = None,
        subsidies: Subsidies = None,
        ax: Any = None,
    ) -> Self:
        """Draw what a fitted classifier has published, against what it does to new people.

        Parameters
        ----------
        estimator : fitted classifier of this package
            Also at the end of a pipeline, or found by a search.
        X, y, sensitive_features
            New people: features, labels, groups.
        cost, subsidies
            By default the classifier's own.
        ax : matplotlib Axes, optional
            By default, new ones.
        """
        return cls(audit_of(estimator, X, y, sensitive_features, cost, subsidies)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default, new ones.
        """
        axes = new_axes(ax, (6.4, 5.2))
        frame = self.audit.to_frame()
        frame["name"] = label_texts(frame.index)
        lacking = (frame["precision"].isna() | frame["delivered"].isna()).to_numpy()
        drawn = frame[~lacking]
        named = largest(np.where(drawn["applies"], drawn["n"] + drawn["n"].sum(), drawn["n"]), MOST_NAMED)
        _draw_limits(axes, drawn)
        for place, (_, row) in enumerate(drawn.iterrows()):
            _draw_group(axes, row, place in named)
        said = [] if drawn["applies"].all() else ["grey: stays away, promised nothing"]
        said += [f"small: {len(drawn) - len(named)} other groups"] if len(drawn) > len(named) else []
        said += [f"nobody passes of {listed(frame.loc[lacking, 'name'])}"] if lacking.any() else []
        below = f"\n({'; '.join(said)})" if said else ""
        axes.set(xlabel=f"published precision{below}", ylabel="delivered precision (new people)")
        chosen = drawn.iloc[named]
        texts = [f"{row['name']}{_FORMS[row['promise_kept']][2]}" for _, row in chosen.iterrows()]
        inks = np.where(chosen["applies"], "black", "0.45").tolist()
        name_points(axes, list(zip(chosen["precision"], chosen["delivered"], strict=True)), texts, inks)
        self.ax_, self.figure_ = axes, axes.figure
        return self


def _draw_group(axes: Any, row: pd.Series, named: bool) -> None:
    marker, colour, _ = _FORMS[row["promise_kept"]]
    across = [[row["precision"] - row["precision_low"]], [row["precision_high"] - row["precision"]]]
    up = [[row["delivered"] - row["delivered_low"]], [row["delivered_high"] - row["delivered"]]]
    axes.errorbar(
        row["precision"],
        row["delivered"],
        xerr=np.maximum(across, 0),
        yerr=np.maximum(up, 0),
        fmt=marker,
        color=colour,
        ecolor=colour,
        elinewidth=1 if named else 0.4,
        markersize=7 if named else 3,
        zorder=3 if row["applies"] else 2,
    )


def _draw_limits(axes: Any, drawn: pd.DataFrame) -> None:
    """The diagonal, the cost, and how far the picture reaches."""
    edges = (
        drawn[["precision_low", "delivered_low"]].min().min(),
        drawn[["precision_high", "delivered_high"]].max().max(),
    )
    low, high = (0.0, 1.0) if drawn.empty else (max(0.0, edges[0] - 0.06), min(1.0, edges[1] + 0.04))
    axes.set(xlim=(low, high), ylim=(low, high))
    axes.plot([low, high], [low, high], color="0.6", linewidth=1, zorder=1)
    span = high - low
    axes.text(
        low + 0.02 * span,
        low + 0.035 * span,
        "as published",
        color="0.45",
        fontsize="small",
        rotation=45,
        rotation_mode="anchor",
        transform_rotates_text=True,
    )
    costs = drawn["cost"].unique()
    if len(costs) == 1 and low < costs[0] < high:
        axes.axhline(costs[0], color="0.3", linestyle="--", linewidth=1, zorder=1)
        axes.text(
            high - 0.01 * span,
            costs[0] - 0.012 * span,
            f"cost {costs[0]:g}",
            color="0.3",
            fontsize="small",
            ha="right",
            va="top",
        )
