"""Workbooks: one sheet of values, as a person sees them."""

import datetime
import io
import re
import zipfile

import pytest

from selfselect.tabular.errors import TableError
from selfselect.tabular.read import open_table

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("python_calamine")


def workbook(path, **sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def rows(path, **options):
    with open_table(path, **options) as table:
        columns = table.columns(range(len(table.header)))
        cells = [(number, *row) for number, *row in zip(columns[0].rows, *(c.cells() for c in columns), strict=True)]
        return table.header, cells, table.notes


def rewritten(path, change):
    """The same workbook, with its parts changed."""
    other = path.with_name(f"other-{path.name}")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.namelist():
            new.writestr(part, change(old.read(part)) if "worksheets" in part else old.read(part))
    return other


def test_cells_are_texts_dates_are_readable_and_blank_rows_and_columns_are_left_out(tmp_path):
    day = datetime.datetime(2020, 1, 31)
    content = [
        [None, None, None],
        ["label", "since", "score"],
        [1, day, 0.5],
        [None, None, None],
        [True, day.replace(hour=8), 12345],
        [0, None, "N/A"],
        ["007", " a ", 1e-7],
        [None, None, None],
    ]
    path = workbook(tmp_path / "t.xlsx", people=[[*row, None] for row in content])
    header, cells, notes = rows(path)
    assert header == ["label", "since", "score"]
    assert cells == [
        (3, "1", "2020-01-31", "0.5"),
        (5, "True", "2020-01-31 08:00:00", "12345"),
        (6, "0", "", "N/A"),
        (7, "007", " a ", "1e-07"),
    ]
    assert notes == []


def test_long_whole_numbers_are_refused_because_two_of_them_may_be_one_in_a_workbook(tmp_path):
    path = workbook(tmp_path / "t.xlsx", people=[["id", "y"], [2**53, 1], [10**17 + 1, 0]])
    with pytest.raises(TableError, match=r"row 3, column 'id': 1\d+ has more digits.*Write such numbers as text"):
        rows(path)
    with open_table(path) as table:
        assert table.columns([1])[0].cells().tolist() == ["1", "0"]  # the other column is not used


def test_the_first_sheet_is_read_and_the_others_are_noted(tmp_path):
    path = workbook(tmp_path / "t.xlsx", first=[["a"], ["1"]], second=[["b"], ["2"]])
    header, _, notes = rows(path)
    assert header == ["a"]
    assert "its first sheet 'first'; it also has 'second'" in notes[0]
    assert rows(path, sheet="second")[0] == rows(path, sheet="2")[0] == ["b"]
    assert rows(path, sheet="second")[2] == []
    with pytest.raises(TableError, match=r"no sheet 'secund'\. Did you mean 'second'") as error:
        rows(path, sheet="secund")
    assert error.value.details["named_by"] == "sheet"
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(TableError, match=r"not an \.xlsx file"):
        rows(tmp_path / "t.csv", sheet="first")


def test_a_formula_is_its_saved_value_and_missing_values_and_errors_are_noted(tmp_path):
    for cell, words in (("#DIV/0!", "errors such as #N/A"), ("=B2/2", "formulas without a saved value")):
        path = workbook(tmp_path / "t.xlsx", people=[["label", "score"], [1, 0.5], [0, cell]])
        _, cells, (note,) = rows(path)
        assert cells[1] == (3, "0", "")
        assert words in note
    computed = rewritten(path, lambda data: re.sub(rb"</f><v ?/>|</f><v></v>", b"</f><v>0.25</v>", data))
    assert rows(computed)[1:] == ([(2, "1", "0.5"), (3, "0", "0.25")], [])


def test_sheets_of_charts_are_left_out(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["label"])
    book.active.append([1])
    book.create_chartsheet("chart")
    book.save(tmp_path / "t.xlsx")
    assert rows(tmp_path / "t.xlsx") == (["label"], [(2, "1")], [])


def test_what_is_no_table_is_refused_with_its_name_and_reason(tmp_path):
    path = workbook(tmp_path / "t.xlsx", people=[["label", "score"], [1, 0.5], [0, 0.25, 9]])
    with pytest.raises(TableError, match=r"row 3: a cell beyond the 2 column"):
        rows(path)
    with pytest.raises(TableError, match="empty"):
        rows(workbook(tmp_path / "empty.xlsx", people=[]))
    (tmp_path / "half.xlsx").write_bytes(path.read_bytes()[:500])
    with pytest.raises(TableError, match=r"half\.xlsx: this is a damaged"):
        rows(tmp_path / "half.xlsx")
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("t.csv", "a,b\n")
    (tmp_path / "t.zip").write_bytes(data.getvalue())
    with pytest.raises(TableError, match=r"zip archive, but not an \.xlsx"):
        rows(tmp_path / "t.zip")


def test_rows_that_are_there_twice_or_out_of_order_are_refused(tmp_path):
    path = workbook(tmp_path / "t.xlsx", people=[["group", "y"], ["A", 1], ["B", 0], ["C", 1]])
    for old, new in ((b"3", b"2"), (b"2", b"9")):
        with pytest.raises(TableError, match="a sheet is out of order: row"):
            rows(rewritten(path, lambda data, old=old, new=new: data.replace(b'<row r="' + old, b'<row r="' + new)))


def test_a_value_far_out_is_refused_before_all_cells_up_to_it_are_made(tmp_path):
    path = workbook(tmp_path / "t.xlsx", people=[["label"], [1]])
    far = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    with pytest.raises(TableError, match="decompressed, it holds more than"):
        rows(rewritten(path, lambda data: data.replace(b"</sheetData>", far)))
    styled = far.replace(b"><v>1</v></c>", b' s="1"/>')
    assert rows(rewritten(path, lambda data: data.replace(b"</sheetData>", styled))) == rows(path)
