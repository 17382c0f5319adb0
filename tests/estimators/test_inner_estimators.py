"""Inner estimators that take groups, or no other labels than 0 and 1."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from selfselect import GroupThresholdClassifier, NaiveClassifier, SemiStrategicClassifier, encode_groups
from selfselect.datasets import make_base_rate_groups
from selfselect.publishing import Holdout
from selfselect.statistics import LowerBound

WRAPPED = (NaiveClassifier, SemiStrategicClassifier, GroupThresholdClassifier)
#: Groups of two columns and of one, in every form.
FORMS = {
    "Series": lambda z: z,
    "array": lambda z: z.to_numpy(),
    "list": list,
    "codes": encode_groups,
    "DataFrame": lambda z: pd.DataFrame({"z": z, "again": z}),
    "dict": lambda z: {"z": z, "again": list(z)},
    "array of two columns": lambda z: np.column_stack([z, z]),
}
#: Calls of ``TakesGroups``: method and type of the groups.
CALLS = []
pytestmark = [
    pytest.mark.filterwarnings("ignore::selfselect.ApplicationWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of pandas, in fairlearn
]


@pytest.fixture(scope="module")
def people():
    """Three groups; the table has the code of the group as a column."""
    X, y, z = make_base_rate_groups((0.5, 0.3, 0.15), n_per_group=100, random_state=0, return_X_y_group=True)
    z = pd.Series(np.asarray(z, dtype=object), index=X.index, name="z")
    return pd.DataFrame({"x": X["x"], "code": encode_groups(z).codes}, index=X.index), y, z


@pytest.fixture
def forms():
    CALLS.clear()
    return CALLS


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def first_column(groups):
    """Labels of one column, from any form of groups."""
    return np.asarray(groups).reshape(len(groups), -1)[:, 0]


class TakesGroups(ClassifierMixin, BaseEstimator):
    """Each method checks that it gets the groups of its rows, and notes in what form."""

    def _check(self, method, X, groups):
        CALLS.append((method, type(groups).__name__))
        if groups is not None:
            assert (first_column(groups) == np.array(["z0", "z1", "z2"])[np.asarray(X)[:, 1].astype(int)]).all()

    def fit(self, X, y, sensitive_features=None):
        self._check("fit", X, sensitive_features)
        self.model_ = LogisticRegression().fit(np.asarray(X)[:, :1], y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X, sensitive_features=None):
        self._check("predict", X, sensitive_features)
        return self.model_.predict(np.asarray(X)[:, :1])

    def decision_function(self, X, sensitive_features=None):
        self._check("decision_function", X, sensitive_features)
        return self.model_.decision_function(np.asarray(X)[:, :1])


class NeedsGroups(ClassifierMixin, BaseEstimator):
    """A score that depends on the group, for every method."""

    def fit(self, X, y, *, sensitive_features):
        self.rates_ = pd.Series(np.asarray(y)).groupby(first_column(sensitive_features)).mean()
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X, *, sensitive_features):
        rate = self.rates_[first_column(sensitive_features)].to_numpy()
        return np.column_stack([1 - rate, rate])

    def predict(self, X, *, sensitive_features):
        return self.classes_[(self.predict_proba(X, sensitive_features=sensitive_features)[:, 1] > 0.4).astype(int)]


class OnlyZeroAndOne(ClassifierMixin, BaseEstimator):
    """Takes no other labels than 0 and 1; ``classes_`` may be left out, as fairlearn does."""

    def __init__(self, classes=True):
        self.classes = classes

    def fit(self, X, y):
        if set(np.unique(y)) != {0, 1}:
            raise ValueError(f"Invalid classes: expected [0 1], got {np.unique(y)}.")
        self.model_ = LogisticRegression().fit(X, y)
        if self.classes:
            self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def decision_function(self, X):
        return self.model_.decision_function(X)


# ---------------------------------------------------------------------- groups


def fair_classifiers():
    reductions, post = pytest.importorskip("fairlearn.reductions"), pytest.importorskip("fairlearn.postprocessing")
    parity = reductions.DemographicParity()
    return {
        "ExponentiatedGradient": reductions.ExponentiatedGradient(LogisticRegression(), parity, max_iter=3),
        "GridSearch": reductions.GridSearch(LogisticRegression(), parity, grid_size=5),
        "ThresholdOptimizer": post.ThresholdOptimizer(estimator=LogisticRegression(), predict_method="auto"),
    }


@pytest.mark.parametrize("publish", ["train", "cross_fit", Holdout(0.5, LowerBound(0.8), guarantee=True)])
@pytest.mark.parametrize("name", ["ExponentiatedGradient", "GridSearch", "ThresholdOptimizer"])
@pytest.mark.parametrize("labels", [(0, 1), ("no", "yes")])
def test_a_classifier_of_fairlearn_gets_the_groups(people, name, publish, labels):
    X, y, z = people
    y = np.array(labels)[y]
    model = NaiveClassifier(fair_classifiers()[name], cost=0.4, publish=publish, pos_label=labels[1])
    model.fit(X[["x"]], y, sensitive_features=z)
    assert set(model.predict(X[["x"]], z)) == set(labels)
    assert len(model.audit(X[["x"]], y, z).to_frame()) == 3
    in_sample = model.published_in_sample_ if publish == "cross_fit" else model.published_
    assert 0 < in_sample.counts.selected.sum() < len(y)


def test_a_fair_classifier_selects_all_groups_at_about_the_same_rate(people):
    X, y, z = people
    fair = fair_classifiers()["ThresholdOptimizer"]
    rates = [
        NaiveClassifier(inner, publish="train").fit(X, y, sensitive_features=z).published_.counts.selection_rate
        for inner in (LogisticRegression(), fair)
    ]
    assert np.ptp(rates[1]) < np.ptp(rates[0]) / 2


@pytest.mark.parametrize("cls", WRAPPED)
@pytest.mark.parametrize("form", FORMS)
def test_each_fold_gets_the_groups_of_its_rows_in_the_form_of_the_user(people, cls, form, forms):
    X, y, z = people
    groups = FORMS[form](z)
    model = cls(TakesGroups(), cost=0.4).fit(X, y, sensitive_features=groups)
    assert sum(method == "fit" for method, _ in forms) == 6
    model.predict(X, groups)
    model.decision_function(X, groups)
    model.audit(X, y, groups)
    kind = form if form in ("Series", "DataFrame") else "DataFrame" if form == "dict" else "ndarray"
    assert {kind for _, kind in forms} == {kind}


def test_an_estimator_that_can_do_without_groups_may_get_none(people, forms):
    X, y, z = people
    model = NaiveClassifier(TakesGroups(), cost=0.4).fit(X, y, sensitive_features=z)
    forms.clear()
    model.predict(X)
    NaiveClassifier(TakesGroups(), cost=0.4).fit(X, y)
    assert {kind for _, kind in forms} == {"NoneType"}


@pytest.mark.parametrize("cls", WRAPPED)
def test_an_estimator_that_needs_groups_and_gets_none_is_an_error_that_says_how_to_pass_them(people, cls):
    X, y, z = people
    with pytest.raises(TypeError, match=r"NeedsGroups needs the group of each row: pass fit\(X, y, sensitive_fea"):
        cls(NeedsGroups(), cost=0.4).fit(X, y)
    model = cls(NeedsGroups(), cost=0.4).fit(X, y, sensitive_features=z)
    assert 1 in model.predict(X, z)
    with pytest.raises(TypeError, match=r"NeedsGroups needs .*\(X, sensitive_features=\.\.\.\)"):
        model.predict(X)


def test_probabilities_are_those_of_the_group(people):
    X, y, z = people
    model = NaiveClassifier(NeedsGroups(), cost=0.4).fit(X, y, sensitive_features=z)
    rates = y.groupby(z.to_numpy()).mean()
    assert model.predict_proba(X, z)[:, 1] == pytest.approx(rates[z].to_numpy())


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("cls", WRAPPED)
@pytest.mark.parametrize("in_pipeline", [False, True])
def test_metadata_routing_passes_the_groups_where_they_are_requested(people, cls, in_pipeline, forms):
    X, y, z = people
    inner = TakesGroups().set_fit_request(sensitive_features=True)
    inner.set_predict_request(sensitive_features=True).set_decision_function_request(sensitive_features=True)
    inner = make_pipeline(FunctionTransformer(), inner) if in_pipeline else inner
    model = cls(inner, cost=0.4).fit(X, y, sensitive_features=z)
    model.predict(X, sensitive_features=z)
    assert {kind for _, kind in forms} == {"Series"}
    if in_pipeline and cls is not GroupThresholdClassifier:
        with pytest.raises(TypeError, match=r"Pipeline needs the group of each row: pass \w+\(X, sensitive_features"):
            model.predict(X)


@pytest.mark.usefixtures("routing")
def test_groups_that_are_explicitly_not_requested_are_not_passed(people, forms):
    X, y, z = people
    inner = TakesGroups().set_fit_request(sensitive_features=False)
    NaiveClassifier(inner, cost=0.4).fit(X, y, sensitive_features=z)
    assert {kind for method, kind in forms if method == "fit"} == {"NoneType"}


@pytest.mark.usefixtures("routing")
def test_a_pipeline_passes_groups_to_the_predictions_of_a_classifier(people):
    X, y, z = people
    pipeline = make_pipeline(FunctionTransformer(), NaiveClassifier(NeedsGroups(), cost=0.4))
    pipeline.fit(X, y, sensitive_features=z)
    assert (pipeline.predict(X, sensitive_features=z) == pipeline[-1].predict(X, z)).all()


# ---------------------------------------------------------------------- labels


@pytest.mark.parametrize("cls", WRAPPED)
@pytest.mark.parametrize("labels", [("no", "yes"), (1, 2), (-1, 1), (0, 7), (False, True)])
@pytest.mark.parametrize("positive", [0, 1])
@pytest.mark.parametrize("classes", [True, False])
def test_an_estimator_that_takes_only_0_and_1_gets_them(people, cls, labels, positive, classes):
    X, y, z = people
    X, own = X[["x"]], np.array(labels)[y]
    settings = {"cost": 0.4, "pos_label": labels[positive]}
    model = cls(OnlyZeroAndOne(classes), **settings).fit(X, own, sensitive_features=z)
    plain = cls(LogisticRegression(), **settings).fit(X, own, sensitive_features=z)
    assert model.published_ == plain.published_
    assert model.predict(X, z).dtype == plain.predict(X, z).dtype
    assert (model.predict(X, z) == plain.predict(X, z)).all()
    assert model.decision_function(X, z) == pytest.approx(plain.decision_function(X, z))
    assert model.audit(X, own, z).outcome == plain.audit(X, own, z).outcome


@pytest.mark.parametrize("cls", WRAPPED)
def test_xgboost_takes_labels_of_any_kind(people, cls):
    xgboost = pytest.importorskip("xgboost")
    X, y, z = people
    words = np.where(y == 1, "accepted", "refused")  # the qualified come first in the alphabet
    inner = xgboost.XGBClassifier(n_estimators=5, max_depth=2)
    model = cls(inner, cost=0.4, pos_label="accepted").fit(X[["x"]], words, sensitive_features=z)
    plain = cls(inner, cost=0.4, pos_label=0).fit(X[["x"]], 1 - y, sensitive_features=z)
    assert model.published_ == plain.published_
    assert ((model.predict(X[["x"]], z) == "accepted") == (plain.predict(X[["x"]], z) == 0)).all()


def test_an_estimator_that_takes_any_labels_keeps_those_of_the_user(people):
    X, y, z = people
    inner = LogisticRegression(class_weight={"no": 1, "yes": 3})
    model = NaiveClassifier(inner, pos_label="yes").fit(X, np.where(y == 1, "yes", "no"), sensitive_features=z)
    assert list(model.estimator_.classes_) == ["no", "yes"]
    assert not model.labels_encoded_


@pytest.mark.parametrize("cls", WRAPPED)
def test_an_error_that_is_not_about_labels_is_raised(people, cls):
    X, y, z = people
    with pytest.raises(ValueError, match="NaN"):
        cls(LogisticRegression(), pos_label="yes").fit(
            X.assign(x=np.nan), np.where(y == 1, "yes", "no"), sensitive_features=z
        )


# ---------------------------------------------------------------------- prefit


@pytest.mark.parametrize("cls", [SemiStrategicClassifier, GroupThresholdClassifier])
@pytest.mark.parametrize("publish", ["train", "cross_fit", "holdout", Holdout(0.5, LowerBound(0.8), guarantee=True)])
def test_a_prefit_estimator_gets_the_groups(people, cls, publish):
    X, y, z = people
    inner = NeedsGroups().fit(X, y, sensitive_features=z)
    model = cls(inner, prefit=True, cost=0.3, publish=publish).fit(X, y, sensitive_features=z)
    assert model.estimator_ is inner
    assert hasattr(model, "promised_") == isinstance(publish, Holdout)
    assert model.audit(X, y, z).population.counts.n.sum() == len(y)
