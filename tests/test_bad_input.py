"""Wrong arguments give an error that names the argument, never an error from inside numpy."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from selfselect import (
    ApplicationWarning,
    GroupThresholdClassifier,
    NaiveClassifier,
    PublishedStatistics,
    StrategicObjective,
    ThresholdCurves,
    audit,
    plan_subsidies,
    threshold_frontier,
)
from selfselect.auditing import PairedCounts
from selfselect.metrics import applicant_utility, application_rate, induced_accuracy, social_cost

GOOD = [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("y_true", "message"),
    [
        ([0, 1, 2, 1], "y_true must hold only 0 and 1.*found 0, 1, 2, first wrong value at row 2"),
        (["no", "yes", "yes", "no"], "y_true must hold only 0 and 1.*y_true == 'yes'"),
        ([{}, 0, 1, 0], "y_true must hold only 0 and 1"),
        ([0, 1, None, 1], r"y_true has 1 missing value\(s\), first at row\(s\) 2"),
        ([], "y_true is empty"),
        ([[0, 1], [1, 0]], "y_true must be one-dimensional"),
        ([0, 1, 1], "y_true has 3, y_pred has 4"),
        (None, "y_true must be a one-dimensional"),
        (sparse.eye(4), "y_true is a sparse matrix"),
    ],
)
def test_wrong_labels_are_refused_everywhere(y_true, message):
    for call in (
        lambda: PublishedStatistics.from_predictions(y_true, GOOD),
        lambda: induced_accuracy(y_true, GOOD, applies=GOOD),
        lambda: applicant_utility(y_true, GOOD, cost=0.5),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            call()


@pytest.mark.parametrize(
    ("score", "message"),
    [
        ([10**400] * 4, "fit floating point"),
        (pd.to_datetime(["2024-01-01"] * 4), "score must hold numbers"),
        ([0.1, np.inf, 0.2, -np.inf], r"score has 2 infinite value\(s\), first at row\(s\) 1, 3"),
        ([0.1, 0.2], "Lengths differ: y_true has 4, score has 2"),
    ],
)
def test_scores_that_are_not_numbers_are_refused(score, message):
    with pytest.raises((ValueError, TypeError), match=message):
        ThresholdCurves.from_scores(GOOD, score)
    with pytest.raises((ValueError, TypeError), match=message):
        PublishedStatistics.from_scores(GOOD, score, threshold=0.5)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, -1, 1, 1], "sample_weight must not be negative, found -1.0 at row 1"),
        ([0, 0, 0, 0], "sample_weight is zero for every row"),
        ([1, 1], "sample_weight has 2, the rows has 4"),
        ([1, 1e308, 1, 1], r"sample_weight is 1e\+308 at row 1; other than 0, weights lie between 1e-100 and 1e\+100"),
    ],
)
def test_weights_that_make_no_sense_are_refused(weight, message):
    with pytest.raises((ValueError, TypeError), match=message):
        PublishedStatistics.from_predictions(GOOD, GOOD, sample_weight=weight)
    if any(weight):  # a metric over nobody is NaN, so that one empty group does not stop a MetricFrame
        with pytest.raises((ValueError, TypeError), match=message):
            application_rate(applies=GOOD, sample_weight=weight)
    else:
        assert np.isnan(application_rate(applies=GOOD, sample_weight=weight))


def test_scores_as_predictions_and_decisions_per_group_get_a_hint():
    with pytest.raises(ValueError, match="Scores need a threshold"):
        PublishedStatistics.from_predictions(GOOD, [0.1, 0.9, 0.8, 0.3])
    table = PublishedStatistics.from_predictions(GOOD, GOOD, sensitive_features=list("aabb"))
    with pytest.raises(ValueError, match=r"2 entries for 4 rows.*applies_to"):
        induced_accuracy(GOOD, GOOD, applies=table.applies(0.5))


@pytest.mark.parametrize("cost", [-0.1, 1.1, np.nan, np.inf, "x", None])
def test_a_cost_outside_the_unit_interval_is_refused(cost):
    table = PublishedStatistics.from_predictions(GOOD, GOOD)
    for call in (
        lambda: table.applies(cost),
        lambda: table.applicant_utility(cost),
        lambda: applicant_utility(GOOD, GOOD, cost=cost),
        lambda: ThresholdCurves.from_scores(GOOD, GOOD).outcomes(cost),
    ):
        with pytest.raises((ValueError, TypeError), match="cost must"):
            call()


anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=3),
    st.tuples(st.integers()),
    st.dates(),
)
columns = st.one_of(
    st.lists(anything, max_size=6), anything, st.just(np.zeros((2, 2))), st.just(pd.Series(dtype=float))
)


NAMES = ("y_true", "y_pred", "score", "sensitive_features", "sample_weight", "applies", "group")


def message_of(call):
    """Message of the error, or None; any other exception fails the test."""
    try:
        call()
    except (ValueError, TypeError) as error:
        return str(error)
    return None


@given(columns, columns, columns, columns)
def test_anything_at_all_gives_a_result_or_an_error_with_words(y, yhat, z, w):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ApplicationWarning)
        for call in (
            lambda: PublishedStatistics.from_predictions(y, yhat, sensitive_features=z, sample_weight=w).to_frame(),
            lambda: ThresholdCurves.from_scores(y, yhat, sensitive_features=z, sample_weight=w).outcomes(0.5),
            lambda: induced_accuracy(y, yhat, applies=z, sample_weight=w),
            lambda: social_cost(y, applies=z),
        ):
            assert message_of(call) is None or any(name in message_of(call) for name in NAMES)


@pytest.mark.filterwarnings("ignore::selfselect.ApplicationWarning")
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), anything), min_size=1, max_size=8))
def test_group_labels_of_any_kind_count_people_right(rows):
    y, yhat, z = zip(*rows, strict=True)
    table = PublishedStatistics.from_predictions(y, yhat, sensitive_features=list(z), missing="own_group")
    assert table.counts.n.sum() == len(rows)
    assert table.counts.positives.sum() == sum(y)
    assert len(table.applies_to(list(z), 0.5, missing="own_group")) == len(rows)


def test_the_missing_option_reaches_every_way_to_make_a_table():
    z = ["a", None, "a", "b"]
    for call in (
        lambda missing: PublishedStatistics.from_predictions(GOOD, GOOD, sensitive_features=z, missing=missing),
        lambda missing: PublishedStatistics.from_scores(GOOD, GOOD, threshold=0, sensitive_features=z, missing=missing),
        lambda missing: ThresholdCurves.from_scores(GOOD, GOOD, sensitive_features=z, missing=missing),
    ):
        assert "(missing)" in call("own_group").groups
        with pytest.raises(ValueError, match="missing for 1 row"):
            call("error")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: t.at(np.nan), "threshold is NaN"),
        (lambda t: t.at("x"), "threshold must be a number"),
        (lambda t: t.best_by_group(0.5, min_selected="x"), "min_selected must be a number"),
        (lambda t: t.outcomes({("a", 1): [0.5], ("a", 2): [0.5]}), "cost must map each group to a number"),
    ],
)
def test_curves_name_the_argument_that_is_wrong(call, message):
    curves = ThresholdCurves.from_scores(GOOD, GOOD, sensitive_features={"g": list("aaaa"), "h": [1, 1, 2, 2]})
    with pytest.raises((ValueError, TypeError), match=message):
        call(curves)


# ---------------------------------------------------------------------- rows of pandas objects

PEOPLE = 60
Y = pd.Series([0, 1, 1, 0, 1, 0] * 10)
X = pd.DataFrame({"a": np.random.default_rng(0).normal(size=PEOPLE) + Y, "b": np.arange(PEOPLE) % 7.0})
Z = pd.Series(list("pq") * 30)
OTHER_ROWS = {
    "another order": lambda column: column[::-1],
    "other labels": lambda column: column.set_axis(np.arange(PEOPLE) + 1),
    "names": lambda column: column.set_axis([f"person {i}" for i in range(PEOPLE)]),
}


def entrances():
    """Every entrance that takes several columns of people, as a function of one of the columns."""
    selected, applies = (X["a"] > 0.5).astype(int), pd.Series(True, index=range(PEOPLE))
    who = pd.Series(np.arange(PEOPLE) // 2)
    naive = NaiveClassifier(cost=0.1).fit(X, Y, sensitive_features=Z)
    by_group = GroupThresholdClassifier(cost=0.1).fit(X, Y, sensitive_features=Z)
    return [
        lambda move: PublishedStatistics.from_predictions(Y, move(selected)),
        lambda move: PublishedStatistics.from_predictions(Y, selected, sensitive_features=move(Z)),
        lambda move: PublishedStatistics.from_scores(Y, move(X["a"]), threshold=0.5),
        lambda move: PublishedStatistics.from_estimator(naive, X, move(Y)),
        lambda move: ThresholdCurves.from_scores(Y, X["a"], sensitive_features={"z": move(Z)}),
        lambda move: audit(Y, score=X["a"], threshold=0.5, sensitive_features=move(Z), cost=0.5),
        lambda move: audit(Y, y_pred=selected, sample_weight=move(Y + 1.0), cost=0.5),
        lambda move: audit(Y, score=X["a"], threshold=0.5, person=move(who), cost=0.5),
        lambda move: audit(Y, y_pred=selected, person=move(who), cost=0.5),
        lambda move: plan_subsidies(Y, y_pred=selected, sensitive_features=move(Z), cost=0.5),
        lambda move: plan_subsidies(Y, y_pred=selected, person=move(who), cost=0.5),
        lambda move: threshold_frontier(Y, X["a"], threshold=0.5, sensitive_features=move(Z), cost=0.5),
        lambda move: threshold_frontier(Y, X["a"], threshold=0.5, person=move(who), cost=0.5),
        lambda move: PairedCounts.from_predictions(Y, selected, move(selected)),
        lambda move: PairedCounts.from_predictions(Y, selected, selected, person=move(who)),
        lambda move: induced_accuracy(Y, selected, applies=move(applies)),
        lambda move: social_cost(Y, applies=applies, sample_weight=move(Y + 1.0)),
        lambda move: NaiveClassifier(cost=0.1).fit(X, move(Y), sensitive_features=Z),
        lambda move: NaiveClassifier(cost=0.1).fit(X, Y, sensitive_features=Z, sample_weight=move(Y + 1.0)),
        lambda move: NaiveClassifier(cost=0.1).fit(X, Y, sensitive_features=Z, person=move(who)),
        lambda move: naive.audit(X, Y, move(Z)),
        lambda move: naive.audit(X, Y, Z, person=move(who)),
        lambda move: naive.score(X, move(Y)),
        lambda move: naive.score(X, Y, move(Y + 1.0)),
        lambda move: by_group.predict(X, sensitive_features=move(Z)),
        lambda move: by_group.decision_function(X, sensitive_features=move(Z.to_frame())),
        lambda move: StrategicObjective(0.5).value_and_gradient(X["a"], Y, move(Z)),
        lambda move: StrategicObjective(0.5).hard(move(X["a"]), Y, Z),
    ]


@pytest.mark.filterwarnings("ignore::selfselect.ApplicationWarning")
@pytest.mark.parametrize("move", OTHER_ROWS.values(), ids=OTHER_ROWS)
def test_rows_of_other_people_are_refused_at_every_entrance(move):
    for call in entrances():
        call(lambda column: column)
        call(lambda column: column.to_numpy())
        with pytest.raises(ValueError, match=r"different people: row 0 is .*reset_index\(drop=True\) or .to_numpy\(\)"):
            call(move)


def test_the_error_names_the_first_rows_that_differ():
    with pytest.raises(
        ValueError, match=r"row 1 is 1 in y_true but 2 in y_pred, row 2 is 2 .*y_pred.loc\[y_true.index\]"
    ):
        PublishedStatistics.from_predictions(pd.Series(GOOD), pd.Series(GOOD).loc[[0, 2, 1, 3]])
