"""Subsidies that bring groups in: how much, who receives it, what it costs, and what it changes."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ._validation import FloatArray
from .auditing import Audit, Source, _plain, audit
from .behaviour import SLACK, Cost, SubsidyKind, group_costs
from .estimators import ApplicationWarning, StrategicClassifier
from .formatting import amount, amount_up, count, listed, percent
from .groups import encode_groups, position_of
from .metrics import Outcome
from .statistics import PublishedStatistics
from .theory import least_proportional_subsidy, least_subsidy

#: Fits that the search for subsidies under re-training may take.
MOST_FITS = 30
#: Subsidies closer than this count as equal in that search.
PRECISE_ENOUGH = 0.005


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
        return self.after.subsidy_kind

    @cached_property
    def impossible(self) -> list[str]:
        """Targets that no subsidy brings in: nobody in them passes screening, or passes once the firm re-trains."""
        return [name for name, value in zip(self.before.names, self.subsidies, strict=True) if np.isnan(value)]

    @property
    def works(self) -> bool:
        """Whether all targets apply with the subsidies."""
        return bool(self.after.applies.loc[self.targets].all())

    @cached_property
    def payments(self) -> FloatArray:
        """Sum that goes to each group: everyone who applies and passes screening receives the subsidy."""
        groups = self.before.population.groups
        position = self.after.published.groups.get_indexer(groups)
        listed_costs = group_costs(self.before.published.groups, self.before.cost)
        faced = group_costs(self.before.published.groups, self.after.cost, self.after.subsidies, self.subsidy_kind)
        paid = (listed_costs - faced)[position] * self.after.applies.to_numpy()[position]
        return np.asarray(paid * self.after.population.counts.selected, dtype=np.float64)

    @property
    def total(self) -> float:
        """Sum of all payments, in units of what being hired is worth to a person."""
        return float(self.payments.sum())

    @property
    def recipients(self) -> int:
        """Number of people who receive a subsidy."""
        return int(self.after.population.counts.selected[self.payments > 0].sum())

    def to_frame(self) -> pd.DataFrame:
        """What each group gets and does, one row per group."""
        before, after = self.before.to_frame(), self.after.to_frame()
        payments = pd.Series(self.payments, index=self.before.population.groups).reindex(before.index, fill_value=0.0)
        passing = pd.Series(self.after.population.counts.selected, index=self.before.population.groups)
        return pd.DataFrame(
            {
                "n": before["n"],
                "precision": before["precision"],
                "precision_after": after["precision"],
                "target": before.index.isin(self.targets),
                "subsidy": self.subsidies,
                "cost_before": before["cost"],
                "cost_after": after["cost"],
                "applies_before": before["applies"],
                "applies_after": after["applies"],
                "recipients": passing.reindex(before.index, fill_value=0).where(payments > 0, 0),
                "payment": payments,
            }
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
        frame = self.to_frame()
        groups = [
            {"group": name, **{column: _plain(value) for column, value in zip(frame.columns, row, strict=True)}}
            for name, row in zip(self.before.names, frame.itertuples(index=False), strict=True)
        ]
        return {
            "cost": self.before.to_dict()["cost"],
            "threshold": _plain(self.before.threshold),
            "subsidy_kind": self.subsidy_kind,
            "works": self.works,
            "impossible": self.impossible,
            "recipients": self.recipients,
            "total": _plain(self.total),
            "before": {name: _plain(value) for name, value in self.before.outcome.to_dict().items()},
            "after": {name: _plain(value) for name, value in self.after.outcome.to_dict().items()},
            "groups": groups,
            "path": None
            if self.path is None
            else [
                {column: _plain(value) for column, value in zip(self.path.columns, row, strict=True)}
                for row in self.path.itertuples(index=False)
            ],
        }

    def to_json(self) -> str:
        """JSON text of :meth:`to_dict`."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

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
    before = replace(before, subsidies=None, subsidy_kind=subsidy_kind)
    groups, applies = before.published.groups, before.applies
    if targets is None:
        wanted = groups[~applies.to_numpy()]
    else:
        wanted = groups[position_of(_index_like(targets, groups), groups, "targets", "the table of groups")]
    costs = group_costs(groups, before.cost)
    formula = least_subsidy if subsidy_kind == "additive" else least_proportional_subsidy
    needed = formula(before.published.counts.precision, costs)
    needs = groups.isin(wanted) & ~applies.to_numpy()
    subsidies = pd.Series(np.where(needs, needed, 0.0), index=groups, name="subsidy")
    after = replace(before, subsidies=subsidies.fillna(0.0))
    return SubsidyPlan(before, after, wanted, subsidies)


def plan_under_retraining(
    before: Audit,
    fit: Callable[[pd.Series], PublishedStatistics],
    targets: Sequence[Any] | None = None,
    *,
    subsidy_kind: SubsidyKind = "additive",
) -> SubsidyPlan:
    """Subsidies that bring groups in although the firm re-trains against them.

    A subsidy changes which classifier is best for the firm, and that classifier may publish something else. So the
    search fits the firm's classifier to every subsidy it tries: first up, paying each target that stays away what its
    newly published precision lacks (or twice as much, where nobody passes), until all are in or the whole cost is
    paid; then down again by halves. Nothing makes the answer of a re-trained firm monotone, so the result is a subsidy
    that works, not certainly the least.

    Parameters
    ----------
    before : Audit
        The model as it is, which the search starts from.
    fit : callable
        Takes subsidies by group, returns what the firm publishes once it has re-trained against them.
    targets : list of groups, optional
        Groups to bring in; by default all that stay away now.
    subsidy_kind : {"additive", "proportional"}, default="additive"
        Amounts, or shares of the cost.
    """
    first = plan_for(before, targets, subsidy_kind=subsidy_kind)
    before, groups = first.before, first.before.published.groups
    costs = group_costs(groups, before.cost)
    most = np.where(groups.isin(first.targets), costs if subsidy_kind == "additive" else 1.0, 0.0)
    formula = least_subsidy if subsidy_kind == "additive" else least_proportional_subsidy
    is_target = groups.isin(first.targets)
    tried: list[dict[str, Any]] = []

    def attempt(amounts: FloatArray) -> tuple[Audit, bool]:
        subsidies = pd.Series(amounts, index=groups, name="subsidy")
        published = fit(subsidies)
        after = replace(
            before,
            published=published,
            population=published,
            subsidies=subsidies,
            threshold=None,
            curves=None,
            population_curves=None,
        )
        works = bool(after.applies.to_numpy()[is_target].all())
        staying = [name for name, applies in zip(after.names, after.applies, strict=True) if not applies]
        tried.append(
            {
                **{f"subsidy of {name}": amounts[i] for i, name in enumerate(before.names) if is_target[i]},
                "works": works,
                "stay away": "; ".join(staying),
                "induced_accuracy": after.outcome.induced_accuracy,
                "social_cost": after.outcome.social_cost,
            }
        )
        return after, works

    amounts = np.nan_to_num(first.subsidies.to_numpy(dtype=np.float64))
    failed = np.zeros(len(groups))
    after, works = attempt(amounts)
    while not works and len(tried) < MOST_FITS and (amounts < most - SLACK).any():
        failed = amounts
        lacking = is_target & ~after.applies.to_numpy()
        needed = np.nan_to_num(formula(after.published.counts.precision, costs))
        raised = np.maximum(np.maximum(2 * amounts, 0.05), needed)
        amounts = np.where(lacking, np.minimum(raised, most), amounts)
        if (amounts == failed).all():  # those who lack have all there is to pay; the others are in
            break
        after, works = attempt(amounts)
    if not works:
        hopeless = is_target & ~after.applies.to_numpy()
        subsidies = pd.Series(np.where(hopeless, np.nan, amounts), index=groups, name="subsidy")
        return SubsidyPlan(before, after, first.targets, subsidies, pd.DataFrame(tried))
    best = (amounts, after)
    if amounts.any() and not failed.any():  # the first guess worked; perhaps nothing at all is needed
        there, works = attempt(failed)
        best = (failed, there) if works else best
    while len(tried) < MOST_FITS and (np.abs(best[0] - failed) > PRECISE_ENOUGH).any():
        middle = (best[0] + failed) / 2
        there, works = attempt(middle)
        if works:
            best = (middle, there)
        else:
            failed = middle
    amounts, after = best
    return SubsidyPlan(
        before, after, first.targets, pd.Series(amounts, index=groups, name="subsidy"), pd.DataFrame(tried)
    )


def _index_like(targets: Sequence[Any], groups: pd.Index) -> pd.Index:
    if groups.nlevels > 1:
        return pd.MultiIndex.from_tuples([tuple(target) for target in targets], names=groups.names)
    return pd.Index(list(targets), tupleize_cols=False)


def plan_subsidies(
    y_true: ArrayLike,
    *,
    score: ArrayLike | None = None,
    threshold: float | None = None,
    y_pred: ArrayLike | None = None,
    sensitive_features: Any = None,
    cost: Cost,
    targets: Sequence[Any] | None = None,
    subsidy_kind: SubsidyKind = "additive",
    missing: str = "error",
    source: Source | None = None,
    retrain_on: Any = None,
    classifier: Any = None,
) -> SubsidyPlan:
    """Find the least subsidies that bring groups in, for a model as it is or for a firm that re-trains.

    A group applies once its cost, less the subsidy, is at most its published precision. A group of which nobody passes
    screening cannot be brought in by money.

    Parameters
    ----------
    y_true, score, threshold, y_pred, sensitive_features, missing, source
        As in :func:`selfselect.audit`.
    cost : float, or mapping from group to float
        Cost of being tested, in [0, 1].
    targets : list of groups, optional
        Groups to bring in; by default all that stay away.
    subsidy_kind : {"additive", "proportional"}, default="additive"
        Amounts, or shares of the cost.
    retrain_on : array-like of shape (n_rows, n_features), optional
        Features on which the firm re-trains against the subsidies; see :func:`plan_under_retraining`. The plan's
        ``path`` then lists what was tried.
    classifier : classifier of this package, optional
        What the firm trains; by default ``StrategicClassifier(random_state=0)``.

    Returns
    -------
    SubsidyPlan
        With ``verdict()``, ``to_frame()``, ``to_json()``, ``to_html()``.

    Examples
    --------
    >>> plan = plan_subsidies(
    ...     [1, 1, 0, 1, 0, 0], y_pred=[1, 1, 1, 1, 1, 0], sensitive_features=list("AAABBB"), cost=0.6
    ... )
    >>> plan.subsidies.round(3).to_dict()
    {'A': 0.0, 'B': 0.1}
    >>> plan.works, plan.recipients, round(plan.total, 3)
    (True, 2, 0.2)
    """
    before = audit(
        y_true,
        score=score,
        threshold=threshold,
        y_pred=y_pred,
        sensitive_features=sensitive_features,
        cost=cost,
        missing=missing,
        source=source,
    )
    if retrain_on is None:
        return plan_for(before, targets, subsidy_kind=subsidy_kind)
    fit = refit(
        classifier, retrain_on, y_true, sensitive_features, cost=cost, subsidy_kind=subsidy_kind, missing=missing
    )
    return plan_under_retraining(before, fit, targets, subsidy_kind=subsidy_kind)


def refit(
    classifier: Any,
    X: Any,
    y: ArrayLike,
    sensitive_features: Any,
    *,
    cost: Cost,
    subsidy_kind: SubsidyKind,
    missing: str = "error",
) -> Callable[[pd.Series], PublishedStatistics]:
    """How a firm answers subsidies: it trains its classifier anew and publishes what comes out."""
    codes = encode_groups(sensitive_features, n_rows=len(np.asarray(y)), missing=missing)
    labels = codes.labels.take(codes.codes)
    groups = labels.to_frame(index=False) if labels.nlevels > 1 else pd.Series(labels, name=labels.name)
    base = StrategicClassifier(random_state=0) if classifier is None else classifier

    def fit(subsidies: pd.Series) -> PublishedStatistics:
        model = clone(base).set_params(cost=cost, subsidies=subsidies.to_dict(), subsidy_kind=subsidy_kind)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ApplicationWarning)  # that nobody applies is an answer here
            warnings.simplefilter("ignore", ConvergenceWarning)
            published: PublishedStatistics = model.fit(X, y, sensitive_features=groups).published_
        return published

    return fit
