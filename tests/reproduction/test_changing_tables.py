"""A table that changes while a sweep reads it."""

import os
import re
import shutil
from dataclasses import replace

import pytest

from selfselect._errors import InputError
from selfselect.reproduction import InProcess, LocalProcesses, Plan, Store, own_dataset, people, run_sweep
from selfselect.reproduction.sweep.units import UnitError


@pytest.fixture
def table(small_csv, tmp_path):
    path = tmp_path / "people.csv"
    shutil.copyfile(small_csv, path)
    return path


@pytest.fixture
def plan(table):
    return Plan((own_dataset(table, "qualified", "group"),), ("naive",), (0.7, 0.8), splits=3)


def shorten(path):
    """The same table without its last person."""
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))


class Meanwhile:
    """Something that happens to the table once the first fits are stored."""

    def __init__(self, path, happens):
        self.path, self.happens, self.left = path, happens, 1

    def __call__(self, fits):
        if fits and self.left:
            self.left -= 1
            self.happens(self.path)


@pytest.mark.parametrize("happens", [shorten, os.unlink])
def test_a_table_that_changes_during_a_sweep_is_named_and_nothing_more_is_stored(plan, table, tmp_path, happens):
    with Store(tmp_path / "a.sqlite") as store:
        with pytest.raises(InputError, match=rf"{re.escape(str(table))} has changed since it was first read"):
            run_sweep(plan, store, InProcess(), Meanwhile(table, happens))
        assert {result.cell.split for result in store.results()} == {0}
        assert len({result.data_hash for result in store.results()}) == 1


def test_workers_that_read_a_table_later_find_it_as_it_was_at_first_or_refuse_it(plan, table, tmp_path):
    class Late(LocalProcesses):
        """Processes that begin to read when the table has changed."""

        def submit(self, unit):
            shorten(table)
            return super().submit(unit)

    with Store(tmp_path / "a.sqlite") as store:
        with pytest.raises((InputError, UnitError), match=rf"{re.escape(str(table))} has changed since it was first"):
            run_sweep(plan, store, Late(2))
        assert store.results() == []


def test_results_of_other_people_are_not_stored_even_if_the_file_looks_the_same(plan, table, tmp_path):
    class Other(InProcess):
        """An engine that found other people behind the same name."""

        def submit(self, unit):
            future = super().submit(unit)
            future._result = [replace(result, data_hash="0" * 64) for result in future.result()]
            return future

    with Store(tmp_path / "a.sqlite") as store:
        with pytest.raises(
            InputError, match=rf"{re.escape(str(table))} has changed since the sweep began: people, naiv"
        ):
            run_sweep(plan, store, Other())
        assert store.results() == []


def test_a_table_that_changes_while_it_is_read_is_refused(table, monkeypatch):
    real = people.read_for_training

    def slow(*arguments, **options):
        read = real(*arguments, **options)
        shorten(table)
        return read

    monkeypatch.setattr(people, "read_for_training", slow)
    with pytest.raises(InputError, match=r"people\.csv has changed since it was first read"):
        own_dataset(table, "qualified", "group")


def test_a_table_that_is_only_touched_or_put_back_is_the_same_table(plan, table, tmp_path):
    def touch(path):
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(content)
        os.utime(path, (1, 1))

    with Store(tmp_path / "a.sqlite") as store:
        assert run_sweep(plan, store, InProcess(), Meanwhile(table, touch)) == 6
        content = table.read_bytes()
        shorten(table)
        with pytest.raises(InputError, match="has changed"):
            run_sweep(replace(plan, splits=4), store, InProcess())
        table.write_bytes(content)
        assert run_sweep(replace(plan, splits=4), store, InProcess()) == 2
