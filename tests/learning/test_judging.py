"""The one judge, against a plain one that goes classifier by classifier and group by group."""

import math
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from selfselect.learning.judging import NOBODY_APPLIES, Verdict, judge_thresholds, lacking_at_thresholds
from sklearn.linear_model import LogisticRegression

from selfselect.counting import GroupCounts
from selfselect.learning import (
    Ask,
    EqualSelectionRates,
    EqualTruePositiveRates,
    OrderByBaseRates,
    cautious,
    judge_counts,
)
from selfselect.publishing import ThresholdCurves

COSTS = np.array([0.5, 0.6, 0.4, 0.7, 0.5])
REQUIRED = np.array([True, False, True, False, False])
TIES = (OrderByBaseRates(), EqualSelectionRates(1.0, 0.2), EqualTruePositiveRates(1.0, 0.3))
ASKS = {
    "nothing": Ask(COSTS),
    "a tolerance": Ask(COSTS, 0.1),
    "as sure as one standard error": Ask(COSTS, "auto"),
    "more than anybody can clear": Ask(COSTS, 1.0),
    "groups that must apply": Ask(COSTS, 0.1, REQUIRED),
    "a limit of the social cost": Ask(COSTS, 0.05, max_social_cost=0.3),
    "a least selection rate": Ask(COSTS, 0.05, min_selection_rate=0.4),
    "ties": Ask(COSTS, 0.1, ties=TIES),
    "all of it": Ask(COSTS, "auto", REQUIRED, 0.3, TIES, min_selection_rate=0.3),
}


def slow_accuracy(correct, n, fitted):
    if n == 0:
        return -math.inf
    smoothed = (correct + 1) / (n + 2)
    return correct / n - 2 * math.sqrt(smoothed * (1 - smoothed) / n) - fitted / n


def slow_judge(ask, n, P, PP, TP, fitted):
    """Violation, value, accuracy and what is lacking of one classifier, from lists of counts."""
    groups = range(len(n))

    def who(tolerance):
        applying = []
        for z in groups:
            if PP[z] == 0:
                continue
            precision = TP[z] / PP[z]
            if tolerance == "auto":  # lower end of Wilson's interval, one standard error wide
                s, m = NormalDist().inv_cdf((1 + 0.6827) / 2), PP[z]
                centre, half = (
                    precision + s**2 / (2 * m),
                    s * math.sqrt(precision * (1 - precision) / m + s**2 / (4 * m**2)),
                )
                if (centre - half) / (1 + s**2 / m) >= ask.costs[z]:
                    applying.append(z)
            elif precision >= ask.costs[z] + tolerance - 1e-12:
                applying.append(z)
        return applying

    def right(applying):
        return sum(TP[z] + (n[z] - P[z]) - (PP[z] - TP[z]) for z in applying)

    def people(applying):
        return sum(n[z] for z in applying)

    barely, surely = who(0.0), who(ask.tolerance)
    value = min(slow_accuracy(right(some), people(some), fitted) for some in (barely, surely))
    if barely and not surely:
        value = slow_accuracy(right(barely), people(barely), fitted) - 1
    violation = 0.0 if barely or surely else NOBODY_APPLIES
    violation += sum(ask.required[z] and z not in surely for z in groups)
    stay_away = sum(P[z] for z in groups if z not in surely) / sum(P)
    violation += max(0.0, stay_away - ask.max_social_cost)
    lacking = sum(max(0.0, ask.min_selection_rate - PP[z] / n[z]) for z in groups)
    violation += lacking
    if ask.ties:
        row = GroupCounts(np.array(n), np.array(P), np.array([PP]), np.array([TP]))
        violation += sum(float(tie.violation(row)[0]) for tie in ask.ties)
        value -= 0.5 * any(PP[z] < 5 for z in surely)
    return violation, value, right(barely) / people(barely) if barely else math.nan, lacking


def people_with_scores(seed, n_rows=300):
    rng = np.random.default_rng(seed)
    codes = np.r_[np.arange(5), rng.integers(0, 5, n_rows - 5)]
    x = rng.normal(size=n_rows)
    y = rng.uniform(size=n_rows) < 1 / (1 + np.exp(-2 * x - codes / 3 + 1))
    return y, np.round(x, 1), codes


@pytest.mark.parametrize("name", ASKS)
@pytest.mark.parametrize("seed", range(3))
def test_verdicts_on_counts_are_those_of_a_plain_judge(name, seed):
    ask, rng = ASKS[name], np.random.default_rng(seed)
    n = rng.integers(10, 60, 5)
    P = rng.integers(1, n)
    TP = rng.integers(0, P + 1, (300, 5)) * (rng.uniform(size=(300, 5)) < 0.8)
    PP = TP + rng.integers(0, (n - P) // 2 + 1, (300, 5)) * (rng.uniform(size=(300, 5)) < 0.5)
    PP[:5], TP[:5] = 0, 0
    verdict = judge_counts(ask, GroupCounts(n, P, PP, TP), fitted_weights=3.0)
    slow = [slow_judge(ask, n.tolist(), P.tolist(), a, b, 3.0) for a, b in zip(PP.tolist(), TP.tolist(), strict=True)]
    violation, value, accuracy, lacking = (list(column) for column in zip(*slow, strict=True))
    assert verdict.violation.tolist() == pytest.approx(violation, abs=1e-8)
    assert verdict.value.tolist() == pytest.approx(value)
    assert verdict.accuracy.tolist() == pytest.approx(accuracy, nan_ok=True)
    assert verdict.lacking.tolist() == pytest.approx(lacking, abs=1e-8)
    ties = [0.0] * 300
    for tie in ask.ties:
        ties = [one + more for one, more in zip(ties, tie.violation(GroupCounts(n, P, PP, TP)).tolist(), strict=True)]
    assert verdict.broken_ties.tolist() == pytest.approx(ties)
    best = max(range(300), key=lambda i: (-round(lacking[i], 9), -violation[i], value[i]))
    assert (verdict.violation[verdict.best()], verdict.value[verdict.best()]) == pytest.approx(
        (violation[best], value[best]), abs=1e-8
    )


@pytest.mark.parametrize("name", ASKS)
@pytest.mark.parametrize("weighted", [False, True])
def test_verdicts_on_thresholds_are_those_on_the_counts_at_each_of_them(name, weighted):
    ask, (y, score, codes) = ASKS[name], people_with_scores(0)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else np.ones(len(y))
    curves = ThresholdCurves.from_codes(y, score, codes, pd.Index(list("abcde")), weight if weighted else None)
    verdict, thresholds, judged = judge_thresholds(ask, curves, fitted_weights=2.0)
    assert thresholds.tolist() == [-np.inf, *np.unique(score)]
    assert judged.tolist() == list(range(len(thresholds)))
    PP = [[weight[(codes == z) & (score > t)].sum() for z in range(5)] for t in thresholds]
    TP = [[weight[(codes == z) & (score > t) & y].sum() for z in range(5)] for t in thresholds]
    n, P = ([weight[(codes == z) & some].sum() for z in range(5)] for some in (np.ones(len(y), bool), y))
    again = judge_counts(ask, GroupCounts(*map(np.array, (n, P, PP, TP))), fitted_weights=2.0)
    for name in ("violation", "broken_ties", "value", "accuracy", "lacking"):
        assert getattr(verdict, name) == pytest.approx(getattr(again, name), abs=1e-8, nan_ok=True)


def test_many_thresholds_are_thinned_only_where_there_are_ties():
    rng = np.random.default_rng(0)
    y, score, codes = rng.uniform(size=5000) < 0.5, rng.normal(size=5000), np.arange(5000) % 5
    curves = ThresholdCurves.from_codes(y, score, codes, pd.Index(range(5)))
    assert len(judge_thresholds(ASKS["a tolerance"], curves, 1.0)[2]) == 5001
    _, thresholds, judged = judge_thresholds(ASKS["ties"], curves, 1.0)
    assert 1900 < len(judged) <= 2000
    assert (judged[0], judged[-1]) == (0, len(thresholds) - 1)


def test_ties_of_thousands_of_groups_are_judged_at_as_many_thresholds_as_a_table_holds():
    rng, tie = np.random.default_rng(0), EqualSelectionRates(1.0, 0.2)
    y, score, codes = rng.uniform(size=3000) < 0.5, rng.normal(size=3000), np.arange(3000)
    curves = ThresholdCurves.from_codes(y, score, codes, pd.Index(range(3000)))
    verdict, thresholds, judged = judge_thresholds(Ask(np.full(3000, 0.5), ties=(tie,)), curves, 1.0)
    assert len(judged) == 1333  # not 2,000 as of few groups: four million cells, and the quotient is not whole
    assert (judged[0], judged[-1]) == (0, len(thresholds) - 1)
    assert set(np.diff(judged)) == {2, 3}
    for i in (0, 600, 1332):
        selected = score > thresholds[judged[i]]
        alone = GroupCounts(np.ones(3000), y.astype(float), 1.0 * selected[None], 1.0 * (selected & y)[None])
        assert verdict.broken_ties[i] == tie.violation(alone)[0]


def test_nobody_is_worse_than_broken_ties_and_a_broken_limit_together():
    n, P = np.array([100, 100]), np.array([50, 10])
    ask = Ask(np.array([0.6, 0.6]), max_social_cost=0.0, ties=TIES)
    counts = GroupCounts(n, P, np.array([[0, 0], [1, 100]]), np.array([[0, 0], [1, 10]]))
    nobody, unequal = judge_counts(ask, counts, 0.0).violation
    assert unequal > 0.5
    assert nobody > unequal


def test_limits_are_met_when_they_are_reached_exactly():
    n, P = np.array([10, 10]), np.array([3, 7])
    counts = GroupCounts(n, P, np.array([[0, 7]]), np.array([[0, 7]]))
    for limit, met in ((0.3, True), (0.29, False)):  # 1 - .7 is not .3 in floating point
        ask = Ask(np.array([0.5, 0.5]), max_social_cost=limit)
        assert (judge_counts(ask, counts, 0.0).violation[0] == 0) == met


def test_the_cautious_accuracy_takes_back_what_fitting_noise_gains():
    rng = np.random.default_rng(0)
    gains = []
    for _ in range(20):
        X, y = rng.normal(size=(200, 20)), rng.integers(0, 2, 200)
        right = (LogisticRegression(C=np.inf).fit(X, y).predict(X) == y).sum()
        gains.append((right / 200, float(cautious(right, 200, fitted_weights=20))))
    fitted, careful = np.mean(gains, axis=0)
    assert careful < 0.5 < 0.55 < fitted  # the truth is one half


def test_one_applicant_has_an_accuracy_and_nobody_has_none():
    assert cautious([1, 0, 0], [1, 1, 0], 0.0).tolist() == pytest.approx(
        [1 - 2 * math.sqrt(2 / 9), -2 * math.sqrt(2 / 9), -math.inf]
    )
    assert float(cautious(1, 1, 0.0, errors=0.0)) == 1.0


def test_more_right_answers_than_people_by_rounding_of_huge_weights_still_have_an_accuracy():
    assert float(cautious(1e16 + 4, 1e16, 0.0)) == pytest.approx(1.0)


def test_nothing_is_lacking_where_every_group_has_its_share_and_a_hair_is_not_forgiven():
    curves = ThresholdCurves.from_codes(
        np.array([True, False] * 6), np.arange(12.0), np.repeat(np.arange(3), 4), pd.Index(list("abc"))
    )
    ask = Ask(np.full(3, 0.5), min_selection_rate=0.5)
    lacking = lacking_at_thresholds(ask, curves)
    # people 0 to 3 are a's, 4 to 7 b's, 8 to 11 c's; above t, of each group so many
    expected = [
        sum(max(0.0, 0.5 - sum(i > t for i in group) / 4) for group in ((0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11)))
        for t in (-1, *range(12))
    ]
    assert lacking.tolist() == pytest.approx(expected)
    assert [value == 0 for value in lacking] == [value == 0 for value in expected]
    thirds = ThresholdCurves.from_codes(
        np.ones(9, bool), np.tile([1.0, 2.0, 3.0], 3), np.repeat(np.arange(3), 3), pd.Index(list("abc"))
    )
    assert (lacking_at_thresholds(Ask(np.full(3, 0.5), min_selection_rate=1 / 3), thirds)[:3] == 0).all()


def test_an_ask_of_some_groups_requires_none_unless_told():
    assert not Ask(COSTS).required.any()
    assert not Ask(COSTS).prescribes_applicants
    assert Ask(COSTS, required=REQUIRED).prescribes_applicants
    assert Ask(COSTS, max_social_cost=0.9).prescribes_applicants
    assert not ASKS["ties"].prescribes_applicants
    assert ASKS["ties"].follows_base_rates
    assert (Ask(COSTS, 0.05).margin(auto=0.5), Ask(COSTS, "auto").margin(auto=0.5)) == (0.05, 0.5)


def test_a_verdict_on_some_classifiers_keeps_everything_that_is_said_of_them():
    verdict = Verdict(*np.arange(15.0).reshape(5, 3))
    assert [part.tolist() for part in vars(verdict.take([2, 0])).values()] == [[3 * i + 2, 3 * i] for i in range(5)]
