"""The set bought within a budget is the best there is: by enumeration, and by bounds where there are too many sets."""

import numpy as np
import pytest

from selfselect.planning import knapsack
from selfselect.planning.knapsack import best_subset


def enumerated(value, price, budget):
    """Largest value, and its least price, over all subsets."""
    sets = (np.arange(2 ** len(value))[:, None] >> np.arange(len(value))) & 1
    values, prices = sets @ value, sets @ price
    within = prices <= budget + 1e-9 * max(1.0, budget)
    most = values[within].max()
    return most, prices[within & (np.abs(values - most) < 1e-9)].min()


def drawn(seed):
    """A small problem as a plan has it; every third budget is exactly the price of some set."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 11))
    value = rng.integers(0, 30, size)
    true_positives = rng.integers(0, value + 1)
    price = np.maximum(0.7 * (true_positives + rng.integers(0, 30, size)) - true_positives, 0.0)
    budget = price[rng.random(size) < 0.5].sum() if seed % 3 == 0 else rng.uniform(0, price.sum() + 0.1)
    return (value * rng.uniform(0.5, 2, size) if seed % 4 == 3 else value), price, float(budget)


def test_no_other_set_within_the_budget_has_more_value_or_as_much_for_less():
    for seed in range(400):
        value, price, budget = drawn(seed)
        best = best_subset(value, price, budget)
        most, least = enumerated(value, price, budget)
        assert best.value == pytest.approx(most, abs=1e-9)
        assert best.price == pytest.approx(least, abs=1e-6)
        assert best.exact


def test_with_lists_that_are_too_short_the_bound_holds_and_exact_means_exact(monkeypatch):
    monkeypatch.setattr(knapsack, "MAX_SETS", 1)
    inexact = 0
    for seed in range(400):
        value, price, budget = drawn(seed)
        best = best_subset(value, price, budget)
        most, _ = enumerated(value, price, budget)
        assert best.price <= budget + 1e-9 * max(1.0, budget)
        assert best.value <= most + 1e-9 <= best.upper + 2e-9
        assert not best.exact or best.value == pytest.approx(most)
        inexact += not best.exact
    assert inexact > 20


def test_ten_thousand_items_are_settled_exactly():
    rng = np.random.default_rng(0)
    value = rng.integers(1, 200, 10_000)
    price = np.maximum(0.7 * np.floor(value * rng.uniform(0.5, 2, 10_000)) - 0.4 * value, 0.0)
    best = best_subset(value, price, 0.3 * price.sum())
    assert best.exact
    assert best.price <= 0.3 * price.sum() + 1e-6
    # the relaxation, in which an item may be bought in part, has at most one item more
    order = np.argsort(-value / np.maximum(price, 1e-12))
    fits = np.cumsum(price[order]) <= 0.3 * price.sum()
    assert value[order][fits].sum() <= best.value < value[order][fits].sum() + value.max()


def test_free_items_are_bought_and_items_without_value_are_not():
    best = best_subset([3, 0, 2], [0.0, 0.0, 5.0], budget=0)
    assert best.inside.tolist() == [True, False, False]
    assert best.exact
