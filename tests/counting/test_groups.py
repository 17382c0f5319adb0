import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from selfselect.counting.groups import (
    EVERYONE,
    MISSING,
    _factorize,
    encode_groups,
    locate_groups,
    locate_labels,
    values_by_group,
    with_same_columns,
)


def decoded(groups):
    return [groups.labels[code] for code in groups.codes]


@given(st.lists(st.one_of(st.integers(), st.text(), st.booleans(), st.tuples(st.integers(), st.text())), min_size=1))
def test_codes_lead_back_to_labels_of_any_hashable_kind(labels):
    # tuples in front would be read as one label each, as the documentation says
    assert decoded(encode_groups(labels)) == labels


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "a", "b"],
        [3, 1, 3],
        [1.5, 0.5, 1.5],
        [True, False, True],
        ["", "x" * 10_000, ""],
        [("a", 1), ("b", 2), ("a", 1)],
        np.array(["b", "a", "b"], dtype=object),
        pd.array(["b", "a", "b"], dtype="string"),
        pd.Series([2, 1, 2], index=[7, 8, 9]),
        pd.Index(["b", "a", "b"]),
        pd.to_datetime(["2024-01-02", "2024-01-01", "2024-01-02"]),
        [1, "a", 1],
    ],
)
def test_equal_labels_share_a_group_and_others_do_not(labels):
    groups = encode_groups(labels)
    assert len(groups.labels) == 2
    assert groups.codes[0] == groups.codes[2] != groups.codes[1]


def test_groups_are_sorted_so_that_row_order_does_not_matter():
    assert encode_groups(["b", "c", "a"]).labels.tolist() == ["a", "b", "c"]


def test_a_categorical_keeps_its_order_and_loses_unused_categories():
    column = pd.Series(pd.Categorical(["low", "high"], categories=["low", "mid", "high"], ordered=True), name="level")
    groups = encode_groups(column)
    assert groups.labels.tolist() == ["low", "high"]
    assert groups.labels.name == "level"


@pytest.mark.parametrize("kind", ["frame", "dict", "array", "lists"])
def test_combinations_of_columns_that_occur_become_groups(kind):
    rows = [["f", 1], ["m", 2], ["f", 2], ["f", 1]]
    features = {
        "frame": pd.DataFrame(rows, columns=["sex", "site"]),
        "dict": {"sex": [r[0] for r in rows], "site": [r[1] for r in rows]},
        "array": np.array(rows, dtype=object),
        "lists": rows,
    }[kind]
    groups = encode_groups(features)
    assert groups.labels.tolist() == [("f", 1), ("f", 2), ("m", 2)]
    assert groups.codes.tolist() == [0, 2, 1, 0]


def test_many_columns_do_not_overflow():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 1000, size=(500, 12)))
    groups = encode_groups(frame)
    assert [tuple(row) for row in frame.to_numpy().tolist()] == decoded(groups)


def test_no_groups_means_everyone_is_one():
    groups = encode_groups(None, n_rows=3)
    assert groups.labels.tolist() == [EVERYONE]
    assert groups.codes.tolist() == [0, 0, 0]


@pytest.mark.parametrize("absent", [None, np.nan, pd.NA, pd.NaT])
def test_missing_labels_are_an_error_that_says_how_many_and_where(absent):
    with pytest.raises(ValueError, match=r"missing for 2 row\(s\), first at row\(s\) 1, 3.*own_group"):
        encode_groups(["a", absent, "b", absent])


def test_missing_labels_can_be_a_group_of_their_own():
    groups = encode_groups(["a", None, "b", np.nan], missing="own_group")
    assert decoded(groups) == ["a", MISSING, "b", MISSING]
    combined = encode_groups({"g": ["a", None], "h": [1, 2]}, missing="own_group")
    assert decoded(combined) == [("a", 1), (MISSING, 2)]
    assert decoded(encode_groups([None, None], missing="own_group")) == [MISSING, MISSING]
    with pytest.raises(ValueError, match="already called"):
        encode_groups(["a", None, MISSING], missing="own_group")


def test_locating_names_the_groups_that_are_not_known():
    labels = encode_groups(["a", "b"]).labels
    assert locate_groups(["b", "a"], labels).tolist() == [1, 0]
    with pytest.raises(ValueError, match=r"does not know: 'c'\. Known groups: 'a', 'b'"):
        locate_groups(["b", "c"], labels)
    with pytest.raises(ValueError, match=r"2 column\(s\), but .* made from 1"):
        locate_groups([["a", 1]], labels)


@pytest.mark.parametrize(
    ("features", "error", "message"),
    [
        ([], ValueError, "empty"),
        ("abc", TypeError, "one label per row"),
        (7, TypeError, "one label per row"),
        (pd.DataFrame(index=[0, 1]), ValueError, "no column"),
        ([{"a": 1}, {"b": 2}], TypeError, "hashable labels; row 0"),
        (np.zeros((2, 2, 2)), ValueError, "one or two dimensions"),
        (["a", "b", "c"], ValueError, "has 3 rows, the rest 2"),
    ],
)
def test_what_are_no_groups_is_refused(features, error, message):
    with pytest.raises(error, match=message):
        encode_groups(features, n_rows=2)


def test_values_by_group_accept_mappings_and_series_and_name_what_is_wrong():
    labels = pd.Index(["a", "b"])
    assert values_by_group({"b": 2}, labels, "cost", default=0.0).tolist() == [0, 2]
    assert values_by_group(pd.Series({"b": 2, "a": 1}), labels, "cost", default=None).tolist() == [1, 2]
    assert values_by_group({}, labels, "cost", default=0.0).tolist() == [0, 0]
    with pytest.raises(ValueError, match="says nothing about group"):
        values_by_group({"b": 2}, labels, "cost", default=None)
    with pytest.raises(TypeError, match="to a number"):
        values_by_group({"b": "much"}, labels, "cost", default=0.0)
    with pytest.raises(ValueError, match="NaN"):
        values_by_group({"b": np.nan}, labels, "cost", default=0.0)
    several = pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["g", "h"])
    assert values_by_group({("b", 2): 0.5}, several, "cost", default=0.0).tolist() == [0, 0.5]
    with pytest.raises(ValueError, match="tuple of 2 values"):
        values_by_group({"b": 0.5}, several, "cost", default=0.0)
    pairs = pd.Index([("a", 1), ("b", 2)], tupleize_cols=False)
    assert values_by_group({("b", 2): 0.5}, pairs, "cost", default=0.0).tolist() == [0, 0.5]


def test_a_hundred_thousand_groups_are_no_problem():
    labels = np.arange(200_000) // 2
    groups = encode_groups(labels)
    assert len(groups.labels) == 100_000
    assert (groups.codes == labels).all()


def test_columns_of_a_dict_are_taken_as_they_stand_whatever_their_index():
    shuffled = {"a": pd.Series(list("xyw"), index=[3, 1, 2]), "b": pd.Series(list("kkk"), index=[1, 2, 3])}
    assert decoded(encode_groups(shuffled)) == [("x", "k"), ("y", "k"), ("w", "k")]
    with pytest.raises(ValueError, match="columns of one length"):
        encode_groups({"a": ["x"], "b": ["x", "y"]})


def test_large_whole_numbers_stay_apart_beside_a_missing_label():
    groups = encode_groups([2**53, 2**53 + 1, None], missing="own_group")
    assert decoded(groups) == [2**53, 2**53 + 1, MISSING]


def test_several_columns_are_matched_by_name_and_refused_if_names_differ():
    labels = encode_groups(pd.DataFrame({"sex": ["f", "m"], "site": ["m", "f"]})).labels
    swapped = pd.DataFrame({"site": ["f"], "sex": ["m"]})
    assert labels[locate_groups(swapped, labels)[0]] == ("m", "f")
    assert labels[locate_groups([["m", "f"]], labels)[0]] == ("m", "f")  # no names: by position
    with pytest.raises(ValueError, match="has columns 'site', 'age'"):
        locate_groups(pd.DataFrame({"site": ["f"], "age": ["m"]}), labels)


def test_labels_of_another_kind_are_found_where_python_holds_them_equal():
    labels = encode_groups([0, 1, 2]).labels
    assert locate_groups([True, False], labels).tolist() == [1, 0]
    with pytest.raises(ValueError, match="does not know: '1'"):
        locate_groups(["1"], labels)
    intervals = encode_groups(pd.cut([1, 5], [0, 3, 6])).labels
    with pytest.raises(ValueError, match="does not know"):
        locate_groups([1.0], intervals)


@pytest.mark.parametrize("features", [{"a", "b"}, sparse.eye(2)])
def test_what_has_no_order_or_is_sparse_is_refused(features):
    with pytest.raises(TypeError, match="sensitive_features"):
        encode_groups(features, n_rows=2)


def test_names_that_differ_only_after_a_character_0_are_different_groups():
    names = ["A", "A\0b", "", "\0", "A", None]
    found = encode_groups(names, missing="own_group")
    assert found.n_groups == 5
    assert [found.labels[code] for code in found.codes] == ["A", "A\0b", "", "\0", "A", "(missing)"]


def test_where_pandas_stops_at_a_character_0_names_are_told_apart_all_the_same(monkeypatch):
    names = pd.Series(["A", "A\0b", "B", None, "A"])
    monkeypatch.setattr("selfselect.counting.groups._STOPS_AT_ZERO", True)
    codes, uniques = _factorize(names)
    assert codes.tolist() == [0, 1, 2, -1, 0]
    assert list(uniques) == ["A", "A\0b", "B"]
    codes, uniques = _factorize(pd.Series(["A", 1, "A"]))
    assert codes.tolist() == [0, 1, 0]


def test_groups_of_some_rows_keep_their_labels_and_lose_those_of_nobody():
    groups = encode_groups(["c", "a", "b", "a"])
    some = groups.take(slice(0, 2))
    assert decoded(some) == ["c", "a"]
    assert some.labels.tolist() == ["a", "c"]
    assert (len(groups), groups.n_groups) == (4, 3)
    assert some.codes.dtype == groups.codes.dtype == np.intp


def test_groups_that_are_encoded_already_are_passed_through():
    groups = encode_groups(["b", "a"])
    assert encode_groups(groups) is groups
    assert encode_groups(groups, n_rows=2) is groups


def test_labels_of_several_kinds_are_sorted_by_kind_and_then_as_they_print():
    assert encode_groups([10, "b", 9, "a", (1,)]).labels.tolist() == [10, 9, "a", "b", (1,)]


def test_names_of_columns_are_kept_and_a_column_without_one_is_called_group():
    assert encode_groups(["a"]).labels.name == "group"
    assert encode_groups(pd.Series(["a"], name="sex")).labels.name == "sex"
    assert encode_groups({"sex": ["a", None]}, missing="own_group").labels.name == "sex"
    assert encode_groups(pd.DataFrame({"sex": ["f"], "site": [1]})).labels.names == ["sex", "site"]
    assert encode_groups(None, n_rows=1).labels.name == "group"


def test_an_index_of_several_levels_is_as_many_columns():
    index = pd.MultiIndex.from_tuples([("f", 1), ("m", 2)], names=["sex", "site"])
    groups = encode_groups(index)
    assert groups.labels.tolist() == [("f", 1), ("m", 2)]
    assert groups.labels.names == ["sex", "site"]


def test_columns_are_put_in_the_order_of_those_that_are_known():
    known = pd.MultiIndex.from_tuples([("f", 1)], names=["sex", "site"])
    swapped = pd.MultiIndex.from_tuples([(1, "f")], names=["site", "sex"])
    assert with_same_columns(swapped, known, "cost", "the table").tolist() == [("f", 1)]
    assert with_same_columns(known, known, "cost", "the table") is known
    unnamed = pd.MultiIndex.from_tuples([(1, "f")], names=[0, 1])
    assert with_same_columns(unnamed, known, "cost", "the table") is unnamed
    assert with_same_columns(known, unnamed, "cost", "the table") is known


@pytest.mark.parametrize("kind", [list, tuple, set, frozenset, pd.Index, pd.Series, np.array])
def test_groups_can_be_named_by_any_collection_of_labels(kind):
    labels = pd.Index(["a", "b", "c"])
    assert locate_labels(kind(["b"]), labels, "targets").tolist() == [1]
    assert locate_labels(["c", "a"], labels, "targets").dtype == np.intp


def test_combinations_are_named_by_tuples_and_none_at_all_is_fine():
    labels = pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["g", "h"])
    assert locate_labels([("b", 2), ("a", 1)], labels, "targets").tolist() == [1, 0]
    assert locate_labels([], labels, "targets").tolist() == []
    assert values_by_group({}, labels, "cost", default=0.25).tolist() == [0.25, 0.25]


def test_combinations_are_compared_as_python_compares_their_values():
    labels = pd.MultiIndex.from_tuples([(1, "a"), (2**53 + 1, "a")])
    assert locate_labels([(True, "a")], labels, "targets").tolist() == [0]
    with pytest.raises(ValueError, match="9007199254740992"):
        locate_labels([(float(2**53), "a")], labels, "targets")


def test_tuples_of_any_length_are_labels():
    labels = encode_groups([("a",), ("a", "b"), (), ("a",)]).labels
    assert labels.nlevels == 1
    assert labels.tolist() == [(), ("a",), ("a", "b")]
    assert locate_labels([("a", "b"), ("a",)], labels, "targets").tolist() == [2, 1]
    assert locate_labels([("a",)], labels, "targets").tolist() == [1]


def test_labels_of_an_interval_are_found_as_a_whole():
    labels = encode_groups(pd.cut([1, 5], [0, 3, 6])).labels
    assert locate_groups(pd.cut([5, 1, 5], [0, 3, 6]), labels).tolist() == [1, 0, 1]
