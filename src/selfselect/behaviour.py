"""How people decide: from what is published about a group, and what it faces, to the share of it that applies.

Everything here works on K numbers, one per group, and never sees a row. A behaviour is anything with a method
``shares``; :class:`BestResponse` is the paper's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv, expit, logit

from ._validation import BoolArray, FloatArray, check_choice, check_fraction
from .counting.intervals import precision_interval, ratio

Undefined: TypeAlias = Literal["abstain", "apply"]
Tolerance: TypeAlias = float | Literal["auto"]
#: Shares of groups that apply, in [0, 1]; booleans are shares of 0 and 1.
Shares: TypeAlias = BoolArray | FloatArray

#: Slack of the comparison ``true_positives >= cost * selected``, per selected person: far above rounding (.8 - .1 is
#: not .7 in floating point), far below one person in any population.
SLACK = 1e-12

#: How far smooth precisions and costs are kept from 0 and 1, where the logit is infinite.
PRECISION_CLIP = 1e-6

#: ``tolerance="auto"`` asks for the lower end of this two-sided interval to reach the cost: one standard error, about.
AUTO_CONFIDENCE = 0.6827

#: A group counts as applying (yes or no) when at least this share of it applies.
MOST_OF_A_GROUP = 0.5


@runtime_checkable
class Behaviour(Protocol):
    """What share of each group applies."""

    def shares(self, true_positives: ArrayLike, selected: ArrayLike, costs: ArrayLike) -> Shares:
        """Share of each group that applies, in [0, 1], from counts of the same shape and the cost each group faces."""
        ...


@dataclass(frozen=True)
class BestResponse:
    """Everybody of a group applies, or nobody: ``a = 1{selected > 0 and precision >= cost}``.

    Attributes
    ----------
    undefined : {"abstain", "apply"}
        What a group does of which nobody is selected: it has no precision, and applying or not is a tie at utility 0.
    """

    undefined: Undefined = "abstain"

    def __post_init__(self) -> None:
        check_choice(self.undefined, "undefined", ("abstain", "apply"))

    def shares(self, true_positives: ArrayLike, selected: ArrayLike, costs: ArrayLike) -> BoolArray:
        """Whether each group applies; see :func:`applies_rule`."""
        return applies_rule(true_positives, selected, costs, self.undefined)


@dataclass(frozen=True)
class SureRule:
    """Everybody of a group applies if it is sure that the precision reaches the cost, else nobody.

    Sure means that the lower Clopper-Pearson bound of the published counts, one-sided at the level ``confidence``, is
    at least the cost. Where the counts come from people that the classifier has not seen, and nothing was chosen by
    looking at them, a group that trusts it loses in at most a share ``1 - confidence`` of cases.

    Attributes
    ----------
    confidence : float
        Level of the bound, in (0, 1).
    undefined : {"abstain", "apply"}
        What a group does of which nobody is selected.
    """

    confidence: float = 0.9
    undefined: Undefined = "abstain"

    def __post_init__(self) -> None:
        check_fraction(self.confidence, "confidence", inclusive=False)
        check_choice(self.undefined, "undefined", ("abstain", "apply"))

    def shares(self, true_positives: ArrayLike, selected: ArrayLike, costs: ArrayLike) -> BoolArray:
        """Whether each group is sure to be worth it; see :func:`surely_reaches`."""
        applies = applies_rule(true_positives, selected, costs, self.undefined)
        hits, passed, limits = np.broadcast_arrays(
            np.asarray(true_positives, float), np.asarray(selected, float), np.asarray(costs, float)
        )
        looked_at = applies & (passed > 0)  # the bound is below the precision: only those can be sure
        applies[looked_at] = surely_reaches(hits[looked_at], passed[looked_at], limits[looked_at], self.confidence)
        return applies


@dataclass(frozen=True)
class PromisedRule(SureRule):
    """Everybody of a group applies that is promised something, as far as that is sure; nobody of the others.

    Attributes
    ----------
    promised : tuple of bool
        Whether each group is promised anything, in the order of the published counts.
    """

    promised: tuple[bool, ...] = ()

    def shares(self, true_positives: ArrayLike, selected: ArrayLike, costs: ArrayLike) -> BoolArray:
        """Whether each group is promised something that is sure to be worth it."""
        sure = super().shares(true_positives, selected, costs)
        if sure.shape[-1:] != (len(self.promised),):
            raise ValueError(f"Promises were made to {len(self.promised)} group(s), got counts of shape {sure.shape}.")
        return np.asarray(sure & np.array(self.promised, dtype=bool))


def highest_cost(behaviour: Behaviour, true_positives: ArrayLike, selected: ArrayLike) -> FloatArray:
    """Highest cost at which each group applies: its precision, or where it must be sure, the bound; NaN without one.

    Examples
    --------
    >>> [highest_cost(rule, [15.0], [15.0]).round(3).tolist() for rule in (BestResponse(), SureRule())]
    [[1.0], [0.858]]
    """
    hits, passed = np.asarray(true_positives, dtype=np.float64), np.asarray(selected, dtype=np.float64)
    if not isinstance(behaviour, SureRule):
        return ratio(hits, passed)
    low = betaincinv(hits, passed - hits + 1, 1 - behaviour.confidence)  # perhaps NaN without a hit; that is a 0 below
    comes = passed > 0
    if isinstance(behaviour, PromisedRule):  # who is promised nothing comes at no cost
        comes = comes & np.array(behaviour.promised, dtype=bool)
    # at a confidence below one half the bound may lie above the precision, and nobody comes for less than that
    return np.where(comes, np.fmin(low, ratio(hits, passed)), np.nan)


def surely_reaches(
    true_positives: FloatArray, selected: FloatArray, limits: FloatArray, confidence: float
) -> BoolArray:
    """Whether the lower Clopper-Pearson bound, one-sided, reaches a limit.

    It does if and only if ``P(at least TP hits | limit) <= 1 - level``. Asking for the
    probability instead of the bound says the same, many times faster.

    Examples
    --------
    >>> surely_reaches(np.array([15.0, 14.0]), np.array([15.0, 15.0]), np.array([0.85, 0.85]), 0.9)
    array([ True, False])
    """
    # NaN for a limit beyond [0, 1], and perhaps without a hit: then nobody is sure, but of a cost of nothing
    chance = betainc(true_positives, selected - true_positives + 1, limits - SLACK)
    return np.asarray((chance <= 1 - confidence + SLACK) | (limits <= SLACK))


def as_decisions(shares: Shares) -> BoolArray:
    """Yes or no for each group: whether most of it applies.

    Examples
    --------
    >>> as_decisions(np.array([0.2, 0.5, 1.0])).tolist()
    [False, True, True]
    """
    return np.asarray(shares >= MOST_OF_A_GROUP) if shares.dtype != bool else shares  # type: ignore[return-value]


def applies_rule(
    true_positives: ArrayLike,
    selected: ArrayLike,
    costs: ArrayLike,
    undefined: Undefined = "abstain",
) -> BoolArray:
    """Whether each group applies: ``selected > 0 and true_positives >= cost * selected`` (Proposition 1 of the paper).

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
    return np.asarray(np.where(passed > 0, worth, undefined == "apply"))


def applies_with_margin(
    true_positives: ArrayLike,
    selected: ArrayLike,
    costs: ArrayLike,
    tolerance: Tolerance = 0.0,
    behaviour: Behaviour | None = None,
) -> BoolArray:
    """Whether each group applies with something to spare, as training asks for.

    Parameters
    ----------
    true_positives, selected, costs : array-like
        As in :func:`applies_rule`.
    tolerance : float or "auto", default=0.0
        A number: the precision must also reach the cost and so much more. "auto" asks instead that it reach the cost
        even at the lower end of its Wilson interval of one standard error, so that a handful of lucky people does not
        count.
    behaviour : Behaviour, optional
        How people answer; by default the hard rule.

    Examples
    --------
    >>> applies_with_margin([7, 70], [10, 100], 0.65, tolerance="auto")
    array([False,  True])
    """
    answers = BestResponse() if behaviour is None else behaviour
    decided = as_decisions(answers.shares(true_positives, selected, costs))
    return decided if tolerance == 0 else decided & has_margin(true_positives, selected, costs, tolerance)


def has_margin(true_positives: ArrayLike, selected: ArrayLike, costs: ArrayLike, tolerance: Tolerance) -> BoolArray:
    """Whether the precision of each group clears its cost by a tolerance; see :func:`applies_with_margin`.

    A number says nothing about groups of which nobody is selected.
    """
    if tolerance != "auto":
        return applies_rule(true_positives, selected, np.asarray(costs, dtype=np.float64) + tolerance, "apply")
    low, _ = precision_interval(true_positives, selected, confidence=AUTO_CONFIDENCE)
    return np.asarray(low >= np.asarray(costs))  # NaN, where nobody is selected, reaches nothing


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
    sigmoid of the paper (Figure 9) in a form that does not overflow; at c = 0 everyone applies, at c = 1 only the
    flawless do.

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
