"""Stores of the version before."""

import shutil
import socket
import sqlite3
import time
from contextlib import closing
from dataclasses import replace

import pytest

from invented import invented
from older import make_older
from selfselect.reproduction import Cell, InProcess, Store, StoreError, repair, run_sweep

CELL = Cell("adult", "strat_x", 0.7, 5)


@pytest.fixture(params=[True, False], ids=["with promises", "without"])
def older(request, small_store, tmp_path):
    """A store of schema version 2, also from before it held promises."""
    path = tmp_path / "old.sqlite"
    shutil.copyfile(small_store, path)
    make_older(path, promises=request.param)
    return path


def schema_version(path):
    with closing(sqlite3.connect(path)) as db:
        return db.execute("PRAGMA user_version").fetchone()[0]


def test_an_older_store_is_read_as_it_is(older, small_results):
    with Store(older, read_only=True) as store:
        assert store.results() == small_results
        assert [note["fits"] for note in store.sweeps()] == [len(small_results)]
        assert store.leases.under_way() == set()
    assert schema_version(older) == 2


def test_an_older_store_that_is_written_to_gets_checksums_and_keeps_all_it_holds(older, small_store, small_results):
    with Store(older) as store, Store(small_store, read_only=True) as made:
        assert store.results() == small_results
        assert [result.seconds for result in store.results()] == [result.seconds for result in small_results]
        assert store.sweeps() == made.sweeps()
        for table in ("results", "promises", "sweeps"):
            assert store.database.rows(f"SELECT * FROM {table}") == made.database.rows(f"SELECT * FROM {table}")
        store.write([invented(small_results[0], CELL, [40, 40], [30, 10])])
        assert len(store.results()) == len(small_results) + 1
    assert schema_version(older) == 3


def test_a_sweep_goes_on_in_an_older_store(small_plan, reference, tmp_path):
    path = tmp_path / "old.sqlite"
    with Store(path) as store:
        run_sweep(replace(small_plan, splits=1), store, InProcess())
    make_older(path, promises=False)
    with Store(path, create=False) as store:
        run_sweep(small_plan, store, InProcess())
        assert store.contents() == reference


def test_an_older_store_is_left_alone_while_a_sweep_of_an_older_version_works_on_it(older, small_results):
    with closing(sqlite3.connect(older, isolation_level=None)) as db:
        row = ("theirs", "another-host", 1, "1", time.time())
        db.execute("INSERT INTO owners VALUES (?, ?, ?, ?, ?)", row)
    with pytest.raises(StoreError, match=r"old\.sqlite is made by an older selfselect, and a sweep is at work on it"):
        Store(older)
    assert schema_version(older) == 2
    with Store(older, read_only=True) as store:
        assert store.results() == small_results
    with closing(sqlite3.connect(older, isolation_level=None)) as db:
        db.execute("UPDATE owners SET host = ?", (socket.gethostname(),))  # no such process here: it is dead
    Store(older).close()
    assert schema_version(older) == 3


def test_what_cannot_be_is_never_given_a_checksum(older, small_results):
    with closing(sqlite3.connect(older, isolation_level=None)) as db:
        damaged = "UPDATE results SET test_counts = replace(test_counts, '[', '[-') WHERE method = 'semi' AND split = 1"
        db.execute(f"{damaged} AND dataset = 'adult' AND cost = 0.7")
    for read_only in (True, False):
        with (
            pytest.raises(StoreError, match=r"Row 6 of .*old\.sqlite is damaged: test counts: -\d+ is no"),
            Store(older, read_only=read_only) as store,
        ):
            store.results()
    assert schema_version(older) == 2
    lost = Cell("adult", "semi", 0.7, 1)
    assert repair(older).lost == (lost,)
    with Store(older) as store:
        assert store.results() == [result for result in small_results if result.cell != lost]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("replace(test_counts, '\"n\"', '\"m\"')", "it lacks 'n'"),
        ("replace(test_counts, ',', ';')", "a part of it is not JSON"),
        ("'7'", "a part of it is of another kind than it should be"),
    ],
)
def test_damage_without_a_checksum_is_told_in_our_words(older, change, said):
    with closing(sqlite3.connect(older, isolation_level=None)) as db:
        db.execute(f"UPDATE results SET test_counts = {change}")
    with Store(older, read_only=True) as store, pytest.raises(StoreError, match=rf"old\.sqlite is damaged: {said}\."):
        store.results()


def test_a_new_store_is_not_taken_for_an_older_one_without_checksums(small_store, tmp_path, small_results):
    path = tmp_path / "a.sqlite"
    shutil.copyfile(small_store, path)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA user_version = 2")
        db.execute("UPDATE results SET seed = seed + 1")
    for read_only in (True, False):
        with (
            pytest.raises(StoreError, match=r"a\.sqlite: the file is damaged \(its tables are not those of a store\)"),
            Store(path, read_only=read_only) as store,
        ):
            store.results()
