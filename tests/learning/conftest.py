import numpy as np
import pytest

from selfselect.learning.linear import FeatureBlock

K = 4


@pytest.fixture(scope="module", params=[0, 1, 2])
def data(request):
    """A block, the same rows unsorted (X, y, codes, weight), and parameters."""
    rng = np.random.default_rng(request.param)
    n, d = 120, 5
    X = rng.normal(size=(n, d))
    codes = np.r_[np.arange(K), rng.integers(0, K, n - K)]
    y = rng.uniform(size=n) < 1 / (1 + np.exp(-X[:, 0] - codes / 2 + 1))
    weight = rng.uniform(0.5, 2, n)
    block = FeatureBlock.from_unsorted(X, y, codes, weight, K)
    return block, X, y.astype(float), codes, weight, rng.normal(size=d + 1) / 2
