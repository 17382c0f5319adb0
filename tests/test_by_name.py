"""Groups are matched by name, whatever the order of categories, names and rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfselect import (
    NaiveClassifier,
    PublishedStatistics,
    SemiStrategicClassifier,
    StrategicClassifier,
    Terms,
    audit,
    plan_subsidies,
)
from selfselect.counting import MISSING, encode_groups
from selfselect.planning import plan_for, plan_under_retraining

NAMES = ("a", "b", "c", "d")
COST, SUBSIDIES = 0.6, {"b": 0.05, "c": 0.2}


def population(seed=0, n=400):
    random = np.random.default_rng(seed)
    codes = random.integers(0, 4, n)
    codes[:4] = range(4)
    y = random.random(n) < np.array([0.7, 0.5, 0.4, 0.3])[codes]
    score = np.round(np.clip(0.5 + 0.35 * (2 * y - 1) + random.normal(0, 0.3, n), 0, 1), 2)
    return y.astype(int), score, np.array(NAMES, dtype=object)[codes]


@st.composite
def disguises(draw):
    """Other names, another order of categories and of rows."""
    names = draw(st.sampled_from([("a", "b", "c", "d"), ("d", "c", "b", "a"), ("z", "A", "m", "10"), (3, 1, 2, 0)]))
    categories = draw(st.permutations(names))
    categorical = draw(st.booleans())
    rows = np.random.default_rng(draw(st.integers(0, 10))).permutation(400)
    return dict(zip(NAMES, names, strict=True)), list(categories), categorical, rows


def disguise(z, how):
    names, categories, categorical, rows = how
    renamed = pd.Series([names[label] for label in z])[rows].reset_index(drop=True)
    return pd.Series(pd.Categorical(renamed, categories=categories)) if categorical else renamed


def by_name(values, how):
    """A Series by the new names, under the old names and in their order."""
    back = {new: old for old, new in how[0].items()}
    plain = {back[label]: value for label, value in zip(values.index, values, strict=True)}
    return pd.Series(plain)[list(NAMES)]


def check(own, other, how):
    pd.testing.assert_series_equal(
        own[list(NAMES)], by_name(other, how), check_names=False, check_index_type=False, check_dtype=False
    )


def check_frames(own, other, how):
    assert list(own.columns) == list(other.columns)
    for column in own.columns:
        check(own[column], other[column], how)


@given(disguises())
@settings(max_examples=20)
def test_audits_and_plans_do_not_depend_on_names_and_order(how):
    y, score, z = population()
    names, rows = how[0], how[3]
    groups = disguise(z, how)
    paid = {names[label]: value for label, value in SUBSIDIES.items()}
    own = audit(y, score=score, sensitive_features=z, cost=COST, subsidies=SUBSIDIES)
    other = audit(y[rows], score=score[rows], sensitive_features=groups, cost=COST, subsidies=paid)
    check_frames(own.to_frame(), other.to_frame(), how)
    assert own.outcome == other.outcome
    plan = plan_subsidies(y, score=score, sensitive_features=z, cost=0.75, targets=["c", "d"])
    second = plan_subsidies(
        y[rows], score=score[rows], sensitive_features=groups, cost=0.75, targets=[names["d"], names["c"]]
    )
    check(plan.subsidies, second.subsidies, how)
    check_frames(plan.to_frame(), second.to_frame(), how)
    assert plan.works == second.works
    assert plan.total == pytest.approx(second.total)


@given(disguises())
@settings(max_examples=6)
def test_classifiers_and_plans_under_retraining_do_not_depend_on_names_and_order(how):
    y, score, z = population()
    names, rows = how[0], how[3]
    groups = disguise(z, how)
    X = np.column_stack([score, np.round(score**2, 2)])
    cost = {"a": 0.6, "b": 0.65, "c": 0.7, "d": 0.6}
    other_cost = {names[label]: value for label, value in cost.items()}
    for cls in (NaiveClassifier, SemiStrategicClassifier, StrategicClassifier):
        own = cls(cost=cost, publish="train").fit(X, y, sensitive_features=z)
        other = cls(cost=other_cost, publish="train").fit(X[rows], y[rows], sensitive_features=groups)
        check_frames(own.published_.to_frame(), other.published_.to_frame(), how)
        check(own.applies(), other.applies(), how)
        assert own.audit(X, y, z).outcome == other.audit(X[rows], y[rows], groups).outcome
    plan, second = (
        plan_subsidies(labels, score=values, sensitive_features=z_, cost=0.75, targets=targets, retrain_on=features)
        for labels, values, z_, targets, features in (
            (y, score, z, ["d"], X),
            (y[rows], score[rows], groups, [names["d"]], X[rows]),
        )
    )
    check(plan.subsidies, second.subsidies, how)
    check(plan.after.applies, second.after.applies, how)
    assert plan.path["works"].tolist() == second.path["works"].tolist()


def test_a_firm_may_list_its_groups_in_an_order_of_its_own():
    y, score, z = population()
    before = audit(y, score=score, sensitive_features=z, cost=0.75)

    def firm(terms: Terms) -> PublishedStatistics:
        published = PublishedStatistics.from_scores(y, score, threshold=0.5, sensitive_features=z)
        return published.reindex(published.groups[::-1])

    same = plan_for(before)
    made = plan_under_retraining(before, firm)
    assert made.works
    assert made.targets.tolist() == same.targets.tolist()
    assert (made.subsidies[same.targets] >= same.subsidies[same.targets] - 0.01).all()


def test_people_without_a_group_are_a_group_of_their_own_for_the_firm_too():
    y, score, z = population()
    z = np.where(z == "d", None, z)
    audited = plan_subsidies(
        y, score=score, sensitive_features=z, cost=0.75, missing="own_group", retrain_on=score[:, None]
    )
    assert MISSING in audited.before.published.groups
    groups = encode_groups(z, missing="own_group")
    assert groups.labels[-1] == MISSING
    named = np.where(z == None, "A", z)  # noqa: E711
    other = plan_subsidies(y, score=score, sensitive_features=named, cost=0.75, retrain_on=score[:, None])
    renamed = other.subsidies.rename(index={"A": MISSING})
    pd.testing.assert_series_equal(audited.subsidies.sort_index(), renamed.sort_index(), check_names=False)
