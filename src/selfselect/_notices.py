"""What users are warned of, and where that is kept instead by whoever fits on their behalf."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

#: scikit-learn's own checks fit thousands of times, and nobody has groups there.
_WITHOUT_GROUPS = "sklearn.utils.estimator_checks"


class ApplicationWarning(UserWarning):
    """Something about who applies that the user should know."""


class ShutOutWarning(ApplicationWarning):
    """The classifier selects nobody, or hardly anybody, of some people."""


class PromiseWarning(ApplicationWarning):
    """What is published may not be what new people get."""


class Notice(NamedTuple):
    """What somebody would have been warned of."""

    message: str
    category: type[UserWarning]


_kept: ContextVar[list[Notice] | None] = ContextVar("kept", default=None)


@contextmanager
def notices_kept() -> Iterator[list[Notice]]:
    """A list that our warnings go to meanwhile, instead of to the user.

    Only those of this thread: the filters of :mod:`warnings` belong to all of them, and two threads that change and
    restore these at the same time leave them changed for good.

    Examples
    --------
    >>> with notices_kept() as kept:
    ...     warn("Nobody applies.")
    >>> kept[0].message, kept[0].category.__name__
    ('Nobody applies.', 'ApplicationWarning')
    """
    kept: list[Notice] = []
    token = _kept.set(kept)
    try:
        yield kept
    finally:
        _kept.reset(token)


def warn(message: str, category: type[UserWarning] = ApplicationWarning) -> None:
    """Warn whoever called into this package."""
    kept = _kept.get()
    if kept is not None:
        kept.append(Notice(message, category))
        return
    level, frame = 2, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "selfselect":
        frame = frame.f_back  # type: ignore[assignment]
        level += 1
    warnings.warn(message, category, stacklevel=level)


def inside_checks() -> bool:
    """Whether a fit is one of scikit-learn's own checks of estimators."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == _WITHOUT_GROUPS:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
