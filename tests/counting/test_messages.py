"""What people read when groups cannot be made sense of: every message of the room, in full."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from refusing import refusal
from selfselect.counting.groups import (
    encode_groups,
    locate_groups,
    locate_labels,
    values_by_group,
    with_same_columns,
)
from selfselect.counting.rows import ChunkedRows, DaskRows

ONE = pd.Index(["a", "b"], name="g")
TWO = pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["g", "h"])
NO_ROWS = "The table has no rows: there must be at least one block."

REFUSED = [
    (
        lambda: encode_groups(None),
        ValueError,
        "sensitive_features is None and the number of rows is unknown.",
    ),
    (lambda: encode_groups([]), ValueError, "sensitive_features is empty: there must be at least one row."),
    (
        lambda: encode_groups(["a", "b", "c"], n_rows=2),
        ValueError,
        "Lengths differ: sensitive_features has 3 rows, the rest 2. Pass one label per row.",
    ),
    (
        lambda: encode_groups(encode_groups(["a", "b"]), n_rows=3),
        ValueError,
        "Lengths differ: sensitive_features has 2 rows, the rest 3. Pass one label per row.",
    ),
    (
        lambda: encode_groups({"a": ["x"], "b": ["x", "y"]}),
        ValueError,
        "sensitive_features must have columns of one length, got {'a': 1, 'b': 2}.",
    ),
    (lambda: encode_groups({}), ValueError, "sensitive_features must have columns of one length, got {}."),
    (
        lambda: encode_groups(sparse.eye(2)),
        TypeError,
        "sensitive_features is a sparse matrix; pass a dense column of labels.",
    ),
    (lambda: encode_groups(pd.DataFrame(index=[0])), ValueError, "sensitive_features has no column."),
    (
        lambda: encode_groups(np.zeros((2, 1, 1))),
        ValueError,
        "sensitive_features must have one or two dimensions, got shape (2, 1, 1). Pass one label (or one row of "
        "labels) per person.",
    ),
    (lambda: encode_groups("abc"), TypeError, "sensitive_features must hold one label per row, got 'abc'."),
    (lambda: encode_groups({"a"}), TypeError, "sensitive_features must hold one label per row, got {'a'}."),
    (
        lambda: encode_groups(["a", {"b": 1}]),
        TypeError,
        "sensitive_features must hold hashable labels; row 1 holds {'b': 1}.",
    ),
    (
        lambda: encode_groups(["a", None, "b", None]),
        ValueError,
        "sensitive_features ('group') is missing for 2 row(s), first at row(s) 1, 3. Fill or drop them, or pass "
        'missing="own_group".',
    ),
    (
        lambda: encode_groups(["(missing)", None], missing="own_group"),
        ValueError,
        "A group is already called '(missing)'; rename it to give missing labels their own.",
    ),
    (
        lambda: encode_groups(["a"], missing="drop"),
        ValueError,
        "missing must be one of 'error', 'own_group', got 'drop'.",
    ),
    (
        lambda: locate_groups(["b", "c"], ONE),
        ValueError,
        "sensitive_features names group(s) that the published statistics does not know: 'c'. Known groups: 'a', 'b'.",
    ),
    (
        lambda: locate_groups([["a", 1]], ONE, where="the model"),
        ValueError,
        "sensitive_features has 2 column(s), but the model was made from 1.",
    ),
    (
        lambda: locate_groups(["a", None], ONE),
        ValueError,
        "sensitive_features ('group') is missing for 1 row(s), first at row(s) 1. Fill or drop them, or pass "
        'missing="own_group".',
    ),
    (
        lambda: locate_groups(["a"], ONE, n_rows=2),
        ValueError,
        "Lengths differ: sensitive_features has 1 rows, the rest 2. Pass one label per row.",
    ),
    (
        lambda: with_same_columns(TWO.rename(["g", "k"]), TWO, "cost", "the table"),
        ValueError,
        "cost has columns 'g', 'k', but the table 'g', 'h'.",
    ),
    (lambda: locate_labels("a", ONE, "targets"), TypeError, "targets must be a list of groups, got 'a'."),
    (lambda: locate_labels([["a"]], ONE, "targets"), TypeError, "targets must be a list of group labels, got [['a']]."),
    (
        lambda: locate_labels(["x"], ONE, "targets"),
        ValueError,
        "targets names group(s) that the table of groups does not know: 'x'. Known groups: 'a', 'b'.",
    ),
    (
        lambda: locate_labels(["x"], ONE, "targets", "the plan"),
        ValueError,
        "targets names group(s) that the plan does not know: 'x'. Known groups: 'a', 'b'.",
    ),
    (
        lambda: locate_labels(["x"], pd.Index(range(12)), "targets"),
        ValueError,
        "targets names group(s) that the table of groups does not know: 'x'. Known groups: 0, 1, 2, 3, 4, 5, 6, 7, 8, "
        "9 and 2 more.",
    ),
    (
        lambda: locate_labels([("a",), "b"], TWO, "targets"),
        ValueError,
        "targets must name each group by a tuple of 2 values (g, h), got ('a',), 'b'.",
    ),
    (
        lambda: values_by_group(pd.Series([1, 2], index=["a", "a"]), ONE, "cost", default=0.0),
        ValueError,
        "cost names a group twice: 'a'.",
    ),
    (
        lambda: values_by_group({"z": 1}, ONE, "cost", default=0.0),
        ValueError,
        "cost names group(s) that the table of groups does not know: 'z'. Known groups: 'a', 'b'.",
    ),
    (
        lambda: values_by_group({"a": "much"}, ONE, "cost", default=0.0),
        TypeError,
        "cost must map each group to a number, got 'much'.",
    ),
    (
        lambda: values_by_group({"a": 10**400}, ONE, "cost", default=0.0),
        TypeError,
        f"cost must map each group to a number, got 1{'0' * 56}....",
    ),
    (
        lambda: values_by_group({"b": np.nan, "a": 1}, ONE, "cost", default=0.0),
        ValueError,
        "cost is NaN for group(s) 'b'.",
    ),
    (
        lambda: values_by_group({"b": 1}, ONE, "cost", default=None),
        ValueError,
        "cost says nothing about group(s) 'a'; give every group a value.",
    ),
    (
        lambda: values_by_group({"b": 1}, TWO, "cost", default=None),
        ValueError,
        "cost must name each group by a tuple of 2 values (g, h), got 'b'.",
    ),
    (
        lambda: ChunkedRows(iter([1])),
        TypeError,
        "The blocks can be gone through only once, and training reads a table many times. Pass a list, or an object "
        "whose __iter__ starts anew.",
    ),
    (lambda: ChunkedRows([]).each(list).total(len), ValueError, NO_ROWS),
    (lambda: DaskRows(None, []), ValueError, NO_ROWS),
]


@pytest.mark.parametrize(("act", "kind", "message"), REFUSED, ids=[message[:50] for _, _, message in REFUSED])
def test_what_cannot_be_done_is_said_in_full(act, kind, message):
    error = refusal(act)
    assert type(error) is kind
    assert str(error) == message
