"""The best threshold per group: against enumeration, and every constraint that cannot be met is named."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from selfselect.behaviour import BestResponse, LogitResponse
from selfselect.constraints import (
    BaseRateOrder,
    Constraints,
    DemographicParity,
    FalsePositiveRateParity,
    InfeasibleError,
    TruePositiveRateParity,
)
from selfselect.counting import CountCurves
from selfselect.learning import group_sets, optimise_thresholds
from selfselect.learning.group_sets import GroupChoices, best_set
from selfselect.learning.thresholds import LEAST_SHARE
from selfselect.statistics import Published

SLACK = 1e-12
MODES = ("select_none", "select_all", "forbid")


def make_constraints(max_social_cost=1.0, parity=(1.0, 0.0), tpr=(1.0, 0.0), **more):
    """Constraints with bounds (difference, ratio) of selection rates and of true-positive rates."""
    rates = (DemographicParity(*parity), TruePositiveRateParity(*tpr))
    return Constraints(max_social_cost=max_social_cost, between_groups=rates, **more)


# ---------------------------------------------------------------------- small random tables


def draw_shares(rng, steps):
    """Shares with ties and zeros, or any, or of a logit response."""
    size, kind = len(steps.group), rng.integers(4)
    if kind == 0:
        shares = rng.choice([0.0, 0.25, 0.5, 1.0], size)
    elif kind == 1:
        shares = rng.random(size)
    elif kind == 2:
        costs = rng.choice([0.3, 0.5, 0.7], len(steps.n))[steps.group]
        shares = LogitResponse(rng.choice([0.02, 0.1, 0.5])).shares(Published(steps), costs)
    else:
        shares = rng.choice([0.3, 0.8], len(steps.n))[steps.group] * (rng.random(size) < 0.7)
    nobody = (rng.random(size) < rng.choice([0.0, 0.3])) | (shares < LEAST_SHARE)
    return np.where(nobody, 0.0, shares)


def draw_table(rng, n_groups=None, weighted=False):
    """People of up to 4 groups with up to 5 distinct scores: up to 6 steps per group."""
    n_groups = rng.integers(1, 5) if n_groups is None else n_groups
    z = np.r_[np.arange(n_groups), rng.integers(0, n_groups, rng.integers(0, 24))]
    score = rng.integers(0, 5, len(z)).astype(float)
    y = rng.random(len(z)) < np.clip((score + rng.normal(size=n_groups)[z]) / 5, 0.05, 0.95)
    weight = rng.uniform(0.2, 3, len(z)) if weighted else None
    steps = CountCurves.from_scores(y, score, sensitive_features=z, sample_weight=weight)
    shares = draw_shares(rng, steps)
    reliable = (shares > 0) & (rng.random(len(shares)) < rng.choice([0.4, 0.8, 1.0]))
    gain = steps.correct - (rng.uniform(0, 2, len(shares)) if rng.random() < 0.3 else 0.0)
    return SimpleNamespace(steps=steps, shares=shares, reliable=reliable, gain=gain)


#: Kinds of constraints, each of which draws arguments of Constraints.
KINDS = {
    "required": lambda rng, steps: {"required": rng.random(len(steps.n)) < 0.4},
    "social cost": lambda rng, steps: {"max_social_cost": rng.choice([0.0, 0.1, 0.3, 0.5, 0.7, 0.9])},
    "selection rate": lambda rng, steps: {"min_selection_rate": rng.choice([0.1, 0.25, 0.5])},
    "selected": lambda rng, steps: {"min_selected": np.floor(steps.n * rng.choice([0.2, 0.5]))},
    "parity": lambda rng, steps: {"between_groups": draw_parities(rng)},
}


def draw_parities(rng):
    kinds = rng.permutation([DemographicParity, TruePositiveRateParity, FalsePositiveRateParity])[: rng.integers(1, 3)]
    return tuple(
        kind(rng.choice([0.0, 0.05, 0.1, 0.2, 0.4]))
        if rng.random() < 0.7
        else kind(ratio_bound=rng.choice([0.5, 0.8, 1.0]))
        for kind in kinds
    )


def draw_constraints(rng, steps, kinds):
    arguments = {}
    for kind in kinds:
        arguments |= KINDS[kind](rng, steps)
    return Constraints(**arguments)


# ---------------------------------------------------------------------- all combinations of steps


class Enumeration:
    """All combinations of one step per group: who applies, what it is worth, and which meet the constraints."""

    def __init__(self, table, constraints):
        steps = table.steps
        n, group = steps.n, steps.group
        least = constraints.min_selection_rate * n
        if constraints.min_selected is not None:
            least = np.maximum(least, constraints.min_selected)
        allowed = steps.selected >= (least - SLACK * n)[group]
        usable = allowed & (table.reliable | (table.shares == 0))
        unavoidable = np.array([not usable[group == z].any() for z in range(len(n))])
        usable |= allowed & unavoidable[group]
        self.steps = np.array(list(product(*(np.flatnonzero(usable & (group == z)) for z in range(len(n))))))
        shares = table.shares[self.steps]
        reliable_shares = np.where(unavoidable, 0.0, shares)
        self.people = shares @ n
        self.gain = (shares * table.gain[self.steps]).sum(axis=1)
        self.somebody = (reliable_shares > 0).any(axis=1)
        meets = np.ones(len(self.steps), dtype=bool)
        if constraints.required is not None:
            meets &= (reliable_shares >= 0.5)[:, constraints.required].all(axis=1)
        covered = reliable_shares @ steps.positives
        meets &= covered >= (1 - constraints.max_social_cost - SLACK) * steps.positives.sum()
        for parity in constraints.between_groups:
            top, bottom = parity.rate(steps)
            rates = (top[self.steps] / np.where(bottom > 0, bottom, 1))[:, bottom > 0]
            if rates.shape[1]:
                low, high = rates.min(axis=1), rates.max(axis=1)
                if parity.difference_bound is not None:
                    meets &= high - low <= parity.difference_bound + SLACK
                if parity.ratio_bound is not None:
                    meets &= low >= parity.ratio_bound * high - SLACK
        self.meets = meets

    @property
    def value(self):
        """The best value with a reliable group that applies; None if there is none."""
        some = self.meets & self.somebody
        return (self.gain[some] / self.people[some]).max() if some.any() else None

    def row_of(self, step):
        """The combination that was chosen."""
        (row,) = np.flatnonzero((self.steps == step).all(axis=1))
        return row


def solve(table, constraints, **options):
    return optimise_thresholds(
        table.steps, table.shares, table.reliable, table.gain, constraints=constraints, **options
    )


def check_against_enumeration(table, constraints, **options):
    every = Enumeration(table, constraints)
    if not every.meets.any():
        with pytest.raises(InfeasibleError):
            solve(table, constraints, **options)
        return "infeasible"
    best = solve(table, constraints, **options)
    row = every.row_of(best.step)
    assert every.meets[row]
    assert best.share.tolist() == table.shares[best.step].tolist()
    assert best.applying.tolist() == (best.share >= 0.5).tolist()
    assert best.exact
    assert best.gap <= 1e-9
    if every.people[row] == 0:
        assert np.isnan(best.value)
    else:
        assert best.value == pytest.approx(every.gain[row] / every.people[row], abs=1e-9)
    if every.value is None:
        assert not every.somebody[row]
        return "nobody"
    assert best.value == pytest.approx(every.value, abs=1e-9)
    return "somebody"


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [None, *KINDS])
def test_under_each_constraint_alone_it_is_the_best_of_all_combinations_of_steps(kind, weighted):
    rng = np.random.default_rng([list(KINDS).index(kind) if kind else 9, weighted])
    seen = []
    for _ in range(250):
        table = draw_table(rng, weighted=weighted)
        seen.append(check_against_enumeration(table, draw_constraints(rng, table.steps, [kind] if kind else [])))
    assert seen.count("somebody") > 50
    assert kind in (None, "selection rate", "selected") or seen.count("infeasible") > 10


@pytest.mark.parametrize("seed", range(6))
def test_under_constraints_together_it_is_the_best_of_all_combinations_of_steps(seed):
    rng = np.random.default_rng([17, seed])
    seen = []
    for _ in range(300):
        table = draw_table(rng, weighted=rng.random() < 0.5)
        kinds = rng.permutation(list(KINDS))[: rng.integers(2, 5)]
        if rng.random() < 0.5:  # so that fewer are infeasible
            table.reliable = table.shares > 0
        seen.append(check_against_enumeration(table, draw_constraints(rng, table.steps, kinds)))
    assert min(map(seen.count, ("infeasible", "somebody"))) > 50


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("weighted", [False, True])
def test_groups_that_decide_as_a_whole_get_the_best_of_all_combinations_of_steps(mode, weighted):
    rng = np.random.default_rng([MODES.index(mode), weighted])
    seen = []
    for _ in range(500):
        table = draw_table(rng, weighted=weighted)
        costs = rng.choice([0.3, 0.5, 0.6, 0.75], len(table.steps.n))[table.steps.group]
        undefined = "apply" if rng.random() < 0.2 else "abstain"
        table.shares = BestResponse(undefined).shares(Published(table.steps), costs)
        table.reliable = table.shares & (rng.random(len(costs)) < rng.choice([0.3, 0.7, 1.0]))
        kinds = [*rng.permutation(list(KINDS))[: rng.integers(0, 4)], *(["selected"] if mode == "forbid" else [])]
        constraints = draw_constraints(rng, table.steps, kinds)
        seen.append(check_against_enumeration(table, constraints, shut_out=mode))
    assert min(map(seen.count, ("infeasible", "nobody", "somebody"))) > 20


@pytest.mark.parametrize("tried_first", [1, 25])
def test_integer_programs_choose_among_the_steps_of_many_groups(tried_first, monkeypatch):
    """Few steps and one limit on social cost: the relaxation is seldom the best itself."""
    monkeypatch.setattr(group_sets, "CORE_SIZE", tried_first)
    rng = np.random.default_rng(5)
    for _ in range(150):
        table = draw_table(rng, n_groups=4)
        table.reliable = table.shares > 0
        most = np.maximum.reduceat(table.shares, table.steps.start[:-1]) @ table.steps.positives
        if most == 0:
            continue
        limit = 1 - rng.uniform(0.3, 1.0) * most / table.steps.positives.sum()
        assert check_against_enumeration(table, Constraints(max_social_cost=limit)) == "somebody"


def test_a_limit_that_is_missed_by_less_than_solvers_round_is_not_met():
    """Solvers of integer programs round to about 1e-6. Here some steps miss the limit by less."""
    rng = np.random.default_rng(6)
    for _ in range(300):
        table = draw_table(rng, n_groups=4, weighted=True)
        table.shares = rng.uniform(0.2, 1, len(table.shares)) * (rng.random(len(table.shares)) < 0.7)
        table.reliable = table.shares > 0
        some = table.shares[rng.integers(table.steps.start[:-1], table.steps.start[1:])]
        away = 1 - some @ table.steps.positives / max(table.steps.positives.sum(), 1)
        constraints = Constraints(max_social_cost=max(away - 1e-8, 0.0))
        every = Enumeration(table, constraints)
        if every.value is not None:
            best = solve(table, constraints)
            assert every.meets[every.row_of(best.step)]
            assert best.value == pytest.approx(every.value, abs=1e-9)
            assert best.gap < 1e-6


# ---------------------------------------------------------------------- entries of groups, without steps


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


# ---------------------------------------------------------------------- booleans and shares


def bigger_table(seed, n_groups=12, rows=3000, behaviour=None):
    rng = np.random.default_rng(seed)
    z = np.r_[np.arange(n_groups), rng.integers(0, n_groups, rows - n_groups)]
    score = rng.uniform(size=rows)
    y = rng.random(rows) < np.clip(score + rng.normal(0, 0.2, n_groups)[z], 0.02, 0.98)
    steps = CountCurves.from_scores(y, score, sensitive_features=z)
    behaviour = LogitResponse(0.05) if behaviour is None else behaviour
    return steps, behaviour.shares(Published(steps), np.full(len(steps.group), 0.6))


def outcome(table, constraints, **options):
    """Everything that a search returns, or its error, as text."""
    try:
        best = solve(table, constraints, **options)
    except InfeasibleError as error:
        return str(error)
    return repr((best.step.tolist(), best.applying.tolist(), best.value, best.gap, best.exact, best.share.tolist()))


@pytest.mark.parametrize("mode", ["select_none", "select_all"])
def test_shares_of_0_and_1_give_the_same_as_booleans(mode):
    rng = np.random.default_rng(11)
    for _ in range(200):
        table = draw_table(rng)
        table.shares = rng.random(len(table.shares)) < 0.5
        constraints = draw_constraints(rng, table.steps, rng.permutation(list(KINDS))[: rng.integers(0, 3)])
        only = rng.random(len(table.steps.n)) < 0.5 if constraints.required is None and rng.random() < 0.3 else None
        booleans = outcome(table, constraints, shut_out=mode, only=only)
        table.shares = table.shares.astype(float)
        assert outcome(table, constraints, shut_out=mode, only=only) == booleans


# ---------------------------------------------------------------------- relations between tasks


@pytest.mark.parametrize("behaviour", [LogitResponse(0.05), BestResponse()], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_with_parity_it_is_the_best_of_all_windows_one_by_one(seed, behaviour):
    steps, shares = bigger_table(seed, n_groups=5, rows=150, behaviour=behaviour)
    rate = steps.selected / steps.n[steps.group]
    for limit in (1.0, 0.6):
        values = []
        for low in np.unique(rate):
            fits = (rate >= low) & (rate <= low + 0.1 + SLACK)
            if np.logical_or.reduceat(fits, steps.start[:-1]).all():
                inside = restrict(steps, fits)
                try:
                    best = optimise_thresholds(inside, shares[fits], constraints=Constraints(max_social_cost=limit))
                except InfeasibleError:
                    continue
                values.append(best.value)
        whole = optimise_thresholds(
            steps, shares, constraints=Constraints(max_social_cost=limit, between_groups=(DemographicParity(0.1),))
        )
        assert whole.value == pytest.approx(np.nanmax(values), abs=1e-9)
        assert whole.exact


def restrict(steps, kept):
    """Curves with some of the steps."""
    start = np.concatenate([[0], np.cumsum(np.add.reduceat(kept, steps.start[:-1], dtype=np.intp))])
    return CountCurves(
        groups=steps.groups,
        start=start,
        threshold=steps.threshold[kept],
        selected=steps.selected[kept],
        true_positives=steps.true_positives[kept],
        n=steps.n,
        positives=steps.positives,
    )


@pytest.mark.parametrize("behaviour", [LogitResponse(0.05), BestResponse()], ids=str)
def test_a_search_that_is_cut_short_bounds_what_it_missed(behaviour):
    steps, shares = bigger_table(4, n_groups=6, rows=2000, behaviour=behaviour)
    parity = (DemographicParity(0.05), TruePositiveRateParity(0.1))
    constraints = Constraints(min_selection_rate=0.1, between_groups=parity)
    whole = optimise_thresholds(steps, shares, constraints=constraints)
    assert whole.exact
    for work in (1e4, 2e4):
        short = optimise_thresholds(steps, shares, constraints=constraints, max_work=work)
        assert not short.exact
        assert short.value <= whole.value <= short.value + short.gap


def test_thousands_of_groups_under_a_social_cost_limit_are_solved_exactly():
    steps, applies = bigger_table(4, n_groups=5000, rows=100_000, behaviour=BestResponse())
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


@pytest.mark.parametrize(("mode", "selected"), [("select_none", 0), ("select_all", 4)])
def test_of_steps_at_which_nobody_applies_the_preferred_one_is_chosen(mode, selected):
    steps = two_groups()
    shares = np.where(steps.group == 0, 0.4, 0.0)
    best = optimise_thresholds(steps, shares, shut_out=mode)
    assert steps.selected[best.step].tolist() == [2, selected]
    assert best.share.tolist() == [0.4, 0.0]
    assert best.applying.tolist() == [False, False]
    assert best.value == 1.0


def test_if_nobody_applies_the_value_is_undefined_and_smaller_shares_than_rounding_are_nobody():
    steps = two_groups()
    for share in (0.0, 1e-13):
        best = optimise_thresholds(steps, np.full(len(steps.group), share))
        assert np.isnan(best.value)
        assert (best.gap, best.exact) == (0.0, True)
        assert best.share.tolist() == [0.0, 0.0]


def test_groups_of_a_set_apply_by_half_if_they_can_and_others_by_less():
    steps = two_groups()
    shares = np.where(steps.selected > 0, np.where(steps.selected > 1, 0.7, 0.3), 0.0)
    best = optimise_thresholds(steps, shares, only=np.array([False, True]))
    assert best.applying.tolist() == [False, True]
    assert best.share[1] == 0.7


def test_a_group_that_no_threshold_keeps_out_counts_but_helps_no_constraint():
    steps = two_groups()
    shares = np.where(steps.group == 0, 0.5, 0.25 + 0.5 * (steps.selected == 4))
    reliable = steps.group == 0
    best = optimise_thresholds(steps, shares, reliable)
    # A has 4 of 4 correct, half of which apply; B has at best 3 of 4 where a quarter applies, if nobody is selected
    assert best.share.tolist() == [0.5, 0.25]
    assert best.value == pytest.approx((0.5 * 4 + 0.25 * 3) / (0.5 * 4 + 0.25 * 4))
    with pytest.raises(InfeasibleError, match=r"0\.6667 is the lowest found \(nothing makes 'B' apply\)"):
        optimise_thresholds(steps, shares, reliable, constraints=Constraints(max_social_cost=0.5))
    with pytest.raises(InfeasibleError, match="'B' must apply"):
        optimise_thresholds(steps, shares, reliable, constraints=Constraints(required=np.array([False, True])))
    # without a reliable step, both groups do what is best for the whole
    best = optimise_thresholds(steps, shares, np.zeros(len(shares), dtype=bool))
    assert best.value == pytest.approx((0.5 * 4 + 0.25 * 3) / (0.5 * 4 + 0.25 * 4))


def test_a_social_cost_out_of_reach_is_named_with_the_lowest():
    steps = two_groups()
    with pytest.raises(
        InfeasibleError, match=r"at most 0\.2, but 0\.6000 is the lowest found \(if as many as possible"
    ):
        optimise_thresholds(steps, np.full(len(steps.group), 0.4), constraints=Constraints(max_social_cost=0.2))
    shares = np.where(steps.selected == 4, 0.9, 0.5 * (steps.group == 0))
    parity = (DemographicParity(0.1), TruePositiveRateParity(0.1))
    with pytest.raises(InfeasibleError, match=r"0\.1000 is the lowest found \(if as many"):
        optimise_thresholds(steps, shares, constraints=Constraints(max_social_cost=0.05, between_groups=parity))


@pytest.mark.parametrize("shares", [np.full(10, 1.5), np.full(10, -0.1), np.full(10, np.nan), np.full(9, 0.5)])
def test_wrong_shares_are_refused(shares):
    with pytest.raises(ValueError, match="one entry per step, each in"):
        optimise_thresholds(two_groups(), shares)


def where(steps, cost):
    return BestResponse().shares(Published(steps), cost)


@pytest.mark.parametrize(("cost", "selected"), [(0.6, 4), (0.2, 0)])
def test_everybody_is_selected_of_a_group_that_stays_out_if_it_stays_out_then(cost, selected):
    steps = two_groups()
    optimum = optimise_thresholds(steps, where(steps, cost), shut_out="select_all")
    assert optimum.applying.tolist() == [True, False]
    assert steps.selected[optimum.step].tolist() == [2, selected]


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
    steps, applies = bigger_table(3, behaviour=BestResponse())
    constraints = make_constraints(parity=(0.05, 0.0), tpr=(0.1, 0.0))
    with pytest.raises(InfeasibleError, match="The search ended before it found"):
        optimise_thresholds(steps, applies, constraints=constraints, max_work=500)


def test_wrong_settings_are_refused():
    steps = two_groups()
    applies = where(steps, 0.5)
    with pytest.raises(ValueError, match="how many of each group must be selected"):
        optimise_thresholds(steps, applies, shut_out="forbid")
    with pytest.raises(ValueError, match="cannot enforce BaseRateOrder"):
        optimise_thresholds(steps, applies, constraints=Constraints(between_groups=(BaseRateOrder(),)))
