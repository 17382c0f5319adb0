"""Every CSV text is read as Python's csv module reads it, whatever people put into cells, or refused with its row."""

import csv
import gzip
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfselect.tabular import csv_files
from selfselect.tabular.columns import as_numbers
from selfselect.tabular.csv_files import CsvTable
from selfselect.tabular.errors import TableError
from selfselect.tabular.read import open_table

#: Pieces of cells: delimiters, quotes, line ends, and what looks like numbers, like nothing, or alike.
PIECES = [
    "", " ", "A", "a", "ä", "é", "山", "😀", "\u2028", "\x0b", "\x1c", "\ufeff", "0", "007", "1.0", "-0", "1e5", "1_0",
    "N/A", "NA", "null", "nan", "9007199254740993", "9007199254740992", ",", ";", '"', '""', "\n", "\r", "\r\n", "\0",
    "x" * 40, "'", "\\", "#", "=1",
]  # fmt: skip
CELLS = st.lists(st.sampled_from(PIECES), max_size=3).map("".join)
ROWS = st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=8)


@st.composite
def written_texts(draw):
    """A table as some program writes it, or nearly: sometimes ragged, sometimes without the quotes that it needs."""
    rows = draw(ROWS)
    if draw(st.booleans()):
        width = draw(st.integers(1, 3))
        rows = [(row * width)[:width] for row in rows]
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    if draw(st.booleans()):
        out = io.StringIO(newline="")
        quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
        csv.writer(out, lineterminator=end, quoting=quoting).writerows(rows)
        text = out.getvalue()
    else:
        text = end.join(",".join(row) for row in rows)
    return "a,b\n"[: 4 if draw(st.booleans()) else 0] + text


def by_the_csv_module(text):
    """Header and rows with their numbers; None if the text is not a table to the csv module in its strict mode."""
    if "\0" in text:
        return None
    try:
        rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True))
    except csv.Error:
        return None
    numbered = [(number, cells) for number, cells in enumerate(rows, 1) if cells]
    if not numbered or {len(cells) for _, cells in numbered} != {len(numbered[0][1])}:
        return None
    return numbered[0][1], numbered[1:]


def rows_of(table):
    columns = table.columns(range(len(table.header)))
    return [(int(row), list(cells)) for row, *cells in zip(columns[0].rows, *(c.cells() for c in columns), strict=True)]


def read_text(text):
    file = io.BytesIO(text.encode())
    return CsvTable("t.csv", str, file, None, encoding="utf-8", delimiter=",", decimal=".")


@settings(max_examples=1000, deadline=None)
@given(written_texts(), st.sampled_from([64, 2**19]))
def test_every_text_is_read_as_the_csv_module_reads_it_or_refused_with_its_name(text, block_bytes):
    expected = by_the_csv_module(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_files, "BLOCK_BYTES", block_bytes)
        if expected is None or not expected[1]:
            with pytest.raises(TableError, match=r"t\.csv"):
                rows_of(read_text(text))
        else:
            table = read_text(text)
            assert (table.header, rows_of(table)) == expected


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.floats(allow_nan=False, allow_infinity=False).map(repr),
            st.from_regex(r"\A-?[0-9]{1,19}\.?[0-9]{0,19}\Z"),
            st.sampled_from([" 0.25", "1e-3", "+3", ".5", "5.", "12345678901234567890", "\u0663", "1\u2003"]),
        ),
        min_size=1,
    )
)
def test_numbers_are_read_to_the_last_bit_as_python_reads_them(cells):
    text = "x,s\n" + "".join(f"1,{cell}\n" for cell in cells)
    table = read_text(text)
    assert [number.hex() for number in as_numbers(table, *table.columns([1]))] == [float(cell).hex() for cell in cells]


def test_line_ends_within_quotes_belong_to_the_cell(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b'y,z\n1,"A\rB"\n1,"A\nB"\n0,"A\r\nB"\n0,"A""B"\n')
    with open_table(path) as table:
        assert table.columns([1])[0].cells().tolist() == ["A\rB", "A\nB", "A\r\nB", 'A"B']


def test_texts_are_compared_exactly(tmp_path):
    cells = ["1", "1.0", "01", "1e0", "9007199254740993", "9007199254740992", "NA", "null", "True", "true"]
    path = tmp_path / "t.csv"
    path.write_text("z\n" + "\n".join(cells) + "\n")
    with open_table(path) as table:
        assert table.columns([0])[0].texts.tolist() == cells


def test_rows_are_counted_as_a_spreadsheet_does_also_with_blank_lines_and_line_breaks_in_cells(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text('label,group,score\n1,"A\nB",0.9\n\n0,A,oops\n\n\n')
    with open_table(path) as table:
        assert [number for number, _ in rows_of(table)] == [2, 4]


def test_a_quote_that_never_closes_is_refused_with_the_row_where_it_opens(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('label,group,score\n1,"A,0.9\n' + "0,A,0.2\n" * 50_000)
    with pytest.raises(TableError, match=r"row 2: a cell begins with a quote"), open_table(path) as table:
        table.columns([0])


def test_what_a_gzip_file_expands_to_has_a_limit_that_can_be_raised(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"label,group\n" + b"1,A\n" * 10_000))

    def rows(**options):
        with open_table(path, **options) as table:
            return len(table.columns([0])[0])

    assert rows() == rows(most_bytes=10**6) == 10_000
    with pytest.raises(TableError, match=r"t\.csv\.gz: decompressed, it holds more than 1,000 bytes") as error:
        rows(most_bytes=1000)
    assert error.value.key == "most_bytes"


def test_a_delimiter_beyond_ascii_and_a_table_of_one_column_are_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a·b\n1·"2·3"\n', encoding="utf-8")
    with open_table(path, delimiter="·") as table:
        assert rows_of(table) == [(2, ["1", "2·3"])]
    path.write_text('a\n1\n\n""\n2')
    with open_table(path) as table:
        assert rows_of(table) == [(2, ["1"]), (4, [""]), (5, ["2"])]
