import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from drawn import curves_of, scored_people, thresholds_to_try
from own_behaviours import AtLeastTen, Linear, OneThird
from selfselect import BestResponse, PublishedStatistics, Terms, ThresholdCurves
from selfselect.behaviour import BetaBeliefs, LogitResponse, as_decisions
from selfselect.metrics import firm_utility, outcome
from selfselect.publishing import LowerBound

costs = st.sampled_from([0.0, 0.3, 0.5, 0.6, 0.75, 1.0])


@given(scored_people, costs, st.none() | st.lists(st.floats(0.1, 3), min_size=30, max_size=30))
def test_outcomes_over_all_thresholds_equal_those_of_each_threshold(rows, cost, weights):
    weights = None if weights is None else weights[: len(rows)]
    y, score, z, curves = curves_of(rows, sample_weight=weights)
    table = curves.outcomes(cost)
    assert table["threshold"].tolist() == [-np.inf, *sorted(set(score))]
    for row in table.itertuples():
        options = {"threshold": row.threshold, "sensitive_features": z, "sample_weight": weights}
        published = PublishedStatistics.from_scores(y, score, **options)
        expected = outcome(published, published.applies(cost)).to_dict()
        assert {name: getattr(row, name) for name in expected} == pytest.approx(expected, nan_ok=True)
        selected, applies = [s > row.threshold for s in score], published.applies_to(z, cost)
        utility = 2 * row.hired - 0.3 * row.tested
        firm = firm_utility(y, selected, applies=applies, gain=2, price=0.3, sample_weight=weights)
        assert utility == pytest.approx(firm)


@given(scored_people, costs)
def test_application_intervals_cover_exactly_the_thresholds_at_which_a_group_applies(rows, cost):
    y, score, z, curves = curves_of(rows)
    intervals = curves.application_intervals(cost)
    grid = thresholds_to_try(score)
    for group, row in intervals.iterrows():
        when = [t for t in grid if reference.applies(y, [s > t for s in score], z, cost)[group]]
        assert row["applies_from"] == (min(when) if when else np.inf)
        assert all(t < row["applies_until"] for t in when)
        if when:
            steps = curves.to_frame(group)
            runs = np.diff(np.r_[0, [t in when for t in steps["threshold"]], 0])
            assert row["pieces"] == (runs == 1).sum()
        else:
            assert (row["applies_until"], row["pieces"]) == (-np.inf, 0)


@given(scored_people)
def test_the_score_is_calibrated_iff_precision_never_falls_as_the_threshold_rises(rows):
    _, _, _, curves = curves_of(rows)
    for group, calibrated in curves.is_calibrated().items():
        precision = curves.to_frame(group)["precision"].dropna()
        assert calibrated == (np.diff(precision) >= -1e-12).all()


@given(scored_people, costs)
def test_the_best_threshold_of_each_group_is_the_best_at_which_it_applies(rows, cost):
    _, _, _, curves = curves_of(rows)
    best = curves.best_by_group(cost)
    for code, group in enumerate(curves.groups):
        tables = [(t, curves.at(t)) for t in curves.to_frame(group)["threshold"]]
        options = [(table.counts.accuracy[code], -t) for t, table in tables if table.applies(cost)[group]]
        if not options:
            assert best.loc[group].isna().all()
            continue
        accuracy, threshold = max(options)
        assert best.loc[group, "accuracy"] == pytest.approx(accuracy)
        assert best.loc[group, "threshold"] == -threshold


def test_subsidies_count_in_outcomes_and_in_the_best_thresholds():
    rng = np.random.default_rng(3)
    y, score, z = rng.integers(0, 2, 60), rng.integers(0, 9, 60), rng.choice(list("ab"), 60)
    curves = ThresholdCurves.from_scores(y, score, sensitive_features=z)
    costs = {"a": 0.8, "b": 0.5}
    assert curves.outcomes(0.8, {"b": 0.3}).equals(curves.outcomes(costs))
    half = {"a": 0.4, "b": 0.4}
    assert curves.outcomes(0.8, 0.5, subsidy_kind="proportional").equals(curves.outcomes(half))
    assert curves.best_by_group(0.8, 0.5, subsidy_kind="proportional").equals(curves.best_by_group(half))


# ---------------------------------------------------------------------- sums over applicants


SUMS = {
    "correct": lambda y, selected: y == selected,
    "correct_applicants": lambda y, selected: y == selected,
    "applicants": lambda y, selected: np.ones(len(y)),
    "qualified_applicants": lambda y, selected: y,
    "selected_applicants": lambda y, selected: selected,
    "hired_applicants": lambda y, selected: y & selected,
}


def some_people(seed=5, n=60):
    """Scores that tie within and between three groups."""
    random = np.random.default_rng(seed)
    y, score, z = random.random(n) < 0.5, random.integers(0, 9, n).astype(float), random.integers(0, 3, n)
    return y, score, z


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("divided", [False, True])
def test_running_sums_are_sums_over_people_at_every_threshold(weighted, divided):
    y, score, z = some_people()
    weights = np.random.default_rng(6).uniform(0.1, 3, len(y)) if weighted else np.ones(len(y))
    curves = ThresholdCurves.from_scores(y, score, sensitive_features=z, sample_weight=weights if weighted else None)
    random = np.random.default_rng(7)
    shares = random.choice([0.0, 0.25, 0.5, 1.0] if divided else [False, True], len(curves.threshold))
    required = np.array([True, False, True])
    running = curves.running(shares, required)
    assert curves.running(shares).required_groups.tolist() == running.applying_groups.tolist()
    assert running.threshold.tolist() == [-np.inf, *sorted(set(score))]
    for k, threshold in enumerate(running.threshold):
        step = curves.step_at(threshold)
        share, selected = np.asarray(shares[step], dtype=float)[z], score > threshold
        for name, of_people in SUMS.items():
            who = weights if name == "correct" else weights * share
            assert getattr(running, name)[k] == pytest.approx((who * of_people(y, selected)).sum(), abs=1e-9)
        assert running.applying_groups[k] == (shares[step] >= 0.5).sum()
        assert running.required_groups[k] == (shares[step] >= 0.5)[required].sum()
    for name in ("applying_groups", "required_groups"):
        assert getattr(running, name).dtype == np.int64
    if not weighted and not divided:
        assert all(np.issubdtype(getattr(running, name).dtype, np.integer) for name in SUMS)


def test_weights_leave_no_rounding_errors_where_nobody_applies():
    y, z = [1, 1, 1, 1, 0, 1, 1, 1, 1, 0], list("aaaaabbbbb")
    weights = [0.1, 0.2, 0.3, 0.7, 1.1, 0.1, 0.2, 0.3, 0.7, 1.3]
    score = [1, 2, 3, 4, 5, 1.5, 2.5, 3.5, 4.5, 5]
    curves = ThresholdCurves.from_scores(y, score, sensitive_features=z, sample_weight=weights)
    table = curves.outcomes(0.5)
    away = table["applying_groups"] == 0
    assert away.sum() > 2
    assert table.loc[away, "induced_accuracy"].isna().all()
    for name in ("application_rate", "tested", "hired"):
        assert (table.loc[away, name] == 0).all()
    assert (table.loc[away, "social_cost"] == 1).all()
    assert table.loc[~away, "induced_accuracy"].notna().all()
    # a part of a group are applicants, although the group does not count as applying
    few = curves.outcomes_under(Terms(0.5, behaviour=OneThird()))
    assert few["applying_groups"].eq(0).all()
    assert few["application_rate"].to_numpy() == pytest.approx(1 / 3)
    assert few["induced_accuracy"].notna().all()


BEHAVIOURS = [BestResponse("apply"), AtLeastTen(), OneThird(), Linear(), LogitResponse(0.2)]
BEHAVIOURS += [BetaBeliefs({0: 0.1, 1: 0.5, 2: 0.9}, 7), BetaBeliefs(0.5, 7, LogitResponse(0.2))]


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("statistic", [None, LowerBound(0.7)], ids=["precision", "bound"])
def test_under_any_terms_outcomes_of_all_thresholds_equal_those_of_each_threshold(behaviour, statistic):
    y, score, z = some_people()
    curves = ThresholdCurves.from_scores(y, score, sensitive_features=z)
    more = {} if statistic is None else {"statistic": statistic}
    terms = Terms({0: 0.3, 1: 0.4, 2: 0.5}, {1: 0.1}, behaviour=behaviour, **more)
    for row in curves.outcomes_under(terms).itertuples():
        table = curves.at(row.threshold)
        expected = outcome(table, table.shares(terms)).to_dict()
        assert {name: getattr(row, name) for name in expected} == pytest.approx(expected, nan_ok=True)


def test_a_margin_is_cleared_by_the_precision_of_a_yes_or_no_and_added_to_the_cost_of_shares():
    y, score, z = some_people()
    curves = ThresholdCurves.from_scores(y, score, sensitive_features=z)
    sure = Terms(0.3, statistic=LowerBound(0.7))
    assert curves.outcomes_under(sure).equals(curves.outcomes_under(sure, 0.0))
    strict = curves.outcomes_under(sure, 0.25)["applying_groups"].to_numpy()
    for k, threshold in enumerate(curves.outcomes(0.3)["threshold"]):
        table = curves.at(threshold)
        assert strict[k] == (table.decisions(sure) & (table.precision >= 0.55)).sum()
    assert 0 < strict.sum() < curves.outcomes_under(sure)["applying_groups"].sum()
    logit = Terms(0.3, behaviour=LogitResponse(0.1))
    assert curves.step_shares(logit, 0.25).tolist() == curves.step_shares(logit.at_cost(0.55)).tolist()


# ---------------------------------------------------------------------- intervals and best thresholds


def test_groups_are_ordered_by_the_threshold_from_which_they_apply():
    # c applies from 1 on; a and d from the start; b never, nor e
    y = [1, 1, 0, 0, 0, 1, 1, 1, 0, 0]
    score = [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0]
    curves = ThresholdCurves.from_scores(y, score, sensitive_features=list("aabbccddee"))
    order = curves.application_order(0.75)
    assert order.to_dict() == {"a": -np.inf, "d": -np.inf, "c": 1.0, "b": np.inf, "e": np.inf}
    assert order.index.tolist() == list("adcbe")
    assert order.name == "applies_from"
    paid = curves.application_order(0.75, {"c": 0.5}, subsidy_kind="proportional")
    assert paid.index.tolist() == list("acdbe")
    # 0.3 of the cost leave 0.525 of it, 0.3 less than the cost is 0.45, and half of c is qualified
    assert curves.application_order(0.75, {"c": 0.3}, subsidy_kind="proportional").index.tolist() == list("adcbe")
    assert curves.application_order(0.75, {"c": 0.3}).index.tolist() == list("acdbe")


def test_best_thresholds_are_the_lowest_of_equal_accuracy():
    # precision 3/5, 2/4, 2/3, 1/2, 1; accuracy 3/5, 2/5, 3/5, 2/5, 3/5
    y, score = [1, 0, 1, 0, 1], [1.0, 2.0, 3.0, 4.0, 5.0]
    curves = ThresholdCurves.from_scores(y, score)
    best = curves.best_by_group(0.6)
    assert best.loc["everyone"].to_dict() == {
        "accuracy": 0.6, "threshold": -np.inf, "selected": 5, "true_positives": 3,
    }  # fmt: skip
    assert (best.dtypes == np.float64).all()
    assert curves.best_by_group(0.65, min_selected=3)["threshold"].tolist() == [2.0]
    assert curves.best_by_group(0.65, min_selected=4).isna().all(axis=None)
    light = ThresholdCurves.from_scores(y, score, sample_weight=[0.125] * 5)  # less than one person in all
    assert light.best_by_group(0.65)["threshold"].tolist() == [2.0]
    with pytest.raises(ValueError, match="min_selected is NaN"):
        curves.best_by_group(0.6, min_selected=np.nan)


def test_best_steps_are_the_most_accurate_allowed_ones():
    y, score, z = some_people()
    curves = ThresholdCurves.from_scores(y, score, sensitive_features=z)
    right = curves.true_positives + np.bincount(z, ~y)[curves.group] - (curves.selected - curves.true_positives)
    applies = as_decisions(curves.step_shares(Terms({0: 0.4, 1: 0.5, 2: 0.6})))
    for allowed in (applies, applies & (curves.selected >= 5), np.random.default_rng(8).random(len(right)) < 0.1):
        best = curves.best_steps(allowed)
        for group in range(3):
            own = np.flatnonzero(allowed & (curves.group == group))
            assert best[group] == (max(own, key=lambda step: (right[step], -step)) if len(own) else -1)


def test_an_uninformative_score_is_calibrated_whatever_the_weights():
    # 3 of 10 by weight at every score: precision is .3 at every threshold but for rounding
    y, score = np.tile([1, 0], 7), np.repeat(np.arange(7.0), 2)
    for scale in (0.1, 1e-3, 1e3):
        weights = np.tile([0.3, 0.7], 7) * scale
        assert ThresholdCurves.from_scores(y, score, sample_weight=weights).is_calibrated().all()
    uneven = np.repeat(np.random.default_rng(0).random(7) * 1e6, 2)
    assert ThresholdCurves.from_scores(y, score, sample_weight=np.tile([0.3, 0.7], 7) * uneven).is_calibrated().all()
    weights = np.tile([0.3, 0.7], 7)
    weights[-1] += 1e-6
    assert not ThresholdCurves.from_scores(y, score, sample_weight=weights).is_calibrated().any()
