"""Repair of a damaged store: rows that are whole stay, the others are dropped, so that a sweep makes them again."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from ..._files import open_new
from .database import Database, StoreError
from .results import Cell
from .rewriting import read_tables, refuse_others, rewrite
from .rows import DamagedRowError, Row, cell_of, opened, promise_before_promises, read_result, read_sweep
from .schema import SEALED

_COLUMNS = ("dataset", "method", "cost", "split")


@dataclass(frozen=True)
class Repair:
    """What a repair left and dropped.

    Attributes
    ----------
    kept : int
        Results that are whole.
    lost : tuple of Cell
        Results that were dropped, as far as it can be read what they were of.
    dropped : int
        Rows that were dropped, of any table; 0 if nothing was damaged.
    damaged : Path or None
        Where the damaged file is, if a new one was made of what could be read.
    """

    kept: int
    lost: tuple[Cell, ...]
    dropped: int
    damaged: Path | None = None


def repair(path: str | Path) -> Repair:
    """Drop what is damaged in a store.

    Rows are dropped from the file itself. If SQLite finds the file damaged beyond rows, what can be read of it goes to
    a new file of the same name, and the damaged one is kept beside it.

    Raises
    ------
    StoreError
        If nothing can be read of it, or if another sweep is at work on it.
    """
    with closing(_opened(path)) as database:
        try:
            with database.transaction():
                database.check()
                found = _Found(*read_tables(database))
                if found.dropped:
                    refuse_others(database, "damaged")
                    rewrite(database, found.kept, found.sweeps)
                return Repair(len(found.kept), found.lost, found.dropped)
        except StoreError as error:
            if error.key != "repair":
                raise
        if _readable(database, "owners"):
            refuse_others(database, "damaged")
        found = _Found(*(_readable(database, table) for table in SEALED))
    if not found.kept:
        raise _hopeless(path)
    return Repair(len(found.kept), found.lost, found.dropped, _replace(Path(path), found))


def _opened(path: str | Path) -> Database:
    try:
        return Database(path, create=False)
    except StoreError as error:
        raise _hopeless(path) if error.key == "repair" else error from error


def _hopeless(path: str | Path) -> StoreError:
    said = "the file is damaged, and no result can be read of it; restore a copy, or choose another file"
    return StoreError(f"Store {path}: {said}.", key="store")


class _Found:
    """What was found in a store, whole rows apart from others.

    Parameters
    ----------
    results, promises, sweeps : iterables of rows
        All that could be read of the tables.
    """

    def __init__(self, results: Iterable[Row], promises: Iterable[Row], sweeps: Iterable[Row]) -> None:
        by_cell, published = ({row[:4]: row for row in rows} for rows in (results, promises))
        self.kept: list[tuple[Row, Row]] = []
        self.sweeps: list[Row] = []
        names, self.dropped = set(), 0
        for key, row in by_cell.items():
            promise = published.get(key)
            try:
                read_result(row, promise)
                whole = promise_before_promises(row) if promise is None else opened("promises", promise)
                self.kept.append((opened("results", row), whole))
            except DamagedRowError:
                self.dropped += 1
                if promise is not None or _may_name("results", row):
                    names.add(key)  # a key that only one damaged row has may be the damage
        for key, promise in published.items():
            if key not in by_cell:
                self.dropped += 1
                if _may_name("promises", promise):
                    names.add(key)
        for note in sweeps:
            try:
                read_sweep(note)
                self.sweeps.append(opened("sweeps", note))
            except DamagedRowError:
                self.dropped += 1
        self.lost = tuple(sorted(cell for cell in map(cell_of, names) if cell is not None))


def _may_name(table: str, row: Row) -> bool:
    """Whether a row says truly what it is of, as far as can be told: unless its checksum is wrong."""
    try:
        return bool(opened(table, row))
    except DamagedRowError:
        return False


def _readable(database: Database, table: str) -> list[Row]:
    """Rows of a table in a damaged file, from both ends up to what SQLite cannot read."""
    found: dict[Row, None] = {}
    names = {"sweeps": ("rowid",), "owners": ("owner",)}.get(table, _COLUMNS)
    for direction in ("ASC", "DESC"):
        order = ", ".join(f"{name} {direction}" for name in names)
        with suppress(sqlite3.Error, UnicodeDecodeError):
            for row in database.connection.execute(f"SELECT * FROM {table} ORDER BY {order}"):
                found[row] = None
    return sorted(found, key=repr)


def _replace(path: Path, found: _Found) -> Path:
    """Put a new file in the place of a damaged one, which stays beside it."""
    aside = _free_name(path)
    handle, new = open_new(path)
    os.close(handle)
    try:
        with closing(Database(new, create=True)) as database, database.transaction():
            rewrite(database, found.kept, found.sweeps)
    except BaseException:
        os.unlink(new)
        raise
    for end in ("-wal", "-shm", ""):  # the file last: what belongs to it must not meet the new one
        with suppress(FileNotFoundError):
            os.rename(f"{path}{end}", f"{aside}{end}")
    os.rename(new, path)
    return aside


def _free_name(path: Path) -> Path:
    """A name beside a file that nothing has, not even a link that leads nowhere."""
    names = (path.with_name(f"{path.name}.damaged{number or ''}") for number in count())
    return next(name for name in names if not os.path.lexists(name))
