"""How people respond: from what is published about a group, and the cost it faces, to the share that applies.

Everything here works on K numbers, one per group, and never sees a row. A behaviour is any object with a method
``shares``. It may have a method ``derivatives`` as well, which training uses; otherwise training differentiates
``shares`` numerically. :class:`BestResponse` is the paper's behaviour.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, logit

from ._validation import BoolArray, FloatArray, check_choice, check_fraction, check_nonnegative
from .statistics import SLACK, Precision, Published

Undefined: TypeAlias = Literal["abstain", "apply"]
#: Shares of groups that apply, in [0, 1]; booleans are shares of 0 and 1.
Shares: TypeAlias = NDArray[Any]
#: Derivatives of shares: in the published value, and in the number of selected people at the same value.
Derivatives: TypeAlias = tuple[FloatArray, FloatArray]

#: Distance that smooth precisions and costs keep from 0 and 1, where the logit is infinite.
PRECISION_CLIP = 1e-6
#: A group counts as applying (yes or no) when at least this share of it applies.
MAJORITY = 0.5
#: Step of numerical derivatives: absolute for values in [0, 1], relative for numbers of people.
DIFFERENCE = 1e-5
#: Smaller shares of a group count as nobody: what a tiny share adds to a sum is lost in rounding.
LEAST_SHARE = 1e-12
#: Halvings of an interval of costs or values: more than floating point can tell apart.
HALVINGS = 60


@runtime_checkable
class Behaviour(Protocol):
    """What share of each group applies."""

    def shares(self, published: Published, cost: FloatArray) -> Shares:
        """Share of each group that applies: booleans, or numbers in [0, 1].

        It must not fall if the published value rises, and not rise with the cost. ``published.value`` is NaN where
        nothing is published; ``published.counts`` has ``true_positives`` and ``selected``.
        """
        ...


@dataclass(frozen=True)
class BestResponse:
    """All of a group apply, or none: ``a = 1{q >= c}`` for the published value q (Proposition 1 of the paper).

    The comparison has a slack of 1e-12. If the precision is published, counts are compared, not ratios.

    Parameters
    ----------
    undefined : {"abstain", "apply"}, default="abstain"
        What a group does if nothing is published about it. If nobody of it is selected, its utility is 0 either way.

    Examples
    --------
    >>> from selfselect import GroupCounts
    >>> counts = GroupCounts(*map(np.array, ([20] * 3, [10] * 3, [10, 10, 0], [7, 6, 0])))
    >>> BestResponse().shares(Published(counts), np.full(3, 0.7))
    array([ True, False, False])
    """

    undefined: Undefined = "abstain"

    def __post_init__(self) -> None:
        check_choice(self.undefined, "undefined", ("abstain", "apply"))

    def shares(self, published: Published, cost: FloatArray) -> BoolArray:
        """Whether each group applies."""
        reaches = published.reaches(cost)
        return reaches if self.undefined == "abstain" else np.asarray(reaches | ~published.is_defined)

    def smooth(self, temperature: float) -> SigmoidResponse:
        """The paper's differentiable approximation."""
        return SigmoidResponse(temperature)

    def max_accepted_cost(self, published: Published) -> FloatArray:
        """Highest cost at which each group applies: what is published."""
        return published.value


@dataclass(frozen=True)
class SigmoidResponse:
    """The paper's smooth form of the best response: ``a = sigma(t (logit q - logit c))`` (its Figure 9).

    It is 0 at q = 0, 1/2 at q = c and 1 at q = 1, and tends to the best response as the temperature t grows.

    Parameters
    ----------
    temperature : float, default=5.0
        Sharpness t.

    Examples
    --------
    >>> from selfselect import GroupCounts
    >>> counts = GroupCounts(*map(np.array, ([20] * 3, [10] * 3, [10] * 3, [0, 7, 10])))
    >>> SigmoidResponse().shares(Published(counts), np.full(3, 0.7)).round(3)
    array([0. , 0.5, 1. ])
    """

    temperature: float = 5.0

    def shares(self, published: Published, cost: FloatArray) -> FloatArray:
        """Share of each group that applies."""
        return _zero_if_undefined(self._evaluate(published.value, cost)[0])

    def derivatives(self, published: Published, cost: FloatArray) -> Derivatives:
        """``da/dq = t a (1 - a) / (q (1 - q))``."""
        slope = self._evaluate(published.value, cost)[1]
        return slope, np.zeros_like(slope)

    def _evaluate(self, value: FloatArray, cost: FloatArray) -> tuple[FloatArray, FloatArray]:
        q = np.clip(value, PRECISION_CLIP, 1 - PRECISION_CLIP)
        c = np.clip(cost, PRECISION_CLIP, 1 - PRECISION_CLIP)
        a = expit(self.temperature * (logit(q) - logit(c)))
        return a, np.where(q == value, self.temperature * a * (1 - a) / (q * (1 - q)), 0.0)


@dataclass(frozen=True)
class LogitResponse:
    """A share of each group applies: ``a = sigma((q - c) / scale)`` (quantal response).

    As the scale goes to 0 this becomes the best response. Nobody applies where nothing is published.

    Parameters
    ----------
    scale : float
        How far from the cost a published value must be to matter, above 0.

    Examples
    --------
    >>> from selfselect import GroupCounts
    >>> counts = GroupCounts(*map(np.array, ([20] * 3, [10] * 3, [10, 10, 0], [7, 6, 0])))
    >>> LogitResponse(scale=0.05).shares(Published(counts), np.full(3, 0.7)).round(3)
    array([0.5  , 0.119, 0.   ])
    """

    scale: float

    def __post_init__(self) -> None:
        if check_nonnegative(self.scale, "scale") == 0:
            raise ValueError("scale must be positive; BestResponse() is the limit of small scales.")

    def shares(self, published: Published, cost: FloatArray) -> FloatArray:
        """Share of each group that applies."""
        return _zero_if_undefined(expit((published.value - cost) / self.scale))

    def derivatives(self, published: Published, cost: FloatArray) -> Derivatives:
        """``da/dq = a (1 - a) / scale``."""
        a = self.shares(published, cost)
        return a * (1 - a) / self.scale, np.zeros_like(a)

    def max_accepted_cost(self, published: Published) -> FloatArray:
        """Highest cost at which half of each group applies: what is published, less the rounding of a subsidy."""
        return np.maximum(published.value - SLACK, 0.0)


@dataclass(frozen=True)
class PrivateCosts:
    """Everybody has a cost of their own: ``a = F(q - c)``.

    A person of a group with cost c has the cost ``c + e`` and applies if the published value reaches it. The deviation
    e has the distribution F, and must be independent of features and label given the group: otherwise those who apply
    are not a random part of their group, and outcomes are wrong. Nobody applies where nothing is published.

    Parameters
    ----------
    distribution : frozen distribution of scipy, or mapping from group to distribution
        Distribution of e: ``scipy.stats.norm(0, 0.1)``.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from selfselect import GroupCounts
    >>> counts = GroupCounts(*map(np.array, ([20, 20], [15, 15], [10, 10], [7, 8])))
    >>> PrivateCosts(norm(0, 0.1)).shares(Published(counts), np.full(2, 0.7)).round(3)
    array([0.5  , 0.841])
    >>> PrivateCosts(norm(0, scale=0.1))
    PrivateCosts(norm(0, scale=0.1))
    """

    distribution: Any

    def __post_init__(self) -> None:
        given = self.distribution
        for each in given.values() if isinstance(given, Mapping) else [given]:
            if not (hasattr(each, "cdf") and hasattr(each, "pdf")) or hasattr(each, "freeze"):
                raise TypeError(
                    f"distribution must be a frozen distribution of scipy such as scipy.stats.norm(0, 0.1), or a "
                    f"mapping from group to distribution; got {each!r}."
                )

    def __repr__(self) -> str:
        given = self.distribution
        if not isinstance(given, Mapping):
            return f"PrivateCosts({_distribution_text(given)})"
        return f"PrivateCosts({{{', '.join(f'{z!r}: {_distribution_text(each)}' for z, each in given.items())}}})"

    def shares(self, published: Published, cost: FloatArray) -> FloatArray:
        """Share of each group that applies."""
        return _zero_if_undefined(self._of("cdf", published, cost))

    def derivatives(self, published: Published, cost: FloatArray) -> Derivatives:
        """``da/dq`` is the density of F at ``q - c``."""
        density = _zero_if_undefined(self._of("pdf", published, cost))
        return density, np.zeros_like(density)

    def _of(self, function: str, published: Published, cost: FloatArray) -> FloatArray:
        gain = np.asarray(published.value - cost, dtype=np.float64)
        if not isinstance(self.distribution, Mapping):
            return np.asarray(getattr(self.distribution, function)(gain), dtype=np.float64)
        result = np.empty_like(gain)
        for label, entries in published.entries_of_groups(self.distribution, "distribution"):
            result[..., entries] = getattr(self.distribution[label], function)(gain[..., entries])
        return result


@dataclass(frozen=True)
class BetaBeliefs:
    """People have a prior belief about their chances, and few published cases change it little.

    They respond to ``(strength mean + TP) / (strength + PP)``, the posterior mean under a Beta prior, in place of the
    published value. Where nothing is published they respond to the prior mean.

    Parameters
    ----------
    mean : float or mapping from group to float
        Prior mean, in [0, 1].
    strength : float
        Number of cases that the prior is worth, above 0.
    response : Behaviour, default=BestResponse()
        How people respond to what they believe.

    Examples
    --------
    >>> from selfselect import GroupCounts
    >>> counts = GroupCounts(*map(np.array, ([20, 200], [15, 150], [10, 100], [8, 80])))
    >>> BetaBeliefs(mean=0.5, strength=10).shares(Published(counts), np.full(2, 0.7))
    array([False,  True])
    """

    mean: float | Mapping[Any, float]
    strength: float
    response: Behaviour = field(default_factory=BestResponse)

    def __post_init__(self) -> None:
        for mean in self.mean.values() if isinstance(self.mean, Mapping) else [self.mean]:
            check_fraction(mean, "mean")
        if check_nonnegative(self.strength, "strength") == 0:
            raise ValueError("strength must be positive: without a prior, use the response alone.")
        check_behaviour(self.response)

    def beliefs(self, published: Published) -> FloatArray:
        """What people of each group believe their chances to be."""
        prior, strength, seen = published.by_group(self.mean, "mean"), self.strength, published.is_defined
        counts = published.counts
        true_positives, selected = np.where(seen, counts.true_positives, 0), np.where(seen, counts.selected, 0)
        return np.asarray((strength * prior + true_positives) / (strength + selected))

    def shares(self, published: Published, cost: FloatArray) -> Shares:
        """Share of each group that applies."""
        return evaluate_shares(self.response, published.with_value(self.beliefs(published)), cost)

    def derivatives(self, published: Published, cost: FloatArray) -> Derivatives:
        """Chain rule through the belief ``b``: ``db/dq = PP / (k + PP)``, ``db/dPP = k (q - mean) / (k + PP)^2``."""
        prior, k, selected = published.by_group(self.mean, "mean"), self.strength, published.counts.selected
        believed = published.with_value(self.beliefs(published))
        in_belief, in_selected = share_derivatives(self.response, believed, cost)
        through_selected = _zero_if_undefined(in_belief * k * (published.value - prior) / (k + selected) ** 2)
        return in_belief * selected / (k + selected), in_selected + through_selected

    def smooth(self, temperature: float) -> BetaBeliefs:
        """The same beliefs with a smooth response to them."""
        return replace(self, response=smooth_behaviour(self.response, temperature))

    def max_accepted_cost(self, published: Published) -> FloatArray:
        """Highest cost at which each group applies."""
        return max_accepted_cost(self.response, published.with_value(self.beliefs(published)))


def _distribution_text(distribution: Any) -> str:
    """A frozen distribution of scipy as it was written; its own repr is an address."""
    if not (hasattr(distribution, "dist") and hasattr(distribution, "args")):
        return repr(distribution)
    arguments = [*map(repr, distribution.args), *(f"{name}={value!r}" for name, value in distribution.kwds.items())]
    return f"{distribution.dist.name}({', '.join(arguments)})"


def _zero_if_undefined(shares: FloatArray) -> FloatArray:
    return np.where(np.isnan(shares), 0.0, shares)


# ---------------------------------------------------------------------- any behaviour


def check_behaviour(behaviour: Any) -> None:
    """Refuse anything that is no behaviour."""
    if isinstance(behaviour, type) or not hasattr(behaviour, "shares"):
        raise TypeError(
            f"behaviour must be an object with a method shares(published, cost), such as LogitResponse(0.05), got "
            f"{behaviour!r}."
        )


def evaluate_shares(behaviour: Behaviour, published: Published, cost: FloatArray) -> Shares:
    """Shares that apply by any behaviour; those of somebody's own are checked."""
    shares = np.asarray(behaviour.shares(published, cost))
    if isinstance(behaviour, BestResponse | SigmoidResponse | LogitResponse | PrivateCosts) or shares.dtype == bool:
        return shares
    if shares.shape != np.broadcast_shapes(np.shape(published.counts.selected), np.shape(cost)):
        raise ValueError(f"{behaviour!r} must return one share for each group, got an array of shape {shares.shape}.")
    wrong = ~((shares >= 0) & (shares <= 1))
    if wrong.any():
        raise ValueError(f"Shares must lie in [0, 1]; {behaviour!r} returned {shares[wrong].ravel()[0]}.")
    return shares


# ---------------------------------------------------------------------- decisions, yes or no


def as_decisions(shares: Shares) -> BoolArray:
    """Whether most of each group applies."""
    return np.asarray(shares >= MAJORITY) if shares.dtype != bool else shares


def max_accepted_cost(behaviour: Behaviour, published: Published) -> FloatArray:
    """Highest cost in [0, 1] at which each group applies; NaN where it applies at no cost, not even 0.

    A behaviour may know it (a method of this name); otherwise the interval of costs is halved. The result is lower by
    1e-12, so that the rounding of a subsidy that lowers the cost to it does not matter.
    """
    known = getattr(behaviour, "max_accepted_cost", None)
    if known is not None:
        return np.asarray(known(published), dtype=np.float64)

    def applies(cost: FloatArray) -> BoolArray:
        return as_decisions(evaluate_shares(behaviour, published, cost))

    shape = np.shape(published.counts.selected)
    highest = _largest_that_holds(applies, shape)
    return np.where(applies(np.zeros(shape)), np.maximum(highest - SLACK, 0.0), np.nan)


def _largest_that_holds(condition: Callable[[FloatArray], BoolArray], shape: tuple[int, ...]) -> FloatArray:
    """Largest number in [0, 1], for each entry, at which a condition holds that holds up to some number."""
    low, high = np.zeros(shape), np.ones(shape)
    at_one = condition(high)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        holds = condition(middle)
        low, high = np.where(holds, middle, low), np.where(holds, high, middle)
    return np.where(at_one, 1.0, low)


def shares_with_margin(behaviour: Behaviour, published: Published, cost: FloatArray, margin: float = 0.0) -> Shares:
    """Shares that apply and whose group clears its cost by a margin, as training requires.

    Under a behaviour of yes or no, groups apply whose precision is also at least the cost plus the margin. Under any
    other, the share is the one at that higher cost.
    """
    shares = evaluate_shares(behaviour, published, cost)
    if margin == 0:
        return shares
    if shares.dtype != bool:
        return evaluate_shares(behaviour, published, cost + margin)
    counts = published.counts
    return np.asarray(shares & (Precision().reaches(counts, cost + margin) | ~(np.asarray(counts.selected) > 0)))


def check_margin(margin: Any, costs: FloatArray) -> float:
    """Return a valid margin; refuse one that no precision could clear."""
    number = check_fraction(margin, "margin")
    if number > 0 and (costs + number >= 1).any():
        raise ValueError(
            f"cost + margin must be below 1, got {costs.max():g} + {number:g}: no precision could be high enough. "
            "Lower the margin."
        )
    return number


# ---------------------------------------------------------------------- training


def smooth_behaviour(behaviour: Behaviour, temperature: float) -> Behaviour:
    """A behaviour with useful derivatives: one of yes or no is replaced by a sigmoid, any other stays as it is.

    A behaviour may have a method ``smooth(temperature)``. One of yes or no that has none is replaced by the paper's
    sigmoid around the lowest value at which each group applies.
    """
    if hasattr(behaviour, "smooth"):
        smooth: Behaviour = behaviour.smooth(temperature)
        return smooth
    return behaviour if hasattr(behaviour, "derivatives") else _Smoothed(behaviour, temperature)


@dataclass(frozen=True)
class _Smoothed:
    """A behaviour without derivatives of its own, smoothed where it is one of yes or no."""

    behaviour: Behaviour
    temperature: float

    def shares(self, published: Published, cost: FloatArray) -> FloatArray:
        shares = evaluate_shares(self.behaviour, published, cost)
        if shares.dtype != bool:
            return shares
        return SigmoidResponse(self.temperature).shares(published, self._critical_value(published, cost))

    def derivatives(self, published: Published, cost: FloatArray) -> Derivatives:
        if np.asarray(self.behaviour.shares(published, cost)).dtype != bool:
            return share_derivatives(self.behaviour, published, cost)
        sigmoid = SigmoidResponse(self.temperature)
        in_value, _ = sigmoid.derivatives(published, self._critical_value(published, cost))
        return in_value, _derivative_in_selected(self, published, cost)  # the critical value may depend on it

    def _critical_value(self, published: Published, cost: FloatArray) -> FloatArray:
        """Highest value at which each group stays away."""
        selected = np.asarray(published.counts.selected, dtype=np.float64)

        def stays_away(value: FloatArray) -> BoolArray:
            return ~np.asarray(self.behaviour.shares(published.at(value, selected), cost), dtype=bool)

        return _largest_that_holds(stays_away, np.broadcast_shapes(selected.shape, np.shape(cost)))


def smooth_shares(
    behaviour: Behaviour, precision: FloatArray, selected: FloatArray, cost: FloatArray, groups: pd.Index | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Shares at a smooth precision, and their derivatives in precision and in the number of selected people."""
    if isinstance(behaviour, SigmoidResponse):  # the usual case, in one evaluation
        shares, in_precision = behaviour._evaluate(precision, cost)
        return shares, in_precision, np.zeros_like(shares)
    published = Published.of_value(precision, selected, groups)
    shares = np.asarray(evaluate_shares(behaviour, published, cost), dtype=np.float64)
    return shares, *share_derivatives(behaviour, published, cost)


def share_derivatives(behaviour: Behaviour, published: Published, cost: FloatArray) -> Derivatives:
    """Derivatives of shares in the published value and in the number of selected people; numerical if need be."""
    if hasattr(behaviour, "derivatives"):
        in_value, in_selected = behaviour.derivatives(published, cost)
        return np.asarray(in_value, dtype=np.float64), np.asarray(in_selected, dtype=np.float64)
    value, selected = published.value, np.asarray(published.counts.selected, dtype=np.float64)
    low, high = np.maximum(value - DIFFERENCE, 0.0), np.minimum(value + DIFFERENCE, 1.0)
    above, below = (behaviour.shares(published.at(at, selected), cost) for at in (high, low))
    in_value = _zero_if_undefined((np.asarray(above, dtype=np.float64) - below) / (high - low))
    return in_value, _derivative_in_selected(behaviour, published, cost)


def _derivative_in_selected(behaviour: Behaviour, published: Published, cost: FloatArray) -> FloatArray:
    """Numerical derivative of shares in the number of selected people at the same published value."""
    selected = np.asarray(published.counts.selected, dtype=np.float64)
    fewer, more = selected * (1 - DIFFERENCE), selected * (1 + DIFFERENCE)
    above, below = (behaviour.shares(published.at(published.value, at), cost) for at in (more, fewer))
    return (np.asarray(above, dtype=np.float64) - below) / np.maximum(more - fewer, np.finfo(float).tiny)
