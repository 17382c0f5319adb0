"""Published precision against the precision among new people."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from drawn import table_of
from selfselect import NaiveClassifier, audit
from selfselect.auditing import Audit, ScreeningResult
from selfselect.auditing.promises import promises
from selfselect.costs import Terms
from selfselect.counting import GroupCounts
from selfselect.datasets import make_base_rate_groups
from selfselect.statistics import LowerBound

PUBLISHED_A = ScreeningResult(table_of(A=(400, 200, 100, 90)))
APPLY = dict.fromkeys("ABC", (400, 200, 100, 90))
PUBLISHED = ScreeningResult(table_of(**APPLY, D=(400, 100, 100, 40)))
NEW = ScreeningResult(table_of(A=(200, 100, 40, 38), B=(200, 100, 40, 20), C=(200, 100, 40, 29), D=(200, 100, 40, 1)))


@given(st.integers(0, 60), st.integers(0, 60), st.floats(0.05, 0.95))
def test_a_promise_is_broken_or_kept_where_binomial_tests_say_so(true_positives, passed, cost):
    true_positives = min(true_positives, passed)
    counts = GroupCounts(*(np.array([value]) for value in (100, 60, passed, true_positives)))
    row = promises(np.array([True]), np.array([cost]), counts, pd.Index(["A"])).iloc[0]
    broken = passed > 0 and binom.cdf(true_positives, passed, cost) < 0.05
    kept = passed > 0 and binomtest(true_positives, passed, cost, alternative="greater").pvalue < 0.05
    assert row["promise_kept"] == ("no" if broken else "yes" if kept else "undecided")
    assert np.isnan(row["delivered"]) == (passed == 0)


def test_an_audit_of_new_people_has_what_was_published_and_what_was_delivered():
    X, y, z = make_base_rate_groups((0.6, 0.3), n_per_group=400, random_state=0, return_X_y_group=True)
    new = make_base_rate_groups((0.6, 0.3), n_per_group=400, random_state=1, return_X_y_group=True)
    model = NaiveClassifier(cost=0.6).fit(X, y, sensitive_features=z)
    result = model.audit(*new).to_frame()
    assert result["precision"].to_numpy() == pytest.approx(model.published_.precision.to_numpy())
    delivered = audit(new[1], y_pred=model.predict(new[0]), sensitive_features=new[2], cost=0.6).published.precision
    assert result["delivered"].to_numpy() == pytest.approx(delivered.to_numpy())
    assert (result["delivered_low"] <= result["delivered"]).all()
    assert "delivered" not in audit(y, y_pred=y, sensitive_features=z, cost=0.6).to_frame()


def test_sums_of_weights_are_taken_between_whole_counts():
    """What is decided of 20.25 of 40.5 lies between what is decided of 20 and of 21 among whole people."""
    true_positives, passed = np.array([20.0, 20.25, 21.0]), np.array([41.0, 40.5, 40.0])
    counts = GroupCounts(np.full(3, 99.0), np.full(3, 50.0), passed, true_positives)
    for cost in np.linspace(0.05, 0.95, 91):
        kept = promises(np.ones(3, dtype=bool), np.full(3, cost), counts, pd.Index(list("ABC")))["promise_kept"]
        order = [["no", "undecided", "yes"].index(answer) for answer in kept]
        assert order == sorted(order)


@pytest.mark.parametrize("repeat", ["weight", "person"])
def test_neither_weights_nor_repeated_rows_decide_a_promise(repeat):
    y, passed = [1] * 8 + [0] * 2, [1] * 10
    if repeat == "weight":
        new = ScreeningResult.from_predictions(y, passed, sensitive_features=["A"] * 10, sample_weight=[1000] * 10)
    else:
        new = ScreeningResult.from_predictions(
            y * 30, passed * 30, sensitive_features=["A"] * 300, person=list(range(10)) * 30
        )
    alone = ScreeningResult.from_predictions(y, passed, sensitive_features=["A"] * 10)
    rows = [Audit(PUBLISHED_A, people, Terms(0.7)).promises().loc["A"] for people in (alone, new)]
    assert [row["promise_kept"] for row in rows] == ["undecided"] * 2
    columns = ["delivered", "delivered_low", "delivered_high"]
    assert rows[0][columns].tolist() == pytest.approx(rows[1][columns].tolist())


def test_what_people_decide_by_is_shown_by_name():
    frame = Audit(PUBLISHED, NEW, Terms(0.7, statistic=LowerBound(0.9))).to_frame()
    assert frame["published_value"].to_numpy() == pytest.approx(LowerBound(0.9).value(PUBLISHED.counts))
    assert ((frame["published_value"] >= 0.7) == frame["applies"]).all()
    assert frame["new_selected"].tolist() == NEW.counts.selected.tolist()
    plain = Audit(PUBLISHED, PUBLISHED, Terms(0.7)).to_frame()
    assert plain["published_value"].tolist() == plain["precision"].tolist()


def test_as_data_each_group_has_what_was_delivered_and_promises_are_counted():
    result = Audit(PUBLISHED, NEW, Terms(0.7, statistic=LowerBound(0.9)), other_costs=(0.45,))
    data = json.loads(result.to_json(min_cell=0))
    assert data["confidence"] == 0.9
    assert data["promises"] == {"kept": 1, "broken": 1, "undecided": 1}
    assert data["by_cost"][1]["promises"]["broken"] == 0
    assert [group["promise_kept"] for group in data["groups"]] == ["yes", "no", "undecided", ""]
    broken = data["groups"][1]
    assert broken["delivered"] == 0.5
    assert broken["delivered_low"] < 0.5 < broken["delivered_high"] < 0.7
    same = Audit(PUBLISHED, PUBLISHED, Terms(0.7)).to_dict()
    assert "promises" not in same
    assert "delivered" not in same["groups"][0]
    assert same["confidence"] is None
    assert "promise_kept" in result._repr_html_()
