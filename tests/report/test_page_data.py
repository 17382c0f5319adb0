"""What a page is given. That it computes the same from it: tests/report/test_agreement.py."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages import content_of, example, people
from selfselect import PublishedStatistics, ThresholdCurves, audit
from selfselect.auditing import Audit, ScreeningResult
from selfselect.costs import Terms
from selfselect.report.page_data import threshold_grid


def test_too_many_groups_for_a_page_are_refused_rather_than_left_out():
    n = 2001
    with pytest.raises(ValueError, match="too many for a page"):
        audit(np.ones(n), y_pred=np.ones(n), sensitive_features=np.arange(n), cost=0.5).to_html(min_cell=0)


class Shy:
    def shares(self, published, cost):
        return np.full(np.shape(published.counts.selected), 0.25)


@pytest.mark.parametrize(("groups", "offered"), [(4, 201), (150, 99), (1400, 0)])
def test_other_behaviours_come_as_a_table_of_shares_that_is_never_too_large(groups, offered):
    shy = example([f"group {i}" for i in range(groups)], n=6000).under(Terms(0.7, behaviour=Shy()))
    data = content_of(shy)
    assert offered / 2 <= len(data["thresholds"] or ()) <= offered + 2
    behaviour = data["terms"]["behaviour"]
    assert behaviour["name"] == "Shy"
    assert shy.to_dict()["behaviour"] == "Shy"
    assert all(row[2] is None and row[3] == [0.25] * 101 for rows in behaviour["groups"] for row in rows)
    counts = np.stack([data["published"]["true_positives"], data["published"]["selected"]], axis=-1)
    for z, rows in enumerate(behaviour["groups"]):
        assert {tuple(row[:2]) for row in rows} == {tuple(pair) for pair in counts[:, z].tolist()}
    page = shy.to_html(min_cell=0)
    assert "of people apply" in shy.verdict()
    assert "respond by <code>Shy</code>" in page
    assert "people decide by it" not in page
    assert len(page) < 8_000_000


def test_counts_on_the_page_are_those_of_the_library_at_every_threshold_offered():
    y, score, z = people(["A", "B", "C"])
    made = audit(y, score=score, sensitive_features=z, cost=0.7, threshold=0.37)
    data = content_of(made)
    assert data["thresholds"][data["threshold_position"]] == 0.37
    assert not data["exact"]
    for i, threshold in enumerate(data["thresholds"]):
        counts = made.curves.at(-np.inf if threshold is None else threshold).counts
        assert data["published"]["selected"][i] == counts.selected.tolist()
        assert data["published"]["true_positives"][i] == counts.true_positives.tolist()


def test_few_distinct_scores_are_all_offered():
    curves = ThresholdCurves.from_scores([0, 1, 1], [0.1, 0.2, 0.2])
    grid, position, exact = threshold_grid(curves, 0.15, 50)
    assert exact
    assert position == 2
    assert grid.tolist() == [-np.inf, 0.1, 0.15, 0.2]


@given(own=st.floats(allow_nan=False), distinct=st.sampled_from([3, 1000]), scale=st.sampled_from([1, 1.7e308]))
def test_the_threshold_in_use_is_offered_as_it_is_however_many_scores_there_are(own, distinct, scale):
    rng = np.random.default_rng(0)
    score = rng.integers(-distinct, distinct + 1, 1500) / distinct * scale
    curves = ThresholdCurves.from_scores(rng.integers(0, 2, 1500), score)
    grid, position, _ = threshold_grid(curves, own, 201)
    assert grid[position] == (curves.threshold.max() if own == np.inf else own)
    assert (np.diff(grid) > 0).all()
    assert grid[0] == -np.inf
    assert np.isfinite(grid[1:]).all()


def test_the_threshold_stays_where_it_is_unless_both_sets_of_people_can_follow():
    audited = example()
    decided = ScreeningResult(audited.published)
    elsewhere = ScreeningResult.from_curves(audited.curves, 0.25)
    for counted_on in (decided, elsewhere):
        data = content_of(replace(audited, counted_on=counted_on))
        assert data["thresholds"] is None
        assert data["published"]["selected"] == [audited.published.counts.selected.tolist()]
        assert data["population"]["selected"] == [counted_on.counts.selected.tolist()]


def test_counts_are_matched_by_label_not_by_position():
    by_truth = PublishedStatistics.from_predictions([1, 0, 1], [1, 1, 0], sensitive_features=[False, True, True])
    only_true = PublishedStatistics.from_predictions([1, 0], [1, 1], sensitive_features=[True, True])
    data = content_of(Audit(ScreeningResult(by_truth), ScreeningResult(only_true), Terms(0.5)))
    assert data["population"]["n"] == [0, 2]


def test_with_weights_the_page_opens_with_the_very_counts_of_the_table():
    rng = np.random.default_rng(1)
    y, score, z = people(["A", "B"], n=900)
    screened = ScreeningResult.from_scores(y, score, sensitive_features=z, sample_weight=rng.random(len(y)))
    data = content_of(Audit(screened, screened, Terms(0.7)))
    assert data["published"]["selected"][data["threshold_position"]] == screened.counts.selected.tolist()
