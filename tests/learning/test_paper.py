"""The descent of all starts takes the steps of its definition, differentiated by autograd."""

from dataclasses import replace

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import grad

from selfselect.constraints import DemographicParity, ReleasedDemographicParity, TruePositiveRateParity
from selfselect.learning.linear import FeatureBlock
from selfselect.learning.objective import StrategicObjective
from selfselect.learning.paper import PRESETS, DescentSettings, descend, strategic_gradient

COST, STEPS = 0.6, 300
RELEASED = DescentSettings.of("released", dtype="float64")
PAPER = PRESETS["paper"]
SHARPNESS = ("temperature", "precision_temperature", "application_temperature", "application_weight")


def sigma(x):
    return 1 / (1 + anp.exp(-x))


class ByDefinition:
    """The objective as the paper writes it (or its released code), for one score; ``of_group`` has a row per group."""

    def __init__(self, X, y, codes, weight, settings, parity=0.0, tpr=0.0):
        self.X, self.y, self.weight, self.settings, self.parity, self.tpr = X, y, weight, settings, parity, tpr
        self.member = np.arange(codes.max() + 1)[:, None] == codes
        self.of_group = self.member * weight
        self.before = None
        self.gradient = grad(self.value)

    def score(self, w):
        return self.X @ w[:-1] + w[-1]

    def held(self, w, current=False):
        """What is constant in the gradient: corrections by hard predictions, the overall rate, who is on top."""
        score, settings = self.score(w), self.settings
        hard = (score > 0).astype(float)
        previous = settings.corrected_by == "previous" and self.before is not None and not current
        others = self.before if previous else hard
        self.before = hard
        p, smooth = sigma(settings.precision_temperature * score), sigma(settings.temperature * score)
        correction = self.of_group @ ((self.y - COST) * (others - p)) / (self.of_group @ p)
        top = np.where(self.member, score, -np.inf).argmax(axis=1)
        correction[~(smooth[top] > settings.corrected_above)] = 0.0
        return correction, self.weight @ smooth / self.weight.sum(), top

    def value(self, w, held):
        settings, score, (correction, overall, top), y = self.settings, self.score(w), held, self.y
        p, smooth = sigma(settings.precision_temperature * score), sigma(settings.temperature * score)
        q = (self.of_group @ (y * p)) / (self.of_group @ p) + correction
        q = anp.clip(q, 1e-6, 1 - 1e-6)
        applies = 1 / (1 + ((q / (1 - q)) / (COST / (1 - COST))) ** -settings.application_temperature)
        log_loss = -(y * anp.log(smooth) + (1 - y) * anp.log(1 - smooth))
        loss = anp.sum(applies * (self.of_group @ log_loss)) / anp.sum(applies * self.of_group.sum(axis=1))
        someone = -anp.log(smooth[top] + 0.001)
        someone = anp.mean(someone) if settings.application_over == "mean" else anp.sum(someone)
        rate = (self.of_group @ smooth) / self.of_group.sum(axis=1)
        if settings.parity_over == "mean":
            spread = anp.mean((rate - anp.sum(self.weight * smooth) / self.weight.sum()) ** 2)
        else:
            spread = anp.sum((10 * (rate - overall)) ** 2)
        true_positive_rate = (self.of_group @ (y * smooth)) / (self.of_group @ y)
        tpr_spread = anp.mean((true_positive_rate - anp.sum(self.weight * y * smooth) / anp.sum(self.weight * y)) ** 2)
        penalty = someone - anp.log(anp.max(applies) + 0.001)
        return loss + settings.application_weight * penalty + self.parity * spread + self.tpr * tpr_spread

    def descend(self, w):
        for _ in range(STEPS):
            w = w - self.settings.learning_rate * self.gradient(w, self.held(w))
        return w


def drawn(n_groups, seed=0, weighted=False, unselected=None):
    """Rows in any order, with one-hot groups and three more columns."""
    rng = np.random.default_rng(seed)
    n = 60 * n_groups
    codes = rng.permutation(np.repeat(np.arange(n_groups), 60))
    own = rng.normal(size=(n, 3))
    y = (rng.uniform(size=n) < 1 / (1 + np.exp(-1.5 * own[:, 0] - codes / n_groups + 1))).astype(float)
    weight = rng.uniform(0.5, 2.0, n) if weighted else np.ones(n)
    X = np.column_stack([np.eye(n_groups)[codes], own])
    start = rng.normal(size=(2, n_groups + 4)) / 2
    if unselected is not None:
        start[:, unselected] = -12.0  # far down: many steps are made without anybody of it
    return (X, y, codes.astype(np.intp), weight), start


def block_and_objective(people, settings, constraints=()):
    X, y, codes, weight = people
    block = FeatureBlock.from_unsorted(X.astype(settings.dtype), y > 0, codes, weight, codes.max() + 1)
    objective = StrategicObjective(
        np.full(codes.max() + 1, COST),
        constraints=constraints,
        **{name: getattr(settings, name) for name in (*SHARPNESS, "corrected_above", "application_over")},
    )
    return block, objective


def all_at_once(people, start, settings, constraints=()):
    block, objective = block_and_objective(people, settings, constraints)
    settings, start = replace(settings, starts=len(start)), start.astype(settings.dtype)
    return descend(strategic_gradient(block, objective, settings), start, settings.learning_rate, STEPS)[0]


@pytest.mark.parametrize("settings", [PAPER, RELEASED], ids=["paper", "released"])
@pytest.mark.parametrize(
    ("changed", "parity", "tpr", "data"),
    [
        ({}, 0.0, 0.0, {}),
        ({}, 0.0, 0.0, {"weighted": True}),
        ({}, 2.0, 0.0, {}),
        ({}, 2.0, 3.0, {"weighted": True}),
        ({}, 0.0, 0.0, {"unselected": 1}),
        ({"temperature": 1.0, "precision_temperature": 7.5, "application_temperature": 3.0}, 0.0, 0.0, {}),
        (
            {"temperature": 4.0, "precision_temperature": 4.0, "learning_rate": 0.05, "application_weight": 0.5},
            0.5,
            0.0,
            {},
        ),
    ],
    ids=["plain", "weights", "parity", "weights and parity", "nobody of a group", "temperatures", "other settings"],
)
def test_steps_of_all_starts_are_those_of_the_definition_by_autograd(settings, changed, parity, tpr, data):
    settings = replace(settings, **changed)
    people, start = drawn(4, **data)
    summed = settings.parity_over == "sum"
    parity = parity / 400 if summed else parity  # the same strength in the other form
    constraints = []
    if parity:
        constraints.append((ReleasedDemographicParity if summed else DemographicParity)(0.02, weight=parity))
    if tpr:
        constraints.append(TruePositiveRateParity(0.05, weight=tpr))
    ended = all_at_once(people, start, settings, tuple(constraints))
    expected = [ByDefinition(*people, settings, parity, tpr).descend(each) for each in start]
    np.testing.assert_allclose(ended, expected, rtol=1e-12, atol=1e-12)
    block, objective = block_and_objective(people, settings, tuple(constraints))
    values, _ = objective(objective.smooth_scores(block.rows).forward(block.scores(start)))
    definition = ByDefinition(*people, settings, parity, tpr)
    assert values == pytest.approx([definition.value(w, definition.held(w, current=True)) for w in start])
    if "unselected" in data:
        X, _, codes, _ = people
        assert not ((X @ start[:, :-1].T + start[:, -1])[codes == data["unselected"]] > 0).any()


@pytest.mark.parametrize("settings", [PAPER, PRESETS["released"]], ids=["paper", "released"])
def test_starts_do_not_affect_each_other(settings):
    people, start = drawn(4, weighted=True)
    parity = (DemographicParity(0.02, weight=2.0),)
    one_by_one = [all_at_once(people, each[None], settings, parity)[0] for each in start]
    rounding = 1e-12 if settings.dtype == "float64" else 2e-4
    np.testing.assert_allclose(all_at_once(people, start, settings, parity), one_by_one, rtol=rounding, atol=rounding)


def test_settings_given_by_name_win_over_those_of_a_preset():
    assert DescentSettings.of() == DescentSettings.of("paper") == DescentSettings()
    assert DescentSettings.of("released", dtype="float64", application_weight=None) == replace(
        PRESETS["released"], dtype="float64"
    )
    with pytest.raises(ValueError, match="No setting of the descent is called 'nonsense'; there are temperature"):
        DescentSettings.of("paper", nonsense=1)
    with pytest.raises(ValueError, match="preset must be"):
        DescentSettings.of("published")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"temperature": 0.0}, "temperature must be positive"),
        ({"application_weight": -1.0}, "application_weight"),
        ({"steps": 2.5}, "steps must be a whole number of at least 1"),
        ({"dtype": "float16"}, "dtype must be"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        DescentSettings(**wrong)
