"""Results on disk: a SQLite file with one row per data set, method, cost and split, safe to kill and to share.

A row is written once, whole, when its fit is done. What is under way is noted as a claim that dies with its owner, so
that two sweeps on one file share the work and a killed one leaves nothing behind that keeps the next from going on.
"""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from ...counting import GroupCounts
from ...deciding import PublishedStatistics

#: Version of the layout of the file; another one is refused by name.
SCHEMA_VERSION = 1
#: Marks the file as ours ("SSel" in ASCII), so that other SQLite files are left alone.
APPLICATION_ID = 0x5353656C
#: A claim whose owner has not been heard of for so many seconds is void. An owner that is known to be dead loses its
#: claims at once.
LEASE = 60.0

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
CREATE TABLE claims (
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

#: What makes two results the same result; the rest is when and how fast.
IDENTITY = (
    "dataset method cost split seed configuration package_version data_hash groups train_counts test_counts "
    "train_metrics test_metrics"
).split()


class StoreError(OSError):
    """The store cannot be used or written; the message says why and what to do."""


@dataclass(frozen=True, order=True)
class Cell:
    """One fit.

    Attributes
    ----------
    dataset, method : str
        Names of the data set and the method.
    cost : float
        Cost of applying.
    split : int
        Number of the split.
    """

    dataset: str
    method: str
    cost: float
    split: int

    @property
    def key(self) -> tuple[str, str, float, int]:
        """The four values, in order."""
        return self.dataset, self.method, self.cost, self.split

    def __str__(self) -> str:
        return f"{self.dataset}, {self.method}, cost {self.cost:g}, split {self.split}"


@dataclass(frozen=True)
class Result:
    """What a fit gave, as stored.

    Attributes
    ----------
    cell : Cell
        What was fitted.
    seed : int
        Seed of the method.
    configuration : dict
        Its settings.
    package_version, data_hash : str
        Code and people it was made with.
    groups : tuple of str
        The groups.
    train_counts, test_counts : dict of lists
        n, positives, selected and true_positives of each group.
    train_metrics, test_metrics : dict of numbers
        What follows from the counts at this cost (None: undefined).
    seconds : float
        Time that the fit took.
    """

    cell: Cell
    seed: int
    configuration: dict[str, Any]
    package_version: str
    data_hash: str
    groups: tuple[str, ...]
    train_counts: dict[str, list[int]]
    test_counts: dict[str, list[int]]
    train_metrics: dict[str, float | int | None]
    test_metrics: dict[str, float | int | None]
    seconds: float = field(compare=False)


def statistics_of(groups: Sequence[str], counts: dict[str, list[int]]) -> PublishedStatistics:
    """Table of groups from stored counts.

    Examples
    --------
    >>> counts = {"n": [4], "positives": [2], "selected": [2], "true_positives": [1]}
    >>> float(statistics_of(["A"], counts).precision["A"])
    0.5
    """
    return PublishedStatistics(
        pd.Index(list(groups), name="group"), GroupCounts(**{name: np.asarray(counts[name]) for name in counts})
    )


def _process_mark(pid: int) -> str | None:
    """Tell a process from a later one with the same number; None if there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            after_name = file.read().rpartition(")")[2].split()
        return None if after_name[0] == "Z" else after_name[19]  # when it started; a zombie is dead
    except FileNotFoundError:
        if os.path.isdir("/proc/self"):
            return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except OSError:
        pass
    return "?"


class Store:
    """A file of results.

    Parameters
    ----------
    path : str or Path
        The file; made if it is not there.
    create : bool, default=True
        Whether to make it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Store(f"{folder}/results.sqlite") as store:
    ...     len(store.results())
    0
    """

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self.path = Path(path)
        self.owner = uuid.uuid4().hex
        self._lock = threading.RLock()  # one connection, two threads: a transaction of one must not swallow the other's
        if not create and not (self.path.exists() and self.path.stat().st_size):
            raise StoreError(f"There is no store {self.path}. Make one with: selfselect reproduce --store {self.path}")
        if not self.path.parent.is_dir():
            raise StoreError(f"Cannot make {self.path}: there is no folder {self.path.parent}.")
        with self._explained():
            # every statement is its own transaction unless we begin one
            self._db = sqlite3.connect(self.path, timeout=60.0, isolation_level=None, check_same_thread=False)
            try:
                self._open()
            except BaseException:
                self._db.close()
                raise

    def _open(self) -> None:
        self._db.execute("PRAGMA busy_timeout = 60000")
        if self._is_ours():
            return
        self._db.execute("PRAGMA journal_mode = WAL")
        with self._transaction():
            if self._is_ours():  # another sweep was faster
                return
            for statement in _SCHEMA.split(";")[:-1]:
                self._db.execute(statement)
            self._db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            self._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _is_ours(self) -> bool:
        application = self._db.execute("PRAGMA application_id").fetchone()[0]
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        tables = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if application == 0 and version == 0 and tables == 0:
            return False
        if application != APPLICATION_ID:
            raise StoreError(f"{self.path} is a SQLite file of another program; choose another --store.")
        if version != SCHEMA_VERSION:
            raise StoreError(
                f"{self.path} is a store of schema version {version}; this selfselect reads version {SCHEMA_VERSION}. "
                "Use the selfselect that made it, or another --store."
            )
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back what is still claimed, and close the file."""
        try:
            self.release()
        except StoreError:
            pass  # claims die with their owner anyway
        finally:
            self._db.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            with self._lock:
                yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", None)
            code = None if code is None else code & 0xFF
            reason = {
                sqlite3.SQLITE_FULL: "the disk is full. What was stored before is intact; free some space and run "
                "the same command again to go on",
                sqlite3.SQLITE_NOTADB: "it is not a SQLite file; choose another --store",
                sqlite3.SQLITE_CORRUPT: "the file is damaged; restore a copy or choose another --store",
                sqlite3.SQLITE_READONLY: "it cannot be written; check its permissions and those of its folder",
                sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check its permissions and those of its folder",
                sqlite3.SQLITE_BUSY: "another program has kept it locked for a minute",
            }.get(code or -1, str(error))
            raise StoreError(f"Store {self.path}: {reason}.") from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    # ------------------------------------------------------------------ results

    def write(self, results: Iterable[Result]) -> None:
        """Write results, all or none, and give up the claims on them.

        A result that is there already is an error: nothing is ever overwritten.
        """
        with self._explained(), self._transaction():
            for result in results:
                cell = result.cell
                row = (
                    *cell.key,
                    result.seed,
                    *(
                        _json(value) if not isinstance(value, str) else value
                        for value in (
                            result.configuration,
                            result.package_version,
                            result.data_hash,
                            list(result.groups),
                            result.train_counts,
                            result.test_counts,
                            result.train_metrics,
                            result.test_metrics,
                        )
                    ),
                    result.seconds,
                    time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                )
                self._db.execute(f"INSERT INTO results VALUES ({', '.join('?' * len(row))})", row)
                self._db.execute(
                    "DELETE FROM claims WHERE dataset = ? AND method = ? AND cost = ? AND split = ?", cell.key
                )

    def done(self) -> set[Cell]:
        """Fits whose result is there."""
        with self._explained():
            return {Cell(*row) for row in self._db.execute("SELECT dataset, method, cost, split FROM results")}

    def results(self) -> list[Result]:
        """All results, sorted by data set, method, cost and split."""
        columns = f"{', '.join(IDENTITY)}, seconds"
        with self._explained():
            rows = self._db.execute(f"SELECT {columns} FROM results ORDER BY dataset, method, cost, split").fetchall()
        return [
            Result(
                Cell(*row[:4]),
                seed=row[4],
                configuration=json.loads(row[5]),
                package_version=row[6],
                data_hash=row[7],
                groups=tuple(json.loads(row[8])),
                train_counts=json.loads(row[9]),
                test_counts=json.loads(row[10]),
                train_metrics=json.loads(row[11]),
                test_metrics=json.loads(row[12]),
                seconds=row[13],
            )
            for row in rows
        ]

    def contents(self) -> list[tuple[Any, ...]]:
        """Everything that makes results what they are, in order: equal for equal results, whenever they were made."""
        with self._explained():
            order = "ORDER BY dataset, method, cost, split"
            return self._db.execute(f"SELECT {', '.join(IDENTITY)} FROM results {order}").fetchall()

    def check_same_origin(self, dataset: str, data_hash: str, configurations: dict[Cell, dict[str, Any]]) -> None:
        """Refuse to add to results that were made from other people or with other settings."""
        with self._explained():
            rows = self._db.execute(
                "SELECT method, cost, split, data_hash, configuration FROM results WHERE dataset = ?", (dataset,)
            ).fetchall()
        for method, cost, split, stored_hash, stored in rows:
            cell = Cell(dataset, method, cost, split)
            if stored_hash != data_hash:
                raise StoreError(
                    f"{self.path} holds results of other data under the name {dataset!r}; choose another --store."
                )
            if cell in configurations and json.loads(stored) != json.loads(_json(configurations[cell])):
                raise StoreError(
                    f"{self.path} holds a result of other settings ({cell}): {stored} instead of "
                    f"{_json(configurations[cell])}; choose another --store."
                )

    # ------------------------------------------------------------------ claims

    def claim(self, cells: Sequence[Cell]) -> list[Cell]:
        """Take those of some fits that are neither done nor under way elsewhere; they are ours until released."""
        if not cells:
            return []
        with self._explained(), self._transaction():
            self._heard()
            self._bury_dead_owners()
            taken = []
            for cell in cells:
                where = "WHERE dataset = ? AND method = ? AND cost = ? AND split = ?"
                if self._db.execute(f"SELECT 1 FROM results {where}", cell.key).fetchone():
                    continue
                added = self._db.execute("INSERT OR IGNORE INTO claims VALUES (?, ?, ?, ?, ?)", (*cell.key, self.owner))
                if added.rowcount == 1:
                    taken.append(cell)
            return taken

    def keep_alive(self) -> None:
        """Tell other sweeps that this one still lives; at least once per :data:`LEASE`."""
        with self._explained(), self._transaction():
            self._heard()

    def release(self) -> None:
        """Give back all claims."""
        with self._explained(), self._transaction():
            self._db.execute("DELETE FROM claims WHERE owner = ?", (self.owner,))
            self._db.execute("DELETE FROM owners WHERE owner = ?", (self.owner,))

    def under_way(self) -> set[Cell]:
        """Fits that a living sweep works on."""
        with self._explained(), self._transaction():
            self._bury_dead_owners()
            return {Cell(*row) for row in self._db.execute("SELECT dataset, method, cost, split FROM claims")}

    def _heard(self) -> None:
        pid = os.getpid()
        self._db.execute(
            "INSERT INTO owners VALUES (?, ?, ?, ?, ?) ON CONFLICT (owner) DO UPDATE SET heard = excluded.heard",
            (self.owner, socket.gethostname(), pid, _process_mark(pid) or "?", time.time()),
        )

    def _bury_dead_owners(self) -> None:
        now, here = time.time(), socket.gethostname()
        for owner, host, pid, mark, heard in self._db.execute("SELECT * FROM owners").fetchall():
            if owner == self.owner:
                continue
            gone = host == here and _process_mark(pid) != mark
            if gone or not now - LEASE <= heard <= now + LEASE:
                self._db.execute("DELETE FROM claims WHERE owner = ?", (owner,))
                self._db.execute("DELETE FROM owners WHERE owner = ?", (owner,))

    # ------------------------------------------------------------------ how it was made

    def note_sweep(self, started_at: str, seconds: float, fits: int, engine: str, machine: dict[str, Any]) -> None:
        """Note when, where and how long a sweep ran."""
        with self._explained():
            self._db.execute(
                "INSERT INTO sweeps VALUES (?, ?, ?, ?, ?)", (started_at, seconds, fits, engine, _json(machine))
            )

    def sweeps(self) -> list[dict[str, Any]]:
        """What :meth:`note_sweep` noted, in order."""
        with self._explained():
            rows = self._db.execute("SELECT * FROM sweeps ORDER BY rowid").fetchall()
        names = ("started_at", "seconds", "fits", "engine", "machine")
        return [{**dict(zip(names, row, strict=True)), "machine": json.loads(row[4])} for row in rows]


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False)
