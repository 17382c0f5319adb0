"""Whether a trained model is fit to be used: whom it rejects altogether, and whether it meets what was asked of it.

Rejected is not the same as staying away. A group stays away because what is published is not worth its cost; a group is
rejected when the model passes nobody of it (or next to nobody), whatever people decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .._formats import count, percent
from .._validation import BoolArray
from ..auditing import Audit, group_names
from ..behaviour import SLACK
from ..counting import GroupCounts, locate_labels
from ..outcomes import outcome
from ..publishing import PublishedStatistics

#: A group of which a smaller share passes is shut out.
NEXT_TO_NOBODY = 0.01
#: Of so many qualified people, that nobody passes is no chance.
ENOUGH_QUALIFIED = 10


@dataclass(frozen=True)
class ShutOut:
    """A group that a model shuts out.

    Attributes
    ----------
    name : str
        The group.
    people, qualified, passed : float
        How many there are, how many of them are qualified, and how many pass.
    held_out : bool
        Whether these are people whom training has not seen, rather than those whose counts are published.
    """

    name: str
    people: float
    qualified: float
    passed: float
    held_out: bool

    def __str__(self) -> str:
        passes = "none" if self.passed == 0 else f"{count(self.passed)} ({percent(self.passed / self.people)})"
        whose = "held-out people" if self.held_out else "people"
        return (
            f"the model passes {passes} of the {count(self.people)} {whose} of {self.name!r}, "
            f"{count(self.qualified)} of whom are qualified"
        )


def rejected(counts: GroupCounts) -> BoolArray:
    """Groups of which nobody passes screening, or next to nobody.

    Examples
    --------
    >>> rejected(GroupCounts(*(np.array(column) for column in ([200, 200], [90, 90], [1, 2], [1, 2])))).tolist()
    [True, False]
    """
    return np.asarray((counts.selected < (NEXT_TO_NOBODY - SLACK) * counts.n) & (counts.n > 0), dtype=bool)


def shut_out(found: Audit) -> list[ShutOut]:
    """Groups with enough qualified people that a model shuts out.

    Held-out people are looked at; for groups with too few qualified people among them (or if nobody was held out),
    those whose counts are published.

    Parameters
    ----------
    found : Audit
        Of a trained model.

    Examples
    --------
    >>> from selfselect import audit
    >>> y, z = [1, 0] * 20, ["A"] * 20 + ["B"] * 20
    >>> found = audit(y, y_pred=[1] * 20 + [0] * 20, sensitive_features=z, cost=0.5)
    >>> [str(group) for group in shut_out(found)]
    ["the model passes none of the 20 people of 'B', 10 of whom are qualified"]
    """
    tables = [(found.population, True)] if found.of_new_people else []
    seen: set[Any] = set()
    shut: list[ShutOut] = []
    for table, held_out in [*tables, (found.published, False)]:
        counts, out = table.counts, rejected(table.counts)
        for i, (label, name) in enumerate(zip(table.groups, group_names(table.groups), strict=True)):
            if label in seen or counts.positives[i] < ENOUGH_QUALIFIED:
                continue
            seen.add(label)
            if out[i]:
                n, qualified, passed = (float(column[i]) for column in (counts.n, counts.positives, counts.selected))
                shut.append(ShutOut(name, n, qualified, passed, held_out))
    return shut


@dataclass(frozen=True)
class Broken:
    """A condition that a trained model does not meet: its name, and what is the case instead."""

    condition: str
    text: str


def broken_conditions(
    found: Audit,
    *,
    require: Sequence[Any] = (),
    max_social_cost: float | None = None,
    min_selection_rate: float | None = None,
) -> list[Broken]:
    """Which conditions a trained model does not meet, by what it publishes.

    Training aims at the conditions on the people whose counts are published, so that these are looked at; held-out
    people may differ by chance.

    Parameters
    ----------
    found : Audit
        Of a trained model.
    require : sequence of groups, optional
        Groups that must apply.
    max_social_cost : float, optional
        Largest share of the qualified that may not apply.
    min_selection_rate : float, optional
        Least share of every group that must pass screening.

    Examples
    --------
    >>> from selfselect import audit
    >>> found = audit([1, 0] * 4, y_pred=[1, 0] * 2 + [0] * 4, sensitive_features=["A"] * 4 + ["B"] * 4, cost=0.5)
    >>> [broken.text for broken in broken_conditions(found, require=["B"], max_social_cost=0.2)]
    ['B does not apply', '50.0% of qualified people do not apply, more than 20.0%']
    """
    table = found.published
    names, broken = group_names(table.groups), []
    if len(require):
        for i in locate_labels(list(require), table.groups, "require", "the table"):
            broken += [] if found.applies.iloc[i] else [Broken("require", f"{names[i]} does not apply")]
    lost = outcome(table, found.shares).social_cost
    if max_social_cost is not None and lost > max_social_cost + SLACK:
        text = f"{percent(lost)} of qualified people do not apply, more than {percent(max_social_cost)}"
        broken.append(Broken("max_social_cost", text))
    return broken + _selected_too_rarely(table, names, min_selection_rate or 0.0)


def _selected_too_rarely(table: PublishedStatistics, names: list[str], least: float) -> list[Broken]:
    counts = table.counts
    short = (counts.selected < (least - SLACK) * counts.n) & (counts.n > 0)
    return [
        Broken("min_selection_rate", f"{percent(rate)} of {name} pass, fewer than {percent(least)}")
        for name, rate in pd.Series(counts.selection_rate, index=names)[short].items()
    ]
