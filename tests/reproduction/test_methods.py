"""Methods: what is stored for each, and that it is the classifier it says."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from reproduction.data import Dataset, Split, load_dataset, make_split
from reproduction.memoized import MAX_FITTED, MemoizedClassifier
from reproduction.methods import (
    ALL_METHODS,
    CROSS_FIT_METHODS,
    LATER_SPLITS,
    PAPER_METHODS,
    PROMISE_METHODS,
    PROMISE_SPLITS,
    fit_method,
)
from reproduction.results import COLUMNS, load_results
from reproduction.run import Unit, run_unit
from selfselect import GroupThresholdClassifier, NaiveClassifier, SemiStrategicClassifier, StrategicClassifier
from selfselect.datasets import make_base_rate_groups

KEPT = Path(__file__).parents[2] / "docs" / "reproduction"
#: Cross-fitted methods, and the classifiers that they stand for.
CLASSIFIERS = {
    "naive_honest": lambda cost, seed: NaiveClassifier(cost=cost),
    "semi_honest": lambda cost, seed: SemiStrategicClassifier(cost=cost),
    "strat_x_honest": lambda cost, seed: StrategicClassifier(cost, random_state=seed),
    "strat_no_group_honest": lambda cost, seed: StrategicClassifier(cost, random_state=seed),
    "thresholds_lr": lambda cost, seed: GroupThresholdClassifier(cost=cost),
    "thresholds_gb": lambda cost, seed: GroupThresholdClassifier(boosting(seed), cost=cost),
    "thresholds_both": lambda cost, seed: GroupThresholdClassifier([logistic(), boosting(seed)], cost=cost),
}


def logistic():
    return LogisticRegression(C=np.inf, max_iter=1000)


def boosting(seed):
    return HistGradientBoostingClassifier(random_state=seed)


@pytest.fixture(scope="module")
def small():
    """900 people in three groups."""
    bunch = make_base_rate_groups((0.5, 0.3, 0.7), n_per_group=300, random_state=0, drop_group=True)
    codes = bunch.group.astype("category").cat.codes.to_numpy(dtype=np.intp)
    features = np.hstack([np.eye(3)[codes], bunch.data.to_numpy(), np.random.RandomState(1).normal(size=(900, 1))])
    return Dataset(features, 3, bunch.target.to_numpy(), codes, ("A", "B", "C"))


@pytest.fixture(scope="module")
def kept():
    return load_results(*KEPT.glob("*.csv.gz")).set_index(["dataset", "method", "cost", "split"])


def fit(method, split, cost, seed=0):
    (made,) = fit_method(ALL_METHODS[method], "adult", split, [cost], seed)
    return made


def test_names_of_methods_are_those_of_kept_results(kept):
    assert list(PAPER_METHODS) == ["naive", "semi", "strat_x", "strat_no_group", "strat_parity", "strat_order"]
    assert set(kept.index.get_level_values("method")) == set(ALL_METHODS)
    assert set(PROMISE_METHODS) - set(PAPER_METHODS) == set(CROSS_FIT_METHODS) == set(CLASSIFIERS)


def test_settings_are_those_that_kept_results_were_made_with(kept):
    first = kept[~kept.index.droplevel("split").duplicated()]
    for (dataset, method, cost, _), stored in first["configuration"].items():
        assert ALL_METHODS[method].settings(dataset, cost) == stored


@pytest.mark.parametrize("method", [*PAPER_METHODS, "naive_honest", "semi_honest", "strat_x_honest", "thresholds_lr"])
def test_fits_give_the_counts_of_kept_results(method, kept):
    split = LATER_SPLITS[0] if method in PAPER_METHODS else PROMISE_SPLITS[0]
    (made,) = run_unit(Unit("adult", method, split, (0.7,)))
    stored = kept.loc[("adult", method, 0.7, split)]
    for name in set(COLUMNS) - {"dataset", "method", "cost", "split", "seconds", "package_version"}:
        value = made[name]
        assert (tuple(value) if isinstance(value, list) else value) == stored[name], name


@pytest.mark.parametrize("method", CLASSIFIERS)
@pytest.mark.filterwarnings("ignore::selfselect.ApplicationWarning")
def test_a_cross_fitted_method_is_the_classifier_with_its_defaults(method, small):
    cost, seed = 0.8, 1
    split = make_split(small, seed)
    made = fit(method, split, cost, seed)
    first = small.n_group_columns if method == "strat_no_group_honest" else 0
    X, y, z = split.train.features[:, first:], split.train.y, split.train.codes
    model = CLASSIFIERS[method](cost, seed).fit(X, y, sensitive_features=z)
    assert made.published.to_dict() == model.published_.counts.to_dict()
    assert made.train.to_dict() == model.published_in_sample_.counts.to_dict()
    assert made.applies.tolist() == model.applies().tolist()
    audited = model.audit(split.test.features[:, first:], split.test.y, split.test.codes)
    assert made.test.true_positives.tolist() == audited.population.counts.true_positives.tolist()
    assert ALL_METHODS[method].settings("adult", cost)["publish"] == model.publish


@pytest.mark.parametrize("cost", [0.75, 0.8])
def test_under_strat_x_every_group_has_a_precision(cost, small):
    made = fit("strat_x", make_split(small, 0), cost)
    stays_away = ~made.applies
    assert stays_away.sum() == 2
    assert (made.train.selected == made.train.n)[stays_away].all()
    assert (made.train.selected < made.train.n)[made.applies].all()


def test_groups_without_training_people_do_not_apply(small):
    whole = make_split(small, 0)
    split = Split(whole.train.take(np.flatnonzero(whole.train.codes != 2)), whole.test)
    for method in CROSS_FIT_METHODS:
        made = fit(method, split, 0.7)
        assert made.published.n[2] == 0
        assert len(made.applies) == 3
        assert not made.applies[2]


def test_a_cost_does_not_change_the_fit_of_another():
    split = make_split(load_dataset("adult"), 0)
    for method in ("semi", "thresholds_lr"):
        together = list(fit_method(ALL_METHODS[method], "adult", split, [0.65, 0.8], 0))
        alone = fit(method, split, 0.8)
        assert together[1].train.to_dict() == alone.train.to_dict()
        assert together[0].train.to_dict() != alone.train.to_dict()


# ---------------------------------------------------------------------- memoized fits


def test_the_same_fit_is_looked_up_and_gives_the_same_scores():
    random = np.random.RandomState(0)
    X, y = random.normal(size=(60, 2)), np.arange(60) % 2
    first = MemoizedClassifier(logistic()).fit(X, y)
    again = MemoizedClassifier(logistic()).fit(X.copy(), y.copy())
    assert again.estimator_ is first.estimator_
    assert MemoizedClassifier(logistic()).fit(X + 1, y).estimator_ is not first.estimator_
    assert MemoizedClassifier(LogisticRegression(C=2.0)).fit(X, y).estimator_ is not first.estimator_
    for name in ("decision_function", "predict_proba", "predict"):
        assert (getattr(again, name)(X) == getattr(logistic().fit(X, y), name)(X)).all()
    for shift in range(2, MAX_FITTED + 2):  # so many others that the first is dropped
        MemoizedClassifier(logistic()).fit(X + shift, y)
    assert MemoizedClassifier(logistic()).fit(X, y).estimator_ is not first.estimator_


def test_all_costs_share_the_fits_of_scores(small, monkeypatch):
    fits, plain = [], LogisticRegression.fit
    monkeypatch.setattr(LogisticRegression, "fit", lambda self, X, y, **given: fits.append(1) or plain(self, X, y))
    for method in ("thresholds_lr", "semi_honest"):
        list(fit_method(ALL_METHODS[method], "adult", make_split(small, 7), (0.6, 0.7, 0.8), 7))
        assert len(fits) == 6  # five folds, and everybody
