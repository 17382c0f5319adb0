"""What is published: the precision or a lower bound of it, of groups that passed a test."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from refusing import refusal
from selfselect.statistics import Guaranteed, LowerBound, Precision, Published, confidence_of


def counted(true_positives, selected):
    return SimpleNamespace(true_positives=np.asarray(true_positives), selected=np.asarray(selected))


def reaches(statistic, true_positives, selected, limit):
    return Published(counted(true_positives, selected), statistic).reaches(limit)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 20), st.integers(1, 20))
def test_comparing_counts_equals_comparing_exact_fractions(true_positives, selected, cost_top, cost_bottom):
    true_positives, cost_top = min(true_positives, selected), min(cost_top, cost_bottom)
    expected = selected > 0 and true_positives * cost_bottom >= cost_top * selected
    assert bool(reaches(Precision(), true_positives, selected, cost_top / cost_bottom)) == expected


def test_the_slack_forgives_rounding_but_not_one_person():
    assert not reaches(Precision(), 7 * 10**10 - 1, 10**11, 0.7)
    assert 0.8 - 0.1 > 0.7  # in floating point
    assert reaches(Precision(), [7, 7 * 10**8], [10, 10**9], 0.8 - 0.1).all()
    assert not reaches(Precision(), 7 * 10**8 - 1, 10**9, 0.8 - 0.1)


def lower_bound(true_positives, selected, confidence):
    """Clopper and Pearson's bound by scipy."""
    interval = binomtest(true_positives, selected, alternative="greater").proportion_ci(confidence, method="exact")
    return interval.low


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
def test_the_lower_bound_is_that_of_scipy_and_never_above_the_precision(confidence):
    k, n = np.array([(k, n) for n in (1.0, 7.0, 30.0) for k in np.arange(n + 1)]).T
    bounds = np.array([lower_bound(int(a), int(b), confidence) for a, b in zip(k, n, strict=True)])
    statistic = LowerBound(confidence)
    assert statistic.value(counted(k, n)) == pytest.approx(np.minimum(bounds, k / n), abs=1e-12)
    below, above = np.clip(bounds - 1e-9, 0, 1), np.clip(bounds + 1e-9, 0, 1)
    assert reaches(statistic, k, n, below).tolist() == (k / n >= below).tolist()
    assert not reaches(statistic, k, n, above).any()


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.999])
def test_the_bound_reaches_itself(confidence):
    selected = np.array([1, 2, 10, 100, 1000.0])
    # one true positive: 1 - (1 - p)^n = 1 - confidence; only true positives: p^n = 1 - confidence
    assert reaches(LowerBound(confidence), selected, selected, (1 - confidence) ** (1 / selected)).all()
    one = np.minimum(1 - confidence ** (1 / selected), 1 / selected)
    assert reaches(LowerBound(confidence), np.ones(5), selected, one).all()


def test_every_bound_reaches_0_and_none_reaches_1():
    true_positives, selected = np.array([0.0, 1.0, 5.0]), np.full(3, 5.0)
    for limit, expected in ((0.0, [True] * 3), (1.0, [False] * 3), (1e-3, [False, True, True])):
        assert reaches(LowerBound(0.9), true_positives, selected, np.full(3, limit)).tolist() == expected


def test_nothing_is_published_about_groups_that_did_not_pass_or_of_which_nobody_is_selected():
    counts = counted([30, 30, 10, 0], [30, 30, 30, 0])
    guaranteed = Guaranteed(LowerBound(0.9), (True, False, True, True))
    bounds = LowerBound(0.9).value(counts)
    assert bounds[:2] == pytest.approx(0.1 ** (1 / 30))
    assert guaranteed.value(counts) == pytest.approx([bounds[0], np.nan, bounds[2], np.nan], nan_ok=True)
    assert Published(counts, guaranteed).is_defined.tolist() == [True, False, True, False]
    for limit in (0.0, 0.25, 0.7, [0.99, 0.5, 0.2, 0.0]):
        expected = np.nan_to_num(guaranteed.value(counts), nan=-1) >= limit
        assert Published(counts, guaranteed).reaches(limit).tolist() == expected.tolist()
    assert (confidence_of(guaranteed), confidence_of(LowerBound(0.8)), confidence_of(Precision())) == (0.9, 0.8, None)


class Half:
    """A statistic of a user: half of the precision."""

    def value(self, counts):
        return Precision().value(counts) / 2


def test_a_statistic_needs_only_a_value():
    published = Published(counted([8, 0], [10, 0]), Half())
    assert published.value == pytest.approx([0.4, np.nan], nan_ok=True)
    assert published.is_defined.tolist() == [True, False]
    assert published.reaches(0.4).tolist() == [True, False]
    guaranteed = Guaranteed(Half(), (True, True))
    assert Published(published.counts, guaranteed).reaches([0.41, 0.0]).tolist() == [False, False]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LowerBound(1.0), "confidence must lie in (0, 1), got 1.0."),
        (
            lambda: Guaranteed(Precision(), (True, False)).value(counted([[1, 1, 1]], [[2, 2, 2]])),
            "2 group(s) were tested at the thresholds in use, got counts of shape (1, 3): nothing is guaranteed at "
            "other thresholds.",
        ),
        (lambda: reaches(None, [1, 1], [2, 2], [0.5, np.nan]), "costs has missing values; give every group a cost."),
        (
            lambda: Published(counted([1], [2])).by_group({"a": 0.5}, "mean"),
            "mean differs between groups, and the names of the groups are not known here.",
        ),
        (
            lambda: Published(counted([1], [2]), groups=pd.Index(["b"])).by_group({"a": 0.5}, "mean"),
            "mean has no entry for group 'b'.",
        ),
    ],
)
def test_wrong_arguments_are_refused(make, message):
    assert str(refusal(make)) == message
