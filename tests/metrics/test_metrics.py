import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import MetricFrame
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import accuracy_score

import reference
from selfselect import PublishedStatistics
from selfselect.metrics import (
    applicant_utility,
    application_rate,
    assumed_accuracy,
    induced_accuracy,
    outcome,
    rank_agreement,
    social_cost,
)

rows = st.lists(st.tuples(st.booleans(), st.booleans(), st.sampled_from("abc")), min_size=1, max_size=40)


@given(rows, st.sampled_from([0.0, 0.4, 0.5, 0.75, 1.0]))
def test_metrics_are_those_of_a_loop_over_people(people, cost):
    y, yhat, z = (list(column) for column in zip(*people, strict=True))
    published = PublishedStatistics.from_predictions(y, yhat, sensitive_features=z)
    decided, mask = published.applies(cost), published.applies_to(z, cost)
    expected = reference.applies(y, yhat, z, cost)

    def same(found, truth):
        return np.isnan(found) if truth is None else found == pytest.approx(truth)

    assert same(induced_accuracy(y, yhat, applies=mask), reference.induced_accuracy(y, yhat, z, expected))
    assert same(social_cost(y, applies=mask), reference.social_cost(y, z, expected))
    assert application_rate(applies=mask) == pytest.approx(np.mean([expected[g] for g in z]))
    result = outcome(published, decided)
    assert result.to_dict() == pytest.approx(
        {
            "assumed_accuracy": assumed_accuracy(y, yhat),
            "induced_accuracy": induced_accuracy(y, yhat, applies=mask),
            "applying_groups": sum(expected.values()),
            "application_rate": application_rate(applies=mask),
            "social_cost": social_cost(y, applies=mask),
        },
        nan_ok=True,
    )


@given(rows, st.floats(0, 1))
def test_utility_of_a_group_is_its_selection_rate_times_what_precision_gains_over_cost(people, cost):
    y, yhat, z = (np.array(column) for column in zip(*people, strict=True))
    published = PublishedStatistics.from_predictions(y, yhat, sensitive_features=z)
    utility = published.applicant_utility(cost)
    frame = published.to_frame()
    for group in published.groups:
        mine = z == group
        expected = frame.loc[group, "selection_rate"] * max(0, np.nan_to_num(frame.loc[group, "precision"]) - cost)
        assert utility[group] == pytest.approx(expected, abs=1e-12)
        assert applicant_utility(y[mine], yhat[mine], cost=cost) == pytest.approx(expected, abs=1e-12)


def test_utility_follows_the_decision_when_it_is_given():
    y, yhat = [1, 0, 1, 0], [1, 1, 1, 0]
    assert applicant_utility(y, yhat, cost=0.5, applies=[1, 1, 0, 0]) == pytest.approx((0.5 - 0.5) / 4)
    assert applicant_utility(y, yhat, cost=[0.5, 0.25, 1, 1], applies=[1, 1, 1, 1]) == pytest.approx(0.25 / 4)


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series, lambda v: pd.Series(v).astype("boolean")])
def test_metrics_take_lists_arrays_and_series(kind):
    y, yhat, mask = kind([1, 0, 1, 0]), kind([1, 0, 0, 0]), kind([1, 1, 1, 0])
    assert induced_accuracy(y, yhat, applies=mask) == pytest.approx(2 / 3)
    assert social_cost(y, applies=mask) == 0
    assert application_rate(applies=mask) == 0.75


def test_weights_count_as_repetitions():
    y, yhat, mask = np.array([1, 0, 1, 0]), np.array([1, 1, 0, 0]), np.array([1, 1, 0, 1], dtype=bool)
    w = np.array([1, 2, 3, 0])
    again = {name: np.repeat(v, w) for name, v in (("y", y), ("yhat", yhat), ("mask", mask))}
    for metric in (induced_accuracy, social_cost, application_rate):
        assert metric(y, yhat, applies=mask, sample_weight=w) == metric(
            again["y"], again["yhat"], applies=again["mask"]
        )
    assert assumed_accuracy(y, yhat, sample_weight=w) == accuracy_score(y, yhat, sample_weight=w)
    assert applicant_utility(y, yhat, cost=0.3, applies=mask, sample_weight=w) == pytest.approx(
        applicant_utility(again["y"], again["yhat"], cost=0.3, applies=again["mask"])
    )


def test_nobody_applies_is_nan_and_nobody_qualified_too():
    assert np.isnan(induced_accuracy([1, 0], [1, 0], applies=[0, 0]))
    assert np.isnan(social_cost([0, 0], applies=[1, 0]))


def test_metrics_work_in_fairlearns_metric_frame():
    rng = np.random.default_rng(0)
    y, yhat, z = rng.integers(0, 2, 300), rng.integers(0, 2, 300), rng.choice(["a", "b", "c"], 300)
    published = PublishedStatistics.from_predictions(y, yhat, sensitive_features=z)
    cost = float(np.sort(published.precision)[1])
    mask = published.applies_to(z, cost)
    names = {"induced": induced_accuracy, "social": social_cost, "rate": application_rate}
    frame = MetricFrame(
        metrics=names,
        y_true=y,
        y_pred=yhat,
        sensitive_features=z,
        sample_params={name: {"applies": mask} for name in names},
    )
    applies = published.applies(cost)
    assert applies.sum() == 2
    assert frame.overall["induced"] == pytest.approx(accuracy_score(y[mask], yhat[mask]))
    assert frame.by_group["induced"].isna().tolist() == (~applies).tolist()
    assert frame.by_group["rate"].tolist() == applies.astype(float).tolist()
    assert frame.by_group["social"].tolist() == (~applies).astype(float).tolist()
    assert frame.overall["social"] == pytest.approx((y[~mask] == 1).sum() / (y == 1).sum())


ADULT_BASE_RATES = [0.2832, 0.1263, 0.1244, 0.2658]


def test_rank_agreement_agrees_with_scipy():
    rng = np.random.default_rng(0)
    for _ in range(20):
        mu, precision = rng.uniform(size=8), rng.uniform(size=8).round(1)
        found = rank_agreement(mu, precision)
        assert found.spearman == pytest.approx(stats.spearmanr(mu, precision).statistic)
        assert found.kendall == pytest.approx(stats.kendalltau(mu, precision).statistic)
        assert found.r2 == pytest.approx(np.corrcoef(mu, stats.rankdata(precision))[0, 1] ** 2)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=8))
def test_the_order_is_respected_iff_no_pair_of_groups_breaks_it(groups):
    mu, precision = np.array(groups).T / 4
    broken = any(mu[i] > mu[j] and precision[i] < precision[j] for i in range(len(mu)) for j in range(len(mu)))
    assert rank_agreement(mu, precision).respected == (not broken)


def test_r2_is_blind_to_direction_and_short_of_one_for_the_perfect_order():
    perfect = rank_agreement(ADULT_BASE_RATES, ADULT_BASE_RATES)
    reverse = rank_agreement(ADULT_BASE_RATES, [-mu for mu in ADULT_BASE_RATES])
    assert perfect.r2 == pytest.approx(0.847, abs=0.001)
    assert reverse.r2 == pytest.approx(0.847, abs=0.001)
    assert (perfect.kendall, perfect.respected) == (1, True)
    assert (reverse.kendall, reverse.respected) == (pytest.approx(-1), False)


def test_naive_learning_on_adult_does_not_follow_base_rates(adult_splits):
    found = []
    for model, X, y, z, *_ in adult_splits:
        table = PublishedStatistics.from_estimator(model, X, y, sensitive_features=z)
        found.append(rank_agreement(table.base_rate, table.precision))
    # the paper has .219, from 30,000 steps of gradient descent, short of convergence
    assert np.mean([a.r2 for a in found]) == pytest.approx(0.264, abs=0.01)
    assert not any(a.respected for a in found)


def test_rank_agreement_matches_series_by_group_and_leaves_undefined_precisions_out():
    mu = pd.Series({"a": 0.1, "b": 0.2, "c": 0.3})
    precision = pd.Series({"c": 0.9, "b": np.nan, "a": 0.5})
    found = rank_agreement(mu, precision)
    assert (found.kendall, found.respected, found.n_groups) == (1, True, 2)
    with pytest.raises(ValueError, match="same groups"):
        rank_agreement(mu, precision.drop("a"))
    one = rank_agreement([0.1], [0.2])
    assert np.isnan(one.kendall)
    assert one.respected
    assert np.isnan(rank_agreement([0.1, 0.2], [0.3, 0.3]).r2)
    with pytest.raises(ValueError, match="one number per group"):
        rank_agreement([0.1, 0.2], [0.3])
    with pytest.raises(ValueError, match="base_rates has missing"):
        rank_agreement([0.1, np.nan], [0.3, 0.2])


def test_an_outcome_needs_a_decision_for_every_group_of_the_population():
    population = PublishedStatistics.from_predictions([1, 0], [1, 1], sensitive_features=["a", "b"])
    with pytest.raises(ValueError, match="says nothing about group"):
        outcome(population, pd.Series({"a": True}))
    for wrong in (pd.Series({"a": "no", "b": "no"}), pd.Series({"a": 1.0, "b": np.nan}), population.precision + 0.9):
        with pytest.raises((ValueError, TypeError), match="applies"):
            outcome(population, wrong)
    for wrong in ({"a": True, "b": True}, pd.Series([True, True], index=["a", "a"])):
        with pytest.raises(TypeError, match="applies must be a Series"):
            outcome(population, wrong)
    result = outcome(population, pd.Series({"a": True, "b": False, "elsewhere": True}))
    assert (result.applying_groups, result.induced_accuracy) == (2, 1.0)
