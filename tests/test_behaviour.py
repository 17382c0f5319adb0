"""Behaviours: shares against a loop over groups, derivatives against finite differences."""

from math import exp, isnan, nan
from statistics import NormalDist
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, uniform

from own_behaviours import AtLeastTen, Cautious, Linear
from refusing import refusal
from selfselect.behaviour import (
    BestResponse,
    BetaBeliefs,
    LogitResponse,
    PrivateCosts,
    SigmoidResponse,
    as_decisions,
    check_margin,
    max_accepted_cost,
    share_derivatives,
    shares_with_margin,
    smooth_behaviour,
)
from selfselect.statistics import Guaranteed, LowerBound, Precision, Published

GROUPS = pd.Index(list("abcd"))
MEANS = dict(zip(GROUPS, (0.2, 0.5, 0.6, 0.9), strict=True))
SHIFTS = dict(zip(GROUPS, (0.0, 0.1, -0.1, 0.3), strict=True))


# ---------------------------------------------------------------------- one group at a time


def sigma(x):
    return 1 / (1 + exp(-x)) if x > 0 else exp(x) / (1 + exp(x))


def belief(mean, strength):
    return lambda q, k, n: (strength * mean + (0 if isnan(q) else k)) / (strength + (0 if isnan(q) else n))


#: Behaviour, and the share of one group: from value, true positives, selected people, cost and group.
BEHAVIOURS = {
    "best response": (BestResponse(), lambda q, k, n, c, z: q >= c - 1e-12),
    "undefined apply": (BestResponse("apply"), lambda q, k, n, c, z: isnan(q) or q >= c - 1e-12),
    "logit": (LogitResponse(0.1), lambda q, k, n, c, z: 0.0 if isnan(q) else sigma((q - c) / 0.1)),
    "private costs": (
        PrivateCosts(norm(0.05, 0.1)),
        lambda q, k, n, c, z: 0.0 if isnan(q) else NormalDist(0.05, 0.1).cdf(q - c),
    ),
    "private costs by group": (
        PrivateCosts({label: uniform(shift - 0.2, 0.4) for label, shift in SHIFTS.items()}),
        lambda q, k, n, c, z: 0.0 if isnan(q) else min(max((q - c - SHIFTS[z] + 0.2) / 0.4, 0.0), 1.0),
    ),
    "beliefs": (BetaBeliefs(0.4, 5), lambda q, k, n, c, z: belief(0.4, 5)(q, k, n) >= c - 1e-12),
    "beliefs by group": (
        BetaBeliefs(MEANS, 5, LogitResponse(0.1)),
        lambda q, k, n, c, z: sigma((belief(MEANS[z], 5)(q, k, n) - c) / 0.1),
    ),
    "beliefs and private costs": (
        BetaBeliefs(0.4, 20, PrivateCosts(norm(0, 0.1))),
        lambda q, k, n, c, z: NormalDist(0, 0.1).cdf(belief(0.4, 20)(q, k, n) - c),
    ),
    "own, yes or no": (AtLeastTen(), lambda q, k, n, c, z: q >= c - 1e-12 and n >= 10),
    "own, yes or no by numbers": (Cautious(), lambda q, k, n, c, z: q >= c + 1 / (5 + n)),
    "own, shares": (
        Linear(),
        lambda q, k, n, c, z: 0.0 if isnan(q) else min(max(0.5 + n / (5 + n) * (q - c), 0.0), 1.0),
    ),
}
ALL = pytest.mark.parametrize("name", BEHAVIOURS)
STATISTICS = [Precision(), LowerBound(0.8), Guaranteed(LowerBound(0.8), (True, False, True, True))]


def some_counts(seed, rows=30):
    """Counts of four groups in each row; in some nobody is selected."""
    rng = np.random.default_rng(seed)
    selected = rng.integers(0, 40, (rows, 4)) * (rng.random((rows, 4)) < 0.9)
    return SimpleNamespace(true_positives=rng.integers(0, selected + 1), selected=selected)


@ALL
@pytest.mark.parametrize("statistic", STATISTICS, ids=str)
def test_shares_are_those_of_a_loop_over_groups(name, statistic):
    behaviour, slow = BEHAVIOURS[name]
    counts, cost = some_counts(0), np.array([0.7, 0.5, 0.0, 0.6])
    published = Published(counts, statistic, GROUPS)
    shares = np.asarray(behaviour.shares(published, cost))
    rows = zip(published.value.tolist(), counts.true_positives.tolist(), counts.selected.tolist(), strict=True)
    expected = [[float(slow(*each)) for each in zip(*row, cost, GROUPS, strict=True)] for row in rows]
    assert shares == pytest.approx(np.array(expected), abs=1e-12)
    assert (shares.dtype == bool) == (name in ("best response", "undefined apply", "beliefs") or "yes or no" in name)
    if not isinstance(statistic, Guaranteed):  # the same entries one after the other, each with the code of its group
        flat = SimpleNamespace(true_positives=counts.true_positives.ravel(), selected=counts.selected.ravel())
        steps = Published(flat, statistic, GROUPS, np.tile(np.arange(4), 30))
        assert np.asarray(behaviour.shares(steps, np.tile(cost, 30))).tolist() == shares.ravel().tolist()


@ALL
def test_the_highest_accepted_cost_is_that_found_by_halving(name):
    behaviour = BEHAVIOURS[name][0]
    published = Published(some_counts(1), LowerBound(0.7), GROUPS)
    highest = max_accepted_cost(behaviour, published)
    halved = max_accepted_cost(SimpleNamespace(shares=behaviour.shares), published)
    if name == "undefined apply":  # it has no highest cost where nothing is published
        assert (np.isnan(highest) == ~published.is_defined).all()
        assert halved[~published.is_defined] == pytest.approx(1)
        highest, halved = highest[published.is_defined], halved[published.is_defined]
    assert highest == pytest.approx(halved, abs=1e-9, nan_ok=True)
    applies = as_decisions(np.asarray(behaviour.shares(published, np.zeros((30, 4)))))
    assert name == "undefined apply" or (np.isnan(highest) == ~applies).all()


# ---------------------------------------------------------------------- derivatives


SMOOTH = {
    "sigmoid": SigmoidResponse(3.0),
    **{name: smooth_behaviour(behaviour, 4.0) for name, (behaviour, _) in BEHAVIOURS.items()},
    "beliefs and own": BetaBeliefs(0.4, 5, Linear()),
    "beliefs and own, yes or no": smooth_behaviour(BetaBeliefs(MEANS, 5, Cautious()), 4.0),
}


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("seed", range(3))
def test_derivatives_are_those_of_finite_differences(name, seed):
    behaviour, rng = SMOOTH[name], np.random.default_rng(seed)
    value, selected = rng.uniform(0.45, 0.75, (6, 4)), rng.uniform(11, 30, (6, 4))
    cost = np.array([0.5, 0.6, 0.7, 0.65])

    def shares(value, selected):
        return behaviour.shares(Published.of_value(value, selected, GROUPS), cost)

    in_value, in_selected = share_derivatives(behaviour, Published.of_value(value, selected, GROUPS), cost)
    h = 1e-5
    assert in_value == pytest.approx((shares(value + h, selected) - shares(value - h, selected)) / (2 * h), abs=1e-4)
    assert in_selected == pytest.approx((shares(value, selected + h) - shares(value, selected - h)) / (2 * h), abs=1e-5)
    assert in_value.any()
    assert in_selected.any() == ("beliefs" in name or "own, shares" in name or "by numbers" in name)


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives_are_finite_at_the_ends_and_0_where_nothing_is_published(name):
    published = Published.of_value(np.array([0.0, 1.0, 1.0, nan]), np.array([12.0, 12, 1e-300, 0]), GROUPS)
    for cost in (0.0, 1e-9, 0.5, 1.0):
        derivatives = share_derivatives(SMOOTH[name], published, np.full(4, cost))
        assert np.isfinite(derivatives).all()
        assert [part[3] for part in derivatives] == [0, 0]


# ---------------------------------------------------------------------- the smooth form of a yes or no


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99), st.sampled_from([1.0, 2.0, 5.0, 20.0]))
def test_the_smooth_best_response_is_the_papers_sigmoid(q, c, tau):
    a = BestResponse().smooth(tau).shares(Published.of_value(np.array([q]), np.ones(1)), np.array([c]))
    r = q - c
    paper = 1 / (1 + (((r + c) * (1 - c)) / (c * (1 - (r + c)))) ** -tau)
    assert a[0] == pytest.approx(paper, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("name", [name for name in BEHAVIOURS if "yes or no" in name or name == "beliefs"])
def test_a_smooth_yes_or_no_is_one_half_where_the_decision_changes(name):
    behaviour, cost = BEHAVIOURS[name][0], np.full(4, 0.6)
    selected = np.array([10.0, 12.0, 20.0, 40.0])
    values = np.linspace(0.01, 0.99, 197)[:, None] * np.ones(4)
    published = Published.of_value(values, np.broadcast_to(selected, values.shape), GROUPS)
    hard, smooth = (each.shares(published, cost) for each in (behaviour, smooth_behaviour(behaviour, 5.0)))
    assert ((smooth > 0.5) == hard)[np.abs(smooth - 0.5) > 1e-6].all()
    assert 0 < hard.sum() < hard.size


# ---------------------------------------------------------------------- decisions and margins


def test_with_a_margin_the_precision_of_a_yes_or_no_must_clear_the_cost_by_it():
    counts = SimpleNamespace(true_positives=np.array([8, 7, 4, 0]), selected=np.array([10, 10, 10, 0]))

    def applies(behaviour, margin, statistic=None):
        return shares_with_margin(behaviour, Published(counts, statistic), np.full(4, 0.5), margin).tolist()

    assert applies(BestResponse(), 0.0) == [True, True, False, False]
    assert applies(BestResponse(), 0.25) == [True, False, False, False]
    assert applies(BestResponse("apply"), 0.25) == [True, False, False, True]
    assert applies(BestResponse(), 0.25, LowerBound(0.8)) == [True, False, False, False]
    assert applies(BestResponse(), 0.25, LowerBound(0.999)) == [False] * 4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BestResponse("maybe"), "undefined must be one of 'abstain', 'apply', got 'maybe'."),
        (lambda: LogitResponse(0.0), "scale must be positive; BestResponse() is the limit of small scales."),
        (lambda: BetaBeliefs(0.5, 0), "strength must be positive: without a prior, use the response alone."),
        (lambda: BetaBeliefs({"a": 0.5, "b": 1.5}, 1), "mean must lie in [0, 1], got 1.5."),
        (
            lambda: PrivateCosts({"a": 0.1}),
            "distribution must be a frozen distribution of scipy such as scipy.stats.norm(0, 0.1), or a mapping from "
            "group to distribution; got 0.1.",
        ),
        (lambda: check_margin(-0.1, np.array([0.5])), "margin must lie in [0, 1], got -0.1."),
        (
            lambda: check_margin(0.25, np.array([0.5, 0.75, 0.25])),
            "cost + margin must be below 1, got 0.75 + 0.25: no precision could be high enough. Lower the margin.",
        ),
    ],
)
def test_wrong_arguments_are_refused(make, message):
    assert str(refusal(make)) == message
