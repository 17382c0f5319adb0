"""Numbers, two values of which one is positive, and groups, from columns of text. Checks run on distinct texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._notices import captured_warnings
from .._text import quote
from .._validation import BoolArray, FloatArray
from ..auditing import group_names
from ..counting import MISSING, GroupCodes, encode_groups
from .dialect import looks_like_number
from .errors import Problems, TableError
from .table import BLANKS, Column, Table, TextArray, did_you_mean, listing

#: Values that mean yes or no without further explanation.
YES: frozenset[Decimal | str] = frozenset({Decimal(1), "true", "yes"})
NO: frozenset[Decimal | str] = frozenset({Decimal(0), "false", "no"})
#: Cells that mean that nothing is known, whatever the case of their letters.
MISSING_CELLS = frozenset({"", "na", "n/a", "nan", "null", "?"})
#: Problem with a cell that must not be empty.
EMPTY_CELL = "the cell is empty; fill or drop such rows"
#: So many distinct texts that would be numbers with another decimal sign are no categories.
MANY_NUMBERS = 20
#: In a table of at least this many rows, a column with a different value in each row identifies people.
MIN_ROWS_FOR_IDENTIFIERS = 50

# ---------------------------------------------------------------------- numbers


def is_number(cell: str, decimal: str | None = ".") -> bool:
    """Whether a cell reads as a number. If the decimal sign is None (not known), only whole numbers count."""
    text = with_point(cell, decimal)
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text  # Python reads 1_000 as a number; a table that holds it means something else


def with_point(cell: str, decimal: str | None) -> str:
    """A number with a decimal point. A text that is no number with this decimal sign does not become one."""
    if decimal == ".":
        return cell
    text = cell.replace(".", "_.")
    return text.replace(",", ".") if decimal == "," else text


def as_floats(cells: Sequence[str], decimal: str | None = ".") -> FloatArray:
    """Cells as numbers, NaN for those that are none."""
    numbers = [float(with_point(cell, decimal)) if is_number(cell, decimal) else np.nan for cell in cells]
    return np.array(numbers, dtype=np.float64)


def as_numbers(table: Table, column: Column) -> FloatArray:
    """A column as finite numbers, or an error about the first cell that is none."""
    numbers = column.plain_numbers(table.decimal)
    if numbers is not None and np.isfinite(numbers).all():
        return numbers
    numbers = as_floats(column.texts.tolist(), table.decimal)[column.codes]
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if wrong.size:
        raise _number_error(table, column, int(column.codes[wrong[0]]))
    return np.asarray(numbers, dtype=np.float64)


def _number_error(table: Table, column: Column, code: int) -> TableError:
    """Error about a text that should be a finite number."""
    place: dict[str, Any] = {"row": column.first_row(code), "column": column.name}
    text = str(column.texts[code]).strip(BLANKS)
    if not text.strip():
        return table.error(EMPTY_CELL, **place)
    if is_number(text, table.decimal):
        return table.error(f"{quote(text)} is not a finite number", **place)
    if not looks_like_number(text):
        hint = table.header_hint() if code == 0 else {}
        return table.error(f"{quote(text)} is not a number", **place, **hint)
    if table.decimal is None:
        problem = f"{quote(text)} may hold a decimal sign or a sign between thousands; say which sign is decimal"
        return table.error(problem, key="which_decimal", **place)
    commas = table.decimal == ","
    problem = f"{quote(text)} is not a number" + (" in a table with decimal commas" if commas else "")
    advice = f"Write decimals with a {'comma' if commas else 'point'}, and no sign between thousands."
    return table.error(problem, advice=advice, key="decimal", decimal="." if commas else ",", **place)


def normalise_decimals(table: Table, column: Column) -> TextArray:
    """Cells of a column, with decimal points if it is a column of numbers.

    A column of numbers is refused if its decimal sign is not clear, or if it has signs between thousands: read as
    categories, the numbers would lose their meaning; read as numbers, they would be wrong.
    """
    known = [str(text) for text in column.texts if str(text).strip().casefold() not in MISSING_CELLS]
    others = [text for text in known if not is_number(text, table.decimal)]
    # with decimal points, a few such texts may be what they seem: 1,2 for "the first and the second"
    enough = MANY_NUMBERS if table.decimal == "." else 1
    if len(others) >= enough and all(map(looks_like_number, others)):
        raise _number_error(table, column, column.texts.tolist().index(others[0]))
    if others or table.decimal == ".":
        return column.cells()
    numbers = set(known)
    texts = [with_point(text, table.decimal) if text in numbers else text for text in column.texts]
    return np.asarray(np.array(texts, dtype=object)[column.codes], dtype=object)


def is_missing(cells: TextArray) -> BoolArray:
    """Which cells mean that nothing is known."""
    codes, values = pd.factorize(cells)
    return np.asarray(missing_texts(values)[codes], dtype=bool)


def missing_texts(texts: Sequence[str] | TextArray) -> BoolArray:
    """Which texts mean that nothing is known."""
    return np.array([str(text).strip().casefold() in MISSING_CELLS for text in texts], dtype=bool)


def numbers_or_missing(cells: TextArray) -> tuple[FloatArray, NDArray[np.intp]]:
    """Cells as numbers, NaN where missing, and which cells are neither missing nor a finite number."""
    codes, texts = pd.factorize(cells)
    missing = missing_texts(texts)
    values = np.where(missing, np.nan, as_floats(texts.tolist()))
    wrong = ~missing & ~np.isfinite(values)
    return np.asarray(values[codes], dtype=np.float64), np.flatnonzero(wrong[codes])


def reason_to_leave_out(cells: TextArray) -> str:
    """Why nothing can be learnt from a column; empty if something can."""
    _, values = pd.factorize(cells)
    if len(values) <= 1:
        return "it holds one value only"
    if is_missing(cells).all():
        return "it is empty"
    if len(values) == len(cells) >= MIN_ROWS_FOR_IDENTIFIERS:
        numbers, wrong = numbers_or_missing(cells)
        if wrong.size:
            return "it holds a different text in every row, like a name"
        steps = np.diff(numbers)
        if (steps > 0).all() or (steps < 0).all():
            return "it rises (or falls) from row to row, like a row number"
    return ""


# ---------------------------------------------------------------------- two values


def canonical_value(cell: str, decimal: str | None = ".") -> Decimal | str:
    """One value for cells that mean the same: 1, 1.0 and ' 1 ' are equal, and so are Yes and YES.

    Numbers are compared as exact decimals, not as floats.
    """
    text = cell.strip()
    if is_number(text, decimal):
        try:
            number = Decimal(with_point(text, decimal))
        except InvalidOperation:  # an exponent beyond all bounds
            return text.casefold()
        if number.is_finite():
            return number
    return text.casefold()


#: Problem with an empty label. To fill or drop such rows would change the results.
NO_LABEL = (
    "the label is empty. People who were not tested have none; filling it in, or dropping these rows, changes base "
    "rates, accuracy and social cost without a word"
)


@dataclass(frozen=True, eq=False)
class BinaryColumn:
    """Labels or decisions: a column of two values, one of which counts as positive.

    ``is_positive`` says which rows are positive, ``known`` which hold a value. ``positive`` and ``negative`` are the
    values as their first rows have them; ``meaning`` is the column with its positive values, as ``repaid = yes``.
    """

    is_positive: BoolArray
    known: BoolArray
    positive: list[str]
    negative: list[str]
    meaning: str


def read_binary(
    table: Table, column: Column, named: Sequence[str] = (), *, is_label: bool = False, allow_empty: bool = False
) -> BinaryColumn:
    """Read labels or decisions. ``named`` are the values that count as positive; without any, 1, true and yes do.

    Once positive labels are named, there may be any number of negative ones. ``allow_empty`` is about missing labels.
    """

    def error(problem: str, code: int | None = None, **details: Any) -> TableError:
        row = None if code is None else column.first_row(code)
        return table.error(problem, row=row, column=column.name, **details)

    cells = [str(text).strip() for text in column.texts]
    canonical = [canonical_value(cell, table.decimal) for cell in cells]
    missing = missing_texts(column.texts)
    first: dict[Decimal | str, int] = {}
    for code, value in enumerate(canonical):
        if value in first or (allow_empty and missing[code]):
            continue
        if is_label and missing[code]:
            raise error(NO_LABEL, code, key="untested")
        if value == "":
            raise error(EMPTY_CELL, code)
        first[value] = code
    held, codes = [cells[code] for code in first.values()], list(first.values())
    means, named_by = ("qualified", "positive") if is_label else ("passing screening", "prediction_positive")
    if len(held) > 2 and not (is_label and named):
        problem = (
            f"a third value {quote(held[2])}, after {quote(held[0])} and {quote(held[1])}; it must hold two values"
        )
        key = "more_labels" if is_label else "score"
        raise error(f"{problem}, one of which means {means}", codes[2], key=key, name=column.name)
    unclear = [code for value, code in first.items() if value not in YES | NO]
    if not named and unclear:
        problem = f"it holds {listing(held)}, not 1 and 0, true and false or yes and no; say which value means {means}"
        raise error(problem, unclear[0], key=named_by)
    counted = {canonical_value(name, table.decimal) for name in named} if named else YES
    absent = [name for name in named if canonical_value(name, table.decimal) not in first]
    if absent:
        listed = " and ".join(map(quote, held)) if len(held) <= 2 else listing(held)
        raise error(f"no row holds {quote(absent[0])}", advice=f"It holds {listed}.", named_by=named_by)
    spellings = sorted({cell for cell in cells if not is_number(cell, table.decimal)})
    if named and len(set(canonical)) == 1 and len(spellings) > 1:
        problem = f"it holds {' and '.join(map(quote, spellings))} and nothing else: this may be one value or two"
        raise error(problem, advice="Write one value in one way, and two values as different words.")
    positive = [cells[code] for value, code in first.items() if value in counted]
    negative = [cells[code] for value, code in first.items() if value not in counted]
    is_positive = np.array([value in counted for value in canonical], dtype=bool)[column.codes]
    words = " or ".join(named or positive)
    meaning = f"{column.name} = {words}" if words else column.name
    return BinaryColumn(is_positive, ~missing[column.codes], positive, negative, meaning)


# ---------------------------------------------------------------------- groups


@dataclass(frozen=True, kw_only=True)
class GroupRules:
    """How cells become groups.

    ``missing`` is about rows without a group: an error, a group of their own (``own_group``), or left out (``drop``).
    ``unknown`` are further values that mean that the group is not known. ``bands`` cut columns of numbers, by name: the
    edges 25 and 35 make "under 25", "25 to under 35" and "35 or more".
    """

    missing: str = "error"
    unknown: tuple[str, ...] = ()
    bands: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def names(self, table: Table, column: Column) -> tuple[list[str], list[str]]:
        """Group of each distinct text of a column (empty: unknown), and all groups in order."""
        unknown = {name.strip().casefold() for name in self.unknown}
        names = [str(text).strip() for text in column.texts]
        names = ["" if name.casefold() in unknown else name for name in names]
        edges = self.bands.get(column.name)
        if edges is None:
            return names, sorted(set(names) - {""})
        bands = band_names(edges)
        for code, name in enumerate(names):
            if name.casefold() in MISSING_CELLS:
                names[code] = ""
                continue
            number = float(with_point(name, table.decimal)) if is_number(name, table.decimal) else np.nan
            if not np.isfinite(number):
                raise _number_error(table, column, code)
            names[code] = bands[int(np.searchsorted(edges, number, side="right"))]
        return names, bands

    def known_rows(self, table: Table, columns: Sequence[Column]) -> BoolArray:
        """Rows whose groups are all known."""
        known = [np.array([name != "" for name in self.names(table, column)[0]])[column.codes] for column in columns]
        return np.asarray(np.all(known, axis=0), dtype=bool)


def band_names(edges: Sequence[float]) -> list[str]:
    """Names of the bands that rising edges make."""
    inner = [f"{low:g} to under {high:g}" for low, high in pairwise(edges)]
    return [f"under {edges[0]:g}", *inner, f"{edges[-1]:g} or more"]


def group_frame(
    table: Table, columns: Sequence[Column], rules: GroupRules, rows: NDArray[np.int64] | None = None
) -> pd.DataFrame:
    """Group of each row by each column, without blanks around its name; an unknown group is missing.

    If rows that agree are one entry, ``rows`` says how many they are.
    """
    if strangers := [name for name in rules.bands if name not in [column.name for column in columns]]:
        problem = f"column {quote(strangers[0])} is not one of the groups, and cannot be cut into bands of them"
        raise TableError(problem, named_by="bands")
    problems = Problems()

    def read(column: Column) -> pd.Categorical:
        names, ordered = rules.names(table, column)
        if "" in names and rules.missing != "own_group":
            empty = [code for code, name in enumerate(names) if not name]
            among = np.isin(column.codes, empty)
            n = int(among.sum() if rows is None else rows[among].sum())
            problem = "the group is empty; fill or drop such rows" + (f" ({n:,} in all)" if n > 1 else "")
            raise table.error(problem, row=min(map(column.first_row, empty)), column=column.name, key="missing")
        if "" in names and MISSING in names:
            problem = f"a group is already called {MISSING!r}; rename it to give missing labels their own"
            raise table.error(problem, column=column.name)
        labels = pd.Index(ordered, dtype=object)
        return pd.Categorical.from_codes(labels.get_indexer(names)[column.codes], labels)

    frame = {column.name: problems.catch(read, column) for column in columns}
    problems.raise_all()
    return pd.DataFrame(frame)


def encode_frame(frame: pd.DataFrame, rules: GroupRules) -> GroupCodes:
    """Groups of a frame, without warnings about their spelling: the data checks of a table report it."""
    with captured_warnings():
        missing = "own_group" if rules.missing == "own_group" else "error"  # rows to drop are gone
        return encode_groups(frame, n_rows=len(frame), missing=missing)


def match_groups(names: Sequence[str], groups: pd.Index, named_by: str = "") -> list[Any]:
    """Labels of groups by their names in reports, or an error that suggests the nearest name.

    Combinations of several columns are joined by " / ". ``named_by`` is the input that named the groups.
    """
    known = dict(zip(group_names(groups), groups, strict=True))
    for i, name in enumerate(names):
        if name not in known:
            advice = f"{did_you_mean(name, list(known))}Groups: {listing(list(known))}."
            raise TableError(f"there is no group {quote(name)}", advice=advice, named_by=named_by)
        if name in names[:i]:
            raise TableError(f"group {quote(name)} is named twice", named_by=named_by)
    return [known[name] for name in names]
