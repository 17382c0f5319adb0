"""Scores to sums and back: against scipy, finite differences, and sums of parts."""

from dataclasses import fields

import numpy as np
import pytest
from scipy.special import expit, log_expit

from selfselect.behaviour import BestResponse
from selfselect.counting.sums import Gradient, Sums
from selfselect.learning.objective import StrategicObjective
from selfselect.learning.scores import GroupedRows, SmoothScores
from selfselect.statistics import Published

K = 4
NAMES = [part.name for part in fields(Sums)[:7]]
VECTORISED = pytest.mark.parametrize("vectorised", [False, True], ids=["scipy", "numpy"])


@VECTORISED
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_predictions_and_sums_are_right_for_scores_of_any_size(dtype, vectorised):
    rng = np.random.default_rng(0)
    score = (rng.normal(size=(2, 3000)) * 10.0 ** rng.uniform(-6, 1.2, size=3000)).astype(dtype)
    score[0, :3] = 0.0, np.finfo(dtype).max / 100, -np.finfo(dtype).max / 100
    weight, y = rng.uniform(0, 2, 3000), np.arange(3000) % 2.0
    start = np.array([0, 700, 700, 701])  # a group without rows, and one of a single row
    smooth = SmoothScores(GroupedRows(y, weight, start), 2.0, 5.0, with_largest=True, vectorised=vectorised)
    sums = smooth.forward(score)
    exact, rounding = score.astype(float), 1e-13 if dtype == "float64" else 2e-5
    np.testing.assert_allclose(smooth.soft, expit(2 * exact), rtol=rounding, atol=1e-35)
    np.testing.assert_allclose(smooth.sharp, expit(5 * exact), rtol=rounding, atol=1e-35)
    for z, rows in enumerate([slice(0, 700), slice(0, 0), slice(700, 701), slice(701, 3000)]):
        v, s, label = weight[rows], exact[:, rows], y[rows]
        expected = {
            "loss": -log_expit(2 * s * (2 * label - 1)),
            "soft_selected": expit(2 * s),
            "soft_true_positives": expit(2 * s) * label,
            "sharp_selected": expit(5 * s),
            "sharp_true_positives": expit(5 * s) * label,
            "selected": s > 0,
            "true_positives": (s > 0) * label,
        }
        largest = expit(2 * s).max(axis=1, initial=0.0)
        np.testing.assert_allclose(sums.largest[:, z], largest, rtol=rounding, atol=1e-30)
        for name, values in expected.items():
            np.testing.assert_allclose(
                getattr(sums, name)[:, z], (v * values).sum(axis=1), rtol=rounding, atol=1e-30, err_msg=name
            )


@VECTORISED
@pytest.mark.parametrize("temperatures", [(2.0, 5.0), (4.0, 4.0)])
@pytest.mark.parametrize("name", [*NAMES[2:], "largest", "precision"])
def test_gradients_per_score_are_those_of_finite_differences(data, finite_difference, temperatures, name, vectorised):
    block, *_, w = data
    smooth = SmoothScores(block.rows, *temperatures, with_largest=True, vectorised=vectorised)
    weights = np.array([1.0, -2.0, 0.5, 3.0])  # the value is a weighted sum over groups of one of the sums

    def value(at):
        return float(weights @ getattr(smooth.forward(at), name))

    numeric = finite_difference(value, block.score(w))
    gradient = Gradient(**{name: weights}).through_precision(smooth.forward(block.score(w)))
    assert smooth.backward(gradient) == pytest.approx(numeric, rel=1e-5, abs=1e-7)


@VECTORISED
def test_several_scores_at_once_have_the_sums_and_gradients_of_each_alone(data, vectorised):
    block, *_, w = data
    scores = np.stack([block.score(w), -block.score(w), block.score(w) / 3])
    gradients = {name: np.random.default_rng(0).normal(size=(3, K)) for name in (*NAMES[2:], "largest")}
    smooth = SmoothScores(block.rows, 2.0, 5.0, with_largest=True, vectorised=vectorised)
    together = smooth.forward(scores)
    per_score = smooth.backward(Gradient(**gradients)).copy()
    for i, score in enumerate(scores):
        alone = smooth.forward(score)
        for name in (*NAMES[2:], "largest", "selected", "true_positives"):
            assert getattr(alone, name) == pytest.approx(getattr(together, name)[i], rel=1e-13), name
        mine = smooth.backward(Gradient(**{name: values[i] for name, values in gradients.items()}))
        assert mine == pytest.approx(per_score[i], rel=1e-13)


# ---------------------------------------------------------------------- the smooth precision


def applications(block, w, cost, **settings):
    objective = StrategicObjective(np.full(K, cost), **settings)
    sums = objective.smooth_scores(block.rows).forward(block.score(w))
    return objective.applications(sums)[0], sums


def test_the_corrected_precision_decides_exactly_as_the_hard_rule(data):
    block, *_, w = data
    for cost in (0.2, 0.4, 0.5, 0.7, 0.9):  # also below one half, where the paper's form divides by a negative number
        applies, sums = applications(block, w, cost)
        some = sums.selected > 0
        hard = BestResponse().shares(Published(sums), np.full(K, cost))
        assert (applies >= 0.5)[some].tolist() == hard[some].tolist()
