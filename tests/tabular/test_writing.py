"""Tables that a spreadsheet will not run."""

import csv
import io

import pandas as pd

from selfselect._text import inert_cell, printable
from selfselect.tabular.writing import CsvCopy, csv_text


def test_cells_that_a_spreadsheet_would_run_are_made_inert():
    for text in ("=1+1", "+1", "-1", "@SUM(A1)", " =1", "\tx", "\rx"):
        assert inert_cell(text) == "'" + text
    for value in ("A", "a=b", "", -1, 0.5, True):
        assert inert_cell(value) == value
    assert csv_text(pd.DataFrame({"=x": ['a"b,c'], "n": [float("nan")]})) == '\'=x,n\n"a""b,c",\n'


def test_numbers_of_other_people_keep_their_sign_and_formulas_do_not_run():
    copy = CsvCopy(["-n", "remark"])
    copy.add([["-30", "=1+1"], ["+20", "a,b"]])
    assert copy.text() == "'-n,remark\n-30,'=1+1\n+20,\"a,b\"\n"


def test_line_ends_within_cells_are_quoted_so_that_they_come_back():
    copy = CsvCopy(["a", "b"])
    rows = [["A\rB", "1"], ["A\nB", "2"], ["A\r\nB", ""], ["", ""]]
    copy.add(rows)
    assert list(csv.reader(io.StringIO(copy.text(), newline=""), strict=True))[1:] == rows
    text = csv_text(pd.DataFrame({"a": ["A\rB"], "n": [1]}))
    assert list(csv.reader(io.StringIO(text, newline=""), strict=True))[1] == ["A\rB", "1"]


def test_what_a_terminal_would_obey_is_shown_as_text():
    assert printable("\x1b[31mred\u202eevil") == "\\x1b[31mred\\u202eevil"
    assert printable("Käse 山") == "Käse 山"
