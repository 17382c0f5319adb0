"""The descent of all starts takes the steps of its definition, differentiated by autograd."""

from dataclasses import replace

import numpy as np
import pytest
from autograd import grad

from learning.definition import Definition
from selfselect.constraints import DemographicParity, ReleasedDemographicParity, TruePositiveRateParity
from selfselect.learning.linear import FeatureBlock
from selfselect.learning.objective import StrategicObjective
from selfselect.learning.paper import PRESETS, DescentSettings, descend, strategic_gradient

COST, STEPS = 0.6, 300
RELEASED = DescentSettings.of("released", dtype="float64")
PAPER = PRESETS["paper"]
SHARPNESS = ("temperature", "precision_temperature", "application_temperature", "application_weight")


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


def descended(definition, X, w):
    """Parameters after all steps, one after the other."""

    def value(w, held):
        return definition.value(X @ w[:-1] + w[-1], held)

    before, gradient = None, grad(value)
    for _ in range(STEPS):
        score = X @ w[:-1] + w[-1]
        others = before if definition.settings.corrected_by == "previous" else None
        before = score > 0
        w = w - definition.settings.learning_rate * gradient(w, definition.held(score, others))
    return w


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
    X, y, codes, weight = people
    definition = Definition(y, codes, weight, np.full(4, COST), settings, parity=parity, tpr=tpr)
    expected = [descended(definition, X, each) for each in start]
    np.testing.assert_allclose(ended, expected, rtol=1e-12, atol=1e-12)
    block, objective = block_and_objective(people, settings, tuple(constraints))
    values, _ = objective(objective.smooth_scores(block.rows).forward(block.scores(start)))
    scores = [X @ w[:-1] + w[-1] for w in start]
    assert values == pytest.approx([definition.value(score, definition.held(score)) for score in scores])
    if "unselected" in data:
        assert not ((X @ start[:, :-1].T + start[:, -1])[codes == data["unselected"]] > 0).any()


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
