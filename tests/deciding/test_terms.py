"""What groups face, and what share of them comes: terms and behaviours."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfselect import Audit, HardRule, PublishedStatistics, Screened, SureRule, Terms, ThresholdCurves
from selfselect.deciding import Behaviour, outcome
from selfselect.metrics import application_rate, induced_accuracy, social_cost

GROUPS = pd.Index(["A", "B"])
shares_of_one = st.floats(0, 1)


@dataclass(frozen=True)
class PrivateCosts:
    """People of a group face costs spread evenly around the listed one: the nearer the precision, the more come."""

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
    enough = terms.paying({"A": paid + more}).faced_by(GROUPS)[0]
    assert enough <= precision + 1e-9
    if more > 1e-6:
        less = terms.paying({"A": paid + more - 1e-6}).faced_by(GROUPS)[0]
        assert less > precision - 1e-12 or cost < 1e-9


@pytest.mark.parametrize("subsidies", [0.6, {"A": 0.6}, pd.Series({"A": 0.6})])
def test_a_subsidy_larger_than_the_cost_is_refused_and_says_of_whom(subsidies):
    with pytest.raises(ValueError, match=r"larger than the cost: group 'A' would be paid 0\.6 towards a cost of 0\.5"):
        Terms(0.5, subsidies).faced_by(GROUPS)


def test_a_subsidy_is_held_against_the_cost_of_its_own_group():
    costs = {"A": 0.9, "B": 0.4}
    assert Terms(costs, {"A": 0.6}).faced_by(pd.Index(["A", "B"])).round(9).tolist() == [0.3, 0.4]
    with pytest.raises(ValueError, match=r"group 'B' would be paid 0\.6 towards a cost of 0\.4"):
        Terms(costs, 0.6).faced_by(pd.Index(["A", "B"]))


def test_a_subsidy_that_is_the_cost_rounded_up_pays_it_wholly():
    assert Terms(1 / 3, 0.334).faced_by(GROUPS).tolist() == [0] * len(GROUPS)


def test_proportional_subsidies_are_counted_in_shares_of_the_cost():
    frame = pd.DataFrame({"n": [200], "positives": [80], "selected": [100], "true_positives": [62]}, index=["B"])
    people = Screened(PublishedStatistics.from_counts(frame))
    found = Audit(people, people, Terms(0.7, kind="proportional"))
    needed = found.to_frame()["subsidy_needed"].iloc[0]
    assert needed == pytest.approx(0.08 / 0.7)
    assert found.sentences()[0].endswith("would apply at a cost of 0.62, or with a subsidy of 0.115 of the cost.")
    assert found.under(Terms(0.7, {"B": needed}, "proportional")).applies.all()
    assert not found.under(Terms(0.7, {"B": 0.08}, "proportional")).applies.any()


def test_the_hard_rule_is_a_behaviour_whose_shares_are_yes_and_no():
    assert isinstance(HardRule(), Behaviour)
    assert HardRule().shares([7, 6, 0], [10, 10, 0], [0.7] * 3).tolist() == [True, False, False]
    assert HardRule("apply").shares([7, 6, 0], [10, 10, 0], [0.7] * 3).tolist() == [True, False, True]


# ---------------------------------------------------------------------- shares, all the way


@pytest.fixture
def divided():
    """Two groups of which 75% and 25% come, and people of each one by one."""
    y = np.array([1] * 6 + [0] * 4 + [1] * 4 + [0] * 6)
    selected = np.array([1] * 6 + [1] * 2 + [0] * 2 + [1] * 4 + [1] * 4 + [0] * 2)
    z = np.array(["A"] * 10 + ["B"] * 10)
    terms = Terms({"A": 0.65, "B": 0.6}, behaviour=PrivateCosts(0.2))
    return y, selected, z, terms


def test_a_group_may_come_in_part_and_counts_in_part(divided):
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


def test_an_audit_of_divided_groups_says_how_many_come(divided):
    y, selected, z, terms = divided
    people = Screened.from_predictions(y, selected, sensitive_features=z)
    found = Audit(people, people, terms)
    assert found.applies.to_dict() == {"A": True, "B": False}
    assert found.verdict().startswith("At a cost of 0.65 (0.60 for B), 50.0% of people apply: the model is right for ")
    assert found.sentences()[1].startswith("25.0% of B apply at a cost of 0.60")
    assert found.to_dict()["application_rate"] == pytest.approx(0.5)


def test_outcomes_over_thresholds_take_shares_too(divided):
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


@given(st.lists(st.booleans(), min_size=1, max_size=20))
def test_yes_and_no_are_shares_of_one_and_nothing(decisions):
    y, selected = np.arange(len(decisions)) % 2, np.arange(len(decisions)) % 3 == 0
    for metric in (induced_accuracy, social_cost, application_rate):
        as_shares = metric(y, selected, applies=np.array(decisions, dtype=float))
        assert metric(y, selected, applies=decisions) == pytest.approx(as_shares, nan_ok=True)


@pytest.mark.parametrize("wrong", [[1.5, 0.0], [-0.1, 0.5], [np.nan, 0.0], ["yes", "no"]])
def test_what_is_no_share_is_refused(wrong):
    with pytest.raises((ValueError, TypeError), match="applies"):
        social_cost([1, 0], applies=wrong)


def test_who_must_be_sure_comes_at_the_bound_and_the_sentence_says_so():
    frame = pd.DataFrame({"n": [200], "positives": [80], "selected": [100], "true_positives": [72]}, index=["B"])
    people = Screened(PublishedStatistics.from_counts(frame))
    found = Audit(people, people, Terms(0.7, behaviour=SureRule(0.9)))
    limit = found.terms.comes_at(people.counts)[0]
    assert 0.6 < limit < 0.7
    assert not found.applies["B"]
    assert found.at(limit - 1e-9).applies["B"]
    assert not found.at(limit + 1e-6).applies["B"]
    needed = found.to_frame()["subsidy_needed"].iloc[0]
    assert found.under(found.terms.paying({"B": needed + 1e-9})).applies["B"]
    sentence = found.sentences()[0]
    assert f"surely (at 90%) at least {100 * limit:.1f}%. Its people would apply at a cost of 0.6" in sentence
