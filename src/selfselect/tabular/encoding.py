"""Ordinary columns (numbers, categories, missing values) turned into features that a linear classifier can use.

What is learnt from the training table comes from scikit-learn's parts (imputer, scaler, one-hot encoder) and is kept as
plain numbers and names, so that a model file holds data and never code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from .._files import WrongPartError, number_at, text_at, texts_at, truth_at
from .._text import shown
from .._validation import LARGEST, FloatArray
from ..counting import MISSING
from .columns import is_missing, is_number, numbers_or_missing, to_numbers
from .errors import TableError
from .table import TextArray

#: A category of fewer people shares its weight with the other rare ones.
RARE = 10
MOST_CATEGORIES = 100
#: A column of at least this many different numbers, with other cells in at most this share of rows, is a column of
#: numbers with mistakes in it.
MANY_NUMBERS, FEW_MISTAKES = 20, 0.05
#: Over so many rows, a column that differs in each of them says who a person is rather than what.
MANY_ROWS = 50


@dataclass(frozen=True)
class NumberColumn:
    """Number: its median where missing, centred and scaled; a flag for missing if training had any."""

    name: str
    median: float
    mean: float
    scale: float
    flag: bool

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any], where: str) -> NumberColumn:
        """From plain values; whatever makes no sense is refused, with its place in the file."""
        median, mean, scale = (number_at(fields[key], f"{where}.{key}") for key in ("median", "mean", "scale"))
        if scale < 1 / LARGEST:
            raise WrongPartError(f"{where}.scale", f"is {scale:g}, which no column can be divided by")
        name, flag = text_at(fields["name"], f"{where}.name"), truth_at(fields["flag"], f"{where}.flag")
        return cls(name, median, mean, scale, flag)

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

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any], where: str) -> CategoryColumn:
        """From plain values; whatever makes no sense is refused, with its place in the file."""
        values = tuple(texts_at(fields["values"], f"{where}.values"))
        if len(set(values)) < len(values):
            raise WrongPartError(f"{where}.values", "names a value twice")
        return cls(text_at(fields["name"], f"{where}.name"), values, truth_at(fields["other"], f"{where}.other"))

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


#: Kinds of columns, by their name in a model file.
KINDS: dict[str, type[NumberColumn] | type[CategoryColumn]] = {"number": NumberColumn, "category": CategoryColumn}


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
            reason = useless(cells)
            if reason:
                left_out[name] = reason
                continue
            seen = cells if rows is None else cells[rows]
            columns.append(_fit_numbers(name, seen) if _is_numeric(cells) else _fit_categories(name, seen))
        if not columns:
            raise TableError("No column is left to learn from")
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
            {"kind": kind, **asdict(column)}
            for column in self.columns
            for kind, cls in KINDS.items()
            if isinstance(column, cls)
        ]

    @classmethod
    def from_dict(cls, content: Sequence[Mapping[str, Any]]) -> TableEncoder:
        """The way back; whatever is not known is refused."""
        columns: list[NumberColumn | CategoryColumn] = []
        for i, item in enumerate(content):
            values = {key: value for key, value in item.items() if key != "kind"}
            kind = KINDS.get(item["kind"])
            if kind is None or set(values) != {field.name for field in fields(kind)}:
                raise ValueError(f"It holds a column of an unknown kind: {item['kind']!r}.")
            columns.append(kind.from_dict(values, f"columns[{i}]"))
        names = [column.name for column in columns]
        if not columns or len(set(names)) < len(names):
            raise ValueError("Its columns are missing, or one is there twice.")
        return cls(tuple(columns), {})


def _is_numeric(cells: TextArray) -> bool:
    return not numbers_or_missing(cells)[1].size


def _refuse_mixed(name: str, cells: TextArray) -> None:
    """Refuse a column of numbers with a few other cells: as categories it would lose what it says."""
    _, values = pd.factorize(cells)
    numbers = sum(is_number(str(value)) and np.isfinite(float(value)) for value in values)
    odd = numbers_or_missing(cells)[1]
    if numbers >= MANY_NUMBERS and 0 < len(odd) <= FEW_MISTAKES * len(cells):
        raise TableError(
            f"Column {shown(name)} holds numbers except in {len(odd)} row(s), first {shown(str(cells[odd[0]]))} in row "
            f"{odd[0] + 1} after the header",
            advice="Mend or empty these cells, or leave the column out.",
            key="ignore",
            name=name,
        )


def useless(cells: TextArray) -> str:
    """Why nothing can be learnt from a column; empty if something can."""
    _, values = pd.factorize(cells)
    if len(values) <= 1:
        return "it holds one value only"
    if is_missing(cells).all():
        return "it is empty"
    if len(values) == len(cells) >= MANY_ROWS:
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
        raise TableError(
            f"Column {shown(name)} holds numbers too large to learn from ({largest:g})",
            advice="Rescale them, or leave the column out.",
            key="ignore",
            name=name,
        )
    imputer = SimpleImputer(strategy="median").fit(values)
    scaler = StandardScaler().fit(imputer.transform(values))
    if scaler.scale_[0] < 1 / LARGEST:
        raise TableError(
            f"Column {shown(name)} holds numbers too small to learn from (they differ by {scaler.scale_[0]:g})",
            advice="Rescale them, or leave the column out.",
            key="ignore",
            name=name,
        )
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
