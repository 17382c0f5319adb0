"""Outcomes of a population; tests/metrics/test_rows.py compares them with the metrics per row."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn import table_of
from selfselect import GroupCounts, PublishedStatistics
from selfselect.metrics import outcome
from selfselect.outcomes import BOUNDED, BoundedOutcome, Outcome, outcome_bounds


def test_an_outcome_needs_a_decision_for_every_group_of_the_population():
    population = PublishedStatistics.from_predictions([1, 0], [1, 1], sensitive_features=["a", "b"])
    with pytest.raises(ValueError, match="has no value for group"):
        outcome(population, pd.Series({"a": True}))
    for wrong in (pd.Series({"a": "no", "b": "no"}), pd.Series({"a": 1.0, "b": np.nan}), population.precision + 0.9):
        with pytest.raises((ValueError, TypeError), match="applies"):
            outcome(population, wrong)
    for wrong in ({"a": True, "b": True}, pd.Series([True, True], index=["a", "a"])):
        with pytest.raises(TypeError, match="applies must be a Series"):
            outcome(population, wrong)
    result = outcome(population, pd.Series({"a": True, "b": False, "elsewhere": True}))
    assert (result.applying_groups, result.induced_accuracy) == (2, 1.0)


def test_an_outcome_holds_python_numbers():
    # A: 10 people, 8 correct decisions, 5 qualified; B: 6 people, 3 correct decisions, 2 qualified
    result = outcome(table_of(A=(10, 5, 5, 4), B=(6, 2, 3, 1)), pd.Series({"B": 0.5, "A": 0.25}))
    assert type(result) is Outcome
    assert result.to_dict() == {
        "assumed_accuracy": 11 / 16,
        "induced_accuracy": (0.25 * 8 + 0.5 * 3) / (0.25 * 10 + 0.5 * 6),
        "applying_groups": 1,
        "application_rate": (0.25 * 10 + 0.5 * 6) / 16,
        "social_cost": (0.75 * 5 + 0.5 * 2) / 7,
    }
    assert all(type(value) in (float, int) for value in result.to_dict().values())


# ---------------------------------------------------------------------- people who were not tested


def bounds_by_enumeration(rows, shares):
    """Bounds by enumeration of all possible numbers of qualified people among the untested."""
    seen = {name: [] for name in BOUNDED}
    for added in product(*(range(untested + 1) for *_, untested in rows)):
        n = positives = right = here = here_right = away_positives = 0.0
        for (people, qualified, selected, true_positives, _), more, share in zip(rows, added, shares, strict=True):
            false_positives, missed = selected - true_positives, qualified + more - true_positives
            n, positives = n + people, positives + qualified + more
            right += people - false_positives - missed
            here += share * people
            here_right += share * (people - false_positives - missed)
            away_positives += (1 - share) * (qualified + more)
        seen["assumed_accuracy"].append(right / n if n else np.nan)
        seen["induced_accuracy"].append(here_right / here if here else np.nan)
        if positives:
            seen["social_cost"].append(away_positives / positives)
    return {name: (min(values, default=np.nan), max(values, default=np.nan)) for name, values in seen.items()}


def counts_of(rows):
    """Counts with groups on the last axis, of rows of groups of (n, positives, selected, true positives, untested)."""
    return GroupCounts(*np.moveaxis(np.array(rows), -1, 0))


def group_of(true_positives, wrong, missed, rejected, unknown):
    """Counts of one group: n, positives, selected, true positives, untested."""
    n = true_positives + wrong + missed + rejected + unknown
    return n, true_positives + missed, true_positives + wrong, true_positives, unknown


groups_of_people = st.tuples(*[st.integers(0, 3)] * 5).map(lambda parts: group_of(*parts))
three_groups = st.lists(groups_of_people, min_size=3, max_size=3)
three_shares = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=3, max_size=3)


@given(st.lists(st.tuples(three_groups, three_shares), min_size=2, max_size=4))
def test_bounds_are_the_extremes_over_all_possible_labels(cases):
    rows, shares = (list(part) for part in zip(*cases, strict=True))
    bounds = outcome_bounds(counts_of(rows), np.array(shares))
    assert list(bounds) == list(BOUNDED)
    for name, (low, high) in bounds.items():
        expected = [bounds_by_enumeration(*case)[name] for case in cases]
        assert low.tolist() == pytest.approx([least for least, _ in expected], nan_ok=True)
        assert high.tolist() == pytest.approx([most for _, most in expected], nan_ok=True)


def test_the_outcome_of_untested_people_has_bounds():
    groups = [(10, 4, 5, 3, 2), (12, 3, 4, 2, 5), (6, 2, 2, 2, 0)]
    population = table_of(**dict(zip("ABC", groups, strict=True)))
    result = outcome(population, pd.Series({"C": 1.0, "A": 0.75, "B": 0.25, "elsewhere": 1.0}))
    assert type(result) is BoundedOutcome
    bounds = bounds_by_enumeration(groups, [0.75, 0.25, 1.0])
    expected = {f"{name}_{end}": pair[k] for name, pair in bounds.items() for k, end in enumerate(("low", "high"))}
    assert all(low < high for low, high in bounds.values())
    assert {name: value for name, value in result.to_dict().items() if name not in BOUNDED} == pytest.approx(
        expected | {"applying_groups": 3, "application_rate": (7.5 + 3 + 6) / 28, "untested": 7}
    )
    assert np.isnan([getattr(result, name) for name in BOUNDED]).all()
    assert all(type(value) in (float, int) for value in result.to_dict().values())


def test_metrics_that_do_not_depend_on_untested_people_are_known():
    population = table_of(A=(10, 4, 5, 3, 2), B=(8, 3, 4, 2, 0))
    without = outcome(population, pd.Series({"A": False, "B": True}))
    assert without.induced_accuracy == without.induced_accuracy_low == without.induced_accuracy_high == 5 / 8
    everybody = outcome(population, pd.Series({"A": True, "B": True}))
    assert everybody.social_cost == everybody.social_cost_low == everybody.social_cost_high == 0
    assert np.isnan(everybody.assumed_accuracy)
