"""Constraints: penalties against finite differences, violations against a loop over groups."""

from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest

from selfselect.constraints import (
    MAX_PAIRED_GROUPS,
    BaseRateOrder,
    Constraints,
    DemographicParity,
    FalsePositiveRateParity,
    MaxSocialCost,
    MinSelectionRate,
    ReleasedDemographicParity,
    RequiredGroups,
    TruePositiveRateParity,
    check_constraints,
    pairs_in_order,
    rate_spread,
    violations,
)
from selfselect.counting import GroupCounts
from selfselect.counting.sums import Gradient, Sums

K = 4
#: Shares that apply, which do not matter between groups.
APPLY = np.ones(1)
CONSTRAINTS = [
    DemographicParity(0.02, weight=2.0),
    DemographicParity(0.02, weight=2.0).with_weight(),
    DemographicParity(0.2, weight=2.0).with_weight(10.0),
    TruePositiveRateParity(0.05, weight=3.0),
    TruePositiveRateParity(0.05, weight=3.0).with_weight(),
    DemographicParity(0.2, relative=True, weight=2.0).with_weight(),
    TruePositiveRateParity(0.1, relative=True, weight=3.0).with_weight(10.0),
    FalsePositiveRateParity(0.05, weight=3.0),
    FalsePositiveRateParity(0.1, relative=True, weight=0.0).with_weight(),
    DemographicParity(ratio_bound=0.8, weight=2.0).with_weight(),
    FalsePositiveRateParity(0.3, ratio_bound=0.5).with_weight(10.0),
    BaseRateOrder(),
    BaseRateOrder().with_weight(10.0),
]


def some_sums(seed, n_groups=K):
    rng = np.random.default_rng(seed)
    n = rng.uniform(10, 30, n_groups)
    positives = n * rng.uniform(0.1, 0.9, n_groups)
    TP, FP = positives * rng.uniform(0.1, 0.9, n_groups), (n - positives) * rng.uniform(0.1, 0.9, n_groups)
    return Sums(n, positives, np.zeros(n_groups), TP + FP, TP, TP + FP, TP)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=str)
def test_a_penalty_has_the_gradient_of_finite_differences(constraint, seed, finite_difference):
    sums = some_sums(seed)
    gradient = constraint.penalty(sums)[1].through_precision(sums)
    for part in fields(Gradient):
        if part.name in ("precision", "largest"):  # resolved into sharp sums; in no constraint
            assert getattr(gradient, part.name) is None
            continue
        numeric = finite_difference(
            lambda v, name=part.name: constraint.penalty(replace(sums, **{name: v}))[0], getattr(sums, part.name)
        )
        own = getattr(gradient, part.name)
        assert (np.zeros(K) if own is None else own) == pytest.approx(numeric, rel=1e-5, abs=1e-6), part.name


@pytest.mark.parametrize("constraint", [*CONSTRAINTS[:11], ReleasedDemographicParity(0.2, weight=2.0)], ids=str)
def test_penalties_of_several_scores_at_once_are_those_of_each_alone(constraint):
    each = [replace(some_sums(seed), n=some_sums(0).n, positives=some_sums(0).positives) for seed in range(3)]
    stacked = {part.name: np.stack([getattr(sums, part.name) for sums in each]) for part in fields(Sums)[2:7]}
    values, gradient = constraint.penalty(replace(each[0], **stacked))
    for i, sums in enumerate(each):
        value, alone = constraint.penalty(sums)
        assert values[i] == pytest.approx(value, rel=1e-12)
        for name in ("soft_selected", "soft_true_positives"):
            if getattr(alone, name) is not None:
                assert getattr(gradient, name)[i] == pytest.approx(getattr(alone, name), rel=1e-12)


def test_a_rate_without_people_does_not_count():
    value, derivative = rate_spread(np.array([1.0, 0.0]), np.array([4.0, 0.0]))
    assert (value, derivative.tolist()) == (0.0, [0.0, 0.0])


# ---------------------------------------------------------------------- in hard counts


def some_counts(seed, n_classifiers=200, n_groups=5):
    rng = np.random.default_rng(seed)
    n = rng.integers(5, 30, n_groups)
    positives = rng.integers(0, n + 1)
    true_positives = rng.integers(0, positives + 1, (n_classifiers, n_groups))
    return GroupCounts(
        n, positives, true_positives + rng.integers(0, n - positives + 1, (n_classifiers, n_groups)), true_positives
    )


def slow_violations(constraint, counts):
    """One classifier and one pair of groups at a time."""
    n, P = counts.n.tolist(), counts.positives.tolist()
    groups, violations = range(len(n)), []
    for PP, TP in zip(counts.selected.tolist(), counts.true_positives.tolist(), strict=True):
        if isinstance(constraint, BaseRateOrder):
            worst = 0.0
            for a in groups:
                for b in groups:
                    if P[a] / n[a] > P[b] / n[b] + constraint.min_gap:
                        mine, other = (TP[z] / PP[z] if PP[z] else 0.0 for z in (a, b))
                        worst = max(worst, other - mine)
            violations.append(worst + sum(PP[z] == 0 for z in groups))
            continue
        if isinstance(constraint, DemographicParity):
            rates = [PP[z] / n[z] for z in groups]
        elif isinstance(constraint, TruePositiveRateParity):
            rates = [TP[z] / P[z] for z in groups if P[z]]
        else:
            rates = [(PP[z] - TP[z]) / (n[z] - P[z]) for z in groups if n[z] > P[z]]
        difference = max((a - b for a in rates for b in rates), default=0.0)
        ratio = max(((constraint.ratio_bound or 0) * a - b for a in rates for b in rates), default=0.0)
        bound = 1 if constraint.difference_bound is None else constraint.difference_bound
        violations.append(max(0.0, difference - bound) + max(0.0, ratio))
    return violations


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "constraint",
    [
        DemographicParity(0.3),
        DemographicParity(0.5, ratio_bound=0.8),
        TruePositiveRateParity(0.4),
        TruePositiveRateParity(ratio_bound=0.5),
        FalsePositiveRateParity(0.4, ratio_bound=0.5),
        BaseRateOrder(),
        BaseRateOrder(min_gap=0.2),
    ],
    ids=str,
)
def test_violations_are_those_of_a_loop_over_pairs_of_groups(constraint, seed):
    counts = some_counts(seed)
    assert constraint.violation(counts, APPLY).tolist() == pytest.approx(slow_violations(constraint, counts), abs=4e-9)


def test_rates_at_their_bound_are_within_it():
    n, half = np.array([100, 100]), np.array([50, 50])
    at, beyond = (GroupCounts(n, half, np.array([[50, 52 + more]]), np.array([[30, 30]])) for more in (0, 1))
    assert DemographicParity(0.02).violation(at, APPLY) == 0
    assert DemographicParity(0.02).violation(beyond, APPLY) == pytest.approx(0.01)


def test_parity_of_rates_holds_where_nobody_is_qualified_or_everybody_is():
    counts = GroupCounts(np.array([5, 5]), np.array([0, 0]), np.array([[1, 4]]), np.array([[0, 0]]))
    assert TruePositiveRateParity(0.01).violation(counts, APPLY).tolist() == [0.0]
    counts = GroupCounts(np.array([5, 5]), np.array([5, 5]), np.array([[1, 4]]), np.array([[1, 4]]))
    assert FalsePositiveRateParity(0.01).violation(counts, APPLY).tolist() == [0.0]


@pytest.mark.parametrize("n_groups", [1, 5, MAX_PAIRED_GROUPS, MAX_PAIRED_GROUPS + 1, 400])
def test_pairs_in_order_differ_by_the_gap_and_leave_no_group_out(n_groups):
    base_rate = np.random.default_rng(n_groups).uniform(size=n_groups)
    higher, lower = pairs_in_order(base_rate, 0.02)
    assert (base_rate[higher] > base_rate[lower] + 0.02 - 1e-12).all()
    above_somebody = np.flatnonzero(base_rate > base_rate.min() + 0.02)
    assert set(above_somebody) <= set(higher)
    without = np.append(base_rate, np.nan)  # a group without people
    assert not np.isin(pairs_in_order(without, 0.02), n_groups).any()


def test_a_relative_bound_is_not_met_by_selecting_almost_nobody():
    n, positives = np.array([1000, 1000]), np.array([300, 200])
    few, many = np.array([[1, 9]]), np.array([[400, 408]])
    for selected, is_alike in ((few, False), (many, True)):
        counts = GroupCounts(n, positives, selected, selected // 2)
        assert DemographicParity(0.02).violation(counts, APPLY) == 0  # .8 percent apart, both times
        assert (DemographicParity(0.05, relative=True).violation(counts, APPLY) == 0).all() is np.bool_(is_alike)
    nobody = GroupCounts(n, positives, np.array([[0, 0]]), np.array([[0, 0]]))
    assert DemographicParity(0.05, relative=True).violation(nobody, APPLY) == 0


# ---------------------------------------------------------------------- all constraints of a task


def test_constraints_prescribe_applicants_if_groups_are_required_or_social_cost_is_limited():
    assert not Constraints().prescribes_applicants
    assert not Constraints(required=np.zeros(2, dtype=bool)).prescribes_applicants
    assert Constraints(required=np.array([True, False])).prescribes_applicants
    assert Constraints(max_social_cost=0.9).prescribes_applicants
    assert Constraints(between_groups=(BaseRateOrder(),)).follows_base_rates
    some = Constraints(required=np.array([True, False]), min_selected=np.array([1.0, 2.0])).take(np.array([1]))
    assert (some.required.tolist(), some.min_selected.tolist()) == ([False], [2.0])


def test_a_selection_rate_that_is_reached_exactly_is_kept_and_an_empty_group_lacks_nothing():
    assert Constraints(min_selection_rate=0.1).shortfall([3, 0], [30, 0]).tolist() == [0.0, 0.0]  # .1 * 30 is above 3
    assert Constraints(min_selection_rate=0.1).shortfall([2], [30])[0] == pytest.approx(1 / 30)


@pytest.mark.parametrize("seed", range(3))
def test_who_applies_and_how_many_are_selected_are_those_of_a_loop_over_groups(seed):
    counts, groups, rng = some_counts(seed), pd.Index(list("abcde")), np.random.default_rng(seed)
    for shares in (rng.random((200, 5)) < 0.5, rng.random((200, 5))):
        for constraint, slow in (
            (RequiredGroups("e", "b"), lambda share, PP: sum(share[z] < 0.5 for z in (1, 4))),
            (MaxSocialCost(0.3), lambda share, PP: 1 - share @ counts.positives / counts.positives.sum() - 0.3),
            (MinSelectionRate(0.4), lambda share, PP: sum(max(0, 0.4 - PP[z] / counts.n[z]) for z in range(5))),
        ):
            expected = [max(0, slow(share, PP)) for share, PP in zip(shares, counts.selected, strict=True)]
            own = constraint.for_groups(groups).violation(counts, shares)
            assert own == pytest.approx(expected, abs=4e-9)
            one = replace(counts, selected=counts.selected[7], true_positives=counts.true_positives[7])
            assert violations([constraint], groups, one, shares[7]).to_dict() == {repr(constraint): own[7]}


def test_constraints_are_sorted_by_what_solvers_do_with_them():
    order, parity = BaseRateOrder(), DemographicParity(0.1)
    given = [RequiredGroups("b"), MaxSocialCost(0.5), MaxSocialCost(0.4), MinSelectionRate(0.1), order, parity]
    of_task = Constraints.of([*given, RequiredGroups("a", "b"), MinSelectionRate(0.05)], pd.Index(list("abc")))
    assert of_task.required.tolist() == [True, True, False]
    assert (of_task.max_social_cost, of_task.min_selection_rate) == (0.4, 0.1)
    assert of_task.between_groups == (order, parity)
    assert check_constraints(parity) == check_constraints([parity]) == [parity]
    assert check_constraints(None) == []


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DemographicParity(ratio_bound=1.2), r"ratio_bound must lie in \[0, 1\]"),
        (lambda: TruePositiveRateParity(-0.1), r"difference_bound must lie in \[0, 1\]"),
        (lambda: FalsePositiveRateParity(0.1, weight=-1), "weight must be a number of at least 0"),
        (lambda: MaxSocialCost(2.0), r"limit must lie in \[0, 1\]"),
        (lambda: MinSelectionRate(-1), r"share must lie in \[0, 1\]"),
        (lambda: BaseRateOrder(2), r"min_gap must lie in \[0, 1\]"),
        (lambda: check_constraints([MaxSocialCost]), r"such as \[MaxSocialCost\(0.3\)\], found <class"),
        (lambda: check_constraints([0.3]), "found 0.3"),
        (lambda: RequiredGroups("c").for_groups(pd.Index(["a"])), "RequiredGroups names group.*'c'"),
        (lambda: RequiredGroups("a").violation(some_counts(0), APPLY), "use for_groups"),
    ],
)
def test_wrong_constraints_are_refused_by_name(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()
