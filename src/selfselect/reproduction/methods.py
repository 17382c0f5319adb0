"""The methods that are compared, by name: each fits on one split and says whom it selects at each cost."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .._validation import BoolArray
from ..estimators import ApplicationWarning, NaiveClassifier, SemiStrategicClassifier, StrategicClassifier
from .people import Split

#: What strategic methods ask of a group's precision beyond the cost.
TOLERANCE = 0.02


@dataclass(frozen=True, eq=False)
class Selection:
    """Whom a fitted method selects at one cost.

    Attributes
    ----------
    cost : float
        The cost that it was fitted for.
    train, test : ndarray of bool
        Who is selected.
    """

    cost: float
    train: BoolArray
    test: BoolArray


#: Settings of a method at a cost, as passed to its estimator and as stored.
Settings = Callable[[float], dict[str, Any]]
#: Fits on a split, for some costs, with the settings of each and a seed; yields one selection per cost.
Fit = Callable[[Split, Iterable[float], Settings, int], Iterator[Selection]]


@dataclass(frozen=True)
class Method:
    """A method of the comparison.

    Attributes
    ----------
    title : str
        What people read.
    fit : callable
        Fits on a split for several costs. What it yields for a cost must not depend on which other costs are asked for.
    settings : callable
        Settings by name of the data set and cost, as stored with each result.
    shares : bool
        Whether fitting several costs at once costs hardly more than fitting one: then they are one unit of work.
    typical_seconds : float
        About how long one cost takes on the bundled Adult data, for estimates before anything is measured.
    """

    title: str
    fit: Fit
    settings: Callable[[str, float], dict[str, Any]]
    shares: bool
    typical_seconds: float


def _fit_naive(split: Split, costs: Iterable[float], settings: Settings, seed: int) -> Iterator[Selection]:
    model = _quietly_fitted(NaiveClassifier(publish="train"), split, split.train.features)
    train, test = model.predict(split.train.features) == 1, model.predict(split.test.features) == 1
    for cost in costs:
        yield Selection(cost, train, test)


def _fit_semi(split: Split, costs: Iterable[float], settings: Settings, seed: int) -> Iterator[Selection]:
    score = _quietly_fitted(NaiveClassifier(publish="train"), split, split.train.features).estimator_
    for cost in costs:
        semi = SemiStrategicClassifier(score, cost=cost, prefit=True, publish="train")
        model = _quietly_fitted(semi, split, split.train.features)
        yield Selection(cost, model.predict(split.train.features) == 1, model.predict(split.test.features) == 1)


def _fit_strategic(split: Split, costs: Iterable[float], settings: Settings, seed: int) -> Iterator[Selection]:
    for cost in costs:
        chosen = settings(cost)
        first = 0 if chosen.pop("group_columns") else split.train.n_group_columns
        train, test = split.train.features[:, first:], split.test.features[:, first:]
        model = _quietly_fitted(
            StrategicClassifier(cost=cost, random_state=seed, publish="train", **chosen), split, train
        )
        yield Selection(cost, model.predict(train) == 1, model.predict(test) == 1)


def _quietly_fitted(estimator: Any, split: Split, features: Any) -> Any:
    """Fit without the warning that nobody applies: that is a result here, and stored as one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApplicationWarning)
        return estimator.fit(features, split.train.y, sensitive_features=split.train.codes)


def parity_weight(dataset: str, cost: float) -> float:
    """Weight of the parity penalty: 100 on the bank data; 8 at a cost of .65, rising linearly to 16 at .85, elsewhere.

    Examples
    --------
    >>> parity_weight("adult", 0.75), parity_weight("bank_30", 0.75)
    (12.0, 100.0)
    """
    return 100.0 if dataset.startswith("bank_") else round(8.0 + 8.0 * (cost - 0.65) / 0.2, 6)


def _no_settings(dataset: str, cost: float) -> dict[str, Any]:
    return {}


def _strategic(
    title: str, *, group_columns: bool, parity: bool = False, equal_tpr: bool = False, typical_seconds: float
) -> Method:
    def settings(dataset: str, cost: float) -> dict[str, Any]:
        weight = parity_weight(dataset, cost)
        return {
            "group_columns": group_columns,
            "parity": weight if parity else 0.0,
            "equal_tpr": weight if equal_tpr else 0.0,
            "tolerance": TOLERANCE,
        }

    return Method(title, _fit_strategic, settings, shares=False, typical_seconds=typical_seconds)


#: All methods, in the order of the paper's tables; ``strat_order`` (parity with equal true-positive rates) is ours.
METHODS: dict[str, Method] = {
    "naive": Method("naive", _fit_naive, _no_settings, shares=True, typical_seconds=0.02),
    "semi": Method("semi", _fit_semi, _no_settings, shares=True, typical_seconds=0.05),
    "strat_x": _strategic("strat_x", group_columns=True, typical_seconds=0.2),
    "strat_no_group": _strategic("strat_no_group", group_columns=False, typical_seconds=0.2),
    "strat_parity": _strategic("strat_parity", group_columns=False, parity=True, typical_seconds=0.7),
    "strat_order": _strategic("strat_order", group_columns=False, parity=True, equal_tpr=True, typical_seconds=0.8),
}
