"""Rows above the names of columns, and columns of one name."""

import gzip

import numpy as np
import pandas as pd
import pytest

from selfselect.tabular.columns import GroupRules, band_names
from selfselect.tabular.dialect import find_header, names_columns
from selfselect.tabular.errors import TableError
from selfselect.tabular.loading import DecisionColumn, PeopleColumns, read_screening_results
from selfselect.tabular.read import open_table

TITLED = 'Report "2025"\n\nname,x\na,1\nb,oops\n'


@pytest.mark.parametrize("packed", [False, True])
def test_rows_keep_the_numbers_that_a_spreadsheet_shows(packed, tmp_path):
    path = tmp_path / "titled.csv"
    path.write_bytes(gzip.compress(TITLED.encode()) if packed else TITLED.encode())
    with open_table(path, header_row=3) as table:
        assert table.header == ["name", "x"]
        (column,) = table.columns([1])
        assert list(column.rows) == [4, 5]
        assert column.cells().tolist() == ["1", "oops"]
    with open_table(path) as table:
        assert table.header_guess() == 3


def test_a_parquet_file_has_no_row_of_names(tmp_path):
    path = tmp_path / "people.parquet"
    pd.DataFrame({"x": [1, 2]}).to_parquet(path)
    with pytest.raises(TableError, match="which names its columns"), open_table(path, header_row=2):
        pass


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("a,b\n1,2\n3,4\n5,6\n7,8\n", None),
        ("Title\n\na,b\n1,2\n3,4\n", 3),
        ("Title;;\n;;\na;b;c\n1;2;3\n", 3),
        ("a,b\nyears,euros\n1,2\n3,4\n5,6\n7,8\n", 2),
        ("a,b\nx,euros\ny,2\nz,4\nx,6\ny,8\n", 2),
        ("a,b\nx,y\ny,z\nz,x\nx,x\ny,y\n", None),
        ("a,b\nx,\ny,2\nz,4\nx,6\ny,8\n", None),
    ],
)
def test_the_row_of_names_is_found(text, row):
    assert find_header(text) == row


def test_a_row_with_numbers_or_repeated_words_names_no_columns():
    assert not names_columns([["a", "7"], ["x", "1"]])
    assert not names_columns([["a", "A"], ["x", "1"]])
    assert names_columns([["a", "b"]])


def test_columns_of_one_name_are_told_apart_by_position(tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("y,g,score,score,\n1,a,0.1,0.9,\n0,b,0.7,0.2,\n")
    with open_table(path) as table:
        assert table.header == ["y", "g", "score (column 3)", "score (column 4)", ""]
        assert table.position("score (column 4)") == 3
        with pytest.raises(TableError, match=r"2 columns have this name. Write 'score \(column 3\)' or"):
            table.position("score")


def test_rows_without_a_group_are_left_out_before_anything_else_is_read(tmp_path):
    path = tmp_path / "dropped.csv"
    path.write_text("y,g,p\n1,a,1\nbroken,,1\n0,a,0\n1,b,1\nx,n.k.,\n")
    columns = PeopleColumns("y", ("g",), missing="drop", unknown=("N.K.",))
    findings = []
    with open_table(path) as table:
        (result,), people = read_screening_results(table, columns, DecisionColumn("p"), findings)
    assert result.counts.n.tolist() == [2, 1]
    assert people.dropped == 2
    assert "2 rows without a group are left out; 3 are left." in [finding.text for finding in findings]


def test_bands_hold_every_number_once(tmp_path):
    edges = (25.0, 35.5)
    assert band_names(edges) == ["under 25", "25 to under 35.5", "35.5 or more"]
    path = tmp_path / "ages.csv"
    path.write_text("age\n" + "\n".join(map(str, [24.9, 25, 35.4, 35.5, 99])) + "\n")
    with open_table(path) as table:
        (column,) = table.columns([0])
        names, ordered = GroupRules(bands={"age": edges}).names(table, column)
    assert np.array(names)[column.codes].tolist() == [ordered[0], ordered[1], ordered[1], ordered[2], ordered[2]]
