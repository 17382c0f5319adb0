"""Groups that are told to apply, and the precision that their new people get."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from selfselect import (
    GroupThresholdClassifier,
    InfeasibleError,
    NaiveClassifier,
    SemiStrategicClassifier,
    StrategicClassifier,
)
from selfselect.constraints import MaxSocialCost
from selfselect.publishing import Holdout

from .populations import People, Population, World

METHODS = {
    "naive": NaiveClassifier,
    "semi": SemiStrategicClassifier,
    "thresholds": GroupThresholdClassifier,
    "thresholds, all groups": GroupThresholdClassifier,
    "strategic": StrategicClassifier,
    "strategic, group columns": StrategicClassifier,
}
PUBLISH = {"default": {}, "guarantee": {"publish": Holdout(guarantee=True)}}
#: Steps by which the lowest possible social cost, and the published value, are found.
STEPS = 9


class Refused(Exception):  # noqa: N818
    """The library does not take such people, and says so."""


def takes_person(function: Any) -> bool:
    """Whether a function of the library can be told which rows are of one person."""
    return "person" in inspect.signature(function).parameters


def given(people: People, function: Any) -> dict[str, Any]:
    """Arguments about rows, as far as the table has them."""
    if people.person is not None and not takes_person(function):
        raise Refused("person= is not there")
    columns = {"sensitive_features": people.group, "sample_weight": people.weight, "person": people.person}
    return {name: values for name, values in columns.items() if values is not None}


def features(method: str, X: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """What the classifier sees of people."""
    return np.column_stack([X, np.eye(n_groups)[group]]) if method == "strategic, group columns" else X


def fit(method: str, people: People, population: Population, publish: str) -> Any:
    """A fitted classifier; of thresholds for all groups, the one that lets in every group that it can."""
    settings: dict[str, Any] = {"cost": population.cost, **PUBLISH[publish]}
    if population.forest:
        settings["estimator"] = RandomForestClassifier(20, max_depth=4, random_state=0)
    X = features(method, people.X, people.group, population.groups)

    def fitted(**more: Any) -> Any:
        model = METHODS[method](**settings, **more)
        try:
            return model.fit(X, people.y, **given(people, model.fit))
        except InfeasibleError:
            return None
        except ValueError as error:
            raise Refused(str(error)) from error

    if method != "thresholds, all groups":
        return fitted()
    # each group is in, with its own best threshold, where social cost is as low as it can be
    best = fitted(constraints=[MaxSocialCost(0.0)])
    if best is not None:
        return best
    best, low, high = fitted(), 0.0, 1.0
    while high - low > 2.0**-STEPS:
        middle = (low + high) / 2
        found = fitted(constraints=[MaxSocialCost(middle)])
        low, high, best = (middle, high, best) if found is None else (low, middle, found)
    return best


def published_values(model: Any, told: pd.Index, cost: float) -> np.ndarray:
    """Largest cost at which each of the told groups applies, which is what the classifier says about it."""
    low, high = np.full(len(told), cost), np.ones(len(told))
    everyone = pd.Series(cost, index=model.applies().index)
    for _ in range(STEPS):
        middle = (low + high) / 2
        everyone[told] = middle
        applies = model.applies(cost=everyone.to_dict())[told].to_numpy()
        low, high = np.where(applies, middle, low), np.where(applies, high, middle)
    return low


def promise(population: Population, method: str, publish: str, rng: np.random.Generator) -> dict[str, float]:
    """One population: groups told, those whose true precision is below the cost, and published minus true, summed."""
    world = World(population, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fit(method, world.draw(rng), population, publish)
        applies = model.applies()
        told = applies.index[applies]
        if not len(told):
            return {"told": 0, "broken": 0, "bound_excess": 0.0, "precision_excess": 0.0}
        bound = published_values(model, told, population.cost)
    counted = model.published_.to_frame().loc[told, "precision"].to_numpy()
    groups = told.to_numpy(dtype=int)
    X, group = world.new_people(groups, rng)
    needs_group = {"sensitive_features": group} if method.startswith("thresholds") else {}
    selected = model.predict(features(method, X, group, population.groups), **needs_group) == 1
    totals = world.totals(X[:, 0], group, selected)
    with np.errstate(invalid="ignore"):
        precision = (totals["hits"] / totals["passed"])[groups]
    known = ~np.isnan(precision)  # nobody of these groups passes: no promise is broken
    return {
        "told": len(told),
        "broken": int((precision < population.cost).sum()),
        "bound_excess": float((bound - precision)[known].sum()),
        "precision_excess": float((counted - precision)[known].sum()),
    }
