"""Cells of Arrow's arrays: how much they hold, their values, and their texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._validation import FloatArray
from .chunks import Chunk, TextArray

#: Types whose values are numbers as they stand.
NUMBERS = re.compile(r"u?int\d+|float|double|halffloat")
#: Types of texts and bytes, and of lists.
BYTES = ("string", "large_string", "binary", "large_binary")
LISTS = ("list", "large_list", "fixed_size_list")
#: Types of times of day.
TIMES = ("time32", "time64")
#: Types of days, points and spans of time, of which Arrow has more than Python.
MOMENTS = ("date32", "date64", "timestamp", "duration")


class ArrowChunk(Chunk):
    """Some rows of the columns asked for, of arrays that know which of their cells are alike.

    Parameters
    ----------
    rows : sequence of int
        Where the rows are in the file.
    arrays : list of pyarrow arrays
        One per column asked for.
    """

    def __init__(self, rows: Sequence[int], arrays: list[Any]) -> None:
        super().__init__(rows, [])
        self._arrays = arrays

    @property
    def columns(self) -> list[list[str]]:
        """One list of cells per column asked for."""
        if not self._columns:
            self._columns = [_as_texts(array) for array in self._arrays]
        return self._columns

    def texts(self, at: int) -> list[str]:
        """Cells of one column asked for."""
        return _as_texts(self._arrays[at])

    def plain_numbers(self, at: int, decimal: str) -> FloatArray | None:
        """Cells of one column asked for as numbers, if they are numbers; NaN where missing."""
        array = self._arrays[at]
        if NUMBERS.fullmatch(str(array.type)) is None:
            return None
        return np.array(array.cast("float64", safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)

    def codes(self, at: int) -> tuple[NDArray[np.intp], TextArray]:
        """Cells of one column asked for, as positions in an array of texts, in the order of their coming."""
        array = self._arrays[at]
        kind = _kind(array)
        if kind in (*LISTS, "map", "struct"):
            return super().codes(at)
        if kind != "dictionary":
            array = array.dictionary_encode()
        codes, known = _coded(array, _as_texts, "")
        texts = np.empty(len(known), dtype=object)
        texts[:] = known
        return codes, texts


def _kind(array: Any) -> str:
    """The type of an array, without what is inside."""
    return re.split(r"[<\[(]", str(array.type), maxsplit=1)[0]


def check(array: Any) -> None:
    """Complain about damage: it may point beyond the texts of a dictionary, or into the middle of a character."""
    array.validate(full=_kind(array) not in TIMES)  # a time of day that is none does no harm


def size_of(array: Any) -> int:
    """Bytes that an array holds, where a text counts as often as it occurs.

    Examples
    --------
    >>> import pyarrow
    >>> size_of(pyarrow.array(["three", "three"]).dictionary_encode()), size_of(pyarrow.array([1, 2]))
    (18, 16)
    """
    import pyarrow.compute  # an extra, without which there are no such arrays

    kind = _kind(array)
    if kind in LISTS:
        return 8 * len(array) + size_of(array.flatten())
    if kind in ("map", "struct"):
        return 8 * len(array) + sum(map(size_of, _entries(array) if kind == "map" else array.flatten()))
    if kind != "dictionary":
        return int(array.nbytes)
    texts = array.dictionary
    lengths = pyarrow.compute.binary_length(texts) if _kind(texts) in BYTES else None
    inside = 8 * len(array) if lengths is None else pyarrow.compute.sum(lengths.take(array.indices)).as_py() or 0
    return int(array.indices.nbytes + inside)


def _as_texts(array: Any) -> list[str]:
    """Values as text; nothing and NaN are empty."""
    if _kind(array) == "dictionary":
        codes, texts = _coded(array, _as_texts, "")
        return [texts[code] for code in codes]
    return ["" if value is None or value != value else str(value) for value in _values(array)]


def _values(array: Any) -> list[Any]:
    """Values of an array as Python has them; but a time of day keeps its nanoseconds, as text."""
    kind = _kind(array)
    if kind == "dictionary":
        codes, values = _coded(array, _values, None)
        return [values[code] for code in codes]
    if kind == "time64":
        array = array.cast("string")
    elif kind == "time32":
        return _times(array)
    elif kind in MOMENTS:
        return _moments(array)
    elif kind in LISTS:
        inner = iter(_values(array.flatten()))
        lengths = array.value_lengths().to_pylist()
        return [None if length is None else list(islice(inner, length)) for length in lengths]
    elif kind == "map":
        pairs = zip(*map(_values, _entries(array)), strict=True)
        lengths = np.diff(array.offsets.to_numpy())
        return _where_valid(array, [list(islice(pairs, int(length))) for length in lengths])
    elif kind == "struct":
        names = [field.name for field in array.type]
        rows = zip(*map(_values, array.flatten()), strict=True)
        return _where_valid(array, [dict(zip(names, row, strict=True)) for row in rows])
    return list(array.to_pylist())


def _times(array: Any) -> list[Any]:
    """Times of day; what is none as Arrow writes it: Python would begin the day again."""
    there = zip(array.to_pylist(), _written(array), strict=True)
    return [text if value is not None and text.startswith("<") else value for value, text in there]


def _written(array: Any) -> list[str]:
    """Values as Arrow writes them."""
    return list(array.cast("string").to_pylist())


def _moments(array: Any) -> list[Any]:
    """Days, points and spans of time; those beyond Python's years as Arrow writes them, in UTC.

    In UTC are also those of a time zone that is not known here. Nothing is refused: perhaps nobody needs it.
    """
    import pyarrow  # an extra, without which there are no such arrays

    zone = getattr(array.type, "tz", None)
    if zone is not None and not _is_known(array.type):
        array = array.cast(pyarrow.timestamp(array.type.unit, "UTC"))
    try:
        return list(array.to_pylist())
    except (OverflowError, ValueError):
        if zone is not None:
            written = [f"{text}+00:00" for text in _written(array.view(pyarrow.timestamp(array.type.unit)))]
        else:
            written = _written(array.view("int64") if _kind(array) == "duration" else array)
        return [_moment(one, text) for one, text in zip(array, written, strict=True)]


def _moment(one: Any, written: str) -> Any:
    try:
        return one.as_py()
    except (OverflowError, ValueError):
        return written


def _is_known(kind: Any) -> bool:
    """Whether there is the time zone of a type."""
    import pyarrow  # an extra, without which there are no such types

    try:
        pyarrow.scalar(0, kind).as_py()
    except (ValueError, KeyError, OSError):  # by the libraries that look for it
        return False
    return True


def _entries(array: Any) -> tuple[Any, Any]:
    """Keys and items of all maps of an array."""
    start, stop = array.offsets[0].as_py(), array.offsets[-1].as_py()
    return array.keys.slice(start, stop - start), array.items.slice(start, stop - start)


def _where_valid(array: Any, values: list[Any]) -> list[Any]:
    return [value if there else None for value, there in zip(values, array.is_valid().to_pylist(), strict=True)]


def _coded(array: Any, read: Callable[[Any], list[Any]], missing: Any) -> tuple[NDArray[np.intp], list[Any]]:
    """Positions in a list of different values, in the order of their coming, of an array that has a dictionary.

    Each value is made once, however often it occurs; those of the dictionary that do not occur are not.
    """
    at = array.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
    codes, used = pd.factorize(at)
    values = iter(read(array.dictionary.take(used[used >= 0])))
    return codes, [missing if place < 0 else next(values) for place in used]
