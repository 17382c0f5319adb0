"""Where the counts come from that a classifier publishes: one place, for all classifiers.

A rule takes what was fitted and the people it was fitted to, and gives the counts that others will decide by.
"""

from __future__ import annotations

from typing import Protocol

from .._validation import BoolArray, FloatArray
from ..counting import GroupCodes, GroupCounts


class PublishingRule(Protocol):
    """How published counts are made."""

    def __call__(
        self, qualified: BoolArray, selected: BoolArray, groups: GroupCodes, weights: FloatArray | None
    ) -> GroupCounts:
        """Counts per group, from who is qualified and whom the fitted classifier selects among the training people."""
        ...


def publish_on_training(
    qualified: BoolArray, selected: BoolArray, groups: GroupCodes, weights: FloatArray | None
) -> GroupCounts:
    """The paper's rule: count the very people that the classifier was fitted to."""
    return GroupCounts.from_rows(qualified, selected, groups.codes, groups.n_groups, weights)
