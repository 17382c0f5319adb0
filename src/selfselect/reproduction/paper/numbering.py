"""What the paper numbers, as its compiled text does, with what implements each and the test that shows it.

Propositions, lemmas, corollaries, definitions and figures each have a count of their own, through the appendix.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Numbered:
    """A numbered statement or figure of the paper.

    Attributes
    ----------
    kind : str
        "Definition", "Proposition", "Corollary", "Lemma" or "Figure".
    number : int
        Its number among its kind.
    says : str
        What it says or shows, in a few words; "as printed, false" where only a corrected form holds.
    functions : tuple of str
        What implements it: names from the package on, dots between.
    tests : tuple of str
        Tests that show it, as paths from the folder of tests.
    """

    kind: str
    number: int
    says: str
    functions: tuple[str, ...]
    tests: tuple[str, ...]

    @property
    def name(self) -> str:
        """As it is called."""
        return f"{self.kind} {self.number}"


_CURVES = "deciding.thresholds.ThresholdCurves"
_FIGURES = "reproduction.paper.figures"
_IN_THEORY = "test_theory.py::"
_IN_CURVES = "deciding/test_thresholds.py::"
_IN_FIGURES = "reproduction/paper/test_figures.py::"

#: All of them, statements in the order of their kinds, then figures.
NUMBERED = (
    Numbered(
        "Definition",
        1,
        "a calibrated score",
        ("theory.is_calibrated_score", f"{_CURVES}.is_calibrated"),
        (f"{_IN_CURVES}test_the_score_is_calibrated_iff_precision_never_falls_as_the_threshold_rises",),
    ),
    Numbered(
        "Definition",
        2,
        "a score that is monotone within groups",
        ("theory.is_monotone_score",),
        (f"{_IN_THEORY}test_a_calibrated_score_need_be_neither_monotone_nor_a_calibrated_probability",),
    ),
    Numbered(
        "Proposition",
        1,
        "a group applies iff its precision reaches the cost",
        ("deciding.behaviour.applies_rule",),
        ("deciding/test_published.py::test_a_group_applies_iff_its_exact_precision_reaches_the_cost",),
    ),
    Numbered(
        "Proposition",
        2,
        "utility rises with precision at a fixed selection rate",
        ("theory.expected_utility",),
        (
            f"{_IN_THEORY}"
            "test_utility_rises_with_precision_at_a_fixed_selection_rate_flat_below_the_cost_and_strictly_above",
        ),
    ),
    Numbered(
        "Proposition",
        3,
        "higher precision can mean lower utility",
        ("theory.expected_utility",),
        (f"{_IN_THEORY}test_higher_precision_can_mean_lower_utility",),
    ),
    Numbered(
        "Proposition",
        4,
        "accuracies that force a group out or in",
        ("theory.paper_accuracy_bounds",),
        (f"{_IN_THEORY}test_what_the_paper_says_is_forced_is_forced",),
    ),
    Numbered(
        "Proposition",
        5,
        "with offsets, one group applies in the optimum (as printed, false: it must be able to apply, and where others "
        "cannot be shut out, several may)",
        ("theory.strategic_optimum",),
        (
            f"{_IN_THEORY}test_one_applying_group_is_optimal",
            f"{_IN_THEORY}test_the_most_accurate_group_need_not_apply_and_the_optimum_is_another",
            f"{_IN_THEORY}test_more_than_one_group_below_the_cost_applies_in_the_optimum_where_another_must_be_let_in",
        ),
    ),
    Numbered(
        "Proposition",
        6,
        "independence gives the order of base rates (as printed, false: it takes equal true-positive rates too)",
        ("theory.parity_precision",),
        (
            f"{_IN_THEORY}test_equal_selection_rates_alone_do_not_give_the_order",
            f"{_IN_THEORY}test_what_does_give_the_order",
        ),
    ),
    Numbered(
        "Corollary",
        1,
        "between these accuracies application is free (as printed, false)",
        ("theory.paper_accuracy_bounds", "theory.application_region"),
        (
            f"{_IN_THEORY}test_not_everything_between_the_papers_bounds_is_free",
            f"{_IN_THEORY}test_the_exact_regions_are_exact",
        ),
    ),
    Numbered(
        "Corollary",
        2,
        "under a calibrated score application is a step in the threshold (up to the group's largest score)",
        (f"{_CURVES}.application_intervals",),
        (f"{_IN_CURVES}test_a_calibrated_group_applies_on_one_interval_that_ends_at_its_largest_score",),
    ),
    Numbered(
        "Corollary",
        3,
        "under mutual calibration groups come in by a fixed order (while someone of each is selected)",
        (f"{_CURVES}.application_order",),
        (
            f"{_IN_THEORY}test_under_mutual_calibration_groups_come_in_by_their_order_while_all_have_someone_selected",
            f"{_IN_THEORY}test_once_the_threshold_passes_its_largest_score_a_group_drops_out_and_the_order_breaks",
        ),
    ),
    Numbered(
        "Corollary",
        4,
        "a calibrated group with a base rate of at least the cost always applies (while someone of it is selected)",
        (f"{_CURVES}.application_intervals", "theory.sufficient_subsidy"),
        (f"{_IN_CURVES}test_a_calibrated_group_whose_base_rate_reaches_the_cost_applies_from_the_lowest_threshold",),
    ),
    Numbered(
        "Corollary",
        5,
        "any groups below the cost can be blocked without a change elsewhere (by selecting everybody of them)",
        ("theory.block_groups",),
        (
            f"{_IN_THEORY}test_any_groups_can_be_blocked_while_all_others_are_judged_as_before",
            f"{_IN_THEORY}test_offsets_of_minus_infinity_as_in_the_papers_proof_leave_the_blocked_without_a_precision",
        ),
    ),
    Numbered(
        "Lemma",
        1,
        "a score is calibrated iff precision never falls with the threshold",
        ("theory.is_calibrated_score", f"{_CURVES}.is_calibrated"),
        (f"{_IN_CURVES}test_the_score_is_calibrated_iff_precision_never_falls_as_the_threshold_rises",),
    ),
    Numbered(
        "Lemma",
        2,
        "a calibrated probability is a calibrated score",
        ("theory.is_calibrated_probability",),
        (f"{_IN_THEORY}test_a_calibrated_probability_is_a_calibrated_score",),
    ),
    Numbered(
        "Lemma",
        3,
        "a monotone score is calibrated",
        ("theory.is_monotone_score",),
        (f"{_IN_THEORY}test_a_monotone_score_is_calibrated",),
    ),
    Numbered(
        "Lemma",
        4,
        "a calibrated score need not be monotone",
        ("theory.is_monotone_score", "datasets.make_calibrated_score"),
        (f"{_IN_THEORY}test_the_papers_calibrated_score_is_not_monotone",),
    ),
    Numbered(
        "Figure",
        1,
        "the application process",
        (f"{_FIGURES}.concepts.process_data", f"{_FIGURES}.concepts.draw_process"),
        (f"{_IN_FIGURES}test_every_figure_is_drawn_and_the_same_data_give_the_same_files",),
    ),
    Numbered(
        "Figure",
        2,
        "precision for a high and a low base rate",
        (f"{_FIGURES}.concepts.base_rate_data", f"{_FIGURES}.concepts.draw_base_rate"),
        (f"{_IN_FIGURES}test_figure_two_has_the_papers_thresholds_and_precisions",),
    ),
    Numbered(
        "Figure",
        3,
        "self-selective distributions",
        (f"{_FIGURES}.concepts.mixture_data", f"{_FIGURES}.concepts.draw_mixture"),
        (
            f"{_IN_FIGURES}test_figure_three_shows_densities",
            f"{_IN_FIGURES}test_figure_three_draws_the_groups_that_stay_away_dashed",
        ),
    ),
    Numbered(
        "Figure",
        4,
        "precision curves of ten groups",
        (f"{_FIGURES}.populations.precision_curves_data", f"{_FIGURES}.populations.draw_precision_curves"),
        (
            f"{_IN_FIGURES}test_figure_four_has_groups_come_in_where_the_paper_has_them",
            f"{_IN_FIGURES}test_figure_four_numbers_groups_by_base_rate_as_the_authors_do",
        ),
    ),
    Numbered(
        "Figure",
        5,
        "social cost",
        (f"{_FIGURES}.results.social_cost_data", f"{_FIGURES}.results.draw_social_cost"),
        (f"{_IN_FIGURES}test_figure_five_shows_the_social_cost_of_the_store",),
    ),
    Numbered(
        "Figure",
        6,
        "accuracy and precision by group on bank data",
        (f"{_FIGURES}.results.by_group_data", f"{_FIGURES}.results.draw_by_group"),
        (
            f"{_IN_FIGURES}test_figure_six_shows_every_group_by_name",
            "reproduction/test_methods.py::test_under_strat_x_every_group_has_a_precision_also_those_that_are_kept_out",
        ),
    ),
    Numbered(
        "Figure",
        7,
        "regions of application",
        (f"{_FIGURES}.concepts.region_data", f"{_FIGURES}.concepts.draw_regions"),
        (f"{_IN_FIGURES}test_figure_seven_has_regions_that_the_paper_leaves_free",),
    ),
    Numbered(
        "Figure",
        8,
        "a calibrated score that is not monotone",
        (f"{_FIGURES}.concepts.calibrated_data", f"{_FIGURES}.concepts.draw_calibrated"),
        (f"{_IN_FIGURES}test_figure_eight_follows_its_formulas",),
    ),
    Numbered(
        "Figure",
        9,
        "the sigmoid of smooth applications",
        ("deciding.behaviour.smooth_applies", f"{_FIGURES}.concepts.sigmoid_data", f"{_FIGURES}.concepts.draw_sigmoid"),
        (f"{_IN_FIGURES}test_figure_nine_passes_through_one_half_at_zero_on_a_domain_that_shifts_with_the_cost",),
    ),
    Numbered(
        "Figure",
        10,
        "assumed and induced accuracy of a naive classifier",
        (f"{_FIGURES}.populations.assumed_induced_data", f"{_FIGURES}.populations.draw_assumed_induced"),
        (
            f"{_IN_FIGURES}test_figures_ten_and_eleven_show_what_the_paper_saw",
            f"{_IN_THEORY}test_assumed_accuracy_can_be_right_too_high_or_too_low",
        ),
    ),
    Numbered(
        "Figure",
        11,
        "what a semi-strategic classifier cannot reach",
        (f"{_FIGURES}.populations.ordering_data", f"{_FIGURES}.populations.draw_ordering"),
        (
            f"{_IN_FIGURES}test_figures_ten_and_eleven_show_what_the_paper_saw",
            f"{_IN_THEORY}test_no_threshold_on_the_naive_score_reaches_what_another_score_does",
        ),
    ),
)


def numbering_table() -> str:
    """All of them as a table in Markdown: number, what it says, function, test.

    Examples
    --------
    >>> print(numbering_table().splitlines()[4].split(" | ")[0])
    | Proposition 1
    """
    lines = ["| in the paper | what it says | function | test |", "|---|---|---|---|"]
    for entry in NUMBERED:
        functions = "<br>".join(f"`{name}`" for name in entry.functions)
        tests = "<br>".join(f"`{name}`" for name in entry.tests)
        lines.append(f"| {entry.name} | {entry.says} | {functions} | {tests} |")
    return "\n".join(lines)
