"""Errors about tables: what is wrong, and where."""

from __future__ import annotations

from typing import Any

from .._errors import InputError


class TableError(InputError):
    """A table that cannot be used. The detail ``named_by`` is the input that named something that does not exist."""

    def __init__(
        self, problem: str, *, place: str = "", advice: str = "", key: str | None = None, **details: Any
    ) -> None:
        self.place = place
        self.problem = problem.rstrip(".")  # messages of libraries may end with one
        self.advice = advice
        super().__init__(self.with_remark(), key=key, **details)

    def with_remark(self, remark: str = "") -> str:
        """The whole message, with a remark to the problem."""
        problem = f"{self.problem} {remark}" if remark else self.problem
        message = f"{self.place}: {problem}." if self.place else f"{problem}."
        return f"{message} {self.advice}" if self.advice else message


def first_line(error: Exception) -> str:
    """What a library says is wrong, without further lines of advice for programmers."""
    return str(error).partition("\n")[0]


def too_large(max_bytes: int, place: str) -> TableError:
    """Error about a compressed file that expands to more than is allowed."""
    return TableError(f"decompressed, it holds more than {max_bytes:,} bytes", place=place, key="max_bytes")
