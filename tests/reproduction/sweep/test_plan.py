import os

import pytest
from click.testing import CliRunner

from selfselect._errors import InputError
from selfselect.cli import main
from selfselect.reproduction import METHODS, PROMISING, BundledDataset, Cell, Plan
from selfselect.reproduction.methods import DESCENT_METHODS


def test_a_plan_counts_costs_once_and_refuses_nonsense_by_name():
    assert len(Plan().cells()) == 3 * 6 * 9 * 10
    assert Plan(costs=(0.7, 0.70000000001)).costs == (0.7,)
    with pytest.raises(ValueError, match="No method 'magic'; there are naive, semi"):
        Plan(methods=("magic",))
    with pytest.raises(ValueError, match="cost must lie in"):
        Plan(costs=(1.5,))


def test_promises_are_compared_on_splits_and_methods_of_their_own():
    plan = Plan.promises()
    assert {cell.split for cell in plan.cells()} == set(range(10, 30))
    assert {cell.method for cell in plan.cells()} == set(PROMISING)
    assert len(plan.cells()) == 3 * 11 * 9 * 20
    assert {cell.method for cell in Plan().cells()} == set(METHODS)
    assert {cell.split for cell in Plan(splits=2, first_split=3).cells()} == {3, 4}
    with pytest.raises(ValueError, match="first_split must be at least 0"):
        Plan(first_split=-1)


def test_methods_that_share_work_get_all_costs_in_one_unit():
    units = Plan(methods=("semi", "strat_x"), splits=1, datasets=(BundledDataset("adult"),)).units(set())
    assert [len(unit.costs) for unit in units] == [9] + [1] * 9


def test_the_papers_descent_is_run_only_where_it_is_asked_for_by_name():
    assert not set(DESCENT_METHODS) & set(Plan().methods)
    plan = Plan(methods=tuple(DESCENT_METHODS), datasets=(BundledDataset("adult"),), costs=(0.7, 0.8), splits=1)
    assert [len(unit.costs) for unit in plan.units(set())] == [2, 2, 1, 1, 1, 1, 1, 1]


def test_settings_of_the_descent_are_those_of_the_paper():
    def of(method, dataset, cost):
        return DESCENT_METHODS[method].settings(dataset, cost)

    parity = "strat_parity_descent"
    assert [of(parity, "adult", cost)["parity"] for cost in (0.65, 0.75, 0.85)] == [8.0, 12.0, 16.0]
    assert of(parity, "bank_30", 0.75)["parity"] == 10.0
    assert [of(method, "bank_30", 0.7)["application"] for method in ("strat_x_descent", parity)] == [1 / 6, 1 / 64]
    assert of(parity, "adult", 0.7)["application"] == 1 / 6
    for dataset, tolerance, starts in (("adult", 0.02, 5), ("bank_30", 0.05, 10), ("bank_original", 0.05, 10)):
        settings = of("strat_no_group_descent", dataset, 0.7)
        assert (settings["tolerance"], settings["n_starts"], settings["preset"]) == (tolerance, starts, "released")
    assert of("strat_x_descent", "adult", 0.7)["group_columns"]
    assert not of(parity, "adult", 0.7)["group_columns"]


def test_a_plan_of_some_fits_is_of_these_and_no_others():
    cells = [Cell("adult", "strat_x", 0.7, 3), Cell("adult", "naive", 0.8, 12), Cell("bank_30", "naive", 0.7, 3)]
    unknown = [Cell("mine", "naive", 0.7, 0), Cell("adult", "magic", 0.7, 0)]
    plan = Plan.of_cells([*cells, *unknown], [BundledDataset(name) for name in ("adult", "bank_30", "bank_original")])
    assert sorted(plan.cells()) == sorted(cells)
    assert [dataset.name for dataset in plan.datasets] == ["adult", "bank_30"]
    assert [unit.cells for unit in plan.units({cells[0], cells[2]})] == [[cells[1]]]
    assert Plan.of_cells(unknown, [BundledDataset("adult")]) is None


def test_more_splits_than_anybody_means_are_refused_instead_of_listed():
    most = Plan((BundledDataset("adult"),), ("naive",), (0.7,), splits=1_000)
    assert len(most.cells()) == 1_000
    for splits in (0, 1_001, 99_999_999_999):
        with pytest.raises(InputError, match=f"splits must be from 1 to 1,000 at a time, got {splits}"):
            Plan(splits=splits)
    assert Plan(splits=1_000, first_split=99_000).first_split == 99_000
    for first in (99_001, 10**30):
        with pytest.raises(InputError, match="the last split at most 99,999"):
            Plan(splits=1_000, first_split=first)


def test_a_plan_of_few_fits_far_apart_lists_these_alone():
    cells = [Cell("adult", "naive", 0.7, 0), Cell("adult", "naive", 0.7, 4_000_000_000)]
    assert Plan.of_cells(cells, [BundledDataset("adult")]).cells() == cells


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--dry-run", "--splits", "99999999999"], "splits must be from 1 to 1,000"),
        (["--store", "new.sqlite", "--splits", "99999999999"], "splits must be from 1 to 1,000"),
        (["--store", "new.sqlite", "--scheduler", "tls://127.0.0.1:1"], "no address of a Dask scheduler"),
    ],
)
def test_the_command_refuses_what_cannot_be_meant_before_it_makes_a_store(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = CliRunner().invoke(main, ["reproduce", *words])
    assert told.exit_code == 2
    assert said in told.output
    assert os.listdir() == []
