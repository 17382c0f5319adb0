"""Weights: counts are sums of weights, and intervals use the effective sample size."""

import numpy as np
import pytest

from selfselect import audit


def people(seed=0, n=300):
    rng = np.random.default_rng(seed)
    score = np.round(rng.random(n), 2)
    return (rng.random(n) < score).astype(int), score, rng.choice(["A", "B", "C"], n), rng


def test_repeating_people_does_not_make_weighted_intervals_narrower():
    y, score, z, _ = people()
    plain, equal = (
        audit(y, score=score, sensitive_features=z, sample_weight=w, cost=0.7).to_frame()
        for w in (None, np.full(len(y), 40.0))
    )
    for column in ("precision_low", "precision_high"):
        assert equal[column].to_numpy() == pytest.approx(plain[column].to_numpy(), abs=1e-12)
    assert equal["effective_selected"].to_numpy() == pytest.approx(plain["selected"].to_numpy())
    assert "effective_selected" not in plain


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
