"""Per-group sums: the one place where people become counts.

Four sums per group carry everything: people, qualified people, selected people, and selected people who are qualified.
They add up over chunks of rows, so counts built in pieces equal the counts built at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    """

    n: NDArray[Any]
    positives: NDArray[Any]
    selected: NDArray[Any]
    true_positives: NDArray[Any]

    @classmethod
    def from_rows(
        cls,
        y: NDArray[np.bool_],
        selected: NDArray[np.bool_],
        codes: NDArray[np.intp],
        n_groups: int,
        sample_weight: FloatArray | None = None,
    ) -> Self:
        """Add up rows: the only place where people become counts."""

        def count(mask: NDArray[np.bool_] | None) -> NDArray[Any]:
            rows = codes if mask is None else codes[mask]
            weights = sample_weight if sample_weight is None or mask is None else sample_weight[mask]
            total: NDArray[Any] = np.bincount(rows, weights=weights, minlength=n_groups)
            return total

        return cls(count(None), count(y), count(selected), count(y & selected))

    @property
    def columns(self) -> tuple[NDArray[Any], ...]:
        """The four sums, in order."""
        return self.n, self.positives, self.selected, self.true_positives

    def to_dict(self) -> dict[str, list[Any]]:
        """The four sums by name, in plain lists: what JSON can hold.

        Examples
        --------
        >>> counts = GroupCounts(np.array([4, 2]), np.array([2, 1]), np.array([2, 0]), np.array([1, 0]))
        >>> counts.to_dict()
        {'n': [4, 2], 'positives': [2, 1], 'selected': [2, 0], 'true_positives': [1, 0]}
        """
        return {name: sums.tolist() for name, sums in zip(COUNTED, self.columns, strict=True)}

    @classmethod
    def from_dict(cls, sums: Mapping[str, Sequence[Any]]) -> Self:
        """The way back from :meth:`to_dict`; anything but the four sums, equally long, is refused.

        Examples
        --------
        >>> GroupCounts.from_dict({"n": [4], "positives": [2], "selected": [2], "true_positives": [1]}).precision
        array([0.5])
        """
        if set(sums) != set(COUNTED):
            raise ValueError(f"Counts are {', '.join(COUNTED)}; got {', '.join(map(str, sums)) or 'nothing'}.")
        lengths = {name: len(sums[name]) for name in COUNTED}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"Counts must have one number per group each, got {lengths}.")
        return cls(**{name: np.asarray(sums[name]) for name in COUNTED})

    def __add__(self, other: GroupCounts) -> GroupCounts:
        return GroupCounts(*(a + b for a, b in zip(self.columns, other.columns, strict=True)))

    @property
    def correct(self) -> NDArray[Any]:
        """People whom the classifier judges rightly: true positives and true negatives."""
        return correct_decisions(self.n, self.positives, self.selected, self.true_positives)

    @property
    def base_rate(self) -> FloatArray:
        """``P(y = 1 | z)``."""
        return ratio(self.positives, self.n)

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
        """``P(selected | y = 1, z)``, NaN where nobody is qualified."""
        return ratio(self.true_positives, self.positives)

    @property
    def accuracy(self) -> FloatArray:
        """``P(selected = y | z)``."""
        return ratio(self.correct, self.n)
