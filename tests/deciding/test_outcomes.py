"""What follows for a population; its numbers are those of the metrics per row (tests/metrics/test_rows.py)."""

import numpy as np
import pandas as pd
import pytest

from selfselect import PublishedStatistics
from selfselect.metrics import outcome


def test_an_outcome_needs_a_decision_for_every_group_of_the_population():
    population = PublishedStatistics.from_predictions([1, 0], [1, 1], sensitive_features=["a", "b"])
    with pytest.raises(ValueError, match="says nothing about group"):
        outcome(population, pd.Series({"a": True}))
    for wrong in (pd.Series({"a": "no", "b": "no"}), pd.Series({"a": 1.0, "b": np.nan}), population.precision + 0.9):
        with pytest.raises((ValueError, TypeError), match="applies"):
            outcome(population, wrong)
    for wrong in ({"a": True, "b": True}, pd.Series([True, True], index=["a", "a"])):
        with pytest.raises(TypeError, match="applies must be a Series"):
            outcome(population, wrong)
    result = outcome(population, pd.Series({"a": True, "b": False, "elsewhere": True}))
    assert (result.applying_groups, result.induced_accuracy) == (2, 1.0)
