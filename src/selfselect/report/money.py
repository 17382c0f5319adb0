"""Costs, subsidies and budgets in money: shares of what being selected is worth to one person, times that worth."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

#: Numbers that are shares of what being selected is worth. A subsidy is a share of the cost if it is proportional.
SHARES = frozenset(
    "cost cost_before cost_after cost_low cost_high effective_cost payment price total budget subsidy "
    "subsidy_needed".split()
)
SUBSIDIES = frozenset({"subsidy", "subsidy_needed"})


@dataclass(frozen=True)
class Money:
    """What being selected is worth to one person, and in which currency.

    Examples
    --------
    >>> Money(30000, "EUR").text(0.152)
    'EUR 4,560'
    >>> Money(30000).of({"cost": 0.7, "n": 12})
    {'cost': 0.7, 'cost_money': 21000.0, 'n': 12}
    """

    worth: float
    currency: str = ""

    def text(self, share: float) -> str:
        """A share as an amount of money, for people; a dash if it is undefined."""
        return "-" if math.isnan(share) else f"{self.currency} {self.amount(share * self.worth)}".strip()

    @staticmethod
    def amount(value: float) -> str:
        """An amount of money without its currency."""
        value = round(value, 2)
        return f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:,.2f}"

    @classmethod
    def amount_up(cls, value: float) -> str:
        """A subsidy that is needed, rounded up: paying what is written is enough."""
        step = 1 if value >= 1000 else 100
        return cls.amount(math.ceil(round(value * step, 6)) / step)

    @property
    def column(self) -> str:
        """What is added to the name of a column."""
        return f"in {self.currency}" if self.currency else "in money"

    def of(self, content: Any, *, proportional: bool = False) -> Any:
        """Plain values with amounts of money beside shares, as ``cost_money`` beside ``cost``."""
        if isinstance(content, list):
            return [self.of(value, proportional=proportional) for value in content]
        if not isinstance(content, Mapping):
            return content
        proportional = content.get("subsidy_kind", "proportional" if proportional else "additive") == "proportional"
        found: dict[str, Any] = {}
        for name, value in content.items():
            found[name] = self.of(value, proportional=proportional)
            if name in SHARES and isinstance(value, int | float) and not isinstance(value, bool):
                scale = self._scale(name, content, proportional)
                found[f"{name}_money"] = None if scale is None else round(value * scale, 6)
        return found

    def _scale(self, name: str, row: Mapping[Any, Any], proportional: bool) -> float | None:
        if name not in SUBSIDIES or not proportional:
            return self.worth
        cost = row.get("cost", row.get("cost_before"))
        return None if cost is None else self.worth * float(cost)

    def of_frame(self, frame: pd.DataFrame, *, proportional: bool = False) -> pd.DataFrame:
        """A table with a column of money after each column of shares."""
        found = {}
        for name in frame.columns:
            found[name] = frame[name]
            if name in SHARES:
                costs = frame.get("cost", frame.get("cost_before", np.nan))
                scale = self.worth * costs if proportional and name in SUBSIDIES else self.worth
                found[f"{name}_money"] = (frame[name] * scale).astype(float).round(6)
        return pd.DataFrame(found)
