"""Errors about input, with a key by which the command finds the option that would settle them."""

from __future__ import annotations

from typing import Any


class InputError(ValueError):
    """Wrong input: what is wrong, where, and what to do, without the name of any argument or option.

    ``key`` is the kind of the error, by which the command has hints; ``details`` are values for the hints.
    """

    def __init__(self, message: str, *, key: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.key = key
        self.details = details
