"""Metamorphic relations: how results must change, or not, when the same data are written differently.

A *view* (``views.py``) is the result of a public function in plain values by group. A *relation* is a change of the
data whose effect on views is known. Every view is tested with every relation that applies to it. A constant function
would pass all of them, so each view must also differ between different people.
"""

import math
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import selfselect
from selfselect import (
    PublishedStatistics,
    Terms,
    accuracy_social_cost_frontier,
    audit,
    load_model,
    metrics,
    save_model,
)
from selfselect.publishing import LowerBound
from views import CLASSIFIERS, COST, SHOWN, VIEWS, WAYS, classified, fitted, some_people, take

pytestmark = pytest.mark.filterwarnings(
    "ignore::selfselect.ApplicationWarning", "ignore::sklearn.exceptions.ConvergenceWarning"
)

PLAIN = some_people()
#: Views of classifiers by publishing mode.
CLASSIFIED = {publish: [f"{name}, {publish}" for name in CLASSIFIERS] for publish in WAYS}
ALL_CLASSIFIED = [name for names in CLASSIFIED.values() for name in names]


@cache
def seen(name, seed=0):
    """A view of some people, made once."""
    return VIEWS[name](some_people(seed=seed))


# ---------------------------------------------------------------------- relations


def same(one, other, tolerance=1e-9):
    """Whether two views agree; NaN equals NaN."""
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
    """A view with its groups renamed."""
    if isinstance(found, dict):
        return {names.get(key, key): with_names(value, names) for key, value in found.items()}
    if isinstance(found, list):
        return [with_names(value, names) for value in found]
    return names.get(found, found) if isinstance(found, str) else found


def other_scores(p):
    """An increasing function of the score and the threshold."""
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

#: The same data, written differently.
SAME = {
    "rows in another order": shuffled,
    "frames and series on a shuffled index": on_any_index,
    "groups as categories, some unused": as_category,
    "labels as truth values": lambda p: replace(p, y=np.asarray(p.y).astype(bool)),
    "labels as floats": lambda p: replace(p, y=np.asarray(p.y).astype(float)),
    "lists": lambda p: replace(p, **{name: np.asarray(getattr(p, name)).tolist() for name in ("y", "score", "z")}),
    "groups as a frame of one column of texts": lambda p: replace(
        p, z=pd.DataFrame({"g": pd.Series(p.z, dtype="string")})
    ),
    "labels and groups of polars": in_libraries(pl.Series),
    "labels and groups of pyarrow": in_libraries(pa.array),
    "weights of one each": lambda p: replace(p, weight=np.ones(len(p.y))),
}


@pytest.mark.parametrize("relation", SAME)
@pytest.mark.parametrize("name", VIEWS)
def test_the_same_data_written_differently_give_the_same_result(name, relation):
    assert same(VIEWS[name](SAME[relation](PLAIN)), seen(name))


@pytest.mark.parametrize("names", [NAMES, BACKWARDS])
@pytest.mark.parametrize("name", VIEWS)
def test_other_names_of_groups_change_names_only(name, names):
    assert same(VIEWS[name](renamed(PLAIN, names)), with_names(seen(name), names))


def with_chance(p):
    """Numbers that depend on random draws: intervals, held-out numbers; and impact ratios."""
    other = np.asarray(p.X)[:, 1] > 0
    one, two = (audit(p.y, y_pred=passed, cost=COST, **p.keywords) for passed in (p.yhat, other))
    pairs = selfselect.PairedCounts.from_predictions(p.y, p.yhat, other, **p.keywords)
    drawn = one.uncertainty(n_resamples=50)
    frontier = selfselect.threshold_frontier(p.y, p.score, cost=COST, threshold=p.threshold, **p.keywords)
    impact = one.impact_ratios().set_index("category")
    return {
        "intervals": drawn.to_frame().to_dict(),
        "applies": drawn.applies.to_dict(),
        "apart": selfselect.compare(one, two, n_resamples=50).differences().to_dict(),
        "paired": selfselect.compare(one, two, pairs=pairs, n_resamples=50).differences().to_dict(),
        "held out": frontier.to_frame().filter(like="held_out").to_dict("list"),
        "impact": impact[["impact_ratio", "impact_ratio_low", "impact_ratio_high", "highest"]].to_dict("index"),
    }


@pytest.mark.parametrize("names", [NAMES, BACKWARDS])
@pytest.mark.parametrize("weighted", [False, True])
def test_other_names_of_groups_draw_the_same_people(names, weighted):
    weight = np.random.default_rng(0).exponential(size=len(PLAIN.y)) if weighted else None
    people = replace(PLAIN, weight=weight)
    assert same(with_chance(renamed(people, names)), with_names(with_chance(people), names))


#: Views that look at features, not at the score.
BY_FEATURES = {*ALL_CLASSIFIED, "descended", "objective", "scored", "loaded", "traded"}


@pytest.mark.parametrize("name", [name for name in VIEWS if name not in BY_FEATURES])
def test_an_increasing_function_of_the_score_changes_nothing(name):
    assert same(VIEWS[name](other_scores(PLAIN)), seen(name))


TIMES = np.random.default_rng(3).integers(0, 4, len(PLAIN.y))
#: Confidence bounds and folds depend on rows, not on weights alone.
BY_ROWS = {"sure", *CLASSIFIED["cross_fit"], *CLASSIFIED["holdout"]}


@pytest.mark.parametrize("name", [name for name in VIEWS if name not in BY_ROWS])
def test_a_weight_of_k_equals_k_copies_of_a_row(name):
    weighted = replace(PLAIN, weight=TIMES.astype(float))
    repeated = take(PLAIN, np.repeat(np.arange(len(PLAIN.y)), TIMES))
    assert same(VIEWS[name](weighted), VIEWS[name](repeated))


@pytest.mark.parametrize("name", VIEWS)
def test_a_weight_of_zero_equals_leaving_the_row_out(name):
    there = TIMES > 0
    assert same(
        VIEWS[name](replace(PLAIN, weight=there.astype(float))), VIEWS[name](take(PLAIN, np.flatnonzero(there)))
    )


#: Numbers of people.
NUMBERS = ("n", "positives", "selected", "true_positives", "sizes", "cells", "prices")
#: More people narrow confidence bounds, so a choice by a bound may change.
BY_BOUNDS = {*BY_ROWS, "thresholds, train", "strategic, train", "traded"}


@pytest.mark.parametrize("name", [name for name in VIEWS if name not in BY_BOUNDS])
def test_everybody_three_times_changes_no_share(name):
    def shares(found):
        """A view without numbers of people."""
        if isinstance(found, dict):
            return {key: shares(value) for key, value in found.items() if key not in NUMBERS}
        return [shares(value) for value in found] if isinstance(found, list) else found

    tripled = VIEWS[name](take(PLAIN, np.tile(np.arange(len(PLAIN.y)), 3)))
    assert same(shares(tripled), shares(seen(name)))


@pytest.mark.parametrize("name", ["published", "counted", "curves", "audited", "planned"])
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


# ---------------------------------------------------------------------- costs and subsidies

STATS = PublishedStatistics.from_predictions(PLAIN.y, PLAIN.yhat, sensitive_features=PLAIN.z)
COSTS = [0.0, 0.3, 0.55, 0.6, 0.7, 0.9, 1.0]


def test_a_higher_cost_never_brings_a_group_in():
    for low, high in pairwise(COSTS):
        assert (STATS.applies(low) | ~STATS.applies(high)).all()
        lower, higher = (audit(PLAIN.y, y_pred=PLAIN.yhat, sensitive_features=PLAIN.z, cost=c) for c in (low, high))
        assert lower.social_cost <= higher.social_cost


def test_being_surer_never_brings_a_group_in_and_more_of_the_same_people_do():
    shares = [STATS.shares(Terms(0.55, statistic=LowerBound(level))).to_numpy() for level in (0.5, 0.8, 0.9, 0.99)]
    assert all((a >= b).all() for a, b in pairwise(shares))
    many = PublishedStatistics.from_counts(STATS.to_frame()[["n", "positives", "selected", "true_positives"]] * 1000)
    surely = many.shares(Terms(0.55, statistic=LowerBound(0.9))).to_numpy()
    assert (surely >= shares[2]).all()
    assert (surely == STATS.applies(0.55).to_numpy()).all()


# ---------------------------------------------------------------------- classifiers

#: The same features, written differently.
TABLES = {
    "columns in another order": lambda X: X[X.columns[::-1]],
    "as an array": lambda X: X.to_numpy(),
    "as a frame of polars": lambda X: pl.DataFrame(X.to_dict("list")),
}
#: Changes that put people into other folds.
OTHER_LOOKS = {
    "a column twice": lambda X: X.assign(again=X["x"]),
    "a column turned round": lambda X: X.assign(x=-X["x"]),
    "a column in other units": lambda X: X.assign(x=1000 * X["x"] - 7),
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", ALL_CLASSIFIED)
def test_the_same_features_written_differently_give_the_same_classifier(name, table):
    assert same(VIEWS[name](replace(PLAIN, X=TABLES[table](PLAIN.X))), seen(name))


@pytest.mark.parametrize("table", OTHER_LOOKS)
@pytest.mark.parametrize("name", CLASSIFIED["train"])
def test_rescaled_features_give_the_same_classifier(name, table):
    found = VIEWS[name](replace(PLAIN, X=OTHER_LOOKS[table](PLAIN.X)))
    if (name, table) == ("strategic, train", "a column twice"):  # one coefficient more to fit
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
def test_a_saved_model_predicts_the_same_after_loading(cls, publish, tmp_path):
    model, new = fitted(CLASSIFIERS[cls], PLAIN, publish=publish), some_people(seed=1)
    groups = {"sensitive_features": new.z} if cls == "thresholds" else {}
    back = model
    for name in ("one.skops", "two.skops"):  # a loaded model can be saved again
        save_model(back, tmp_path / name)
        back = load_model(tmp_path / name)
    for method in ("predict", "decision_function"):
        one, other = (getattr(each, method)(new.X, **groups) for each in (model, back))
        assert one.tolist() == other.tolist()
        assert len(set(one.tolist())) > 1
    assert same(classified(back, new), classified(model, new))


@pytest.mark.parametrize("name", ALL_CLASSIFIED)
def test_rows_in_another_order_give_the_same_classifier_where_many_rows_are_equal(name):
    people = some_people(seed=1)
    coarse = replace(people, X=people.X.round({"x": 1, "noise": 0}))
    assert same(VIEWS[name](shuffled(coarse)), VIEWS[name](coarse))


def test_a_looser_limit_on_social_cost_never_costs_accuracy():
    made = accuracy_social_cost_frontier(
        PLAIN.X, PLAIN.y, sensitive_features=PLAIN.z, cost=0.65, limits=[0.0, 0.3, 0.6, 1.0], progress=False
    )
    met = made[made["feasible"]]
    assert (met["social_cost"] <= met.index + 1e-9).all()
    accuracies = met.sort_index()["induced_accuracy"].to_numpy()
    assert (np.diff(accuracies) >= -1e-9).all()


# ---------------------------------------------------------------------- every public name

#: Public names without a view, and why.
WITHOUT = {
    "ApplicationWarning": "a warning",
    "PromiseWarning": "a warning",
    "ShutOutWarning": "a warning",
    "InfeasibleError": "an error",
    "Provenance": "words",
    "boosting": "tests/test_boosting.py trains models",
    "datasets": "tests/datasets has sums of the tables",
    "estimation": "tests/estimation fits logs, which have no people",
    "plotting": "tests/plotting reads the pictures",
    "metrics": "a module; its names are listed by themselves",
}
#: Seeds of other people, for whom a view must differ.
OTHERS = range(1, 5)


@pytest.mark.parametrize("name", SHOWN)
def test_every_view_differs_between_different_people(name):
    for view, part in SHOWN[name]:
        assert any(not same(seen(view, seed)[part], seen(view)[part]) for seed in OTHERS), (view, part)


def test_every_public_name_has_a_view_or_a_reason():
    names = {*selfselect.__all__, *(f"metrics.{name}" for name in metrics.__all__)}
    assert names - set(SHOWN) - set(WITHOUT) == set()
    assert set(SHOWN) | set(WITHOUT) <= names
    assert not set(SHOWN) & set(WITHOUT)
