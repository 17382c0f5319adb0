"""Thresholds of their own for groups, and a least share of each group that is selected."""

from itertools import product

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from drawn import curves_of, scored_people
from selfselect.constraints import Constraints
from selfselect.counting import GroupCounts
from selfselect.learning import TrainingTerms, evaluate_counts
from selfselect.learning.candidates import group_thresholds
from selfselect.learning.evaluation import evaluate_thresholds, shortfall_at_thresholds

RATES = st.sampled_from([0.1, 0.25, 1 / 3, 0.5, 0.8, 1.0])
COSTS = st.sampled_from([0.3, 0.5, 0.75, 0.9])


def terms_of(n_groups, cost, rate=0.0):
    return TrainingTerms(
        pd.RangeIndex(n_groups), np.full(n_groups, cost), constraints=Constraints(min_selection_rate=rate)
    )


@given(scored_people, RATES, COSTS)
def test_the_best_common_threshold_is_the_best_of_those_that_select_enough_of_each_group(rows, rate, cost):
    *_, curves = curves_of(rows)
    terms = terms_of(len(curves.groups), cost, rate)
    evaluation, thresholds, _ = evaluate_thresholds(terms, curves, fitted_weights=0.0)
    selected, true_positives = curves.counts_at(thresholds)
    enough = (selected / curves.n >= rate - 1e-9).all(axis=1)
    assert ((evaluation.shortfall == 0) == enough).all()
    assert (shortfall_at_thresholds(terms.constraints, curves) == evaluation.shortfall).all()
    counts = GroupCounts(curves.n, curves.positives, selected, true_positives)
    plain = evaluate_counts(terms_of(len(curves.groups), cost), counts, 0.0)
    expected = max(np.flatnonzero(enough), key=lambda i: (-plain.violation[i], plain.value[i]))
    best = evaluation.best()
    assert enough[best]
    assert (plain.violation[best], plain.value[best]) == (plain.violation[expected], plain.value[expected])


@given(scored_people, RATES, COSTS)
def test_group_thresholds_select_enough_of_each_group_and_nobody_applies_who_need_not(rows, rate, cost):
    y, score, z, curves = curves_of(rows)
    n_groups = len(curves.groups)
    terms = terms_of(n_groups, cost, rate)
    (best,) = group_thresholds(terms, curves, 0.0)
    assert best.evaluation.shortfall[0] == 0
    # the thresholds do what was evaluated
    codes = curves.groups.get_indexer(pd.Index(z))
    counts = GroupCounts.from_rows(np.array(y), np.array(score) > best.threshold[codes], codes, n_groups)
    assert (counts.selected / curves.n >= rate - 1e-9).all()
    assert evaluate_counts(terms, counts, 0.0).violation[0] == best.evaluation.violation[0]
    # somebody applies if any choice of steps that select enough makes somebody apply
    steps = [np.flatnonzero(curves.group == g) for g in range(n_groups)]
    steps = [own[curves.selected[own] >= (rate - 1e-9) * curves.n[g]] for g, own in enumerate(steps)]
    all_counts = [curves.counts_of(np.array(choice)) for choice in product(*steps)]
    applying = [terms.shares(c) for c in all_counts]
    assert (best.evaluation.violation[0] == 0) == any(a.any() for a in applying)
    assert (terms.shares(counts) == best.applying).all()
    # where all can stay away, only groups of the highest lower bound apply
    if not min(a.sum() for a in applying):
        assert len(set(counts.accuracy[best.applying])) <= 1


def two_way_curves():
    """Everybody of A is qualified, so it applies at any threshold; B is decided perfectly, C never well."""
    y = [1] * 40 + [1] * 20 + [0] * 20 + [1, 0] * 20
    score = [*([2.0] * 20), *([1.0] * 20), *([2.0] * 20), *([1.0] * 20), *([2.0, 2.0] * 10), *([1.0, 1.0] * 10)]
    z = ["A"] * 40 + ["B"] * 40 + ["C"] * 40
    return curves_of(list(zip(map(bool, y), score, z, strict=True)))[-1]


def test_groups_that_cannot_be_kept_out_apply_and_others_only_if_they_improve_the_whole():
    curves = two_way_curves()
    (best,) = group_thresholds(terms_of(3, 0.5, 0.5), curves, 0.0)
    assert best.applying.tolist() == [True, True, True]  # C has precision one half at every threshold
    (best,) = group_thresholds(terms_of(3, 0.6, 0.5), curves, 0.0)
    assert best.applying.tolist() == [True, True, False]
    assert best.evaluation.accuracy[0] == 1.0


def test_groups_of_a_set_apply_if_they_can_and_others_do_not():
    curves = two_way_curves()
    only_a, both = group_thresholds(terms_of(3, 0.6), curves, 0.0, [np.array([0]), np.array([1, 2])])
    assert (only_a.applying.tolist(), only_a.left_out) == ([True, False, False], 0)
    assert (both.applying.tolist(), both.left_out) == ([False, True, False], 1)


def test_everybody_is_selected_of_groups_that_stay_away_then():
    curves = two_way_curves()
    terms = TrainingTerms(curves.groups, np.full(3, 0.6), shut_out="select_all")
    (best,) = group_thresholds(terms, curves, 0.0, [np.array([1])])
    assert best.applying.tolist() == [False, True, False]
    assert best.threshold[[0, 2]].tolist() == [np.inf, -np.inf]  # A would apply if everybody were selected
