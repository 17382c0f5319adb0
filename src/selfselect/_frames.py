"""Tables of any kind: frames of other libraries (polars, pyarrow, ...) through narwhals into pandas, and some rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

#: Types of these packages are taken as they are, without a look at narwhals.
_OWN = frozenset({"builtins", "numpy", "pandas", "scipy"})


def plain_frame(values: Any) -> Any:
    """A frame or column of another library as one of pandas; whatever is none stays as it is.

    Examples
    --------
    >>> plain_frame([1, 2])
    [1, 2]
    """
    if type(values).__module__.partition(".")[0] in _OWN:
        return values
    import narwhals as nw  # only people with such frames wait for it

    native = nw.from_native(_in_chunks(values), pass_through=True, allow_series=True, eager_only=True)
    if isinstance(native, nw.DataFrame):
        return pd.DataFrame({name: _column(native[name]) for name in native.columns})
    return _column(native) if isinstance(native, nw.Series) else values


def _in_chunks(values: Any) -> Any:
    """Arrays and batches of pyarrow as chunked columns and tables, which narwhals knows; others as they are."""
    if type(values).__module__.partition(".")[0] != "pyarrow" or hasattr(values, "combine_chunks"):
        return values
    import pyarrow as pa

    if isinstance(values, pa.RecordBatch):
        return pa.Table.from_batches([values])
    return pa.chunked_array([values]) if isinstance(values, pa.Array) else values


def _column(series: Any) -> pd.Series:
    import narwhals as nw

    kind, name = series.dtype, series.name or None
    if series.null_count() == 0 and kind in (*_numbers(nw), nw.Boolean):
        return pd.Series(series.to_numpy(), name=name)
    if kind in (nw.Datetime, nw.Duration) and kind.time_unit == "ns":
        return _nanoseconds(series, getattr(kind, "time_zone", None)).rename(name)
    # whole numbers beside a missing one must not turn into floating point, nor texts into anything else
    return pd.Series(_exact_list(series, kind == nw.Time), name=name, dtype=object)


def _numbers(nw: Any) -> tuple[Any, ...]:
    """Kinds that numpy holds as they are; larger whole numbers and decimals it does not."""
    whole = (nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32, nw.UInt64)
    return (*whole, nw.Float32, nw.Float64)


def _nanoseconds(series: Any, zone: str | None) -> pd.Series:
    """Moments or spans to the nanosecond; those of Python end at microseconds."""
    moments = pd.Series(series.to_numpy())
    if zone is None:
        return moments
    return (moments if moments.dt.tz is not None else moments.dt.tz_localize("UTC")).dt.tz_convert(zone)


def _exact_list(series: Any, of_times: bool) -> list[Any]:
    """Values as Python has them; as texts where it cannot tell them apart, or has none of that kind."""
    import narwhals as nw

    try:
        values: list[Any] = series.to_list()
    except (OverflowError, ValueError):  # a day before the year 1, or after 9999
        return list(series.cast(nw.String).to_list())
    if of_times and len(set(values)) < series.n_unique():
        return [None if count is None else _time_of_day(count) for count in series.cast(nw.Int64).to_list()]
    return values


def _time_of_day(nanoseconds: int) -> str:
    """A time of day in digits; Python's own ends at microseconds.

    Examples
    --------
    >>> _time_of_day(3_661_000_000_001)
    '01:01:01.000000001'
    """
    seconds, rest = divmod(nanoseconds, 10**9)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest:09}"


def take_rows(values: Any, rows: NDArray[np.intp]) -> Any:
    """Some rows of a table or column of any kind; all of them in order are not copied."""
    if values is None:
        return None
    table: Any = values if hasattr(values, "shape") else np.asarray(values)
    if len(rows) == table.shape[0] and bool((np.diff(rows) == 1).all()):
        return values
    if sparse.issparse(table):
        return table.tocsr()[rows]
    return table.iloc[rows] if hasattr(table, "iloc") else table[rows]


# ---------------------------------------------------------------------- plain values, for model files


def to_plain(value: Any) -> Any:
    """An index, a Series, or a dict whose keys are not texts, in lists and arrays, which skops can write.

    Anything else is returned as it is.

    Examples
    --------
    >>> plain = to_plain({("north", 1): 0.5})
    >>> plain["values"], from_plain(plain)
    ([0.5], {('north', 1): 0.5})
    """
    if isinstance(value, pd.Index):
        levels = [_level_to_plain(value.get_level_values(i)) for i in range(value.nlevels)]
        return {"plain": "index", "names": list(value.names), "levels": levels}
    if isinstance(value, pd.Series):
        return {"plain": "series", "name": value.name, "index": to_plain(value.index), "values": value.to_numpy()}
    if isinstance(value, dict) and not all(isinstance(key, str) for key in value):
        keys = pd.Index(list(value), tupleize_cols=False)
        return {"plain": "dict", "keys": _level_to_plain(keys), "values": list(value.values())}
    return value


def from_plain(value: Any) -> Any:
    """Inverse of :func:`to_plain`."""
    kind = value.get("plain") if isinstance(value, dict) else None
    if kind == "index":
        levels = [_level_from_plain(*level) for level in value["levels"]]
        names = value["names"]
        return levels[0].rename(names[0]) if len(levels) == 1 else pd.MultiIndex.from_arrays(levels, names=names)
    if kind == "series":
        return pd.Series(value["values"], index=from_plain(value["index"]), name=value["name"])
    if kind == "dict":
        return dict(zip(_level_from_plain(*value["keys"]).tolist(), value["values"], strict=True))
    return value


def _level_to_plain(level: pd.Index) -> tuple[str, Any]:
    """Type and labels of one level; numbers and dates as an array, other labels one by one."""
    if isinstance(level.dtype, np.dtype) and level.dtype.kind in "biufmM":
        return str(level.dtype), level.to_numpy()
    kept = level.dtype == object or isinstance(level.dtype, pd.StringDtype)
    return str(level.dtype) if kept else "object", level.tolist()


def _level_from_plain(dtype: str, labels: Any) -> pd.Index:
    return pd.Index(labels, dtype=dtype, tupleize_cols=False)
