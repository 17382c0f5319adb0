"""Columns of text as features: numbers are imputed and standardised, categories become indicators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from .._text import quote
from .._validation import MAX_MAGNITUDE, FloatArray
from ..counting import MISSING
from .columns import is_missing, is_number, numbers_or_missing, reason_to_leave_out
from .errors import TableError
from .table import TextArray

#: Rarer categories share one indicator.
MIN_FREQUENCY = 10
MAX_CATEGORIES = 100
#: A column with at least this many different numbers, and other text in at most this share of its rows, is a column of
#: numbers with errors in it.
MIN_DISTINCT_NUMBERS, MAX_ERROR_SHARE = 20, 0.05


def read_features(columns: Mapping[str, TextArray]) -> tuple[pd.DataFrame, dict[str, str]]:
    """Columns of text as a frame of numbers (NaN if missing) and categories, and why other columns are left out."""
    for name, cells in columns.items():
        _refuse_numbers_with_errors(name, cells)
    reasons = {name: reason_to_leave_out(cells) for name, cells in columns.items()}
    left_out = {name: reason for name, reason in reasons.items() if reason}
    kept = {name: cells for name, cells in columns.items() if name not in left_out}
    if not kept:
        raise TableError("No column is left to learn from")
    numbers = [name for name, cells in kept.items() if not numbers_or_missing(cells)[1].size]
    return as_frame(kept, numbers), left_out


def as_frame(columns: Mapping[str, TextArray], numbers: Sequence[str]) -> pd.DataFrame:
    """Columns of text as a frame: ``numbers`` (which hold no other text) as numbers, the others as categories."""
    return pd.DataFrame(
        {
            name: numbers_or_missing(cells)[0]
            if name in numbers
            else pd.Series(np.where(is_missing(cells), MISSING, cells), dtype=object)
            for name, cells in columns.items()
        }
    )


def fit_encoder(frame: pd.DataFrame) -> ColumnTransformer:
    """Fit a transformer of the columns of :func:`read_features`; its features are in the order of the columns."""
    steps = []
    for i, name in enumerate(frame.columns):
        if frame[name].dtype == object:
            categories = [frequent_categories(frame[[name]])]
            settings = {"min_frequency": 1, "handle_unknown": "infrequent_if_exist", "sparse_output": False}
            encoder = OneHotEncoder(categories=categories, **settings)
        else:
            _check_size(name, frame[name].to_numpy())
            imputer = SimpleImputer(strategy="median", keep_empty_features=True)
            encoder = make_union(make_pipeline(imputer, StandardScaler()), MissingIndicator(error_on_new=False))
        steps.append((f"column {i}", encoder, [name]))
    return ColumnTransformer(steps, sparse_threshold=0.0, verbose_feature_names_out=False).fit(frame)


def frequent_categories(column: pd.DataFrame) -> TextArray:
    """Categories that have an indicator of their own; the empty text stands for all others, if there are any.

    The name of a rare category may identify people. So a model lists the frequent ones, and treats any other category
    as unknown.
    """
    counted = OneHotEncoder(
        min_frequency=MIN_FREQUENCY, max_categories=MAX_CATEGORIES, handle_unknown="infrequent_if_exist"
    ).fit(column)
    categories, (rare,) = counted.categories_[0], counted.infrequent_categories_
    if rare is not None:
        # no cell is empty text: MISSING stands for it, so this category is the infrequent one
        categories = np.append(categories[~np.isin(categories, rare)], "")
    return np.asarray(categories, dtype=object)


def _refuse_numbers_with_errors(name: str, cells: TextArray) -> None:
    """Refuse a column of numbers with a few other texts: as categories the numbers would lose their order."""
    _, values = pd.factorize(cells)
    numbers = sum(is_number(str(value)) and np.isfinite(float(value)) for value in values)
    wrong = numbers_or_missing(cells)[1]
    if numbers >= MIN_DISTINCT_NUMBERS and 0 < len(wrong) <= MAX_ERROR_SHARE * len(cells):
        where = f"{len(wrong)} row(s), first {quote(str(cells[wrong[0]]))} in row {wrong[0] + 1} after the header"
        raise _column_error(name, f"numbers except in {where}", "Correct or empty them, or leave the column out.")


def _check_size(name: str, numbers: FloatArray) -> None:
    """Refuse numbers whose squares are not finite, or whose differences vanish when squared."""
    present = numbers[~np.isnan(numbers)]
    if not len(present):
        return
    largest, spread = float(np.abs(present).max()), float(present.max() - present.min())
    if largest > MAX_MAGNITUDE or 0 < spread < 1 / MAX_MAGNITUDE:
        size = f"large to learn from ({largest:g})" if largest > MAX_MAGNITUDE else f"close to each other ({spread:g})"
        raise _column_error(name, f"numbers too {size}", "Rescale them, or leave the column out.")


def _column_error(name: str, problem: str, advice: str) -> TableError:
    return TableError(f"Column {quote(name)} holds {problem}", advice=advice, key="ignore", name=name)
