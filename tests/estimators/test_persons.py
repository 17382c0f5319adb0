"""Persons with several rows, and rows that are exact copies."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.model_selection import GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from selfselect import (
    GroupThresholdClassifier,
    NaiveClassifier,
    PromiseWarning,
    SemiStrategicClassifier,
    StrategicClassifier,
    accuracy_social_cost_frontier,
)
from selfselect.constraints import MaxSocialCost
from selfselect.publishing import CrossFit, Holdout

ALL = (NaiveClassifier, SemiStrategicClassifier, GroupThresholdClassifier, StrategicClassifier)
GUARANTEE = Holdout(0.4, guarantee=True)
quiet = pytest.mark.filterwarnings("ignore::selfselect.ApplicationWarning")


def everyone_twice(seed, n_persons=500):
    """Features without any information, labels, groups, and the person of each row, in random order."""
    rng = np.random.default_rng(seed)
    person = rng.permutation(np.tile(np.arange(n_persons), 2))
    X, y, z = rng.normal(size=(n_persons, 3)), rng.integers(0, 2, n_persons), rng.integers(0, 2, n_persons)
    return X[person], y[person], z[person], person


def broken(model, seeds, *, by_person):
    """Share of populations in which a group is told to apply. No group should be: the cost is above one half."""
    told = []
    for seed in seeds:
        X, y, z, person = everyone_twice(seed)
        model.fit(X, y, sensitive_features=z, person=person if by_person else None)
        told.append(model.applies().any())
    return np.mean(told)


@quiet
@pytest.mark.parametrize("publish", ["cross_fit", "holdout", GUARANTEE])
@pytest.mark.parametrize("cls", [NaiveClassifier, SemiStrategicClassifier])
def test_promises_about_people_with_two_rows_hold_only_if_their_rows_are_kept_together(cls, publish):
    tree = DecisionTreeClassifier(random_state=0)
    assert broken(cls(tree, cost=0.6, publish=publish), range(5), by_person=False) >= 0.6
    assert broken(cls(tree, cost=0.6, publish=publish), range(20), by_person=True) <= 0.1


@quiet
@pytest.mark.parametrize("publish", ["cross_fit", "holdout", GUARANTEE])
def test_two_equal_rows_of_each_person_count_like_one(publish):
    X, y, z, person = everyone_twice(0)
    _, first = np.unique(person, return_index=True)
    once = NaiveClassifier(cost=0.5, publish=publish).fit(X[first], y[first], sensitive_features=z[first])
    twice = NaiveClassifier(cost=0.5, publish=publish).fit(X, y, sensitive_features=z, person=person.astype(str))
    for counted, expected in zip(
        twice.published_.counts.effective_trials, once.published_.counts.effective_trials, strict=True
    ):
        assert counted == pytest.approx(expected, abs=1e-9)


@quiet
@pytest.mark.parametrize("cls", ALL)
def test_ids_that_are_all_different_change_nothing(cls, people):
    X, y, z = people
    plain, with_ids = (cls(cost=0.6).fit(X, y, sensitive_features=z, person=ids) for ids in (None, np.arange(len(y))))
    assert with_ids.published_ == plain.published_


@quiet
def test_copies_are_a_warning_unless_persons_are_given():
    X, y, z, person = everyone_twice(0)
    with pytest.warns(PromiseWarning, match=r"500 of 1000 rows are exact copies.*pass the id of each row's person"):
        NaiveClassifier(cost=0.55).fit(X, y, sensitive_features=z)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PromiseWarning)
        NaiveClassifier(cost=0.55).fit(X, y, sensitive_features=z, person=person)


@quiet
@pytest.mark.parametrize("levels", [2, 5, 12])
def test_people_of_the_same_categories_are_not_called_copies(levels):
    rng = np.random.default_rng(0)
    X = rng.integers(0, levels, (600, 3))
    y, z = (X.sum(axis=1) + rng.normal(0, 2, 600) > 1.5 * levels).astype(int), rng.integers(0, 2, 600)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PromiseWarning)
        NaiveClassifier(cost=0.3).fit(X, y, sensitive_features=z)


def test_ids_are_passed_by_metadata_routing(people):
    X, y, z = people
    with config_context(enable_metadata_routing=True):
        model = make_pipeline(StandardScaler(), NaiveClassifier(cost=0.3, publish=CrossFit(GroupKFold(3))))
        model.fit(X, y, sensitive_features=z, person=np.arange(len(y)) // 2)  # GroupKFold needs them
    assert model[-1].published_.counts.n.sum() == len(y)


@quiet
def test_a_frontier_over_limits_on_social_cost_takes_persons(people):
    X, y, z = people
    person = np.arange(len(y)) // 2
    settings = {"cost": 0.5, "limits": [1.0], "estimator": SemiStrategicClassifier(), "progress": False}
    made = accuracy_social_cost_frontier(X, y, sensitive_features=z, person=person, **settings)
    model = SemiStrategicClassifier(cost=0.5, constraints=[MaxSocialCost(1.0)])
    model.fit(X, y, sensitive_features=z, person=person)
    assert made["induced_accuracy"].iloc[0] == model.audit(X, y, z).induced_accuracy


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_wrong_ids_are_refused_by_name(people):
    X, y, z = people
    ids = pd.Series(np.arange(len(y)) // 2, dtype=float)
    for wrong, message in (
        (ids[:-1], "person has"),
        (ids.where(ids > 0), r"person has 2 missing value\(s\)"),
        (ids.to_frame().assign(more=0), "person must be one-dimensional"),
    ):
        with pytest.raises(ValueError, match=message):
            NaiveClassifier().fit(X, y, sensitive_features=z, person=wrong)
    with pytest.raises(ValueError, match=r"KFold.* separates rows of one person; pass a number of folds, GroupKFold"):
        NaiveClassifier(publish=CrossFit(KFold(3, shuffle=True, random_state=0))).fit(
            X, y, sensitive_features=z, person=ids
        )
