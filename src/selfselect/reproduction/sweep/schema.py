"""The tables of a store, and which files are stores."""

from __future__ import annotations

#: Version of the layout of the file. Stores of the one before are read as they are, and raised when they are written
#: to; any other is refused by name.
SCHEMA_VERSION, SCHEMA_BEFORE = 3, 2
#: Marks the file as ours ("SSel" in ASCII), so that other SQLite files are left alone.
APPLICATION_ID = 0x5353656C

_CELL = """
    dataset TEXT NOT NULL,
    method TEXT NOT NULL,
    cost REAL NOT NULL,
    split INTEGER NOT NULL,"""
_ONE_PER_CELL = """
    PRIMARY KEY (dataset, method, cost, split)
) WITHOUT ROWID"""

#: What makes each table. SQLite keeps these words as they are, so that a file can be compared with them. The last
#: column of what is kept for good is a checksum of the others.
TABLES = {
    "results": f"""CREATE TABLE results ({_CELL}
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
    checksum TEXT NOT NULL,{_ONE_PER_CELL}""",
    # what was published, who applied because of it, and to whom the promise was broken: beside each result
    "promises": f"""CREATE TABLE promises ({_CELL}
    published_counts TEXT NOT NULL,
    applies TEXT NOT NULL,
    broken TEXT NOT NULL,
    checksum TEXT NOT NULL,{_ONE_PER_CELL}""",
    "sweeps": """CREATE TABLE sweeps (
    started_at TEXT NOT NULL,
    seconds REAL NOT NULL,
    fits INTEGER NOT NULL,
    engine TEXT NOT NULL,
    machine TEXT NOT NULL,
    checksum TEXT NOT NULL
)""",
    "owners": """CREATE TABLE owners (
    owner TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    process TEXT NOT NULL,
    heard REAL NOT NULL
) WITHOUT ROWID""",
    "leases": f"""CREATE TABLE leases ({_CELL}
    owner TEXT NOT NULL,{_ONE_PER_CELL}""",
}
#: The tables with checksums, and how many columns each has before them.
SEALED = {"results": 15, "promises": 7, "sweeps": 5}
