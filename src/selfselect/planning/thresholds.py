"""Accuracy against social cost over all thresholds of a score: one for all, or one per group."""

from __future__ import annotations

import itertools
import math
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .._errors import InputError
from .._validation import FloatArray, check_fraction
from ..auditing import Audit, Provenance, ScreeningResult, audit, default_threshold, group_names
from ..auditing.reported import Reported
from ..behaviour import Behaviour, as_decisions
from ..costs import Cost, Subsidies, SubsidyKind, Terms, check_no_column
from ..counting import ratio
from ..outcomes import Outcome, outcome
from ..publishing import MIN_CELL, PublishedStatistics, ThresholdCurves
from .threshold_search import ThresholdSearch, steps_at, three_parts, undominated

Kind: TypeAlias = Literal["one", "per_group"]
#: Names of the two kinds of thresholds.
KINDS: dict[Kind, str] = {"one": "one threshold for all", "per_group": "a threshold per group"}
#: Numbers of an outcome in the table of points.
OUTCOME_COLUMNS = ("induced_accuracy", "social_cost", "application_rate", "applying_groups")
#: With more groups, the table has no columns for single thresholds.
MAX_COLUMNS = 30


def short_threshold(low: float, high: float) -> float:
    """The shortest decimal number at which the same people pass: at least ``low``, below ``high``."""
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


@dataclass(frozen=True, eq=False)
class Point:
    """A threshold, or one per group, and its outcome for the people whom it was chosen on.

    ``thresholds`` has that of each group, NaN if nobody of it passes and -inf if everybody does. The held-out numbers
    come from three parts of the people: thresholds are chosen on one, groups decide by what another publishes, and the
    last is counted, in every order; NaN if nobody applies. ``met`` is whether social cost is within the
    limit it was chosen under.
    """

    kind: Kind
    thresholds: FloatArray
    applies: NDArray[np.bool_]
    outcome: Outcome
    held_out_accuracy: float
    held_out_social_cost: float
    met: bool = True

    @property
    def threshold(self) -> float:
        """The one threshold; NaN where each group has its own."""
        return float(self.thresholds[0]) if self.kind == "one" else np.nan


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdFrontier(Reported):
    """Accuracy against social cost over the thresholds of a score. Made by :func:`threshold_frontier`.

    Attributes
    ----------
    people : ScreeningResult
        The people, with their counts at every threshold, and the threshold in force, if any.
    terms : Terms
        Costs and subsidies.
    max_social_cost : float or None
        The limit of recommendations; without one, the social cost of the threshold in force.
    seed : int
        Seed of the split into parts.
    provenance : Provenance
        Where the numbers come from.
    """

    people: ScreeningResult
    terms: Terms
    max_social_cost: float | None = None
    seed: int = 0
    provenance: Provenance = field(default_factory=Provenance)

    def protected(self, min_cell: int = MIN_CELL) -> ThresholdFrontier:
        """The frontier of merged groups and thresholds; see :meth:`Audit.protected`."""
        audited = Audit(self.people, self.people, self.terms, provenance=self.provenance)
        if self.people.threshold is None:  # counts at the threshold in use are not shown
            everybody = replace(self.people, table=self.curves.at(-np.inf))
            audited = replace(audited, published_by=everybody, counted_on=everybody)
        shown = audited.protected(min_cell)
        if shown is audited:
            return self
        return replace(self, people=shown.published_by, terms=shown.terms, provenance=shown.provenance)

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
    def _all(self) -> ThresholdSearch:
        return ThresholdSearch(self.curves, self.terms)

    @cached_property
    def _parts(self) -> list[ThresholdSearch]:
        parts = three_parts(self.curves, self.seed)
        return [ThresholdSearch(part, self.terms.among(self.curves.groups, part.groups)) for part in parts]

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
        """Thresholds for all that no other dominates, by rising social cost: exact, over all thresholds."""
        away = self.curve["social_cost"].to_numpy()[self._all.efficient]
        return [self._one_point(int(row), float(limit)) for row, limit in zip(self._all.efficient, away, strict=True)]

    @cached_property
    def per_group(self) -> list[Point]:
        """Thresholds per group that no others dominate, by rising social cost: exact, and all if not too many.

        Only where groups apply or stay away as a whole; see :attr:`kinds`.
        """
        self._check_kind("per_group")
        points = [self._group_point(inside, None) for inside in self._all.sets()]
        away, accuracy = (
            np.array([getattr(point.outcome, name) for point in points]) for name in ("social_cost", "induced_accuracy")
        )
        return [points[i] for i in undominated(away, accuracy)]

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Kinds of thresholds: one for all, and one per group if groups apply or stay away as a whole."""
        return ("one", "per_group") if self._all.shares.dtype == bool else ("one",)

    def _check_kind(self, kind: Kind) -> None:
        if kind not in self.kinds:
            raise ValueError(
                f"Thresholds per group are searched only where groups apply or stay away as a whole, not under "
                f"{self.terms.behaviour!r}, where a share of each group applies. Use kind='one'."
            )

    @property
    def points(self) -> dict[Kind, list[Point]]:
        """The frontier of each of the :attr:`kinds`."""
        return {kind: getattr(self, kind) for kind in self.kinds}

    def recommend(self, max_social_cost: float | None = None, kind: Kind = "one") -> Point | None:
        """The most accurate thresholds within a limit on social cost, or nearest to it; None if nobody ever applies.

        By default the limit is that of the frontier, and without one, the social cost now.
        """
        self._check_kind(kind)
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

    def _short_threshold(self, low: float, high: float) -> float:
        """The shortest threshold of a step; the first one, if nothing is known of others because scores are rounded."""
        return low if self.people.bin_width is not None else short_threshold(low, high)

    def _one_point(self, row: int, limit: float, met: bool = True) -> Point:
        thresholds = self.curve["threshold"].to_numpy()
        low, high = thresholds[row], thresholds[row + 1] if row + 1 < len(thresholds) else np.inf
        now = self.people.threshold  # the same threshold keeps its own text
        value = now if now is not None and low <= now < high else self._short_threshold(low, high)
        everyone = np.full(len(self.curves.groups), value)
        result = Outcome(**{part.name: self._all.everything[part.name].iloc[row].item() for part in fields(Outcome)})
        applies = as_decisions(self._all.shares[steps_at(self.curves, everyone)])
        return Point("one", everyone, applies, result, *self._held_out("one", limit), met)

    def _group_point(self, inside: NDArray[np.bool_], limit: float | None, met: bool = True) -> Point:
        curves, step = self.curves, self._all.best_step
        after = np.minimum(step + 1, len(curves.threshold) - 1)
        is_last = (step + 1 >= curves.start[1:]) | (step < 0)
        ends = zip(curves.threshold[step], np.where(is_last, np.inf, curves.threshold[after]), inside, strict=True)
        thresholds = np.array([self._short_threshold(low, high) if is_in else np.nan for low, high, is_in in ends])
        published = PublishedStatistics(curves.groups, curves.counts_of(steps_at(curves, thresholds)))
        shares = published.shares(self.terms)
        result = outcome(published, shares)
        held = self._held_out("per_group", result.social_cost if limit is None else limit)
        return Point("per_group", thresholds, as_decisions(shares.to_numpy()), result, *held, met)

    def _held_out(self, kind: Kind, limit: float) -> tuple[float, float]:
        """Accuracy and social cost: each part of the people chooses thresholds once for either order of the others."""
        if not all(len(part.curves.groups) for part in self._parts):
            return np.nan, np.nan  # fewer than three people cannot be split
        sums = np.zeros(4)
        for chosen_on, *others in (self._parts[start:] + self._parts[:start] for start in range(3)):
            groups, thresholds = chosen_on.curves.groups, chosen_on.thresholds(kind, limit)
            for published, counted in (others, others[::-1]):
                sums += counted.sums_at(published, groups, thresholds)
        correct, applicants, away, qualified = sums
        return float(ratio(correct, applicants)), float(ratio(away, qualified))

    @property
    def met(self) -> bool:
        """Whether one threshold for all keeps the limit on social cost; True without a limit."""
        best = self.recommend()
        return self.max_social_cost is None or (best is not None and best.met)

    def in_own_scale(self, threshold: float) -> float:
        """A threshold on the score as it was given: thresholds are on minus the score if lower scores pass."""
        return -float(threshold) if self.people.lower_passes else float(threshold)

    def selected_at(self, point: Point) -> NDArray[Any]:
        """People of each group who pass at the thresholds of a point."""
        return self.curves.counts_of(steps_at(self.curves, point.thresholds)).selected

    def to_frame(self) -> pd.DataFrame:
        """The threshold in force and all points of both frontiers, one row each.

        Returns
        -------
        DataFrame
            thresholds ("now", "one threshold for all", "a threshold per group"), threshold (NaN where each group has
            its own), induced_accuracy, social_cost, application_rate, applying_groups, held_out_accuracy,
            held_out_social_cost; with few groups also "threshold of" each (NaN: nobody passes).
        """
        points = [(KINDS[point.kind], point) for point in itertools.chain.from_iterable(self.points.values())]
        if self.current is not None and self.people.threshold is not None:
            here, nobody = np.full(len(self.names), self.people.threshold), np.zeros(len(self.names), dtype=bool)
            points.insert(0, ("now", Point("one", here, nobody, self.current, np.nan, np.nan)))
        columns = {
            "thresholds": [kind for kind, _ in points],
            "threshold": [self.in_own_scale(point.threshold) for _, point in points],
            **{name: [getattr(point.outcome, name) for _, point in points] for name in OUTCOME_COLUMNS},
            "held_out_accuracy": [point.held_out_accuracy for _, point in points],
            "held_out_social_cost": [point.held_out_social_cost for _, point in points],
        }
        if points and len(self.names) <= MAX_COLUMNS:
            for i, name in enumerate(self.names):
                columns[f"threshold of {name}"] = [self.in_own_scale(point.thresholds[i]) for _, point in points]
        return pd.DataFrame(columns)


def frontier_for(scored: Audit, *, max_social_cost: float | None = None, random_state: int = 0) -> ThresholdFrontier:
    """Frontier over the thresholds of a score that is audited already; see :func:`threshold_frontier`."""
    limit = None if max_social_cost is None else check_fraction(max_social_cost, "max_social_cost")
    made = ThresholdFrontier(scored.published_by, scored.terms, limit, random_state, scored.provenance)
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
    behaviour: Behaviour | None = None,
    sample_weight: ArrayLike | None = None,
    person: ArrayLike | None = None,
    max_social_cost: float | None = None,
    random_state: int = 0,
    missing: str = "error",
    provenance: Provenance | None = None,
) -> ThresholdFrontier:
    """Accuracy among applicants against social cost, over all thresholds of a score.

    With one threshold for all, every distinct one is tried. With one per group, each group either has its most accurate
    threshold at which it applies, or is shut out; the best sets of groups are exact (up to one group, if there are more
    than a thousand). Both are chosen on the people they are counted on, so each point also has held-out numbers: the
    same choice made on a third of the people, where groups decide by what another third publishes, counted on the last.

    Parameters
    ----------
    y_true, score, sensitive_features, subsidies, subsidy_kind, behaviour, sample_weight, person, missing, provenance
        As in :func:`selfselect.audit`. All rows of a person are in the same third.
    cost : float, or mapping from group to float
        Cost of being tested, in [0, 1].
    threshold : float, optional
        The threshold in force; by default 0.5, if all scores lie between 0 and 1, and otherwise none.
    max_social_cost : float, optional
        The largest social cost that a recommendation may have; by default what it is now.
    random_state : int, default=0
        Seed of the split into parts.

    Returns
    -------
    ThresholdFrontier
        With ``recommend()``, ``verdict()``, ``to_frame()``, ``to_json()``, ``to_html()``, and the points of each
        frontier as ``one`` and ``per_group``.

    Examples
    --------
    >>> y, z = [0, 1, 0, 1, 1, 1] * 4, ["A", "A", "A", "B", "B", "B"] * 4
    >>> frontier = threshold_frontier(y, [0.2, 0.4, 0.6, 0.3, 0.6, 0.8] * 4, sensitive_features=z, cost=0.6)
    >>> [(point.threshold, round(point.outcome.social_cost, 2)) for point in frontier.one]
    [(-inf, 0.25)]
    """
    if threshold is None:
        values = np.asarray(score, dtype=np.float64)
        with suppress(ValueError):  # no probabilities: there is no threshold in force
            threshold = default_threshold(float(values.min()), float(values.max()))
    scored = audit(
        y_true,
        score=score,
        threshold=0.0 if threshold is None else threshold,
        sensitive_features=sensitive_features,
        cost=check_no_column(cost),
        subsidies=subsidies,
        subsidy_kind=subsidy_kind,
        behaviour=behaviour,
        sample_weight=sample_weight,
        person=person,
        missing=missing,
        provenance=provenance,
    )
    scored = replace(scored, published_by=replace(scored.published_by, threshold=threshold))
    return frontier_for(scored, max_social_cost=max_social_cost, random_state=random_state)
