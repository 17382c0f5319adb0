"""Counts at every threshold of a score."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_curve

import reference
from drawn import curves_of, scored_people, thresholds_to_try
from selfselect import ThresholdCurves, precision_interval
from selfselect.counting.curves import CountCurves


@given(scored_people)
def test_counts_at_any_threshold_equal_those_of_a_loop(rows):
    y, score, z, curves = curves_of(rows)
    for t in thresholds_to_try(score):
        table = curves.at(t)
        expected = reference.counts(y, [s > t for s in score], z)
        counts = {g: tuple(int(c[i]) for c in table.counts.columns) for i, g in enumerate(table.groups)}
        assert counts == expected


@given(scored_people, st.lists(st.sampled_from([-np.inf, -1, 0, 0.5, 1, 2, 3, 5.5, 6, 7]), min_size=1, unique=True))
def test_counts_at_many_thresholds_equal_those_at_each(rows, thresholds):
    _, _, _, curves = curves_of(rows)
    selected, true_positives = curves.counts_at(sorted(thresholds))
    for i, t in enumerate(sorted(thresholds)):
        counts = curves.at(t).counts
        assert selected[i].tolist() == counts.selected.tolist()
        assert true_positives[i].tolist() == counts.true_positives.tolist()


def test_precision_and_recall_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 2, 500), rng.integers(0, 50, 500) / 50
    precision, _, _ = precision_recall_curve(y, score)  # there, selected means score >= threshold
    mine = ThresholdCurves.from_scores(y, score).to_frame()["precision"].to_numpy()
    assert mine[:-1] == pytest.approx(precision[:-1])


def weighted_rows(seed):
    rng = np.random.default_rng(seed)
    y, score = rng.random(40) < 0.5, rng.integers(0, 6, 40) / 4 - 0.5
    return y, score, rng.choice(["a", "b", "c"], 40), rng.integers(1, 5, 40) / 8


@pytest.mark.parametrize("seed", range(3))
def test_weights_and_their_squares_are_added_up_above_every_threshold(seed):
    y, score, z, weight = weighted_rows(seed)
    labels, codes = np.unique(z, return_inverse=True)
    steps = CountCurves.from_codes(y, score, codes, pd.Index(labels), weight)
    assert CountCurves.from_codes(y, score, codes, pd.Index(labels)).squares is None
    assert steps.squares.squares is None
    for i, (code, threshold) in enumerate(zip(steps.group, steps.threshold, strict=True)):
        above = (codes == code) & (score > threshold)
        assert steps.selected[i] == weight[above].sum()
        assert steps.true_positives[i] == weight[above & y].sum()
        assert steps.squares.selected[i] == (weight[above] ** 2).sum()
        assert steps.squares.true_positives[i] == (weight[above & y] ** 2).sum()
        wrong = ((score > threshold) != y) & (codes == code)
        assert steps.correct[i] == pytest.approx(weight[(codes == code) & ~wrong].sum())
    counts, above = steps.counts_of(steps.step_at(0.25)), score > 0.25
    assert counts.n.tolist() == [weight[codes == code].sum() for code in range(3)]
    assert counts.squares.selected.tolist() == [(weight[above & (codes == code)] ** 2).sum() for code in range(3)]


def test_steps_go_from_everybody_to_nobody_one_per_distinct_score():
    steps = CountCurves.from_scores([1, 0, 1, 1], [0.5, 0.5, 2.0, 0.5], sensitive_features=["b", "b", "b", "a"])
    assert steps.groups.tolist() == ["a", "b"]
    assert steps.start.tolist() == [0, 2, 5]
    assert steps.group.tolist() == [0, 0, 1, 1, 1]
    assert steps.threshold.tolist() == [-np.inf, 0.5, -np.inf, 0.5, 2.0]
    assert steps.selected.tolist() == [1, 0, 3, 1, 0]
    assert steps.true_positives.tolist() == [1, 0, 2, 1, 0]
    assert steps.n.tolist() == [1, 3]
    assert steps.positives.tolist() == [1, 2]
    assert [steps.step_at(t).tolist() for t in (0.4, 0.5, 2.0)] == [[0, 2], [1, 3], [1, 4]]
    assert all(values.dtype.kind == "i" for values in (steps.selected, steps.true_positives, steps.n, steps.positives))


def test_a_frame_of_steps_has_counts_rates_and_intervals():
    steps = CountCurves.from_scores([1, 0, 1, 1], [0.5, 0.5, 2.0, 0.5], sensitive_features=["b", "b", "b", "a"])
    frame = steps.to_frame("b")
    low, high = precision_interval([2, 1, 0], [3, 1, 0])
    expected = {
        "group": ["b"] * 3,
        "threshold": [-np.inf, 0.5, 2.0],
        "selected": [3, 1, 0],
        "true_positives": [2, 1, 0],
        "precision": [2 / 3, 1.0, np.nan],
        "precision_low": low,
        "precision_high": high,
        "selection_rate": [1.0, 1 / 3, 0.0],
    }
    pd.testing.assert_frame_equal(frame, pd.DataFrame(expected), check_dtype=False)
    assert steps.to_frame()["selection_rate"].tolist() == [1.0, 0.0, 1.0, 1 / 3, 0.0]


def test_a_frame_of_one_group_needs_its_full_label():
    several = CountCurves.from_scores(
        [1, 0, 1], [1, 2, 3], sensitive_features=pd.DataFrame({"g": ["a", "a", "b"], "h": [1, 2, 1]})
    )
    assert several.to_frame(("a", 2))["selected"].tolist() == [1, 0]
    with pytest.raises(ValueError, match="'a' names several groups; name one"):
        several.to_frame("a")
    with pytest.raises(ValueError, match="No group 'c'; known groups"):
        several.to_frame("c")


def test_weights_of_one_group_leave_no_rounding_error_in_another():
    y, score, weight = np.ones(4, bool), np.array([1.0, 2.0, 1.0, 2.0]), np.array([0.1, 0.2, 1e17, 1e17])
    steps = CountCurves.from_codes(y, score, np.array([0, 0, 1, 1]), pd.Index(["a", "b"]), weight)
    assert steps.selected[:3].tolist() == [0.2 + 0.1, 0.2, 0.0]


def test_groups_without_people_have_one_step():
    steps = CountCurves.from_codes(np.array([True]), np.array([1.0]), np.array([0]), pd.Index(["a", "b", "c"]))
    assert steps.start.tolist() == [0, 2, 3, 4]
    assert steps.selected.tolist() == [1, 0, 0, 0]
    assert steps.n.tolist() == [1, 0, 0]
