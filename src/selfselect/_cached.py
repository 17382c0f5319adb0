"""Properties that are computed once, without a lock."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Self, TypeVar, overload

Value = TypeVar("Value")


class cached(functools.cached_property[Value]):  # noqa: N801 (a decorator)
    """Property that is computed when it is first asked for, and then kept in the object.

    ``functools.cached_property`` holds a lock meanwhile on Python 3.11, one for all objects of a class: a process that
    is forked while another thread computes has it locked for good. Here two threads at once may both compute; both get
    what the first of them kept. Tools that document code take it for the property that it is.

    Parameters
    ----------
    compute : callable
        A method without arguments, of an object that does not change.

    Examples
    --------
    >>> class Square:
    ...     @cached
    ...     def area(self):
    ...         print("computed")
    ...         return 4
    >>> square = Square()
    >>> square.area + square.area
    computed
    8
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        super().__init__(compute)
        self.__wrapped__ = compute

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Value: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> Self | Value:
        if instance is None:
            return self
        # the object's own entry is found before this descriptor from now on; of several, the first stays
        kept: Value = instance.__dict__.setdefault(self._name, self.__wrapped__(instance))
        return kept
