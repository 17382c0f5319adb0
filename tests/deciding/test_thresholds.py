import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from drawn import curves_of, scored_people, thresholds_to_try
from selfselect import PublishedStatistics, ThresholdCurves
from selfselect.datasets import make_precision_curves
from selfselect.metrics import firm_utility, outcome

costs = st.sampled_from([0.0, 0.3, 0.5, 0.6, 0.75, 1.0])


@given(scored_people, costs)
def test_outcomes_over_all_thresholds_are_those_of_each_threshold_alone(rows, cost):
    y, score, z, curves = curves_of(rows)
    table = curves.outcomes(cost)
    assert table["threshold"].tolist() == [-np.inf, *sorted(set(score))]
    for row in table.itertuples():
        published = PublishedStatistics.from_scores(y, score, threshold=row.threshold, sensitive_features=z)
        expected = outcome(published, published.applies(cost))
        assert (row.induced_accuracy, row.assumed_accuracy, row.application_rate, row.social_cost) == pytest.approx(
            (
                expected.induced_accuracy,
                expected.assumed_accuracy,
                expected.application_rate,
                expected.social_cost,
            ),
            nan_ok=True,
        )
        assert row.applying_groups == expected.applying_groups
        selected, applies = [s > row.threshold for s in score], published.applies_to(z, cost)
        found = 2 * row.hired - 0.3 * row.tested
        assert found == pytest.approx(firm_utility(y, selected, applies=applies, gain=2, price=0.3))


@given(scored_people, costs, st.lists(st.floats(0.1, 3), min_size=30, max_size=30))
def test_weighted_outcomes_agree_with_each_threshold_alone(rows, cost, weights):
    y, score, z, curves = curves_of(rows, sample_weight=weights[: len(rows)])
    for row in curves.outcomes(cost).itertuples():
        published = PublishedStatistics.from_scores(
            y, score, threshold=row.threshold, sensitive_features=z, sample_weight=weights[: len(rows)]
        )
        expected = outcome(published, published.applies(cost))
        assert row.induced_accuracy == pytest.approx(expected.induced_accuracy, nan_ok=True)
        assert row.applying_groups == expected.applying_groups


@given(scored_people, costs)
def test_application_intervals_cover_exactly_the_thresholds_at_which_a_group_applies(rows, cost):
    y, score, z, curves = curves_of(rows)
    intervals = curves.application_intervals(cost)
    grid = thresholds_to_try(score)
    for group, row in intervals.iterrows():
        when = [t for t in grid if reference.applies(y, [s > t for s in score], z, cost)[group]]
        assert row["applies_from"] == (min(when) if when else np.inf)
        assert all(t < row["applies_until"] for t in when)
        if when:
            steps = curves.to_frame(group)
            runs = np.diff(np.r_[0, [t in when for t in steps["threshold"]], 0])
            assert row["pieces"] == (runs == 1).sum()
        else:
            assert (row["applies_until"], row["pieces"]) == (-np.inf, 0)


@given(scored_people)
def test_the_score_is_calibrated_iff_precision_never_falls_as_the_threshold_rises(rows):
    _, _, _, curves = curves_of(rows)
    for group, calibrated in curves.is_calibrated().items():
        precision = curves.to_frame(group)["precision"].dropna()
        assert calibrated == (np.diff(precision) >= -1e-12).all()


@given(scored_people, costs)
def test_a_calibrated_group_applies_on_one_interval_that_ends_at_its_largest_score(rows, cost):
    _, score, z, curves = curves_of(rows)
    calibrated = curves.is_calibrated()
    intervals = curves.application_intervals(cost)
    for group in calibrated.index[calibrated]:
        row = intervals.loc[group]
        assert row["pieces"] <= 1
        if row["pieces"]:
            assert row["applies_until"] == max(s for s, g in zip(score, z, strict=True) if g == group)


@given(scored_people, costs)
def test_a_calibrated_group_whose_base_rate_reaches_the_cost_applies_from_the_lowest_threshold(rows, cost):
    _, _, _, curves = curves_of(rows)
    everyone = curves.at(-np.inf)
    reaches = everyone.applies(cost) & curves.is_calibrated()
    assert (curves.application_intervals(cost)["applies_from"][reaches] == -np.inf).all()


@given(scored_people, costs, st.integers(0, 3))
def test_the_best_threshold_of_each_group_is_the_best_of_all_that_bring_it_in(rows, cost, least):
    _, _, _, curves = curves_of(rows)
    best = curves.best_by_group(cost, min_selected=least)
    for code, group in enumerate(curves.groups):
        options = []
        for t in curves.to_frame(group)["threshold"]:
            table = curves.at(t)
            if table.applies(cost)[group] and table.counts.selected[code] >= least:
                options.append((table.counts.accuracy[code], -t))
        if not options:
            assert best.loc[group].isna().all()
            continue
        accuracy, threshold = max(options)
        assert best.loc[group, "accuracy"] == pytest.approx(accuracy)
        assert best.loc[group, "threshold"] == -threshold


def test_subsidies_move_a_group_forward_in_the_order():
    bunch = make_precision_curves()
    curves = ThresholdCurves.from_scores(bunch.target, bunch.data["x"], sensitive_features=bunch.group)
    before = curves.application_order(0.8)
    last = before.index[-1]
    after = curves.application_order(0.8, subsidies={last: 0.8})
    assert np.isinf(before[last])
    assert after.index[0] == last or after[last] == -np.inf
    assert before.drop(last).equals(after.drop(last).reindex(before.drop(last).index))


def test_many_groups_and_rows_of_one_person_each():
    rng = np.random.default_rng(1)
    n = 20_000
    y, score, z = rng.integers(0, 2, n), rng.normal(size=n), rng.permutation(n)
    curves = ThresholdCurves.from_scores(y, score, sensitive_features=z)
    applies = curves.at(-np.inf).applies(0.5)
    assert applies.to_numpy().tolist() == (y[np.argsort(z)] == 1).tolist()
    assert pd.Series(curves.is_calibrated()).all()


def test_with_a_tolerance_only_those_count_who_clear_the_cost_by_it():
    rng = np.random.default_rng(2)
    y, score, z = rng.integers(0, 2, 200), rng.integers(0, 20, 200), rng.integers(0, 3, 200)
    curves = ThresholdCurves.from_scores(y, score, sensitive_features=z)
    assert curves.outcomes(0.5, tolerance=0.1).equals(curves.outcomes(0.6))
    cautious = curves.outcomes(0.5, tolerance="auto")
    assert (cautious["applying_groups"] <= curves.outcomes(0.5)["applying_groups"]).all()
    assert cautious["applying_groups"].sum() < curves.outcomes(0.5)["applying_groups"].sum()


def test_weights_of_one_group_leave_no_rounding_in_another():
    y, score, z = [1, 0, 1, 0], [1.0, 2.0, 1.0, 2.0], list("aabb")
    curves = ThresholdCurves.from_scores(y, score, sensitive_features=z, sample_weight=[1e17, 1e17, 1, 1])
    assert curves.n.tolist() == [2e17, 2]
    n = 200_000
    y = np.r_[np.ones(n), np.ones(7), np.zeros(3)]
    z = np.r_[np.zeros(n), np.ones(10)]
    score = np.r_[np.linspace(0, 1, n), np.ones(10)]
    weighted = ThresholdCurves.from_scores(y, score, sensitive_features=z, sample_weight=np.full(n + 10, 0.1))
    assert weighted.at(-np.inf).applies(0.7).all()


def test_subsidies_count_in_outcomes_and_in_the_best_thresholds():
    rng = np.random.default_rng(3)
    y, score, z = rng.integers(0, 2, 60), rng.integers(0, 9, 60), rng.choice(list("ab"), 60)
    curves = ThresholdCurves.from_scores(y, score, sensitive_features=z)
    costs = {"a": 0.8, "b": 0.5}
    assert curves.outcomes(0.8, {"b": 0.3}).equals(curves.outcomes(costs))
    assert curves.best_by_group(0.8, {"b": 0.3}).equals(curves.best_by_group(costs))
    half = {"a": 0.4, "b": 0.4}
    assert curves.outcomes(0.8, 0.5, subsidy_kind="proportional").equals(curves.outcomes(half))
    assert curves.best_by_group(0.8, 0.5, subsidy_kind="proportional").equals(curves.best_by_group(half))
    assert curves.application_intervals(0.8, 0.5, subsidy_kind="proportional").equals(
        curves.application_intervals(half)
    )
