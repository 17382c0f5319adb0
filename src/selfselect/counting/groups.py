"""Group labels of any kind, encoded as codes 0..K-1.

A group is a value of one column, or a combination of values of several columns. Nothing here loops over groups in
Python, but for spellings of at most :data:`MAX_COMPARED` labels, so it works with a hundred thousand of them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._frames import to_pandas
from .._notices import warn
from .._validation import check_choice, is_sparse, list_some

#: What to do with groups about which nothing was published: raise an error, or let them stay away.
Unseen: TypeAlias = Literal["error", "abstain"]
#: Label of rows without a group under ``missing="own_group"``.
MISSING = "(missing)"
#: The spelling of more labels is not compared.
MAX_COMPARED = 10_000
#: Label of the only group when no groups are given.
EVERYONE = "everyone"


@dataclass(frozen=True)
class GroupCodes:
    """Encoded groups of some rows.

    Attributes
    ----------
    codes : ndarray of shape (n_rows,)
        Position of each row's group in ``labels``.
    labels : Index of shape (n_groups,)
        The groups, sorted if their labels can be compared (a ``MultiIndex`` for combinations of several columns).
    """

    codes: NDArray[np.intp]
    labels: pd.Index

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.labels)

    def take(self, rows: NDArray[Any] | slice) -> GroupCodes:
        """Groups of a selection of rows; groups without rows are dropped.

        Examples
        --------
        >>> some = encode_groups(["b", "a", "c"]).take(np.array([True, False, True]))
        >>> some.codes.tolist(), some.labels.tolist()
        ([0, 1], ['b', 'c'])
        """
        used, codes = np.unique(self.codes[rows], return_inverse=True)
        return GroupCodes(np.asarray(codes, dtype=np.intp), self.labels[used])


def encode_groups(sensitive_features: Any, *, n_rows: int | None = None, missing: str = "error") -> GroupCodes:
    """Encode the groups of some rows.

    Parameters
    ----------
    sensitive_features : array-like, Series, DataFrame, dict of columns, GroupCodes or None
        One column of hashable labels, or several columns whose combinations are the groups; from pandas, polars or
        pyarrow. None puts everybody into one group and needs ``n_rows``. A pandas categorical keeps its order and
        loses its unused categories. Labels that are equal in Python (1, 1.0 and True) are one group; labels that only
        look alike (1 and "1", "a" and "A ", composed and decomposed accents) are several, with a warning. Groups that
        are already encoded are returned as they are.
    n_rows : int, optional
        Expected number of rows.
    missing : {"error", "own_group"}, default="error"
        What to do with rows whose label is missing (None, NaN, NaT or NA): raise an error, or give them a group of
        their own.

    Returns
    -------
    GroupCodes

    Examples
    --------
    >>> groups = encode_groups(["b", "a", "b"])
    >>> groups.codes.tolist(), groups.labels.tolist()
    ([1, 0, 1], ['a', 'b'])
    """
    check_choice(missing, "missing", ("error", "own_group"))
    if sensitive_features is None:
        if n_rows is None:
            raise ValueError("sensitive_features is None and the number of rows is unknown.")
        return GroupCodes(np.zeros(n_rows, dtype=np.intp), pd.Index([EVERYONE], name="group"))
    known = isinstance(sensitive_features, GroupCodes)
    columns = [sensitive_features] if known else _as_columns(to_pandas(sensitive_features))
    length = len(columns[0])
    if length == 0:
        raise ValueError("sensitive_features is empty: there must be at least one row.")
    if n_rows is not None and length != n_rows:
        raise ValueError(
            f"Lengths differ: sensitive_features has {length} rows, the rest {n_rows}. Pass one label per row."
        )
    encoded = columns if known else [_encode_column(column, missing) for column in columns]
    for column in () if known else encoded:
        _warn_about_spelling(column.labels)
    return encoded[0] if len(encoded) == 1 else _combine(encoded)


def sort_by_group(codes: NDArray[np.intp], n_groups: int) -> NDArray[np.intp]:
    """Order of rows by group; rows of a group stay in their order."""
    # short integers are sorted by radix, several times faster
    return np.argsort(codes.astype(np.int16) if n_groups < 2**15 else codes, kind="stable")


def plain_label(label: Any) -> Hashable:
    """What labels have in common that differ by type, case, blanks or the encoding of accents only."""
    text = " ".join(unicodedata.normalize("NFKC", str(label)).split()).casefold()
    if text[:1] in "+-.0123456789" and "_" not in text:
        try:
            number = Decimal(text)
            return number if number.is_finite() else text
        except InvalidOperation:
            pass
    return text


def _warn_about_spelling(labels: pd.Index) -> None:
    """Warn about labels that agree in :func:`plain_label`."""
    is_text = labels.dtype == object or isinstance(labels.dtype, pd.StringDtype)  # others have one spelling
    if not is_text or len(labels) > MAX_COMPARED:
        return
    by_spelling: dict[Hashable, list[int]] = {}
    for i, label in enumerate(labels):
        by_spelling.setdefault(plain_label(label), []).append(i)
    alike = [positions for positions in by_spelling.values() if len(positions) > 1]
    if alike:
        more = f" (and {len(alike) - 1} more such cases)" if len(alike) > 1 else ""
        warn(
            f"Groups {list_some(labels[alike[0]])} look alike but count as {len(alike[0])} groups{more}: they differ "
            "by type, case, blanks or the encoding of accents. If they are one group, write it in one way."
        )


def with_same_columns(wanted: pd.Index, labels: pd.Index, name: str, where: str) -> pd.Index:
    """Reorder the columns of combinations as in ``labels``: by name, or by position if they have no names."""
    if wanted.nlevels != labels.nlevels:
        raise ValueError(f"{name} has {wanted.nlevels} column(s), but {where} was made from {labels.nlevels}.")
    if wanted.nlevels == 1 or list(wanted.names) == list(labels.names):
        return wanted
    unnamed = (list(range(wanted.nlevels)), [None] * wanted.nlevels)
    if list(wanted.names) in unnamed or list(labels.names) in unnamed:
        return wanted
    if set(wanted.names) != set(labels.names):
        raise ValueError(
            f"{name} has columns {list_some(list(wanted.names))}, but {where} {list_some(list(labels.names))}."
        )
    return wanted.reorder_levels(labels.names)


def position_of(
    wanted: pd.Index, labels: pd.Index, name: str, where: str, *, unseen: Unseen = "error"
) -> NDArray[np.intp]:
    """Position of each label of ``wanted`` in ``labels``, by the same columns.

    An unknown label is an error, or with ``unseen="abstain"`` at position -1.
    """
    check_choice(unseen, "unseen", ("error", "abstain"))
    wanted, known = with_same_columns(wanted, labels, name, where), labels
    if labels.nlevels > 1 or labels.dtype != wanted.dtype or isinstance(labels.dtype, pd.IntervalDtype):
        # compare labels as Python does: without conversion of types, and not by containment in intervals
        known, wanted = (pd.Index(list(index), dtype=object, tupleize_cols=False) for index in (labels, wanted))
    position = known.get_indexer(wanted)
    unknown = wanted[position < 0]
    if len(unknown) and unseen == "error":
        raise ValueError(
            f"{name} names group(s) that {where} does not know: {list_some(unknown)}. "
            f"Known groups: {list_some(labels, most=10)}."
        )
    return np.asarray(position, dtype=np.intp)


def locate_labels(wanted: Any, labels: pd.Index, name: str, where: str = "the table of groups") -> NDArray[np.intp]:
    """Position in ``labels`` of the groups that a user names (by tuples, for combinations of columns)."""
    if not isinstance(wanted, list | tuple | set | frozenset | pd.Index | pd.Series | np.ndarray):
        raise TypeError(f"{name} must be a list of groups, got {wanted!r}.")
    names = list(wanted)
    try:
        set(names)
    except TypeError as error:
        raise TypeError(f"{name} must be a list of group labels, got {wanted!r}.") from error
    return position_of(_named_index(names, labels, name), labels, name, where)


def values_by_group(
    values: Mapping[Any, float] | pd.Series, labels: pd.Index, name: str, *, default: float | None
) -> NDArray[np.float64]:
    """Turn a mapping from group to number into an array; without a default, every group must be named."""
    wanted = _named_index(list(values.keys()), labels, name)
    if wanted.has_duplicates:
        raise ValueError(f"{name} names a group twice: {list_some(wanted[wanted.duplicated()])}.")
    position = position_of(wanted, labels, name, "the table of groups")
    raw = list(values) if isinstance(values, pd.Series) else list(values.values())
    try:
        numbers = np.array([float(value) for value in raw], dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{name} must map each group to a number, got {list_some(raw)}.") from error
    if np.isnan(numbers).any():
        raise ValueError(f"{name} is NaN for group(s) {list_some(wanted[np.isnan(numbers)])}.")
    result = np.full(len(labels), np.nan if default is None else default)
    result[position] = numbers
    if default is None and len(position) < len(labels):
        absent = labels[np.isnan(result)]
        raise ValueError(f"{name} has no value for group(s) {list_some(absent)}; give every group a value.")
    return result


def _plain_index(values: Any, name: Any = None) -> pd.Index:
    return pd.Index(values, name=name, tupleize_cols=False)


def _named_index(names: list[Any], labels: pd.Index, argument: str) -> pd.Index:
    if labels.nlevels == 1:
        return _plain_index(names)
    wrong = [name for name in names if not isinstance(name, tuple) or len(name) != labels.nlevels]
    if wrong:
        raise ValueError(
            f"{argument} must name each group by a tuple of {labels.nlevels} values "
            f"({', '.join(map(str, labels.names))}), got {list_some(wrong)}."
        )
    return pd.MultiIndex.from_tuples(names, names=labels.names) if names else labels[:0]


def _as_columns(features: Any) -> list[pd.Series]:
    if isinstance(features, Mapping):
        columns = [
            part.set_axis(range(len(part))).rename(key)
            for key, value in features.items()
            for part in _as_columns(to_pandas(value))
        ]
        lengths = {str(column.name): len(column) for column in columns}
        if not columns or len(set(lengths.values())) > 1:
            raise ValueError(f"sensitive_features must have columns of one length, got {lengths}.")
        return columns
    if is_sparse(features):
        raise TypeError("sensitive_features is a sparse matrix; pass a dense column of labels.")
    if isinstance(features, pd.MultiIndex):
        features = features.to_frame(index=False)
    if isinstance(features, pd.DataFrame):
        if features.shape[1] == 0:
            raise ValueError("sensitive_features has no column.")
        return [features.iloc[:, i] for i in range(features.shape[1])]
    if isinstance(features, pd.Series):
        return [features]
    if isinstance(features, np.ndarray) and features.ndim == 2:
        return _as_columns(pd.DataFrame(features))
    if isinstance(features, np.ndarray) and features.ndim != 1:
        raise ValueError(
            f"sensitive_features must have one or two dimensions, got shape {features.shape}. "
            "Pass one label (or one row of labels) per person."
        )
    if isinstance(features, str | bytes | set | frozenset) or not hasattr(features, "__len__"):
        raise TypeError(f"sensitive_features must hold one label per row, got {features!r}.")
    if isinstance(features, pd.Index | pd.api.extensions.ExtensionArray | np.ndarray):
        return [pd.Series(features)]
    rows = list(features)
    if rows and isinstance(rows[0], list | np.ndarray):
        return [_of_one_kind(column) for column in _as_columns(pd.DataFrame(rows, dtype=object))]
    return [_of_one_kind(pd.Series(rows, dtype=object))]  # a tuple is one label


def _of_one_kind(column: pd.Series) -> pd.Series:
    """Convert a column of objects to numbers or booleans if all of its values are such.

    Integers beside missing labels or floats stay objects: as floats, two large integers may become equal.
    """
    mixed = column.isna().any() or pd.api.types.infer_dtype(column, skipna=False) == "mixed-integer-float"
    return column if mixed else column.infer_objects()


def _encode_column(column: pd.Series, missing: str) -> GroupCodes:
    name = column.name if column.name is not None else "group"
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.cat.remove_unused_categories()
        codes = np.asarray(column.cat.codes, dtype=np.intp)
        labels = _plain_index(column.cat.categories, name)
    else:
        try:
            codes, uniques = _factorize(column)
        except TypeError as error:
            bad = next(i for i, value in enumerate(column) if not pd.api.types.is_hashable(value))
            raise TypeError(
                f"sensitive_features must hold hashable labels; row {bad} holds {list_some([column.iloc[bad]])}."
            ) from error
        order = _sort_order(_plain_index(uniques))
        codes = np.append(np.argsort(order), -1)[codes]  # the code -1 (missing) stays -1
        labels = _plain_index(uniques, name)[order]
    return _settle_missing(np.asarray(codes, dtype=np.intp), labels, missing)


#: Whether pandas takes strings as equal that differ only after a NUL character, as it does before version 3.
_STOPS_AT_ZERO = len(pd.factorize(np.array(["a", "a\0b"], dtype=object))[1]) == 1


def _factorize(column: pd.Series) -> tuple[Any, Any]:
    """Codes and distinct values of a column, exact also for strings that hold NUL characters."""
    if not _STOPS_AT_ZERO or not any(isinstance(value, str) and "\0" in value for value in column):
        codes, uniques = pd.factorize(column)
        return codes, uniques
    values = np.empty(len(column) + 1, dtype=object)
    values[:-1], values[-1] = column, object()  # a value that is not a string makes pandas compare as Python does
    codes, uniques = pd.factorize(values)
    return codes[:-1], uniques[:-1]


def _settle_missing(codes: NDArray[np.intp], labels: pd.Index, missing: str) -> GroupCodes:
    absent = np.flatnonzero(codes < 0)
    if not absent.size:
        return GroupCodes(codes, labels)
    if missing == "error":
        raise ValueError(
            f"sensitive_features ({labels.name!r}) is missing for {absent.size} row(s), first at row(s) "
            f'{list_some(absent)}. Fill or drop them, or pass missing="own_group".'
        )
    if MISSING in labels:
        raise ValueError(f"A group is already called {MISSING!r}; rename it to give missing labels their own.")
    codes = np.where(codes < 0, len(labels), codes).astype(np.intp)
    return GroupCodes(codes, _plain_index([*labels, MISSING], labels.name))


def _combine(columns: list[GroupCodes]) -> GroupCodes:
    codes = columns[0].codes
    parts = [np.arange(len(columns[0].labels))]
    for column in columns[1:]:  # compressing the codes after each column avoids overflow
        width = len(column.labels)
        pairs, codes = np.unique(codes * width + column.codes, return_inverse=True)
        parts = [part[pairs // width] for part in parts] + [pairs % width]
    arrays = [column.labels.take(part) for column, part in zip(columns, parts, strict=True)]
    labels = pd.MultiIndex.from_arrays(arrays, names=[column.labels.name for column in columns])
    return GroupCodes(np.asarray(codes, dtype=np.intp), labels)


def _sort_order(labels: pd.Index) -> NDArray[np.intp]:
    try:
        return np.asarray(labels.argsort(), dtype=np.intp)
    except TypeError:  # labels of several types: by type, then by how they print
        keys = [(type(label).__name__, str(label)) for label in labels]
        return np.asarray(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)
