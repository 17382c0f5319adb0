"""What the paper claims, and what our results and tests say to each claim."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..people import BUNDLED
from ..sweep.store import Result
from .tables import results_frame, summarise

HOLDS, CORRECTED, FAILS = "holds", "holds with the correction", "does not hold"


@dataclass(frozen=True)
class Verdict:
    """A claim of the paper and what became of it.

    Attributes
    ----------
    claim : str
        In our words.
    verdict : str
        "holds", "holds with the correction" or "does not hold".
    evidence : str
        The numbers, or why.
    test : str
        The test that shows it, if it is a matter of mathematics.
    """

    claim: str
    verdict: str
    evidence: str
    test: str = ""


#: Statements that are proved or refuted by tests, not by experiments.
THEORY = (
    Verdict(
        "A group applies if its precision is at least the cost.",
        HOLDS,
        "As long as somebody of the group is selected; otherwise precision is undefined, and by convention it stays "
        "away.",
        "deciding/test_published.py::test_a_group_applies_iff_its_exact_precision_reaches_the_cost",
    ),
    Verdict(
        "At a fixed selection rate, utility rises with precision.",
        HOLDS,
        "Weakly: it is flat below the cost and rises strictly above.",
        "test_theory.py::"
        "test_utility_rises_with_precision_at_a_fixed_selection_rate_flat_below_the_cost_and_strictly_above",
    ),
    Verdict(
        "Higher precision can mean lower utility.",
        HOLDS,
        "Precision 7/10 gives utility 2/15, precision 10/15 gives 1/6, at c = 0.5.",
        "test_theory.py::test_higher_precision_can_mean_lower_utility",
    ),
    Verdict(
        "Low enough accuracy forces a group out, high enough accuracy forces it in.",
        HOLDS,
        "Both bounds, over all small tables.",
        "test_theory.py::test_what_the_paper_says_is_forced_is_forced",
    ),
    Verdict(
        "Between the two bounds, application is unconstrained.",
        FAILS,
        "At base rate .75, accuracy .45 and c = .6 the group must apply. `application_region` has the exact regions.",
        "test_theory.py::test_not_everything_between_the_papers_bounds_is_free",
    ),
    Verdict(
        "A score is calibrated exactly if its precision never falls with the threshold; standard calibration and "
        "within-group monotonicity each imply it, the latter strictly.",
        HOLDS,
        "Checked over all small tables, with ties.",
        "deciding/test_thresholds.py::test_the_score_is_calibrated_iff_precision_never_falls_as_the_threshold_rises",
    ),
    Verdict(
        "Under a calibrated score, application is a step in the threshold, and groups come in by a fixed order.",
        CORRECTED,
        "Only while all groups still have somebody selected: past its largest score a group drops out again.",
        "test_theory.py::test_once_the_threshold_passes_its_largest_score_a_group_drops_out_and_the_order_breaks",
    ),
    Verdict(
        "A group whose base rate reaches the cost applies at any threshold of a calibrated score.",
        CORRECTED,
        "At any threshold that selects somebody of it.",
        "deciding/test_thresholds.py::test_a_calibrated_group_whose_base_rate_reaches_the_cost_applies_from_the_lowest_threshold",
    ),
    Verdict(
        "With an offset per group, the best classifier lets a single group apply: the one it is most accurate on.",
        CORRECTED,
        "One group suffices, but it must be the most accurate among those that can be made to apply: the paper's "
        "choice "
        "may be a group that then stays away.",
        "test_theory.py::test_the_most_accurate_group_need_not_apply_and_the_optimum_is_another",
    ),
    Verdict(
        "If selection is independent of the group, applications follow base rates.",
        FAILS,
        "Both groups selected at rate 1/2, base rates .6 and .4, precisions .4 and .8. Equal selection rates and equal "
        "true-positive rates together do give the order.",
        "test_theory.py::test_equal_selection_rates_alone_do_not_give_the_order",
    ),
    Verdict(
        "A subsidy acts like a higher base rate.",
        CORRECTED,
        "The equivalent base rate is mu_z + s mu / prc; the paper drops the factor 1 / prc, and its setting needs "
        "equal "
        "true-positive rates too.",
        "test_theory.py::test_a_levelling_subsidy_places_two_groups_level_and_is_the_difference_of_their_precisions",
    ),
    Verdict(
        "Assumed accuracy can be right, too high or too low.",
        HOLDS,
        "About .84 and .84; .875 assumed and .845 induced; .875 assumed and .907 induced (figure 10).",
        "test_theory.py::test_assumed_accuracy_can_be_right_too_high_or_too_low",
    ),
    Verdict(
        "No threshold on a naive score may reach what another score does.",
        HOLDS,
        "About .86 against .99 (figure 11). The text swaps x1 and x2 in one sentence.",
        "test_theory.py::test_no_threshold_on_the_naive_score_reaches_what_another_score_does",
    ),
)


@dataclass(frozen=True)
class Correction:
    """Something in the paper or its code that we do differently.

    Attributes
    ----------
    what : str
        What is wrong and what is right.
    test : str
        The test that shows it.
    """

    what: str
    test: str


CORRECTIONS = (
    Correction(
        "Groups apply at precision >= cost, as the paper says; its code has >. One group of figure 4 applies at .14 by "
        "the one and at .15 by the other.",
        "test_theory.py::test_precision_curves_cross_the_cost_where_the_paper_has_them",
    ),
    Correction(
        "Counts are compared, not ratios in floating point: .75 - .05 is not .7 there.",
        "deciding/test_published.py::test_rounding_never_keeps_a_group_out",
    ),
    Correction(
        "The precision of a group of which nobody is selected is undefined, never 0.",
        "deciding/test_published.py::test_undefined_is_nan_and_only_where_nobody_is_selected",
    ),
    Correction(
        "Nobody applying leaves accuracy undefined: such splits are counted and shown, never averaged in.",
        "test_experiments_tables.py::test_splits_without_applicants_are_left_out_of_the_mean_and_shown_by_brackets",
    ),
    Correction(
        "Who applies at test time follows what was published in training, not precision on the test fold.",
        "test_experiments_sweep.py::test_who_applies_is_decided_by_training_people_and_undefined_is_none",
    ),
    Correction(
        "Regions of accuracy that decide application: the exact ones are larger than the paper's (figure 7).",
        "test_theory.py::test_the_exact_regions_are_exact",
    ),
    Correction(
        "The optimum with offsets needs the precision constraint.",
        "test_theory.py::test_the_most_accurate_group_need_not_apply_and_the_optimum_is_another",
    ),
    Correction(
        "Parity alone does not give the order; parity with equal true-positive rates does, equalised odds and equal "
        "lift "
        "too.",
        "test_theory.py::test_what_does_give_the_order",
    ),
    Correction(
        "Under parity with equal true-positive rates, precision is at most mu_z / mu_max: on Adult, Black and Other "
        "can "
        "never apply at c >= .65 without a subsidy.",
        "test_theory.py::test_the_ceiling_of_precision_under_parity_keeps_two_groups_of_adult_out",
    ),
    Correction(
        "The squared rank correlation is blind to direction (the reversed order scores .87 on Adult) and short of 1 "
        "for "
        "the perfect order (.85): Spearman's and Kendall's coefficients and the order itself are reported too.",
        "metrics/test_metrics.py::test_r2_is_blind_to_direction_and_short_of_one_for_the_perfect_order",
    ),
    Correction(
        "The corrected precision proxy is per group, held constant in the gradient, and has the sign of the hard rule; "
        "the printed form sums over everybody and can divide by a negative number, its appendix has a sign typo.",
        "learning/test_objectives.py::test_the_corrected_proxy_decides_exactly_as_the_hard_rule",
    ),
    Correction(
        "The best threshold of the semi-strategic learner is searched exactly, not on a grid of 1,000.",
        "estimators/test_estimators.py::test_no_threshold_beats_the_one_that_semi_finds",
    ),
    Correction(
        "Adult: rows with missing values in any column must be dropped to get the paper's group sizes, which it does "
        "not "
        "say. Bank: group 0 has 5,171 rows (the paper prints 5,175), and age is among the features.",
        "test_datasets.py::test_bank_is_the_papers_table_in_both_variants",
    ),
)


# ---------------------------------------------------------------------- claims about experiments


def _pivot(summary: pd.DataFrame, column: str) -> pd.DataFrame:
    return summary.pivot_table(index=["dataset", "cost"], columns="method", values=column, dropna=False)


def _by_dataset(values: pd.Series, digits: int = 1) -> str:
    """Averages over costs, per data set."""
    means = values.groupby("dataset", sort=False).mean()
    return ", ".join(f"{name} {means[name]:.{digits}f}" for name in BUNDLED if name in means.index)


def _naive_is_suboptimal(summary: pd.DataFrame, frame: pd.DataFrame) -> Verdict:
    accuracy = _pivot(summary, "accuracy")
    both = accuracy[["naive", "strat_x"]].dropna()
    lower = int((both["naive"] < both["strat_x"]).sum())
    naive = summary[summary["method"] == "naive"]
    nobody = int((naive["splits_with_applicants"] == 0).sum())
    some = int(((naive["splits_with_applicants"] > 0) & (naive["splits_with_applicants"] < naive["splits"])).sum())
    return Verdict(
        "Naive learning is clearly suboptimal, and in some settings nobody applies at all.",
        HOLDS if lower == len(both) and nobody else FAILS,
        f"Below strat_x in {lower} of {len(both)} settings in which somebody applies. Of {len(naive)} settings, nobody "
        f"applies in any split of {nobody}, and in some splits of {some} more.",
    )


def _strat_x_is_best(summary: pd.DataFrame, frame: pd.DataFrame) -> Verdict:
    theirs = ["naive", "semi", "strat_x", "strat_no_group", "strat_parity"]
    # a mean over the few splits in which somebody applied is no rival of a mean over all of them
    whole = summary[summary["splits_with_applicants"] == summary["splits"]]
    accuracy, error = _pivot(whole, "accuracy")[theirs], _pivot(whole, "accuracy_se")["strat_x"]
    best = accuracy.max(axis=1)
    first = int((accuracy["strat_x"] >= best - 1e-9).sum())
    near = int((accuracy["strat_x"] >= best - error).sum())
    worst = (best - accuracy["strat_x"]).max()
    verdict = HOLDS if first == len(accuracy) else CORRECTED if near == len(accuracy) else FAILS
    return Verdict(
        "Across all settings, strat_x has the highest induced accuracy.",
        verdict,
        f"Highest of the paper's five methods in {first} of {len(accuracy)} settings, highest or within one standard "
        "error "
        f"of it in {near}; at most {worst:.2f} points below the best (methods for which somebody applies in all "
        "splits).",
    )


def _one_group_applies(summary: pd.DataFrame, frame: pd.DataFrame) -> Verdict:
    groups = _pivot(summary, "applying_groups")["strat_x"]
    return Verdict(
        "Under strat_x the number of applying groups is close to one.",
        HOLDS if groups.max() < 2 else FAILS,
        f"Average over costs: {_by_dataset(groups, 2)}; at most {groups.max():.1f}.",
    )


def _semi_does_well(summary: pd.DataFrame, frame: pd.DataFrame) -> Verdict:
    accuracy = _pivot(summary, "accuracy")
    gap = accuracy["semi"] - accuracy["strat_x"]
    return Verdict(
        "The semi-strategic learner does rather well, but inconsistently.",
        HOLDS if gap.mean() < 0 and gap.max() - gap.min() > 1 else FAILS,
        f"Against strat_x, on average {gap.mean():+.1f} points, between {gap.min():+.1f} and {gap.max():+.1f}.",
    )


def _restrictions_cost(summary: pd.DataFrame, frame: pd.DataFrame) -> Verdict:
    accuracy = _pivot(summary, "accuracy")
    without = accuracy["strat_no_group"] - accuracy["strat_x"]
    parity = accuracy["strat_parity"] - accuracy["strat_no_group"]
    n = len(accuracy)
    fine = without.mean() < 0 and parity.mean() < 0
    return Verdict(
        "Leaving out the group reduces accuracy, and parity reduces it further.",
        HOLDS if fine and (without <= 0).all() and (parity <= 0).all() else CORRECTED if without.mean() < 0 else FAILS,
        f"Leaving it out: {without.mean():+.1f} points on average, lower in {int((without < 0).sum())} of {n} "
        "settings. "
        f"Parity on top: {round(parity.mean(), 1) + 0.0:+.1f} points on average ({_by_dataset(parity)}), lower in "
        f"{int((parity < 0).sum())} of {n}: a classifier that selects few people of all groups alike can be precise "
        "too.",
    )


def _parity_gives_order(summary: pd.DataFrame, frame: pd.DataFrame) -> Verdict:
    r2, paper = _pivot(summary, "rank_r2"), _pivot(summary, "paper_rank_r2")
    spearman = _pivot(summary, "spearman")
    parity = summary[summary["method"] == "strat_parity"]
    respected = (parity["respected"] * parity["splits_with_order"]).sum()
    ours = summary[summary["method"] == "strat_order"]
    kept = (ours["respected"] * ours["splits_with_order"]).sum()
    return Verdict(
        "Parity approximately enforces the order of base rates (large rank r²).",
        HOLDS if r2["strat_parity"].mean() > 0.5 and spearman["strat_parity"].mean() > 0.5 else FAILS,
        f"With selection rates within .02 of each other, rank r² is {r2['strat_parity'].mean():.2f} on average (the "
        "paper: "
        f"{paper['strat_parity'].mean():.2f}) and Spearman's coefficient {spearman['strat_parity'].mean():+.2f}; the "
        "order "
        f"is respected in {respected:.0f} of {parity['splits_with_order'].sum()} fits. With equal true-positive "
        "rates as "
        f"well (strat_order): {r2['strat_order'].mean():.2f}, {spearman['strat_order'].mean():+.2f} and {kept:.0f} of "
        f"{ours['splits_with_order'].sum()}. Parity is not what orders groups; the paper's larger numbers are not "
        "explained by it.",
    )


def _power_leaves_order(summary: pd.DataFrame, frame: pd.DataFrame) -> Verdict:
    spearman = _pivot(summary, "spearman")
    strat = summary[summary["method"] == "strat_x"]
    defined, splits = int(strat["splits_with_order"].sum()), int(strat["splits"].sum())
    value = spearman["strat_x"].mean()
    return Verdict(
        "The power of strat_x pushes the order of precisions away from base rates.",
        FAILS if value >= 0.5 else HOLDS,
        f"In {splits - defined} of {splits} fits there is no order left to speak of: at most one group has anybody "
        f"selected.{'' if np.isnan(value) else f' In the others Spearman coefficients average {value:+.2f}.'}",
    )


def _social_cost_of_power(summary: pd.DataFrame, frame: pd.DataFrame) -> Verdict:
    cost = _pivot(summary, "social_cost")
    value = cost["strat_x"]
    return Verdict(
        "Under strat_x the social cost is high.",
        HOLDS if value.min() > 50 else FAILS,
        f"Percent of qualified people who stay away, average over costs: {_by_dataset(value)}.",
    )


def _no_group_is_kinder(summary: pd.DataFrame, frame: pd.DataFrame) -> Verdict:
    cost = _pivot(summary, "social_cost")
    low = cost[cost.index.get_level_values("cost") <= 0.7]
    kind = int((low["strat_no_group"] < low[["strat_x", "semi", "strat_parity"]].min(axis=1)).sum())
    than_naive = int((low["strat_no_group"] < low["naive"]).sum())
    everywhere = kind == len(low) and than_naive == len(low)
    return Verdict(
        "At low costs strat_no_group has favourable social costs, even lower than naive.",
        HOLDS if everywhere else FAILS,
        f"For c up to .7: lower than strat_x, semi and strat_parity in {kind} of {len(low)} settings, but lower than "
        "naive in "
        f"{than_naive} only.",
    )


def _parity_is_no_remedy(summary: pd.DataFrame, frame: pd.DataFrame) -> Verdict:
    cost = _pivot(summary, "social_cost")
    parity, power, order = (cost[name].mean() for name in ("strat_parity", "strat_x", "strat_order"))
    accuracy, selected = _pivot(summary, "accuracy"), _pivot(summary, "selection_rate")
    loss = (accuracy["strat_order"] - accuracy["strat_x"]).mean()
    return Verdict(
        "Accuracy comes at a social cost, which statistical parity does not mitigate.",
        HOLDS if parity > power - 5 else FAILS,
        f"Average over all settings: strat_x {power:.0f}%, strat_parity {parity:.0f}%. With true-positive rates "
        "within .05 "
        f"of each other as well (strat_order) it is {order:.0f}%, at {loss:+.1f} points of accuracy: it selects only "
        f"{selected['strat_order'].mean():.1f}% of people (naive: {selected['naive'].mean():.1f}%), so few that the "
        "tolerances leave room for high precision in every group.",
    )


def _no_overfitting(summary: pd.DataFrame, frame: pd.DataFrame) -> Verdict:
    gap = (100 * (frame["train_induced_accuracy"] - frame["induced_accuracy"])).groupby(frame["method"]).mean()
    worst = gap.max()
    listed = ", ".join(
        f"{name} {gap[name]:+.1f}" for name in ("naive", "semi", "strat_x", "strat_no_group", "strat_parity")
    )
    return Verdict(
        "There is no evidence of overfitting.",
        HOLDS if worst < 0.5 else FAILS,
        f"Induced accuracy on training people minus that on test people, average in points, of our fits: {listed}.",
    )


_EXPERIMENTS: tuple[Callable[[pd.DataFrame, pd.DataFrame], Verdict], ...] = (
    _naive_is_suboptimal,
    _strat_x_is_best,
    _one_group_applies,
    _semi_does_well,
    _restrictions_cost,
    _parity_gives_order,
    _power_leaves_order,
    _social_cost_of_power,
    _no_group_is_kinder,
    _parity_is_no_remedy,
    _no_overfitting,
)


def judge_experiments(results: Iterable[Result]) -> list[Verdict]:
    """Verdicts on the paper's claims about its experiments, from results of all methods on the bundled data.

    Raises
    ------
    ValueError
        If results of a method are missing.
    """
    kept = [result for result in results if result.cell.dataset in BUNDLED]
    summary, frame = summarise(kept), results_frame(kept)
    missing = {"naive", "semi", "strat_x", "strat_no_group", "strat_parity", "strat_order"} - set(summary["method"])
    if missing:
        raise ValueError(f"The store has no result of {', '.join(sorted(missing))}; claims need all methods.")
    train = [result.train_metrics["induced_accuracy"] for result in kept]
    frame["train_induced_accuracy"] = np.array([np.nan if value is None else value for value in train], dtype=float)
    return [judge(summary, frame) for judge in _EXPERIMENTS]
