"""Published precision against the precision among new people."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .._formats import listed
from ..auditing import Audit, ScreeningResult
from ..costs import Cost, Subsidies, Terms
from ..metrics.scorers import final_step
from ..publishing import PublishedStatistics
from .drawing import COLOURS, MAX_NAMED, Display, largest, name_points, new_axes, plot_labels, small_text

#: Marker, colour and text after the name, by whether the promise to a group is kept.
_STYLES = {
    "yes": ("o", COLOURS[0], ": kept"),
    "no": ("X", COLOURS[1], ": broken"),
    "undecided": ("s", COLOURS[4], ": undecided"),
    "": ("o", "0.6", ""),
}


class PromisedDeliveredDisplay(Display):
    """Published precision of each group against the precision among new people, with 95% intervals.

    On the diagonal both are equal; below it, new people do worse than published. A group that applies counts on a
    precision of at least its cost (dashed, if it is the same for all). The text at each point says whether this promise
    is kept, broken or undecided. Groups that do not apply are grey.

    Parameters
    ----------
    audit : Audit
        Audit of new people, by a classifier that has published statistics before.

    Examples
    --------
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
                "This audit is about the people whose counts are published, so there is nothing to compare. Audit new "
                "people: clf.audit(X_new, y_new, groups_new)."
            )
        self.audit = audit

    @classmethod
    def from_audit(cls, audit: Audit, *, ax: Any = None) -> Self:
        """Draw an audit of new people, as a classifier's ``audit`` returns it."""
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
        """Draw from labels and predictions of new people, and the published statistics that they decided by."""
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
        """Draw from a fitted classifier of this package and new people. Cost and subsidies are by default its own."""
        final, features = final_step(estimator, X)
        if not hasattr(final, "audit"):
            raise TypeError(
                f"{type(final).__name__} has published nothing to compare with; wrap it: "
                "NaiveClassifier(estimator).fit(X, y, sensitive_features=...)."
            )
        return cls(final.audit(features, y, sensitive_features, cost=cost, subsidies=subsidies)).plot(ax)

    def _draw(self, ax: Any) -> Any:
        axes = new_axes(ax, (6.4, 5.2))
        frame = self.audit.to_frame()
        frame["name"] = plot_labels(frame.index)
        undefined = (frame["precision"].isna() | frame["delivered"].isna()).to_numpy()
        drawn = frame[~undefined]
        named = largest(np.where(drawn["applies"], drawn["n"] + drawn["n"].sum(), drawn["n"]), MAX_NAMED)
        _draw_limits(axes, drawn)
        for place, (_, row) in enumerate(drawn.iterrows()):
            _draw_group(axes, row, place in named)
        notes = [] if drawn["applies"].all() else ["grey: stays away, promised nothing"]
        notes += [f"small: {len(drawn) - len(named)} other groups"] if len(drawn) > len(named) else []
        notes += [f"nobody passes of {listed(frame.loc[undefined, 'name'])}"] if undefined.any() else []
        note = f"\n({'; '.join(notes)})" if notes else ""
        axes.set(xlabel=f"published precision{note}", ylabel="delivered precision (new people)")
        chosen = drawn.iloc[named]
        texts = [f"{row['name']}{_STYLES[row['promise_kept']][2]}" for _, row in chosen.iterrows()]
        colours = np.where(chosen["applies"], "black", "0.45").tolist()
        name_points(axes, list(zip(chosen["precision"], chosen["delivered"], strict=True)), texts, colours)
        return axes


def _draw_group(axes: Any, row: pd.Series, named: bool) -> None:
    marker, colour, _ = _STYLES[row["promise_kept"]]
    x_error, y_error = (
        np.maximum([[row[name] - row[f"{name}_low"]], [row[f"{name}_high"] - row[name]]], 0)
        for name in ("precision", "delivered")
    )
    width, size, order = 1 if named else 0.4, 7 if named else 3, 3 if row["applies"] else 2
    style = {"fmt": marker, "color": colour, "elinewidth": width, "markersize": size, "zorder": order}
    axes.errorbar(row["precision"], row["delivered"], xerr=x_error, yerr=y_error, **style)


def _draw_limits(axes: Any, drawn: pd.DataFrame) -> None:
    """Set the limits of both axes; draw the diagonal and the cost."""
    lowest = drawn[["precision_low", "delivered_low"]].min().min()
    highest = drawn[["precision_high", "delivered_high"]].max().max()
    low, high = (0.0, 1.0) if drawn.empty else (max(0.0, lowest - 0.06), min(1.0, highest + 0.04))
    axes.set(xlim=(low, high), ylim=(low, high))
    axes.plot([low, high], [low, high], color="0.6", linewidth=1, zorder=1)
    along = {"rotation": 45, "rotation_mode": "anchor", "transform_rotates_text": True}
    small_text(axes, "as published", (low, low), (7, 10), color="0.45", **along)
    costs = drawn["cost"].unique()
    if len(costs) == 1 and low < costs[0] < high:
        axes.axhline(costs[0], color="0.3", linestyle="--", linewidth=1, zorder=1)
        small_text(axes, f"cost {costs[0]:g}", (high, costs[0]), (-3, -3), color="0.3", ha="right", va="top")
