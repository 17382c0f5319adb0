"""Columns of other libraries: values that differ there differ here."""

import datetime
from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from selfselect._frames import to_pandas
from selfselect.counting import encode_groups

#: Two integers that are equal as floats.
LARGE = [2**53 + 1, 2**53]


def groups_of(values):
    """Groups of some rows, the last of which is in the same group as the first."""
    groups = encode_groups(values, missing="own_group")
    assert groups.codes[0] == groups.codes[-1]
    return groups.labels.tolist()


def test_large_integers_beside_a_missing_value_are_different_groups_in_every_form_of_pyarrow():
    array = pa.array([LARGE[0], None, LARGE[1], LARGE[0]])
    batch = pa.RecordBatch.from_arrays([array], names=["z"])
    for column in (array, pa.chunked_array([array[:1], array[1:]]), batch, pa.table({"z": array})):
        assert groups_of(column) == [*sorted(LARGE), "(missing)"]


@pytest.mark.parametrize(
    ("kind", "in_polars"),
    [
        (pa.timestamp("ns"), pl.Datetime("ns")),
        (pa.timestamp("ns", "Asia/Tokyo"), pl.Datetime("ns", "Asia/Tokyo")),
        (pa.duration("ns"), pl.Duration("ns")),
    ],
)
def test_times_that_differ_by_a_nanosecond_are_different_groups(kind, in_polars):
    for values, number in (([1, 2, 1], 2), ([1, None, 2, 1], 3)):
        assert len(groups_of(pa.table({"z": pa.array(values, kind)}))) == number
        assert len(groups_of(pl.Series("z", values).cast(in_polars).to_frame())) == number


def test_times_keep_their_zone_and_compare_equal_to_those_of_python():
    (first, _) = groups_of(pl.Series([0, 1, 0]).cast(pl.Datetime("ns", "Asia/Tokyo")))
    assert str(first) == "1970-01-01 09:00:00+09:00"
    noon, day = datetime.time(12, 30, 0, 5), datetime.datetime(2024, 5, 1, 12)
    assert groups_of(pl.Series([noon, noon])) == groups_of(pa.array([noon, noon])) == [noon]
    assert groups_of(pl.Series([day, day])) == [day]


def test_decimals_are_compared_digit_by_digit():
    large = [Decimal(number) for number in (LARGE[0], LARGE[1], LARGE[0])]
    assert groups_of(pl.Series(large)) == groups_of(pa.array(large)) == sorted(large[:2])


@pytest.mark.parametrize("wrap", [list, lambda values: [[value] for value in values]])
def test_large_integers_beside_floats_are_different_groups_in_lists(wrap):
    assert groups_of(wrap([LARGE[0], 1.5, LARGE[1], LARGE[0]])) == [1.5, *sorted(LARGE)]


def test_columns_of_one_type_keep_it():
    for values in ([1, 2, 1], [0.5, 1.5, 0.5], [True, False, True]):
        kind = np.asarray(values).dtype
        assert encode_groups(values).labels.dtype == kind
        assert to_pandas(pa.array(values)).dtype == to_pandas(pl.Series(values)).dtype == kind
