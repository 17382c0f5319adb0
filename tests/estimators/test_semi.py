"""SemiStrategicClassifier: the best common threshold on the score of any classifier."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from selfselect import PublishedStatistics, SemiStrategicClassifier, ThresholdCurves
from selfselect.metrics import firm_utility, outcome


@pytest.mark.parametrize("inner", [LogisticRegression(), HistGradientBoostingClassifier(max_iter=10)])
@pytest.mark.parametrize("cost", [0.4, 0.6, 0.8])
def test_no_threshold_has_a_higher_induced_accuracy(people, inner, cost):
    X, y, z = (part.iloc[::4] for part in people)
    model = SemiStrategicClassifier(inner, cost=cost, publish="train").fit(X, y, sensitive_features=z)
    score = model.decision_function(X) + model.threshold_
    best = -1.0
    for threshold in np.r_[-np.inf, np.unique(score)]:
        table = PublishedStatistics.from_scores(y, score, threshold=threshold, sensitive_features=z)
        best = max(best, np.nan_to_num(outcome(table, table.applies(cost)).induced_accuracy, nan=-1))
    assert model.audit(X, y, z).induced_accuracy == pytest.approx(best)
    assert model.curve_["induced_accuracy"].max() == pytest.approx(best)


def test_caution_prefers_more_applicants(people):
    X, y, z = people
    exact, careful = (
        SemiStrategicClassifier(cost=0.7, caution=caution).fit(X, y, sensitive_features=z).audit(X, y, z)
        for caution in (0.0, 5.0)
    )
    assert careful.induced_accuracy <= exact.induced_accuracy
    assert careful.application_rate >= exact.application_rate


def test_a_prefit_classifier_is_kept_as_it_is(people):
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


def test_a_tolerance_requires_a_margin_over_the_cost(people):
    X, y, z = people
    for tolerance, least in ((0.1, 0.8), ("auto", 0.7)):
        model = SemiStrategicClassifier(cost=0.7, tolerance=tolerance, publish="train").fit(X, y, sensitive_features=z)
        assert model.published_.precision[model.applies()].max() >= least
        # no other threshold is better in the worse case: groups within the tolerance apply, or stay away
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


@pytest.mark.parametrize("cost", [0.4, 0.7])
@pytest.mark.parametrize(("gain", "price"), [(1.0, 0.0), (1.0, 0.6), (2.0, 1.7), (1.0, 1.2)])
@pytest.mark.filterwarnings("ignore::selfselect.ApplicationWarning")
def test_no_threshold_has_a_higher_utility_of_the_firm(people, cost, gain, price):
    X, y, z = (part.iloc[::4] for part in people)
    settings = {"cost": cost, "publish": "train", "criterion": "firm_utility", "gain": gain, "price": price}
    model = SemiStrategicClassifier(**settings).fit(X, y, sensitive_features=z)
    score = model.decision_function(X) + model.threshold_

    def utility(threshold):
        table = PublishedStatistics.from_scores(y, score, threshold=threshold, sensitive_features=z)
        selected = score > threshold
        return firm_utility(y, selected, applies=table.applies_to(z, cost), gain=gain, price=price)

    values = [utility(threshold) for threshold in np.r_[-np.inf, np.unique(score)]]
    assert utility(model.threshold_) == pytest.approx(max(values))
    assert max(values) > min(values)
    assert model.applies().any() == (price < gain)  # otherwise every test loses money


def test_thresholds_of_firm_utility_follow_the_price_of_a_test(people):
    X, y, z = people
    score = LogisticRegression().fit(X, y)
    settings = {"cost": 0.4, "prefit": True, "publish": "train"}
    accurate = SemiStrategicClassifier(score, **settings).fit(X, y, sensitive_features=z)
    same = SemiStrategicClassifier(score, gain=3.0, price=0.1, **settings).fit(X, y, sensitive_features=z)
    assert same.threshold_ == accurate.threshold_  # accuracy does not depend on them
    cheap, dear = (
        SemiStrategicClassifier(score, criterion="firm_utility", price=price, **settings).fit(
            X, y, sensitive_features=z
        )
        for price in (0.0, 0.9)
    )
    assert cheap.threshold_ < dear.threshold_
    careful = SemiStrategicClassifier(score, criterion="firm_utility", price=0.6, caution=2.0, **settings)
    careful.fit(X, y, sensitive_features=z)
    curve, n = careful.curve_, len(y)
    values = np.zeros((len(curve), n))  # one person after the other
    hired, tested = (np.rint(curve[name] * n).astype(int) for name in ("hired", "tested"))
    for row, (good, all_of_them) in enumerate(zip(hired, tested, strict=True)):
        values[row, :good] = 0.4
        values[row, good:all_of_them] = -0.6
    lower = values.mean(axis=1) - 2 * values.std(axis=1) / np.sqrt(n)
    at = np.flatnonzero(curve["threshold"] <= careful.threshold_)[-1]
    assert lower[at] == pytest.approx(lower.max())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"grid": "fine"}, "grid must be a whole number of at least 2"),
        ({"caution": -1}, "caution must be"),
        ({"criterion": "firm_utility"}, "price is needed"),
    ],
)
def test_wrong_settings_are_refused_by_name(people, wrong, message):
    X, y, z = people
    with pytest.raises(ValueError, match=message):
        SemiStrategicClassifier(**wrong).fit(X, y, sensitive_features=z)
