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

    if type(values).__module__.partition(".")[0] == "pyarrow":  # narwhals knows its tables and chunked columns only
        if hasattr(values, "schema") and not hasattr(values, "combine_chunks"):
            return pd.DataFrame({name: _listed(values.column(name)) for name in values.schema.names})
        if hasattr(values, "to_pylist") and not hasattr(values, "combine_chunks"):
            return _listed(values)
    native = nw.from_native(values, pass_through=True, allow_series=True, eager_only=True)
    if isinstance(native, nw.DataFrame):
        return pd.DataFrame({name: _column(native[name]) for name in native.columns})
    return _column(native) if isinstance(native, nw.Series) else values


def _listed(values: Any) -> pd.Series:
    return pd.Series(values.to_pylist(), dtype=object).infer_objects()


def _column(series: Any) -> pd.Series:
    if series.null_count() == 0 and (series.dtype.is_numeric() or str(series.dtype) == "Boolean"):
        return pd.Series(series.to_numpy(), name=series.name or None)
    # whole numbers beside a missing one must not turn into floating point, nor texts into anything else
    return pd.Series(series.to_list(), name=series.name or None, dtype=object)


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
