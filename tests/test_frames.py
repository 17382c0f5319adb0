"""Columns of other libraries: what differs there differs here."""

import datetime
from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from selfselect._frames import plain_frame
from selfselect.counting import encode_groups

#: Two whole numbers that floating point takes for one.
LARGE = [2**53 + 1, 2**53]
#: Of the oldest that is allowed, days beyond Python's years end the process, and there are no such whole numbers.
LATER_POLARS = hasattr(pl, "Int128")


def groups_of(values):
    """Groups of three rows, of which the last is like the first."""
    found = encode_groups(values, missing="own_group")
    assert found.codes[0] == found.codes[-1]
    return found.labels.tolist()


def in_every_form(values, kind=None):
    """A column of pyarrow: as an array, in chunks, in a batch and in a table."""
    array = pa.array(values, kind)
    return [
        array,
        pa.chunked_array([array[:1], array[1:]]),
        pa.RecordBatch.from_arrays([array], names=["z"]),
        pa.table({"z": array}),
    ]


@pytest.mark.parametrize("form", range(4))
def test_large_whole_numbers_beside_a_missing_one_are_different_groups_in_pyarrow(form):
    found = groups_of(in_every_form([LARGE[0], None, LARGE[1], LARGE[0]])[form])
    assert found == [*sorted(LARGE), "(missing)"]


@pytest.mark.parametrize("form", range(4))
@pytest.mark.parametrize(
    "kind", [pa.time64("ns"), pa.timestamp("ns"), pa.timestamp("ns", "Asia/Tokyo"), pa.duration("ns")]
)
def test_times_that_differ_by_a_nanosecond_are_different_groups_in_pyarrow(kind, form):
    assert len(groups_of(in_every_form([1, 2, 1], kind)[form])) == 2
    assert len(groups_of(in_every_form([1, None, 2, 1], kind)[form])) == 3


@pytest.mark.parametrize("kind", [pl.Time, pl.Datetime("ns"), pl.Datetime("ns", "Asia/Tokyo"), pl.Duration("ns")])
def test_times_that_differ_by_a_nanosecond_are_different_groups_in_polars(kind):
    for values, number in (([1, 2, 1], 2), ([1, None, 2, 1], 3)):
        series = pl.Series("z", values).cast(kind)
        assert len(groups_of(series)) == number
        assert len(groups_of(series.to_frame())) == number


def test_a_time_to_the_nanosecond_is_written_out():
    series = pl.Series([3_661_000_000_001, 3_661_000_000_002]).cast(pl.Time)
    assert groups_of(series[[0, 1, 0]]) == ["01:01:01.000000001", "01:01:01.000000002"]


def test_a_moment_keeps_its_zone():
    (first, _) = groups_of(pl.Series([0, 1, 0]).cast(pl.Datetime("ns", "Asia/Tokyo")))
    assert str(first) == "1970-01-01 09:00:00+09:00"


def test_times_that_python_has_are_left_as_python_has_them():
    noon = datetime.time(12, 30, 0, 5)
    assert groups_of(pl.Series([noon, noon])) == [noon]
    assert groups_of(pa.array([noon, noon])) == [noon]
    day = datetime.datetime(2024, 5, 1, 12)
    assert groups_of(pl.Series([day, day])) == [day]


def test_days_that_python_does_not_have_are_texts():
    assert len(groups_of(pa.array([10**7, 0, 10**7], pa.date32()))) == 2
    if LATER_POLARS:
        assert len(groups_of(pl.Series([10**7, 0, 10**7]).cast(pl.Date))) == 2


def test_numbers_beyond_64_bits_and_decimals_are_compared_digit_by_digit():
    if LATER_POLARS:
        assert groups_of(pl.Series([2**100 + 1, 2**100, 2**100 + 1], dtype=pl.Int128)) == [2**100, 2**100 + 1]
    large = [Decimal(number) for number in (LARGE[0], LARGE[1], LARGE[0])]
    assert groups_of(pl.Series(large)) == groups_of(pa.array(large)) == sorted(large[:2])


@pytest.mark.parametrize("wrap", [list, tuple, lambda values: [[value] for value in values]])
def test_large_whole_numbers_beside_others_are_different_groups_in_lists(wrap):
    assert groups_of(wrap([LARGE[0], 1.5, LARGE[1], LARGE[0]])) == [1.5, *sorted(LARGE)]


def test_columns_of_one_kind_are_columns_of_numbers():
    for values in ([1, 2, 1], [0.5, 1.5, 0.5], [True, False, True]):
        kind = np.asarray(values).dtype
        assert encode_groups(values).labels.dtype == kind
        assert plain_frame(pa.array(values)).dtype == plain_frame(pl.Series(values)).dtype == kind
