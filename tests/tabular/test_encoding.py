"""Ordinary columns as features."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from applicants import applicants, text_columns
from selfselect.tabular.encoding import TableEncoder
from selfselect.tabular.errors import TableError


@pytest.fixture(scope="module")
def people():
    return applicants()


def test_features_are_those_of_scikit_learns_own_pipeline(people):
    used = people[["age", "pay", "job", "z"]]
    encoder = TableEncoder.fit(text_columns(used))
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    categories = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="(missing)"),
        OneHotEncoder(min_frequency=10, handle_unknown="infrequent_if_exist", sparse_output=False),
    )
    reference = ColumnTransformer(
        [("age", numbers, ["age"]), ("pay", numbers, ["pay"]), ("c", categories, ["job", "z"])]
    )
    found = pd.DataFrame(encoder.transform(text_columns(used)), columns=encoder.names)
    flags = found.pop("pay is missing")
    assert flags.sum() == people["pay"].isna().sum()
    assert np.allclose(found, reference.fit_transform(used), atol=1e-12)
    assert "job = other" in encoder.names
    assert "job = (missing)" in encoder.names


def test_columns_that_say_nothing_are_left_out_and_named(people):
    encoder = TableEncoder.fit(text_columns(people.drop(columns="hired").assign(row=np.arange(len(people)))))
    assert set(encoder.left_out) == {"id", "same", "row"}


def test_values_never_seen_in_training_are_no_error():
    encoder = TableEncoder.fit({"c": np.array(["a", "b"] * 20, object), "x": np.array(["1", "2"] * 20, object)})
    strange = encoder.transform({"c": np.array(["z"], object), "x": np.array([""], object)})
    assert strange[0].tolist() == [0, 0, 0]


def test_one_word_among_numbers_makes_a_column_of_categories_wherever_it_stands():
    cells = np.array(["1", "2", "3"] * 20 + ["many"], object)
    rows = np.arange(61) < 60
    encoder = TableEncoder.fit({"x": cells}, rows)
    assert encoder.names == ["x = 1", "x = 2", "x = 3"]
    assert encoder.transform({"x": cells})[-1].tolist() == [0, 0, 0]


def test_a_word_among_many_different_numbers_is_a_mistake_that_is_named():
    cells = np.array([str(i) for i in range(40)] * 2 + ["high"], object)
    with pytest.raises(TableError, match=r"'x' holds numbers except in 1 row\(s\), first 'high' in row 81") as error:
        TableEncoder.fit({"x": cells})
    assert (error.value.key, error.value.details["name"]) == ("ignore", "x")


def test_numbers_too_large_to_square_are_refused_with_the_column():
    with pytest.raises(TableError, match="'x' holds numbers too large"):
        TableEncoder.fit({"x": np.array(["1e308", "1", "2"], object)})


def test_an_encoder_as_plain_values_and_back_is_the_same(people):
    encoder = TableEncoder.fit(text_columns(people[["age", "pay", "job"]]))
    again = TableEncoder.from_dict(encoder.to_dict())
    assert again.columns == encoder.columns
    with pytest.raises(ValueError, match="unknown kind: 'exec'"):
        TableEncoder.from_dict([{**encoder.to_dict()[0], "kind": "exec"}])
    with pytest.raises(ValueError, match="unknown kind"):
        TableEncoder.from_dict([{**encoder.to_dict()[0], "more": 1}])
