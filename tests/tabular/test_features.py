"""Columns of text as features."""

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from applicants import applicants, text_columns
from selfselect.tabular.errors import TableError
from selfselect.tabular.features import as_frame, fit_encoder, read_features


@pytest.fixture(scope="module")
def people():
    return applicants()


def column(*cells):
    return np.array(cells, dtype=object)


def test_features_are_those_of_a_plain_pipeline_with_a_flag_for_missing_numbers(people):
    used = people[["age", "pay", "job", "z"]]
    frame, left_out = read_features(text_columns(used))
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    categories = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="(missing)"),
        OneHotEncoder(min_frequency=10, handle_unknown="infrequent_if_exist", sparse_output=False),
    )
    reference = ColumnTransformer(
        [("age", numbers, ["age"]), ("pay", numbers, ["pay"]), ("c", categories, ["job", "z"])]
    )
    features = fit_encoder(frame).transform(frame)
    assert left_out == {}
    assert (features[:, 2] == people["pay"].isna()).all()
    assert np.allclose(np.delete(features, 2, axis=1), reference.fit_transform(used), atol=1e-12)


def test_columns_that_say_nothing_are_left_out_and_named(people):
    _, left_out = read_features(text_columns(people.drop(columns="hired").assign(row=np.arange(len(people)))))
    assert set(left_out) == {"id", "same", "row"}
    with pytest.raises(TableError, match="No column is left"):
        read_features({"same": column("1", "1")})


def test_values_never_seen_in_training_are_no_error():
    frame, _ = read_features({"c": column(*"ab" * 20), "x": column(*"12" * 20), "rare": column(*"a" * 39, "b")})
    new = as_frame({"c": column("z"), "x": column(""), "rare": column("z")}, numbers=["x"])
    # no indicator of c, the median of x, and the indicator that rare categories share
    assert fit_encoder(frame).transform(new)[0].tolist() == [0, 0, 0, 0, 1]


def test_a_column_of_numbers_that_is_empty_in_the_training_rows_is_a_flag():
    frame, _ = read_features({"x": column(*"12" * 20, *[""] * 40), "c": column(*"ab" * 40)})
    encoder = fit_encoder(frame[40:])
    assert encoder.transform(frame)[[0, 50], :2].tolist() == [[1, 0], [0, 1]]


def test_one_word_among_few_numbers_makes_a_column_of_categories():
    frame, _ = read_features({"x": column(*"123" * 20, "many")})
    assert fit_encoder(frame[:60]).transform(frame)[-1].tolist() == [0, 0, 0]


def test_a_word_among_many_different_numbers_is_a_mistake_that_is_named():
    cells = column(*[str(i) for i in range(40)] * 2, "high")
    with pytest.raises(TableError, match=r"'x' holds numbers except in 1 row\(s\), first 'high' in row 81") as error:
        read_features({"x": cells})
    assert (error.value.key, error.value.details["name"]) == ("ignore", "x")


@pytest.mark.parametrize(("cells", "words"), [("1e308 1 2", "too large"), ("0 1e-150 2e-150", "too close")])
def test_numbers_whose_squares_are_not_numbers_are_refused_with_the_column(cells, words):
    frame, _ = read_features({"x": column(*cells.split())})
    with pytest.raises(TableError, match=f"'x' holds numbers {words}"):
        fit_encoder(frame)
