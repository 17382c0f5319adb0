"""Damaged rows are dropped and made again."""

import os
import random
import sqlite3
import time
from contextlib import closing, suppress
from dataclasses import replace

import pytest
from click.testing import CliRunner

from invented import invented
from selfselect.cli import main
from selfselect.reproduction import Cell, InProcess, Plan, Store, StoreError, repair, run_sweep
from selfselect.reproduction.sweep import repairing

DAMAGE = {
    "a count": "UPDATE results SET test_counts = replace(test_counts, '1', '2') WHERE split = 0 AND cost = 0.7",
    "a name": "UPDATE results SET method = method || 'x' WHERE split = 0 AND cost = 0.7",
    "a promise": "UPDATE promises SET applies = replace(applies, 'e', 'f') WHERE split = 0 AND cost = 0.7",
    "the cost of a promise": "UPDATE promises SET cost = 0.71 WHERE split = 0 AND cost = 0.7",
    "half of it": "DELETE FROM promises WHERE split = 0 AND cost = 0.7",
    "the other half": "DELETE FROM results WHERE split = 0 AND cost = 0.7",
}


def change(path, statement):
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(statement)


@pytest.mark.parametrize("damage", DAMAGE)
def test_what_was_damaged_is_dropped_and_made_again_and_nothing_else(small_plan, reference, tmp_path, damage):
    path, plan = tmp_path / "a.sqlite", replace(small_plan, methods=("naive", "semi"))
    with Store(path) as store:
        run_sweep(plan, store, InProcess())
        before = store.contents()
    change(path, DAMAGE[damage])
    lost = tuple(Cell("people", method, 0.7, 0) for method in ("naive", "semi"))
    done = repair(path)
    assert (done.lost, done.kept, done.damaged) == (lost, 6, None)
    assert done.dropped >= 2
    with Store(path) as store:
        assert store.done() == set(plan.cells()) - set(lost)
        again = Plan.of_cells(done.lost, plan.datasets)
        assert run_sweep(again, store, InProcess()) == 2
        assert store.contents() == before
        assert len(store.sweeps()) == 2
    assert set(before) <= set(reference)


def test_a_store_that_is_whole_is_left_alone(small_store, small_results):
    before = small_store.read_bytes()
    done = repair(small_store)
    assert (done.kept, done.lost, done.dropped, done.damaged) == (len(small_results), (), 0, None)
    assert small_store.read_bytes() == before


@pytest.fixture
def large(small_results, tmp_path):
    """A store of several pages."""
    path = tmp_path / "a.sqlite"
    cells = Plan(costs=(0.7, 0.8), splits=4).cells()
    with Store(path) as store:
        store.write(invented(small_results[0], cell, [40, 40], [34, 20]) for cell in cells)
        return path, store.results()


def test_what_can_be_read_of_a_damaged_file_goes_to_a_new_one(large):
    path, made = large
    content = path.read_bytes()
    rebuilt = 0
    for page in random.Random(0).sample(range(1, len(content) // 4096), 12):
        for old in path.parent.iterdir():
            old.unlink()
        damaged = bytearray(content)
        damaged[4096 * page : 4096 * page + 8] = bytes(8)  # the page's own head
        path.write_bytes(damaged)
        try:
            done = repair(path)
        except StoreError:  # too much of it is gone
            assert path.read_bytes() == damaged
            continue
        with Store(path) as store:
            kept = store.results()
        assert len(kept) == done.kept
        assert kept == [result for result in made if result in kept]  # none is another
        if done.damaged is not None:
            rebuilt += 1
            assert done.damaged.read_bytes() == damaged
            assert {each.name for each in path.parent.iterdir()} == {path.name, done.damaged.name}
    assert rebuilt > 3


def test_a_damaged_store_is_not_rewritten_while_a_sweep_works_on_it(large):
    path, _ = large
    change(path, "UPDATE results SET seed = 1 WHERE split = 0")
    row = f"('theirs', 'another-host', 1, '1', {time.time()})"
    change(path, f"INSERT INTO owners VALUES {row}")
    with pytest.raises(StoreError, match=r"a\.sqlite is damaged, and a sweep is at work on it"):
        repair(path)


def test_a_sweep_does_not_go_on_in_a_damaged_store(small_plan, tmp_path):
    plan = replace(small_plan, methods=("naive",))
    with Store(tmp_path / "a.sqlite") as store:
        run_sweep(plan, store, InProcess())
        change(store.path, "UPDATE results SET seed = 1 WHERE split = 0")
        with pytest.raises(StoreError, match=r"Row 1 of .*a\.sqlite is damaged") as caught:
            run_sweep(replace(plan, splits=3), store, InProcess())
    assert caught.value.key == "repair"


def test_the_command_repairs_and_makes_again_what_was_damaged(tmp_path):
    path = str(tmp_path / "a.sqlite")

    def run(*words):
        return CliRunner().invoke(main, [*words, "--store", path])

    few = ("--dataset", "adult", "--method", "naive", "--cost", "0.7", "--cost", "0.8", "--splits", "2")
    assert run("reproduce", *few).exit_code == 0
    whole = run("export", "--out", str(tmp_path / "whole.csv")).output
    assert "Wrote 4 results" in whole
    change(path, "UPDATE results SET train_counts = replace(train_counts, '1', '') WHERE split = 1 AND cost = 0.8")
    told = run("tables")
    assert told.exit_code == 2
    assert f"Row 4 of {path} is damaged" in told.output
    assert f"selfselect reproduce --repair --store {path}" in told.output
    assert run("reproduce", *few).exit_code == 2
    mended = run("reproduce", "--repair")
    assert mended.exit_code == 0, mended.output
    assert f"1 damaged rows of {path} were dropped; 3 results are whole." in mended.output
    assert f"1 fits done; all 1 asked for are in {path}." in mended.output
    assert "Nothing in" in run("reproduce", "--repair").output
    run("export", "--out", str(tmp_path / "again.csv"))
    first, again = ((tmp_path / name).read_text().splitlines() for name in ("whole.csv", "again.csv"))
    assert [line.rpartition(",")[0] for line in first] == [line.rpartition(",")[0] for line in again]  # not seconds


def test_the_command_says_what_it_cannot_make_again(small_csv, tmp_path):
    path = str(tmp_path / "a.sqlite")
    own = ["--data", str(small_csv), "--label", "qualified", "--group", "group"]
    few = ["--method", "naive", "--cost", "0.7", "--splits", "1"]
    assert CliRunner().invoke(main, ["reproduce", "--store", path, *own, *few]).exit_code == 0
    damage = "UPDATE promises SET broken = '[]'"
    change(path, damage)
    told = CliRunner().invoke(main, ["reproduce", "--store", path, "--repair"])
    assert told.exit_code == 0
    assert "Not made again: people, naive, cost 0.7, split 0." in told.output
    assert CliRunner().invoke(main, ["reproduce", "--store", path, *own, *few]).exit_code == 0
    change(path, damage)
    made = CliRunner().invoke(main, ["reproduce", "--store", path, "--repair", *own])
    assert "1 fits done" in made.output, made.output


def test_a_repair_is_not_asked_for_with_other_work(tmp_path):
    for words in (["--method", "naive"], ["--splits", "1"], ["--promises"], ["--dry-run"]):
        told = CliRunner().invoke(main, ["reproduce", "--repair", "--store", str(tmp_path / "a.sqlite"), *words])
        assert told.exit_code == 2
        assert words[0] in told.output
    assert CliRunner().invoke(main, ["reproduce", "--repair"]).exit_code == 2


def damaged_files(path):
    """A store with one page after another damaged."""
    content = path.read_bytes()
    for page in range(1, len(content) // 4096):
        damaged = bytearray(content)
        damaged[4096 * page : 4096 * page + 8] = bytes(8)
        path.write_bytes(damaged)
        yield bytes(damaged)


def rebuilt(path):
    """A store that is damaged beyond rows, and its repair."""
    for before in damaged_files(path):
        with suppress(StoreError):  # too much of it is gone
            done = repair(path)
            if done.damaged is not None:
                return before, done
    raise AssertionError("no page is bad enough")


def test_a_repair_writes_through_no_link_that_was_planted_beside(large):
    path, _ = large
    victim = path.with_name("victim")
    planted = [path.with_name(f"{path.name}.{word}") for word in ("repaired", "damaged")]
    for link in planted:
        link.symlink_to(victim)
    before, done = rebuilt(path)
    assert done.damaged == path.with_name(f"{path.name}.damaged1")
    assert done.damaged.read_bytes() == before
    assert not victim.exists()
    assert all(link.is_symlink() for link in planted)
    assert {each.name for each in path.parent.iterdir()} == {path.name, *(p.name for p in planted), done.damaged.name}


def test_a_repair_that_fails_leaves_the_damaged_file_and_no_other(large, monkeypatch):
    path, _ = large

    def fail(*parts):
        raise StoreError("full")

    monkeypatch.setattr(repairing, "rewrite", fail)
    for damaged in damaged_files(path):
        with pytest.raises(StoreError) as told:
            repair(path)
        assert path.read_bytes() == damaged
        assert os.listdir(path.parent) == [path.name]
        if str(told.value) == "full":
            break
    assert str(told.value) == "full"
