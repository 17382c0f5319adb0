"""How a CSV file is written is detected and noted; where two answers are possible, the user is asked."""

import gzip

import pytest

from selfselect.tabular.dialect import find_decimal, find_delimiter
from selfselect.tabular.errors import TableError
from selfselect.tabular.loading import PeopleColumns, ScoreColumn, read_for_training, read_screening_results
from selfselect.tabular.read import open_table

GOOD = "label,group,score\n1,Köln,0.9\n0,Köln,0.25\n1,B,0.8\n0,B,0.7\n"


def screened(tmp_path, content, **options):
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    with open_table(path, **options) as table:
        (result,), _ = read_screening_results(table, PeopleColumns("label", ("group",)), ScoreColumn("score"))
        return result.table, table.notes


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (GOOD.encode(), ""),
        (GOOD.encode("utf-8-sig"), ""),
        (GOOD.replace("\n", "\r\n").encode(), ""),
        (GOOD.replace("\n", "\r").encode(), ""),
        (gzip.compress(GOOD.encode(), mtime=0), ""),
        (GOOD.encode("utf-16"), "the encoding utf-16"),
        (GOOD.encode("utf-32"), "the encoding utf-32"),
        (GOOD.encode("cp1252"), "the encoding cp1252 (a guess: it is not UTF-8)"),
        (GOOD.replace(",", ";").encode(), "semicolons between its columns"),
        (GOOD.replace(",", "\t").encode(), "tabs between its columns"),
        (GOOD.replace(",", "|").encode(), "bars between its columns"),
        (GOOD.replace(",", ";").replace(".", ",").encode(), "semicolons between its columns, decimal commas"),
        (GOOD.replace(",", "\t").replace(".", ",").encode(), "tabs between its columns, decimal commas"),
        (
            GOOD.replace(",", ";").replace(".", ",").encode("cp1252"),
            "semicolons between its columns, decimal commas, the encoding cp1252 (a guess: it is not UTF-8)",
        ),
    ],
)
def test_the_same_table_is_read_however_it_is_written_and_what_was_detected_is_noted(tmp_path, content, note):
    statistics, notes = screened(tmp_path, content)
    assert statistics == screened(tmp_path, GOOD.encode())[0]
    assert notes == ([f"{tmp_path / 'people.csv'} is read with {note}."] if note else [])


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1,2\n", (",", None)),
        ("a;b\n1;2\n", (";", None)),
        ("a\n1\n", (",", None)),
        ("", (",", None)),
        ("id,notes\n1,a;b\n2,c;d\n", (",", None)),
        ("a,b;c\n1,2;3\n", (",", ";")),
        ("name, first;label\nSmith, A;1\nCher;0\n", (";", None)),
        ('"a;b",c\n"1;2",3\n', (",", None)),
        ("a;b|c\n1;2|3\n", (";", "|")),
        ("a,b\n1,2,3\n", (",", None)),
        ("a;b\n1;2;3\n", (";", None)),
    ],
)
def test_the_comma_is_the_delimiter_wherever_it_fits_and_two_that_fit_are_rivals(text, delimiter):
    assert find_delimiter(text) == delimiter


@pytest.mark.parametrize(
    ("cells", "delimiter", "decimal"),
    [
        (["0,5"], ";", ","),
        (["0.5"], ";", "."),
        (["1", "2"], ";", "."),
        (["1,234"], ";", None),
        (["1,234", "0,5"], ";", ","),
        (["1,234", "0.5"], "\t", "."),
        (["1.234"], ";", None),
        (["1.234"], "\t", "."),
        (["1.234,5"], ";", ","),
        (["1,234.5"], ";", "."),
        (["0,5", "0.5"], ";", None),
        (["0,5"], ",", "."),
    ],
)
def test_the_decimal_sign_is_the_one_that_cannot_stand_between_thousands(cells, delimiter, decimal):
    assert find_decimal([["x"], *([cell] for cell in cells)], delimiter) == decimal


def test_thousands_are_refused_rather_than_misread(tmp_path):
    for pay in ("1,234", "1.234"):
        with pytest.raises(TableError, match="may hold a decimal sign or a sign between thousands") as error:
            screened(tmp_path, f"label;group;score\n1;A;{pay}\n0;A;2\n".encode())
        assert error.value.key == "which_decimal"
    with pytest.raises(TableError, match=r"row 3.*'1\.234' is not a number in a table with decimal commas"):
        screened(tmp_path, b"label;group;score\n1;A;0,5\n0;A;1.234\n")


def test_labels_and_features_with_decimal_commas_are_numbers_and_names_of_groups_stay_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("y;z;x;w\n1,0;1,5;0,25;a\n0,0;2,5;;b\n")
    with open_table(path) as table:
        people = read_for_training(table, PeopleColumns("y", ("z",)), learn_from_groups=False)
    assert people.y.tolist() == [True, False]
    assert people.columns["x"].tolist() == ["0.25", ""]
    assert people.columns["w"].tolist() == ["a", "b"]
    assert people.groups.labels.tolist() == ["1,5", "2,5"]
    path.write_text("y;z;x;pay\n1;A;0,25;1.234\n0;B;0,5;2.345\n")
    with open_table(path) as table, pytest.raises(TableError, match=r"column 'pay': '1\.234' is not a number"):
        read_for_training(table, PeopleColumns("y", ("z",)))
