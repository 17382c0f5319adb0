"""What is done differently from the paper or its code, and the test that shows why."""

from __future__ import annotations

from dataclasses import dataclass


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


#: All of them, in the order of the page.
CORRECTIONS = (
    Correction(
        "Groups apply at precision >= cost, as the paper says; its code has >. One group of figure 4 applies at .14 by "
        "the one and at .15 by the other.",
        "test_theory.py::test_precision_curves_cross_the_cost_where_the_paper_has_them",
    ),
    Correction(
        "Counts are compared, not ratios in floating point: .8 - .1 is not .7 there.",
        "deciding/test_published.py::test_rounding_never_keeps_a_group_out",
    ),
    Correction(
        "The precision of a group of which nobody is selected is undefined, never 0.",
        "deciding/test_published.py::test_undefined_is_nan_and_only_where_nobody_is_selected",
    ),
    Correction(
        "Nobody applying leaves accuracy undefined: such splits are counted and shown, never averaged in.",
        "reproduction/paper/test_tables.py::test_splits_without_applicants_are_left_out_of_the_mean_and_shown_by_brackets",
    ),
    Correction(
        "Who applies at test time follows what was published in training, not precision on the test fold.",
        "reproduction/sweep/test_results.py::test_who_applies_is_decided_by_training_people_and_undefined_is_none",
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
        "Where a group has a base rate of at least the cost and cannot be shut out, the optimum may let several groups "
        "of lower base rates in, not at most one.",
        "test_theory.py::test_more_than_one_group_below_the_cost_applies_in_the_optimum_where_another_must_be_let_in",
    ),
    Correction(
        "Groups are blocked by selecting everybody of them: the offsets of minus infinity in the paper's proofs select "
        "nobody, so that there is no precision to go by.",
        "test_theory.py::test_offsets_of_minus_infinity_as_in_the_papers_proof_leave_the_blocked_without_a_precision",
    ),
    Correction(
        "Parity alone does not give the order; parity with equal true-positive rates does, equalised odds and equal "
        "lift too.",
        "test_theory.py::test_what_does_give_the_order",
    ),
    Correction(
        "Under parity with equal true-positive rates, precision is at most mu_z / mu_max: on Adult, Black and Other "
        "can never apply at c >= .65 without a subsidy.",
        "test_theory.py::test_the_ceiling_of_precision_under_parity_keeps_two_groups_of_adult_out",
    ),
    Correction(
        "The squared rank correlation is blind to direction (the reversed order scores .87 on Adult) and short of 1 "
        "for the perfect order (.85): Spearman's and Kendall's coefficients and the order itself are reported too.",
        "metrics/test_ranks.py::test_r2_is_blind_to_direction_and_short_of_one_for_the_perfect_order",
    ),
    Correction(
        "The corrected precision proxy is per group, held constant in the gradient, and has the sign of the hard rule; "
        "the printed form sums over everybody and can divide by a negative number, its appendix has a sign typo.",
        "learning/test_scores.py::test_the_corrected_precision_decides_exactly_as_the_hard_rule",
    ),
    Correction(
        "The best threshold of the semi-strategic learner is searched exactly, not on a grid of 1,000.",
        "estimators/test_semi.py::test_no_threshold_beats_the_one_that_semi_finds",
    ),
    Correction(
        "Adult: rows with missing values in any column must be dropped to get the paper's group sizes, which it does "
        "not say. Bank: group 0 has 5,171 rows (the paper prints 5,175), and age is among the features.",
        "datasets/test_datasets.py::test_bank_is_the_papers_table_in_both_variants",
    ),
)
