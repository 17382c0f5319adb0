"""The SQLite file of a sweep: made and recognised here, and its errors put into words."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..._errors import InputError

#: Version of the layout of the file; another one is refused by name.
SCHEMA_VERSION = 2
#: Marks the file as ours ("SSel" in ASCII), so that other SQLite files are left alone.
APPLICATION_ID = 0x5353656C
#: Seconds to wait for another process that is writing.
BUSY_SECONDS = 60

_SCHEMA = """
CREATE TABLE results (
    dataset TEXT NOT NULL,
    method TEXT NOT NULL,
    cost REAL NOT NULL,
    split INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    configuration TEXT NOT NULL,
    package_version TEXT NOT NULL,
    data_hash TEXT NOT NULL,
    groups TEXT NOT NULL,
    train_counts TEXT NOT NULL,
    test_counts TEXT NOT NULL,
    train_metrics TEXT NOT NULL,
    test_metrics TEXT NOT NULL,
    seconds REAL NOT NULL,
    finished_at TEXT NOT NULL,
    PRIMARY KEY (dataset, method, cost, split)
) WITHOUT ROWID;
CREATE TABLE owners (
    owner TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    process TEXT NOT NULL,
    heard REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE leases (
    dataset TEXT NOT NULL,
    method TEXT NOT NULL,
    cost REAL NOT NULL,
    split INTEGER NOT NULL,
    owner TEXT NOT NULL,
    PRIMARY KEY (dataset, method, cost, split)
) WITHOUT ROWID;
CREATE TABLE sweeps (
    started_at TEXT NOT NULL,
    seconds REAL NOT NULL,
    fits INTEGER NOT NULL,
    engine TEXT NOT NULL,
    machine TEXT NOT NULL
);
"""

#: What was published, who applied because of it, and to whom the promise was broken: beside each result. Stores of this
#: version may be without the table, where they were made before there was one; it comes with the first result.
PROMISES = """
CREATE TABLE IF NOT EXISTS promises (
    dataset TEXT NOT NULL,
    method TEXT NOT NULL,
    cost REAL NOT NULL,
    split INTEGER NOT NULL,
    published_counts TEXT NOT NULL,
    applies TEXT NOT NULL,
    broken TEXT NOT NULL,
    PRIMARY KEY (dataset, method, cost, split)
) WITHOUT ROWID
"""

#: What is wrong, by SQLite's code, and the key of what would settle it.
_REASONS: dict[int, tuple[str, str | None]] = {
    sqlite3.SQLITE_FULL: (
        "the disk is full. What was stored before is intact; free some space and run the same sweep again to go on",
        None,
    ),
    sqlite3.SQLITE_NOTADB: ("it is not a SQLite file; choose another file", "store"),
    sqlite3.SQLITE_CORRUPT: ("the file is damaged; restore a copy or choose another file", "store"),
    sqlite3.SQLITE_READONLY: ("it cannot be written; check its permissions and those of its folder", None),
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened; check its permissions and those of its folder", None),
    sqlite3.SQLITE_BUSY: ("another program has kept it locked for a minute", None),
}
#: SQLite's codes come with details in their higher bits.
_PRIMARY_CODE = 0xFF


class StoreError(InputError, OSError):
    """The store cannot be used or written; the message says why and what to do."""


class Database:
    """Connection to a file of ours, for several threads.

    Parameters
    ----------
    path : str or Path
        The file.
    create : bool
        Whether to make it if it is not there.

    Attributes
    ----------
    path : Path
        The file.
    connection : sqlite3.Connection
        Every statement is its own transaction unless one is begun.
    """

    def __init__(self, path: str | Path, *, create: bool) -> None:
        self.path = Path(path)
        self._lock = threading.RLock()  # one connection, two threads: a transaction of one must not swallow the other's
        if not create and not (self.path.exists() and self.path.stat().st_size):
            raise StoreError(f"There is no store {self.path}.", key="no_store", path=self.path)
        if not self.path.parent.is_dir():
            raise StoreError(f"Cannot make {self.path}: there is no folder {self.path.parent}.")
        with self.explained():
            self.connection = sqlite3.connect(
                self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare()
            except BaseException:
                self.connection.close()
                raise

    def _prepare(self) -> None:
        self.connection.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
        if self._is_ours():
            return
        self.connection.execute("PRAGMA journal_mode = WAL")
        with self.transaction():
            if self._is_ours():  # another sweep was faster
                return
            for statement in (*_SCHEMA.split(";")[:-1], PROMISES):
                self.connection.execute(statement)
            self.connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            self.connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _is_ours(self) -> bool:
        application = self.connection.execute("PRAGMA application_id").fetchone()[0]
        version = self.connection.execute("PRAGMA user_version").fetchone()[0]
        tables = self.connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if application == 0 and version == 0 and tables == 0:
            return False
        if application != APPLICATION_ID:
            raise StoreError(f"{self.path} is a SQLite file of another program; choose another file.", key="store")
        if version != SCHEMA_VERSION:
            raise StoreError(
                f"{self.path} is a store of schema version {version}; this selfselect reads version {SCHEMA_VERSION}. "
                "Use the selfselect that made it, or choose another file.",
                key="store",
            )
        return True

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Keep other threads out, and say in words what SQLite complains about."""
        try:
            with self._lock:
                yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", None)
            known = None if code is None else _REASONS.get(code & _PRIMARY_CODE)
            reason, key = known or (str(error), None)
            raise StoreError(f"Store {self.path}: {reason}.", key=key) from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Do everything inside or nothing of it."""
        with self.explained():
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise

    def has_table(self, name: str) -> bool:
        """Whether there is a table of this name."""
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,)))

    def rows(self, query: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """What a query finds."""
        with self.explained():
            return self.connection.execute(query, values).fetchall()
