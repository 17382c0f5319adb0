"""Subsidies that still make groups apply when the firm re-trains against them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import clone

from .._notices import captured_warnings
from .._validation import BoolArray, FloatArray, check_nonnegative
from ..auditing import Audit, ScreeningResult
from ..costs import SubsidyKind, Terms
from ..counting import GroupCodes, locate_labels
from ..estimators import StrategicClassifier
from ..publishing import PublishedStatistics
from ..publishing.splits import as_publishing
from ..statistics import SLACK, LowerBound
from .knapsack import ROUNDING
from .subsidies import Spending, SubsidyPlan, least_subsidies, plan_for

#: Takes the terms of the groups, returns what the firm publishes once it has re-trained under them.
Firm: TypeAlias = Callable[[Terms], PublishedStatistics]

#: Fits that the search for subsidies under re-training may take.
MAX_FITS = 40
#: Subsidies closer than this count as equal in that search.
RESOLUTION = 0.005
#: The least that is tried if a group does not apply and its precision does not say how much it needs.
FIRST_STEP = 0.05


def refit(classifier: Any, X: Any, y: ArrayLike, groups: GroupCodes, person: Any = None) -> Firm:
    """A firm that re-trains its classifier under new terms; by default ``StrategicClassifier(random_state=0)``.

    Terms and ``confidence`` of the classifier are replaced by those of the plan. ``person`` is the one of each row.
    """
    base = StrategicClassifier(random_state=0) if classifier is None else classifier
    labels = np.asarray(y).astype(int)

    def fit(terms: Terms) -> PublishedStatistics:
        publishing = as_publishing(base.publish)
        model = clone(base).set_params(
            cost=terms.cost,
            subsidies=terms.subsidies,
            subsidy_kind=terms.kind,
            behaviour=terms.behaviour,
            publish=replace(publishing, statistic=terms.statistic),
        )
        with captured_warnings():  # a model to which nobody applies is a valid answer here
            published: PublishedStatistics = model.fit(X, labels, sensitive_features=groups, person=person).published_
        return published

    return fit


@dataclass(frozen=True, eq=False)
class _Attempt:
    """Subsidies, the audit of the re-trained model, who applies (with the confidence required) and the payment."""

    amounts: FloatArray
    after: Audit
    applies: BoolArray
    total: float

    @property
    def social_cost(self) -> float:
        return self.after.social_cost if not np.isnan(self.after.social_cost) else 1.0


@dataclass
class _Search:
    """All attempts so far. The first pays nothing."""

    before: Audit
    firm: Firm
    is_target: BoolArray
    confidence: float | None
    max_fits: int
    attempts: dict[bytes, _Attempt] = field(default_factory=dict)

    def __post_init__(self) -> None:
        groups, terms = self.before.published.groups, self.before.terms
        whole = terms.listed_cost(groups) if terms.kind == "additive" else np.ones(len(groups))
        self.most = np.where(self.is_target, whole, 0.0)
        self.qualified = self.before.population.reindex(groups).counts.positives
        self.unpaid = self.attempt(np.zeros(len(groups)))

    @property
    def has_fits_left(self) -> bool:
        return len(self.attempts) < self.max_fits

    def attempt(self, amounts: FloatArray) -> _Attempt:
        """Let the firm re-train against some subsidies; nothing is fitted twice."""
        if amounts.tobytes() in self.attempts:
            return self.attempts[amounts.tobytes()]
        before, groups = self.before, self.before.published.groups
        terms = before.terms.with_subsidies(pd.Series(amounts, index=groups, name="subsidy"))
        # the firm may list groups in another order; they are matched by name
        people = ScreeningResult(self.firm(terms).reindex(groups))
        after = replace(before, published_by=people, counted_on=people, terms=terms)
        applies = after.applies.to_numpy()
        if self.confidence is not None:  # targets must surely apply, others just apply
            true_positives, selected = people.counts.effective_trials
            counts = replace(people.counts, true_positives=true_positives, selected=selected)
            sure = LowerBound(self.confidence).reaches(counts, terms.effective_cost(groups))
            applies = applies & (sure | ~self.is_target)
        total = SubsidyPlan(before, after, groups[self.is_target], terms.subsidies).total
        done = self.attempts[amounts.tobytes()] = _Attempt(amounts, after, applies, total)
        return done

    def driven_out(self, done: _Attempt) -> BoolArray:
        """Groups that apply if the firm re-trains and pays nothing, and do not with these subsidies."""
        return np.asarray(self.unpaid.after.applies.to_numpy() & ~done.after.applies.to_numpy())

    def works(self, done: _Attempt) -> bool:
        """Whether all targets apply and nobody is driven out."""
        return bool(done.applies[self.is_target].all() and not self.driven_out(done).any())

    def shortfall(self, done: _Attempt) -> tuple[float, float]:
        """Qualified people (and groups) who should apply and do not, then what is paid."""
        missing = (self.is_target & ~done.applies) | self.driven_out(done)
        return float(self.qualified[missing].sum() + missing.sum()), done.total

    def needed(self, done: _Attempt) -> FloatArray:
        """Least subsidy of each group by what the firm now publishes; 0 if nobody passes."""
        unpaid = done.after.under(done.after.terms.with_subsidies(None))
        return np.nan_to_num(np.asarray(least_subsidies(unpaid, self.confidence), dtype=np.float64))

    def with_one(self, done: _Attempt, z: np.intp | int, value: float) -> _Attempt:
        """The same subsidies but for one group."""
        amounts = done.amounts.copy()
        amounts[z] = min(max(value, 0.0), self.most[z])
        return self.attempt(amounts)

    def improve(
        self,
        best: _Attempt,
        order: Iterable[Any],
        candidates: Callable[[_Attempt, Any], Sequence[float]],
        better: Callable[[_Attempt, _Attempt], bool],
        enough: Callable[[_Attempt], bool] = lambda _: False,
    ) -> _Attempt:
        """Change the subsidy of one group at a time as long as that is better, until it is enough."""
        groups, improved = list(order), True
        while improved:
            improved = False
            for z in groups:
                for value in candidates(best, z):
                    if not self.has_fits_left:
                        return best
                    done = self.with_one(best, z, value)
                    if better(done, best):
                        best, improved = done, True
                        break
                if enough(best):
                    return best
        return best

    def plan(self, done: _Attempt, targets: pd.Index, amounts: FloatArray, spending: Spending | None) -> SubsidyPlan:
        """The plan of an attempt, with all attempts as its path."""
        subsidies = pd.Series(amounts, index=self.before.published.groups, name="subsidy")
        names = np.array(self.before.names, dtype=object)
        path = [
            {
                **{f"subsidy of {names[i]}": one.amounts[i] for i in np.flatnonzero(self.is_target)},
                "works": self.works(one),
                "stay away": "; ".join(names[~one.after.applies.to_numpy()]),
                "induced_accuracy": one.after.induced_accuracy,
                "social_cost": one.after.social_cost,
                "total": one.total,
            }
            for one in self.attempts.values()
        ]
        return SubsidyPlan(
            self.before,
            done.after,
            targets,
            subsidies,
            pd.DataFrame(path),
            self.unpaid.after,
            self.confidence,
            spending,
        )


def plan_under_retraining(
    before: Audit,
    firm: Firm,
    targets: Sequence[Any] | None = None,
    *,
    subsidy_kind: SubsidyKind = "additive",
    budget: float | None = None,
    confidence: float | None = None,
    max_fits: int = MAX_FITS,
) -> SubsidyPlan:
    """Subsidies that make groups apply although the firm re-trains against them.

    A subsidy changes which classifier is best for the firm, and that classifier may publish something else; paying one
    group may drive another out. So the search fits the firm's classifier to all subsidies it tries. It starts with
    none, because subsidies are compared with re-training alone. Then it raises the subsidies of targets that stay
    away until all apply and nobody is driven out; if that fails, it changes one group at a time. Last, it lowers one
    subsidy after the other by bisection. With a budget, it changes one group at a time as long as social cost falls, or
    stays and less is paid. The answer of a re-trained firm need not be monotone, so the result is the best that was
    found, not certainly the best there is.

    ``before`` is the model as it is; other parameters are those of :func:`plan_subsidies`. With a budget, all groups
    that stay away now or would once the firm re-trains may be paid by default.
    """
    if max_fits < 1:
        raise ValueError(f"max_fits must be at least 1, got {max_fits!r}.")
    if budget is not None:
        return _spend(before, firm, targets, subsidy_kind, check_nonnegative(budget, "budget"), confidence, max_fits)
    first = plan_for(before, targets, subsidy_kind=subsidy_kind, confidence=confidence)
    is_target = np.asarray(first.before.published.groups.isin(first.targets))
    search = _Search(first.before, firm, is_target, confidence, max_fits)
    best, too_little = _raise(search, np.nan_to_num(first.subsidies.to_numpy(dtype=np.float64)))
    if not search.works(best):

        def candidates(done: _Attempt, z: Any) -> Sequence[float]:
            now = done.amounts[z]
            return (max(2 * now, FIRST_STEP), float(search.needed(done)[z]), search.most[z], now / 2, 0.0)

        def better(done: _Attempt, than: _Attempt) -> bool:
            return search.shortfall(done)[0] < search.shortfall(than)[0]

        best = search.improve(best, np.flatnonzero(search.is_target), candidates, better, search.works)
    if search.works(best):
        best = _lower(search, best, too_little)
    impossible = search.is_target & ~best.applies
    return search.plan(best, first.targets, np.where(impossible, np.nan, best.amounts), None)


def _raise(search: _Search, first: FloatArray) -> tuple[_Attempt, FloatArray]:
    """Raise subsidies until all targets apply; the best attempt, and the largest subsidies that were not enough."""
    best, too_little = search.unpaid, np.zeros(len(first))
    if search.works(best):
        return best, too_little
    done = search.attempt(first) if search.has_fits_left else best
    while True:
        best = min(best, done, key=search.shortfall)
        if search.works(done):
            return done, too_little
        # targets that stay away get what they now need, at least twice as much
        more = np.maximum(np.maximum(2 * done.amounts, FIRST_STEP), search.needed(done))
        more = np.where(search.is_target & ~done.applies, np.minimum(more, search.most), done.amounts)
        if (more == done.amounts).all() or not search.has_fits_left:  # the whole cost is paid already
            return best, too_little
        too_little, done = done.amounts, search.attempt(more)


def _lower(search: _Search, best: _Attempt, failed: FloatArray) -> _Attempt:
    """Pay less, one target after the other: nothing if that works, else by bisection."""
    paid = np.flatnonzero(best.amounts > 0)
    too_little = np.where(failed < best.amounts, failed, 0.0) if len(paid) == 1 else np.zeros(len(failed))
    for z in paid if len(paid) > 1 else []:
        if search.has_fits_left:
            done = search.with_one(best, z, 0.0)
            best = done if search.works(done) else best
    while open_ := [z for z in paid if best.amounts[z] - too_little[z] > RESOLUTION]:
        for z in open_:
            if not search.has_fits_left:
                return best
            middle = (best.amounts[z] + too_little[z]) / 2
            done = search.with_one(best, z, middle)
            if search.works(done):
                best = done
            else:
                too_little[z] = middle
    return best


def _spend(
    before: Audit,
    firm: Firm,
    targets: Sequence[Any] | None,
    subsidy_kind: SubsidyKind,
    budget: float,
    confidence: float | None,
    max_fits: int,
) -> SubsidyPlan:
    """The attempt with the lowest social cost within the budget; paying nothing is one of them."""
    before = before.under(before.terms.with_subsidies(None, subsidy_kind))
    groups = before.published.groups
    may_be_paid = np.ones(len(groups), dtype=bool)
    if targets is not None:
        may_be_paid = np.asarray(groups.isin(groups[locate_labels(targets, groups, "targets")]))
    search = _Search(before, firm, may_be_paid, confidence, max_fits)
    if targets is None:  # groups that apply anyway need nothing
        search.is_target = ~(before.applies.to_numpy() & search.unpaid.applies)
        search.most = np.where(search.is_target, search.most, 0.0)
    room = budget + ROUNDING * max(1.0, budget)

    def better(done: _Attempt, than: _Attempt) -> bool:
        allowed = done.total <= room and done.applies[done.amounts > 0].all() and not search.driven_out(done).any()
        lower = done.social_cost < than.social_cost - SLACK
        as_low = done.social_cost <= than.social_cost + SLACK
        return bool(allowed and (lower or (as_low and done.total < than.total - SLACK)))

    def candidates(done: _Attempt, z: Any) -> Sequence[float]:
        now, needed = done.amounts[z], float(search.needed(done)[z])
        if done.applies[z]:
            return (0.0, now / 2, (now + needed) / 2) if now > 0 else ()
        return (needed, max(2 * now, FIRST_STEP), search.most[z])

    best = search.unpaid
    for start in (before, search.unpaid.after):
        guess = plan_for(
            start, groups[search.is_target], subsidy_kind=subsidy_kind, budget=budget, confidence=confidence
        )
        if search.has_fits_left and (guess.subsidies > 0).any():
            done = search.attempt(guess.subsidies.to_numpy(dtype=np.float64))
            best = done if better(done, best) else best
    # subsidies at which all targets apply, and attempts on the way there, may be within the budget
    search.max_fits = len(search.attempts) + max(max_fits - len(search.attempts), 0) * 2 // 3
    everyone, too_little = _raise(search, search.needed(search.unpaid) * search.is_target)
    if search.works(everyone):
        _lower(search, everyone, too_little)
    search.max_fits = max_fits
    for done in search.attempts.values():
        best = done if better(done, best) else best
    by_qualified = sorted(np.flatnonzero(search.is_target), key=lambda z: -search.qualified[z])
    best = search.improve(best, by_qualified, candidates, better)
    spending = Spending(budget, pd.Series(np.nan, index=groups), exact=False)
    return search.plan(best, groups[(best.amounts > 0) & best.applies], best.amounts, spending)
