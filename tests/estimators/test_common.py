"""All classifiers: scikit-learn's contract, groups, labels, weights, metadata routing."""

from inspect import signature

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from selfselect import (
    ApplicationWarning,
    GroupThresholdClassifier,
    NaiveClassifier,
    PaperClassifier,
    PublishedStatistics,
    SemiStrategicClassifier,
    StrategicClassifier,
)
from selfselect.datasets import make_base_rate_groups
from selfselect.metrics import induced_accuracy, induced_accuracy_scorer
from selfselect.publishing import CrossFit, Holdout, LowerBound, Precision, TrainingSet

ALL = (NaiveClassifier, SemiStrategicClassifier, StrategicClassifier)


def split_by_rows(estimator):
    """Weights never add people: a weight of 2 is not a row twice where the number of people matters."""
    if isinstance(estimator, NaiveClassifier):
        return {}
    if estimator.publish == "train" and not isinstance(estimator, StrategicClassifier):
        return {}
    return {
        f"check_sample_weight_equivalence_on_{kind}_data": "weights never add people" for kind in ("dense", "sparse")
    }


@pytest.mark.filterwarnings(
    "ignore::selfselect.ApplicationWarning",
    "ignore::sklearn.exceptions.SkipTestWarning",
    "ignore::sklearn.exceptions.ConvergenceWarning",
)
@parametrize_with_checks(
    [
        NaiveClassifier(),
        SemiStrategicClassifier(),
        SemiStrategicClassifier(publish="train"),
        StrategicClassifier(),
        StrategicClassifier(publish="train"),
        PaperClassifier(n_starts=2, max_iter=300, settings={"dtype": "float64"}),
    ],
    expected_failed_checks=split_by_rows,
)
def test_they_are_scikit_learn_estimators(estimator, check):
    check(estimator)


@pytest.mark.parametrize("cls", [*ALL, GroupThresholdClassifier, PaperClassifier])
def test_they_share_parameters_and_have_no_more_than_14(cls):
    names = set(signature(cls).parameters)
    assert {"cost", "subsidies", "subsidy_kind", "behaviour", "publish", "pos_label"} <= names
    assert len(names) <= 14


PUBLISH = ["train", TrainingSet(LowerBound(0.8)), Holdout(0.4, Precision()), CrossFit(KFold(3), LowerBound(0.8))]


@pytest.mark.filterwarnings("ignore::selfselect.ApplicationWarning")
@pytest.mark.parametrize("cls", ALL)
def test_publishing_is_cloned_set_and_searched_like_any_parameter(cls, people):
    X, y, z = people
    for publish in PUBLISH[:3]:
        assert clone(cls(publish=publish)).publish == publish
    assert clone(cls(publish=PUBLISH[3])).publish.cv.n_splits == 3
    model = cls(cost=0.6).fit(X, y, sensitive_features=z).set_params(publish=PUBLISH[2])
    assert model.fit(X, y, sensitive_features=z).published_.counts.n.sum() == pytest.approx(0.4 * len(y), abs=2)
    with config_context(enable_metadata_routing=True):
        folds, scorer = KFold(2, shuffle=True, random_state=0), induced_accuracy_scorer(nobody=0.0)
        search = GridSearchCV(cls(cost=0.6), {"publish": PUBLISH}, scoring=scorer, cv=folds, error_score="raise")
        search.fit(X, y, sensitive_features=z)
    assert search.best_estimator_.publish == search.best_params_["publish"]
    assert search.cv_results_["mean_test_score"].min() > 0


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


@pytest.mark.parametrize(
    ("cls", "settings", "message"),
    [
        (StrategicClassifier, {"cost": 0.99, "margin": 0.02}, r"cost \+ margin must be below 1"),
        (StrategicClassifier, {"margin": "much"}, "margin must be a number"),
        (StrategicClassifier, {"solver": "gradient_descent"}, "solver must be one of"),
        (StrategicClassifier, {"shut_out": "forbid"}, "shut_out must be one of"),
        (StrategicClassifier, {"max_iter": 0}, "max_iter must be a whole number of at least 1"),
        (StrategicClassifier, {"l2": -1}, "l2 must be a number of at least 0"),
        (StrategicClassifier, {"constraints": [0.3]}, "constraints must be a list of constraints"),
        (StrategicClassifier, {"publish": "test"}, "publish must be one of"),
        (SemiStrategicClassifier, {"grid": "fine"}, "grid must be a whole number of at least 2"),
        (SemiStrategicClassifier, {"caution": -1}, "caution must be"),
        (SemiStrategicClassifier, {"margin": 0.5}, r"cost \+ margin must be below 1"),
        (SemiStrategicClassifier, {"constraints": [0.3]}, "constraints must be a list of constraints"),
    ],
)
def test_wrong_settings_are_refused_by_name(people, cls, settings, message):
    X, y, z = people
    with pytest.raises((ValueError, TypeError), match=message):
        cls(**settings).fit(X, y, sensitive_features=z)
