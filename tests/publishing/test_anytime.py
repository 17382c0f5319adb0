"""A lower bound that holds in all rounds at once."""

from fractions import Fraction
from math import comb
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import quad

from selfselect import GroupCounts, NaiveClassifier
from selfselect.datasets import make_base_rate_groups
from selfselect.publishing import AnytimeLowerBound, CrossFit, LowerBound
from selfselect.publishing.anytime import _log_martingale
from selfselect.statistics import confidence_of


def counted(k, n):
    k, n = np.asarray(k, dtype=float), np.asarray(n, dtype=float)
    return GroupCounts(2 * n, n, n, k)


@pytest.mark.parametrize(("k", "n", "p"), [(0, 1, 0.3), (3, 4, 0.5), (7, 10, 0.65), (40, 50, 0.7), (5, 5, 0.9)])
def test_the_closed_form_is_the_average_of_likelihood_ratios(k, n, p):
    ratio = quad(lambda q: (q / p) ** k * ((1 - q) / (1 - p)) ** (n - k), p, 1)[0] / (1 - p)
    assert np.exp(_log_martingale(np.array([float(k)]), np.array([float(n)]), np.array([p]))) == pytest.approx(ratio)


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(7, 10), Fraction(9, 10)])
def test_it_is_a_martingale_by_enumeration(p):
    def value(k, n):
        return float(np.exp(_log_martingale(np.array([float(k)]), np.array([float(n)]), np.array([float(p)])))[0])

    for n in range(1, 8):
        for k in range(n + 1):
            following = float(p) * value(k + 1, n + 1) + (1 - float(p)) * value(k, n + 1)
            assert following == pytest.approx(value(k, n))
        chances = [comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
        assert sum(float(chance) * value(k, n) for k, chance in enumerate(chances)) == pytest.approx(1)


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
def test_the_bound_is_where_the_martingale_is_large_enough_and_below_the_ordinary_one(confidence):
    k, n = np.array([(k, n) for n in (1, 7, 30, 400) for k in np.unique(np.linspace(0, n, 12).astype(int))]).T
    statistic = AnytimeLowerBound(confidence)
    bound = statistic.value(counted(k, n))
    assert (bound <= LowerBound(confidence).value(counted(k, n)) + 1e-9).all()
    for each, hits, trials in zip(bound, k, n, strict=True):
        grid = np.linspace(0, hits / trials, 300)[:-1] if hits else np.array([])
        large = _log_martingale(np.full(len(grid), float(hits)), np.full(len(grid), float(trials)), grid)
        excluded = large >= -np.log(1 - confidence)
        assert excluded.tolist() == (grid <= each).tolist()  # all below the bound, and none above
    below, above = np.clip(bound - 1e-9, 0, 1), np.clip(bound + 1e-9, 0, 1)
    assert statistic.reaches(counted(k, n), below).all()
    assert not statistic.reaches(counted(k, n), above).any()


def test_nobody_selected_publishes_nothing_and_its_confidence_is_known():
    assert np.isnan(AnytimeLowerBound().value(counted([0], [0]))).all()
    assert not AnytimeLowerBound().reaches(counted([0], [0]), np.array([0.0])).any()
    assert confidence_of(AnytimeLowerBound(0.8)) == 0.8
    with pytest.raises(ValueError, match="confidence must lie in"):
        AnytimeLowerBound(1.0)


def ever_above(statistic, precision, paths=2000, rounds=50, each=20, seed=0):
    """Share of paths on which the bound is above the true precision after some round."""
    rng = np.random.default_rng(seed)
    hits = rng.binomial(each, precision, (paths, rounds)).cumsum(axis=1).astype(float)
    trials = np.broadcast_to(each * np.arange(1.0, rounds + 1), hits.shape)
    counts = SimpleNamespace(true_positives=hits, selected=trials)
    return float((statistic.value(counts) > precision).any(axis=1).mean())


@pytest.mark.parametrize("precision", [0.3, 0.7, 0.95])
def test_over_rounds_the_bound_is_wrong_at_most_as_often_as_stated_and_the_ordinary_one_more_often(precision):
    error = 4 * np.sqrt(0.1 * 0.9 / 2000)
    assert ever_above(AnytimeLowerBound(0.9), precision) <= 0.1 + error
    assert ever_above(LowerBound(0.9), precision) > 0.1 + error


def test_classifiers_publish_it():
    X, y, z = make_base_rate_groups((0.5, 0.3), n_per_group=400, random_state=0, return_X_y_group=True)
    models = [
        NaiveClassifier(cost=0.7, publish=CrossFit(3, statistic)).fit(X, y, sensitive_features=z)
        for statistic in (AnytimeLowerBound(0.9), LowerBound(0.9))
    ]
    anytime, once = (model.audit(X, y, z).to_frame()["published_value"] for model in models)
    assert (anytime < once).all()
    assert "0.9 confidence" in models[0].audit(X, y, z).verdict() or "90%" in models[0].audit(X, y, z).verdict()
