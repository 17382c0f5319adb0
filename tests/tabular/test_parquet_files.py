"""Parquet: what other programs write is read cell by cell as people would write it."""

import datetime
import io
import tracemalloc
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pytest
from selfselect.tabular.cells import ArrowChunk
from selfselect.tabular.checking import GroupColumns, TwoValues, as_numbers
from selfselect.tabular.parquet_pages import pages_of
from selfselect.tabular.reading import open_table

from selfselect.tabular import parquet_files
from selfselect.tabular.errors import TableError
from selfselect.tabular.loading import PeopleColumns, ScoreColumn, read_screening_result

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def cells(tmp_path, array, **how):
    pq.write_table(pa.table({"x": array}), tmp_path / "t.parquet", **how)
    with open_table(tmp_path / "t.parquet") as table:
        (chunk,) = table.chunks([0])
        codes, known = chunk.codes(0)
        assert known[codes].tolist() == chunk.texts(0) == chunk.columns[0]
        return chunk.columns[0]


def times(*nanoseconds):
    return pa.array(nanoseconds, pa.time64("ns"))


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array([Decimal("0.70"), None, Decimal("-1.25")]), ["0.70", "", "-1.25"]),
        (pa.array([True, None, False]), ["True", "", "False"]),
        (pa.array(["b", "a", None, "b"]).dictionary_encode(), ["b", "a", "", "b"]),
        (pa.array([0.5, None, float("nan")]), ["0.5", "", ""]),
        (pa.array([float("nan"), 1.0]).dictionary_encode(), ["", "1.0"]),
        (pa.array([9007199254740993, 9007199254740992, None]), ["9007199254740993", "9007199254740992", ""]),
        (times(1, 2, 1_000_000_000), ["00:00:00.000000001", "00:00:00.000000002", "00:00:01.000000000"]),
        (pa.array([datetime.date(2020, 1, 31), None]), ["2020-01-31", ""]),
        (pa.array(["N/A", "", " A ", "A\r\nB"]), ["N/A", "", " A ", "A\r\nB"]),
        (pa.array([str(i) for i in range(300)]).dictionary_encode(), [str(i) for i in range(300)]),
        (pa.array([[1, 2], None]), ["[1, 2]", ""]),
        (pa.array([[1], [2]], pa.list_(pa.time64("ns"), 1)), ["['00:00:00.000000001']", "['00:00:00.000000002']"]),
        (pa.array([None, None]), ["", ""]),
    ],
)
def test_values_of_every_type_are_the_texts_that_people_would_write(tmp_path, array, expected):
    assert cells(tmp_path, array) == expected


def test_what_is_missing_is_no_group_of_its_own(tmp_path):
    pq.write_table(pa.table({"z": pa.array([1.5, float("nan"), None])}), tmp_path / "t.parquet")
    with open_table(tmp_path / "t.parquet") as table:
        groups = GroupColumns(["z"], "own_group")
        for chunk in table.chunks([0]):
            groups.keep(table, chunk, [0])
    assert groups.codes().labels.tolist() == ["1.5", "(missing)"]


def test_numbers_are_taken_as_they_are_and_missing_ones_complained_about(tmp_path):
    scores = np.random.default_rng(0).random(100)
    table = pa.table({"y": [True, False] * 50, "s": scores, "d": [Decimal("0.5")] * 100, "m": [None, *scores[1:]]})
    pq.write_table(table, tmp_path / "t.parquet")
    with open_table(tmp_path / "t.parquet") as table:
        (chunk,) = table.chunks([0, 1, 2, 3])
        assert TwoValues("y", None, "qualified")(table, chunk, 0).tolist() == [True, False] * 50
        assert as_numbers(table, chunk, 1, "s").tolist() == scores.tolist()
        assert as_numbers(table, chunk, 2, "d").tolist() == [0.5] * 100
        with pytest.raises(TableError, match="row 2, column 'm': the cell is empty"):
            as_numbers(table, chunk, 3, "m")


def test_a_file_of_several_row_groups_is_one_table(tmp_path):
    n = 50_000
    table = pa.table({"y": np.arange(n) % 2, "z": np.where(np.arange(n) % 3, "a", "b"), "s": np.arange(n) / n})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=7000)
    with open_table(tmp_path / "t.parquet") as table:
        found = read_screening_result(table, PeopleColumns("y", ("z",)), ScoreColumn("s"))
    assert found.table.counts.n.sum() == n


def test_what_it_holds_is_counted_before_it_is_read(tmp_path):
    pq.write_table(pa.table({"x": np.arange(10_000)}), tmp_path / "t.parquet")
    words = r"t\.parquet: decompressed, it holds more than 1,000 bytes"
    with pytest.raises(TableError, match=words) as error, open_table(tmp_path / "t.parquet", most_bytes=1000):
        pass
    assert error.value.key == "most_bytes"


def long_texts(kind, rows):
    text = "x" * 10_000
    values = {"string": text, "large_string": text, "binary": text.encode(), "list": [text]}
    return pa.array([values[kind.partition("<")[0]]] * rows, pa.list_(pa.large_string()) if "<" in kind else kind)


@pytest.mark.parametrize("kind", ["string", "large_string", "binary", "list<large_string>"])
def test_a_text_that_repeats_counts_as_often_as_it_occurs_and_is_kept_once(tmp_path, monkeypatch, kind):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"n": range(1000), "x": long_texts(kind, 1000)}), path)
    assert path.stat().st_size < 100_000
    before = pa.total_allocated_bytes()
    with open_table(path, most_bytes=2 * 10**7) as table:
        for chunk in table.chunks([1]):
            assert pa.total_allocated_bytes() - before < 3 * 10**6  # all are 10 million bytes
            assert len(chunk.codes(0)[1]) == 1
    with open_table(path, most_bytes=10**6) as table:
        assert [len(chunk.rows) for chunk in table.chunks([0])] == [1000]  # nobody asked for the texts
    words = r"t\.parquet: decompressed, it holds more than 1,000,000 bytes"
    with pytest.raises(TableError, match=words), open_table(path, most_bytes=10**6) as table:
        list(table.chunks([1]))
    monkeypatch.setattr(parquet_files, "BATCH_BYTES", 10**6)
    with open_table(path) as table:
        found = [(chunk.rows[0], len(chunk.rows)) for chunk in table.chunks([1])]
    assert found[0][0] == 2
    assert max(rows for _, rows in found) < 100
    assert sum(rows for _, rows in found) == 1000
    monkeypatch.setattr(parquet_files, "BATCH_BYTES", 5000)
    with pytest.raises(TableError, match=r"row 2: a row of more than 5,000 bytes"), open_table(path) as table:
        list(table.chunks([1]))


@pytest.mark.parametrize("kind", [pa.binary(10_000), pa.list_(pa.int64(), 1250), pa.list_(pa.int64())])
def test_wide_rows_are_read_a_few_at_a_time(tmp_path, monkeypatch, kind):
    value = b"x" * 10_000 if pa.types.is_fixed_size_binary(kind) else [7] * 1250
    pq.write_table(pa.table({"x": pa.array([value] * 500, kind)}), tmp_path / "t.parquet")
    monkeypatch.setattr(parquet_files, "BATCH_BYTES", 10**6)
    before = pa.total_allocated_bytes()
    with open_table(tmp_path / "t.parquet") as table:
        for chunk in table.chunks([0]):
            assert len(chunk.rows) <= 100
            assert pa.total_allocated_bytes() - before < 4 * 10**6  # all are 5 million bytes


def test_of_a_dictionary_only_what_occurs_is_made_into_text():
    array = pa.DictionaryArray.from_arrays(pa.array([2, None, 2]), pa.array(["x" * 10**6, "y" * 10**6, "z"]))
    tracemalloc.start()
    try:
        chunk = ArrowChunk(range(3), [array])
        assert (chunk.texts(0), chunk.codes(0)[1].tolist()) == (["z", "", "z"], ["z", ""])
        assert tracemalloc.get_traced_memory()[1] < 10**5
    finally:
        tracemalloc.stop()


def nested(value, kind):
    return pa.array([value(1), value(2), None], kind)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (nested(lambda n: [n, None], pa.list_(pa.time64("ns"))), "['00:00:00.00000000{}', None]"),
        (nested(lambda n: [n], pa.large_list(pa.time64("ns"))), "['00:00:00.00000000{}']"),
        (nested(lambda n: {"a": n, "b": "c"}, pa.struct({"a": pa.time64("ns"), "b": pa.string()})),
         "{{'a': '00:00:00.00000000{}', 'b': 'c'}}"),
        (nested(lambda n: [("k", n)], pa.map_(pa.string(), pa.time64("ns"))), "[('k', '00:00:00.00000000{}')]"),
        (nested(lambda n: [{"a": [n]}], pa.list_(pa.struct({"a": pa.list_(pa.time64("ns"))}))),
         "[{{'a': ['00:00:00.00000000{}']}}]"),
    ],
)  # fmt: skip
def test_times_within_lists_and_structures_keep_their_nanoseconds(tmp_path, array, expected):
    assert cells(tmp_path, array) == [expected.format(1), expected.format(2), ""]


# ---------------------------------------------------------------------- days and times that Python does not have


def stored(kind, *values):
    """Cells of a type by the numbers that are stored."""
    return pa.array(values, pa.int32() if kind.bit_width == 32 else pa.int64()).view(kind)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (stored(pa.date32(), 0, -800_000, 3_000_000), ["1970-01-01", "-0221-09-04", "10183-09-21"]),
        (stored(pa.date32(), 2**31 - 1, 1), ["<value out of range: 2147483647>", "1970-01-02"]),
        (stored(pa.timestamp("s"), 10**12, 5), ["<value out of range: 1000000000000000>", "1970-01-01 00:00:05"]),
        (stored(pa.timestamp("us"), 253_402_300_800 * 10**6, 10**6),
         ["10000-01-01 00:00:00.000000", "1970-01-01 00:00:01"]),
        (stored(pa.timestamp("us", "Europe/Berlin"), 0, 253_402_300_799 * 10**6),
         ["1970-01-01 01:00:00+01:00", "9999-12-31 23:59:59.000000+00:00"]),
        (stored(pa.timestamp("ns", "-05:00"), 1, -(2**63) + 1),
         ["1969-12-31 19:00:00.000000001-05:00", "1677-09-21 00:12:43.145224193+00:00"]),
        (stored(pa.timestamp("us", "Nowhere/City"), 1, 10**6),
         ["1970-01-01 00:00:00.000001+00:00", "1970-01-01 00:00:01+00:00"]),
        (stored(pa.duration("s"), 10**18, 86_401, -1), ["1000000000000000000", "1 day, 0:00:01", "-1 day, 23:59:59"]),
        (stored(pa.time32("ms"), 10, -1, 86_400_000),
         ["00:00:00.010000", "<value out of range: -1>", "<value out of range: 86400000>"]),
        (stored(pa.time64("us"), 10, 2**63 - 1), ["00:00:00.000010", "<value out of range: 9223372036854775807>"]),
        (pa.array([[-800_000, None]], pa.list_(pa.date32())), ["['-0221-09-04', None]"]),
    ],
    ids=lambda value: str(getattr(value, "type", "")),
)  # fmt: skip
def test_days_and_times_beyond_those_of_python_are_texts_all_the_same(tmp_path, array, expected):
    assert cells(tmp_path, array) == expected


def test_a_column_that_nobody_asks_for_does_not_matter_whatever_is_in_it(tmp_path):
    odd = {"when": stored(pa.date32(), -800_000, 0), "where": stored(pa.timestamp("s", "Nowhere/City"), 1, 2)}
    pq.write_table(pa.table({"y": [0, 1], **odd, "long": ["x" * 10**6, ""]}), tmp_path / "t.parquet")
    with open_table(tmp_path / "t.parquet") as table:
        assert [chunk.texts(0) for chunk in table.chunks([0])] == [["0", "1"]]


# ---------------------------------------------------------------------- pages that expand to much


def written(tmp_path, texts, **how):
    path = tmp_path / "t.parquet"
    table = pa.table({"y": pa.array([0] * len(texts)), "z": texts})
    pq.write_table(table, path, compression="zstd", write_statistics=False, **{"use_dictionary": False, **how})
    return path


@pytest.mark.parametrize("how", [{}, {"data_page_version": "2.0"}, {"use_dictionary": True}], ids=str)
def test_a_page_is_not_unpacked_if_it_would_be_too_much_at_once(tmp_path, monkeypatch, how):
    path = written(tmp_path, ["x" * 3 * 10**6, *["y"] * 11], **how)
    assert path.stat().st_size < 10**4
    monkeypatch.setattr(parquet_files, "BATCH_BYTES", 10**5)
    words = r"t\.parquet, column 'z': a page of more than 500,000 bytes to unpack at once.*smaller pages"
    with pytest.raises(TableError, match=words) as error, open_table(path, most_bytes=16 * 10**6) as table:
        list(table.chunks([1]))
    assert error.value.key == "most_bytes"
    with open_table(path, most_bytes=16 * 10**6) as table:
        assert len(list(table.chunks([0]))) == 1


def test_nor_are_pages_of_many_columns_that_would_be_too_much_together(tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({f"z{i}": ["x" * 4 * 10**5] for i in range(20)}), path, compression="zstd")
    monkeypatch.setattr(parquet_files, "BATCH_BYTES", 10**5)
    words = r"t\.parquet: pages of more than 4,000,000 bytes to unpack at once"
    with pytest.raises(TableError, match=words), open_table(path, most_bytes=16 * 10**6) as table:
        list(table.chunks(range(20)))


def test_what_pages_expand_to_counts_and_not_what_the_file_says_of_it(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"z": ["x" * 10**5] * 30}), path, compression="zstd", use_dictionary=False)
    said = pq.read_metadata(path).row_group(0).total_byte_size
    assert said > 3 * 10**6
    data = path.read_bytes()
    assert data.count(varint(2 * said)) >= 2  # of the column, and of all columns
    path.write_bytes(data.replace(varint(2 * said), b"\xc8\x81\x80\x00"))  # 100, in as many bytes
    assert pq.read_metadata(path).row_group(0).total_byte_size == 100
    words = "decompressed, it holds more than 2,000,000 bytes"
    with pytest.raises(TableError, match=words), open_table(path, most_bytes=2 * 10**6) as table:
        list(table.chunks([0]))


def varint(number):
    return bytes([number & 127 | 128, *varint(number >> 7)]) if number > 127 else bytes([number])


@pytest.mark.parametrize("how", [{}, {"use_dictionary": True, "dictionary_pagesize_limit": 10**5}], ids=str)
def test_texts_that_all_differ_are_not_kept(tmp_path, monkeypatch, how):
    texts = [f"{i:05d}" + "x" * 10_000 for i in range(2000)]
    path = written(tmp_path, texts, data_page_size=10**5, write_batch_size=1, **how)
    monkeypatch.setattr(parquet_files, "BATCH_BYTES", 10**6)
    monkeypatch.setattr(parquet_files, "MOST_UNTOLD", 10**7)
    before = pa.total_allocated_bytes()
    found = []
    with open_table(path) as table:
        for chunk in table.chunks([1]):
            assert pa.total_allocated_bytes() - before < 8 * 10**6  # all are 20 million bytes
            found += chunk.texts(0)
    assert found == texts


def test_texts_that_are_written_as_what_differs_are_read_a_few_at_a_time(tmp_path, monkeypatch):
    texts = ["x" * 10**5] * 300
    path = written(tmp_path, texts, column_encoding={"z": "DELTA_BYTE_ARRAY"})
    assert path.stat().st_size < 10**4
    monkeypatch.setattr(parquet_files, "MOST_UNTOLD", 10**6)
    with open_table(path) as table:
        found = [chunk.texts(0) for chunk in table.chunks([1])]
    assert max(map(len, found)) < 10
    assert [text for part in found for text in part] == texts


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
def test_pages_are_what_pyarrow_wrote(tmp_path, version, dictionary, compression):
    path = tmp_path / "t.parquet"
    columns = {
        "s": [f"text {i % 700}" for i in range(5000)],
        "l": [[i, None] for i in range(5000)],
        "f": np.arange(5000.0),
    }
    how = {"data_page_version": version, "use_dictionary": dictionary, "compression": compression}
    pq.write_table(pa.table(columns), path, data_page_size=2000, row_group_size=3000, **how)
    groups = pq.read_metadata(path)
    with path.open("rb") as file:
        for group in (groups.row_group(i) for i in range(2)):
            for column in (group.column(i) for i in range(3)):
                pages = pages_of(file, column)
                assert 0.9 * column.total_uncompressed_size < pages.total < column.total_uncompressed_size
                assert pages.by_number == dictionary
                assert (pages.longest > 0) == dictionary


def header(*fields):
    """A page of Thrift's: numbers and kinds of fields one after the other, each with its bytes."""
    return b"".join(bytes([number << 4 | kind, *data]) for number, kind, data in fields) + b"\0"


NUMBERS = [(1, 5, b"\0"), (1, 5, b"\x14"), (1, 5, b"\x08")]  # a page of data: ten bytes, packed four
TOLD = (2, 12, header((1, 5, b"\x02"), (1, 5, b"\0")))  # one value, as it is


@pytest.mark.parametrize(
    "more",
    [
        (),
        ((1, 1, b""),),  # true
        ((1, 3, b"\x01"), (1, 7, b"\0" * 8), (1, 8, b"\x03abc")),
        ((1, 9, b"\x28\x01a\x01b"), (1, 10, b"\xf3\x03abc"), (1, 11, b"\x01\x85\x01a\x02")),
        ((1, 11, b"\0"), (1, 12, b"\0"), (1, 9, b"\x2c" + header() * 2)),
        ((1, 8, varint(10**5) + b"x" * 10**5),),
        ((0, 5, b"\x84\x80\x08\x16"),),  # field 65538 is field 2 to others, who have two bytes for it
        ((0, 6, b"\x04\x02"),),  # a second field 2 of another kind does not count
    ],
)  # fmt: skip
def test_whatever_else_a_header_has_is_passed_over(more):
    wide = any(data.startswith(b"\x84\x80") for _, _, data in more)
    data = header(*NUMBERS, TOLD, *more)
    column = SimpleNamespace(
        data_page_offset=0, dictionary_page_offset=None, total_compressed_size=len(data) + 4, num_values=1
    )
    assert pages_of(io.BytesIO(data), column).total == (11 if wide else 10)


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\x15", b"\x15\0", b"\x1c" * 10**5, b"\x15" + b"\xff" * 20, b"\x1d\0", b"\x18\xff\xff\xff\x0f",
        b"\x19\x10", header(*NUMBERS[:2]), header(*NUMBERS), header(NUMBERS[0], (1, 5, b"\x13"), NUMBERS[2], TOLD),
    ],
)  # fmt: skip
def test_headers_that_cannot_be_are_said_to_be_damaged(data):
    column = SimpleNamespace(data_page_offset=0, dictionary_page_offset=None, total_compressed_size=10**6, num_values=1)
    with pytest.raises(ValueError, match="the header of a page is damaged"):
        pages_of(io.BytesIO(data), column)


def test_a_damaged_header_is_complained_about_with_its_column(tmp_path):
    path = written(tmp_path, ["a", "b"])
    at = pq.read_metadata(path).row_group(0).column(1).data_page_offset
    data = bytearray(path.read_bytes())
    data[at] = 0x1D
    path.write_bytes(data)
    words = r"t\.parquet, column 'z': this is a damaged Parquet file: the header of a page is damaged"
    with pytest.raises(TableError, match=words), open_table(path) as table:
        list(table.chunks([1]))


def test_damage_within_a_column_is_complained_about_with_its_name(tmp_path):
    array = pa.ListArray.from_arrays([0, 1, 2], stored(pa.time32("ms"), -1, 5))
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"y": [0, 1], "z": array}), path)
    words = r"t\.parquet, column 'z': its cells cannot be read: .*-1"
    with pytest.raises(TableError, match=words), open_table(path) as table:
        list(table.chunks([1]))
