"""What holds over a range of costs, and where it tips: exact, checked against single costs."""

import numpy as np
import pandas as pd
import pytest

from responses import Wary
from selfselect import Terms, audit
from selfselect.auditing.cost_ranges import NOWHERE, THROUGHOUT, UP_TO
from selfselect.behaviour import BetaBeliefs, LogitResponse
from selfselect.statistics import LowerBound


def example(seed=0, **options):
    rng = np.random.default_rng(seed)
    z = rng.choice(list("ABCDE"), 400)
    score = rng.random(400)
    y = rng.random(400) < score * np.array([1.0, 0.9, 0.8, 0.7, 0.6])[np.searchsorted(list("ABCDE"), z)]
    return audit(y, score=score, threshold=0.4, sensitive_features=z, **{"cost": 0.6, **options})


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "terms",
    [
        Terms(0.6),
        Terms(0.6, {"C": 0.1}),
        Terms(0.6, {"C": 0.3, "D": 1.0}, "proportional"),
        Terms(0.6, statistic=LowerBound(0.9)),
        Terms(0.6, cost_of={"A": 0.9, "E": 0.1}),
        Terms(0.6, {"C": 0.1}, behaviour=BetaBeliefs(0.5, 20)),
        Terms(0.6, behaviour=Wary()),
    ],
)
def test_the_range_agrees_with_an_audit_at_every_single_cost(seed, terms):
    result = example(seed).under(terms)
    over = result.over_costs(0.4, 0.9)
    tips = over.groups["tips_at"].dropna()
    near = [cost + step for cost in tips for step in (-1e-9, 0, 1e-9)]
    for cost in [*np.linspace(0.4, 0.9, 23), *near]:
        if not 0.4 <= cost <= 0.9:
            continue
        here = result.at(float(cost))
        for group, row in over.groups.iterrows():
            expected = row["applies"] == THROUGHOUT or (row["applies"] == UP_TO and cost <= row["tips_at"] + 1e-12)
            assert here.applies[group] == expected, (group, cost)
        steps = over.steps
        row = steps[(cost <= steps["up_to"] + 1e-12)].iloc[0]
        for name in ("induced_accuracy", "social_cost", "application_rate"):
            assert row[name] == pytest.approx(getattr(here, name), nan_ok=True)
            assert over.range_of(name)[0] <= getattr(here, name) <= over.range_of(name)[1] or np.isnan(row[name])


def test_a_group_tips_at_its_precision_and_not_on_a_grid():
    result = audit([1, 1, 0, 1, 0, 0], y_pred=[1, 1, 1, 1, 1, 0], sensitive_features=list("AAABBB"), cost=0.6)
    over = result.over_costs(0.3, 0.9)
    assert over.groups["tips_at"].tolist() == [2 / 3, 0.5]
    assert over.steps["up_to"].tolist() == [0.5, 2 / 3, 0.9]
    assert over.sentence() == (
        "If applying costs 30% to 90% of what being selected is worth, B applies up to 50%; A applies up to 66.6%. "
        "Accuracy among applicants is 66.7% (or nobody applies); 0.0% to 100.0% of qualified people stay away."
    )


def test_groups_with_a_cost_of_their_own_keep_it():
    result = example(cost=0.7, cost_of={"A": 0.95, "E": 0.1})
    assert result.to_frame()["cost"].tolist() == [0.95, 0.7, 0.7, 0.7, 0.1]
    written = result.to_dict()
    assert written["cost"] == 0.7
    assert written["cost_of"] == {"A": 0.95, "E": 0.1}
    assert result.at(0.5).to_frame()["cost"].tolist() == [0.95, 0.5, 0.5, 0.5, 0.1]


def test_an_invalid_range_is_refused():
    with pytest.raises(ValueError, match="low must not be above high"):
        example().over_costs(0.8, 0.6)
    with pytest.raises(TypeError, match="general"):
        example(cost=dict.fromkeys("ABCDE", 0.5)).over_costs(0.6, 0.8)


def test_where_a_share_of_each_group_applies_outcomes_are_listed_at_every_hundredth():
    result = example().under(Terms(0.6, {"B": 0.05}, behaviour=LogitResponse(0.05)))
    over = result.over_costs(0.4, 0.9)
    for group, row in over.groups.iterrows():
        half = {THROUGHOUT: 0.9, UP_TO: row["tips_at"]}.get(row["applies"], 0.4)
        assert result.at(half).shares[group] == pytest.approx(0.5) or row["applies"] != UP_TO
        assert result.at(half).applies[group] == (row["applies"] != NOWHERE)
    outcomes = pd.DataFrame([result.at(cost).outcome.to_dict() for cost in over.steps["up_to"]])
    pd.testing.assert_frame_equal(over.steps[outcomes.columns], outcomes)
    assert over.steps["above"].iloc[0] == over.steps["up_to"].iloc[0] == 0.4
    assert over.range_of("social_cost") == (result.at(0.4).social_cost, result.at(0.9).social_cost)
    assert (over.steps["up_to"] - over.steps["above"]).max() < 0.01 + 1e-12
