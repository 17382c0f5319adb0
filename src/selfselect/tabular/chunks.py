"""A table while it is read: chunks of text, and complaints that name the file, the row and the column."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._text import printable, shown
from .._validation import FloatArray
from .errors import TableError, too_large

#: Rows that are turned from text into numbers at a time.
CHUNK_ROWS = 20_000
#: Names of columns or groups that a complaint lists.
MOST_LISTED = 20
#: What separates columns where it is not the comma.
OTHER_DELIMITERS = (";", "\t", "|")

TextArray: TypeAlias = NDArray[np.object_]


class Chunk:
    """Some rows of the columns asked for, as text.

    Parameters
    ----------
    rows : sequence of int
        Where the rows are in the file; the header is row 1.
    columns : list of lists of str
        One list of cells per column asked for.

    Examples
    --------
    >>> codes, texts = Chunk([2, 3, 4], [["b", "a", "b"]]).codes(0)
    >>> codes.tolist(), texts.tolist()
    ([0, 1, 0], ['b', 'a'])
    """

    def __init__(self, rows: Sequence[int], columns: list[list[str]]) -> None:
        self.rows = rows
        self._columns: list[list[str]] = columns

    @property
    def columns(self) -> list[list[str]]:
        """One list of cells per column asked for."""
        return self._columns

    def texts(self, at: int) -> list[str]:
        """Cells of one column asked for."""
        return self.columns[at]

    def some(self, at: int, rows: NDArray[np.intp]) -> list[str]:
        """Cells of some rows of one column asked for."""
        cells = self.texts(at)
        return [cells[i] for i in rows]

    def plain_numbers(self, at: int, decimal: str) -> FloatArray | None:
        """Cells of one column asked for as numbers, if that can be had without their texts; NaN where it cannot."""
        return None

    def codes(self, at: int) -> tuple[NDArray[np.intp], TextArray]:
        """Cells of one column asked for, as positions in an array of different texts, in the order of their coming."""
        codes, texts = pd.factorize(np.array(self.columns[at], dtype=object))
        return codes, np.asarray(texts, dtype=object)


class TableReader(ABC):
    """One pass over a table, in chunks of text. Made by :func:`selfselect.tabular.reading.open_table`.

    Parameters
    ----------
    name : str
        What the table is called in complaints.
    digest : callable
        Gives the SHA-256 of the file.

    Attributes
    ----------
    header : list of str
        Names of all columns.
    decimal : {".", ","} or None
        Decimal sign of its numbers; None if only a person can tell.
    most_bytes : int or None
        What it may hold, decompressed; None if it is not compressed.
    notes : list of str
        What was found out about the file that the user should know; more may come while it is read.
    """

    header: list[str]
    decimal: str | None = "."
    most_bytes: int | None = None

    def __init__(self, name: str, digest: Callable[[], str]) -> None:
        self.name = name
        self._digest = digest
        self.notes: list[str] = []

    @abstractmethod
    def chunks(self, columns: Sequence[int]) -> Iterator[Chunk]:
        """The rows, once, in order; only the columns asked for, by their position in the header."""

    def sha256(self) -> str:
        """Hash of the file's bytes, as they lie on the disk."""
        return self._digest()

    def check_size(self, size: int) -> None:
        """Complain if it holds more bytes, decompressed, than it may."""
        if self.most_bytes is not None and size > self.most_bytes:
            raise too_large(self.most_bytes, printable(self.name))

    def error(
        self, problem: str, *, row: int | None = None, column: str | None = None, advice: str = "", **details: Any
    ) -> TableError:
        """Complaint about a place in this table; for the rest see :class:`TableError`."""
        place = printable(self.name)
        if row is not None:
            place += f", row {row}"
        if column is not None:
            place += f", column {shown(column)}"
        return TableError(problem, place=place, advice=advice, **details)

    def position(self, column: str, named_by: str = "", *, use: str = "") -> int:
        """Where a column is, or a complaint that suggests the nearest name.

        Parameters
        ----------
        column : str
            Its name.
        named_by : str, optional
            Which input named it, as :attr:`TableError.details` say it.
        use : str, optional
            What it is for, if nobody named it.
        """
        found = [i for i, name in enumerate(self.header) if name == column]
        if len(found) == 1:
            return found[0]
        if found:
            raise self.error(
                f"{len(found)} columns have this name",
                row=1,
                column=column,
                advice="Rename them so that each is there once.",
                named_by=named_by,
            )
        other = [sign for sign in OTHER_DELIMITERS if len(self.header) == 1 and sign in self.header[0]]
        advice = f"{did_you_mean(column, self.header)}Its columns: {listing(self.header, MOST_LISTED)}."
        if other:
            advice += f" Perhaps they are separated by {other[0]!r}."
        raise self.error(
            f"there is no column {shown(column)}" + (f", {use}" if use else ""),
            advice=advice,
            key="delimiter" if other else None,
            named_by=named_by,
            delimiter=other[0] if other else "",
        )


def did_you_mean(name: str, known: Sequence[str], *, most: int = 5000) -> str:
    """A question about the nearest of some names, or nothing.

    Examples
    --------
    >>> did_you_mean("regoin", ["Region", "age"])
    "Did you mean 'Region'? "
    """
    plain = {other.strip().casefold()[:200]: other for other in known[:most]}
    near = difflib.get_close_matches(name.strip().casefold()[:200], list(plain), n=1, cutoff=0.6)
    return f"Did you mean {shown(plain[near[0]])}? " if near else ""


def listing(names: Sequence[str], most: int) -> str:
    """Names for a complaint, not too many.

    Examples
    --------
    >>> listing(["a", "b", "c"], 2)
    "'a', 'b' and 1 more"
    """
    listed = ", ".join(shown(name) for name in names[:most])
    return listed + (f" and {len(names) - most} more" if len(names) > most else "")
