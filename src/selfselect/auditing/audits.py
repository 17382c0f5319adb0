"""Who would apply to a screening model, and what follows. Works on any model, from its counts per group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .._validation import as_column, check_fraction
from ..behaviour import Behaviour, BestResponse
from ..costs import Cost, Subsidies, SubsidyKind, Terms, check_no_column
from ..counting import GroupCounts, position_of, ratio
from ..outcomes import Outcome, outcome
from ..publishing import PublishedStatistics, ThresholdCurves
from ..publishing.privacy import MIN_CELL, Cells, Merging, check_min_cell, merge_groups
from ..statistics import Precision
from .cost_ranges import OverCosts, over_costs
from .impact import check_pool, impact_ratios
from .promises import promises
from .reported import Provenance, Reported
from .resampling import Design, Side, Uncertainty, resampled, resampled_counts
from .screening import ScreeningResult, default_threshold, group_names
from .undecided import decision_ranges, either_way

#: What is shown of each group per potential applicant.
POOL_COLUMNS = ("pool", "application_rate", "pool_selection_rate", "pool_impact_ratio")


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Reported):
    """Who would apply to a screening model, and what follows. Made by :func:`audit`, or by a classifier's ``audit``.

    Attributes
    ----------
    published_by, counted_on : ScreeningResult
        The people whose counts are published, by which people decide; and the people whose accuracy and social cost are
        counted (the same, unless others were given).
    terms : Terms
        Costs and subsidies, with the main cost.
    other_costs : tuple of float or of mappings
        More costs to look at.
    provenance : Provenance
        Where the numbers come from.
    cost_range : tuple of two floats, optional
        A range of costs that reports also cover; see :meth:`over_costs`.
    pool : Series, optional
        How many people of each group could have applied. People who were screened have applied: they are selected by
        themselves already, so rates per screened person say nothing about those who stayed away.
    """

    published_by: ScreeningResult
    counted_on: ScreeningResult
    terms: Terms
    other_costs: tuple[Cost, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)
    cost_range: tuple[float, float] | None = None
    pool: pd.Series | None = None

    @classmethod
    def from_counts(
        cls,
        counts: PublishedStatistics | ThresholdCurves,
        *,
        cost: Cost | Sequence[float],
        threshold: float | None = None,
        subsidies: Subsidies = None,
        subsidy_kind: SubsidyKind = "additive",
        cost_of: Mapping[Any, float] | None = None,
        behaviour: Behaviour | None = None,
        provenance: Provenance | None = None,
    ) -> Audit:
        """Audit counts that a database has added up, so that nobody needs to export rows.

        Parameters
        ----------
        counts : PublishedStatistics or ThresholdCurves
            Counts of decisions, or counts by score. Only the latter can be given to
            :func:`~selfselect.planning.frontier_for`, and need a ``threshold``.
        cost, threshold, subsidies, subsidy_kind, cost_of, behaviour, provenance
            As in :func:`audit`.

        Examples
        --------
        >>> frame = pd.DataFrame({"n": [50], "positives": [20], "selected": [20], "true_positives": [15]}, index=["A"])
        >>> Audit.from_counts(PublishedStatistics.from_counts(frame), cost=0.7).applies.to_dict()
        {'A': True}
        """
        if isinstance(counts, ThresholdCurves):
            if threshold is None:
                scores = counts.distinct_thresholds[1:]
                threshold = default_threshold(float(scores.min()), float(scores.max()))
            people = ScreeningResult.from_curves(counts, threshold)
        elif threshold is not None:
            raise TypeError("threshold belongs to ThresholdCurves; these counts are of decisions already.")
        else:
            people = ScreeningResult(counts)
        terms, others = _terms(people, _as_costs(cost, -1), subsidies, subsidy_kind, cost_of, behaviour)
        return cls(people, people, terms, others, provenance or Provenance())

    @property
    def published(self) -> PublishedStatistics:
        """What people see and decide by."""
        return self.published_by.table

    @property
    def population(self) -> PublishedStatistics:
        """Counts of the people whose accuracy and social cost are counted."""
        return self.counted_on.table

    @property
    def threshold(self) -> float | None:
        """Threshold on the score, as it was given; None if predictions were given."""
        own = self.published_by.threshold
        return own if own is None or not self.published_by.lower_passes else -own

    @property
    def curves(self) -> ThresholdCurves | None:
        """What every other threshold would publish; None if predictions were given."""
        return self.published_by.curves

    @property
    def cost(self) -> Cost:
        """The main cost."""
        return self.terms.cost

    @property
    def costs(self) -> tuple[Cost, ...]:
        """All costs looked at; the first is the main one."""
        return (self.terms.cost, *self.other_costs)

    @property
    def of_new_people(self) -> bool:
        """Whether other people are counted than those whose counts are published, so that promises can be checked."""
        return self.counted_on is not self.published_by

    @cached_property
    def names(self) -> list[str]:
        """One text per group."""
        return group_names(self.published.groups)

    @cached_property
    def shares(self) -> pd.Series:
        """Share of each group that applies at the main cost."""
        return self.published.shares(self.terms)

    @cached_property
    def applies(self) -> pd.Series:
        """Whether each group applies at the main cost."""
        return self.published.decisions(self.terms)

    @cached_property
    def outcome(self) -> Outcome:
        """Accuracy, application rate and social cost at the main cost."""
        return outcome(self.population, self.shares)

    assumed_accuracy = property(attrgetter("outcome.assumed_accuracy"), doc="Accuracy over everybody.")
    induced_accuracy = property(attrgetter("outcome.induced_accuracy"), doc="Accuracy over applicants, NaN if none.")
    applying_groups = property(attrgetter("outcome.applying_groups"), doc="Number of groups that apply.")
    application_rate = property(attrgetter("outcome.application_rate"), doc="Share of people who apply.")
    social_cost = property(
        attrgetter("outcome.social_cost"), doc="Share of qualified people who do not apply, NaN if nobody is qualified."
    )

    @property
    def qualified_rejected(self) -> float:
        """Share of qualified people who apply and do not pass screening; NaN if labels are unknown, or nobody is."""
        counts = self.population.counts
        if not counts.labels_known:
            return float("nan")
        shares = self.shares.reindex(self.population.groups, fill_value=0.0).to_numpy()
        return float(ratio(shares @ (counts.positives - counts.true_positives), counts.positives.sum()))

    @cached_property
    def undecided(self) -> pd.Series | None:
        """Whether the 95% interval of each group's precision includes its cost.

        None if that does not matter: people decide by what was published before, by a lower bound, or only in part.
        """
        if self.of_new_people or (type(self.terms.behaviour), type(self.terms.statistic)) != (BestResponse, Precision):
            return None
        frame, costs = self.published.to_frame(), self.terms.effective_cost(self.published.groups)
        return ((frame["precision_low"] < costs) & (costs <= frame["precision_high"])).rename("undecided")

    def either_way(self) -> dict[str, Any] | None:
        """Ranges of accuracy and social cost over all decisions of :attr:`undecided` groups; None without them.

        They say what depends on these groups among the people counted. They are no intervals of chance: those are
        given by :meth:`uncertainty`.

        Examples
        --------
        >>> y, passed = [1, 1, 0, 1, 0, 0] * 20, [1, 1, 1, 1, 1, 0] * 20
        >>> result = audit(y, y_pred=passed, sensitive_features=list("AAABBB") * 20, cost=0.6)
        >>> result.undecided.to_dict(), result.either_way()["social_cost"]
        ({'A': True, 'B': True}, (0.0, 1.0))
        """
        if self.undecided is None:
            return None
        return either_way(self.population.counts, self.applies.to_numpy(), self.undecided.to_numpy())

    def at(self, cost: Cost) -> Audit:
        """The same audit with another main cost, and no others."""
        return self.under(self.terms.at_cost(cost))

    def under(self, terms: Terms) -> Audit:
        """The same audit under other terms."""
        return replace(self, terms=terms, other_costs=(), cost_range=None)

    def to_frame(self) -> pd.DataFrame:
        """Everything about each group at the main cost.

        Returns
        -------
        DataFrame, indexed by group
            The columns of :meth:`PublishedStatistics.to_frame`, and ``published_value`` (the statistic that people
            compare with their cost: the precision, or a bound of it), ``cost`` (after subsidies), ``applies``,
            ``share`` (that applies), ``subsidy_needed`` (the least further subsidy at which it applies; NaN if none can
            help), ``utility`` (of a person of the group), ``true_positive_rate`` and ``false_positive_rate`` (shares of
            the qualified and of other people who pass), and ``undecided`` (see :attr:`undecided`). If new people are
            counted, also the columns of :meth:`promises`; with a :attr:`pool`, also ``pool``, ``application_rate``
            (screened people over the pool), ``pool_selection_rate`` and ``pool_impact_ratio``.
        """
        groups, frame = self.published.groups, self.published.to_frame()
        frame["published_value"] = self.terms.statistic.value(self.published.counts)
        frame["cost"] = self.terms.effective_cost(groups)
        frame["applies"] = self.applies
        frame["share"] = self.shares
        needed = self.terms.further_subsidy(groups, self.terms.max_accepted_cost(groups, self.published.counts))
        frame["subsidy_needed"] = np.where(self.applies, 0.0, needed)
        frame["utility"] = self.published.utility_under(self.terms)
        frame["true_positive_rate"] = self.published.counts.true_positive_rate
        frame["false_positive_rate"] = self.published.counts.false_positive_rate
        if self.undecided is not None:
            frame["undecided"] = self.undecided
        if self.pool is not None:
            shown = self.impact_ratios().tail(len(self.pool)).set_axis(self.pool.index)
            frame[list(POOL_COLUMNS)] = shown[list(POOL_COLUMNS)]
        return frame.join(self.promises()) if self.of_new_people else frame

    def promises(self) -> pd.DataFrame:
        """Precision among new people, and whether it reaches the cost; see :mod:`selfselect.auditing.promises`."""
        groups = self.published.groups
        new = self.population.reindex(groups).counts
        return promises(self.applies.to_numpy(), self.terms.effective_cost(groups), new, groups)

    def uncertainty(
        self,
        n_resamples: int = 1000,
        random_state: Any = 0,
        confidence: float = 0.95,
        design: Design = "random",
    ) -> Uncertainty:
        """Intervals of the audit's numbers, by the Bayesian bootstrap over people.

        They are intervals of what holds in the population that people were drawn from, where each group decides by its
        precision in that population. Chance in the sample may turn the decision of a group whose precision lies near
        its cost. So an interval holds what follows from all decisions that the data do not exclude together. It covers
        more often than ``confidence`` if several groups are near their cost, and is then wide: 95% intervals cover
        about 95% if all groups are far from their cost, and up to 100% otherwise. A group of which nobody passes stays
        away.

        If new people are counted, decisions are those that follow from what was published, and only the new people are
        drawn. The same holds for decisions by a lower bound. If people were not tested, an interval holds both bounds.

        Parameters
        ----------
        n_resamples : int, default=1000
            Number of resamples.
        random_state : int, sequence of int, SeedSequence or Generator, default=0
            Seed, as :func:`numpy.random.default_rng` takes it.
        confidence : float, default=0.95
            Level of the intervals.
        design : {"random", "fixed"}, default="random"
            Whether people were drawn from the population as a whole, so that group sizes vary by chance, or as many of
            each group as intended.

        Examples
        --------
        >>> y, passed = [1, 1, 0, 1, 0, 0] * 20, [1, 1, 1, 1, 1, 0] * 20
        >>> result = audit(y, y_pred=passed, sensitive_features=list("AAABBB") * 20, cost=0.6)
        >>> result.uncertainty().applies.to_dict()
        {'A': 0.861, 'B': 0.091}
        """
        check_fraction(confidence, "confidence", inclusive=False)
        groups, counts, shares = self.published.groups, self.population.counts, self.shares.to_numpy()
        if self.of_new_people:
            own = self.population.groups
            decided = shares[position_of(own, groups, "The population", "what is published")]
            side = Side(own, self.terms, decided=decided)
        else:
            side = Side(groups, self.terms, decision_ranges(groups, counts, self.terms, confidence))

        def draw(size: int, rng: np.random.Generator) -> list[GroupCounts]:
            return [resampled_counts(counts, size, rng, design)]

        (made,) = resampled([side], draw, n_resamples, random_state, confidence, design)
        if not self.of_new_people:
            return made
        return replace(made, groups=groups, shares=np.broadcast_to(shares, (n_resamples, len(groups))))

    def over_costs(self, low: float, high: float) -> OverCosts:
        """Who applies over a range of costs, exactly; groups with a cost of their own keep it.

        Examples
        --------
        >>> result = audit([1, 1, 0, 1, 0, 0], y_pred=[1, 1, 1, 1, 1, 0], sensitive_features=list("AAABBB"), cost=0.6)
        >>> result.over_costs(0.4, 0.6).groups["applies"].to_dict()
        {'A': 'throughout', 'B': 'up to'}
        >>> result.over_costs(0.4, 0.6).groups["tips_at"].to_dict()
        {'A': nan, 'B': 0.5}
        """
        return over_costs(self, low, high)

    def impact_ratios(self, confidence: float = 0.95) -> pd.DataFrame:
        """Selection rates over the highest one; see :func:`selfselect.auditing.impact.impact_ratios`.

        Examples
        --------
        >>> result = audit([1, 1, 0, 1, 0, 0], y_pred=[1, 1, 1, 1, 0, 0], sensitive_features=list("AAABBB"), cost=0.6)
        >>> result.impact_ratios().set_index("category")["impact_ratio"].round(3).to_dict()
        {'A': 1.0, 'B': 0.333}
        """
        return impact_ratios(self.population, confidence, self.pool)

    def by_cost(self) -> pd.DataFrame:
        """Outcome at each of the costs, one row per cost."""
        rows = [self.at(cost).outcome.to_dict() for cost in self.costs]
        names = [cost if isinstance(cost, int | float) else np.nan for cost in self.costs]
        return pd.DataFrame(rows, index=pd.Index(names, name="cost"))

    def row_names(self) -> list[str]:
        """Names of the groups."""
        return self.names

    def cells(self, groups: pd.Index) -> Cells:
        """People by group, decision and label, of those whose counts are published and of those who are counted."""
        cells = Cells.of(self.published.reindex(groups).counts)
        if self.of_new_people:
            cells = cells.join(Cells.of(self.population.reindex(groups).counts))
        if self.pool is not None:
            absent = (self.pool - self.published.counts.n).reindex(groups, fill_value=0).to_numpy()
            cells = cells.join(Cells(np.stack([absent, absent], axis=-1)[:, None].astype(np.float64)))
        return cells

    def protected(self, min_cell: int = MIN_CELL) -> Audit:
        """The same audit of merged groups and thresholds: no cell has fewer than ``min_cell`` people.

        Cells are people of a group, with scores between two thresholds, of one label. See
        :mod:`selfselect.publishing.privacy`.

        Examples
        --------
        >>> y, passed, group = [1, 0, 1, 0] * 40, [1, 1, 0, 0] * 40, ["A"] * 100 + ["B"] * 60
        >>> result = audit(y + [1], y_pred=passed + [1], sensitive_features=[*group, "C"], cost=0.6)
        >>> result.protected().names
        ['A', 'the rest']
        """
        least = check_min_cell(min_cell)
        if least == 0 or self.provenance.min_cell >= least:
            return self
        return self.with_merged(merge_groups(self.published.groups, self.cells(self.published.groups), least), least)

    def with_merged(self, merging: Merging, least: int) -> Audit:
        """The same audit of merged groups; ``least`` people are in every step of the merged thresholds."""
        published_by = self.published_by.merged(merging, least)
        pool = (
            None
            if self.pool is None
            else pd.Series(np.bincount(merging.codes, weights=self.pool), index=merging.units, name="pool")
        )
        return replace(
            self,
            published_by=published_by,
            counted_on=self.counted_on.merged(merging, least) if self.of_new_people else published_by,
            terms=merging.terms(self.terms),
            provenance=self.provenance.of_merged(least, merging.members(group_names)),
            pool=pool,
        )

    def sentences(self) -> list[str]:
        """One sentence per group."""
        from ..report.sentences.audits import group_sentences

        return group_sentences(self)


def _as_costs(cost: Any, n_rows: int) -> tuple[Cost, ...]:
    """One cost or several, as a tuple."""
    if isinstance(cost, Mapping | pd.Series):
        return (cost,)
    costs = (cost,) if np.ndim(cost) == 0 else tuple(cost)
    if not costs:
        raise ValueError("cost is empty; pass at least one.")
    if len(costs) == n_rows:  # a cost of each person, not some costs to look at
        check_no_column(cost)
    return tuple(check_fraction(value, "cost") for value in costs)


def _terms(
    people: ScreeningResult,
    costs: tuple[Cost, ...],
    subsidies: Subsidies,
    subsidy_kind: SubsidyKind,
    cost_of: Mapping[Any, float] | None,
    behaviour: Behaviour | None,
) -> tuple[Terms, tuple[Cost, ...]]:
    """Terms with the main cost, and the other costs; invalid costs and subsidies are an error."""
    response = BestResponse() if behaviour is None else behaviour
    terms = Terms(costs[0], subsidies, subsidy_kind, response, cost_of=cost_of)
    for value in costs:
        terms.at_cost(value).effective_cost(people.groups)
    return terms, costs[1:]


def audit(
    y_true: ArrayLike,
    *,
    score: ArrayLike | None = None,
    threshold: float | None = None,
    y_pred: ArrayLike | None = None,
    sensitive_features: Any = None,
    cost: Cost | Sequence[float],
    subsidies: Subsidies = None,
    subsidy_kind: SubsidyKind = "additive",
    cost_of: Mapping[Any, float] | None = None,
    behaviour: Behaviour | None = None,
    sample_weight: ArrayLike | None = None,
    person: ArrayLike | None = None,
    untested: bool = False,
    missing: str = "error",
    pool: Mapping[Any, float] | pd.Series | None = None,
    provenance: Provenance | None = None,
) -> Audit:
    """Find out who would not apply to a screening model, and how accurate it is among those who do.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of 0 and 1, 1 = qualified.
    score : array-like of shape (n_rows,), optional
        Scores of any model; a person passes screening when the score is above ``threshold``.
    threshold : float, optional
        By default 0.5, if all scores lie between 0 and 1.
    y_pred : array-like of shape (n_rows,), optional
        Predictions of 0 and 1, instead of scores.
    sensitive_features : array-like, Series, DataFrame or dict of columns, optional
        Group of each row; combinations if there are several columns.
    cost : float, mapping from group to float, or list of floats
        Cost of applying, as a share of what being selected is worth. Of several, the first is the main one.
    subsidies : float, or mapping from group to float, optional
        Subsidy of each group.
    subsidy_kind : {"additive", "proportional"}, default="additive"
        ``c_z = c - s_z`` or ``c_z = c (1 - s_z)``.
    cost_of : mapping from group to float, optional
        Cost of single groups, instead of the general one.
    behaviour : Behaviour, optional
        How people respond to the precision; by default :class:`~selfselect.behaviour.BestResponse`.
    sample_weight : array-like of shape (n_rows,), optional
        Weights, as in a survey: every count is a sum of weights. Weights change estimates, but never add people:
        intervals use effective sample sizes.
    person : array-like of shape (n_rows,), optional
        Who each row is about, if people have several rows: rows of one person count as one in intervals and tests, as
        if they were copies. Where a person's rows differ, intervals are wider than they need to be.
    untested : bool, default=False
        Whether labels of people who do not pass screening may be missing (None, NaN), because they were not tested.
        Precision and who applies are known all the same; base rate, accuracy and social cost are NaN and have bounds
        (``social_cost_low``, ``social_cost_high``) over the unknown labels.
    missing : {"error", "own_group"}, default="error"
        What to do with rows whose group is missing.
    pool : mapping from group to number, optional
        How many people of each group could have applied. Application rates and impact ratios are then also given per
        potential applicant.
    provenance : Provenance, optional
        What a report should say about the data.

    Returns
    -------
    Audit
        With ``verdict()``, ``to_frame()``, ``to_json()``, ``to_html()``.

    Examples
    --------
    >>> result = audit([1, 1, 0, 1, 0, 0], y_pred=[1, 1, 1, 1, 1, 0], sensitive_features=list("AAABBB"), cost=0.6)
    >>> result.verdict()[:84]
    'If applying costs 60% of what being selected is worth, A and B could go either way. '
    >>> result.sentences()[1]
    'B could go either way: 50.0% of its people who pass screening are qualified, and applying costs 60%. It would
    apply at a cost of 50% or less (a subsidy of 0.10).'
    """
    if (score is None) == (y_pred is None):
        raise TypeError("Pass either score or y_pred.")
    if y_pred is not None and threshold is not None:
        raise TypeError("threshold belongs to score; y_pred holds decisions already.")
    shared: dict[str, Any] = {
        "sensitive_features": sensitive_features,
        "sample_weight": sample_weight,
        "person": person,
        "missing": missing,
        "untested": untested,
    }
    if score is not None:
        people = ScreeningResult.from_scores(y_true, score, threshold=threshold, **shared)
    elif y_pred is not None:
        people = ScreeningResult.from_predictions(y_true, y_pred, **shared)
    costs = _as_costs(cost, len(as_column(y_true, "y_true")))
    terms, others = _terms(people, costs, subsidies, subsidy_kind, cost_of, behaviour)
    counted = None if pool is None else check_pool(pool, people.table)
    return Audit(people, people, terms, others, provenance or Provenance(), pool=counted)
