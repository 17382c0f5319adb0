"""Saving classifiers, and loading them without trusting the file."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from selfselect import (
    GroupThresholdClassifier,
    NaiveClassifier,
    SemiStrategicClassifier,
    StrategicClassifier,
    load_model,
    save_model,
)

ALL = (NaiveClassifier, SemiStrategicClassifier, StrategicClassifier)


@pytest.mark.parametrize("cls", ALL)
def test_a_saved_model_predicts_bit_for_bit_the_same(cls, people, tmp_path):
    X, y, z = people
    model = cls(cost={"z0": 0.7, "z1": 0.6, "z2": 0.65}, subsidies={"z1": 0.05}).fit(X, y, sensitive_features=z)
    path = tmp_path / "model.json"
    model.save(path)
    again = load_model(path)
    assert type(again) is cls
    assert (again.decision_function(X) == model.decision_function(X)).all()
    assert (again.predict(X) == model.predict(X)).all()
    assert again.published_ == model.published_
    assert again.applies().equals(model.applies())
    assert again.get_params() == model.get_params()
    assert [p.name for p in tmp_path.iterdir()] == ["model.json"]


def test_labels_and_groups_of_other_kinds_survive(people, tmp_path):
    X, y, _ = people
    z = pd.DataFrame({"site": np.arange(len(y)) % 2, "adult": np.arange(len(y)) % 3 == 0})
    model = StrategicClassifier(cost=0.6, require=[(0, True)], pos_label="yes").fit(
        X.to_numpy(), np.where(y == 1, "yes", "no"), sensitive_features=z
    )
    save_model(model, tmp_path / "m.json")
    again = load_model(tmp_path / "m.json")
    assert again.published_ == model.published_
    assert again.published_.groups.names == ["site", "adult"]
    assert (again.predict(X.to_numpy()) == model.predict(X.to_numpy())).all()
    assert clone(again).require == [(0, True)]


def test_settings_of_the_inner_regression_survive(people, tmp_path):
    X, y, z = people
    inner = LogisticRegression(C=0.01)
    for model in (
        NaiveClassifier(inner, cost=0.6).fit(X, y, sensitive_features=z),
        SemiStrategicClassifier(clone(inner).fit(X, y), cost=0.6, prefit=True).fit(X, y, sensitive_features=z),
    ):
        model.save(tmp_path / "m.json")
        again = load_model(tmp_path / "m.json")
        assert again.estimator.C == 0.01
        assert (again.fit(X, y, sensitive_features=z).predict(X) == model.predict(X)).all()
    with pytest.raises(NotFittedError):
        NaiveClassifier().save(tmp_path / "m.json")


def test_what_is_no_model_is_refused_and_nothing_is_executed(people, tmp_path):
    import pickle

    X, y, z = people
    model = StrategicClassifier(cost=0.6).fit(X, y, sensitive_features=z)
    path = tmp_path / "m.json"
    model.save(path)
    good = json.loads(path.read_text())

    def refused(content, message):
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        with pytest.raises(ValueError, match=message):
            load_model(path)

    refused(pickle.dumps(model), "is not JSON.*Pickles are never read")
    refused(json.dumps(good).encode()[:200], "is not JSON")
    refused(b"[" * 100_000, "is not JSON")
    refused([], "no selfselect-model")
    refused(json.dumps(good | {"fitted": good["fitted"] | {"intercept": float("nan")}}).encode(), "it holds NaN")
    refused(good | {"schema": 99}, "schema version 99; this version reads 1 to 2")
    refused(good | {"class": "os.system"}, "something unknown")
    refused(good | {"surprise": 1}, "something unknown")
    refused(good | {"params": good["params"] | {"surprise": 1}}, "parameters are not those")
    refused(good | {"fitted": good["fitted"] | {"coef": [1.0]}}, "damaged")
    refused(good | {"fitted": {}}, "damaged")
    refused(good | {"schema": True}, "schema version True")
    for wrong in (
        {"coef": [{"float": "inf"}] * 4},
        {"intercept": 10**400},
        {"classes": {"list": [1, 1]}},
        {"feature_names": ["one"]},
        {"constraints_met": "no"},
    ):
        refused(good | {"fitted": good["fitted"] | wrong}, "damaged")
    refused(good | {"params": good["params"] | {"cost": "x"}}, r"damaged: params\.cost is 'x', not a number")
    refused(good | {"published": good["published"] | {"surprise": 1}}, "something unknown about what was published")
    refused(good | {"published": good["published"] | {"n": [1, 1, 1]}}, "positives")
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "nowhere.json")
    with pytest.raises(TypeError, match="estimator must be"):
        NaiveClassifier(5).fit(X, y, sensitive_features=z)
    with pytest.raises(TypeError, match="can be saved"):
        save_model(LogisticRegression(), path)


def test_thresholds_of_a_file_are_numbers_which_may_be_infinite(people, tmp_path):
    X, y, z = people
    model = GroupThresholdClassifier(cost=0.7).fit(X, y, sensitive_features=z)
    path = tmp_path / "m.json"
    model.save(path)
    good = json.loads(path.read_text())

    def read_with(value):
        thresholds = {"list": [value, *good["fitted"]["thresholds"]["list"][1:]]}
        path.write_text(json.dumps(good | {"fitted": good["fitted"] | {"thresholds": thresholds}}))
        return load_model(path)

    assert np.isinf(read_with({"float": "inf"}).thresholds_.iloc[0])
    for value, problem in (("0.5", "not a number"), (1e200, "too large"), (True, "not a number")):
        with pytest.raises(ValueError, match=rf"fitted.thresholds\[0\] is .*{problem}"):
            read_with(value)


def test_weights_that_would_not_be_read_back_are_not_written(people, tmp_path):
    X, y, z = people
    model = NaiveClassifier(cost=0.7).fit(X, y, sensitive_features=z)
    model.estimator_.coef_ = model.estimator_.coef_ * 1e200
    with pytest.raises(ValueError, match=r"weights beyond 1e\+100.*scale its features"):
        model.save(tmp_path / "m.json")
    assert not (tmp_path / "m.json").exists()
