"""The quick way of reading CSV texts finds the same cells as Python's csv module, whatever people put into them."""

import csv
import gzip
import io
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selfselect.tabular.blocks import plain_block
from selfselect.tabular.checking import as_numbers
from selfselect.tabular.reading import open_table

from selfselect.tabular import texts
from selfselect.tabular.csv_files import CsvReader
from selfselect.tabular.errors import TableError

#: What cells are made of: what separates, what quotes, what looks like numbers or nothing, and what only looks alike.
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


def by_the_book(text):
    """Header and rows as the csv module has them, with their places; None if it, or the width of a row, says no."""
    if "\0" in text:
        return None
    try:
        found = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True))
    except csv.Error:
        return None
    numbered = [(number, cells) for number, cells in enumerate(found, 1) if cells]
    if not numbered or {len(cells) for _, cells in numbered} != {len(numbered[0][1])}:
        return None
    return numbered[0][1], numbered[1:]


def as_read(text, block_bytes):
    before = texts.BLOCK_BYTES
    texts.BLOCK_BYTES = block_bytes
    try:
        table = CsvReader("t.csv", str, io.BytesIO(text.encode()), "utf-8", ",", ".")
        rows = []
        for chunk in table.chunks(range(len(table.header))):
            one_by_one = [chunk.texts(at) for at in range(len(table.header))]
            coded = [chunk.codes(at) for at in range(len(table.header))]
            assert one_by_one == [known[codes].tolist() for codes, known in coded] == chunk.columns
            rows += [
                (number, list(cells))
                for number, cells in zip(chunk.rows, zip(*chunk.columns, strict=True), strict=True)
            ]
        return table.header, rows
    finally:
        texts.BLOCK_BYTES = before


@settings(max_examples=300, deadline=None)
@given(written_texts(), st.sampled_from([1, 7, 64, 2**19]))
def test_every_text_is_read_as_the_csv_module_reads_it_or_refused_with_its_place(text, block_bytes):
    expected = by_the_book(text)
    if expected is not None:
        assert as_read(text, block_bytes) == expected
    else:
        with pytest.raises(TableError, match=r"t\.csv"):
            as_read(text, block_bytes)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.floats(allow_nan=False, allow_infinity=False).map(repr), st.from_regex(r"\A-?\d{0,9}\.?\d{0,9}\Z")
        ),
        min_size=1,
    )
)
def test_numbers_are_read_to_the_last_bit_as_python_reads_them(cells):
    block = plain_block("".join(f"x,{cell}\n" for cell in cells), ",", 2, 2, [1])
    numbers = block.plain_numbers(0, ".")
    for cell, number in zip(cells, [] if numbers is None else numbers.tolist(), strict=False):
        assert np.isnan(number) or (number == float(cell) and np.signbit(number) == np.signbit(float(cell)))


def test_scores_of_many_digits_are_read_to_the_last_bit_and_the_quick_way():
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.random(20_000), rng.normal(size=20_000) * 100, rng.integers(2**53, 2**59, 5000)])
    cells = [np.format_float_positional(score) for score in scores]
    numbers = plain_block("".join(f"{cell}\n" for cell in cells), ",", 1, 2, [0]).plain_numbers(0, ".")
    sure = ~np.isnan(numbers)
    assert sure.mean() > 0.9
    assert numbers[sure].tolist() == [float(cell) for cell, known in zip(cells, sure, strict=True) if known]


def test_a_clean_table_is_read_the_quick_way_also_with_quotes_and_both_line_ends():
    for text in ("1,A\n0,B\n", '1,"A"\n0,"B,\n"\n', '1,"A\r\nB"\r\n0,B\r\n', "1,A\r\n0,B\r\n", "1,A\r0,B"):
        assert plain_block(text, ",", 2, 2, [0, 1]) is not None
    for text in ('1,A"\n0,B\n', '1,"A""B"\n', "1,A\n\n0,B\n", "1\n0,B,C\n", '1,"A\n'):
        assert plain_block(text, ",", 2, 2, [0, 1]) is None


def test_line_ends_within_quotes_belong_to_the_cell(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b'y,z\n1,"A\rB"\n1,"A\nB"\n0,"A\r\nB"\n0,"A""B"\n')
    with open_table(path) as table:
        assert [cell for chunk in table.chunks([1]) for cell in chunk.columns[0]] == ["A\rB", "A\nB", "A\r\nB", 'A"B']


def test_scores_in_every_spelling_are_the_same_numbers(tmp_path):
    cells = ["0.5", " 0.25", "1e-3", "-0.125", "0.1234567890123456789", "+3", "12345678901234567890", ".5", "5."]
    path = tmp_path / "t.csv"
    path.write_text("s\n" + "\n".join(cells) + "\n")
    with open_table(path) as table:
        found = [as_numbers(table, chunk, 0, "s") for chunk in table.chunks([0])]
    assert np.concatenate(found).tolist() == [float(cell) for cell in cells]


def test_a_line_without_end_is_refused_while_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"label,group\n1,")
        for _ in range(64):
            file.write(b"A" * 2**20)
    monkeypatch.setattr(texts, "LONGEST_LINE", 2**20)
    tracemalloc.start()
    try:
        with pytest.raises(TableError, match="row 2: a line of more than 1,048,576"), open_table(path) as table:
            list(table.chunks([0]))
        assert tracemalloc.get_traced_memory()[1] < 16 * 2**20
    finally:
        tracemalloc.stop()


def test_what_comes_out_of_a_compressed_file_has_a_limit_that_can_be_raised(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"label,group\n" + b"1,A\n" * 10_000))

    def rows(**how):
        with open_table(path, **how) as table:
            return sum(len(chunk.rows) for chunk in table.chunks([0]))

    assert rows() == rows(most_bytes=10**6) == 10_000
    with pytest.raises(TableError, match=r"t\.csv\.gz: decompressed, it holds more than 1,000 bytes") as error:
        rows(most_bytes=1000)
    assert error.value.key == "most_bytes"
