"""The best threshold per group: against enumeration, and every constraint that cannot be met is named."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from selfselect import InfeasibleError
from selfselect.behaviour import BestResponse
from selfselect.constraints import BaseRateOrder, Constraints, DemographicParity, TruePositiveRateParity
from selfselect.counting import CountCurves
from selfselect.learning import group_sets, optimise_thresholds
from selfselect.learning.group_sets import GroupChoices, best_set
from selfselect.statistics import Published

SLACK = 1e-12
MODES = ("select_none", "select_all", "forbid")


def make_constraints(max_social_cost=1.0, parity=(1.0, 0.0), tpr=(1.0, 0.0), **more):
    """Constraints with bounds (difference, ratio) of selection rates and of true-positive rates."""
    rates = (DemographicParity(*parity), TruePositiveRateParity(*tpr))
    return Constraints(max_social_cost=max_social_cost, between_groups=rates, **more)


# ---------------------------------------------------------------------- slow code that the fast one is compared with


def rates_of(table, chosen):
    """Selection rates of all groups, and true-positive rates of those that have positives, at one step each."""
    selection = [table.selected[i] / table.n[z] for z, i in enumerate(chosen)]
    reached = [table.true_positives[i] / table.positives[z] for z, i in enumerate(chosen) if table.positives[z] > 0]
    return selection, reached


def close(rates, parity):
    return not rates or (
        max(rates) - min(rates) <= parity.difference_bound + SLACK
        and min(rates) >= parity.ratio_bound * max(rates) - SLACK
    )


def floor_of(table, constraints, z):
    least = constraints.min_selection_rate * table.n[z]
    return least if constraints.min_selected is None else max(least, constraints.min_selected[z])


def kinds_of(table, constraints):
    """What each step does to its group: in, out, unreliable (for groups that have nothing else) or None."""
    kinds = [None] * len(table.group)
    for z in range(table.K):
        mine = [i for i in range(len(table.group)) if table.group[i] == z]
        mine = [i for i in mine if table.selected[i] >= floor_of(table, constraints, z) - SLACK * table.n[z]]
        for i in mine:
            kinds[i] = "in" if table.applies[i] and table.reliable[i] else "out" if not table.applies[i] else None
        if all(kinds[i] is None for i in mine):
            for i in mine:
                kinds[i] = "unreliable"
    return kinds


def meets(table, constraints, chosen, kinds):
    """Whether one step per group meets all constraints."""
    what = [kinds[i] for i in chosen]
    if None in what:
        return False
    if constraints.required is not None and any(constraints.required[z] and what[z] != "in" for z in range(table.K)):
        return False
    qualified = sum(table.positives)
    away = sum(table.positives[z] for z in range(table.K) if what[z] != "in")
    if qualified > 0 and away > (constraints.max_social_cost + SLACK) * qualified:
        return False
    selection, reached = rates_of(table, chosen)
    return all(map(close, (selection, reached), constraints.between_groups))


def value_of(table, chosen, kinds):
    applying = [z for z, i in enumerate(chosen) if kinds[i] != "out"]
    if not applying:
        return np.nan
    return sum(table.gain[chosen[z]] for z in applying) / sum(table.n[z] for z in applying)


def enumerated(table, constraints):
    """Whether it can be done, whether with a reliable group, and the best value then."""
    kinds = kinds_of(table, constraints)
    per_group = [[i for i in range(len(kinds)) if table.group[i] == z and kinds[i]] for z in range(table.K)]
    possible, best = False, None
    for chosen in product(*per_group):
        if meets(table, constraints, chosen, kinds):
            possible = True
            if any(kinds[i] == "in" for i in chosen):
                value = value_of(table, chosen, kinds)
                best = value if best is None else max(best, value)
    return possible, best


# ---------------------------------------------------------------------- small random tables


def table_of(rng, K, most_rows, levels, weighted=False):
    """People of K groups with few distinct scores; who applies, who does so reliably, and gains."""
    z = np.r_[np.arange(K), rng.integers(0, K, rng.integers(0, most_rows))]
    score = rng.integers(0, levels, len(z)).astype(float)
    y = rng.random(len(z)) < np.clip((score + rng.normal(size=K)[z]) / levels, 0.05, 0.95)
    weight = rng.uniform(0.2, 3, len(z)) if weighted else None
    steps = CountCurves.from_scores(y, score, sensitive_features=z, sample_weight=weight)
    undefined = "apply" if rng.random() < 0.2 else "abstain"
    costs = rng.choice([0.3, 0.5, 0.6, 0.75], K)[steps.group]
    applies = BestResponse(undefined).shares(Published(steps), costs)
    reliable = applies & (rng.random(len(applies)) < rng.choice([0.3, 0.7, 1.0]))
    gain = steps.correct.astype(float)
    if rng.random() < 0.3:
        gain = gain - rng.uniform(0, 2, len(gain))
    names = ("group", "selected", "true_positives", "n", "positives")
    columns = {name: getattr(steps, name).tolist() for name in names}
    decided = {"applies": applies.tolist(), "reliable": reliable.tolist(), "gain": gain.tolist()}
    return SimpleNamespace(steps=steps, K=K, **columns, **decided)


def naive_selection(rng, steps):
    """What one threshold for all selects of each group."""
    return steps.selected[steps.step_at(float(rng.integers(0, 6)))].astype(float)


def drawn_constraints(rng, table, mode, parity):
    def maybe(chance, values, otherwise):
        return float(rng.choice(values)) if rng.random() < chance else otherwise

    rates = {}
    if parity:
        rates = {
            "parity": (maybe(0.5, [0.0, 0.05, 0.1, 0.2, 0.4], 1.0), maybe(0.3, [0.5, 0.8, 1.0], 0.0)),
            "tpr": (maybe(0.4, [0.05, 0.1, 0.2, 0.4], 1.0), maybe(0.3, [0.5, 0.8], 0.0)),
        }
    return make_constraints(
        required=rng.random(table.K) < 0.3 if rng.random() < 0.3 else None,
        max_social_cost=maybe(0.5, [0.0, 0.2, 0.4, 0.6, 0.9], 1.0),
        min_selection_rate=maybe(0.3, [0.1, 0.25, 0.5], 0.0),
        min_selected=naive_selection(rng, table.steps) if mode == "forbid" else None,
        **rates,
    )


def solved(table, constraints, mode):
    arrays = (np.array(table.applies), np.array(table.reliable), np.array(table.gain))
    return optimise_thresholds(table.steps, *arrays, shut_out=mode, constraints=constraints)


def check_against_enumeration(table, constraints, mode):
    possible, best = enumerated(table, constraints)
    if not possible:
        with pytest.raises(InfeasibleError):
            solved(table, constraints, mode)
        return "infeasible"
    optimum = solved(table, constraints, mode)
    kinds, chosen = kinds_of(table, constraints), optimum.step.tolist()
    assert [table.group[i] for i in chosen] == list(range(table.K))
    assert meets(table, constraints, chosen, kinds)
    assert [kinds[i] != "out" for i in chosen] == optimum.applying.tolist()
    assert optimum.value == pytest.approx(value_of(table, chosen, kinds), abs=1e-9, nan_ok=True)
    assert optimum.exact
    assert optimum.gap <= 1e-9
    if best is None:
        assert not any(kinds[i] == "in" for i in chosen)
        return "nobody"
    assert optimum.value == pytest.approx(best, abs=1e-9)
    return "somebody"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_best_of_all_steps_of_all_groups_under_any_constraints(mode, weighted):
    rng = np.random.default_rng([MODES.index(mode), weighted])
    seen = []
    for _ in range(500):
        table = table_of(rng, K=rng.integers(1, 5), most_rows=24, levels=5, weighted=weighted)
        seen.append(check_against_enumeration(table, drawn_constraints(rng, table, mode, parity=True), mode))
    assert min(map(seen.count, ("infeasible", "nobody", "somebody"))) > 20  # both are put to the test


# ---------------------------------------------------------------------- more groups than can be enumerated by steps


def choices_of(rng, K, whole):
    n = rng.integers(5, 2000, K).astype(float)
    cover = np.floor(n * rng.uniform(0, 1, K))
    gain = n * rng.uniform(0.5, 1, K)
    kind = rng.random(K)
    return GroupChoices(
        gain=np.where(kind < 0.1, -np.inf, np.floor(gain) if whole else gain),
        n=n,
        cover=np.where(kind < 0.2, 0.0, cover),
        reliable=kind >= 0.2,
        may_stay_out=(kind < 0.1) | (kind > 0.3),
    )


@pytest.mark.parametrize("tried_first", [2, 25])
@pytest.mark.parametrize("whole", [True, False])
def test_the_best_set_of_fourteen_groups_is_the_best_of_all_sets(whole, tried_first, monkeypatch):
    monkeypatch.setattr(group_sets, "CORE_SIZE", tried_first)
    rng = np.random.default_rng(int(whole))
    K = 14
    subsets = np.array(list(product([False, True], repeat=K)))
    for _ in range(40):
        c = choices_of(rng, K, whole)
        need = rng.uniform(-0.2, 1.0) * c.cover.sum()
        allowed = ~(subsets & ~c.may_apply).any(axis=1) & ~(~subsets & ~c.may_stay_out).any(axis=1)
        allowed &= (subsets & c.reliable).any(axis=1) & (subsets @ c.cover >= need)
        gain, n = subsets @ np.where(c.may_apply, c.gain, 0), subsets @ c.n
        optimum = best_set(c, need)
        if not allowed.any():
            assert optimum is None
            continue
        assert optimum.value == pytest.approx((gain[allowed] / n[allowed]).max(), abs=1e-9)
        assert optimum.upper - optimum.value <= 1e-9
        rough = best_set(c, need, exact=False)
        assert rough.value <= optimum.value + 1e-12 <= rough.upper + 2e-12


def big_table(rng, K, rows, cost=0.6):
    z = np.r_[np.arange(K), rng.integers(0, K, rows - K)]
    score = rng.uniform(size=rows)
    y = rng.random(rows) < np.clip(score + rng.normal(0, 0.2, K)[z], 0.02, 0.98)
    steps = CountCurves.from_scores(y, score, sensitive_features=z)
    return steps, where(steps, cost)


def best_of_all_windows(steps, applies, tolerance, ratio, need):
    """Best set of groups in each window of selection rates, one after the other."""
    rate = steps.selected / steps.n[steps.group]
    best = -np.inf
    for low in np.unique(rate):
        fits = (rate >= low) & (rate <= low + tolerance + SLACK) & (ratio * rate <= low + SLACK)
        choices = GroupChoices(
            gain=np.maximum.reduceat(np.where(fits & applies, steps.correct, -np.inf), steps.start[:-1]),
            n=steps.n.astype(float),
            cover=steps.positives.astype(float),
            reliable=np.ones(len(steps.groups), dtype=bool),
            may_stay_out=np.logical_or.reduceat(fits & ~applies, steps.start[:-1]),
        )
        one = best_set(choices, need)
        best = max(best, one.value if one is not None else -np.inf)
    return best


@pytest.mark.parametrize("most_away", [1.0, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_with_one_parity_it_is_the_best_of_all_windows_one_by_one(seed, most_away):
    steps, applies = big_table(np.random.default_rng(seed), K=12, rows=600)
    wanted = make_constraints(parity=(0.1, 0.7), max_social_cost=most_away)
    optimum = optimise_thresholds(steps, applies, constraints=wanted)
    need = (1 - most_away) * steps.positives.sum()
    assert optimum.value == pytest.approx(best_of_all_windows(steps, applies, 0.1, 0.7, need), abs=1e-9)
    assert optimum.exact


def test_a_search_that_is_cut_short_bounds_what_it_missed():
    steps, applies = big_table(np.random.default_rng(0), K=10, rows=20_000)
    wanted = make_constraints(parity=(0.05, 0.0), tpr=(0.1, 0.0))
    whole = optimise_thresholds(steps, applies, constraints=wanted)
    assert whole.exact
    for work in (1e4, 2e4, 5e4):
        short = optimise_thresholds(steps, applies, constraints=wanted, max_work=work)
        assert not short.exact
        assert short.value <= whole.value <= short.value + short.gap


def test_thousands_of_groups_under_a_social_cost_limit_are_solved_exactly():
    steps, applies = big_table(np.random.default_rng(4), K=5000, rows=100_000)
    optimum = optimise_thresholds(steps, applies, constraints=make_constraints(max_social_cost=0.2))
    away = steps.positives[~optimum.applying].sum() / steps.positives.sum()
    assert away <= 0.2
    assert optimum.exact


# ---------------------------------------------------------------------- corners


def two_groups():
    """A, of 4, selected in the right order; B, of 4, in which a qualified person comes third."""
    return CountCurves.from_scores(
        [0, 0, 1, 1, 0, 1, 0, 0], [1, 2, 3, 4, 1, 2, 3, 4], sensitive_features=list("AAAABBBB")
    )


def where(steps, cost):
    return BestResponse().shares(Published(steps), cost)


@pytest.mark.parametrize(("cost", "selected"), [(0.6, 4), (0.2, 0)])
def test_everybody_is_selected_of_a_group_that_stays_out_if_it_stays_out_then(cost, selected):
    steps = two_groups()
    optimum = optimise_thresholds(steps, where(steps, cost), shut_out="select_all")
    assert optimum.applying.tolist() == [True, False]
    assert steps.selected[optimum.step].tolist() == [2, selected]


def test_if_no_group_can_apply_all_stay_away_and_the_value_is_undefined():
    steps = two_groups()
    for mode, selected in (("select_none", [0, 0]), ("select_all", [4, 4])):
        optimum = optimise_thresholds(steps, np.zeros(len(steps.group), dtype=bool), shut_out=mode)
        assert np.isnan(optimum.value)
        assert not optimum.applying.any()
        assert (optimum.gap, optimum.exact) == (0.0, True)
        assert steps.selected[optimum.step].tolist() == selected


def test_nobody_qualified_leaves_no_social_cost_to_limit():
    steps = CountCurves.from_scores([0, 0], [1, 2])
    constraints = make_constraints(max_social_cost=0.0, tpr=(1.0, 0.8))
    assert np.isnan(optimise_thresholds(steps, where(steps, 0.5), constraints=constraints).value)


@pytest.mark.parametrize(
    ("size", "selected", "wanted"),
    [
        (10, (3, 9), {"parity": (0.6, 0.0)}),  # 0.3 + 0.6 < 0.9 in floating point
        (10, (3, 4), {"parity": (1.0, 0.75)}),  # 0.3 / 0.75 < 0.4
        (10, (3, 9), {"tpr": (0.6, 0.0)}),
        (10, (3, 4), {"tpr": (1.0, 0.75)}),
        (100, (7, 7), {"min_selection_rate": 0.07}),  # 0.07 * 100 > 7
    ],
)
def test_a_limit_that_is_reached_exactly_is_met(size, selected, wanted):
    score = np.tile(np.arange(size), 2)
    steps = CountCurves.from_scores(np.ones(2 * size), score, sensitive_features=np.repeat(["A", "B"], size))
    reliable = steps.selected == np.array(selected)[steps.group]
    optimum = optimise_thresholds(
        steps, np.ones(len(reliable), dtype=bool), reliable, constraints=make_constraints(**wanted)
    )
    assert steps.selected[optimum.step].tolist() == list(selected)


def test_a_social_cost_that_is_reached_exactly_is_met():
    steps = CountCurves.from_scores(np.ones(10), np.zeros(10), sensitive_features=np.repeat(["A", "B"], [3, 7]))
    applies = (steps.selected > 0) & (steps.group == 0)
    limit = make_constraints(max_social_cost=0.7)  # (1 - 0.7) * 10 > 3 in floating point
    assert optimise_thresholds(steps, applies, constraints=limit).applying.tolist() == [True, False]


# ---------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (
            {"required": np.array([False, True])},
            r"^'B' must apply, but .* the largest precision of 'B' is 0\.333 \(of 3 selected\)\.$",
        ),
        (
            {"max_social_cost": 0.2},
            r"^Social cost must be at most 0\.2, but 0\.3333 is the lowest found \(nothing makes 'B' apply\)",
        ),
        ({"min_selected": np.array([1.0, 5.0])}, r"^At least 5 people of 'B' must be selected, but there are only 4"),
    ],
)
def test_a_constraint_that_cannot_be_met_is_named_with_what_came_nearest(wanted, message):
    steps = two_groups()
    with pytest.raises(InfeasibleError, match=message):
        optimise_thresholds(steps, where(steps, 0.6), constraints=make_constraints(**wanted))


def two_of_six():
    """Of A two can be selected, one of them qualified; of B three, all of them; or all of each group, or nobody."""
    y, score = [1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 0], [2, 2, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1]
    return CountCurves.from_scores(y, score, sensitive_features=["A"] * 6 + ["B"] * 6)


def test_a_parity_that_cannot_be_met_is_named_with_what_came_nearest():
    steps = two_of_six()
    halfway = np.isin(steps.selected, (2, 3))  # every group applies everywhere, but reliably only here
    message = r"selection rates of all groups .* smallest difference is 0\.167 \(at most 0\.1 is.* largest ratio 0\.667"
    with pytest.raises(InfeasibleError, match=message):
        optimise_thresholds(
            steps, np.ones(len(halfway), dtype=bool), halfway, constraints=make_constraints(parity=(0.1, 0.0))
        )


def test_parities_that_can_be_met_one_by_one_but_not_together_are_named_together():
    y, score = [1, 0, 1, 0, 0, 1, 1, 0], [4, 3, 2, 1, 4, 3, 2, 1]
    steps = CountCurves.from_scores(y, score, sensitive_features=["A"] * 4 + ["B"] * 4)
    reliable = (steps.selected == 1) | ((steps.selected == 2) & (steps.group == 1))
    everywhere = np.ones(len(reliable), dtype=bool)
    for alone in ({"parity": (0.0, 0.0)}, {"tpr": (0.0, 0.0)}):
        optimise_thresholds(steps, everywhere, reliable, constraints=make_constraints(**alone))
    both = make_constraints(parity=(0.0, 0.0), tpr=(0.0, 0.0))
    with pytest.raises(InfeasibleError, match="selection rates and true-positive rates close enough at once; each"):
        optimise_thresholds(steps, everywhere, reliable, constraints=both)


def test_a_search_that_ends_early_without_a_result_does_not_claim_that_there_is_none():
    steps, applies = big_table(np.random.default_rng(3), K=12, rows=3000)
    constraints = make_constraints(parity=(0.05, 0.0), tpr=(0.1, 0.0))
    with pytest.raises(InfeasibleError, match="The search ended before it found"):
        optimise_thresholds(steps, applies, constraints=constraints, max_work=500)


def test_wrong_settings_are_refused():
    steps = two_groups()
    applies = where(steps, 0.5)
    with pytest.raises(ValueError, match="how many of each group must be selected"):
        optimise_thresholds(steps, applies, shut_out="forbid")
    with pytest.raises(ValueError, match="one entry per step"):
        optimise_thresholds(steps, np.array([True]))
    with pytest.raises(ValueError, match="cannot enforce BaseRateOrder"):
        optimise_thresholds(steps, applies, constraints=Constraints(between_groups=(BaseRateOrder(),)))
