"""SemiStrategicClassifier: the best common threshold on the score of any classifier."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from selfselect import PublishedStatistics, SemiStrategicClassifier, ThresholdCurves
from selfselect.metrics import firm_utility, outcome


@pytest.mark.parametrize("inner", [LogisticRegression(), HistGradientBoostingClassifier(max_iter=10)])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"grid": 25},
        *({"min_selection_rate": rate} for rate in (0.05, 0.3, 0.6)),
        *({"criterion": "firm_utility", "price": price} for price in (0.0, 0.6, 1.2)),
        {"criterion": "firm_utility", "gain": 2.0, "price": 1.7},
    ],
    ids=str,
)
@pytest.mark.parametrize("cost", [0.4, 0.6, 0.8])
@pytest.mark.filterwarnings("ignore::selfselect.ApplicationWarning")
def test_no_threshold_that_may_be_chosen_is_better(people, inner, settings, cost):
    X, y, z = (part.iloc[::4] for part in people)
    model = SemiStrategicClassifier(inner, cost=cost, publish="train", **settings).fit(X, y, sensitive_features=z)
    score = model.decision_function(X) + model.threshold_
    thresholds = np.r_[-np.inf, np.unique(score)]
    if "grid" in settings:
        thresholds = np.linspace(score.min(), score.max(), settings["grid"])
        assert np.abs(thresholds - model.threshold_).min() < 1e-9

    def value(threshold):
        table = PublishedStatistics.from_scores(y, score, threshold=threshold, sensitive_features=z)
        if (table.counts.selection_rate < settings.get("min_selection_rate", 0.0)).any():
            return -np.inf
        if "price" in settings:
            gains = {"gain": settings.get("gain", 1.0), "price": settings["price"]}
            return firm_utility(y, score > threshold, applies=table.applies_to(z, cost), **gains)
        return np.nan_to_num(outcome(table, table.applies(cost)).induced_accuracy, nan=-1)

    values = [value(threshold) for threshold in thresholds]
    assert value(model.threshold_) == pytest.approx(max(values))
    assert max(values) > min(values)
    if not settings:
        assert model.curve_["induced_accuracy"].max() == pytest.approx(max(values))
    if settings.get("price", 0.0) > settings.get("gain", 1.0):
        assert not model.applies().any()  # every test loses money


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


def test_caution_takes_off_standard_errors_of_the_utility_of_each_person(people):
    X, y, z = people
    careful = SemiStrategicClassifier(cost=0.4, publish="train", criterion="firm_utility", price=0.6, caution=2.0)
    careful.fit(X, y, sensitive_features=z)
    curve, n = careful.curve_, len(y)
    values = np.zeros((len(curve), n))  # one person after the other
    hired, tested = (np.rint(curve[name] * n).astype(int) for name in ("hired", "tested"))
    for row, (n_hired, n_tested) in enumerate(zip(hired, tested, strict=True)):
        values[row, :n_hired] = 0.4
        values[row, n_hired:n_tested] = -0.6
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
