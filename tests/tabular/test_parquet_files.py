"""Parquet: what other programs write is read cell by cell as people would write it."""

import datetime
import tracemalloc
from decimal import Decimal

import numpy as np
import pytest

from selfselect.tabular import parquet_files
from selfselect.tabular.cells import ArrowChunk
from selfselect.tabular.checking import GroupColumns, TwoValues, as_numbers
from selfselect.tabular.errors import TableError
from selfselect.tabular.loading import PeopleColumns, ScoreColumn, read_screened
from selfselect.tabular.reading import open_table

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
        found = read_screened(table, PeopleColumns("y", ("z",)), ScoreColumn("s"))
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
