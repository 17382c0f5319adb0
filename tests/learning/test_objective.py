"""The objectives: value and gradient by their definition, by autograd and by finite differences."""

import numpy as np
import pandas as pd
import pytest
from autograd import grad
from autograd.scipy.special import erf
from scipy.optimize import check_grad
from scipy.stats import norm

from learning.definition import Definition, sigma, sigmoid
from own_behaviours import Cautious, Linear
from selfselect import PublishedStatistics, StrategicObjective, Terms, constraints
from selfselect.behaviour import BestResponse, BetaBeliefs, LogitResponse, PrivateCosts
from selfselect.constraints import BaseRateOrder, DemographicParity, TruePositiveRateParity, violations
from selfselect.counting.rows import InMemoryRows
from selfselect.learning.linear import LinearLoss
from selfselect.learning.objective import PrecisionBounds, TargetedObjective
from selfselect.metrics import outcome

K = 4
GROUPS = pd.Index(list("dabc"))  # of codes 0 to 3; sorted, the order is another
COST = {"a": 0.5, "b": 0.65, "c": 0.4, "d": 0.7}
MEANS = {"a": 0.3, "b": 0.7, "c": 0.5, "d": 0.6}


# ---------------------------------------------------------------------- the paper's objective by its definition


def logit(q, n, c):
    return sigma((q - c) / 0.1)


def belief(q, n):
    return (8 * np.array([MEANS[label] for label in GROUPS]) + q * n) / (8 + n)


#: Behaviour, its smooth shares (of precision, selected people and cost), and whether it is one of yes or no.
BEHAVIOURS = {
    "best response": (None, sigmoid, True),
    "logit": (LogitResponse(0.1), logit, False),
    "private costs": (
        PrivateCosts({label: norm(0.02, 0.1) for label in GROUPS}),
        lambda q, n, c: (1 + erf((q - c - 0.02) / (0.1 * np.sqrt(2)))) / 2,
        False,
    ),
    "beliefs": (BetaBeliefs(MEANS, 8), lambda q, n, c: sigmoid(belief(q, n), n, c), True),
    "beliefs and logit": (
        BetaBeliefs(MEANS, 8, LogitResponse(0.1)),
        lambda q, n, c: logit(belief(q, n), n, c),
        False,
    ),
}


@pytest.mark.parametrize("loss", ["log", "errors"])
@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize("name", BEHAVIOURS)
def test_value_and_gradient_are_those_of_the_definition_by_autograd(data, name, corrected, loss):
    _, X, y, codes, weight, w = data
    behaviour, shares, yes_or_no = BEHAVIOURS[name]
    cost = np.array([COST[label] for label in GROUPS])
    definition = Definition(y, codes, weight, cost, shares=shares, corrected=corrected and yes_or_no, loss=loss)
    objective = StrategicObjective(COST, behaviour, corrected=corrected, loss=loss)
    scores = np.stack([X @ w[:-1] + w[-1], 0.3 - X @ w[:-1]])
    values, gradients = objective.value_and_gradient(scores, y, GROUPS[codes], weight)
    for score, value, gradient in zip(scores, values, gradients, strict=True):
        held = definition.held(score)
        assert value == pytest.approx(definition.value(score, held))
        assert gradient == pytest.approx(grad(definition.value)(score, held), rel=1e-6, abs=1e-9)
        alone = objective.value_and_gradient(score, y, GROUPS[codes], weight)
        assert (alone[0], alone[1].tolist()) == (pytest.approx(value), pytest.approx(gradient.tolist()))


def named(value):
    return type(value).__name__


CONSTRAINTS = [
    DemographicParity(0.02, weight=2.0),
    DemographicParity(ratio_bound=0.8).with_weight(),
    DemographicParity(0.2, relative=True).with_weight(),
    TruePositiveRateParity(0.05).with_weight(),
    constraints.FalsePositiveRateParity(0.05, ratio_bound=0.7, weight=3.0).with_weight(),
    BaseRateOrder().with_weight(),
    # only hard counts know these
    (constraints.RequiredGroups("a"), constraints.MaxSocialCost(0.1), constraints.MinSelectionRate(0.9)),
]


@pytest.mark.parametrize(
    "settings",
    [
        *({"behaviour": behaviour} for behaviour in (Linear(), Cautious(), BetaBeliefs(0.4, 9, Linear()))),
        *({"constraints": constraint, "behaviour": LogitResponse(0.2)} for constraint in CONSTRAINTS),
        {"constraints": CONSTRAINTS[:3], "loss": "errors", "margin": 0.1, "application_over": "sum"},
        {"temperature": 4.0, "precision_temperature": 4.0, "application_weight": 0.5},
    ],
    ids=lambda settings: " ".join(map(named, settings.values())),
)
def test_the_gradient_is_that_of_finite_differences(data, settings):
    _, X, y, codes, weight, w = data
    score = X @ w[:-1] + w[-1]
    on_rows = StrategicObjective(COST, corrected=False, **settings).on_rows(y, GROUPS[codes], weight)

    def value(score):
        return on_rows.value_and_gradient(score)[0]

    def gradient(score):
        return on_rows.value_and_gradient(score)[1]

    assert check_grad(value, gradient, score) < 1e-5 * np.abs(gradient(score)).max() + 1e-6


def test_a_behaviour_of_shares_is_not_corrected_by_hard_counts_whoever_wrote_it(data):
    _, X, y, codes, _, w = data
    for behaviour, differs in ((Linear(), False), (LogitResponse(0.1), False), (Cautious(), True), (None, True)):
        one, other = (
            StrategicObjective(COST, behaviour, corrected=each).value_and_gradient(X @ w[:-1], y, GROUPS[codes])[0]
            for each in (True, False)
        )
        assert (one != other) == differs


@pytest.mark.parametrize("behaviour", [None, LogitResponse(0.1), Linear(), BetaBeliefs(MEANS, 8)], ids=named)
def test_hard_is_the_outcome_of_what_the_hard_counts_publish(data, behaviour):
    _, X, y, codes, weight, w = data
    score, groups = X @ w[:-1] + w[-1], GROUPS[codes]
    given = [DemographicParity(0.02), constraints.RequiredGroups("a"), constraints.MaxSocialCost(0.1)]
    hard = StrategicObjective(COST, behaviour, given, margin=0.1).hard(score, y, groups, weight)
    table = PublishedStatistics.from_predictions(y, score > 0, sensitive_features=groups, sample_weight=weight)
    terms = Terms(COST, behaviour=BestResponse() if behaviour is None else behaviour)
    assert hard.shares.to_dict() == pytest.approx(table.shares(terms).to_dict())
    assert hard.outcome.to_dict() == pytest.approx(outcome(table, table.shares(terms)).to_dict())
    broken = violations(given, table.groups, table.counts, table.shares(terms).to_numpy())
    assert hard.violations.to_dict() == pytest.approx(broken.to_dict())
    assert list(broken.index) == [repr(constraint) for constraint in given]


@pytest.mark.parametrize(
    "behaviour", [*(behaviour for behaviour, *_ in BEHAVIOURS.values()), Linear(), Cautious()], ids=named
)
@pytest.mark.parametrize("corrected", [False, True])
def test_nothing_overflows_at_extreme_scores_and_costs_or_of_a_single_person(data, behaviour, corrected):
    _, X, y, codes, _, w = data
    parity = (
        DemographicParity(ratio_bound=0.8).with_weight(),
        constraints.FalsePositiveRateParity(0.1),
        BaseRateOrder().with_weight(),
    )
    weight = np.where(codes == 1, 0.0, 1.0)  # nobody of a group counts
    for cost in (0.5, 0.0, 1e-9, 1 - 1e-9, 1.0):
        objective = StrategicObjective(cost, behaviour, parity, corrected=corrected)
        for scale in (0.0, 1.0, 1e3, 1e8):
            for score in (scale * (X @ w[:-1]), np.full(len(y), scale), np.full(len(y), -scale)):
                value, gradient = objective.value_and_gradient(score, y, GROUPS[codes], weight)
                assert np.isfinite([value, *gradient]).all()
                one = objective.value_and_gradient(score[:1], y[:1], ["a"])
                assert np.isfinite([one[0], *one[1]]).all()
    hard = StrategicObjective(0.5, behaviour).hard([-1.0], [1], ["a"])
    assert np.isnan(hard.outcome.induced_accuracy) or behaviour is not None  # a prior belief may be enough


@pytest.mark.parametrize(
    ("settings", "score", "message"),
    [
        ({"cost": 0.5, "loss": "hinge"}, [1.0], "loss must be one of 'log', 'errors', got 'hinge'"),
        ({"cost": 1.5}, [1.0], r"cost must lie in \[0, 1\]"),
        ({"cost": {"a": 0.5, "b": 0.5}}, [1.0], r"cost names group\(s\) that the table of groups does not know: 'b'"),
        ({"cost": 0.5}, [1.0, 2.0], r"score has shape \(2,\), but there are 1 people"),
        ({"cost": 0.5}, [np.inf], "score has values that are missing or infinite"),
    ],
)
def test_wrong_arguments_are_refused(settings, score, message):
    with pytest.raises(ValueError, match=message):
        StrategicObjective(**settings).value_and_gradient(score, [1], ["a"])


# ---------------------------------------------------------------------- the objective of the default solvers


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
    given = (BaseRateOrder(), DemographicParity(0.02), TruePositiveRateParity(0.05))
    objective = TargetedObjective(np.ones(K), 1.0, bounds=PrecisionBounds(*np.full((2, K), 0.5)), constraints=given)
    weighted = objective.with_weight(10.0)
    assert weighted.bounds.weight == 10.0
    barriers = [constraint.barrier for constraint in weighted.constraints]
    assert barriers == pytest.approx([10.0, 10 / 0.02**2, 10 / 0.05**2])
