"""Leases: which fits are under way, so that two sweeps on one file share the work.

A lease dies with its owner: a killed sweep leaves nothing behind that keeps the next from going on.
"""

from __future__ import annotations

import os
import socket
import time
import uuid
from collections.abc import Sequence
from typing import Any

from .database import Database
from .results import Cell
from .rows import cell_of

#: An owner that has not been heard of for so many seconds loses its leases; one that is known to be dead, at once.
LEASE_SECONDS = 60.0

#: Finds a cell in any table that has its four columns.
AT_CELL = "WHERE dataset = ? AND method = ? AND cost = ? AND split = ?"


class Leases:
    """Fits that are under way, by sweeps on one file; those of one owner can be taken, renewed and given back.

    Parameters
    ----------
    database : Database
        The file.
    """

    def __init__(self, database: Database) -> None:
        self.owner = uuid.uuid4().hex
        self._database = database
        self._db = database.connection

    def take(self, cells: Sequence[Cell]) -> list[Cell]:
        """Take those of some fits that are neither done nor under way elsewhere; they are ours until released."""
        if not cells:
            return []
        with self._database.transaction():
            self._note_alive()
            self._bury_dead_owners()
            taken = []
            for cell in cells:
                if self._db.execute(f"SELECT 1 FROM results {AT_CELL}", cell.key).fetchone():
                    continue
                added = self._db.execute("INSERT OR IGNORE INTO leases VALUES (?, ?, ?, ?, ?)", (*cell.key, self.owner))
                if added.rowcount == 1:
                    taken.append(cell)
            return taken

    def renew(self) -> None:
        """Tell other sweeps that this one still lives; at least once per :data:`LEASE_SECONDS`."""
        with self._database.transaction():
            self._note_alive()

    def end(self, cell: Cell) -> None:
        """End the lease on a fit that is done, whoever holds it; inside the transaction that stores the result."""
        self._db.execute(f"DELETE FROM leases {AT_CELL}", cell.key)

    def release(self) -> None:
        """Give back all that we hold."""
        with self._database.transaction():
            self._forget(self.owner)

    def under_way(self) -> set[Cell]:
        """Fits that a living sweep works on; nothing is written to find out."""
        with self._database.snapshot():
            living = {owner for owner, *about in self._owners() if owner == self.owner or not _is_gone(*about)}
            leases = self._db.execute("SELECT dataset, method, cost, split, owner FROM leases").fetchall()
        cells = (cell_of(row) for row in leases if row[4] in living)
        return {cell for cell in cells if cell is not None}

    def others_live(self) -> bool:
        """Whether another sweep is at work on the file."""
        with self._database.explained():
            return any(owner != self.owner and not _is_gone(*about) for owner, *about in self._owners())

    def _note_alive(self) -> None:
        pid = os.getpid()
        self._db.execute(
            "INSERT INTO owners VALUES (?, ?, ?, ?, ?) ON CONFLICT (owner) DO UPDATE SET heard = excluded.heard",
            (self.owner, socket.gethostname(), pid, process_mark(pid) or "?", time.time()),
        )

    def _bury_dead_owners(self) -> None:
        for owner, *about in self._owners():
            if owner != self.owner and _is_gone(*about):
                self._forget(owner)
        self._db.execute("DELETE FROM leases WHERE owner NOT IN (SELECT owner FROM owners)")  # nobody could end these

    def _owners(self) -> list[tuple[Any, ...]]:
        return self._db.execute("SELECT owner, host, pid, process, heard FROM owners").fetchall()

    def _forget(self, owner: str) -> None:
        self._db.execute("DELETE FROM leases WHERE owner = ?", (owner,))
        self._db.execute("DELETE FROM owners WHERE owner = ?", (owner,))


def _is_gone(host: Any, pid: Any, mark: Any, heard: Any) -> bool:
    """Whether an owner is dead, or has been silent for too long; one that nobody can make out is."""
    if not isinstance(pid, int) or not isinstance(heard, float):
        return True
    if host == socket.gethostname() and process_mark(pid) != mark:
        return True
    return not abs(time.time() - heard) <= LEASE_SECONDS


def process_mark(pid: int) -> str | None:
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
