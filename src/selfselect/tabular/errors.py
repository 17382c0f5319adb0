"""Errors about tables: what is wrong, and where."""

from __future__ import annotations

from typing import Any

from .._errors import InputError


class TableError(InputError):
    """A table that cannot be used, with the place and the reason.

    Parameters
    ----------
    problem : str
        What is wrong.
    place : str, optional
        Where: the file, the row as a spreadsheet counts it (the header is row 1), the column.
    advice : str, optional
        What to do about it, in whole sentences.
    key : str, optional
        Kind of the problem, by which the command names the option that solves it.
    **details
        Values for the command's message. ``named_by`` is the input that named something that does not exist.

    Examples
    --------
    >>> error = TableError("there is no column 'b'", place="t.csv", advice="Its columns: 'a'.", named_by="label")
    >>> str(error)
    "t.csv: there is no column 'b'. Its columns: 'a'."
    >>> error.said("(see the first page)")
    "t.csv: there is no column 'b' (see the first page). Its columns: 'a'."
    """

    def __init__(
        self, problem: str, *, place: str = "", advice: str = "", key: str | None = None, **details: Any
    ) -> None:
        self.place = place
        self.problem = problem.rstrip(".")  # messages of libraries may end with one
        self.advice = advice
        super().__init__(self.said(), key=key, **details)

    def said(self, remark: str = "") -> str:
        """The whole message, with a remark to the problem."""
        problem = f"{self.problem} {remark}" if remark else self.problem
        message = f"{self.place}: {problem}." if self.place else f"{problem}."
        return f"{message} {self.advice}" if self.advice else message


def first_line(error: Exception) -> str:
    """What a library says is wrong, without further lines of advice for programmers."""
    return str(error).partition("\n")[0]


def too_large(most: int, place: str) -> TableError:
    """Error about a compressed file that expands to more than is allowed.

    Examples
    --------
    >>> print(too_large(2**30, "t.csv.gz"))
    t.csv.gz: decompressed, it holds more than 1,073,741,824 bytes.
    """
    return TableError(f"decompressed, it holds more than {most:,} bytes", place=place, key="most_bytes")
