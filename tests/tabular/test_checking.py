"""Cells that are more than text, or a complaint about the first that is not."""

import numpy as np
import pandas as pd
import pytest
from selfselect.tabular.checking import (
    GroupColumns,
    TwoValues,
    as_numbers,
    match_groups,
    numbers_or_missing,
    to_numbers,
)
from selfselect.tabular.chunks import Chunk, TableReader

from selfselect.tabular.errors import TableError


class Table(TableReader):
    """A table in memory, in chunks of two rows."""

    def __init__(self, **columns):
        super().__init__("t.csv", lambda: "")
        self.header, self._columns = list(columns), list(columns.values())

    def chunks(self, columns):
        for at in range(0, len(self._columns[0]), 2):
            cells = [list(self._columns[i][at : at + 2]) for i in columns]
            yield Chunk(range(at + 2, at + 2 + len(cells[0])), cells)


def numbers(*cells):
    table = Table(score=cells)
    return np.concatenate([as_numbers(table, chunk, 0, "score") for chunk in table.chunks([0])]).tolist()


def positives(values, **how):
    table = Table(y=values.split(","))
    two = TwoValues("y", how.pop("positive", None), "qualified", **how)
    found = [two(table, chunk, 0) for chunk in table.chunks([0])]
    two.finish(table)
    return np.concatenate(found).tolist()


def groups_of(missing="error", **columns):
    table = Table(**columns)
    groups = GroupColumns(list(columns), missing)
    for chunk in table.chunks(range(len(columns))):
        groups.keep(table, chunk, range(len(columns)))
    return groups.codes()


def test_numbers_are_read_as_people_write_them():
    assert numbers("1", " 2.5 ", "-1e3") == [1, 2.5, -1000]


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("high", "'high' is not a number"),
        ("", "empty"),
        ("1e309", "finite"),
        ("nan", "finite"),
        ("1_000", "not a number"),
        ("0,5", "decimals with a point"),
    ],
)
def test_a_cell_that_is_no_number_is_named_with_its_row(cell, words):
    with pytest.raises(TableError, match=f"t.csv, row 4, column 'score': .*{words}"):
        numbers("1", "2", cell)


def test_the_first_wrong_cell_is_named_whatever_is_wrong_with_later_ones():
    with pytest.raises(TableError, match=r"row 2.*'inf' is not a finite number"):
        numbers("inf", "high")


def test_missing_numbers_are_nan_and_words_are_no_numbers():
    values, wrong = numbers_or_missing(np.array(["1", "N/A", "", "?", "ten", "1_0"], object))
    assert np.isnan(values[1:]).all()
    assert wrong.tolist() == [4, 5]
    with pytest.raises(ValueError, match="'ten' is not a finite number"):
        to_numbers(np.array(["1", "ten"], object))


def test_two_values_speak_for_themselves_or_need_a_word():
    assert positives("1,0,1.0,0") == [True, False, True, False]
    assert positives("True,false,TRUE") == [True, False, True]
    assert positives("yes,no", positive="yes") == [True, False]
    with pytest.raises(
        TableError, match=r"row 2.*'yes' is neither 0 nor 1 \(found: 'yes', 'no'\); say which value means qualified"
    ) as error:
        positives("yes,no", key="which")
    assert error.value.key == "which"
    with pytest.raises(TableError, match="no row holds 'maybe'"):
        positives("yes,no", positive="maybe")


def test_values_that_differ_in_case_alone_are_one_unless_there_is_no_other():
    assert positives("yes,NO,YES,no,Yes", positive="yes") == [True, False, True, False, True]
    assert positives("yes,NO,YES", positive="Yes") == [True, False, True]
    with pytest.raises(TableError, match=r"column 'y': it holds 'M' and 'm' and nothing else"):
        positives("m,M,m", positive="m")
    with pytest.raises(TableError, match=r"a third value 'maybe'"):
        positives("yes,NO,YES,maybe", positive="yes")


def test_numbers_as_labels_are_compared_digit_by_digit():
    large = "9007199254740993,9007199254740992"
    assert positives(large, positive="9007199254740993") == [True, False]
    assert positives("1.50,2,1.5,15e-1", positive="1.5") == [True, False, True, True]
    assert positives("100,1e2,-0,0", positive="100.0") == [True, True, False, False]
    assert positives("1e99999,1e9999999999999999999999", positive="1e99999") == [True, False]
    with pytest.raises(TableError, match="a third value"):
        positives(f"{large},9007199254740991", positive="9007199254740993")


def test_blanks_around_labels_and_groups_are_no_part_of_them():
    assert positives(" yes,no ,yes", positive="yes ") == [True, False, True]
    table = Table(z=["A", " A", "A ", "B", "\u00a0B"])
    groups = GroupColumns(["z"])
    for chunk in table.chunks([0]):
        groups.keep(table, chunk, [0])
    assert groups.codes().labels.tolist() == ["A", "B"]
    assert groups.codes().codes.tolist() == [0, 0, 0, 1, 1]
    assert groups.trimmed == [{" A", "A ", "\u00a0B"}]
    with pytest.raises(TableError, match="row 3, column 'z': the group is empty"):
        groups_of(z=["A", "  "])
    assert groups_of(z=["a", "A"]).labels.tolist() == ["A", "a"]  # cases are not merged


def test_a_third_value_and_an_empty_one_are_refused_where_they_stand():
    with pytest.raises(TableError, match=r"row 4.*a third value '2', after '1' and '0'") as error:
        positives("1,0,2", more_values="score")
    assert (error.value.key, error.value.details["name"]) == ("score", "y")
    with pytest.raises(TableError, match="row 3, column 'y': the cell is empty"):
        positives("1,")


def test_groups_come_in_one_order_whatever_chunk_they_come_in_and_missing_ones_last():
    found = groups_of("own_group", z=["b", "", "(a", "b", ""])
    assert found.labels.tolist() == ["(a", "b", "(missing)"]
    assert found.codes.tolist() == [1, 2, 0, 1, 2]
    assert found.labels.names == ["z"]


def test_combinations_of_columns_are_groups():
    found = groups_of(z=["b", "a", "b"], w=["1", "2", "1"])
    assert found.labels.tolist() == [("a", "2"), ("b", "1")]
    assert found.codes.tolist() == [1, 0, 1]


def test_an_empty_group_is_refused_with_its_row_and_a_key():
    with pytest.raises(TableError, match="row 4, column 'z': the group is empty") as error:
        groups_of(z=["a", "b", ""])
    assert error.value.key == "missing"


def test_a_group_that_is_called_missing_is_not_mixed_up_with_missing_ones_in_a_later_chunk():
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
