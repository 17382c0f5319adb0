"""A model of a table as a JSON file: nothing in it is executed, nothing unknown is read."""

import json
import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from applicants import applicants, text_columns
from selfselect import NaiveClassifier, SemiStrategicClassifier
from selfselect.counting import encode_groups
from selfselect.tabular.loading import TrainingTable
from selfselect.tabular.models import TableModel, load_table_model
from selfselect.tabular.training import train_on_table


@pytest.fixture(scope="module")
def people():
    return applicants()


def model_of(people, classifier, groups):
    columns = text_columns(people.drop(columns="hired"))
    table = TrainingTable(columns, people["hired"].to_numpy(), encode_groups(groups, missing="own_group"), "own_group")
    return train_on_table(table, classifier, holdout=0).model


@pytest.fixture(scope="module")
def naive(people):
    return model_of(people, NaiveClassifier(cost=0.7), people["z"])


@pytest.fixture(scope="module")
def semi(people):
    return model_of(people, SemiStrategicClassifier(cost=0.7), people["z"])


def test_a_model_read_back_predicts_bit_for_bit_the_same(semi, people, tmp_path):
    (tmp_path / "model.json").write_text(semi.to_json())
    again = load_table_model(tmp_path / "model.json")
    columns = text_columns(people)
    assert (semi.score(columns) == again.score(columns)).all()
    assert again.to_json() == semi.to_json()
    assert TableModel.from_dict(json.loads(semi.to_json())).groups == ("z",)


@pytest.mark.parametrize(
    "inner", [RandomForestClassifier(5, random_state=0), make_pipeline(StandardScaler(), LinearSVC(max_iter=5000))]
)
def test_a_model_with_another_classifier_inside_predicts_bit_for_bit_the_same(inner, people, tmp_path, monkeypatch):
    model = model_of(people, SemiStrategicClassifier(inner, cost=0.7), people["z"])
    (tmp_path / "model.json").write_text(model.to_json())
    again = load_table_model(tmp_path / "model.json")
    assert (model.score(text_columns(people)) == again.score(text_columns(people))).all()
    assert again.classifier.applies().equals(model.classifier.applies())
    monkeypatch.setitem(sys.modules, "skops", None)
    with pytest.raises(ValueError, match=r"model\.json: .*pip install 'selfselect\[skops\]'"):
        load_table_model(tmp_path / "model.json")


def test_people_decide_by_the_name_of_their_group_and_strangers_are_told_apart(people):
    z = people["z"].where(people.index % 5 > 0)
    model = model_of(people, NaiveClassifier(cost=0.7), z)
    decided = model.classifier.applies()
    applies, known = model.applies_to(pd.DataFrame({"z": ["Q", None, "C", "A"]}))
    assert known.tolist() == [False, True, True, True]
    expected = dict(zip(decided.index, decided, strict=True))
    assert applies.tolist() == [False, expected["(missing)"], expected["C"], expected["A"]]


class Bomb:
    """Would leave a mark if anything ever unpickled it."""

    def __reduce__(self):
        return (open, ("pwned-by-pickle", "w"))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda text: pickle.dumps(Bomb()), "Pickles are never read"),
        (lambda text: text[: len(text) // 2].encode(), "not JSON"),
        (lambda text: b"", "not JSON"),
        (lambda text: b"[" * 100_000, "not JSON"),
        (lambda text: b"[1, 2]", "no selfselect-table-model"),
        (lambda text: text.replace('"schema": 1', '"schema": 99', 1).encode(), "schema version 99"),
        (lambda text: text.replace('"groups"', '"gruops"', 1).encode(), "unknown parts"),
        (lambda text: text.replace('"class": "NaiveClassifier"', '"class": "os.system"').encode(), "unknown"),
        (lambda text: text.replace('"intercept": ', '"intercept": NaN, "x": ').encode(), "no number"),
        (lambda text: text.replace('"kind": "number"', '"kind": "exec"', 1).encode(), "unknown kind"),
        (lambda text: text.replace('"scale": ', '"scale": -', 1).encode(), r"columns\[1\].scale is -[0-9.]*, which no"),
        (lambda text: text.replace('"name": "age"', '"name": "pay"').encode(), "twice"),
        (lambda text: b'{"format": "selfselect-table-model", "schema": 1, "n": ' + b"9" * 10_000 + b"}", "not JSON"),
        (lambda text: b" " * (65 * 2**20), "more than"),
    ],
)  # fmt: skip
def test_a_model_file_that_is_not_one_is_refused_and_nothing_runs(naive, tmp_path, monkeypatch, damage, words):
    monkeypatch.chdir(tmp_path)
    bad = tmp_path / "bad.json"
    bad.write_bytes(damage(naive.to_json()))
    with pytest.raises(ValueError, match=words) as error:
        load_table_model(bad)
    assert "bad.json" in str(error.value)
    assert not (tmp_path / "pwned-by-pickle").exists()


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("classifier", "fitted", "coef", 0), "1.5", r"classifier\.fitted\.coef\[0\] is '1\.5', not a number"),
        (("classifier", "fitted", "coef", 1), 1e308, r"classifier\.fitted\.coef\[1\] is 1e\+308, too large"),
        (("classifier", "fitted", "coef", 1), True, r"classifier\.fitted\.coef\[1\] is True, not a number"),
        (("classifier", "fitted", "coef"), "12", r"classifier\.fitted\.coef is '12', not a list of numbers"),
        (("classifier", "fitted", "intercept"), -1e308, r"classifier\.fitted\.intercept is -1e\+308, too large"),
        (("classifier", "fitted", "threshold"), "0", r"classifier\.fitted\.threshold is '0', not a number"),
        (("classifier", "fitted", "n_features"), 2.5, r"classifier\.fitted\.n_features is 2\.5, not a whole"),
        (("classifier", "published", "n", 0), "500", r"classifier\.published\.n\[0\] is '500', not a number"),
        (("columns", 0, "name"), 5, r"columns\[0\]\.name is 5, not a text"),
        (("columns", 0, "mean"), "0", r"columns\[0\]\.mean is '0', not a number"),
        (("columns", 0, "scale"), 1e-300, r"columns\[0\]\.scale is 1e-300, which no column can be divided by"),
        (("columns", 0, "flag"), "no", r"columns\[0\]\.flag is 'no', neither true nor false"),
        (("groups", 0), 5, r"groups\[0\] is 5, not a text"),
        (("groups",), "z", r"groups is 'z', not a list of texts"),
        (("columns", -1, "values"), "ab", r"columns\[\d\]\.values is 'ab', not a list of texts"),
        (("classifier", "params", "cost"), "0.5", r"classifier\.params\.cost is '0\.5', not a number"),
        (("classifier", "params", "cost"), True, r"classifier\.params\.cost is True, not a number"),
        (("classifier", "params", "cost"), {"dict": [["A", "1"]]}, r"classifier\.params\.cost\.A is '1', not a number"),
        (("classifier", "params", "cost"), {"list": ["1"]}, r"classifier\.params\.cost\[0\] is '1', not a number"),
        (("classifier", "params", "subsidies"), "0.1", r"classifier\.params\.subsidies is '0\.1', not a number"),
        (("classifier", "params", "confidence"), "0.9", r"classifier\.params\.confidence is '0\.9', not a number"),
        (("classifier", "params", "guarantee"), "no", r"classifier\.params\.guarantee is 'no', neither true nor"),
    ],
)
def test_a_value_of_the_wrong_kind_or_an_absurd_size_is_refused_by_its_path(semi, tmp_path, path, value, words):
    content = json.loads(semi.to_json())
    content["columns"].sort(key=lambda column: column["kind"] != "number")
    part = content
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    (tmp_path / "bad.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=rf"bad\.json: It is damaged: {words}"):
        load_table_model(tmp_path / "bad.json")


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ('"intercept": ', '"intercept": 1, "intercept": ', "classifier.fitted.intercept"),
        ('"schema": 1', '"schema": 1, "schema": 1', "schema"),
        ('"kind": ', '"kind": "number", "kind": ', r"columns\[0\].kind"),
    ],
)
def test_a_key_that_is_there_twice_is_refused_by_its_path(semi, tmp_path, old, new, path):
    (tmp_path / "bad.json").write_text(semi.to_json().replace(old, new, 1))
    with pytest.raises(ValueError, match=f"bad.json is no model that can be relied on: it holds {path} twice"):
        load_table_model(tmp_path / "bad.json")


def test_thousands_of_damaged_model_files_are_refused_or_read(semi, tmp_path):
    text, path = semi.to_json(), tmp_path / "fuzz.json"
    rng = np.random.default_rng(0)
    pieces = ["null", "-1", "[]", "{}", '"x"', "1e999", "true", ",", "}", "NaN", '"list"', "\x00"]
    refused = []
    for _ in range(2000):
        at = int(rng.integers(len(text)))
        until = at + int(rng.integers(0, 12))
        path.write_text(text[:at] + pieces[rng.integers(len(pieces))] + text[until:])
        try:
            load_table_model(path)
        except ValueError as error:
            refused.append(str(error))
    assert len(refused) > 1000
    assert all("fuzz.json" in said for said in refused)
