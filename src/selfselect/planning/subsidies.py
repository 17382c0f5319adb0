"""Subsidies that make groups apply: how much, who receives it, what it costs, and what it changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._validation import BoolArray, check_nonnegative
from ..auditing import Audit, Provenance
from ..auditing.reported import Reported
from ..costs import SubsidyKind
from ..counting import GroupCounts, locate_labels
from ..publishing.privacy import MIN_CELL, check_min_cell, merge_groups
from ..statistics import LowerBound
from .knapsack import best_subset


@dataclass(frozen=True, eq=False)
class Spending:
    """How a budget was spent.

    ``price`` is the payment that brings in each group alone, NaN if it applies already, is no target, or cannot be
    brought in. ``exact`` is whether it is proved that no other use of the budget lowers social cost further.
    """

    budget: float
    price: pd.Series
    exact: bool

    @property
    def cheapest(self) -> int | None:
        """Position of the group that takes least, None if none can be brought in."""
        return None if self.price.isna().all() else int(np.nanargmin(self.price.to_numpy()))


@dataclass(frozen=True, eq=False, repr=False)
class SubsidyPlan(Reported):
    """Subsidies that bring groups in: the least, or the best for a budget. Made by :func:`plan_subsidies`.

    Attributes
    ----------
    before, after : Audit
        The model without and with the subsidies.
    targets : Index
        Groups that should apply; with a budget, those that it brings in.
    subsidies : Series, indexed by group
        Subsidy of each group; NaN for targets that no subsidy brings in.
    path : DataFrame or None
        Under re-training, every attempt in order.
    retrained : Audit or None
        Under re-training, the firm's model if nothing is paid: what subsidies do is judged against it.
    confidence : float or None
        Subsidies reach up to the lower bound of precision at this level, not to the precision itself.
    spending : Spending or None
        With a budget, how it was spent.
    wanted : Index or None
        Groups that were asked for; None for all that stay away.
    """

    before: Audit
    after: Audit
    targets: pd.Index
    subsidies: pd.Series
    path: pd.DataFrame | None = None
    retrained: Audit | None = None
    confidence: float | None = None
    spending: Spending | None = None
    wanted: pd.Index | None = None

    @property
    def source(self) -> Provenance:
        """Where the numbers come from."""
        return self.before.provenance

    def row_names(self) -> list[str]:
        """Names of the groups."""
        return self.before.names

    def protected(self, min_cell: int = MIN_CELL) -> SubsidyPlan:
        """The plan for merged groups; see :meth:`Audit.protected`.

        A model as it is has a new plan for the merged groups. Under re-training the subsidies of merged groups are
        means, and attempts do not say what was paid.
        """
        least = check_min_cell(min_cell)
        if least == 0 or self.before.provenance.min_cell >= least:
            return self
        groups = self.before.published.groups
        audits = [one for one in (self.before, self.after, self.retrained) if one is not None]
        cells = audits[0].cells(groups)
        for one in audits[1:] if self.path is not None else ():
            cells = cells.join(one.cells(groups))
        merging = merge_groups(groups, cells, least)
        if self.path is None:
            units = None if self.wanted is None else merging.units_of(self.wanted)
            before = self.before.with_merged(merging, least)
            budget = None if self.spending is None else self.spending.budget
            return plan_for(before, units, subsidy_kind=self.subsidy_kind, budget=budget, confidence=self.confidence)
        before, after, *retrained = (one.with_merged(merging, least) for one in audits)
        subsidies = pd.Series(merging.means(self.subsidies.to_numpy()), index=merging.units, name="subsidy")
        spending = self.spending and Spending(
            self.spending.budget, pd.Series(np.nan, index=merging.units, name="price"), self.spending.exact
        )
        hidden = [f"subsidy of {name}" for names in before.provenance.merged.values() for name in names]
        path = self.path.drop(columns=[*hidden, "total"], errors="ignore").round(3)
        targets = merging.units_of(self.targets)
        return replace(
            self,
            before=before,
            after=after,
            retrained=retrained[0] if retrained else None,
            targets=targets,
            subsidies=subsidies,
            path=path,
            spending=spending,
        )

    @property
    def unpaid(self) -> Audit:
        """What the firm does without subsidies: the model as it is, or re-trained if it re-trains anyway."""
        return self.before if self.retrained is None else self.retrained

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
        """Whether all targets apply with the subsidies, and no other group stops applying."""
        return bool(self.after.applies.to_numpy()[self.is_target].all()) and not self.driven_out

    @cached_property
    def driven_out(self) -> list[str]:
        """Groups that apply without subsidies and not with them, because the firm re-trains."""
        gone = self.unpaid.applies.to_numpy() & ~self.after.applies.to_numpy()
        return [name for name, is_gone in zip(self.before.names, gone, strict=True) if is_gone]

    @cached_property
    def is_target(self) -> BoolArray:
        """Whether each group is a target."""
        return np.asarray(self.before.published.groups.isin(self.targets))

    @cached_property
    def payments(self) -> pd.Series:
        """Sum that goes to each group: everyone who applies and passes screening receives the subsidy."""
        groups, terms = self.after.published.groups, self.after.terms
        each = terms.listed_cost(groups) - terms.effective_cost(groups)
        return pd.Series(each * self.after.shares.to_numpy() * self._passing, index=groups, name="payment")

    @cached_property
    def _passing(self) -> NDArray[Any]:
        """People of each group who pass screening among those who are counted."""
        return self.after.population.reindex(self.after.published.groups).counts.selected

    @property
    def repeated(self) -> bool:
        """Whether persons have several rows. Each row that passes is then paid, as an application of its own."""
        counts = self.before.published.counts
        return counts.squares is not None and bool(np.issubdtype(counts.n.dtype, np.integer))  # not by weights

    @property
    def total(self) -> float:
        """Sum of all payments, in units of what being selected is worth to one person."""
        return float(self.payments.sum())

    @property
    def recipients(self) -> float:
        """Number of people who receive a subsidy; of rows that do, if persons have several."""
        total = float(self._recipients.sum())
        return int(total) if total.is_integer() else total

    @cached_property
    def _recipients(self) -> NDArray[Any]:
        """People of each group who receive a subsidy."""
        return np.where(self.payments.to_numpy() > 0, self.after.shares.to_numpy() * self._passing, 0)

    def to_frame(self) -> pd.DataFrame:
        """Subsidy and decisions of each group; with a budget ``price``, under re-training ``applies_retrained``."""
        before, after = self.before.to_frame(), self.after.to_frame()
        frame = pd.DataFrame(
            {
                "n": before["n"],
                "precision": before["precision"],
                "precision_after": after["precision"],
                "target": self.is_target,
                "subsidy": self.subsidies,
                "cost_before": before["cost"],
                "cost_after": after["cost"],
                "applies_before": before["applies"],
                "applies_after": after["applies"],
                "recipients": self._recipients if np.mod(self._recipients, 1).any() else self._recipients.astype(int),
                "payment": self.payments.to_numpy(),
            },
            index=before.index,
        )
        if self.retrained is not None:
            frame.insert(frame.columns.get_loc("applies_after"), "applies_retrained", self.retrained.applies)
        if self.spending is not None:
            frame["price"] = self.spending.price.to_numpy()
        return frame


def least_subsidies(before: Audit, confidence: float | None = None) -> pd.Series:
    """Least subsidy at which each group applies (with a confidence, surely applies); NaN if no subsidy helps."""
    groups, counts = before.published.groups, before.published.counts
    max_accepted_cost = before.terms.max_accepted_cost(groups, counts)
    if confidence is not None:
        bound = replace(before.terms, statistic=LowerBound(confidence))
        true_positives, selected = counts.effective_trials
        effective = GroupCounts(counts.n, counts.positives, selected, true_positives)
        max_accepted_cost = np.minimum(max_accepted_cost, bound.max_accepted_cost(groups, effective))
    return pd.Series(before.terms.further_subsidy(groups, max_accepted_cost), index=groups, name="subsidy")


def plan_for(
    before: Audit,
    targets: Sequence[Any] | None = None,
    *,
    subsidy_kind: SubsidyKind = "additive",
    budget: float | None = None,
    confidence: float | None = None,
) -> SubsidyPlan:
    """Least subsidies, or the best use of a budget, for a model that is audited already; see :func:`plan_subsidies`."""
    before = before.under(before.terms.with_subsidies(None, subsidy_kind))
    groups, stays_away = before.published.groups, ~before.applies.to_numpy()
    wanted = groups[stays_away] if targets is None else groups[locate_labels(targets, groups, "targets")]
    needed = least_subsidies(before, confidence)
    if budget is not None:
        considered = np.asarray(groups.isin(wanted)) & stays_away
        made = _within_budget(before, considered, needed, check_nonnegative(budget, "budget"), confidence)
        return replace(made, wanted=None if targets is None else wanted)
    # a target that applies already is paid only if a confidence is required
    paid = groups.isin(wanted) & (stays_away if confidence is None else True)
    subsidies = pd.Series(np.where(paid, needed, 0.0), index=groups, name="subsidy")
    after = before.under(before.terms.with_subsidies(subsidies.fillna(0.0)))
    asked = None if targets is None else wanted
    return SubsidyPlan(before, after, wanted, subsidies, confidence=confidence, wanted=asked)


def _within_budget(
    before: Audit, considered: BoolArray, needed: pd.Series, budget: float, confidence: float | None
) -> SubsidyPlan:
    """Pay the groups that together lower social cost most within the budget."""
    groups, terms = before.published.groups, before.terms
    amounts = pd.Series(np.where(considered, needed.fillna(0.0), 0.0), index=groups, name="subsidy")
    all_paid = SubsidyPlan(before, before.under(terms.with_subsidies(amounts)), groups[considered], needed)
    # each group is paid or not, and what one is paid changes nothing for another: prices and values add up
    increase = all_paid.after.shares.to_numpy() - before.shares.to_numpy()
    qualified = before.population.reindex(groups).counts.positives
    possible = considered & needed.notna().to_numpy()
    price = all_paid.payments.where(possible)
    best = best_subset(np.where(possible, increase * qualified, 0.0), price.fillna(0.0), budget)
    subsidies = amounts.where(best.inside, 0.0)
    after = before.under(terms.with_subsidies(subsidies))
    spending = Spending(budget, price, best.exact)
    return SubsidyPlan(before, after, groups[best.inside], subsidies, confidence=confidence, spending=spending)
