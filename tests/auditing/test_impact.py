"""Impact ratios: selection rates over the highest, by group and by intersection."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.stats.contingency import relative_risk

from selfselect import PublishedStatistics, audit
from selfselect.auditing.impact import impact_ratios
from selfselect.counting.counts import COUNT_NAMES


def passing(rates, size=100):
    """As many people of each group, of whom a given number passes."""
    y = np.ones(size * len(rates))
    passed = np.concatenate([np.arange(size) < n for n in rates.values()])
    return PublishedStatistics.from_predictions(y, passed, sensitive_features=np.repeat(list(rates), size))


def test_ratios_and_intervals_of_two_categories_are_those_of_scipys_relative_risk():
    for selected in (30, 45):
        frame = impact_ratios(passing({"A": 50, "B": selected})).set_index("category")
        theirs = relative_risk(selected, 100, 50, 100)
        interval = theirs.confidence_interval(0.95)
        ours = frame.loc["B", ["impact_ratio", "impact_ratio_low", "impact_ratio_high"]]
        assert ours.tolist() == pytest.approx([theirs.relative_risk, interval.low, interval.high])
        assert frame.loc["A", ["impact_ratio_low", "impact_ratio_high"]].isna().all()


def test_exactly_four_fifths_is_not_under():
    for n, n_top, top in itertools.product((5, 35, 45, 105), (7, 15, 110), range(1, 8)):
        wanted = Fraction(4, 5) * Fraction(top, n_top) * n
        for selected in {math.floor(wanted), math.ceil(wanted)}:
            table = PublishedStatistics.from_counts(
                pd.DataFrame([(n, n, selected, selected), (n_top, n_top, top, top)], columns=COUNT_NAMES)
            )
            row = impact_ratios(table).iloc[0]
            if selected * n_top <= top * n and not row["set_apart"]:
                assert row["under_four_fifths"] == (selected < wanted)


@pytest.mark.parametrize(("n_groups", "size", "rate"), [(3, 100, 0.3), (40, 100, 0.8), (40, 500, 0.95), (45, 30, 0.5)])
def test_with_equal_rates_few_tables_have_an_interval_below_one(n_groups, size, rate):
    rng, trials, below = np.random.default_rng(2), 150, 0
    for _ in range(trials):
        n = rng.integers(size // 2, size * 3 // 2, n_groups)
        x = rng.binomial(n, rate)
        table = PublishedStatistics.from_counts(pd.DataFrame(np.stack([n, n, x, x], axis=1), columns=COUNT_NAMES))
        below += (impact_ratios(table)["impact_ratio_high"] < 1).any()
    assert below / trials <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / trials)


def test_nobody_and_everybody_have_intervals_with_some_width():
    frame = impact_ratios(passing({"A": 100, "B": 100, "C": 0})).set_index("category")
    assert frame.loc["C", "impact_ratio"] == 0
    assert frame.loc["C", "impact_ratio_low"] == 0 < frame.loc["C", "impact_ratio_high"] < 0.15
    assert frame.loc["B", "impact_ratio_low"] < 1 < frame.loc["B", "impact_ratio_high"]


def test_small_categories_are_set_apart_and_unknown_ones_are_not_compared():
    z = ["A"] * 500 + ["B"] * 480 + ["tiny"] * 10 + ["Unknown"] * 10
    passed = [1] * 250 + [0] * 250 + [1] * 240 + [0] * 240 + [1] * 10 + [1] * 10
    frame = impact_ratios(PublishedStatistics.from_predictions(np.ones(1000), passed, sensitive_features=z))
    frame = frame.set_index("category")
    assert frame["highest"].idxmax() in ("A", "B")
    assert frame["set_apart"].to_dict() == {"A": False, "B": False, "Unknown": False, "tiny": True}
    assert frame.loc["tiny", "impact_ratio"] == 2
    assert frame.loc["Unknown", "unknown"]
    assert np.isnan(frame.loc["Unknown", "impact_ratio"])
    result = audit(np.ones(1000), y_pred=passed, sensitive_features=z, cost=0.5).to_dict()["impact_ratios"]
    assert [table["unknown"] for table in result["tables"]] == [10]


def test_several_columns_are_compared_on_their_own_and_together():
    rng = np.random.default_rng(1)
    z = pd.DataFrame({"sex": rng.choice(["f", "m"], 600), "race": rng.choice(["x", "y", None], 600, p=[0.5, 0.4, 0.1])})
    passed = rng.random(600) < np.where(z["sex"] == "f", 0.3, 0.5)
    result = audit(np.ones(600), y_pred=passed, sensitive_features=z, cost=0.5, missing="own_group")
    frame = result.impact_ratios()
    assert list(dict.fromkeys(frame["by"])) == ["sex", "race", "sex / race"]
    by_sex = frame[frame["by"] == "sex"].set_index("category")
    rates = pd.Series(passed).groupby(z["sex"]).mean()
    assert by_sex["selection_rate"].to_dict() == pytest.approx(rates.to_dict())
    assert by_sex.loc["f", "impact_ratio"] == pytest.approx(rates["f"] / rates["m"])
    tables = {table["by"]: table for table in result.to_dict()["impact_ratios"]["tables"]}
    missing = int(z["race"].isna().sum())
    assert [tables[by]["unknown"] for by in ("sex", "race", "sex / race")] == [0, missing, missing]


def test_weighted_people_count_as_many_as_they_are_worth():
    y, passed, z = np.ones(200), np.r_[np.arange(100) < 30, np.arange(100) < 50], np.repeat(["B", "A"], 100)
    plain, equal = (
        audit(y, y_pred=passed, sensitive_features=z, cost=0.5, sample_weight=w).impact_ratios() for w in (None, y * 9)
    )
    columns = ["impact_ratio", "impact_ratio_low", "impact_ratio_high"]
    pd.testing.assert_frame_equal(plain[columns], equal[columns])
    uneven = audit(y, y_pred=passed, sensitive_features=z, cost=0.5, sample_weight=np.tile([1.0, 9.0], 100))
    wide = uneven.impact_ratios().set_index("category").loc["B"]
    narrow = plain.set_index("category").loc["B"]
    assert (
        wide["impact_ratio_high"] - wide["impact_ratio_low"] > narrow["impact_ratio_high"] - narrow["impact_ratio_low"]
    )


def test_nobody_to_compare_with_is_undefined():
    assert impact_ratios(passing({"A": 0, "B": 0}))["impact_ratio"].isna().all()


def test_no_interval_reaches_what_no_rate_could_give():
    table = PublishedStatistics.from_predictions(
        [1] * 600, [1] * 303 + [0] * 297, sensitive_features=["many"] * 596 + ["few"] * 4
    )
    few = impact_ratios(table).set_index("category").loc["few"]
    assert few["impact_ratio"] == 0
    assert few["impact_ratio_high"] < 2.3  # a rate of 1 over the lower end of 303 of 596


@pytest.mark.parametrize("names", ["AB", "BA"])
def test_of_equal_rates_that_of_most_people_is_the_highest(names):
    small, large = names
    z, passed = [small] * 10 + [large] * 40, [1, 0] * 25
    made = audit(passed, y_pred=passed, sensitive_features=z, cost=0.5).impact_ratios().set_index("category")
    assert made.loc[large, "highest"]
    assert not made.loc[small, "highest"]
