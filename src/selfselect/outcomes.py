"""What follows once it is decided who applies, from counts per group."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from ._validation import FloatArray, check_shares
from .behaviour import Shares, as_decisions
from .counting.counts import GroupCounts
from .counting.groups import position_of, with_same_columns
from .counting.intervals import ratio
from .publishing.published import PublishedStatistics


@dataclass(frozen=True)
class Outcome:
    """What a screening model does to a population, given who applies.

    Attributes
    ----------
    assumed_accuracy : float
        Accuracy over everybody.
    induced_accuracy : float
        Accuracy over applicants, NaN if nobody applies.
    applying_groups : int
        Number of groups that apply (most of whose people do, where groups are divided).
    application_rate : float
        Share of people who apply.
    social_cost : float
        Share of qualified people who do not apply, NaN if nobody is qualified.
    """

    assumed_accuracy: float
    induced_accuracy: float
    applying_groups: int
    application_rate: float
    social_cost: float

    def to_dict(self) -> dict[str, float]:
        """Names and numbers."""
        return asdict(self)


@dataclass(frozen=True)
class BoundedOutcome(Outcome):
    """The same where some people were not tested, so that nobody knows whether they are qualified.

    What depends on their labels is NaN, and lies between two bounds: the worst and the best case over all that their
    labels may be, each bound on its own. Both are reached.

    Attributes
    ----------
    untested : float
        People whose label is unknown.
    assumed_accuracy_low, assumed_accuracy_high : float
        Bounds of the accuracy over everybody.
    induced_accuracy_low, induced_accuracy_high : float
        Bounds of the accuracy over applicants, NaN if nobody applies.
    social_cost_low, social_cost_high : float
        Bounds of the share of qualified people who do not apply, NaN if nobody can be qualified.
    """

    untested: float
    assumed_accuracy_low: float
    assumed_accuracy_high: float
    induced_accuracy_low: float
    induced_accuracy_high: float
    social_cost_low: float
    social_cost_high: float


#: How the two bounds of a number are named after it.
ENDS = ("low", "high")
#: What depends on labels, and so has bounds where some are unknown.
BOUNDED = ("assumed_accuracy", "induced_accuracy", "social_cost")


def outcome_bounds(counts: GroupCounts, shares: Shares) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Lowest and highest accuracy and social cost, whatever the labels of people who were not tested.

    Parameters
    ----------
    counts : GroupCounts
        Sums over the last axis, which is that of groups; there may be other axes before it.
    shares : ndarray
        Share of each group that applies, of the same shape.

    Returns
    -------
    dict
        From each of :data:`BOUNDED` to its two bounds, which are equal where all labels are known.

    Examples
    --------
    >>> counts = GroupCounts(*(np.array(column) for column in ([10, 10], [3, 2], [4, 4], [3, 2], [0, 5])))
    >>> bounds = outcome_bounds(counts, np.array([1.0, 0.0]))
    >>> [round(float(bound), 3) for bound in bounds["social_cost"]]
    [0.4, 0.7]
    """
    fewest, most = counts.correct_bounds
    here = np.asarray(shares, dtype=np.float64)
    everybody, applicants = counts.n.sum(axis=-1), (here * counts.n).sum(axis=-1)
    return {
        "assumed_accuracy": (ratio(fewest.sum(axis=-1), everybody), ratio(most.sum(axis=-1), everybody)),
        "induced_accuracy": (
            ratio((here * fewest).sum(axis=-1), applicants),
            ratio((here * most).sum(axis=-1), applicants),
        ),
        "social_cost": (_extreme_share(counts, 1 - here, -1), _extreme_share(counts, 1 - here, 1)),
    }


def _extreme_share(counts: GroupCounts, away: FloatArray, sign: int) -> FloatArray:
    """Lowest (sign -1) or highest (1) share of qualified people who stay away.

    One more qualified person raises the share if more of that group than that share stays away. So at the extreme all
    untested people of the groups with the largest (or smallest) share away are qualified, and nobody else.
    """
    if counts.is_known:  # nothing to sort
        return ratio((away * counts.positives).sum(axis=-1), counts.positives.sum(axis=-1))
    unknown = np.broadcast_to(counts.unknown, away.shape)
    order = np.argsort(-sign * away, axis=-1, kind="stable")
    away_there, unknown_there = (np.take_along_axis(values, order, axis=-1) for values in (away, unknown))
    added, added_away = np.cumsum(unknown_there, axis=-1), np.cumsum(away_there * unknown_there, axis=-1)
    known = counts.positives.sum(axis=-1)[..., None]
    known_away = (away * counts.positives).sum(axis=-1)[..., None]
    nobody = ratio(known_away, known)
    reached = sign * np.concatenate([nobody, ratio(known_away + added_away, known + added)], axis=-1)
    best: FloatArray = sign * np.max(np.where(np.isnan(reached), -np.inf, reached), axis=-1)
    return np.where(np.isfinite(best), best, np.nan)


def outcome(population: PublishedStatistics, applies: pd.Series) -> Outcome:
    """All metrics of a population from its counts per group and each group's decision.

    Parameters
    ----------
    population : PublishedStatistics
        Counts of the people under evaluation (a test set, say).
    applies : Series of bool or of shares in [0, 1], indexed by group
        Who applies, by what was published before. It may name groups of which nobody is in the population.

    Examples
    --------
    >>> published = PublishedStatistics.from_predictions([1, 0, 1, 0], [1, 0, 1, 1], sensitive_features=list("AABB"))
    >>> outcome(published, published.applies(cost=0.7)).induced_accuracy
    1.0
    """
    if not isinstance(applies, pd.Series) or applies.index.has_duplicates:
        raise TypeError("applies must be a Series of decisions, indexed by group, each once.")
    shares = check_shares(applies)
    wanted = with_same_columns(population.groups, applies.index, "The population", "applies")
    try:
        position = position_of(wanted, applies.index, "The population", "applies")
    except ValueError as error:
        raise ValueError(f"applies says nothing about group(s) of the population. {error}") from error
    here: FloatArray = shares[position]
    counts: GroupCounts = population.counts
    if not counts.is_known:
        return _bounded(counts, here, int(as_decisions(shares).sum()))
    return Outcome(
        assumed_accuracy=float(ratio(counts.correct.sum(), counts.n.sum())),
        induced_accuracy=float(ratio(here @ counts.correct, here @ counts.n)),
        applying_groups=int(as_decisions(shares).sum()),
        application_rate=float(ratio(here @ counts.n, counts.n.sum())),
        social_cost=float(ratio((1 - here) @ counts.positives, counts.positives.sum())),
    )


def _bounded(counts: GroupCounts, here: FloatArray, applying_groups: int) -> BoundedOutcome:
    """What follows where some people were not tested."""
    bounds = {name: (float(low), float(high)) for name, (low, high) in outcome_bounds(counts, here).items()}
    known = {name: low if low == high else np.nan for name, (low, high) in bounds.items()}
    ends = {f"{name}_{end}": bound for name, pair in bounds.items() for end, bound in zip(ENDS, pair, strict=True)}
    return BoundedOutcome(
        **known,
        **ends,
        applying_groups=applying_groups,
        application_rate=float(ratio(here @ counts.n, counts.n.sum())),
        untested=float(counts.unknown.sum()),
    )
