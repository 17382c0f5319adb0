"""What every threshold on a score would publish, and who would apply: exact, from sorted scores.

A group's counts change only where the threshold passes one of its own scores. So the curves of all groups together
have at most one step per row, and are kept as flat arrays of steps, group after group: O(m log m) time and O(m + K)
memory for m rows and K groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ._validation import (
    BoolArray,
    FloatArray,
    check_binary,
    check_floats,
    check_same_length,
    check_threshold,
    check_weights,
    some_of,
)
from .behaviour import SLACK, Cost, Subsidies, SubsidyKind, Tolerance, applies_with_margin, group_costs
from .groups import encode_groups
from .intervals import precision_interval, ratio
from .statistics import GroupCounts, PublishedStatistics


def _sum_to_the_end(values: NDArray[Any], codes: NDArray[np.intp], group_end: NDArray[np.intp]) -> NDArray[Any]:
    """Sum of the values from each row to the last of its group, rows being sorted by group.

    Whole numbers are added up over all groups at once, exactly. Weights are added up within each group, so that the
    people of one group leave no rounding in another.
    """
    if np.issubdtype(values.dtype, np.floating):
        return np.asarray(pd.Series(values[::-1]).groupby(codes[::-1]).cumsum().to_numpy()[::-1])
    total: NDArray[Any] = np.cumsum(values[::-1], dtype=np.int64)[::-1]
    beyond = np.append(total, 0)[group_end]
    total -= np.repeat(beyond, np.diff(group_end, prepend=0))
    return total


class RunningSums:
    """Sums over a population at each threshold of a score, thresholds rising from -inf; each is made when asked for.

    Made by :meth:`ThresholdCurves.running`.

    Attributes
    ----------
    threshold : ndarray of shape (n_thresholds,)
        The distinct scores, after -inf.
    """

    def __init__(self, curves: ThresholdCurves, applies: BoolArray, required: BoolArray | None) -> None:
        self._curves, self._applies, self._required = curves, applies, required
        self._order = np.argsort(curves.threshold, kind="stable")
        threshold = curves.threshold[self._order]
        self._settled = np.append(threshold[1:] != threshold[:-1], True)
        self.threshold: FloatArray = threshold[self._settled]

    def _run(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sum over groups of a per-step value, at every threshold: changes in the order in which they happen."""
        first = self._curves.start[:-1]
        total = values[first].sum()
        change = np.diff(values, prepend=values[:1])
        change[first] = 0
        change = change[self._order]
        return np.asarray(np.cumsum(change, out=change)[self._settled] + total)

    def _over_applicants(self, values: NDArray[Any]) -> NDArray[Any]:
        total = self._run(self._applies * values)
        if np.issubdtype(total.dtype, np.floating):
            total[self.applying_groups == 0] = 0.0  # weights leave rounding where nobody applies
        return total

    def _correct_steps(self) -> NDArray[Any]:
        curves = self._curves
        negatives: NDArray[Any] = (curves.n - curves.positives)[curves.group]
        right: NDArray[Any] = negatives - curves.selected + 2 * curves.true_positives
        return right

    @cached_property
    def applying_groups(self) -> NDArray[np.int64]:
        """Groups that apply."""
        return self._run(self._applies.astype(np.int64))

    @cached_property
    def required_groups(self) -> NDArray[np.int64]:
        """Groups that apply among those that were asked for."""
        if self._required is None:
            return self.applying_groups
        return self._run((self._applies & self._required[self._curves.group]).astype(np.int64))

    @cached_property
    def correct(self) -> NDArray[Any]:
        """People judged rightly."""
        return self._run(self._correct_steps())

    @cached_property
    def correct_applicants(self) -> NDArray[Any]:
        """Applicants judged rightly."""
        return self._over_applicants(self._correct_steps())

    @cached_property
    def applicants(self) -> NDArray[Any]:
        """People who apply."""
        return self._over_applicants(self._curves.n[self._curves.group])

    @cached_property
    def qualified_applicants(self) -> NDArray[Any]:
        """Qualified people who apply."""
        return self._over_applicants(self._curves.positives[self._curves.group])


@dataclass(frozen=True, eq=False)
class ThresholdCurves:
    """Counts of each group at every threshold; a person is selected when the score is above it (``>``).

    Make one with :meth:`from_scores`. Step ``i`` belongs to group ``group[i]`` and holds for thresholds from
    ``threshold[i]`` up to the next step of the same group. A group's first step is at -inf (everyone is selected), its
    last one at its largest score (nobody is).

    Attributes
    ----------
    groups : Index of shape (n_groups,)
        The groups.
    start : ndarray of shape (n_groups + 1,)
        Steps ``start[z]`` to ``start[z + 1] - 1`` are those of group z.
    threshold, selected, true_positives : ndarray of shape (n_steps,)
        Where each step begins, and the counts there.
    n, positives : ndarray of shape (n_groups,)
        People and qualified people of each group.

    Examples
    --------
    >>> curves = ThresholdCurves.from_scores(
    ...     y_true=[0, 1, 0, 1], score=[0.1, 0.4, 0.4, 0.8], sensitive_features=["A"] * 4
    ... )
    >>> curves.to_frame()[["threshold", "selected", "true_positives"]].values.tolist()
    [[-inf, 4.0, 2.0], [0.1, 3.0, 2.0], [0.4, 1.0, 1.0], [0.8, 0.0, 0.0]]
    >>> curves.application_intervals(cost=0.7).loc["A", ["applies_from", "applies_until"]].tolist()
    [0.4, 0.8]
    """

    groups: pd.Index
    start: NDArray[np.intp]
    threshold: FloatArray
    selected: NDArray[Any]
    true_positives: NDArray[Any]
    n: NDArray[Any]
    positives: NDArray[Any]

    @classmethod
    def from_scores(
        cls,
        y_true: ArrayLike,
        score: ArrayLike,
        *,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
        missing: str = "error",
    ) -> Self:
        """Sort the scores within each group and count from the top; ties are one step.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels, 1 = qualified.
        score : array-like of shape (n_rows,)
            Finite scores, larger = more likely to be selected.
        sensitive_features, sample_weight, missing
            As in :meth:`PublishedStatistics.from_predictions`.
        """
        y = check_binary(y_true, "y_true")
        values = check_floats(score, "score")
        check_same_length(y_true=y, score=values)
        weights = check_weights(sample_weight, len(y))
        encoded = encode_groups(sensitive_features, n_rows=len(y), missing=missing)
        return cls.from_codes(y, values, encoded.codes, encoded.labels, weights)

    @classmethod
    def from_codes(
        cls,
        y: BoolArray,
        score: FloatArray,
        codes: NDArray[np.intp],
        labels: pd.Index,
        weights: FloatArray | None = None,
    ) -> Self:
        """Do the same for arrays that are known to be sound, with groups as codes."""
        n_rows, n_groups = len(y), len(labels)
        order = np.lexsort((score, codes))
        score, codes, y = score[order], codes[order], y[order]
        weights = None if weights is None else weights[order]
        del order  # of many rows, each such array counts

        group_end = np.cumsum(np.bincount(codes, minlength=n_groups))
        group_start = np.concatenate([[0], group_end[:-1]])
        last_of_tie = np.ones(n_rows, dtype=bool)
        last_of_tie[:-1] = (score[1:] != score[:-1]) | (codes[1:] != codes[:-1])
        ends = np.flatnonzero(last_of_tie)

        # one step per distinct score of a group, and one more in front of each group, at -inf
        owner = codes[ends]
        distinct = np.bincount(owner, minlength=n_groups)
        start = np.concatenate([[0], np.cumsum(distinct + 1)]).astype(np.intp)
        step = np.arange(len(ends)) + owner + 1
        cut = np.empty(start[-1], dtype=np.intp)
        cut[start[:-1]], cut[step] = group_start, ends + 1
        threshold = np.full(start[-1], -np.inf)
        threshold[step] = score[ends]
        del score, step, ends, owner, last_of_tie
        end_of_step = np.repeat(group_end, distinct + 1)
        beyond = cut == end_of_step  # nobody of the group is left above

        def from_cut_on(values: NDArray[Any]) -> NDArray[Any]:
            return np.where(beyond, 0, _sum_to_the_end(values, codes, group_end)[np.minimum(cut, n_rows - 1)])

        selected: NDArray[Any] = end_of_step - cut if weights is None else from_cut_on(weights)
        true_positives = from_cut_on(y if weights is None else weights * y)
        return cls(
            groups=labels,
            start=start,
            threshold=threshold,
            selected=selected,
            true_positives=true_positives,
            n=selected[start[:-1]],
            positives=true_positives[start[:-1]],
        )

    # ------------------------------------------------------------------ the curves themselves

    @cached_property
    def group(self) -> NDArray[np.intp]:
        """Code of the group that each step belongs to."""
        return np.repeat(np.arange(len(self.groups)), np.diff(self.start))

    def to_frame(self, group: Any = None) -> pd.DataFrame:
        """All steps of all groups, or of one.

        Returns
        -------
        DataFrame
            group, threshold, selected, true_positives, precision with its 95% Wilson interval (precision_low,
            precision_high), selection_rate.
        """
        steps = slice(None)
        if group is not None:
            if group not in self.groups:
                raise ValueError(f"No group {group!r}; known groups: {some_of(self.groups, most=10)}.")
            code = self.groups.get_loc(group)
            if not isinstance(code, int | np.integer):
                raise ValueError(f"{group!r} names several groups; name one: {some_of(self.groups, most=10)}.")
            steps = slice(self.start[code], self.start[code + 1])
        owner, hits, passed = self.group[steps], self.true_positives[steps], self.selected[steps]
        low, high = precision_interval(hits, passed)
        return pd.DataFrame(
            {
                "group": self.groups.take(owner).to_numpy(),
                "threshold": self.threshold[steps],
                "selected": passed,
                "true_positives": hits,
                "precision": ratio(hits, passed),
                "precision_low": low,
                "precision_high": high,
                "selection_rate": ratio(passed, self.n[owner]),
            }
        )

    def at(self, threshold: float) -> PublishedStatistics:
        """What would be published at one threshold."""
        before = np.concatenate([[0], np.cumsum(self.threshold <= check_threshold(threshold))])
        # thresholds rise within a group and the first is -inf, so the count of those passed finds the step
        step = self.start[:-1] + before[self.start[1:]] - before[self.start[:-1]] - 1
        counts = GroupCounts(self.n, self.positives, self.selected[step], self.true_positives[step])
        return PublishedStatistics(self.groups, counts)

    def counts_at(self, thresholds: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
        """Selected people and true positives of each group at each of some rising thresholds.

        Returns
        -------
        selected, true_positives : ndarray of shape (n_thresholds, n_groups)
        """
        grid = np.asarray(thresholds, dtype=np.float64)
        n_groups = len(self.groups)
        # a step takes effect from the first threshold that reaches it; those beyond the last never do
        cell = np.searchsorted(grid, self.threshold) * n_groups + self.group
        first = np.zeros(len(self.group), dtype=bool)
        first[self.start[:-1]] = True

        def spread(values: NDArray[Any]) -> NDArray[Any]:
            change = np.where(first, values, np.diff(values, prepend=0))
            table = np.bincount(cell, weights=change, minlength=(len(grid) + 1) * n_groups)
            return np.cumsum(table.reshape(len(grid) + 1, n_groups), axis=0)[:-1]

        return spread(self.selected), spread(self.true_positives)

    # ------------------------------------------------------------------ who applies, over thresholds

    def _step_applies(self, costs: FloatArray, tolerance: Tolerance = 0.0) -> BoolArray:
        return applies_with_margin(self.true_positives, self.selected, costs[self.group], tolerance)

    def application_intervals(
        self, cost: Cost, subsidies: Subsidies = None, *, subsidy_kind: SubsidyKind = "additive"
    ) -> pd.DataFrame:
        """Thresholds at which each group applies.

        Returns
        -------
        DataFrame, indexed by group
            ``applies_from`` is the least threshold at which the group applies (inf if it never does), ``applies_until``
            the one from which on it never does again (exclusive; -inf if it never applies), ``pieces`` the number of
            separate intervals in between: one if the score is calibrated for the group.
        """
        applies = self._step_applies(group_costs(self.groups, cost, subsidies, subsidy_kind))
        first = np.full(len(self.groups), np.inf)
        last = np.full(len(self.groups), -np.inf)
        steps = np.flatnonzero(applies)
        owner = self.group[steps]
        # a group's last step selects nobody, so it never applies, and each applying step has a next one in its group
        np.minimum.at(first, owner, self.threshold[steps])
        np.maximum.at(last, owner, self.threshold[np.minimum(steps + 1, len(self.threshold) - 1)])
        begins = applies.copy()
        begins[1:] &= ~(applies[:-1] & (self.group[1:] == self.group[:-1]))
        pieces = np.bincount(self.group[begins], minlength=len(self.groups))
        return pd.DataFrame({"applies_from": first, "applies_until": last, "pieces": pieces}, index=self.groups)

    def application_order(
        self, cost: Cost, subsidies: Subsidies = None, *, subsidy_kind: SubsidyKind = "additive"
    ) -> pd.Series:
        """Groups sorted by the threshold from which they apply; those that never do come last, at inf."""
        intervals = self.application_intervals(cost, subsidies, subsidy_kind=subsidy_kind)
        return intervals["applies_from"].sort_values(kind="stable")

    def outcomes(
        self,
        cost: Cost,
        subsidies: Subsidies = None,
        *,
        subsidy_kind: SubsidyKind = "additive",
        tolerance: Tolerance = 0.0,
    ) -> pd.DataFrame:
        """Consequences of every threshold at once, one row per distinct score of the pooled population.

        Parameters
        ----------
        cost, subsidies, subsidy_kind
            As in :meth:`PublishedStatistics.applies`.
        tolerance : float or "auto", default=0.0
            Margin by which a group must clear its cost to be counted as applying.

        Returns
        -------
        DataFrame
            threshold (the first is -inf), induced_accuracy (NaN where nobody applies), assumed_accuracy,
            application_rate, social_cost (NaN if nobody is qualified), applying_groups.
        """
        running = self.running(group_costs(self.groups, cost, subsidies, subsidy_kind), tolerance)
        everyone, qualified = self.n.sum(), self.positives.sum()

        def share(part: NDArray[Any], whole: Any) -> FloatArray:
            return np.clip(ratio(part, whole), 0.0, 1.0)  # running sums of weights carry rounding

        return pd.DataFrame(
            {
                "threshold": running.threshold,
                "induced_accuracy": share(running.correct_applicants, running.applicants),
                "assumed_accuracy": share(running.correct, everyone),
                "application_rate": share(running.applicants, everyone),
                "social_cost": share(qualified - running.qualified_applicants, qualified),
                "applying_groups": running.applying_groups.astype(np.int64),
            }
        )

    def running(self, costs: FloatArray, tolerance: Tolerance = 0.0, required: BoolArray | None = None) -> RunningSums:
        """Sums over applying groups at every threshold of the pooled population, behind :meth:`outcomes`.

        Parameters
        ----------
        costs : ndarray of shape (n_groups,)
            Cost that each group faces.
        tolerance : float or "auto", default=0.0
            Margin by which a group must clear its cost to be counted.
        required : ndarray of bool of shape (n_groups,), optional
            Groups to count apart.
        """
        applies = self._step_applies(costs, tolerance)
        return RunningSums(self, applies, required)

    def best_by_group(
        self,
        cost: Cost,
        subsidies: Subsidies = None,
        *,
        subsidy_kind: SubsidyKind = "additive",
        min_selected: float = 0,
        tolerance: Tolerance = 0.0,
    ) -> pd.DataFrame:
        """Most accurate threshold for each group alone, subject to the group applying.

        Parameters
        ----------
        cost, subsidies, subsidy_kind
            As in :meth:`PublishedStatistics.applies`.
        min_selected : float, default=0
            Leave out thresholds that select fewer people than this.
        tolerance : float or "auto", default=0.0
            Margin by which a group must clear its cost to be counted as applying.

        Returns
        -------
        DataFrame, indexed by group
            ``accuracy`` and ``threshold`` (the lowest among equals; NaN if the group cannot be made to apply),
            ``selected`` and ``true_positives`` there.
        """
        costs = group_costs(self.groups, cost, subsidies, subsidy_kind)
        step = self.best_steps(costs, tolerance, min_selected)
        found = step >= 0
        frame = pd.DataFrame(
            {
                "accuracy": ratio(
                    self.n - self.positives - self.selected[step] + 2 * self.true_positives[step], self.n
                ),
                "threshold": self.threshold[step],
                "selected": self.selected[step],
                "true_positives": self.true_positives[step],
            },
            index=self.groups,
            dtype=np.float64,
        )
        frame[~found] = np.nan
        return frame

    def best_steps(self, costs: FloatArray, tolerance: Tolerance = 0.0, min_selected: float = 0) -> NDArray[np.intp]:
        """Step of each group at which it is judged most accurately while it applies, -1 if there is none."""
        allowed = self._step_applies(costs, tolerance) & (
            self.selected >= check_threshold(min_selected, "min_selected")
        )
        gain = np.where(allowed, 2 * self.true_positives - self.selected, -np.inf)
        best = np.maximum.reduceat(gain, self.start[:-1])
        is_best = np.flatnonzero((gain == best[self.group]) & allowed)
        owner, where = np.unique(self.group[is_best], return_index=True)
        step = np.full(len(self.groups), -1, dtype=np.intp)
        step[owner] = is_best[where]
        return step

    # ------------------------------------------------------------------ the shape of the score

    def is_calibrated(self) -> pd.Series:
        """Whether the score is calibrated for each group: raising the threshold never lowers its precision.

        The test is exact, with ties: ``precision(score > v) >= mean(y | score = v)`` for every score value v of the
        group but the largest, compared on counts.
        """
        # between a step and the one before lie exactly the people whose score is the step's threshold
        tied = self.selected[:-1] - self.selected[1:]
        tied_positive = self.true_positives[:-1] - self.true_positives[1:]
        above, above_positive = self.selected[1:], self.true_positives[1:]
        same_group = self.group[1:] == self.group[:-1]
        slack = SLACK * np.maximum(above, 1) * np.maximum(tied, 1)
        falls = same_group & (above > 0) & (above_positive * tied < tied_positive * above - slack)
        broken = np.bincount(self.group[1:][falls], minlength=len(self.groups)) > 0
        return pd.Series(~broken, index=self.groups, name="is_calibrated")
