"""Costs and subsidies of groups, and the share of them that applies."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, uniform

from refusing import refusal
from selfselect import GroupCounts, Terms
from selfselect._errors import InputError
from selfselect.behaviour import BestResponse, PrivateCosts
from selfselect.costs import least_proportional
from selfselect.statistics import LowerBound, Precision

GROUPS = pd.Index(["A", "B"])
shares_of_one = st.floats(0, 1)


@given(shares_of_one, shares_of_one, st.sampled_from(["additive", "proportional"]), shares_of_one)
def test_the_further_subsidy_is_enough_and_a_little_less_is_not(cost, paid, kind, precision):
    paid = paid * cost if kind == "additive" else paid
    terms = Terms(cost, {"A": paid}, kind)
    more, undefined = terms.further_subsidy(GROUPS, [precision, np.nan])
    assert np.isnan(undefined)
    if kind == "proportional" and paid + more > 1:
        assert precision <= 1e-9  # not even the whole cost is enough, but for rounding
        return
    enough = terms.with_subsidies({"A": paid + more}).effective_cost(GROUPS)[0]
    assert enough <= precision + 1e-9
    if more > 1e-6:
        less = terms.with_subsidies({"A": paid + more - 1e-6}).effective_cost(GROUPS)[0]
        assert less > precision - 1e-12 or cost < 1e-9


def test_a_cost_is_uniform_unless_it_is_given_by_group():
    assert Terms(0.5, 0.1, cost_of={}).uniform_cost == 0.5
    assert Terms({"A": 0.5, "B": 0.5}).uniform_cost is None
    assert Terms(pd.Series({"A": 0.5, "B": 0.5})).uniform_cost is None
    assert Terms(0.5, cost_of={"A": 0.5}).uniform_cost is None
    assert Terms(0.5, statistic=LowerBound(0.8)).confidence == 0.8
    assert Terms(0.5).confidence is None


def test_terms_change_one_thing_at_a_time():
    applies, bound = BestResponse("apply"), LowerBound(0.8)
    terms = Terms(0.5, {"A": 0.1}, "proportional", applies, bound, {"B": 0.6})
    cheaper = terms.at_cost(0.25)
    assert (cheaper.cost, cheaper.subsidies, cheaper.kind) == (0.25, {"A": 0.1}, "proportional")
    assert (cheaper.behaviour, cheaper.statistic, cheaper.cost_of) == (applies, bound, {"B": 0.6})
    same_kind, other_kind = terms.with_subsidies({"B": 0.2}), terms.with_subsidies({"B": 0.2}, "additive")
    assert (same_kind.subsidies, same_kind.kind, other_kind.kind) == ({"B": 0.2}, "proportional", "additive")
    assert (other_kind.cost, other_kind.behaviour, other_kind.cost_of) == (0.5, applies, {"B": 0.6})
    assert terms.with_subsidies(None).subsidies is None
    some = terms.among(GROUPS, pd.Index(["B"]))
    assert some.effective_cost(pd.Index(["B"])).tolist() == [0.6]
    assert (some.behaviour, some.statistic) == (applies, bound)


def test_the_cost_of_a_single_group_replaces_the_general_one():
    groups = pd.Index(["A", "B", "C"])
    assert Terms(0.5, cost_of={"B": 0.0}).listed_cost(groups).tolist() == [0.5, 0.0, 0.5]
    terms = Terms({"A": 0.1, "B": 0.2, "C": 0.3}, 0.05, cost_of={"C": 0.9, "A": 0.8})
    assert terms.listed_cost(groups).tolist() == [0.8, 0.2, 0.9]
    assert terms.effective_cost(groups).tolist() == pytest.approx([0.75, 0.15, 0.85])


@pytest.mark.parametrize("subsidies", [0.25, {"A": 0.25, "B": 0.25}, pd.Series({"B": 0.25, "A": 0.25})])
def test_subsidies_are_amounts_or_shares_of_the_cost(subsidies):
    costs = {"A": 0.5, "B": 1.0}
    assert Terms(costs, subsidies).effective_cost(GROUPS).tolist() == [0.25, 0.75]
    assert Terms(costs, subsidies, "proportional").effective_cost(GROUPS).tolist() == [0.375, 0.75]


def test_the_extreme_costs_and_subsidies_are_allowed():
    assert Terms({"A": 0, "B": 1}).listed_cost(GROUPS).tolist() == [0, 1]
    assert Terms(0.5, {"A": 1, "B": 0}, "proportional").effective_cost(GROUPS).tolist() == [0, 0.5]
    assert Terms(0.5, {"B": 0.5}).effective_cost(GROUPS).tolist() == [0.5, 0]
    assert Terms(0.5, {"B": 0.501}).effective_cost(GROUPS).tolist() == [0.5, 0]
    for beyond in (0.502, 2):
        with pytest.raises(InputError, match="larger than the cost") as error:
            Terms(0.5, {"B": beyond}).effective_cost(GROUPS)
        assert error.value.key == "subsidy"


def test_the_smallest_proportional_subsidy_closes_the_gap_between_precision_and_cost():
    precision = np.array([0.5, 0.75, 0.25, np.nan, 0.0, 0.0])
    cost = np.array([0.75, 0.75, 0.0, 0.5, 0.0, 0.5])
    assert least_proportional(precision, cost) == pytest.approx([1 / 3, 0, 0, np.nan, 0, 1], nan_ok=True)
    assert np.isnan(least_proportional(np.array([0.5]), np.array([np.nan]))).all()
    # next to a cost of 0 nothing overflows
    assert least_proportional(np.array([1.0]), np.array([5e-324])).tolist() == [0]


def test_terms_pass_counts_and_costs_to_the_behaviour():
    counts = GroupCounts(*np.array([[20, 20], [15, 15], [12, 10], [9, 5]]))
    terms = Terms(0.75, {"B": 0.25})
    assert terms.shares(GROUPS, counts).tolist() == [True, True]
    assert Terms(0.75).shares(GROUPS, counts).tolist() == [True, False]
    assert terms.max_accepted_cost(GROUPS, counts).tolist() == [0.75, 0.5]
    bound = Terms(0.75, statistic=LowerBound(0.9)).max_accepted_cost(GROUPS, counts)
    assert binom.sf([8, 4], [12, 10], bound) == pytest.approx([0.1, 0.1])
    spread = PrivateCosts({"A": uniform(-0.2, 0.4), "B": uniform(-0.1, 0.4)})
    own = Terms(0.75, {"B": 0.15}, behaviour=spread)
    assert own.shares(GROUPS, counts) == pytest.approx([0.5, 0.0])
    assert own.max_accepted_cost(GROUPS, counts) == pytest.approx([0.75, 0.4])
    assert own.published(GROUPS, counts).statistic == Precision()


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        (
            lambda: Terms(0.5, kind="generous"),
            "subsidy_kind must be one of 'additive', 'proportional', got 'generous'.",
        ),
        (lambda: Terms(-0.5), "cost must lie in [0, 1], got -0.5."),
        (lambda: Terms({"A": 1.1, "B": 1.0}), "cost must lie in [0, 1]; it does not for group(s) 'A'."),
        (lambda: Terms({"A": 0.5}), "cost has no value for group(s) 'B'; give every group a value."),
        (lambda: Terms(0.5, "much"), "subsidies must be a number or a mapping from group to number, got 'much'."),
        (
            lambda: Terms(0.5, {"A": 1.25}, "proportional"),
            "subsidies must be between 0 and 1 when proportional; wrong for group(s) 'A'.",
        ),
        (
            lambda: Terms({"A": 0.5, "B": 0.25}, 0.75),
            "subsidies must not be larger than the cost: group 'A' would be paid 0.75 towards a cost of 0.5, "
            "and 1 more group(s) likewise. Pay at most the cost.",
        ),
    ],
)
def test_wrong_terms_are_refused(terms, message):
    assert str(refusal(lambda: terms().effective_cost(GROUPS))) == message
