"""Simulations of the guarantee, for many kinds of populations: it is wrong at most as often as stated."""

import os
from fractions import Fraction
from math import ceil

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from selfselect.counting import GroupCounts
from selfselect.publishing import (
    ThresholdCurves,
    guarantee_groups,
    guarantee_thresholds,
    threshold_sequences,
)

DELTA = 0.1
#: Number of simulated populations.
POPULATIONS = int(os.environ.get("SELFSELECT_POPULATIONS", "2000"))
KINDS = ["plain", "ties", "tiny groups", "many groups", "hopeless"]


def world(random, kind):
    """Distribution of scores, probability of being qualified at each score, and sample size of each group."""
    n_groups = {"many groups": 12, "tiny groups": 6}.get(kind, int(random.integers(1, 5)))
    values = 6 if kind == "ties" else 40
    spread = random.dirichlet(np.ones(values), n_groups)
    if kind == "hopeless":  # the score is uninformative, and precision is just below the cost
        chance = np.repeat(random.uniform(0.3, 0.8, n_groups)[:, None], values, axis=1)
    else:
        chance = np.sort(random.uniform(0, 1, (n_groups, values)), axis=1)
    size = random.integers(5, 20, n_groups) if kind == "tiny groups" else random.integers(50, 400, n_groups)
    return spread, chance, size


def drawn(random, spread, chance, size):
    """Scores, labels and groups of some people."""
    codes = np.repeat(np.arange(len(size)), size)
    score = np.concatenate([random.choice(spread.shape[1], n, p=row) for row, n in zip(spread, size, strict=True)])
    return score.astype(float), random.random(len(codes)) < chance[codes, score], codes


def true_precision(spread, chance, group, threshold):
    above = np.arange(spread.shape[1]) > threshold
    weight = spread[group] * above
    return np.nan if weight.sum() == 0 else float(weight @ chance[group] / weight.sum())


def costs_of(random, kind, spread, chance):
    overall = (spread * chance).sum(axis=1)
    return overall + 1e-3 if kind == "hopeless" else np.clip(overall + random.uniform(0, 0.3, len(overall)), 0, 0.95)


@pytest.mark.parametrize("kind", KINDS)
def test_guarantees_of_thresholds_are_wrong_at_most_as_often_as_stated(kind):
    random = np.random.default_rng(0)
    broken = promised = 0
    populations = max(POPULATIONS // 5, 1)
    for _ in range(populations):
        spread, chance, size = world(random, kind)
        costs = costs_of(random, kind, spread, chance)
        score, y, codes = drawn(random, spread, chance, size)  # training data
        sequences = [threshold_sequences(score[codes == z], float(y[codes == z].mean())) for z in range(len(size))]
        score, y, codes = drawn(random, spread, chance, size)  # evaluation data
        steps = ThresholdCurves.from_codes(y, score, codes, pd.RangeIndex(len(size)))
        passed = guarantee_thresholds(steps, sequences, costs, DELTA).thresholds
        guaranteed = [(z, t) for z, thresholds in enumerate(passed) for t in thresholds]
        promised += bool(guaranteed)
        # any of these thresholds may be chosen in the end, so all of them must hold
        broken += any(true_precision(spread, chance, z, t) < costs[z] - 1e-12 for z, t in guaranteed)
    check_shares(kind, populations, promised, broken)


def check_shares(kind, populations, promised, broken):
    """At most a share delta of populations have a wrong guarantee, and not because there are no guarantees."""
    assert broken <= populations * DELTA + 3 * np.sqrt(populations * DELTA * (1 - DELTA))
    if kind == "plain":
        assert promised > 0.3 * populations
    if kind == "hopeless":
        assert broken == promised


def as_it_is(curves, costs):
    """A fixed threshold."""
    return 2.5 if curves.threshold.max() < 6 else 19.5


def best_threshold(curves, costs):
    """The threshold of the highest induced accuracy in the training data."""
    outcomes = curves.outcomes(dict(zip(curves.groups, costs, strict=True)))
    if outcomes["induced_accuracy"].isna().all():
        return as_it_is(curves, costs)
    return float(outcomes["threshold"][outcomes["induced_accuracy"].idxmax()])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("choose", [as_it_is, best_threshold])
def test_guarantees_of_groups_are_wrong_at_most_as_often_as_stated(choose, kind):
    random = np.random.default_rng(1)
    broken = promised = 0
    populations = max(POPULATIONS // 5, 1)
    for _ in range(populations):
        spread, chance, size = world(random, kind)
        costs = costs_of(random, kind, spread, chance)
        fitted, evaluated = (
            ThresholdCurves.from_codes(y, score, codes, pd.RangeIndex(len(size)))
            for score, y, codes in (drawn(random, spread, chance, size) for _ in range(2))
        )
        threshold = choose(fitted, costs)
        named = fitted.at(threshold).applies(dict(enumerate(costs))).to_numpy()
        _, passed = guarantee_groups(evaluated.at(threshold).counts, named, costs, DELTA)
        assert (passed <= named).all()
        promised += passed.any()
        broken += any(true_precision(spread, chance, z, threshold) < costs[z] - 1e-12 for z in np.flatnonzero(passed))
    check_shares(kind, populations, promised, broken)


def test_groups_that_are_not_tested_do_not_share_the_level():
    counts = GroupCounts(*(np.array(column) for column in ([30] * 3, [20] * 3, [15] * 3, [15] * 3)))
    costs = np.full(3, 0.85)  # 15 of 15 have a probability of .087
    level, passed = guarantee_groups(counts, np.array([False, True, False]), costs, 0.1)
    assert (level, passed.tolist()) == (0.1, [False, True, False])
    level, passed = guarantee_groups(counts, np.ones(3, dtype=bool), costs, 0.1)
    assert (level, passed.any()) == (pytest.approx(0.1 / 3), False)
    assert not guarantee_groups(counts, np.zeros(3, dtype=bool), costs, 0.1)[1].any()


# ---------------------------------------------------------------------- sequences


def sequence_by_hand(score, share):
    """The next score above each of 100 levels, from where a share is selected down to where everybody is."""
    ordered = sorted(score)
    levels = [(1 - share) * (1 - Fraction(k, 99)) for k in range(100)]
    values = [ordered[ceil(level * (len(ordered) - 1))] for level in levels]
    return sorted(set(values), reverse=True)


def test_sequences_start_at_parts_of_the_base_rate_and_go_down_to_everybody():
    score = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0]
    sequences = threshold_sequences(np.array(score), 0.8)
    # an eighth of .8 is less than one person of eight
    shares = [Fraction(4, 5), Fraction(2, 5), Fraction(1, 5), Fraction(1, 8)]
    assert [sequence.tolist() for sequence in sequences] == [sequence_by_hand(score, share) for share in shares]
    assert sequences[0].tolist() == [2, 1]
    assert sequences[3].tolist() == [9, 6, 5, 4, 3, 2, 1]


def test_a_sequence_has_at_most_a_hundred_thresholds():
    longest = threshold_sequences(np.random.default_rng(0).permutation(5000.0 + np.arange(1000)), 0.5)[0]
    assert len(longest) == 100
    assert longest[0] == 5500
    assert longest[-1] == 5000
    assert (np.diff(longest) < 0).all()


def test_equal_sequences_are_tested_once_and_empty_groups_have_none():
    score = np.array([1.0, 2.0, 3.0, 4.0])
    assert [sequence.tolist() for sequence in threshold_sequences(score, 0.0)] == [[4, 3, 2, 1]]
    assert [sequence.tolist() for sequence in threshold_sequences(score, 1.0)] == [[1], [3, 2, 1], [4, 3, 2, 1]]
    assert threshold_sequences(np.zeros(0), 0.5) == []


def test_thresholds_pass_until_the_first_whose_tail_probability_is_above_the_level():
    random = np.random.default_rng(4)
    codes = np.repeat([0, 1, 2, 3], [200, 150, 60, 40])
    rank = random.integers(0, 12, len(codes))
    y = random.random(len(codes)) < 0.25 + rank / 16
    shift = np.array([0.0, -300.0, -600.0, -900.0])  # each group has scores of its own
    score = rank + shift[codes]
    steps = ThresholdCurves.from_codes(y, score, codes, pd.RangeIndex(4))
    sequences = [
        [np.array([9.0, 7.5, 5.0, 2.0]), np.array([10.5, 8.0, 7.5, -3.0])],
        [],
        [np.array([6.0, 4.0, -1.0]) - 600],
        [np.array([20.0, 0.0]) - 900, np.array([3.0, 2.0, 1.0]) - 900],  # of nobody nothing is promised
    ]
    costs, delta = np.array([0.7, 0.5, 0.65, 0.0]), 0.3
    guaranteed = guarantee_thresholds(steps, sequences, costs, delta)
    assert guaranteed.level == delta / 5
    expected = []
    for group, own in enumerate(sequences):
        passed = set()
        for sequence in own:
            for threshold in sequence:
                above = (codes == group) & (score > threshold)
                chance = binom.sf(y[above].sum() - 1, above.sum(), costs[group])
                if not above.any() or chance > guaranteed.level:
                    break
                passed.add(float(threshold))
        expected.append(sorted(passed))
    assert [thresholds.tolist() for thresholds in guaranteed.thresholds] == expected
    assert list(map(len, expected)) == [4, 0, 2, 3]
    assert guaranteed.groups(pd.Index(list("ABCD"))).to_dict() == {"A": True, "B": False, "C": True, "D": True}
