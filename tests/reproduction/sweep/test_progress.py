"""How far a sweep has come."""

from dataclasses import replace

import pytest

from invented import invented
from selfselect._errors import InputError
from selfselect.reproduction import Cell, InProcess, Store, estimate, progress, run_sweep


def test_an_estimate_uses_measured_times_where_there_are_any(small_plan, tmp_path):
    rough = estimate(small_plan, None, workers=1)
    assert (rough.fits, rough.measured) == (24, False)
    with Store(tmp_path / "results.sqlite") as store:
        run_sweep(replace(small_plan, splits=1), store, InProcess())
        better = estimate(small_plan, store, workers=2)
    assert (better.fits, better.measured) == (12, True)
    assert 0 < better.seconds < 60


def test_what_is_missing_is_what_is_expected_and_neither_done_nor_under_way(small_results, tmp_path):
    paper = [Cell("adult", "naive", cost, 0) for cost in (0.65, 0.7)]
    beside = Cell("adult", "naive", 0.5, 0)  # no cost of the paper
    with Store(tmp_path / "a.sqlite") as store, Store(tmp_path / "a.sqlite") as other:
        assert {row.missing for row in progress(store)} == {90}
        assert len(progress(store)) == 3 * 6
        store.write(invented(small_results[0], cell, [40, 40], [30, 10]) for cell in (paper[0], beside))
        other.leases.take([paper[1]])
        first, *others = progress(store)
    assert (first.done, first.under_way, first.missing) == (2, 1, 88)
    assert [(row.done, row.under_way, row.missing, row.seconds) for row in others] == [(0, 0, 90, None)] * 5


def test_more_splits_than_anybody_means_are_not_expected(tmp_path):
    with Store(tmp_path / "a.sqlite") as store, pytest.raises(InputError, match="splits must be from 1 to 1,000"):
        progress(store, splits=99_999_999_999)


def test_honest_methods_are_expected_where_there_is_one_on_the_splits_of_promises(small_results, tmp_path):
    cells = [Cell("adult", "strat_x", 0.7, 10), Cell("adult", "thresholds_lr", 0.7, 10)]
    with Store(tmp_path / "a.sqlite") as store:
        store.write(invented(small_results[0], cell, [40, 40], [30, 10]) for cell in cells)
        rows = {row.method: row for row in progress(store)}
    assert len(rows) == 6 + 7
    assert (rows["thresholds_lr"].done, rows["thresholds_lr"].missing) == (1, 179)
    assert (rows["strat_x"].done, rows["strat_x"].missing) == (1, 90 + 179)
    assert rows["strat_parity"].missing == 90


def test_of_a_data_set_of_ones_own_what_is_expected_is_known_by_what_is_there(small_results, tmp_path):
    there = [Cell("mine", "naive", 0.3, 1), Cell("mine", "semi", 0.4, 0)]
    with Store(tmp_path / "a.sqlite") as store:
        store.leases.take(there[:1])
        assert [row.missing for row in progress(store)] == [1, 2, 2, 2, 2, 2]  # one cost, two splits
        store.write([invented(small_results[0], there[1], [40, 40], [30, 10])])
        assert [row.missing for row in progress(store)] == [3, 3, 4, 4, 4, 4]


def test_methods_that_are_run_by_name_only_are_listed_once_they_are_begun(small_results, tmp_path):
    begun = [Cell("adult", "strat_x_descent", 0.7, 0), Cell("adult", "strat_x_descent", 0.8, 1)]
    with Store(tmp_path / "a.sqlite") as store:
        store.write([invented(small_results[0], cell, [40, 40], [30, 10]) for cell in begun])
        *_, last = progress(store)
        assert len(progress(store)) == 7
    assert (last.method, last.done, last.missing) == ("strat_x_descent", 2, 2)  # two costs, two splits
