"""Parts of somebody's own class: they work with one method, and wrong ones are refused in words."""

import re

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm, uniform
from sklearn.base import BaseEstimator, ClassifierMixin

from selfselect import (
    GroupThresholdClassifier,
    InfeasibleError,
    NaiveClassifier,
    PublishedStatistics,
    SemiStrategicClassifier,
    StrategicClassifier,
    StrategicObjective,
    Terms,
    load_model,
)
from selfselect.behaviour import BestResponse, BetaBeliefs, LogitResponse, PrivateCosts
from selfselect.constraints import BaseRateOrder, Constraint, DemographicParity, RequiredGroups, check_constraints
from selfselect.publishing import CrossFit, LowerBound, TrainingSet

pytestmark = pytest.mark.filterwarnings("ignore::selfselect.ApplicationWarning")
LEARNERS = (SemiStrategicClassifier, StrategicClassifier, GroupThresholdClassifier)


@pytest.fixture(scope="module")
def crowd():
    rng = np.random.default_rng(0)
    group = rng.choice(list("ABC"), 600)
    group[0] = "D"  # one person, who is missing from some folds
    X = rng.normal(size=(600, 2))
    y = rng.random(600) < expit(2 * X[:, 0] - np.select([group == "A", group == "B"], [0.0, 0.5], 1.5))
    return X, y.astype(int), group


class Score(ClassifierMixin, BaseEstimator):
    """The only feature is the score."""

    def fit(self, X, y):
        self.classes_, self.n_features_in_ = np.array([0, 1]), 1
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, 0]


@pytest.mark.parametrize("seed", range(6))
def test_the_best_common_threshold_under_shares_is_that_of_a_slow_search(seed):
    rng = np.random.default_rng(seed)
    score = np.round(rng.normal(size=300), 2)  # the highest scores are bad, so that shares rise and fall
    y = (rng.random(300) < np.where(score > 1.2, 0.02, expit(3 * score))).astype(int)
    group = rng.choice(list("AB"), 300)
    behaviour = LogitResponse(0.01)
    semi = SemiStrategicClassifier(Score(), cost=0.6, behaviour=behaviour, publish="train")
    semi.fit(score[:, None], y, sensitive_features=group)
    best = -1.0
    for row in semi.curve_.itertuples():
        table = PublishedStatistics.from_predictions(y, score > row.threshold, sensitive_features=group)
        shares = table.shares(Terms(0.6, behaviour=behaviour)).to_numpy()
        applicants = shares @ table.counts.n
        if applicants > 1e-6:
            assert row.induced_accuracy == pytest.approx(shares @ table.counts.correct / applicants, abs=1e-4)
        if (shares >= 0.5).any():
            best = max(best, shares @ table.counts.correct / applicants)
    assert best > 0
    assert semi.audit(score[:, None], y, group).induced_accuracy == pytest.approx(best)


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_uses_the_statistic_that_is_published_of_training_people(learner, crowd):
    X, y, group = crowd
    publish = TrainingSet(statistic=LowerBound(0.99))
    model = learner(cost=0.8, publish=publish).fit(X, y, sensitive_features=group)
    assert model.applies().any()
    with pytest.raises(InfeasibleError):
        learner(cost=0.97, publish=publish, constraints=[RequiredGroups("C")]).fit(X, y, sensitive_features=group)


class OnlyViolation:
    """At least a tenth of all people are selected."""

    def violation(self, counts, shares):
        return np.maximum(0.1 - counts.selected.sum(axis=1) / counts.n.sum(), 0)


class OwnRates(Constraint):
    """A least selection rate for each group, stored in the order of the groups."""

    def __init__(self, least=None):
        self.least = least

    def for_groups(self, groups):
        return OwnRates(np.where(groups == "A", 0.2, 0.0))

    def violation(self, counts, shares):
        return np.maximum(self.least - counts.selection_rate, 0).sum(axis=-1)


class UsesSizes:
    """A statistic of how many people there are."""

    def value(self, counts):
        return np.where(counts.selected > 0, (counts.true_positives + 0.1 * counts.positives) / (counts.n / 3), np.nan)


@pytest.mark.parametrize("learner", [SemiStrategicClassifier, StrategicClassifier])
def test_a_constraint_needs_one_method_and_may_know_its_groups(learner, crowd):
    X, y, group = crowd
    for constraint in (OnlyViolation(), OwnRates()):
        model = learner(cost=0.7, constraints=[constraint], publish=CrossFit(3)).fit(X, y, sensitive_features=group)
        assert model.constraints_met_
        assert model.applies().any()
    (wrapped,) = check_constraints(OnlyViolation())
    assert wrapped.penalty(None)[0] == 0
    assert wrapped.with_weight(2.0) is wrapped


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_statistic_may_use_all_counts(learner, crowd):
    X, y, group = crowd
    model = learner(cost=0.5, publish=CrossFit(3, UsesSizes())).fit(X, y, sensitive_features=group)
    counts = model.published_.counts
    assert model.applies().tolist() == (np.nan_to_num(UsesSizes().value(counts)) >= 0.5).tolist()


class Returns:
    """A behaviour that returns the shares that a function makes of the published values."""

    def __init__(self, make):
        self.make = make

    def shares(self, published, cost):
        return self.make(published.value)


def test_lists_of_shares_are_taken(crowd):
    X, y, group = crowd
    behaviour = Returns(lambda value: np.full(value.shape, 0.5).tolist())
    model = SemiStrategicClassifier(cost=0.7, behaviour=behaviour, publish="train").fit(X, y, sensitive_features=group)
    assert (model.application_shares() == 0.5).all()


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"behaviour": Returns(lambda value: np.full(value.shape, 1.5))}, "Shares must lie in [0, 1]"),
        ({"behaviour": Returns(lambda value: np.full(value.shape, np.nan))}, "Shares must lie in [0, 1]"),
        ({"behaviour": Returns(lambda value: np.array(0.5))}, "must return one share for each group"),
        ({"behaviour": LogitResponse}, "such as LogitResponse(0.05), got <class"),
        ({"behaviour": "logit"}, "such as LogitResponse(0.05), got 'logit'"),
        ({"publish": CrossFit(statistic=LowerBound)}, "such as LowerBound(0.9), got <class"),
        ({"publish": CrossFit(statistic="precision")}, "such as LowerBound(0.9), got 'precision'"),
        ({"constraints": "demographic_parity"}, "found 'demographic_parity'"),
        ({"constraints": [DemographicParity]}, "found <class"),
    ],
)
def test_wrong_parts_are_refused_in_words(parts, message, crowd):
    X, y, group = crowd
    for learner in LEARNERS:
        with pytest.raises((TypeError, ValueError), match=re.escape(message)):
            learner(cost=0.7, **parts).fit(X, y, sensitive_features=group)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PrivateCosts(norm), "frozen distribution"),
        (lambda: BetaBeliefs(0.5, 3, response=LogitResponse), "got <class"),
        (lambda: StrategicObjective(0.7, behaviour=LogitResponse), "got <class"),
        (lambda: StrategicObjective(np.full(3, 0.7)).on_rows([0, 1], ["a", "b"]), "there are 2 groups"),
    ],
)
def test_wrong_parts_of_parts_are_refused_in_words(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()


def test_private_costs_are_shown_as_they_were_written_and_saved(crowd, tmp_path):
    X, y, group = crowd
    by_group = PrivateCosts({"A": norm(0, 0.1), "B": norm(0, scale=0.2), "C": uniform(-0.1, 0.2), "D": norm()})
    assert (
        repr(by_group)
        == "PrivateCosts({'A': norm(0, 0.1), 'B': norm(0, scale=0.2), 'C': uniform(-0.1, 0.2), 'D': norm()})"
    )
    own = type("Own", (), {"cdf": None, "pdf": None, "__repr__": lambda self: "Own()"})()
    assert repr(PrivateCosts(own)) == "PrivateCosts(Own())"
    model = SemiStrategicClassifier(cost=0.6, behaviour=by_group).fit(X, y, sensitive_features=group)
    model.save(tmp_path / "model.skops", min_cell=0)
    assert load_model(tmp_path / "model.skops").application_shares().equals(model.application_shares())


def test_the_order_of_base_rates_is_a_penalty_of_several_scores_at_once():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 20)
    y = np.tile(np.arange(20), 3) < 5 * (group + 1)
    scores = rng.normal(size=(2, 60)) + np.where(y, 1, -1) * (1 - group)  # the higher the base rate, the less precise
    objective = StrategicObjective(0.6, constraints=[BaseRateOrder(0.0)])
    values, gradients = objective.value_and_gradient(scores, y, group)
    for score, value, gradient in zip(scores, values, gradients, strict=True):
        alone = objective.value_and_gradient(score, y, group)
        assert value == pytest.approx(alone[0])
        assert gradient == pytest.approx(alone[1])
    assert values[0] != StrategicObjective(0.6).value_and_gradient(scores[0], y, group)[0]


def test_a_relative_constraint_without_a_difference_bound_has_none(crowd):
    X, y, group = crowd
    model = SemiStrategicClassifier(cost=0.6, constraints=[DemographicParity(ratio_bound=0.01, relative=True)])
    assert model.fit(X, y, sensitive_features=np.where(group == "D", "A", group)).constraints_met_


def test_explanations_give_the_reason(crowd):
    X, y, group = crowd
    model = NaiveClassifier(cost=0.8, behaviour=BestResponse("apply"), publish="train")
    lowest = np.where(X[:, 0] < -1.5, "lowest", "others")
    text = model.fit(X, y, sensitive_features=lowest).explain()
    assert "pass; applies: nothing is published about it" in text

    class Half:
        def value(self, counts):
            return np.where(counts.selected > 0, counts.true_positives / np.maximum(counts.selected, 1) / 2, np.nan)

    below = SemiStrategicClassifier(cost=0.7, publish=CrossFit(statistic=Half())).fit(X, y, sensitive_features=group)
    assert "is reached, but what is published is below it" in below.explain()
    assert "lower bound" not in below.explain()
