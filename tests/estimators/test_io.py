"""Model files: what goes in comes out, and nothing else is read."""

import copy
import io
import json
import os
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators

from selfselect import (
    GroupThresholdClassifier,
    NaiveClassifier,
    PaperClassifier,
    SemiStrategicClassifier,
    StrategicClassifier,
    constraints,
    load_model,
    save_model,
)
from selfselect.behaviour import BestResponse, BetaBeliefs, LogitResponse, SigmoidResponse
from selfselect.counting import encode_groups
from selfselect.estimators import GradientDescentLogisticRegression
from selfselect.publishing import CrossFit, Holdout, LowerBound, Precision, TrainingSet

SMALL = {PaperClassifier: {"n_starts": 1, "max_iter": 20, "random_state": 0, "settings": {"kept_by": "hard"}}}
ALL = (NaiveClassifier, SemiStrategicClassifier, GroupThresholdClassifier, StrategicClassifier, PaperClassifier)
pytestmark = pytest.mark.filterwarnings(
    "ignore::selfselect.ApplicationWarning",
    "ignore::FutureWarning:sklearn",
    "ignore::UserWarning:sklearn",
    "ignore::sklearn.exceptions.ConvergenceWarning",
)


@pytest.fixture(scope="module")
def crowd():
    """Two groups; two columns of numbers that are not negative, one of text."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": rng.normal(3, 1, 160).clip(0), "b": rng.integers(0, 5, 160), "c": rng.choice(["x", "y", "w"], 160)}
    )
    y = (frame["a"] + 0.5 * rng.normal(size=160) + (frame["c"] == "x") > 3.2).astype(int).to_numpy()
    return frame, y, rng.choice(["u", "v"], 160)


@pytest.fixture(scope="module")
def naive(crowd):
    frame, y, z = crowd
    return NaiveClassifier(cost=0.6).fit(frame[["a", "b"]], y, sensitive_features=z)


def saved(model, path):
    save_model(model, path, min_cell=0)
    return load_model(path)


def assert_same(model, again, X, y, z):
    groups = {"sensitive_features": z} if isinstance(model, GroupThresholdClassifier) else {}
    for method in ("predict", "decision_function", "predict_proba"):
        assert hasattr(model, method) == hasattr(again, method)
        if hasattr(model, method):
            assert np.array_equal(getattr(model, method)(X, **groups), getattr(again, method)(X, **groups))
    assert again.published_ == model.published_
    assert again.published_in_sample_ == model.published_in_sample_
    assert again.applies().equals(model.applies())
    assert again.audit(X, y, z).outcome == model.audit(X, y, z).outcome


# ---------------------------------------------------------------------- there and back


GUARANTEE = Holdout(guarantee=True)
PUBLISH = [CrossFit(3, Precision()), Holdout(0.4, LowerBound(0.8)), GUARANTEE, TrainingSet(LowerBound(0.8))]


@pytest.mark.parametrize("publish", PUBLISH, ids=["folds", "holdout", "guarantee", "train"])
@pytest.mark.parametrize("cls", ALL)
def test_a_loaded_classifier_is_the_same_and_can_be_refitted(cls, publish, people, tmp_path):
    X, y, z = people
    words = np.where(y == 1, "accepted", "refused")
    model = cls(cost={"z0": 0.7, "z1": 0.6, "z2": 0.65}, subsidies={"z1": 0.05}, pos_label="accepted")
    model.set_params(publish=publish, **SMALL.get(cls, {}))
    model.fit(X, words, sensitive_features=z).save(tmp_path / "model.skops", min_cell=0)
    again = load_model(tmp_path / "model.skops")
    assert type(again) is cls
    assert again.get_params() == model.get_params()
    assert_same(model, again, X, words, z)
    assert hasattr(again, "promised_") == (publish is GUARANTEE)
    assert_same(model, again.fit(X, words, sensitive_features=z), X, words, z)
    assert os.listdir(tmp_path) == ["model.skops"]


CONSTRAINTS = [
    constraints.RequiredGroups("z0"),
    constraints.MaxSocialCost(0.9),
    constraints.MinSelectionRate(0.01),
    constraints.DemographicParity(0.9),
    constraints.TruePositiveRateParity(ratio_bound=0.01),
    constraints.FalsePositiveRateParity(0.9, weight=2.0),
    constraints.BaseRateOrder(0.5),
]
BY_GROUP = BetaBeliefs({"z0": 0.2, "z1": 0.5, "z2": 0.9}, 30, BestResponse("apply"))


@pytest.mark.parametrize("behaviour", [LogitResponse(0.05), BY_GROUP, SigmoidResponse(3.0)], ids=str)
def test_behaviours_and_constraints_survive(behaviour, people, tmp_path):
    X, y, z = people
    model = SemiStrategicClassifier(cost=0.5, behaviour=behaviour, constraints=CONSTRAINTS)
    again = saved(model.fit(X, y, sensitive_features=z), tmp_path / "model.skops")
    assert (again.behaviour, again.constraints) == (behaviour, CONSTRAINTS)
    assert again.violations_.equals(model.violations_)
    assert again.explain() == model.explain()
    assert_same(model, again, X, y, z)


def test_labels_of_groups_of_any_kind_survive(crowd, tmp_path):
    frame, y, _ = crowd
    n = np.arange(len(y))
    days = pd.to_datetime(np.where(n % 2, "2026-01-01", "2026-02-01"))
    for groups in (
        n % 2,
        n % 2 == 0,
        n % 2 + 0.5,
        days,
        pd.Categorical(n % 2),
        pd.DataFrame({"site": n % 2, "adult": n % 3 == 0}),
        pd.DataFrame({"site": np.where(n % 2, "ä", "b"), "size": n % 3 + 0.5}),
    ):
        costs = dict.fromkeys(encode_groups(groups).labels, 0.6)
        model = StrategicClassifier(cost=costs).fit(frame[["a", "b"]], y, sensitive_features=groups)
        again = saved(model, tmp_path / "model.skops")
        assert again.published_.groups.equals(model.published_.groups)
        assert again.published_.groups.names == model.published_.groups.names
        assert again.cost == costs
        assert_same(model, again, frame[["a", "b"]], y, groups)


NEEDS_ONE = {
    *("FixedThresholdClassifier", "OneVsOneClassifier", "OneVsRestClassifier"),
    *("OutputCodeClassifier", "SelfTrainingClassifier"),
}
SEVERAL = {"StackingClassifier", "VotingClassifier"}
#: Classifiers for several labels at once, and two that hold types which a user must name.
LEFT_OUT = {"ClassifierChain", "MultiOutputClassifier", "GaussianProcessClassifier", "TunedThresholdClassifierCV"}
CLASSIFIERS = {name: cls for name, cls in all_estimators("classifier") if name not in LEFT_OUT}


def small(name):
    inside = (
        [LogisticRegression()] if name in NEEDS_ONE else [[("lr", LogisticRegression())]] if name in SEVERAL else []
    )
    model = CLASSIFIERS[name](*inside)
    settings = {"n_estimators": 4, "max_iter": 5, "random_state": 0}
    return model.set_params(**{key: value for key, value in settings.items() if key in model.get_params(deep=False)})


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_of_scikit_learn_predict_the_same_inside_and_after_loading(name, crowd, tmp_path):
    frame, y, z = crowd
    X = frame[["a", "b"]]
    model = NaiveClassifier(small(name), cost=0.6, publish="train").fit(X, y, sensitive_features=z)
    assert_same(model, saved(model, tmp_path / "model.skops"), X, y, z)
    assert (model.predict(X) == small(name).fit(X, y).predict(X)).all()


@pytest.mark.parametrize(
    "inner",
    [
        make_pipeline(make_column_transformer((OneHotEncoder(), ["c"]), remainder="passthrough"), LogisticRegression()),
        GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, cv=StratifiedKFold(2)),
        make_pipeline(FunctionTransformer(np.log1p), GradientDescentLogisticRegression(max_iter=50, random_state=0)),
        RandomForestClassifier(3, random_state=np.random.RandomState(0)),
    ],
    ids=["columns", "search", "function of numpy", "random state"],
)
def test_estimators_of_several_parts_survive(inner, crowd, tmp_path):
    frame, y, z = crowd
    X = frame if "columntransformer" in str(inner.get_params()) else frame[["a", "b"]]
    model = SemiStrategicClassifier(inner, cost=0.6, publish=CrossFit(StratifiedKFold(3)))
    model.fit(X, y, sensitive_features=z)
    again = saved(model, tmp_path / "model.skops")
    assert_same(model, again, X, y, z)
    assert again.publish.cv.n_splits == 3


def test_a_pipeline_around_a_classifier_and_a_search_over_it_survive(crowd, tmp_path):
    frame, y, z = crowd
    pipe = make_pipeline(StandardScaler(), StrategicClassifier(cost=0.6))
    pipe.fit(frame[["a", "b"]], y, strategicclassifier__sensitive_features=z)
    again = saved(pipe, tmp_path / "pipe.skops")
    assert np.array_equal(again.decision_function(frame[["a", "b"]]), pipe.decision_function(frame[["a", "b"]]))
    assert again[-1].published_ == pipe[-1].published_
    search = GridSearchCV(SemiStrategicClassifier(), {"cost": [0.4, 0.8]}, cv=2)
    again = saved(search.fit(frame[["a", "b"]], y, sensitive_features=z), tmp_path / "search.skops")
    assert again.best_params_ == search.best_params_
    assert np.array_equal(again.predict(frame[["a", "b"]]), search.predict(frame[["a", "b"]]))


def test_prefit_and_several_estimators_survive(crowd, tmp_path):
    frame, y, z = crowd
    X = frame[["a", "b"]]
    model = SemiStrategicClassifier(GaussianNB().fit(X, y), cost=0.6, prefit=True, publish="train")
    again = saved(model.fit(X, y, sensitive_features=z), tmp_path / "model.skops")
    assert again.estimator is again.estimator_
    assert_same(model, again.fit(X, y, sensitive_features=z), X, y, z)
    several = [GaussianNB(), DecisionTreeClassifier(max_depth=2, random_state=0), None]
    model = GroupThresholdClassifier(several, cost=0.6, publish=CrossFit(2)).fit(X, y, sensitive_features=z)
    again = saved(model, tmp_path / "model.skops")
    assert type(again.estimator_) is type(model.estimator_)
    assert_same(model, clone(again).fit(X, y, sensitive_features=z), X, y, z)


def test_a_file_holds_no_scores_of_training_people_but_a_copy_does(crowd, tmp_path):
    frame, y, z = crowd
    model = SemiStrategicClassifier(cost=0.6).fit(frame[["a", "b"]], y, sensitive_features=z)
    again = saved(model, tmp_path / "model.skops")
    assert not hasattr(again, "unseen_scores_")
    assert not hasattr(again, "curve_")
    for same in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(same.unseen_scores_, model.unseen_scores_)
        assert same.curve_.equals(model.curve_)


# ---------------------------------------------------------------------- what is refused


class Own(ClassifierMixin, BaseEstimator):
    """A user's own classifier."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(np.asarray(X)[:, 0] > 3).astype(int)]


def test_own_types_are_loaded_only_if_they_are_named(crowd, tmp_path):
    frame, y, z = crowd
    model = NaiveClassifier(Own(), cost=0.6).fit(frame[["a", "b"]], y, sensitive_features=z)
    path, name = tmp_path / "model.skops", f"{Own.__module__}.Own"
    save_model(model, path, min_cell=0)
    with pytest.raises(
        ValueError, match=rf"model\.skops holds types that are not trusted: {name}\. Nothing was loaded"
    ):
        load_model(path)
    assert_same(model, load_model(path, trusted=[name]), frame[["a", "b"]], y, z)


def test_what_cannot_be_saved_is_refused(crowd, naive, tmp_path):
    frame, y, z = crowd
    model = NaiveClassifier(cost=0.6, behaviour=Generating())
    model.fit(frame[["a", "b"]], y, sensitive_features=z)
    with pytest.raises(TypeError, match=r"This NaiveClassifier cannot be saved.*generator"):
        save_model(model, tmp_path / "model.skops")
    with pytest.raises(NotFittedError):
        save_model(NaiveClassifier(), tmp_path / "model.skops")
    with pytest.raises(ValueError, match=r"model\.json: .*must end in \.skops"):
        naive.save(tmp_path / "model.json")
    with pytest.raises(TypeError, match="not an estimator"):
        save_model({"a": 1}, tmp_path / "model.skops")
    assert not os.listdir(tmp_path)


class Generating(BestResponse):
    """A user's behaviour that holds a generator."""

    def __init__(self):
        vars(self).update(undefined="abstain", parts=(part for part in []))


class Bomb:
    """Would leave a file behind if it were unpickled."""

    def __reduce__(self):
        return (open, ("pwned-by-pickle", "w"))


def hostile(data):
    """A skops file in which the estimator inside is a function of the operating system."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "schema.json":
                schema = json.loads(content)
                schema["content"]["content"]["estimator"] = {
                    "__class__": "system",
                    "__module__": "os",
                    "__loader__": "FunctionNode",
                    "content": {"module_path": "os", "function": "system"},
                }
                content = json.dumps(schema).encode()
            new.writestr(name, content)
    return target.getvalue()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda data: pickle.dumps(Bomb()), "is not a skops file, or it is damaged"),
        (lambda data: data[: len(data) // 2], "is not a skops file, or it is damaged"),
        (hostile, r"not trusted: os\.system"),
        (lambda data: skops.io.dumps({"model": 1}), "is not a model: it holds a dict"),
    ],
    ids=["pickle", "truncated", "os.system", "dict"],
)
def test_any_other_file_is_refused_by_name_and_nothing_runs(naive, tmp_path, monkeypatch, damage, words):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "bad.skops"
    naive.save(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=words) as error:
        load_model(path)
    assert "bad.skops" in str(error.value)
    assert os.listdir(tmp_path) == ["bad.skops"]
