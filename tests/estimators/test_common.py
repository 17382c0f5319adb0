"""All classifiers: scikit-learn's contract, groups, labels, weights, metadata routing."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from selfselect import (
    ApplicationWarning,
    NaiveClassifier,
    PublishedStatistics,
    SemiStrategicClassifier,
    StrategicClassifier,
)
from selfselect.datasets import make_base_rate_groups
from selfselect.metrics import induced_accuracy, induced_accuracy_scorer

ALL = (NaiveClassifier, SemiStrategicClassifier, StrategicClassifier)


@pytest.mark.filterwarnings(
    "ignore::selfselect.ApplicationWarning",
    "ignore::sklearn.exceptions.SkipTestWarning",
)
@parametrize_with_checks([NaiveClassifier(), SemiStrategicClassifier(), StrategicClassifier()])
def test_they_are_scikit_learn_estimators(estimator, check):
    check(estimator)


@pytest.mark.parametrize("cls", ALL)
def test_the_published_training_table_decides_who_applies(cls, people):
    X, y, z = people
    model = cls(cost=0.7, publish="train").fit(X, y, sensitive_features=z)
    table = PublishedStatistics.from_estimator(model, X, y, sensitive_features=z)
    assert model.published_ == table
    assert model.applies().equals(table.applies(0.7))
    assert model.applies(cost=0.2).equals(table.applies(0.2))
    assert model.applies(subsidies=0.7).equals(table.applies(0.7, subsidies=0.7))
    assert model.applies_to(z).tolist() == table.applies_to(z, 0.7).tolist()


@pytest.mark.parametrize("cls", ALL)
def test_new_people_decide_by_the_published_statistics(cls, people):
    X, y, z = people
    new_X, new_y, new_z = make_base_rate_groups((0.5, 0.3, 0.15), n_per_group=90, random_state=1, return_X_y_group=True)
    model = cls(cost=0.7).fit(X, y, sensitive_features=z)
    result = model.audit(new_X, new_y, new_z)
    mask = model.applies_to(new_z)
    assert result.induced_accuracy == pytest.approx(induced_accuracy(new_y, model.predict(new_X), applies=mask))
    assert result.applying_groups == model.applies().sum()
    with pytest.raises(ValueError, match="has no value for group"):
        model.audit(new_X, new_y, new_z.astype(object).replace("z0", "elsewhere"))


def test_an_audit_finds_group_columns_in_any_order(people):
    X, y, _ = people
    z = pd.DataFrame({"p": np.arange(len(y)) % 2, "q": np.arange(len(y)) // 800})
    model = NaiveClassifier(cost=0.7).fit(X, y, sensitive_features=z)
    assert model.audit(X, y, z[["q", "p"]]).outcome == model.audit(X, y, z).outcome
    scorer = induced_accuracy_scorer()
    assert scorer(model, X, y, sensitive_features=z[["q", "p"]]) == scorer(model, X, y, sensitive_features=z)


def test_labels_unknown_in_training_are_refused(people):
    X, y, z = people
    words = np.where(y == 1, "yes", "no")
    model = NaiveClassifier(cost=0.6, pos_label="yes").fit(X, words, sensitive_features=z)
    with pytest.raises(ValueError, match="not there in training: 0, 1; the classifier knows 'no', 'yes'"):
        model.audit(X, y, z)
    with pytest.raises(ValueError, match="not there in training"):
        induced_accuracy_scorer()(model, X, y, sensitive_features=z)


@pytest.mark.parametrize("cls", ALL)
def test_names_of_features_are_checked_at_predict(cls, people):
    X, y, z = people
    model = cls(cost=0.6).fit(X, y, sensitive_features=z)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X[X.columns[::-1]])


def test_nobody_applies_is_a_warning(people):
    _, y, z = people
    flat = np.ones((len(y), 1))
    for cls in ALL:
        with pytest.warns(ApplicationWarning, match="Nobody applies"):
            model = cls(cost=0.95).fit(flat, y, sensitive_features=z)
        assert not model.applies().any()
        assert np.isnan(model.audit(flat, y, z).induced_accuracy)


def test_a_cost_at_which_everyone_applies_anyway_is_a_warning(people):
    X, y, z = people
    with pytest.warns(ApplicationWarning, match="At this cost every group applies"):
        NaiveClassifier(cost=0.05).fit(X, y, sensitive_features=z)
    strategic = StrategicClassifier(cost=0.05).fit(X, y, sensitive_features=z)  # it keeps groups out all the same
    assert not strategic.applies().all()


@pytest.mark.filterwarnings("ignore::selfselect.ApplicationWarning")
@pytest.mark.parametrize("cls", ALL)
def test_relative_weights_are_scaled_to_the_number_of_people(cls, people):
    X, y, z = people
    plain = cls(cost=0.6).fit(X, y, sensitive_features=z)
    tiny = cls(cost=0.6).fit(X, y, sensitive_features=z, sample_weight=np.full(len(y), 1 / len(y)))
    assert tiny.published_.counts.n.sum() == pytest.approx(len(y))
    assert tiny.applies().tolist() == plain.applies().tolist()


def test_naive_equals_the_classifier_it_holds(people):
    X, y, z = people
    model = NaiveClassifier(cost=0.6).fit(X, y, sensitive_features=z)
    with threadpool_limits(1):  # as ours are fitted: several threads add up in another order
        plain = LogisticRegression(C=np.inf, max_iter=1000).fit(X, y)
    for method in ("predict", "predict_proba", "decision_function"):
        assert (getattr(model, method)(X) == getattr(plain, method)(X)).all()
    assert (model.coef_ == plain.coef_).all()
    assert (model.intercept_ == plain.intercept_).all()
