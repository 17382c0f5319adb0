"""Warnings of this package, and a block that captures them without touching the filters that all threads share."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class ApplicationWarning(UserWarning):
    """Something about who applies that the user should know."""


class ShutOutWarning(ApplicationWarning):
    """The classifier selects nobody, or hardly anybody, of some people."""


class PromiseWarning(ApplicationWarning):
    """What is published may not be what new people get."""


_captured: ContextVar[list[UserWarning] | None] = ContextVar("captured", default=None)


@contextmanager
def captured_warnings() -> Iterator[list[UserWarning]]:
    """Collect the warnings of this package in a list, in this thread only.

    ``warnings.catch_warnings`` changes filters that all threads share (before Python 3.14): two threads that change and
    restore them at the same time leave them changed for good.
    """
    captured: list[UserWarning] = []
    token = _captured.set(captured)
    try:
        yield captured
    finally:
        _captured.reset(token)


def warn(message: str, category: type[UserWarning] = ApplicationWarning) -> None:
    """Warn, naming the line outside this package that called into it."""
    captured = _captured.get()
    if captured is not None:
        captured.append(category(message))
        return
    level, frame = 2, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "selfselect":
        frame = frame.f_back  # type: ignore[assignment]
        level += 1
    warnings.warn(message, category, stacklevel=level)
