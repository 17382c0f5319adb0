"""What could not be reproduced: ways of averaging, and the sentence that follows from them."""

from dataclasses import replace

import numpy as np
import pytest

from invented import invented
from selfselect.reproduction import Cell
from selfselect.reproduction.paper.unexplained import (
    decided_on_test,
    naive_on_bank,
    nobody_is_zero,
    over_groups,
    over_people,
    over_splits,
    told_of_naive,
)

COSTS = (0.65, 0.675, 0.7, 0.725, 0.75)


def naive(first, hits, split=0, cost=0.7):
    return invented(first, Cell("bank_30", "naive", cost, split), [40, 40], hits)


def test_ways_of_averaging_differ_where_they_should(small_results):
    first = small_results[0]
    # of 100 people each, 50 and 40 qualified: A has 100 - 50 - 40 + 2 hits right, B 100 - 40 - 40 + 2 hits
    fits = [naive(first, [36, 30]), naive(first, [36, 10], 1), naive(first, [4, 4], 2)]
    assert over_splits(fits) == pytest.approx(np.mean([(82 + 80) / 2, 82]))
    assert over_people(fits) == pytest.approx((82 + 80 + 82) / 3)
    assert over_groups(fits) == pytest.approx(np.mean([81, 82]))
    assert nobody_is_zero(fits) == pytest.approx((81 + 82 + 0) / 3)
    other = {"n": [100, 100], "positives": [50, 40], "selected": [40, 40], "true_positives": [10, 38]}
    assert decided_on_test([replace(fits[0], test_counts=other)]) == pytest.approx(96)
    assert np.isnan(over_people(fits[2:]))
    assert np.isnan(nobody_is_zero([]))


def test_nothing_is_called_unexplained_that_a_way_explains(small_results):
    first = small_results[0]
    printed = naive_on_bank([], []).loc["printed"]
    assert printed.index.tolist() == list(COSTS)
    far = [naive(first, [36, 34], split, cost) for cost in COSTS for split in (0, 1)]
    table = naive_on_bank(far, far)
    told = told_of_naive(table)
    assert "Above c = 0.65 neither the paper's descent nor another way of averaging explains" in told
    assert "no way of averaging explains" in told_of_naive(naive_on_bank(far, []))
    for name in table.index[2:]:
        table.loc[name] = printed
    assert told_of_naive(table).startswith("Explained by: descent")
    table.loc[table.index[2:], 0.7] = 0.0
    assert "at most 3 of 4 cells come within 2 printed standard errors" in told_of_naive(table)
