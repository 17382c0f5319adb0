"""The objective of boosting libraries: derivatives, what training with it does, and how its scores are passed on."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score

from selfselect import GroupCodes, SemiStrategicClassifier, StrategicObjective
from selfselect.behaviour import LogitResponse
from selfselect.boosting import MIN_CURVATURE, ScoreClassifier, strategic_objective
from selfselect.constraints import DemographicParity
from selfselect.datasets import make_ordering_constraint
from selfselect.publishing import CrossFit, Precision

SETTINGS = {"n_estimators": 40, "num_leaves": 7, "n_jobs": 1, "verbosity": -1}


@pytest.fixture(scope="module")
def people():
    """Features, labels and groups of few people, in no order."""
    rng = np.random.default_rng(0)
    n = 400
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    group = rng.choice(["r", "s", "t"], n)
    X["is_t"] = (group == "t").astype(float)
    y = (rng.uniform(size=n) < expit(1.5 * X["a"] + X["b"] * X["is_t"] + 0.5 * (group == "t") - 0.5)).astype(int)
    return X, y.to_numpy(), group


@pytest.fixture(scope="module")
def scores(people):
    return np.random.default_rng(1).normal(scale=0.7, size=len(people[1]))


def value(objective, score, y, group, weight=None):
    return objective.strategic.value_and_gradient(score, y, group, weight)[0]


def differences(function, score, step):
    """Central differences of a function of the scores, or the diagonal of those of a gradient."""
    result = []
    for i in range(len(score)):
        up, down = score.copy(), score.copy()
        up[i], down[i] = score[i] + step, score[i] - step
        slope = (function(up) - function(down)) / (2 * step)
        result.append(slope if np.ndim(slope) == 0 else slope[i])
    return np.array(result)


# ---------------------------------------------------------------------- derivatives

# the correction by hard counts is constant in the derivatives, so it is off here
VARIANTS = [
    {"corrected": False},
    {"behaviour": LogitResponse(0.1)},
    {"corrected": False, "constraints": [DemographicParity(0.02, weight=5.0)]},
    {"corrected": False, "loss": "errors", "temperature": 2.0},
]


@pytest.mark.parametrize("settings", VARIANTS)
def test_the_gradient_is_that_of_the_value_times_the_total_weight(people, scores, settings):
    _, y, group = people
    weight = np.random.default_rng(2).uniform(0.5, 2, len(y))
    objective = strategic_objective(group, 0.6, **settings)
    expected = weight.sum() * differences(lambda s: value(objective, s, y, group, weight), scores, 1e-5)
    gradient, _ = objective(y, scores, weight)
    np.testing.assert_allclose(gradient, expected, atol=1e-5)
    assert np.abs(expected).max() > 0.1


def test_for_one_group_without_penalties_it_is_the_ordinary_log_loss(people, scores):
    _, y, _ = people
    objective = strategic_objective(np.zeros(len(y)), application_weight=0.0, corrected=False)
    gradient, curvature = objective(y, scores)
    p = expit(scores)
    np.testing.assert_allclose(gradient, p - y, atol=1e-12)
    np.testing.assert_allclose(curvature, p * (1 - p) + MIN_CURVATURE, atol=1e-12)


@pytest.mark.parametrize("settings", VARIANTS)
def test_the_curvature_is_at_least_the_second_derivative(people, scores, settings):
    _, y, group = people
    objective = strategic_objective(group, 0.6, **settings)
    _, curvature = objective(y, scores)
    second = differences(lambda s: objective(y, s)[0], scores, 1e-5)
    assert (curvature >= second).mean() > 0.98  # but for terms of one person with itself, a small part of a group
    assert (curvature >= 0.9 * second).all()


@pytest.mark.parametrize("score", [0.0, -1e-12, 1e3, -1e3, 1e8, -1e8])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_curvature_is_positive_and_finite_at_extreme_scores(people, score, dtype):
    _, y, group = people
    for scored in (np.full(len(y), score), np.where(y == 1, score, -score), np.r_[score, np.zeros(len(y) - 1)]):
        gradient, curvature = strategic_objective(group, 0.7, constraints=[DemographicParity(0.02)])(
            y, scored.astype(dtype)
        )
        assert np.isfinite(gradient).all()
        assert np.isfinite(curvature).all()
        assert (curvature >= 0.99 * MIN_CURVATURE).all()


@pytest.mark.parametrize("label", [0, 1])
def test_one_person_is_enough(label):
    gradient, curvature = strategic_objective(["only"])(np.array([label]), np.array([0.3]))
    assert gradient.shape == curvature.shape == (1,)
    assert np.sign(gradient[0]) == (-1 if label else 1)
    assert 0 < curvature[0] < np.inf


def test_groups_without_people_change_no_direction(people, scores):
    _, y, group = people
    codes = np.searchsorted(["r", "s", "t"], group)
    with_empty = strategic_objective(GroupCodes(codes, pd.Index(list("rstu"))), 0.6, application_over="sum")
    without = strategic_objective(group, 0.6, application_over="sum")
    for ours, theirs in zip(with_empty(y, scores), without(y, scores), strict=True):
        np.testing.assert_allclose(ours, theirs)


def test_a_weight_of_two_counts_as_two_people(people, scores):
    _, y, group = people
    twice = np.arange(len(y)) % 3 == 0
    settings = {"cost": 0.6, "application_weight": 0.0}
    weighted = strategic_objective(group, **settings)(y, scores, 1.0 + twice)
    rows = np.r_[np.arange(len(y)), np.flatnonzero(twice)]
    repeated = strategic_objective(group[rows], **settings)(y[rows], scores[rows])
    for ours, theirs in zip(weighted, repeated, strict=True):
        np.testing.assert_allclose(ours, np.bincount(rows, theirs))


def test_other_labels_and_weights_are_noticed(people, scores):
    _, y, group = people
    objective, weight = strategic_objective(group), np.linspace(1, 2, len(y))
    for labels, weights in ((y, None), (1 - y, None), (1 - y, weight), (1 - y, weight[::-1]), (y, None)):
        fresh = strategic_objective(group)(labels, scores, weights)
        np.testing.assert_array_equal(objective(labels, scores, weights), fresh)


def test_rows_are_sorted_once_for_all_rounds(people, scores, monkeypatch):
    _, y, group = people
    calls, on_rows = [], StrategicObjective.on_rows
    monkeypatch.setattr(StrategicObjective, "on_rows", lambda *args: calls.append(args) or on_rows(*args))
    objective = strategic_objective(group)
    for weight in (None, None, np.ones(len(y))):
        objective(y.copy(), scores, weight)
    assert len(calls) == 1


def test_other_rows_are_refused(people, scores):
    _, y, group = people
    objective = strategic_objective(group)
    with pytest.raises(ValueError, match=r"groups of 400 people, but is used with 399\."):
        objective(y[1:], scores[1:])
    with pytest.raises(ValueError, match="score has shape"):
        objective(y, scores[1:])


def test_copies_and_pickles_keep_groups_but_no_labels(people, scores):
    _, y, group = people
    objective = strategic_objective(group)
    expected = objective(y, scores)
    for other in (copy.deepcopy(objective), pickle.loads(pickle.dumps(objective))):
        assert other._rows is None
        np.testing.assert_array_equal(other(y, scores), expected)


# ---------------------------------------------------------------------- LightGBM


def test_from_zero_the_group_with_the_higher_base_rate_wins_though_the_other_is_easier(lightgbm):
    data = make_ordering_constraint(random_state=0)
    people = data.data, data.target, data.group
    plain = lightgbm.LGBMClassifier(**SETTINGS).fit(*people[:2])
    accuracy = []
    for start in (None, plain):
        score = ScoreClassifier(train(lightgbm, people, cost=0.8, start=start))
        semi = SemiStrategicClassifier(score, cost=0.8, prefit=True).fit(*people[:2], sensitive_features=people[2])
        accuracy.append(semi.audit(*people).induced_accuracy)
    assert accuracy[0] < 0.9 < 0.95 < accuracy[1]


@pytest.fixture
def lightgbm():
    return pytest.importorskip("lightgbm")


def train(lightgbm, people, cost=0.7, rounds=40, start=None, **settings):
    X, y, group = people
    model = lightgbm.LGBMRegressor(
        objective=strategic_objective(group, cost, **settings), **{**SETTINGS, "n_estimators": rounds}
    )
    return model.fit(X, y, init_model=start)


def test_training_lowers_the_objective_and_beats_its_start(lightgbm, people):
    X, y, group = people
    plain = lightgbm.LGBMClassifier(**SETTINGS).fit(X, y)
    start = plain.predict(X, raw_score=True)
    boosted = train(lightgbm, people, cost=0.85, start=plain)
    objective = boosted.objective
    values = [value(objective, start, y, group)]
    values += [value(objective, boosted.predict(X, num_iteration=40 + i), y, group) for i in range(1, 41)]
    assert (np.diff(values) < 0).mean() > 0.9  # the correction by hard counts may jump
    assert values[-1] < 0.7 * values[0]
    longer = lightgbm.LGBMClassifier(**{**SETTINGS, "n_estimators": 80}).fit(X, y)
    assert values[-1] < value(objective, longer.predict(X, raw_score=True), y, group)


def test_each_behaviour_is_best_served_by_its_own_training(lightgbm, people):
    X, y, group = people
    behaviours = [None, LogitResponse(0.3)]
    models = [train(lightgbm, people, cost=0.8, rounds=15, behaviour=behaviour) for behaviour in behaviours]
    table = [
        [value(objective, model.predict(X), y, group) for model in models]
        for objective in (strategic_objective(group, 0.8, behaviour=behaviour) for behaviour in behaviours)
    ]
    assert table[0][0] < table[0][1]
    assert table[1][1] < table[1][0]


def test_a_penalty_brings_selection_rates_together(lightgbm, people):
    X, _, group = people

    def gap(model):
        rates = pd.Series(model.predict(X) > 0).groupby(group).mean()
        return rates.max() - rates.min()

    free = train(lightgbm, people, cost=0.5)
    fair = train(lightgbm, people, cost=0.5, constraints=[DemographicParity(0.05, weight=100.0)])
    assert gap(fair) < 0.5 * gap(free)


def test_both_interfaces_of_lightgbm_train_the_same_model_and_pass_weights(lightgbm, people):
    X, y, group = people
    weight = np.where(y == 1, 3.0, 1.0)
    model = lightgbm.LGBMRegressor(objective=strategic_objective(group), **SETTINGS).fit(X, y, sample_weight=weight)
    native = lightgbm.train(
        {"objective": strategic_objective(group).native, "num_leaves": 7, "num_threads": 1, "verbosity": -1},
        lightgbm.Dataset(X, y, weight=weight),
        40,
    )
    np.testing.assert_allclose(ScoreClassifier(native).decision_function(X), model.predict(X))
    assert np.mean(model.predict(X) > 0) > np.mean(train(lightgbm, people).predict(X) > 0)


def test_folds_of_a_cross_validation_are_refused(lightgbm, people):
    X, y, group = people
    model = lightgbm.LGBMRegressor(objective=strategic_objective(group), **SETTINGS)
    with pytest.raises(ValueError, match="Every fold of a cross-validation needs an objective of its own"):
        cross_val_score(model, X, y, cv=2, error_score="raise")


def test_a_boosted_score_gets_a_threshold_from_new_people(lightgbm):
    train_set, new = (make_ordering_constraint(random_state=seed) for seed in (0, 1))
    people = train_set.data, train_set.target, train_set.group
    plain = lightgbm.LGBMClassifier(**SETTINGS).fit(*people[:2])
    boosted = ScoreClassifier(train(lightgbm, people, cost=0.8, start=plain))
    semi = SemiStrategicClassifier(boosted, cost=0.8, prefit=True)
    semi.fit(new.data, new.target, sensitive_features=new.group)
    outcome = StrategicObjective(0.8).hard(semi.decision_function(new.data), new.target, new.group).outcome
    assert outcome.induced_accuracy > 0.95


@pytest.mark.filterwarnings("ignore:The score is overfitted")
def test_every_fold_trains_a_boosted_score_for_its_own_groups(lightgbm, people):
    X, y, group = people
    model = lightgbm.LGBMRegressor(objective=strategic_objective(cost=0.6, behaviour=LogitResponse(0.1)), **SETTINGS)
    score = ScoreClassifier(model, start=lightgbm.LGBMClassifier(**SETTINGS))
    semi = SemiStrategicClassifier(score, cost=0.6, publish=CrossFit(2, Precision()), pos_label="yes")
    words = np.where(y == 1, "yes", "no")
    semi.fit(X, words, sensitive_features=group)
    assert semi.published_.counts.n.sum() == len(y)
    objective = semi.estimator_.model_.objective
    assert objective.group.labels[objective.group.codes].tolist() == group.tolist()
    plain = lightgbm.LGBMClassifier(**SETTINGS).fit(X, y).predict(X, raw_score=True)
    assert value(objective, semi.estimator_.decision_function(X), y, group) < value(objective, plain, y, group)


def test_a_model_with_another_objective_is_refused(people):
    X, y, group = people
    with pytest.raises(TypeError, match="strategic_objective"):
        ScoreClassifier(LinearRegression()).fit(X, y, group)


def test_a_score_of_an_unfitted_model_is_refused(people):
    X, y, group = people
    with pytest.raises(NotFittedError):
        SemiStrategicClassifier(ScoreClassifier(LinearRegression()), prefit=True).fit(X, y, sensitive_features=group)


# ---------------------------------------------------------------------- XGBoost


def test_both_interfaces_of_xgboost_train_the_same_model_and_lower_the_objective(people):
    xgboost = pytest.importorskip("xgboost")
    X, y, group = people
    objective, weight = strategic_objective(group), np.linspace(1, 2, len(y))
    model = xgboost.XGBRegressor(objective=objective, base_score=0, n_estimators=40, max_depth=3, n_jobs=1)
    score = model.fit(X, y, sample_weight=weight).predict(X)
    data = xgboost.DMatrix(X, y, weight=weight)
    native = xgboost.train({"base_score": 0, "max_depth": 3, "nthread": 1}, data, 40, obj=objective.native)
    np.testing.assert_allclose(native.predict(data), score, atol=1e-5)
    assert value(objective, score, y, group) < 0.5 * value(objective, np.zeros(len(y)), y, group)
