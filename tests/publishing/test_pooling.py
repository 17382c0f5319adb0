"""The lower bound that learns from all groups."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import betainc, betaln, expit

from selfselect import GroupCounts, ThresholdCurves
from selfselect.publishing import LowerBound, PooledLowerBound
from selfselect.publishing.pooling import SLOPES, STRENGTHS, BetaPrior, _shrunk_shares, _Trials


def curves_of(rng, n_groups, n, slope, base=0.0, weights=None, person=None, copies=1):
    """Counts at every threshold of a score that is informative by its slope."""
    score = rng.normal(size=n_groups * n)
    y = rng.random(n_groups * n) < expit(base + slope * score)
    codes = np.repeat(np.arange(n_groups), n)
    y, score, codes = (np.tile(values, copies) for values in (y, score, codes))
    person = np.tile(np.arange(n_groups * n), copies) if person else None
    return ThresholdCurves.from_codes(y, score, codes, pd.RangeIndex(n_groups), weights, person)


def test_the_prior_agrees_with_a_slow_integral():
    rng = np.random.default_rng(0)
    trials = rng.integers(5, 30, 8).astype(float)
    successes, offset = rng.binomial(trials.astype(int), 0.7).astype(float), rng.normal(0, 0.3, (2, 8))
    locations, weight, below = np.linspace(-6, 6, 1201), [], []
    for strength, slope in zip(STRENGTHS, SLOPES, strict=True):
        mean = expit(locations[:, None] + slope @ offset)
        a, b = strength * mean, strength * (1 - mean)
        usual = expit(locations + slope @ offset.mean(axis=1))
        likelihood = (betaln(a + successes, b + trials - successes) - betaln(a, b)).sum(axis=1)
        weight.append(np.exp(likelihood) * usual * (1 - usual))
        below.append(betainc(a + successes, b + trials - successes, 0.65))
    below = np.average(np.concatenate(below), axis=0, weights=np.concatenate(weight))
    prior = BetaPrior.fit(successes, trials, offset)
    fast = prior.below(np.full(8, 0.65), successes, trials, offset, near=0.2)
    assert fast == pytest.approx(below, abs=0.005)
    level = float(fast[0])
    assert prior.quantile(level, successes, trials, offset)[0] == pytest.approx(0.65, abs=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_a_bound_reaches_a_limit_if_and_only_if_its_value_does(seed):
    curves = curves_of(np.random.default_rng(seed), 12, 40, 1.5)
    bound = PooledLowerBound().fitted(curves)
    published = curves.published(bound)
    for limit in (0.3, 0.6, 0.75, 0.9):
        reaches = published.reaches(np.full(len(curves.threshold), limit))
        value = np.nan_to_num(published.value)
        clear = np.abs(value - limit) > 1e-6
        assert (reaches == (value >= limit))[clear].all()
    shown = curves.selected > 0
    assert (published.value[shown] <= (curves.true_positives / np.maximum(curves.selected, 1))[shown] + 1e-12).all()


def test_many_equal_groups_are_promised_more_than_each_by_itself():
    curves = curves_of(np.random.default_rng(0), 40, 25, 1.8)
    counts = curves.at(0.0).counts
    pooled, own = PooledLowerBound().fitted(curves).value(counts), LowerBound().value(counts)
    assert (pooled >= 0.65).sum() > 2 * (own >= 0.65).sum()


def test_a_large_group_is_judged_by_its_own_counts():
    curves = curves_of(np.random.default_rng(0), 3, 20_000, 1.5)
    counts = curves.at(0.0).counts
    assert PooledLowerBound().fitted(curves).value(counts) == pytest.approx(LowerBound().value(counts), abs=0.01)


@pytest.mark.parametrize(("n_groups", "n"), [(1, 200), (2, 60), (10, 60), (40, 25)])
def test_noise_is_hardly_ever_promised_anything(n_groups, n):
    told = 0
    for seed in range(30):
        curves = curves_of(np.random.default_rng(seed), n_groups, n, slope=0.0)
        published = curves.published(PooledLowerBound().fitted(curves))
        told += published.reaches(np.full(len(curves.threshold), 0.7)).any()
    assert told <= 30 * 0.1 + 3 * np.sqrt(30 * 0.1 * 0.9)


def test_equal_weights_and_repeated_people_change_nothing():
    plain = curves_of(np.random.default_rng(0), 10, 50, 1.5)
    heavy = curves_of(np.random.default_rng(0), 10, 50, 1.5, weights=np.full(500, 1000.0))
    twice = curves_of(np.random.default_rng(0), 10, 50, 1.5, person=True, copies=2)
    values = [
        PooledLowerBound().fitted(curves).value(curves.counts_of(curves.step_at(0.0)))
        for curves in (plain, heavy, twice)
    ]
    assert values[1] == pytest.approx(values[0], abs=1e-9)
    assert values[2] == pytest.approx(values[0], abs=1e-9)


def test_selected_shares_of_groups_are_told_apart_only_beyond_chance():
    rng = np.random.default_rng(0)
    people = np.full(200, 50.0)

    def shrunk(rates):
        share = rng.binomial(50, rates, 200) / 50
        return share, _shrunk_shares(share, people, lambda values: values.sum(keepdims=True))

    alike, after = shrunk(0.4)
    assert after.std() < 0.3 * alike.std()
    rates = rng.uniform(0.2, 0.6, 200)
    differing, after = shrunk(rates)
    assert ((after - rates) ** 2).mean() < ((differing - rates) ** 2).mean()
    everybody = np.ones(3)
    assert _shrunk_shares(everybody, everybody, lambda values: values.sum(keepdims=True)) == pytest.approx(everybody)


def test_the_luckiest_of_many_equal_groups_at_one_threshold_is_promised_nothing_untrue():
    slope, cost, broken = 1.5, 0.75, []
    x = np.linspace(-5, 5, 4001)
    weight = np.exp(-(x**2) / 2)
    for seed in range(40):
        curves = curves_of(np.random.default_rng(seed), 100, 100, slope)
        told = curves.published(PooledLowerBound().fitted(curves, one_threshold=True)).reaches(
            np.full(len(curves.threshold), cost)
        )
        lowest = curves.threshold[told & (curves.selected >= 25)].min()  # a classifier prefers to select many
        above = weight * (x > lowest)
        broken.append((above * expit(slope * x)).sum() / above.sum() < cost)
    assert np.mean(broken) <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / 40)


def test_weights_that_depend_on_the_label_leave_the_share_of_people_and_widen_the_bound():
    y = np.r_[np.ones(38), np.zeros(2), np.zeros(60), np.ones(30), np.zeros(10), np.ones(20), np.zeros(40)] == 1
    selected, codes = np.tile(np.arange(100) < 40, 2), np.repeat([0, 1], 100)
    counts = GroupCounts.from_rows(y, selected, codes, 2, np.where(y, 1.0, 3.0))
    trials = _Trials.of(counts, one_threshold=False)
    assert trials.share == pytest.approx([0.4, 0.4])
    # a group of which only qualified people are selected: others would weigh three times as much
    lucky = GroupCounts.from_rows(y[:100], y[:100], codes[:100], 1, np.where(y[:100], 1.0, 3.0))
    assert lucky.effective_trials[1] == pytest.approx(38 / 3)


@pytest.mark.xfail(reason="a third of those told: base rates of small groups are drawn towards those of large ones")
def test_small_groups_that_do_worse_than_large_ones_are_not_told_that_they_do_as_well():
    """Four groups of 1,000 have a precision of 0.77, eight of 50 one of 0.64; the cost is between."""
    sizes, offsets = np.array([1000] * 4 + [50] * 8), np.array([0.6] * 4 + [-0.15] * 8)
    told, wrongly = 0, 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        codes = np.repeat(np.arange(12), sizes)
        x = rng.normal(size=len(codes))
        y = rng.random(len(codes)) < expit(offsets[codes] + 1.5 * x)
        curves = ThresholdCurves.from_codes(y, x, codes, pd.RangeIndex(12))
        counts = curves.at(0.0).counts
        reaches = PooledLowerBound().fitted(curves).reaches(counts, np.full(12, 0.66))
        told, wrongly = told + reaches[:4].sum(), wrongly + reaches[4:].sum()
    assert told >= 110  # of 120
    assert wrongly <= 0.1 * (told + wrongly)
