"""How sure one can be of a precision."""

import numpy as np
import pytest
from scipy.stats import binomtest

from selfselect import precision_interval


@pytest.mark.parametrize(("interval", "method"), [("wilson", "wilson"), ("clopper-pearson", "exact")])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_intervals_agree_with_scipy(interval, method, confidence):
    for n in range(1, 12):
        k = np.arange(n + 1)
        low, high = precision_interval(k, np.full(n + 1, n), interval=interval, confidence=confidence)
        for i in k:
            expected = binomtest(int(i), n).proportion_ci(confidence, method=method)
            assert (low[i], high[i]) == pytest.approx((expected.low, expected.high), abs=1e-9)
