"""Results on disk: a SQLite file with one row per data set, method, cost and split, safe to kill and to share.

A row is written once, whole, when its fit is done; with it, in a table of its own, what was published and to whom the
promise was broken. Every row has a checksum, which is looked at whenever it is read. What is under way is noted by
leases, in the same file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

from .database import Database, StoreError
from .leases import AT_CELL, Leases
from .results import Cell, Result
from .rewriting import damage_named, insert, raise_layout, read_tables
from .rows import (
    IDENTITY,
    UNREADABLE,
    DamagedRowError,
    Row,
    as_json,
    check_result,
    in_words,
    opened,
    promise_row,
    read_result,
    read_sweep,
    result_row,
    same,
    sweep_row,
)
from .schema import SCHEMA_VERSION


class Store:
    """A file of results.

    Parameters
    ----------
    path : str or Path
        The file; made if it is not there. One of the version before is brought up to date.
    create : bool, default=True
        Whether to make it.
    read_only : bool, default=False
        Whether it is only read: then it is not made, nothing in it changes, and it may be where nothing can be written.

    Attributes
    ----------
    database : Database
        The connection to the file.
    leases : Leases
        Fits that are under way.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Store(f"{folder}/results.sqlite") as store:
    ...     len(store.results())
    0
    """

    def __init__(self, path: str | Path, *, create: bool = True, read_only: bool = False) -> None:
        self.database = Database(path, create=create and not read_only, read_only=read_only)
        self.leases = Leases(self.database)
        try:
            if not read_only and self.database.version != SCHEMA_VERSION:
                raise_layout(self.database)
        except BaseException:
            self.database.close()
            raise

    @property
    def path(self) -> Path:
        """The file."""
        return self.database.path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back what is still leased, and close the file."""
        try:
            if not self.database.read_only:
                self.leases.release()
        except StoreError:
            pass  # leases die with their owner anyway
        finally:
            self.database.close()

    # ------------------------------------------------------------------ results

    def write(self, results: Iterable[Result]) -> int:
        """Write results, all or none, and end the leases on them.

        Nothing is ever overwritten. A result that is there already, since another sweep took over the lease of one that
        was silent for too long, is left out if it is the same, and an error if it is another.

        Returns
        -------
        int
            How many were not there.
        """
        with self.database.transaction():
            return sum(self._write(result) for result in results)

    def _write(self, result: Result) -> bool:
        try:
            check_result(result)
        except UNREADABLE as error:
            raise StoreError(f"{result.cell}: this is no result ({in_words(error)}).") from error
        row, promise = result_row(result), promise_row(result)
        there = self._stored(result.cell)
        if there is None:
            insert(self.database, "results", row)
            insert(self.database, "promises", promise)
        elif not same(row, promise, *there):
            raise StoreError(
                f"{self.path} holds another result of {result.cell}, which stays as it is: the same fit has given "
                "other numbers, on another machine or with other versions. Choose another file.",
                key="store",
            )
        self.leases.end(result.cell)
        return there is None

    def _stored(self, cell: Cell) -> tuple[Row, Row] | None:
        """The rows of a result that is there already."""
        rows = [self.database.rows(f"SELECT * FROM {table} {AT_CELL}", cell.key) for table in ("results", "promises")]
        if not any(rows):
            return None
        with damage_named(self.database, f"The row of {cell}"):
            if not all(rows):
                raise DamagedRowError("half of it is missing")
            return opened("results", rows[0][0]), opened("promises", rows[1][0])

    def done(self) -> set[Cell]:
        """Fits whose result is there."""
        return {Cell(*row) for row in self.database.rows("SELECT dataset, method, cost, split FROM results")}

    def results(self) -> list[Result]:
        """All results, sorted by data set, method, cost and split.

        Raises
        ------
        StoreError
            If the file or a row of it is damaged.
        """
        return [result for _, result in self._read()]

    def _read(self) -> list[tuple[Row, Result]]:
        with self.database.snapshot():
            self.database.check()
            results, promises, _ = read_tables(self.database)
        published = {row[:4]: row for row in promises}
        read = []
        for number, row in enumerate(results, 1):
            with damage_named(self.database, f"Row {number}"):
                read.append((row, read_result(row, published.pop(row[:4], None))))
        if published:
            raise StoreError(
                f"{self.path} is damaged: {len(published)} results are missing beside what was published.",
                key="repair",
                path=self.path,
            )
        return read

    def contents(self) -> list[Row]:
        """Everything that makes results what they are, in order: equal for equal results, whenever they were made."""
        return [row[:IDENTITY] for row, _ in self._read()]

    def check_same_origin(
        self, stored: Iterable[Result], dataset: str, data_hash: str, configurations: dict[Cell, dict[str, Any]]
    ) -> None:
        """Refuse to add to stored results that were made from other people or with other settings."""
        for result in stored:
            cell = result.cell
            if cell.dataset != dataset:
                continue
            if result.data_hash != data_hash:
                raise StoreError(
                    f"{self.path} holds results of other data under the name {dataset!r}; choose another file.",
                    key="store",
                )
            if cell in configurations and result.configuration != json.loads(as_json(configurations[cell])):
                raise StoreError(
                    f"{self.path} holds a result of other settings ({cell}): {as_json(result.configuration)} instead "
                    f"of {as_json(configurations[cell])}; choose another file.",
                    key="store",
                )

    # ------------------------------------------------------------------ how it was made

    def note_sweep(self, started_at: str, seconds: float, fits: int, engine: str, machine: dict[str, Any]) -> None:
        """Note when, where and how long a sweep ran."""
        with self.database.explained():
            insert(self.database, "sweeps", sweep_row(started_at, seconds, fits, engine, machine))

    def sweeps(self) -> list[dict[str, Any]]:
        """What :meth:`note_sweep` noted, in order."""
        notes = []
        for number, row in enumerate(self.database.rows("SELECT * FROM sweeps ORDER BY rowid"), 1):
            with damage_named(self.database, f"Note {number} about a sweep"):
                notes.append(read_sweep(row))
        return notes
