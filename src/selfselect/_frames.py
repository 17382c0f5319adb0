"""Tables of other libraries (polars, pyarrow, ...), converted to pandas by narwhals."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ._validation import is_sparse

#: Rows that the text of a result shows at most.
MAX_SHOWN = 20
#: Types of these packages are taken as they are, without importing narwhals.
_NATIVE = frozenset({"builtins", "numpy", "pandas", "scipy"})


def to_pandas(values: Any) -> Any:
    """Convert a frame or column of another library to pandas; return anything else as it is."""
    if type(values).__module__.partition(".")[0] in _NATIVE:
        return values
    import narwhals as nw  # imported only for frames that need it

    native = nw.from_native(_in_chunks(values), pass_through=True, allow_series=True, eager_only=True)
    if isinstance(native, nw.DataFrame):
        return pd.DataFrame({name: _column(native[name]) for name in native.columns})
    return _column(native) if isinstance(native, nw.Series) else values


def _in_chunks(values: Any) -> Any:
    """Arrays and batches of pyarrow as chunked arrays and tables, which narwhals supports."""
    if type(values).__module__.partition(".")[0] != "pyarrow" or hasattr(values, "combine_chunks"):
        return values
    import pyarrow as pa

    if isinstance(values, pa.RecordBatch):
        return pa.Table.from_batches([values])
    return pa.chunked_array([values]) if isinstance(values, pa.Array) else values


def _column(series: Any) -> pd.Series:
    import narwhals as nw

    kind, name = series.dtype, series.name or None
    numpy_has_it = kind == nw.Boolean or (kind.is_numeric() and kind not in (nw.Decimal, nw.Int128, nw.UInt128))
    if series.null_count() == 0 and numpy_has_it:
        return pd.Series(series.to_numpy(), name=name)
    if kind in (nw.Datetime, nw.Duration):  # Python's own types have no nanoseconds
        return series.to_pandas().rename(name)
    # as objects: integers beside a missing value must not become floats
    return pd.Series(series.to_list(), name=name, dtype=object)


def take_rows(values: Any, rows: NDArray[np.intp]) -> Any:
    """Select rows of a table or column of any type; all rows in order are returned without a copy."""
    if values is None:
        return None
    table: Any = values if hasattr(values, "shape") else np.asarray(values)
    if len(rows) == table.shape[0] and bool((np.diff(rows) == 1).all()):
        return values
    if is_sparse(table):
        return table.tocsr()[rows]
    return table.iloc[rows] if hasattr(table, "iloc") else table[rows]


def few_rows() -> AbstractContextManager[None]:
    """Show at most :data:`MAX_SHOWN` rows of a frame, and then how many there are, whatever pandas is set to."""
    context: AbstractContextManager[None] = pd.option_context(
        "display.max_rows", MAX_SHOWN, "display.min_rows", MAX_SHOWN, "display.show_dimensions", "truncate"
    )
    return context


# ---------------------------------------------------------------------- plain values, for model files


def to_plain(value: Any) -> Any:
    """An index, a Series, or a dict whose keys are not texts, in lists and arrays, which skops can write.

    Anything else is returned as it is.
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
