"""What the loop over rounds needs of a population and a firm, and what a round asks of people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import pandas as pd

from .._validation import FloatArray, check_choice, check_fraction
from ..counting import GroupCounts
from ..statistics import Published

#: Who gets a label: people who apply and pass, all who apply, or everybody.
Labels: TypeAlias = Literal["selected", "applicants", "all"]


@dataclass(frozen=True)
class Exploration:
    """People who are tested at random, at the expense of the firm.

    Parameters
    ----------
    share : float, default=0.0
        Share of people who are drawn in each round. Those of them who would not be tested otherwise are.
    among : {"pool", "applicants"}, default="pool"
        Who is drawn: everybody, by an invitation to those who stay away, or only people who apply. Of a group that
        stays away as a whole, the latter finds nobody.
    """

    share: float = 0.0
    among: Literal["pool", "applicants"] = "pool"

    def __post_init__(self) -> None:
        check_fraction(self.share, "exploration")
        check_choice(self.among, "among", ("pool", "applicants"))

    def invited(self, applies: FloatArray, passes: FloatArray) -> FloatArray:
        """Chance to be tested by exploration only, given the chances to apply, and to apply and pass."""
        reached = applies if self.among == "applicants" else np.ones_like(applies)
        return np.asarray(self.share * (reached - passes))


def chance_of_label(labels: Labels, applies: FloatArray, passes: FloatArray, invited: FloatArray) -> FloatArray:
    """Chance of each person to get a label in this round."""
    if labels == "all":
        return np.ones_like(passes)
    return np.asarray(passes + invited if labels == "selected" else np.maximum(applies, passes + invited))


class World(Protocol):
    """A population and a firm, from round to round. Methods replace arrays and never change them."""

    groups: pd.Index

    def begin(self, rng: np.random.Generator) -> None:
        """Let new people come, if they are others in each round."""
        ...

    def retrain(self, number: int, cost: FloatArray) -> None:
        """Fit the firm's model to the labels found before this round."""
        ...

    def published(self) -> Published:
        """What the firm publishes about all groups."""
        ...

    def counts(self) -> GroupCounts:
        """Decisions of the model about everybody in the pool."""
        ...

    def learn(
        self, number: int, shares: FloatArray, labels: Labels, exploration: Exploration, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Find labels; people of each group who were tested by exploration only, and those of them who qualify."""
        ...

    def enter(self, entry: Any, outcome: pd.DataFrame, rng: np.random.Generator) -> None:
        """Let people join the pool."""
        ...
