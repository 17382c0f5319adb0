"""A block of ordinary rows, read as a whole: where cells begin and end is found at once, texts are made late."""

from __future__ import annotations

import csv
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray
from .chunks import Chunk, TextArray

NEWLINE, RETURN, QUOTE = ord("\n"), ord("\r"), ord('"')
#: Cells of more bytes than this are made into texts before they are compared.
MOST_BYTES = 32
MINUS, ZERO = ord("-"), np.uint8(ord("0"))
#: Numbers of more bytes, or of more digits, are left to Python; as are columns in which more than one in FEW is.
LONGEST_NUMBER, MOST_DIGITS, FEW = 24, 18, 10
#: Bytes that are compared at a time.
WORD = 8


class PlainBlock(Chunk):
    """Some rows of the columns asked for, of a block of text in which quotes only surround cells.

    Parameters
    ----------
    rows : sequence of int
        Where the rows are in the file.
    text : str
        The rows; each ends with a newline.
    data : ndarray of uint8
        The same as bytes.
    ends : ndarray of shape (n_rows, n_columns)
        Where cells end in it: the positions of delimiters and newlines.
    columns : sequence of int
        Positions of the columns asked for.
    quoted : bool
        Whether some cells are in quotes, which are no part of them.
    carriage : bool
        Whether a carriage return precedes every newline.
    """

    def __init__(
        self,
        rows: Sequence[int],
        text: str,
        data: NDArray[np.uint8],
        ends: NDArray[np.intp],
        columns: Sequence[int],
        quoted: bool,
        carriage: bool,
    ) -> None:
        super().__init__(rows, [])
        self._text, self._data, self._ends, self._asked = text, data, ends, list(columns)
        self._quoted, self._carriage = quoted, carriage
        self._padded: NDArray[np.uint8] | None = None
        self._known_bounds: dict[int, tuple[NDArray[np.intp], NDArray[np.intp]]] = {}

    @property
    def columns(self) -> list[list[str]]:
        """One list of cells per column asked for."""
        if not self._columns and self._quoted:
            self._columns = [self._slices(at) for at in range(len(self._asked))]
        elif not self._columns:
            sign = chr(self._data[self._ends[0, 0]])
            cells = self._text[:-1].replace("\n", sign).split(sign)
            self._columns = [cells[at :: self._ends.shape[1]] for at in self._asked]
        return self._columns

    def _bounds(self, at: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Where the cells of a column begin, and how many bytes they have."""
        if at in self._known_bounds:
            return self._known_bounds[at]
        column = self._asked[at]
        ends = self._ends[:, column]
        if column:
            starts = self._ends[:, column - 1] + 1
        else:
            starts = np.empty_like(ends)
            starts[0] = 0
            starts[1:] = self._ends[:-1, -1] + 1
        if self._carriage and column == self._ends.shape[1] - 1:
            ends = ends - 1
        if self._quoted:
            within = (self._data[starts] == QUOTE) & (ends > starts)
            starts, ends = starts + within, ends - within
        self._known_bounds[at] = starts, ends - starts
        return self._known_bounds[at]

    def _slices(self, at: int) -> list[str]:
        """Cells of a column, one by one."""
        starts, lengths = self._bounds(at)
        raw = self._data.tobytes()
        return [raw[i : i + n].decode() for i, n in zip(starts.tolist(), lengths.tolist(), strict=True)]

    def texts(self, at: int) -> list[str]:
        """Cells of one column asked for."""
        if self._columns:
            return self._columns[at]
        starts, lengths = self._bounds(at)
        most = int(lengths.max()) + 1
        if most > 2 * MOST_BYTES:
            return self._slices(at)
        steps = np.arange(most)
        bytes_ = self._data[np.minimum(starts[:, None] + steps, len(self._data) - 1)]
        bytes_[np.arange(len(starts)), lengths] = 0  # which no text holds
        joined: str = bytes_[steps <= lengths[:, None]].tobytes().decode()
        return joined[:-1].split("\0")

    def plain_numbers(self, at: int, decimal: str) -> FloatArray | None:
        """Cells of one column asked for that are short plain decimals, as numbers; NaN for others, None if too many."""
        starts, lengths = self._bounds(at)
        most = int(lengths.max())
        if most > LONGEST_NUMBER:
            return None
        held = self._words(starts, lengths, most)
        byte = np.ascontiguousarray(np.column_stack(held).view(np.uint8).T)  # one row per place within the cells
        digit = byte - ZERO  # what is no digit becomes large, as bytes have no sign
        is_digit, is_point = digit <= 9, byte == ord(decimal)
        negative = byte[0] == MINUS
        good = is_digit | is_point | (byte == 0)
        good[0] |= negative
        points = np.count_nonzero(is_point, axis=0)
        whole = np.zeros(len(starts), dtype=np.int64)
        for place in range(most):
            np.copyto(whole, whole * 10 + digit[place], where=is_digit[place])
        places = np.where(points, lengths - 1 - is_point.argmax(axis=0), 0)
        zeros = ((digit > 0) & is_digit).argmax(axis=0)  # bytes before the first digit that counts
        fine = good.all(axis=0) & (points <= 1) & is_digit.any(axis=0)
        fine &= (lengths - zeros <= MOST_DIGITS) & (places < len(_POWERS))
        numbers = _quotients(whole, np.clip(places, 0, len(_POWERS) - 1))
        numbers = np.where(fine, np.where(negative, -numbers, numbers), np.nan)
        return numbers if np.count_nonzero(np.isnan(numbers)) * FEW < len(numbers) else None

    def some(self, at: int, rows: NDArray[np.intp]) -> list[str]:
        """Cells of some rows of one column asked for."""
        starts, lengths = self._bounds(at)
        return [self._data[starts[i] : starts[i] + lengths[i]].tobytes().decode() for i in rows]

    def _words(self, starts: NDArray[np.intp], lengths: NDArray[np.intp], most: int) -> list[NDArray[np.uint64]]:
        """Cells of at most so many bytes, eight bytes at a time; bytes after a cell's end are 0, as no text holds."""
        if self._padded is None:
            self._padded = np.concatenate([self._data, np.zeros(MOST_BYTES + WORD, dtype=np.uint8)])
        size = len(self._padded) - WORD + 1
        words: NDArray[np.uint64] = np.ndarray((size,), dtype="<u8", buffer=self._padded, strides=(1,))
        return [
            words[np.minimum(starts + offset, size - 1)] & _MASKS[np.clip(lengths - offset, 0, WORD)]
            for offset in range(0, max(most, 1), WORD)
        ]

    def codes(self, at: int) -> tuple[NDArray[np.intp], TextArray]:
        """Cells of one column asked for, as positions in an array of different texts, in the order of their coming."""
        starts, lengths = self._bounds(at)
        most = int(lengths.max())
        if self._columns or most > MOST_BYTES:
            return super().codes(at)
        codes = np.zeros(len(starts), dtype=np.intp)
        for word in self._words(starts, lengths, most):
            part, found = pd.factorize(word)
            codes = part if not codes.any() else pd.factorize(codes * len(found) + part)[0]
        first = np.empty(int(codes.max()) + 1, dtype=np.intp)
        first[codes[::-1]] = np.arange(len(codes))[::-1]  # of several rows, the first is written last
        texts = np.empty(len(first), dtype=object)
        texts[:] = self.some(at, first)
        return codes, texts


#: Powers of ten that are exact, also where numbers have more digits.
_POWERS = np.array([10.0**places for places in range(23)])
_LONG_POWERS = _POWERS.astype(np.longdouble)
#: Whether numbers with more digits have enough of them.
_HAS_LONG = np.finfo(np.longdouble).nmant >= 63


def _quotients(whole: NDArray[np.int64], places: NDArray[np.intp]) -> FloatArray:
    """Whole numbers over powers of ten, each the nearest number to it as Python has it; NaN where that is not sure."""
    # both are exact up to 2**53, so that their quotient is rounded once
    numbers = whole / _POWERS[places]
    large = np.flatnonzero(whole > 2**53)
    if large.size and _HAS_LONG:
        # rounded twice, which differs only where the first result is next to the middle between two numbers
        exact = whole[large].astype(np.longdouble) / _LONG_POWERS[places[large]]
        near = exact.astype(np.float64)
        off = np.abs((exact - near).astype(np.float64))
        numbers[large] = np.where(off < 0.499 * np.spacing(np.nextafter(near, 0)), near, np.nan)
    elif large.size:
        numbers[large] = np.nan
    return np.asarray(numbers, dtype=np.float64)


#: Which bytes of a word belong to a cell of so many more bytes.
_MASKS = np.array([(1 << (8 * size)) - 1 for size in range(WORD + 1)], dtype="<u8")


def plain_block(text: str, delimiter: str, width: int, first_row: int, columns: Sequence[int]) -> PlainBlock | None:
    r"""Rows of a block of text, or None if it takes a closer look.

    That is: if there are quotes within cells, blank lines, or rows of another width.

    Parameters
    ----------
    text : str
        Whole lines, without NUL and without bytes that could not be decoded.
    delimiter : str
        What separates the columns.
    width : int
        How many columns there are.
    first_row : int
        Where the first row is in the file.
    columns : sequence of int
        Positions of the columns asked for.

    Examples
    --------
    >>> plain_block("1,A\n0,B\n", ",", 2, 2, [1]).columns
    [['A', 'B']]
    >>> plain_block("1,A\n0\n", ",", 2, 2, [1]) is None
    True
    """
    if not delimiter.isascii():
        return None
    quoted = '"' in text
    if "\r" in text and not quoted:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.endswith("\n"):
        text += "\n"
    data = np.frombuffer(text.encode(), dtype=np.uint8)
    signs = (data == NEWLINE) | (data == ord(delimiter))
    if quoted:
        outside = _outside_quotes(data, signs)
        if outside is None:
            return None
        signs &= outside
    found = np.flatnonzero(signs)
    n_rows, left_over = divmod(len(found), width)
    if left_over or not n_rows:
        return None
    ends = found.reshape(n_rows, width)
    breaks = data[ends] == NEWLINE
    if not breaks[:, -1].all() or breaks[:, :-1].any():
        return None
    sizes = np.diff(found, prepend=-1)
    if sizes.max() > csv.field_size_limit() or (width == 1 and sizes.min() == 1):
        return None  # among columns of one, a blank line is no row with an empty cell
    carriage = quoted and "\r" in text
    if carriage and not _ends_with_both(data, signs, ends):
        return None
    return PlainBlock(range(first_row, first_row + n_rows), text, data, ends, columns, quoted, carriage)


def _outside_quotes(data: NDArray[np.uint8], signs: BoolArray) -> BoolArray | None:
    """Which bytes are outside quotes; None unless every quote begins or ends a whole cell."""
    quotes = data == QUOTE
    outside: BoolArray = np.cumsum(quotes, dtype=np.uint8) & 1 == 0  # what overflows is even too
    where = np.flatnonzero(quotes)
    if len(where) % 2:
        return None
    opening, closing = where[::2], where[1::2]
    after = closing + 1  # a block ends with a newline
    ended = signs[after] | ((data[after] == RETURN) & (data[np.minimum(after + 1, len(data) - 1)] == NEWLINE))
    # the separator before a quote is outside: the quotes before it are all closed
    begun = signs[opening - 1] | (opening == 0)
    return outside if ended.all() and begun.all() else None


def _ends_with_both(data: NDArray[np.uint8], signs: BoolArray, ends: NDArray[np.intp]) -> bool:
    """Whether every row ends with a carriage return and a newline, and none of them is elsewhere but in quotes."""
    before = data[ends[:, -1] - 1] == RETURN
    if not before.all():
        return False
    outside: BoolArray = np.cumsum(data == QUOTE, dtype=np.uint8) & 1 == 0
    return int(np.count_nonzero((data == RETURN) & outside)) == len(ends)
