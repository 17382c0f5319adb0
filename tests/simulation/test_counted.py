"""Populations given as counts: against rows, by enumeration, and what is to be reproduced."""

import numpy as np
import pandas as pd
import pytest

from selfselect import NaiveClassifier, ThresholdCurves
from selfselect.behaviour import BestResponse, LogitResponse
from selfselect.datasets import fetch_fico
from selfselect.publishing import LowerBound
from selfselect.simulation import (
    BestThreshold,
    BetaMemory,
    CountedPopulation,
    Discounted,
    Exploration,
    FixedThreshold,
    Growth,
    Window,
    simulate,
)
from simulation.worlds import Above, counted, some_people, swinging

COST = 0.6


@pytest.mark.filterwarnings("ignore::selfselect.ApplicationWarning")
@pytest.mark.parametrize("retrain", ["all", "window", Window(1)])
@pytest.mark.parametrize("threshold", [0.25, 0.5, 0.75])
@pytest.mark.parametrize("seed", range(3))
def test_counts_equal_rows_if_nothing_is_left_to_chance(seed, threshold, retrain):
    first, people = some_people(seed=seed), some_people(seed=seed + 10)
    firm = NaiveClassifier(Above(threshold), cost=COST, publish="train")
    given = {"rounds": 5, "cost": COST, "retrain": retrain, "subsidies": {"C": 0.1, "B": 0.05}}
    rows = simulate(people, firm, initial=first, **given)
    cells = simulate(counted(people), threshold, initial=counted(first), **given)
    pd.testing.assert_frame_equal(rows.to_frame(), cells.to_frame(), check_dtype=False)


@pytest.mark.parametrize("among", ["pool", "applicants"])
@pytest.mark.parametrize("labels", ["selected", "applicants"])
def test_counts_are_the_mean_of_rows_with_exploration(labels, among):
    people = some_people(n=3000)
    first = some_people(n=3000, seed=1)
    given = {"rounds": 3, "exploration": Exploration(0.3, among), "labels": labels, "cost": COST}
    given["behaviour"] = LogitResponse(0.3)  # shares hardly depend on who is drawn
    firm = NaiveClassifier(Above(), cost=COST, publish="train")
    runs = [simulate(people, firm, initial=first, random_state=seed, **given) for seed in range(20)]
    cells = simulate(counted(people), 0.5, initial=counted(first), **given)

    def is_mean(values, expected):
        error = np.std(values, axis=0, ddof=1) / np.sqrt(len(runs))
        return (np.abs(np.mean(values, axis=0) - expected) <= 4 * error + 1e-3 * np.abs(expected)).all()

    for name in ("explored", "hired", "subsidies"):
        assert is_mean([run.to_frame()[name] for run in runs], cells.to_frame()[name]), name
    worlds = [run.run.world for run in runs]
    chance = 1 - np.average(cells.run.world.missed, weights=cells.run.world.pool.n)
    assert is_mean([(world.newest[world.in_pool] >= 0).mean() for world in worlds], chance)
    assert is_mean([1 - world.missed[world.in_pool].mean() for world in worlds], chance)  # inverse weights use it


@pytest.mark.parametrize("seed", range(5))
def test_the_best_threshold_is_the_best_of_all(seed):
    X, y, group = some_people(seed=seed, n=60)
    people = counted((X, y, group))
    best = BestThreshold().thresholds(people)
    score = X["score"].to_numpy()
    right = {t: ((score > t) == y).sum() for t in [-np.inf, *score]}
    assert right[best] == max(right.values())
    assert best == max(t for t, number in right.items() if number == max(right.values()))


def test_cells_come_from_frames_scores_and_curves_alike():
    X, y, group = some_people()
    made = counted((X, y, group))
    frame = pd.DataFrame(
        {"group": made.groups[made.codes], "score": made.score, "n": made.n, "positives": made.positives}
    )
    curves = ThresholdCurves.from_scores(y, X["score"], sensitive_features=group)
    for other in (CountedPopulation.from_frame(frame), CountedPopulation.from_curves(curves)):
        for threshold in (-1.0, 0.35, 0.5):
            for one, two in zip(made.at(threshold).columns, other.at(threshold).columns, strict=True):
                np.testing.assert_allclose(one, two)
    totals = [simulate(cells, 0.5, cost=COST, rounds=2).totals() for cells in (made, frame, curves)]
    for other in totals[1:]:
        pd.testing.assert_frame_equal(totals[0], other)


def test_a_round_without_applicants_is_not_the_last_if_labels_leave_a_window():
    people = pd.DataFrame({"group": ["A", "B"], "score": 1.0, "n": 100.0, "positives": 10.0})
    given = {"cost": COST, "behaviour": BestResponse(undefined="apply"), "rounds": 4, "retrain": Window(2)}
    shares = simulate(people, 0.5, initial=people.iloc[:1], **given).shares
    # B is unknown and comes; its labels are bad; those of A are too old; those of B are too old
    assert shares.to_numpy().tolist() == [[0, 1], [0, 0], [1, 0], [0, 1]]


def test_people_who_came_and_went_are_conserved():
    people = counted(some_people())
    history = simulate(people, 0.5, cost=COST, rounds=4, exploration=0.2, behaviour=LogitResponse(0.1), initial=0.25)
    frame = history.to_frame().assign(tested=lambda rows: rows["selected"] + rows["explored"])
    assert frame.groupby("round")["pool"].sum().tolist() == pytest.approx([0.75 * people.n.sum()] * 4)
    assert (frame["hired"] <= frame["tested"]).all()
    assert (frame["selected"] <= frame["applicants"]).all()
    assert (frame["applicants"] <= frame["pool"]).all()
    # a fifth of those who would not be tested otherwise
    np.testing.assert_allclose(frame["explored"], 0.2 * (frame["pool"] - frame["selected"]))
    zero, real = (simulate(people, threshold, cost=0.1, rounds=1).totals() for threshold in (np.int64(0), 0.0))
    pd.testing.assert_frame_equal(zero, real)


def test_a_threshold_per_group_and_growth():
    people = counted(some_people(n=2000))
    thresholds = {"A": 0.3, "B": 0.5, "C": 0.7}
    given = {"cost": COST, "rounds": 4, "entry": Growth(0.1)}
    history = simulate(people, FixedThreshold(thresholds), **given)
    pool = history.to_frame().pivot_table("pool", "round", "group")
    np.testing.assert_allclose(pool.iloc[-1] / pool.iloc[0], 1.1**3)
    for z, threshold in thresholds.items():
        frames = (made.to_frame() for made in (history, simulate(people, threshold, **given)))
        pd.testing.assert_frame_equal(*(frame[frame["group"] == z] for frame in frames))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: CountedPopulation.from_frame(pd.DataFrame({"group": ["A"]})), "lack column(s) score, n, positives"),
        (lambda: simulate(swinging().assign(positives=-1), 2, cost=0.5), "positives must lie between 0 and n"),
        (lambda: simulate(swinging(), "best", cost=0.5), "firm must be a threshold"),
        (lambda: simulate(swinging(), {"A": 2.0}, cost=0.5), "has no value for group(s) 'B'"),
        (lambda: simulate(swinging(), np.nan, cost=0.5), "threshold is NaN"),
        (lambda: simulate(swinging(), True, cost=0.5), "firm must be a threshold"),
        (lambda: simulate(swinging().assign(n=0, positives=0), 2, cost=0.5), "no label is left"),
        (lambda: simulate(swinging(), 2, cost=0.5, initial=1.0), "initial must lie in (0, 1)"),
    ],
)
def test_wrong_counts_are_refused(make, words):
    with pytest.raises((TypeError, ValueError)) as caught:
        make()
    assert words in str(caught.value)


# ---------------------------------------------------------------------- reproduced


def swing(**options):
    """Share of B in the last rounds, largest minus smallest."""
    given = {"retrain": Window(1), "labels": "applicants", "behaviour": LogitResponse(0.04), **options}
    return np.ptp(simulate(swinging(), BestThreshold(), cost=0.8, rounds=60, **given).shares["B"].iloc[-10:])


def test_without_memory_applications_oscillate_and_memory_damps_them():
    assert swing() > 0.8
    assert swing(retrain="all") < 1e-6  # the firm remembers
    assert swing(beliefs=Discounted(0.3)) < 0.8 * swing()  # people remember
    assert swing(beliefs=Discounted(0.05)) < 0.3 * swing()
    assert swing(beliefs=BetaMemory(100)) < 0.2 * swing()


def vanished(**options):
    """A lender of 8,700 people with few labels: Black people are away although 87% of those who pass repay."""
    people = CountedPopulation.from_frame(fetch_fico().frame).times(0.05)
    given = {"cost": 0.8, "initial": 0.1, "publish": LowerBound(0.9), **options}
    return simulate(people, 39.5, **given)


def test_a_group_vanishes_for_good_and_exploration_or_a_subsidy_brings_it_back():
    assert vanished().shares["Black"].eq(0).all()
    back, paid = [], []
    for share in (0.02, 0.05, 0.1):
        history = vanished(exploration=share)
        back.append(int(history.shares["Black"].idxmax()))
        paid.append(history.totals()["subsidies"].sum())
        assert history.shares["Black"].iloc[-1] == 1
    assert back == sorted(back, reverse=True)
    assert paid == sorted(paid)
    once = vanished(subsidies=lambda number: {"Black": 0.1, "Hispanic": 0.1} if number == 1 else None)
    assert once.shares["Black"].eq(1).all()  # it stays without the subsidy
    assert once.totals()["subsidies"].sum() < min(paid)


def test_fico_scores_have_the_published_precisions_at_20():
    precision = CountedPopulation.from_frame(fetch_fico().frame).at(19.5).precision
    assert dict(zip(["Asian", "Black", "Hispanic", "White"], precision.round(2), strict=True)) == {
        "Asian": 0.89,
        "Black": 0.60,
        "Hispanic": 0.75,
        "White": 0.87,
    }


def test_at_one_threshold_of_20_black_people_are_gone_from_the_first_round_unless_they_are_paid():
    cells = fetch_fico().frame
    gone = simulate(cells, 19.5, cost=0.6, retrain="window")
    assert gone.shares.loc[20].to_dict() == {"Asian": 1, "Black": 0, "Hispanic": 1, "White": 1}
    published = gone.to_frame().query("group == 'Black'").set_index("round")["published"]
    assert published.notna().sum() == 3  # once the window has passed, nothing is known about the group
    kept = simulate(cells, 19.5, cost=0.6, retrain="window", subsidies={"Black": 0.01})
    assert kept.shares["Black"].eq(1).all()
