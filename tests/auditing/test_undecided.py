"""Ranges over all decisions of undecided groups, by enumeration."""

import itertools
import math

import numpy as np
import pytest

from selfselect import ScreeningResult, Terms
from selfselect.auditing import Audit
from selfselect.auditing.undecided import either_way
from selfselect.counting import GroupCounts
from selfselect.outcomes import outcome_bounds
from selfselect.statistics import LowerBound


def random_counts(rng, n_groups):
    n = rng.integers(1, 30, n_groups)
    positives = rng.integers(0, n + 1)
    true_positives = rng.integers(0, positives + 1)
    selected = true_positives + rng.integers(0, n - positives + 1)
    missed = positives - true_positives
    untested = rng.integers(0, missed + 1) if rng.random() < 0.5 else None
    return GroupCounts(n, positives - (0 if untested is None else untested), selected, true_positives, untested)


@pytest.mark.parametrize("seed", range(60))
def test_ends_are_those_over_all_subsets_of_the_undecided(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 7))
    counts, applies, undecided = random_counts(rng, k), rng.random(k) < 0.5, rng.random(k) < 0.6
    accuracies, costs, nobody = [], [], False
    for answers in itertools.product([False, True], repeat=int(undecided.sum())):
        who = applies.copy()
        who[undecided] = answers
        bounds = outcome_bounds(counts, who.astype(float))
        accuracies.extend(float(end) for end in bounds["induced_accuracy"])
        costs.extend(float(end) for end in bounds["social_cost"])
        nobody |= not who.any()
    result = either_way(counts, applies, undecided)
    for name, values in (("induced_accuracy", accuracies), ("social_cost", costs)):
        defined = [value for value in values if not math.isnan(value)]
        expected = (min(defined), max(defined)) if defined else (math.nan, math.nan)
        assert result[name] == pytest.approx(expected, nan_ok=True), name
    assert result["nobody"] == nobody


def test_groups_are_not_undecided_if_their_precision_was_published_before():
    y, passed = [1, 1, 0] * 20, [1, 1, 1] * 20
    one, new = (ScreeningResult.from_predictions(y, passed) for _ in range(2))
    assert "could go either way" in Audit(one, one, Terms(0.6)).verdict()
    result = Audit(one, new, Terms(0.6))
    assert result.undecided is None
    assert "certain" not in result.verdict()
    assert "undecided" not in result.to_frame()
    assert Audit(one, one, Terms(0.6, statistic=LowerBound())).undecided is None
