"""Counts per group.

Everything else is a function of four sums per group: people, qualified people, selected people, and selected people who
are qualified. They add up over chunks of rows, so counts built in pieces equal counts built at once. Two more are kept
where they matter: people whose label is unknown because they were not tested, and sums of squared weights, which give
effective sample sizes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._validation import FloatArray
from .intervals import effective_trials, ratio

#: Names of the four sums, in order.
COUNT_NAMES = ("n", "positives", "selected", "true_positives")


def _sums(codes: NDArray[np.intp], size: int, mask: NDArray[np.bool_], weight: FloatArray | None) -> NDArray[Any]:
    return np.bincount(codes[mask], None if weight is None else weight[mask], minlength=size)


def correct_decisions(n: Any, positives: Any, selected: Any, true_positives: Any) -> NDArray[Any]:
    """Number of correct decisions: true positives and true negatives."""
    correct: NDArray[Any] = n - positives - selected + 2 * true_positives
    return correct


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """Counts of each group.

    Attributes
    ----------
    n, positives, selected, true_positives : ndarray of shape (n_groups,)
        People, qualified people, selected people, and selected people who are qualified (or sums of their weights).
    untested : ndarray of shape (n_groups,), optional
        People who are not selected and whose label is unknown. None means nobody. They count in ``n``, not in
        ``positives``. Rates that depend on their labels are NaN and have bounds instead.
    squares : GroupCounts, optional
        The same sums of squared weights; of one person's rows the weights are added before they are squared. None means
        that everybody counts once.

    Examples
    --------
    >>> counts = GroupCounts(*(np.array([count]) for count in (10, 3, 4, 3, 5)))
    >>> counts.precision.tolist(), counts.base_rate.tolist()
    ([0.75], [nan])
    >>> [bound.tolist() for bound in counts.base_rate_bounds]
    [[0.3], [0.8]]
    """

    n: NDArray[Any]
    positives: NDArray[Any]
    selected: NDArray[Any]
    true_positives: NDArray[Any]
    untested: NDArray[Any] | None = None
    squares: GroupCounts | None = field(default=None, kw_only=True)

    @classmethod
    def from_rows(
        cls,
        y: NDArray[np.bool_],
        selected: NDArray[np.bool_],
        codes: NDArray[np.intp],
        n_groups: int,
        sample_weight: FloatArray | None = None,
        *,
        known: NDArray[np.bool_] | None = None,
        person: NDArray[np.intp] | None = None,
    ) -> Self:
        """Count rows by group. This is the only place where rows become counts.

        Only people whose label is known may be selected; ``known=None`` means everybody. ``person`` has a code for each
        row that is the same for rows of one person; None means that every row is a person.
        """
        positive = y if known is None else y & known
        everyone = np.ones(len(y), dtype=bool)
        masks = [everyone, positive, selected, positive & selected]
        if known is not None:
            masks.append(~known)
        sums = [_sums(codes, n_groups, mask, sample_weight) for mask in masks]
        if sample_weight is None and person is None:
            return cls(*sums)
        if person is None:
            squares = [_sums(codes, n_groups, mask, sample_weight**2) for mask in masks]  # type: ignore[operator]
        else:
            cells, cell = np.unique(np.column_stack([codes, person]), axis=0, return_inverse=True)
            totals = [_sums(cell, len(cells), mask, sample_weight) for mask in masks]
            squares = [np.bincount(cells[:, 0], total.astype(float) ** 2, n_groups) for total in totals]
        return cls(*sums, squares=cls(*squares))

    @property
    def columns(self) -> tuple[NDArray[Any], ...]:
        """The four sums, in order."""
        return self.n, self.positives, self.selected, self.true_positives

    def reindex(self, position: NDArray[np.intp], n_groups: int) -> GroupCounts:
        """Counts for a longer list of groups, given each group's position in it; the other groups have zeros."""

        def spread(values: NDArray[Any]) -> NDArray[Any]:
            column = np.zeros(n_groups, dtype=values.dtype)
            column[position] = values
            return column

        untested = None if self.untested is None else spread(self.untested)
        squares = None if self.squares is None else self.squares.reindex(position, n_groups)
        n, positives, selected, true_positives = map(spread, self.columns)
        return GroupCounts(n, positives, selected, true_positives, untested, squares=squares)

    def to_dict(self) -> dict[str, list[Any]]:
        """Counts by name, as lists that JSON can hold."""
        sums = {name: sums.tolist() for name, sums in zip(COUNT_NAMES, self.columns, strict=True)}
        return sums if self.untested is None else sums | {"untested": self.untested.tolist()}

    def __add__(self, other: GroupCounts) -> GroupCounts:
        untested = None if self.untested is other.untested is None else self.unknown + other.unknown
        squares = None
        if self.squares is not None or other.squares is not None:
            squares = (self.squares or self) + (other.squares or other)
        n, positives, selected, true_positives = map(np.add, self.columns, other.columns)
        return GroupCounts(n, positives, selected, true_positives, untested, squares=squares)

    # ------------------------------------------------------------------ people who were not tested

    @property
    def unknown(self) -> NDArray[Any]:
        """People whose label is unknown."""
        return np.zeros_like(self.n) if self.untested is None else self.untested

    @property
    def labels_known(self) -> bool:
        """Whether everybody's label is known."""
        return self.untested is None or not self.untested.any()

    def _if_known(self, values: NDArray[Any]) -> NDArray[Any]:
        """NaN for groups with unknown labels."""
        return values if self.untested is None else np.where(self.untested > 0, np.nan, values)

    @property
    def correct_bounds(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Smallest and largest possible number of correct decisions: untested people are rejected."""
        most = correct_decisions(*self.columns)
        return most - self.unknown, most

    @property
    def base_rate_bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest possible ``P(y = 1 | z)``."""
        return ratio(self.positives, self.n), ratio(self.positives + self.unknown, self.n)

    @property
    def accuracy_bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest possible ``P(selected = y | z)``."""
        low, high = self.correct_bounds
        return ratio(low, self.n), ratio(high, self.n)

    # ------------------------------------------------------------------ weights

    @property
    def effective_trials(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """True positives and selected people, as a binomial bound of the precision counts them."""
        if self.squares is None:
            return self.true_positives, self.selected
        return effective_trials(self)

    @property
    def people_per_weight(self) -> FloatArray:
        """Kish's effective sample size of each group, divided by its sum of weights."""
        return np.ones(len(self.n)) if self.squares is None else np.nan_to_num(ratio(self.n, self.squares.n))

    # ------------------------------------------------------------------ rates

    @property
    def correct(self) -> NDArray[Any]:
        """Number of correct decisions; NaN if some people are untested."""
        return self._if_known(correct_decisions(*self.columns))

    @property
    def base_rate(self) -> FloatArray:
        """``P(y = 1 | z)``; NaN for an empty group, or if some people are untested."""
        return self._if_known(ratio(self.positives, self.n))

    @property
    def precision(self) -> FloatArray:
        """``P(y = 1 | selected, z)``; NaN if nobody is selected."""
        return ratio(self.true_positives, self.selected)

    @property
    def selection_rate(self) -> FloatArray:
        """``P(selected | z)``."""
        return ratio(self.selected, self.n)

    @property
    def true_positive_rate(self) -> FloatArray:
        """``P(selected | y = 1, z)``; NaN if nobody is qualified, or if some people are untested."""
        return self._if_known(ratio(self.true_positives, self.positives))

    @property
    def false_positive_rate(self) -> FloatArray:
        """``P(selected | y = 0, z)``; NaN if everybody is qualified, or if some people are untested."""
        return self._if_known(ratio(self.selected - self.true_positives, self.n - self.positives))

    @property
    def accuracy(self) -> FloatArray:
        """``P(selected = y | z)``; NaN for an empty group, or if some people are untested."""
        return ratio(self.correct, self.n)
