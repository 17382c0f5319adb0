"""The bootstrap on counts is one over people, and its intervals cover what holds in the population."""

import numpy as np
import pandas as pd
import pytest

from selfselect import PublishedStatistics, ScreeningResult, Terms, audit
from selfselect.auditing import Audit
from selfselect.auditing.resampling import resampled_counts
from selfselect.auditing.undecided import MEASURED
from selfselect.counting import GroupCounts
from selfselect.report.dicts import uncertainty_to_dict


def people(n=120, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.choice(["A", "B", "C"], n, p=[0.5, 0.3, 0.2])
    score = rng.random(n)
    return rng.random(n) < score * np.where(z == "B", 0.85, 1.0), score > 0.4, z, rng


def slow_bootstrap(y, passed, z, cost, draws, rng, weight=None, fixed=False):
    """Row by row: draw people, audit them."""
    rows = [np.flatnonzero(z == group) for group in np.unique(z)] if fixed else [np.arange(len(y))]
    for _ in range(draws):
        drawn = np.concatenate([rng.choice(own, len(own)) for own in rows])
        weights = None if weight is None else weight[drawn]
        yield audit(y[drawn], y_pred=passed[drawn], sensitive_features=z[drawn], cost=cost, sample_weight=weights)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("design", ["random", "fixed"])
def test_draws_on_counts_are_as_uncertain_as_a_bootstrap_over_rows(design, weighted):
    y, passed, z, rng = people(300, seed=4)
    weight = rng.choice([1.0, 2.0, 12.0], len(y)) if weighted else None
    slow = list(slow_bootstrap(y, passed, z, 0.1, 1000, rng, weight, design == "fixed"))  # everybody applies
    made = audit(y, y_pred=passed, sensitive_features=z, cost=0.1, sample_weight=weight)
    fast = made.uncertainty(10_000, design=design)
    values = np.array([result.assumed_accuracy for result in slow])
    assert np.std(fast.low["assumed_accuracy"]) == pytest.approx(values.std(), rel=0.12)
    sizes = resampled_counts(made.population.counts, 2000, rng, design).n
    counted = np.array([result.population.counts.n for result in slow])
    if weighted and design == "fixed":
        assert sizes.std(axis=0) == pytest.approx(np.zeros(3), abs=1e-9)
    elif weighted:
        assert sizes.std(axis=0) == pytest.approx(
            (counted / counted.sum(axis=1)[:, None]).std(axis=0) * weight.sum(), rel=0.1
        )
    else:
        assert sizes.std(axis=0) == pytest.approx(counted.std(axis=0), rel=0.1, abs=1e-9)


# ---------------------------------------------------------------- coverage


def population(rng, n_groups, base, spread, cost=0.6):
    """Probability of each group and cell (TP, FP, FN, TN), and what holds there; precisions are near the cost."""
    precision = np.clip(cost + rng.choice([-1, 1], n_groups) * spread, 0.02, 0.98)
    true_positives = np.minimum(0.3 * precision, 0.8 * base)
    false_positives = np.minimum(true_positives * (1 / precision - 1), 0.8 * (1 - base))
    cells = np.stack([true_positives, false_positives, base - true_positives, 1 - base - false_positives], axis=-1)
    return cells * rng.dirichlet(np.full(n_groups, 5.0))[:, None]


def audited(cells, cost=0.6):
    some = cells[cells.sum(axis=1) > 0]
    true_positives, selected, positives = some[:, 0], some[:, 0] + some[:, 1], some[:, 0] + some[:, 2]
    counts = GroupCounts(some.sum(axis=1), positives, selected, true_positives)
    one = ScreeningResult(PublishedStatistics(pd.RangeIndex(len(some)), counts))
    return Audit(one, one, Terms(cost))


@pytest.mark.parametrize(
    ("n_groups", "size", "base", "spread"),
    [
        (3, 25, 0.5, 0.3),
        (3, 500, 0.05, 0.3),
        (10, 200, 0.5, 0.03),
        (10, 500, 0.95, 0.3),
        (40, 25, 0.9, 0.2),
        (40, 50, 0.5, 0.1),
    ],
)
def test_intervals_cover_what_holds_in_the_population(n_groups, size, base, spread):
    rng, trials = np.random.default_rng(n_groups + size), 120
    covered = np.zeros(len(MEASURED))
    for trial in range(trials):
        if trial % 20 == 0:
            cells = population(rng, n_groups, base, spread)
            truth = audited(1e9 * cells)
        drawn = rng.multinomial(n_groups * size, cells.ravel()).reshape(n_groups, 4)
        made = audited(drawn).uncertainty(400, random_state=trial)
        ends = [(*made.interval(name), getattr(truth, name)) for name in MEASURED]
        covered += [np.isnan(value) or low - 1e-12 <= value <= high + 1e-12 for low, high, value in ends]
    assert (covered / trials >= 0.95 - 2.5 * np.sqrt(0.95 * 0.05 / trials)).all(), covered / trials


@pytest.mark.parametrize("kind", ["lognormal", "by label", "twice"])
def test_intervals_of_weighted_and_of_repeated_people_cover(kind):
    rng, trials, covered = np.random.default_rng(3), 120, np.zeros(len(MEASURED))
    base, sensitivity, false_alarms = np.array([0.6, 0.3]), np.array([0.8, 0.4]), np.array([0.1, 0.35])
    # only the first of two equal groups is worth a cost of 0.6
    right = base * sensitivity + (1 - base) * (1 - false_alarms)
    truth = [right.mean(), right[0], 0.5, base[1] / base.sum()]
    for trial in range(trials):
        z = rng.integers(0, 2, 2000)
        y = rng.random(2000) < base[z]
        chance = np.where(y, 0.1, 0.4) if kind == "by label" else np.full(2000, 0.2)
        sampled = rng.random(2000) < chance
        z, y, weight, person = z[sampled], y[sampled], 1 / chance[sampled], np.arange(sampled.sum())
        passed = rng.random(len(y)) < np.where(y, sensitivity[z], false_alarms[z])
        if kind == "lognormal":
            weight = rng.lognormal(0, 0.7, len(y))
        if kind == "twice":
            y, passed, z, weight, person = (np.tile(column, 2) for column in (y, passed, z, weight, person))
        result = audit(y, y_pred=passed, sensitive_features=z, cost=0.6, sample_weight=weight, person=person)
        made = result.uncertainty(400, random_state=trial)
        covered += [
            low <= value <= high for value, (low, high) in zip(truth, map(made.interval, MEASURED), strict=True)
        ]
    assert (covered / trials >= 0.95 - 2.5 * np.sqrt(0.95 * 0.05 / trials)).all(), covered / trials


def test_constant_weights_change_nothing():
    y, passed, z, _ = people()
    frames = [
        audit(y, y_pred=passed, sensitive_features=z, cost=0.7, sample_weight=weight).uncertainty().to_frame()
        for weight in (None, np.full(len(y), 1000.0))
    ]
    pd.testing.assert_frame_equal(*frames)


def test_drawing_in_blocks_changes_nothing(monkeypatch):
    y, passed, z, _ = people()
    one = ScreeningResult.from_predictions(y, passed, sensitive_features=z)
    other = ScreeningResult.from_predictions(y[:60], passed[:60], sensitive_features=z[:60])
    for counted in (one, other):
        whole = Audit(one, counted, Terms(0.7)).uncertainty(53)
        with monkeypatch.context() as patch:
            patch.setattr("selfselect.auditing.resampling.MAX_DRAWN", 100)
            blocks = Audit(one, counted, Terms(0.7)).uncertainty(53)
        assert np.array_equal(blocks.shares, whole.shares)
        pd.testing.assert_frame_equal(blocks.low, whole.low)


def test_new_people_decide_by_what_is_published_which_is_not_drawn():
    y, passed, z, _ = people()
    one = ScreeningResult.from_predictions(y, passed, sensitive_features=z)
    few = ScreeningResult.from_predictions(y[:40], passed[:40], sensitive_features=z[:40])
    result = Audit(one, few, Terms(0.7))
    alone = Audit(one, one, Terms(0.7)).uncertainty()
    width = [np.subtract(*case.interval("assumed_accuracy")[::-1]) for case in (alone, result.uncertainty())]
    assert width[1] > width[0]
    assert result.uncertainty().applies.tolist() == result.applies.tolist()


def test_the_share_of_resamples_without_applicants_is_reported():
    result = audit([0, 1, 0, 1], y_pred=[1, 1, 1, 1], cost=0.9).uncertainty()
    assert 0.5 < result.to_frame().loc["induced_accuracy", "undefined"] < 1
    nobody = audit([0, 0], y_pred=[0, 0], cost=0.9).uncertainty()
    assert nobody.to_frame().loc["induced_accuracy", "undefined"] == 1
    assert uncertainty_to_dict(nobody, ["A"])["induced_accuracy"] == {"low": None, "high": None, "undefined": 1.0}


def test_an_invalid_number_of_resamples_is_refused():
    with pytest.raises(ValueError, match="n_resamples"):
        audit([0, 1], y_pred=[1, 1], cost=0.5).uncertainty(n_resamples=0)
    with pytest.raises(ValueError, match="confidence"):
        audit([0, 1], y_pred=[1, 1], cost=0.5).uncertainty(confidence=1)
