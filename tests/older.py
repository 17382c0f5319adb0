"""Stores as they were before rows had checksums."""

import sqlite3
from contextlib import closing

CELL = "dataset TEXT NOT NULL, method TEXT NOT NULL, cost REAL NOT NULL, split INTEGER NOT NULL"
KEY = "PRIMARY KEY (dataset, method, cost, split)"
RESULTS = f"""CREATE TABLE results ({CELL}, seed INTEGER NOT NULL, configuration TEXT NOT NULL,
    package_version TEXT NOT NULL, data_hash TEXT NOT NULL, groups TEXT NOT NULL, train_counts TEXT NOT NULL,
    test_counts TEXT NOT NULL, train_metrics TEXT NOT NULL, test_metrics TEXT NOT NULL, seconds REAL NOT NULL,
    finished_at TEXT NOT NULL, {KEY}) WITHOUT ROWID"""
PROMISES = f"""CREATE TABLE promises ({CELL}, published_counts TEXT NOT NULL, applies TEXT NOT NULL,
    broken TEXT NOT NULL, {KEY}) WITHOUT ROWID"""
SWEEPS = """CREATE TABLE sweeps (started_at TEXT NOT NULL, seconds REAL NOT NULL, fits INTEGER NOT NULL,
    engine TEXT NOT NULL, machine TEXT NOT NULL)"""


def make_older(path, *, promises=True):
    """Turn a store into one of schema version 2; without promises, into one of the first of that version."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for table, made_by in {"results": RESULTS, "promises": PROMISES, "sweeps": SWEEPS}.items():
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")][:-1]
            rows = db.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()
            db.execute(f"DROP TABLE {table}")
            if table != "promises" or promises:
                db.execute(made_by)
                db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", rows)
        db.execute("PRAGMA user_version = 2")
