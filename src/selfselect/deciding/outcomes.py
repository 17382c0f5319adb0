"""What follows once it is decided who applies, from counts per group."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import pandas as pd

from .._validation import FloatArray, check_shares
from ..counting.counts import GroupCounts
from ..counting.groups import position_of, with_same_columns
from ..counting.intervals import ratio
from .behaviour import as_decisions
from .published import PublishedStatistics


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
    return Outcome(
        assumed_accuracy=float(ratio(counts.correct.sum(), counts.n.sum())),
        induced_accuracy=float(ratio(here @ counts.correct, here @ counts.n)),
        applying_groups=int(as_decisions(shares).sum()),
        application_rate=float(ratio(here @ counts.n, counts.n.sum())),
        social_cost=float(ratio((1 - here) @ counts.positives, counts.positives.sum())),
    )
