"""Verdicts on the paper's claims about its experiments."""

import pytest

from invented import invented
from selfselect.reproduction import Plan, Store
from selfselect.reproduction.paper.claims import CORRECTED, FAILS, HOLDS, UNDECIDED
from selfselect.reproduction.paper.experiments import judge_experiments


def test_verdicts_follow_the_numbers(whole_store):
    with Store(whole_store) as store:
        results_ = store.results()
    verdicts = {verdict.claim: verdict for verdict in judge_experiments(results_)}
    assert verdicts["Under strat_x the number of applying groups is close to one."].verdict == HOLDS
    assert verdicts["There is no evidence of overfitting."].verdict == HOLDS  # training and test counts are the same
    assert verdicts["Under strat_x the social cost is high."].verdict == FAILS  # 40 of 90 qualified stay away
    order = verdicts["The power of strat_x pushes the order of precisions away from base rates."]
    assert "In 270 of 270 fits" in order.evidence
    assert order.verdict == UNDECIDED  # where only one group has anybody selected there is no order to push away
    with pytest.raises(ValueError, match="no result of strat_order"):
        judge_experiments([result for result in results_ if result.cell.method != "strat_order"])


NAIVE = "Naive learning is clearly suboptimal, and in some settings nobody applies at all."
BEST = "Across all settings, strat_x has the highest induced accuracy."
ONE_GROUP = "Under strat_x the number of applying groups is close to one."
SEMI = "The semi-strategic learner does rather well, but inconsistently."
RESTRICTED = "Leaving out the group reduces accuracy, and parity reduces it further."
PARITY_ORDER = "Parity approximately enforces the order of base rates (large rank r²)."
POWER_ORDER = "The power of strat_x pushes the order of precisions away from base rates."
SOCIAL_COST = "Under strat_x the social cost is high."
KIND = "At low costs strat_no_group has favourable social costs, even lower than naive."
REMEDY = "Accuracy comes at a social cost, which statistical parity does not mitigate."
OVERFITTING = "There is no evidence of overfitting."


def judged(first, counts_of, cells=None):
    """Verdicts where ``counts_of(cell)`` says how many of each group are selected, and how many of them rightly."""
    made = [invented(first, cell, *counts_of(cell)) for cell in cells or Plan(splits=2).cells()]
    return {verdict.claim: verdict for verdict in judge_experiments(made)}


def test_where_nobody_applies_claims_about_accuracy_cannot_be_decided_and_nothing_passes_by_chance(small_results):
    verdicts = judged(small_results[0], lambda cell: ([40, 40], [4, 4]))  # precisions of .1
    for claim in (NAIVE, BEST, SEMI, RESTRICTED, OVERFITTING):
        assert verdicts[claim].verdict == UNDECIDED
        assert "applies" in verdicts[claim].evidence
    for claim in (PARITY_ORDER, POWER_ORDER):  # both precisions are the same
        assert verdicts[claim].verdict == UNDECIDED
    assert verdicts[ONE_GROUP].verdict == FAILS  # none is not one
    assert verdicts[SOCIAL_COST].verdict == HOLDS  # everybody stays away
    assert verdicts[KIND].verdict == FAILS
    assert "nan" not in " ".join(verdict.evidence for verdict in verdicts.values())


def test_where_nobody_is_selected_there_is_no_order(small_results):
    verdicts = judged(small_results[0], lambda cell: ([0, 0], [0, 0]))
    assert verdicts[PARITY_ORDER].verdict == verdicts[POWER_ORDER].verdict == UNDECIDED
    assert "In 54 of 54 fits there is no order" in verdicts[POWER_ORDER].evidence
    assert "two groups have anybody selected" in verdicts[PARITY_ORDER].evidence
    assert "nan" not in " ".join(verdict.evidence for verdict in verdicts.values())


def test_the_order_under_strat_x_is_judged_where_there_is_one(small_results):
    def ordered(cell):  # base rates are .5 and .4
        return [40, 40], [36, 30]

    def turned(cell):
        return [40, 40], ([30, 36] if cell.method == "strat_x" else [36, 30])

    assert judged(small_results[0], ordered)[POWER_ORDER].verdict == FAILS
    assert judged(small_results[0], turned)[POWER_ORDER].verdict == HOLDS


def test_without_low_costs_what_happens_there_cannot_be_decided(small_results):
    cells = Plan(costs=(0.8,), splits=2).cells()
    verdict = judged(small_results[0], lambda cell: ([40, 40], [36, 30]), cells)[KIND]
    assert verdict.verdict == UNDECIDED
    assert "no result at a cost of up to 0.7" in verdict.evidence


def test_strat_x_is_best_only_where_it_can_be_compared(small_results):
    best, worse, away = ([40, 40], [38, 38]), ([40, 40], [34, 34]), ([40, 40], [4, 4])

    def everywhere(cell):
        return best if cell.method == "strat_x" else worse

    def sometimes_without_applicants(cell):
        return away if cell.method == "strat_x" and cell.cost == 0.8 else everywhere(cell)

    def once_behind(cell):
        return worse if cell.method == "strat_x" and cell.cost == 0.8 else best

    first = small_results[0]
    assert judged(first, everywhere)[BEST].verdict == HOLDS
    unclear = judged(first, sometimes_without_applicants)[BEST]
    assert unclear.verdict == UNDECIDED
    assert "In 3 settings nobody applies under strat_x" in unclear.evidence
    assert judged(first, once_behind)[BEST].verdict == FAILS
    single = judged(first, once_behind, Plan(splits=1).cells())[BEST]
    assert single.verdict == UNDECIDED
    assert "no standard error" in single.evidence


def test_within_one_standard_error_of_the_best_is_best_with_the_correction(small_results):
    def counts(cell):
        right = {"strat_x": 36 + 2 * cell.split, "semi": 37 + cell.split}.get(cell.method, 34)
        return [40, 40], [right, right]

    assert judged(small_results[0], counts)[BEST].verdict == CORRECTED


def test_settings_in_which_nobody_applies_do_not_speak_against_a_claim(small_results):
    right = {"strat_x": 38, "strat_no_group": 36, "strat_parity": 34}

    def counts(cell):
        hits = 4 if cell.cost == 0.8 else right.get(cell.method, 33)
        return [40, 40], [hits, hits]

    cells = Plan(costs=(0.7, 0.75, 0.8), splits=2).cells()
    verdict = judged(small_results[0], counts, cells)[RESTRICTED]
    assert verdict.verdict == HOLDS
    assert "lower in 6 of 6 settings" in verdict.evidence


def test_one_method_without_applicants_is_left_out_of_the_verdict_on_overfitting_and_named(small_results):
    def counts(cell):
        return [40, 40], ([4, 4] if cell.method == "naive" else [36, 36])

    verdict = judged(small_results[0], counts)[OVERFITTING]
    assert verdict.verdict == HOLDS
    assert "naive undefined, semi +0.0" in verdict.evidence
