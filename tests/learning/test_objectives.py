"""Every part against finite differences; the whole against an independent version with automatic derivatives."""

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import grad
from scipy.optimize import check_grad
from selfselect.learning.objectives import PrecisionWalls, TargetedObjective, precision_hinge, weighted_error
from selfselect.learning.sums import smooth_precision

from selfselect.counting.rows import HeldRows
from selfselect.learning import EqualSelectionRates, EqualTruePositiveRates, OrderByBaseRates
from selfselect.learning.linear import LinearLoss
from selfselect.learning.paper import PaperScores, StrategicObjective, application_penalty, induced_loss

K = 4


def rate_ties(parity, equal_tpr):
    return EqualSelectionRates(parity, 0.02), EqualTruePositiveRates(equal_tpr, 0.05)


@pytest.mark.parametrize("seed", range(3))
def test_every_part_has_the_slopes_of_finite_differences(seed, finite_difference):
    rng = np.random.default_rng(seed)
    loss, n, a, largest, hits = (rng.uniform(0.2, 3, K) for _ in range(5))
    a = a / 4
    passes = hits + rng.uniform(0.2, 3, K)
    q = hits / passes
    target = rng.integers(0, 2, K).astype(float)
    bounds = np.array([0.9, np.nan, 0.2, 0.7])
    cases = [
        (lambda v: induced_loss(v, n, a)[0], loss, induced_loss(loss, n, a)[1]),
        (lambda v: induced_loss(loss, n, v)[0], a, induced_loss(loss, n, a)[2]),
        (lambda v: application_penalty(v, a)[0], largest, application_penalty(largest, a)[1]),
        (lambda v: application_penalty(largest, v)[0], a, application_penalty(largest, a)[2]),
        (lambda v: weighted_error(v, passes, n, target, 2.5)[0], hits, weighted_error(hits, passes, n, target, 2.5)[1]),
        (lambda v: weighted_error(hits, v, n, target, 2.5)[0], passes, weighted_error(hits, passes, n, target, 2.5)[2]),
        (lambda v: precision_hinge(v, bounds, 1 - bounds)[0], q, precision_hinge(q, bounds, 1 - bounds)[1]),
    ]
    for function, at, slope in cases:
        assert slope == pytest.approx(finite_difference(function, at), rel=1e-5, abs=1e-7)


# ---------------------------------------------------------------------- the whole


def paper_objective(w, X, y, codes, weight, costs, hard, weights):
    """The objective written anew, row by row, for automatic differentiation; ``hard`` predictions are constants."""
    application, parity, equal_tpr, l2 = weights
    score = anp.dot(X, w[:-1]) + w[-1]
    soft, proxy = 1 / (1 + anp.exp(-2 * score)), 1 / (1 + anp.exp(-5 * score))
    loss = -(y * anp.log(soft) + (1 - y) * anp.log(1 - soft))
    applies, losses, people, tops, gaps, tpr_gaps = [], [], [], [], [], []
    overall, overall_tpr = anp.sum(weight * soft) / weight.sum(), anp.sum(weight * y * soft) / (weight @ y)
    for z in range(K):
        v = weight * (codes == z)
        hits, passes = anp.sum(v * y * proxy), anp.sum(v * proxy)
        q = hits / passes
        if hard is not None and (v * hard).sum() > 0:
            fixed_hits, fixed_passes = hard_sums[z]
            gap = v @ (y * hard) - costs[z] * (v @ hard) - (fixed_hits - costs[z] * fixed_passes)
            q = q + gap / fixed_passes
        odds = q * (1 - costs[z]) / (costs[z] * (1 - q))
        applies.append(1 / (1 + odds**-5))
        losses.append(anp.sum(v * loss))
        people.append(v.sum())
        tops.append(anp.max(soft[codes == z]))
        gaps.append(anp.sum(v * soft) / v.sum() - overall)
        tpr_gaps.append(anp.sum(v * y * soft) / (v @ y) - overall_tpr)
    a, L, n = anp.array(applies), anp.array(losses), anp.array(people)
    value = anp.sum(a * L) / anp.sum(a * n)
    value = value + application * (-anp.mean(anp.log(anp.array(tops) + 0.001)) - anp.log(anp.max(a) + 0.001))
    value = value + parity * anp.mean(anp.array(gaps) ** 2) + equal_tpr * anp.mean(anp.array(tpr_gaps) ** 2)
    return value + l2 / 2 * anp.sum(w[:-1] ** 2)


hard_sums = {}


@pytest.mark.parametrize("corrected", [False, True])
def test_the_papers_objective_agrees_with_automatic_differentiation(data, corrected):
    block, X, y, codes, weight, w = data
    costs = np.array([0.5, 0.6, 0.4, 0.55])
    hard = None
    if corrected:  # what the correction holds constant
        score = X @ w[:-1] + w[-1]
        proxy, hard = 1 / (1 + np.exp(-5 * score)), (score > 0).astype(float)
        for z in range(K):
            v = weight * (codes == z)
            hard_sums[z] = (v @ (y * proxy), v @ proxy)
    application, parity, equal_tpr, l2 = penalties = (1 / 6, 3.0, 2.0, 0.1)
    objective = StrategicObjective(costs, application, rate_ties(parity, equal_tpr), corrected=corrected)
    value, gradient = LinearLoss(HeldRows(block), objective, np.full(len(w) - 1, l2))(w)
    reference = (X, y, codes, weight, costs, hard, penalties)
    sums = PaperScores(block.people, block.score(w), 2.0, 5.0, corrected=corrected).sums()
    q = smooth_precision(sums, costs, sums.hard)[0]
    if ((q <= 1e-5) | (q >= 1 - 1e-5)).any():
        pytest.skip("the corrected proxy left [0, 1], where only ours is clipped")
    assert value == pytest.approx(float(paper_objective(w, *reference)))
    assert gradient == pytest.approx(grad(paper_objective)(w, *reference), rel=1e-6, abs=1e-9)


def test_the_papers_objective_has_the_gradient_of_finite_differences(data):
    block, *_, w = data
    objective = StrategicObjective(np.full(K, 0.5), ties=rate_ties(2.0, 1.0), corrected=False)
    loss = LinearLoss(HeldRows(block), objective, np.full(len(w) - 1, 0.1))
    assert check_grad(lambda p: loss(p)[0], lambda p: loss(p)[1], w) < 1e-5


@pytest.mark.parametrize("with_log_loss", [False, True])
def test_the_targeted_objective_has_the_gradient_of_finite_differences(data, with_log_loss):
    block, *_, w = data
    objective = TargetedObjective(
        target=np.array([1.0, 0.0, 1.0, 0.0]),
        scale=10.0,
        price=2.0,
        temperature=3.0,
        walls=PrecisionWalls(
            at_least=np.array([0.8, np.nan, 0.8, np.nan]), at_most=np.array([np.nan, 0.3, np.nan, 0.3])
        ),
        ties=(
            OrderByBaseRates(wall=1.0),
            EqualSelectionRates(2.0, 0.02, wall=50.0),
            EqualTruePositiveRates(3.0, 0.04, wall=20.0),
        ),
        with_log_loss=with_log_loss,
    )
    loss = LinearLoss(HeldRows(block), objective, np.linspace(0.1, 1, len(w) - 1), np.ones(len(w)))
    assert check_grad(lambda p: loss(p)[0], lambda p: loss(p)[1], w) < 1e-4


def test_walls_of_a_height_are_around_precision_and_all_ties():
    objective = TargetedObjective(
        np.ones(K), 1.0, walls=PrecisionWalls(np.full(K, 0.5)), ties=(OrderByBaseRates(), *rate_ties(2.0, 3.0))
    ).walled(10.0)
    assert objective.walls.height == 10.0
    assert [tie.wall for tie in objective.ties] == [10.0, pytest.approx(10 / 0.02**2), pytest.approx(10 / 0.05**2)]


def test_nothing_overflows_at_absurd_scores(data):
    block, *_, w = data
    for scale in (0.0, 1e3, 1e8):
        for corrected in (False, True):
            objective = StrategicObjective(np.full(K, 0.7), ties=(EqualSelectionRates(1.0, 0.02),), corrected=corrected)
            value, gradient = LinearLoss(HeldRows(block), objective)(w * scale)
            assert np.isfinite(value)
            assert np.isfinite(gradient).all()
