import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from selfselect import ApplicationWarning
from selfselect.counting.groups import (
    MISSING,
    _factorize,
    encode_groups,
    locate_labels,
    position_of,
    values_by_group,
    with_same_columns,
)


def decoded(groups):
    return [groups.labels[code] for code in groups.codes]


def locate_groups(features, labels):
    own = encode_groups(features)
    return position_of(own.labels, labels, "sensitive_features", "the table")[own.codes]


@given(st.lists(st.one_of(st.integers(), st.text(), st.booleans(), st.tuples(st.integers(), st.text())), min_size=1))
def test_codes_give_back_labels_of_any_hashable_type(labels):
    # tuples in front would be read as one label each, as the documentation says
    assert decoded(encode_groups(labels)) == labels


@pytest.mark.parametrize(
    "labels",
    [
        [1.5, 0.5, 1.5],
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


def test_a_categorical_keeps_its_order_and_loses_unused_categories():
    column = pd.Series(pd.Categorical(["low", "high"], categories=["low", "mid", "high"], ordered=True), name="level")
    groups = encode_groups(column)
    assert groups.labels.tolist() == ["low", "high"]
    assert groups.labels.name == "level"


@pytest.mark.parametrize("kind", ["frame", "dict", "array", "lists", "index"])
def test_combinations_of_columns_that_occur_become_groups(kind):
    rows = [["f", 1], ["m", 2], ["f", 2], ["f", 1]]
    features = {
        "frame": pd.DataFrame(rows, columns=["sex", "site"]),
        "dict": {"sex": [r[0] for r in rows], "site": [r[1] for r in rows]},
        "array": np.array(rows, dtype=object),
        "lists": rows,
        "index": pd.MultiIndex.from_tuples(map(tuple, rows)),
    }[kind]
    groups = encode_groups(features)
    assert groups.labels.tolist() == [("f", 1), ("f", 2), ("m", 2)]
    assert groups.codes.tolist() == [0, 2, 1, 0]


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        (["a", None, "b", np.nan], ["a", MISSING, "b", MISSING]),
        ({"g": ["a", None], "h": [1, 2]}, [("a", 1), (MISSING, 2)]),
        ([None, None], [MISSING, MISSING]),
        ([2**53, 2**53 + 1, None], [2**53, 2**53 + 1, MISSING]),  # as floats they would be equal
        (["A", "A\0b", "", "\0", "A", None], ["A", "A\0b", "", "\0", "A", MISSING]),
        ({"a": pd.Series(list("xyw"), index=[3, 1, 2]), "b": pd.Series(list("kkk"))}, [(x, "k") for x in "xyw"]),
    ],
)
def test_missing_labels_can_be_a_group_and_others_stay_distinct(features, expected):
    groups = encode_groups(features, missing="own_group")
    assert decoded(groups) == expected
    assert groups.n_groups == len(set(expected))


def test_many_columns_do_not_overflow():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 1000, size=(500, 12)))
    groups = encode_groups(frame)
    assert [tuple(row) for row in frame.to_numpy().tolist()] == decoded(groups)


def test_values_by_group_can_be_a_mapping_or_a_series():
    labels = pd.Index(["a", "b"])
    assert values_by_group({"b": 2}, labels, "cost", default=0.0).tolist() == [0, 2]
    assert values_by_group(pd.Series({"b": 2, "a": 1}), labels, "cost", default=None).tolist() == [1, 2]
    assert values_by_group({}, labels, "cost", default=0.0).tolist() == [0, 0]
    several = pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["g", "h"])
    assert values_by_group({("b", 2): 0.5}, several, "cost", default=0.0).tolist() == [0, 0.5]
    assert locate_labels([("b", 2), ("a", 1)], several, "targets").tolist() == [1, 0]
    assert locate_labels([], several, "targets").tolist() == []
    pairs = pd.Index([("a", 1), ("b", 2)], tupleize_cols=False)
    assert values_by_group({("b", 2): 0.5}, pairs, "cost", default=0.0).tolist() == [0, 0.5]


def test_a_hundred_thousand_groups_can_be_encoded():
    labels = np.arange(200_000) // 2
    groups = encode_groups(labels)
    assert len(groups.labels) == 100_000
    assert (groups.codes == labels).all()


def test_several_columns_are_matched_by_name():
    labels = encode_groups(pd.DataFrame({"sex": ["f", "m"], "site": ["m", "f"]})).labels
    swapped = pd.DataFrame({"site": ["f"], "sex": ["m"]})
    assert labels[locate_groups(swapped, labels)[0]] == ("m", "f")
    assert labels[locate_groups([["m", "f"]], labels)[0]] == ("m", "f")  # no names: by position


def test_labels_of_another_type_match_if_they_are_equal_in_python():
    labels = encode_groups([0, 1, 2]).labels
    assert locate_groups([True, False], labels).tolist() == [1, 0]
    with pytest.raises(ValueError, match="does not know: '1'"):
        locate_groups(["1"], labels)
    intervals = encode_groups(pd.cut([1, 5], [0, 3, 6])).labels
    assert locate_groups(pd.cut([5, 1, 5], [0, 3, 6]), intervals).tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match="does not know"):
        locate_groups([1.0], intervals)


def test_names_with_nul_characters_are_distinct_also_with_older_pandas(monkeypatch):
    names = pd.Series(["A", "A\0b", "B", None, "A"])
    monkeypatch.setattr("selfselect.counting.groups._STOPS_AT_ZERO", True)
    codes, uniques = _factorize(names)
    assert codes.tolist() == [0, 1, 2, -1, 0]
    assert list(uniques) == ["A", "A\0b", "B"]
    codes, uniques = _factorize(pd.Series(["A", 1, "A"]))
    assert codes.tolist() == [0, 1, 0]


def test_taking_rows_drops_groups_without_rows():
    groups = encode_groups(["c", "a", "b", "a"])
    some = groups.take(slice(0, 2))
    assert decoded(some) == ["c", "a"]
    assert some.labels.tolist() == ["a", "c"]
    assert (len(groups), groups.n_groups) == (4, 3)
    assert some.codes.dtype == groups.codes.dtype == np.intp
    assert encode_groups(groups, n_rows=4) is groups


def test_labels_of_several_types_are_sorted_by_type_and_then_by_text():
    assert encode_groups([10, "b", 9, "a", (1,)]).labels.tolist() == [10, 9, "a", "b", (1,)]


def test_columns_keep_their_names_and_are_called_group_without_one():
    assert encode_groups(["a"]).labels.name == "group"
    assert encode_groups(pd.Series(["a"], name="sex")).labels.name == "sex"
    assert encode_groups({"sex": ["a", None]}, missing="own_group").labels.name == "sex"
    assert encode_groups(pd.DataFrame({"sex": ["f"], "site": [1]})).labels.names == ["sex", "site"]
    assert encode_groups(None, n_rows=1).labels.name == "group"


def test_columns_are_reordered_as_in_the_known_labels():
    known = pd.MultiIndex.from_tuples([("f", 1)], names=["sex", "site"])
    swapped = pd.MultiIndex.from_tuples([(1, "f")], names=["site", "sex"])
    assert with_same_columns(swapped, known, "cost", "the table").tolist() == [("f", 1)]
    assert with_same_columns(known, known, "cost", "the table") is known
    unnamed = pd.MultiIndex.from_tuples([(1, "f")], names=[0, 1])
    assert with_same_columns(unnamed, known, "cost", "the table") is unnamed
    assert with_same_columns(known, unnamed, "cost", "the table") is known


@pytest.mark.parametrize("kind", [tuple, set, pd.Series])
def test_groups_can_be_named_in_any_collection(kind):
    labels = pd.Index(["a", "b", "c"])
    assert locate_labels(kind(["b"]), labels, "targets").tolist() == [1]
    assert locate_labels(["c", "a"], labels, "targets").dtype == np.intp


def test_values_of_combinations_are_compared_as_in_python():
    labels = pd.MultiIndex.from_tuples([(1, "a"), (2**53 + 1, "a")])
    assert locate_labels([(True, "a")], labels, "targets").tolist() == [0]
    with pytest.raises(ValueError, match="9007199254740992"):
        locate_labels([(float(2**53), "a")], labels, "targets")


ONE = pd.Index(["a", "b"], name="g")
TWO = pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["g", "h"])


@pytest.mark.parametrize(
    ("act", "kind", "message"),
    [
        (lambda: encode_groups(None), ValueError, "number of rows is unknown"),
        (lambda: encode_groups([]), ValueError, "is empty"),
        (lambda: encode_groups(encode_groups(["a", "b"]), n_rows=3), ValueError, "has 2 rows, the rest 3"),
        (lambda: encode_groups({"a": ["x"], "b": ["x", "y"]}), ValueError, "columns of one length"),
        (lambda: encode_groups(sparse.eye(2)), TypeError, "sparse matrix"),
        (lambda: encode_groups(pd.DataFrame(index=[0])), ValueError, "has no column"),
        (lambda: encode_groups(np.zeros((2, 1, 1))), ValueError, r"got shape \(2, 1, 1\)"),
        (lambda: encode_groups("abc"), TypeError, "one label per row, got 'abc'"),
        (lambda: encode_groups(["a", {"b": 1}]), TypeError, "hashable labels; row 1"),
        (lambda: encode_groups(["a", pd.NA, "b", None]), ValueError, r"missing for 2 row\(s\), first at row\(s\) 1, 3"),
        (lambda: encode_groups(["a", None, MISSING], missing="own_group"), ValueError, "already called"),
        (lambda: encode_groups(["a"], missing="drop"), ValueError, "missing must be one of"),
        (lambda: locate_groups(["b", "c"], ONE), ValueError, "does not know: 'c'. Known groups: 'a', 'b'"),
        (lambda: locate_groups([["a", 1]], ONE), ValueError, r"2 column\(s\), but .* made from 1"),
        (
            lambda: with_same_columns(TWO.rename(["g", "k"]), TWO, "cost", "the table"),
            ValueError,
            "has columns 'g', 'k'",
        ),
        (lambda: locate_labels("a", ONE, "targets"), TypeError, "must be a list of groups, got 'a'"),
        (lambda: locate_labels([["a"]], ONE, "targets"), TypeError, "must be a list of group labels"),
        (lambda: locate_labels(["x"], pd.Index(range(12)), "targets"), ValueError, "9 and 2 more"),
        (lambda: locate_labels([("a",), "b"], TWO, "targets"), ValueError, r"tuple of 2 values \(g, h\)"),
        (
            lambda: values_by_group(pd.Series([1, 2], ["a", "a"]), ONE, "cost", default=0),
            ValueError,
            "group twice: 'a'",
        ),
        (lambda: values_by_group({"a": "much"}, ONE, "cost", default=0.0), TypeError, "to a number, got 'much'"),
        (lambda: values_by_group({"b": np.nan}, ONE, "cost", default=0.0), ValueError, r"NaN for group\(s\) 'b'"),
        (
            lambda: values_by_group({"b": 1}, ONE, "cost", default=None),
            ValueError,
            r"has no value for group\(s\) 'a'",
        ),
    ],
)
def test_wrong_groups_are_refused(act, kind, message):
    with pytest.raises(kind, match=message):
        act()


@pytest.mark.parametrize(
    "labels",
    [[1, "1"], [1.0, "1"], ["1", "1.0"], ["North", "north"], ["A", "A "], ["\u00e9", "e\u0301"], [True, "true"]],
    ids=repr,
)
def test_groups_that_only_look_alike_are_several_groups_and_named(labels):
    with pytest.warns(ApplicationWarning, match="look alike but count as 2 groups"):
        assert encode_groups([*labels, "other"]).n_groups == 3
    with pytest.warns(ApplicationWarning, match="look alike"):
        encode_groups({"z": [*labels, "other"], "sex": ["f"] * 3})


@pytest.mark.parametrize(
    "labels", [["a", "b"], ["1", "1.5"], [10**20, 10**20 + 1, "x"], [1, 2.5], ["e", "\u00e9"]], ids=repr
)
def test_groups_that_differ_are_not_reported(labels):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert encode_groups(labels).n_groups == len(labels)
