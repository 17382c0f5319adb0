"""What people believe in each round: from what is published now, and from what they remember.

Beliefs are any object with a method ``believe``. It gets what is published, what was delivered in the last round, and
what it remembered itself; it returns what people believe and what to remember. :class:`LastPublished` has no memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .._validation import FloatArray, check_fraction, check_nonnegative
from ..counting import GroupCounts, ratio
from ..statistics import Published


class Beliefs(Protocol):
    """What people of each group believe their chances to be."""

    def believe(self, published: Published, delivered: GroupCounts | None, memory: Any) -> tuple[FloatArray, Any]:
        """Beliefs (NaN: none) and what to remember for the next round.

        ``delivered`` counts the people who applied and were selected in the last round, and those of them who were
        qualified. It is None in the first round, and so is ``memory``.
        """
        ...


@dataclass(frozen=True)
class LastPublished:
    """People believe what is published now, as in the paper.

    Examples
    --------
    >>> published = Published.of_value(np.array([0.7, np.nan]), np.array([10.0, 0.0]))
    >>> LastPublished().believe(published, None, None)[0]
    array([0.7, nan])
    """

    def believe(self, published: Published, delivered: GroupCounts | None, memory: Any) -> tuple[FloatArray, Any]:
        """The published values."""
        return published.value, None


@dataclass(frozen=True)
class Discounted:
    """A discounted average of all that was published: people move towards the newest value by a share of the way.

    If nothing is published about a group, its people keep what they believe.

    Parameters
    ----------
    rate : float
        Weight of the newest value, above 0. At 1 people believe what is published now.

    Examples
    --------
    >>> published = Published.of_value(np.array([0.8, np.nan]), np.array([10.0, 0.0]))
    >>> Discounted(0.25).believe(published, None, np.array([0.6, 0.5]))[0]
    array([0.65, 0.5 ])
    """

    rate: float

    def __post_init__(self) -> None:
        if check_fraction(self.rate, "rate") == 0:
            raise ValueError("rate must be above 0: at 0 people would never believe anything new.")

    def believe(self, published: Published, delivered: GroupCounts | None, memory: Any) -> tuple[FloatArray, Any]:
        """Move towards the published values."""
        new = published.value
        old = new if memory is None else np.where(np.isnan(memory), new, memory)
        believed = np.where(np.isnan(new), old, (1 - self.rate) * old + self.rate * new)
        return believed, believed


@dataclass(frozen=True)
class BetaMemory:
    """People remember what was delivered, and take what is published as worth some cases.

    They believe ``(strength published + TP) / (strength + PP)``, where PP people of their group were selected in former
    rounds and TP of these were qualified. Without a published value they rely on what was delivered.

    Parameters
    ----------
    strength : float
        Number of cases that the published value is worth, above 0.
    discount : float, default=1.0
        How much of the remembered cases is left after each round.

    Examples
    --------
    >>> published = Published.of_value(np.array([0.8]), np.array([10.0]))
    >>> delivered = GroupCounts(*map(np.array, ([20.0], [12.0], [10.0], [5.0])))
    >>> BetaMemory(strength=20).believe(published, delivered, None)[0]
    array([0.7])
    """

    strength: float
    discount: float = 1.0

    def __post_init__(self) -> None:
        if check_nonnegative(self.strength, "strength") == 0:
            raise ValueError("strength must be above 0: people who trust nothing that is published never apply at all.")
        check_fraction(self.discount, "discount")

    def believe(self, published: Published, delivered: GroupCounts | None, memory: Any) -> tuple[FloatArray, Any]:
        """Update the remembered cases, and average them with what is published."""
        value = published.value
        hits, cases = (np.zeros(len(value)), np.zeros(len(value))) if memory is None else memory
        if delivered is not None:
            hits, cases = self.discount * hits + delivered.true_positives, self.discount * cases + delivered.selected
        trusted = np.where(np.isnan(value), 0.0, self.strength)
        return ratio(trusted * np.nan_to_num(value) + hits, trusted + cases), (hits, cases)


def check_beliefs(beliefs: Any) -> None:
    """Refuse anything that are no beliefs."""
    if isinstance(beliefs, type) or not hasattr(beliefs, "believe"):
        raise TypeError(
            "beliefs must be an object with a method believe(published, delivered, memory), such as Discounted(0.3), "
            f"got {beliefs!r}."
        )
