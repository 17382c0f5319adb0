import pytest

from selfselect.reproduction import METHODS, PROMISING, BundledDataset, Plan


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
