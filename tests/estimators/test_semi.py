"""SemiStrategicClassifier: the best common threshold on the score of any classifier."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from own_behaviours import AtLeastTen, Linear
from selfselect import (
    InfeasibleError,
    PublishedStatistics,
    SemiStrategicClassifier,
    Terms,
    ThresholdCurves,
    constraints,
)
from selfselect.behaviour import BestResponse, BetaBeliefs, LogitResponse
from selfselect.metrics import outcome

CONSTRAINTS = [
    constraints.RequiredGroups("z1"),
    constraints.MaxSocialCost(0.3),
    constraints.MinSelectionRate(0.3),
    constraints.DemographicParity(0.3),
    constraints.DemographicParity(0.9, relative=True),
    constraints.TruePositiveRateParity(ratio_bound=0.7),
    constraints.FalsePositiveRateParity(0.1),
    constraints.BaseRateOrder(),
]


@pytest.mark.parametrize("inner", [LogisticRegression(), HistGradientBoostingClassifier(max_iter=10)])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"grid": 25},
        *({"constraints": [constraint]} for constraint in CONSTRAINTS),
        {"constraints": CONSTRAINTS[1:4], "behaviour": LogitResponse(0.1)},
        *({"behaviour": each} for each in (AtLeastTen(), Linear(), BetaBeliefs({"z0": 0.9, "z1": 0.2, "z2": 0.5}, 20))),
    ],
    ids=lambda settings: f"{settings}"[:50],
)
@pytest.mark.parametrize("cost", [0.4, 0.8])
@pytest.mark.filterwarnings("ignore::selfselect.ApplicationWarning")
def test_no_threshold_that_may_be_chosen_is_better(people, inner, settings, cost):
    X, y, z = (part.iloc[::4] for part in people)
    model = SemiStrategicClassifier(inner, cost=cost, publish="train", **settings)
    terms = Terms(cost, behaviour=settings.get("behaviour", BestResponse()))
    refused = ""
    try:
        model.fit(X, y, sensitive_features=z)
        score = model.decision_function(X) + model.threshold_
    except InfeasibleError as error:
        refused, score = str(error), model.estimator_.decision_function(X)
    thresholds = np.r_[-np.inf, np.unique(score)]
    if "grid" in settings:
        thresholds = np.linspace(score.min(), score.max(), settings["grid"])
        assert np.abs(thresholds - model.threshold_).min() < 1e-9

    def value(threshold):
        table = PublishedStatistics.from_scores(y, score, threshold=threshold, sensitive_features=z)
        shares = table.shares(terms)
        if constraints.violations(settings.get("constraints", []), table.groups, table.counts, shares.to_numpy()).any():
            return -np.inf
        return np.nan_to_num(outcome(table, shares).induced_accuracy, nan=-1)

    values = [value(threshold) for threshold in thresholds]
    assert bool(refused) == (max(values) == -np.inf)
    if refused:
        assert "No threshold for all groups meets the constraints" in refused
        return
    assert value(model.threshold_) == pytest.approx(max(values))
    assert max(values) > min(values)
    assert model.constraints_met_
    assert model.application_shares().to_dict() == pytest.approx(model.published_.shares(terms).to_dict())
    if not settings:
        assert model.curve_["induced_accuracy"].max() == pytest.approx(max(values))


def test_caution_prefers_more_applicants(people):
    X, y, z = people
    exact, careful = (
        SemiStrategicClassifier(cost=0.7, caution=caution).fit(X, y, sensitive_features=z).audit(X, y, z)
        for caution in (0.0, 5.0)
    )
    assert careful.induced_accuracy <= exact.induced_accuracy
    assert careful.application_rate >= exact.application_rate


class OnlyPredicting(LogisticRegression):
    decision_function = property()
    predict_proba = property()


def test_a_classifier_without_a_score_is_refused(people):
    X, y, z = people
    with pytest.raises(TypeError, match="decision_function or predict_proba"):
        SemiStrategicClassifier(OnlyPredicting()).fit(X, y, sensitive_features=z)


def test_a_margin_over_the_cost_counts_in_the_worse_case(people):
    X, y, z = people
    model = SemiStrategicClassifier(cost=0.7, margin=0.1, publish="train").fit(X, y, sensitive_features=z)
    assert model.published_.precision[model.applies()].max() >= 0.8
    # no other threshold is better in the worse case: groups within the margin apply, or stay away
    score = model.decision_function(X) + model.threshold_
    curves = ThresholdCurves.from_scores(y, score, sensitive_features=z)
    worse = np.minimum(*(curves.outcomes_under(Terms(0.7), margin)["induced_accuracy"] for margin in (0.0, 0.1)))
    at = np.flatnonzero(model.curve_["threshold"] <= model.threshold_)[-1]
    assert worse[at] == pytest.approx(worse.max())
