import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm

from refusing import refusal
from selfselect.behaviour import (
    AUTO_CONFIDENCE,
    PRECISION_CLIP,
    BestResponse,
    PromisedRule,
    SureRule,
    applies_rule,
    applies_with_margin,
    as_decisions,
    check_tolerance,
    has_margin,
    highest_cost,
    lower_bound_reaches,
    smooth_applies,
)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 20), st.integers(1, 20))
def test_comparing_counts_equals_comparing_exact_fractions(true_positives, selected, cost_top, cost_bottom):
    true_positives, cost_top = min(true_positives, selected), min(cost_top, cost_bottom)
    expected = selected > 0 and true_positives * cost_bottom >= cost_top * selected
    assert bool(applies_rule(true_positives, selected, cost_top / cost_bottom)) == expected


def test_the_slack_forgives_rounding_but_not_one_person():
    assert not applies_rule(7 * 10**10 - 1, 10**11, 0.7)
    assert 0.8 - 0.1 > 0.7  # in floating point
    assert applies_rule([7, 7 * 10**8], [10, 10**9], 0.8 - 0.1).all()
    assert not applies_rule(7 * 10**8 - 1, 10**9, 0.8 - 0.1)


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99), st.sampled_from([1.0, 2.0, 5.0, 20.0]))
def test_the_smooth_rule_is_the_papers_sigmoid_with_the_derivative_of_finite_differences(q, c, tau):
    a, derivative = smooth_applies(np.array([q]), np.array([c]), tau)
    r = q - c
    paper = 1 / (1 + (((r + c) * (1 - c)) / (c * (1 - (r + c)))) ** -tau)
    assert a[0] == pytest.approx(paper, rel=1e-9, abs=1e-300)
    h = 1e-6
    up, down = (smooth_applies(np.array([q + d]), np.array([c]), tau)[0][0] for d in (h, -h))
    assert derivative[0] == pytest.approx((up - down) / (2 * h), rel=1e-4, abs=1e-6)


def test_the_smooth_rule_tends_to_the_best_response_and_does_not_overflow():
    q = np.array([0.0, 0.3, 0.5, 0.8, 1.0])
    assert smooth_applies(q, np.full(5, 0.6), 200.0)[0].round(6).tolist() == [0, 0, 0, 1, 1]
    assert all(np.isfinite(smooth_applies(q, np.full(5, c), 50.0)).all() for c in (0.0, 1e-9, 0.5, 1.0))


def test_tolerances_that_leave_room_for_a_precision_are_accepted():
    assert check_tolerance("auto", np.array([1.0])) == "auto"
    assert check_tolerance(0.0, np.array([1.0])) == 0
    assert check_tolerance(0.125, np.array([0.5, 0.75])) == 0.125


# ---------------------------------------------------------------------- lower bounds and guarantees


def lower_bound(true_positives, selected, confidence):
    """Clopper and Pearson's bound by scipy."""
    interval = binomtest(true_positives, selected, alternative="greater").proportion_ci(confidence, method="exact")
    return interval.low


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
def test_groups_apply_where_the_bound_of_scipy_reaches_the_cost(confidence):
    k, n = np.array([(k, n) for n in (1.0, 7.0, 30.0) for k in np.arange(n + 1)]).T
    bounds = np.array([lower_bound(int(a), int(b), confidence) for a, b in zip(k, n, strict=True)])
    rule = SureRule(confidence)
    assert highest_cost(rule, k, n) == pytest.approx(np.minimum(bounds, k / n), abs=1e-12)
    below, above = np.clip(bounds - 1e-9, 0, 1), np.clip(bounds + 1e-9, 0, 1)
    assert rule.shares(k, n, below).tolist() == (k / n >= below).tolist()
    assert not rule.shares(k, n, above).any()
    assert lower_bound_reaches(k, n, bounds - 1e-9, confidence).all()
    assert not lower_bound_reaches(k, n, bounds + 1e-9, confidence).any()


@pytest.mark.parametrize("confidence", [0.001, 0.5, 0.9, 0.999])
def test_the_bound_reaches_itself(confidence):
    selected = np.array([1, 2, 10, 100, 1000.0])
    # one true positive: 1 - (1 - p)^n = 1 - confidence; only true positives: p^n = 1 - confidence
    assert lower_bound_reaches(np.ones(5), selected, 1 - confidence ** (1 / selected), confidence).all()
    assert lower_bound_reaches(selected, selected, (1 - confidence) ** (1 / selected), confidence).all()


def test_every_bound_reaches_0_and_none_reaches_1():
    true_positives, selected = np.array([0.0, 1.0, 5.0]), np.full(3, 5.0)
    assert lower_bound_reaches(true_positives, selected, np.zeros(3), 0.9).tolist() == [True] * 3
    assert lower_bound_reaches(true_positives, selected, np.ones(3), 0.9).tolist() == [False] * 3
    assert lower_bound_reaches(true_positives, selected, np.full(3, 1e-3), 0.9).tolist() == [False, True, True]


def test_groups_without_a_precision_do_as_undefined_says():
    counts = [[0, 9, 0], [2, 9, 0]], [[0, 9, 3], [9, 9, 0]]
    assert SureRule(0.9).shares(*counts, 0.7).tolist() == [[False, True, False], [False, True, False]]
    assert SureRule(0.9, "apply").shares(*counts, 0.7).tolist() == [[True, True, False], [False, True, True]]
    costs = [[0.7], [0.8]]  # a cost for each row: the bound of 9 true positives among 9 selected is .774
    assert SureRule(0.9).shares(*counts, costs).tolist() == [[False, True, False], [False, False, False]]


def test_only_groups_with_a_guarantee_apply_if_their_bound_reaches_the_cost():
    true_positives, selected = np.array([[30, 30, 10], [30, 10, 30]]), np.full((2, 3), 30)
    promised = PromisedRule(0.9, promised=(True, False, True))
    assert promised.shares(true_positives, selected, 0.7).tolist() == [[True, False, False], [True, False, True]]
    assert promised.shares(true_positives[0], selected[0], [0.99, 0.5, 0.2]).tolist() == [False, False, True]
    assert promised.shares([0, 0, 0], [0, 0, 0], 0.5).tolist() == [False] * 3
    applies = PromisedRule(0.9, "apply", (True, False, True))
    assert applies.shares([0, 0, 30], [0, 0, 30], 0.5).tolist() == [True, False, True]


def test_groups_without_a_guarantee_apply_at_no_cost():
    true_positives, selected = [30, 30, 0, 0], [30, 30, 30, 0]
    sure = highest_cost(SureRule(0.9), true_positives, selected)
    assert sure.tolist() == pytest.approx([0.1 ** (1 / 30), 0.1 ** (1 / 30), 0, np.nan], nan_ok=True)
    guaranteed = highest_cost(PromisedRule(0.9, promised=(True, False, True, True)), true_positives, selected)
    assert guaranteed[[0, 2]].tolist() == sure[[0, 2]].tolist()
    assert np.isnan(guaranteed[[1, 3]]).all()


# ---------------------------------------------------------------------- margins


def wilson_low(true_positives, selected):
    """Lower root of (p - k/n)^2 = z^2 p (1 - p) / n at z = 1, one standard error."""
    a, b, c = 1 + 1 / selected, -(2 * true_positives / selected + 1 / selected), (true_positives / selected) ** 2
    return (-b - np.sqrt(b**2 - 4 * a * c)) / (2 * a)


def test_an_automatic_margin_is_the_wilson_interval_of_one_standard_error():
    assert norm.cdf(1) - norm.cdf(-1) == pytest.approx(AUTO_CONFIDENCE, abs=1e-4)
    true_positives, selected = np.array([3, 9, 40, 160]), np.array([4, 10, 50, 200])
    ends = wilson_low(true_positives, selected)
    assert has_margin(true_positives, selected, ends - 1e-4, "auto").tolist() == [True] * 4
    assert has_margin(true_positives, selected, ends + 1e-4, "auto").tolist() == [False] * 4
    assert has_margin([0, 0], [3, 0], 0.0, "auto").tolist() == [True, False]  # 0 is reached, nothing is not


def test_groups_without_a_precision_may_apply_but_others_need_the_margin():
    apply = BestResponse("apply")
    assert applies_with_margin([8, 7, 0], [10, 10, 0], 0.5, 0.25, apply).tolist() == [True, False, True]
    assert applies_with_margin([8, 7, 0], [10, 10, 0], 0.5, "auto", apply).tolist() == [True, True, False]
    assert applies_with_margin([8, 4, 0], [10, 10, 0], 0.5).tolist() == [True, False, False]


class AllApply:
    """All apply, whatever is published."""

    def shares(self, true_positives, selected, costs):
        return np.ones(len(selected))


def test_without_a_margin_the_behaviour_decides():
    assert applies_with_margin([1, 6, 0], [10, 10, 0], 0.5, 0.0, AllApply()).tolist() == [True, True, True]
    assert applies_with_margin([1, 6, 0], [10, 10, 0], 0.5, 0.1, AllApply()).tolist() == [False, True, True]
    assert applies_with_margin([9, 10], [10, 10], 0.0, 1, AllApply()).tolist() == [False, True]


def test_a_group_counts_as_applying_from_one_half_on():
    assert as_decisions(np.array([0.0, 0.49, 0.5, 0.51, 1.0])).tolist() == [False, False, True, True, True]
    decided = np.array([True, False])
    assert as_decisions(decided).tolist() == [True, False]
    assert as_decisions(np.array([0, 1])).tolist() == [False, True]


# ---------------------------------------------------------------------- the smooth rule


def test_the_smooth_rule_is_clipped_at_its_ends_and_flat_there():
    q, c = np.array([0.0, 0.5, 0.5, 0.5, 1.0]), np.array([0.5, 0.0, 0.5, 1.0, 0.5])
    a, derivative = smooth_applies(q, c, 1.0)
    odds = PRECISION_CLIP / (1 - PRECISION_CLIP)  # of the least precision, and of the least cost
    expected = [odds / (1 + odds), 1 / (1 + odds), 0.5, odds / (1 + odds), 1 / (1 + odds)]
    assert a.tolist() == pytest.approx(expected, rel=1e-9)
    inside = [4 * share * (1 - share) for share in expected]
    assert derivative.tolist() == pytest.approx([0, *inside[1:4], 0], rel=1e-6)
    assert derivative[1] > 0
    assert PRECISION_CLIP == 1e-6


# ---------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BestResponse("maybe"), "undefined must be one of 'abstain', 'apply', got 'maybe'."),
        (lambda: SureRule(1.0), "confidence must lie in (0, 1), got 1.0."),
        (
            lambda: PromisedRule(promised=(True, False)).shares([[1, 1, 1]], [[2, 2, 2]], 0.5),
            "Promises were made to 2 group(s), got counts of shape (1, 3).",
        ),
        (lambda: applies_rule([1, 1], [2, 2], [0.5, np.nan]), "costs has missing values; give every group a cost."),
        (lambda: check_tolerance(-0.1, np.array([0.5])), "tolerance must lie in [0, 1], got -0.1."),
        (
            lambda: check_tolerance(0.25, np.array([0.5, 0.75, 0.25])),
            "cost + tolerance must be below 1, got 0.75 + 0.25: no precision could be high enough. "
            "Lower the tolerance.",
        ),
    ],
)
def test_wrong_arguments_are_refused(make, message):
    assert str(refusal(make)) == message
