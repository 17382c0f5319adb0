"""Labels, groups and tables of any kind; columns of any scale for the default estimator."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from selfselect import (
    ApplicationWarning,
    GroupThresholdClassifier,
    NaiveClassifier,
    SemiStrategicClassifier,
    StrategicClassifier,
)
from selfselect.datasets import make_base_rate_groups
from selfselect.metrics import induced_accuracy_scorer

ALL = (NaiveClassifier, SemiStrategicClassifier, StrategicClassifier)


@pytest.fixture(scope="module")
def people():
    X, y, z = make_base_rate_groups((0.5, 0.3), n_per_group=60, random_state=0, return_X_y_group=True)
    X = X.assign(noise=np.random.default_rng(0).normal(size=len(X))).drop(columns=[c for c in X if c != "x"])
    return X - X.min(), y, z  # some classifiers take nothing below 0


# ---------------------------------------------------------------------- which label is the qualified one


@pytest.mark.parametrize("cls", ALL)
def test_pos_label_sets_the_qualified_label(cls, people):
    X, y, z = people
    words = np.where(y == 1, "accepted", "refused")  # the qualified come first in the alphabet
    numbers = cls(cost=0.5).fit(X, y, sensitive_features=z)
    model = cls(cost=0.5, pos_label="accepted").fit(X, words, sensitive_features=z)
    assert model.published_ == numbers.published_
    assert model.classes_.tolist() == ["accepted", "refused"]
    assert model.positive_ == "accepted"
    assert ((model.predict(X) == "accepted") == (numbers.predict(X) == 1)).all()
    # scores are larger for the second class, as everywhere in scikit-learn
    assert model.decision_function(X) == pytest.approx(-numbers.decision_function(X), rel=1e-6, abs=1e-6)
    assert model.coef_ == pytest.approx(-numbers.coef_, rel=1e-6, abs=1e-6)
    for name in ("roc_auc", "accuracy"):
        assert get_scorer(name)(model, X, words) == pytest.approx(get_scorer(name)(numbers, X, y))
    assert model.audit(X, words, z).outcome == numbers.audit(X, y, z).outcome
    assert induced_accuracy_scorer()(model, X, words, sensitive_features=z) == model.audit(X, words, z).induced_accuracy


def test_probabilities_are_in_the_order_of_the_classes(people):
    X, y, z = people
    words = np.where(y == 1, "accepted", "refused")
    for inner in (LogisticRegression(), DecisionTreeClassifier(max_depth=2)):
        model = NaiveClassifier(inner, cost=0.5, pos_label="accepted").fit(X, words, sensitive_features=z)
        column = list(model.classes_).index("accepted")
        plain = model.estimator_.predict_proba(X)[:, list(model.estimator_.classes_).index("accepted")]
        assert (model.predict_proba(X)[:, column] == plain).all()
        semi = SemiStrategicClassifier(inner, cost=0.5, pos_label="accepted").fit(X, words, sensitive_features=z)
        selected = semi.predict(X) == "accepted"
        assert selected.any()
        assert plain[selected].min() > plain[~selected].max()


@pytest.mark.parametrize("cls", ALL)
def test_text_labels_without_pos_label_are_a_warning_that_names_the_qualified_one(cls, people):
    X, y, z = people
    words = np.where(y == 1, "yes", "no")
    with pytest.warns(ApplicationWarning, match="'yes' counts as qualified and 'no' as not qualified") as caught:
        cls(cost=0.5).fit(X, words, sensitive_features=z)
    assert caught[0].filename == __file__
    with pytest.raises(ValueError, match="pos_label='maybe' is not among the labels 'no', 'yes'"):
        cls(cost=0.5, pos_label="maybe").fit(X, words, sensitive_features=z)


# ---------------------------------------------------------------------- groups


@pytest.mark.parametrize("cls", ALL)
def test_a_fit_without_groups_is_a_warning(cls, people):
    X, y, _ = people
    with pytest.warns(ApplicationWarning, match="everyone is one group") as caught:
        cls(cost=0.5).fit(X, y)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("cls", ALL)
def test_tables_of_pyarrow_give_the_same_classifier(cls, people):
    X, y, z = people
    groups = pd.DataFrame({"z": z.astype(str), "half": np.arange(len(z)) % 2 == 0})
    table, labels = pa.Table.from_pandas(X, preserve_index=False), pa.chunked_array([pa.array(y.to_numpy())])
    in_pyarrow = pa.Table.from_pandas(groups, preserve_index=False)
    plain = cls(cost=0.5).fit(X, y, sensitive_features=groups)
    model = cls(cost=0.5).fit(table, labels, sensitive_features=in_pyarrow)
    assert model.published_ == plain.published_
    assert model.feature_names_in_.tolist() == list(X.columns)
    assert (model.predict(table) == plain.predict(X)).all()
    assert model.audit(table, labels, in_pyarrow).outcome == plain.audit(X, y, groups).outcome


@pytest.mark.parametrize("cls", [SemiStrategicClassifier, GroupThresholdClassifier])
def test_a_prefit_classifier_is_kept_as_it_is(cls, people):
    X, y, z = people
    inner = LogisticRegression().fit(X, y)
    assert cls(inner, cost=0.5, prefit=True).fit(X, y, sensitive_features=z).estimator_ is inner
    other, differ = LogisticRegression().fit(X, np.where(y == 1, "q", "p")), r"classes \['p' 'q'\], y holds \[0 1\]"
    unfitted = LogisticRegression()
    for wrong, message in ((other, differ), (unfitted, "not fitted yet"), (None, "prefit=True needs")):
        with pytest.raises(ValueError, match=message):
            cls(wrong, cost=0.5, prefit=True).fit(X, y, sensitive_features=z)


# ---------------------------------------------------------------------- columns of any size


@pytest.fixture(scope="module")
def ordinary():
    """People whose features have a standard deviation of about 1."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(1500, 4))
    y = (features @ [2.0, -1.5, 1.0, 1.0] + rng.logistic(size=1500) > 0).astype(int)
    return pd.DataFrame(features, columns=list("abcd")), y, np.repeat(["A", "B", "C"], 500)


#: Other units for the same columns.
UNITS = {
    "a date in seconds since 1970": lambda X: X.assign(a=1.6e9 + 3e7 * X["a"]),
    "a date in nanoseconds": lambda X: X.assign(a=1.6e18 + 3e16 * X["a"]),
    "pay and age": lambda X: X.assign(a=50_000 + 15_000 * X["a"], b=40 + 12 * X["b"]),
    "a share of a millionth": lambda X: X.assign(c=1e-6 * X["c"]),
    "everything in billions": lambda X: 1e9 * X,
    "a huge constant beside": lambda X: X.assign(e=1e9),
}


@pytest.mark.parametrize("units", UNITS)
def test_the_units_of_a_column_do_not_change_the_score(ordinary, units):
    X, y, z = ordinary
    plain = NaiveClassifier(cost=0.6).fit(X, y, sensitive_features=z)
    other = UNITS[units](X)
    same = NaiveClassifier(cost=0.6).fit(other, y, sensitive_features=z)
    expected = plain.estimator_.decision_function(X)
    assert np.abs(same.estimator_.decision_function(other) - expected).max() < 0.01
    assert abs(same.audit(other, y, z).induced_accuracy - plain.audit(X, y, z).induced_accuracy) < 0.02
    assert list(same.feature_names_in_) == list(same.estimator_.feature_names_in_) == list(other.columns)


def test_naive_equals_logistic_regression_where_columns_are_of_ordinary_scale(ordinary):
    X, y, z = ordinary
    for table in (X, 20 * X + 3, X.assign(rare=(np.arange(len(X)) == 7) * 1.0, one=1.0), X.to_numpy().astype("f4")):
        ours = NaiveClassifier(publish="train").fit(table, y, sensitive_features=z)
        with threadpool_limits(1):  # as ours are fitted: several threads add up in another order
            plain = LogisticRegression(C=np.inf, max_iter=1000).fit(table, y)
        assert (ours.coef_ == plain.coef_).all()
        assert (ours.intercept_ == plain.intercept_).all()
        for method in ("predict", "predict_proba", "decision_function"):
            assert (getattr(ours, method)(table) == getattr(plain, method)(table)).all()


def test_columns_are_not_scaled_for_an_estimator_of_the_user(ordinary):
    X, y, z = ordinary
    X = X.assign(a=1e9 * X["a"])
    own = LogisticRegression(C=np.inf, max_iter=1000)
    ours = NaiveClassifier(own, publish="train").fit(X, y, sensitive_features=z).estimator_
    assert (ours.coef_ == own.fit(X, y).coef_).all()
