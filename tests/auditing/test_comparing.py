"""Comparisons: groups that start or stop applying, and intervals of differences, independent and paired."""

import json

import numpy as np
import pandas as pd
import pytest

from selfselect import GroupCounts, PairedCounts, PublishedStatistics, Terms, audit, compare
from selfselect.auditing.resampling import resampled_counts
from selfselect.behaviour import LogitResponse
from selfselect.outcomes import outcome


def drawn(rng, n, precision=(0.8, 0.6), groups=("A", "B")):
    """People who all pass screening; the share of the qualified differs by group."""
    z = rng.integers(0, len(groups), n)
    y = (rng.random(n) < np.array(precision)[z]).astype(int)
    return y, np.array(groups)[z]


def all_pass(y, z, cost=0.7):
    return audit(y, y_pred=np.ones(len(y), dtype=int), sensitive_features=z, cost=cost)


def test_groups_come_leave_appear_and_disappear_by_name():
    def people(rows):
        frame = pd.DataFrame(rows, columns=["z", "qualified", "passed"])
        y = np.concatenate([[1] * row.qualified + [0] * (row.passed - row.qualified) for row in frame.itertuples()])
        return all_pass(y, np.repeat(frame["z"], frame["passed"]))

    last = people([("in", 8, 10), ("comes", 5, 10), ("leaves", 9, 10), ("gone", 9, 10), ("out", 1, 10)])
    this = people([("in", 9, 10), ("comes", 8, 10), ("leaves", 2, 10), ("new", 9, 10), ("out", 1, 10), ("later", 0, 5)])
    made = compare(last, this, names=("last year", "this year"))
    assert made.to_frame()["change"].to_dict() == {
        "in": "applies", "comes": "comes", "leaves": "leaves", "gone": "gone, applied", "out": "stays away",
        "new": "new, applies", "later": "new, stays away",
    }  # fmt: skip
    assert made.verdict().startswith(
        "From last year to this year: leaves stops applying; later is new and stays away; new is new and could go "
        "either way; gone is gone. In these data comes starts to apply, but that could be chance (seen in less than "
        "95% of samples)."
    )
    row = json.loads(made.to_json(min_cell=0))["groups"][made.group_names.index("new")]
    assert (row["applies_before"], row["applies_after"], row["n_before"]) == (None, True, 0)
    assert made.to_frame().loc["gone", "applies_after"] is None


def test_where_a_share_of_each_group_applies_both_sides_and_all_resamples_are_those_of_a_loop():
    rng = np.random.default_rng(2)
    terms = Terms(0.7, behaviour=LogitResponse(0.1))
    sides = [all_pass(*drawn(rng, 300, precision)).under(terms) for precision in ((0.8, 0.6), (0.7, 0.65))]
    made = compare(*sides, n_resamples=40)
    differences = made.differences()
    for name in ("induced_accuracy", "social_cost", "application_rate"):
        both = [getattr(outcome(side.published, side.published.shares(terms)), name) for side in sides]
        assert differences.loc[name, ["before", "after"]].tolist() == pytest.approx(both)
        for i, side in enumerate(sides):
            counts = resampled_counts(side.published.counts, 40, np.random.default_rng([0, i]), "random")
            again = [PublishedStatistics(side.published.groups, counts_of(counts, row)) for row in range(40)]
            values = [getattr(outcome(table, table.shares(terms)), name) for table in again]
            assert made.drawn[i].low[name].tolist() == pytest.approx(values)
    assert 0 < differences.loc["application_rate", "after"] < 1
    assert made.to_html(min_cell=0)


def counts_of(resampled, row):
    return GroupCounts(*(np.asarray(column[row]) for column in resampled.columns))


@pytest.mark.parametrize(("n_groups", "precision"), [(4, (0.95, 0.9, 0.4, 0.3)), (40, (0.72, 0.7, 0.95, 0.68))])
def test_two_samples_of_one_population_seldom_differ_by_more_than_chance(n_groups, precision):
    """At high base rates, and with many groups near their cost."""
    rng, trials = np.random.default_rng(8), 250
    groups, rates = list(range(n_groups)), np.tile(precision, n_groups // 4)
    called = np.zeros(4)
    for trial in range(trials):
        sides = [all_pass(*drawn(rng, 60 * n_groups, rates, groups)) for _ in range(2)]
        rows = compare(*sides, n_resamples=400, random_state=trial).differences()
        called += (rows["low"] > 0) | (rows["high"] < 0)
    assert (called / trials <= 0.07 + 2 * np.sqrt(0.07 * 0.93 / trials)).all()


def test_paired_intervals_equal_those_of_a_bootstrap_over_rows():
    rng = np.random.default_rng(3)
    y, z = drawn(rng, 200, (0.7, 0.4))
    first = rng.integers(0, 2, 200)
    second = np.where(rng.random(200) < 0.3, 1 - first, first)
    audits = [audit(y, y_pred=passed, sensitive_features=z, cost=0.3) for passed in (first, second)]
    pairs = PairedCounts.from_predictions(y, first, second, sensitive_features=z)
    made = compare(*audits, pairs=pairs, n_resamples=4000).differences()
    slow = []
    for _ in range(2000):
        rows = rng.integers(0, 200, 200)
        slow.append(np.mean(second[rows] == y[rows]) - np.mean(first[rows] == y[rows]))
    low, high = np.quantile(slow, [0.025, 0.975])
    assert made.loc["assumed_accuracy", "low"] == pytest.approx(low, abs=0.02)
    assert made.loc["assumed_accuracy", "high"] == pytest.approx(high, abs=0.02)
    row = compare(*audits).differences().loc["assumed_accuracy"]
    assert high - low < 0.95 * (row["high"] - row["low"])  # than of independent people
    same = PairedCounts.from_predictions(y, first, first, sensitive_features=z)
    unchanged = compare(audits[0], audits[0], pairs=same)
    assert (unchanged.differences().loc["assumed_accuracy", ["difference", "low", "high"]] == 0).all()
    assert "no change beyond chance" in unchanged.verdict()


def test_a_large_change_is_more_than_chance_and_a_seed_repeats_it():
    rng = np.random.default_rng(4)
    last, this = all_pass(*drawn(rng, 3000, (0.9, 0.5))), all_pass(*drawn(rng, 3000, (0.75, 0.5)))
    made = compare(last, this)
    assert "more than chance" in made.verdict()
    assert compare(last, this).to_json(min_cell=0) == made.to_json(min_cell=0)
    assert compare(last, this, random_state=1).to_json(min_cell=0) != made.to_json(min_cell=0)


def test_weights_of_one_change_nothing_much_and_unequal_ones_widen_intervals():
    rng = np.random.default_rng(5)
    y, z = drawn(rng, 1000, (0.7, 0.4))
    first, second = (rng.integers(0, 2, 1000) for _ in range(2))
    width = {}
    for name, weight in (("none", None), ("one", np.ones(1000)), ("uneven", rng.choice([0.1, 5.0], 1000))):
        audits = [
            audit(y, y_pred=passed, sensitive_features=z, cost=0.3, sample_weight=weight) for passed in (first, second)
        ]
        pairs = PairedCounts.from_predictions(y, first, second, sensitive_features=z, sample_weight=weight)
        row = compare(*audits, pairs=pairs).differences().loc["assumed_accuracy"]
        width[name] = row["high"] - row["low"]
    assert width["one"] == pytest.approx(width["none"], rel=0.15)
    assert width["uneven"] > 1.2 * width["none"]


def test_pairs_of_other_people_are_refused():
    rng = np.random.default_rng(6)
    y, z = drawn(rng, 100)
    result = all_pass(y, z)
    others = PairedCounts.from_predictions(y[:50], y[:50], y[:50], sensitive_features=z[:50])
    with pytest.raises(ValueError, match="not about the same people"):
        compare(result, result, pairs=others)


def test_the_difference_is_undefined_if_nobody_applies():
    rng = np.random.default_rng(7)
    y, z = drawn(rng, 200)
    made = compare(all_pass(y, z), all_pass(y, z, cost=1.0))
    row = made.differences().loc["induced_accuracy"]
    assert np.isnan(row["difference"])
    assert np.isnan(row["low"])
    assert row["undefined"] == 1
    assert "goes from" in made.verdict()
    assert json.loads(made.to_json(min_cell=0))["induced_accuracy"]["after"] is None


def test_pairs_without_the_persons_of_the_audits_are_refused():
    y, z, passed, other = [1, 0, 1, 1] * 20, list("AB") * 40, [1, 1, 1, 0] * 20, [1, 0, 0, 1] * 20
    person = np.arange(80) // 2
    audits = [
        audit(y, y_pred=decided, sensitive_features=z, cost=0.6, person=person % 20) for decided in (passed, other)
    ]
    pairs = PairedCounts.from_predictions(y, passed, other, sensitive_features=z)
    with pytest.raises(ValueError, match="differ in weights or persons"):
        compare(*audits, pairs=pairs)
    told = PairedCounts.from_predictions(y, passed, other, sensitive_features=z, person=person % 20)
    assert compare(*audits, pairs=told, n_resamples=20).paired


def test_two_halves_of_one_population_have_no_change_beyond_chance():
    rng = np.random.default_rng(3)
    for _ in range(5):
        halves = []
        for _ in range(2):
            z = rng.choice(["18-25", "26-35", "36-50", "51+"], 400)
            passed = rng.random(400) < 0.6
            y = rng.random(400) < np.where(passed, 0.7, 0.3)
            halves.append(audit(y, y_pred=passed, sensitive_features=z, cost=0.7))
        verdict = compare(*halves, names=("one", "other"), n_resamples=200).verdict()
        assert verdict.startswith("From one to other: no change beyond chance in who applies.")
