from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from selfselect.learning.allocation import Demands, allocate

from selfselect import InfeasibleError
from selfselect.behaviour import applies_rule
from selfselect.counting import ScoreSteps
from selfselect.learning import group_sets
from selfselect.learning.group_sets import Choices, best_set

SLACK = 1e-12
MODES = ("select_none", "select_all", "forbid")


# ---------------------------------------------------------------------- plain code that the fast one is held against


def rates_of(table, chosen):
    """Selection rates of all groups, and true-positive rates of those that have positives, at one step each."""
    selection = [table.selected[i] / table.n[z] for z, i in enumerate(chosen)]
    reached = [table.hits[i] / table.positives[z] for z, i in enumerate(chosen) if table.positives[z] > 0]
    return selection, reached


def close(rates, tolerance, ratio):
    if not rates:
        return True
    apart_enough = tolerance is None or max(rates) - min(rates) <= tolerance + SLACK
    return apart_enough and (ratio is None or min(rates) >= ratio * max(rates) - SLACK)


def floor_of(table, asked, z):
    least = asked.min_selection_rate * table.n[z]
    return least if asked.at_least is None else max(least, asked.at_least[z])


def kinds_of(table, asked):
    """What each step does to its group: in, out, unsure (allowed to groups that have nothing else) or None."""
    kinds = [None] * len(table.group)
    for z in range(table.K):
        mine = [i for i in range(len(table.group)) if table.group[i] == z]
        mine = [i for i in mine if table.selected[i] >= floor_of(table, asked, z) - SLACK * table.n[z]]
        for i in mine:
            kinds[i] = "in" if table.applies[i] and table.sure[i] else "out" if not table.applies[i] else None
        if all(kinds[i] is None for i in mine):
            for i in mine:
                kinds[i] = "unsure"
    return kinds


def meets(table, asked, chosen, kinds):
    """Whether one step per group does all that is asked."""
    what = [kinds[i] for i in chosen]
    if None in what:
        return False
    if asked.required is not None and any(asked.required[z] and what[z] != "in" for z in range(table.K)):
        return False
    qualified = sum(table.positives)
    away = sum(table.positives[z] for z in range(table.K) if what[z] != "in")
    if qualified > 0 and away > (asked.max_social_cost + SLACK) * qualified:
        return False
    selection, reached = rates_of(table, chosen)
    return close(selection, asked.parity_tolerance, asked.parity_ratio) and close(
        reached, asked.tpr_tolerance, asked.tpr_ratio
    )


def value_of(table, chosen, kinds):
    come = [z for z, i in enumerate(chosen) if kinds[i] != "out"]
    if not come:
        return np.nan
    return sum(table.gain[chosen[z]] for z in come) / sum(table.n[z] for z in come)


def enumerated(table, asked):
    """Whether it can be done, whether with somebody who can be counted on, and the best value then."""
    kinds = kinds_of(table, asked)
    per_group = [[i for i in range(len(kinds)) if table.group[i] == z and kinds[i]] for z in range(table.K)]
    possible, best = False, None
    for chosen in product(*per_group):
        if meets(table, asked, chosen, kinds):
            possible = True
            if any(kinds[i] == "in" for i in chosen):
                value = value_of(table, chosen, kinds)
                best = value if best is None else max(best, value)
    return possible, best


# ---------------------------------------------------------------------- small random tables


def table_of(rng, K, most_rows, levels, weighted=False):
    """People of K groups with few distinct scores; who applies, who can be counted on, and what steps are worth."""
    z = np.r_[np.arange(K), rng.integers(0, K, rng.integers(0, most_rows))]
    score = rng.integers(0, levels, len(z)).astype(float)
    y = rng.random(len(z)) < np.clip((score + rng.normal(size=K)[z]) / levels, 0.05, 0.95)
    weight = rng.uniform(0.2, 3, len(z)) if weighted else None
    steps = ScoreSteps.from_scores(y, score, sensitive_features=z, sample_weight=weight)
    undefined = "apply" if rng.random() < 0.2 else "abstain"
    costs = rng.choice([0.3, 0.5, 0.6, 0.75], K)[steps.group]
    applies = applies_rule(steps.true_positives, steps.selected, costs, undefined)
    sure = applies & (rng.random(len(applies)) < rng.choice([0.3, 0.7, 1.0]))
    gain = steps.correct.astype(float)
    if rng.random() < 0.3:
        gain = gain - rng.uniform(0, 2, len(gain))
    return SimpleNamespace(
        steps=steps,
        K=K,
        group=steps.group.tolist(),
        selected=steps.selected.tolist(),
        hits=steps.true_positives.tolist(),
        n=steps.n.tolist(),
        positives=steps.positives.tolist(),
        applies=applies.tolist(),
        sure=sure.tolist(),
        gain=gain.tolist(),
    )


def naive_selection(rng, steps):
    """What one threshold for all selects of each group."""
    return steps.selected[steps.step_at(float(rng.integers(0, 6)))].astype(float)


def demands_of(rng, table, mode, ties):
    def maybe(chance, values, otherwise=None):
        return float(rng.choice(values)) if rng.random() < chance else otherwise

    tie = {}
    if ties:
        tie = {
            "parity_tolerance": maybe(0.5, [0.0, 0.05, 0.1, 0.2, 0.4]),
            "parity_ratio": maybe(0.3, [0.5, 0.8, 1.0]),
            "tpr_tolerance": maybe(0.4, [0.05, 0.1, 0.2, 0.4]),
            "tpr_ratio": maybe(0.3, [0.5, 0.8]),
        }
    return Demands(
        required=rng.random(table.K) < 0.3 if rng.random() < 0.3 else None,
        max_social_cost=maybe(0.5, [0.0, 0.2, 0.4, 0.6, 0.9], otherwise=1.0),
        min_selection_rate=maybe(0.3, [0.1, 0.25, 0.5], otherwise=0.0),
        at_least=naive_selection(rng, table.steps) if mode == "forbid" else None,
        **tie,
    )


def solved(table, asked, mode, **options):
    arrays = (np.array(table.applies), np.array(table.sure), np.array(table.gain))
    return allocate(table.steps, *arrays, shut_out=mode, demands=asked, **options)


def check_against_enumeration(table, asked, mode):
    possible, best = enumerated(table, asked)
    if not possible:
        with pytest.raises(InfeasibleError):
            solved(table, asked, mode)
        return "infeasible"
    found = solved(table, asked, mode)
    kinds, chosen = kinds_of(table, asked), found.step.tolist()
    assert [table.group[i] for i in chosen] == list(range(table.K))
    assert meets(table, asked, chosen, kinds)
    assert [kinds[i] != "out" for i in chosen] == found.let_in.tolist()
    assert found.value == pytest.approx(value_of(table, chosen, kinds), abs=1e-9, nan_ok=True)
    assert found.exact
    assert found.gap <= 1e-9
    if best is None:
        assert not any(kinds[i] == "in" for i in chosen)
        return "nobody"
    assert found.value == pytest.approx(best, abs=1e-9)
    return "somebody"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_best_of_all_steps_of_all_groups_under_any_demands(mode, weighted):
    rng = np.random.default_rng([MODES.index(mode), weighted])
    seen = []
    for _ in range(500):
        table = table_of(rng, K=rng.integers(1, 5), most_rows=24, levels=5, weighted=weighted)
        seen.append(check_against_enumeration(table, demands_of(rng, table, mode, ties=True), mode))
    assert min(map(seen.count, ("infeasible", "nobody", "somebody"))) > 20  # both are put to the test


@pytest.mark.parametrize("mode", MODES)
def test_without_ties_it_is_the_best_of_all_steps_of_six_groups(mode):
    rng = np.random.default_rng(10 + MODES.index(mode))
    seen = []
    for _ in range(150):
        table = table_of(rng, K=rng.integers(5, 7), most_rows=30, levels=3)
        seen.append(check_against_enumeration(table, demands_of(rng, table, mode, ties=False), mode))
    assert seen.count("somebody") > 50


# ---------------------------------------------------------------------- more groups than can be enumerated by steps


def choices_of(rng, K, whole):
    n = rng.integers(5, 2000, K).astype(float)
    cover = np.floor(n * rng.uniform(0, 1, K))
    gain = n * rng.uniform(0.5, 1, K)
    fate = rng.random(K)
    return Choices(
        gain=np.where(fate < 0.1, -np.inf, np.floor(gain) if whole else gain),
        n=n,
        cover=np.where(fate < 0.2, 0.0, cover),
        counted_on=fate >= 0.2,
        may_stay_out=(fate < 0.1) | (fate > 0.3),
    )


@pytest.mark.parametrize("tried_first", [2, 25])
@pytest.mark.parametrize("whole", [True, False])
def test_the_best_set_of_fourteen_groups_is_the_best_of_all_sets(whole, tried_first, monkeypatch):
    monkeypatch.setattr(group_sets, "CORE", tried_first)
    rng = np.random.default_rng(int(whole))
    K = 14
    subsets = np.array(list(product([False, True], repeat=K)))
    for _ in range(40):
        c = choices_of(rng, K, whole)
        need = rng.uniform(-0.2, 1.0) * c.cover.sum()
        allowed = ~(subsets & ~c.may_come).any(axis=1) & ~(~subsets & ~c.may_stay_out).any(axis=1)
        allowed &= (subsets & c.counted_on).any(axis=1) & (subsets @ c.cover >= need)
        gain, n = subsets @ np.where(c.may_come, c.gain, 0), subsets @ c.n
        found = best_set(c, need)
        if not allowed.any():
            assert found is None
            continue
        assert found.value == pytest.approx((gain[allowed] / n[allowed]).max(), abs=1e-9)
        assert found.upper - found.value <= 1e-9
        rough = best_set(c, need, exact=False)
        assert rough.value <= found.value + 1e-12 <= rough.upper + 2e-12


def test_beside_a_group_that_cannot_be_kept_away_comes_the_one_that_takes_the_least_off():
    choices = Choices(
        gain=np.array([50.0, 90.0, 0.8]),
        n=np.array([50.0, 100.0, 1.0]),
        cover=np.zeros(3),
        counted_on=np.array([False, True, True]),
        may_stay_out=np.array([False, True, True]),
    )
    found = best_set(choices, need=0.0)
    assert found.inside.tolist() == [True, False, True]
    assert found.value == pytest.approx(50.8 / 51)


def big_table(rng, K, rows, cost=0.6):
    z = np.r_[np.arange(K), rng.integers(0, K, rows - K)]
    score = rng.uniform(size=rows)
    y = rng.random(rows) < np.clip(score + rng.normal(0, 0.2, K)[z], 0.02, 0.98)
    steps = ScoreSteps.from_scores(y, score, sensitive_features=z)
    return steps, applies_rule(steps.true_positives, steps.selected, cost)


def test_no_set_found_by_random_search_among_fifty_groups_is_better():
    rng = np.random.default_rng(5)
    steps, applies = big_table(rng, K=50, rows=2000, cost=0.8)
    found = allocate(steps, applies, demands=Demands(max_social_cost=0.3))
    assert found.exact
    gain = np.where(applies, steps.correct, -np.inf)
    best = np.maximum.reduceat(gain, steps.start[:-1])
    tried = 0
    for _ in range(20_000):
        inside = (rng.random(50) < rng.uniform(0.3, 1)) & np.isfinite(best)
        if steps.positives[~inside].sum() <= 0.3 * steps.positives.sum():
            tried += 1
            assert best[inside].sum() / steps.n[inside].sum() <= found.value + 1e-12
    assert tried > 1000


def best_of_all_windows(steps, applies, tolerance, ratio, need):
    """Best set of groups in each window of selection rates, one after the other."""
    rate = steps.selected / steps.n[steps.group]
    best = -np.inf
    for low in np.unique(rate):
        fits = (rate >= low) & (rate <= low + tolerance + SLACK) & (ratio * rate <= low + SLACK)
        choices = Choices(
            gain=np.maximum.reduceat(np.where(fits & applies, steps.correct, -np.inf), steps.start[:-1]),
            n=steps.n.astype(float),
            cover=steps.positives.astype(float),
            counted_on=np.ones(len(steps.groups), dtype=bool),
            may_stay_out=np.logical_or.reduceat(fits & ~applies, steps.start[:-1]),
        )
        one = best_set(choices, need)
        best = max(best, one.value if one is not None else -np.inf)
    return best


@pytest.mark.parametrize("most_away", [1.0, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_with_one_tie_it_is_the_best_of_all_windows_looked_at_one_by_one(seed, most_away):
    steps, applies = big_table(np.random.default_rng(seed), K=12, rows=600)
    asked = Demands(parity_tolerance=0.1, parity_ratio=0.7, max_social_cost=most_away)
    found = allocate(steps, applies, demands=asked)
    need = (1 - most_away) * steps.positives.sum()
    assert found.value == pytest.approx(best_of_all_windows(steps, applies, 0.1, 0.7, need), abs=1e-9)
    assert found.exact


def test_a_search_that_is_cut_short_says_how_far_off_it_may_be():
    steps, applies = big_table(np.random.default_rng(0), K=10, rows=20_000)
    asked = Demands(parity_tolerance=0.05, tpr_tolerance=0.1)
    whole = allocate(steps, applies, demands=asked)
    assert whole.exact
    for effort in (1e4, 2e4, 5e4):
        short = allocate(steps, applies, demands=asked, effort=effort)
        assert not short.exact
        assert short.value <= whole.value <= short.value + short.gap


def test_thousands_of_groups_under_a_social_cost_limit_are_solved_exactly():
    steps, applies = big_table(np.random.default_rng(4), K=5000, rows=100_000)
    found = allocate(steps, applies, demands=Demands(max_social_cost=0.2))
    away = steps.positives[~found.let_in].sum() / steps.positives.sum()
    assert away <= 0.2
    assert found.exact


# ---------------------------------------------------------------------- corners


def two_groups():
    """A, of 4, selected in the right order; B, of 4, in which a qualified person comes third."""
    return ScoreSteps.from_scores(
        [0, 0, 1, 1, 0, 1, 0, 0], [1, 2, 3, 4, 1, 2, 3, 4], sensitive_features=list("AAAABBBB")
    )


def where(steps, cost):
    return applies_rule(steps.true_positives, steps.selected, cost)


def test_without_demands_the_most_accurate_group_comes_alone():
    steps = two_groups()
    found = allocate(steps, where(steps, 0.3))
    assert found.let_in.tolist() == [True, False]
    assert (found.value, found.gap, found.exact) == (1.0, 0.0, True)
    assert steps.selected[found.step].tolist() == [2, 0]


@pytest.mark.parametrize(("cost", "selected"), [(0.6, 4), (0.2, 0)])
def test_everybody_is_selected_of_a_group_that_stays_out_if_it_stays_out_then(cost, selected):
    steps = two_groups()
    found = allocate(steps, where(steps, cost), shut_out="select_all")
    assert found.let_in.tolist() == [True, False]
    assert steps.selected[found.step].tolist() == [2, selected]


def test_a_group_that_comes_when_nobody_is_selected_is_kept_out_by_selecting_more():
    steps = two_groups()
    applies = applies_rule(steps.true_positives, steps.selected, 0.4, "apply")
    found = allocate(steps, applies, applies & (steps.selected > 0))
    assert found.let_in.tolist() == [True, False]
    assert steps.selected[found.step].tolist() == [2, 1]


def test_if_nobody_can_come_everybody_stays_out_and_the_value_is_undefined():
    steps = two_groups()
    for mode, selected in (("select_none", [0, 0]), ("select_all", [4, 4])):
        found = allocate(steps, np.zeros(len(steps.group), dtype=bool), shut_out=mode)
        assert np.isnan(found.value)
        assert not found.let_in.any()
        assert (found.gap, found.exact) == (0.0, True)
        assert steps.selected[found.step].tolist() == selected


def test_if_nobody_can_come_ties_are_kept_all_the_same():
    steps = two_groups()
    nobody = np.zeros(len(steps.group), dtype=bool)
    found = allocate(steps, nobody, demands=Demands(min_selection_rate=0.3, parity_tolerance=0.0))
    assert np.isnan(found.value)
    first, second = steps.selected[found.step].tolist()
    assert first == second > 1


def test_a_step_that_cannot_be_counted_on_is_not_used_while_there_is_another():
    steps = two_groups()
    applies = where(steps, 0.3)
    found = allocate(steps, applies, applies & (steps.group == 1))
    assert found.let_in.tolist() == [False, True]
    assert not applies[found.step[0]]


def test_a_group_that_has_nothing_else_comes_at_a_step_that_cannot_be_counted_on_and_helps_no_demand():
    steps = two_groups()
    applies = where(steps, 0.2) | (steps.selected == 0)  # everybody comes wherever somebody qualified is selected
    sure = applies & (steps.group == 1)
    asked = Demands(at_least=np.array([3.0, 0.0]))
    found = allocate(steps, applies, sure, demands=asked)
    assert found.let_in.tolist() == [True, True]
    assert found.value == pytest.approx((3 + 3) / 8)
    with pytest.raises(InfeasibleError, match=r"^'A' must be let in"):
        allocate(steps, applies, sure, demands=Demands(at_least=asked.at_least, required=np.array([True, False])))
    with pytest.raises(InfeasibleError, match=r"^Social cost could not be brought below 0\.667"):
        allocate(steps, applies, sure, demands=Demands(at_least=asked.at_least, max_social_cost=0.5))


def test_groups_without_positives_do_not_count_in_ties_of_true_positive_rates():
    steps = ScoreSteps.from_scores([1, 0, 1, 0, 0], [2, 1, 3, 1, 2], sensitive_features=list("AAABB"))
    found = allocate(steps, where(steps, 0.5), demands=Demands(tpr_tolerance=0.0, max_social_cost=0.0))
    assert found.value == 1.0
    assert found.let_in.tolist() == [True, False]


def test_nobody_qualified_leaves_no_social_cost_to_limit():
    steps = ScoreSteps.from_scores([0, 0], [1, 2])
    found = allocate(steps, where(steps, 0.5), demands=Demands(max_social_cost=0.0, tpr_ratio=0.8))
    assert np.isnan(found.value)


@pytest.mark.parametrize(
    ("size", "selected", "asked"),
    [
        (10, (3, 9), {"parity_tolerance": 0.6}),  # 0.3 + 0.6 < 0.9 in floating point
        (10, (3, 4), {"parity_ratio": 0.75}),  # 0.3 / 0.75 < 0.4
        (10, (3, 9), {"tpr_tolerance": 0.6}),
        (10, (3, 4), {"tpr_ratio": 0.75}),
        (100, (7, 7), {"min_selection_rate": 0.07}),  # 0.07 * 100 > 7
    ],
)
def test_limits_are_met_at_the_very_number_that_is_asked_for(size, selected, asked):
    score = np.tile(np.arange(size), 2)
    steps = ScoreSteps.from_scores(np.ones(2 * size), score, sensitive_features=np.repeat(["A", "B"], size))
    sure = steps.selected == np.array(selected)[steps.group]
    found = allocate(steps, np.ones(len(sure), dtype=bool), sure, demands=Demands(**asked))
    assert steps.selected[found.step].tolist() == list(selected)


def test_social_cost_is_met_at_the_very_number_that_is_asked_for():
    y, z = np.ones(10), np.repeat(["A", "B"], [3, 7])
    steps = ScoreSteps.from_scores(y, np.zeros(10), sensitive_features=z)
    applies = (steps.selected > 0) & (steps.group == 0)
    found = allocate(steps, applies, demands=Demands(max_social_cost=0.7))  # (1 - 0.7) * 10 > 3 in floating point
    assert found.let_in.tolist() == [True, False]


# ---------------------------------------------------------------------- what cannot be done is said


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"required": np.array([False, True])},
            r"^'B' must be let in, but .* the largest precision of 'B' is 0\.333 \(of 3 selected\)\.$",
        ),
        (
            {"max_social_cost": 0.2},
            r"^Social cost could not be brought below 0\.334 \(nothing brings in 'B'\); at most 0",
        ),
        ({"at_least": np.array([1.0, 5.0])}, r"^At least 5 people of 'B' are to be selected, but there are only 4\.$"),
    ],
)
def test_a_demand_that_cannot_be_met_is_named_with_what_came_nearest(asked, message):
    steps = two_groups()
    with pytest.raises(InfeasibleError, match=message):
        allocate(steps, where(steps, 0.6), demands=Demands(**asked))


def two_of_six():
    """Of A two can be selected, one of them qualified; of B three, all of them; or all of each group, or nobody."""
    y, score = [1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 0], [2, 2, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1]
    return ScoreSteps.from_scores(y, score, sensitive_features=["A"] * 6 + ["B"] * 6)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"parity_tolerance": 0.1},
            r"^Selection rates could not be brought within 0\.10 of each other: nearest 0\.167\.$",
        ),
        ({"parity_ratio": 0.9}, r"^Selection rates could .* the smallest is 0\.90 of the largest: nearest 0\.666\.$"),
        (
            {"tpr_tolerance": 0.1},
            r"^True-positive rates could not be brought within 0\.10 of each other: nearest 0\.50\.$",
        ),
        (
            {"parity_tolerance": 0.2, "parity_ratio": 0.8},
            r"^Selection rates could not be brought within 0\.20 of each other and so close .* nearest 0\.666\.$",
        ),
        (
            {"parity_tolerance": 0.1, "required": np.array([True, False])},
            r"^Selection rates .* 0\.10 of each other, while the groups that must come are let in: nearest 0\.167\.$",
        ),
    ],
)
def test_ties_that_cannot_be_met_are_named_with_what_came_nearest(asked, message):
    steps = two_of_six()
    halfway = np.isin(steps.selected, (2, 3))
    with pytest.raises(InfeasibleError, match=message):  # everybody comes everywhere, but only halfway for sure
        allocate(steps, np.ones(len(halfway), dtype=bool), halfway, demands=Demands(**asked))


def test_ties_that_can_be_met_one_by_one_but_not_together_are_named_together():
    y, score = [1, 0, 1, 0, 0, 1, 1, 0], [4, 3, 2, 1, 4, 3, 2, 1]
    steps = ScoreSteps.from_scores(y, score, sensitive_features=["A"] * 4 + ["B"] * 4)
    sure = (steps.selected == 1) | ((steps.selected == 2) & (steps.group == 1))
    everywhere = np.ones(len(sure), dtype=bool)
    for alone in ({"parity_tolerance": 0.0}, {"tpr_tolerance": 0.0}):
        allocate(steps, everywhere, sure, demands=Demands(**alone))
    with pytest.raises(
        InfeasibleError, match=r"^Selection rates and true-positive rates could not .* each alone could\."
    ):
        allocate(steps, everywhere, sure, demands=Demands(parity_tolerance=0.0, tpr_tolerance=0.0))


def test_social_cost_that_ties_keep_high_is_named_with_what_came_nearest():
    steps = two_of_six()
    asked = Demands(parity_tolerance=0.1, max_social_cost=0.9)
    with pytest.raises(InfeasibleError, match=r"below 1\.00 \(while the demands on rates are met\); at most 0\.90 is"):
        allocate(steps, np.isin(steps.selected, (2, 3)), demands=asked)


def test_a_search_that_ends_before_it_finds_anything_does_not_say_that_there_is_nothing():
    steps, applies = big_table(np.random.default_rng(3), K=12, rows=3000)
    with pytest.raises(InfeasibleError, match=r"^No thresholds were found .* ended before all were tried"):
        allocate(steps, applies, demands=Demands(parity_tolerance=0.05, tpr_tolerance=0.1), effort=500)


def test_the_least_selection_is_needed_where_nobody_may_be_shut_out():
    steps = two_groups()
    with pytest.raises(ValueError, match="say how many of each group must be selected"):
        allocate(steps, where(steps, 0.5), shut_out="forbid")


def test_a_wrong_setting_is_refused():
    steps = two_groups()
    with pytest.raises(ValueError, match=r"parity_ratio must lie in \[0, 1\]"):
        Demands(parity_ratio=1.2)
    with pytest.raises(ValueError, match="shut_out must be one of"):
        allocate(steps, where(steps, 0.5), shut_out="all")
    with pytest.raises(ValueError, match="one entry per step"):
        allocate(steps, np.array([True]))
    with pytest.raises(ValueError, match="one entry for each of the 2 groups"):
        allocate(steps, where(steps, 0.5), demands=Demands(required=np.array([True])))
