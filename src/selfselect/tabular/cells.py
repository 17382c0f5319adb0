"""Count rows that agree in some columns, block by block, so that a table need not fit into memory.

Labels, groups and decisions have few different texts, so that every combination of them is kept. Scores may have as
many values as there are rows. Up to :data:`MAX_CELLS` combinations with a score are kept exactly. If there are more,
scores are rounded up to so few decimals that at most :data:`MAX_BINNED` remain. A person passes when the score is above
the threshold, so rounding up changes no count at a threshold that is such a decimal, or at the threshold in use, which
no score is rounded across. The result is the same whatever the blocks and the order of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray
from ..counting.curves import order_by_score
from .table import Column, Table

#: Combinations with a score that are kept exactly, and at most if they are too many for that.
MAX_CELLS, MAX_BINNED = 2**20, 2**18
#: Rows that wait to be merged.
MAX_WAITING = 2**19
#: More decimals are never kept; fewer than none are tens, hundreds and so on.
MAX_DECIMALS, MIN_DECIMALS = 15, -300


@dataclass(frozen=True)
class ScoreKey:
    """A column of scores, by its position among the columns that are read; scores are not rounded across a threshold.

    With ``lower_passes`` they are rounded down, because people below the threshold pass.
    """

    position: int
    threshold: float
    lower_passes: bool = False


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows that agree in some columns as one, in the order of the first row of their texts.

    Attributes
    ----------
    columns : list of Column
        Each column that was read, with one entry per cell; None in place of weights and of other scores.
    n : ndarray
        Rows of each cell, or the sum of their weights.
    squares : ndarray or None
        Sum of the squared weights, if there are weights.
    rows : ndarray
        Rows of each cell.
    passes : ndarray of shape (n_cells, n_scores)
        Whether the rows of a cell pass by each score.
    extent : tuple of two float, optional
        Smallest and largest score.
    width : float, optional
        Width to which scores are rounded; None if they are as they were.
    """

    columns: list[Any]
    n: NDArray[Any]
    squares: FloatArray | None
    rows: NDArray[np.int64]
    passes: BoolArray
    extent: tuple[float, float] | None = None
    width: float | None = None

    def take(self, kept: BoolArray) -> Cells:
        """Some of the cells."""
        columns = [None if column is None else column.take(kept) for column in self.columns]
        squares = None if self.squares is None else self.squares[kept]
        n, rows, passes = self.n[kept], self.rows[kept], self.passes[kept]
        return replace(self, columns=columns, n=n, squares=squares, rows=rows, passes=passes)


class _Scores:
    """Counts by combination and score. Rows wait until there are enough of them to be merged with the others."""

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold
        self.decimals: int | None = None
        self.extent = (np.inf, -np.inf)
        self._parts: list[tuple[NDArray[Any], ...]] = []
        self._waiting = 0

    def add(self, code: NDArray[np.intp], score: FloatArray, sums: Sequence[NDArray[Any]]) -> None:
        self.extent = min(self.extent[0], float(score.min())), max(self.extent[1], float(score.max()))
        if self.decimals is not None:
            score = round_up(score, self.decimals, self.threshold)
        self._parts.append((code, score, *sums))
        self._waiting += len(code)
        if self._waiting > MAX_WAITING:
            self.merged()

    def merged(self) -> tuple[NDArray[Any], ...]:
        """Codes, scores and sums of all cells, sorted by code and score."""
        parts, self._parts = self._parts, []
        code, score, *sums = _merge(*map(np.concatenate, zip(*parts, strict=True)))
        del parts
        if len(code) > (MAX_CELLS if self.decimals is None else MAX_BINNED):
            self.decimals = self._enough_decimals(code, score)
            code, score, *sums = _merge(code, round_up(score, self.decimals, self.threshold), *sums)
        self._parts, self._waiting = [(code, score, *sums)], 0
        return code, score, *sums

    def _enough_decimals(self, code: NDArray[Any], score: FloatArray) -> int:
        """The most decimals with which at most :data:`MAX_BINNED` cells remain; cells are sorted."""
        new = code[1:] != code[:-1]

        def few_remain(decimals: int) -> bool:
            rounded = round_up(score, decimals, self.threshold)
            return int(np.count_nonzero(new | (rounded[1:] != rounded[:-1]))) < MAX_BINNED

        candidates = range(MAX_DECIMALS if self.decimals is None else self.decimals, MIN_DECIMALS, -1)
        return next(filter(few_remain, candidates), MIN_DECIMALS)


def _merge(code: NDArray[Any], score: FloatArray, *sums: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Add up rows of one code and score, and sort them."""
    order = order_by_score(score, code, int(code.max()) + 1)
    code, score = code[order], score[order]
    first = np.flatnonzero(np.append(True, (code[1:] != code[:-1]) | (score[1:] != score[:-1])))
    return code[first], score[first], *(np.add.reduceat(part[order], first) for part in sums)


def round_up(score: FloatArray, decimals: int, threshold: float) -> FloatArray:
    """The least number of so many decimals that is not below each score, or the threshold if it lies in between."""

    def at(step: FloatArray) -> FloatArray:
        return step / 10.0**decimals if decimals >= 0 else step * 10.0**-decimals

    with np.errstate(over="ignore", invalid="ignore"):
        step = np.ceil(score * 10.0**decimals if decimals >= 0 else score / 10.0**-decimals)
        step += at(step) < score  # the product was rounded
        step -= at(step - 1) >= score
        edge = at(step)
    edge = np.where(np.isfinite(edge), edge, score)
    return np.where((score <= threshold) & (threshold < edge), threshold, edge)


def count_cells(
    table: Table,
    positions: Sequence[int],
    scores: Sequence[ScoreKey] = (),
    weight: int | None = None,
    *,
    to_numbers: Callable[[Column], FloatArray],
    to_weights: Callable[[Column], FloatArray],
) -> tuple[Cells, list[Cells]]:
    """Count the rows of a table in one reading: by texts and by who passes each score; and of each score also by score.

    ``weight`` is the place of the weights among the ``positions``.
    """
    numeric = {key.position for key in scores} | {weight}
    texts = [at for at in range(len(positions)) if at not in numeric]
    known: list[dict[str, int]] = [{} for _ in texts]
    cells: dict[tuple[int, ...], int] = {}
    first_rows: list[int] = []
    totals: list[NDArray[Any]] = [*([] if weight is None else [np.zeros(0), np.zeros(0)]), np.zeros(0, np.int64)]
    by_score = [_Scores(-key.threshold if key.lower_passes else key.threshold) for key in scores]
    for block in table.blocks(positions):
        rows = block[0].rows
        numbers = [to_numbers(block[key.position]) * (-1 if key.lower_passes else 1) for key in scores]
        codes: list[NDArray[Any]] = [_encode(block[at], own) for at, own in zip(texts, known, strict=True)]
        codes += [own > each.threshold for own, each in zip(numbers, by_score, strict=True)]
        code, first = _combine(codes)
        own = np.empty(len(first), dtype=np.intp)
        for i, combination in enumerate(zip(*(column[first].tolist() for column in codes), strict=True)):
            own[i] = cells.setdefault(combination, len(cells))
            if own[i] == len(first_rows):
                first_rows.append(int(rows[first[i]]))
        code = own[code].astype(np.int32)
        sums: list[NDArray[Any]] = [np.ones(len(rows), dtype=np.int64)]
        if weight is not None:
            weights = to_weights(block[weight])
            sums = [weights, weights**2, *sums]
        for i, part in enumerate(sums):
            here = np.bincount(code, part, len(cells)).astype(part.dtype)
            here[: len(totals[i])] += totals[i]
            totals[i] = here
        for each, score in zip(by_score, numbers, strict=True):
            each.add(code, score, sums)
    keys = np.array(list(cells), dtype=np.intp).reshape(len(cells), -1)
    names = [table.header[at] for at in positions]

    def made(at: NDArray[np.intp], sums: Sequence[NDArray[Any]], score: dict[int, FloatArray], **more: Any) -> Cells:
        arrays: dict[int, Any] = dict(score)
        for i, position in enumerate(texts):
            arrays[position] = pa.DictionaryArray.from_arrays(keys[at, i], pa.array(list(known[i]), pa.string()))
        row: Any = np.array(first_rows)[at]
        columns = [
            Column(name, pa.chunked_array([arrays[i]]), row) if i in arrays else None for i, name in enumerate(names)
        ]
        passes = keys[at, len(texts) :].astype(bool)
        return Cells(columns, sums[0], None if weight is None else sums[1], sums[-1], passes, **more)

    results = []
    for key, each in zip(scores, by_score, strict=True):
        code, score, *sums = each.merged()
        low, high = each.extent
        if key.lower_passes:
            score, low, high = -score, -high, -low
        width = None if each.decimals is None else 10.0**-each.decimals
        results.append(made(code, sums, {key.position: score}, extent=(low, high), width=width))
    return made(np.arange(len(cells)), totals, {}), results


def _encode(column: Column, known: dict[str, int]) -> NDArray[np.intp]:
    """Codes of the texts of a column over all blocks, in the order of their first rows."""
    own = [known.setdefault(text, len(known)) for text in column.texts]
    return np.array(own, dtype=np.intp)[column.codes]


def _combine(columns: Sequence[NDArray[Any]]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """One code per combination, in the order of its first row, and that row."""
    code = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        code, _ = pd.factorize((code << 32) | column)
    first = np.empty(int(code.max()) + 1, dtype=np.intp)
    first[code[::-1]] = np.arange(len(code))[::-1]
    return code, first
