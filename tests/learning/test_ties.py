"""Ties: penalties against finite differences, violations against a loop over groups."""

from dataclasses import fields, replace

import numpy as np
import pytest
from selfselect.learning.sums import Slopes, Sums
from selfselect.learning.ties import MOST_PAIRED, ORDER_MARGIN, order_hinge, pairs_in_order, rate_spread_penalty

from selfselect.counting import GroupCounts
from selfselect.learning import EqualSelectionRates, EqualTruePositiveRates, OrderByBaseRates

K = 4
TIES = [
    EqualSelectionRates(2.0, 0.02),
    EqualSelectionRates(2.0, 0.02).walled(),
    EqualSelectionRates(2.0, 0.2).walled(10.0),
    EqualTruePositiveRates(3.0, 0.05),
    EqualTruePositiveRates(3.0, 0.05).walled(),
    EqualSelectionRates(2.0, 0.2, relative=True).walled(),
    EqualTruePositiveRates(3.0, 0.1, relative=True).walled(10.0),
    OrderByBaseRates(),
    OrderByBaseRates().walled(10.0),
]


def some_sums(seed, n_groups=K):
    rng = np.random.default_rng(seed)
    n = rng.uniform(10, 30, n_groups)
    positives = n * rng.uniform(0.1, 0.9, n_groups)
    hits, missed = positives * rng.uniform(0.1, 0.9, n_groups), (n - positives) * rng.uniform(0.1, 0.9, n_groups)
    return Sums(n, positives, np.zeros(n_groups), hits, hits + missed, hits + missed, hits)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("tie", TIES, ids=str)
def test_a_penalty_has_the_slopes_of_finite_differences(tie, seed, finite_difference):
    sums = some_sums(seed)
    slopes = tie.penalty(sums)[1].through_precision(sums)
    for part in fields(Slopes):
        if part.name in ("precision", "largest"):  # handed on to hits and passes; in no tie
            assert getattr(slopes, part.name) is None
            continue
        numeric = finite_difference(
            lambda v, name=part.name: tie.penalty(replace(sums, **{name: v}))[0], getattr(sums, part.name)
        )
        slope = getattr(slopes, part.name)
        assert (np.zeros(K) if slope is None else slope) == pytest.approx(numeric, rel=1e-5, abs=1e-6), part.name


def test_a_wall_adds_to_a_penalty_and_a_higher_one_more():
    sums = some_sums(0)
    for tie in (EqualSelectionRates(1.0, 0.02), EqualTruePositiveRates(1.0, 0.02), OrderByBaseRates()):
        plain, walled, higher = (t.penalty(sums)[0] for t in (tie, tie.walled(), tie.walled(10.0)))
        assert plain < walled < higher
    assert OrderByBaseRates().penalty(sums)[0] == 0


@pytest.mark.parametrize("seed", range(3))
def test_the_formulas_of_ties_have_the_slopes_of_finite_differences(seed, finite_difference):
    rng = np.random.default_rng(seed)
    accepted, n, q = rng.uniform(0.2, 3, K), rng.uniform(0.2, 3, K), rng.uniform(0.1, 0.9, K)
    higher, lower = np.array([0, 1, 2]), np.array([1, 2, 3])
    cases = [
        (lambda v: rate_spread_penalty(v, n), accepted),
        (lambda v: rate_spread_penalty(v, n, 7.0, 0.1), accepted),
        (lambda v: order_hinge(v, higher, lower, 0.05), q),
    ]
    for function, at in cases:
        slope = function(at)[1]
        assert slope == pytest.approx(finite_difference(lambda v: function(v)[0], at), rel=1e-5, abs=1e-7)  # noqa: B023


def test_a_rate_without_people_does_not_count():
    value, slope = rate_spread_penalty(np.array([1.0, 0.0]), np.array([4.0, 0.0]))
    assert (value, slope.tolist()) == (0.0, [0.0, 0.0])


# ---------------------------------------------------------------------- in hard counts


def some_counts(seed, n_classifiers=200, n_groups=5):
    rng = np.random.default_rng(seed)
    n = rng.integers(5, 30, n_groups)
    positives = rng.integers(0, n + 1)
    hits = rng.integers(0, positives + 1, (n_classifiers, n_groups))
    return GroupCounts(n, positives, hits + rng.integers(0, n - positives + 1, (n_classifiers, n_groups)), hits)


def slow_violations(tie, counts):
    """One classifier and one pair of groups at a time."""
    n, P = counts.n.tolist(), counts.positives.tolist()
    groups, found = range(len(n)), []
    for PP, TP in zip(counts.selected.tolist(), counts.true_positives.tolist(), strict=True):
        if isinstance(tie, OrderByBaseRates):
            worst = 0.0
            for a in groups:
                for b in groups:
                    if P[a] / n[a] > P[b] / n[b] + ORDER_MARGIN:
                        mine, other = (TP[z] / PP[z] if PP[z] else 0.0 for z in (a, b))
                        worst = max(worst, other - mine)
            found.append(worst + sum(PP[z] == 0 for z in groups))
            continue
        if isinstance(tie, EqualSelectionRates):
            rates = [PP[z] / n[z] for z in groups]
        else:
            rates = [TP[z] / P[z] for z in groups if P[z]]
        found.append(max(0.0, max((a - b for a in rates for b in rates), default=0.0) - tie.tolerance))
    return found


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "tie", [EqualSelectionRates(1.0, 0.3), EqualTruePositiveRates(1.0, 0.4), OrderByBaseRates()], ids=str
)
def test_violations_are_those_of_a_loop_over_pairs_of_groups(tie, seed):
    counts = some_counts(seed)
    assert tie.violation(counts).tolist() == pytest.approx(slow_violations(tie, counts), abs=2e-9)


def test_rates_at_their_tolerance_are_within_it():
    n, half = np.array([100, 100]), np.array([50, 50])
    at, beyond = (GroupCounts(n, half, np.array([[50, 52 + more]]), np.array([[30, 30]])) for more in (0, 1))
    assert EqualSelectionRates(1.0, 0.02).violation(at) == 0
    assert EqualSelectionRates(1.0, 0.02).violation(beyond) == pytest.approx(0.01)


def test_a_tie_of_true_positive_rates_is_met_where_nobody_is_qualified():
    counts = GroupCounts(np.array([5, 5]), np.array([0, 0]), np.array([[1, 4]]), np.array([[0, 0]]))
    assert EqualTruePositiveRates(1.0, 0.01).violation(counts).tolist() == [0.0]


@pytest.mark.parametrize("n_groups", [1, 5, MOST_PAIRED, MOST_PAIRED + 1, 400])
def test_pairs_in_order_differ_by_the_margin_and_leave_no_group_out(n_groups):
    base_rate = np.random.default_rng(n_groups).uniform(size=n_groups)
    higher, lower = pairs_in_order(base_rate)
    assert (base_rate[higher] > base_rate[lower] + ORDER_MARGIN - 1e-12).all()
    above_somebody = np.flatnonzero(base_rate > base_rate.min() + ORDER_MARGIN)
    assert set(above_somebody) <= set(higher)


def test_a_relative_tolerance_is_not_met_by_selecting_almost_nobody():
    n, positives = np.array([1000, 1000]), np.array([300, 200])
    few, many = np.array([[1, 9]]), np.array([[400, 408]])
    for selected, is_alike in ((few, False), (many, True)):
        counts = GroupCounts(n, positives, selected, selected // 2)
        assert EqualSelectionRates(1.0, 0.02).violation(counts) == 0  # .8 percent apart, both times
        assert (EqualSelectionRates(1.0, 0.05, relative=True).violation(counts) == 0).all() is np.bool_(is_alike)
    nobody = GroupCounts(n, positives, np.array([[0, 0]]), np.array([[0, 0]]))
    assert EqualSelectionRates(1.0, 0.05, relative=True).violation(nobody) == 0
