"""The best threshold on a score that is learned without a thought of who applies."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from selfselect import PublishedStatistics, SemiStrategicClassifier, ThresholdCurves
from selfselect.metrics import outcome


@pytest.mark.parametrize("inner", [LogisticRegression(), HistGradientBoostingClassifier(max_iter=10)])
@pytest.mark.parametrize("cost", [0.4, 0.6, 0.8])
def test_no_threshold_beats_the_one_that_semi_finds(people, inner, cost):
    X, y, z = people
    model = SemiStrategicClassifier(inner, cost=cost, publish="train").fit(X, y, sensitive_features=z)
    found = model.audit(X, y, z).induced_accuracy
    score = model.decision_function(X) + model.threshold_
    best = -1.0
    for threshold in np.r_[-np.inf, np.unique(score)]:
        table = PublishedStatistics.from_scores(y, score, threshold=threshold, sensitive_features=z)
        best = max(best, np.nan_to_num(outcome(table, table.applies(cost)).induced_accuracy, nan=-1))
    assert found == pytest.approx(best)
    assert model.curve_["induced_accuracy"].max() == pytest.approx(best)


def test_caution_prefers_more_applicants_to_a_lucky_few(people):
    X, y, z = people
    exact, careful = (
        SemiStrategicClassifier(cost=0.7, caution=caution).fit(X, y, sensitive_features=z).audit(X, y, z)
        for caution in (0.0, 5.0)
    )
    assert careful.induced_accuracy <= exact.induced_accuracy
    assert careful.application_rate >= exact.application_rate
    with pytest.raises(ValueError, match="caution must be"):
        SemiStrategicClassifier(caution=-1).fit(X, y, sensitive_features=z)


def test_semi_takes_a_fitted_classifier_as_it_is(people):
    X, y, z = people
    inner = LogisticRegression().fit(X, y)
    model = SemiStrategicClassifier(inner, cost=0.7, prefit=True).fit(X, y, sensitive_features=z)
    assert model.estimator_ is inner
    with pytest.raises(NotFittedError):
        SemiStrategicClassifier(LogisticRegression(), prefit=True).fit(X, y, sensitive_features=z)
    with pytest.raises(ValueError, match="prefit=True needs"):
        SemiStrategicClassifier(prefit=True).fit(X, y, sensitive_features=z)
    with pytest.raises(TypeError, match="decision_function or predict_proba"):
        SemiStrategicClassifier(_OnlyPredict()).fit(X, y, sensitive_features=z)


class _OnlyPredict(LogisticRegression):
    decision_function = property()
    predict_proba = property()


def test_a_tolerance_asks_semi_for_more_than_the_cost(people):
    X, y, z = people
    for tolerance, least in ((0.1, 0.8), ("auto", 0.7)):
        model = SemiStrategicClassifier(cost=0.7, tolerance=tolerance, publish="train").fit(X, y, sensitive_features=z)
        assert model.published_.precision[model.applies()].max() >= least
        # whether those who apply by a hair come or not, no other threshold has a better worst case
        score = model.decision_function(X) + model.threshold_
        curves = ThresholdCurves.from_scores(y, score, sensitive_features=z)
        worse = np.minimum(*(curves.outcomes(0.7, tolerance=t)["induced_accuracy"] for t in (0.0, tolerance)))
        at = np.flatnonzero(model.curve_["threshold"] <= model.threshold_)[-1]
        assert worse[at] == pytest.approx(worse.max())


@pytest.mark.parametrize("cost", [0.4, 0.6, 0.8])
def test_a_grid_tries_only_evenly_spaced_thresholds(people, cost):
    X, y, z = people
    score = LogisticRegression().fit(X, y)
    settings = {"cost": cost, "prefit": True, "publish": "train"}
    model = SemiStrategicClassifier(score, grid=25, **settings).fit(X, y, sensitive_features=z)
    values = score.decision_function(X)
    tried = np.linspace(values.min(), values.max(), 25)
    tables = [PublishedStatistics.from_scores(y, values, threshold=t, sensitive_features=z) for t in tried]
    accuracy = [np.nan_to_num(outcome(t, t.applies(cost)).induced_accuracy, nan=-1) for t in tables]
    assert model.threshold_ in tried
    assert model.audit(X, y, z).induced_accuracy == pytest.approx(max(accuracy))
    exact = SemiStrategicClassifier(score, **settings).fit(X, y, sensitive_features=z)
    assert exact.audit(X, y, z).induced_accuracy >= model.audit(X, y, z).induced_accuracy
    fine = SemiStrategicClassifier(score, grid=100_000, **settings).fit(X, y, sensitive_features=z)
    assert fine.audit(X, y, z).induced_accuracy == exact.audit(X, y, z).induced_accuracy


@pytest.mark.parametrize("grid", [1, 2.5, "fine"])
def test_a_grid_of_no_size_is_refused(people, grid):
    X, y, z = people
    with pytest.raises(ValueError, match="grid must be a whole number of at least 2"):
        SemiStrategicClassifier(grid=grid).fit(X, y, sensitive_features=z)
