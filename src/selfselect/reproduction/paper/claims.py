"""What the paper claims, and what mathematics says to each claim: proved or refuted by tests, not by experiments."""

from __future__ import annotations

from dataclasses import dataclass

#: What may become of a claim; the last where the numbers that it speaks of are undefined, as where nobody applies.
HOLDS, CORRECTED, FAILS, UNDECIDED = "holds", "holds with the correction", "does not hold", "cannot be decided"


@dataclass(frozen=True)
class Verdict:
    """A claim of the paper and what became of it.

    Attributes
    ----------
    claim : str
        In our words.
    verdict : str
        "holds", "holds with the correction", "does not hold" or "cannot be decided".
    evidence : str
        The numbers, or why.
    test : str
        The test that shows it, if it is a matter of mathematics.
    bar : str
        What the numbers must show for it to hold, if it is a matter of experiments.
    """

    claim: str
    verdict: str
    evidence: str
    test: str = ""
    bar: str = ""


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
        "One group suffices, but it must be the most accurate among those that can be made to apply, as the text "
        "around the proposition has it; by its statement and proof the group is chosen before that is asked for, and "
        "may then stay away.",
        "test_theory.py::test_the_most_accurate_group_need_not_apply_and_the_optimum_is_another",
    ),
    Verdict(
        "Where some base rates reach the cost, at most one of the groups whose base rates do not applies at best.",
        CORRECTED,
        "If nobody of a group need be selected. Where somebody of every group must be, a group whose base rate reaches "
        "the cost comes in any case, and letting in several accurate groups beside it raises the average: with "
        "accuracies of .6, 1 and 1, all three apply.",
        "test_theory.py::test_more_than_one_group_below_the_cost_applies_in_the_optimum_where_another_must_be_let_in",
    ),
    Verdict(
        "Any groups whose base rates are below the cost can be kept from applying without a change for the others.",
        HOLDS,
        "By selecting everybody of them, over all small tables. The offsets of minus infinity in the paper's proof "
        "leave them without a precision instead. Groups at or above the cost too, but only by selecting nobody.",
        "test_theory.py::test_any_groups_can_be_blocked_while_all_others_are_judged_as_before",
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
        "equal true-positive rates too.",
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
