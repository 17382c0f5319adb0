"""Who applies: the cost a group faces, and the rule by which it decides.

Everything here works on K numbers, one per group, and never sees a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from ._validation import BoolArray, FloatArray, check_choice, check_fraction, some_of
from .groups import values_by_group
from .intervals import precision_interval

Cost: TypeAlias = float | Mapping[Any, float] | pd.Series
Subsidies: TypeAlias = float | Mapping[Any, float] | pd.Series | None
SubsidyKind: TypeAlias = Literal["additive", "proportional"]
Undefined: TypeAlias = Literal["abstain", "apply"]
Tolerance: TypeAlias = float | Literal["auto"]

#: Slack of the comparison ``true_positives >= cost * selected``, per selected person: far above rounding (.75 - .05 is
#: not .7 in floating point), far below one person in any population.
SLACK = 1e-12

#: How far smooth precisions and costs are kept from 0 and 1, where the logit is infinite.
PRECISION_CLIP = 1e-6

#: ``tolerance="auto"`` asks for the lower end of this two-sided interval to reach the cost: one standard error, about.
AUTO_CONFIDENCE = 0.6827


def group_costs(
    labels: pd.Index,
    cost: Cost,
    subsidies: Subsidies = None,
    subsidy_kind: SubsidyKind = "additive",
) -> FloatArray:
    """Cost that each group faces: ``c_z = c - s_z``, or ``c_z = c (1 - s_z)`` for proportional subsidies.

    Parameters
    ----------
    labels : Index of shape (n_groups,)
        The groups.
    cost : float, or mapping from group to float
        Cost of the test in [0, 1], in units of the gain from being hired. A mapping must name every group.
    subsidies : float, or mapping from group to float, optional
        Subsidy, not negative; a mapping may leave groups out (no subsidy). An additive subsidy pays at most the whole
        cost: ``c_z`` is never below 0.
    subsidy_kind : {"additive", "proportional"}, default="additive"
        Proportional subsidies are shares of the cost and lie in [0, 1].

    Returns
    -------
    ndarray of shape (n_groups,)

    Examples
    --------
    >>> group_costs(pd.Index(["A", "B"]), 0.75, {"B": 0.25})
    array([0.75, 0.5 ])
    """
    check_choice(subsidy_kind, "subsidy_kind", ("additive", "proportional"))
    if isinstance(cost, Mapping | pd.Series):
        base = values_by_group(cost, labels, "cost", default=None)
        outside = (base < 0) | (base > 1)
        if outside.any():
            raise ValueError(f"cost must lie in [0, 1]; it does not for group(s) {some_of(labels[outside])}.")
    else:
        base = np.full(len(labels), check_fraction(cost, "cost"))
    if subsidies is None:
        return base
    if isinstance(subsidies, Mapping | pd.Series):
        amount = values_by_group(subsidies, labels, "subsidies", default=0.0)
    else:
        try:
            amount = np.full(len(labels), float(subsidies))
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"subsidies must be a number or a mapping from group to number, got {subsidies!r}."
            ) from error
    highest = 1.0 if subsidy_kind == "proportional" else np.inf
    wrong = ~((amount >= 0) & (amount <= highest) & np.isfinite(amount))
    if wrong.any():
        limit = "between 0 and 1 when proportional" if subsidy_kind == "proportional" else "finite and at least 0"
        raise ValueError(f"subsidies must be {limit}; wrong for group(s) {some_of(labels[wrong])}.")
    if subsidy_kind == "proportional":
        return base * (1 - amount)
    return np.maximum(base - amount, 0.0)


def applies_rule(
    true_positives: ArrayLike,
    selected: ArrayLike,
    costs: ArrayLike,
    undefined: Undefined = "abstain",
) -> BoolArray:
    """Whether each group applies: ``selected > 0 and true_positives >= cost * selected``.

    Counts are compared, never ratios, with a slack of 1e-12 per selected person. A group of which nobody is selected
    has no precision; applying or not is then a tie at utility 0, settled by ``undefined``.

    Parameters
    ----------
    true_positives, selected : array-like
        People selected by the classifier, and those of them who are qualified.
    costs : array-like
        Cost that each group faces.
    undefined : {"abstain", "apply"}, default="abstain"
        What a group without any selected person does.

    Returns
    -------
    ndarray of bool

    Examples
    --------
    >>> applies_rule([7, 6, 0], [10, 10, 0], 0.7)
    array([ True, False, False])
    """
    check_choice(undefined, "undefined", ("abstain", "apply"))
    hits = np.asarray(true_positives, dtype=np.float64)
    passed = np.asarray(selected, dtype=np.float64)
    limits = np.asarray(costs, dtype=np.float64)
    if np.isnan(limits).any():
        raise ValueError("costs has missing values; give every group a cost.")
    worth = hits >= (limits - SLACK) * passed
    return np.asarray(np.where(passed > 0, worth, undefined == "apply"), dtype=bool)


def applies_with_margin(
    true_positives: ArrayLike, selected: ArrayLike, costs: ArrayLike, tolerance: Tolerance = 0.0
) -> BoolArray:
    """Whether each group applies with something to spare, as training asks for.

    Parameters
    ----------
    true_positives, selected, costs : array-like
        As in :func:`applies_rule`.
    tolerance : float or "auto", default=0.0
        A number is added to the cost. "auto" asks instead that the precision reach the cost even at the lower end of
        its Wilson interval of one standard error, so that a handful of lucky people does not count.

    Examples
    --------
    >>> applies_with_margin([7, 70], [10, 100], 0.65, tolerance="auto")
    array([False,  True])
    """
    limits = np.asarray(costs, dtype=np.float64)
    if tolerance != "auto":
        return applies_rule(true_positives, selected, limits + tolerance)
    low, _ = precision_interval(true_positives, selected, confidence=AUTO_CONFIDENCE)
    return np.asarray(np.nan_to_num(low, nan=-1.0) >= limits, dtype=bool)


def check_tolerance(tolerance: Any, costs: FloatArray) -> Tolerance:
    """Refuse a tolerance that is negative, no number, or leaves no precision high enough."""
    if tolerance == "auto":
        return "auto"
    margin = check_fraction(tolerance, "tolerance")
    if margin > 0 and (costs + margin >= 1).any():
        raise ValueError(
            f"cost + tolerance must be below 1, got {costs.max():g} + {margin:g}: no precision could be high enough. "
            "Lower the tolerance."
        )
    return margin


def smooth_applies(precision: FloatArray, costs: FloatArray, temperature: float) -> tuple[FloatArray, FloatArray]:
    """Applications made differentiable: ``a = sigma(t (logit q - logit c))`` and ``da/dq = t a (1 - a) / (q (1 - q))``.

    It is 0 at q = 0, 1/2 at q = c and 1 at q = 1, and tends to the hard rule as the temperature t grows. This is the
    paper's sigmoid in a form that does not overflow; at c = 0 everyone applies, at c = 1 only the flawless do.

    Examples
    --------
    >>> a, slope = smooth_applies(np.array([0.0, 0.7, 1.0]), np.full(3, 0.7), 5.0)
    >>> a.round(3).tolist()
    [0.0, 0.5, 1.0]
    """
    q = np.clip(precision, PRECISION_CLIP, 1 - PRECISION_CLIP)
    c = np.clip(costs, PRECISION_CLIP, 1 - PRECISION_CLIP)
    a = expit(temperature * (logit(q) - logit(c)))
    slope = np.where(q == precision, temperature * a * (1 - a) / (q * (1 - q)), 0.0)
    return a, slope
