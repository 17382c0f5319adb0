"""Metrics per row, by a loop over people, by scikit-learn and in fairlearn's frames."""

import numpy as np
import pytest
from fairlearn.metrics import MetricFrame
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score

import reference
from drawn import decided_people
from selfselect import PublishedStatistics
from selfselect.metrics import (
    applicant_utility,
    application_rate,
    assumed_accuracy,
    firm_utility,
    induced_accuracy,
    outcome,
    social_cost,
)


@given(decided_people, st.sampled_from([0.0, 0.4, 0.5, 0.75, 1.0]))
def test_metrics_equal_those_of_a_loop_over_people(people, cost):
    y, yhat, z = (list(column) for column in zip(*people, strict=True))
    published = PublishedStatistics.from_predictions(y, yhat, sensitive_features=z)
    decided, mask = published.applies(cost), published.applies_to(z, cost)
    expected = reference.applies(y, yhat, z, cost)

    def same(value, truth):
        return np.isnan(value) if truth is None else value == pytest.approx(truth)

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


@given(decided_people, st.floats(0, 1))
def test_utility_of_a_group_is_its_selection_rate_times_precision_minus_cost(people, cost):
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


@given(decided_people, st.sampled_from([0.0, 0.3, 1.0, 2.5]), st.sampled_from([0.0, 0.4, 1.0]), st.data())
def test_the_firms_utility_equals_that_of_a_loop_over_people(people, gain, price, data):
    y, yhat, _ = (list(column) for column in zip(*people, strict=True))
    shares = data.draw(st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=len(y), max_size=len(y)))
    weights = data.draw(st.lists(st.sampled_from([0.0, 1.0, 3.0]), min_size=len(y), max_size=len(y)))
    total = 0.0
    for label, selected, share, weight in zip(y, yhat, shares, weights, strict=True):
        if selected:
            total += weight * share * ((gain if label else 0.0) - price)
    utility = firm_utility(y, yhat, applies=shares, gain=gain, price=price, sample_weight=weights)
    assert np.isnan(utility) if sum(weights) == 0 else utility == pytest.approx(total / sum(weights))


def test_the_firms_utility_is_0_if_nobody_applies_and_prices_must_be_numbers():
    assert firm_utility([1, 0], [1, 1], applies=[False, False], price=0.4) == 0
    assert firm_utility([1, 0], [1, 1], applies=[True, False], price=0.4, gain=2.0) == pytest.approx(0.8)
    for wrong in ({"price": -1}, {"price": np.nan}, {"price": 0.5, "gain": "much"}):
        with pytest.raises(ValueError, match="must be a number of at least 0"):
            firm_utility([1, 0], [1, 1], applies=[True, True], **wrong)


@given(decided_people, st.sampled_from([0.3, 0.5, 0.8]))
def test_a_firm_that_pays_the_applicants_cost_has_their_utility(people, cost):
    y, yhat, z = (list(column) for column in zip(*people, strict=True))
    mask = PublishedStatistics.from_predictions(y, yhat, sensitive_features=z).applies_to(z, cost)
    firm = firm_utility(y, yhat, applies=mask, price=cost)
    assert firm == pytest.approx(applicant_utility(y, yhat, cost=cost, applies=mask))
    assert firm >= -1e-9  # who applies has a precision of at least the cost
