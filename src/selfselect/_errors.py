"""Errors about what users pass in, which every way of using the package can word in its own terms."""

from __future__ import annotations

from typing import Any


class InputError(ValueError):
    """Something is wrong with what was passed in.

    Parameters
    ----------
    message : str
        What is wrong, where, and what to do, without the name of any argument or option.
    key : str, optional
        What would settle it. The library's own arguments, and the options of the command, are found by it.
    **details
        What a more helpful message may be made of.
    """

    def __init__(self, message: str, *, key: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.key = key
        self.details = details
