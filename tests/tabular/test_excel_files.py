"""Workbooks: one sheet of values, as a person sees them."""

import datetime
import io
import random
import subprocess
import sys
import tracemalloc
import zipfile

import pytest
from selfselect.tabular.reading import open_table

from selfselect.tabular import excel_files, workbook_parts
from selfselect.tabular.errors import TableError

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


def rewritten(path, change):
    """The same workbook, with its parts changed."""
    other = path.with_name(f"other-{path.name}")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.namelist():
            new.writestr(part, change(part, old.read(part)))
    return other


def in_rows(cells):
    """Put a cell at the end of each row of the sheet."""
    return lambda part, data: data.replace(b"</row>", cells + b"</row>") if "worksheets" in part else data


@pytest.mark.parametrize("empty", [b'<c r="XFD1"/>', b'<c r="XFD1" t="inlineStr"><is><t></t></is></c>'])
def test_empty_cells_far_out_take_no_memory(tmp_path, empty):
    plain = workbook(tmp_path / "t.xlsx", people=[["label"], *([1],) * 200])
    wide = rewritten(plain, in_rows(empty))
    tracemalloc.start()
    try:
        assert rows(wide) == rows(plain)
        assert tracemalloc.get_traced_memory()[1] < 10**7  # all cells would be 8 bytes each, 26 million together
    finally:
        tracemalloc.stop()
    end = b'</row><row r="3"'
    full = rewritten(plain, lambda part, data: data.replace(end, b'<c r="XFD2"><v>1</v></c>' + end))
    with pytest.raises(TableError, match="row 2: a cell beyond the 1 column"):
        rows(full)


def test_wide_sheets_are_read_a_few_rows_at_a_time(tmp_path, monkeypatch):
    path = workbook(tmp_path / "t.xlsx", people=[["a", "b"], *([i, i] for i in range(10))])
    monkeypatch.setattr(excel_files, "CHUNK_CELLS", 6)
    with open_table(path) as table:
        assert [list(chunk.rows) for chunk in table.chunks([0])] == [[2, 3, 4], [5, 6, 7], [8, 9, 10], [11]]
    monkeypatch.setattr(excel_files, "LONGEST_LINE", 1)
    with pytest.raises(TableError, match="row 1: a row of more than 1 characters"):
        rows(path)


def test_a_row_beyond_the_last_of_a_sheet_is_refused(tmp_path, monkeypatch):
    path = workbook(tmp_path / "t.xlsx", people=[["label"], [1], [0]])
    far = rewritten(path, lambda part, data: data.replace(b'<row r="3"', b'<row r="99999999999"'))
    monkeypatch.setattr(workbook_parts, "LAST_ROW", 1000)
    with pytest.raises(TableError, match=r"sheet1\.xml' has a row beyond the 1,000 that a sheet can have"):
        rows(far)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [(3, 2, "row 2 comes after row 2"), (2, 9, "row 3 comes after row 9"), (4, -1, "row -1 comes after row 3")],
)
def test_rows_that_are_there_twice_or_out_of_order_are_refused(tmp_path, old, new, told, monkeypatch):
    whole = workbook(tmp_path / "t.xlsx", people=[["group", "y"], ["A", 1], ["B", 0], ["C", 1]])
    tag = b'<row r="%d"'

    def renumbered(part, data):
        return data.replace(tag % old, tag % new)

    for at_a_time in (2**20, 50):  # tags that stand across two parts are seen too, and once
        monkeypatch.setattr(workbook_parts, "PART", at_a_time)
        assert len(rows(whole)[1]) == 3
        with pytest.raises(ValueError, match=told):
            rows(rewritten(whole, renumbered))


@pytest.mark.parametrize("part", [b"xl/styles.xml", b"xl/worksheets/sheet1.xml", b"docProps/app.xml"])
@pytest.mark.parametrize(("at", "value"), [(8, 1), (10, 99), (10, zipfile.ZIP_LZMA), (10, zipfile.ZIP_BZIP2)])
def test_parts_that_are_encrypted_or_compressed_in_other_ways_are_refused(tmp_path, part, at, value):
    path = workbook(tmp_path / "t.xlsx", people=[["label"], [1]])
    data = bytearray(path.read_bytes())
    entry = data.rfind(part) - 46
    assert data[entry : entry + 4] == b"PK\x01\x02"  # the archive's table of contents
    data[entry + at] = value
    path.write_bytes(data)
    with pytest.raises(TableError, match=rf"t\.xlsx: its part '{part.decode()}' is encrypted, or compressed"):
        rows(path)


def test_bits_that_flip_in_a_workbook_are_complained_about_in_our_words(tmp_path):
    path, chance = workbook(tmp_path / "t.xlsx", people=[["label"], *([i] for i in range(50))]), random.Random(0)
    good = path.read_bytes()
    refused = []
    for _ in range(150):
        data = bytearray(good)
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(data)
        try:
            rows(path)
        except TableError as error:
            refused.append(str(error))
    assert len(refused) > 20
    assert not any("gzip" in said for said in refused)


# ---------------------------------------------------------------------- small files that would take much memory


def with_part(path, name, data):
    """The same workbook with a part of one's own."""
    other = path.with_name(f"other-{path.name}")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.namelist():
            if part != name:
                new.writestr(part, old.read(part))
        new.writestr(name, data)
    return other


def sheet(inside, before=""):
    return f'{before}<worksheet xmlns="{workbook_parts.SPREADSHEET}"><sheetData>{inside}</sheetData></worksheet>'


def texts(inside):
    return f'<sst xmlns="{workbook_parts.SPREADSHEET}">{inside}</sst>'


SHEET, TEXTS, STYLES = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml"


@pytest.fixture
def plain(tmp_path):
    """A workbook that has a part of texts; openpyxl writes them in their cells."""
    path = workbook(tmp_path / "t.xlsx", people=[["group"], ["A"], ["B"]])
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    listed = f'<Override PartName="/{TEXTS}" ContentType="{kind}"/></Types>'.encode()
    listing = rewritten(path, lambda part, data: data.replace(b"</Types>", listed))
    return with_part(listing, TEXTS, texts("<si><t>A</t></si>"))


@pytest.mark.parametrize(
    ("part", "content", "told"),
    [
        (SHEET, sheet("<row>" + "<c/>" * 16_385 + "</row>"), "a row 1 of more than the 16,384 cells"),
        (SHEET, sheet("<row>" + "<c/><!--<row>-->" * 16_385 + "</row>"), "a row 1 of more than the 16,384 cells"),
        (SHEET, sheet("<row>" + "<c/>" * 16_385 + "</row>").encode("utf-16"), "a row 1 of more than the 16,384 cells"),
        (SHEET, sheet("<row><c>" + "<v/>" * 600_000 + "</c></row>"), "a row 1 of more than 524,288 elements"),
        (SHEET, sheet("<row><c><v>" + "1" * 19 * 2**20 + "</v></c></row>"), "a row 1 of more than 16,777,216 bytes"),
        (SHEET, sheet("<!--" + "1" * 18 * 2**20 + "-->"), "a tag or a comment of more than 16,777,216 bytes"),
        (SHEET, sheet("<row/>" * 1_048_577), "a row beyond the 1,048,576 that a sheet can have"),
        (SHEET, sheet("<row><c/><row/></row>"), "a row within another"),
        (SHEET, sheet("".join(f"<x{i}/>" for i in range(17_000))), "of more than 16,384 names"),
        (SHEET, sheet("".join(f'<x xmlns:x{i}="y"/>' for i in range(17_000))), "of more than 16,384 names"),
        (SHEET, sheet("<row>&e;</row>", '<!DOCTYPE x [<!ENTITY e "1">]>'), "entities of its own"),
        (SHEET, sheet("<row>"), "is damaged: mismatched tag"),
        (TEXTS, texts("<si>" + "<r/>" * 600_000 + "</si>"), "a text of more than 524,288 elements"),
        (TEXTS, texts("<si><t>" + "x" * 19 * 2**20 + "</t></si>"), "a text of more than 16,777,216 bytes"),
        (TEXTS, texts("<si><si/></si>"), "a text within another"),
        (STYLES, "<a>" + " " * 2**26 + "</a>", "has more than 67,108,864 bytes, which no spreadsheet writes there"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 60 else "",
)  # fmt: skip
def test_what_no_spreadsheet_writes_is_refused_before_anything_is_made_of_it(plain, part, content, told):
    with pytest.raises(TableError, match=rf"t\.xlsx: its part '{part}' .*{told}.* save it anew"):
        rows(with_part(plain, part, content))


#: What openpyxl keeps, many times larger than it is in the file.
KEPT = {
    "styles": (STYLES, f'<styleSheet xmlns="{workbook_parts.SPREADSHEET}">{"<a/>" * 10_000}</styleSheet>'),
    "types": ("[Content_Types].xml", "<Types>" + "<a/>" * 10_000 + "</Types>"),
    "texts": (TEXTS, texts("<si><t>ab</t></si>" * 50_000)),
    "empty texts": (TEXTS, texts("<si/>" * 70_000)),
    "wide letters": (TEXTS, texts(f"<si><t>{'x' * 1000}\N{OLD PERSIAN SIGN A}</t></si>" * 2000)),
    "not texts": (TEXTS, texts("<a/>" * 10_000)),
    "rows with heights": (SHEET, sheet('<row ht="1" hidden="0" x="1"/>' * 30_000)),
    "rows of others": (SHEET, sheet('<row xmlns="x"><c/><c/><c/></row>' * 3000)),
    "beside rows": (SHEET, sheet("<row/><a/>" * 10_000)),
    "formats in rows": (SHEET, sheet("<row><c><conditionalFormatting/></c></row>" * 10_000)),
    "formulas": (SHEET, sheet("".join(f'<row><c><f t="shared" si="{i}"/></c></row>' for i in range(9000)))),
}


@pytest.mark.parametrize("which", KEPT)
def test_what_is_kept_in_memory_counts_with_what_it_takes_there(plain, which):
    path = with_part(plain, *KEPT[which])
    with zipfile.ZipFile(path) as archive:
        assert sum(part.file_size for part in archive.infolist()) < 4 * 10**6
    with pytest.raises(TableError, match=r"would take more than 8,000,000 bytes of memory") as error:
        rows(path, most_bytes=8 * 10**6)
    assert error.value.key == "most_bytes"


def test_a_part_is_what_it_is_read_as_wherever_it_is(plain):
    """Rows are over when they were read, but not if they are read as texts, or as styles."""
    many = sheet("<row><c/><c/><c/></row>" * 5000)
    assert len(rows(with_part(plain, SHEET, sheet("<row><c><v>1</v></c></row>" * 5000)), most_bytes=10**7)[1]) == 4999
    with pytest.raises(TableError, match="of memory"):
        rows(with_part(plain, TEXTS, many), most_bytes=10**7)
    with pytest.raises(TableError, match="of memory"):
        rows(with_part(plain, STYLES, many), most_bytes=10**7)
    elsewhere = rewritten(
        with_part(plain, "xl/elsewhere.xml", sheet("<row>" + "<c/>" * 16_385 + "</row>")), to_elsewhere
    )
    with pytest.raises(TableError, match=r"its part 'xl/elsewhere\.xml' has a row 1 of more than"):
        rows(elsewhere)


def to_elsewhere(part, data):
    return data.replace(b"/xl/worksheets/sheet1.xml", b"/xl/elsewhere.xml") if part.endswith(".rels") else data


def test_of_many_sheets_one_is_kept_at_a_time_and_what_nobody_reads_may_be_large(tmp_path):
    many = workbook(tmp_path / "t.xlsx", **{f"s{i}": [["label"], *([1],) * 1000] for i in range(20)})
    assert len(rows(many, most_bytes=2 * 10**6)[1]) == 1000  # all would be 20,000 rows of 128 bytes
    picture = with_part(many, "xl/media/image1.png", b"\0" * (workbook_parts.MOST_WHOLE + 1))
    assert len(rows(picture)[1]) == 1000


def test_sheets_of_charts_are_passed_over(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["label"])
    book.active.append([1])
    book.create_chartsheet("chart")
    book.save(tmp_path / "t.xlsx")
    assert rows(tmp_path / "t.xlsx") == (["label"], [(2, "1")], [])


#: Opens a table and prints by how many kB more memory was taken, and how it was refused.
OPENING = """
import resource, sys
from selfselect.tabular.reading import open_table
taken = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = taken()
try:
    open_table(sys.argv[1]).__enter__()
except ValueError as error:
    print(taken() - before, type(error).__name__)
"""
MANY = 15 * 2**20


@pytest.mark.parametrize(
    ("part", "content"),
    [
        (SHEET, lambda: sheet("<row>" + "<c/>" * MANY + "</row>")),
        (STYLES, lambda: "<a>" + "<a/>" * MANY + "</a>"),
        (TEXTS, lambda: texts("<a/>" * MANY)),
    ],
    ids=["row", "styles", "texts"],
)
def test_a_small_file_for_which_openpyxl_would_take_gigabytes_is_refused_with_little(plain, part, content):
    pytest.importorskip("resource")
    path = with_part(plain, part, content())
    assert path.stat().st_size < 10**5
    done = subprocess.run([sys.executable, "-c", OPENING, str(path)], capture_output=True, text=True, check=True)
    taken, refused = done.stdout.split()
    assert refused == "TableError"
    assert int(taken) < 10**5
