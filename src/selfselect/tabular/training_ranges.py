"""What training saw of each column, kept in the model, and where new people differ from it.

A model file may be passed on, so single people do not show in it: ranges are rounded outwards, and only categories that
are frequent enough for a feature of their own are listed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binom

from .._formats import percent
from .._text import quote
from .._validation import FloatArray
from ..counting import MISSING, plain_label
from .data_checks import Finding
from .features import frequent_categories
from .table import listing

#: Numbers outside the training range are reported from this share of a column on.
MAX_SHARE_OUTSIDE = 0.05
#: A median that is so many times larger or smaller than in training is reported, if enough people have a number.
MAX_RATIO, MIN_NUMBERS = 20.0, 10
#: Empty cells are reported from this share of a column on.
MAX_SHARE_EMPTY = 0.5
#: What would happen by chance less often than this is reported.
RARE = 0.01
#: Digits that are kept of the ends of a range.
DIGITS = 2
#: Categories that a message names.
MAX_EXAMPLES = 3

#: Numbers and categories of the training columns, in plain values: ``empty`` is the share of empty cells, ``other`` the
#: share of categories that are not listed.
Seen = Mapping[str, Mapping[str, Any]]


def describe_columns(frame: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """What training saw: ranges and quartiles of numbers, and frequent categories."""
    return {str(name): _describe(frame[[name]], frame[name]) for name in frame.columns}


def _describe(table: pd.DataFrame, column: pd.Series) -> dict[str, Any]:
    n = len(column)
    if column.dtype != object:
        low, *quartiles, high = column.quantile([0, 0.25, 0.5, 0.75, 1]).tolist()  # NaN if all cells are empty
        ends = {"low": _round_outwards(low, -1), "high": _round_outwards(high, 1)}
        return {**ends, "quartiles": quartiles, "empty": float(column.isna().mean()), "n": n}
    known = [str(name) for name in frequent_categories(table) if name not in ("", MISSING)]
    empty = column == MISSING
    return {
        "categories": known,
        "other": float((~column.isin(known) & ~empty).mean()),
        "empty": float(empty.mean()),
        "n": n,
    }


def _round_outwards(value: float, direction: int) -> float:
    """The next number of few digits, above a value (direction 1) or below it (-1)."""
    if value == 0 or not np.isfinite(value):
        return value
    unit = 10.0 ** (np.floor(np.log10(abs(value))) - DIGITS + 1)
    rounded = (np.ceil if direction > 0 else np.floor)(value / unit) * unit
    return float(rounded if np.isfinite(rounded) else value)


def compare_with_training(seen: Seen, frame: pd.DataFrame, groups: Mapping[str, pd.Index]) -> Iterator[Finding]:
    """Columns of new people that look broken: empty, on another scale, or written in another way.

    ``frame`` has the features of new people and the columns of their groups, ``groups`` the known labels of the latter.
    """
    for name, known in seen.items():
        column = frame[name]
        numbers = "low" in known
        empty = column.isna() if numbers else column == MISSING
        if empty.mean() >= MAX_SHARE_EMPTY and known["empty"] ** int(empty.sum()) < RARE:
            where = "every row" if empty.all() else f"{percent(float(empty.mean()))} of rows"
            yield _finding(name, f"is empty in {where}, and was in {percent(known['empty'])} of training rows.")
        if empty.all():
            continue
        if numbers:
            yield from _compare_numbers(name, known, column[~empty].to_numpy(np.float64))
        else:
            yield from _compare_categories(name, known, column[~empty])
    for name, labels in groups.items():
        if name not in seen:
            yield from _spelling(name, frame[name].dropna(), [str(label) for label in labels])


def _finding(name: str, what: str) -> Finding:
    return Finding("unlike_training", "warning", f"Column {quote(name)} {what}", details={"name": name})


def _compare_numbers(name: str, known: Mapping[str, Any], values: FloatArray) -> Iterator[Finding]:
    if not len(values):
        return
    lower, median, upper = known["quartiles"]
    new, low, high = float(np.median(values)), known["low"], known["high"]
    outside = (values < low) | (values > high)
    times = abs(new / median) if median and new * median > 0 else 1.0
    scaled = not lower <= new <= upper and (times >= MAX_RATIO or times <= 1 / MAX_RATIO)
    if outside.mean() >= MAX_SHARE_OUTSIDE or (scaled and len(values) >= MIN_NUMBERS):
        what = (
            f"holds numbers unlike those of training: {percent(outside.mean())} are outside {low:g} to {high:g}, and "
            f"the median is {new:g} instead of {median:g}"
        )
        yield _finding(name, f"{what}. Is it another unit or decimal sign?" if scaled else f"{what}.")


def _compare_categories(name: str, known: Mapping[str, Any], cells: pd.Series) -> Iterator[Finding]:
    spelling = list(_spelling(name, cells, known["categories"]))
    yield from spelling
    unknown = cells[~cells.isin(known["categories"])]
    chance = binom.sf(len(unknown) - 1, max(len(cells), 1), min(known["other"] + 1 / known["n"], 1.0))
    if not spelling and 2 * len(unknown) > len(cells) and chance < RARE:
        examples = listing(list(dict.fromkeys(unknown)), MAX_EXAMPLES)
        what = f"holds categories that are not known from training in {percent(len(unknown) / len(cells))} of rows"
        yield _finding(name, f"{what}: {examples}.")


def _spelling(name: str, cells: pd.Series, known: list[str]) -> Iterator[Finding]:
    """Unknown categories that differ from known ones by case, blanks or accents only."""
    by_spelling = {_without_accents(category): category for category in known}
    counts = cells[~cells.isin(known)].astype(str).value_counts()
    pairs = [(text, by_spelling[key]) for text in counts.index if (key := _without_accents(text)) in by_spelling]
    if pairs:
        shown = ", ".join(f"{quote(text)} for {quote(category)}" for text, category in pairs[:MAX_EXAMPLES])
        rows = int(sum(counts[text] for text, _ in pairs))
        what = f"writes categories of training in another way in {rows:,} row{'s' if rows > 1 else ''}: {shown}"
        yield _finding(name, f"{what}. They count as unknown.")


def _without_accents(text: str) -> str:
    letters = unicodedata.normalize("NFKD", str(plain_label(text)))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
