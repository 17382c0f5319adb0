"""Per-group sums: the one place where people become counts.

Four sums per group carry everything: people, qualified people, selected people, and selected people who are qualified.
They add up over chunks of rows, so counts built in pieces equal the counts built at once. Two more are kept where there
is reason to: people whose label nobody knows, because they were not tested, and sums of squared weights, which say how
many people weighted ones are worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._validation import FloatArray
from .intervals import ratio

#: The four sums, as they are named wherever counts are written down.
COUNTED = ("n", "positives", "selected", "true_positives")


def correct_decisions(n: Any, positives: Any, selected: Any, true_positives: Any) -> NDArray[Any]:
    """People who are judged rightly: true positives, and negatives who are not selected.

    Examples
    --------
    >>> int(correct_decisions(n=10, positives=4, selected=5, true_positives=3))
    7
    """
    right: NDArray[Any] = n - positives - selected + 2 * true_positives
    return right


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """Per-group sums that everything else is a function of.

    Attributes
    ----------
    n : ndarray of shape (n_groups,)
        People (or their summed weights).
    positives : ndarray of shape (n_groups,)
        Qualified people.
    selected : ndarray of shape (n_groups,)
        People whom the classifier passes.
    true_positives : ndarray of shape (n_groups,)
        Qualified people whom the classifier passes.
    untested : ndarray of shape (n_groups,), optional
        People whom the classifier does not pass and whose label is unknown; None means nobody. They are among ``n``,
        not among ``positives``: what depends on their labels is NaN, and has bounds instead.
    squares : GroupCounts, optional
        The same sums of squared weights; None means that every person counts once (or that weights are repetitions).

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
        squares: bool = False,
    ) -> Self:
        """Add up rows: the only place where people become counts.

        Parameters
        ----------
        y, selected : ndarray of bool of shape (n_rows,)
            Who is qualified, and who passes screening.
        codes : ndarray of shape (n_rows,)
            Position of each row's group.
        n_groups : int
            Number of groups.
        sample_weight : ndarray of shape (n_rows,), optional
            Weights.
        known : ndarray of bool of shape (n_rows,), optional
            Whose label is known; the others are not selected. By default everybody's.
        squares : bool, default=False
            Whether weights say how far a person stands for others, so that their squares are kept as well; otherwise
            they are repetitions.
        """

        def count(mask: NDArray[np.bool_] | None) -> NDArray[Any]:
            rows = codes if mask is None else codes[mask]
            weights = sample_weight if sample_weight is None or mask is None else sample_weight[mask]
            total: NDArray[Any] = np.bincount(rows, weights=weights, minlength=n_groups)
            return total

        tested = y if known is None else y & known
        squared = (
            cls.from_rows(y, selected, codes, n_groups, sample_weight**2, known=known)
            if squares and sample_weight is not None
            else None
        )
        untested = None if known is None else count(~known)
        return cls(count(None), count(tested), count(selected), count(tested & selected), untested, squares=squared)

    @property
    def columns(self) -> tuple[NDArray[Any], ...]:
        """The four sums, in order."""
        return self.n, self.positives, self.selected, self.true_positives

    def spread_over(self, position: NDArray[np.intp], n_groups: int) -> GroupCounts:
        """The same counts at other positions among more groups; those without people have none."""

        def spread(values: NDArray[Any]) -> NDArray[Any]:
            column = np.zeros(n_groups, dtype=values.dtype)
            column[position] = values
            return column

        n, positives, selected, hits = (spread(values) for values in self.columns)
        untested = None if self.untested is None else spread(self.untested)
        squares = None if self.squares is None else self.squares.spread_over(position, n_groups)
        return GroupCounts(n, positives, selected, hits, untested, squares=squares)

    def to_dict(self) -> dict[str, list[Any]]:
        """The four sums by name, in plain lists: what JSON can hold.

        Examples
        --------
        >>> counts = GroupCounts(np.array([4, 2]), np.array([2, 1]), np.array([2, 0]), np.array([1, 0]))
        >>> counts.to_dict()
        {'n': [4, 2], 'positives': [2, 1], 'selected': [2, 0], 'true_positives': [1, 0]}
        """
        sums = {name: sums.tolist() for name, sums in zip(COUNTED, self.columns, strict=True)}
        return sums if self.untested is None else sums | {"untested": self.untested.tolist()}

    @classmethod
    def from_dict(cls, sums: Mapping[str, Sequence[Any]]) -> Self:
        """The way back from :meth:`to_dict`; anything but the sums, equally long, is refused.

        Examples
        --------
        >>> GroupCounts.from_dict({"n": [4], "positives": [2], "selected": [2], "true_positives": [1]}).precision
        array([0.5])
        """
        if set(sums) - {"untested"} != set(COUNTED):
            raise ValueError(f"Counts are {', '.join(COUNTED)}; got {', '.join(map(str, sums)) or 'nothing'}.")
        lengths = {name: len(values) for name, values in sums.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"Counts must have one number per group each, got {lengths}.")
        untested = np.asarray(sums["untested"]) if "untested" in sums else None
        n, positives, selected, hits = (np.asarray(sums[name]) for name in COUNTED)
        return cls(n, positives, selected, hits, untested)

    def __add__(self, other: GroupCounts) -> GroupCounts:
        untested = None if self.untested is other.untested is None else self.unknown + other.unknown
        squares = None
        if self.squares is not None or other.squares is not None:
            squares = (self.squares or self) + (other.squares or other)
        n, positives, selected, hits = (a + b for a, b in zip(self.columns, other.columns, strict=True))
        return GroupCounts(n, positives, selected, hits, untested, squares=squares)

    # ------------------------------------------------------------------ people who were not tested

    @property
    def unknown(self) -> NDArray[Any]:
        """People whose label is unknown, zeros where everybody's is known."""
        return np.zeros_like(self.n) if self.untested is None else self.untested

    @property
    def is_known(self) -> bool:
        """Whether everybody's label is known."""
        return self.untested is None or not self.untested.any()

    def _if_known(self, values: NDArray[Any]) -> NDArray[Any]:
        """What depends on labels: NaN for groups of which some are unknown."""
        return values if self.untested is None else np.where(self.untested > 0, np.nan, values)

    @property
    def positives_bounds(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Fewest and most qualified people, whatever the labels of the untested."""
        return self.positives, self.positives + self.unknown

    @property
    def correct_bounds(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Fewest and most people who are judged rightly: the untested are rejected, rightly if they are unqualified."""
        most = correct_decisions(self.n, self.positives, self.selected, self.true_positives)
        return most - self.unknown, most

    @property
    def base_rate_bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest ``P(y = 1 | z)``, whatever the labels of the untested."""
        fewest, most = self.positives_bounds
        return ratio(fewest, self.n), ratio(most, self.n)

    @property
    def accuracy_bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest ``P(selected = y | z)``, whatever the labels of the untested."""
        fewest, most = self.correct_bounds
        return ratio(fewest, self.n), ratio(most, self.n)

    @property
    def true_positive_rate_bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest ``P(selected | y = 1, z)``; both 0 where only the untested can be qualified."""
        fewest, most = self.positives_bounds
        low, high = ratio(self.true_positives, most), ratio(self.true_positives, fewest)
        return low, np.where(np.isnan(high), low, high)

    # ------------------------------------------------------------------ weights

    @property
    def trials(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Hits and people who pass, as intervals of the precision should count them.

        With squared weights these are Kish's: as many equally weighted people as would give a precision of the same
        variance, ``(sum w)^2 / sum w^2`` of the selected, and the precision's share of them.
        """
        if self.squares is None:
            return self.true_positives, self.selected
        worth = np.nan_to_num(ratio(self.selected, self.squares.selected))
        return np.minimum(self.true_positives, self.selected) * worth, self.selected * worth

    @property
    def worth(self) -> FloatArray:
        """How many equally weighted people each group is worth, per unit of weight: Kish's, over everybody of it."""
        return np.ones(len(self.n)) if self.squares is None else np.nan_to_num(ratio(self.n, self.squares.n))

    # ------------------------------------------------------------------ rates

    @property
    def correct(self) -> NDArray[Any]:
        """People whom the classifier judges rightly: true positives and true negatives; NaN if some are untested."""
        return self._if_known(correct_decisions(self.n, self.positives, self.selected, self.true_positives))

    @property
    def base_rate(self) -> FloatArray:
        """``P(y = 1 | z)``, NaN where nobody is there, or some are untested."""
        return self._if_known(ratio(self.positives, self.n))

    @property
    def precision(self) -> FloatArray:
        """``P(y = 1 | selected, z)``, NaN where nobody is selected."""
        return ratio(self.true_positives, self.selected)

    @property
    def selection_rate(self) -> FloatArray:
        """``P(selected | z)``."""
        return ratio(self.selected, self.n)

    @property
    def true_positive_rate(self) -> FloatArray:
        """``P(selected | y = 1, z)``, NaN where nobody is qualified, or some are untested."""
        return self._if_known(ratio(self.true_positives, self.positives))

    @property
    def accuracy(self) -> FloatArray:
        """``P(selected = y | z)``, NaN where nobody is there, or some are untested."""
        return ratio(self.correct, self.n)
