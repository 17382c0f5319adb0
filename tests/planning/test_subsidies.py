import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from drawn import table_of
from responses import Hesitant
from selfselect import ScreeningResult, Terms, plan_subsidies
from selfselect.auditing import Audit
from selfselect.behaviour import BetaBeliefs, LogitResponse, PrivateCosts
from selfselect.planning import plan_for, plan_under_retraining

tables = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.integers(0, 30)).filter(any),
    min_size=1,
    max_size=5,
)


def audit_of(rows, cost):
    counts = {f"g{i}": (tp + fp + fn + tn, tp + fn, tp + fp, tp) for i, (tp, fp, fn, tn) in enumerate(rows)}
    return audit_under(table_of(**counts), cost)


def audit_under(published, cost):
    people = ScreeningResult(published)
    return Audit(people, people, Terms(cost))


@given(tables, st.integers(1, 100), st.sampled_from(["additive", "proportional"]))
def test_the_subsidies_bring_in_all_who_can_be_brought_in_and_less_would_not(rows, hundredths, kind):
    before = audit_of(rows, hundredths / 100)
    plan = plan_for(before, subsidy_kind=kind)
    counts = before.published.counts
    assert (plan.after.applies.to_numpy() == (counts.selected > 0)).all()
    assert plan.works == bool((counts.selected[~before.applies.to_numpy()] > 0).all())
    assert plan.impossible == [name for name, n in zip(before.names, counts.selected, strict=True) if n == 0]
    for group, subsidy in plan.subsidies.items():
        if subsidy > 1e-6:
            less = {group: subsidy * (1 - 1e-6)}
            assert not before.published.applies(before.cost, less, subsidy_kind=kind)[group]


@pytest.mark.parametrize(
    "behaviour",
    [LogitResponse(0.03), LogitResponse(1e-5), PrivateCosts(norm(0.05, 0.1)), BetaBeliefs(0.3, 8), Hesitant()],
)
@given(tables, st.integers(1, 100), st.sampled_from(["additive", "proportional"]))
def test_under_any_behaviour_at_least_half_of_each_target_applies_and_less_would_not_do(behaviour, rows, cost, kind):
    before = audit_of(rows, cost / 100)
    before = before.under(Terms(cost / 100, behaviour=behaviour))
    plan = plan_for(before, subsidy_kind=kind)
    possible = plan.subsidies.notna()
    assert (plan.after.shares[possible] >= 0.5).all()
    free = before.under(before.terms.with_subsidies(1.0, "proportional"))
    assert (free.shares[~possible] < 0.5).all()
    assert (plan.subsidies[before.applies] == 0).all()
    for group, subsidy in plan.subsidies[possible].items():
        if subsidy > 1e-6:
            less = before.under(before.terms.with_subsidies({group: subsidy * (1 - 1e-4)}, kind))
            assert less.shares[group] < 0.5
    frame = plan.after.to_frame()
    assert plan.total == pytest.approx(((cost / 100 - frame["cost"]) * frame["share"] * frame["selected"]).sum())
    assert "nan" not in plan.verdict()


@given(tables, st.integers(1, 100))
def test_everyone_of_a_subsidised_group_who_passes_is_paid_and_both_kinds_pay_the_same(rows, hundredths):
    before = audit_of(rows, hundredths / 100)
    additive, share = plan_for(before), plan_for(before, subsidy_kind="proportional")
    counts = before.published.counts
    owed = sum(
        max(0.0, before.cost * passed - true_positives)
        for true_positives, passed in zip(counts.true_positives, counts.selected, strict=True)
    )
    assert additive.total == pytest.approx(owed, abs=1e-9)
    assert share.total == pytest.approx(owed, abs=1e-9)


def firm(rule):
    """A firm whose answer to subsidies is known: rule(subsidy of B) says how many of B pass, and how many are hired."""

    def fit(terms):
        selected, true_positives = rule(terms.subsidies_for(pd.Index(["A", "B"]))[1])
        return table_of(A=(100, 60, 50, 45), B=(100, 50, selected, true_positives))

    return fit


BEFORE = audit_under(firm(lambda s: (50, 30))(Terms(0.8)), 0.8)


def test_under_retraining_the_search_finds_the_least_subsidy_that_works():
    made = plan_under_retraining(BEFORE, firm(lambda s: (40, 28) if s >= 0.33 else (0, 0)), ["B"])
    assert made.works
    assert 0.33 <= made.subsidies["B"] <= 0.33 + 0.006
    assert made.path["works"].tolist().count(True) >= 2
    assert "once the firm re-trains" in made.verdict()
    assert made.after.applies["B"]


def test_under_retraining_a_target_is_impossible_if_paying_its_whole_cost_does_not_help():
    made = plan_under_retraining(BEFORE, firm(lambda s: (0, 0)), ["B"])
    assert not made.works
    assert made.impossible == ["B"]
    assert made.path["subsidy of B"].max() == pytest.approx(0.8)
    assert "No subsidy was found that makes B apply" in made.verdict()


def test_a_firm_that_never_changes_its_model_needs_the_subsidies_of_a_plan_without_retraining():
    for published in ((50, 30), (50, 45)):
        fit = firm(lambda s, published=published: published)
        before = audit_under(fit(Terms(0.8)), 0.8)
        made = plan_under_retraining(before, fit, ["B"])
        assert made.works
        assert made.subsidies.to_dict() == pytest.approx(plan_for(before, ["B"]).subsidies.to_dict(), abs=1e-6)


def by_enumeration(before, budget):
    """Lowest social cost within a budget, and the least paid for it, over all sets of groups that could be paid."""
    everyone = plan_for(before)
    away = np.flatnonzero((everyone.subsidies > 0).to_numpy())
    best = (before.social_cost, 0.0)
    for chosen in range(2 ** len(away)):
        paid = np.zeros(len(before.names))
        members = away[[bool(chosen >> i & 1) for i in range(len(away))]]
        paid[members] = everyone.subsidies.to_numpy()[members]
        terms = before.terms.with_subsidies(pd.Series(paid, index=before.published.groups))
        after = before.under(terms)
        total = float(paid @ before.published.counts.selected)
        if total <= budget + 1e-9 * max(1, budget) and (
            after.social_cost < best[0] - 1e-12 or (after.social_cost <= best[0] + 1e-12 and total < best[1] - 1e-9)
        ):
            best = (after.social_cost, total)
    return best


@pytest.mark.parametrize("kind", ["additive", "proportional"])
def test_no_other_use_of_a_budget_leaves_fewer_qualified_people_out_or_costs_less(kind):
    rng = np.random.default_rng(1)
    for _ in range(40):
        rows = [tuple(row) for row in rng.integers(1, 25, (int(rng.integers(1, 11)), 4))]
        before = audit_of(rows, 0.7)
        budget = float(rng.uniform(0, 1.1) * plan_for(before).total)
        plan = plan_for(before, budget=budget, subsidy_kind=kind)
        cost, total = by_enumeration(before, budget)
        assert plan.after.social_cost == pytest.approx(cost, abs=1e-12)
        assert plan.total == pytest.approx(total, abs=1e-6)
        assert plan.total <= budget + 1e-9
        assert plan.spending.exact
        assert not (before.applies & ~plan.after.applies).any()  # nobody is driven out


def test_only_targets_are_paid_and_within_the_budget_and_the_price_of_the_others_is_shown():
    before = audit_of([(5, 5, 0, 0), (6, 4, 0, 0), (9, 1, 0, 0)], 0.7)
    plan = plan_for(before, budget=1)
    for made in (plan, plan_for(before, ["g1", "g2"])):
        assert made.subsidies.round(6).to_dict() == {"g0": 0.0, "g1": 0.1, "g2": 0.0}
        assert made.recipients == 10
        assert not made.after.applies["g0"]
    assert plan.verdict().startswith(
        "Best use of a budget of 1.00: a subsidy of 0.10 for g1, with about a 50% chance to be enough. 10 people "
        "receive 1.00 in all"
    )
    assert plan.to_frame()["price"].tolist() == pytest.approx([2, 1, np.nan], nan_ok=True)
    assert plan.works
    made = json.loads(plan.to_json(min_cell=0))
    assert (made["budget"], made["exact"]) == (1, True)
    assert "brings nobody in. The cheapest group, g1, needs 1.00" in plan_for(before, budget=0.5).verdict()
    assert plan_for(before, ["g0"], budget=2).subsidies.round(6).to_dict() == {"g0": 0.2, "g1": 0.0, "g2": 0.0}


@pytest.mark.parametrize("budget", [-1, np.nan, np.inf, "much"])
def test_an_invalid_budget_is_refused(budget):
    with pytest.raises((ValueError, TypeError), match="budget"):
        plan_subsidies([1, 0], y_pred=[1, 0], sensitive_features=list("AB"), cost=0.5, budget=budget)


def test_with_confidence_the_true_precision_reaches_the_cost_in_that_share_of_populations():
    rng = np.random.default_rng(3)
    truth, passed = rng.uniform(0.3, 0.65, 3000), rng.integers(20, 80, 3000)  # one group is one population
    true_positives = rng.binomial(passed, truth)
    before = audit_of([(hit, n - hit, 5, 5) for hit, n in zip(true_positives, passed, strict=True)], 0.7)
    reached = {}
    for confidence in (0.9, None):
        cost = plan_for(before, before.names, confidence=confidence).after.to_frame()["cost"]
        reached[confidence] = np.mean(truth >= cost - 1e-12)
    assert reached[0.9] >= 0.9
    assert reached[None] < 0.7  # at the estimated precision, the chance is about one half


def test_with_confidence_a_target_that_applies_by_chance_is_paid():
    before = audit_of([(8, 2, 0, 0), (1, 9, 5, 5)], 0.7)
    sure = plan_for(before, ["g0"], confidence=0.9)
    assert before.applies["g0"]
    assert sure.subsidies["g0"] > 0.1
    assert "enough with 90% confidence" in sure.verdict()
    assert plan_for(before, ["g0"]).subsidies["g0"] == 0


def test_what_retraining_does_by_itself_is_not_credited_to_the_subsidy():
    made = plan_under_retraining(BEFORE, firm(lambda s: (40, 28) if s >= 0.33 else (60, 20)), ["B"])
    alone = json.loads(made.to_json(min_cell=0))["retrained"]
    assert alone["assumed_accuracy"] != pytest.approx(BEFORE.assumed_accuracy)
    assert made.path["subsidy of B"].iloc[0] == 0
    assert made.unpaid is made.retrained
    assert "Compared with re-training alone" in made.verdict()
    assert list(made.to_frame()["applies_retrained"]) == [True, False]


def rival_firm(terms):
    """A firm that shuts B out while C is paid more than 0.3, and C while it is paid less than 0.2."""
    c = terms.subsidies_for(pd.Index(list("ABC")))[2]
    b = (100, 50, 0, 0) if c > 0.3 else (100, 50, 40, 28)
    return table_of(A=(100, 60, 50, 45), B=b, C=(100, 40, 40, 24) if c >= 0.2 else (100, 40, 0, 0))


RIVALS = audit_under(rival_firm(Terms(0.8)), 0.8)


def test_where_paying_one_group_drives_another_out_each_gets_a_subsidy_of_its_own():
    made = plan_under_retraining(RIVALS, rival_firm, ["B", "C"])
    assert made.works
    assert made.subsidies["B"] == pytest.approx(0.1, abs=0.006)
    assert 0.2 <= made.subsidies["C"] <= 0.3
    assert len(made.path) <= 40


def test_under_retraining_a_budget_is_kept_and_nobody_is_driven_out():
    costs = []
    for budget in (0, 4, 12, 100):
        made = plan_under_retraining(RIVALS, rival_firm, budget=budget)
        assert made.total <= budget + 1e-9
        assert not made.driven_out
        costs.append(made.after.social_cost)
    assert costs == sorted(costs, reverse=True)
    assert costs[0] == pytest.approx(made.retrained.social_cost)
    assert costs[-1] == 0


def test_the_search_stops_at_the_fits_allowed():
    made = plan_under_retraining(BEFORE, firm(lambda s: (40, 28) if s >= 0.33 else (0, 0)), ["B"], max_fits=3)
    assert len(made.path) == 3


def test_with_confidence_rows_of_one_person_count_once():
    y, passed, z = [1, 1, 1, 0, 0, 0] * 5, [1, 1, 1, 1, 0, 0] * 5, ["A"] * 30
    once = plan_subsidies(y, y_pred=passed, sensitive_features=z, cost=0.8, confidence=0.9)
    twice = {"sensitive_features": z * 2, "cost": 0.8, "confidence": 0.9}
    told = plan_subsidies(y * 2, y_pred=passed * 2, person=list(range(30)) * 2, **twice)
    assert told.subsidies["A"] == pytest.approx(once.subsidies["A"])
    assert told.total == pytest.approx(2 * once.total)  # each row that passes is paid, and the plan says so
    assert "40 rows receive" in told.verdict()
    assert "20 people receive" in once.verdict()
    assert plan_subsidies(y * 2, y_pred=passed * 2, **twice).subsidies["A"] < once.subsidies["A"] - 0.01
