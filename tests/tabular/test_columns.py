"""Cells that are more than text, or an error about the first that is not."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from selfselect import ApplicationWarning
from selfselect.counting import encode_groups
from selfselect.tabular.columns import (
    GroupRules,
    as_numbers,
    group_frame,
    match_groups,
    numbers_or_missing,
    read_binary,
)
from selfselect.tabular.errors import TableError
from selfselect.tabular.table import Table


class TableInMemory(Table):
    """Columns of texts in memory."""

    def __init__(self, **columns):
        super().__init__("t.csv", io.BytesIO(), 0)
        self.header, self._cells = list(columns), list(columns.values())

    def read(self, positions):
        cells = [pa.chunked_array([list(self._cells[at])], pa.string()) for at in positions]
        yield range(2, 2 + len(self._cells[0])), cells


def all_columns(table):
    return table.columns(range(len(table.header)))


def numbers(*cells):
    table = TableInMemory(score=cells)
    return as_numbers(table, *all_columns(table)).tolist()


def positives(values, positive=None, **options):
    table = TableInMemory(y=values.split(","))
    named = () if positive is None else (positive,)
    return read_binary(table, *all_columns(table), named, **options).is_positive.tolist()


def groups_of(missing="error", **columns):
    table = TableInMemory(**columns)
    return encode_groups(group_frame(table, all_columns(table), GroupRules(missing=missing)), missing=missing)


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("high", "'high' is not a number"),
        ("", "empty"),
        ("1e309", "finite"),
        ("nan", "finite"),
        ("1_000", "not a number"),
        ("1\x1c", "not a number"),
        ("0,5", "decimals with a point"),
    ],
)
def test_a_cell_that_is_no_number_is_named_with_its_row(cell, words):
    with pytest.raises(TableError, match=f"t.csv, row 4, column 'score': .*{words}"):
        numbers("1", "2", cell)


def test_missing_numbers_are_nan_and_words_are_no_numbers():
    values, wrong = numbers_or_missing(np.array(["1", "N/A", "", "?", "ten", "1_0"], object))
    assert np.isnan(values[1:]).all()
    assert wrong.tolist() == [4, 5]


@pytest.mark.parametrize(
    ("values", "options", "expected"),
    [
        ("1,0,1.0,0", {}, [True, False, True, False]),
        ("True,false,TRUE", {}, [True, False, True]),
        ("yes,no", {"positive": "yes"}, [True, False]),
        ("yes,NO,YES,no,Yes", {"positive": "yes"}, [True, False, True, False, True]),  # cases are merged
        (" yes,no ,yes", {"positive": "yes "}, [True, False, True]),
        ("yes,NO", {}, [True, False]),
        ("yes,no", {"positive": "no"}, [False, True]),
    ],
)
def test_0_and_1_need_no_explanation_and_other_values_need_a_positive_one(values, options, expected):
    assert positives(values, **options) == expected


@pytest.mark.parametrize(
    ("values", "options", "words", "key"),
    [
        ("good,bad", {"is_label": True}, "row 2.*it holds 'good', 'bad', not 1 and 0.*say which value means qualified",
         "positive"),
        ("yes,no", {"positive": "maybe"}, "no row holds 'maybe'", None),
        ("m,M,m", {"positive": "m"}, "column 'y': it holds 'M' and 'm' and nothing else", None),
        ("yes,NO,YES,maybe", {"positive": "yes"}, "a third value 'maybe'", "score"),
        ("1,0,2", {}, "row 4.*a third value '2', after '1' and '0'", "score"),
        ("1,", {}, "row 3, column 'y': the cell is empty", None),
    ],
)  # fmt: skip
def test_values_that_are_not_two_with_a_meaning_are_refused(values, options, words, key):
    with pytest.raises(TableError, match=words) as error:
        positives(values, **options)
    assert error.value.key == key
    assert error.value.details.get("name", "y") == "y"


def test_numbers_as_labels_are_compared_digit_by_digit():
    large = "9007199254740993,9007199254740992"
    assert positives(large, positive="9007199254740993") == [True, False]
    assert positives("1.50,2,1.5,15e-1", positive="1.5") == [True, False, True, True]
    assert positives("100,1e2,-0,0", positive="100.0") == [True, True, False, False]
    assert positives("1e99999,1e9999999999999999999999", positive="1e99999") == [True, False]
    with pytest.raises(TableError, match="a third value"):
        positives(f"{large},9007199254740991", positive="9007199254740993")


def test_blanks_around_groups_are_no_part_of_them():
    groups = groups_of(z=["A", " A", "A ", "B", "\u00a0B"])
    assert groups.labels.tolist() == ["A", "B"]
    assert groups.codes.tolist() == [0, 0, 0, 1, 1]
    with pytest.raises(TableError, match="row 3, column 'z': the group is empty"):
        groups_of(z=["A", "  "])
    with pytest.warns(ApplicationWarning, match="'A', 'a' look alike"):
        assert groups_of(z=["a", "A"]).labels.tolist() == ["A", "a"]  # cases are not merged


def test_groups_are_sorted_and_the_missing_one_is_last():
    groups = groups_of("own_group", z=["b", "", "(a", "b", ""])
    assert groups.labels.tolist() == ["(a", "b", "(missing)"]
    assert groups.codes.tolist() == [1, 2, 0, 1, 2]
    assert groups.labels.names == ["z"]


def test_a_group_that_is_called_missing_is_not_mixed_up_with_missing_ones():
    with pytest.raises(TableError, match="already called"):
        groups_of("own_group", z=["(missing)", "b", "", "b"])
    assert groups_of("own_group", z=["(missing)", "b"]).n_groups == 2


def test_groups_are_found_by_the_names_that_people_see():
    plain = pd.Index(["False", "True"])
    assert match_groups(["True"], plain) == ["True"]
    combined = pd.MultiIndex.from_tuples([("a", "1"), ("b", "2")])
    assert match_groups(["b / 2", "a / 1"], combined) == [("b", "2"), ("a", "1")]
    with pytest.raises(TableError, match=r"no group 'treu'.*Did you mean 'True'.*Groups: 'False', 'True'") as error:
        match_groups(["treu"], plain, "target")
    assert error.value.details["named_by"] == "target"
    with pytest.raises(TableError, match="'True' is named twice"):
        match_groups(["True", "True"], plain)


def test_cells_may_be_unknown_where_that_is_allowed():
    table = TableInMemory(y=["1", "", "N/A", "0"])
    column = read_binary(table, *all_columns(table), is_label=True, allow_empty=True)
    assert column.known.tolist() == [True, False, False, True]
    assert column.is_positive.tolist() == [True, False, False, False]
