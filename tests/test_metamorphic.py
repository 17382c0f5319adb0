"""What must stay the same, or change in a known way, when people are told of in another way.

A *view* is what a public function makes of some people, in plain values by the name of the group. A *relation* is
another way of telling of the same people (or of people that differ in a known way), with what that does to views. Every
view is tried with every relation that is about it; the last test keeps the list whole.
"""

import inspect
import math
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

import selfselect
from selfselect import (
    GroupCounts,
    GroupThresholdClassifier,
    HardRule,
    NaiveClassifier,
    PairedCounts,
    PublishedStatistics,
    Screened,
    SemiStrategicClassifier,
    StrategicClassifier,
    SureRule,
    Terms,
    ThresholdCurves,
    accuracy_social_cost_frontier,
    audit,
    compare,
    encode_groups,
    load_model,
    metrics,
    plan_subsidies,
    planning,
    precision_interval,
    save_model,
    theory,
    threshold_frontier,
)
from selfselect.deciding import SLACK

COST, THRESHOLD = 0.64, 0.5


@dataclass(frozen=True)
class People:
    """Some people, as a table holds them; ``weight`` None means one each."""

    X: object
    y: object
    score: object
    z: object
    weight: object = None
    threshold: float = THRESHOLD

    @property
    def told(self):
        """Arguments that most functions take."""
        return {"sensitive_features": self.z, "sample_weight": self.weight}

    @property
    def yhat(self):
        return np.asarray(self.score, dtype=float) > self.threshold


def some_people(n=240, seed=0):
    """Four groups of different sizes and base rates; scores tie often, and some tie with the threshold."""
    rng = np.random.default_rng(seed)
    z = rng.choice(["A", "B", "C", "D"], n, p=[0.4, 0.3, 0.2, 0.1])
    rate = pd.Series(z).map({"A": 0.6, "B": 0.45, "C": 0.3, "D": 0.5}).to_numpy()
    y = (rng.random(n) < rate).astype(int)
    signal = np.clip(rng.normal(0.35 + 0.3 * y, 0.2), 0.01, 0.99)
    X = pd.DataFrame({"x": signal.round(2), "noise": rng.normal(size=n).round(3)})
    return People(X, y, X["x"].to_numpy(), z)


class Scored(ClassifierMixin, BaseEstimator):
    """A classifier whose score is its first column, so that everything that is built on it is exact."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.n_features_in_ = np.shape(X)[1]
        return self

    def decision_function(self, X):
        return np.asarray(X, dtype=float)[:, 0] - 0.5

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


# ---------------------------------------------------------------------- views: what functions make of people

#: Names of the package that a view or a test of this file is about.
COVERED = set()
VIEWS = {}
#: Columns of tables that follow from numbers of people alone; intervals also ask how many weigh how much.
POINTS = ["n", "positives", "base_rate", "selected", "true_positives", "selection_rate", "precision", "accuracy"]


def covers(*names):
    COVERED.update(names)
    return lambda function: function


def view(*names):
    def keep(function):
        VIEWS[function.__name__] = function
        return covers(*names)(function)

    return keep


def by_group(frame, columns):
    return {str(group): {name: float(row[name]) for name in columns} for group, row in frame.iterrows()}


def outcome_of(found):
    names = ("assumed_accuracy", "induced_accuracy", "application_rate", "social_cost", "applying_groups")
    return {name: float(getattr(found, name)) for name in names}


@view("PublishedStatistics", "metrics.outcome", "metrics.Outcome", "HardRule")
def published(p):
    stats = PublishedStatistics.from_predictions(p.y, p.yhat, **p.told)
    applies = stats.applies(COST)
    assert (stats.shares(Terms(COST, behaviour=HardRule())) == applies).all()
    return {
        "groups": by_group(stats.to_frame(), POINTS),
        "applies": {str(group): bool(yes) for group, yes in applies.items()},
        "outcome": outcome_of(metrics.outcome(stats, applies)),
    }


@view("encode_groups", "GroupCodes", "GroupCounts")
def counted(p):
    codes = encode_groups(p.z)
    counts = GroupCounts.from_rows(np.asarray(p.y) == 1, p.yhat, codes.codes, codes.n_groups, weights(p))
    frame = pd.DataFrame(counts.to_dict(), index=codes.labels)
    return {"groups": by_group(frame[frame["n"] > 0], ["n", "positives", "selected", "true_positives"])}


def weights(p):
    return None if p.weight is None else np.asarray(p.weight, dtype=float)


@view("ThresholdCurves")
def curves(p):
    made = ThresholdCurves.from_scores(p.y, p.score, **p.told)
    return {
        "groups": by_group(made.at(p.threshold).to_frame(), POINTS),
        "order": [str(group) for group in made.application_order(COST).index],
        "every threshold": made.outcomes(COST).drop(columns="threshold").to_numpy(dtype=float).tolist(),
    }


@view("audit", "Audit", "Screened", "Provenance")
def audited(p):
    found = audit(p.y, score=p.score, threshold=p.threshold, cost=COST, **p.told)
    by_prediction = audit(p.y, y_pred=p.yhat, cost=COST, **p.told)
    assert isinstance(found.published_by, Screened)
    assert same(outcome_of(found), outcome_of(by_prediction))
    return {
        "groups": by_group(found.to_frame(), [*POINTS, "subsidy_needed", "cost", "applies"]),
        "outcome": outcome_of(found),
    }


@view("plan_subsidies", "SubsidyPlan", "planning.plan_for", "planning.SubsidyPlan", "planning.plan_subsidies")
def planned(p):
    plan = plan_subsidies(p.y, score=p.score, threshold=p.threshold, cost=0.75, **p.told)
    again = planning.plan_for(audit(p.y, score=p.score, threshold=p.threshold, cost=0.75, **p.told))
    assert plan.verdict() == again.verdict()
    return {"groups": {str(group): float(row["subsidy"]) for group, row in plan.to_frame().iterrows()}}


@view("planning.Spending")
def spent(p):
    plan = plan_subsidies(p.y, score=p.score, threshold=p.threshold, cost=0.8, budget=0.05 * head_count(p), **p.told)
    return {"groups": {str(group): float(row["subsidy"]) for group, row in plan.to_frame().iterrows()}}


def head_count(p):
    return len(p.y) if p.weight is None else float(np.sum(p.weight))


@view(
    "threshold_frontier", "ThresholdFrontier", "planning.frontier_for", "planning.ThresholdFrontier",
    "planning.threshold_frontier",
)  # fmt: skip
def frontier(p):
    made = threshold_frontier(p.y, p.score, cost=COST, threshold=p.threshold, **p.told)
    again = planning.frontier_for(audit(p.y, score=p.score, threshold=p.threshold, cost=COST, **p.told))
    assert [point.outcome for point in made.one] == [point.outcome for point in again.one]
    return {"one": [outcome_of(x.outcome) for x in made.one], "each": [outcome_of(x.outcome) for x in made.per_group]}


@view("compare", "Comparison")
def compared(p):
    before = audit(p.y, score=p.score, threshold=p.threshold, cost=COST, **p.told)
    after = audit(p.y, y_pred=np.ones(len(p.y), dtype=int), cost=0.35, **p.told)
    made = compare(before, after, n_resamples=20)
    return {"differences": made.differences()["difference"].to_dict()}


@view(
    "metrics.induced_accuracy", "metrics.social_cost", "metrics.application_rate", "metrics.assumed_accuracy",
    "metrics.applicant_utility", "metrics.firm_utility",
)  # fmt: skip
def measured(p):
    y, yhat = (np.asarray(p.y) == 1).astype(int), p.yhat.astype(int)
    stats = PublishedStatistics.from_predictions(p.y, p.yhat, **p.told)
    mask = stats.applies_to(p.z, COST)
    told = {"applies": mask, "sample_weight": p.weight}
    return {
        "induced": metrics.induced_accuracy(y, yhat, **told),
        "social": metrics.social_cost(y, **told),
        "rate": metrics.application_rate(y, **told),
        "assumed": metrics.assumed_accuracy(y, yhat, sample_weight=p.weight),
        "people": metrics.applicant_utility(y, yhat, cost=COST, **told),
        "firm": metrics.firm_utility(y, yhat, price=0.3, **told),
    }


@view("metrics.rank_agreement", "metrics.RankAgreement")
def ranked(p):
    stats = PublishedStatistics.from_predictions(p.y, p.yhat, **p.told)
    found = metrics.rank_agreement(stats.base_rate, stats.precision)
    return {name: float(getattr(found, name)) for name in ("r2", "spearman", "kendall", "respected", "n_groups")}


@view("theory.strategic_optimum", "theory.StrategicOptimum")
def optimal(p):
    best = theory.strategic_optimum(ThresholdCurves.from_scores(p.y, p.score, **p.told), COST)
    return {"accuracy": best.accuracy, "groups": {str(best.group): {}}}


@view("theory.block_groups")
def blocked(p):
    made = ThresholdCurves.from_scores(p.y, p.score, **p.told)
    ways = theory.block_groups(made, p.threshold, [made.groups[made.n.argmax()]], COST)
    return {"groups": {str(group): str(row["way"]) for group, row in ways.iterrows()}}


@view("NaiveClassifier", "metrics.induced_accuracy_scorer", "metrics.InducedAccuracyScorer",
      "metrics.social_cost_scorer", "metrics.SocialCostScorer")  # fmt: skip
def naive(p):
    model = fitted(NaiveClassifier, p)
    scorers = (metrics.induced_accuracy_scorer(cost=COST), metrics.social_cost_scorer(cost=COST))
    if p.weight is None:
        scores = [scorer(model, p.X, p.y, sensitive_features=p.z) for scorer in scorers]
        found = model.audit(p.X, p.y, p.z)
        assert scores == [found.induced_accuracy, -found.social_cost]
    return classified(model, p)


@view("SemiStrategicClassifier")
def semi(p):
    return classified(fitted(SemiStrategicClassifier, p), p)


@view("GroupThresholdClassifier")
def thresholds(p):
    return classified(fitted(GroupThresholdClassifier, p), p)


def fitted(cls, p):
    return cls(Scored(), cost=COST, publish="train").fit(p.X, p.y, **p.told)


def classified(model, p):
    return {
        "groups": by_group(model.published_.to_frame(), POINTS),
        "applies": {str(group): bool(yes) for group, yes in model.applies().items()},
    }


# ---------------------------------------------------------------------- relations


def same(one, other, tolerance=1e-9):
    """Whether two views agree; what is undefined in one is undefined in the other."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key], tolerance) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(same(a, b, tolerance) for a, b in zip(one, other, strict=True))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance) or one == other or one != one != other
    return one == other


def take(p, rows):
    """The same people in another order, or some of them, or some twice."""
    part = {name: np.asarray(getattr(p, name))[rows] for name in ("y", "score", "z")}
    weight = None if p.weight is None else np.asarray(p.weight)[rows]
    return replace(p, X=p.X.iloc[rows].reset_index(drop=True), weight=weight, **part)


def shuffled(p):
    return take(p, np.random.default_rng(1).permutation(len(p.y)))


def renamed(p, names):
    return replace(p, z=pd.Series(p.z).map(names).to_numpy())


def with_names(found, names):
    """A view with its groups called otherwise."""
    if isinstance(found, dict):
        return {names.get(key, key): with_names(value, names) for key, value in found.items()}
    if isinstance(found, list):
        return [with_names(value, names) for value in found]
    return names.get(found, found) if isinstance(found, str) else found


def other_scores(p):
    """A rising change of the score, and of the threshold with it."""
    change = lambda s: 5 * np.asarray(s, dtype=float) ** 3 - 2  # noqa: E731
    return replace(p, score=change(p.score), threshold=float(change(p.threshold)))


def on_any_index(p):
    index = pd.Index(np.random.default_rng(2).permutation(len(p.y)) + 1000)
    series = {name: pd.Series(getattr(p, name), index=index) for name in ("y", "score", "z")}
    return replace(p, X=p.X.set_axis(index), **series)


def as_category(p):
    return replace(p, z=pd.Series(pd.Categorical(p.z, categories=["unused", "A", "B", "C", "D", "never"])))


def in_libraries(make):
    def change(p):
        return replace(p, y=make(np.asarray(p.y)), z=make(np.asarray(p.z)))

    return change


NAMES = {"A": "first", "B": "second", "C": "third", "D": "fourth"}
BACKWARDS = {"A": "z", "B": "y", "C": "x", "D": "w"}

#: Another way of telling of the same people.
SAME = {
    "rows in another order": shuffled,
    "frames and series on a shuffled index": on_any_index,
    "groups as categories, some unused": as_category,
    "labels as truth values": lambda p: replace(p, y=np.asarray(p.y).astype(bool)),
    "labels as floats": lambda p: replace(p, y=np.asarray(p.y).astype(float)),
    "labels in one byte": lambda p: replace(p, y=np.asarray(p.y).astype(np.int8)),
    "labels as a list": lambda p: replace(p, y=np.asarray(p.y).tolist()),
    "scores as a list": lambda p: replace(p, score=np.asarray(p.score).tolist()),
    "groups as objects": lambda p: replace(p, z=np.asarray(p.z).astype(object)),
    "groups as a list": lambda p: replace(p, z=np.asarray(p.z).tolist()),
    "groups as pandas texts": lambda p: replace(p, z=pd.Series(p.z, dtype="string")),
    "groups as a frame of one column": lambda p: replace(p, z=pd.DataFrame({"group": p.z})),
    "labels and groups of polars": in_libraries(pl.Series),
    "labels and groups of pyarrow": in_libraries(pa.array),
    "weights of one each": lambda p: replace(p, weight=np.ones(len(p.y))),
}  # fmt: skip

PLAIN = some_people()
#: Views of a classifier: their score is a column, and not the one of the person.
MODELS = {"naive", "semi", "thresholds"}


@pytest.fixture(scope="module")
def plain_views():
    return {name: function(PLAIN) for name, function in VIEWS.items()}


@pytest.mark.parametrize("relation", SAME)
@pytest.mark.parametrize("name", VIEWS)
def test_the_same_people_told_otherwise_give_the_same(name, relation, plain_views):
    assert same(VIEWS[name](SAME[relation](PLAIN)), plain_views[name])


@pytest.mark.parametrize("names", [NAMES, BACKWARDS])
@pytest.mark.parametrize("name", VIEWS)
def test_other_names_of_groups_change_names_only(name, names, plain_views):
    assert same(VIEWS[name](renamed(PLAIN, names)), with_names(plain_views[name], names))


@pytest.mark.parametrize("name", [name for name in VIEWS if name not in MODELS])
def test_a_rising_change_of_the_score_changes_nothing(name, plain_views):
    assert same(VIEWS[name](other_scores(PLAIN)), plain_views[name])


TIMES = np.random.default_rng(3).integers(0, 4, len(PLAIN.y))


@pytest.mark.parametrize("name", VIEWS)
def test_a_weight_is_as_many_of_the_same_person_and_none_is_nobody(name):
    weighted = replace(PLAIN, weight=TIMES.astype(float))
    repeated = take(PLAIN, np.repeat(np.arange(len(PLAIN.y)), TIMES))
    assert same(VIEWS[name](weighted), VIEWS[name](repeated))


@pytest.mark.parametrize("name", VIEWS)
def test_weights_of_two_are_everybody_twice(name):
    twice = replace(PLAIN, weight=np.full(len(PLAIN.y), 2.0))
    assert same(VIEWS[name](twice), VIEWS[name](take(PLAIN, np.repeat(np.arange(len(PLAIN.y)), 2))))


@pytest.mark.parametrize("name", [name for name in VIEWS if name != "spent"])
def test_everybody_three_times_changes_no_share(name, plain_views):
    def shares(found):
        """A view without numbers of people."""
        if isinstance(found, dict):
            kept = {key for key in found if key not in ("n", "positives", "selected", "true_positives")}
            return {key: shares(found[key]) for key in kept}
        return [shares(value) for value in found] if isinstance(found, list) else found

    tripled = VIEWS[name](take(PLAIN, np.tile(np.arange(len(PLAIN.y)), 3)))
    assert same(shares(tripled), shares(plain_views[name]))


@pytest.mark.parametrize("name", ["published", "counted", "curves", "audited", "planned"])
def test_another_group_changes_nothing_of_the_others(name, plain_views):
    apart = replace(some_people(80, seed=5), z=np.repeat("E", 80))
    both = replace(
        PLAIN,
        X=pd.concat([PLAIN.X, apart.X], ignore_index=True),
        **{part: np.concatenate([getattr(PLAIN, part), getattr(apart, part)]) for part in ("y", "score", "z")},
    )
    found = VIEWS[name](both)["groups"]
    assert same({group: row for group, row in found.items() if group != "E"}, plain_views[name]["groups"])


# ---------------------------------------------------------------------- adding up


@covers("GroupCounts", "PublishedStatistics")
def test_counts_of_the_parts_of_a_table_add_up_to_those_of_the_whole():
    rows = np.random.default_rng(6).permutation(len(PLAIN.y))
    parts = [take(PLAIN, part) for part in np.array_split(rows, 5)]
    made = [PublishedStatistics.from_predictions(p.y, p.yhat, sensitive_features=p.z) for p in parts]
    total = made[0]
    for other in made[1:]:
        total = total + other
    assert total == PublishedStatistics.from_predictions(PLAIN.y, PLAIN.yhat, sensitive_features=PLAIN.z)
    assert total.counts.n.sum() == len(PLAIN.y)


@covers("PublishedStatistics", "encode_groups")
def test_groups_of_two_columns_are_the_combinations_in_one():
    second = np.where(np.arange(len(PLAIN.y)) % 3 == 0, "x", "y")
    two = PublishedStatistics.from_predictions(
        PLAIN.y, PLAIN.yhat, sensitive_features=pd.DataFrame({"a": PLAIN.z, "b": second})
    )
    joined = [f"{a}/{b}" for a, b in zip(PLAIN.z, second, strict=True)]
    one = PublishedStatistics.from_predictions(PLAIN.y, PLAIN.yhat, sensitive_features=joined)
    frame = two.to_frame()
    frame.index = ["/".join(pair) for pair in frame.index]
    pd.testing.assert_frame_equal(frame.sort_index(), one.to_frame().sort_index(), check_names=False)


@covers("PairedCounts")
def test_pairs_of_a_model_with_itself_agree_and_each_side_is_its_own_counts():
    z, other = PLAIN.z, np.roll(PLAIN.yhat, 1)
    for first, second in ((PLAIN.yhat, other), (other, PLAIN.yhat), (PLAIN.yhat, PLAIN.yhat)):
        pairs = PairedCounts.from_predictions(PLAIN.y, first, second, sensitive_features=z)
        for i, yhat in enumerate((first, second)):
            own = PublishedStatistics.from_predictions(PLAIN.y, yhat, sensitive_features=z)
            assert pairs.counts()[i].selected.tolist() == own.counts.selected.tolist()


# ---------------------------------------------------------------------- costs and subsidies

STATS = PublishedStatistics.from_predictions(PLAIN.y, PLAIN.yhat, sensitive_features=PLAIN.z)
COSTS = [0.0, 0.3, 0.55, 0.6, 0.7, 0.9, 1.0]


@covers("Terms")
def test_at_no_cost_everybody_applies_and_at_a_cost_above_all_precisions_nobody():
    assert STATS.applies(0.0).all()
    highest = float(STATS.precision.max())
    assert highest < 1
    assert not STATS.applies(highest + 2 * SLACK).any()
    assert STATS.applies(highest).any()
    assert STATS.applies(highest + SLACK / 2).any()  # rounding keeps nobody away
    assert (STATS.applies(1.0) == (STATS.precision == 1)).all()


def test_a_higher_cost_never_brings_a_group_in():
    for low, high in pairwise(COSTS):
        assert (STATS.applies(low) | ~STATS.applies(high)).all()
        lower, higher = (audit(PLAIN.y, y_pred=PLAIN.yhat, sensitive_features=PLAIN.z, cost=c) for c in (low, high))
        assert lower.social_cost <= higher.social_cost


@pytest.mark.parametrize("cost", COSTS[1:])
def test_a_subsidy_is_a_lower_cost_and_a_share_of_the_cost_is_its_amount(cost):
    paid = 0.25 * cost
    lower = STATS.applies(cost - paid)
    assert (STATS.applies(cost, subsidies=paid) == lower).all()
    assert (STATS.applies(cost, subsidies=0.25, subsidy_kind="proportional") == lower).all()
    assert (STATS.applies(dict.fromkeys("ABCD", cost)) == STATS.applies(cost)).all()
    assert (STATS.applies(cost, subsidies=0.0) == STATS.applies(cost)).all()


@covers("plan_subsidies", "theory.least_subsidy", "theory.least_proportional_subsidy")
def test_what_a_plan_pays_is_just_enough():
    plan = plan_subsidies(PLAIN.y, y_pred=PLAIN.yhat, sensitive_features=PLAIN.z, cost=0.75)
    paid = plan.to_frame()["subsidy"]
    assert STATS.applies(0.75, subsidies=paid.to_dict()).all()
    less = {group: max(0.0, amount - 1e-6) for group, amount in paid.items()}
    needing = paid > 0
    assert not STATS.applies(0.75, subsidies=less)[needing].any()
    least = theory.least_subsidy(STATS.precision, 0.75)
    assert paid.reindex(STATS.groups).to_numpy() == pytest.approx(least, abs=1e-9)
    assert theory.least_proportional_subsidy(STATS.precision, 0.75) * 0.75 == pytest.approx(least)


@covers("SureRule")
def test_being_surer_never_brings_a_group_in_and_more_of_the_same_people_do():
    shares = [STATS.shares(Terms(0.55, behaviour=SureRule(level))).to_numpy() for level in (0.5, 0.8, 0.9, 0.99)]
    assert all((a >= b).all() for a, b in pairwise(shares))
    many = PublishedStatistics.from_counts(STATS.to_frame()[["n", "positives", "selected", "true_positives"]] * 1000)
    surely = many.shares(Terms(0.55, behaviour=SureRule(0.9))).to_numpy()
    assert (surely >= shares[2]).all()
    assert (surely == STATS.applies(0.55).to_numpy()).all()


@covers("precision_interval")
@pytest.mark.parametrize("interval", ["wilson", "clopper-pearson"])
def test_intervals_hold_the_share_turn_round_with_it_and_narrow_with_more_people(interval):
    hits, people = np.array([0, 1, 5, 9, 10]), np.full(5, 10)
    low, high = precision_interval(hits, people, interval=interval)
    assert ((low <= hits / 10) & (hits / 10 <= high)).all()
    other_low, other_high = precision_interval(people - hits, people, interval=interval)
    assert np.allclose(low, 1 - other_high)
    assert np.allclose(high, 1 - other_low)
    narrow_low, narrow_high = precision_interval(10 * hits, 10 * people, interval=interval)
    assert (narrow_high - narrow_low < high - low).all()
    wide_low, wide_high = precision_interval(hits, people, interval=interval, confidence=0.99)
    assert ((wide_low <= low) & (high <= wide_high)).all()


# ---------------------------------------------------------------------- classifiers that learn weights


def trained(X, y=PLAIN.y, z=PLAIN.z, **options):
    model = StrategicClassifier(cost=COST, random_state=0, publish="train", **options)
    return model.fit(X, y, sensitive_features=z)


def judged(model, X, y=PLAIN.y, z=PLAIN.z):
    """What it comes to; solvers may stop at weights that are as good as others."""
    found = model.audit(X, y, z)
    return found.induced_accuracy, found.social_cost


#: Other tables that say the same of people.
TABLES = {
    "a column twice": lambda X: X.assign(again=X["x"]),
    "a constant column": lambda X: X.assign(one=1.0),
    "columns in another order": lambda X: X[X.columns[::-1]],
    "columns of other names": lambda X: X.rename(columns={"x": "b", "noise": "a"}),
    "as an array": lambda X: X.to_numpy(),
    "as a frame of polars": lambda X: pl.DataFrame(X.to_dict("list")),
    "as a table of pyarrow": lambda X: pa.table(X.to_dict("list")),
    "a column turned round": lambda X: X.assign(x=-X["x"]),
    "a column in other units": lambda X: X.assign(x=1000 * X["x"] - 7),
}


@covers("StrategicClassifier", "NaiveClassifier", "SemiStrategicClassifier")
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("cls", [StrategicClassifier, NaiveClassifier, SemiStrategicClassifier])
def test_another_table_that_says_the_same_is_judged_the_same(cls, table):
    def result(X):
        options = {"random_state": 0} if cls is StrategicClassifier else {}
        model = cls(cost=COST, publish="train", **options).fit(X, PLAIN.y, sensitive_features=PLAIN.z)
        return judged(model, X)

    assert result(TABLES[table](PLAIN.X)) == pytest.approx(result(PLAIN.X), abs=0.02)


def test_other_names_of_labels_and_groups_give_the_same_classifier():
    base = judged(trained(PLAIN.X), PLAIN.X)
    words = np.where(PLAIN.y == 1, "yes", "no")
    named = trained(PLAIN.X, words, pos_label="yes")
    assert judged(named, PLAIN.X, words) == pytest.approx(base, abs=1e-9)
    turned = np.where(PLAIN.y == 1, "a", "b")  # the qualified come first
    assert judged(trained(PLAIN.X, turned, pos_label="a"), PLAIN.X, turned) == pytest.approx(base, abs=0.02)
    other = renamed(PLAIN, BACKWARDS).z
    assert judged(trained(PLAIN.X, z=other), PLAIN.X, z=other) == pytest.approx(base, abs=0.02)


@covers("accuracy_social_cost_frontier", "planning.accuracy_social_cost_frontier")
def test_a_looser_limit_on_social_cost_never_costs_accuracy():
    made = accuracy_social_cost_frontier(
        PLAIN.X, PLAIN.y, sensitive_features=PLAIN.z, cost=0.65, limits=[0.0, 0.3, 0.6, 1.0], progress=False
    )
    met = made[made["feasible"]]
    assert (met["social_cost"] <= met.index + 1e-9).all()
    accuracies = met.sort_index()["induced_accuracy"].to_numpy()
    assert (np.diff(accuracies) >= -1e-9).all()


@covers("planning.refit", "planning.plan_under_retraining")
def test_a_firm_that_never_changes_its_model_is_paid_for_as_if_it_did_not_re_train():
    groups = encode_groups(PLAIN.z)
    firm = planning.refit(NaiveClassifier(Scored(), cost=COST, publish="train"), PLAIN.X, PLAIN.y, groups)
    before = audit(PLAIN.y, score=PLAIN.score, threshold=THRESHOLD, sensitive_features=PLAIN.z, cost=0.7)
    plain, answered = planning.plan_for(before), planning.plan_under_retraining(before, firm)
    assert answered.to_frame()["subsidy"].to_dict() == pytest.approx(plain.to_frame()["subsidy"].to_dict(), abs=1e-6)


@covers("save_model", "load_model")
@pytest.mark.parametrize("cls", [StrategicClassifier, NaiveClassifier, SemiStrategicClassifier])
def test_a_model_that_was_away_in_a_file_says_the_same(cls, tmp_path):
    model = cls(cost=COST).fit(PLAIN.X, PLAIN.y, sensitive_features=PLAIN.z)
    for name in ("one.json", "two.json"):  # what is read back can be written again
        save_model(model, tmp_path / name)
        model = load_model(tmp_path / name)
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


# ---------------------------------------------------------------------- theory: functions of numbers

RATES = np.random.default_rng(7).uniform(0.05, 0.95, (4, 50))
FORMULAS = {
    "expected_utility": 3, "bayes_precision": 3, "paper_accuracy_bounds": 2, "precision_range": 2,
    "application_region": 3, "parity_precision": 3, "least_subsidy": 2, "least_proportional_subsidy": 2,
    "levelling_subsidy": 4, "subsidised_base_rate": 4, "sufficient_subsidy": 2,
}  # fmt: skip
covers(*(f"theory.{name}" for name in FORMULAS))


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas_of_many_are_those_of_each(name):
    given = RATES[: FORMULAS[name]].copy()
    if name == "bayes_precision":
        given[2] = np.clip(given[0] * given[1] + 0.1, 0, 1)  # as many are selected as are found
    if name == "levelling_subsidy":
        given = np.sort(given, axis=0)  # level with a group of a higher base rate
    function = getattr(theory, name)
    pairs = isinstance(function(*given), tuple)
    together, again, alone = (
        np.atleast_2d(np.array(function(*rows)).reshape(2 if pairs else 1, -1))
        for rows in (given, given[:, ::-1], given[:, :1])
    )
    assert together.shape[1] == given.shape[1]
    assert together.tolist() == again[:, ::-1].tolist()  # nothing here is undefined
    assert together[:, :1].tolist() == alone.tolist()


@covers("theory.parity_is_feasible", "theory.parity_precision_ceiling")
def test_rates_of_groups_in_another_order_say_the_same():
    rates = RATES[0, :6]
    order = np.array([3, 1, 5, 0, 2, 4])
    assert (theory.parity_precision_ceiling(rates)[order] == theory.parity_precision_ceiling(rates[order])).all()
    for selection in (0.1, 0.5, 0.9):
        one, other = (theory.parity_is_feasible(some, 0.5, selection) for some in (rates, rates[order]))
        assert bool(one) == bool(other)


@covers("theory.is_calibrated_score", "theory.is_monotone_score", "theory.is_calibrated_probability")
@pytest.mark.parametrize("seed", range(5))
def test_whether_a_score_is_calibrated_hangs_on_its_order_alone(seed):
    rng = np.random.default_rng(seed)
    score = rng.integers(1, 4, 30) / 4
    y = (rng.random(30) < score).astype(int)
    order = rng.permutation(30)
    for check in (theory.is_calibrated_score, theory.is_monotone_score):
        assert (
            check(y, score)
            == check(y[order], score[order])
            == check(y, score**3)
            == check(np.tile(y, 2), np.tile(score, 2))
        )
    shares = pd.Series(y).groupby(score).transform("mean").to_numpy()
    assert theory.is_calibrated_probability(y, shares)
    assert theory.is_calibrated_probability(y[order], shares[order])
    assert theory.is_monotone_score(y, shares)
    assert theory.is_calibrated_score(y, shares)


# ---------------------------------------------------------------------- the list is whole

#: Public names that no relation is about, and why.
WITHOUT = {
    "ApplicationWarning": "a warning",
    "PromiseWarning": "a warning",
    "ShutOutWarning": "a warning",
    "InfeasibleError": "an error",
    "datasets": "tables that are what they are; tests/datasets has their sums",
    "plotting": "pictures of what is tested elsewhere; tests/plotting reads them",
    "metrics": "a module; its names are listed by themselves",
    "theory": "a module; its names are listed by themselves",
}


def public_names():
    yield from selfselect.__all__
    yield from (f"metrics.{name}" for name in metrics.__all__)
    yield from (f"planning.{name}" for name in planning.__all__)
    for name, value in vars(theory).items():
        if not name.startswith("_") and inspect.getmodule(value) is theory:
            yield f"theory.{name}"


def test_every_public_name_has_a_relation_or_a_reason():
    names = set(public_names())
    assert names - COVERED - set(WITHOUT) == set()
    assert COVERED | set(WITHOUT) <= names  # nothing is listed that is gone
    assert not COVERED & set(WITHOUT)
