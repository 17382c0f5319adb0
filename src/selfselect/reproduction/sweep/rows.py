"""Results as rows of a store, sealed by checksums: what was stored comes back as it was, or not at all."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Sequence
from typing import Any

from ..._files import DAMAGE
from .results import Cell, PlainCounts, Result, check_counts, who_applies
from .schema import SEALED

#: A row, with its checksum or (in stores of the version before) without.
Row = tuple[Any, ...]
#: Errors that end the reading of a damaged row, or of one that says what cannot be.
UNREADABLE = (*DAMAGE, ValueError, RecursionError)
#: What makes two results the same result, the first columns of its row; the rest is when and how fast.
IDENTITY = 13
#: The column that may differ between results that are the same: another version may give them as well.
_VERSION = 6


class DamagedRowError(ValueError):
    """A row is not as it was written; the message says what is wrong with it."""


def now() -> str:
    """The time, as the store notes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def as_json(value: Any) -> str:
    """A value as the store keeps it: equal values are equal texts."""
    return json.dumps(value, sort_keys=True, allow_nan=False)


def sealed(table: str, values: Row) -> Row:
    """A row with its checksum.

    Examples
    --------
    >>> row = sealed("sweeps", ("2026-01-01T00:00:00Z", 1.5, 2, "in process", "{}"))
    >>> opened("sweeps", row) == row[:-1]
    True
    """
    return (*values, _checksum(table, values))


def opened(table: str, row: Row) -> Row:
    """A row without its checksum, once that is found to be right; rows of the version before have none."""
    values = row[: SEALED[table]]
    if len(row) > len(values) and row[-1] != _checksum(table, values):
        raise DamagedRowError("its checksum is that of other values")
    return values


def _checksum(table: str, values: Row) -> str:
    """SHA-256 of a row and its table; any value has a text of its own, also one that should not be there."""
    return hashlib.sha256(json.dumps([table, *values], default=repr).encode("ascii")).hexdigest()


def result_row(result: Result) -> Row:
    """The row of a result, without its checksum."""
    return (
        *_key(result),
        int(result.seed),
        as_json(result.configuration),
        result.package_version,
        result.data_hash,
        as_json(list(result.groups)),
        as_json(result.train_counts),
        as_json(result.test_counts),
        as_json(result.train_metrics),
        as_json(result.test_metrics),
        float(result.seconds),
        now(),
    )


def promise_row(result: Result) -> Row:
    """The row of what was published, without its checksum."""
    plain = (result.published_counts, list(result.applies), list(result.broken))
    return (*_key(result), *map(as_json, plain))


def _key(result: Result) -> Row:
    cell = result.cell
    return cell.dataset, cell.method, float(cell.cost), int(cell.split)


def promise_before_promises(row: Row) -> Row:
    """The row of what was published where none was kept: everything was published on training people then."""
    return promise_row(read_result(row, None))


def same(row: Row, promise: Row, other: Row, other_promise: Row) -> bool:
    """Whether two pairs of rows hold the same result, whichever version made it, when and how fast."""
    first, second = ((*row[:_VERSION], *row[_VERSION + 1 : IDENTITY]) for row in (row, other))
    return (first, promise) == (second, other_promise)


def read_result(row: Row, promise: Row | None) -> Result:
    """The result of a row and of what was published, as stored, or None where nothing of that was kept.

    Raises
    ------
    DamagedRowError
        If a row is not as it was written, or says what cannot be.
    """
    try:
        values = opened("results", row)
        if promise is None and len(row) > len(values):
            raise DamagedRowError("what was published is missing")
        result = _result(values, None if promise is None else opened("promises", promise))
        check_result(result)
        return result
    except DamagedRowError:
        raise
    except UNREADABLE as error:
        raise DamagedRowError(in_words(error)) from error


def in_words(error: Exception) -> str:
    """What is wrong with a row, by the error that reading it ended with.

    Examples
    --------
    >>> in_words(KeyError("n")), in_words(ValueError("negative counts")), in_words(TypeError("int, not str"))
    ("it lacks 'n'", 'negative counts', 'a part of it is of another kind than it should be')
    """
    if isinstance(error, KeyError):
        return f"it lacks {error}"
    if isinstance(error, json.JSONDecodeError | RecursionError):
        return "a part of it is not JSON"
    return str(error) if isinstance(error, ValueError) else "a part of it is of another kind than it should be"


def _result(row: Row, promise: Row | None) -> Result:
    cell, groups, train_counts = Cell(*row[:4]), tuple(json.loads(row[8])), json.loads(row[9])
    if promise is None:  # made before promises were stored, when everything was published on training people
        check_counts(train_counts, len(groups))
        published: PlainCounts = train_counts
        applies = who_applies(groups, train_counts, cell.cost).tolist()
    else:
        published, applies = json.loads(promise[4]), json.loads(promise[5])
    return Result(
        cell,
        seed=row[4],
        configuration=json.loads(row[5]),
        package_version=row[6],
        data_hash=row[7],
        groups=groups,
        train_counts=train_counts,
        test_counts=json.loads(row[10]),
        train_metrics=json.loads(row[11]),
        test_metrics=json.loads(row[12]),
        published_counts=published,
        applies=tuple(applies),
        seconds=row[13],
    )


def check_result(result: Result) -> None:
    """Refuse a result that cannot be.

    Raises
    ------
    ValueError
        If counts are negative or do not fit together, or there is not one per group.
    """
    if cell_of(result.cell.key) is None:
        raise ValueError("it does not say what was fitted")
    if not all(isinstance(group, str) for group in result.groups):
        raise ValueError("a group has no name")
    for people in ("train", "test", "published"):
        try:
            check_counts(getattr(result, f"{people}_counts"), len(result.groups))
        except ValueError as error:
            raise ValueError(f"{people} counts: {error}") from error
    if len(result.applies) != len(result.groups) or not all(isinstance(each, bool) for each in result.applies):
        raise ValueError("it does not say which groups apply")
    if not isinstance(result.configuration, dict) or not math.isfinite(result.seconds) or result.seconds < 0:
        raise ValueError("its settings or its time are none")
    for metrics in (result.train_metrics, result.test_metrics):
        if not all(value is None or isinstance(value, int | float) for value in metrics.values()):
            raise ValueError("a metric is no number")


def cell_of(values: Sequence[Any]) -> Cell | None:
    """What was fitted, by the first four values of a row; None if they do not say it."""
    kinds = zip(values[:4], (str, str, float, int), strict=True)
    if not all(isinstance(value, kind) for value, kind in kinds) or not math.isfinite(values[2]) or values[3] < 0:
        return None
    return Cell(*values[:4])


def sweep_row(started_at: str, seconds: float, fits: int, engine: str, machine: dict[str, Any]) -> Row:
    """The row of a note about a sweep, without its checksum."""
    return started_at, float(seconds), int(fits), engine, as_json(machine)


def read_sweep(row: Row) -> dict[str, Any]:
    """The note about a sweep of a row.

    Raises
    ------
    DamagedRowError
        If the row is not as it was written.
    """
    values = opened("sweeps", row)
    try:
        machine = json.loads(values[4])
    except (ValueError, TypeError, RecursionError) as error:
        raise DamagedRowError(f"{type(error).__name__}: {error}") from error
    names = ("started_at", "seconds", "fits", "engine", "machine")
    return dict(zip(names, (*values[:4], machine), strict=True))
