"""What holds over a whole range of costs, and where it tips.

Nobody knows exactly what being tested costs people. A group comes at every cost up to one that its published counts
give, exactly; between two such costs nothing changes. So a range has finitely many answers, and no grid is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .._validation import FloatArray, check_fraction
from ..behaviour import BestResponse, SureRule
from ..costs import Terms
from ..counting import GroupCounts
from ..outcomes import BOUNDED
from .formats import amount, amount_down
from .plain import plain_groups, plain_rows, plain_value
from .words import range_text, spoken

#: What a group does over a range of costs.
THROUGHOUT, NOWHERE, UP_TO = "throughout", "nowhere", "up to"


def tipping_costs(terms: Terms, groups: pd.Index, counts: GroupCounts) -> FloatArray:
    """Highest general cost at which each group comes, after subsidies; NaN without a precision.

    Examples
    --------
    >>> counts = GroupCounts(*(np.array(column) for column in ([10, 10], [6, 6], [8, 8], [6, 6])))
    >>> tipping_costs(Terms(0.7, {"B": 0.1}), pd.Index(["A", "B"]), counts).round(3).tolist()
    [0.75, 0.85]
    """
    max_accepted_cost, paid = terms.max_accepted_cost(counts), terms.subsidies_for(groups)
    if terms.kind == "additive":
        return np.asarray(max_accepted_cost + paid)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(paid < 1, max_accepted_cost / (1 - paid), np.where(np.isnan(max_accepted_cost), np.nan, np.inf))


@dataclass(frozen=True, eq=False)
class OverCosts:
    """Who applies over a range of costs, and what follows. Made by :meth:`Audit.over_costs`.

    Attributes
    ----------
    low, high : float
        The range.
    groups : DataFrame, indexed by group
        ``applies``: "throughout", "nowhere", or "up to" a cost within the range; ``tips_at``: that cost (it still
        applies there), NaN for the others.
    steps : DataFrame
        ``above`` and ``up_to`` a cost nothing changes: what follows there, one row per stretch, in order. The first
        begins at ``low`` itself.
    names : list of str
        The groups as people read them.
    passed : list of float
        How many of each pass screening.
    """

    low: float
    high: float
    groups: pd.DataFrame
    steps: pd.DataFrame
    names: list[str]
    passed: list[float]

    def range_of(self, name: str) -> tuple[float, float]:
        """Least and most of a number over the range (bounds included), NaN if it is never defined."""
        low, high = (self.steps.get(f"{name}_{end}", self.steps[name]) for end in ("low", "high"))
        return float(low.min()), float(high.max())

    def sentence(self) -> str:
        """What holds over the whole range, and where it tips."""
        applies = self.groups["applies"].tolist()

        def of(answer: str, comes: bool = True) -> list[str]:
            return [
                name
                for name, given, n in zip(self.names, applies, self.passed, strict=True)
                if given == answer and (n > 0) == comes
            ]

        told = []
        if of(THROUGHOUT):
            told.append(f"{spoken(of(THROUGHOUT))} {_verb(of(THROUGHOUT), 'applies', 'apply')} throughout")
        if of(NOWHERE):
            told.append(f"{spoken(of(NOWHERE))} {_verb(of(NOWHERE), 'stays', 'stay')} away throughout")
        if of(NOWHERE, comes=False):
            told.append(f"the model passes nobody of {spoken(of(NOWHERE, comes=False))}")
        tipping = self.groups["tips_at"].to_numpy()
        for z in np.argsort(tipping, kind="stable"):
            if applies[z] == UP_TO:
                told.append(f"{spoken([self.names[z]])} applies up to {amount_down(float(tipping[z]))}")
        right, lost = (range_text(*self.range_of(name)) for name in ("induced_accuracy", "social_cost"))
        nobody = " (or nobody applies)" if self.steps["induced_accuracy"].isna().any() else ""
        return (
            f"At costs from {amount(self.low)} to {amount(self.high)}, {'; '.join(told)}. The model is right for "
            f"{right} of those who apply{nobody}, and {lost} of qualified people do not."
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "low": self.low,
            "high": self.high,
            **{name: [plain_value(end) for end in self.range_of(name)] for name in BOUNDED[1:]},
            "groups": plain_groups(self.names, self.groups),
            "steps": plain_rows(self.steps),
        }


def _verb(names: Sequence[str], one: str, several: str) -> str:
    return one if len(names) == 1 else several


def over_costs(audit: Any, low: float, high: float) -> OverCosts:
    """What an audit comes to at every cost from ``low`` to ``high``; see :meth:`Audit.over_costs`."""
    low, high = check_fraction(low, "low"), check_fraction(high, "high")
    if low > high:
        raise ValueError(f"low must not be above high, got {low:g} and {high:g}.")
    if not isinstance(audit.terms.behaviour, BestResponse | SureRule):
        raise TypeError(
            f"Where groups tip is known for BestResponse() and SureRule(), not for {audit.terms.behaviour!r}; look at "
            "single costs instead."
        )
    if not isinstance(audit.terms.cost, int | float):
        raise TypeError("Every group has a cost of its own, so there is no general one to vary; pass one cost.")
    first, last = (audit.at(cost).applies.to_numpy() for cost in (low, high))
    tips = tipping_costs(audit.terms, audit.published.groups, audit.published.counts)
    tipping = first & ~last
    frame = pd.DataFrame(
        {
            "applies": np.where(last, THROUGHOUT, np.where(first, UP_TO, NOWHERE)),
            "tips_at": np.where(tipping, np.clip(tips, low, high), np.nan),
        },
        index=audit.published.groups,
    )
    ends = np.unique(np.append(frame["tips_at"].dropna(), high))
    rows = [
        {"above": start, "up_to": end, **audit.at(float(end)).outcome.to_dict()}
        for start, end in zip([low, *ends[:-1].tolist()], ends.tolist(), strict=True)
    ]
    passed = audit.published.counts.selected.tolist()
    return OverCosts(low, high, frame, pd.DataFrame(rows), audit.names, passed)
