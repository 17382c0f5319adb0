"""The methods that are compared, by name: each fits on one split and says whom it selects at each cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from .._validation import BoolArray, FloatArray
from ..curves import ThresholdCurves
from .sources import Split


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


#: Fits on a split, for costs and with the settings of each, and yields one selection per cost.
Fit = Callable[[Split, Iterable[float], Callable[[float], dict[str, Any]], int], Iterator[Selection]]


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
        Settings of a data set and cost, as stored with each result.
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


def _naive_scores(split: Split) -> tuple[FloatArray, FloatArray]:
    model = LogisticRegression(C=np.inf, max_iter=1000).fit(split.train.features, split.train.y)
    return model.decision_function(split.train.features), model.decision_function(split.test.features)


def _fit_naive(
    split: Split, costs: Iterable[float], settings: Callable[[float], dict[str, Any]], seed: int
) -> Iterator[Selection]:
    train, test = _naive_scores(split)
    for cost in costs:
        yield Selection(cost, train > 0, test > 0)


def best_threshold(y: NDArray[np.int64], score: FloatArray, codes: NDArray[np.intp], cost: float) -> float:
    """Threshold of the highest induced accuracy, the lowest among equals; 0 if nobody can be made to apply.

    Examples
    --------
    >>> best_threshold(np.array([0, 1, 0, 1]), np.array([1.0, 2.0, 3.0, 4.0]), np.zeros(4, dtype=int), 0.7)
    3.0
    """
    outcomes = ThresholdCurves.from_scores(y, score, sensitive_features=codes).outcomes(cost)
    accuracy = outcomes["induced_accuracy"].to_numpy()
    if np.isnan(accuracy).all():
        return 0.0
    return float(outcomes["threshold"].iloc[int(np.nanargmax(accuracy))])


def _fit_semi(
    split: Split, costs: Iterable[float], settings: Callable[[float], dict[str, Any]], seed: int
) -> Iterator[Selection]:
    train, test = _naive_scores(split)
    for cost in costs:
        threshold = best_threshold(split.train.y, train, split.train.codes, cost)
        yield Selection(cost, train > threshold, test > threshold)


def _no_settings(dataset: str, cost: float) -> dict[str, Any]:
    return {}


#: All methods, in the order of the paper's tables.
METHODS: dict[str, Method] = {
    "naive": Method("naive", _fit_naive, _no_settings, shares=True, typical_seconds=0.02),
    "semi": Method("semi", _fit_semi, _no_settings, shares=True, typical_seconds=0.05),
}
