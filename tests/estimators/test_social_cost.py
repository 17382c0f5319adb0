"""Warnings about who stays away, and about people that a fitted estimator has seen before."""

import warnings

import pytest
from sklearn.linear_model import LogisticRegression

from selfselect import (
    ApplicationWarning,
    GroupThresholdClassifier,
    NaiveClassifier,
    PromiseWarning,
    SemiStrategicClassifier,
    ShutOutWarning,
)
from selfselect.constraints import MaxSocialCost
from selfselect.datasets import make_base_rate_groups
from selfselect.publishing import Holdout


@pytest.fixture(scope="module")
def crowd():
    return make_base_rate_groups((0.5, 0.45, 0.4), n_per_group=500, random_state=0, return_X_y_group=True)


def test_a_classifier_that_keeps_most_of_the_qualified_away_says_so(crowd):
    X, y, z = crowd
    with pytest.warns(ApplicationWarning, match=r"Most qualified people are expected to stay away: \d\d\.\d% of them"):
        GroupThresholdClassifier(cost=0.7).fit(X, y, sensitive_features=z)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ShutOutWarning)
        GroupThresholdClassifier(cost=0.7, constraints=[MaxSocialCost(0.5)]).fit(X, y, sensitive_features=z)
        NaiveClassifier(cost=0.6).fit(X, y, sensitive_features=z)


@pytest.mark.filterwarnings("ignore::selfselect.ApplicationWarning")
@pytest.mark.parametrize("cls", [GroupThresholdClassifier, SemiStrategicClassifier])
def test_a_guarantee_for_a_prefit_estimator_says_that_the_people_must_be_new(crowd, cls):
    X, y, z = crowd
    fitted = LogisticRegression().fit(X, y)
    with pytest.warns(PromiseWarning, match="all rows passed to fit are new to the estimator"):
        cls(fitted, prefit=True, cost=0.6, publish=Holdout(guarantee=True)).fit(X, y, sensitive_features=z)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cls(fitted, prefit=True, cost=0.6).fit(X, y, sensitive_features=z)
    assert not any("new to the estimator" in str(warning.message) for warning in caught)
