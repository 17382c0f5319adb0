"""How people respond: from what is published about a group, and the cost it faces, to the share that applies.

Everything here works on K numbers, one per group, and never sees a row. A behaviour is any object with a method
``shares``; :class:`BestResponse` is the paper's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv, expit, logit

from ._validation import BoolArray, FloatArray, check_choice, check_fraction
from .counting.intervals import ROUNDING, precision_interval, ratio

Undefined: TypeAlias = Literal["abstain", "apply"]
Tolerance: TypeAlias = float | Literal["auto"]
#: Shares of groups that apply, in [0, 1]; booleans are shares of 0 and 1.
Shares: TypeAlias = BoolArray | FloatArray

#: Slack of the comparison ``true_positives >= cost * selected``, per selected person: .8 - .1 is not .7 in floating
#: point.
SLACK = ROUNDING

#: Distance that smooth precisions and costs keep from 0 and 1, where the logit is infinite.
PRECISION_CLIP = 1e-6

#: Under ``tolerance="auto"`` the lower end of this two-sided interval (about one standard error) must reach the cost.
AUTO_CONFIDENCE = 0.6827

#: A group counts as applying (yes or no) when at least this share of it applies.
MAJORITY = 0.5


@runtime_checkable
class Behaviour(Protocol):
    """What share of each group applies."""

    def shares(self, true_positives: ArrayLike, selected: ArrayLike, costs: ArrayLike) -> Shares:
        """Share of each group that applies, in [0, 1], from published counts and the cost that each group faces."""
        ...


@dataclass(frozen=True)
class BestResponse:
    """All of a group apply, or none: ``a = 1{selected > 0 and precision >= cost}``.

    Attributes
    ----------
    undefined : {"abstain", "apply"}
        What a group does if none of its people are selected. Then it has no precision, and its utility is 0 either way.

    Examples
    --------
    >>> BestResponse().shares([7, 6, 0], [10, 10, 0], 0.7)
    array([ True, False, False])
    """

    undefined: Undefined = "abstain"

    def __post_init__(self) -> None:
        check_choice(self.undefined, "undefined", ("abstain", "apply"))

    def shares(self, true_positives: ArrayLike, selected: ArrayLike, costs: ArrayLike) -> BoolArray:
        """Whether each group applies; see :func:`applies_rule`."""
        return applies_rule(true_positives, selected, costs, self.undefined)


@dataclass(frozen=True)
class SureRule:
    """All of a group apply if a lower confidence bound of its precision reaches the cost, otherwise none.

    The bound is the one-sided Clopper-Pearson bound of the published counts. If these are counts of people who were
    not used for training or selection, a group that relies on the bound loses with probability at most
    ``1 - confidence``.

    Attributes
    ----------
    confidence : float
        Level of the bound, in (0, 1).
    undefined : {"abstain", "apply"}
        As in :class:`BestResponse`.

    Examples
    --------
    >>> SureRule(confidence=0.9).shares([15, 14], [15, 15], 0.85)
    array([ True, False])
    """

    confidence: float = 0.9
    undefined: Undefined = "abstain"

    def __post_init__(self) -> None:
        check_fraction(self.confidence, "confidence", inclusive=False)
        check_choice(self.undefined, "undefined", ("abstain", "apply"))

    def shares(self, true_positives: ArrayLike, selected: ArrayLike, costs: ArrayLike) -> BoolArray:
        """Whether each group applies."""
        applies = applies_rule(true_positives, selected, costs, self.undefined)
        k, n, limits = np.broadcast_arrays(
            np.asarray(true_positives, float), np.asarray(selected, float), np.asarray(costs, float)
        )
        candidates = applies & (n > 0)  # the precision must reach the cost as well
        applies[candidates] = lower_bound_reaches(k[candidates], n[candidates], limits[candidates], self.confidence)
        return applies


@dataclass(frozen=True)
class PromisedRule(SureRule):
    """:class:`SureRule` for groups with a guarantee; nobody of the other groups applies.

    Attributes
    ----------
    promised : tuple of bool
        Whether each group has a guarantee, in the order of the published counts.
    """

    promised: tuple[bool, ...] = ()

    def shares(self, true_positives: ArrayLike, selected: ArrayLike, costs: ArrayLike) -> BoolArray:
        """Whether each group applies."""
        applies = super().shares(true_positives, selected, costs)
        if applies.shape[-1:] != (len(self.promised),):
            raise ValueError(
                f"Promises were made to {len(self.promised)} group(s), got counts of shape {applies.shape}."
            )
        return np.asarray(applies & np.array(self.promised, dtype=bool))


def highest_cost(behaviour: Behaviour, true_positives: ArrayLike, selected: ArrayLike) -> FloatArray:
    """Highest cost at which each group applies: its precision or the lower bound of it; NaN if there is none.

    Examples
    --------
    >>> [highest_cost(rule, [15.0], [15.0]).round(3).tolist() for rule in (BestResponse(), SureRule())]
    [[1.0], [0.858]]
    """
    k, n = np.asarray(true_positives, dtype=np.float64), np.asarray(selected, dtype=np.float64)
    precision = ratio(k, n)
    if not isinstance(behaviour, SureRule):
        return precision
    low = betaincinv(k, n - k + 1, 1 - behaviour.confidence)  # may be NaN at k = 0, where the precision is 0
    may_apply = n > 0
    if isinstance(behaviour, PromisedRule):
        may_apply = may_apply & np.array(behaviour.promised, dtype=bool)
    # at a confidence below one half the bound may lie above the precision, which must reach the cost as well
    return np.where(may_apply, np.fmin(low, precision), np.nan)


def lower_bound_reaches(
    true_positives: FloatArray, selected: FloatArray, limits: FloatArray, confidence: float
) -> BoolArray:
    """Whether the one-sided lower Clopper-Pearson bound of a precision reaches a limit.

    It does if and only if ``P(at least TP successes | limit) <= 1 - confidence``. Computing this probability is much
    faster than computing the bound.

    Examples
    --------
    >>> lower_bound_reaches(np.array([15.0, 14.0]), np.array([15.0, 15.0]), np.array([0.85, 0.85]), 0.9)
    array([ True, False])
    """
    # NaN for a limit outside [0, 1], and possibly without a true positive: then only a limit of 0 is reached
    p_value = betainc(true_positives, selected - true_positives + 1, limits - SLACK)
    return np.asarray((p_value <= 1 - confidence + SLACK) | (limits <= SLACK))


def as_decisions(shares: Shares) -> BoolArray:
    """Whether most of each group applies.

    Examples
    --------
    >>> as_decisions(np.array([0.2, 0.5, 1.0])).tolist()
    [False, True, True]
    """
    return np.asarray(shares >= MAJORITY) if shares.dtype != bool else shares  # type: ignore[return-value]


def applies_rule(
    true_positives: ArrayLike,
    selected: ArrayLike,
    costs: ArrayLike,
    undefined: Undefined = "abstain",
) -> BoolArray:
    """Whether each group applies: ``selected > 0 and true_positives >= cost * selected`` (Proposition 1 of the paper).

    It compares counts, not ratios, with a slack of 1e-12 per selected person.

    Parameters
    ----------
    true_positives, selected : array-like
        Selected people who are qualified, and selected people.
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
    k, n = np.asarray(true_positives, dtype=np.float64), np.asarray(selected, dtype=np.float64)
    limits = np.asarray(costs, dtype=np.float64)
    if np.isnan(limits).any():
        raise ValueError("costs has missing values; give every group a cost.")
    return np.asarray(np.where(n > 0, k >= (limits - SLACK) * n, undefined == "apply"))


def applies_with_margin(
    true_positives: ArrayLike,
    selected: ArrayLike,
    costs: ArrayLike,
    tolerance: Tolerance = 0.0,
    behaviour: Behaviour | None = None,
) -> BoolArray:
    """Whether each group applies and clears its cost by a margin, as training requires.

    Parameters
    ----------
    true_positives, selected, costs : array-like
        As in :func:`applies_rule`.
    tolerance : float or "auto", default=0.0
        A number: the precision must reach the cost plus this number. "auto": the lower end of its Wilson interval of
        one standard error must reach the cost, which more people make easier to reach.
    behaviour : Behaviour, optional
        How people respond; by default :class:`BestResponse`.

    Examples
    --------
    >>> applies_with_margin([7, 70], [10, 100], 0.65, tolerance="auto")
    array([False,  True])
    """
    response = BestResponse() if behaviour is None else behaviour
    applies = as_decisions(response.shares(true_positives, selected, costs))
    return applies if tolerance == 0 else applies & has_margin(true_positives, selected, costs, tolerance)


def has_margin(true_positives: ArrayLike, selected: ArrayLike, costs: ArrayLike, tolerance: Tolerance) -> BoolArray:
    """Whether the precision of each group clears its cost by a tolerance; see :func:`applies_with_margin`.

    A tolerance in numbers is always cleared by groups of which nobody is selected.
    """
    if tolerance != "auto":
        return applies_rule(true_positives, selected, np.asarray(costs, dtype=np.float64) + tolerance, "apply")
    low, _ = precision_interval(true_positives, selected, confidence=AUTO_CONFIDENCE)
    return np.asarray(low >= np.asarray(costs))  # False for NaN, where nobody is selected


def check_tolerance(tolerance: Any, costs: FloatArray) -> Tolerance:
    """Return a valid tolerance; refuse one that no precision could clear."""
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
    """Differentiable application ``a = sigma(t (logit q - logit c))``, and ``da/dq = t a (1 - a) / (q (1 - q))``.

    It is 0 at q = 0, 1/2 at q = c and 1 at q = 1, and tends to the best response as the temperature t grows. This is
    the sigmoid of the paper (Figure 9) in a form that does not overflow.

    Examples
    --------
    >>> a, derivative = smooth_applies(np.array([0.0, 0.7, 1.0]), np.full(3, 0.7), 5.0)
    >>> a.round(3).tolist()
    [0.0, 0.5, 1.0]
    """
    q = np.clip(precision, PRECISION_CLIP, 1 - PRECISION_CLIP)
    c = np.clip(costs, PRECISION_CLIP, 1 - PRECISION_CLIP)
    a = expit(temperature * (logit(q) - logit(c)))
    derivative = np.where(q == precision, temperature * a * (1 - a) / (q * (1 - q)), 0.0)
    return a, derivative
