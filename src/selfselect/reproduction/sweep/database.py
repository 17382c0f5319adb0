"""The SQLite file of a sweep: made, recognised and opened here, and its errors put into words."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..._errors import InputError
from ..._text import printable
from .schema import APPLICATION_ID, SCHEMA_BEFORE, SCHEMA_VERSION, SEALED, TABLES

#: Seconds to wait for another process that is writing.
BUSY_SECONDS = 60
#: How often a file that changes while it is copied is copied again.
COPIES_TRIED = 5

#: What is wrong, by SQLite's code, and the key of what would settle it.
_REASONS: dict[int, tuple[str, str | None]] = {
    sqlite3.SQLITE_FULL: (
        "the disk is full. What was stored before is intact; free some space and run the same sweep again to go on",
        None,
    ),
    sqlite3.SQLITE_NOTADB: ("it is not a SQLite file; choose another file", "store"),
    sqlite3.SQLITE_CORRUPT: ("the file is damaged; restore a copy, or keep what can be read of it", "repair"),
    sqlite3.SQLITE_READONLY: ("it cannot be written; check its permissions and those of its folder", None),
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened; check its permissions and those of its folder", None),
    sqlite3.SQLITE_BUSY: ("another program has kept it locked for a minute", None),
}
#: SQLite's codes come with details in their higher bits.
_PRIMARY_CODE = 0xFF
#: What SQLite says of a file that it could read if only it could also write beside it.
_UNWRITABLE = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR}


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
    read_only : bool, default=False
        Whether it is only read: then nothing in it changes, and it may be where nothing can be written.

    Attributes
    ----------
    path : Path
        The file.
    connection : sqlite3.Connection
        Every statement is its own transaction unless one is begun.
    version : int
        Version of its layout.
    """

    def __init__(self, path: str | Path, *, create: bool, read_only: bool = False) -> None:
        self.path, self.read_only = _file_of(path), read_only
        self._lock = threading.RLock()  # one connection, two threads: a transaction of one must not swallow the other's
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        if not create and not (self.path.exists() and self.path.stat().st_size):
            raise StoreError(f"There is no store {self.path}.", key="no_store", path=self.path)
        if not self.path.parent.is_dir():
            raise StoreError(f"Cannot make {self.path}: there is no folder {self.path.parent}.")
        with self.explained():
            try:
                self._open(self.path, "rwc" if create else "rw")
            except sqlite3.OperationalError as error:
                if not read_only or _code_of(error) not in _UNWRITABLE:
                    raise
                self._open(self._copied(), "rw")

    def _open(self, path: Path, mode: str) -> None:
        address = f"{path.absolute().as_uri()}?mode={mode}"
        self.connection = sqlite3.connect(
            address, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        # a damaged text must arrive, to be found out by its row's checksum
        self.connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _copied(self) -> Path:
        """A copy of the file, with what is not yet written back to it, where SQLite can work."""
        self._copy = tempfile.TemporaryDirectory(prefix="selfselect-")
        copy = Path(self._copy.name) / "copy.sqlite"
        parts = {self.path: copy, Path(f"{self.path}-wal"): Path(f"{copy}-wal")}
        try:
            for _ in range(COPIES_TRIED):
                before = [_mark(part) for part in parts]
                for part, to in parts.items():
                    to.unlink(missing_ok=True)
                    if part.exists():
                        shutil.copyfile(part, to)
                if before == [_mark(part) for part in parts]:
                    break
        except OSError as error:
            self._copy.cleanup()
            raise StoreError(f"Cannot read {self.path}: {error.strerror or error}.") from error
        return copy

    def _prepare(self) -> None:
        self.connection.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
        self.connection.execute("PRAGMA cell_size_check = ON")
        if self.read_only:
            self.connection.execute("PRAGMA query_only = ON")
        if self._is_ours():
            return
        self.connection.execute("PRAGMA journal_mode = WAL")
        with self.transaction():
            if self._is_ours():  # another sweep was faster
                return
            for statement in TABLES.values():
                self.connection.execute(statement)
            self.connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            self.connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        self.connection.execute("PRAGMA wal_checkpoint")  # its mark is in the file itself, whatever becomes of the log

    def _is_ours(self) -> bool:
        # tables first: another sweep may be making the file just now, all at once, and whoever sees its tables must see
        # its mark as well
        tables = self.connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        version = self.version
        application = self._pragma("application_id")
        if application == 0 and version == 0 and tables == 0 and not self.read_only:
            return False
        if application != APPLICATION_ID:
            raise StoreError(f"{self.path} is a SQLite file of another program; choose another file.", key="store")
        if self.version not in (SCHEMA_BEFORE, SCHEMA_VERSION):
            raise StoreError(
                f"{self.path} is a store of schema version {self.version}; this selfselect reads versions "
                f"{SCHEMA_BEFORE} and {SCHEMA_VERSION}. Use the selfselect that made it, or choose another file.",
                key="store",
            )
        return True

    def _pragma(self, name: str) -> int:
        return int(self.connection.execute(f"PRAGMA {name}").fetchone()[0])

    @property
    def version(self) -> int:
        """Version of the layout of the file; another process may raise it."""
        with self.explained():
            return self._pragma("user_version")

    def check(self) -> None:
        """Refuse a file in which SQLite finds damage, or whose tables are not those of its version."""
        with self.explained():
            said = str(self.connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
            tables = dict(self.connection.execute("SELECT name, sql FROM sqlite_master").fetchall())
            columns = len(self.connection.execute("PRAGMA table_info(results)").fetchall())
        if said == "ok":
            if self.version == SCHEMA_VERSION and tables == TABLES:
                return
            if self.version == SCHEMA_BEFORE and set(tables) <= set(TABLES) and columns == SEALED["results"]:
                return
            said = "its tables are not those of a store"
        raise StoreError(
            f"Store {self.path}: the file is damaged ({printable(' '.join(said.split()))}); restore a copy, or keep "
            "what can be read of it.",
            key="repair",
            path=self.path,
        )

    def close(self) -> None:
        """Close the file."""
        self.connection.close()
        if self._copy is not None:
            self._copy.cleanup()

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Keep other threads out, and say in words what SQLite complains about."""
        try:
            with self._lock:
                yield
        except sqlite3.Error as error:
            raise self._complaint(_code_of(error), str(error)) from error
        except UnicodeDecodeError as error:  # SQLite's own words quote a name that is damaged
            raise self._complaint(sqlite3.SQLITE_CORRUPT, "") from error

    def _complaint(self, code: int, said: str) -> StoreError:
        reason, key = _REASONS.get(code, (printable(said), None))
        return StoreError(f"Store {self.path}: {reason}.", key=key, path=self.path)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Do everything inside or nothing of it."""
        with self._begun("IMMEDIATE"):
            yield

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read everything inside as it was at one moment, whatever others write."""
        with self._begun("DEFERRED"):
            yield

    @contextmanager
    def _begun(self, how: str) -> Iterator[None]:
        with self.explained():
            self.connection.execute(f"BEGIN {how}")
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


def _file_of(path: str | Path) -> Path:
    """The file that a name names; SQLite would take some names for something that nobody keeps."""
    name = os.fspath(path)
    if not name.strip() or name == ":memory:" or name.startswith("file:"):
        raise StoreError(f"{name!r} is no name of a file, and results are kept in one; name a file.", key="store")
    file = Path(path)
    if file.exists() and not file.is_file():
        raise StoreError(f"{printable(name)} is no regular file, and results are kept in one.", key="store")
    return file


def _code_of(error: sqlite3.Error) -> int:
    return (getattr(error, "sqlite_errorcode", None) or 0) & _PRIMARY_CODE


def _mark(path: Path) -> tuple[int, int] | None:
    """What changes when a file does; None if there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_size, found.st_mtime_ns
