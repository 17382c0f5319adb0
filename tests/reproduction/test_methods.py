"""Methods that publish honestly."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from selfselect import (
    ApplicationWarning,
    GroupThresholdClassifier,
    NaiveClassifier,
    SemiStrategicClassifier,
    StrategicClassifier,
)
from selfselect.reproduction import ALL_METHODS, HONEST_METHODS, METHODS, PROMISING
from selfselect.reproduction.methods import CHOSEN_METHODS, DESCENT_METHODS, EXPERIMENT_METHODS
from selfselect.reproduction.people import split_people
from selfselect.reproduction.remembering import MOST_FITTED, Remembered
from selfselect.reproduction.sweep.units import Unit, run_unit

#: A method, and the classifier that it stands for.
HONEST = {
    "naive_honest": lambda cost, seed: NaiveClassifier(cost=cost, publish="cross_fit"),
    "semi_honest": lambda cost, seed: SemiStrategicClassifier(cost=cost, publish="cross_fit"),
    "strat_x_honest": lambda cost, seed: StrategicClassifier(cost, publish="cross_fit", random_state=seed),
    "strat_no_group_honest": lambda cost, seed: StrategicClassifier(cost, publish="cross_fit", random_state=seed),
    "thresholds_lr": lambda cost, seed: GroupThresholdClassifier(cost=cost),
    "thresholds_gb": lambda cost, seed: GroupThresholdClassifier(boosting(seed), cost=cost),
    "thresholds_both": lambda cost, seed: GroupThresholdClassifier(estimators=[logistic(), boosting(seed)], cost=cost),
}


def logistic():
    return LogisticRegression(C=np.inf, max_iter=1000)


def boosting(seed):
    return HistGradientBoostingClassifier(random_state=seed)


def test_the_papers_methods_are_what_they_were_and_the_honest_ones_a_set_of_their_own():
    assert list(METHODS) == ["naive", "semi", "strat_x", "strat_no_group", "strat_parity", "strat_order"]
    assert set(HONEST_METHODS) == set(HONEST)
    assert list(ALL_METHODS) == [*METHODS, *CHOSEN_METHODS, *HONEST_METHODS, *DESCENT_METHODS, *EXPERIMENT_METHODS]
    assert len(PROMISING) == 4 + 7


@pytest.mark.parametrize("cost", [0.75, 0.8])
def test_under_strat_x_every_group_has_a_precision_also_those_that_are_kept_out(small_plan, cost):
    dataset = small_plan.datasets[0]
    (result,) = run_unit(Unit(dataset, "strat_x", 0, (cost,)))
    assert result.configuration["shut_out"] == "select_all"
    counts = result.train_counts
    out = [not applies for applies in result.applies]
    assert sum(out) == 2
    for selected, n, kept_out in zip(counts["selected"], counts["n"], out, strict=True):
        assert selected == n if kept_out else 0 < selected < n
    # nothing else comes of it: the same groups apply, and are judged as before
    split = split_people(dataset.load(), 0)
    model = StrategicClassifier(cost, tolerance=0.02, random_state=0, publish="train")
    model.fit(split.train.features, split.train.y, sensitive_features=split.train.codes)
    assert model.applies().tolist() == list(result.applies)
    found = model.audit(split.test.features, split.test.y, split.test.codes)
    assert found.induced_accuracy == pytest.approx(result.test_metrics["induced_accuracy"])


@pytest.mark.parametrize("method", HONEST)
@pytest.mark.filterwarnings("ignore::selfselect.ApplicationWarning")
def test_an_honest_method_is_the_classifier_as_it_comes_published_on_people_unseen(method, small_plan):
    dataset, cost, seed = small_plan.datasets[0], 0.8, 1
    (result,) = run_unit(Unit(dataset, method, seed, (cost,)))
    split = split_people(dataset.load(), seed)
    first = split.train.n_group_columns if method == "strat_no_group_honest" else 0
    X, X_new = split.train.features[:, first:], split.test.features[:, first:]
    model = HONEST[method](cost, seed).fit(X, split.train.y, sensitive_features=split.train.codes)
    assert result.published_counts == model.published_.counts.to_dict()
    assert result.train_counts == model.published_in_sample_.counts.to_dict()
    assert list(result.applies) == model.applies().tolist()
    found = model.audit(X_new, split.test.y, split.test.codes)
    told = result.test_metrics["induced_accuracy"]
    assert found.induced_accuracy == pytest.approx(np.nan if told is None else told, nan_ok=True)
    kept = found.to_frame()["promise_kept"]
    assert [broken is True for broken in result.broken] == (kept == "no").tolist()
    assert result.configuration["publish"] == "cross_fit"
    assert result.configuration["confidence"] == model.confidence  # other defaults are other results


def test_groups_that_nobody_was_trained_on_stay_away(small_plan, monkeypatch):
    people = small_plan.datasets[0].load()
    absent = np.flatnonzero(people.codes == 2)
    split = split_people(people, 0)
    kept = np.flatnonzero(split.train.codes != 2)
    monkeypatch.setattr(
        "selfselect.reproduction.sweep.units.split_people",
        lambda people, number: type(split)(split.train.take(kept), split.test),
    )
    assert len(absent)
    for method in HONEST_METHODS:
        (result,) = run_unit(Unit(small_plan.datasets[0], method, 0, (0.7,)))
        assert result.published_counts["n"][2] == 0
        assert not result.applies[2]
        assert len(result.applies) == 3


def test_the_same_fit_is_looked_up_and_gives_the_same_scores():
    random = np.random.RandomState(0)
    X, y = random.normal(size=(60, 2)), np.arange(60) % 2
    first = Remembered(logistic()).fit(X, y)
    again = Remembered(logistic()).fit(X.copy(), y.copy())
    assert again.estimator_ is first.estimator_
    assert Remembered(logistic()).fit(X + 1, y).estimator_ is not first.estimator_
    assert Remembered(LogisticRegression(C=2.0)).fit(X, y).estimator_ is not first.estimator_
    assert (again.decision_function(X) == logistic().fit(X, y).decision_function(X)).all()
    assert (again.predict_proba(X) == logistic().fit(X, y).predict_proba(X)).all()
    assert (again.predict(X) == logistic().fit(X, y).predict(X)).all()
    assert hasattr(again, "decision_function")
    for shift in range(2, MOST_FITTED + 2):  # so many others are fitted that the first is forgotten
        Remembered(logistic()).fit(X + shift, y)
    assert Remembered(logistic()).fit(X, y).estimator_ is not first.estimator_


def test_thresholds_are_laid_on_remembered_scores_once_for_all_costs(small_plan, monkeypatch):
    fits = []
    plain = LogisticRegression.fit
    monkeypatch.setattr(LogisticRegression, "fit", lambda self, X, y, **given: fits.append(1) or plain(self, X, y))
    run_unit(Unit(small_plan.datasets[0], "thresholds_lr", 7, (0.6, 0.7, 0.8)))
    assert len(fits) == 6  # five folds, and everybody
    run_unit(Unit(small_plan.datasets[0], "semi_honest", 7, (0.6, 0.7, 0.8)))
    assert len(fits) == 6


def test_that_nobody_applies_is_a_result_and_no_warning(small_plan, recwarn):
    (result,) = run_unit(Unit(small_plan.datasets[0], "naive_honest", 0, (0.99,)))
    assert result.test_metrics["induced_accuracy"] is None
    assert result.broken == (None, None, None)
    assert not [each for each in recwarn if issubclass(each.category, ApplicationWarning)]
