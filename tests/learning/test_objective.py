"""Gradients against finite differences; test_paper has the paper's objective by its definition."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import check_grad

from selfselect.constraints import BaseRateOrder, DemographicParity, TruePositiveRateParity
from selfselect.counting.rows import InMemoryRows
from selfselect.learning.linear import LinearLoss
from selfselect.learning.objective import PrecisionBounds, StrategicObjective, TargetedObjective

K = 4


def parities(parity, equal_tpr):
    return DemographicParity(0.02, weight=parity), TruePositiveRateParity(0.05, weight=equal_tpr)


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
    objective = TargetedObjective(
        np.ones(K), 1.0, bounds=PrecisionBounds(*np.full((2, K), 0.5)), constraints=constraints
    )
    weighted = objective.with_weight(10.0)
    assert weighted.bounds.weight == 10.0
    barriers = [constraint.barrier for constraint in weighted.constraints]
    assert barriers == pytest.approx([10.0, 10 / 0.02**2, 10 / 0.05**2])


def test_nothing_overflows_at_absurd_scores(data):
    block, *_, w = data
    for scale, corrected in product((0.0, 1e3, 1e8), (False, True)):
        objective = StrategicObjective(np.full(K, 0.7), constraints=(DemographicParity(0.02),), corrected=corrected)
        value, gradient = LinearLoss(InMemoryRows(block), objective)(w * scale)
        assert np.isfinite([value, *gradient]).all()
