"""The loss of PyTorch: the same numbers as the objective, on any input; running sums; the paper's training."""

import copy
import io
import pickle
import subprocess
import sys

import numpy as np
import pytest

from extras import skip_module_without

skip_module_without("torch")

import torch
from scipy.special import expit
from scipy.stats import norm

from selfselect import PaperClassifier, StrategicObjective, encode_groups
from selfselect.behaviour import BetaBeliefs, LogitResponse, PrivateCosts
from selfselect.constraints import (
    DemographicParity,
    FalsePositiveRateParity,
    MaxSocialCost,
    ReleasedDemographicParity,
    TruePositiveRateParity,
)
from selfselect.datasets import make_base_rate_groups
from selfselect.torch import GroupBatchSampler, StrategicLoss

N, K = 300, 3


@pytest.fixture(scope="module")
def people():
    """Scores, labels, groups and weights, in no order."""
    rng = np.random.default_rng(0)
    score, group = rng.normal(size=N), rng.choice(K, N, p=[0.6, 0.3, 0.1])
    y = rng.uniform(size=N) < expit(2 * score + 0.5 * group - 0.5)
    return score, y.astype(int), group, rng.uniform(0.5, 2, N)


class EverybodyApplies:
    """A behaviour without a response."""

    def shares(self, published, cost):
        return np.ones(np.shape(published.value))


def tensors(*arrays):
    return tuple(torch.tensor(array) for array in arrays)


def value_and_gradient(loss, score, *rest):
    at = torch.as_tensor(score).clone().requires_grad_()
    value = loss(at, *map(torch.as_tensor, rest))
    value.sum().backward()
    return value.detach().numpy(), at.grad.numpy()


# ---------------------------------------------------------------------- agreement with the objective

VARIANTS = [
    {},
    {"cost": [0.4, 0.6, 0.8], "margin": 0.02},
    {"cost": {0: 0.4, 1: 0.6, 2: 0.8}},
    {"cost": 0.0},
    {"cost": 1.0},
    {"cost": 1e-9},
    {"cost": 1 - 1e-9},
    {"behaviour": LogitResponse(0.1)},
    {"behaviour": BetaBeliefs(0.5, 20)},
    {"behaviour": PrivateCosts(norm(0, 0.1))},
    {"constraints": [DemographicParity(0.02, weight=5.0), MaxSocialCost(0.3)]},
    {"constraints": [TruePositiveRateParity(0.1), FalsePositiveRateParity(0.1)]},
    {"constraints": [ReleasedDemographicParity(weight=3.0)]},
    {"temperature": 2.0, "precision_temperature": 5.0, "application_weight": 0.5},
    {"loss": "errors", "corrected": False},
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scores", [None, 4])
@pytest.mark.parametrize("settings", VARIANTS)
def test_value_and_gradient_are_those_of_the_objective(people, settings, scores, weighted):
    score, y, group, weight = people
    if scores:
        score = np.random.default_rng(1).normal(size=(scores, 1)) + score
    rest = (y, group, weight) if weighted else (y, group)
    settings = {"cost": 0.7, "temperature": 1.0, "precision_temperature": 2.5, **settings}
    costs = settings["cost"]
    objective = StrategicObjective(**{**settings, "cost": np.array(costs) if isinstance(costs, list) else costs})
    expected = objective.value_and_gradient(score, *rest)
    for ours, theirs in zip(
        value_and_gradient(StrategicLoss(n_groups=K, **settings), score, *rest), expected, strict=True
    ):
        assert ours.dtype == np.float64
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10)


# the correction by hard counts is constant in the derivatives, so it is off here
@pytest.mark.parametrize(
    "settings",
    [
        {"corrected": False},
        {"behaviour": LogitResponse(0.1)},
        {"behaviour": BetaBeliefs(0.5, 20, response=LogitResponse(0.1))},
        {"corrected": False, "constraints": [DemographicParity(0.02, weight=5.0)]},
    ],
)
@pytest.mark.parametrize("scores", [(), (2,)])
def test_derivatives_are_those_of_the_value(people, settings, scores):
    score, *rest = tensors(*(array[:30] for array in people))
    loss = StrategicLoss(0.6, K, **settings)
    at = score.expand(*scores, -1).clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda s: loss(s, *rest), (at,))


def test_a_second_derivative_is_refused(people):
    score, *rest = tensors(*people)
    score.requires_grad_()
    with pytest.raises(RuntimeError, match=r"no second derivatives.*first derivatives only.*create_graph"):
        torch.autograd.grad(StrategicLoss(0.7, K)(score, *rest), score, create_graph=True)


# ---------------------------------------------------------------------- extremes


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("scale", [0.0, 1e-7, 1.0, 1e3, 6e4])
@pytest.mark.parametrize("cost", [0.0, 1e-12, 0.7, 1 - 1e-12, 1.0])
def test_value_and_gradient_are_finite_in_every_precision(people, dtype, scale, cost):
    _, y, group, weight = tensors(*people)
    loss = StrategicLoss(cost, K, constraints=[DemographicParity(0.02)])
    for score in (torch.full((N,), scale), torch.full((N,), -scale), scale * (2.0 * y - 1), scale * (1 - 2.0 * y)):
        at = score.to(dtype).requires_grad_()
        value = loss(at, y, group, weight)
        value.backward()
        assert torch.isfinite(value)
        assert torch.isfinite(at.grad).all()
        assert at.grad.dtype == dtype


def test_autocast_trains_without_nan(people):
    score, y, group, _ = tensors(*people)
    module, loss = torch.nn.Linear(1, 1), StrategicLoss(0.7, K)
    optimizer = torch.optim.SGD(module.parameters(), 0.1)
    for _ in range(20):
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            output = module(score.float()[:, None])[:, 0]
            value = loss(output, y, group)
        assert output.dtype == torch.bfloat16
        assert value.dtype == torch.float32
        value.backward()
        optimizer.step()
    assert all(torch.isfinite(parameter).all() for parameter in module.parameters())


@pytest.mark.parametrize("decay", [None, 0.9])
@pytest.mark.parametrize("label", [0, 1])
def test_one_person_is_enough(label, decay):
    value, gradient = value_and_gradient(StrategicLoss(0.7, K, decay=decay), np.array([0.3]), [label], [1])
    assert np.isfinite(value)
    assert np.sign(gradient[0]) == (-1 if label else 1)


def test_a_group_without_people_changes_no_gradient(people):
    score, y, group, _ = people
    settings = {"application_over": "sum"}
    _, with_empty = value_and_gradient(StrategicLoss(0.7, K + 2, **settings), score, y, group)
    _, without = value_and_gradient(StrategicLoss(0.7, K, **settings), score, y, group)
    np.testing.assert_allclose(with_empty, without, atol=1e-14)


# ---------------------------------------------------------------------- running sums


def test_the_first_batch_has_the_value_and_gradient_of_its_people(people):
    expected = value_and_gradient(StrategicLoss(0.7, K), *people)
    for ours, theirs in zip(value_and_gradient(StrategicLoss(0.7, K, decay=0.99), *people), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("scores", [None, 2])
def test_batches_of_unchanged_scores_reach_the_value_of_everybody_and_its_gradient(people, scores):
    score, *rest = people
    score = score if scores is None else np.stack([score, -score])
    # the application penalty would pull the highest score of every batch, and not only that of everybody
    settings = {"cost": 0.7, "n_groups": K, "behaviour": LogitResponse(0.1), "application_weight": 0.0}
    expected, full = value_and_gradient(StrategicLoss(**settings), score, *rest)
    loss = StrategicLoss(**settings, decay=0.998, n_scores=scores)
    for _ in range(60):
        total = np.zeros_like(score)
        for batch in np.split(np.arange(N), 10):
            value, total[..., batch] = value_and_gradient(loss, score[..., batch], *(column[batch] for column in rest))
    np.testing.assert_allclose(value, expected, rtol=0.01)
    np.testing.assert_allclose(total / 10, full, atol=0.02 * np.abs(full).max())


def test_behaviours_that_depend_on_numbers_see_those_of_everybody(people):
    score, y, group, _ = people
    beliefs = {"behaviour": BetaBeliefs(0.5, 100, response=LogitResponse(0.1))}
    expected, _ = value_and_gradient(
        StrategicLoss(0.7, K, **beliefs), np.tile(score, 5), np.tile(y, 5), np.tile(group, 5)
    )
    loss = StrategicLoss(0.7, K, decay=0.9, batches_per_epoch=5, **beliefs)
    value, _ = value_and_gradient(loss, score, y, group)
    np.testing.assert_allclose(value, expected, rtol=1e-10)
    loss.eval()
    alone, _ = value_and_gradient(loss, score, y, group)
    assert abs(alone - expected) > 1e-3


def test_a_group_that_is_missing_from_a_batch_keeps_its_precision(people):
    score, y, group, _ = tensors(*people)
    loss = StrategicLoss(0.7, K, decay=0.9)
    loss(score, y, group)
    before = loss.running_sums.clone()
    others = group != 2
    loss(score[others], y[others], group[others])
    torch.testing.assert_close(loss.running_sums[:-1, 2], 0.9 * before[:-1, 2])
    assert (loss.running_sums[:-1, :2] > before[:-1, :2]).all()


def test_the_application_penalty_pulls_nobody_who_is_below_the_highest_score_of_earlier_batches():
    y, group = torch.tensor([1, 0]), torch.tensor([0, 0])
    pulled = []
    for first in (-3.0, 3.0):
        gradients = []
        for weight in (0.0, 1.0):
            loss = StrategicLoss(0.7, 1, decay=0.9, application_weight=weight, behaviour=EverybodyApplies())
            loss(torch.tensor([first, first]), y, group)
            gradients.append(value_and_gradient(loss, np.array([0.5, 0.0]), y, group)[1])
        pulled.append(gradients[1][0] < gradients[0][0])
    assert pulled == [True, False]


def test_evaluation_mode_neither_uses_nor_changes_running_sums(people):
    score, *rest = tensors(*people)
    loss = StrategicLoss(0.7, K, decay=0.9)
    loss(score - 1, *rest)
    state = copy.deepcopy(loss.state_dict())
    loss.eval()
    assert loss(score, *rest) == StrategicLoss(0.7, K)(score, *rest)
    torch.testing.assert_close(loss.state_dict(), state, rtol=0, atol=0)


@pytest.mark.parametrize("settings", [{"decay": 0.9}, {"preset": "released"}])
def test_a_loaded_state_continues_as_if_nothing_had_happened(people, settings, tmp_path):
    score, *rest = tensors(*people)
    loss, resumed = (StrategicLoss(0.7, K, **settings) for _ in range(2))
    loss(score - 0.5, *rest)
    torch.save(loss.state_dict(), tmp_path / "state.pt")
    resumed.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    values = [each(score, *rest) for each in (loss, resumed, StrategicLoss(0.7, K, **settings))]
    assert values[0] == values[1] != values[2]


def test_a_copy_and_a_pickle_keep_the_state(people):
    score, *rest = tensors(*people)
    loss = StrategicLoss(0.7, K, decay=0.9)
    loss(score - 0.5, *rest)
    copies = copy.deepcopy(loss), pickle.loads(pickle.dumps(loss))
    assert len({each(score, *rest).item() for each in (loss, *copies)}) == 1


@pytest.mark.parametrize("cast", ["half", "bfloat16", "float"])
def test_running_sums_stay_in_double_precision_when_a_whole_model_is_cast(people, cast):
    score, *rest = tensors(*people)
    loss, model = (StrategicLoss(0.7, K, decay=0.99) for _ in range(2))
    loss(1e5 * score, *rest)
    model(1e5 * score, *rest)  # the sum of its losses is above the largest number in half precision
    getattr(torch.nn.ModuleList([model]), cast)()
    assert loss(score, *rest) == model(score, *rest)


def test_an_interrupted_training_continues_with_the_same_batches_and_sums(people):
    _, y, group, _ = tensors(*people)
    features = torch.randn(N, 2, generator=torch.Generator().manual_seed(0))

    def parts():
        module = torch.nn.Linear(2, 1)
        torch.nn.init.zeros_(module.weight)
        torch.nn.init.zeros_(module.bias)
        optimizer = torch.optim.Adam(module.parameters(), 0.1)
        return module, StrategicLoss(0.7, K, decay=0.9), GroupBatchSampler(group, 64), optimizer

    def train(module, loss, sampler, optimizer):
        for batch in [*sampler, *sampler]:
            optimizer.zero_grad()
            loss(module(features[batch])[:, 0], y[batch], group[batch]).backward()
            optimizer.step()

    first, second = parts(), parts()
    train(*first)
    saved = io.BytesIO()
    torch.save([part.state_dict() for part in first], saved)
    saved.seek(0)
    for part, state in zip(second, torch.load(saved, weights_only=True), strict=True):
        part.load_state_dict(state)
    train(*first)
    train(*second)
    assert torch.equal(first[0].weight, second[0].weight)


def test_without_decay_there_is_no_state():
    assert not StrategicLoss(0.7, K).state_dict()


# ---------------------------------------------------------------------- the paper's training


@pytest.mark.filterwarnings("ignore:Gradient descent has not converged")
@pytest.mark.parametrize("preset", ["released", "paper"])
@pytest.mark.parametrize("parity", [0.0, 1.0])
def test_300_steps_with_a_preset_of_the_paper_are_the_classifier_of_the_paper(preset, parity):
    data = make_base_rate_groups((0.5, 0.3, 0.15), n_per_group=200, random_state=0)
    X, y, z = data.data[data.data.columns[::-1]], data.target, data.group  # the descent puts group columns last
    settings = {"preset": preset, "n_starts": 1, "max_iter": 300, "settings": {"dtype": "float64"}, "random_state": 0}
    model = PaperClassifier(0.7, parity=parity, **settings).fit(X, y, sensitive_features=z)

    form = ReleasedDemographicParity if preset == "released" else DemographicParity
    loss = StrategicLoss(0.7, 3, constraints=[form(weight=parity)] if parity else [], preset=preset, margin=0.02)
    module = torch.nn.Linear(X.shape[1], 1, dtype=torch.float64)
    start = torch.tensor(np.random.RandomState(0).normal(size=X.shape[1] + 1))
    with torch.no_grad():
        module.weight.copy_(start[:-1])
        module.bias.copy_(start[-1])
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    features, labels, group = tensors(X.to_numpy(np.float64), y.to_numpy(), encode_groups(z).codes)
    for _ in range(300):
        optimizer.zero_grad()
        loss(module(features)[:, 0], labels, group).backward()
        optimizer.step()
    np.testing.assert_allclose(module.weight.detach(), model.coef_, atol=1e-6)
    np.testing.assert_allclose(module.bias.detach(), model.intercept_, atol=1e-6)


def test_several_starts_are_trained_at_once_as_one_by_one(people):
    score, y, group, _ = tensors(*people)
    features = torch.stack([score, group.double(), torch.ones(N)])
    starts = torch.randn(3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))

    def train(parameters, n_scores):
        loss, parameters = (
            StrategicLoss(0.7, K, preset="released", n_scores=n_scores),
            parameters.clone().requires_grad_(),
        )
        optimizer = torch.optim.SGD([parameters], 0.1)
        for _ in range(50):
            optimizer.zero_grad()
            loss(parameters @ features, y, group).sum().backward()
            optimizer.step()
        return parameters.detach()

    torch.testing.assert_close(train(starts, 3), torch.stack([train(start, None) for start in starts]))


# ---------------------------------------------------------------------- errors

SCORE, Y, GROUP = torch.zeros(4), torch.tensor([0, 1, 0, 1]), torch.tensor([0, 0, 1, 1])
BAD_CALLS = [
    ((torch.zeros(4, 2), Y, GROUP), ValueError, r"score has shape \(4, 2\).*one output per person"),
    ((torch.zeros(4, 1), Y, GROUP), ValueError, r"score has shape \(4, 1\).*squeeze"),
    ((torch.zeros(3), Y, GROUP), ValueError, r"score has shape \(3,\), but y has 4 entries.*one score per person"),
    ((torch.zeros(2, 2, 4), Y, GROUP), ValueError, "score has shape"),
    ((torch.zeros(4, dtype=torch.int64), Y, GROUP), TypeError, "score must be a tensor of floating-point.*int64"),
    (([0.0] * 4, Y, GROUP), TypeError, "score must be a tensor.*list"),
    ((torch.tensor([0, 1, np.nan, np.inf]), Y, GROUP), ValueError, "NaN or infinite for 2 of 4.*row 2.*learning rate"),
    ((SCORE, torch.zeros(4, 2), GROUP), ValueError, "y must be one-dimensional"),
    ((SCORE, 2 * Y, GROUP), ValueError, "y must hold only 0 and 1.*found 0, 2"),
    ((SCORE, torch.full((4,), np.nan), GROUP), ValueError, "y has 4 missing"),
    ((SCORE[:0], Y[:0], GROUP[:0]), ValueError, "y is empty"),
    ((SCORE, Y, GROUP[:3]), ValueError, r"group has shape \(3,\), but y has 4 entries"),
    ((SCORE, Y, GROUP + 1), ValueError, "group has the code 2, but n_groups=2 allows 0 to 1.*Set n_groups"),
    ((SCORE, Y, GROUP - 1), ValueError, "group has the code -1"),
    ((SCORE, Y, GROUP.float()), TypeError, r"group must hold whole numbers.*float32.*group\.long\(\)"),
    ((SCORE, Y, ["a", "a", "b", "b"]), TypeError, r"group must hold whole numbers.*encode_groups"),
    ((SCORE, Y, GROUP, torch.ones(3)), ValueError, "sample_weight has 3, the rows has 4"),
    ((SCORE, Y, GROUP, -torch.ones(4)), ValueError, "sample_weight must not be negative"),
    ((SCORE, Y, GROUP, torch.full((4,), np.nan)), ValueError, "sample_weight has 4 missing"),
]


@pytest.mark.parametrize(("arguments", "error", "match"), BAD_CALLS)
def test_a_bad_call_names_the_argument_and_the_remedy(arguments, error, match):
    with pytest.raises(error, match=match):
        StrategicLoss(0.7, 2)(*arguments)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"cost": 1.5}, r"cost must lie in \[0, 1\]"),
        ({"cost": [0.5, -0.1]}, r"cost must lie in \[0, 1\]"),
        ({"cost": np.nan}, r"cost must lie in \[0, 1\]"),
        ({"cost": [0.5] * 3}, r"cost has shape \(3,\), but there are 2 groups"),
        ({"cost": {0: 0.5}}, "cost"),
        ({"n_groups": 0}, "n_groups must be a whole number of at least 1"),
        ({"margin": 0.5}, "margin"),
        ({"decay": 1.0}, r"decay must lie in \[0, 1\).*0\.99"),
        ({"preset": "mine"}, "preset must be one of"),
        ({"temperature": 0.0}, "temperature must be positive"),
        ({"batches_per_epoch": 0}, "batches_per_epoch"),
    ],
)
def test_a_bad_setting_is_refused_at_once(settings, match):
    with pytest.raises((TypeError, ValueError), match=match):
        StrategicLoss(**{"cost": 0.7, "n_groups": 2, **settings})


def test_running_sums_for_another_number_of_scores_are_refused():
    with pytest.raises(ValueError, match=r"n_scores=None\. Make it with n_scores=3"):
        StrategicLoss(0.7, 2, decay=0.9)(torch.zeros(3, 4), Y, GROUP)
    with pytest.raises(ValueError, match=r"n_scores=3\. Make it with n_scores=None"):
        StrategicLoss(0.7, 2, decay=0.9, n_scores=3)(SCORE, Y, GROUP)


@pytest.mark.parametrize("missing", ["torch", "skorch"])
def test_without_pytorch_or_skorch_the_error_says_what_to_install(missing):
    probe = f"import sys; sys.modules[{missing!r}] = None; import selfselect.torch"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False)
    assert "pip install selfselect[torch]" in done.stderr.splitlines()[-1]
