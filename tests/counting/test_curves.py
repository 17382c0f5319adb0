"""Counts at every threshold of a score, as held by the curves that are made of them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_curve

import reference
from drawn import curves_of, scored_people, thresholds_to_try
from refusing import refusal
from selfselect import ThresholdCurves, precision_interval
from selfselect.counting.curves import ScoreSteps


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


def weighted_rows(seed):
    rng = np.random.default_rng(seed)
    y, score = rng.random(40) < 0.5, rng.integers(0, 6, 40) / 4 - 0.5
    return y, score, rng.choice(["a", "b", "c"], 40), rng.integers(1, 5, 40) / 8


@pytest.mark.parametrize("seed", range(3))
def test_weights_and_their_squares_are_added_up_above_every_threshold(seed):
    y, score, z, weight = weighted_rows(seed)
    labels, codes = np.unique(z, return_inverse=True)
    steps = ScoreSteps.from_codes(y, score, codes, pd.Index(labels), weight, squares=True)
    assert ScoreSteps.from_codes(y, score, codes, pd.Index(labels), weight).squares is None
    assert ScoreSteps.from_codes(y, score, codes, pd.Index(labels), squares=True).squares is None
    assert steps.squares.squares is None
    for i, (code, threshold) in enumerate(zip(steps.group, steps.threshold, strict=True)):
        above = (codes == code) & (score > threshold)
        assert steps.selected[i] == weight[above].sum()
        assert steps.true_positives[i] == weight[above & y].sum()
        assert steps.squares.selected[i] == (weight[above] ** 2).sum()
        assert steps.squares.true_positives[i] == (weight[above & y] ** 2).sum()
        wrong = ((score > threshold) != y) & (codes == code)
        assert steps.correct[i] == pytest.approx(weight[(codes == code) & ~wrong].sum())
    assert steps.n.tolist() == [weight[codes == code].sum() for code in range(3)]
    assert steps.positives.tolist() == [weight[(codes == code) & y].sum() for code in range(3)]
    at = steps.step_at(0.25)
    counts = steps.counts_of(at)
    assert counts.selected.tolist() == [weight[(codes == code) & (score > 0.25)].sum() for code in range(3)]
    assert counts.squares.selected.tolist() == [
        (weight[(codes == code) & (score > 0.25)] ** 2).sum() for code in range(3)
    ]
    assert counts.squares.n.tolist() == [(weight[codes == code] ** 2).sum() for code in range(3)]


def test_the_first_step_of_a_group_selects_everybody_and_the_last_nobody_each_distinct_score_once():
    steps = ScoreSteps.from_scores([1, 0, 1, 1], [0.5, 0.5, 2.0, 0.5], sensitive_features=["b", "b", "b", "a"])
    assert steps.groups.tolist() == ["a", "b"]
    assert steps.start.tolist() == [0, 2, 5]
    assert steps.group.tolist() == [0, 0, 1, 1, 1]
    assert steps.threshold.tolist() == [-np.inf, 0.5, -np.inf, 0.5, 2.0]
    assert steps.selected.tolist() == [1, 0, 3, 1, 0]
    assert steps.true_positives.tolist() == [1, 0, 2, 1, 0]
    assert steps.n.tolist() == [1, 3]
    assert steps.positives.tolist() == [1, 2]
    assert [steps.step_at(t).tolist() for t in (-np.inf, 0.4, 0.5, 1.9, 2.0, 9.0)] == [
        [0, 2],
        [0, 2],
        [1, 3],
        [1, 3],
        [1, 4],
        [1, 4],
    ]
    assert all(values.dtype.kind == "i" for values in (steps.selected, steps.true_positives, steps.n, steps.positives))


def test_a_frame_of_steps_has_every_count_share_and_interval():
    steps = ScoreSteps.from_scores([1, 0, 1, 1], [0.5, 0.5, 2.0, 0.5], sensitive_features=["b", "b", "b", "a"])
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


def test_a_frame_is_of_one_group_that_is_known_and_meant():
    several = ScoreSteps.from_scores(
        [1, 0, 1], [1, 2, 3], sensitive_features=pd.DataFrame({"g": ["a", "a", "b"], "h": [1, 2, 1]})
    )
    assert several.to_frame(("a", 2))["selected"].tolist() == [1, 0]
    assert (
        str(refusal(lambda: several.to_frame("a")))
        == "'a' names several groups; name one: ('a', 1), ('a', 2), ('b', 1)."
    )
    sites = pd.DataFrame({"g": ["a"] * 12, "h": range(12)})
    with pytest.raises(ValueError, match="and 2 more"):
        ScoreSteps.from_scores([1, 0] * 6, range(12), sensitive_features=sites).to_frame("a")
    many = ScoreSteps.from_scores(np.arange(20) % 2, np.arange(20), sensitive_features=np.arange(20))
    assert (
        str(refusal(lambda: many.to_frame(99)))
        == f"No group 99; known groups: {', '.join(map(str, range(10)))} and 10 more."
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y_true": [1, 2]}, "^y_true must"),
        ({"score": [1.0, np.nan]}, "^score has 1 missing"),
        ({"score": [1.0]}, "y_true has 2, score has 1"),
        ({"sample_weight": [1.0]}, "sample_weight"),
        ({"sensitive_features": ["a"]}, "sensitive_features has 1 rows, the rest 2"),
        ({"sensitive_features": ["a", None]}, "is missing for 1 row"),
    ],
)
def test_what_cannot_be_counted_is_refused_by_the_name_of_the_argument(arguments, message):
    with pytest.raises(ValueError, match=message):
        ScoreSteps.from_scores(**{"y_true": [1, 0], "score": [0.1, 0.2], **arguments})


def test_people_without_a_group_can_be_one_of_their_own_at_every_step():
    steps = ScoreSteps.from_scores([1, 0], [1, 2], sensitive_features=["a", None], missing="own_group")
    assert steps.groups.tolist() == ["a", "(missing)"]


def test_weights_of_one_group_leave_no_rounding_in_another():
    y, score, weight = np.ones(4, bool), np.array([1.0, 2.0, 1.0, 2.0]), np.array([0.1, 0.2, 1e17, 1e17])
    steps = ScoreSteps.from_codes(y, score, np.array([0, 0, 1, 1]), pd.Index(["a", "b"]), weight)
    assert steps.selected[:3].tolist() == [0.2 + 0.1, 0.2, 0.0]


def test_groups_of_which_nobody_is_there_have_one_step_at_which_nobody_is_selected():
    steps = ScoreSteps.from_codes(np.array([True]), np.array([1.0]), np.array([0]), pd.Index(["a", "b", "c"]))
    assert steps.start.tolist() == [0, 2, 3, 4]
    assert steps.selected.tolist() == [1, 0, 0, 0]
    assert steps.n.tolist() == [1, 0, 0]
