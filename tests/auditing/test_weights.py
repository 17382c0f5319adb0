"""Intervals of weighted people."""

import numpy as np
import pytest

from selfselect import audit


def coverage_of_precision(weigh):
    """Share of 95% intervals that contain the precision of the weighted population."""
    rng, people = np.random.default_rng(2), 200_000
    y = rng.random(people) < 0.7
    weight = weigh(rng, y)
    truth, covered = weight[y].sum() / weight.sum(), 0
    for _ in range(400):
        drawn = rng.integers(0, people, 200)
        row = audit(y[drawn], y_pred=np.ones(200), sample_weight=weight[drawn], cost=0.5).to_frame().iloc[0]
        covered += row["precision_low"] <= truth <= row["precision_high"]
    return covered / 400


@pytest.mark.parametrize(
    "weigh",
    [
        lambda rng, y: rng.choice([1.0, 20.0], len(y)),
        lambda rng, y: np.where(y, 0.3, 1.0) * rng.lognormal(0, 0.5, len(y)),
        lambda rng, y: np.where(y, 1.0, 0.2),
    ],
    ids=["two weights", "failures weigh more", "failures weigh less"],
)
def test_intervals_of_weighted_people_cover_the_truth(weigh):
    assert coverage_of_precision(weigh) >= 0.92
