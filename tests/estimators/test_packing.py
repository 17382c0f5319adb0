"""Any estimator of scikit-learn's inside a saved classifier; and files that are not what they seem."""

import base64
import io
import json
import re
import sys
import warnings
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import stats
from selfselect.estimators.files import model_from_dict
from selfselect.estimators.packing import pack, unpack
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, SplineTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators
from threadpoolctl import threadpool_limits

from selfselect import (
    GroupThresholdClassifier,
    NaiveClassifier,
    SemiStrategicClassifier,
    StrategicClassifier,
    load_model,
)
from selfselect.estimators import packing

pytestmark = pytest.mark.filterwarnings(
    "ignore::selfselect.ApplicationWarning",
    "ignore::FutureWarning:sklearn",  # estimators that scikit-learn is about to drop are saved like the others
    "ignore::UserWarning:sklearn",
    "ignore::sklearn.exceptions.ConvergenceWarning",
)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Compiled trees of a handful of people wait for each other's threads longer than they work."""
    with threadpool_limits(1):
        yield


HOLDING = (NaiveClassifier, SemiStrategicClassifier, GroupThresholdClassifier)


@pytest.fixture(scope="module")
def crowd():
    """Two groups; two columns of numbers that are not negative, two of text."""
    rng = np.random.default_rng(0)
    z = rng.choice(["u", "v"], 160)
    frame = pd.DataFrame(
        {
            "a": rng.normal(3, 1, 160).clip(0),
            "b": rng.integers(0, 5, 160),
            "c": rng.choice(["x", "y", "w"], 160),
            "d": pd.Categorical(rng.choice(["p", "q"], 160)),
        }
    )
    y = (frame["a"] + 0.5 * rng.normal(size=160) + (frame["c"] == "x") > 3.2).astype(int).to_numpy()
    return frame, y, z


def saved(model, path):
    model.save(path)
    return load_model(path)


def in_words(estimator):
    """Its settings, without addresses in memory."""
    return re.sub("0x[0-9a-fA-F]+", "", repr(estimator))


def assert_same(model, again, X, y, z):
    given = {"sensitive_features": z} if isinstance(model, GroupThresholdClassifier) else {}
    for method in ("predict", "decision_function", "predict_proba"):
        assert hasattr(model, method) == hasattr(again, method)
        if hasattr(model, method):
            assert np.array_equal(getattr(model, method)(X, **given), getattr(again, method)(X, **given))
    assert again.published_ == model.published_
    assert again.published_in_sample_ == model.published_in_sample_
    assert again.applies().equals(model.applies())
    assert again.audit(X, y, z).to_dict() == model.audit(X, y, z).to_dict()


# ---------------------------------------------------------------------- there and back

_NEEDS_ONE = {
    "FixedThresholdClassifier",
    "OneVsOneClassifier",
    "OneVsRestClassifier",
    "OutputCodeClassifier",
    "SelfTrainingClassifier",
    "TunedThresholdClassifierCV",
}
_SMALL = {"n_estimators": 4, "max_iter": 5, "random_state": 0}
#: These are for several labels at once.
_OUT = {"ClassifierChain", "MultiOutputClassifier"}


CLASSIFIERS = {
    name: cls
    for name, cls in all_estimators(type_filter="classifier")
    if name not in _OUT and cls.__module__.startswith("sklearn.")
}


def small(name):
    """A classifier of scikit-learn's, by its name."""
    cls = CLASSIFIERS[name]
    if name in _NEEDS_ONE:
        made = cls(LogisticRegression())
    elif name in ("StackingClassifier", "VotingClassifier"):
        made = cls([("lr", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=2, random_state=0))])
    else:
        made = cls()
    settings = made.get_params(deep=False)
    return made.set_params(**{key: value for key, value in _SMALL.items() if key in settings})


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_of_scikit_learn_inside_is_the_same_after_loading(name, crowd, tmp_path):
    inner = small(name)
    frame, y, z = crowd
    X = frame[["a", "b"]]
    scored = True
    for cls in HOLDING:
        if cls is not NaiveClassifier and not scored:
            continue  # there is nothing to put a threshold on
        model = cls(inner, cost=0.6, publish="train").fit(X, y, sensitive_features=z)
        assert_same(model, saved(model, tmp_path / "model.json"), X, y, z)
        scored = hasattr(model, "decision_function") or hasattr(model, "predict_proba")


NUMBERS, EVERYTHING = ["a", "b"], ["a", "b", "c", "d"]
COMPOSED = {
    "scaled": (make_pipeline(StandardScaler(), LogisticRegression()), NUMBERS),
    "one hot": (
        make_pipeline(
            ColumnTransformer([("hot", OneHotEncoder(), ["c", "d"]), ("s", StandardScaler(), ["a"])], remainder="drop"),
            LogisticRegression(),
        ),
        EVERYTHING,
    ),
    "selected": (
        make_pipeline(
            make_column_transformer((OneHotEncoder(), make_column_selector(dtype_exclude="number")), remainder="drop"),
            SVC(),
        ),
        EVERYTHING,
    ),
    "calibrated": (CalibratedClassifierCV(GaussianNB(), cv=2), NUMBERS),
    "isotonic": (CalibratedClassifierCV(RandomForestClassifier(3), cv=2, method="isotonic"), NUMBERS),
    "searched": (GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=2), NUMBERS),
    "searched by auc": (
        GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=StratifiedKFold(2), scoring="roc_auc"),
        NUMBERS,
    ),
    "voting": (VotingClassifier([("a", GaussianNB()), ("b", KNeighborsClassifier())], voting="soft"), NUMBERS),
    "filled and chosen": (make_pipeline(SimpleImputer(), SelectKBest(k=1), GaussianNB()), NUMBERS),
    "numpy's function": (make_pipeline(FunctionTransformer(np.log1p), LogisticRegression()), NUMBERS),
    "ball tree": (make_pipeline(StandardScaler(), KNeighborsClassifier(algorithm="ball_tree")), NUMBERS),
    "categories": (HistGradientBoostingClassifier(max_iter=4), ["a", "d"]),
    "stopped early": (HistGradientBoostingClassifier(max_iter=4, early_stopping=True, scoring="accuracy"), NUMBERS),
    "state": (RandomForestClassifier(3, random_state=np.random.RandomState(0)), NUMBERS),
    "regression with a state": (LogisticRegression(random_state=np.random.RandomState(0)), NUMBERS),
    "bags": (BaggingClassifier(SVC(), 3), NUMBERS),
}


@pytest.mark.parametrize("name", COMPOSED)
def test_estimators_of_several_parts_are_the_same_after_loading(name, crowd, tmp_path):
    frame, y, z = crowd
    inner, columns = COMPOSED[name]
    X = frame[columns]
    for cls in HOLDING:
        model = cls(inner, cost=0.6, publish="train").fit(X, y, sensitive_features=z)
        again = saved(model, tmp_path / "model.json")
        assert_same(model, again, X, y, z)
        assert in_words(again.estimator) == in_words(model.estimator)
        assert_same(again, saved(again, tmp_path / "again.json"), X, y, z)


def test_counts_of_unseen_people_folds_and_labels_survive(crowd, tmp_path):
    frame, y, z = crowd
    X, words = frame[NUMBERS], np.where(y == 1, "in", "out")
    for cls in HOLDING:
        model = cls(
            DecisionTreeClassifier(random_state=0), cost=0.6, publish="cross_fit", cv=StratifiedKFold(3), pos_label="in"
        )
        model.fit(X, words, sensitive_features=z)
        again = saved(model, tmp_path / "model.json")
        assert_same(model, again, X, words, z)
        assert again.published_in_sample_ != again.published_
        assert again.cv.n_splits == 3
        assert again.fit(X, words, sensitive_features=z).published_ == model.published_
    strategic = StrategicClassifier(cost=0.6, random_state=np.random.RandomState(3), cv=StratifiedKFold(3))
    strategic.fit(X, y, sensitive_features=z)
    assert_same(strategic, saved(strategic, tmp_path / "model.json"), X, y, z)


def test_a_search_and_a_choice_fit_again_as_before(crowd, tmp_path):
    frame, y, z = crowd
    X = frame[NUMBERS]
    model = SemiStrategicClassifier(GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, cv=2), cost=0.6)
    again = saved(model.fit(X, y, sensitive_features=z), tmp_path / "model.json")
    assert again.estimator_.best_params_ == model.estimator_.best_params_
    assert not hasattr(again.estimator, "best_estimator_")
    assert_same(model, again.fit(X, y, sensitive_features=z), X, y, z)


def test_of_several_that_compete_the_kept_one_and_the_others_settings_survive(crowd, tmp_path):
    frame, y, z = crowd
    X = frame[NUMBERS]
    competing = [GaussianNB(), DecisionTreeClassifier(max_depth=2, random_state=0), None]
    model = GroupThresholdClassifier(estimators=competing, cost=0.6, cv=2).fit(X, y, sensitive_features=z)
    again = saved(model, tmp_path / "model.json")
    assert type(again.estimator_) is type(model.estimator_)
    assert [repr(one) for one in again.estimators] == [repr(one) for one in competing]
    assert not hasattr(again.estimators[0], "classes_")
    assert_same(model, again, X, y, z)
    assert_same(model, clone(again).fit(X, y, sensitive_features=z), X, y, z)


@pytest.mark.parametrize("several", [False, True])
def test_what_was_fitted_beforehand_stays_fitted(several, crowd, tmp_path):
    frame, y, z = crowd
    X = frame[NUMBERS]
    fitted = [GaussianNB().fit(X, y), KNeighborsClassifier().fit(X, y)]
    given = {"estimators": fitted} if several else {"estimator": fitted[0]}
    model = GroupThresholdClassifier(**given, cost=0.6, prefit=True, publish="train").fit(X, y, sensitive_features=z)
    again = saved(model, tmp_path / "model.json")
    assert_same(model, again, X, y, z)
    assert any(one is again.estimator_ for one in again.estimators or [again.estimator])
    assert_same(model, again.fit(X, y, sensitive_features=z), X, y, z)


def test_a_model_is_one_small_file_of_json(crowd, tmp_path):
    frame, y, z = crowd
    model = NaiveClassifier(RandomForestClassifier(20, random_state=0), cost=0.6)
    model.fit(frame[NUMBERS], y, sensitive_features=z).save(tmp_path / "model.json")
    packed = json.loads((tmp_path / "model.json").read_text())["skops"]
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]
    assert (tmp_path / "model.json").stat().st_size < packed["bytes"] / 3
    assert packed["sklearn"] == sklearn.__version__
    model = NaiveClassifier(cost=0.6).fit(frame[NUMBERS], y, sensitive_features=z)
    model.save(tmp_path / "plain.json")
    assert json.loads((tmp_path / "plain.json").read_text())["skops"] is None


def test_files_of_the_first_schema_are_read():
    old = json.loads((Path(__file__).parent / "schema_1.json").read_text())
    for name, known in old["models"].items():
        model = model_from_dict(known["file"])
        rows = pd.DataFrame(old["rows"], columns=model.feature_names_in_)
        given = {"sensitive_features": old["groups"]} if name == "GroupThresholdClassifier" else {}
        assert np.allclose(model.decision_function(rows, **given), known["scores"], rtol=1e-12)
        assert model.applies().tolist() == known["applies"]
        lacking = {key: value for key, value in known["file"]["params"].items() if key not in ("publish", "confidence")}
        assert model_from_dict(known["file"] | {"params": lacking}).publish == "train"


# ---------------------------------------------------------------------- what is refused at saving


class Mine(ClassifierMixin, BaseEstimator):
    """A user's own classifier."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, 0]

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 3).astype(int)]


def doubled(X):
    return X * 2


@pytest.mark.parametrize(
    ("inner", "words"),
    [
        (Mine(), r"inside there is .*Mine\. Only scikit-learn's own"),
        (make_pipeline(FunctionTransformer(doubled), GaussianNB()), "inside there is .*doubled"),
        (make_pipeline(FunctionTransformer(lambda X: X), GaussianNB()), "inside there is .*lambda"),
        (make_pipeline(SplineTransformer(), GaussianNB()), "BSpline"),
        (RandomizedSearchCV(GaussianNB(), {"var_smoothing": stats.uniform(1e-9, 1)}, n_iter=2, cv=2), "rv_continuous"),
        (make_pipeline(StandardScaler(), GaussianNB(), memory="somewhere"), "keeps pickles on disk; set it to None"),
        (KNeighborsClassifier(metric=lambda a, b: abs(a - b).sum()), "lambda"),
    ],
    ids=["own class", "own function", "lambda", "spline", "distribution", "memory", "own metric"],
)
def test_what_would_not_be_read_back_is_refused_when_it_is_saved(inner, words, crowd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame, y, z = crowd
    model = NaiveClassifier(inner, cost=0.6, publish="train").fit(frame[NUMBERS], y, sensitive_features=z)
    with pytest.raises(TypeError, match=words) as error:
        model.save(tmp_path / "model.json")
    assert "This NaiveClassifier cannot be saved" in str(error.value)
    assert not (tmp_path / "model.json").exists()


def test_a_model_too_large_to_be_read_is_refused_when_it_is_saved(crowd, tmp_path, monkeypatch):
    frame, y, z = crowd
    model = NaiveClassifier(RandomForestClassifier(3), cost=0.6).fit(frame[NUMBERS], y, sensitive_features=z)
    monkeypatch.setattr("selfselect.estimators.packing.MOST_UNPACKED", 10_000)
    with pytest.raises(ValueError, match=r"too large to be saved: .* at most 10,000"):
        model.save(tmp_path / "model.json")
    monkeypatch.undo()
    monkeypatch.setattr("selfselect.estimators.files.MOST_BYTES", 1_000)
    with pytest.raises(ValueError, match=r"too large to be saved: .* at most 1,000"):
        model.save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


def test_without_skops_the_error_says_what_to_install(crowd, tmp_path, monkeypatch):
    frame, y, z = crowd
    model = NaiveClassifier(GaussianNB(), cost=0.6).fit(frame[NUMBERS], y, sensitive_features=z)
    model.save(tmp_path / "model.json")
    monkeypatch.setitem(sys.modules, "skops", None)
    for attempt in (lambda: model.save(tmp_path / "other.json"), lambda: load_model(tmp_path / "model.json")):
        with pytest.raises(ImportError, match=r"pip install 'selfselect\[skops\]'"):
            attempt()
    plain = NaiveClassifier(cost=0.6).fit(frame[NUMBERS], y, sensitive_features=z)
    assert_same(plain, saved(plain, tmp_path / "plain.json"), frame[NUMBERS], y, z)


def test_a_version_of_skops_with_known_holes_is_not_used(monkeypatch):
    monkeypatch.setattr("skops.__version__", "0.11.0")
    with pytest.raises(ImportError, match=r"0\.11\.0 is too old to be safe"):
        unpack({"schema": 1, "sklearn": "1.6.0", "bytes": 0, "data": ""})


def test_another_version_of_scikit_learn_is_warned_of_and_a_patch_is_not(crowd):
    frame, y, _ = crowd
    packed = pack({"estimator_": GaussianNB().fit(frame[NUMBERS], y)}, "model")
    major, minor = sklearn.__version__.split(".")[:2]
    with pytest.warns(UserWarning, match=r"fitted with scikit-learn 0\.24\.1; this is .*compare its predictions"):
        unpack(packed | {"sklearn": "0.24.1"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unpack(packed | {"sklearn": f"{major}.{minor}.99"})
    with pytest.raises(ValueError, match=r"Or scikit-learn 0\.24\.1, which wrote them, had them otherwise"):
        unpack(repacked(b"no archive") | {"sklearn": "0.24.1"})


# ---------------------------------------------------------------------- what is refused at loading


def repacked(raw, **changes):
    data = base64.b64encode(zlib.compress(raw)).decode()
    return {"schema": 1, "sklearn": sklearn.__version__, "bytes": len(raw), "data": data} | changes


def raw_of(packed):
    return zlib.decompress(base64.b64decode(packed["data"]))


def archive_with(raw, change, compression=zipfile.ZIP_STORED):
    """The archive again, each file as a function of its name and content wants it (None: left out)."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(target, "w", compression) as new:
        for name in old.namelist():
            content = change(name, old.read(name))
            if content is not None:
                new.writestr(name, content)
    return target.getvalue()


def described(raw, edit):
    """The archive with an edited description."""

    def change(name, content):
        if name != "schema.json":
            return content
        described = json.loads(content)
        edit(described)
        return json.dumps(described).encode()

    return repacked(archive_with(raw, change))


@pytest.fixture(scope="module")
def good(crowd):
    frame, y, _ = crowd
    return raw_of(pack({"estimator_": GaussianNB().fit(frame[NUMBERS], y)}, "model"))


PWNED = "pwned-by-skops"
HOSTILE = {
    "os.system": {"__class__": "system", "__module__": "os", "__loader__": "FunctionNode"},
    "builtins.eval": {"__class__": "eval", "__module__": "builtins", "__loader__": "TypeNode"},
    "somebody.Unknown": {"__class__": "Unknown", "__module__": "somebody", "__loader__": "ObjectNode", "content": None},
    "builtins.open": {
        "__class__": "open",
        "__module__": "builtins",
        "__loader__": "ConstructorFromReduceNode",
        "content": {
            "__class__": "tuple",
            "__module__": "builtins",
            "__loader__": "TupleNode",
            "content": [
                {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "content": json.dumps(value)}
                for value in (PWNED, "w")
            ],
        },
    },
    "operator.methodcaller": {
        "__class__": "methodcaller",
        "__module__": "operator",
        "__loader__": "OperatorFuncNode",
        "attrs": {"__class__": "tuple", "__module__": "builtins", "__loader__": "TupleNode", "content": []},
    },
}


@pytest.mark.parametrize("name", HOSTILE)
def test_types_that_are_not_trusted_are_named_and_nothing_runs(name, good, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def plant(described):
        described["content"]["estimator_"]["content"]["content"]["priors"] = HOSTILE[name]

    with pytest.raises(ValueError, match=f"not trusted: {name}. Nothing of it was run"):
        unpack(described(good, plant))
    assert not (tmp_path / PWNED).exists()


def test_an_untrusted_type_in_a_file_is_refused_with_the_name_of_the_file(crowd, good, tmp_path):
    frame, y, z = crowd
    path = tmp_path / "model.json"
    NaiveClassifier(GaussianNB(), cost=0.6).fit(frame[NUMBERS], y, sensitive_features=z).save(path)
    content = json.loads(path.read_text())

    def plant(described):
        described["content"]["estimator_"]["content"]["content"]["priors"] = HOSTILE["os.system"]

    for damaged, words in (
        (
            {"skops": described(raw_of(content["skops"]), plant)},
            r"model\.json: .* not trusted: os\.system",
        ),
        ({"skops": None}, "damaged"),
        ({"skops": repacked(raw_of(pack({"estimator_": StandardScaler()}, "x")))}, "instead of a classifier"),
        ({"skops": repacked(raw_of(pack({"estimator_": GaussianNB()}, "x")))}, "not fitted"),
        ({"skops": repacked(raw_of(pack({"estimator_": GaussianNB().fit([[1], [2]], [0, 1])}, "x")))}, "1 features"),
        ({"skops": repacked(raw_of(pack({"estimator_": GaussianNB().fit(frame[NUMBERS], y + 1)}, "x")))}, "classes"),
        ({"skops": repacked(raw_of(pack({"surprise": 1}, "x")))}, "parameters are not those"),
        ({"params": content["params"] | {"estimator": 5}}, "parameters are not those"),
    ):
        path.write_text(json.dumps(content | damaged))
        with pytest.raises(ValueError, match=words):
            load_model(path)


def npy(shape):
    """An array's file that has no content."""
    target = io.BytesIO()
    np.lib.format.write_array_header_1_0(target, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return target.getvalue()


def test_damaged_and_swollen_files_are_refused_before_they_are_unpacked(good, monkeypatch):
    def refused(packed, words):
        with pytest.raises(ValueError, match=words):
            unpack(packed)

    whole = repacked(good)
    refused([], "unknown parts")
    refused(whole | {"surprise": 1}, "unknown parts")
    refused(whole | {"schema": 2}, "schema version 2; this version reads 1")
    refused(whole | {"schema": True}, "schema version True")
    refused(whole | {"data": "&&&"}, "cut or changed")
    refused(whole | {"data": whole["data"][: len(whole["data"]) // 8 * 4]}, "of another size")
    refused(whole | {"data": base64.b64encode(b"no zlib").decode()}, "cut or changed")
    refused(whole | {"data": 5}, "no text")
    refused(whole | {"bytes": len(good) - 1}, "of another size")
    refused(whole | {"bytes": 2**40}, "too large: 1,099,511,627,776 bytes")
    refused(whole | {"bytes": "many"}, "no size")
    refused(repacked(b"\0" * 10**6, bytes=1000), "of another size")  # a bomb ends when it is beyond what it declares
    refused(repacked(b""), "damaged")
    refused(repacked(b"no archive"), "BadZipFile")
    refused(repacked(good[: len(good) // 2]), "BadZipFile")
    refused(repacked(archive_with(good, lambda name, content: content, zipfile.ZIP_DEFLATED)), "grows when it is read")
    refused(repacked(archive_with(good, lambda name, content: content if name != "schema.json" else None)), "no descr")
    for text in (b"", b"{", b"[]", b"{}", b'{"protocol": 99}', b"[" * 100_000, b'{"protocol": 2, "__loader__": "X"}'):

        def described_as(name, content, text=text):
            return text if name == "schema.json" else content

        refused(repacked(archive_with(good, described_as)), "cannot be read")

    def larger(name, content):
        return npy((10**12,)) if name.endswith(".npy") else content

    refused(repacked(archive_with(good, larger)), "an array is of another size than it says")

    def matrix(name, content):
        if not name.endswith(".npy"):
            return content
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as inner:
            inner.writestr("data.npy", npy((200_000,)) + bytes(1_600_000))
        return target.getvalue()

    monkeypatch.setattr(packing, "MOST_UNPACKED", 10**6)
    refused(repacked(archive_with(good, matrix)), "a matrix has more than 1,000,000 bytes")


def test_thousands_of_damaged_descriptions_are_refused_or_read(good, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile(io.BytesIO(good)) as archive:
        text = archive.read("schema.json").decode()
    rng = np.random.default_rng(0)
    pieces = ["null", "-1", "[]", "{}", '"x"', "true", "}", "NaN", '"builtins"', '"os"', '"FunctionNode"', '"TypeNode"']
    refused = 0
    for _ in range(300):
        at = int(rng.integers(len(text)))
        broken = text[:at] + pieces[rng.integers(len(pieces))] + text[at + int(rng.integers(0, 12)) :]

        def change(name, content, broken=broken):
            return broken.encode() if name == "schema.json" else content

        try:
            unpack(repacked(archive_with(good, change)))
        except ValueError:
            refused += 1
    assert refused > 150
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------------- what compiled code believes


def with_arrays(raw, edit):
    """The archive with its arrays edited in place."""

    def change(name, content):
        if not name.endswith(".npy"):
            return content
        array = np.load(io.BytesIO(content))
        array = edit(array) if edit(array) is not None else array
        target = io.BytesIO()
        np.save(target, array)
        return target.getvalue()

    return repacked(archive_with(raw, change))


def setting(field, at, value):
    def edit(array):
        if array.dtype.names and field in array.dtype.names and array.ndim:
            array[field][at] = value

    return edit


@pytest.mark.parametrize(
    ("inner", "edit", "words"),
    [
        (DecisionTreeClassifier(), setting("left_child", 0, 10**6), "leads out of itself"),
        (DecisionTreeClassifier(), setting("left_child", 0, -5), "leads out of itself"),
        (DecisionTreeClassifier(), setting("right_child", 0, 0), "leads out of itself"),
        (DecisionTreeClassifier(), setting("right_child", 0, 1), "grow together"),
        (DecisionTreeClassifier(), setting("feature", 0, 10**6), "features that are not there"),
        (DecisionTreeClassifier(), setting("feature", 0, -3), "features that are not there"),
        (RandomForestClassifier(2), setting("feature", 0, 2), "features that are not there"),
        (GradientBoostingClassifier(n_estimators=2), setting("left_child", 0, 10**6), "leads out of itself"),
        (HistGradientBoostingClassifier(max_iter=2), setting("left", 0, 10**6), "leads out of itself"),
        (HistGradientBoostingClassifier(max_iter=2), setting("feature_idx", 0, 99), "features that are not there"),
        (HistGradientBoostingClassifier(max_iter=2), setting("is_categorical", 0, 1), "a feature without any"),
        (SVC(), lambda array: array[:, :1] if array.ndim == 2 and array.shape[0] == 1 else None, "do not fit"),
    ],
)  # fmt: skip
def test_numbers_that_lead_compiled_code_astray_are_refused(inner, edit, words, crowd):
    frame, y, _ = crowd
    raw = raw_of(pack({"estimator_": clone(inner).fit(frame[NUMBERS], y)}, "model"))
    unpack(repacked(raw))
    with pytest.raises(ValueError, match=words):
        unpack(with_arrays(raw, edit))


@pytest.mark.parametrize("inner", [RandomForestClassifier(2), GradientBoostingClassifier(n_estimators=2)])
def test_trees_of_an_ensemble_that_is_for_fewer_features_are_refused(inner, crowd):
    frame, y, _ = crowd
    ensemble = clone(inner).fit(frame[NUMBERS], y)
    ensemble.n_features_in_ = 1  # its trees would look beyond the end of a row
    with pytest.raises(TypeError, match="trees of an ensemble are for other features"):
        pack({"estimator_": ensemble}, "model")


def test_categories_that_a_boosted_tree_does_not_have_are_refused(crowd):
    frame, y, _ = crowd
    boosting = HistGradientBoostingClassifier(max_iter=2, categorical_features=[1]).fit(frame[NUMBERS], y)
    tree = boosting._predictors[0][0]
    tree.nodes["is_categorical"][0], tree.nodes["feature_idx"][0], tree.nodes["bitset_idx"][0] = 1, 0, 10**6
    with pytest.raises(TypeError, match="categories that are not there"):
        pack({"estimator_": boosting}, "model")
