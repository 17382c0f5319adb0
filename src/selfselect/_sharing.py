"""Work that fits to the same data share, such as those of :func:`selfselect.estimators.cost_path`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

Made = TypeVar("Made")

_KEPT: ContextVar[dict[Hashable, Any] | None] = ContextVar("_KEPT", default=None)


@contextmanager
def sharing(kept: bool = True) -> Iterator[None]:
    """Within this, what :func:`shared` makes is kept, or nothing is.

    All fits within it must be to the same data, and differ in costs only.
    """
    token = _KEPT.set({} if kept else None)
    try:
        yield
    finally:
        _KEPT.reset(token)


def shared(key: Hashable, make: Callable[[], Made]) -> Made:
    """What has been made under a key before, or is made now; outside of :func:`sharing` it is always made."""
    kept = _KEPT.get()
    if kept is None:
        return make()
    if key not in kept:
        with sharing(False):  # fits inside this one are to other data
            kept[key] = make()
    made: Made = kept[key]
    return made
