"""Cells that are more than text: numbers, two values of which one is positive, groups and their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._text import shown
from .._validation import BoolArray, FloatArray
from ..auditing import group_names
from ..counting import MISSING, GroupCodes, encode_groups
from .chunks import Chunk, TableReader, TextArray, did_you_mean, listing
from .errors import TableError

#: Texts that say yes or no without being told which is which.
YES, NO = frozenset({"1", "true"}), frozenset({"0", "false"})
#: Cells that mean that nothing is known, whatever the case of their letters.
MISSING_CELLS = frozenset({"", "na", "n/a", "nan", "null", "?"})
#: What is said of a cell in which something must be.
EMPTY_CELL = "the cell is empty; fill or drop such rows"
#: Groups that a complaint lists.
MOST_GROUPS_LISTED = 10

# ---------------------------------------------------------------------- numbers


def is_number(cell: str) -> bool:
    """Whether a cell reads as a number.

    Examples
    --------
    >>> is_number(" 1e3"), is_number("1_000"), is_number("")
    (True, False, False)
    """
    if "_" in cell:  # Python reads 1_000 as a number; a table that holds it means something else
        return False
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _as_floats(cells: Sequence[str]) -> FloatArray:
    """Cells as numbers, NaN for those that are none."""
    try:
        if "_" not in "".join(cells):
            return np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
    except ValueError:
        pass
    return np.array([float(cell) if is_number(cell) else np.nan for cell in cells], dtype=np.float64)


def as_numbers(table: TableReader, chunk: Chunk, at: int, column: str) -> FloatArray:
    """Cells as finite numbers, or a complaint about the first that is none."""
    cells = chunk.columns[at]
    numbers = _as_floats(cells)
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if not wrong.size:
        return numbers
    first = int(wrong[0])
    cell, advice = cells[first].strip(), ""
    if not cell:
        problem = "the cell is empty; fill or drop such rows"
    elif is_number(cell):
        problem = f"{shown(cell)} is not a finite number"
    else:
        problem = f"{shown(cell)} is not a number"
        advice = "Write decimals with a point." if is_number(cell.replace(",", ".")) else ""
    raise table.error(problem, row=chunk.rows[first], column=column, advice=advice)


def is_missing(cells: TextArray) -> BoolArray:
    """Which cells say nothing."""
    codes, values = pd.factorize(cells)
    flags = np.array([str(value).strip().casefold() in MISSING_CELLS for value in values], dtype=bool)
    return np.asarray(flags[codes], dtype=bool)


def numbers_or_missing(cells: TextArray) -> tuple[FloatArray, NDArray[np.intp]]:
    """Cells as numbers, NaN where missing, and which cells are neither missing nor a finite number.

    Examples
    --------
    >>> numbers, wrong = numbers_or_missing(np.array(["1", "?", "many"], dtype=object))
    >>> numbers.tolist(), wrong.tolist()
    ([1.0, nan, nan], [2])
    """
    present = np.flatnonzero(~is_missing(cells))
    values = np.full(len(cells), np.nan)
    values[present] = _as_floats(cells[present].tolist())
    return values, present[~np.isfinite(values[present])]


def to_numbers(cells: TextArray) -> FloatArray:
    """Cells as numbers, NaN where missing; text is an error that shows it."""
    values, wrong = numbers_or_missing(cells)
    if wrong.size:
        raise ValueError(f"{shown(str(cells[wrong[0]]))} is not a finite number")
    return values


# ---------------------------------------------------------------------- two values


def _plain(cell: str) -> str:
    """One spelling for values that mean the same: 1, 1.0 and ' 1 ' are equal, and so are True and true."""
    text = cell.strip()
    if text.casefold() in YES | NO:
        return text.casefold()
    if is_number(text):
        number = float(text)
        return repr(int(number)) if np.isfinite(number) and number == int(number) else repr(number)
    return text


class TwoValues:
    """Column of two values, one of which counts as positive.

    Parameters
    ----------
    column : str
        Its name, for complaints.
    positive : str or None
        The value that counts as positive; None if the column speaks for itself (0 and 1, false and true).
    meaning : str
        What positive means, for complaints.
    key : str, default="positive"
        Key of complaints that a value named as positive would settle.
    more_values : str, optional
        Key of complaints that there are more than two values.
    empty : str, default=EMPTY_CELL
        What is said of an empty cell.
    empty_key : str, optional
        Key of that complaint.
    allow_empty : bool, default=False
        Whether cells may be empty, or say that nothing is known; :meth:`known` tells which are not.
    """

    def __init__(
        self,
        column: str,
        positive: str | None,
        meaning: str,
        *,
        key: str = "positive",
        more_values: str | None = None,
        empty: str = EMPTY_CELL,
        empty_key: str | None = None,
        allow_empty: bool = False,
    ) -> None:
        self.column, self.positive, self.meaning = column, positive, meaning
        self._key, self._more_values = key, more_values
        self._empty, self._empty_key, self._allow_empty = empty, empty_key, allow_empty
        self._seen: dict[str, tuple[str, int]] = {}

    def __call__(self, table: TableReader, chunk: Chunk, at: int) -> BoolArray:
        """Which cells are positive."""
        codes, texts = pd.factorize(np.array(chunk.columns[at], dtype=object))
        plain = [_plain(text) for text in texts]
        for code, (text, value) in enumerate(zip(texts, plain, strict=True)):
            if value not in self._seen and not (self._allow_empty and value.casefold() in MISSING_CELLS):
                self._note(table, str(text), value, chunk.rows[int(np.argmax(codes == code))])
        return np.asarray(np.isin(codes, self._positive_codes(table, plain)), dtype=bool)

    def known(self, chunk: Chunk, at: int) -> BoolArray:
        """Which cells say something."""
        return ~is_missing(np.array(chunk.columns[at], dtype=object))

    def _note(self, table: TableReader, text: str, value: str, row: int) -> None:
        """Remember a new value, unless it is one too many."""
        if not value:
            raise table.error(self._empty, row=row, column=self.column, key=self._empty_key)
        if len(self._seen) == 2:
            first, second = (shown(seen) for seen, _ in self._seen.values())
            raise table.error(
                f"a third value {shown(text)}, after {first} and {second}; it must hold two values, one of which "
                f"means {self.meaning}",
                row=row,
                column=self.column,
                key=self._more_values,
                name=self.column,
            )
        self._seen[value] = (text, row)

    def _positive_codes(self, table: TableReader, plain: list[str]) -> list[int]:
        if self.positive is not None:
            return [code for code, value in enumerate(plain) if value == _plain(self.positive)]
        unclear = [seen for seen in self._seen if seen not in YES | NO]
        if unclear:
            text, row = self._seen[unclear[0]]
            raise table.error(
                f"{shown(text)} is neither 0 nor 1 (found: "
                f"{', '.join(shown(seen.strip()) for seen, _ in self._seen.values())}); "
                f"say which value means {self.meaning}",
                row=row,
                column=self.column,
                key=self._key,
            )
        return [code for code, value in enumerate(plain) if value in YES]

    @property
    def seen(self) -> set[str]:
        """Values seen so far, as they are compared."""
        return set(self._seen)

    def adopt(self, positive: str, chunk: Chunk, at: int) -> None:
        """Take another column's word for positive, if this one does not speak for itself."""
        if any(_plain(text) not in YES | NO for text in set(chunk.columns[at])):
            self.positive = positive

    def finish(self, table: TableReader) -> None:
        """Once all rows are read: the value named as positive must have been among them, if there were two others."""
        if self.positive is None or _plain(self.positive) in self._seen:
            return
        found = " and ".join(shown(text) for text, _ in self._seen.values())
        raise table.error(
            f"no row holds {shown(self.positive)}",
            column=self.column,
            advice=f"It holds {found}.",
            named_by=self._key,
        )


# ---------------------------------------------------------------------- groups


class GroupColumns:
    """Groups of a table, chunk by chunk; an empty cell is a missing group.

    Parameters
    ----------
    names : sequence of str
        Columns whose combinations are the groups.
    missing : {"error", "own_group"}, default="error"
        What to do with rows whose group is missing.
    """

    def __init__(self, names: Sequence[str], missing: str = "error") -> None:
        self.names, self.missing = tuple(names), missing
        self._codes: list[list[NDArray[Any]]] = [[] for _ in names]
        self._labels: list[dict[str, int]] = [{} for _ in names]
        self._seen: list[set[str]] = [set() for _ in names]

    def cells(self, table: TableReader, chunk: Chunk, at: Sequence[int]) -> pd.DataFrame:
        """Group cells of a chunk, None where empty, from the columns at some positions."""
        columns = {i: self._column(table, chunk.rows, i, chunk.columns[position]) for i, position in enumerate(at)}
        return pd.DataFrame(columns, dtype=object).set_axis(pd.Index(self.names), axis=1)

    def _column(self, table: TableReader, rows: Sequence[int], i: int, cells: list[str]) -> TextArray:
        name, seen = self.names[i], self._seen[i]
        if "" in cells and self.missing == "error":
            raise table.error(
                "the group is empty; fill or drop such rows", row=rows[cells.index("")], column=name, key="missing"
            )
        seen.update({"", MISSING}.intersection(cells))
        if len(seen) == 2:
            raise table.error(
                f"a group is already called {MISSING!r}; rename it to give missing labels their own", column=name
            )
        column = np.array(cells, dtype=object)
        if "" in seen:
            column[column == ""] = None
        return column

    def keep(self, table: TableReader, chunk: Chunk, at: Sequence[int]) -> None:
        """Remember the groups of a chunk for :meth:`codes`."""
        for kept, labels, (_, column) in zip(
            self._codes, self._labels, self.cells(table, chunk, at).items(), strict=True
        ):
            codes, uniques = pd.factorize(column)
            positions = np.array([labels.setdefault(label, len(labels)) for label in uniques], dtype=np.int32)
            kept.append(np.where(codes < 0, -1, positions[codes]) if len(uniques) else codes)

    def codes(self, only: str | None = None) -> GroupCodes:
        """Groups of all rows kept, by all columns or by one: sorted, those without a group last."""
        columns = {
            name: pd.Categorical.from_codes(np.concatenate(kept), list(labels)).reorder_categories(sorted(labels))
            for name, kept, labels in zip(self.names, self._codes, self._labels, strict=True)
        }
        chosen = columns if only is None else {only: columns[only]}
        return encode_groups(pd.DataFrame(chosen), missing=self.missing)


def match_groups(names: Sequence[str], groups: pd.Index, named_by: str = "") -> list[Any]:
    """Labels of groups by the names that people see, or a complaint that suggests the nearest one.

    Parameters
    ----------
    names : sequence of str
        Names; combinations of several columns are joined by " / ".
    groups : Index
        The groups there are.
    named_by : str, optional
        Which input named them, as :attr:`TableError.details` say it.

    Examples
    --------
    >>> match_groups(["B / 2"], pd.MultiIndex.from_tuples([("A", "1"), ("B", "2")]))
    [('B', '2')]
    """
    known = dict(zip(group_names(groups), groups, strict=True))
    for i, name in enumerate(names):
        if name not in known:
            advice = f"{did_you_mean(name, list(known))}Groups: {listing(list(known), MOST_GROUPS_LISTED)}."
            raise TableError(f"there is no group {shown(name)}", advice=advice, named_by=named_by)
        if name in names[:i]:
            raise TableError(f"group {shown(name)} is named twice", named_by=named_by)
    return [known[name] for name in names]
