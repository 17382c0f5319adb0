"""Workbooks: one sheet of values, as a person sees them."""

import datetime
import io
import zipfile

import pytest

from selfselect.tabular.errors import TableError
from selfselect.tabular.reading import open_table

openpyxl = pytest.importorskip("openpyxl")


def workbook(path, **sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def rows(path, **how):
    with open_table(path, **how) as table:
        found = [
            (number, *cells)
            for chunk in table.chunks(range(len(table.header)))
            for number, cells in zip(chunk.rows, zip(*chunk.columns, strict=True), strict=True)
        ]
        return table.header, found, table.notes


def test_cells_are_text_dates_are_readable_and_blank_rows_and_columns_are_none(tmp_path):
    day = datetime.datetime(2020, 1, 31)
    content = [
        [None, None, None],
        ["label", "since", "score"],
        [1, day, 0.5],
        [None, None, None],
        [True, day.replace(hour=8), 12345],
        [0, None, "N/A"],
    ]
    path = workbook(tmp_path / "t.xlsx", people=[[*row, None] for row in content])
    header, found, notes = rows(path)
    assert header == ["label", "since", "score"]
    assert found == [
        (3, "1", "2020-01-31", "0.5"),
        (5, "True", "2020-01-31 08:00:00", "12345"),
        (6, "0", "", "N/A"),
    ]
    assert notes == []


def test_the_first_sheet_is_read_and_the_others_are_said_to_be_there(tmp_path):
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


def test_a_formula_is_the_value_it_had_and_one_without_a_value_is_refused(tmp_path):
    path = workbook(tmp_path / "t.xlsx", people=[["label", "score"], [1, 0.5], [0, "=B2/2"]])
    with pytest.raises(TableError, match=r"row 3: the value of the formula '=B2/2' is not in the file.*save it"):
        rows(path)
    computed = tmp_path / "computed.xlsx"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(computed, "w") as new:
        for part in old.namelist():
            data = old.read(part).replace(b"<f>B2/2</f><v></v>", b"<f>B2/2</f><v>0.25</v>")
            new.writestr(part, data.replace(b"<f>B2/2</f><v />", b"<f>B2/2</f><v>0.25</v>"))
    assert rows(computed)[1][1] == (3, "0", "0.25")


def test_what_is_no_workbook_is_refused_with_its_name_and_reason(tmp_path):
    path = workbook(tmp_path / "t.xlsx", people=[["label", "score"], [1, 0.5], [0, 0.25, 9]])
    with pytest.raises(TableError, match=r"row 3: a cell beyond the 2 column"):
        rows(path)
    empty = workbook(tmp_path / "empty.xlsx", people=[])
    with pytest.raises(TableError, match="empty"):
        rows(empty)
    (tmp_path / "half.xlsx").write_bytes(path.read_bytes()[:500])
    with pytest.raises(TableError, match=r"half\.xlsx: this is a damaged"):
        rows(tmp_path / "half.xlsx")
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("t.csv", "a,b\n")
    (tmp_path / "t.zip").write_bytes(data.getvalue())
    with pytest.raises(TableError, match=r"zip archive, but not an \.xlsx"):
        rows(tmp_path / "t.zip")
    (tmp_path / "t.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" * 10)
    with pytest.raises(TableError, match=r"older Excel.*Save it as \.xlsx or as CSV"):
        rows(tmp_path / "t.xls")


def test_what_it_holds_is_counted_before_anything_is_unpacked(tmp_path):
    path = workbook(tmp_path / "t.xlsx", people=[["label"], *([1],) * 5000])
    assert len(rows(path)[1]) == 5000
    with pytest.raises(TableError, match="decompressed, it holds more than 20,000 bytes") as error:
        rows(path, most_bytes=20_000)
    assert error.value.key == "most_bytes"
