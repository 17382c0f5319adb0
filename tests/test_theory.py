"""Every statement of the theory over all small tables, and a counterexample to every false one."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn import curves_of, table_of
from reference import all_tables
from selfselect import BestResponse, PublishedStatistics, Terms, ThresholdCurves, theory
from selfselect.datasets import fetch_adult
from selfselect.metrics import outcome

COSTS = [0.1, 0.3, 0.5, 0.6, 0.7, 0.9]


def published(tables):
    """Statistics from {group: (TP, FP, FN, TN)}."""
    return table_of(**{z: (tp + fp + fn + tn, tp + fn, tp + fp, tp) for z, (tp, fp, fn, tn) in tables.items()})


# ---------------------------------------------------------------------- utility and precision


def test_at_a_fixed_selection_rate_utility_is_0_below_the_cost_and_rises_with_precision_above():
    for n in range(1, 9):
        for selected in range(1, n + 1):
            for cost in COSTS:
                precision = np.arange(selected + 1) / selected
                utility = theory.expected_utility(selected / n, precision, cost)
                steps = np.diff(utility)
                assert (steps >= 0).all()
                assert (steps[precision[1:] <= cost] == 0).all()
                assert (steps[precision[:-1] >= cost] > 0).all()


def test_higher_precision_can_mean_lower_utility():
    table = published({"f1": (7, 3, 3, 2), "f2": (10, 5, 0, 0)})
    assert table.precision["f1"] > table.precision["f2"]
    assert table.applicant_utility(0.5).to_dict() == pytest.approx({"f1": 2 / 15, "f2": 1 / 6})
    frame = table.to_frame()
    assert theory.expected_utility(frame["selection_rate"], frame["precision"], 0.5) == pytest.approx([2 / 15, 1 / 6])


def test_precision_is_base_rate_times_true_positive_rate_over_selection_rate():
    for tp, fp, fn, tn in all_tables(7):
        counts = published({"z": (tp, fp, fn, tn)}).counts
        if tp + fp and tp + fn:
            precision = theory.bayes_precision(counts.base_rate, counts.true_positive_rate, counts.selection_rate)
            assert precision == pytest.approx(counts.precision)
    assert np.isnan(theory.bayes_precision(0.5, 0.0, 0.0))
    assert theory.expected_utility(0.0, np.nan, 0.5) == 0


# ---------------------------------------------------------------------- accuracy and application


def facts(total):
    """Base rate, accuracy and precision of all tables that select someone."""
    for tp, fp, fn, tn in all_tables(total):
        if tp + fp:
            yield (tp + fn) / total, (tp + tn) / total, tp / (tp + fp)


def test_both_ends_of_the_exact_range_are_reached():
    # the extreme tables: no false negatives (or no true negatives), no false positives (or no true positives)
    by_point = {}
    for mu, acc, precision in facts(15):
        by_point.setdefault((mu, acc), []).append(precision)
    for (mu, acc), precisions in by_point.items():
        low, high = theory.precision_range(mu, acc)
        assert min(precisions) == pytest.approx(float(low))
        assert max(precisions) == pytest.approx(float(high))


@pytest.mark.parametrize("cost", COSTS)
def test_the_exact_regions_are_exact(cost):
    seen = {}
    for mu, acc, precision in facts(12):
        seen.setdefault((mu, acc), set()).add(precision >= cost - 1e-12)
    names = {frozenset([True]): "applies", frozenset([False]): "stays away", frozenset([True, False]): "free"}
    for (mu, acc), decisions in seen.items():
        assert theory.application_region(mu, acc, cost) == names[frozenset(decisions)]


@pytest.mark.parametrize("cost", COSTS)
def test_the_paper_is_right_where_it_says_that_application_is_forced(cost):
    for mu, acc, precision in facts(12):
        out_below, in_from = theory.paper_accuracy_bounds(mu, cost)
        if acc < out_below - 1e-12:
            assert precision < cost
        if acc >= in_from + 1e-12:
            assert precision >= cost - 1e-12


def test_not_everything_between_the_papers_bounds_is_free():
    out_below, in_from = theory.paper_accuracy_bounds(0.75, 0.6)
    assert out_below < 0.45 < in_from  # the paper: unconstrained
    assert theory.application_region(0.75, 0.45, 0.6) == "applies"
    at_that_accuracy = [p for mu, acc, p in facts(20) if mu == 0.75 and acc == 0.45]
    assert len(at_that_accuracy) > 3
    assert min(at_that_accuracy) >= 0.6


def test_regions_of_degenerate_groups():
    assert theory.application_region(0.0, 1.0, 0.5) == "undefined"
    assert theory.application_region(1.0, 0.0, 0.5) == "undefined"
    assert theory.application_region(0.0, 0.5, 0.5) == "stays away"
    assert theory.application_region(1.0, 0.5, 1.0) == "applies"
    low, high = theory.paper_accuracy_bounds([0.0, 0.5], 0.0)
    assert low.tolist() == [1.0, -np.inf]
    assert high.tolist() == [1.0, 0.5]


# ---------------------------------------------------------------------- scores and thresholds

cells = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(any), min_size=1, max_size=5)


def people_of(table):
    """Labels and scores from (positives, negatives) per score value."""
    y = [label for p, n in table for label in [1] * p + [0] * n]
    score = [value for value, (p, n) in enumerate(table) for _ in range(p + n)]
    return y, score


@given(cells)
def test_a_monotone_score_is_calibrated(table):
    y, score = people_of(sorted(table, key=lambda cell: cell[0] / sum(cell)))
    assert theory.is_monotone_score(y, score)
    assert theory.is_calibrated_score(y, score)


@given(cells)
def test_a_calibrated_probability_is_a_calibrated_score(table):
    y, score = people_of(table)
    rate = {v: np.mean([label for label, s in zip(y, score, strict=True) if s == v]) for v in set(score)}
    probability = [rate[s] for s in score]
    assert theory.is_calibrated_probability(y, probability)
    assert theory.is_calibrated_score(y, probability)


def test_a_calibrated_score_need_be_neither_monotone_nor_a_calibrated_probability():
    y, score = people_of([(1, 1), (0, 1), (2, 0)])
    assert theory.is_calibrated_score(y, score)
    assert not theory.is_monotone_score(y, score)
    assert not theory.is_calibrated_probability(y, score)
    assert not theory.is_calibrated_score([1, 0], [1, 2])


@given(cells, cells, st.sampled_from(COSTS))
def test_under_mutual_calibration_groups_enter_in_order_while_somebody_of_each_is_selected(first, second, cost):
    rows = []
    for name, table in (("a", first), ("b", second)):
        y, score = people_of(sorted(table, key=lambda cell: cell[0] / sum(cell)))
        rows += [(*person, name) for person in zip(y, score, strict=True)]
    _, score, _, curves = curves_of(rows)
    order = curves.application_order(cost)
    early, late = order.index
    for t in [-np.inf, *sorted(set(score))]:
        table = curves.at(t)
        if (table.counts.selected > 0).all() and table.applies(cost)[late]:
            assert table.applies(cost)[early]


def test_above_its_largest_score_a_group_does_not_apply_which_breaks_the_order():
    curves = ThresholdCurves.from_scores([1, 0, 1], [1, 2, 3], sensitive_features=["a", "b", "b"])
    assert curves.application_order(0.7).index.tolist() == ["a", "b"]
    assert curves.at(2).applies(0.7).to_dict() == {"a": False, "b": True}


# ---------------------------------------------------------------------- strategic power


def outcomes_of_all_offsets(y, score, z, cost, *, someone):
    """Induced accuracy and applying groups for every choice of one threshold per group (that selects somebody)."""
    y, score, z = map(np.array, (y, score, z))
    names = sorted(set(z))
    choices = [[-np.inf, *sorted(set(score[z == g]))] for g in names]
    for choice in itertools.product(*([c[:-1] for c in choices] if someone else choices)):
        yhat = score > np.array([dict(zip(names, choice, strict=True))[g] for g in z])
        table = PublishedStatistics.from_predictions(y, yhat, sensitive_features=z)
        applies = table.applies(cost)
        yield outcome(table, applies).induced_accuracy, tuple(applies.index[applies])


groups_of_people = st.lists(
    st.tuples(st.booleans(), st.integers(0, 3), st.sampled_from("abc")), min_size=2, max_size=10
)


@given(groups_of_people, st.sampled_from(COSTS))
def test_one_applying_group_is_optimal(rows, cost):
    y, score, z, curves = curves_of(rows)
    optimum = theory.strategic_optimum(curves, cost)
    expected = np.nanmax([-1, *(value for value, _ in outcomes_of_all_offsets(y, score, z, cost, someone=False))])
    if optimum.group is None:
        assert expected == -1
        assert np.isinf(optimum.thresholds).all()
        return
    assert optimum.accuracy == pytest.approx(expected)
    yhat = np.array(score) > optimum.thresholds.loc[z].to_numpy()
    table = PublishedStatistics.from_predictions(y, yhat, sensitive_features=z)
    applies = table.applies(cost)
    assert applies.index[applies].tolist() == [optimum.group]
    assert outcome(table, applies).induced_accuracy == pytest.approx(optimum.accuracy)


def test_the_most_accurate_group_need_not_apply_and_the_optimum_is_another():
    # the paper picks group 1, whose best accuracy is .95 with nobody selected: then nobody applies
    y = [0] * 19 + [1] + [1] * 8 + [0] * 2 + [1] * 2 + [0] * 8
    score = [0] * 20 + [2] * 10 + [1] * 10
    z = [1] * 20 + [2] * 20
    curves = ThresholdCurves.from_scores(y, score, sensitive_features=z)
    alone = {code: max((curves.at(t).counts.accuracy[code - 1]) for t in (-np.inf, 0, 1, 2)) for code in (1, 2)}
    assert alone == {1: 0.95, 2: 0.8}
    optimum = theory.strategic_optimum(curves, cost=0.7)
    assert (optimum.group, optimum.accuracy) == (2, 0.8)
    assert np.isnan(optimum.by_group.loc[1, "accuracy"])
    # it is no better to shut the others out by selecting everybody
    optimum = theory.strategic_optimum(curves, cost=0.7, shut_out="select_all")
    assert (optimum.groups, optimum.accuracy) == ((2,), 0.8)
    assert optimum.thresholds.to_dict() == {1: -np.inf, 2: 1.0}


@given(groups_of_people, st.sampled_from(COSTS))
def test_the_optimum_is_exact_if_somebody_of_every_group_must_be_selected(rows, cost):
    y, score, z, curves = curves_of(rows)
    optimum = theory.strategic_optimum(curves, cost, shut_out="select_all")
    possible = [value for value, _ in outcomes_of_all_offsets(y, score, z, cost, someone=True) if not np.isnan(value)]
    yhat = np.array(score) > optimum.thresholds.loc[z].to_numpy()
    table = PublishedStatistics.from_predictions(y, yhat, sensitive_features=z)
    applies = table.applies(cost)
    assert (table.counts.selected > 0).all()
    assert tuple(applies.index[applies]) == optimum.groups
    if optimum.group is None:
        assert not possible
        return
    assert optimum.group in optimum.groups
    assert optimum.accuracy == pytest.approx(max(possible))
    assert outcome(table, applies).induced_accuracy == pytest.approx(optimum.accuracy)


@given(groups_of_people, st.sampled_from(COSTS))
def test_a_group_whose_base_rate_reaches_the_cost_applies_unless_some_threshold_lowers_its_precision(rows, cost):
    y, score, z, curves = curves_of(rows)
    optimum = theory.strategic_optimum(curves, cost, shut_out="select_all")
    everywhere = set(curves.groups)
    for _, applying in outcomes_of_all_offsets(y, score, z, cost, someone=True):
        everywhere &= set(applying)
    assert everywhere <= set(optimum.groups)
    calibrated = curves.is_calibrated()
    base_rate = curves.at(-np.inf).base_rate
    assert {g for g in curves.groups if calibrated[g] and base_rate[g] >= cost} <= everywhere
    if not everywhere:
        assert len(optimum.groups) <= 1


def three_groups():
    """One group that cannot be shut out at c = .5, with a low accuracy, and two of low base rates and high accuracy."""
    y = [1] * 6 + [0] * 4 + [1] * 4 + [0] * 6 + [1] * 4 + [0] * 6
    score = [0] * 10 + [1] * 4 + [0] * 6 + [1] * 4 + [0] * 6
    return curves_of(zip(y, score, ["high"] * 10 + ["low 1"] * 10 + ["low 2"] * 10, strict=True))


def test_several_groups_of_base_rates_below_the_cost_may_apply_in_the_optimum():
    # the paper: of the groups with a base rate below the cost, at most one
    y, score, z, curves = three_groups()
    optimum = theory.strategic_optimum(curves, 0.5, shut_out="select_all")
    assert optimum.groups == ("high", "low 1", "low 2")
    assert optimum.accuracy == pytest.approx((0.6 + 1 + 1) / 3)
    at_most_one = [
        value
        for value, applying in outcomes_of_all_offsets(y, score, z, 0.5, someone=True)
        if len({"low 1", "low 2"} & set(applying)) < 2
    ]
    assert max(at_most_one) == pytest.approx((0.6 + 1) / 2)
    assert theory.strategic_optimum(curves, 0.5).groups == ("low 1",)  # if nobody of the others need be selected


@given(groups_of_people, st.sampled_from(COSTS), st.sampled_from([-np.inf, 0, 1, 2]), st.sets(st.sampled_from("abc")))
def test_any_groups_can_be_blocked_without_a_change_for_the_others(rows, cost, threshold, blocked):
    y, score, z, curves = curves_of(rows)
    blocked &= set(z)
    blocking = theory.block_groups(curves, threshold, blocked, cost)
    before = np.array(score) > threshold
    after = np.array(score) > blocking["threshold"].loc[z].to_numpy()
    others = ~np.isin(z, list(blocked))
    assert (before == after)[others].all()
    table = PublishedStatistics.from_predictions(y, after, sensitive_features=z)
    assert not table.applies(cost)[list(blocked)].any()
    assert blocking["precision"].to_numpy() == pytest.approx(table.precision.to_numpy(), nan_ok=True)
    base_rate = table.base_rate
    for group in blocked:
        low = base_rate[group] < cost - 1e-12
        assert (blocking["way"][group] == "select_all") == low
        if low:  # the corollary: everybody is selected, and the precision is the base rate
            assert table.precision[group] == base_rate[group]
        possible = any(group not in who for _, who in outcomes_of_all_offsets(y, score, z, cost, someone=True))
        assert (blocking["way"][group] == "select_none") == (not possible)


def test_the_papers_proof_leaves_blocked_groups_without_a_precision():
    curves = three_groups()[-1]
    printed = curves.at(np.inf)  # a score of minus infinity is above no threshold
    assert printed.precision.isna().all()
    assert not printed.applies(0.5).any()  # by convention: utility is 0 either way
    assert printed.decisions(Terms(0.5, behaviour=BestResponse(undefined="apply"))).all()
    blocking = theory.block_groups(curves, {"high": 0, "low 1": 0, "low 2": 0}, ["low 1"], 0.5)
    assert blocking["way"].tolist() == ["kept", "select_all", "kept"]
    everybody = curves.at(-np.inf)
    assert not everybody.decisions(Terms(0.5, behaviour=BestResponse(undefined="apply")))["low 1"]


def test_a_calibrated_group_whose_base_rate_reaches_the_cost_is_blocked_only_by_selecting_nobody():
    curves = three_groups()[-1]
    assert theory.block_groups(curves, 0, ["high"], 0.5)["way"]["high"] == "select_none"
    # without calibration a higher threshold can do it
    falling = ThresholdCurves.from_scores([1, 1, 1, 0], [1, 1, 1, 2])
    blocking = theory.block_groups(falling, 0, falling.groups, 0.7).iloc[0]
    assert (blocking["way"], blocking["threshold"], blocking["precision"]) == ("select_some", 1, 0)
    with pytest.raises(ValueError, match="groups"):
        theory.block_groups(curves, 0, ["nobody"], 0.5)
    with pytest.raises(ValueError, match="thresholds has no value for"):
        theory.block_groups(curves, {"high": 0}, ["high"], 0.5)
    with pytest.raises(ValueError, match="shut_out must be one of"):
        theory.strategic_optimum(curves, 0.5, shut_out="forbid")
    with pytest.raises(ValueError, match="Group 'high' must apply, but has fewer people than min_selected=11"):
        theory.strategic_optimum(curves, 0.5, min_selected=11, shut_out="select_all")


# ---------------------------------------------------------------------- independence and order


def test_equal_selection_rates_alone_do_not_give_the_order():
    table = table_of(high=(10, 6, 5, 2), low=(10, 4, 5, 4))
    assert table.counts.selection_rate.tolist() == [0.5, 0.5]
    assert table.base_rate["high"] > table.base_rate["low"]
    assert table.precision.to_dict() == {"high": 0.4, "low": 0.8}
    assert table.applies(0.7).to_dict() == {"high": False, "low": True}


@pytest.mark.parametrize("condition", ["parity and equal TPR", "equalised odds", "equal lift"])
def test_conditions_under_which_precision_follows_base_rates(condition):
    n = 8
    tp, fp, fn, _ = np.array([t for t in all_tables(n) if t[0] + t[1] and 0 < t[0] + t[2] < n]).T
    mu, q, tpr, fpr, precision = (tp + fn) / n, (tp + fp) / n, tp / (tp + fn), fp / (n - tp - fn), tp / (tp + fp)

    def equal(values):
        return np.isclose(values[:, None], values[None, :])

    holds = {
        "parity and equal TPR": equal(tpr) & equal(q),
        "equalised odds": equal(tpr) & equal(fpr),
        "equal lift": equal(tpr / q),
    }[condition]
    ordered = holds & (mu[:, None] > mu[None, :])
    assert ordered.sum() > 10
    assert (precision[:, None] >= precision[None, :] - 1e-12)[ordered].all()


def test_under_parity_with_equal_tpr_precision_is_proportional_to_base_rate():
    # selection rate 1/2 and true-positive rate 1 in both groups
    table = published({"a": (2, 2, 0, 4), "b": (4, 0, 0, 4)})
    mu = table.counts.positives.sum() / 16
    precision = table.counts.true_positives.sum() / table.counts.selected.sum()
    assert theory.parity_precision(table.base_rate, mu, precision) == pytest.approx(table.precision)


def test_parity_with_equal_tpr_is_feasible_exactly_as_stated():
    n = 12
    rates = {}  # for each number of positives, all (true-positive rate, selection rate) that some table has
    for tp, fp, fn, _ in all_tables(n):
        if tp + fn:
            rates.setdefault(tp + fn, set()).add((Fraction(tp, tp + fn), Fraction(tp + fp, n)))
    for positives in [(3, 6), (2, 8), (6, 6), (4, 12)]:
        both = rates[positives[0]] & rates[positives[1]]
        for share in {rate for rate, _ in rates[positives[0]]} & {rate for rate, _ in rates[positives[1]]}:
            for selected in range(n + 1):
                feasible = theory.parity_is_feasible(np.array(positives) / n, float(share), selected / n)
                assert bool(feasible) == ((share, Fraction(selected, n)) in both)


def test_under_parity_two_groups_of_adult_cannot_apply():
    adult = fetch_adult()
    base_rates = adult.target.groupby(adult.group, observed=True).mean()
    ceiling = pd.Series(theory.parity_precision_ceiling(base_rates), index=base_rates.index)
    assert (ceiling[["Black", "Other"]] < 0.65).all()
    assert (ceiling[["Asian-Pac-Islander", "White"]] > 0.9).all()
    # no feasible pair of rates gets above it
    for tpr, q in itertools.product(np.linspace(0.01, 1, 25), np.linspace(0.01, 1, 25)):
        if theory.parity_is_feasible(base_rates, tpr, q):
            assert (theory.bayes_precision(base_rates, tpr, q) <= ceiling + 1e-12).all()


# ---------------------------------------------------------------------- subsidies


def test_a_group_applies_at_the_smallest_subsidy_and_not_below():
    for tp, fp, fn, tn in all_tables(6):
        table = published({"z": (tp, fp, fn, tn)})
        for cost in COSTS:
            needed = theory.least_subsidy(table.precision, cost)[0]
            share = theory.least_proportional_subsidy(table.precision, cost)[0]
            if tp + fp == 0:
                assert np.isnan(needed)
                assert np.isnan(share)
                continue
            assert table.applies(cost, subsidies=needed).all()
            assert table.applies(cost, subsidies=min(share, 1), subsidy_kind="proportional").all()
            if needed > 0:
                assert not table.applies(cost, subsidies=needed - 1e-6).any()
                assert not table.applies(cost, subsidies=share - 1e-6, subsidy_kind="proportional").any()


def test_a_levelling_subsidy_is_the_difference_of_precisions():
    mu, precision = 0.4, 0.8
    own, other = theory.parity_precision([0.2, 0.5], mu, precision)
    subsidy = theory.levelling_subsidy(0.2, 0.5, mu, precision)
    assert own + subsidy == pytest.approx(other)
    assert theory.levelling_subsidy(0.5, 0.2, mu, precision) == 0
    # in units of base rate the equivalent carries 1 / precision; the paper's mu_z + s mu falls short of level
    assert theory.subsidised_base_rate(0.2, subsidy, mu, precision) == pytest.approx(0.5)
    assert 0.2 + subsidy * mu < 0.5
    for cost in np.linspace(0.1, 1, 40):
        as_if = theory.parity_precision(
            min(float(theory.subsidised_base_rate(0.2, subsidy, mu, precision)), 1), mu, 0.8
        )
        assert (own >= cost - subsidy) == (as_if >= cost)


@given(cells, st.sampled_from(COSTS))
def test_a_subsidy_of_cost_minus_base_rate_suffices_at_any_threshold_of_a_calibrated_score(table, cost):
    y, score = people_of(sorted(table, key=lambda cell: cell[0] / sum(cell)))
    curves = ThresholdCurves.from_scores(y, score)
    subsidy = float(theory.sufficient_subsidy(np.mean(y), cost))
    for t in [-np.inf, *sorted(set(score))[:-1]]:
        assert curves.at(t).applies(cost, subsidies=subsidy).all()


@pytest.mark.parametrize("wrong", [{"precision": 1.2, "cost": 0.5}, {"precision": 0.5, "cost": -0.1}])
def test_numbers_outside_the_unit_interval_are_refused_by_name(wrong):
    name = "precision" if wrong["precision"] > 1 else "cost"
    with pytest.raises(ValueError, match=f"{name} must lie in"):
        theory.least_subsidy(**wrong)
    with pytest.raises(ValueError, match="base_rate has missing"):
        theory.application_region(np.nan, 0.5, 0.5)
    with pytest.raises(TypeError, match="cost must hold numbers"):
        theory.sufficient_subsidy(0.5, "much")
    with pytest.raises(ValueError, match="selection_rate must be at least"):
        theory.bayes_precision(0.9, 1.0, 0.1)
    with pytest.raises(ValueError, match="subsidy must not be negative"):
        theory.subsidised_base_rate(0.1, -0.1, 0.5, 0.5)
