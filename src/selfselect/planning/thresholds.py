"""Which threshold? Accuracy against social cost over all thresholds of a score: one for all, or one per group."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .._errors import InputError
from .._text import printable
from .._validation import FloatArray, check_fraction
from ..auditing import Audit, Provenance, ScreeningResult, audit, default_threshold, group_names
from ..auditing.formats import count, listed, percent
from ..auditing.page import page_constants, short_name, source_content
from ..auditing.plain import as_json, plain_value
from ..behaviour import SLACK, Shares, as_decisions
from ..costs import Cost, Subsidies, SubsidyKind, Terms
from ..counting import ratio
from ..learning.group_sets import GroupChoices, best_set
from ..outcomes import Outcome, outcome
from ..publishing import PublishedStatistics, ThresholdCurves
from ..report import render_document
from .halves import two_halves

Kind: TypeAlias = Literal["one", "per_group"]
#: How the two kinds of thresholds are called.
KINDS: dict[Kind, str] = {"one": "one threshold for all", "per_group": "a threshold per group"}
#: Points of the frontier of thresholds per group; where there are more, fewer are spread over social cost.
MOST_POINTS, SPREAD_POINTS = 100, 40
#: Of more groups than this, sets of groups may differ from the best by one group: integer programs, one for each point,
#: would take a minute, and what they win is less than one group in a thousand.
MOST_EXACT = 1000
#: Groups of which a table shows the threshold in a column of its own.
MOST_COLUMNS = 30
#: Groups that are named at every point, where a program reads it.
MOST_NAMES = 1000

UNLAWFUL = (
    "A threshold per group treats people of the same score differently because of their group. Where the group is "
    "protected by law (sex, race, age, ...) that may be unlawful: ask a lawyer first."
)
OPTIMISTIC = (
    "These numbers are chosen on the same people that they are counted on, and are too good for that reason. The "
    "held-out numbers are chosen on one half of the people and published and counted on the other, both ways: what the "
    "best choice within so much social cost comes to, not what one threshold does; rows may share them."
)


def short_threshold(low: float, high: float) -> float:
    """The shortest decimal number at which the same people pass: at least ``low``, below ``high``.

    Examples
    --------
    >>> short_threshold(0.6123, 0.6177), short_threshold(0.5, 0.51), short_threshold(float("-inf"), 0.3)
    (0.613, 0.5, -inf)
    """
    if not math.isfinite(low):
        return low
    for places in range(17):
        unit = 10.0**places
        if abs(low) * unit > 2**53:
            break
        candidate = math.ceil(low * unit) / unit
        if low <= candidate < high:
            return candidate
    return low


def threshold_text(value: float) -> str:
    """A threshold as people read it; without one nobody passes, or everybody.

    Examples
    --------
    >>> threshold_text(0.61), threshold_text(float("-inf")), threshold_text(float("nan"))
    ('0.61', 'everybody passes', 'nobody passes')
    """
    if math.isnan(value) or value == math.inf:
        return "nobody passes"
    return "everybody passes" if value == -math.inf else f"{value:.15g}"


@dataclass(frozen=True, eq=False)
class Point:
    """A threshold, or one per group, and what follows.

    Attributes
    ----------
    kind : {"one", "per_group"}
        Whether one threshold holds for all.
    thresholds : ndarray of shape (n_groups,)
        Threshold of each group; NaN if nobody of it passes, -inf if everybody does.
    let_in : ndarray of bool of shape (n_groups,)
        Groups that apply.
    outcome : Outcome
        What follows, on the people that it was chosen on.
    held_out_accuracy, held_out_social_cost : float
        What followed where it was chosen, in the same way, on half of the people, and published and counted on the
        other half, both ways; NaN where nobody applies.
    met : bool
        Whether social cost is within the limit it was chosen under.
    """

    kind: Kind
    thresholds: FloatArray
    let_in: NDArray[np.bool_]
    outcome: Outcome
    held_out_accuracy: float
    held_out_social_cost: float
    met: bool = True

    @property
    def threshold(self) -> float:
        """The one threshold; NaN where each group has its own."""
        return float(self.thresholds[0]) if self.kind == "one" else np.nan


@dataclass(frozen=True, eq=False)
class _Chooser:
    """What can be chosen on some people: the best thresholds under every limit on social cost."""

    curves: ThresholdCurves
    costs: FloatArray
    terms: Terms

    @cached_property
    def everything(self) -> pd.DataFrame:
        """What follows from every threshold, if it is one for all."""
        return self.curves.outcomes_under(self.terms)

    @cached_property
    def efficient(self) -> NDArray[np.intp]:
        """Rows of :attr:`everything` that none beats, by rising social cost and accuracy."""
        accuracy, away = (self.everything[name].to_numpy() for name in ("induced_accuracy", "social_cost"))
        defined = np.flatnonzero(~np.isnan(accuracy) & ~np.isnan(away))
        # of equals, the one with the lowest threshold
        rows = defined[np.lexsort((defined, -accuracy[defined], away[defined]))]
        best = np.maximum.accumulate(np.concatenate([[-np.inf], accuracy[rows][:-1]]))
        return np.asarray(rows[accuracy[rows] > best + SLACK], dtype=np.intp)

    def one(self, limit: float) -> tuple[int, bool]:
        """Row of the most accurate threshold whose social cost is within a limit, or nearest to it; -1 without any."""
        away = self.everything["social_cost"].to_numpy()[self.efficient]
        if len(away) == 0:
            return -1, False
        within = int(np.searchsorted(away, limit + SLACK, side="right"))
        return int(self.efficient[max(within - 1, 0)]), within > 0

    def at_one(self, chosen_on: _Chooser, row: int) -> FloatArray:
        """People judged rightly, applicants, qualified people away and all of them, at others' one threshold."""
        everyone, qualified = float(self.curves.n.sum()), float(self.curves.positives.sum())
        if row < 0:
            return np.array([0.0, 0.0, qualified, qualified])
        value = chosen_on.everything["threshold"].to_numpy()[row]
        here = self.everything.iloc[np.searchsorted(self.everything["threshold"].to_numpy(), value, "right") - 1]
        applicants = here["application_rate"] * everyone
        right = here["induced_accuracy"] * applicants if applicants else 0.0
        # nobody of them may be qualified: then nobody stays away
        return np.array([right, applicants, here["social_cost"] * qualified if qualified else 0.0, qualified])

    @cached_property
    def shares(self) -> Shares:
        """Share of its group that applies at each step."""
        return self.curves.step_shares(self.terms)

    # ------------------------------------------------------------------ one per group

    def at_each(self, chosen_on: _Chooser, inside: NDArray[np.bool_]) -> FloatArray:
        """The same at others' thresholds per group; of a group that they have not seen, nobody passes."""
        theirs = np.where(inside, chosen_on.curves.threshold[chosen_on.best_step], np.nan)
        at = chosen_on.curves.groups.get_indexer(self.curves.groups)
        step = _steps_at(self.curves, np.where(at >= 0, theirs[at], np.nan))
        counts, shares = self.curves.counts_of(step), np.asarray(self.shares[step], dtype=np.float64)
        away = (1 - shares) @ counts.positives
        return np.array([shares @ counts.correct, shares @ counts.n, away, counts.positives.sum()], dtype=np.float64)

    @cached_property
    def best_step(self) -> NDArray[np.intp]:
        """Step at which each group is judged most accurately while it applies; -1 without any."""
        return self.curves.best_steps(self.costs, behaviour=self.terms.behaviour)

    @cached_property
    def choices(self) -> GroupChoices:
        """What each group is worth."""
        curves = self.curves
        comes = self.best_step >= 0
        stays = ~self.curves.step_applies(self.costs, behaviour=self.terms.behaviour)
        positives = curves.positives.astype(np.float64)
        return GroupChoices(
            gain=np.where(comes, curves.correct[self.best_step], -np.inf).astype(np.float64),
            n=curves.n.astype(np.float64),
            cover=np.where(comes, positives, 0.0),
            reliable=comes,
            may_stay_out=np.bincount(curves.group[stays], minlength=len(curves.n)) > 0,
        )

    def per_group(self, limit: float) -> tuple[NDArray[np.bool_], bool]:
        """Groups to let in, each at its best step, for the best accuracy within a limit, or nearest to it."""
        need = (1 - limit - SLACK) * float(self.curves.positives.sum())
        found = best_set(self.choices, need, exact=self._few)
        return (found.applying, True) if found is not None else (self.choices.may_apply, False)

    @property
    def _few(self) -> bool:
        return len(self.curves.groups) <= MOST_EXACT

    def sets(self) -> Iterator[NDArray[np.bool_]]:
        """Sets of groups of the frontier, by falling social cost; every one if there are not too many."""
        for step in (0.0, float(self.curves.positives.sum()) / SPREAD_POINTS):
            found = list(self._sets(step))
            if len(found) < MOST_POINTS or step:
                yield from found
                return

    def _sets(self, step: float) -> Iterator[NDArray[np.bool_]]:
        cover, need = self.choices.cover, 0.0
        for _ in range(MOST_POINTS):
            found = best_set(self.choices, need, exact=self._few)
            if found is None:
                return
            yield found.applying
            covered = float(cover[found.applying].sum())
            need = covered + max(step, 1e-9 * float(cover.sum()))


def _steps_at(curves: ThresholdCurves, thresholds: FloatArray) -> NDArray[np.intp]:
    """Step of each group at a threshold of its own; NaN: nobody passes."""
    begun = curves.threshold <= thresholds[curves.group]  # the first step, at -inf, always has
    step = curves.start[:-1] + np.add.reduceat(begun, curves.start[:-1], dtype=np.intp) - 1
    return np.asarray(np.where(np.isnan(thresholds), curves.start[1:] - 1, step), dtype=np.intp)


def _counts_at(curves: ThresholdCurves, thresholds: FloatArray) -> PublishedStatistics:
    """What would be published with a threshold per group."""
    return PublishedStatistics(curves.groups, curves.counts_of(_steps_at(curves, thresholds)))


@dataclass(frozen=True, eq=False)
class ThresholdFrontier:
    """Accuracy against social cost over the thresholds of a score. Made by :func:`threshold_frontier`.

    Attributes
    ----------
    people : ScreeningResult
        The people, with their counts at every threshold, and the threshold in force, if any.
    terms : Terms
        What groups face.
    max_social_cost : float or None
        The limit that recommendations keep; without one, what holds now.
    seed : int
        Of the deal into halves.
    provenance : Provenance
        Where the numbers come from.
    """

    people: ScreeningResult
    terms: Terms
    max_social_cost: float | None = None
    seed: int = 0
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def curves(self) -> ThresholdCurves:
        """Counts at every threshold."""
        if self.people.curves is None:
            raise InputError("A frontier needs scores; there are only decisions.", key="score")
        return self.people.curves

    @cached_property
    def names(self) -> list[str]:
        """One text per group."""
        return group_names(self.curves.groups)

    @cached_property
    def _all(self) -> _Chooser:
        return _Chooser(self.curves, self.terms.effective_cost(self.curves.groups), self.terms)

    @cached_property
    def _halves(self) -> tuple[_Chooser, _Chooser]:
        one, other = two_halves(self.curves, self.seed)

        def chooser(part: ThresholdCurves) -> _Chooser:
            costs = self._all.costs[self.curves.groups.get_indexer(part.groups)]
            terms = Terms(pd.Series(costs, index=part.groups), behaviour=self.terms.behaviour)
            return _Chooser(part, costs, terms)

        return chooser(one), chooser(other)

    # ------------------------------------------------------------------ points

    @property
    def curve(self) -> pd.DataFrame:
        """What follows from every distinct threshold, if it is one for all; see :meth:`ThresholdCurves.outcomes`."""
        return self._all.everything

    @cached_property
    def current(self) -> Outcome | None:
        """What follows from the threshold in force."""
        if self.people.threshold is None:
            return None
        return outcome(self.people.table, self.people.table.shares(self.terms))

    @cached_property
    def one(self) -> list[Point]:
        """Thresholds for all that no other beats in both, by rising social cost: exact, over all thresholds."""
        away = self.curve["social_cost"].to_numpy()[self._all.efficient]
        return [self._one_point(int(row), float(limit)) for row, limit in zip(self._all.efficient, away, strict=True)]

    @cached_property
    def per_group(self) -> list[Point]:
        """Thresholds per group that no others beat in both, by rising social cost: exact, and all if not too many."""
        points = [self._group_point(inside, None) for inside in self._all.sets()]
        points = sorted(points, key=lambda point: (point.outcome.social_cost, -point.outcome.induced_accuracy))
        kept: list[Point] = []
        for point in points:
            if not kept or point.outcome.induced_accuracy > kept[-1].outcome.induced_accuracy + SLACK:
                kept.append(point)
        return kept

    @property
    def _points(self) -> dict[Kind, list[Point]]:
        return {"one": self.one, "per_group": self.per_group}

    def recommend(self, max_social_cost: float | None = None, kind: Kind = "one") -> Point | None:
        """The most accurate thresholds whose social cost is within a limit, or what comes nearest to it.

        Parameters
        ----------
        max_social_cost : float, optional
            The limit; by default that of the frontier, and without one, the social cost now.
        kind : {"one", "per_group"}, default="one"
            One threshold for all, or one per group.

        Returns
        -------
        Point or None
            None if nobody applies, whatever the threshold.
        """
        limit = self._limit if max_social_cost is None else check_fraction(max_social_cost, "max_social_cost")
        if kind == "one":
            row, met = self._all.one(limit)
            return None if row < 0 else self._one_point(row, limit, met)
        inside, met = self._all.per_group(limit)
        return self._group_point(inside, limit, met) if inside.any() else None

    @property
    def _limit(self) -> float:
        if self.max_social_cost is not None:
            return self.max_social_cost
        now = 1.0 if self.current is None else self.current.social_cost
        return 1.0 if math.isnan(now) else now

    def _one_point(self, row: int, limit: float, met: bool = True) -> Point:
        thresholds = self.curve["threshold"].to_numpy()
        low, high = thresholds[row], thresholds[row + 1] if row + 1 < len(thresholds) else np.inf
        now = self.people.threshold  # it is not said in other words
        value = now if now is not None and low <= now < high else short_threshold(low, high)
        everyone = np.full(len(self.curves.groups), value)
        found = Outcome(**{part.name: self._all.everything[part.name].iloc[row].item() for part in fields(Outcome)})
        let_in = as_decisions(self._all.shares[_steps_at(self.curves, everyone)])
        return Point("one", everyone, let_in, found, *self._held_out(lambda fitted: fitted.one(limit)[0]), met)

    def _group_point(self, inside: NDArray[np.bool_], limit: float | None, met: bool = True) -> Point:
        curves, step = self.curves, self._all.best_step
        after = np.minimum(step + 1, len(curves.threshold) - 1)
        is_last = (step + 1 >= curves.start[1:]) | (step < 0)
        low, high = curves.threshold[step], np.where(is_last, np.inf, curves.threshold[after])
        thresholds = np.array(
            [short_threshold(*ends) if comes else np.nan for *ends, comes in zip(low, high, inside, strict=True)]
        )
        published = _counts_at(curves, thresholds)
        shares = published.shares(self.terms)
        found = outcome(published, shares)
        within = found.social_cost if limit is None else limit
        held = self._held_out(lambda fitted: fitted.per_group(within)[0])
        return Point("per_group", thresholds, as_decisions(shares.to_numpy()), found, *held, met)

    def _held_out(self, choose: Callable[[_Chooser], int | NDArray[np.bool_]]) -> tuple[float, float]:
        """Accuracy and social cost where thresholds are chosen on one half and published and counted on the other."""
        if not all(len(half.curves.groups) for half in self._halves):
            return np.nan, np.nan  # of so few people one half is nobody
        sums = np.zeros(4)
        for fitted, judged in (self._halves, self._halves[::-1]):
            chosen = choose(fitted)
            sums += judged.at_one(fitted, chosen) if isinstance(chosen, int) else judged.at_each(fitted, chosen)
        right, applicants, away, qualified = sums
        return float(ratio(right, applicants)), float(ratio(away, qualified))

    # ------------------------------------------------------------------ in words

    @property
    def met(self) -> bool:
        """Whether one threshold for all keeps the limit on social cost; True without a limit."""
        best = self.recommend()
        return self.max_social_cost is None or (best is not None and best.met)

    def verdict(self) -> str:
        """What is, and what is recommended, in a few sentences."""
        return " ".join(self._said())

    def _said(self) -> list[str]:
        """The sentences of the verdict."""
        return [*self._now(), *(self._recommended(kind) for kind in KINDS)]

    def notes(self) -> list[str]:
        """What has to be known before any of it is used."""
        return [OPTIMISTIC, UNLAWFUL]

    def _now(self) -> list[str]:
        if self.current is None or self.people.threshold is None:
            return []
        at = f"Now, at a threshold of {threshold_text(self.people.threshold)},"
        if math.isnan(self.current.induced_accuracy):
            return [f"{at} nobody applies."]
        return [
            f"{at} the model is right for {percent(self.current.induced_accuracy)} of those who apply, and "
            f"{percent(self.current.social_cost)} of qualified people stay away."
        ]

    def _recommended(self, kind: Kind) -> str:
        best = self.recommend(kind=kind)
        if best is None:
            return f"With {KINDS[kind]}, nobody applies whatever the threshold."
        limit = (
            f"keeps social cost at {percent(self.max_social_cost)} or less"
            if self.max_social_cost is not None
            else "keeps social cost at what it is now, or lower"
            if self.current is not None
            else "there is"
        )
        what = f"a threshold of {threshold_text(best.threshold)}" if kind == "one" else self._said_thresholds(best)
        begins = f"With {KINDS[kind]}, the most accurate that {limit} is {what}"
        if not best.met:
            begins = f"With {KINDS[kind]}, nothing {limit}; what comes nearest is {what}"
        found = best.outcome
        broken = self.max_social_cost is not None and best.met and best.held_out_social_cost > self.max_social_cost
        return (
            f"{begins}: accuracy {percent(found.induced_accuracy)} on those who apply, social cost "
            f"{percent(found.social_cost)} ({self._who(best)}); held out, {percent(best.held_out_accuracy)} and "
            f"{percent(best.held_out_social_cost)}{', which is more than the limit' if broken else ''}."
        )

    def _who(self, best: Point) -> str:
        """Who stays away, and who is shut out because nobody passes."""
        passes = _counts_at(self.curves, best.thresholds).counts.selected > 0
        stays, shut = (
            [
                name
                for name, comes, some in zip(self.names, best.let_in, passes, strict=True)
                if not comes and some == kind
            ]
            for kind in (True, False)
        )
        said = [f"{listed(stays)} {'stays' if len(stays) == 1 else 'stay'} away"] if stays else []
        if shut:
            said.append(f"{listed(shut)} {'is' if len(shut) == 1 else 'are'} shut out: nobody there would pass")
        return "; ".join(said) or "everybody applies"

    def _said_thresholds(self, best: Point) -> str:
        chosen = [
            f"{name} {threshold_text(value)}"
            for name, value, comes in zip(self.names, best.thresholds, best.let_in, strict=True)
            if comes
        ]
        return listed(chosen, most=10)

    # ------------------------------------------------------------------ as data

    def to_frame(self) -> pd.DataFrame:
        """The threshold in force and all points of both frontiers, one row each.

        Returns
        -------
        DataFrame
            thresholds ("now", "one threshold for all", "a threshold per group"), threshold (NaN where each group has
            its own), induced_accuracy, social_cost, application_rate, applying_groups, held_out_accuracy,
            held_out_social_cost; with few groups also "threshold of" each (NaN: nobody passes).
        """
        rows: list[dict[str, Any]] = []
        if self.current is not None and self.people.threshold is not None:
            here = np.full(len(self.names), self.people.threshold)
            rows.append(self._row("now", self.people.threshold, self.current, here))
        for point in [*self.one, *self.per_group]:
            row = self._row(KINDS[point.kind], point.threshold, point.outcome, point.thresholds)
            row |= {"held_out_accuracy": point.held_out_accuracy, "held_out_social_cost": point.held_out_social_cost}
            rows.append(row)
        columns = (
            "thresholds threshold induced_accuracy social_cost application_rate applying_groups held_out_accuracy "
            "held_out_social_cost"
        ).split()
        frame = pd.DataFrame(rows, columns=None if rows else columns)
        return frame.reindex(columns=[*columns, *(name for name in frame if name not in columns)])

    def _row(self, kind: str, threshold: float, found: Outcome, thresholds: FloatArray) -> dict[str, Any]:
        each = zip(self.names, thresholds, strict=True) if len(self.names) <= MOST_COLUMNS else ()
        return {
            "thresholds": kind,
            "threshold": threshold,
            **{
                name: getattr(found, name)
                for name in ("induced_accuracy", "social_cost", "application_rate", "applying_groups")
            },
            **{f"threshold of {name}": value for name, value in each},
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; NaN becomes None, and so does a threshold at which everybody or nobody passes.

        With very many groups, only what is recommended names them.
        """
        whole = len(self.names) <= MOST_NAMES
        return {
            "cost": plain_value(self.terms.uniform_cost),
            "n": plain_value(self.curves.n.sum()),
            "max_social_cost": self.max_social_cost,
            "met": self.met,
            "seed": self.seed,
            "now": None
            if self.current is None
            else {"threshold": plain_value(self.people.threshold)}
            | {name: plain_value(value) for name, value in self.current.to_dict().items()},
            "recommended": {kind: self._plain(self.recommend(kind=kind)) for kind in KINDS},
            "one": [self._plain(point, whole) for point in self.one],
            "per_group": [self._plain(point, whole) for point in self.per_group],
            "notes": self.notes(),
        }

    def _plain(self, point: Point | None, whole: bool = True) -> dict[str, Any] | None:
        if point is None:
            return None
        if not whole:
            found = self._plain(point) or {}
            return {name: value for name, value in found.items() if name not in ("thresholds", "who")}
        who = [name for name, comes in zip(self.names, point.let_in, strict=True) if comes]
        each: dict[str, Any] = {"threshold": plain_value(point.threshold)}
        if point.kind == "per_group":
            each = {"thresholds": dict(zip(self.names, map(plain_value, point.thresholds), strict=True))}
        return (
            each
            | {name: plain_value(value) for name, value in point.outcome.to_dict().items()}
            | {
                "who": who,
                "held_out_accuracy": plain_value(point.held_out_accuracy),
                "held_out_social_cost": plain_value(point.held_out_social_cost),
                "met": point.met,
            }
        )

    def to_json(self) -> str:
        """JSON text of :meth:`to_dict`."""
        return as_json(self.to_dict())

    def to_html(self) -> str:
        """Page with the verdict, a picture and both frontiers. Needs the extra ``report``."""
        return render_document(
            {
                "eyebrow": "Which threshold?",
                "title": short_name(self.provenance.title) if self.provenance.title else "",
                "headline": [printable(part) for part in self._said()],
                "paragraphs": self.notes(),
                "chart": self._chart(),
                "tables": [self._table("one"), self._table("per_group")],
                "constants": page_constants(),
                "provenance": source_content(self.provenance),
            }
        )

    def _chart(self) -> dict[str, Any]:
        series = [
            {
                "name": KINDS[kind],
                "points": [(point.outcome.social_cost, point.outcome.induced_accuracy) for point in points],
                "line": True,
            }
            for kind, points in self._points.items()
            if points
        ]
        if self.current is not None and not math.isnan(self.current.induced_accuracy):
            now = (self.current.social_cost, self.current.induced_accuracy)
            series.append({"name": "now", "points": [now], "line": False})
        return {
            "kind": "frontier",
            "title": "How much accuracy for how many people?",
            "text": "Up: the model is right more often about those who apply. To the right: more qualified people do "
            "not apply. Each point is a threshold, or one for each group.",
            "series": series,
        }

    def _table(self, kind: Kind) -> dict[str, Any]:
        points = self._points[kind]
        return {"title": KINDS[kind].capitalize(), "rows": [self.shown(point) for point in points], "left": ["apply"]}

    def shown(self, point: Point) -> dict[str, str]:
        """A point as a line of a table."""
        who = [name for name, comes in zip(self.names, point.let_in, strict=True) if comes]
        said = threshold_text(point.threshold) if point.kind == "one" else self._said_thresholds(point)
        return {
            "threshold" if point.kind == "one" else "thresholds": said,
            "induced accuracy": percent(point.outcome.induced_accuracy),
            "social cost": percent(point.outcome.social_cost),
            "held-out accuracy": percent(point.held_out_accuracy),
            "held-out social cost": percent(point.held_out_social_cost),
            "people who apply": percent(point.outcome.application_rate),
            "apply": listed(who) if len(who) < len(self.names) else f"all {count(len(who))}",
        }

    def _repr_html_(self) -> str:
        return str(self.to_frame()._repr_html_())

    def __repr__(self) -> str:
        return f"{self.verdict()}\n{self.to_frame()}"


def frontier_for(found: Audit, *, max_social_cost: float | None = None, random_state: int = 0) -> ThresholdFrontier:
    """Frontier over the thresholds of a score that is audited already; see :func:`threshold_frontier`."""
    limit = None if max_social_cost is None else check_fraction(max_social_cost, "max_social_cost")
    made = ThresholdFrontier(found.published_by, found.terms, limit, random_state, found.provenance)
    if not made.curves.positives.sum() > 0:
        raise InputError("Nobody is qualified, so there is no social cost to weigh against accuracy.", key="positive")
    return made


def threshold_frontier(
    y_true: ArrayLike,
    score: ArrayLike,
    *,
    sensitive_features: Any = None,
    cost: Cost,
    threshold: float | None = None,
    subsidies: Subsidies = None,
    subsidy_kind: SubsidyKind = "additive",
    sample_weight: ArrayLike | None = None,
    max_social_cost: float | None = None,
    random_state: int = 0,
    missing: str = "error",
    provenance: Provenance | None = None,
) -> ThresholdFrontier:
    """Find out which threshold is best: accuracy on those who apply against social cost, over all thresholds.

    With one threshold for all, every distinct one is looked at. With one per group, every group is either let in at
    the threshold at which it is judged most accurately while it applies, or shut out, and the sets of groups that no
    other beats are found exactly (of more than a thousand groups: up to one of them). Both are chosen on the people
    they are counted on. So each comes with held-out numbers: the same choice made on half of the people, published and
    counted on the other half, both ways.

    Parameters
    ----------
    y_true, score, sensitive_features, subsidies, subsidy_kind, sample_weight, missing, provenance
        As in :func:`selfselect.audit`.
    cost : float, or mapping from group to float
        Cost of being tested, in [0, 1].
    threshold : float, optional
        The threshold in force; by default 0.5, if all scores lie between 0 and 1, and otherwise none.
    max_social_cost : float, optional
        The largest social cost that a recommendation may have; by default what it is now.
    random_state : int, default=0
        Seed of the deal into halves.

    Returns
    -------
    ThresholdFrontier
        With ``recommend()``, ``verdict()``, ``to_frame()``, ``to_json()``, ``to_html()``, and the points of each
        frontier as ``one`` and ``per_group``.

    Examples
    --------
    >>> y, z = [0, 1, 0, 1, 1, 1] * 4, ["A", "A", "A", "B", "B", "B"] * 4
    >>> found = threshold_frontier(y, [0.2, 0.4, 0.6, 0.3, 0.6, 0.8] * 4, sensitive_features=z, cost=0.6)
    >>> [(point.threshold, round(point.outcome.social_cost, 2)) for point in found.one]
    [(-inf, 0.25)]
    """
    if threshold is None:
        values = np.asarray(score, dtype=np.float64)
        try:
            threshold = default_threshold(float(values.min()), float(values.max()))
        except ValueError:  # no probabilities: there is no threshold in force
            threshold = math.nan
    made = audit(
        y_true,
        score=score,
        threshold=0.0 if math.isnan(threshold) else threshold,
        sensitive_features=sensitive_features,
        cost=cost,
        subsidies=subsidies,
        subsidy_kind=subsidy_kind,
        sample_weight=sample_weight,
        missing=missing,
        provenance=provenance,
    )
    if math.isnan(threshold):
        people = made.published_by
        made = Audit(ScreeningResult(people.table, people.curves, None), people, made.terms, (), made.provenance)
    return frontier_for(made, max_social_cost=max_social_cost, random_state=random_state)
