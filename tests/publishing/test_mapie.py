"""The guarantee of one group agrees with MAPIE, an independent implementation of Learn then Test."""

import warnings

import numpy as np
import pytest
from mapie.risk_control import BinaryClassificationController, precision
from mapie.risk_control.fwer_control import control_fwer
from scipy.stats import binom

from selfselect.publishing import ThresholdCurves, guarantee_groups, guarantee_thresholds

COST, DELTA = 0.7, 0.1


def people(seed):
    """Scores with ties, in [0, 1], and labels that go with them."""
    random = np.random.default_rng(seed)
    score = random.integers(0, 41, int(random.integers(30, 600))) / 40
    return score, random.random(len(score)) < np.clip(0.25 + 0.7 * score**1.5, 0, 1)


def controller(score, y, thresholds, method):
    """MAPIE's answer for people with given scores."""
    made = BinaryClassificationController(
        lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]),
        precision,
        COST,
        confidence_level=1 - DELTA,
        list_predict_params=np.array(thresholds),
        fwer_method=method,
    )
    with warnings.catch_warnings():  # that nothing is valid, or that precision does not rise all the way
        warnings.simplefilter("ignore", UserWarning)
        return made.calibrate(score[:, None], y.astype(int))


def between_scores(score):
    """Thresholds at which ``>`` and ``>=`` are the same, from the lowest up; somebody is selected at each."""
    return (np.arange(0, int(score.max() * 40)) + 0.5) / 40


def exact_p_values(score, y, thresholds, more=0):
    """Probability of so few unqualified people (or some more) at a precision that is just the cost."""
    wrong = np.array([(~y[score > t]).sum() for t in thresholds])
    return binom.cdf(wrong + more, [(score > t).sum() for t in thresholds], 1 - COST)


def promised(score, y, thresholds):
    return guarantee_thresholds(
        ThresholdCurves.from_scores(y, score), [[thresholds[::-1]]], np.array([COST]), DELTA
    ).thresholds[0]


def decided_alike(score, y, thresholds, theirs):
    """Whether no threshold passes by our p-value and fails by theirs."""
    return bool(((theirs.p_values[:, 0] <= DELTA) == (exact_p_values(score, y, thresholds) <= DELTA)).all())


def test_over_one_fixed_sequence_the_same_thresholds_are_valid():
    alike, valid = [], []
    for seed in range(40):
        score, y = people(seed)
        thresholds = between_scores(score)
        theirs, ours = controller(score, y, thresholds, "fixed_sequence"), promised(score, y, thresholds)
        # MAPIE rounds the number of unqualified people up after a division, sometimes by one too many. Then its p-value
        # is that of one more person (or Hoeffding's, if smaller), and ours, which is exact, is smaller
        exact, one_more = (exact_p_values(score, y, thresholds, more) for more in (0, 1))
        their_p = theirs.p_values[:, 0]
        assert ((their_p >= exact - 1e-12) & (their_p <= one_more + 1e-12)).all()
        assert set(ours) >= set(theirs.valid_predict_params)
        alike.append(decided_alike(score, y, thresholds, theirs))
        if alike[-1]:
            assert ours.tolist() == sorted(theirs.valid_predict_params)
        # and with the exact p-values, their procedure has just ours
        passed = control_fwer(exact[::-1], DELTA, "fixed_sequence")
        assert ours.tolist() == sorted(thresholds[::-1][passed])
        valid.append(len(ours) > 0)
    assert sum(alike) >= 30  # few of these sequences depend on the rounding
    assert sum(valid) >= 20


@pytest.mark.parametrize("threshold", [0.3125, 0.6125, 0.8125])
def test_a_single_threshold_chosen_beforehand_is_valid_for_both_or_none(threshold):
    for seed in range(40):
        score, y = people(seed)
        theirs = controller(score, y, [threshold], "bonferroni")
        counts = ThresholdCurves.from_scores(y, score).at(threshold).counts
        _, ours = guarantee_groups(counts, np.array([True]), np.array([COST]), DELTA)
        assert ours[0] == (exact_p_values(score, y, [threshold])[0] <= DELTA)
        assert ours[0] >= len(theirs.valid_predict_params)
        if decided_alike(score, y, [threshold], theirs):
            assert ours[0] == len(theirs.valid_predict_params)
