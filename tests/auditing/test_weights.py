"""Weights: counts are sums of weights, and intervals use the effective sample size."""

import numpy as np
import pytest

from selfselect import PublishedStatistics, audit


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


def test_intervals_of_unequal_weights_cover_the_truth_and_those_of_repetitions_do_not():
    rng = np.random.default_rng(2)
    truth, covered, naive = 0.7, 0, 0
    for _ in range(400):
        y, weight = rng.random(200) < truth, rng.choice([1.0, 20.0], 200)
        row = audit(y, y_pred=np.ones(200), sample_weight=weight, cost=0.5).to_frame().iloc[0]
        covered += row["precision_low"] <= truth <= row["precision_high"]
        plain = PublishedStatistics.from_predictions(y, np.ones(200), sample_weight=weight).to_frame().iloc[0]
        naive += plain["precision_low"] <= truth <= plain["precision_high"]
    assert covered > 0.92 * 400
    assert naive < 0.7 * 400
