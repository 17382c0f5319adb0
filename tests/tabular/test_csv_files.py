"""Every CSV text is read as Python's csv module reads it, whatever people put into cells, or refused with its row."""

import csv
import io

import pytest
from hypothesis import example, given, settings
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
    return CsvTable("t.csv", file, 0, encoding="utf-8", delimiter=",", decimal=".")


@settings(max_examples=1000, deadline=None)
@example('a,b\n"",""\n"",""\n" 😀"," 😀"\n"","😀9007199254740993"\n" ","\r\n"\n', 64)
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


def test_a_delimiter_beyond_ascii_and_a_table_of_one_column_are_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a·b\n1·"2·3"\n', encoding="utf-8")
    with open_table(path, delimiter="·") as table:
        assert rows_of(table) == [(2, ["1", "2·3"])]
    path.write_text('a\n1\n\n""\n2')
    with open_table(path) as table:
        assert rows_of(table) == [(2, ["1"]), (4, [""]), (5, ["2"])]
