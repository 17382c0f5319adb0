"""The frontier over thresholds: exact by enumeration and by the allocation, and held-out numbers that are held out."""

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import hypergeom

from selfselect import PublishedStatistics, Terms, ThresholdCurves, audit, threshold_frontier
from selfselect.behaviour import LogitResponse
from selfselect.constraints import Constraints
from selfselect.learning import InfeasibleError, optimise_thresholds
from selfselect.outcomes import outcome
from selfselect.planning.threshold_search import three_parts
from selfselect.planning.thresholds import frontier_for, short_threshold
from selfselect.report.sentences.frontiers import NOTES, recommendation


def people(seed, n=60, groups=3, decimals=1):
    """Scores with many ties, and groups whose precision differs."""
    rng = np.random.default_rng(seed)
    z = rng.integers(0, groups, n)
    score = np.round(rng.random(n), decimals)
    y = rng.random(n) < np.clip(score + 0.15 * (z - 1), 0.05, 0.95)
    return y.astype(int), score, z


def outcome_of(y, passes, z, cost):
    table = PublishedStatistics.from_predictions(y, passes, sensitive_features=z)
    return outcome(table, table.shares(Terms(cost)))


def not_beaten(points):
    """Of pairs (social cost, accuracy), those that no other beats."""
    kept = []
    for away, accuracy in sorted(set(points), key=lambda point: (point[0], -point[1])):
        if not kept or accuracy > kept[-1][1] + 1e-12:
            kept.append((away, accuracy))
    return kept


def held_out(frontier, terms, limit, seed):
    """Accuracy and social cost of the best threshold within a limit: chosen, published and counted on three parts."""
    sums = np.zeros(4)
    for chosen_on, published_by, counted_on in itertools.permutations(three_parts(frontier.curves, seed)):
        rows = chosen_on.outcomes_under(terms)
        within = rows[(rows["social_cost"] <= limit) & rows["induced_accuracy"].notna()]
        best = within.sort_values(["induced_accuracy", "social_cost", "threshold"], ascending=[False, True, True])
        published, table = (part.at(best["threshold"].iloc[0]) for part in (published_by, counted_on))
        counts, shares = table.counts, published.shares(terms).to_numpy().astype(float)
        sums += [shares @ counts.correct, shares @ counts.n, (1 - shares) @ counts.positives, counts.positives.sum()]
    return sums[0] / sums[1], sums[2] / sums[3]


def pairs_of(points):
    return np.array([(point.outcome.social_cost, point.outcome.induced_accuracy) for point in points])


@pytest.mark.parametrize("kind", ["one", "per_group"])
@pytest.mark.parametrize("seed", range(8))
def test_thresholds_are_the_best_of_all_combinations(seed, kind):
    y, score, z = people(seed, n=40)
    points = threshold_frontier(y, score, sensitive_features=z, cost=0.6).points[kind]
    values = [-math.inf, *np.unique(score)]
    combinations = itertools.product(values, repeat=3) if kind == "per_group" else [(value,) * 3 for value in values]
    tried = [outcome_of(y, score > np.array(chosen)[z], z, 0.6) for chosen in combinations]
    tried = [(o.social_cost, o.induced_accuracy) for o in tried if not math.isnan(o.induced_accuracy)]
    assert pairs_of(points) == pytest.approx(np.array(not_beaten(tried)))
    for point in points:  # and the thresholds that are named do that
        own = np.where(np.isnan(point.thresholds), math.inf, point.thresholds)
        again = outcome_of(y, score > own[z], z, 0.6)
        assert (again.social_cost, again.induced_accuracy) == pytest.approx(tuple(pairs_of([point])[0]))


@pytest.mark.parametrize("limit", [0.05, 0.2, 0.5, 1.0])
def test_a_recommendation_per_group_is_the_allocation_under_the_same_limit(limit):
    y, score, z = people(3, n=2000, groups=8, decimals=3)
    frontier = threshold_frontier(y, score, sensitive_features=z, cost=0.6, max_social_cost=limit)
    curves = ThresholdCurves.from_scores(y, score, sensitive_features=z)
    applies = curves.step_shares(Terms(0.6))
    best = frontier.recommend(kind="per_group")
    try:
        expected = optimise_thresholds(curves, applies, constraints=Constraints(max_social_cost=limit))
    except InfeasibleError:
        assert not best.met
        return
    assert best.met
    assert best.outcome.induced_accuracy == pytest.approx(expected.value)
    assert best.outcome.social_cost <= limit + 1e-12


def test_where_a_share_of_each_group_applies_one_threshold_is_the_best_of_all_and_none_per_group_is_offered():
    y, score, z = people(4, n=400, decimals=2)
    terms = Terms(0.6, {1: 0.05}, behaviour=LogitResponse(0.05))
    frontier = frontier_for(audit(y, score=score, sensitive_features=z, cost=0.6).under(terms), random_state=5)
    tried = []
    for value in [-math.inf, *np.unique(score)]:
        table = PublishedStatistics.from_predictions(y, score > value, sensitive_features=z)
        tried.append(outcome(table, table.shares(terms)))
    tried = [(o.social_cost, o.induced_accuracy) for o in tried if not math.isnan(o.induced_accuracy)]
    assert pairs_of(frontier.one) == pytest.approx(np.array(not_beaten(tried)))
    whole = threshold_frontier(y, score, sensitive_features=z, cost=0.6, random_state=5)
    for made, under, limit in ((frontier, terms, 0.9), (whole, Terms(0.6), 0.4)):  # three parts of the people
        best = made.recommend(limit)
        assert (best.held_out_accuracy, best.held_out_social_cost) == pytest.approx(held_out(made, under, limit, 5))
    assert list(frontier.points) == list(json.loads(frontier.to_json(min_cell=0))["recommended"]) == ["one"]
    assert "per group" not in frontier.verdict() + frontier.to_html(min_cell=0).split("<script")[0].split("<main")[0]
    with pytest.raises(ValueError, match=r"not under LogitResponse\(scale=0.05\)"):
        frontier.recommend(kind="per_group")


def test_if_no_threshold_keeps_the_limit_the_nearest_is_recommended():
    # B is never worth a cost of 0.9, so half of the qualified stay away whatever the threshold
    y, z = [1] * 10 + [1, 0] * 10, ["A"] * 10 + ["B"] * 20
    frontier = threshold_frontier(y, np.linspace(0.01, 0.99, 30), sensitive_features=z, cost=0.9, max_social_cost=0.1)
    assert not frontier.met
    assert not frontier.recommend().met
    assert frontier.recommend().outcome.social_cost == pytest.approx(frontier.curve["social_cost"].min())
    assert "there is no choice that keeps at most 10.0% of qualified people away. The nearest is" in frontier.verdict()
    assert json.loads(frontier.to_json(min_cell=0))["met"] is False


def test_the_threshold_in_force_is_marked_and_recommendations_keep_its_social_cost_without_a_limit():
    y, score, z = people(2, n=3000, decimals=3)
    frontier = threshold_frontier(y, score, sensitive_features=z, cost=0.6, threshold=0.42)
    expected = outcome_of(y, score > 0.42, z, 0.6)
    assert frontier.current == expected
    assert frontier.to_frame().iloc[0]["thresholds"] == "now"
    assert frontier.recommend().outcome.social_cost <= expected.social_cost + 1e-12
    assert frontier.recommend().outcome.induced_accuracy >= expected.induced_accuracy - 1e-12
    assert frontier.verdict().startswith("Now, at a threshold of 0.42, accuracy among applicants is")
    other = threshold_frontier(y, 10 * score - 5, sensitive_features=z, cost=0.6)  # no probabilities: none is in force
    assert other.current is None
    assert other.verdict().startswith("With one threshold for all")


def test_what_is_chosen_among_pure_noise_looks_better_than_what_is_held_out():
    """There is nothing to know about anybody: whatever is chosen, half of the decisions are right."""
    chosen, held_out = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        z, score = rng.integers(0, 20, 2000), rng.random(2000)
        frontier = threshold_frontier(rng.integers(0, 2, 2000), score, sensitive_features=z, cost=0.5)
        best = frontier.recommend(1.0, "per_group")
        chosen.append(best.outcome.induced_accuracy)
        held_out.append(best.held_out_accuracy)
    assert np.mean(chosen) > 0.6
    assert np.nanmean(held_out) == pytest.approx(0.5, abs=0.02)
    assert any("too optimistic" in note for note in NOTES)
    assert any("unlawful" in note for note in NOTES)


def test_parts_hold_everybody_once_and_repeat_with_the_seed():
    y, score, z = people(7, n=501)
    curves = ThresholdCurves.from_scores(y, score, sensitive_features=z)
    one, two, three = three_parts(curves, 3)
    assert (one.n + two.n + three.n == curves.n).all()
    assert (one.positives + two.positives + three.positives == curves.positives).all()
    assert np.abs(one.n - three.n).max() <= 2
    together = one.at(0.5).counts + two.at(0.5).counts + three.at(0.5).counts
    assert together.selected.tolist() == curves.at(0.5).counts.selected.tolist()
    assert three_parts(curves, 3)[0].selected.tolist() == one.selected.tolist()
    assert three_parts(curves, 4)[0].selected.tolist() != one.selected.tolist()


def test_subsidies_and_costs_by_group_count():
    y, score, z = people(9, n=200)
    costs = {0: 0.7, 1: 0.6, 2: 0.5}
    frontier = threshold_frontier(y, score, sensitive_features=z, cost=costs)
    paid = threshold_frontier(y, score, sensitive_features=z, cost=0.7, subsidies={1: 0.1, 2: 0.2})
    assert pairs_of(frontier.one) == pytest.approx(pairs_of(paid.one))
    assert pairs_of(frontier.per_group) == pytest.approx(pairs_of(paid.per_group))


def test_a_thousand_groups_have_a_frontier():
    y, score, z = people(10, n=20_000, groups=1000, decimals=4)
    frontier = threshold_frontier(y, score, sensitive_features=pd.Series(z).astype(str), cost=0.6)
    away = [point.outcome.social_cost for point in frontier.per_group]
    assert 20 < len(away) <= 41
    assert away == sorted(away)


@pytest.mark.parametrize(("low", "high"), [(0.6123, 0.6177), (0.5, 0.50001), (-3.21, -3.2), (1e9, 1e9 + 3), (1e-9, 1)])
def test_the_threshold_that_is_named_lets_the_same_people_pass(low, high):
    assert low <= short_threshold(low, high) < high


def test_without_anybody_qualified_there_is_no_frontier():
    with pytest.raises(ValueError, match="Nobody is qualified"):
        threshold_frontier([0, 0], [0.1, 0.2], sensitive_features=["A", "B"], cost=0.5)


def test_the_verdict_states_that_held_out_people_break_the_limit():
    rng = np.random.default_rng(1)
    z = rng.choice(list("ABCDEF"), 240)
    score = rng.random(240)
    y = (rng.random(240) < 0.2 + 0.6 * score).astype(int)
    limit = 0.3
    made = threshold_frontier(y, score, sensitive_features=z, cost=0.65, max_social_cost=limit)
    for kind in ("one", "per_group"):
        best = made.recommend(kind=kind)
        sentence = recommendation(made, kind)
        assert (", above the limit" in sentence) == (best.met and best.held_out_social_cost > limit)
    assert "above the limit" in made.verdict()


@pytest.mark.parametrize("people", [1, 2, 3])
def test_a_single_person_leaves_nothing_held_out(people):
    frontier = threshold_frontier([1] * people, np.arange(people) / 4, sensitive_features=["A"] * people, cost=0.5)
    best = frontier.recommend()
    assert best.outcome.social_cost == 0
    if people < 3:
        assert math.isnan(best.held_out_accuracy)
        assert "none held out" in frontier.verdict()
    assert "nan" not in frontier.to_html(min_cell=0).lower().split("<script")[0]


@pytest.mark.parametrize("weighted", [False, True])
def test_all_rows_of_a_person_fall_into_one_part_whatever_their_order_and_the_names_of_groups(weighted):
    rng = np.random.default_rng(8)
    y, score, z = people(8, n=400)
    person, weight = rng.integers(0, 150, 400), rng.lognormal(size=400) if weighted else None
    given = {"sensitive_features": z, "person": person, "sample_weight": weight, "cost": 0.6}
    parts = three_parts(threshold_frontier(y, score, **given).curves, 3)
    rows = [set(part.rows[-1].tolist()) for part in parts]
    assert sum(map(len, rows)) == len(set.union(*rows)) == len(np.unique(person))
    assert sum(part.n.sum() for part in parts) == pytest.approx(400 if weight is None else weight.sum())
    order, names = rng.permutation(400), np.array(["c", "a", "b"])
    shuffled = {name: values if np.ndim(values) == 0 else values[order] for name, values in given.items()}
    shuffled["sensitive_features"] = names[shuffled["sensitive_features"]]
    one, other = (
        threshold_frontier(y, score, **given).recommend(1.0),
        threshold_frontier(y[order], score[order], **shuffled).recommend(1.0),
    )
    assert one.held_out_accuracy == pytest.approx(other.held_out_accuracy)
    assert one.held_out_social_cost == pytest.approx(other.held_out_social_cost)


def test_persons_told_apart_keep_held_out_numbers_of_noise_at_one_half():
    """Each person twice: a copy in another part tells who is qualified."""
    told, untold = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows = np.repeat(np.arange(600), 2)
        y, score, z = rng.integers(0, 2, 600)[rows], rng.random(600)[rows], rng.integers(0, 20, 600)[rows]
        for found, person in ((told, rows), (untold, None)):
            frontier = threshold_frontier(y, score, sensitive_features=z, cost=0.5, person=person)
            found.append(frontier.recommend(1.0, "per_group").held_out_accuracy)
    assert np.mean(told) == pytest.approx(0.5, abs=0.04)
    assert np.mean(untold) > 0.57


def test_thirds_of_counts_are_drawn_as_people_are():
    curves = ThresholdCurves.from_counts(
        pd.DataFrame({"score": [0.2, 0.4, 0.6], "n": [5, 7, 2], "positives": [1, 4, 2]}, index=["A", "A", "B"])
    )
    passed = []
    for seed in range(600):
        parts = three_parts(curves, seed)
        sums = sum(part.at(0.3) for part in parts)
        assert sums == curves.at(0.3)
        sizes = [part.at(0.3).reindex(curves.groups).counts.n.tolist() for part in parts]
        assert sorted(size[0] for size in sizes) == [4, 4, 4]
        assert sorted(size[1] for size in sizes) == [0, 1, 1]
        passed.append(parts[0].at(0.3).counts.selected[0])
    expected = hypergeom(12, 7, 4)
    assert np.mean(passed) == pytest.approx(expected.mean(), abs=4 * expected.std() / 600**0.5)
    assert np.var(passed) == pytest.approx(expected.var(), rel=0.25)
