"""A row of a whole weight counts as that many people."""

import numpy as np
import pytest

from selfselect.learning.starts import weighted_quantile, weighted_variance

rng = np.random.default_rng(0)
VALUES = rng.normal(size=(40, 3))
TIMES = rng.integers(0, 4, 40)
REPEATED = np.repeat(VALUES, TIMES, axis=0)


def test_the_variance_and_quantiles_of_weighted_people_are_those_of_people_repeated():
    weight = TIMES.astype(float)
    np.testing.assert_allclose(weighted_variance(VALUES, weight), REPEATED.var(axis=0), rtol=1e-12)
    for share in (0.0, 0.1, 0.5, 0.95, 1.0):
        quantile = weighted_quantile(VALUES[:, 0], weight, share)
        assert quantile == pytest.approx(np.quantile(REPEATED[:, 0], share), rel=1e-12)


def test_people_who_count_once_have_numpys_own_numbers_to_the_last_bit():
    ones = np.ones(40)
    assert (weighted_variance(VALUES, ones) == VALUES.var(axis=0)).all()
    assert weighted_quantile(VALUES[:, 0], ones, 0.9) == np.quantile(VALUES[:, 0], 0.9)


def test_weights_far_below_one_still_have_a_quantile():
    assert VALUES[:, 0].min() <= weighted_quantile(VALUES[:, 0], np.full(40, 1e-3), 0.9) <= VALUES[:, 0].max()
