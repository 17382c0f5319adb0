"""Steps before the classifier, which are fitted without the people who are evaluated."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder

from selfselect import NaiveClassifier, StrategicClassifier, load_model
from selfselect.behaviour import SigmoidResponse
from selfselect.constraints import DemographicParity
from selfselect.publishing import CrossFit, Holdout, LowerBound

GUARANTEE = Holdout(guarantee=True)
quiet = pytest.mark.filterwarnings("ignore::selfselect.ApplicationWarning")


@pytest.fixture(scope="module")
def table():
    """Texts, numbers with gaps, a category that only some folds have, and the group."""
    rng = np.random.default_rng(0)
    x, group = rng.normal(size=600), rng.choice(["A", "B"], 600)
    X = pd.DataFrame({"x": x, "word": np.where(x + rng.normal(size=600) > 0, "up", "down"), "group": group})
    X.loc[:2, "word"] = ["rare", "rarer", "rarest"]
    X.loc[3:20, "x"] = np.nan
    return X, (x + rng.normal(size=600) > 0).astype(int), group


def columns():
    """One-hot texts and imputed numbers; the number of columns differs between folds."""
    return ColumnTransformer(
        [
            ("number", make_pipeline(SimpleImputer(), StandardScaler()), ["x"]),
            ("text", OneHotEncoder(handle_unknown="ignore"), ["word", "group"]),
        ]
    )


@quiet
@pytest.mark.parametrize("publish", [CrossFit(), Holdout(statistic=LowerBound(0.9))])
def test_features_selected_from_noise_break_promises_unless_they_are_selected_in_every_fold(publish):
    outside, inside = [], []
    for seed in range(6):  # nothing is to be learned, and at a cost of 0.7 nobody should be told to apply
        rng = np.random.default_rng(seed)
        X, y, z = rng.normal(size=(400, 1000)), rng.integers(0, 2, 400), rng.integers(0, 2, 400)
        select = SelectKBest(k=30)
        pipeline = make_pipeline(select, StrategicClassifier(0.7, publish=publish))
        pipeline.fit(X, y, strategicclassifier__sensitive_features=z)
        outside.append(pipeline[-1].applies().any())
        model = StrategicClassifier(0.7, publish=publish, transformer=select).fit(X, y, sensitive_features=z)
        inside.append(model.applies().any())
    assert np.mean(outside) >= 0.8
    assert np.mean(inside) <= 1 / 6  # as with columns of noise that nobody selected


class Recorder(TransformerMixin, BaseEstimator):
    """Remembers the rows and labels that each fit got."""

    fits: list = []  # noqa: RUF012

    def fit(self, X, y):
        self.fits.append((X[:, 0].tolist(), list(y)))
        return self

    def transform(self, X):
        return X


@quiet
@pytest.mark.parametrize("publish", ["cross_fit", "holdout", "train", GUARANTEE])
def test_a_transformer_is_fitted_to_the_rows_that_the_classifier_is_fitted_to(publish):
    rng = np.random.default_rng(0)
    X, y = np.column_stack([np.arange(200.0), rng.normal(size=200)]), rng.choice(["no", "yes"], 200)
    z, weight = rng.integers(0, 2, 200), (np.arange(200) > 3).astype(float)
    Recorder.fits.clear()
    model = StrategicClassifier(publish=publish, transformer=Recorder(), pos_label="yes")
    model.fit(X, y, sensitive_features=z, sample_weight=weight)
    evaluated = {float(row) for row in np.flatnonzero(~np.isnan(model.unseen_scores_))} if publish != "train" else set()
    rows = [set(fitted) for fitted, _ in Recorder.fits]
    used = set(np.arange(4.0, 200.0))
    if publish == "cross_fit":
        assert len(rows) == 6
        assert rows[0] == used == evaluated
        assert all(sum(row not in fitted for fitted in rows[1:]) == 1 for row in used)
    elif publish == GUARANTEE:  # what is tested is chosen in folds of the other people
        assert set().union(*rows) == used - evaluated
    else:
        assert rows == [used - evaluated]
    assert all(labels == y[np.array(fitted, dtype=int)].tolist() for fitted, labels in Recorder.fits)


@quiet
@pytest.mark.parametrize("publish", ["cross_fit", "holdout", "train", GUARANTEE])
@pytest.mark.parametrize(
    "settings",
    [{}, {"constraints": [DemographicParity(0.3)]}, {"behaviour": SigmoidResponse(0.1)}, {"solver": "constructive"}],
)
def test_tables_with_texts_are_taken_and_folds_may_differ_in_columns(table, publish, settings, tmp_path):
    X, y, z = table
    model = StrategicClassifier(0.6, transformer=columns(), publish=publish, random_state=0, **settings)
    model.fit(X, y, sensitive_features=z)
    assert model.feature_names_in_.tolist() == ["x", "word", "group"]
    assert model.n_features_in_ == 3
    by_hand = model.transformer_.transform(X) @ model.coef_[0] + model.intercept_[0]
    assert model.decision_function(X) == pytest.approx(by_hand)
    assert model.audit(X, y, z).assumed_accuracy > 0.6 or not model.applies().any()
    with pytest.raises(ValueError, match=r"columns are missing: \{'word'\}"):
        model.predict(X.rename(columns={"word": "text"}))
    model.save(tmp_path / "model.skops", min_cell=0)
    assert (load_model(tmp_path / "model.skops").predict(X) == model.predict(X)).all()


@quiet
def test_standardising_first_changes_nothing_as_the_classifier_does_it_anyway(people):
    X, y, z = people
    plain = StrategicClassifier(0.6).fit(X, y, sensitive_features=z)
    scaled = StrategicClassifier(0.6, transformer=StandardScaler()).fit(X, y, sensitive_features=z)
    assert scaled.published_ == plain.published_
    assert (scaled.predict(X) == plain.predict(X)).all()
    assert not hasattr(scaled.set_params(transformer=None).fit(X, y, sensitive_features=z), "transformer_")


@quiet
def test_texts_alone_and_encoders_that_use_labels_are_taken(table):
    X, y, z = table
    words = StrategicClassifier(0.6, transformer=CountVectorizer()).fit(X["word"], y, sensitive_features=z)
    assert words.coef_.shape == (1, 5)
    target = ColumnTransformer([("text", TargetEncoder(), ["word", "group"])])
    assert StrategicClassifier(0.6, transformer=target).fit(X, y, sensitive_features=z).coef_.shape == (1, 2)


def test_settings_of_the_transformer_are_settings_of_the_classifier():
    model = StrategicClassifier(transformer=SelectKBest(k=3))
    assert clone(model).set_params(transformer__k=5).transformer.k == 5
    assert model.get_params()["transformer__k"] == 3


def test_what_is_no_transformer_and_what_is_no_number_is_refused(table):
    X, y, z = table
    with pytest.raises(TypeError, match="transformer must be a scikit-learn transformer"):
        StrategicClassifier(transformer="scale").fit(X, y, sensitive_features=z)
    with pytest.raises(ValueError, match="the output of transformer contains NaN"):
        StrategicClassifier(transformer=StandardScaler()).fit(X[["x"]], y, sensitive_features=z)


@pytest.mark.parametrize(
    ("steps", "warns"),
    [
        ([SelectKBest(k=1)], True),
        ([make_column_transformer((SelectKBest(k=1), ["a", "b"]))], True),
        ([make_pipeline(StandardScaler(), LinearDiscriminantAnalysis())], True),
        ([StandardScaler(), VarianceThreshold()], False),
    ],
    ids=["selection", "in columns", "in a pipeline", "without labels"],
)
def test_a_pipeline_whose_earlier_steps_used_the_labels_is_warned_about(steps, warns):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    y, z = (X["a"] + rng.normal(size=200) > 0).astype(int), rng.integers(0, 2, 200)
    pipeline = make_pipeline(*steps, NaiveClassifier(cost=0.5))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pipeline.fit(X, y, naiveclassifier__sensitive_features=z)
    said = [str(warning.message) for warning in caught if "Earlier steps of the pipeline" in str(warning.message)]
    assert bool(said) == warns
    assert all("Put these steps into estimator=" in text for text in said)
