"""Scorers in which people decide by the published statistics, and searches with them."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from selfselect import NaiveClassifier, StrategicClassifier
from selfselect.constraints import MaxSocialCost
from selfselect.metrics import induced_accuracy_scorer, social_cost_scorer
from selfselect.outcomes import Outcome

pytestmark = pytest.mark.filterwarnings("ignore::selfselect.ApplicationWarning")


def after(accuracy, social_cost):
    """An outcome with this accuracy and social cost."""
    return Outcome(0.5, accuracy, 1, 0.5, social_cost)


def test_the_score_is_accuracy_within_the_limit_and_falls_with_social_cost_beyond_it():
    score = induced_accuracy_scorer(max_social_cost=0.3).of
    assert score(after(0.8, 0.2)) == 0.8
    assert score(after(0.8, 0.3)) == 0.8
    assert score(after(0.8, 1 - 0.7)) == 0.8  # which is above .3 in floating point
    ranked = [after(0.99, 1.0), after(0.9, 0.6), after(0.1, 0.31), after(0.0, 0.3), after(0.5, 0.0), after(0.9, 0.1)]
    scores = [score(each) for each in ranked]
    assert scores == sorted(scores)
    assert len(set(scores)) == len(scores)
    assert induced_accuracy_scorer().of(after(0.99, 1.0)) == 0.99


def test_the_user_sets_the_score_if_nobody_applies():
    nobody = after(np.nan, 1.0)
    assert np.isnan(induced_accuracy_scorer(max_social_cost=0.3).of(nobody))
    assert induced_accuracy_scorer(max_social_cost=0.3, nobody=-1.0).of(nobody) == -1
    assert social_cost_scorer().of(nobody) == -1
    assert induced_accuracy_scorer(max_social_cost=0.3).of(after(0.9, np.nan)) == 0.9
    with pytest.raises(ValueError, match="max_social_cost"):
        induced_accuracy_scorer(max_social_cost=2)


@pytest.mark.parametrize(("publish", "cost"), [("train", 0.82), ("cross_fit", 0.77)])
def test_scores_equal_the_numbers_of_an_audit(people, publish, cost):
    X, y, z = people
    model = NaiveClassifier(cost=cost, publish=publish).fit(X, y, sensitive_features=z)
    audit = model.audit(X, y, z)
    assert audit.applies.equals(model.applies())
    assert social_cost_scorer()(model, X, y, sensitive_features=z) == -audit.social_cost
    for limit, expected in ((1.0, audit.induced_accuracy), (0.0, -audit.social_cost)):
        assert 0 < audit.social_cost < 1
        scorer = induced_accuracy_scorer(max_social_cost=limit)
        assert scorer(model, X, y, sensitive_features=z) == expected
    assert social_cost_scorer(cost=0.0)(model, X, y, sensitive_features=z) == 0
    assert social_cost_scorer(subsidies=cost)(model, X, y, sensitive_features=z) == 0
    assert social_cost_scorer(cost=1.0)(model, X, y, sensitive_features=z) == -1


def test_a_search_uses_weights_in_scoring_only_if_they_are_requested(people):
    X, y, z = people
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    model = NaiveClassifier(cost=0.82, publish="train")
    folds = StratifiedKFold(3, shuffle=True, random_state=0)

    def scores(scorer):
        params = {"sensitive_features": z, "sample_weight": weight}
        return cross_validate(model, X, y, params=params, scoring=scorer, cv=folds, return_estimator=True)

    with config_context(enable_metadata_routing=True):
        model.set_fit_request(sample_weight=True)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            scores(social_cost_scorer())
        weighted, plain = (
            scores(social_cost_scorer().set_score_request(sample_weight=requested)) for requested in (True, False)
        )
    assert (weighted["test_score"] != plain["test_score"]).all()
    for fold, (_, new) in enumerate(folds.split(X, y)):
        fitted = weighted["estimator"][fold]
        for result, weights in ((weighted, weight[new]), (plain, None)):
            audited = fitted.audit(X.iloc[new], y.iloc[new], z.iloc[new], sample_weight=weights)
            assert result["test_score"][fold] == -audited.social_cost


def test_a_search_under_a_limit_prefers_a_classifier_that_keeps_it(people):
    X, y, z = people
    grid = {"strategicclassifier__constraints": [[], [MaxSocialCost(0.4)]]}
    best = {}
    with config_context(enable_metadata_routing=True):
        pipe = make_pipeline(StandardScaler(), StrategicClassifier(cost=0.7))
        for limit in (None, 0.5):
            scorer = induced_accuracy_scorer(max_social_cost=limit, nobody=-1.0)
            folds = StratifiedKFold(3, shuffle=True, random_state=0)
            search = GridSearchCV(pipe, grid, scoring=scorer, cv=folds).fit(X, y, sensitive_features=z)
            best[limit] = search.best_params_["strategicclassifier__constraints"]
    assert best == {None: [], 0.5: [MaxSocialCost(0.4)]}
