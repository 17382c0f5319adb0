"""Counts at every threshold of a score, exact, from sorted scores.

A group's counts change only where the threshold crosses one of its own scores. So the curves of all groups have at most
one step per row. They are stored as flat arrays of steps, group after group: O(m log m) time and O(m + K) memory for m
rows and K groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .._validation import (
    BoolArray,
    FloatArray,
    check_binary,
    check_floats,
    check_same_length,
    check_same_rows,
    check_threshold,
    check_weights,
    list_some,
)
from .counts import GroupCounts, correct_decisions
from .groups import encode_groups, sort_by_group
from .intervals import precision_interval, ratio

#: Smallest mean size of a group that is sorted by itself.
ROWS_PER_SORT = 32


def _sum_to_group_end(values: NDArray[Any], codes: NDArray[np.intp], group_end: NDArray[np.intp]) -> NDArray[Any]:
    """Sum of the values from each row to the last row of its group. Rows are sorted by group.

    Integers are added up over all groups at once, which is exact. Weights are added up within each group, so that
    one group's weights leave no rounding error in another group.
    """
    if np.issubdtype(values.dtype, np.floating):
        return np.asarray(pd.Series(values[::-1]).groupby(codes[::-1]).cumsum().to_numpy()[::-1])
    total: NDArray[Any] = np.cumsum(values[::-1], dtype=np.int64)[::-1]
    after_group = np.append(total, 0)[group_end]
    total -= np.repeat(after_group, np.diff(group_end, prepend=0))
    return total


def order_by_score(
    score: FloatArray, codes: NDArray[np.intp], n_groups: int, *, stable: bool = False
) -> NDArray[np.intp]:
    """Order of rows by group and score; of equals by row number if ``stable``.

    Sorting the groups one by one is several times faster than sorting by two keys, unless groups are tiny.
    """
    if n_groups > len(codes) // ROWS_PER_SORT:
        return np.lexsort((score, codes))
    order = sort_by_group(codes, n_groups)
    ends = np.cumsum(np.bincount(codes, minlength=n_groups))
    for first, end in zip(np.append(0, ends), ends, strict=False):
        rows = order[first:end]
        order[first:end] = rows[np.argsort(score[rows], kind="stable" if stable else None)]
    return order


def _squared(weights: FloatArray, codes: NDArray[np.intp], person: NDArray[np.intp] | None) -> FloatArray:
    """What each row adds to the sum of squared weights of its person, counted from the last row up."""
    if person is None:
        return np.asarray(weights**2)
    so_far = pd.Series(weights[::-1]).groupby([codes[::-1], person[::-1]]).cumsum().to_numpy()[::-1]
    return np.asarray(weights * (2 * so_far - weights))


@dataclass(frozen=True, eq=False)
class CountCurves:
    """Counts of each group at every threshold of a score. A person is selected when the score is above it (``>``).

    Make one with :meth:`from_scores`. Step ``i`` belongs to group ``group[i]`` and holds for thresholds from
    ``threshold[i]`` up to the next step of the same group. A group's first step is at -inf (everybody is selected), its
    last step at its largest score (nobody is).

    Attributes
    ----------
    groups : Index of shape (n_groups,)
        The groups.
    start : ndarray of shape (n_groups + 1,)
        The steps of group z are ``start[z]`` to ``start[z + 1] - 1``.
    threshold, selected, true_positives : ndarray of shape (n_steps,)
        Threshold at which each step begins, and the counts from there on.
    n, positives : ndarray of shape (n_groups,)
        People and qualified people of each group.
    squares : CountCurves, optional
        The same steps with squared weights; of one person's rows the weights are added before they are squared. None
        means that everybody counts once.
    """

    groups: pd.Index
    start: NDArray[np.intp]
    threshold: FloatArray
    selected: NDArray[Any]
    true_positives: NDArray[Any]
    n: NDArray[Any]
    positives: NDArray[Any]
    squares: CountCurves | None = None
    rows: tuple[Any, ...] | None = None

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
        """Sort the scores of each group and count from the top; equal scores are one step.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels, 1 = qualified.
        score : array-like of shape (n_rows,)
            Finite scores.
        sensitive_features, sample_weight, missing
            As in :meth:`selfselect.PublishedStatistics.from_predictions`.
        """
        check_same_rows(y_true=y_true, score=score, sensitive_features=sensitive_features, sample_weight=sample_weight)
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
        person: NDArray[np.intp] | None = None,
    ) -> Self:
        """Like :meth:`from_scores` for arrays that are already checked, with groups as codes.

        ``person`` has a code for each row that is the same for rows of one person; None means that every row is a
        person.
        """
        n_rows, n_groups = len(y), len(labels)
        rows = None if person is None else (codes, score, y, weights, person)
        order = order_by_score(score, codes, n_groups, stable=weights is not None)
        score, codes, y = score[order], codes[order], y[order]
        weights = None if weights is None else weights[order]
        person = None if person is None else person[order]
        del order  # arrays of many rows are freed early

        group_end = np.cumsum(np.bincount(codes, minlength=n_groups))
        group_start = np.concatenate([[0], group_end[:-1]])
        last_of_tie = np.ones(n_rows, dtype=bool)
        last_of_tie[:-1] = (score[1:] != score[:-1]) | (codes[1:] != codes[:-1])
        ends = np.flatnonzero(last_of_tie)

        # one step per distinct score of a group, and one more at -inf before each group
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
        is_last = cut == end_of_step  # nobody of the group is above

        def sum_above(values: NDArray[Any]) -> NDArray[Any]:
            return np.where(is_last, 0, _sum_to_group_end(values, codes, group_end)[np.minimum(cut, n_rows - 1)])

        selected: NDArray[Any] = end_of_step - cut if weights is None else sum_above(weights)
        true_positives = sum_above(y if weights is None else weights * y)

        def made(selected: NDArray[Any], true_positives: NDArray[Any], *more: Any) -> Any:
            n, positives = selected[start[:-1]], true_positives[start[:-1]]
            return cls(labels, start, threshold, selected, true_positives, n, positives, *more)

        squares: Any = None
        if weights is not None or person is not None:
            weights = np.ones(n_rows) if weights is None else weights
            squared = (sum_above(_squared(given, codes, person)) for given in (weights, weights * y))
            squares = made(*squared)
        return cast("Self", made(selected, true_positives, squares, rows))

    @cached_property
    def group(self) -> NDArray[np.intp]:
        """Code of each step's group."""
        return np.repeat(np.arange(len(self.groups)), np.diff(self.start))

    def to_frame(self, group: Any = None) -> pd.DataFrame:
        """Steps of all groups, or of one.

        Returns
        -------
        DataFrame
            Columns group, threshold, selected, true_positives, precision with its 95% Wilson interval (precision_low,
            precision_high), selection_rate.
        """
        steps = slice(None)
        if group is not None:
            if group not in self.groups:
                raise ValueError(f"No group {group!r}; known groups: {list_some(self.groups, most=10)}.")
            code = self.groups.get_loc(group)
            if not isinstance(code, int | np.integer):
                raise ValueError(f"{group!r} names several groups; name one: {list_some(self.groups, most=10)}.")
            steps = slice(self.start[code], self.start[code + 1])
        owner, true_positives, selected = self.group[steps], self.true_positives[steps], self.selected[steps]
        low, high = precision_interval(true_positives, selected)
        return pd.DataFrame(
            {
                "group": self.groups.take(owner).to_numpy(),
                "threshold": self.threshold[steps],
                "selected": selected,
                "true_positives": true_positives,
                "precision": ratio(true_positives, selected),
                "precision_low": low,
                "precision_high": high,
                "selection_rate": ratio(selected, self.n[owner]),
            }
        )

    @property
    def correct(self) -> NDArray[Any]:
        """Number of correct decisions about the step's group, at each step."""
        return correct_decisions(self.n[self.group], self.positives[self.group], self.selected, self.true_positives)

    def step_at(self, threshold: float) -> NDArray[np.intp]:
        """Step of each group at one threshold."""
        begun = np.concatenate([[0], np.cumsum(self.threshold <= check_threshold(threshold))])
        # thresholds rise within a group from -inf, so the number of steps that have begun gives the current one
        step: NDArray[np.intp] = self.start[:-1] + begun[self.start[1:]] - begun[self.start[:-1]] - 1
        return step

    def counts_of(self, step: NDArray[np.intp]) -> GroupCounts:
        """Counts of each group at its own step."""
        squares = None if self.squares is None else self.squares.counts_of(step)
        return GroupCounts(self.n, self.positives, self.selected[step], self.true_positives[step], squares=squares)

    def table_at(self, thresholds: ArrayLike) -> GroupCounts:
        """Counts of all groups at several rising thresholds; those selected have shape (n_thresholds, n_groups)."""
        squares = None if self.squares is None else self.squares.table_at(thresholds)
        return GroupCounts(self.n, self.positives, *self.counts_at(thresholds), squares=squares)

    def counts_at(self, thresholds: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
        """Selected people and true positives at several rising thresholds, of shape (n_thresholds, n_groups) each."""
        grid = np.asarray(thresholds, dtype=np.float64)
        n_groups = len(self.groups)
        # a step holds from the first threshold that reaches it; those beyond the last threshold never do
        cell = np.searchsorted(grid, self.threshold) * n_groups + self.group
        begun = np.bincount(cell, minlength=(len(grid) + 1) * n_groups).reshape(len(grid) + 1, n_groups)
        # looking up steps, instead of adding up changes, leaves no rounding error of weights where nobody is selected
        step = self.start[:-1] + np.cumsum(begun, axis=0)[:-1] - 1
        return self.selected[step], self.true_positives[step]
