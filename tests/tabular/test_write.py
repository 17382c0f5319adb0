"""Tables that a spreadsheet will not run."""

import csv
import io

import pandas as pd

from selfselect._text import escape_formula
from selfselect.tabular.write import csv_lines, csv_text


def test_cells_that_a_spreadsheet_would_run_are_made_inert():
    for text in ("=1+1", "+1", "-1", "@SUM(A1)", " =1", "\tx", "\rx"):
        assert escape_formula(text) == "'" + text
    for value in ("A", "a=b", "", -1, 0.5, True):
        assert escape_formula(value) == value
    assert csv_text(pd.DataFrame({"=x": ['a"b,c'], "n": [float("nan")]})) == '\'=x,n\n"a""b,c",\n'


def test_numbers_of_other_people_keep_their_sign_and_formulas_do_not_run():
    assert (
        b"".join(csv_lines([["-n", "remark"], ["-30", "=1+1"], ["+20", "a,b"]]))
        == b"'-n,remark\n-30,'=1+1\n+20,\"a,b\"\n"
    )


def test_line_ends_within_cells_are_quoted_so_that_they_come_back():
    rows = [["A\rB", "1"], ["A\nB", "2"], ["A\r\nB", ""], ["", ""]]
    assert list(csv.reader(io.StringIO(b"".join(csv_lines(rows)).decode(), newline=""), strict=True)) == rows
    text = csv_text(pd.DataFrame({"a": ["A\rB"], "n": [1]}))
    assert list(csv.reader(io.StringIO(text, newline=""), strict=True))[1] == ["A\rB", "1"]
