"""Ordinary columns (numbers, categories, missing values) turned into features that a linear classifier can use.

What is learnt from the training table comes from scikit-learn's parts (imputer, scaler, one-hot encoder) and is kept as
plain numbers and names, so that a model file holds data and never code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from .._validation import FloatArray
from ..counting import MISSING
from .reading import is_number

#: Cells that mean that nothing is known, whatever the case of their letters.
MISSING_CELLS = frozenset({"", "na", "n/a", "nan", "null", "?"})
#: A category of fewer people shares its weight with the other rare ones.
RARE = 10
MOST_CATEGORIES = 100
#: Numbers beyond this would overflow once squared.
LARGEST = 1e100

TextArray = NDArray[np.object_]


@dataclass(frozen=True)
class NumberColumn:
    """Number: its median where missing, centred and scaled; a flag for missing if training had any."""

    name: str
    median: float
    mean: float
    scale: float
    flag: bool

    def encode(self, cells: TextArray) -> FloatArray:
        """One column, or two with the flag."""
        values = to_numbers(cells)
        absent = np.isnan(values)
        column = (np.where(absent, self.median, values) - self.mean) / self.scale
        return np.column_stack([column, absent]) if self.flag else column[:, None]

    @property
    def names(self) -> list[str]:
        """Names of its features."""
        return [self.name, f"{self.name} is missing"] if self.flag else [self.name]


@dataclass(frozen=True)
class CategoryColumn:
    """Category: one feature per value; rare and unknown values share one if training had rare ones."""

    name: str
    values: tuple[str, ...]
    other: bool

    def encode(self, cells: TextArray) -> FloatArray:
        """One column per value."""
        text = pd.Series(np.where(is_missing(cells), MISSING, cells), dtype=object)
        codes = pd.Index(self.values, dtype=object).get_indexer(pd.Index(text, dtype=object))
        if self.other:
            codes = np.where(codes < 0, len(self.values), codes)
        return np.asarray(codes[:, None] == np.arange(len(self.values) + self.other), dtype=np.float64)

    @property
    def names(self) -> list[str]:
        """Names of its features."""
        return [f"{self.name} = {value}" for value in self.values] + ([f"{self.name} = other"] if self.other else [])


@dataclass(frozen=True)
class TableEncoder:
    """How the columns of a table become features.

    Attributes
    ----------
    columns : tuple of NumberColumn or CategoryColumn
        Columns that are used.
    left_out : dict
        Columns that are not, with the reason.
    """

    columns: tuple[NumberColumn | CategoryColumn, ...]
    left_out: dict[str, str]

    @classmethod
    def fit(cls, table: Mapping[str, TextArray], rows: NDArray[np.bool_] | None = None) -> TableEncoder:
        """Learn from the cells of a table.

        Parameters
        ----------
        table : mapping from column name to array of str
            Cells as text. Whether a column holds numbers or categories is decided by all of them.
        rows : ndarray of bool, optional
            Rows to learn from; by default all.

        Examples
        --------
        >>> cells = {"age": ["20", "", "40"] * 10, "work": ["yes", "no", "no"] * 10, "same": ["1"] * 30}
        >>> encoder = TableEncoder.fit({name: np.array(column, dtype=object) for name, column in cells.items()})
        >>> encoder.names
        ['age', 'age is missing', 'work = no', 'work = yes']
        >>> encoder.left_out
        {'same': 'it holds one value only'}
        """
        columns: list[NumberColumn | CategoryColumn] = []
        left_out = {}
        for name, cells in table.items():
            _refuse_mixed(name, cells)
            reason = _useless(cells)
            if reason:
                left_out[name] = reason
                continue
            seen = cells if rows is None else cells[rows]
            columns.append(_fit_numbers(name, seen) if _is_numeric(cells) else _fit_categories(name, seen))
        if not columns:
            raise ValueError("No column is left to learn from.")
        return cls(tuple(columns), left_out)

    @property
    def names(self) -> list[str]:
        """Names of all features."""
        return [name for column in self.columns for name in column.names]

    def transform(self, table: Mapping[str, TextArray]) -> FloatArray:
        """Features of some rows, shape (n_rows, n_features)."""
        return np.hstack([column.encode(table[column.name]) for column in self.columns])

    def to_dict(self) -> list[dict[str, Any]]:
        """Plain values."""
        return [
            {"kind": "number" if isinstance(column, NumberColumn) else "category", **asdict(column)}
            for column in self.columns
        ]

    @classmethod
    def from_dict(cls, content: Sequence[Mapping[str, Any]]) -> TableEncoder:
        """The way back; whatever is not known is refused."""
        columns: list[NumberColumn | CategoryColumn] = []
        for item in content:
            fields = {key: value for key, value in item.items() if key != "kind"}
            if item["kind"] == "number" and set(fields) == {"name", "median", "mean", "scale", "flag"}:
                numbers = [float(fields[key]) for key in ("median", "mean", "scale")]
                if not np.isfinite(numbers).all() or numbers[2] <= 0:
                    raise ValueError(f"Column {fields['name']!r} has numbers that make no sense.")
                columns.append(
                    NumberColumn(str(fields["name"]), numbers[0], numbers[1], numbers[2], bool(fields["flag"]))
                )
            elif item["kind"] == "category" and set(fields) == {"name", "values", "other"}:
                values = tuple(str(value) for value in fields["values"])
                if len(set(values)) < len(values):
                    raise ValueError(f"Column {fields['name']!r} names a value twice.")
                columns.append(CategoryColumn(str(fields["name"]), values, bool(fields["other"])))
            else:
                raise ValueError(f"It holds a column of an unknown kind: {item['kind']!r}.")
        names = [column.name for column in columns]
        if not columns or len(set(names)) < len(names):
            raise ValueError("Its columns are missing, or one is there twice.")
        return cls(tuple(columns), {})


def is_missing(cells: TextArray) -> NDArray[np.bool_]:
    """Which cells say nothing."""
    codes, values = pd.factorize(cells)
    flags: NDArray[np.bool_] = np.array(
        [str(value).strip().casefold() in MISSING_CELLS for value in values], dtype=bool
    )
    return np.asarray(flags[codes], dtype=bool)


def to_numbers(cells: TextArray) -> FloatArray:
    """Cells as numbers, NaN where missing; text is an error that shows it."""
    absent = is_missing(cells)
    values = np.full(len(cells), np.nan)
    present = cells[~absent].tolist()
    try:
        numbers = np.fromiter(map(float, present), dtype=np.float64, count=len(present))
    except ValueError:
        numbers = np.full(len(present), np.nan)
    if "_" in "".join(present) or not np.isfinite(numbers).all():
        wrong = next(text for text in present if not is_number(text) or not np.isfinite(float(text)))
        raise ValueError(f"{wrong[:60]!r} is not a finite number")
    values[~absent] = numbers
    return values


def _is_numeric(cells: TextArray) -> bool:
    try:
        to_numbers(cells)
    except ValueError:
        return False
    return True


def _refuse_mixed(name: str, cells: TextArray) -> None:
    """Refuse a column of numbers with a few other cells: as categories it would lose what it says."""
    codes, values = pd.factorize(cells)
    missing = is_missing(cells)
    number = np.array([is_number(str(value)) and np.isfinite(float(value)) for value in values], dtype=bool)
    odd = ~missing & ~number[codes]
    if number.sum() >= 20 and 0 < odd.sum() <= 0.05 * len(cells):
        first = int(np.flatnonzero(odd)[0])
        raise ValueError(
            f"Column {name!r} holds numbers except in {odd.sum()} row(s), first {str(cells[first])[:60]!r} in row "
            f"{first + 1} after the header. Mend or empty these cells, or leave the column out (--ignore)."
        )


def _useless(cells: TextArray) -> str:
    _, values = pd.factorize(cells)
    if len(values) <= 1:
        return "it holds one value only"
    if is_missing(cells).all():
        return "it is empty"
    if len(values) == len(cells) >= 50:
        if not _is_numeric(cells):
            return "it holds another text in every row, like a name or a number of a person"
        steps = np.diff(to_numbers(cells))
        if (steps > 0).all() or (steps < 0).all():
            return "it rises (or falls) from row to row, like the number of a row"
    return ""


def _fit_numbers(name: str, cells: TextArray) -> NumberColumn:
    values = to_numbers(cells)[:, None]
    if np.isnan(values).all():
        return NumberColumn(name, median=0.0, mean=0.0, scale=1.0, flag=True)
    largest = float(np.nanmax(np.abs(values)))
    if largest > LARGEST:
        raise ValueError(f"Column {name!r} holds numbers too large to learn from ({largest:g}); rescale or ignore it.")
    imputer = SimpleImputer(strategy="median").fit(values)
    scaler = StandardScaler().fit(imputer.transform(values))
    return NumberColumn(
        name,
        median=float(imputer.statistics_[0]),
        mean=float(scaler.mean_[0]),
        scale=float(scaler.scale_[0]),
        flag=bool(np.isnan(values).any()),
    )


def _fit_categories(name: str, cells: TextArray) -> CategoryColumn:
    text = np.where(is_missing(cells), MISSING, cells).astype(object)[:, None]
    encoder = OneHotEncoder(
        min_frequency=RARE, max_categories=MOST_CATEGORIES, handle_unknown="infrequent_if_exist"
    ).fit(text)
    rare = encoder.infrequent_categories_[0]
    rare = set() if rare is None else set(rare)
    values = tuple(str(value) for value in encoder.categories_[0] if value not in rare)
    return CategoryColumn(name, values, other=bool(rare))
