"""Why a group's precision is low: its base rate, or what the screen adds."""

import numpy as np
import pandas as pd
import pytest

from selfselect import PublishedStatistics
from selfselect.auditing.decomposition import precision_gaps


def table(**groups):
    frame = pd.DataFrame(groups, index=["n", "positives", "selected", "true_positives"]).T
    return PublishedStatistics.from_counts(frame)


def test_the_parts_add_up_to_the_gap_and_each_is_zero_where_nothing_differs():
    gaps = precision_gaps(
        table(A=(1000, 500, 500, 400), fewer=(200, 50, 70, 40), blunter=(200, 100, 100, 60), both=(200, 50, 85, 30))
    )
    assert gaps["reference"].tolist() == [True, False, False, False]
    assert (gaps["by_base_rate"] + gaps["by_screen"]).to_numpy() == pytest.approx(gaps["gap"].to_numpy())
    assert gaps.loc["fewer", "by_screen"] == pytest.approx(0)
    assert gaps.loc["fewer", "by_base_rate"] < -0.1
    assert gaps.loc["blunter", "by_base_rate"] == pytest.approx(0)
    assert gaps.loc["blunter", "by_screen"] < -0.1
    assert gaps.loc["both", ["by_base_rate", "by_screen"]].astype(float).max() < -0.1
    assert gaps["lift"].tolist() == pytest.approx((gaps["precision"] / gaps["base_rate"]).tolist())


def test_the_order_in_which_rates_are_exchanged_does_not_matter():
    one, other = (precision_gaps(table(A=(100, 60, 50, 45), B=(90, 20, 30, 12)), name) for name in "AB")
    assert one.loc["B", "by_base_rate"] == pytest.approx(-other.loc["A", "by_base_rate"])
    assert one.loc["B", "by_screen"] == pytest.approx(-other.loc["A", "by_screen"])


def test_where_nobody_or_everybody_is_qualified_nothing_is_said():
    gaps = precision_gaps(table(A=(100, 60, 50, 45), none=(30, 0, 5, 0), all=(30, 30, 10, 10), shut=(30, 5, 0, 0)))
    assert np.isnan(gaps.loc[["none", "all", "shut"], "by_base_rate"].astype(float)).all()
