"""Confidence intervals of a precision."""

import numpy as np
import pytest
from scipy.stats import binomtest

from selfselect import precision_interval
from selfselect.counting import ratio


@pytest.mark.parametrize(("interval", "method"), [("wilson", "wilson"), ("clopper-pearson", "exact")])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_intervals_agree_with_scipy(interval, method, confidence):
    for n in range(1, 12):
        k = np.arange(n + 1)
        low, high = precision_interval(k, np.full(n + 1, n), interval=interval, confidence=confidence)
        for i in k:
            expected = binomtest(int(i), n).proportion_ci(confidence, method=method)
            assert (low[i], high[i]) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_a_ratio_is_nan_for_a_denominator_of_0_and_broadcasts():
    ratios = ratio([[1], [0]], [2, 0, 4])
    np.testing.assert_equal(ratios, [[0.5, np.nan, 0.25], [0.0, np.nan, 0.0]])
    assert ratios.dtype == np.float64


@pytest.mark.parametrize("interval", ["wilson", "clopper-pearson"])
def test_intervals_are_nan_for_nobody_and_reach_the_ends_for_all_or_none(interval):
    low, high = precision_interval([0, 0, 5], [0, 5, 5], interval=interval)
    np.testing.assert_equal(np.isnan([low, high]), [[True, False, False], [True, False, False]])
    assert low[1] == 0.0
    assert high[2] == 1.0
    assert 0 < high[1] < 1
    assert 0 < low[2] < 1


def test_rounding_of_weights_is_forgiven_but_not_more_successes_than_trials():
    low, high = precision_interval(0.1 + 0.2, 0.3)
    assert high == 1.0
    assert low == precision_interval(0.3, 0.3)[0]
    for successes, trials in ((3, 2), (-1, 2), (np.nan, 2), (1 + 1e-6, 1)):
        with pytest.raises(ValueError, match=r"^true_positives must lie between 0 and selected\.$"):
            precision_interval(successes, trials)
