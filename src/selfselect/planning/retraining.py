"""Subsidies that still bring groups in when the firm re-trains against them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from .._validation import BoolArray, FloatArray
from ..auditing import Audit, Screened
from ..counting import GroupCodes
from ..deciding import SLACK, PublishedStatistics, SubsidyKind, SureRule, Terms
from ..estimators import ApplicationWarning, StrategicClassifier
from .subsidies import SubsidyPlan, plan_for

#: How a firm answers subsidies: from the terms that groups face to what it publishes once it has re-trained.
Firm: TypeAlias = Callable[[Terms], PublishedStatistics]

#: Fits that the search for subsidies under re-training may take.
MOST_FITS = 30
#: Subsidies closer than this count as equal in that search.
PRECISE_ENOUGH = 0.005
#: The least that is tried where a group lacks something but its precision does not say how much.
FIRST_STEP = 0.05


def refit(classifier: Any, X: Any, y: ArrayLike, groups: GroupCodes) -> Firm:
    """How a firm answers subsidies: it trains its classifier anew and publishes what comes out.

    Parameters
    ----------
    classifier : classifier of this package or None
        What the firm trains; by default ``StrategicClassifier(random_state=0)``. Its terms, and whether people go by
        the bound (``confidence``), are those of the plan.
    X, y : array-like
        Features, and who is qualified.
    groups : GroupCodes
        Group of each row.
    """
    base = StrategicClassifier(random_state=0) if classifier is None else classifier
    labels = np.asarray(y).astype(int)

    def fit(terms: Terms) -> PublishedStatistics:
        # the firm expects people to decide as they do
        sure = terms.behaviour.confidence if isinstance(terms.behaviour, SureRule) else None
        model = clone(base).set_params(
            cost=terms.cost, subsidies=terms.subsidies, subsidy_kind=terms.kind, confidence=sure
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ApplicationWarning)  # that nobody applies is an answer here
            warnings.simplefilter("ignore", ConvergenceWarning)
            published: PublishedStatistics = model.fit(X, labels, sensitive_features=groups).published_
        return published

    return fit


@dataclass
class _Search:
    """Subsidies tried so far, and what the firm made of them."""

    before: Audit
    firm: Firm
    is_target: BoolArray
    tried: list[dict[str, Any]] = field(default_factory=list)

    def attempt(self, amounts: FloatArray) -> tuple[Audit, bool]:
        """Let the firm re-train against some subsidies; what follows, and whether all targets apply."""
        before, groups = self.before, self.before.published.groups
        terms = before.terms.paying(pd.Series(amounts, index=groups, name="subsidy"))
        # the firm may list groups in an order of its own; they are matched by name
        people = Screened(self.firm(terms).spread_over(groups))
        after = replace(before, published_by=people, counted_on=people, terms=terms)
        works = bool(after.applies.to_numpy()[self.is_target].all())
        staying = [name for name, applies in zip(after.names, after.applies, strict=True) if not applies]
        self.tried.append(
            {
                **{f"subsidy of {name}": amounts[i] for i, name in enumerate(before.names) if self.is_target[i]},
                "works": works,
                "stay away": "; ".join(staying),
                "induced_accuracy": after.induced_accuracy,
                "social_cost": after.social_cost,
            }
        )
        return after, works

    @property
    def may_go_on(self) -> bool:
        """Whether another fit is allowed."""
        return len(self.tried) < MOST_FITS

    def raised(self, amounts: FloatArray, after: Audit, most: FloatArray) -> FloatArray:
        """More for the targets that stay away: what their newly published precision lacks, at least twice as much."""
        lacking = self.is_target & ~after.applies.to_numpy()
        unpaid = after.terms.paying(None)
        needed = np.nan_to_num(unpaid.further_subsidy(after.published.groups, unpaid.comes_at(after.published.counts)))
        more = np.maximum(np.maximum(2 * amounts, FIRST_STEP), needed)
        return np.where(lacking, np.minimum(more, most), amounts)

    def plan(self, after: Audit, targets: pd.Index, amounts: FloatArray) -> SubsidyPlan:
        """What the search ends with."""
        subsidies = pd.Series(amounts, index=self.before.published.groups, name="subsidy")
        return SubsidyPlan(self.before, after, targets, subsidies, pd.DataFrame(self.tried))


def plan_under_retraining(
    before: Audit,
    firm: Firm,
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
    firm : callable
        Takes the terms that groups face, returns what the firm publishes once it has re-trained under them.
    targets : list of groups, optional
        Groups to bring in; by default all that stay away now.
    subsidy_kind : {"additive", "proportional"}, default="additive"
        Amounts, or shares of the cost.
    """
    first = plan_for(before, targets, subsidy_kind=subsidy_kind)
    before, groups = first.before, first.before.published.groups
    search = _Search(before, firm, np.asarray(groups.isin(first.targets)))
    whole = before.terms.listed_for(groups) if subsidy_kind == "additive" else np.ones(len(groups))
    most = np.where(search.is_target, whole, 0.0)

    amounts = np.nan_to_num(first.subsidies.to_numpy(dtype=np.float64))
    failed = np.zeros(len(groups))
    after, works = search.attempt(amounts)
    while not works and search.may_go_on and (amounts < most - SLACK).any():
        failed, amounts = amounts, search.raised(amounts, after, most)
        if (amounts == failed).all():  # those who lack have all there is to pay; the others are in
            break
        after, works = search.attempt(amounts)
    if not works:
        hopeless = search.is_target & ~after.applies.to_numpy()
        return search.plan(after, first.targets, np.where(hopeless, np.nan, amounts))
    best = (amounts, after)
    if amounts.any() and not failed.any():  # the first guess worked; perhaps nothing at all is needed
        there, works = search.attempt(failed)
        best = (failed, there) if works else best
    while search.may_go_on and (np.abs(best[0] - failed) > PRECISE_ENOUGH).any():
        middle = (best[0] + failed) / 2
        there, works = search.attempt(middle)
        if works:
            best = (middle, there)
        else:
            failed = middle
    return search.plan(best[1], first.targets, best[0])
