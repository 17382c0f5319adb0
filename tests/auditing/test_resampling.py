"""The bootstrap on counts is the bootstrap over people."""

import itertools
import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from selfselect import ScreeningResult, Terms, audit
from selfselect.auditing import Audit, resample
from selfselect.auditing.resampling import MEASURED, resampled_counts
from selfselect.counting import GroupCounts
from selfselect.report.dicts import uncertainty_to_dict


def people(n=120, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.choice(["A", "B", "C"], n, p=[0.5, 0.3, 0.2])
    score = rng.random(n)
    return rng.random(n) < score * np.where(z == "B", 0.85, 1.0), score > 0.4, z, rng


def test_counts_of_people_drawn_again_have_the_probabilities_of_drawing_each_person():
    y, passed = np.array([True, False, True]), np.array([True, True, False])
    counts = GroupCounts.from_rows(y, passed, np.zeros(3, dtype=int), 1)
    every = Counter()
    for drawn in itertools.product(range(3), repeat=3):
        rows = list(drawn)
        every[tuple(int(c[0]) for c in GroupCounts.from_rows(y[rows], passed[rows], np.zeros(3, int), 1).columns)] += 1
    draws = 100_000
    result = resampled_counts(counts, draws, np.random.default_rng(0))
    seen = Counter(zip(*(column[:, 0].tolist() for column in result.columns), strict=True))
    assert set(seen) == set(every)
    for outcome, ways in every.items():
        assert seen[outcome] / draws == pytest.approx(ways / 27, abs=4 * math.sqrt(0.25 / draws))


def slow_bootstrap(y, passed, z, cost, draws, rng, weight=None):
    """Row by row: draw people within each group, audit them."""
    rows = [np.flatnonzero(z == group) for group in np.unique(z)]
    for _ in range(draws):
        drawn = np.concatenate([rng.choice(own, len(own)) for own in rows])
        weights = None if weight is None else weight[drawn]
        yield audit(y[drawn], y_pred=passed[drawn], sensitive_features=z[drawn], cost=cost, sample_weight=weights)


def test_intervals_and_applications_are_those_of_a_slow_bootstrap_over_rows():
    y, passed, z, rng = people()
    slow = list(slow_bootstrap(y, passed, z, 0.7, 1500, rng))
    fast = audit(y, y_pred=passed, sensitive_features=z, cost=0.7).uncertainty(n_resamples=20_000)
    for name in MEASURED:
        values = np.array([getattr(result, name) for result in slow])
        for at, end in zip((0.025, 0.975), fast.interval(name), strict=True):
            assert end == pytest.approx(np.nanquantile(values, at), abs=0.03), name
    shares = pd.concat([result.applies for result in slow], axis=1).mean(axis=1)
    assert fast.applies.to_numpy() == pytest.approx(shares.to_numpy(), abs=0.05)
    assert ((fast.applies > 0.2) & (fast.applies < 0.8)).sum() == 2  # chance decides


def test_weighted_people_are_as_uncertain_as_a_bootstrap_over_rows_says():
    y, passed, z, rng = people(300, seed=4)
    weight = rng.choice([1.0, 2.0, 12.0], len(y))
    slow = list(slow_bootstrap(y, passed, z, 0.7, 1500, rng, weight))
    fast = audit(y, y_pred=passed, sensitive_features=z, cost=0.7, sample_weight=weight).uncertainty(20_000)
    values = np.array([result.assumed_accuracy for result in slow])
    assert np.std(fast.resamples.low["assumed_accuracy"]) == pytest.approx(values.std(), rel=0.15)
    unweighted = audit(y, y_pred=passed, sensitive_features=z, cost=0.7).uncertainty(20_000)
    assert np.std(unweighted.resamples.low["assumed_accuracy"]) < 0.8 * values.std()
    shares = pd.concat([result.applies for result in slow], axis=1).mean(axis=1)
    assert fast.applies.to_numpy() == pytest.approx(shares.to_numpy(), abs=0.08)
    assert fast.weighted


def test_drawing_in_blocks_changes_nothing(monkeypatch):
    y, passed, z, _ = people()
    one = ScreeningResult.from_predictions(y, passed, sensitive_features=z)
    other = ScreeningResult.from_predictions(y[:60], passed[:60], sensitive_features=z[:60])
    for counted in (one, other):
        whole = resample(one, counted, Terms(0.7), n_resamples=53)
        with monkeypatch.context() as patch:
            patch.setattr("selfselect.auditing.resampling.MAX_DRAWN", 100)
            blocks = resample(one, counted, Terms(0.7), n_resamples=53)
        assert np.array_equal(blocks.shares, whole.shares)
        assert all(np.array_equal(blocks.low[name], whole.low[name], equal_nan=True) for name in MEASURED)


def test_new_people_are_drawn_apart_from_those_whose_counts_are_published():
    y, passed, z, _ = people()
    one = ScreeningResult.from_predictions(y, passed, sensitive_features=z)
    few = ScreeningResult.from_predictions(y[:40], passed[:40], sensitive_features=z[:40])
    result = Audit(one, few, Terms(0.7)).uncertainty()
    alone = Audit(one, one, Terms(0.7)).uncertainty()
    width = [np.subtract(*case.interval("assumed_accuracy")[::-1]) for case in (alone, result)]
    assert width[1] > width[0]
    assert result.applies.to_numpy() == pytest.approx(alone.applies.to_numpy(), abs=0.08)


def test_the_share_of_resamples_without_applicants_is_reported():
    result = audit([0, 1, 0, 1], y_pred=[1, 1, 1, 1], cost=0.9).uncertainty()
    row = result.to_frame().loc["induced_accuracy"]
    assert 0.5 < row["undefined"] < 1
    assert row["low"] == 1  # wherever somebody applies, all who were drawn are qualified
    nobody = audit([0, 0], y_pred=[1, 1], cost=0.9).uncertainty()
    assert nobody.to_frame().loc["induced_accuracy", "undefined"] == 1
    assert uncertainty_to_dict(nobody, ["A"])["induced_accuracy"] == {"low": None, "high": None, "undefined": 1.0}


def test_an_invalid_number_of_resamples_is_refused():
    with pytest.raises(ValueError, match="n_resamples"):
        audit([0, 1], y_pred=[1, 1], cost=0.5).uncertainty(n_resamples=0)
    with pytest.raises(ValueError, match="confidence"):
        audit([0, 1], y_pred=[1, 1], cost=0.5).uncertainty(confidence=1)
