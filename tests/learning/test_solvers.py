"""Solvers: every candidate does what its evaluation says, and the best one is kept."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from own_behaviours import Linear
from selfselect import InfeasibleError
from selfselect.behaviour import BestResponse, LogitResponse, PrivateCosts
from selfselect.constraints import BaseRateOrder, Constraints, DemographicParity, TruePositiveRateParity
from selfselect.datasets import make_base_rate_groups
from selfselect.learning import Problem, TrainingTerms, evaluate_counts, solve
from selfselect.learning.candidates import counts_of
from selfselect.learning.solvers import ScoreFitter, solve_all_groups, solve_separately

PARITY = (BaseRateOrder(), DemographicParity(0.05, weight=5.0), TruePositiveRateParity(0.1, weight=5.0))


@pytest.fixture(scope="module")
def people():
    X, y, z = make_base_rate_groups((0.5, 0.3, 0.15), n_per_group=200, random_state=0, return_X_y_group=True)
    return X.to_numpy(dtype=float), y.to_numpy() > 0, pd.Categorical(z).codes.astype(np.intp)


def problem_of(people, *, with_groups=True, cost=0.6, margin=0.0, behaviour=None, **constraints):
    X, y, codes = people
    n_groups = codes.max() + 1
    X = X if with_groups else X[:, n_groups:]
    labels = pd.Index([f"z{i}" for i in range(n_groups)])
    response = BestResponse() if behaviour is None else behaviour
    terms = TrainingTerms(labels, np.full(n_groups, cost), margin, Constraints(**constraints), response)
    return Problem.build(X, y, codes, labels, np.ones(len(y)), terms)


LIMITED = {"margin": 0.02, "max_social_cost": 0.3}
CASES = [
    (together, with_groups, constraints)
    for together in (False, True)
    for with_groups in (True, False)
    for constraints in ({}, {"margin": 0.02}, LIMITED, {"between_groups": PARITY})
    if together or with_groups or "max_social_cost" not in constraints
] + [
    (False, False, {"behaviour": behaviour, **constraints})
    for behaviour in (LogitResponse(0.1), PrivateCosts(norm(0, 0.1)), Linear())
    for constraints in ({}, LIMITED, {"between_groups": PARITY})
]


@pytest.mark.parametrize(("together", "with_groups", "constraints"), CASES, ids=lambda value: f"{value}"[:40])
def test_the_evaluation_of_a_candidate_is_what_it_does_on_the_rows(people, with_groups, together, constraints):
    problem = problem_of(people, with_groups=with_groups, **constraints)
    fitter = ScoreFitter("between_groups" not in constraints or "behaviour" in constraints, np.random.RandomState(0))
    candidates, _ = solve_all_groups(problem) if together else solve_separately(problem, fitter)
    for candidate in candidates:
        evaluation = evaluate_counts(problem.terms, counts_of(problem, candidate.parameters), fitted_weights=0.0)
        assert candidate.violation == pytest.approx(evaluation.violation[0])
        assert candidate.accuracy == pytest.approx(evaluation.accuracy[0], nan_ok=True)
        assert candidate.value <= evaluation.value[0] + 1e-12  # some weights were fitted


def test_a_limit_that_parity_rules_out_is_named(people):
    problem = problem_of(
        people, with_groups=False, cost=0.99, max_social_cost=0.0, between_groups=(DemographicParity(0.001),)
    )
    with pytest.raises(InfeasibleError, match="brought down to 0 while the constraints between groups hold"):
        solve(problem, random=np.random.RandomState(0))


def test_standardised_parameters_give_the_scores_of_the_users_features(people):
    X, y, codes = people
    problem = problem_of((X * [3.0, 1.0, 0.5, 100.0] + [0.0, 1.0, 0.0, 1e3], y, codes))
    parameters = np.random.default_rng(0).normal(size=problem.n_features + 1)
    weights, intercept = problem.standardisation.undo_parameters(parameters)
    order = np.argsort(codes, kind="stable")
    users = (X * [3.0, 1.0, 0.5, 100.0] + [0.0, 1.0, 0.0, 1e3])[order]
    assert users @ weights + intercept == pytest.approx(problem.block.score(parameters))
    undone = problem.standardisation.undo_features(problem.block.X)
    assert undone == pytest.approx(users[:, problem.standardisation.order])
    by_users_scale = np.append(weights[problem.standardisation.order], intercept)
    assert problem.standardisation.redo_parameters(by_users_scale) == pytest.approx(parameters)


def test_a_group_that_training_does_not_reach_is_reached_from_a_score_of_its_own(adult, monkeypatch):
    X, y, z, *_ = adult["without"]
    codes = pd.Categorical(z).codes.astype(np.intp)
    parity = DemographicParity(0.2, relative=True, weight=10.0)
    labels = pd.RangeIndex(codes.max() + 1)
    terms = TrainingTerms(labels, np.full(len(labels), 0.75), 0.02, Constraints(between_groups=(parity,)))
    problem = Problem.build(X.to_numpy(float), y.to_numpy() > 0, codes, labels, np.ones(len(y)), terms)
    with_repetitions = solve_all_groups(problem)[0]
    monkeypatch.setattr("selfselect.learning.solvers._repeated_runs", lambda *_: [])
    without = solve_all_groups(problem)[0]
    best, before = (max(some, key=lambda candidate: candidate.rank) for some in (with_repetitions, without))
    assert before.violation == best.violation == 0
    assert best.value > before.value + 0.005
    assert [candidate.rank for candidate in with_repetitions[: len(without)]] == [c.rank for c in without]
