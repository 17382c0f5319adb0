"""Results on disk."""

import json
import os
import shutil
import sqlite3
from dataclasses import replace

import pytest

from selfselect.reproduction import METHODS, BundledDataset, Cell, InProcess, Store, StoreError, own_dataset, run_sweep
from selfselect.reproduction.sweep.units import Unit, run_unit


def test_results_come_back_as_they_went_in(tmp_path):
    (result,) = run_unit(Unit(BundledDataset("adult"), "naive", 0, (0.7,)))
    with Store(tmp_path / "a.sqlite") as store:
        store.write([result])
        assert store.results() == [result]
        assert store.done() == {Cell("adult", "naive", 0.7, 0)}
    with sqlite3.connect(tmp_path / "a.sqlite") as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    db.close()


def test_a_store_that_has_lost_its_log_is_still_one_of_ours(tmp_path):
    (result,) = run_unit(Unit(BundledDataset("adult"), "naive", 0, (0.7,)))
    with Store(tmp_path / "a.sqlite") as store:
        store.write([result])
        shutil.copyfile(tmp_path / "a.sqlite", tmp_path / "b.sqlite")  # without its log, as damage to it would leave it
    with Store(tmp_path / "b.sqlite", read_only=True) as store:
        assert store.results() == []


def test_a_result_is_never_overwritten_and_several_are_written_all_or_none(tmp_path):
    first, second = run_unit(Unit(BundledDataset("adult"), "naive", 0, (0.7, 0.8)))
    other = replace(first, train_metrics={**first.train_metrics, "social_cost": 0.5})
    with Store(tmp_path / "a.sqlite") as store:
        assert store.write([first]) == 1
        with pytest.raises(StoreError, match=r"holds another result of adult, naive, cost 0\.7, split 0, which stays"):
            store.write([second, other])
        assert store.results() == [first]


def test_the_same_result_is_written_once_whoever_comes_second(tmp_path):
    first, second = run_unit(Unit(BundledDataset("adult"), "naive", 0, (0.7, 0.8)))
    with Store(tmp_path / "a.sqlite") as slow, Store(tmp_path / "a.sqlite") as quick:
        assert slow.leases.take([first.cell]) == [first.cell]
        silent = "UPDATE owners SET heard = heard - 61"  # as if its process had been stopped
        slow.database.connection.execute(silent)
        assert quick.leases.take([first.cell]) == [first.cell]
        assert quick.write([first]) == 1
        slow.leases.renew()
        later = replace(first, seconds=first.seconds + 1, package_version="another")
        assert slow.write([later, second]) == 1
        assert slow.results() == quick.results() == [first, second]
        assert slow.database.rows("SELECT count(*) FROM promises") == [(2,)]
        assert slow.leases.under_way() == set()


def test_negative_and_impossible_counts_are_not_stored(small_results, tmp_path):
    good = small_results[0]
    with Store(tmp_path / "a.sqlite") as store:
        for people in ("train_counts", "test_counts", "published_counts"):
            counts = getattr(good, people)
            for name, wrong in (("selected", -1), ("n", 1), ("true_positives", 10**6), ("positives", float("nan"))):
                damaged = {**counts, name: [wrong, *counts[name][1:]]}
                with pytest.raises(StoreError, match=rf"adult, naive, .*this is no result \({people[:-7]} counts: "):
                    store.write([good, replace(good, **{people: damaged})])
        with pytest.raises(StoreError, match="which groups apply"):
            store.write([replace(good, applies=good.applies[1:])])
        assert store.results() == []


@pytest.mark.parametrize("version", [1, 7])
def test_a_store_of_another_schema_version_is_refused_by_name(tmp_path, version):
    path = tmp_path / "old.sqlite"
    Store(path).close()
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA user_version = {version}")
    db.close()
    with pytest.raises(StoreError, match=rf"old\.sqlite is a store of schema version {version}.*versions 2 and 3"):
        Store(path)


def test_what_was_published_is_stored_with_the_result_or_not_at_all(tmp_path, small_plan):
    results = run_unit(Unit(small_plan.datasets[0], "thresholds_gb", 0, (0.7, 0.8)))
    assert any(result.published_counts != result.train_counts for result in results)
    with Store(tmp_path / "a.sqlite") as store:
        store.write(results[:1])
        with pytest.raises(StoreError, match="holds another result"):
            store.write([results[1], replace(results[0], published_counts=results[0].train_counts)])
        assert store.results() == results[:1]
        assert store.database.rows("SELECT count(*) FROM promises") == [(1,)]
        store.write(results[1:])
        assert store.results() == results
        rows = store.database.rows("SELECT cost, applies, broken FROM promises ORDER BY cost")
    for result, (cost, applies, broken) in zip(results, rows, strict=True):
        assert cost == result.cell.cost
        assert json.loads(applies) == list(result.applies)
        assert json.loads(broken) == list(result.broken)


def test_other_files_are_left_alone(tmp_path):
    other = tmp_path / "other.sqlite"
    db = sqlite3.connect(other)
    db.execute("CREATE TABLE mine (x)")
    db.close()
    before = other.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        Store(other)
    assert other.read_bytes() == before
    text = tmp_path / "notes.txt"
    text.write_text("dear diary " * 500)
    with pytest.raises(StoreError, match="not a SQLite file"):
        Store(text)
    with pytest.raises(StoreError, match="no folder"):
        Store(tmp_path / "nowhere" / "a.sqlite")
    with pytest.raises(StoreError, match="There is no store"):
        Store(tmp_path / "nothing.sqlite", create=False)


@pytest.mark.parametrize("name", ["", " ", ":memory:", "file:a.sqlite", "file::memory:?cache=shared"])
def test_names_that_sqlite_takes_for_no_file_are_refused(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for options in ({}, {"create": False}, {"read_only": True}):
        with pytest.raises(StoreError, match="is no name of a file, and results are kept in one"):
            Store(name, **options)
    for place in (tmp_path, os.devnull):
        with pytest.raises(StoreError, match="is no regular file"):
            Store(place)
    assert not list(tmp_path.iterdir())


def test_a_file_may_have_any_other_name(tmp_path):
    for name in ("a b?mode=memory#c%20.sqlite", "ä:memory:"):
        Store(tmp_path / name).close()
        assert (tmp_path / name).stat().st_size > 0


def test_other_data_or_settings_under_the_same_name_are_refused(small_plan, small_csv, tmp_path, monkeypatch):
    plan = replace(small_plan, methods=("naive",), splits=1)
    with Store(tmp_path / "a.sqlite") as store:
        run_sweep(plan, store, InProcess())
        monkeypatch.setitem(METHODS, "naive", replace(METHODS["naive"], settings=lambda dataset, cost: {"new": 1}))
        with pytest.raises(StoreError, match=r"other settings \(people, naive, cost 0\.7, split 0\)"):
            run_sweep(plan, store, InProcess())
        monkeypatch.undo()
        other = tmp_path / "people.csv"
        other.write_text("".join(small_csv.read_text().splitlines(keepends=True)[:-1]))
        with pytest.raises(StoreError, match="other data under the name 'people'"):
            run_sweep(replace(plan, datasets=(own_dataset(other, "qualified", "group"),)), store, InProcess())


def test_a_full_disk_is_a_clear_error_and_what_is_stored_stays(small_plan, reference, tmp_path):
    with Store(tmp_path / "a.sqlite") as store:
        run_sweep(replace(small_plan, splits=1), store, InProcess())
        before = store.contents()
        pages = store.database.connection.execute("PRAGMA page_count").fetchone()[0]
        store.database.connection.execute(f"PRAGMA max_page_count = {pages + 1}")
        with pytest.raises(StoreError, match=r"the disk is full.*intact.*run the same sweep again"):
            run_sweep(replace(small_plan, splits=20, methods=("naive",)), store, InProcess())
        store.database.connection.execute("PRAGMA max_page_count = 1073741823")
        assert store.database.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert set(before) < set(store.contents())
        run_sweep(small_plan, store, InProcess())
        assert set(reference) <= set(store.contents())


def test_stored_json_is_readable_by_others(tmp_path):
    (result,) = run_unit(Unit(BundledDataset("adult"), "strat_x", 0, (0.7,)))
    with Store(tmp_path / "a.sqlite") as store:
        store.write([result])
    db = sqlite3.connect(tmp_path / "a.sqlite")
    configuration, counts = db.execute("SELECT configuration, test_counts FROM results").fetchone()
    db.close()
    assert json.loads(configuration) == {
        "equal_tpr": 0.0,
        "group_columns": True,
        "parity": 0.0,
        "shut_out": "select_all",
        "tolerance": 0.02,
    }
    assert sum(json.loads(counts)["n"]) == 4814


def test_complaints_about_a_store_are_caught_as_errors_of_files_and_of_input(tmp_path):
    with pytest.raises(OSError, match="There is no store") as caught:
        Store(tmp_path / "a.sqlite", create=False)
    assert isinstance(caught.value, ValueError)
    assert caught.value.key == "no_store"
    assert caught.value.details == {"path": tmp_path / "a.sqlite"}
