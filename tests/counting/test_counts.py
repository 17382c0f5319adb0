import json

import numpy as np
import pytest
from hypothesis import given

import reference
from drawn import columns, decided_people
from selfselect import PublishedStatistics
from selfselect.counting import GroupCounts

COUNTS = {"n": [4, 2], "positives": [2, 1], "selected": [2, 0], "true_positives": [1, 0]}


@given(decided_people)
def test_counts_are_those_of_a_loop_over_people(people):
    y, yhat, z = columns(people)
    table = PublishedStatistics.from_predictions(y, yhat, sensitive_features=z)
    found = {g: tuple(int(c[i]) for c in table.counts.columns) for i, g in enumerate(table.groups)}
    assert found == reference.counts(y, yhat, z)


def test_counts_survive_json_and_keep_whole_numbers_whole():
    counts = GroupCounts.from_dict(COUNTS)
    assert json.loads(json.dumps(counts.to_dict())) == COUNTS
    assert counts.to_dict() == COUNTS
    assert all(column.dtype.kind == "i" for column in counts.columns)
    assert counts.precision[0] == 0.5


def test_counts_of_weights_survive_too():
    codes, weight = np.array([0, 0, 1]), np.array([0.5, 0.25, 1.5])
    counts = GroupCounts.from_rows(np.array([True, False, True]), np.array([True, True, False]), codes, 2, weight)
    again = GroupCounts.from_dict(json.loads(json.dumps(counts.to_dict())))
    assert [column.tolist() for column in again.columns] == [[0.75, 1.5], [0.5, 1.5], [0.75, 0.0], [0.5, 0.0]]


@pytest.mark.parametrize(
    ("sums", "message"),
    [
        ({}, "got nothing"),
        ({"n": [1]}, "Counts are n, positives, selected, true_positives; got n"),
        (COUNTS | {"more": [1, 2]}, "true_positives, more"),
        (COUNTS | {"n": [4]}, "one number per group each"),
    ],
)
def test_what_is_no_table_of_counts_is_refused(sums, message):
    with pytest.raises(ValueError, match=message):
        GroupCounts.from_dict(sums)
