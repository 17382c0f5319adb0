"""Selective labels: what is known without them, and bounds of the rest that hold whatever they are, and are reached."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from selfselect import audit

NUMBERS = ("assumed_accuracy", "induced_accuracy", "social_cost")


def people(seed):
    """A few people, some of those who do not pass without a label."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 15))
    z, passed, y = rng.choice(["A", "B", "C"], n), rng.random(n) < 0.5, (rng.random(n) < 0.6).astype(float)
    unknown = np.flatnonzero(~passed & (rng.random(n) < 0.7))[:7]
    y[unknown] = np.nan
    return y, passed, z, unknown


def fillings(y, unknown):
    for labels in itertools.product([0, 1], repeat=len(unknown)):
        filled = y.copy()
        filled[unknown] = labels
        yield filled


@pytest.mark.parametrize("seed", range(25))
def test_bounds_are_the_least_and_the_most_over_all_fillings(seed):
    y, passed, z, unknown = people(seed)
    result = audit(y, y_pred=passed, sensitive_features=z, cost=0.6, untested=True)
    every = [audit(filled, y_pred=passed, sensitive_features=z, cost=0.6) for filled in fillings(y, unknown)]
    for name in NUMBERS:
        values = [getattr(one, name) for one in every if not math.isnan(getattr(one, name))]
        ends = [getattr(result.outcome, f"{name}_{end}", getattr(result, name)) for end in ("low", "high")]
        expected = [min(values), max(values)] if values else [math.nan] * 2
        assert ends == pytest.approx(expected, nan_ok=True), name
        if values and min(values) < max(values):
            assert math.isnan(getattr(result, name))
    for one in every:
        assert one.applies.equals(result.applies)
        assert one.published.precision.equals(result.published.precision)
    if len(unknown) == 0:
        return
    frame, frames = result.to_frame(), pd.concat([one.to_frame() for one in every])
    for name in ("base_rate", "accuracy"):
        for end, extreme in (("low", "min"), ("high", "max")):
            reached = getattr(frames.groupby(level=0)[name], extreme)()
            assert frame[f"{name}_{end}"].to_numpy() == pytest.approx(reached[frame.index].to_numpy())
        assert (frame[name].isna() == (frame["untested"] > 0)).all()


def test_a_threshold_that_would_pass_the_untested_is_not_offered():
    y, score = [1, 0, None, None], [0.9, 0.8, 0.3, 0.2]
    result = audit(y, score=score, cost=0.6, untested=True)
    assert result.curves is None
    assert result.threshold == 0.5
    assert audit([1, 0, 0, 0], score=score, cost=0.6, untested=True).curves is not None


def test_only_people_who_do_not_pass_can_be_untested_and_only_on_request():
    for given in ({"y_pred": [1, 1]}, {"score": [0.9, 0.8]}):
        with pytest.raises(ValueError, match="who pass screening, first at row"):
            audit([1, None], **given, cost=0.5, untested=True)
    with pytest.raises(ValueError, match="pass untested=True"):
        audit([1, None], y_pred=[1, 0], cost=0.5)


def test_resamples_of_people_some_of_whom_are_untested_span_both_bounds():
    rng = np.random.default_rng(2)
    score = rng.random(500)
    y = np.where(score > 0.5, rng.random(500) < score, np.nan)
    result = audit(y, score=score, cost=0.6, untested=True)
    low, high = result.uncertainty().interval("assumed_accuracy")
    assert low < result.outcome.assumed_accuracy_low < result.outcome.assumed_accuracy_high < high
