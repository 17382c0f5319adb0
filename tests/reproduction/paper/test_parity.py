"""Experiments on parity and order, as tables and in words."""

from dataclasses import replace

import numpy as np
import pytest

from invented import invented
from selfselect.reproduction import Cell
from selfselect.reproduction.methods import ALL_METHODS, EXPERIMENTS, ONE_START, UNPUSHED, WEIGHT_METHODS
from selfselect.reproduction.paper.parity import (
    experiment_table,
    is_met,
    parity_and_order,
    told_by_push,
    told_by_rates,
    told_by_starts,
    told_by_weights,
)


def fits(first, method, hits, selected=(40, 40), splits=(0, 1), dataset="adult"):
    made = [invented(first, Cell(dataset, method, 0.7, split), list(selected), list(hits)) for split in splits]
    return [replace(fit, configuration=ALL_METHODS[method].settings(dataset, 0.7)) for fit in made]


def table_of(name, results):
    return experiment_table(results, EXPERIMENTS[name].methods, EXPERIMENTS[name].costs)


def test_what_becomes_of_the_order_is_told_by_numbers_both_ways(small_results):
    first = small_results[0]
    ordered, turned = (36, 30), (20, 30)  # base rates are .5 and .4
    results = fits(first, "strat_parity", turned) + fits(first, UNPUSHED, ordered)
    told = told_by_push(table_of("push", results))
    assert "pushed out, rank r² is 1.000 (Spearman -1.00) at an accuracy of 80.0" in told
    assert "not pushed out, 1.000 (+1.00) at 81.0, with 2.0 groups applying instead of 1.0" in told
    other = told_by_push(table_of("push", fits(first, "strat_parity", ordered) + fits(first, UNPUSHED, turned)))
    assert "pushed out, rank r² is 1.000 (Spearman +1.00) at an accuracy of 81.0" in other
    assert told_by_push(table_of("push", fits(first, UNPUSHED, turned))) == "Only one of the two was run."


def test_methods_are_compared_on_the_splits_that_all_have_and_where_an_experiment_was_run(small_results):
    first = small_results[0]
    results = fits(first, "strat_parity", (36, 30), splits=range(5)) + fits(first, UNPUSHED, (36, 30))
    results += fits(first, "strat_parity", (36, 30), dataset="bank_original")
    table = table_of("push", results)
    assert table["splits"].tolist() == [2, 2]
    assert set(table["dataset"]) == {"adult"}


def test_turned_orders_are_counted_where_somebody_applies(small_results):
    first = small_results[0]
    names = list(WEIGHT_METHODS)
    results = fits(first, names[0], (36, 30)) + fits(first, names[-1], (4, 30))
    told = told_by_weights(table_of("weights", results))
    assert "of 4 fits in which somebody applies it is negative in 2" in told
    assert "+1.00 (r² 1.00), -1.00 (r² 1.00) from the smallest weight" in told


def test_one_start_is_set_against_the_best_of_several(small_results):
    first = small_results[0]
    results = fits(first, "strat_parity_descent", (2, 4), selected=(4, 4)) + fits(first, ONE_START, (26, 20))
    told = told_by_starts(table_of("starts", results))
    assert "from the best of several starts, somebody applies in 2 of 2 fits, 1.00 groups apply, 4.0%" in told
    assert "Spearman's coefficient -1.00; from one start, somebody applies in 0 of 2 fits, 0.00 groups" in told
    assert told.endswith("Printed are 0.60 groups and a rank r² of 0.85.")
    alone = told_by_starts(table_of("starts", fits(first, ONE_START, (26, 20))))
    assert alone.startswith("Adult, on average over costs: from one start,")


@pytest.mark.parametrize(("kind", "met"), [("absolute", True), ("relative", False)])
def test_selecting_almost_nobody_meets_an_absolute_tolerance_and_no_relative_one(small_results, kind, met):
    made = fits(small_results[0], f"rates_{kind}_0.05", (1, 2), selected=(1, 4))
    assert is_met(made[0]) is met
    told = told_by_rates(table_of("rates", made))
    assert f"Adult, {kind}: rates are within the tolerance in {2 * met} of 2 fits, 2.5 to 2.5% of people" in told
    assert "rates up to 120% of the overall one apart" in told


def test_the_descent_is_asked_for_no_tolerance_and_what_was_not_run_is_said(small_results):
    first = small_results[0]
    made = fits(first, "parity_10", (36, 30))
    assert is_met(made[0]) is None
    assert np.isnan(table_of("weights", made)["met"]).all()
    page = parity_and_order(made)
    assert "not asked for" in page
    assert page.count("Not run yet.") == 3
    for experiment in EXPERIMENTS.values():
        assert f"`make {experiment.target}`" in page
