"""Subsidies that bring groups in: how much, who receives it, what it costs, and what it changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._validation import BoolArray
from ..auditing import Audit
from ..auditing.formats import amount, amount_up, count, listed, percent
from ..auditing.plain import as_json, plain_groups, plain_rows, plain_value
from ..counting import locate_labels
from ..deciding import Outcome, SubsidyKind


@dataclass(frozen=True, eq=False)
class SubsidyPlan:
    """Least subsidies that bring target groups in. Made by :func:`plan_subsidies`.

    Attributes
    ----------
    before : Audit
        The model as it is, without subsidies.
    after : Audit
        The same with the subsidies.
    targets : Index
        Groups to bring in.
    subsidies : Series, indexed by group
        Subsidy of each group; 0 for those that need none or are no targets, NaN for targets that none can bring in.
    path : DataFrame or None
        Under re-training, every subsidy tried, in order, and what the re-trained firm made of it.
    """

    before: Audit
    after: Audit
    targets: pd.Index
    subsidies: pd.Series
    path: pd.DataFrame | None = None

    @property
    def subsidy_kind(self) -> SubsidyKind:
        """Whether subsidies are amounts (additive) or shares of the cost (proportional)."""
        return self.after.terms.kind

    @cached_property
    def impossible(self) -> list[str]:
        """Targets that no subsidy brings in: nobody in them passes screening, or passes once the firm re-trains."""
        return [name for name, value in zip(self.before.names, self.subsidies, strict=True) if np.isnan(value)]

    @property
    def works(self) -> bool:
        """Whether all targets apply with the subsidies."""
        return bool(self.after.applies.to_numpy()[self._is_target].all())

    @cached_property
    def _is_target(self) -> BoolArray:
        return np.asarray(self.before.published.groups.isin(self.targets))

    @cached_property
    def payments(self) -> pd.Series:
        """Sum that goes to each group: everyone who applies and passes screening receives the subsidy."""
        groups, terms = self.after.published.groups, self.after.terms
        each = terms.listed_for(groups) - terms.faced_by(groups)
        return pd.Series(each * self.after.shares.to_numpy() * self._passing, index=groups, name="payment")

    @cached_property
    def _passing(self) -> NDArray[Any]:
        """People of each group who pass screening among those who are counted."""
        return self.after.population.spread_over(self.after.published.groups).counts.selected

    @property
    def total(self) -> float:
        """Sum of all payments, in units of what being hired is worth to a person."""
        return float(self.payments.sum())

    @property
    def recipients(self) -> float:
        """Number of people who receive a subsidy."""
        total = float(self._recipients.sum())
        return int(total) if total.is_integer() else total

    @cached_property
    def _recipients(self) -> NDArray[Any]:
        """People of each group who come, pass, and are paid."""
        return np.where(self.payments.to_numpy() > 0, self.after.shares.to_numpy() * self._passing, 0)

    def to_frame(self) -> pd.DataFrame:
        """What each group gets and does, one row per group."""
        before, after = self.before.to_frame(), self.after.to_frame()
        payments = self.payments.to_numpy()
        return pd.DataFrame(
            {
                "n": before["n"],
                "precision": before["precision"],
                "precision_after": after["precision"],
                "target": self._is_target,
                "subsidy": self.subsidies,
                "cost_before": before["cost"],
                "cost_after": after["cost"],
                "applies_before": before["applies"],
                "applies_after": after["applies"],
                "recipients": self._recipients if np.mod(self._recipients, 1).any() else self._recipients.astype(int),
                "payment": payments,
            },
            index=before.index,
        )

    def verdict(self) -> str:
        """What it comes to, in one or two sentences."""
        if self.path is not None and self.impossible:
            return (
                f"No subsidy was found that brings in {listed(self.impossible)} once the firm re-trains: in "
                f"{len(self.path)} fits, with up to the whole cost paid, it shut the group out each time."
            )
        paid = [
            f"{name} {amount_up(value)}" + (" of the cost" if self.subsidy_kind == "proportional" else "")
            for name, value in zip(self.before.names, self.subsidies, strict=True)
            if value > 0
        ]
        failed = ""
        if self.impossible:
            failed = (
                f"No subsidy can bring in {listed(self.impossible)}: nobody there passes screening, so there is "
                "nothing to be hired from; a lower threshold might. "
            )
        if not paid:
            return failed + ("No other target needs a subsidy." if failed else "The targets apply already: no subsidy.")
        old, new = self.before.outcome, self.after.outcome
        return (
            f"{failed}{self._title()}: {listed(paid)}. {count(self.recipients)} people receive them, "
            f"{amount(self.total)} in all (in units of what being hired is worth). "
            f"Social cost {_change(old, new, 'social_cost')}, accuracy on those who apply "
            f"{_change(old, new, 'induced_accuracy')}."
        )

    def _title(self) -> str:
        return "Least subsidies" if self.path is None else "Subsidies that still work after the firm re-trains"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; NaN becomes None."""
        return {
            "cost": self.before.to_dict()["cost"],
            "threshold": plain_value(self.before.threshold),
            "subsidy_kind": self.subsidy_kind,
            "works": self.works,
            "impossible": self.impossible,
            "recipients": self.recipients,
            "total": plain_value(self.total),
            "before": {name: plain_value(value) for name, value in self.before.outcome.to_dict().items()},
            "after": {name: plain_value(value) for name, value in self.after.outcome.to_dict().items()},
            "groups": plain_groups(self.before.names, self.to_frame()),
            "path": None if self.path is None else plain_rows(self.path),
        }

    def to_json(self) -> str:
        """JSON text of :meth:`to_dict`."""
        return as_json(self.to_dict())

    def to_html(self) -> str:
        """Report of the model with the subsidies set. Needs the extra ``report``."""
        return self.after.to_html()

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.verdict())}</p>{self.to_frame()._repr_html_()}"

    def __repr__(self) -> str:
        return f"{self.verdict()}\n{self.to_frame()}"


def _change(old: Outcome, new: Outcome, name: str) -> str:
    before, after = percent(getattr(old, name)), percent(getattr(new, name))
    return f"stays {before}" if before == after else f"goes from {before} to {after}"


def plan_for(
    before: Audit, targets: Sequence[Any] | None = None, *, subsidy_kind: SubsidyKind = "additive"
) -> SubsidyPlan:
    """Least subsidies for a model that is audited already; see :func:`plan_subsidies`."""
    before = before.under(before.terms.paying(None, subsidy_kind))
    groups, stays = before.published.groups, ~before.applies.to_numpy()
    wanted = groups[stays] if targets is None else groups[locate_labels(targets, groups, "targets")]
    needed = before.terms.further_subsidy(groups, before.terms.comes_at(before.published.counts))
    subsidies = pd.Series(np.where(groups.isin(wanted) & stays, needed, 0.0), index=groups, name="subsidy")
    after = before.under(before.terms.paying(subsidies.fillna(0.0)))
    return SubsidyPlan(before, after, wanted, subsidies)
