"""What must stay the same, or change in a known way, when people are told of in another way.

A *view* (``views.py``) is what a public function makes of some people, in plain values by the name of the group. A
*relation* is another way of telling of the same people (or of people that differ in a known way), with what that does
to views. Every view is tried with every relation that is about it. Nothing is shown by that of a function that says one
thing of everybody, so each must also say something else of other people; the last tests keep the list whole.
"""

import inspect
import math
from dataclasses import fields, replace
from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

import selfselect
from selfselect import (
    NaiveClassifier,
    Provenance,
    PublishedStatistics,
    SureRule,
    Terms,
    accuracy_social_cost_frontier,
    audit,
    encode_groups,
    load_model,
    metrics,
    plan_subsidies,
    planning,
    precision_interval,
    save_model,
    theory,
)
from selfselect.behaviour import SLACK
from views import CLASSIFIERS, COST, SHOWN, THRESHOLD, VIEWS, WAYS, classified, fitted, some_people, take

# that nobody, or everybody, applies is as good an answer as any
pytestmark = pytest.mark.filterwarnings("ignore::selfselect.ApplicationWarning")

PLAIN = some_people()
#: Views of classifiers, by where what they publish comes from.
CLASSIFIED = {publish: [f"{name}, {publish}" for name in CLASSIFIERS] for publish in WAYS}
ALL_CLASSIFIED = [name for names in CLASSIFIED.values() for name in names]


class Scored(ClassifierMixin, BaseEstimator):
    """A classifier whose score is its first column, whatever it is fitted to."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.n_features_in_ = np.shape(X)[1]
        return self

    def decision_function(self, X):
        return np.asarray(X, dtype=float)[:, 0] - 0.5

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


@cache
def seen(name, seed=0):
    """A view of some people, made once."""
    return VIEWS[name](some_people(seed=seed))


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


@pytest.mark.parametrize("relation", SAME)
@pytest.mark.parametrize("name", VIEWS)
def test_the_same_people_told_otherwise_give_the_same(name, relation):
    assert same(VIEWS[name](SAME[relation](PLAIN)), seen(name))


@pytest.mark.parametrize("names", [NAMES, BACKWARDS])
@pytest.mark.parametrize("name", VIEWS)
def test_other_names_of_groups_change_names_only(name, names):
    assert same(VIEWS[name](renamed(PLAIN, names)), with_names(seen(name), names))


#: Views that look at features, not at the score.
BY_FEATURES = {*ALL_CLASSIFIED, "scored", "loaded", "traded", "calibrated"}


@pytest.mark.parametrize("name", [name for name in VIEWS if name not in BY_FEATURES])
def test_a_rising_change_of_the_score_changes_nothing(name):
    assert same(VIEWS[name](other_scores(PLAIN)), seen(name))


TIMES = np.random.default_rng(3).integers(0, 4, len(PLAIN.y))
#: How sure one can be depends on rows, not on weights alone; and so does who is dealt into which fold.
BY_ROWS = {"sure", *CLASSIFIED["cross_fit"], *CLASSIFIED["holdout"]}


@pytest.mark.parametrize("name", [name for name in VIEWS if name not in BY_ROWS])
def test_a_weight_is_as_many_of_the_same_person(name):
    weighted = replace(PLAIN, weight=TIMES.astype(float))
    repeated = take(PLAIN, np.repeat(np.arange(len(PLAIN.y)), TIMES))
    assert same(VIEWS[name](weighted), VIEWS[name](repeated))


@pytest.mark.parametrize("name", [name for name in VIEWS if name not in BY_ROWS])
def test_weights_of_two_are_everybody_twice(name):
    twice = replace(PLAIN, weight=np.full(len(PLAIN.y), 2.0))
    assert same(VIEWS[name](twice), VIEWS[name](take(PLAIN, np.repeat(np.arange(len(PLAIN.y)), 2))))


@pytest.mark.parametrize("name", VIEWS)
def test_a_person_of_no_weight_is_not_there(name):
    there = TIMES > 0
    assert same(
        VIEWS[name](replace(PLAIN, weight=there.astype(float))), VIEWS[name](take(PLAIN, np.flatnonzero(there)))
    )


#: Numbers of people, which grow with them.
NUMBERS = ("n", "positives", "selected", "true_positives", "sizes", "cells", "prices", "said")
#: More of the same people make surer, and whoever chooses with caution may choose otherwise.
CAUTIOUS = {*BY_ROWS, "thresholds, train", "strategic, train", "traded"}


@pytest.mark.parametrize("name", [name for name in VIEWS if name not in CAUTIOUS])
def test_everybody_three_times_changes_no_share(name):
    def shares(found):
        """A view without numbers of people."""
        if isinstance(found, dict):
            return {key: shares(value) for key, value in found.items() if key not in NUMBERS}
        return [shares(value) for value in found] if isinstance(found, list) else found

    tripled = VIEWS[name](take(PLAIN, np.tile(np.arange(len(PLAIN.y)), 3)))
    assert same(shares(tripled), shares(seen(name)))


@pytest.mark.parametrize("name", ["published", "counted", "curves", "audited", "planned", "planned_for"])
def test_another_group_changes_nothing_of_the_others(name):
    apart = replace(some_people(80, seed=5), z=np.repeat("E", 80))
    both = replace(
        PLAIN,
        X=pd.concat([PLAIN.X, apart.X], ignore_index=True),
        **{part: np.concatenate([getattr(PLAIN, part), getattr(apart, part)]) for part in ("y", "score", "z")},
    )
    found = VIEWS[name](both)["groups"]
    assert same({group: row for group, row in found.items() if group != "E"}, seen(name)["groups"])


# ---------------------------------------------------------------------- adding up


def test_counts_of_the_parts_of_a_table_add_up_to_those_of_the_whole():
    rows = np.random.default_rng(6).permutation(len(PLAIN.y))
    parts = [take(PLAIN, part) for part in np.array_split(rows, 5)]
    made = [PublishedStatistics.from_predictions(p.y, p.yhat, sensitive_features=p.z) for p in parts]
    total = made[0]
    for other in made[1:]:
        total = total + other
    assert total == PublishedStatistics.from_predictions(PLAIN.y, PLAIN.yhat, sensitive_features=PLAIN.z)
    assert total.counts.n.sum() == len(PLAIN.y)


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


def test_what_is_said_of_the_data_is_on_the_page():
    told = {"y_true": PLAIN.y, "y_pred": PLAIN.yhat, "sensitive_features": PLAIN.z, "cost": COST}
    names = [field.name for field in fields(Provenance) if field.name != "warnings"]
    words = {name: f"Said as {name}." for name in names}
    page = audit(**told, provenance=Provenance(**words, warnings=("Said as a warning.",))).to_html()
    assert all(said in page for said in (*words.values(), "Said as a warning."))
    assert "Said as" not in audit(**told).to_html()


# ---------------------------------------------------------------------- costs and subsidies

STATS = PublishedStatistics.from_predictions(PLAIN.y, PLAIN.yhat, sensitive_features=PLAIN.z)
COSTS = [0.0, 0.3, 0.55, 0.6, 0.7, 0.9, 1.0]


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


def test_being_surer_never_brings_a_group_in_and_more_of_the_same_people_do():
    shares = [STATS.shares(Terms(0.55, behaviour=SureRule(level))).to_numpy() for level in (0.5, 0.8, 0.9, 0.99)]
    assert all((a >= b).all() for a, b in pairwise(shares))
    many = PublishedStatistics.from_counts(STATS.to_frame()[["n", "positives", "selected", "true_positives"]] * 1000)
    surely = many.shares(Terms(0.55, behaviour=SureRule(0.9))).to_numpy()
    assert (surely >= shares[2]).all()
    assert (surely == STATS.applies(0.55).to_numpy()).all()


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


# ---------------------------------------------------------------------- classifiers

#: Other tables that say the same of people.
TABLES = {
    "columns in another order": lambda X: X[X.columns[::-1]],
    "columns of other names": lambda X: X.rename(columns={"x": "b", "noise": "a"}),
    "as an array": lambda X: X.to_numpy(),
    "as a frame of polars": lambda X: pl.DataFrame(X.to_dict("list")),
    "as a table of pyarrow": lambda X: pa.table(X.to_dict("list")),
}
#: Those in which people look otherwise, and are dealt into other folds.
OTHER_LOOKS = {
    "a column twice": lambda X: X.assign(again=X["x"]),
    "a constant column": lambda X: X.assign(one=1.0),
    "a column turned round": lambda X: X.assign(x=-X["x"]),
    "a column in other units": lambda X: X.assign(x=1000 * X["x"] - 7),
    "a column of whole numbers": lambda X: X.assign(x=(100 * X["x"]).round().astype(int)),
    "numbers of half the bytes": lambda X: X.astype("float32"),
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", ALL_CLASSIFIED)
def test_another_table_that_says_the_same_gives_the_same_classifier(name, table):
    assert same(VIEWS[name](replace(PLAIN, X=TABLES[table](PLAIN.X))), seen(name))


@pytest.mark.parametrize("table", OTHER_LOOKS)
@pytest.mark.parametrize("name", CLASSIFIED["train"])
def test_a_table_that_looks_otherwise_gives_the_same_classifier(name, table):
    found = VIEWS[name](replace(PLAIN, X=OTHER_LOOKS[table](PLAIN.X)))
    if (name, table) == ("strategic, train", "a column twice"):  # a weight more is more to take back for fitting it
        assert found["audited"] == pytest.approx(seen(name)["audited"], abs=0.02)
    else:
        assert same(found, seen(name))


@pytest.mark.parametrize("labels", [("no", "yes"), ("b", "a")])  # in the second the qualified come first
@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_other_names_of_labels_give_the_same_classifier(cls, labels):
    named = replace(PLAIN, y=np.array(labels)[PLAIN.y])
    model = fitted(CLASSIFIERS[cls], named, pos_label=labels[1])
    assert same(classified(model, named), seen(f"{cls}, train"))


@pytest.mark.parametrize("publish", WAYS)
@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_a_model_that_was_away_in_a_file_says_the_same_of_new_people(cls, publish, tmp_path):
    model, new = fitted(CLASSIFIERS[cls], PLAIN, publish=publish), some_people(seed=1)
    told = {"sensitive_features": new.z} if cls == "thresholds" else {}
    back = model
    for name in ("one.skops", "two.skops"):  # what is read back can be written again
        save_model(back, tmp_path / name)
        back = load_model(tmp_path / name)
    for method in ("predict", "decision_function"):
        one, other = (getattr(each, method)(new.X, **told) for each in (model, back))
        assert one.tolist() == other.tolist()
        assert len(set(one.tolist())) > 1
    assert same(classified(back, new), classified(model, new))


@pytest.mark.parametrize("name", ALL_CLASSIFIED)
def test_rows_in_another_order_give_the_same_classifier_where_many_are_just_alike(name):
    people = some_people(seed=1)
    coarse = replace(people, X=people.X.round({"x": 1, "noise": 0}))
    assert same(VIEWS[name](shuffled(coarse)), VIEWS[name](coarse))


def test_strategic_weights_are_those_of_people_repeated():
    people = some_people(seed=9)  # for whom the logistic start is not the best
    weighted = replace(people, weight=TIMES.astype(float))
    repeated = take(people, np.repeat(np.arange(len(people.y)), TIMES))
    one, other = (fitted(CLASSIFIERS["strategic"], told) for told in (weighted, repeated))
    assert one.coef_ == pytest.approx(other.coef_, rel=1e-6)


def test_a_frontier_of_weighted_people_is_that_of_people_repeated():
    repeated = take(PLAIN, np.repeat(np.arange(len(PLAIN.y)), TIMES))
    one, other = (
        accuracy_social_cost_frontier(p.X, p.y, **p.told, cost=COST, limits=[1.0], publish="train", progress=False)
        for p in (replace(PLAIN, weight=TIMES.astype(float)), repeated)
    )
    pd.testing.assert_frame_equal(one, other)


def test_a_looser_limit_on_social_cost_never_costs_accuracy():
    made = accuracy_social_cost_frontier(
        PLAIN.X, PLAIN.y, sensitive_features=PLAIN.z, cost=0.65, limits=[0.0, 0.3, 0.6, 1.0], progress=False
    )
    met = made[made["feasible"]]
    assert (met["social_cost"] <= met.index + 1e-9).all()
    accuracies = met.sort_index()["induced_accuracy"].to_numpy()
    assert (np.diff(accuracies) >= -1e-9).all()


def test_a_firm_that_never_changes_its_model_is_paid_for_as_if_it_did_not_re_train():
    groups = encode_groups(PLAIN.z)
    firm = planning.refit(NaiveClassifier(Scored(), cost=COST, publish="train"), PLAIN.X, PLAIN.y, groups)
    before = audit(PLAIN.y, score=PLAIN.score, threshold=THRESHOLD, sensitive_features=PLAIN.z, cost=0.7)
    plain, answered = planning.plan_for(before), planning.plan_under_retraining(before, firm)
    assert answered.to_frame()["subsidy"].to_dict() == pytest.approx(plain.to_frame()["subsidy"].to_dict(), abs=1e-6)


# ---------------------------------------------------------------------- theory: functions of numbers

#: Formulas, each with whether it rises or falls with each of the numbers that it is given.
FORMULAS = {
    "expected_utility": "++-", "bayes_precision": "++-", "paper_accuracy_bounds": "-+", "precision_range": "++",
    "application_region": "++-", "parity_precision": "+-+", "least_subsidy": "-+",
    "least_proportional_subsidy": "-+", "levelling_subsidy": "-+-+", "subsidised_base_rate": "+++-",
    "sufficient_subsidy": "-+",
}  # fmt: skip
#: What accuracy says of application, from the least to the most.
REGIONS = ["stays away", "free", "applies"]
RATES = np.random.default_rng(7).uniform(0.05, 0.95, (4, 50))


def given_to(name):
    """Numbers that a formula takes."""
    given = RATES[: len(FORMULAS[name])].copy()
    if name == "bayes_precision":
        mu, tpr, _ = given
        given[2] = np.maximum((1 + mu) / 2 * tpr, mu * (1 + tpr) / 2)  # as many are selected as are found, and more
    return np.sort(given, axis=0) if name == "levelling_subsidy" else given  # with a group of a higher base rate


def made_by(name, given):
    """What a formula makes of them, one row for each number that it returns."""
    made = np.atleast_2d(np.array(getattr(theory, name)(*given)))
    return np.vectorize(REGIONS.index)(made) if name == "application_region" else made


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas_of_many_are_those_of_each(name):
    given = given_to(name)
    together, again, alone = (made_by(name, rows) for rows in (given, given[:, ::-1], given[:, :1]))
    assert together.shape[1] == given.shape[1]
    assert together.tolist() == again[:, ::-1].tolist()  # nothing here is undefined
    assert together[:, :1].tolist() == alone.tolist()


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas_rise_and_fall_with_what_they_are_given(name):
    given = given_to(name)
    for i, sign in enumerate(FORMULAS[name]):
        more = given.copy()
        more[i] = (1 + more[i]) / 2
        change = (made_by(name, more) - made_by(name, given)) * (1 if sign == "+" else -1)
        assert (change >= -1e-12).all()
        assert (change > 1e-3).any(axis=1).all()


def test_rates_that_groups_can_share_hang_on_no_order_and_can_be_shared_by_those_who_are_left_out():
    rates, order = RATES[0, :6], np.array([3, 1, 5, 0, 2, 4])
    ceiling = theory.parity_precision_ceiling(rates)
    assert (ceiling[order] == theory.parity_precision_ceiling(rates[order])).all()
    answers = set()
    for tpr, q in ((tpr, q) for tpr in (0.2, 0.5, 0.8) for q in (0.1, 0.3, 0.5, 0.7, 0.9)):
        answer = bool(theory.parity_is_feasible(rates, tpr, q))
        assert answer == bool(theory.parity_is_feasible(rates[order], tpr, q))
        assert answer == bool(theory.parity_is_feasible(rates, 1 - tpr, 1 - q))  # every decision turned round
        if answer:
            assert (theory.bayes_precision(rates, tpr, q) <= ceiling + SLACK).all()
        answers.add(answer)
    assert answers == {True, False}


def test_whether_a_score_is_calibrated_hangs_on_its_order_alone():
    answers = set()
    for seed in range(10):
        rng = np.random.default_rng(seed)
        score = rng.integers(1, 4, 30) / 4
        y = (rng.random(30) < (score if seed % 2 else 0.5)).astype(int)  # every other score is noise
        order = rng.permutation(30)
        for check in (theory.is_calibrated_score, theory.is_monotone_score):
            answer = check(y, score)
            assert answer == check(y[order], score[order])
            assert answer == check(y, score**3)
            assert answer == check(np.tile(y, 2), np.tile(score, 2))
            answers.add((check, answer))
    assert len(answers) == 4  # both say yes of some, and no of others


@pytest.mark.parametrize("seed", range(5))
def test_the_share_of_the_qualified_is_a_calibrated_score_and_turned_round_it_is_none(seed):
    rng = np.random.default_rng(seed)
    score = rng.integers(1, 4, 30) / 4
    y, order = (rng.random(30) < score).astype(int), rng.permutation(30)
    shares = pd.Series(y).groupby(score).transform("mean").to_numpy()
    assert len(set(shares)) > 1
    assert theory.is_calibrated_probability(y, shares)
    assert theory.is_calibrated_probability(y[order], shares[order])
    assert not theory.is_calibrated_probability(y, 1 - shares)
    for check in (theory.is_monotone_score, theory.is_calibrated_score):
        assert check(y, shares)
        assert not check(y, 1 - shares)


# ---------------------------------------------------------------------- the list is whole

#: Public names that no view is about, and why.
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
#: Other people, of whom something else must be said.
OTHERS = range(1, 5)


def public_names():
    yield from selfselect.__all__
    yield from (f"metrics.{name}" for name in metrics.__all__)
    yield from (f"planning.{name}" for name in planning.__all__)
    for name, value in vars(theory).items():
        if not name.startswith("_") and inspect.getmodule(value) is theory:
            yield f"theory.{name}"


@pytest.mark.parametrize("name", SHOWN)
def test_something_else_is_said_of_other_people(name):
    """What says one thing of everybody keeps every relation, and shows nothing by that."""
    for view, part in SHOWN[name]:
        assert any(not same(seen(view, seed)[part], seen(view)[part]) for seed in OTHERS), (view, part)


def test_every_public_name_has_a_view_or_a_reason():
    names = set(public_names())
    assert names - set(SHOWN) - set(WITHOUT) == set()
    assert set(SHOWN) | set(WITHOUT) <= names  # nothing is listed that is gone
    assert not set(SHOWN) & set(WITHOUT)


def test_what_is_called_the_same_in_two_places_is_the_same():
    for name in set(planning.__all__) & set(selfselect.__all__):
        assert getattr(planning, name) is getattr(selfselect, name)
