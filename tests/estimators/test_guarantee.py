"""Holdout(guarantee=True): all statements about groups hold together with the stated probability, for any model."""

import os

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier

from selfselect import (
    ApplicationWarning,
    GroupThresholdClassifier,
    InfeasibleError,
    NaiveClassifier,
    SemiStrategicClassifier,
    StrategicClassifier,
)
from selfselect.constraints import MinSelectionRate, RequiredGroups
from selfselect.counting import encode_groups
from selfselect.datasets import make_base_rate_groups
from selfselect.estimators.guarantee import confidence_for_power
from selfselect.publishing import CrossFit, Holdout, LowerBound

ALL = (NaiveClassifier, SemiStrategicClassifier, StrategicClassifier)
DELTA = 0.1
#: Estimators are slower than the functions they call (tests/publishing/test_guarantee.py).
#: `make test-long PARTS=simulations` draws more.
POPULATIONS = int(os.environ.get("SELFSELECT_POPULATIONS", "2000")) // 20
pytestmark = pytest.mark.filterwarnings("ignore::selfselect.ApplicationWarning")
GUARANTEE = Holdout(guarantee=True)
promised = {"publish": GUARANTEE}


@pytest.fixture(scope="module")
def crowd():
    return make_base_rate_groups((0.6, 0.4, 0.2), n_per_group=800, random_state=4, return_X_y_group=True)


class Given(ClassifierMixin, BaseEstimator):
    """The first feature as score."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, 0]

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


class Memorising(Given):
    """Share of qualified training people with the same score: an overfitted score."""

    def fit(self, X, y):
        scores, where = np.unique(np.asarray(X)[:, 0], return_inverse=True)
        self.known_ = dict(zip(scores, np.bincount(where, y) / np.bincount(where), strict=True))
        return super().fit(X, y)

    def decision_function(self, X):
        return np.array([self.known_.get(score, 0.5) for score in np.asarray(X)[:, 0]]) - 0.5


def broken_promises(make, n_groups, values, size, seed):
    """Number of populations in which a group applies, and in which one that applies does not reach its cost."""
    random = np.random.default_rng(seed)
    made = broken = 0
    for _ in range(POPULATIONS):
        chance = np.sort(random.uniform(0.3, 0.9, (n_groups, values)), axis=1)
        if n_groups > 8:  # many groups, most of which do not reach the cost
            chance = np.repeat(random.uniform(0.5, 0.72, (n_groups, 1)), values, axis=1)
        codes = np.repeat(np.arange(n_groups), size)
        x = random.integers(0, values, len(codes))
        y = random.random(len(codes)) < chance[codes, x]
        model = make(cost=0.7, **promised).fit((x - 1.5)[:, None], y.astype(int), sensitive_features=codes)
        applying = np.flatnonzero(model.applies())
        selected = model.predict(np.arange(values)[:, None] - 1.5) > 0
        delivered = chance[:, selected].mean(axis=1) if selected.any() else np.full(n_groups, np.nan)
        made += bool(len(applying))
        broken += bool((delivered[applying] < 0.7 - 1e-12).any())
    return made, broken


@pytest.mark.parametrize(
    "make",
    [
        lambda **options: NaiveClassifier(Given(), **options),
        lambda **options: SemiStrategicClassifier(Given(), **options),
        lambda **options: SemiStrategicClassifier(Memorising(), **options),
    ],
    ids=["naive", "semi", "semi, closely fitted"],
)
@pytest.mark.parametrize(("n_groups", "size"), [(2, 400), (4, 40), (40, 60)], ids=["two", "tiny", "many"])
def test_any_statement_fails_with_at_most_the_stated_probability(make, n_groups, size):
    made, broken = broken_promises(make, n_groups, 6, size, seed=0)
    assert broken <= POPULATIONS * DELTA + 3 * np.sqrt(POPULATIONS * DELTA * (1 - DELTA))
    if n_groups == 2:
        assert made > 0  # some groups pass the test


@pytest.mark.parametrize("cls", [*ALL, GroupThresholdClassifier])
def test_groups_that_pass_the_test_apply_and_new_people_get_what_was_published(cls, crowd):
    X, y, z = crowd
    model = cls(cost=0.7, **promised).fit(X, y, sensitive_features=z)
    assert model.applies().any()
    assert model.applies().to_dict() == model.promised_.to_dict()
    assert 0 < model.promise_level_ <= 0.1
    new = make_base_rate_groups((0.6, 0.4, 0.2), n_per_group=5000, random_state=5, return_X_y_group=True)
    audit = model.audit(*new)
    assert audit.applies.to_dict() == model.applies().to_dict()
    assert (audit.to_frame()["promise_kept"][audit.applies] != "no").all()
    # a group that did not pass does not apply at any cost, and no subsidy is enough
    assert (model.applies(cost=0.0) <= model.promised_).all()
    assert audit.to_frame()["subsidy_needed"][~audit.applies].isna().all()


@pytest.mark.parametrize("cls", ALL)
def test_the_people_set_aside_choose_nothing(cls, crowd):
    X, y, z = crowd
    groups = encode_groups(z)
    aside = GUARANTEE.splits(X, y.to_numpy() == 1, groups)
    model = cls(cost=0.7, **promised).fit(X, y, sensitive_features=z)
    assert model.published_.counts.n.sum() == len(aside.evaluated) == pytest.approx(0.3 * len(y), abs=3)
    # their labels change which groups pass, and not who is selected
    turned = y.copy()
    turned.iloc[aside.evaluated] = 1 - turned.iloc[aside.evaluated]
    other = cls(cost=0.7, **promised).fit(X, turned, sensitive_features=z)
    assert (other.predict(X) == model.predict(X)).all()
    assert not other.applies().equals(model.applies())
    # the classifier equals the one chosen on the others, with a margin
    chosen = cls(cost=0.7, publish=CrossFit(statistic=LowerBound(confidence_for_power(0.9, 0.3)))).fit(
        X.iloc[aside.final], y.iloc[aside.final], sensitive_features=groups.take(aside.final)
    )
    assert chosen.applies().any()
    assert (chosen.predict(X) == model.predict(X)).all()
    assert (model.promised_ <= chosen.set_params(publish="cross_fit").applies()).all()


def test_the_holdout_does_not_depend_on_labels_or_the_order_of_rows(crowd):
    X, y, z = crowd
    groups, qualified = encode_groups(z), y.to_numpy() == 1
    first = GUARANTEE.splits(X, qualified, groups)
    assert (GUARANTEE.splits(X, ~qualified, groups).evaluated == first.evaluated).all()
    rows = np.random.default_rng(0).permutation(len(y))
    second = GUARANTEE.splits(X.iloc[rows], qualified[rows], encode_groups(z.iloc[rows]))
    assert set(rows[second.evaluated]) == set(first.evaluated)
    assert (np.bincount(groups.codes[first.evaluated]) == 240).all()


def test_people_with_equal_features_are_split_at_random():
    X, qualified = np.repeat([[0.0], [1.0]], 500, axis=0), np.arange(1000) % 2 == 0
    aside = GUARANTEE.splits(X, qualified, encode_groups(["A"] * 1000)).evaluated
    assert len(aside) == 300
    assert 100 < (aside < 500).sum() < 200
    assert 100 < qualified[aside].sum() < 200


def test_a_failed_test_is_a_warning_an_error_or_a_line_of_explain(crowd):
    X, y, z = crowd
    with pytest.warns(match=r"Nobody applies.*no lower bound \(confidence 0\.9\d*\) reaches the cost"):
        NaiveClassifier(cost=0.99, **promised).fit(X, y, sensitive_features=z)
    with pytest.raises(InfeasibleError, match=r"must apply, but its cost cannot be guaranteed|constraints of training"):
        StrategicClassifier(cost=0.98, constraints=[RequiredGroups("z2")], **promised).fit(X, y, sensitive_features=z)
    lines = NaiveClassifier(cost=0.7, **promised).fit(X, y, sensitive_features=z).explain().split("\n")
    assert len(lines) == 3
    assert any("applies: the lower bound reaches its cost of 0.7" in line for line in lines)


@pytest.mark.parametrize("cls", [*ALL, GroupThresholdClassifier])
def test_a_guarantee_without_its_conditions_is_refused(cls, crowd):
    X, _, _ = crowd
    for weight in (None, [1.0, 2.0, 3.0]):
        with pytest.raises(ValueError, match="too few people"):
            cls(cost=0.7, **promised).fit(
                X.iloc[:3], [1, 0, 0], sensitive_features=["A", "B", "C"], sample_weight=weight
            )


@pytest.mark.parametrize("cls", [NaiveClassifier, GroupThresholdClassifier])
def test_a_guarantee_holds_in_the_weighted_population(cls):
    """The unqualified weigh three times as much: 3 in 4 rows are qualified, and half of the population."""
    told = {0.3: 0, 0.52: 0}
    for seed in range(POPULATIONS // 4):
        rng = np.random.default_rng(seed)
        y = (rng.random(1200) < 0.75).astype(int)
        X, z = rng.normal(size=(1200, 1)) + 9, rng.integers(0, 2, 1200)
        weight = np.where(y, 1.0, 3.0) * rng.choice([1.0, 1.5], 1200)
        for cost in told:
            model = cls(Given(), cost=cost, **promised).fit(X, y, sensitive_features=z, sample_weight=weight)
            told[cost] += int(model.applies().any())
    assert told[0.3] > 0.8 * (POPULATIONS // 4)
    assert told[0.52] <= 0.1 * (POPULATIONS // 4)


def test_weights_that_are_equal_within_groups_change_no_guarantee(crowd):
    X, y, z = crowd
    weight = np.where(z == "z0", 5.0, 0.5)
    one, other = (
        NaiveClassifier(cost=0.6, **promised).fit(X, y, sensitive_features=z, **more).published_.counts.columns
        for more in ({}, {"sample_weight": weight})
    )
    np.testing.assert_allclose(one[0], other[0])


def test_people_of_weight_zero_are_not_counted(crowd):
    X, y, z = crowd
    weight = (np.arange(len(y)) % 5 > 0).astype(float)
    weight[(z == "z2").to_numpy()] = 0.0
    costs = {"z0": 0.6, "z1": 0.7, "z2": 0.5}
    model = NaiveClassifier(cost=costs, **promised).fit(X, y, sensitive_features=z, sample_weight=weight)
    assert model.published_.counts.n[2] == 0
    assert not model.promised_["z2"]
    assert model.promised_["z0"]


def test_a_selection_rate_below_the_least_on_the_people_set_aside_is_a_warning(crowd):
    X, y, z = crowd
    model = StrategicClassifier(cost=0.7, constraints=[MinSelectionRate(0.4)], solver="constructive", **promised)
    with pytest.warns(ApplicationWarning, match=r"Not all constraints hold.*MinSelectionRate\(share=0\.4\) by 0\.0"):
        model.fit(X, y, sensitive_features=z)
    assert 0.3 < model.published_.counts.selection_rate.min() < 0.4


def test_a_refit_leaves_nothing_of_the_first_fit(crowd):
    X, y, z = crowd
    model = SemiStrategicClassifier(RandomForestClassifier(10, random_state=0), cost=0.7, **promised)
    first = model.fit(X, y, sensitive_features=z).applies()
    assert model.fit(X.to_numpy(), y, sensitive_features=z).applies().equals(first)
    assert not hasattr(model, "feature_names_in_")
    plain = model.set_params(publish="holdout").fit(X, y, sensitive_features=z)
    assert not hasattr(plain, "promise_level_")
