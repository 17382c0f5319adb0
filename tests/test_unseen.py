"""Groups about which nothing was published: an error, or by option they stay away."""

import numpy as np
import pytest

from selfselect import GroupThresholdClassifier, NaiveClassifier, PublishedStatistics, metrics
from selfselect.datasets import make_base_rate_groups
from selfselect.publishing import Holdout, LowerBound

PUBLISHED = PublishedStatistics.from_predictions([1, 0, 1, 0], [1, 0, 1, 1], sensitive_features=list("AABB"))


@pytest.fixture(scope="module")
def people():
    return make_base_rate_groups((0.6, 0.5, 0.4), n_per_group=300, random_state=0, return_X_y_group=True)


def test_an_unseen_group_is_an_error_or_stays_away():
    with pytest.raises(ValueError, match="does not know: 'C'"):
        PUBLISHED.applies_to(["A", "C"], cost=0.4)
    assert PUBLISHED.applies_to(["A", "C", "B"], cost=0.4, unseen="abstain").tolist() == [True, False, True]
    assert PUBLISHED.applies_to(["C"], cost={"A": 0.4, "B": 0.4}, unseen="abstain").tolist() == [False]
    with pytest.raises(ValueError, match="unseen must be one of"):
        PUBLISHED.applies_to(["A"], cost=0.4, unseen="ignore")


def test_an_unseen_group_counts_in_the_outcome():
    new = PublishedStatistics.from_predictions([1, 1, 1], [1, 1, 1], sensitive_features=list("ACC"))
    with pytest.raises(ValueError, match="'C'"):
        metrics.outcome(new, PUBLISHED.applies(0.4))
    found = metrics.outcome(new, PUBLISHED.applies(0.4), unseen="abstain")
    assert found.social_cost == pytest.approx(2 / 3)
    assert found.application_rate == pytest.approx(1 / 3)


@pytest.mark.parametrize("publish", ["train", "cross_fit", Holdout(statistic=LowerBound(0.8), guarantee=True)])
def test_an_audit_with_an_unseen_group(people, publish):
    X, y, z = people
    known = (z != "z2").to_numpy()
    model = NaiveClassifier(cost=0.75, publish=publish).fit(X[known], y[known], sensitive_features=z[known])
    with pytest.raises(ValueError, match="'z2'"):
        model.audit(X, y, z)
    found = model.audit(X, y, z, unseen="abstain")
    seen = model.audit(X[known], y[known], z[known])
    assert found.applies.to_dict() == {**seen.applies.to_dict(), "z2": False}
    assert found.induced_accuracy == pytest.approx(seen.induced_accuracy)
    away = 1 - (1 - seen.social_cost) * y[known].sum() / y.sum()
    assert found.social_cost == pytest.approx(away)
    assert np.isnan(found.to_frame().loc["z2", "published_value"])
    assert "z2" in found.to_html(min_cell=0)
    assert found.uncertainty(50).applies["z2"] == 0
    assert model.applies_to(z, unseen="abstain").tolist() == (z.map(seen.applies.to_dict()) == True).tolist()  # noqa: E712
    scorer = metrics.social_cost_scorer(unseen="abstain")
    assert scorer(model, X, y, sensitive_features=z) == pytest.approx(-found.social_cost)
    assert metrics.induced_accuracy_scorer(unseen="abstain")(model, X, y, z) == pytest.approx(found.induced_accuracy)


def test_thresholds_per_group_need_a_threshold_for_the_unseen_group(people):
    X, y, z = people
    known = (z != "z2").to_numpy()
    given = {"cost": 0.75, "publish": "train"}
    model = GroupThresholdClassifier(**given).fit(X[known], y[known], sensitive_features=z[known])
    with pytest.raises(ValueError, match="'z2'"):
        model.audit(X, y, z, unseen="abstain")
    pooled = GroupThresholdClassifier(unseen="pooled", **given).fit(X[known], y[known], sensitive_features=z[known])
    assert not pooled.audit(X, y, z, unseen="abstain").applies["z2"]
