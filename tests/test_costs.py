"""Costs and subsidies of groups, and the share of them that applies."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from refusing import refusal
from selfselect import (
    Audit,
    GroupCounts,
    PublishedStatistics,
    ScreeningResult,
    SureRule,
    Terms,
    ThresholdCurves,
)
from selfselect._errors import InputError
from selfselect.costs import least_additive, least_proportional
from selfselect.metrics import application_rate, induced_accuracy, social_cost
from selfselect.outcomes import outcome

GROUPS = pd.Index(["A", "B"])
shares_of_one = st.floats(0, 1)


@dataclass(frozen=True)
class PrivateCosts:
    """Costs of a group's people are spread evenly around the listed one, so a part of the group may apply."""

    spread: float = 0.2

    def shares(self, true_positives, selected, costs):
        precision = np.divide(
            true_positives, selected, out=np.zeros(np.shape(selected)), where=np.asarray(selected) > 0
        )
        return np.clip((precision - costs) / (2 * self.spread) + 0.5, 0, 1)


@given(shares_of_one, shares_of_one, st.sampled_from(["additive", "proportional"]), shares_of_one)
def test_the_further_subsidy_is_enough_and_a_little_less_is_not(cost, paid, kind, precision):
    paid = paid * cost if kind == "additive" else paid
    terms = Terms(cost, {"A": paid}, kind)
    more = terms.further_subsidy(GROUPS, [precision, precision])[0]
    if kind == "proportional" and paid + more > 1:
        assert precision <= 1e-9  # not even the whole cost is enough, but for rounding
        return
    enough = terms.with_subsidies({"A": paid + more}).effective_cost(GROUPS)[0]
    assert enough <= precision + 1e-9
    if more > 1e-6:
        less = terms.with_subsidies({"A": paid + more - 1e-6}).effective_cost(GROUPS)[0]
        assert less > precision - 1e-12 or cost < 1e-9


# ---------------------------------------------------------------------- shares of groups


@pytest.fixture
def divided():
    """Rows of two groups of which 75% and 25% apply."""
    y = np.array([1] * 6 + [0] * 4 + [1] * 4 + [0] * 6)
    selected = np.array([1] * 6 + [1] * 2 + [0] * 2 + [1] * 4 + [1] * 4 + [0] * 2)
    z = np.array(["A"] * 10 + ["B"] * 10)
    terms = Terms({"A": 0.65, "B": 0.6}, behaviour=PrivateCosts(0.2))
    return y, selected, z, terms


def test_a_group_that_applies_in_part_counts_in_part(divided):
    y, selected, z, terms = divided
    table = PublishedStatistics.from_predictions(y, selected, sensitive_features=z)
    shares = table.shares(terms)
    assert shares.to_dict() == {"A": pytest.approx(0.75), "B": pytest.approx(0.25)}
    result = outcome(table, shares)
    per_person = shares.to_numpy()[(z == "B").astype(int)]
    right = y == selected
    assert result.induced_accuracy == pytest.approx((per_person @ right) / per_person.sum())
    assert result.social_cost == pytest.approx(((1 - per_person) @ y) / y.sum())
    assert result.application_rate == pytest.approx(per_person.mean())
    assert result.applying_groups == 1
    assert result.induced_accuracy == pytest.approx(induced_accuracy(y, selected, applies=per_person))
    assert result.social_cost == pytest.approx(social_cost(y, applies=per_person))
    assert result.application_rate == pytest.approx(application_rate(applies=per_person))


def test_outcomes_over_thresholds_count_shares(divided):
    y, _, z, terms = divided
    score = np.linspace(0, 1, len(y))[np.random.default_rng(0).permutation(len(y))]
    curves = ThresholdCurves.from_scores(y, score, sensitive_features=z)
    frame = curves.outcomes_under(terms)
    for row in frame.iloc[:-1].itertuples():
        table = curves.at(row.threshold)
        single = outcome(table, table.shares(terms))
        assert row.application_rate == pytest.approx(single.application_rate)
        assert row.social_cost == pytest.approx(single.social_cost)
        assert row.induced_accuracy == pytest.approx(single.induced_accuracy, nan_ok=True)
        assert row.applying_groups == single.applying_groups


def test_groups_that_decide_by_the_bound_apply_up_to_it():
    frame = pd.DataFrame({"n": [200], "positives": [80], "selected": [100], "true_positives": [72]}, index=["B"])
    people = ScreeningResult(PublishedStatistics.from_counts(frame))
    audited = Audit(people, people, Terms(0.7, behaviour=SureRule(0.9)))
    limit = audited.terms.max_accepted_cost(people.counts)[0]
    assert 0.6 < limit < 0.7
    assert not audited.applies["B"]
    assert audited.at(limit - 1e-9).applies["B"]
    assert not audited.at(limit + 1e-6).applies["B"]
    needed = audited.to_frame()["subsidy_needed"].iloc[0]
    assert audited.under(audited.terms.with_subsidies({"B": needed + 1e-9})).applies["B"]


def test_a_cost_is_uniform_unless_it_is_given_by_group():
    assert Terms(0.5, 0.1, cost_of={}).uniform_cost == 0.5
    assert Terms({"A": 0.5, "B": 0.5}).uniform_cost is None
    assert Terms(pd.Series({"A": 0.5, "B": 0.5})).uniform_cost is None
    assert Terms(0.5, cost_of={"A": 0.5}).uniform_cost is None
    assert Terms(0.5, behaviour=SureRule(0.8)).confidence == 0.8
    assert Terms(0.5, behaviour=PrivateCosts()).confidence is None


def test_terms_change_one_thing_at_a_time():
    terms = Terms(0.5, {"A": 0.1}, "proportional", SureRule(0.8), {"B": 0.6})
    cheaper = terms.at_cost(0.25)
    assert (cheaper.cost, cheaper.subsidies, cheaper.kind) == (0.25, {"A": 0.1}, "proportional")
    assert (cheaper.behaviour, cheaper.cost_of) == (SureRule(0.8), {"B": 0.6})
    same_kind, other_kind = terms.with_subsidies({"B": 0.2}), terms.with_subsidies({"B": 0.2}, "additive")
    assert (same_kind.subsidies, same_kind.kind, other_kind.kind) == ({"B": 0.2}, "proportional", "additive")
    assert (other_kind.cost, other_kind.behaviour, other_kind.cost_of) == (0.5, SureRule(0.8), {"B": 0.6})
    assert terms.with_subsidies(None).subsidies is None


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
        with pytest.raises(ValueError, match="larger than the cost"):
            Terms(0.5, {"B": beyond}).effective_cost(GROUPS)


def test_the_smallest_subsidies_close_the_gap_between_precision_and_cost():
    precision = np.array([0.5, 0.75, 0.25, np.nan, 0.0, 0.0])
    cost = np.array([0.75, 0.75, 0.0, 0.5, 0.0, 0.5])
    assert least_additive(precision, cost) == pytest.approx([0.25, 0, 0, np.nan, 0, 0.5], nan_ok=True)
    assert least_proportional(precision, cost) == pytest.approx([1 / 3, 0, 0, np.nan, 0, 1], nan_ok=True)
    unknown_cost = np.array([np.nan])
    assert np.isnan(least_proportional(np.array([0.5]), unknown_cost)).all()
    # next to a cost of 0 nothing overflows
    assert least_proportional(np.array([1.0]), np.array([5e-324])).tolist() == [0]


def test_a_further_subsidy_adds_to_the_one_already_paid():
    groups = pd.Index(["A", "B", "C", "D"])
    precision = [0.375, 0.75, 0.6875, np.nan]
    paid = {"A": 0.125, "B": 0.125, "C": 0.125}
    more = Terms(0.75, paid).further_subsidy(groups, precision)
    assert more == pytest.approx([0.25, 0, 0, np.nan], nan_ok=True)
    # 0.75 (1 - s) = 0.375 at s = 1/2, of which 1/8 is paid
    more = Terms(0.75, paid, "proportional").further_subsidy(groups, precision)
    assert more == pytest.approx([0.375, 0, 0, np.nan], nan_ok=True)


def test_terms_pass_counts_and_costs_to_the_behaviour():
    counts = GroupCounts(*np.array([[20, 20], [15, 15], [12, 10], [9, 5]]))
    terms = Terms(0.75, {"B": 0.25})
    assert terms.shares(GROUPS, counts).tolist() == [True, True]
    assert Terms(0.75).shares(GROUPS, counts).tolist() == [True, False]
    assert terms.max_accepted_cost(counts).tolist() == [0.75, 0.5]
    sure = Terms(0.75, behaviour=SureRule(0.9)).max_accepted_cost(counts)
    assert binom.sf([8, 4], [12, 10], sure) == pytest.approx([0.1, 0.1])
    assert Terms(0.75, {"B": 0.15}, behaviour=PrivateCosts(0.2)).shares(GROUPS, counts) == pytest.approx([0.5, 0.25])


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


def test_the_error_of_a_subsidy_above_the_cost_has_a_key():
    with pytest.raises(InputError, match="group 'A' would be paid") as error:
        Terms(0.5, {"A": 0.75}).effective_cost(GROUPS)
    assert error.value.key == "subsidy"
