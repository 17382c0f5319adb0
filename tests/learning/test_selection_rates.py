"""A least share of each group that is selected: kept by every solver, whoever applies."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from selfselect.learning.judging import judge_thresholds
from selfselect.learning.single_groups import own_thresholds

from drawn import curves_of, scored_people
from selfselect.counting import GroupCounts
from selfselect.learning import Ask, judge_counts, lacking_at_thresholds

RATES = st.sampled_from([0.1, 0.25, 1 / 3, 0.5, 0.8, 1.0])
COSTS = st.sampled_from([0.3, 0.5, 0.75, 0.9])


def rates_of(curves, selected):
    return np.asarray(selected) / curves.n


@given(scored_people, RATES, COSTS)
def test_the_best_common_threshold_is_the_best_of_those_that_select_enough_of_each_group(rows, rate, cost):
    *_, curves = curves_of(rows)
    n_groups = len(curves.groups)
    ask, free = (Ask(np.full(n_groups, cost), min_selection_rate=r) for r in (rate, 0.0))
    verdict, thresholds, _ = judge_thresholds(ask, curves, fitted_weights=0.0)
    selected, hits = curves.counts_at(thresholds)
    enough = (rates_of(curves, selected) >= rate - 1e-9).all(axis=1)
    assert ((verdict.lacking == 0) == enough).all()
    assert (lacking_at_thresholds(ask, curves) == verdict.lacking).all()
    plain = judge_counts(free, GroupCounts(curves.n, curves.positives, selected, hits), 0.0)
    best = max(np.flatnonzero(enough), key=lambda i: (-plain.violation[i], plain.value[i]))
    found = verdict.best()
    assert enough[found]
    assert (plain.violation[found], plain.value[found]) == (plain.violation[best], plain.value[best])


@given(scored_people, RATES, COSTS)
def test_thresholds_of_their_own_select_enough_of_each_group_and_lose_nobody_by_it(rows, rate, cost):
    y, score, z, curves = curves_of(rows)
    n_groups = len(curves.groups)
    ask = Ask(np.full(n_groups, cost), min_selection_rate=rate)
    (found,) = own_thresholds(ask, curves, 0.0, None)
    assert found.verdict.lacking[0] == 0
    # the cuts do what the judge was told
    codes = curves.groups.get_indexer(pd.Index(z))
    above = found.opened[codes] & (np.array(score) > found.cut[codes])
    counts = GroupCounts.from_rows(np.array(y), above, codes, n_groups)
    assert (rates_of(curves, counts.selected) >= rate - 1e-9).all()
    again = judge_counts(ask, GroupCounts(*counts.columns[:2], counts.selected[None], counts.true_positives[None]), 0.0)
    assert again.violation[0] == found.verdict.violation[0]
    # somebody applies if any choice of steps that select enough has it so, and groups that are let in are those
    steps = [np.flatnonzero(curves.group == g) for g in range(n_groups)]
    steps = [own[curves.selected[own] >= (rate - 1e-9) * curves.n[g]] for g, own in enumerate(steps)]
    all_counts = [curves.counts_of(np.array(choice)) for choice in product(*steps)]
    applying = [ask.clear(c.true_positives, c.selected, 0.0) for c in all_counts]
    assert (found.verdict.violation[0] == 0) == any(a.any() for a in applying)
    assert (ask.clear(counts.true_positives, counts.selected, 0.0) == found.let_in).all()
    # who need not come alone is kept out: no fewer come than is unavoidable, and one more at most where all can stay
    fewest = min(a.sum() for a in applying)
    if fewest == 0:
        assert found.let_in.sum() <= 1


@given(scored_people, COSTS)
def test_without_a_limit_nobody_is_selected_of_groups_that_are_kept_out(rows, cost):
    *_, curves = curves_of(rows)
    (found,) = own_thresholds(Ask(np.full(len(curves.groups), cost)), curves, 0.0, None)
    assert (found.opened == found.let_in).all()
    assert found.let_in.sum() <= 1


def test_groups_that_cannot_be_kept_out_come_at_their_best_and_others_only_if_they_better_the_whole():
    # of A everybody is qualified, so it comes at any threshold; B is judged perfectly, C never well
    y = [1] * 40 + [1] * 20 + [0] * 20 + [1, 0] * 20
    score = [*([2.0] * 20), *([1.0] * 20), *([2.0] * 20), *([1.0] * 20), *([2.0, 2.0] * 10), *([1.0, 1.0] * 10)]
    z = ["A"] * 40 + ["B"] * 40 + ["C"] * 40
    *_, curves = curves_of(list(zip(map(bool, y), score, z, strict=True)))
    ask = Ask(np.full(3, 0.5), min_selection_rate=0.5)
    (found,) = own_thresholds(ask, curves, 0.0, None)
    # C, of precision one half at every threshold, cannot be kept out either
    assert found.let_in.tolist() == [True, True, True]
    (found,) = own_thresholds(Ask(np.full(3, 0.6), min_selection_rate=0.5), curves, 0.0, None)
    assert found.let_in.tolist() == [True, True, False]
    assert found.verdict.accuracy[0] == 1.0


def test_an_empty_group_lacks_nothing():
    assert Ask(np.array([0.5]), min_selection_rate=1.0).lacking([0], [0]).tolist() == [0.0]


def test_a_rate_that_is_reached_exactly_is_kept():
    assert Ask(np.array([0.5]), min_selection_rate=0.1).lacking([3], [30]).tolist() == [0.0]  # .1 * 30 is above 3
    assert Ask(np.array([0.5]), min_selection_rate=0.1).lacking([2], [30])[0] == pytest.approx(1 / 30)
