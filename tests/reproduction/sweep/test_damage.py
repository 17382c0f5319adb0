"""Damaged stores: right numbers, or words that name the file; never other numbers, never a traceback."""

import os
import random
import sqlite3
from contextlib import closing

import pytest
from click.testing import CliRunner

from invented import invented
from selfselect.cli import main
from selfselect.reproduction import Plan, Store, StoreError, progress
from selfselect.reproduction.sweep.schema import SEALED, TABLES

#: Bits that are flipped, one at a time; many more by SELFSELECT_FLIPS.
FLIPS = int(os.environ.get("SELFSELECT_FLIPS", "250"))


@pytest.fixture(scope="module")
def whole(small_results, tmp_path_factory):
    """The bytes of a store of some pages, with all that is read from it."""
    path = tmp_path_factory.mktemp("whole") / "a.sqlite"
    with Store(path) as store:
        first = small_results[0]
        store.write(small_results)
        store.write(
            invented(first, cell, [40, 40], [34, 20])
            for cell in Plan(costs=(0.7,), splits=3).cells()
            if cell not in store.done()
        )
        store.note_sweep("2026-01-01T00:00:00Z", 600.0, 50, "2 processes", {"cores": 2})
    return path.read_bytes(), read(path)


def read(path):
    with Store(path, read_only=True) as store:
        return store.results(), store.sweeps(), progress(store)


def complaint(path, right):
    """What is said of a store, by the name of its file; nothing if what is read is right."""
    try:
        assert read(path) == right
    except StoreError as error:
        return str(error).replace(str(path), "STORE")
    return ""


def flipped(content, place):
    damaged = bytearray(content)
    damaged[place // 8] ^= 1 << place % 8
    return bytes(damaged)


def test_a_flipped_bit_changes_no_number_in_silence(whole, tmp_path):
    content, right = whole
    path, said = tmp_path / "a.sqlite", []
    for place in random.Random(0).sample(range(8 * len(content)), FLIPS):
        path.write_bytes(flipped(content, place))
        said.append(complaint(path, right))
    assert all("STORE" in words for words in said if words)
    rows = [words for words in said if words.startswith("Row ")]
    assert FLIPS / 4 < len(rows) < FLIPS  # most of a store is rows


def test_a_flipped_bit_where_sqlite_keeps_its_books_changes_no_number_in_silence(whole, tmp_path):
    content, right = whole
    path, chance = tmp_path / "a.sqlite", random.Random(1)
    pages = range(0, len(content), 4096)
    books = sorted({*range(8 * 100), *(8 * page + bit for page in pages for bit in range(8 * 40))})
    said = []
    for place in chance.sample(books, min(FLIPS, len(books))):  # all of them, where that is fewer
        path.write_bytes(flipped(content, place))
        said.append(complaint(path, right))
    assert all("STORE" in words for words in said if words)
    assert any(said)


def test_a_flipped_bit_in_the_words_that_make_a_table_is_named(whole, tmp_path):
    content, right = whole
    path, said = tmp_path / "a.sqlite", []
    for made_by in TABLES.values():
        start = content.index(made_by.encode())
        for place in range(start, start + 40):
            for bit in (0, 7):  # the last makes it no UTF-8, which SQLite's own complaint quotes
                path.write_bytes(flipped(content, 8 * place + bit))
                said.append(complaint(path, right))
    assert all("STORE" in words and "damaged" in words for words in said)


def test_the_command_names_a_damaged_file_and_how_to_repair_it(whole, tmp_path):
    content, _ = whole
    path, chance = tmp_path / "a.sqlite", random.Random(2)
    path.write_bytes(content)
    right = CliRunner().invoke(main, ["status", "--store", str(path)]).output
    repairs = 0
    for place in chance.sample(range(8 * len(content)), 30):
        path.write_bytes(flipped(content, place))
        result = CliRunner().invoke(main, ["status", "--store", str(path)])
        if result.exit_code == 0:
            assert result.output == right
            continue
        assert result.exit_code == 2
        assert str(path) in result.output
        repairs += f"selfselect reproduce --repair --store {path}" in result.output
    assert repairs > 10


@pytest.mark.parametrize("table", SEALED)
def test_no_value_of_a_row_changes_unnoticed(whole, tmp_path, table):
    content, _ = whole
    path, changed = tmp_path / "a.sqlite", set()
    path.write_bytes(content)
    with closing(sqlite3.connect(path)) as db:
        before = db.execute(f"SELECT * FROM {table}").fetchall()
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    assert len(columns) == SEALED[table] + 1
    for column in columns:
        for change in (f"{column} || '!'", f"{column} + 1", f"CAST({column} AS BLOB)"):
            path.write_bytes(content)
            with closing(sqlite3.connect(path, isolation_level=None)) as db:
                db.execute(f"UPDATE OR IGNORE {table} SET {column} = {change}")
                after = db.execute(f"SELECT * FROM {table}").fetchall()
            if after != before:  # numbers may be numbers again
                changed.add(column)
                with pytest.raises(StoreError, match="is damaged"):
                    read(path)
    assert changed == set(columns)


@pytest.mark.parametrize("table", ["results", "promises"])
def test_half_of_a_result_is_none(whole, tmp_path, table):
    path = tmp_path / "a.sqlite"
    path.write_bytes(whole[0])
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(f"DELETE FROM {table} WHERE dataset = 'adult' AND method = 'naive' AND cost = 0.7 AND split = 0")
    with pytest.raises(StoreError, match=r"damaged.*(what was published is missing|1 results are missing)"):
        read(path)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE more (x)",
        "CREATE VIEW v AS SELECT * FROM results",
        "CREATE TRIGGER t AFTER INSERT ON leases BEGIN DELETE FROM results; END",
        "DROP TABLE promises",
        "ALTER TABLE results RENAME TO other",
    ],
)
def test_a_store_with_other_tables_than_ours_is_not_read(whole, tmp_path, statement):
    path = tmp_path / "a.sqlite"
    path.write_bytes(whole[0])
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(statement)
    with pytest.raises(StoreError, match=r"a\.sqlite: the file is damaged \(its tables are not those of a store\)"):
        read(path)


def test_tables_are_kept_in_the_words_that_make_them(tmp_path):
    with Store(tmp_path / "a.sqlite") as store:
        assert dict(store.database.rows("SELECT name, sql FROM sqlite_master")) == TABLES
