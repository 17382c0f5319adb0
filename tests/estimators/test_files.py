"""Saving classifiers, and loading them without trusting the file."""

import json
import os
import threading

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


@pytest.fixture
def fitted(people):
    X, y, z = people
    return [NaiveClassifier(cost=cost).fit(X, y, sensitive_features=z) for cost in (0.5, 0.55, 0.6, 0.65)]


def test_saving_replaces_a_planted_link_and_leaves_alone_what_it_leads_to(fitted, tmp_path):
    victim, path, nowhere = tmp_path / "victim", tmp_path / "m.json", tmp_path / "n.json"
    victim.write_text("mine")
    path.symlink_to(victim)
    nowhere.symlink_to(tmp_path / "new")
    for planted in (path, nowhere):
        fitted[0].save(planted)
        assert not planted.is_symlink()
        assert load_model(planted).get_params() == fitted[0].get_params()
    assert victim.read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == ["m.json", "n.json", "victim"]


def test_of_four_threads_that_save_to_one_path_each_saves_and_every_model_read_is_whole(fitted, tmp_path):
    path, failed, costs = tmp_path / "m.json", [], {model.cost for model in fitted}

    def save(model):
        try:
            for _ in range(15):
                model.save(path)
                assert load_model(path).cost in costs
        except BaseException as error:
            failed.append(error)

    writers = [threading.Thread(target=save, args=(model,)) for model in fitted]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert not failed
    assert os.listdir(tmp_path) == ["m.json"]


def test_saving_that_fails_leaves_the_old_model_and_nothing_half_written(fitted, tmp_path, monkeypatch):
    path = tmp_path / "m.json"
    fitted[0].save(path)
    before = path.read_bytes()

    def full(*whatever):
        raise OSError("the disk is full")

    for step in ("fsync", "replace"):
        with monkeypatch.context() as patched:
            patched.setattr(os, step, full)
            with pytest.raises(OSError, match="the disk is full"):
                fitted[1].save(path)
        assert os.listdir(tmp_path) == ["m.json"]
        assert path.read_bytes() == before
    with pytest.raises(NotFittedError):
        NaiveClassifier().save(path)
    assert path.read_bytes() == before
