"""Pages of a Parquet file by what is said before each of them: pyarrow unpacks them whole, whatever they expand to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeAlias

#: Bytes that are read of a header at first, and at most (more pyarrow does not read either).
FEW, MOST = 2**9, 2**24
#: How deep structures may be within each other (as for pyarrow).
DEEPEST = 64
#: Kinds of fields in Thrift's compact writing: booleans by their value, numbers of bytes or bits, what holds others.
TRUE, FALSE, BYTE, SHORT, NUMBER, LONG, DOUBLE, TEXT, LIST, SET, MAP, STRUCT = range(1, 13)
#: Fields of a header, with their kinds: the sort of the page, its size unpacked and packed.
SORT, UNPACKED, PACKED = (1, NUMBER), (2, NUMBER), (3, NUMBER)
#: Sorts of pages. What a header tells of the values of some: the field, and in it how many they are, how written.
DATA, DICTIONARY, DATA_2 = 0, 2, 3
TOLD, VALUES, ENCODING = {DATA: (5, STRUCT), DATA_2: (8, STRUCT)}, (1, NUMBER), {DATA: (2, NUMBER), DATA_2: (4, NUMBER)}
#: Ways to write values: as numbers of texts in the dictionary, and as what differs from the value before.
BY_NUMBER, BY_DIFFERENCE = (2, 8), 7

#: Values of fields by their number and kind; what is of another kind than it should be, readers pass over.
Fields: TypeAlias = dict[tuple[int, int], Any]


@dataclass(frozen=True)
class Pages:
    """What the pages of a column are, in one part of a file.

    Attributes
    ----------
    largest, total : int
        Bytes of the largest page, and of all, unpacked.
    by_number : bool
        Whether all values are given as numbers of texts in a dictionary.
    longest : int
        Bytes that a cell may have although they are not in the page for it alone; 0 if there are no such cells.
    """

    largest: int
    total: int
    by_number: bool
    longest: int


def pages_of(source: BinaryIO, column: Any) -> Pages:
    """What the pages of a column are, by their headers.

    Parameters
    ----------
    source : binary file
        The Parquet file.
    column : pyarrow's ColumnChunkMetaData
        Where the column is.

    Raises
    ------
    ValueError
        If a header is damaged.
    """
    found = list(_pages(source, column))
    multiplied = [page.unpacked for page in found if page.sort == DICTIONARY or page.encoding == BY_DIFFERENCE]
    return Pages(
        largest=max((page.unpacked for page in found), default=0),
        total=sum(page.unpacked for page in found),
        by_number=all(page.encoding in BY_NUMBER for page in found if page.sort in TOLD),
        longest=max(multiplied, default=0),
    )


@dataclass(frozen=True)
class _Page:
    sort: int
    unpacked: int
    packed: int
    values: int
    encoding: int | None


def _pages(source: BinaryIO, column: Any) -> Iterator[_Page]:
    """Pages from the first on, up to the last value that the column has."""
    at, first = column.data_page_offset, column.dictionary_page_offset
    if first is not None and 0 < first < at:
        at = first
    end, left = at + column.total_compressed_size, column.num_values
    while left > 0 and at < end:
        header, length = _header(source, at)
        page = _page(header)
        yield page
        at += length + page.packed
        left -= page.values


def _page(header: Fields) -> _Page:
    sort, unpacked, packed = (header.get(field, -1) for field in (SORT, UNPACKED, PACKED))
    told = header.get(TOLD[sort]) if sort in TOLD else {}
    if min(sort, unpacked, packed) < 0 or told is None:
        raise ValueError("the header of a page is damaged")
    encoding = told.get(ENCODING[sort]) if sort in TOLD else None
    return _Page(sort, unpacked, packed, max(told.get(VALUES, 0), 0), encoding)


def _header(source: BinaryIO, at: int) -> tuple[Fields, int]:
    """The header at a place, and how many bytes it has."""
    size = FEW
    while True:
        source.seek(at)
        data = source.read(size)
        try:
            return _fields(data, 0, 0)
        except IndexError as error:  # it goes on
            if len(data) < size or size >= MOST:
                raise ValueError("the header of a page is damaged") from error
            size *= 8


def _fields(data: bytes, at: int, depth: int) -> tuple[Fields, int]:
    """Fields of a structure, and where it ends."""
    if depth > DEEPEST:
        raise ValueError("the header of a page is damaged")
    fields: Fields = {}
    number = 0
    while head := data[at]:
        kind, at = head & 15, at + 1
        step, at = (head >> 4, at) if head >> 4 else _signed(data, at)
        number = (number + step if head >> 4 else step) & 2**16 - 1  # others have no more bits for it
        if kind not in (TRUE, FALSE):
            fields[number, kind], at = _value(data, at, kind, depth)
    return fields, at + 1


def _value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    """A value of some kind, and where it ends. Of texts and collections nothing is kept."""
    if kind in (SHORT, NUMBER, LONG):
        return _signed(data, at)
    if kind == STRUCT:
        return _fields(data, at, depth + 1)
    if kind == TEXT:
        length, at = _unsigned(data, at)
        return None, _within(data, at + length)
    if kind in (TRUE, FALSE, BYTE, DOUBLE):
        return None, _within(data, at + (8 if kind == DOUBLE else 1))
    if kind in (LIST, SET):
        head, at = data[at], at + 1
        count, at = (head >> 4, at) if head >> 4 < 15 else _unsigned(data, at)
        return None, _skipped(data, at, count, (head & 15,), depth)
    if kind == MAP:
        count, at = _unsigned(data, at)
        return None, _skipped(data, at + 1, count, (data[at] >> 4, data[at] & 15), depth) if count else at
    raise ValueError("the header of a page is damaged")


def _skipped(data: bytes, at: int, count: int, kinds: tuple[int, ...], depth: int) -> int:
    """Where a collection ends. Whatever number it says, each value has a byte at least."""
    for _ in range(count):
        for kind in kinds:
            _, at = _value(data, at, kind, depth + 1)
    return at


def _within(data: bytes, at: int) -> int:
    if at > len(data):
        raise IndexError
    return at


def _signed(data: bytes, at: int) -> tuple[int, int]:
    """A number with its sign, which is its last bit; of 32 bits, as the sizes are."""
    value, at = _unsigned(data, at)
    value &= 2**32 - 1
    return value >> 1 ^ -(value & 1), at


def _unsigned(data: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, the lowest first; the last has no eighth bit."""
    value = 0
    for place in range(0, 70, 7):
        byte, at = data[at], at + 1
        value |= (byte & 127) << place
        if byte < 128:
            return value, at
    raise ValueError("the header of a page is damaged")
