"""Promises that are made in vain come as often as was said, whatever the people are like: simulated, not believed."""

import os

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from selfselect.counting import GroupCounts
from selfselect.deciding import ThresholdCurves, promise_in_order, promise_to_named, sequences_of

DELTA = 0.1
#: `make simulate` draws more.
POPULATIONS = int(os.environ.get("SELFSELECT_POPULATIONS", "2000"))
KINDS = ["plain", "ties", "tiny groups", "many groups", "hopeless"]


def world(random, kind):
    """Groups of a population: how scores are spread, who of each score is qualified, and how many are drawn."""
    n_groups = {"many groups": 12, "tiny groups": 6}.get(kind, int(random.integers(1, 5)))
    values = 6 if kind == "ties" else 40
    spread = random.dirichlet(np.ones(values), n_groups)
    if kind == "hopeless":  # the score says nothing, and precision is just below the cost
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
def test_any_promise_at_all_is_broken_in_at_most_the_share_that_was_said(kind):
    random = np.random.default_rng(0)
    broken = promised = 0
    populations = max(POPULATIONS // 5, 1)
    for _ in range(populations):
        spread, chance, size = world(random, kind)
        costs = costs_of(random, kind, spread, chance)
        score, y, codes = drawn(random, spread, chance, size)  # people who are fitted
        sequences = [sequences_of(score[codes == z], float(y[codes == z].mean())) for z in range(len(size))]
        score, y, codes = drawn(random, spread, chance, size)  # people who are judged
        steps = ThresholdCurves.from_codes(y, score, codes, pd.RangeIndex(len(size)))
        found = promise_in_order(steps, sequences, costs, DELTA)
        told = [(z, t) for z, thresholds in enumerate(found.thresholds) for t in thresholds]
        promised += bool(told)
        # whichever of the promised thresholds is chosen in the end: none of them may be in vain
        broken += any(true_precision(spread, chance, z, t) < costs[z] - 1e-12 for z, t in told)
    assert broken <= populations * DELTA + 3 * np.sqrt(populations * DELTA * (1 - DELTA))
    if kind == "plain":
        assert promised > 0.3 * populations  # it is not by promising nothing
    if kind == "hopeless":
        assert broken == promised


def as_it_is(curves, costs):
    """The threshold of a classifier that nobody chooses."""
    return 2.5 if curves.threshold.max() < 6 else 19.5


def best_threshold(curves, costs):
    """The threshold of the highest induced accuracy, chosen again for every population."""
    found = curves.outcomes(dict(zip(curves.groups, costs, strict=True)))
    if found["induced_accuracy"].isna().all():
        return as_it_is(curves, costs)
    return float(found["threshold"][found["induced_accuracy"].idxmax()])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("choose", [as_it_is, best_threshold])
def test_of_groups_that_are_named_beforehand_any_promise_is_broken_in_at_most_the_share_that_was_said(choose, kind):
    random = np.random.default_rng(1)
    broken = promised = 0
    populations = max(POPULATIONS // 5, 1)
    for _ in range(populations):
        spread, chance, size = world(random, kind)
        costs = costs_of(random, kind, spread, chance)
        fitted, judged = (
            ThresholdCurves.from_codes(y, score, codes, pd.RangeIndex(len(size)))
            for score, y, codes in (drawn(random, spread, chance, size) for _ in range(2))
        )
        threshold = choose(fitted, costs)
        named = fitted.at(threshold).applies(dict(enumerate(costs))).to_numpy()
        _, told = promise_to_named(judged.at(threshold).counts, named, costs, DELTA)
        assert (told <= named).all()
        promised += told.any()
        broken += any(true_precision(spread, chance, z, threshold) < costs[z] - 1e-12 for z in np.flatnonzero(told))
    assert broken <= populations * DELTA + 3 * np.sqrt(populations * DELTA * (1 - DELTA))
    if kind == "plain":
        assert promised > 0.3 * populations  # it is not by promising nothing
    if kind == "hopeless":
        assert broken == promised


def test_groups_that_nobody_named_have_no_part_in_the_level():
    counts = GroupCounts(*(np.array(column) for column in ([30] * 3, [20] * 3, [15] * 3, [15] * 3)))
    costs = np.full(3, 0.85)  # 15 of 15 have a probability of .087
    level, told = promise_to_named(counts, np.array([False, True, False]), costs, 0.1)
    assert (level, told.tolist()) == (0.1, [False, True, False])
    level, told = promise_to_named(counts, np.ones(3, dtype=bool), costs, 0.1)
    assert (level, told.any()) == (pytest.approx(0.1 / 3), False)
    assert not promise_to_named(counts, np.zeros(3, dtype=bool), costs, 0.1)[1].any()


def test_a_sequence_ends_at_the_first_threshold_that_fails():
    y = np.array([1] * 30 + [0] * 30 + [1] * 100)
    score = np.array([3.0] * 30 + [2.0] * 30 + [1.0] * 100)
    steps = ThresholdCurves.from_scores(y, score)
    found = promise_in_order(steps, [[np.array([2.0, 1.0, 0.0])]], np.array([0.7]), 0.1)
    assert found.thresholds[0].tolist() == [2.0]
    alone = promise_in_order(steps, [[np.array([0.0])]], np.array([0.7]), 0.1)
    assert alone.thresholds[0].tolist() == [0.0]  # it would have passed by itself


def test_each_test_has_its_part_of_the_level():
    steps = ThresholdCurves.from_scores([1] * 15, [1.0] * 15, sensitive_features=["A"] * 15)
    assert binom.sf(14, 15, 0.85) == pytest.approx(0.0874, abs=1e-4)
    one, two = ([[np.array([0.0])]], [[np.array([0.0]), np.array([0.5])]])
    assert len(promise_in_order(steps, one, np.array([0.85]), 0.1).thresholds[0]) == 1
    assert len(promise_in_order(steps, two, np.array([0.85]), 0.1).thresholds[0]) == 0
