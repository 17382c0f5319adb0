"""Parquet: what other programs write is read cell by cell as people would write it."""

import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from selfselect.tabular.columns import as_numbers, read_binary
from selfselect.tabular.errors import TableError
from selfselect.tabular.read import open_table


def cells(tmp_path, array, **options):
    pq.write_table(pa.table({"x": array}), tmp_path / "t.parquet", **options)
    with open_table(tmp_path / "t.parquet") as table:
        return table.columns([0])[0].cells().tolist()


def stored(kind, *values):
    """Cells of a type by the numbers that are stored."""
    return pa.array(values, pa.int32() if kind.bit_width == 32 else pa.int64()).view(kind)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array([Decimal("0.70"), None, Decimal("-1.25")]), ["0.70", "", "-1.25"]),
        (pa.array([True, None, False]), ["True", "", "False"]),
        (pa.array(["b", "a", None, "b"]).dictionary_encode(), ["b", "a", "", "b"]),
        (pa.array([0.5, None, float("nan")]), ["0.5", "", ""]),
        (pa.array([float("nan"), 1.0]).dictionary_encode(), ["", "1.0"]),
        (pa.array([0.1, 0.5], pa.float32()), ["0.10000000149011612", "0.5"]),
        (pa.array([9007199254740993, 9007199254740992, None]), ["9007199254740993", "9007199254740992", ""]),
        (pa.array([1, 2], pa.time64("ns")), ["00:00:00.000000001", "00:00:00.000000002"]),
        (pa.array([datetime.date(2020, 1, 31), None]), ["2020-01-31", ""]),
        (pa.array([datetime.datetime(2020, 1, 31, 8), None]), ["2020-01-31 08:00:00", ""]),
        (pa.array(["N/A", "", " A ", "A\r\nB", "007"]), ["N/A", "", " A ", "A\r\nB", "007"]),
        (pa.array([[1, 2], None]), ["[1, 2]", ""]),
        (pa.array([{"a": 1}, None]), ["{'a': 1}", ""]),
        (pa.array([None, None]), ["", ""]),
        (stored(pa.date32(), 0, -800_000, 3_000_000), ["1970-01-01", "-0221-09-04", "10183-09-21"]),
        (stored(pa.timestamp("us"), 253_402_300_800 * 10**6, 10**6),
         ["10000-01-01 00:00:00", "1970-01-01 00:00:01"]),
        (stored(pa.timestamp("us", "Europe/Berlin"), 1, 10**6),
         ["1970-01-01 01:00:00.000001+0100", "1970-01-01 01:00:01+0100"]),
        (stored(pa.duration("s"), 10**18, 86_401), ["1000000000000000000", "86401"]),
    ],
    ids=lambda value: str(getattr(value, "type", "")),
)  # fmt: skip
def test_values_of_every_type_are_the_texts_that_people_would_write(tmp_path, array, expected):
    assert cells(tmp_path, array) == cells(tmp_path, array, row_group_size=1, use_dictionary=False) == expected


def test_an_unknown_time_zone_does_not_merge_points_in_time(tmp_path):
    assert len(set(cells(tmp_path, stored(pa.timestamp("us", "Nowhere/City"), 1, 10**6)))) == 2


def test_numbers_are_taken_as_they_are_and_missing_ones_are_refused(tmp_path):
    scores = np.random.default_rng(0).random(100)
    content = {"y": [True, False] * 50, "s": scores, "d": [Decimal("0.5")] * 100, "m": [None, *scores[1:]]}
    pq.write_table(pa.table(content), tmp_path / "t.parquet")
    with open_table(tmp_path / "t.parquet") as table:
        y, s, d, m = table.columns(range(4))
        assert read_binary(table, y).is_positive.tolist() == [True, False] * 50
        assert as_numbers(table, s).tolist() == scores.tolist()
        assert as_numbers(table, d).tolist() == [0.5] * 100
        with pytest.raises(TableError, match="row 2, column 'm': the cell is empty"):
            as_numbers(table, m)


def test_columns_that_are_not_used_do_not_matter_whatever_is_in_them(tmp_path):
    content = {
        "y": [0, 1],
        "list": [[1, 2], None],
        "structure": [{"a": {"b": "c"}}, None],
        "map": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())),
        "when": stored(pa.date32(), -800_000, 0),
        "where": stored(pa.timestamp("s", "Nowhere/City"), 1, 2),
        "structure.a": [5, 6],
    }
    pq.write_table(pa.table(content), tmp_path / "t.parquet")
    with open_table(tmp_path / "t.parquet") as table:
        y, dotted = table.columns([0, 6])
        assert (y.cells().tolist(), dotted.cells().tolist()) == (["0", "1"], ["5", "6"])


def test_a_text_that_repeats_is_kept_once(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": ["x" * 10_000] * 1000}), path)
    before = pa.total_allocated_bytes()
    with open_table(path) as table:
        (column,) = table.columns([0])
        assert pa.total_allocated_bytes() - before < 3 * 10**6  # all are 10 million bytes
        assert len(column.texts) == 1


def test_damage_is_refused_with_the_column(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"y": [0, 1], "z": stored(pa.time32("ms"), -1, 5)}), path)
    with (
        pytest.raises(TableError, match=r"t\.parquet, column 'z': its cells cannot be read"),
        open_table(path) as table,
    ):
        table.columns([1])
    data = path.read_bytes()
    path.write_bytes(data[:10] + b"\xff" * 10 + data[20:])
    with pytest.raises(TableError, match=r"t\.parquet"), open_table(path) as table:
        table.columns([0, 1])
