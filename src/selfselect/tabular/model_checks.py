"""Checks of a trained model: groups that it shuts out, and conditions that it does not meet.

A group that is shut out is not one that stays away. A group stays away because its precision does not cover its cost.
It is shut out if the model passes (almost) nobody of it, whether people apply or not.
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
MIN_PASS_RATE = 0.01
#: Groups with fewer qualified people are not reported: that none passes may be chance.
MIN_QUALIFIED = 10


@dataclass(frozen=True)
class ShutOut:
    """A group that a model shuts out, with its counts of held-out people or of those whose counts are published."""

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
    """Groups of which (almost) nobody passes screening.

    Examples
    --------
    >>> rejected(GroupCounts(*(np.array(column) for column in ([200, 200], [90, 90], [1, 2], [1, 2])))).tolist()
    [True, False]
    """
    return np.asarray((counts.selected < (MIN_PASS_RATE - SLACK) * counts.n) & (counts.n > 0), dtype=bool)


def shut_out(trained: Audit) -> list[ShutOut]:
    """Groups with enough qualified people that a model shuts out.

    The check uses held-out people. For groups with too few qualified people among them (or if nobody was held out) it
    uses those whose counts are published.

    Examples
    --------
    >>> from selfselect import audit
    >>> y, z = [1, 0] * 20, ["A"] * 20 + ["B"] * 20
    >>> trained = audit(y, y_pred=[1] * 20 + [0] * 20, sensitive_features=z, cost=0.5)
    >>> [str(group) for group in shut_out(trained)]
    ["the model passes none of the 20 people of 'B', 10 of whom are qualified"]
    """
    tables = [(trained.population, True)] if trained.of_new_people else []
    seen: set[Any] = set()
    shut: list[ShutOut] = []
    for table, held_out in [*tables, (trained.published, False)]:
        counts, out = table.counts, rejected(table.counts)
        for i, (label, name) in enumerate(zip(table.groups, group_names(table.groups), strict=True)):
            if label in seen or counts.positives[i] < MIN_QUALIFIED:
                continue
            seen.add(label)
            if out[i]:
                n, qualified, passed = (float(column[i]) for column in (counts.n, counts.positives, counts.selected))
                shut.append(ShutOut(name, n, qualified, passed, held_out))
    return shut


@dataclass(frozen=True)
class UnmetCondition:
    """A condition that a trained model does not meet: its name, and what the model does instead."""

    condition: str
    text: str


def unmet_conditions(
    trained: Audit,
    *,
    require: Sequence[Any] = (),
    max_social_cost: float | None = None,
    min_selection_rate: float | None = None,
) -> list[UnmetCondition]:
    """Conditions that a trained model does not meet, by its published counts.

    Training enforces the conditions on these counts; held-out people may differ by chance.

    The conditions are those of :class:`selfselect.StrategicClassifier`.

    Examples
    --------
    >>> from selfselect import audit
    >>> trained = audit([1, 0] * 4, y_pred=[1, 0] * 2 + [0] * 4, sensitive_features=["A"] * 4 + ["B"] * 4, cost=0.5)
    >>> [unmet.text for unmet in unmet_conditions(trained, require=["B"], max_social_cost=0.2)]
    ['B does not apply', '50.0% of qualified people do not apply, more than 20.0%']
    """
    table = trained.published
    names, unmet = group_names(table.groups), []
    if len(require):
        for i in locate_labels(list(require), table.groups, "require", "the table"):
            unmet += [] if trained.applies.iloc[i] else [UnmetCondition("require", f"{names[i]} does not apply")]
    social_cost = outcome(table, trained.shares).social_cost
    if max_social_cost is not None and social_cost > max_social_cost + SLACK:
        text = f"{percent(social_cost)} of qualified people do not apply, more than {percent(max_social_cost)}"
        unmet.append(UnmetCondition("max_social_cost", text))
    return unmet + _selected_too_rarely(table, names, min_selection_rate or 0.0)


def _selected_too_rarely(table: PublishedStatistics, names: list[str], least: float) -> list[UnmetCondition]:
    counts = table.counts
    short = (counts.selected < (least - SLACK) * counts.n) & (counts.n > 0)
    return [
        UnmetCondition("min_selection_rate", f"{percent(rate)} of {name} pass, fewer than {percent(least)}")
        for name, rate in pd.Series(counts.selection_rate, index=names)[short].items()
    ]
