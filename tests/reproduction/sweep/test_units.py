from dataclasses import replace

import pytest

from invented import SMALL_COSTS
from selfselect.reproduction import ALL_METHODS, METHODS
from selfselect.reproduction.sweep.units import Unit, UnitError, run_unit


def test_a_cost_gives_the_same_result_alone_and_among_others(small_plan):
    dataset = small_plan.datasets[0]
    for method in ALL_METHODS:
        together = run_unit(Unit(dataset, method, 1, SMALL_COSTS))
        apart = [run_unit(Unit(dataset, method, 1, (cost,)))[0] for cost in reversed(SMALL_COSTS)]
        assert together == apart[::-1]


def test_a_failing_fit_is_named(monkeypatch, small_plan):
    def fail(*args):
        raise RuntimeError("no luck")

    monkeypatch.setitem(METHODS, "naive", replace(METHODS["naive"], fit=fail))
    with pytest.raises(UnitError, match=r"people, naive, split 1, cost 0.7: RuntimeError: no luck"):
        run_unit(Unit(small_plan.datasets[0], "naive", 1, (0.7,)))
