"""The same people under two models: counts of both decisions together, and their bootstrap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .._validation import FloatArray, check_binary, check_same_length, check_same_rows, check_weights
from ..costs import Terms
from ..counting import GroupCounts, encode_groups
from ..publishing.privacy import Cells, Merging
from .resampling import Design, Side, Uncertainty, draw_cells, resampled
from .screening import person_codes
from .undecided import decision_ranges


@dataclass(frozen=True, eq=False)
class PairedCounts:
    """The same people under two models: how many of each group are qualified or not, and pass under each.

    Attributes
    ----------
    groups : Index of shape (n_groups,)
        The groups.
    cells : ndarray of shape (n_groups, 2, 2, 2)
        People (or their summed weights) by label, by whether they pass under the first model, and the second.
    squares : ndarray of the same shape or None
        Sums of squared weights, if there are weights or persons: a row counts its weight times that of its person.
    """

    groups: pd.Index
    cells: NDArray[Any]
    squares: FloatArray | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        first: ArrayLike,
        second: ArrayLike,
        *,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
        person: ArrayLike | None = None,
        missing: str = "error",
    ) -> Self:
        """Count labels and what two models predict for the same people. Parameters as in :func:`selfselect.audit`.

        Examples
        --------
        >>> pairs = PairedCounts.from_predictions([1, 0, 1], [1, 1, 0], [1, 0, 0], sensitive_features=list("AAB"))
        >>> pairs.cells[:, 1, 1, 1].tolist()
        [1, 0]
        """
        check_same_rows(
            y_true=y_true,
            first=first,
            second=second,
            sensitive_features=sensitive_features,
            sample_weight=sample_weight,
            person=person,
        )
        y, one, other = (
            check_binary(values, name) for values, name in ((y_true, "y_true"), (first, "first"), (second, "second"))
        )
        check_same_length(y_true=y, first=one, second=other)
        weights = check_weights(sample_weight, len(y))
        groups = encode_groups(sensitive_features, n_rows=len(y), missing=missing)
        cell = 8 * groups.codes + 4 * y + 2 * one + other

        def count_of(given: FloatArray | None) -> NDArray[Any]:
            total = np.bincount(cell, weights=given, minlength=8 * groups.n_groups)
            return np.asarray(total.reshape(groups.n_groups, 2, 2, 2))

        squares = None if weights is None else weights**2
        if (people := person_codes(person, len(y))) is not None:
            own = pd.Series(np.ones(len(y)) if weights is None else weights)
            squares = np.asarray(own * own.groupby([groups.codes, people]).transform("sum"))
        return cls(groups.labels, count_of(weights), None if squares is None else count_of(squares))

    def counts(self) -> tuple[GroupCounts, GroupCounts]:
        """Counts under the first model and under the second."""
        both = _margins(self.cells)
        if self.squares is None:
            return both
        one, other = (replace(part, squares=own) for part, own in zip(both, _margins(self.squares), strict=True))
        return one, other

    def nested_cells(self, groups: pd.Index) -> Cells:
        """People who pass under one model only, where nobody passes only under the other, as at two thresholds.

        Then they can be told from the counts under each model. Otherwise only differences can, which are nobody's.
        """

        def only(cells: NDArray[Any]) -> FloatArray:
            one, other = cells[:, ::-1, 1, 0], cells[:, ::-1, 0, 1]
            nested = (self.cells[:, :, 1, 0].sum(axis=1) == 0) | (self.cells[:, :, 0, 1].sum(axis=1) == 0)
            part = np.where(nested[:, None], one + other, 0)
            spread = np.zeros((len(groups), 1, 2))
            spread[groups.get_indexer(self.groups), 0] = part
            return spread

        return Cells(only(self.cells), None if self.squares is None else only(self.squares))

    def merged(self, merging: Merging) -> PairedCounts:
        """The same people with merged groups."""
        cells, squares = (None if part is None else merging.added(part) for part in (self.cells, self.squares))
        return PairedCounts(merging.units, cells, squares)  # type: ignore[arg-type]

    def resample(
        self, terms: Sequence[Terms], n_resamples: int, seed: Any, confidence: float, design: Design
    ) -> list[Uncertainty]:
        """Draw the same people for both models, and let them decide under the terms of each."""
        flat = (len(self.groups), 8)
        cells = self.cells.reshape(flat)
        squares = cells if self.squares is None else self.squares.reshape(flat)
        possible = np.broadcast_to(self.cells.sum(axis=1, keepdims=True) > 0, self.cells.shape).reshape(flat)

        def draw(size: int, rng: np.random.Generator) -> tuple[GroupCounts, GroupCounts]:
            return _margins(draw_cells(cells, squares, possible, size, rng, design).reshape(size, *self.cells.shape))

        sides = [
            Side(self.groups, own, decision_ranges(self.groups, counts, own, confidence))
            for own, counts in zip(terms, self.counts(), strict=True)
        ]
        return resampled(sides, draw, n_resamples, seed, confidence, design)


def _margins(cells: NDArray[Any]) -> tuple[GroupCounts, GroupCounts]:
    n, positives = cells.sum(axis=(-1, -2, -3)), cells[..., 1, :, :].sum(axis=(-1, -2))
    first, second = cells.sum(axis=-1), cells.sum(axis=-2)
    return (
        GroupCounts(n, positives, first[..., :, 1].sum(axis=-1), first[..., 1, 1]),
        GroupCounts(n, positives, second[..., :, 1].sum(axis=-1), second[..., 1, 1]),
    )
