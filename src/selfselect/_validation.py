"""Checks of arguments: each error names the argument, what is wrong, where, and what to do."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from numbers import Number, Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
#: Numbers beyond this (and below one over it) overflow once they are multiplied with each other.
MAX_MAGNITUDE = 1e100


def list_some(values: Sequence[Any] | NDArray[Any] | pd.Index, most: int = 5) -> str:
    """Show a few values, shortened, for an error message."""

    def short(value: Any) -> str:
        text = repr(value.item() if isinstance(value, np.generic) else value)
        return text if len(text) <= 60 else text[:57] + "..."

    shown = ", ".join(short(value) for value in list(values[:most]))
    return shown + (f" and {len(values) - most} more" if len(values) > most else "")


def is_sparse(values: Any) -> bool:
    """Whether values are a sparse matrix of scipy; without its module there are none, and it takes long to import."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(values))


def as_column(values: Any, name: str) -> NDArray[Any]:
    """One-dimensional array of at least one entry; a single column counts as one-dimensional."""
    if is_sparse(values):
        raise TypeError(f"{name} is a sparse matrix; pass a one-dimensional array, list or Series.")
    if values is None or np.isscalar(values) or isinstance(values, set | frozenset | dict):
        raise TypeError(f"{name} must be a one-dimensional array, list or Series, got {values!r}.")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} is ragged: its rows differ in length. Pass one value per row.") from error
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}. Pass one value per row.")
    if array.shape[0] == 0:
        raise ValueError(f"{name} is empty: there must be at least one row.")
    return array


def refuse_missing(array: NDArray[Any], name: str) -> None:
    """Refuse a column with missing values, saying where they are."""
    missing = np.flatnonzero(pd.isna(array))
    if missing.size:
        raise ValueError(
            f"{name} has {missing.size} missing value(s), first at row(s) {list_some(missing)}. "
            "Drop or fill those rows first."
        )


def _advice(values: Sequence[Any], name: str) -> str:
    """Advice on how to turn the values into 0 and 1."""
    if "pred" in name and all(isinstance(value, float | int) for value in values):
        return "Scores need a threshold: see PublishedStatistics.from_scores."
    if len(values) != 2:
        return "Choose which value counts as positive and convert to 0/1 first."
    try:
        positive = list_some([max(values)])
    except TypeError:  # a text and a number
        positive = list_some([values[-1]])
    return f"If {positive} is the positive value, pass {name} == {positive}."


def check_binary(values: Any, name: str) -> BoolArray:
    """Labels, predictions or decisions of 0 and 1 (or False and True) as a boolean array."""
    array = as_column(values, name)
    if array.dtype == bool:
        return array
    refuse_missing(array, name)
    if array.dtype == object:
        wrong = np.array([np.ndim(value) != 0 or isinstance(value, dict) or value not in (0, 1) for value in array])
    else:
        wrong = ~np.isin(array, (0, 1))
    if wrong.any():
        distinct = list({repr(value): value for value in array.tolist()}.values())
        raise ValueError(
            f"{name} must hold only 0 and 1 (or False and True); found {list_some(distinct)}, "
            f"first wrong value at row {np.flatnonzero(wrong)[0]}. {_advice(distinct, name)}"
        )
    return np.asarray(array == 1, dtype=bool)


def check_floats(values: Any, name: str) -> FloatArray:
    """Finite numbers, one per row."""
    array = as_column(values, name)
    refuse_missing(array, name)
    kind = array.dtype.kind
    if kind not in "biufO" or (kind == "O" and not all(isinstance(value, Number) for value in array)):
        raise TypeError(f"{name} must hold numbers, found {list_some(array)}.")
    try:
        numbers = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{name} must hold numbers that fit floating point, found {list_some(array)}.") from error
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if wrong.size:
        raise ValueError(f"{name} has {wrong.size} infinite value(s), first at row(s) {list_some(wrong)}.")
    return numbers


def outside_weight_range(numbers: FloatArray) -> NDArray[np.intp]:
    """Indices of nonzero numbers that are too large or too small to be squared in floating point."""
    size = np.abs(numbers)
    return np.flatnonzero((size > MAX_MAGNITUDE) | ((size > 0) & (size < 1 / MAX_MAGNITUDE)))


def check_weights(values: ArrayLike | None, n_rows: int, *, some_positive: bool = True) -> FloatArray | None:
    """Row weights: None, or non-negative numbers that can be squared; not all zero if ``some_positive``."""
    if values is None:
        return None
    weights = check_floats(values, "sample_weight")
    check_same_length(sample_weight=weights, **{"the rows": np.empty(n_rows)})
    if (weights < 0).any():
        raise ValueError(f"sample_weight must not be negative, found {weights.min()} at row {int(weights.argmin())}.")
    wrong = outside_weight_range(weights)
    if wrong.size:
        raise ValueError(
            f"sample_weight is {weights[wrong[0]]:g} at row {wrong[0]}; other than 0, weights lie between "
            f"{1 / MAX_MAGNITUDE:g} and {MAX_MAGNITUDE:g}. Multiply all of them by a constant."
        )
    if some_positive and not weights.any():
        raise ValueError("sample_weight is zero for every row; at least one weight must be positive.")
    return weights


def check_same_length(**columns: Any) -> None:
    """Refuse columns whose lengths differ, naming each with its length."""
    lengths = {name: len(column) for name, column in columns.items() if column is not None}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(f"Lengths differ: {listed}. Pass one entry per row in each.")


def check_same_rows(**columns: Any) -> None:
    """Refuse pandas objects of one length whose rows have different labels: row by row they are different people.

    Other objects have no labels, and are matched by position. A dict of columns is checked column by column.
    """
    flat = [
        (name, part)
        for name, given in columns.items()
        for part in (given.values() if isinstance(given, dict) else [given])
    ]
    labelled = [(name, part.index) for name, part in flat if isinstance(part, pd.Series | pd.DataFrame)]
    for name, index in labelled[1:]:
        first, expected = labelled[0]
        if len(index) != len(expected) or index.equals(expected):
            continue
        different = [i for i, pair in enumerate(zip(expected, index, strict=True)) if str(pair[0]) != str(pair[1])]
        if not different:  # equal labels of different types
            continue
        listed = ", ".join(
            f"row {i} is {list_some([expected[i]])} in {first} but {list_some([index[i]])} in {name}"
            for i in different[:2]
        )
        same = index.is_unique and expected.is_unique and index.isin(expected).all()
        order = f"Both have the same labels in another order: pass {name}.loc[{first}.index]. " if same else ""
        raise ValueError(
            f"{first} and {name} are about different people: {listed}. {order}If rows belong together by position, "
            "pass .reset_index(drop=True) or .to_numpy() of both."
        )


def check_shares(applies: Any, n_rows: int | None = None) -> FloatArray:
    """Decision of each person (0 or 1), or share of people who apply, as a number in [0, 1]."""
    array = as_column(applies, "applies")
    shares = array.astype(np.float64) if array.dtype == bool else check_floats(array, "applies")
    outside = np.flatnonzero((shares < 0) | (shares > 1))
    if outside.size:
        raise ValueError(
            f"applies must hold decisions (False and True, or 0 and 1) or shares in [0, 1]; found "
            f"{shares[outside[0]]:g} at row {outside[0]}."
        )
    if n_rows is not None and shares.shape[0] != n_rows:
        raise ValueError(
            f"applies has {shares.shape[0]} entries for {n_rows} rows: it holds one decision per person. "
            "From decisions per group, use PublishedStatistics.applies_to(sensitive_features, cost=...)."
        )
    return shares


def _as_number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a number, got {value!r}.") from error


def check_fraction(value: Any, name: str, *, inclusive: bool = True) -> float:
    """Single number in [0, 1], or in (0, 1) if not inclusive."""
    number = _as_number(value, name)
    inside = 0 <= number <= 1 if inclusive else 0 < number < 1
    if not inside:  # also refuses NaN
        raise ValueError(f"{name} must lie in {'[0, 1]' if inclusive else '(0, 1)'}, got {value!r}.")
    return number


def check_nonnegative(value: Any, name: str) -> float:
    """Single finite number of at least 0."""
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else np.nan
    if not 0 <= number < np.inf:
        raise ValueError(f"{name} must be a number of at least 0, got {value!r}.")
    return number


def check_whole(value: Any, name: str, least: int) -> int:
    """Whole number of at least ``least``."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}.")
    return int(value)


def check_threshold(value: Any, name: str = "threshold") -> float:
    """Single number, infinite if need be, but not NaN."""
    number = _as_number(value, name)
    if np.isnan(number):
        raise ValueError(f"{name} is NaN; pass a number (or infinity to select nobody).")
    return number


def check_choice(value: Any, name: str, choices: Sequence[str]) -> None:
    """Refuse a value that is not one of the named choices."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")
