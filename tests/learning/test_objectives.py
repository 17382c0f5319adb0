"""Every part against finite differences; the whole against an independent version with automatic derivatives."""

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import grad
from scipy.optimize import check_grad

from selfselect.deciding import applies_rule
from selfselect.learning.objectives import (
    GroupedRows,
    SmoothRows,
    StrategicObjective,
    TargetedObjective,
    application_penalty,
    induced_loss,
    order_hinge,
    precision_hinge,
    rate_spread_penalty,
    smooth_precision,
    weighted_error,
)

K = 4


@pytest.fixture(scope="module", params=[0, 1, 2])
def data(request):
    rng = np.random.default_rng(request.param)
    n, d = 120, 5
    X = rng.normal(size=(n, d))
    codes = np.r_[np.arange(K), rng.integers(0, K, n - K)]
    y = rng.uniform(size=n) < 1 / (1 + np.exp(-X[:, 0] - codes / 2 + 1))
    weight = rng.uniform(0.5, 2, n)
    rows = GroupedRows.from_unsorted(X, y, codes, weight, K)
    return rows, X, y.astype(float), codes, weight, rng.normal(size=d + 1) / 2


def finite_difference(function, at, h=1e-6):
    steps = np.eye(len(at)) * h
    return np.array([(function(at + step) - function(at - step)) / (2 * h) for step in steps])


# ---------------------------------------------------------------------- rows to sums and back


def test_sums_are_those_of_a_loop_over_rows(data):
    rows, X, y, codes, weight, w = data
    score = X @ w[:-1] + w[-1]
    soft, proxy = 1 / (1 + np.exp(-2 * score)), 1 / (1 + np.exp(-5 * score))
    sums = SmoothRows(rows, w, 2.0, 5.0).sums()
    for z in range(K):
        mine = codes == z
        v, label = weight[mine], y[mine]
        loss = -(label * np.log(soft[mine]) + (1 - label) * np.log(1 - soft[mine]))
        assert sums.loss[z] == pytest.approx(v @ loss)
        assert sums.hits[z] == pytest.approx(v @ (label * proxy[mine]))
        assert sums.passes[z] == pytest.approx(v @ proxy[mine])
        assert sums.accepted[z] == pytest.approx(v @ soft[mine])
        assert sums.accepted_positives[z] == pytest.approx(v @ (label * soft[mine]))
        assert sums.largest[z] == pytest.approx(soft[mine].max())


def test_sums_of_two_halves_add_up_to_those_of_the_whole(data):
    rows, X, y, codes, weight, w = data
    halves = []
    for part in (slice(0, 60), slice(60, None)):
        half = GroupedRows.from_unsorted(X[part], y[part] > 0, codes[part], weight[part], K)
        if (half.size > 0).all():
            halves.append(SmoothRows(half, w, 2.0, 5.0).sums())
    if len(halves) == 2:
        whole = SmoothRows(rows, w, 2.0, 5.0).sums()
        for name in ("loss", "hits", "passes", "accepted", "accepted_positives"):
            assert getattr(halves[0], name) + getattr(halves[1], name) == pytest.approx(getattr(whole, name))


def test_rows_of_one_group_are_a_view_and_of_several_a_copy(data):
    rows = data[0]
    assert np.shares_memory(rows.only(np.array([2])).X, rows.X)
    both = rows.only(np.array([0, 2]))
    assert both.n.tolist() == rows.n[[0, 2]].tolist()
    assert both.positives.tolist() == rows.positives[[0, 2]].tolist()


# ---------------------------------------------------------------------- the parts


def positive(rng, size=K):
    return rng.uniform(0.2, 3, size)


@pytest.mark.parametrize("seed", range(3))
def test_every_part_has_the_slopes_of_finite_differences(seed):
    rng = np.random.default_rng(seed)
    loss, n, a, largest, hits = (positive(rng) for _ in range(5))
    a = a / 4
    passes = hits + positive(rng)
    q = hits / passes
    target = rng.integers(0, 2, K).astype(float)
    bounds = np.array([0.9, np.nan, 0.2, 0.7])
    higher, lower = np.array([0, 1, 2]), np.array([1, 2, 3])
    cases = [
        (lambda v: induced_loss(v, n, a)[0], loss, induced_loss(loss, n, a)[1]),
        (lambda v: induced_loss(loss, n, v)[0], a, induced_loss(loss, n, a)[2]),
        (lambda v: application_penalty(v, a)[0], largest, application_penalty(largest, a)[1]),
        (lambda v: application_penalty(largest, v)[0], a, application_penalty(largest, a)[2]),
        (lambda v: rate_spread_penalty(v, n)[0], hits, rate_spread_penalty(hits, n)[1]),
        (lambda v: rate_spread_penalty(v, n, 7.0, 0.1)[0], hits, rate_spread_penalty(hits, n, 7.0, 0.1)[1]),
        (lambda v: weighted_error(v, passes, n, target, 2.5)[0], hits, weighted_error(hits, passes, n, target, 2.5)[1]),
        (lambda v: weighted_error(hits, v, n, target, 2.5)[0], passes, weighted_error(hits, passes, n, target, 2.5)[2]),
        (lambda v: precision_hinge(v, bounds, 1 - bounds)[0], q, precision_hinge(q, bounds, 1 - bounds)[1]),
        (lambda v: order_hinge(v, higher, lower, 0.05)[0], q, order_hinge(q, higher, lower, 0.05)[1]),
    ]
    for function, at, slope in cases:
        assert slope == pytest.approx(finite_difference(function, at), rel=1e-5, abs=1e-7)


def test_a_rate_without_people_does_not_count():
    value, slope = rate_spread_penalty(np.array([1.0, 0.0]), np.array([4.0, 0.0]))
    assert (value, slope.tolist()) == (0.0, [0.0, 0.0])


def test_the_corrected_proxy_decides_exactly_as_the_hard_rule(data):
    rows, *_, w = data
    for cost in (0.2, 0.4, 0.5, 0.7, 0.9):  # also below one half, where the paper's form divides by a negative number
        costs = np.full(K, cost)
        smooth = SmoothRows(rows, w, 2.0, 5.0)
        selected, hits = smooth.hard_counts()
        q, _, _ = smooth_precision(smooth.sums(), costs, (selected, hits))
        some = selected > 0
        assert (q >= costs)[some].tolist() == applies_rule(hits, selected, costs)[some].tolist()


def test_a_group_of_which_nobody_is_selected_has_the_plain_proxy(data):
    rows, *_, w = data
    nobody = np.append(w[:-1], -100.0)
    smooth = SmoothRows(rows, nobody, 2.0, 5.0)
    costs = np.full(K, 0.7)
    corrected = smooth_precision(smooth.sums(), costs, smooth.hard_counts())[0]
    assert corrected == pytest.approx(smooth_precision(smooth.sums(), costs)[0])


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
    rows, X, y, codes, weight, w = data
    costs = np.array([0.5, 0.6, 0.4, 0.55])
    hard = None
    if corrected:  # what the correction holds constant
        score = X @ w[:-1] + w[-1]
        proxy, hard = 1 / (1 + np.exp(-5 * score)), (score > 0).astype(float)
        for z in range(K):
            v = weight * (codes == z)
            hard_sums[z] = (v @ (y * proxy), v @ proxy)
    penalties = (1 / 6, 3.0, 2.0, 0.1)
    objective = StrategicObjective(rows, costs, *penalties, corrected=corrected)
    value, gradient = objective(w)
    reference = (X, y, codes, weight, costs, hard, penalties)
    q = smooth_precision(
        SmoothRows(rows, w, 2.0, 5.0).sums(), costs, SmoothRows(rows, w, 2.0, 5.0).hard_counts() if corrected else None
    )[0]
    if ((q <= 1e-5) | (q >= 1 - 1e-5)).any():
        pytest.skip("the corrected proxy left [0, 1], where only ours is clipped")
    assert value == pytest.approx(float(paper_objective(w, *reference)))
    assert gradient == pytest.approx(grad(paper_objective)(w, *reference), rel=1e-6, abs=1e-9)


def test_the_papers_objective_has_the_gradient_of_finite_differences(data):
    rows, *_, w = data
    objective = StrategicObjective(rows, np.full(K, 0.5), parity=2.0, equal_tpr=1.0, l2=0.1, corrected=False)
    assert check_grad(lambda p: objective(p)[0], lambda p: objective(p)[1], w) < 1e-5


@pytest.mark.parametrize("with_log_loss", [False, True])
def test_the_targeted_objective_has_the_gradient_of_finite_differences(data, with_log_loss):
    rows, *_, w = data
    objective = TargetedObjective(
        rows,
        target=np.array([1.0, 0.0, 1.0, 0.0]),
        scale=10.0,
        price=2.0,
        temperature=3.0,
        at_least=np.array([0.8, np.nan, 0.8, np.nan]),
        at_most=np.array([np.nan, 0.3, np.nan, 0.3]),
        order=(np.array([3, 2]), np.array([0, 1])),
        parity=2.0,
        parity_wall=50.0,
        parity_tolerance=0.01,
        equal_tpr=3.0,
        tpr_wall=20.0,
        tpr_tolerance=0.02,
        anchor=np.ones(len(w)),
        stay=np.linspace(0.1, 1, len(w) - 1),
        with_log_loss=with_log_loss,
    )
    assert check_grad(lambda p: objective(p)[0], lambda p: objective(p)[1], w) < 1e-4


def test_nothing_overflows_at_absurd_scores(data):
    rows, *_, w = data
    for scale in (0.0, 1e3, 1e8):
        for corrected in (False, True):
            value, gradient = StrategicObjective(rows, np.full(K, 0.7), parity=1.0, corrected=corrected)(w * scale)
            assert np.isfinite(value)
            assert np.isfinite(gradient).all()
