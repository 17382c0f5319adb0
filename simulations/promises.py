"""Groups that are told to apply, and the precision that their new people get."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
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
#: Steps by which the lowest possible social cost is found.
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


def promise(population: Population, method: str, publish: str, rng: np.random.Generator) -> dict[str, float]:
    """One population: groups told and bounds published, those that the truth is below, published minus true, summed."""
    world = World(population, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fit(method, world.draw(rng), population, publish)
    bound = model.terms_.statistic.value(model.published_.counts)
    groups = np.flatnonzero(~np.isnan(bound))  # codes and labels of groups are the same
    X, group = world.new_people(groups, rng)
    needs_group = {"sensitive_features": group} if method.startswith("thresholds") and len(group) else {}
    selected = model.predict(features(method, X, group, population.groups), **needs_group) == 1 if len(group) else group
    totals = world.totals(X[:, 0], group, selected)
    with np.errstate(invalid="ignore"):
        precision = totals["hits"] / totals["passed"]  # NaN where nobody passes: no promise is broken
    told = model.applies().to_numpy()
    counted = model.published_.to_frame()["precision"].to_numpy()
    return {
        "told": int(told.sum()),
        "broken": int((precision < population.cost)[told].sum()),
        "published": len(groups),
        "above_truth": int((bound > precision).sum()),
        "bound_excess": float(np.nansum((bound - precision)[told])),
        "precision_excess": float(np.nansum((counted - precision)[told])),
    }
