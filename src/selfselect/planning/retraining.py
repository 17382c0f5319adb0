"""Subsidies that still bring groups in when the firm re-trains against them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import clone

from .._notices import notices_kept
from .._validation import BoolArray, FloatArray
from ..auditing import Audit, ScreeningResult
from ..behaviour import SLACK, SureRule
from ..costs import SubsidyKind, Terms
from ..counting import GroupCodes, locate_labels
from ..estimators import StrategicClassifier
from ..publishing import PublishedStatistics
from .knapsack import ROUNDING
from .subsidies import Spending, SubsidyPlan, check_budget, least_subsidies, plan_for

#: How a firm answers subsidies: from the terms that groups face to what it publishes once it has re-trained.
Firm: TypeAlias = Callable[[Terms], PublishedStatistics]

#: Fits that the search for subsidies under re-training may take.
MOST_FITS = 40
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
        with notices_kept():  # that nobody applies is an answer here
            published: PublishedStatistics = model.fit(X, labels, sensitive_features=groups).published_
        return published

    return fit


@dataclass(frozen=True, eq=False)
class _Attempt:
    """Subsidies, and what the re-trained firm made of them."""

    amounts: FloatArray
    after: Audit
    came: BoolArray
    total: float

    @property
    def social_cost(self) -> float:
        """Share of qualified people who stay away; everybody, where that is undefined."""
        return self.after.social_cost if not np.isnan(self.after.social_cost) else 1.0


@dataclass
class _Search:
    """Subsidies tried so far, and what the firm made of them. The first try is to pay nothing."""

    before: Audit
    firm: Firm
    is_target: BoolArray
    confidence: float | None
    most_fits: int
    tried: dict[bytes, _Attempt] = field(default_factory=dict)

    def __post_init__(self) -> None:
        groups, terms = self.before.published.groups, self.before.terms
        whole = terms.listed_for(groups) if terms.kind == "additive" else np.ones(len(groups))
        self.most = np.where(self.is_target, whole, 0.0)
        self.qualified = self.before.population.spread_over(groups).counts.positives
        self.unpaid = self.attempt(np.zeros(len(groups)))

    @property
    def may_go_on(self) -> bool:
        """Whether another fit is allowed."""
        return len(self.tried) < self.most_fits

    def attempt(self, amounts: FloatArray) -> _Attempt:
        """Let the firm re-train against some subsidies; nothing is fitted twice."""
        key = amounts.tobytes()
        if key not in self.tried:
            self.tried[key] = self._fit(amounts)
        return self.tried[key]

    def _fit(self, amounts: FloatArray) -> _Attempt:
        before, groups = self.before, self.before.published.groups
        terms = before.terms.with_subsidies(pd.Series(amounts, index=groups, name="subsidy"))
        # the firm may list groups in an order of its own; they are matched by name
        people = ScreeningResult(self.firm(terms).spread_over(groups))
        after = replace(before, published_by=people, counted_on=people, terms=terms)
        came = after.applies.to_numpy()
        if self.confidence is not None:  # targets are to be sure to come, others just to come
            sure = SureRule(self.confidence).shares(*people.counts.trials, terms.effective_cost(groups))
            came = came & (sure | ~self.is_target)
        made = SubsidyPlan(before, after, groups[self.is_target], terms.subsidies)
        return _Attempt(amounts, after, came, made.total)

    def path(self) -> pd.DataFrame:
        """Everything that was tried, in order."""
        return pd.DataFrame([self._row(done) for done in self.tried.values()])

    def _row(self, done: _Attempt) -> dict[str, Any]:
        names, after = self.before.names, done.after
        staying = [name for name, applies in zip(names, after.applies, strict=True) if not applies]
        return {
            **{f"subsidy of {name}": done.amounts[i] for i, name in enumerate(names) if self.is_target[i]},
            "works": self.works(done),
            "stay away": "; ".join(staying),
            "induced_accuracy": after.induced_accuracy,
            "social_cost": after.social_cost,
            "total": done.total,
        }

    # ------------------------------------------------------------------ what is good

    def driven_out(self, done: _Attempt) -> BoolArray:
        """Groups that would come to a firm that re-trains and pays nothing, and do not with these subsidies."""
        return np.asarray(self.unpaid.after.applies.to_numpy() & ~done.after.applies.to_numpy())

    def works(self, done: _Attempt) -> bool:
        """Whether all targets come, and nobody is driven out."""
        return bool(done.came[self.is_target].all() and not self.driven_out(done).any())

    def lacks(self, done: _Attempt) -> tuple[float, float]:
        """How far from what is wanted: qualified people who are lacking, then what is paid."""
        lacking = (self.is_target & ~done.came) | self.driven_out(done)
        return float(self.qualified[lacking].sum() + lacking.sum()), done.total

    # ------------------------------------------------------------------ where to look next

    def needed(self, done: _Attempt) -> FloatArray:
        """Least subsidy of each group by what the firm now publishes; NaN where nobody passes."""
        unpaid = done.after.under(done.after.terms.with_subsidies(None))
        return np.asarray(least_subsidies(unpaid, self.confidence), dtype=np.float64)

    def raised(self, done: _Attempt) -> FloatArray:
        """More for the targets that stay away: what their newly published precision lacks, at least twice as much."""
        lacking = self.is_target & ~done.came
        more = np.maximum(np.maximum(2 * done.amounts, FIRST_STEP), np.nan_to_num(self.needed(done)))
        return np.where(lacking, np.minimum(more, self.most), done.amounts)

    def with_one(self, done: _Attempt, z: np.intp | int, value: float) -> FloatArray:
        """The same subsidies but for one group."""
        amounts = done.amounts.copy()
        amounts[z] = min(max(value, 0.0), self.most[z])
        return amounts

    def plan(self, done: _Attempt, targets: pd.Index, amounts: FloatArray, spending: Spending | None) -> SubsidyPlan:
        """What the search ends with."""
        subsidies = pd.Series(amounts, index=self.before.published.groups, name="subsidy")
        return SubsidyPlan(
            self.before,
            done.after,
            targets,
            subsidies,
            self.path(),
            retrained=self.unpaid.after,
            confidence=self.confidence,
            spending=spending,
        )


def plan_under_retraining(
    before: Audit,
    firm: Firm,
    targets: Sequence[Any] | None = None,
    *,
    subsidy_kind: SubsidyKind = "additive",
    budget: float | None = None,
    confidence: float | None = None,
    most_fits: int = MOST_FITS,
) -> SubsidyPlan:
    """Subsidies that bring groups in although the firm re-trains against them.

    A subsidy changes which classifier is best for the firm, and that classifier may publish something else; paying one
    group may drive another out. So the search fits the firm's classifier to every subsidy it tries. First to none: what
    comes of that is re-training's own doing, and what subsidies do is compared with it. Then up, paying each target
    that stays away what its newly published precision lacks (or twice as much, where nobody passes), until all are in
    and nobody is driven out who would come without; where that fails, one group at a time up or down from the best so
    far. Then down again, one group after the other, each by halves. With a budget, one group at a time is paid more or
    less as long as social cost falls, or stays and less is paid. Nothing makes the answer of a re-trained firm
    monotone, so the result is the best that was found within the fits allowed, not certainly the best there is.

    Parameters
    ----------
    before : Audit
        The model as it is, which the search starts from.
    firm : callable
        Takes the terms that groups face, returns what the firm publishes once it has re-trained under them.
    targets : list of groups, optional
        Groups to bring in; by default all that stay away now. With a budget, groups that may be paid: by default all
        that stay away now or would once the firm re-trains.
    subsidy_kind : {"additive", "proportional"}, default="additive"
        Amounts, or shares of the cost.
    budget, confidence : float, optional
        As in :func:`plan_subsidies`.
    most_fits : int, default=40
        Fits that the search may take.
    """
    if most_fits < 1:
        raise ValueError(f"most_fits must be at least 1, got {most_fits!r}.")
    if budget is not None:
        return _spend(before, firm, targets, subsidy_kind, check_budget(budget), confidence, most_fits)
    first = plan_for(before, targets, subsidy_kind=subsidy_kind, confidence=confidence)
    groups = first.before.published.groups
    search = _Search(first.before, firm, np.asarray(groups.isin(first.targets)), confidence, most_fits)
    best, failed = _upwards(search, np.nan_to_num(first.subsidies.to_numpy(dtype=np.float64)))
    if not search.works(best):
        best = _one_by_one(search, best)
    if search.works(best):
        best = _downwards(search, best, failed)
    hopeless = search.is_target & ~best.came
    return search.plan(best, first.targets, np.where(hopeless, np.nan, best.amounts), None)


def _upwards(search: _Search, first: FloatArray) -> tuple[_Attempt, FloatArray]:
    """Raise subsidies until all targets are in; the best that was found, and what was too little before it."""
    best, failed = search.unpaid, np.zeros(len(first))
    if search.works(best):
        return best, failed
    done = search.attempt(first) if search.may_go_on else best
    while True:
        best = min(best, done, key=search.lacks)
        if search.works(done):
            return done, failed
        more = search.raised(done)
        if (more == done.amounts).all() or not search.may_go_on:  # those who lack have all there is to pay
            return best, failed
        failed, done = done.amounts, search.attempt(more)


def _one_by_one(search: _Search, best: _Attempt) -> _Attempt:
    """Pay one target more or less at a time, as long as fewer are lacking."""
    improved = True
    while improved:
        improved = False
        for z in np.flatnonzero(search.is_target):
            now, needed = best.amounts[z], float(np.nan_to_num(search.needed(best)[z]))
            for value in (max(2 * now, FIRST_STEP), needed, search.most[z], now / 2, 0.0):
                if not search.may_go_on:
                    return best
                done = search.attempt(search.with_one(best, z, value))
                if search.lacks(done)[0] < search.lacks(best)[0]:
                    best, improved = done, True
                    break
            if search.works(best):
                return best
    return best


def _downwards(search: _Search, best: _Attempt, failed: FloatArray) -> _Attempt:
    """Pay less, one target after the other: nothing where that works, else by halves."""
    paid = np.flatnonzero(best.amounts > 0)
    too_little = np.where(failed < best.amounts, failed, 0.0) if len(paid) == 1 else np.zeros(len(failed))
    for z in paid if len(paid) > 1 else []:
        if search.may_go_on:
            done = search.attempt(search.with_one(best, z, 0.0))
            best = done if search.works(done) else best
    while search.may_go_on:
        open_ = [z for z in paid if best.amounts[z] - too_little[z] > PRECISE_ENOUGH]
        if not open_:
            break
        for z in open_:
            if not search.may_go_on:
                break
            middle = (best.amounts[z] + too_little[z]) / 2
            done = search.attempt(search.with_one(best, z, middle))
            if search.works(done):
                best = done
            else:
                too_little[z] = middle
    return best


# ---------------------------------------------------------------------- with a budget


def _spend(
    before: Audit,
    firm: Firm,
    targets: Sequence[Any] | None,
    subsidy_kind: SubsidyKind,
    budget: float,
    confidence: float | None,
    most_fits: int,
) -> SubsidyPlan:
    """The use of a budget with the lowest social cost that was found; paying nothing is always one."""
    before = before.under(before.terms.with_subsidies(None, subsidy_kind))
    groups = before.published.groups
    may_be_paid = np.ones(len(groups), dtype=bool)
    if targets is not None:
        may_be_paid = np.asarray(groups.isin(groups[locate_labels(targets, groups, "targets")]))
    search = _Search(before, firm, may_be_paid, confidence, most_fits)
    if targets is None:  # groups that come anyway need nothing
        search.is_target = ~(before.applies.to_numpy() & search.unpaid.came)
        search.most = np.where(search.is_target, search.most, 0.0)
    room = budget + ROUNDING * max(1.0, budget)

    def allowed(done: _Attempt) -> bool:
        paid = done.amounts > 0
        return done.total <= room and bool(done.came[paid].all()) and not search.driven_out(done).any()

    def better(done: _Attempt, than: _Attempt) -> bool:
        as_low = done.social_cost <= than.social_cost + SLACK
        lower = done.social_cost < than.social_cost - SLACK
        return allowed(done) and (lower or (as_low and done.total < than.total - SLACK))

    best = search.unpaid
    for start in (before, search.unpaid.after):
        guess = plan_for(
            start, groups[search.is_target], subsidy_kind=subsidy_kind, budget=budget, confidence=confidence
        )
        if search.may_go_on and (guess.subsidies > 0).any():
            done = search.attempt(guess.subsidies.to_numpy(dtype=np.float64))
            best = done if better(done, best) else best
    # what brings everybody in, whatever it takes, may turn out to be within reach; and so may a step on the way
    search.most_fits = len(search.tried) + max(most_fits - len(search.tried), 0) * 2 // 3
    everyone, failed = _upwards(search, np.nan_to_num(search.needed(search.unpaid)) * search.is_target)
    if search.works(everyone):
        _downwards(search, everyone, failed)
    search.most_fits = most_fits
    for done in search.tried.values():
        best = done if better(done, best) else best
    best = _spend_one_by_one(search, best, better)
    spending = Spending(budget, pd.Series(np.nan, index=groups), exact=False)
    return search.plan(best, groups[(best.amounts > 0) & best.came], best.amounts, spending)


def _spend_one_by_one(search: _Search, best: _Attempt, better: Callable[[_Attempt, _Attempt], bool]) -> _Attempt:
    """Pay one group more, or less, at a time, as long as that is better."""
    improved = True
    while improved:
        improved = False
        # those with the most qualified people first
        for z in sorted(np.flatnonzero(search.is_target), key=lambda z: -search.qualified[z]):
            now, needed = best.amounts[z], float(np.nan_to_num(search.needed(best)[z]))
            more = (needed, max(2 * now, FIRST_STEP), search.most[z])
            for value in (0.0, now / 2, (now + needed) / 2) if best.came[z] and now > 0 else more:
                if not search.may_go_on:
                    return best
                if best.came[z] and now == 0:
                    break  # it comes for nothing
                done = search.attempt(search.with_one(best, z, value))
                if better(done, best):
                    best, improved = done, True
                    break
    return best
