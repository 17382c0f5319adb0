"""A cost of each person is an error everywhere: people of one group face the same cost."""

import numpy as np
import pandas as pd
import pytest

from selfselect import NaiveClassifier, PublishedStatistics, audit, plan_subsidies, threshold_frontier

N = 30
Y = np.tile([1, 1, 0, 1, 0, 0], 5)
SCORE = np.linspace(0.2, 0.8, N)
GROUPS = {"texts": np.repeat(["A", "B", "C"], 10), "integers": pd.Series(np.repeat([0, 1, 2], 10))}
COSTS = {
    "array": np.full(N, 0.5),
    "list": [0.5] * N,
    "Series of people": pd.Series(np.full(N, 0.5)),
    "column": np.full((N, 1), 0.5),
}


def fitted(groups, cost=0.5):
    X = SCORE.reshape(-1, 1)
    return X, NaiveClassifier(cost=cost, publish="train").fit(X, Y, sensitive_features=groups)


USES = {
    "audit": lambda z, cost: audit(Y, score=SCORE, sensitive_features=z, cost=cost),
    "audit of a classifier": lambda z, cost: fitted(z)[1].audit(fitted(z)[0], Y, z, cost=cost),
    "fit": lambda z, cost: fitted(z, cost),
    "applies": lambda z, cost: fitted(z)[1].applies(cost=cost),
    "applies_to": lambda z, cost: fitted(z)[1].applies_to(z, cost=cost),
    "table": lambda z, cost: PublishedStatistics.from_predictions(Y, Y, sensitive_features=z).applies(cost=cost),
    "another cost": lambda z, cost: audit(Y, y_pred=Y, sensitive_features=z, cost=0.5).at(cost).outcome,
    "frontier": lambda z, cost: threshold_frontier(Y, SCORE, sensitive_features=z, cost=cost),
    "plan": lambda z, cost: plan_subsidies(Y, score=SCORE, sensitive_features=z, cost=cost),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("cost", COSTS)
def test_a_cost_of_each_person_is_an_error(use, groups, cost):
    message = r"cost is one number, or a mapping from group to number \(a dict, or a Series indexed by group\)"
    with pytest.raises((TypeError, ValueError), match=message) as error:
        USES[use](GROUPS[groups], COSTS[cost])
    assert len(str(error.value)) < 500


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("groups", GROUPS)
def test_a_series_indexed_by_group_is_a_cost_of_each_group(use, groups):
    USES[use](GROUPS[groups], pd.Series([0.4, 0.5, 0.6], index=np.unique(GROUPS[groups])))


def test_a_series_that_repeats_the_groups_of_people_is_an_error():
    with pytest.raises(ValueError, match=r"cost names a group twice: .* Series indexed by group"):
        USES["audit"](GROUPS["texts"], pd.Series(0.5, index=GROUPS["texts"]))


def test_an_audit_takes_a_few_costs_and_a_plan_takes_one():
    assert USES["audit"](GROUPS["texts"], [0.5, 0.6]).costs == (0.5, 0.6)
    with pytest.raises(TypeError, match="cost has 2 entries without groups"):
        USES["plan"](GROUPS["texts"], [0.5, 0.6])
