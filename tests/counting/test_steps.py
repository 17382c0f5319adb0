"""Counts at every threshold of a score, as held by the curves that are made of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_curve

import reference
from drawn import curves_of, scored_people, thresholds_to_try
from selfselect import ThresholdCurves


@given(scored_people)
def test_at_any_threshold_the_curves_are_the_counts_of_a_loop(rows):
    y, score, z, curves = curves_of(rows)
    for t in thresholds_to_try(score):
        table = curves.at(t)
        expected = reference.counts(y, [s > t for s in score], z)
        found = {g: tuple(int(c[i]) for c in table.counts.columns) for i, g in enumerate(table.groups)}
        assert found == expected


@given(scored_people, st.lists(st.sampled_from([-np.inf, -1, 0, 0.5, 1, 2, 3, 5.5, 6, 7]), min_size=1, unique=True))
def test_counts_at_many_thresholds_are_those_at_each(rows, thresholds):
    _, _, _, curves = curves_of(rows)
    selected, hits = curves.counts_at(sorted(thresholds))
    for i, t in enumerate(sorted(thresholds)):
        counts = curves.at(t).counts
        assert selected[i].tolist() == counts.selected.tolist()
        assert hits[i].tolist() == counts.true_positives.tolist()


def test_precision_and_recall_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 2, 500), rng.integers(0, 50, 500) / 50
    precision, _, _ = precision_recall_curve(y, score)  # there, selected means score >= threshold
    mine = ThresholdCurves.from_scores(y, score).to_frame()["precision"].to_numpy()
    assert mine[:-1] == pytest.approx(precision[:-1])


def test_steps_of_one_group_can_be_asked_for():
    curves = ThresholdCurves.from_scores([1, 0, 1], [1, 2, 3], sensitive_features=["a", "b", "a"])
    assert curves.to_frame("a")["selected"].tolist() == [2, 1, 0]
    assert curves.to_frame()["group"].tolist() == ["a", "a", "a", "b", "b"]
    with pytest.raises(ValueError, match="No group 'c'; known groups: 'a', 'b'"):
        curves.to_frame("c")


def test_intervals_come_with_every_precision():
    frame = ThresholdCurves.from_scores([1, 0, 1], [1, 2, 3]).to_frame().dropna()
    assert (frame["precision_low"] <= frame["precision"]).all()
    assert (frame["precision"] <= frame["precision_high"]).all()
