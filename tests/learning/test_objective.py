"""Every part against finite differences; the whole against an independent version with automatic derivatives."""

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import grad
from scipy.optimize import check_grad

from selfselect.constraints import BaseRateOrder, DemographicParity, TruePositiveRateParity
from selfselect.counting.rows import InMemoryRows
from selfselect.learning.linear import LinearLoss
from selfselect.learning.objective import (
    PrecisionBounds,
    StrategicObjective,
    TargetedObjective,
    application_penalty,
    induced_loss,
    weighted_error,
)

K = 4


def parities(parity, equal_tpr):
    return DemographicParity(0.02, weight=parity), TruePositiveRateParity(0.05, weight=equal_tpr)


@pytest.mark.parametrize("seed", range(3))
def test_every_part_has_the_slopes_of_finite_differences(seed, finite_difference):
    rng = np.random.default_rng(seed)
    loss, n, a, largest, TP = (rng.uniform(0.2, 3, K) for _ in range(5))
    a = a / 4
    PP = TP + rng.uniform(0.2, 3, K)
    target = rng.integers(0, 2, K).astype(float)
    cases = [
        (lambda v: induced_loss(v, n, a)[0], loss, induced_loss(loss, n, a)[1]),
        (lambda v: induced_loss(loss, n, v)[0], a, induced_loss(loss, n, a)[2]),
        (lambda v: application_penalty(v, a)[0], largest, application_penalty(largest, a)[1]),
        (lambda v: application_penalty(largest, v)[0], a, application_penalty(largest, a)[2]),
        (lambda v: application_penalty(v, a, "sum")[0], largest, application_penalty(largest, a, "sum")[1]),
        (lambda v: weighted_error(v, PP, n, target, 2.5)[0], TP, weighted_error(TP, PP, n, target, 2.5)[1]),
        (lambda v: weighted_error(TP, v, n, target, 2.5)[0], PP, weighted_error(TP, PP, n, target, 2.5)[2]),
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
    objective = StrategicObjective(costs, application, parities(parity, equal_tpr), corrected=corrected)
    sums = objective.smooth_scores(block.rows).forward(block.score(w))
    _, slope = objective.applications(sums)
    if (slope == 0).any():
        pytest.skip("the corrected precision left [0, 1], where only ours is clipped")
    value, gradient = LinearLoss(InMemoryRows(block), objective, np.full(len(w) - 1, l2))(w)
    reference = (X, y, codes, weight, costs, hard, penalties)
    assert value == pytest.approx(float(paper_objective(w, *reference)))
    assert gradient == pytest.approx(grad(paper_objective)(w, *reference), rel=1e-6, abs=1e-9)


def test_the_papers_objective_has_the_gradient_of_finite_differences(data):
    block, *_, w = data
    objective = StrategicObjective(np.full(K, 0.5), constraints=parities(2.0, 1.0), corrected=False)
    loss = LinearLoss(InMemoryRows(block), objective, np.full(len(w) - 1, 0.1))
    assert check_grad(lambda p: loss(p)[0], lambda p: loss(p)[1], w) < 1e-5


@pytest.mark.parametrize("with_log_loss", [False, True])
def test_the_targeted_objective_has_the_gradient_of_finite_differences(data, with_log_loss):
    block, *_, w = data
    objective = TargetedObjective(
        target=np.array([1.0, 0.0, 1.0, 0.0]),
        scale=10.0,
        price=2.0,
        temperature=3.0,
        bounds=PrecisionBounds(
            at_least=np.array([0.8, np.nan, 0.8, np.nan]), at_most=np.array([np.nan, 0.3, np.nan, 0.3])
        ),
        constraints=(
            BaseRateOrder(barrier=1.0),
            DemographicParity(0.02, weight=2.0, barrier=50.0),
            TruePositiveRateParity(0.04, weight=3.0, barrier=20.0),
        ),
        with_log_loss=with_log_loss,
    )
    loss = LinearLoss(InMemoryRows(block), objective, np.linspace(0.1, 1, len(w) - 1), np.ones(len(w)))
    assert check_grad(lambda p: loss(p)[0], lambda p: loss(p)[1], w) < 1e-4


def test_a_weight_is_given_to_bounds_of_precision_and_to_all_barriers():
    constraints = (BaseRateOrder(), *parities(2.0, 3.0))
    objective = TargetedObjective(np.ones(K), 1.0, bounds=PrecisionBounds(np.full(K, 0.5)), constraints=constraints)
    weighted = objective.with_weight(10.0)
    assert weighted.bounds.weight == 10.0
    barriers = [constraint.barrier for constraint in weighted.constraints]
    assert barriers == pytest.approx([10.0, 10 / 0.02**2, 10 / 0.05**2])


def test_nothing_overflows_at_absurd_scores(data):
    block, *_, w = data
    for scale in (0.0, 1e3, 1e8):
        for corrected in (False, True):
            objective = StrategicObjective(np.full(K, 0.7), constraints=(DemographicParity(0.02),), corrected=corrected)
            value, gradient = LinearLoss(InMemoryRows(block), objective)(w * scale)
            assert np.isfinite(value)
            assert np.isfinite(gradient).all()
