"""Errors about tables: what is wrong, and where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


class TableErrors(InputError):  # noqa: N818 (several)
    """Several errors, each of which has to be settled."""

    def __init__(self, errors: Sequence[InputError]) -> None:
        self.errors = tuple(errors)
        super().__init__("\n".join(map(str, errors)))


class Problems:
    """Errors that are raised together, so that all are seen at once."""

    def __init__(self) -> None:
        self._errors: list[InputError] = []

    def catch(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Result of a function, or None after an error about the input, which is kept."""
        try:
            return function(*arguments, **options)
        except TableErrors as error:
            self._errors += error.errors
        except InputError as error:
            self._errors.append(error)

    def raise_all(self) -> None:
        """Raise what was kept, if anything was."""
        if self._errors:
            raise self._errors[0] if len(self._errors) == 1 else TableErrors(self._errors)


def first_line(error: Exception) -> str:
    """What a library says is wrong, without further lines of advice for programmers."""
    return str(error).partition("\n")[0]


def too_large(max_bytes: int, place: str) -> TableError:
    """Error about a compressed file that expands to more than is allowed."""
    return TableError(f"decompressed, it holds more than {max_bytes:,} bytes", place=place, key="max_bytes")
