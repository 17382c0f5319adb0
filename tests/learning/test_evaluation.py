"""Evaluation, against a slow one that goes classifier by classifier and group by group."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta
from sklearn.linear_model import LogisticRegression

from selfselect.behaviour import LogitResponse
from selfselect.constraints import BaseRateOrder, Constraints, DemographicParity, TruePositiveRateParity
from selfselect.counting import GroupCounts
from selfselect.learning import TrainingTerms, accuracy_lower_bound, evaluate_counts, violation_at_thresholds
from selfselect.learning.evaluation import NOBODY_APPLIES, evaluate_thresholds
from selfselect.publishing import LowerBound, ThresholdCurves

GROUPS = pd.Index(list("abcde"))
COSTS = np.array([0.5, 0.6, 0.4, 0.7, 0.5])
REQUIRED = np.array([True, False, True, False, False])
PARITY = (BaseRateOrder(), DemographicParity(0.2), TruePositiveRateParity(0.3))
TERMS = {
    "nothing": TrainingTerms(GROUPS, COSTS),
    "a margin": TrainingTerms(GROUPS, COSTS, 0.1),
    "a lower bound": TrainingTerms(GROUPS, COSTS, 0.1, statistic=LowerBound(0.7)),
    "more than any group can clear": TrainingTerms(GROUPS, COSTS, 1.0),
    "required groups": TrainingTerms(GROUPS, COSTS, 0.1, Constraints(REQUIRED)),
    "a limit of the social cost": TrainingTerms(GROUPS, COSTS, 0.05, Constraints(max_social_cost=0.3)),
    "a least selection rate": TrainingTerms(GROUPS, COSTS, 0.05, Constraints(min_selection_rate=0.4)),
    "parity": TrainingTerms(GROUPS, COSTS, 0.1, Constraints(between_groups=PARITY)),
    "all of it": TrainingTerms(GROUPS, COSTS, 0.02, Constraints(REQUIRED, 0.3, 0.3, between_groups=PARITY)),
    "shares": TrainingTerms(GROUPS, COSTS, 0.1, Constraints(REQUIRED, 0.3, 0.3), LogitResponse(0.1)),
}


def slow_accuracy(correct, n, fitted):
    if n == 0:
        return -math.inf
    smoothed = (correct + 1) / (n + 2)
    return correct / n - 2 * math.sqrt(smoothed * (1 - smoothed) / n) - fitted / n


def slow_evaluation(terms, n, P, PP, TP, fitted):
    """Violation, value, accuracy and shortfall of one classifier, from lists of counts."""
    groups = range(len(n))

    def shares(margin):
        """Share of each group that applies."""
        applying = {}
        for z in groups:
            if PP[z] == 0:
                continue
            precision, cost = TP[z] / PP[z], terms.costs[z]
            bound = precision
            if isinstance(terms.statistic, LowerBound) and TP[z] > 0:
                bound = min(bound, float(beta.ppf(1 - terms.statistic.confidence, TP[z], PP[z] - TP[z] + 1)))
            if isinstance(terms.behaviour, LogitResponse):
                applying[z] = 1 / (1 + math.exp(-(precision - cost - margin) / terms.behaviour.scale))
            elif bound >= cost - 1e-12 and precision >= cost + margin - 1e-12:
                applying[z] = 1
        return applying

    def correct(applying):
        return sum(share * (TP[z] + (n[z] - P[z]) - (PP[z] - TP[z])) for z, share in applying.items())

    def people(applying):
        return sum(share * n[z] for z, share in applying.items())

    def value_of(applying):
        """Accuracy, less 1 if most of no group applies."""
        most = any(share >= 0.5 for share in applying.values())
        return slow_accuracy(correct(applying), people(applying), fitted) - (not most)

    without_margin, with_margin = shares(0.0), shares(terms.margin)
    value = min(value_of(some) for some in (without_margin, with_margin))
    if without_margin and not with_margin:
        value = value_of(without_margin) - 1
    violation = 0.0 if without_margin or with_margin else NOBODY_APPLIES
    violation += sum(terms.required[z] and with_margin.get(z, 0) < 0.5 for z in groups)
    stay_away = sum(P[z] * (1 - with_margin.get(z, 0)) for z in groups) / sum(P)
    violation += max(0.0, stay_away - terms.constraints.max_social_cost)
    shortfall = sum(max(0.0, terms.constraints.min_selection_rate - PP[z] / n[z]) for z in groups)
    violation += shortfall
    if terms.between_groups:
        row = GroupCounts(np.array(n), np.array(P), np.array([PP]), np.array([TP]))
        violation += sum(float(constraint.violation(row, np.ones(1))[0]) for constraint in terms.between_groups)
        value -= 0.5 * any(PP[z] < 5 for z in with_margin)
    return violation, value, correct(without_margin) / people(without_margin) if without_margin else math.nan, shortfall


def people_with_scores(seed, n_rows=300):
    rng = np.random.default_rng(seed)
    codes = np.r_[np.arange(5), rng.integers(0, 5, n_rows - 5)]
    x = rng.normal(size=n_rows)
    y = rng.uniform(size=n_rows) < 1 / (1 + np.exp(-2 * x - codes / 3 + 1))
    return y, np.round(x, 1), codes


@pytest.mark.parametrize("name", TERMS)
@pytest.mark.parametrize("seed", range(3))
def test_counts_are_evaluated_as_by_a_slow_evaluation(name, seed):
    terms, rng = TERMS[name], np.random.default_rng(seed)
    n = rng.integers(10, 60, 5)
    P = rng.integers(1, n)
    TP = rng.integers(0, P + 1, (300, 5)) * (rng.uniform(size=(300, 5)) < 0.8)
    PP = TP + rng.integers(0, (n - P) // 2 + 1, (300, 5)) * (rng.uniform(size=(300, 5)) < 0.5)
    PP[:5], TP[:5] = 0, 0
    evaluation = evaluate_counts(terms, GroupCounts(n, P, PP, TP), fitted_weights=3.0)
    slow = [
        slow_evaluation(terms, n.tolist(), P.tolist(), a, b, 3.0) for a, b in zip(PP.tolist(), TP.tolist(), strict=True)
    ]
    violation, value, accuracy, shortfall = (list(column) for column in zip(*slow, strict=True))
    assert evaluation.violation.tolist() == pytest.approx(violation, abs=1e-8)
    assert evaluation.value.tolist() == pytest.approx(value)
    assert evaluation.accuracy.tolist() == pytest.approx(accuracy, nan_ok=True)
    assert evaluation.shortfall.tolist() == pytest.approx(shortfall, abs=1e-8)
    best = max(range(300), key=lambda i: (-round(shortfall[i], 9), -violation[i], value[i]))
    assert (evaluation.violation[evaluation.best()], evaluation.value[evaluation.best()]) == pytest.approx(
        (violation[best], value[best]), abs=1e-8
    )


@pytest.mark.parametrize("name", TERMS)
@pytest.mark.parametrize("weighted", [False, True])
def test_thresholds_are_evaluated_as_the_counts_at_each_of_them(name, weighted):
    terms, (y, score, codes) = TERMS[name], people_with_scores(0)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else np.ones(len(y))
    curves = ThresholdCurves.from_codes(y, score, codes, GROUPS, weight if weighted else None)
    evaluation, thresholds, evaluated = evaluate_thresholds(terms, curves, fitted_weights=2.0)
    assert thresholds.tolist() == [-np.inf, *np.unique(score)]
    assert evaluated.tolist() == list(range(len(thresholds)))

    def counts(weight, squares=None):
        PP = [[weight[(codes == z) & (score > t)].sum() for z in range(5)] for t in thresholds]
        TP = [[weight[(codes == z) & (score > t) & y].sum() for z in range(5)] for t in thresholds]
        n, P = ([weight[(codes == z) & some].sum() for z in range(5)] for some in (np.ones(len(y), bool), y))
        return GroupCounts(*map(np.array, (n, P, PP, TP)), squares=squares)

    slow = counts(weight, counts(weight**2) if weighted else None)
    again = evaluate_counts(terms, slow, fitted_weights=2.0)
    for name in ("violation", "value", "accuracy", "shortfall"):
        assert getattr(evaluation, name) == pytest.approx(getattr(again, name), abs=1e-8, nan_ok=True)
    # and the violation at every threshold is exact, of people who see no margin; that nobody applies is none
    seen = evaluate_counts(replace(terms, margin=0.0), slow, 0.0).violation
    assert violation_at_thresholds(terms, curves) == pytest.approx(seen % NOBODY_APPLIES, abs=1e-6)


def test_parity_of_thousands_of_groups_is_evaluated_at_as_many_thresholds_as_a_table_holds():
    rng, parity = np.random.default_rng(0), DemographicParity(0.2)
    y, score, codes = rng.uniform(size=3000) < 0.5, rng.normal(size=3000), np.arange(3000)
    curves = ThresholdCurves.from_codes(y, score, codes, pd.Index(range(3000)))
    terms = TrainingTerms(curves.groups, np.full(3000, 0.5), constraints=Constraints(between_groups=(parity,)))
    evaluation, thresholds, evaluated = evaluate_thresholds(terms, curves, 1.0)
    assert len(evaluated) == 1333  # not 2,000 as of few groups: four million cells, and the quotient is not whole
    assert (evaluated[0], evaluated[-1]) == (0, len(thresholds) - 1)
    assert set(np.diff(evaluated)) == {2, 3}
    for i in (0, 600, 1332):
        selected = score > thresholds[evaluated[i]]
        alone = GroupCounts(np.ones(3000), y.astype(float), 1.0 * selected[None], 1.0 * (selected & y)[None])
        assert evaluation.violation[i] % NOBODY_APPLIES == parity.violation(alone, np.ones(1))[0]


def test_limits_are_met_when_they_are_reached_exactly():
    n, P = np.array([10, 10]), np.array([3, 7])
    counts = GroupCounts(n, P, np.array([[0, 7]]), np.array([[0, 7]]))
    for limit, met in ((0.3, True), (0.29, False)):  # 1 - .7 is not .3 in floating point
        terms = TrainingTerms(GROUPS[:2], np.array([0.5, 0.5]), constraints=Constraints(max_social_cost=limit))
        assert (evaluate_counts(terms, counts, 0.0).violation[0] == 0) == met


def test_the_lower_bound_takes_back_what_fitting_noise_gains():
    rng = np.random.default_rng(0)
    gains = []
    for _ in range(20):
        X, y = rng.normal(size=(200, 20)), rng.integers(0, 2, 200)
        correct = (LogisticRegression(C=np.inf).fit(X, y).predict(X) == y).sum()
        gains.append((correct / 200, float(accuracy_lower_bound(correct, 200, fitted_weights=20))))
    fitted, lower_bound = np.mean(gains, axis=0)
    assert lower_bound < 0.5 < 0.55 < fitted  # the truth is one half


def test_one_applicant_has_an_accuracy_and_nobody_has_none():
    assert accuracy_lower_bound([1, 0, 0], [1, 1, 0], 0.0).tolist() == pytest.approx(
        [1 - 2 * math.sqrt(2 / 9), -2 * math.sqrt(2 / 9), -math.inf]
    )
    assert float(accuracy_lower_bound(1, 1, 0.0, errors=0.0)) == 1.0


def test_more_right_answers_than_people_by_rounding_of_huge_weights_still_have_an_accuracy():
    assert float(accuracy_lower_bound(1e16 + 4, 1e16, 0.0)) == pytest.approx(1.0)
