"""People who stand for others: counts are sums of weights, and intervals know how few people they rest on."""

import numpy as np
import pandas as pd
import pytest

from selfselect import PublishedStatistics, audit
from selfselect.counting import GroupCounts, precision_interval


def people(seed=0, n=300):
    rng = np.random.default_rng(seed)
    score = np.round(rng.random(n), 2)
    return (rng.random(n) < score).astype(int), score, rng.choice(["A", "B", "C"], n), rng


@pytest.mark.parametrize("how", ["score", "y_pred"])
def test_whole_weights_give_the_rates_of_repeated_people(how):
    y, score, z, rng = people()
    weight = rng.integers(0, 5, len(y))
    again = np.repeat(np.arange(len(y)), weight)
    given = score if how == "score" else score > 0.5
    weighted = audit(y, **{how: given}, sensitive_features=z, sample_weight=weight, cost=0.7)
    repeated = audit(y[again], **{how: given[again]}, sensitive_features=z[again], cost=0.7)
    assert weighted.outcome == repeated.outcome
    same = "n base_rate selected precision accuracy cost applies subsidy_needed selection_rate utility".split()
    pd.testing.assert_frame_equal(weighted.to_frame()[same], repeated.to_frame()[same], check_dtype=False)


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


def test_the_interval_counts_the_effective_number_of_people_who_pass():
    y, score, z, rng = people(1)
    weight = rng.exponential(1, len(y))
    frame = audit(y, score=score, sensitive_features=z, sample_weight=weight, cost=0.7).to_frame()
    for group, row in frame.iterrows():
        chosen = (z == group) & (score > 0.5)
        worth = weight[chosen].sum() ** 2 / (weight[chosen] ** 2).sum()
        assert worth < chosen.sum()
        low, high = precision_interval(worth * row["precision"], worth)
        assert (row["precision_low"], row["precision_high"]) == pytest.approx((float(low), float(high)))
        assert row["effective_selected"] == pytest.approx(worth)


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


def test_counts_with_weights_add_up_in_pieces():
    y, score, z, rng = people(3)
    codes, weight = np.unique(z, return_inverse=True)[1], rng.random(len(y))
    known = (score > 0.5) | (rng.random(len(y)) < 0.5)

    def counted(rows):
        return GroupCounts.from_rows(
            y[rows] == 1, score[rows] > 0.5, codes[rows], 3, weight[rows], known=known[rows], squares=True
        )

    whole, halves = counted(slice(None)), counted(slice(0, 100)) + counted(slice(100, None))
    for part in (lambda c: c, lambda c: c.squares):
        for a, b in zip(part(whole).columns, part(halves).columns, strict=True):
            assert a == pytest.approx(b)
        assert part(whole).unknown == pytest.approx(part(halves).unknown)


def test_unweighted_counts_count_once_when_added_to_weighted_ones():
    one = GroupCounts.from_rows(np.array([True]), np.array([True]), np.array([0]), 1)
    three = GroupCounts.from_rows(np.array([True]), np.array([True]), np.array([0]), 1, np.array([3.0]), squares=True)
    assert (one + three).squares.selected.tolist() == [10]
    assert (one + three).effective_trials[1].tolist() == pytest.approx([16 / 10])


def test_weights_that_make_no_sense_are_refused():
    for wrong, said in (([1, -1], "negative"), ([0, 0], "zero"), ([1], "Lengths differ"), ([1, np.nan], "missing")):
        with pytest.raises(ValueError, match=said):
            audit([0, 1], y_pred=[1, 1], sample_weight=wrong, cost=0.5)
