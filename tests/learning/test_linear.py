"""A linear loss over rows in memory, in chunks and on a cluster: the same value and gradient."""

import numpy as np
import pytest

from selfselect.constraints import BaseRateOrder, DemographicParity, TruePositiveRateParity
from selfselect.counting.rows import ChunkedRows, DaskRows, InMemoryRows
from selfselect.learning.linear import FeatureBlock, LinearLoss
from selfselect.learning.objective import PrecisionBounds, StrategicObjective, TargetedObjective

K = 4


def objectives():
    bounds = PrecisionBounds(np.array([0.8, np.nan, 0.8, np.nan]), np.array([np.nan, 0.3, np.nan, 0.3]))
    constraints = (BaseRateOrder(), DemographicParity(0.02, weight=2.0), TruePositiveRateParity(0.05, weight=3.0))
    target = np.array([1.0, 0.0, 1.0, 0.0])
    targeted = TargetedObjective(target, 10.0, price=2.0, bounds=bounds, constraints=constraints).with_weight(1.0)
    plain = TargetedObjective(np.ones(K), 10.0, with_log_loss=True)
    return {"errors, bounds and constraints": targeted, "logistic loss": plain}


def in_blocks(data, size):
    _, X, y, codes, weight, _ = data
    return [
        FeatureBlock.from_unsorted(X[rows], y[rows] > 0, codes[rows], weight[rows], K)
        for rows in np.split(np.arange(len(y)), range(size, len(y), size))
    ]


def same(one, other):
    assert one[0] == pytest.approx(other[0], rel=1e-12)
    assert one[1] == pytest.approx(other[1], rel=1e-12, abs=1e-12 * np.abs(one[1]).max())


def losses(rows, n_features):
    return [LinearLoss(rows, objective, np.full(n_features, 0.1)) for objective in objectives().values()]


@pytest.mark.parametrize("size", [1, 7, 60, 1000])  # blocks of one row have people of one group only
def test_chunks_give_the_value_and_gradient_of_the_whole(data, size):
    w = data[-1]
    chunked = losses(ChunkedRows(in_blocks(data, size)), len(w) - 1)
    for whole, parts in zip(losses(InMemoryRows(data[0]), len(w) - 1), chunked, strict=True):
        same(whole(w), parts(w))


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_cluster_gives_the_value_and_gradient_of_the_whole(data):
    distributed = pytest.importorskip("distributed")
    w = data[-1]
    loopback = {"dashboard_address": "127.0.0.1:0", "worker_dashboard_address": "127.0.0.1:0"}
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=2, **loopback) as client:
        rows = DaskRows.scatter(client, in_blocks(data, 40))
        on_cluster = [loss(w) for loss in losses(rows, len(w) - 1)]
        again = [loss(w) for loss in losses(rows, len(w) - 1)]
    for loss, there, twice in zip(losses(InMemoryRows(data[0]), len(w) - 1), on_cluster, again, strict=True):
        same(loss(w), there)
        assert there[0] == twice[0]
        assert (there[1] == twice[1]).all()


def test_the_papers_objective_needs_all_rows_in_memory(data):
    w = data[-1]
    loss = LinearLoss(ChunkedRows(in_blocks(data, 60)), StrategicObjective(np.full(K, 0.6)))
    with pytest.raises(TypeError, match="hold all rows in memory"):
        loss(w)


def test_the_ridge_holds_weights_near_its_centre_and_leaves_the_intercept_free(data):
    block, *_, w = data
    objective = objectives()["logistic loss"]
    ridge, centre = np.arange(1.0, len(w)), np.ones(len(w))
    value, gradient = LinearLoss(InMemoryRows(block), objective)(w)
    held, held_gradient = LinearLoss(InMemoryRows(block), objective, ridge, centre)(w)
    assert held - value == pytest.approx(sum(ridge * (w[:-1] - 1) ** 2) / 2)
    assert held_gradient - gradient == pytest.approx(np.append(ridge * (w[:-1] - 1), 0.0))
