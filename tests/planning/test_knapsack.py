"""What is bought with a budget is the best there is: by enumeration, and where there are too many sets to enumerate."""

import numpy as np
import pytest

from selfselect.planning import knapsack
from selfselect.planning.knapsack import best_subset


def enumerated(worth, price, budget):
    """Most worth, and the least that it costs, over all subsets."""
    sets = (np.arange(2 ** len(worth))[:, None] >> np.arange(len(worth))) & 1
    worths, prices = sets @ worth, sets @ price
    within = prices <= budget + 1e-9 * max(1.0, budget)
    most = worths[within].max()
    return most, prices[within & (np.abs(worths - most) < 1e-9)].min()


def drawn(seed):
    """A small market as a plan meets it; every third budget is exactly the price of some set."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 11))
    worth = rng.integers(0, 30, size)
    hits = rng.integers(0, worth + 1)
    price = np.maximum(0.7 * (hits + rng.integers(0, 30, size)) - hits, 0.0)
    budget = price[rng.random(size) < 0.5].sum() if seed % 3 == 0 else rng.uniform(0, price.sum() + 0.1)
    return (worth * rng.uniform(0.5, 2, size) if seed % 4 == 3 else worth), price, float(budget)


@pytest.mark.parametrize("longest", [knapsack.LONGEST_LIST, 0])
def test_no_other_set_within_the_budget_is_worth_more_or_as_much_for_less(monkeypatch, longest):
    monkeypatch.setattr(knapsack, "LONGEST_LIST", longest)  # 0: all is left to the integer program
    for seed in range(400 if longest else 100):
        worth, price, budget = drawn(seed)
        found = best_subset(worth, price, budget)
        most, least = enumerated(worth, price, budget)
        assert found.value == pytest.approx(most, abs=1e-9)
        assert found.price == pytest.approx(least, abs=1e-6)
        assert found.exact


def test_ten_thousand_things_are_settled_exactly():
    rng = np.random.default_rng(0)
    worth = rng.integers(1, 200, 10_000)
    price = np.maximum(0.7 * np.floor(worth * rng.uniform(0.5, 2, 10_000)) - 0.4 * worth, 0.0)
    found = best_subset(worth, price, 0.3 * price.sum())
    assert found.exact
    assert found.price <= 0.3 * price.sum() + 1e-6
    # the relaxation, in which a thing may be bought in part, is worth at most one thing more
    order = np.argsort(-worth / np.maximum(price, 1e-12))
    fits = np.cumsum(price[order]) <= 0.3 * price.sum()
    assert worth[order][fits].sum() <= found.value < worth[order][fits].sum() + worth.max()


def test_what_costs_nothing_is_bought_and_what_is_worth_nothing_is_not():
    found = best_subset([3, 0, 2], [0.0, 0.0, 5.0], budget=0)
    assert found.inside.tolist() == [True, False, False]
    assert found.exact
