import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import selfselect
from selfselect import PublishedStatistics, ScreeningResult, Terms, audit
from selfselect._formats import amount_down, amount_up, percent
from selfselect.auditing import Audit, group_names
from selfselect.metrics import outcome
from selfselect.report.sentences.words import group_warning


def test_names_that_hold_the_separator_stay_apart():
    names = group_names(pd.MultiIndex.from_tuples([("a / b", "c"), ("a", "b / c")]))
    assert len(set(names)) == 2


def test_scores_that_are_no_probabilities_need_a_threshold():
    with pytest.raises(ValueError, match="pass a threshold"):
        audit([0, 1], score=[-2.0, 3.0], cost=0.5)
    assert audit([0, 1], score=[-2.0, 3.0], threshold=0, cost=0.5).outcome.assumed_accuracy == 1


def test_either_scores_or_predictions():
    with pytest.raises(TypeError, match="either"):
        audit([0, 1], cost=0.5)
    with pytest.raises(TypeError, match="threshold belongs to score"):
        audit([0, 1], y_pred=[0, 1], threshold=0.5, cost=0.5)
    with pytest.raises(ValueError, match="cost is empty"):
        audit([0, 1], y_pred=[0, 1], cost=[])


def test_nobody_applying_is_undefined_and_null_never_zero():
    found = audit([0, 1, 0], y_pred=[1, 1, 1], cost=0.9)
    assert math.isnan(found.outcome.induced_accuracy)
    assert json.loads(found.to_json())["induced_accuracy"] is None
    assert "nobody applies" in found.verdict()


def test_many_groups_are_counted_in_the_verdict_and_few_are_named():
    y, z = np.tile([0, 1], 400), np.repeat(list("ABCDEFGH"), 100)
    few = audit(y, y_pred=(z < "D") | (y == 1), sensitive_features=z, cost=0.8)
    assert few.verdict().startswith("At a cost of 0.80, A, B and C stay away")
    many = audit(y, y_pred=(z < "G") | (y == 1), sensitive_features=z, cost=0.8)
    assert many.verdict().startswith("At a cost of 0.80, 6 of 8 groups stay away")


def test_an_audit_shows_itself_in_a_notebook_with_names_as_text():
    found = audit([0, 1], y_pred=[1, 1], sensitive_features=["<b>x</b>", "B"], cost=0.5)
    assert "<b>x</b>" not in found._repr_html_()
    assert "stays away" in repr(found)


def test_people_decide_by_what_was_published_and_others_are_counted():
    train = PublishedStatistics.from_predictions([1, 0, 1, 0], [1, 0, 1, 1], sensitive_features=list("AABB"))
    test = PublishedStatistics.from_predictions([0, 0, 1, 1], [1, 0, 1, 1], sensitive_features=list("AABB"))
    found = Audit(ScreeningResult(train), ScreeningResult(test), Terms(0.7))
    assert found.outcome == outcome(test, train.applies(0.7))
    assert found.outcome.induced_accuracy == 0.5


def test_costs_and_subsidies_by_group_are_allowed_in_python():
    found = audit(
        [1, 0, 1, 0],
        y_pred=[1, 0, 1, 1],
        sensitive_features=list("AABB"),
        cost={"A": 0.9, "B": 0.6},
        subsidies={"B": 0.1},
    )
    assert found.applies.to_dict() == {"A": True, "B": True}
    assert found.to_dict()["cost"] == {"A": 0.9, "B": 0.6}
    assert found.verdict().startswith(
        "At a cost of 0.90 (0.60 for B), with a subsidy of 0.10 for B, all 2 groups apply"
    )


@given(st.integers(0, 200), st.integers(1, 200), st.integers(0, 1000))
def test_what_a_sentence_promises_is_true_after_rounding(hits, selected, thousandths):
    hits, cost = min(hits, selected), thousandths / 1000
    frame = pd.DataFrame(
        {"n": [400], "positives": [200], "selected": [selected], "true_positives": [hits]}, index=["B"]
    )
    published = PublishedStatistics.from_counts(frame)
    found = Audit(ScreeningResult(published), ScreeningResult(published), Terms(cost))
    if found.applies["B"] or hits == 0:
        return
    row = found.to_frame().loc["B"]
    assert published.applies(cost, {"B": float(amount_up(row["subsidy_needed"]))})["B"]
    assert published.applies(cost, {"B": row["subsidy_needed"]})["B"]
    assert published.applies(float(amount_down(row["precision"])))["B"]


@given(st.integers(0, 10_000), st.integers(1, 10_000))
def test_percentages_are_within_half_a_tenth_of_a_point(hits, total):
    share = min(hits, total) / total
    assert abs(float(percent(share).rstrip("%")) - 100 * share) <= 0.05 + 1e-9


def test_small_groups_and_groups_near_the_cost_carry_a_warning():
    assert "only 5" in group_warning(5, 0.1, 0.9, 0.95)
    assert "too close to call" in group_warning(100, 0.6, 0.8, 0.7)
    assert group_warning(100, 0.75, 0.8, 0.7) == ""
    assert group_warning(0, math.nan, math.nan, 0.7) == ""


def test_the_public_names_are_there():
    assert selfselect.audit is audit
    assert callable(selfselect.plan_subsidies)
