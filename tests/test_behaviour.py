import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfselect.behaviour import applies_rule, group_costs

GROUPS = pd.Index(["A", "B"])


@given(st.integers(0, 50), st.integers(1, 50), st.integers(0, 20), st.integers(1, 20))
def test_comparing_counts_equals_comparing_exact_fractions(hits, selected, cost_top, cost_bottom):
    hits, cost_top = min(hits, selected), min(cost_top, cost_bottom)
    expected = hits * cost_bottom >= cost_top * selected
    assert bool(applies_rule(hits, selected, cost_top / cost_bottom)) == expected


def test_cost_zero_brings_in_everyone_with_a_precision_and_cost_one_only_the_flawless():
    assert applies_rule([0, 1, 5, 0], [5, 5, 5, 0], 0.0).tolist() == [True, True, True, False]
    assert applies_rule([0, 4, 5, 0], [5, 5, 5, 0], 1.0).tolist() == [False, False, True, False]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cost": -0.1}, r"cost must lie in \[0, 1\]"),
        ({"cost": 1.1}, r"cost must lie in \[0, 1\]"),
        ({"cost": np.nan}, r"cost must lie in \[0, 1\]"),
        ({"cost": "high"}, "cost must be a number"),
        ({"cost": {"A": 0.5}}, "says nothing about group"),
        ({"cost": {"A": 0.5, "B": 2}}, r"does not for group\(s\) 'B'"),
        ({"cost": 0.5, "subsidies": {"C": 0.1}}, "does not know: 'C'"),
        ({"cost": 0.5, "subsidies": {"A": -0.1}}, "at least 0; wrong for group"),
        ({"cost": 0.5, "subsidies": {"A": np.inf}}, "finite"),
        ({"cost": 0.5, "subsidies": "much"}, "subsidies must be a number or a mapping"),
        ({"cost": 0.5, "subsidies": 1.5, "subsidy_kind": "proportional"}, "between 0 and 1"),
        ({"cost": 0.5, "subsidy_kind": "generous"}, "subsidy_kind must be one of"),
    ],
)
def test_wrong_costs_and_subsidies_are_refused_by_name(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        group_costs(GROUPS, **arguments)


def test_group_names_may_be_numbers_empty_or_long():
    labels = pd.Index([0, "", "x" * 10_000], dtype=object)
    assert group_costs(labels, 0.5, {0: 0.1, "": 0.2}).tolist() == pytest.approx([0.4, 0.3, 0.5])
    with pytest.raises(ValueError, match=r"\.\.\.") as error:
        group_costs(labels, 0.5, {"y" * 10_000: 0.1})
    assert len(str(error.value)) < 500
