"""All rows of a store written anew: when its layout is raised, and when damage is left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from ..._text import printable
from .database import Database, StoreError
from .leases import Leases
from .rows import DamagedRowError, Row, promise_before_promises, read_result, sealed
from .schema import SCHEMA_VERSION, TABLES


def rewrite(database: Database, kept: Iterable[tuple[Row, Row]], sweeps: Iterable[Row]) -> None:
    """Replace the tables that are kept for good, inside a transaction; rows come without checksums, and get them.

    Parameters
    ----------
    database : Database
        The file; its layout is that of today afterwards.
    kept : iterable of pairs of rows
        Results, each with what was published.
    sweeps : iterable of rows
        Notes about sweeps.
    """
    execute = database.connection.execute
    for table in ("results", "promises", "sweeps"):
        execute(f"DROP TABLE IF EXISTS {table}")
        execute(TABLES[table])
    for row, promise in kept:
        insert(database, "results", row)
        insert(database, "promises", promise)
    for row in sweeps:
        insert(database, "sweeps", row)
    execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def insert(database: Database, table: str, values: Row) -> None:
    """Add a row, with its checksum."""
    row = sealed(table, values)
    database.connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)


def raise_layout(database: Database) -> None:
    """Bring a store of the version before up to date, whole or not at all: all its results stay as they are.

    Raises
    ------
    StoreError
        If a sweep of an older selfselect is at work on it, or if it is damaged.
    """
    with database.transaction():
        if database.version == SCHEMA_VERSION:
            return  # another sweep was faster
        refuse_others(database, "made by an older selfselect")
        database.check()
        results, promises, sweeps = read_tables(database)
        published = {row[:4]: row for row in promises}
        kept = []
        for number, row in enumerate(results, 1):
            promise = published.get(row[:4])
            with damage_named(database, f"Row {number}"):
                read_result(row, promise)  # what cannot be must not be sealed
                kept.append((row, promise_before_promises(row) if promise is None else promise))
        rewrite(database, kept, sweeps)


@contextmanager
def damage_named(database: Database, which: str) -> Iterator[None]:
    """Say which row of which file is damaged."""
    try:
        yield
    except DamagedRowError as error:
        said = f"{which} of {database.path} is damaged: {printable(str(error))}."
        raise StoreError(said, key="repair", path=database.path) from error


def refuse_others(database: Database, why: str) -> None:
    """Refuse to write everything anew while another sweep is at work."""
    if Leases(database).others_live():
        raise StoreError(
            f"{database.path} is {why}, and a sweep is at work on it; wait until that ends, or choose another file.",
            key="store",
        )


def read_tables(database: Database) -> tuple[list[Row], list[Row], list[Row]]:
    """Rows of results and of what was published, in order, and notes about sweeps."""
    by_cell = "ORDER BY dataset, method, cost, split"
    results = database.rows(f"SELECT * FROM results {by_cell}")
    promises = database.rows(f"SELECT * FROM promises {by_cell}") if database.has_table("promises") else []
    return results, promises, database.rows("SELECT * FROM sweeps ORDER BY rowid")
