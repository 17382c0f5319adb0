import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfselect import PublishedStatistics, Screened, Terms, plan_subsidies
from selfselect.auditing import Audit
from selfselect.planning import plan_for, plan_under_retraining

tables = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.integers(0, 30)).filter(any),
    min_size=1,
    max_size=5,
)


def audit_of(rows, cost):
    frame = pd.DataFrame(
        [(tp + fp + fn + tn, tp + fn, tp + fp, tp) for tp, fp, fn, tn in rows],
        columns=["n", "positives", "selected", "true_positives"],
        index=[f"g{i}" for i in range(len(rows))],
    )
    published = PublishedStatistics.from_counts(frame)
    return audit_under(published, cost)


def audit_under(published, cost):
    people = Screened(published)
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


@given(tables, st.integers(1, 100))
def test_everyone_of_a_subsidised_group_who_passes_is_paid_and_both_kinds_pay_the_same(rows, hundredths):
    before = audit_of(rows, hundredths / 100)
    additive, share = plan_for(before), plan_for(before, subsidy_kind="proportional")
    counts = before.published.counts
    owed = sum(
        max(0.0, before.cost * passed - hits)
        for hits, passed in zip(counts.true_positives, counts.selected, strict=True)
    )
    assert additive.total == pytest.approx(owed, abs=1e-9)
    assert share.total == pytest.approx(owed, abs=1e-9)


def test_only_targets_are_paid():
    before = audit_of([(5, 5, 0, 0), (6, 4, 0, 0), (9, 1, 0, 0)], 0.7)
    plan = plan_for(before, ["g1", "g2"])
    assert plan.subsidies.round(6).to_dict() == {"g0": 0.0, "g1": 0.1, "g2": 0.0}
    assert plan.works
    assert plan.recipients == 10
    assert not plan.after.applies["g0"]


def test_no_subsidy_can_help_a_group_of_which_nobody_passes_and_that_is_said():
    plan = plan_subsidies([1, 0, 1, 0], y_pred=[1, 0, 0, 0], sensitive_features=list("AABB"), cost=0.5)
    assert plan.impossible == ["B"]
    assert not plan.works
    assert np.isnan(plan.subsidies["B"])
    assert "No subsidy can bring in B" in plan.verdict()
    assert json.loads(plan.to_json())["groups"][1]["subsidy"] is None


def test_an_unknown_target_is_named():
    with pytest.raises(ValueError, match="'C'"):
        plan_subsidies([1, 0], y_pred=[1, 0], sensitive_features=list("AB"), cost=0.5, targets=["C"])


def test_combinations_of_columns_can_be_targets():
    z = pd.DataFrame({"a": list("xxyy"), "b": list("uvuv")})
    plan = plan_subsidies([0, 1, 1, 0], y_pred=[1, 1, 1, 1], sensitive_features=z, cost=0.5, targets=[("x", "u")])
    assert plan.subsidies.loc[("x", "u")] == 0.5
    assert plan.works


def firm(rule):
    """A firm whose answer to subsidies is known: rule(subsidy of B) says how many of B pass, and how many are hired."""

    def fit(terms):
        selected, hits = rule(terms.subsidies_for(pd.Index(["A", "B"]))[1])
        frame = pd.DataFrame(
            {"n": [100, 100], "positives": [60, 50], "selected": [50, selected], "true_positives": [45, hits]},
            index=["A", "B"],
        )
        return PublishedStatistics.from_counts(frame)

    return fit


def test_under_retraining_the_search_finds_where_the_firm_gives_in():
    before = audit_under(firm(lambda s: (50, 30))(Terms(0.8)), 0.8)
    made = plan_under_retraining(before, firm(lambda s: (40, 28) if s >= 0.33 else (0, 0)), ["B"])
    assert made.works
    assert 0.33 <= made.subsidies["B"] <= 0.33 + 0.006
    assert made.path["works"].tolist().count(True) >= 2
    assert "after the firm re-trains" in made.verdict()
    assert made.after.applies["B"]


def test_under_retraining_it_is_said_when_even_paying_everything_does_not_help():
    before = audit_under(firm(lambda s: (50, 30))(Terms(0.8)), 0.8)
    made = plan_under_retraining(before, firm(lambda s: (0, 0)), ["B"])
    assert not made.works
    assert made.impossible == ["B"]
    assert made.path["subsidy of B"].max() == pytest.approx(0.8)
    assert "No subsidy was found that brings in B" in made.verdict()


def test_under_retraining_nothing_is_paid_where_the_firm_comes_round_by_itself():
    before = audit_under(firm(lambda s: (50, 30))(Terms(0.8)), 0.8)
    made = plan_under_retraining(before, firm(lambda s: (40, 36)), ["B"])
    assert made.works
    assert made.subsidies["B"] == 0
