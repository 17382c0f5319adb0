"""Intervals, comparisons, impact ratios, frontiers and plans against the truth of the population."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from selfselect import NaiveClassifier, audit, compare, plan_subsidies, threshold_frontier

from .populations import People, Population, World
from .promises import given

RESAMPLES = 300
NUMBERS = ("application_rate", "social_cost", "induced_accuracy", "assumed_accuracy")


def _passes(people: People) -> np.ndarray:
    return (people.X[:, 0] > 0).astype(int)


def _audit(people: People, cost: float) -> Any:
    return audit(people.y, y_pred=_passes(people), cost=cost, **given(people, audit))


def _ratio(one: Any, other: Any) -> Any:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.divide(one, other)


def _outcome(totals: dict[str, np.ndarray], applies: np.ndarray) -> dict[str, float]:
    sums = {name: (float(values @ applies), float(values.sum())) for name, values in totals.items()}
    return {
        "application_rate": sums["n"][0] / sums["n"][1],
        "social_cost": 1 - sums["qualified"][0] / sums["qualified"][1],
        "induced_accuracy": float(_ratio(sums["correct"][0], sums["n"][0])),
        "assumed_accuracy": sums["correct"][1] / sums["n"][1],
    }


def audits(population: Population, rng: np.random.Generator) -> dict[str, float]:
    """Whether 95% intervals of an audit hold the truth (groups decide by their true precision)."""
    world = World(population, rng)
    result = _audit(world.draw(rng, random_groups=True), population.cost)
    totals = world.totals_at(np.zeros(population.groups))
    precision = totals["hits"] / totals["passed"]
    truth = _outcome(totals, precision >= population.cost)
    table = result.uncertainty(n_resamples=RESAMPLES, random_state=int(rng.integers(2**31))).to_frame()
    covered = {
        name: float(table.loc[name, "low"] - 1e-9 <= truth[name] <= table.loc[name, "high"] + 1e-9)
        for name in NUMBERS
        if not np.isnan(truth[name])
    }
    groups = result.to_frame()
    own = precision[groups.index.to_numpy(dtype=int)]
    defined = groups["precision"].notna()
    inside = (groups["precision_low"] <= own) & (own <= groups["precision_high"])
    return covered | {"precision": float(inside[defined].mean())}


def comparisons(population: Population, rng: np.random.Generator) -> dict[str, float]:
    """Whether the difference between two samples of one population is called more than chance."""
    world = World(population, rng)
    both = [_audit(world.draw(rng, random_groups=True), population.cost) for _ in range(2)]
    table = compare(*both, n_resamples=RESAMPLES, random_state=int(rng.integers(2**31))).differences()
    return {
        name: float(not table.loc[name, "low"] <= 0 <= table.loc[name, "high"])
        for name in NUMBERS
        if not np.isnan(table.loc[name, "difference"])
    }


def impact(population: Population, rng: np.random.Generator) -> dict[str, float]:
    """Whether some interval of an impact ratio lies below 1 although all groups are selected equally often."""
    people = World(population, rng).draw(rng, random_groups=True)
    return {"below_1": float((_audit(people, population.cost).impact_ratios()["impact_ratio_high"] < 1).any())}


def frontiers(population: Population, rng: np.random.Generator) -> dict[str, float]:
    """Held-out minus true accuracy of recommended thresholds; groups decide by a new sample of as many people."""
    world = World(population, rng)
    people, later = (world.draw(rng, random_groups=True) for _ in range(2))
    frontier = threshold_frontier(people.y, people.X[:, 0], cost=population.cost, **given(people, threshold_frontier))
    found = {}
    for kind in ("one", "per_group"):
        point = frontier.recommend(1.0, kind=kind)
        if point is None:
            continue
        thresholds = np.full(population.groups, np.nan)
        thresholds[frontier.curves.groups.to_numpy(dtype=int)] = point.thresholds
        passed = later.X[:, 0] > np.where(np.isnan(thresholds), np.inf, thresholds)[later.group]
        weight = passed * (1.0 if later.weight is None else later.weight)
        hits, selected = (np.bincount(later.group, part, population.groups) for part in (weight * later.y, weight))
        applies = np.nan_to_num(_ratio(hits, selected), nan=-1.0) >= population.cost
        true = _outcome(world.totals_at(thresholds), applies)["induced_accuracy"]
        found[kind] = point.held_out_accuracy - true
    return {name: value for name, value in found.items() if not np.isnan(value)}


def plans(population: Population, rng: np.random.Generator) -> dict[str, float]:
    """Share of groups for which a subsidy at 90% confidence is enough by their true precision."""
    world = World(population, rng)
    people = world.draw(rng, random_groups=True)
    labels = np.unique(people.group)
    plan = plan_subsidies(
        people.y,
        y_pred=_passes(people),
        cost=population.cost,
        targets=list(labels),
        confidence=0.9,
        **given(people, plan_subsidies),
    )
    totals = world.totals_at(np.zeros(population.groups))
    paid = plan.subsidies.dropna()
    precision = (totals["hits"] / totals["passed"])[paid.index.to_numpy(dtype=int)]
    return {"enough": float((population.cost - paid.to_numpy() <= precision + 1e-12).mean())} if len(paid) else {}


def new_people(population: Population, rng: np.random.Generator) -> dict[str, float]:
    """Whether intervals of delivered precision hold the truth, and how often the verdict on a promise is wrong."""
    world = World(population, rng)
    people, later = (world.draw(rng, random_groups=True) for _ in range(2))
    model = NaiveClassifier(cost=population.cost)
    model.fit(people.X, people.y, **given(people, model.fit))
    groups = model.audit(later.X, later.y, **given(later, model.audit)).to_frame()
    X, group = world.new_people(np.arange(population.groups), rng)
    totals = world.totals(X[:, 0], group, model.predict(X) == 1)
    own = _ratio(totals["hits"], totals["passed"])[groups.index.to_numpy(dtype=int)]
    inside = (groups["delivered_low"] <= own) & (own <= groups["delivered_high"])
    kept, told = groups["promise_kept"], groups["applies"]
    wrong = ((kept == "no") & (own >= population.cost)) | ((kept == "yes") & (own < population.cost))
    found = {"delivered": inside[groups["delivered"].notna()].mean(), "wrong_verdict": wrong[told].mean()}
    return {name: float(value) for name, value in found.items() if not np.isnan(value)}


SIMULATED = {
    "audit": audits,
    "new people": new_people,
    "compare": comparisons,
    "impact": impact,
    "frontier": frontiers,
    "plan": plans,
}


def interval(kind: str, population: Population, rng: np.random.Generator) -> dict[str, float]:
    """One table of one kind of simulation."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SIMULATED[kind](population, rng)
