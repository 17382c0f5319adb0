"""Accuracy, application rate and social cost of a population, given who applies."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from ._validation import FloatArray, check_shares
from .behaviour import Shares, as_decisions
from .counting.counts import GroupCounts
from .counting.groups import Unseen, position_of, with_same_columns
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
        Number of groups most of whose people apply.
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
    """Outcome of a population in which some people were not tested, so that their labels are unknown.

    A metric that depends on these labels is NaN. Its bounds are the smallest and the largest value over all possible
    labels. ``untested`` is the number of these people.
    """

    untested: float
    assumed_accuracy_low: float
    assumed_accuracy_high: float
    induced_accuracy_low: float
    induced_accuracy_high: float
    social_cost_low: float
    social_cost_high: float


#: Metrics that depend on labels, and so have bounds where some are unknown.
BOUNDED = ("assumed_accuracy", "induced_accuracy", "social_cost")


def outcome_bounds(counts: GroupCounts, shares: Shares) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Smallest and largest value of each metric in :data:`BOUNDED`, whatever the labels of untested people.

    The last axis of counts and shares is that of groups. Bounds are equal where all labels are known.
    """
    low, high = counts.correct_bounds
    applying = np.asarray(shares, dtype=np.float64)
    n, applicants = counts.n.sum(axis=-1), (applying * counts.n).sum(axis=-1)
    return {
        "assumed_accuracy": (ratio(low.sum(axis=-1), n), ratio(high.sum(axis=-1), n)),
        "induced_accuracy": (
            ratio((applying * low).sum(axis=-1), applicants),
            ratio((applying * high).sum(axis=-1), applicants),
        ),
        "social_cost": (_extreme_share(counts, 1 - applying, -1), _extreme_share(counts, 1 - applying, 1)),
    }


def _extreme_share(counts: GroupCounts, away: FloatArray, sign: int) -> FloatArray:
    """Smallest (sign -1) or largest (1) share of qualified people who do not apply.

    One more qualified person raises this share if a larger share of that person's group does not apply. So at the
    maximum (minimum) the untested people of the groups with the largest (smallest) shares are qualified, and no others.
    """
    if counts.labels_known:
        return ratio((away * counts.positives).sum(axis=-1), counts.positives.sum(axis=-1))
    order = np.argsort(-sign * away, axis=-1, kind="stable")
    unknown = np.take_along_axis(np.broadcast_to(counts.unknown, away.shape), order, axis=-1)
    added = np.cumsum(unknown, axis=-1)
    added_away = np.cumsum(np.take_along_axis(away, order, axis=-1) * unknown, axis=-1)
    known = counts.positives.sum(axis=-1)[..., None]
    known_away = (away * counts.positives).sum(axis=-1)[..., None]
    possible = sign * np.concatenate([ratio(known_away, known), ratio(known_away + added_away, known + added)], axis=-1)
    extreme: FloatArray = sign * np.max(np.where(np.isnan(possible), -np.inf, possible), axis=-1)
    return np.where(np.isfinite(extreme), extreme, np.nan)


def outcome(population: PublishedStatistics, applies: pd.Series, *, unseen: Unseen = "error") -> Outcome:
    """All metrics of a population, from its counts and each group's decision.

    Parameters
    ----------
    population : PublishedStatistics
        Counts of the people under evaluation, for example of a test set.
    applies : Series of bool or of shares in [0, 1], indexed by group
        Who applies, decided by what was published before. It may name more groups than the population has.
    unseen : {"error", "abstain"}, default="error"
        Whether a group of the population that ``applies`` does not name is an error or stays away.

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
        position = position_of(wanted, applies.index, "The population", "applies", unseen=unseen)
    except ValueError as error:
        raise ValueError(f"applies has no value for group(s) of the population. {error}") from error
    counts, own_shares = population.counts, np.append(shares, 0.0)[position]
    bounds = {name: (float(low), float(high)) for name, (low, high) in outcome_bounds(counts, own_shares).items()}
    metrics = {name: low if low == high else np.nan for name, (low, high) in bounds.items()}
    applying_groups = int(as_decisions(shares).sum())
    application_rate = float(ratio(own_shares @ counts.n, counts.n.sum()))
    if counts.labels_known:
        return Outcome(**metrics, applying_groups=applying_groups, application_rate=application_rate)
    return BoundedOutcome(
        **metrics,
        **{f"{name}_low": low for name, (low, _) in bounds.items()},
        **{f"{name}_high": high for name, (_, high) in bounds.items()},
        applying_groups=applying_groups,
        application_rate=application_rate,
        untested=float(counts.unknown.sum()),
    )
