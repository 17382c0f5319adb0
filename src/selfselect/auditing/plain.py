"""Findings as plain values, for JSON: no NaN, no numpy types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .._text import json_text


def plain_value(value: Any) -> Any:
    """A number, text or truth of Python's own; None for what is not finite.

    Examples
    --------
    >>> plain_value(np.float64("nan")), plain_value(np.int64(3)), plain_value(True)
    (None, 3, True)
    """
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value


def plain_ranges(found: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Pairs of numbers, and other values, as plain ones: pairs become lists.

    Examples
    --------
    >>> plain_ranges({"social_cost": (np.float64(0.0), float("nan")), "nobody": False})
    {'social_cost': [0.0, None], 'nobody': False}
    """
    if found is None:
        return None
    return {
        name: [plain_value(end) for end in value] if isinstance(value, tuple) else plain_value(value)
        for name, value in found.items()
    }


def plain_rows(frame: pd.DataFrame, columns: Iterable[str] | None = None) -> list[dict[str, Any]]:
    """Rows of a frame as mappings from column to plain value."""
    chosen = list(frame.columns if columns is None else columns)
    return [
        {column: plain_value(value) for column, value in zip(chosen, row, strict=True)}
        for row in frame[chosen].itertuples(index=False, name=None)
    ]


def plain_groups(
    names: Sequence[str], frame: pd.DataFrame, columns: Iterable[str] | None = None
) -> list[dict[str, Any]]:
    """The same, with the name of the group first."""
    return [{"group": name, **row} for name, row in zip(names, plain_rows(frame, columns), strict=True)]


def as_json(content: Any) -> str:
    """JSON text that any other program can read."""
    return json_text(content)
