"""How sure one can be of a precision."""

import numpy as np
import pytest
from scipy.stats import binomtest

from refusing import refusal
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


def test_a_share_of_nothing_is_undefined_and_any_shapes_go_together():
    found = ratio([[1], [0]], [2, 0, 4])
    np.testing.assert_equal(found, [[0.5, np.nan, 0.25], [0.0, np.nan, 0.0]])
    assert found.dtype == np.float64


@pytest.mark.parametrize("interval", ["wilson", "clopper-pearson"])
def test_where_nobody_is_selected_there_is_no_interval_and_all_or_none_reach_the_ends(interval):
    low, high = precision_interval([0, 0, 5], [0, 5, 5], interval=interval)
    np.testing.assert_equal(np.isnan([low, high]), [[True, False, False], [True, False, False]])
    assert low[1] == 0.0
    assert high[2] == 1.0
    assert 0 < high[1] < 1
    assert 0 < low[2] < 1


def test_the_usual_interval_is_wilsons_of_95_percent():
    named = precision_interval(7, 10, interval="wilson", confidence=0.95)
    assert precision_interval(7, 10) == named


def test_rounding_of_weights_is_forgiven_and_more_hits_than_people_are_not():
    low, high = precision_interval(0.1 + 0.2, 0.3)
    assert high == 1.0
    assert low == precision_interval(0.3, 0.3)[0]
    for hits, selected in ((3, 2), (-1, 2), (np.nan, 2), (1 + 1e-6, 1)):
        with pytest.raises(ValueError, match=r"^true_positives must lie between 0 and selected\.$"):
            precision_interval(hits, selected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"interval": "wald"}, "interval must be one of 'wilson', 'clopper-pearson', got 'wald'."),
        ({"confidence": 1.0}, "confidence must lie in (0, 1), got 1.0."),
        ({"confidence": 0.0}, "confidence must lie in (0, 1), got 0.0."),
    ],
)
def test_what_is_no_interval_is_refused(arguments, message):
    assert str(refusal(lambda: precision_interval(1, 2, **arguments))) == message
