"""Tables that a spreadsheet will not run."""

import csv
import gzip
import io
import tracemalloc

import pandas as pd
import pytest

from selfselect._text import escape_formula
from selfselect.tabular import write
from selfselect.tabular.errors import TableError
from selfselect.tabular.read import open_table
from selfselect.tabular.write import CsvCopy, csv_text


def copied(header, rows):
    with CsvCopy(header) as copy:
        copy.add(rows)
        return b"".join(copy).decode()


def test_cells_that_a_spreadsheet_would_run_are_made_inert():
    for text in ("=1+1", "+1", "-1", "@SUM(A1)", " =1", "\tx", "\rx"):
        assert escape_formula(text) == "'" + text
    for value in ("A", "a=b", "", -1, 0.5, True):
        assert escape_formula(value) == value
    assert csv_text(pd.DataFrame({"=x": ['a"b,c'], "n": [float("nan")]})) == '\'=x,n\n"a""b,c",\n'


def test_numbers_of_other_people_keep_their_sign_and_formulas_do_not_run():
    assert copied(["-n", "remark"], [["-30", "=1+1"], ["+20", "a,b"]]) == "'-n,remark\n-30,'=1+1\n+20,\"a,b\"\n"


def test_line_ends_within_cells_are_quoted_so_that_they_come_back():
    rows = [["A\rB", "1"], ["A\nB", "2"], ["A\r\nB", ""], ["", ""]]
    assert list(csv.reader(io.StringIO(copied(["a", "b"], rows), newline=""), strict=True))[1:] == rows
    text = csv_text(pd.DataFrame({"a": ["A\rB"], "n": [1]}))
    assert list(csv.reader(io.StringIO(text, newline=""), strict=True))[1] == ["A\rB", "1"]


def test_a_copy_of_a_compressed_table_may_hold_what_the_table_may(tmp_path):
    path, plain = tmp_path / "t.csv.gz", tmp_path / "t.csv"
    path.write_bytes(gzip.compress(b"a\n1\n"))
    plain.write_bytes(b"a\n1\n")
    with open_table(path, most_bytes=1000) as table, CsvCopy(["a"], table) as copy:
        copy.add([["x" * 997]])
        with pytest.raises(TableError, match=r"t\.csv\.gz: decompressed, it holds more than 1,000 bytes") as error:
            copy.add([["x"]])
        assert error.value.key == "most_bytes"
    with open_table(plain, most_bytes=1000) as table, CsvCopy(["a"], table) as copy:
        copy.add([["x" * 2000]])


def test_a_large_copy_waits_on_the_disk(monkeypatch):
    monkeypatch.setattr(write, "IN_MEMORY", 2**16)
    rows = [["x" * 4000]] * 1000
    tracemalloc.start()
    try:
        with CsvCopy(["a"]) as copy:
            copy.add(rows)
            assert sum(map(len, copy)) == 2 + 1000 * 4001
        assert tracemalloc.get_traced_memory()[1] < 10**6
    finally:
        tracemalloc.stop()


def test_rows_that_cannot_be_kept_are_an_error(monkeypatch):
    class Full:
        def write(self, data):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(write.tempfile, "SpooledTemporaryFile", lambda size: Full())
    with pytest.raises(TableError, match=r"Cannot keep rows in .* until all are there: No space left on device"):
        CsvCopy(["a"])
