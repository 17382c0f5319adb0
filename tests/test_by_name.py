"""Groups are matched by name, whatever the order of categories, names and rows."""

import numpy as np
import pandas as pd

from selfselect import PublishedStatistics, Terms, audit, plan_subsidies
from selfselect.counting import MISSING, encode_groups
from selfselect.planning import plan_for, plan_under_retraining

NAMES = ("a", "b", "c", "d")


def population(seed=0, n=400):
    random = np.random.default_rng(seed)
    codes = random.integers(0, 4, n)
    codes[:4] = range(4)
    y = random.random(n) < np.array([0.7, 0.5, 0.4, 0.3])[codes]
    score = np.round(np.clip(0.5 + 0.35 * (2 * y - 1) + random.normal(0, 0.3, n), 0, 1), 2)
    return y.astype(int), score, np.array(NAMES, dtype=object)[codes]


def test_costs_and_subsidies_belong_to_groups_by_name():
    y, score, z = population()
    backwards = pd.Series(pd.Categorical(z, categories=NAMES[::-1]))
    costs, paid = {"d": 0.6, "c": 0.7, "b": 0.65, "a": 0.6}, {"c": 0.2, "b": 0.05}
    one, other = (
        audit(y, score=score, sensitive_features=groups, cost=costs, subsidies=paid).to_frame().loc[list(NAMES)]
        for groups in (z, backwards)
    )
    pd.testing.assert_frame_equal(one, other, check_names=False, check_index_type=False)
    assert one["cost"].tolist() == [0.6, 0.65 - 0.05, 0.7 - 0.2, 0.6]


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
