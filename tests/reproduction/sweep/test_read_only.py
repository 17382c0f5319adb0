"""Stores where nothing can be written: on a read-only mount, or in somebody else's folder."""

import os
import shutil
import sqlite3
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from invented import invented
from selfselect.cli import main
from selfselect.reproduction import Cell, Store, StoreError
from selfselect.reproduction.sweep import database
from selfselect.reproduction.sweep.exchange import read_results

NOBODY = 65534
CELL = Cell("adult", "strat_x", 0.7, 5)


@contextmanager
def as_somebody_else():
    """Without the rights of root, who may write everywhere."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def shut_folder():
    """A folder that is written to now, and cannot be once it is shut."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def shut():
            for path in folder.iterdir():
                path.chmod(0o444)
            folder.chmod(0o555)

        yield folder, shut
        folder.chmod(0o755)


def state(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def outputs(path):
    """What all commands that read a store print about it, without the names of files."""
    said = []
    with tempfile.TemporaryDirectory() as out:
        for words in (
            ["status"],
            ["tables"],
            ["tables", "--beside", str(path)],
            ["figures", "--out", out, "--figure", "5"],
            ["export", "--out", f"{out}/a.csv"],
            ["reproduce", "--dry-run", "--dataset", "adult", "--method", "naive", "--splits", "2"],
            ["page", "--out", f"{out}/page.md"],  # refuses: 1604 of 1620 results are missing
        ):
            result = CliRunner().invoke(main, [words[0], "--store", str(path), *words[1:]])
            said.append((result.exit_code, result.output.replace(str(path), "STORE").replace(out, "OUT")))
    return said


def test_all_commands_read_a_store_in_a_folder_that_cannot_be_written(small_store, shut_folder):
    folder, shut = shut_folder
    path = folder / "a.sqlite"
    shutil.copyfile(small_store, path)
    shut()
    before, expected = state(folder), outputs(small_store)  # also imports what somebody else may not read
    assert [code for code, _ in expected] == [0] * 6 + [2]
    with as_somebody_else():
        with pytest.raises(OSError, match="denied"):
            (folder / "more").touch()
        assert outputs(path) == expected
        wrong = CliRunner().invoke(main, ["reproduce", "--store", str(path), "--dataset", "adult", "--method", "naive"])
    assert wrong.exit_code == 2
    assert "check its permissions and those of its folder" in wrong.output
    assert state(folder) == before


def test_what_a_killed_sweep_had_not_yet_written_back_is_read_too(small_results, shut_folder, tmp_path):
    folder, shut = shut_folder
    path, made = folder / "a.sqlite", invented(small_results[0], CELL, [40, 40], [30, 10])
    with Store(tmp_path / "a.sqlite") as store:
        store.write([made])  # still beside the file, as while a sweep runs or after it is killed
        for part in ("a.sqlite", "a.sqlite-wal"):
            shutil.copyfile(tmp_path / part, folder / part)
    assert (folder / "a.sqlite-wal").stat().st_size > 0
    shut()
    before = state(folder)
    with as_somebody_else():
        assert read_results(path) == [made]
    assert state(folder) == before


def test_a_file_system_without_room_for_sqlite_is_read_by_a_copy(small_store, small_results, monkeypatch):
    real, asked = sqlite3.connect, []

    class Refusing(sqlite3.Connection):
        def execute(self, statement, *values):
            if len(asked) == 1:
                error = sqlite3.OperationalError("disk I/O error")
                error.sqlite_errorcode = sqlite3.SQLITE_IOERR
                raise error
            return super().execute(statement, *values)

    def connect(address, **options):
        asked.append(address)
        return real(address, factory=Refusing, **options)

    monkeypatch.setattr(database.sqlite3, "connect", connect)
    with Store(small_store, read_only=True) as store:
        copy = Path(asked[1].removeprefix("file://").partition("?")[0])
        assert store.results() == small_results
        assert store.path == small_store
        assert copy.exists()
    assert not copy.parent.exists()
    asked.clear()
    with pytest.raises(StoreError, match="disk I/O error"):
        Store(small_store)


def test_a_store_that_is_only_read_is_not_written(small_store, small_results):
    before = small_store.read_bytes()
    with Store(small_store, read_only=True) as store:
        with pytest.raises(StoreError, match="cannot be written"):
            store.write([invented(small_results[0], CELL, [40, 40], [30, 10])])
        assert store.results() == small_results
    assert small_store.read_bytes() == before


def test_a_store_that_may_not_be_read_is_named(small_store, shut_folder):
    folder, _ = shut_folder
    path = folder / "a.sqlite"
    shutil.copyfile(small_store, path)
    path.chmod(0)
    folder.chmod(0o555)
    with as_somebody_else(), pytest.raises(StoreError, match=r"Cannot read .*a\.sqlite: Permission denied"):
        Store(path, read_only=True)
