"""Cells that are more than text: numbers, two values of which one is positive, groups and their names."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
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
from .sniffing import looks_like_number

#: Texts that say yes or no without being told which is which.
YES, NO = frozenset({"1", "true"}), frozenset({"0", "false"})
#: Cells that mean that nothing is known, whatever the case of their letters.
MISSING_CELLS = frozenset({"", "na", "n/a", "nan", "null", "?"})
#: What is said of a cell in which something must be.
EMPTY_CELL = "the cell is empty; fill or drop such rows"
#: So many different texts that would be numbers with another decimal sign are no categories.
MANY_STRANGE = 20
#: Groups that a complaint lists.
MOST_GROUPS_LISTED = 10

# ---------------------------------------------------------------------- numbers


def is_number(cell: str, decimal: str | None = ".") -> bool:
    """Whether a cell reads as a number.

    Parameters
    ----------
    cell : str
        The cell.
    decimal : {".", ","} or None, default="."
        Decimal sign; None if it is not known, so that only whole numbers are sure.

    Examples
    --------
    >>> is_number(" 1e3"), is_number("1_000"), is_number("")
    (True, False, False)
    >>> is_number("0,5", ","), is_number("1.234", ","), is_number("1.234", None)
    (True, False, False)
    """
    text = with_point(cell, decimal)
    if "_" in text:  # Python reads 1_000 as a number; a table that holds it means something else
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True


def with_point(cell: str, decimal: str | None) -> str:
    """A number as Python writes it; what is none with this decimal sign becomes no number with a point either.

    Examples
    --------
    >>> with_point("0,5", ","), with_point("1.234", ","), with_point("1.5", None)
    ('0.5', '1_.234', '1_.5')
    """
    if decimal == ".":
        return cell
    if decimal == ",":
        return cell.replace(".", "_.").replace(",", ".")
    return cell.replace(".", "_.")


def _as_floats(cells: Sequence[str], decimal: str | None = ".") -> FloatArray:
    """Cells as numbers, NaN for those that are none."""
    if decimal != ".":
        cells = [with_point(cell, decimal) for cell in cells]
    try:
        if "_" not in "".join(cells):
            return np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
    except ValueError:
        pass
    return np.array([float(cell) if is_number(cell) else np.nan for cell in cells], dtype=np.float64)


def as_numbers(table: TableReader, chunk: Chunk, at: int, column: str) -> FloatArray:
    """Cells as finite numbers, or a complaint about the first that is none."""
    numbers = None if table.decimal is None else chunk.plain_numbers(at, table.decimal)
    if numbers is None:
        numbers = _as_floats(chunk.texts(at), table.decimal)
    else:
        odd = np.flatnonzero(~np.isfinite(numbers))
        numbers[odd] = _as_floats(chunk.some(at, odd), table.decimal)
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if wrong.size:
        raise number_error(table, chunk.some(at, wrong[:1])[0], chunk.rows[int(wrong[0])], column)
    return numbers


def number_error(table: TableReader, cell: str, row: int | None, column: str) -> TableError:
    """Complaint about a cell that should be a finite number, with the decimal sign in mind."""
    text = cell.strip()
    if not text:
        return table.error("the cell is empty; fill or drop such rows", row=row, column=column)
    if is_number(text, table.decimal):
        return table.error(f"{shown(text)} is not a finite number", row=row, column=column)
    if not looks_like_number(text):
        return table.error(f"{shown(text)} is not a number", row=row, column=column)
    if table.decimal is None:
        problem = f"{shown(text)} may hold a decimal sign or a sign between thousands; say which sign is decimal"
        return table.error(problem, row=row, column=column, key="which_decimal")
    if table.decimal == ",":
        problem = f"{shown(text)} is not a number in a table with decimal commas"
        advice = "Write numbers without signs between thousands."
    else:
        problem = f"{shown(text)} is not a number"
        advice = "Write decimals with a point, and no sign between thousands."
    return table.error(problem, row=row, column=column, advice=advice, key="decimal", decimal=_other(table.decimal))


def _other(decimal: str) -> str:
    return "," if decimal == "." else "."


def in_points(table: TableReader, column: str, cells: TextArray) -> TextArray:
    """Cells of a column with decimal points, if it is a column of numbers; others stay as they are.

    Numbers of which the decimal sign is not clear, and numbers with signs between thousands, are refused: as categories
    they would lose what they say, as numbers they would be others.
    """
    codes, values = pd.factorize(cells)
    texts = [str(value) for value in values]
    known = [text for text in texts if text.strip().casefold() not in MISSING_CELLS]
    strange = [text for text in known if not is_number(text, table.decimal)]
    # with decimal points, a few such texts may be what they seem: 1,2 for "the first and the second"
    enough = MANY_STRANGE if table.decimal == "." else 1
    if len(strange) >= enough and all(map(looks_like_number, strange)):
        first = int(np.argmax(codes == texts.index(strange[0])))
        wrong = number_error(table, strange[0], None, column)
        advice = f"{wrong.advice} It is the first such cell, {first + 1} row(s) after the header.".strip()
        raise table.error(wrong.problem, column=column, advice=advice, key=wrong.key, **wrong.details)
    if strange or table.decimal == ".":
        return cells
    numbers = set(known)
    pointed = np.array([with_point(text, table.decimal) if text in numbers else text for text in texts], dtype=object)
    return np.asarray(pointed[codes], dtype=object)


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


def _plain(cell: str, decimal: str | None = ".") -> str:
    """One spelling for values that mean the same: 1, 1.0 and ' 1 ' are equal, and so are Yes and YES.

    Numbers are compared as they are written, digit by digit.
    """
    text = cell.strip()
    return _plain_number(with_point(text, decimal)) if is_number(text, decimal) else text.casefold()


def _plain_number(text: str) -> str:
    try:
        sign, digits, exponent = Decimal(text).as_tuple()
    except InvalidOperation:  # an exponent beyond all bounds
        return text.casefold()
    if isinstance(exponent, str):  # what is not finite
        return text.casefold()
    whole = "".join(map(str, digits)).lstrip("0")
    short = whole.rstrip("0")
    exponent += len(whole) - len(short)
    minus = "-" if sign and short else ""
    if not short or 0 <= exponent <= 20:
        return minus + (short or "0") + "0" * (exponent if short else 0)
    return f"{minus}{short}e{exponent}"


class TwoValues:
    """Column of two values, one of which counts as positive.

    Parameters
    ----------
    column : str
        Its name, for complaints.
    positive : str, sequence of str or None
        The values that count as positive; None if the column speaks for itself (0 and 1, false and true).
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
    rest_is_negative : bool, default=False
        Whether, once it is said what is positive, there may be any number of other values, which then are not.
    """

    def __init__(
        self,
        column: str,
        positive: str | Sequence[str] | None,
        meaning: str,
        *,
        key: str = "positive",
        more_values: str | None = None,
        empty: str = EMPTY_CELL,
        empty_key: str | None = None,
        allow_empty: bool = False,
        rest_is_negative: bool = False,
    ) -> None:
        self.column, self.meaning = column, meaning
        self.positive = ((positive,) if isinstance(positive, str) else tuple(positive or ())) or None
        self._key, self._more_values, self._rest_is_negative = key, more_values, rest_is_negative
        self._empty, self._empty_key, self._allow_empty = empty, empty_key, allow_empty
        self._seen: dict[str, tuple[str, int]] = {}
        self._spellings: dict[str, set[str]] = {}
        self._decimal: str | None = "."

    def __call__(self, table: TableReader, chunk: Chunk, at: int) -> BoolArray:
        """Which cells are positive."""
        codes, texts = chunk.codes(at)
        self._decimal = table.decimal
        plain = [_plain(text, self._decimal) for text in texts]
        for text, value in zip(texts, plain, strict=True):
            self._spellings.setdefault(value, set()).add(str(text).strip())
        for code, (text, value) in enumerate(zip(texts, plain, strict=True)):
            if value not in self._seen and not (self._allow_empty and value.casefold() in MISSING_CELLS):
                self._note(table, str(text), value, chunk.rows[int(np.argmax(codes == code))])
        positive = np.zeros(len(texts), dtype=bool)
        positive[self._positive_codes(table, plain)] = True
        return np.asarray(positive[codes], dtype=bool)

    def known(self, chunk: Chunk, at: int) -> BoolArray:
        """Which cells say something."""
        return ~is_missing(np.array(chunk.columns[at], dtype=object))

    def _note(self, table: TableReader, text: str, value: str, row: int) -> None:
        """Remember a new value, unless it is one too many."""
        if not value or (self._empty_key is not None and value.casefold() in MISSING_CELLS):
            raise table.error(self._empty, row=row, column=self.column, key=self._empty_key)
        if len(self._seen) == 2 and not (self._rest_is_negative and self.positive):
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
            named = {_plain(value, self._decimal) for value in self.positive}
            return [code for code, value in enumerate(plain) if value in named]
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

    def values(self) -> tuple[list[str], list[str]]:
        """Values seen that count as positive, and those that do not, as they are written."""
        named = YES if self.positive is None else {_plain(value) for value in self.positive}
        yes = [text.strip() for value, (text, _) in self._seen.items() if value in named]
        no = [text.strip() for value, (text, _) in self._seen.items() if value not in named]
        return yes, no

    def adopt(self, positive: str | Sequence[str], chunk: Chunk, at: int) -> None:
        """Take another column's word for positive, if this one does not speak for itself."""
        if any(_plain(text, self._decimal) not in YES | NO for text in chunk.codes(at)[1]):
            self.positive = (positive,) if isinstance(positive, str) else tuple(positive)

    def finish(self, table: TableReader) -> None:
        """Once all rows are read: each value named as positive must have been among them, if there were two others.

        Spellings that differ in case alone are one value, unless there is no other: then nobody can tell.
        """
        if self.positive is None:
            return
        absent = [value for value in self.positive if _plain(value, self._decimal) not in self._seen]
        if not absent:
            self._refuse_cases(table)
            return
        held = [text for text, _ in self._seen.values()]
        found = " and ".join(map(shown, held)) if len(held) <= 2 else listing(held, MOST_GROUPS_LISTED)
        raise table.error(
            f"no row holds {shown(absent[0])}",
            column=self.column,
            advice=f"It holds {found}.",
            named_by=self._key,
        )

    def _refuse_cases(self, table: TableReader) -> None:
        ((_, spellings), *others) = self._spellings.items()
        cased = sorted(text for text in spellings if not is_number(text, self._decimal))
        if not others and len(cased) > 1:
            raise table.error(
                f"it holds {' and '.join(map(shown, cased))} and nothing else: one value in two cases, or two values",
                column=self.column,
                advice="Write one value in one way, and two values as different words.",
            )


# ---------------------------------------------------------------------- groups


class GroupColumns:
    """Groups of a table, chunk by chunk; blanks around a label are left out, and an empty cell is a missing group.

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
        #: Labels of each column as they were written, where blanks around them were left out.
        self.trimmed: list[set[str]] = [set() for _ in names]

    def cells(self, table: TableReader, chunk: Chunk, at: Sequence[int]) -> pd.DataFrame:
        """Group cells of a chunk, missing where empty, from the columns at some positions."""
        columns = {}
        for i, position in enumerate(at):
            codes, labels = self._column(table, chunk, i, position)
            order = sorted(range(len(labels)), key=labels.__getitem__)
            rank = np.full(len(labels) + 1, -1)
            rank[order] = np.arange(len(labels))
            columns[i] = pd.Categorical.from_codes(rank[codes], pd.Index([labels[k] for k in order], dtype=object))
        return pd.DataFrame(columns).set_axis(pd.Index(self.names), axis=1)

    def _column(self, table: TableReader, chunk: Chunk, i: int, at: int) -> tuple[NDArray[Any], list[str]]:
        """Positions of a chunk's cells in a list of different labels (without blanks around them), -1 where empty."""
        name, seen = self.names[i], self._seen[i]
        codes, texts = chunk.codes(at)
        labels: dict[str, int] = {}
        positions = np.empty(len(texts), dtype=np.intp)
        for code, text in enumerate(texts):
            label = str(text).strip()
            if label != text:
                self.trimmed[i].add(str(text))
            positions[code] = labels.setdefault(label, len(labels)) if label else -1
        own = positions[codes]
        if (positions < 0).any():
            if self.missing == "error":
                first = int(np.argmax(own < 0))
                raise table.error(
                    "the group is empty; fill or drop such rows", row=chunk.rows[first], column=name, key="missing"
                )
            seen.add("")
        seen.update({MISSING}.intersection(labels))
        if len(seen) == 2:
            raise table.error(
                f"a group is already called {MISSING!r}; rename it to give missing labels their own", column=name
            )
        return own, list(labels)

    def keep(self, table: TableReader, chunk: Chunk, at: Sequence[int]) -> None:
        """Remember the groups of a chunk for :meth:`codes`."""
        for i, (kept, labels, position) in enumerate(zip(self._codes, self._labels, at, strict=True)):
            codes, own = self._column(table, chunk, i, position)
            positions = np.array([*(labels.setdefault(label, len(labels)) for label in own), -1], dtype=np.int32)
            kept.append(positions[codes])

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
