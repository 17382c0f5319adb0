"""Subsidies that bring groups in: how much, who receives it, what it costs, and what it changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._text import html_text
from .._validation import BoolArray, check_fraction
from ..auditing import Audit, Opening
from ..auditing.formats import MOST_NAMED, amount, amount_up, count, level, listed, percent
from ..auditing.plain import as_json, plain_groups, plain_rows, plain_value
from ..behaviour import SureRule, highest_cost
from ..costs import SubsidyKind
from ..counting import locate_labels
from ..outcomes import Outcome
from .purchases import best_purchase


@dataclass(frozen=True, eq=False)
class Spending:
    """What a budget was spent on.

    Attributes
    ----------
    budget : float
        The most that may be paid, in units of what being hired is worth to a person.
    price : Series, indexed by group
        What bringing each group in would take, alone; NaN for groups that come already, are not to be brought in, or
        cannot be.
    exact : bool
        Whether it is shown that no other use of the budget lowers social cost further.
    """

    budget: float
    price: pd.Series
    exact: bool

    @property
    def cheapest(self) -> int | None:
        """Position of the group that takes least, None if none can be brought in."""
        return None if self.price.isna().all() else int(np.nanargmin(self.price.to_numpy()))


@dataclass(frozen=True, eq=False)
class SubsidyPlan:
    """Subsidies that bring groups in: the least, or the best for a budget. Made by :func:`plan_subsidies`.

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
    retrained : Audit or None
        Under re-training, what the firm does if it re-trains and nothing is paid: what subsidies do is judged by that,
        not by the model as it is.
    confidence : float or None
        How sure groups are to come: subsidies reach up to the lower bound of precision at this level, not to the
        precision itself.
    spending : Spending or None
        With a budget, what it was spent on; ``targets`` are then the groups that it brings in.
    """

    before: Audit
    after: Audit
    targets: pd.Index
    subsidies: pd.Series
    path: pd.DataFrame | None = None
    retrained: Audit | None = None
    confidence: float | None = None
    spending: Spending | None = None

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
        """Whether all targets apply with the subsidies, and nobody is driven out."""
        return bool(self.after.applies.to_numpy()[self._is_target].all()) and not self.driven_out

    @cached_property
    def driven_out(self) -> list[str]:
        """Groups that come without subsidies and do not with them: a firm that re-trains may choose so."""
        gone = self.unpaid.applies.to_numpy() & ~self.after.applies.to_numpy()
        return [name for name, is_gone in zip(self.before.names, gone, strict=True) if is_gone]

    @cached_property
    def _is_target(self) -> BoolArray:
        return np.asarray(self.before.published.groups.isin(self.targets))

    @cached_property
    def payments(self) -> pd.Series:
        """Sum that goes to each group: everyone who applies and passes screening receives the subsidy."""
        groups, terms = self.after.published.groups, self.after.terms
        each = terms.listed_for(groups) - terms.effective_cost(groups)
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
        """What each group gets and does, one row per group.

        With a budget there is also ``price``, what bringing it in would take alone; under re-training
        ``applies_retrained``, whether it comes if the firm re-trains and nothing is paid.
        """
        before, after = self.before.to_frame(), self.after.to_frame()
        frame = pd.DataFrame(
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
                "payment": self.payments.to_numpy(),
            },
            index=before.index,
        )
        if self.retrained is not None:
            frame.insert(frame.columns.get_loc("applies_after"), "applies_retrained", self.retrained.applies)
        if self.spending is not None:
            frame["price"] = self.spending.price.to_numpy()
        return frame

    # ------------------------------------------------------------------ in words

    def verdict(self) -> str:
        """What it comes to, in a few sentences."""
        return " ".join(self._said())

    def _said(self) -> list[str]:
        """The sentences of the verdict."""
        said = self._without_payments() if not (self.subsidies > 0).any() else self._with_payments()
        if self.path is not None and self.impossible:
            said = self._not_found()
        return [*said, *self._on_confidence()]

    def _not_found(self) -> list[str]:
        who, fits = listed(self.impossible), len(self.path) if self.path is not None else 0
        said = (
            f"No subsidy was found that brings in {who} once the firm re-trains: in {count(fits)} fits, with up to the "
            "whole cost paid, it shut the group out each time."
        )
        return [said, *(self._with_payments() if (self.subsidies > 0).any() else [])]

    def _without_payments(self) -> list[str]:
        if self.spending is None:
            hopeless = self._on_impossible()
            return [*hopeless, "No other target needs a subsidy." if hopeless else self._nothing_needed()]
        cheapest, budget = self.spending.cheapest, amount(self.spending.budget)
        if len(self.targets):
            return [f"Of a budget of {budget} nothing is needed: {listed(self._target_names())} comes for nothing."]
        if cheapest is not None:
            return [
                f"A budget of {budget} brings nobody in: the cheapest group, {self.before.names[cheapest]}, would take "
                f"{amount_up(self.spending.price.iloc[cheapest])} (in units of what being hired is worth)."
            ]
        stays = [name for name, comes in zip(self.before.names, self.unpaid.applies, strict=True) if not comes]
        if not stays:
            return ["Every group applies already: nothing is paid."]
        if self.path is not None:
            return [f"No use of a budget of {budget} was found that brings more people in once the firm re-trains."]
        hopeless = [name for name in stays if self._passes_nobody(name)]
        others = [name for name in stays if name not in hopeless]
        said = []
        if hopeless:
            said.append(f"No subsidy can bring in {listed(hopeless)}: nobody there passes screening.")
        if others:
            said.append(f"Nothing is paid to {listed(others)}: no target{'' if len(others) == 1 else 's'}.")
        return said

    def _passes_nobody(self, name: str) -> bool:
        """Whether the model, as it is, passes nobody of a group."""
        return not self.before.published.counts.selected[self.before.names.index(name)]

    def _nothing_needed(self) -> str:
        if self.path is not None:
            return "The targets come once the firm re-trains, without any subsidy."
        return "The targets apply already: no subsidy."

    def _with_payments(self) -> list[str]:
        paid = [
            f"{name} {amount_up(value)}" + (" of the cost" if self.subsidy_kind == "proportional" else "")
            for name, value in zip(self.before.names, self.subsidies, strict=True)
            if value > 0
        ]
        old, new = self.unpaid.outcome, self.after.outcome
        told = [
            *(self._on_impossible() if self.path is None else []),
            f"{self._title()}: {listed(paid) if len(paid) <= MOST_NAMED else f'{len(paid)} groups are paid'}.",
            f"{count(self.recipients)} people receive {'them' if len(paid) > 1 or self.spending is None else 'it'}, "
            f"{amount(self.total)} in all (in units of what being hired is worth).",
            f"{self._compared_with()}ocial cost {_change(old, new, 'social_cost')}, accuracy on those who apply "
            f"{_change(old, new, 'induced_accuracy')}.",
        ]
        if self.driven_out:
            told.append(f"It drives out {listed(self.driven_out)}: no better was found.")
        if self.spending is not None and self.path is None and not self.spending.exact:
            told.append("It is not shown that no other use is better.")
        return told

    def _compared_with(self) -> str:
        """How the sentence on what subsidies do begins; re-training's own part is not theirs."""
        if self.retrained is None:
            return "S"
        return "Compared with a firm that re-trains and pays nothing, s"

    def _on_impossible(self) -> list[str]:
        if not self.impossible:
            return []
        return [
            f"No subsidy can bring in {listed(self.impossible)}: nobody there passes screening, so there is nothing to "
            "be hired from; a lower threshold might."
        ]

    def _on_confidence(self) -> list[str]:
        if not (self.subsidies > 0).any():
            return []
        if self.confidence is None and self.path is not None:
            return []
        if self.confidence is None:
            return [
                "They are just enough: whoever is paid sits on the boundary, where chance decides; to be surer takes "
                "more (a confidence can be asked for)."
            ]
        return [
            "They reach up to the lower bound of precision: the true precision of a group reaches what it faces then "
            f"with a probability of {level(self.confidence)}, if new people are like these."
        ]

    def _target_names(self) -> list[str]:
        return [name for name, is_target in zip(self.before.names, self._is_target, strict=True) if is_target]

    def _title(self) -> str:
        if self.spending is not None:
            found = "Best use" if self.path is None else "Best use found, once the firm re-trains,"
            return f"{found} of a budget of {amount(self.spending.budget)}"
        return "Least subsidies" if self.path is None else "Subsidies that still work after the firm re-trains"

    # ------------------------------------------------------------------ as data

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; NaN becomes None.

        ``before`` is the model as it is; ``retrained`` what comes of re-training alone, and None without it.
        """
        before, after = _plain_outcome(self.before), _plain_outcome(self.after)
        return {
            "cost": self.before.to_dict()["cost"],
            "threshold": plain_value(self.before.threshold),
            "subsidy_kind": self.subsidy_kind,
            "budget": None if self.spending is None else self.spending.budget,
            "exact": None if self.spending is None else self.path is None and self.spending.exact,
            "confidence": self.confidence,
            "works": self.works,
            "impossible": self.impossible,
            "driven_out": self.driven_out,
            "recipients": self.recipients,
            "total": plain_value(self.total),
            "before": before,
            "retrained": None if self.retrained is None else _plain_outcome(self.retrained),
            "after": after,
            "groups": plain_groups(self.before.names, self.to_frame()),
            "path": None if self.path is None else plain_rows(self.path),
        }

    def to_json(self) -> str:
        """JSON text of :meth:`to_dict`."""
        return as_json(self.to_dict())

    def to_html(self) -> str:
        """Page about the plan: before and after, who is paid, and the model with the subsidies set.

        Needs the extra ``report``.
        """
        headline, *told = self._said()
        if self.retrained is not None:
            fits = len(self.path) if self.path is not None else 0
            told.append(
                "What follows is about the model that the firm trains anew against these subsidies, not about the "
                f"one in the table; {count(fits)} such models were tried."
            )
        tables = (
            {"title": "Before and after", "rows": self.number_rows(), "left": [""]},
            {"title": "Who is paid", "rows": self.paid_rows(), "left": ["group", "without", "with"]},
        )
        return self.after.to_html(
            opening=Opening("A plan of subsidies", headline, paragraphs=tuple(told), tables=tables)
        )

    def number_rows(self) -> list[dict[str, str]]:
        """What the plan changes, as lines of a table."""
        old, new = self.unpaid.outcome, self.after.outcome
        without = "without subsidies" if self.retrained is None else "re-trained, without subsidies"
        numbers = [
            ("accuracy on those who apply", "induced_accuracy", percent),
            ("social cost", "social_cost", percent),
            ("people who apply", "application_rate", percent),
            ("groups that apply", "applying_groups", count),
        ]
        rows = [
            {"": told, without: form(getattr(old, name)), "with": form(getattr(new, name))}
            for told, name, form in numbers
        ]
        return [*rows, {"": "paid in all", without: amount(0), "with": amount(self.total)}]

    def paid_rows(self) -> list[dict[str, str]]:
        """Groups that are paid, that the plan brings in or that it loses, as lines of a table."""
        frame = self.to_frame()
        comes = self.unpaid.applies.to_numpy()
        unit = " (share of the cost)" if self.subsidy_kind == "proportional" else ""
        rows = []
        for name, was_in, row in zip(self.before.names, comes, frame.to_dict("records"), strict=True):
            if not row["subsidy"] > 0 and was_in == row["applies_after"]:
                continue
            rows.append(
                {
                    "group": name,
                    "without": "applies" if was_in else "stays away",
                    "with": "applies" if row["applies_after"] else "stays away",
                    f"subsidy{unit}": amount_up(row["subsidy"]) if row["subsidy"] > 0 else "none",
                    "cost left": amount(row["cost_after"]),
                    "people paid": count(row["recipients"]),
                    "in all": amount(row["payment"]),
                }
            )
        return rows

    def _repr_html_(self) -> str:
        return f"<p>{html_text(self.verdict())}</p>{self.to_frame()._repr_html_()}"

    def __repr__(self) -> str:
        return f"{self.verdict()}\n{self.to_frame()}"


def _plain_outcome(found: Audit) -> dict[str, Any]:
    return {name: plain_value(value) for name, value in found.outcome.to_dict().items()}


def _change(old: Outcome, new: Outcome, name: str) -> str:
    before, after = percent(getattr(old, name)), percent(getattr(new, name))
    return f"stays {before}" if before == after else f"goes from {before} to {after}"


def least_subsidies(before: Audit, confidence: float | None = None) -> pd.Series:
    """Least subsidy at which each group comes; with a confidence, up to the lower bound of its precision.

    NaN for groups that no subsidy brings in.
    """
    groups, counts = before.published.groups, before.published.counts
    max_accepted_cost = before.terms.max_accepted_cost(counts)
    if confidence is not None:  # whoever is promised nothing (NaN) stays so
        sure = SureRule(check_fraction(confidence, "confidence", inclusive=False))
        max_accepted_cost = np.minimum(max_accepted_cost, highest_cost(sure, *counts.trials))
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
    groups, stays = before.published.groups, ~before.applies.to_numpy()
    wanted = groups[stays] if targets is None else groups[locate_labels(targets, groups, "targets")]
    needed = least_subsidies(before, confidence)
    if budget is not None:
        return _within_budget(before, np.asarray(groups.isin(wanted)) & stays, needed, check_budget(budget), confidence)
    # a target that comes already is paid only to make sure of it
    paid = groups.isin(wanted) & (stays if confidence is None else True)
    subsidies = pd.Series(np.where(paid, needed, 0.0), index=groups, name="subsidy")
    after = before.under(before.terms.with_subsidies(subsidies.fillna(0.0)))
    return SubsidyPlan(before, after, wanted, subsidies, confidence=confidence)


def check_budget(budget: Any) -> float:
    """A budget that makes sense, as a number."""
    try:
        amount_left = float(budget)
    except (TypeError, ValueError) as error:
        raise TypeError(f"budget must be a number, got {budget!r}.") from error
    if not (np.isfinite(amount_left) and amount_left >= 0):
        raise ValueError(f"budget must be finite and at least 0, got {budget!r}.")
    return amount_left


def _within_budget(
    before: Audit, considered: BoolArray, needed: pd.Series, budget: float, confidence: float | None
) -> SubsidyPlan:
    """Of the groups considered, pay those that together lower social cost most for what there is to spend."""
    groups = before.published.groups
    amounts = np.where(considered, needed.fillna(0.0), 0.0)
    all_paid = SubsidyPlan(
        before, before.under(before.terms.with_subsidies(pd.Series(amounts, index=groups))), groups[considered], needed
    )
    # each group is paid or not, and what one is paid changes nothing for another: prices and worths add up
    more_come = all_paid.after.shares.to_numpy() - before.shares.to_numpy()
    qualified = before.population.spread_over(groups).counts.positives
    possible = considered & needed.notna().to_numpy()
    bought = best_purchase(
        np.where(possible, more_come * qualified, 0.0), np.where(possible, all_paid.payments, 0.0), budget
    )
    chosen = np.where(bought.taken, amounts, 0.0)
    subsidies = pd.Series(chosen, index=groups, name="subsidy")
    after = before.under(before.terms.with_subsidies(subsidies))
    spending = Spending(budget, pd.Series(np.where(possible, all_paid.payments, np.nan), index=groups), bought.exact)
    return SubsidyPlan(before, after, groups[bought.taken], subsidies, confidence=confidence, spending=spending)
