"""Who applies over a whole range of costs.

The cost of applying is rarely known exactly. A group applies at every cost up to one that its published counts give.
Between two such costs nothing changes if groups apply or stay away as a whole, so that no grid is needed. Where a share
of each group applies, outcomes change with every cost and are listed at every hundredth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .._validation import check_fraction

#: Where in a range of costs a group applies.
THROUGHOUT, NOWHERE, UP_TO = "throughout", "nowhere", "up to"
#: Costs per unit at which outcomes are listed where a share of each group applies.
GRID = 100


@dataclass(frozen=True, eq=False)
class OverCosts:
    """Who applies at costs from ``low`` to ``high``, and what follows. Made by :meth:`Audit.over_costs`.

    Attributes
    ----------
    groups : DataFrame, indexed by group
        ``applies``: "throughout", "nowhere", or "up to" a cost within the range; ``tips_at``: that cost (it still
        applies there), NaN for the others.
    steps : DataFrame
        What follows between two costs (``above``, ``up_to``), one row per step, in order. The first begins at ``low``
        itself. Where a share of each group applies, what follows at ``up_to``, and the first row is that of ``low``.
    names, passed : list
        Name of each group, and how many of its people pass screening.
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
        """What holds over the whole range, and where it changes."""
        from ..report.sentences.audits import over_costs_sentence

        return over_costs_sentence(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        from ..report.dicts import over_costs_to_dict

        return over_costs_to_dict(self)


def over_costs(audit: Any, low: float, high: float) -> OverCosts:
    """Who applies at every cost from ``low`` to ``high``; see :meth:`Audit.over_costs`."""
    low, high = check_fraction(low, "low"), check_fraction(high, "high")
    if low > high:
        raise ValueError(f"low must not be above high, got {low:g} and {high:g}.")
    if not isinstance(audit.terms.cost, int | float):
        raise TypeError("Each group has its own cost, so there is no general cost to vary; pass one cost.")
    first, last = (audit.at(cost).applies.to_numpy() for cost in (low, high))
    groups, terms = audit.published.groups, audit.terms
    accepted, paid = terms.max_accepted_cost(groups, audit.published.counts), terms.subsidies_for(groups)
    if terms.kind == "additive":
        tips = accepted + paid
    else:  # a group whose whole cost is paid never stops applying
        tips = np.divide(accepted, 1 - paid, where=paid < 1, out=np.full(len(groups), np.inf))
    frame = pd.DataFrame(
        {
            "applies": np.where(last, THROUGHOUT, np.where(first, UP_TO, NOWHERE)),
            "tips_at": np.where(first & ~last, np.clip(tips, low, high), np.nan),
        },
        index=groups,
    )
    ends = np.append(frame["tips_at"].dropna(), high)
    if terms.shares(groups, audit.published.counts).dtype != bool:
        ends = np.concatenate([ends, [low], np.arange(np.ceil(low * GRID), high * GRID) / GRID])
    ends = np.unique(ends)
    rows = [
        {"above": start, "up_to": end, **audit.at(float(end)).outcome.to_dict()}
        for start, end in zip([low, *ends[:-1].tolist()], ends.tolist(), strict=True)
    ]
    passed = audit.published.counts.selected.tolist()
    return OverCosts(low, high, frame, pd.DataFrame(rows), audit.names, passed)
