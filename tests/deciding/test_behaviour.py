import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfselect.deciding import SureRule, Terms, applies_rule, applies_with_margin, check_tolerance, smooth_applies
from selfselect.deciding.behaviour import highest_cost

GROUPS = pd.Index(["A", "B"])


@given(st.integers(0, 50), st.integers(1, 50), st.integers(0, 20), st.integers(1, 20))
def test_comparing_counts_equals_comparing_exact_fractions(hits, selected, cost_top, cost_bottom):
    hits, cost_top = min(hits, selected), min(cost_top, cost_bottom)
    expected = hits * cost_bottom >= cost_top * selected
    assert bool(applies_rule(hits, selected, cost_top / cost_bottom)) == expected


def test_the_slack_is_far_below_one_person_in_any_population():
    assert not applies_rule(7 * 10**10 - 1, 10**11, 0.7)
    assert applies_rule(7 * 10**10, 10**11, 0.75 - 0.05)


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
        Terms(**{{"subsidy_kind": "kind"}.get(name, name): value for name, value in arguments.items()}).faced_by(GROUPS)


def test_group_names_may_be_numbers_empty_or_long():
    labels = pd.Index([0, "", "x" * 10_000], dtype=object)
    assert Terms(0.5, {0: 0.1, "": 0.2}).faced_by(labels).tolist() == pytest.approx([0.4, 0.3, 0.5])
    with pytest.raises(ValueError, match=r"\.\.\.") as error:
        Terms(0.5, {"y" * 10_000: 0.1}).faced_by(labels)
    assert len(str(error.value)) < 500


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99), st.sampled_from([1.0, 2.0, 5.0, 20.0]))
def test_the_smooth_rule_is_the_papers_sigmoid_with_the_slope_of_finite_differences(q, c, tau):
    a, slope = smooth_applies(np.array([q]), np.array([c]), tau)
    r = q - c
    paper = 1 / (1 + (((r + c) * (1 - c)) / (c * (1 - (r + c)))) ** -tau)
    assert a[0] == pytest.approx(paper, rel=1e-9, abs=1e-300)
    h = 1e-6
    up, down = (smooth_applies(np.array([q + d]), np.array([c]), tau)[0][0] for d in (h, -h))
    assert slope[0] == pytest.approx((up - down) / (2 * h), rel=1e-4, abs=1e-6)


def test_the_smooth_rule_has_no_overflow_at_the_ends_and_tends_to_the_hard_one():
    q = np.array([0.0, 0.3, 0.5, 0.8, 1.0])
    for c in (0.0, 1e-9, 0.5, 1.0):
        a, slope = smooth_applies(q, np.full(5, c), 50.0)
        assert np.isfinite(a).all()
        assert np.isfinite(slope).all()
    assert smooth_applies(q, np.full(5, 0.6), 200.0)[0].round(6).tolist() == [0, 0, 0, 1, 1]


def test_an_automatic_margin_asks_for_more_from_few_people():
    assert applies_with_margin([9, 90, 900], [10, 100, 1000], 0.87, "auto").tolist() == [False, False, True]
    assert applies_with_margin([0], [0], 0.0, "auto").tolist() == [False]
    with pytest.raises(ValueError, match="cost \\+ tolerance must be below 1"):
        check_tolerance(0.1, np.array([0.95]))
    with pytest.raises(ValueError, match="tolerance must lie"):
        check_tolerance(-0.1, np.array([0.5]))
    assert check_tolerance(0.0, np.array([1.0])) == 0


@given(st.integers(0, 60), st.integers(1, 60), st.floats(0.02, 0.999))
def test_a_group_that_must_be_sure_comes_up_to_its_highest_cost_and_no_further(hits, selected, confidence):
    hits, rule = min(hits, selected), SureRule(confidence)
    limit = highest_cost(rule, [hits], [selected])
    assert rule.shares([hits], [selected], limit).all()
    assert not rule.shares([hits], [selected], limit + 1e-6).any() or limit > 1 - 1e-6
    assert limit <= hits / selected


def test_those_who_must_be_sure_clear_a_tolerance_by_their_precision_and_the_cost_by_the_bound():
    hits, passed = np.array([15.0, 830.0, 850.0, 87.0]), np.array([15.0, 1000.0, 1000.0, 100.0])
    sure = SureRule(0.9)
    assert applies_with_margin(hits, passed, 0.8, 0.0, sure).tolist() == [True, True, True, True]
    assert applies_with_margin(hits, passed, 0.8, 0.04, sure).tolist() == [True, False, True, True]
    # the bound need not clear the tolerance: of 15 people all of whom are qualified it is .858
    assert applies_with_margin(hits, passed, 0.84, 0.1, sure).tolist() == [True, False, False, False]
    assert applies_with_margin(hits, passed, 0.87, 0.0, sure).tolist() == [False] * 4
