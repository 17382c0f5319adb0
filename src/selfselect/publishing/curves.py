"""Who applies at every threshold of a score, and the outcomes."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray, check_floats, check_threshold
from ..behaviour import LEAST_SHARE, Shares, as_decisions, shares_with_margin
from ..costs import Cost, Subsidies, SubsidyKind, Terms
from ..counting.curves import CountCurves, order_by_score
from ..counting.groups import encode_groups
from ..counting.intervals import ratio
from ..statistics import SLACK, Published, Statistic
from .published import PublishedStatistics, read_counts


class ThresholdSums:
    """Sums over a population at each threshold: -inf and the distinct scores, rising."""

    def __init__(self, curves: ThresholdCurves, shares: Shares, required: BoolArray | None) -> None:
        if shares.dtype != bool:
            shares = np.where(shares < LEAST_SHARE, 0.0, shares)
        self._curves, self._shares, self._required = curves, shares, required
        self.threshold, self.over_groups = curves.distinct_thresholds, curves.over_groups

    def _over_applicants(self, values: NDArray[Any]) -> NDArray[Any]:
        parts = self._shares * values
        if self._shares.dtype != bool:
            # whole numbers of a tiny unit: what a group adds at one threshold is taken off exactly at the next
            unit = max(float(np.maximum.reduceat(np.abs(parts), self._curves.start[:-1]).sum()), 1.0) / 2.0**60
            return np.asarray(self.over_groups(np.rint(parts / unit).astype(np.int64)) * unit)
        total = self.over_groups(parts)
        if np.issubdtype(total.dtype, np.floating):
            total[self._groups_with_applicants == 0] = 0.0  # removes rounding errors of weights
        return total

    @cached_property
    def _groups_with_applicants(self) -> NDArray[np.int64]:
        return self.over_groups((self._shares > 0).astype(np.int64))

    @cached_property
    def applying_groups(self) -> NDArray[np.int64]:
        """Number of groups that apply."""
        return self.over_groups(as_decisions(self._shares).astype(np.int64))

    @cached_property
    def required_groups(self) -> NDArray[np.int64]:
        """Number of required groups that apply."""
        if self._required is None:
            return self.applying_groups
        return self.over_groups((as_decisions(self._shares) & self._required[self._curves.group]).astype(np.int64))

    @cached_property
    def correct(self) -> NDArray[Any]:
        """Correct decisions."""
        return self.over_groups(self._curves.correct)

    @cached_property
    def correct_applicants(self) -> NDArray[Any]:
        """Correct decisions about applicants."""
        return self._over_applicants(self._curves.correct)

    @cached_property
    def applicants(self) -> NDArray[Any]:
        """People who apply."""
        return self._over_applicants(self._curves.n[self._curves.group])

    @cached_property
    def qualified_applicants(self) -> NDArray[Any]:
        """Qualified people who apply."""
        return self._over_applicants(self._curves.positives[self._curves.group])

    @cached_property
    def selected_applicants(self) -> NDArray[Any]:
        """Applicants who are selected, and so tested."""
        return self._over_applicants(self._curves.selected)

    @cached_property
    def hired_applicants(self) -> NDArray[Any]:
        """Applicants who are selected and qualified, and so hired."""
        return self._over_applicants(self._curves.true_positives)


class _StepCounts:
    """Counts of the group of each step, as a statistic takes them."""

    def __init__(self, curves: CountCurves) -> None:
        self._curves, self.selected, self.true_positives = curves, curves.selected, curves.true_positives
        self.squares = None if curves.squares is None else _StepCounts(curves.squares)

    def over_groups(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sum over groups at the threshold of each step, of values that are given for each step."""
        curves = cast("ThresholdCurves", self._curves)
        return np.asarray(curves.over_groups(values)[curves.rank_of_threshold])

    @property
    def n(self) -> NDArray[Any]:
        return np.asarray(self._curves.n[self._curves.group])

    @property
    def positives(self) -> NDArray[Any]:
        return np.asarray(self._curves.positives[self._curves.group])


class ThresholdCurves(CountCurves):
    """Counts of each group at every threshold of a score, who applies there, and the outcomes.

    Make one with :meth:`from_scores`. A person is selected when the score is above the threshold (``>``). Attributes
    are those of :class:`selfselect.counting.CountCurves`.

    Examples
    --------
    >>> curves = ThresholdCurves.from_scores(
    ...     y_true=[0, 1, 0, 1], score=[0.1, 0.4, 0.4, 0.8], sensitive_features=["A"] * 4
    ... )
    >>> curves.application_intervals(cost=0.7).loc["A", ["applies_from", "applies_until"]].tolist()
    [0.4, 0.8]
    """

    @classmethod
    def from_counts(cls, frame: pd.DataFrame) -> Self:
        """Take counts by group and score, as a database adds them up.

        Parameters
        ----------
        frame : DataFrame, indexed by group
            A row for each score of each group, with columns ``score``, ``n`` (people) and ``positives`` (qualified
            people). Rows of one group and score add up. Scores may be rounded *up*: a person is selected when the score
            is above the threshold, so counts stay exact at every threshold that is such a rounded score.

        Examples
        --------
        >>> frame = pd.DataFrame(
        ...     {"score": [0.2, 0.6, 0.9, 0.7], "n": [40, 50, 10, 30], "positives": [5, 30, 9, 20]},
        ...     index=["A", "A", "A", "B"],
        ... )
        >>> curves = ThresholdCurves.from_counts(frame)
        >>> curves.at(0.5).to_frame()[["n", "positives", "selected", "true_positives"]].to_dict("index")
        {'A': {'n': 100, 'positives': 44, 'selected': 60, 'true_positives': 39},
        'B': {'n': 30, 'positives': 20, 'selected': 30, 'true_positives': 20}}
        """
        counts = read_counts(frame, ("n", "positives"), required=("score",))
        score = check_floats(frame["score"], "score")
        groups = encode_groups(frame.index)
        return cls.from_cells(groups.labels, groups.codes, score, counts["n"], counts["positives"])

    @classmethod
    def from_cells(
        cls,
        groups: pd.Index,
        codes: NDArray[np.intp],
        score: FloatArray,
        n: NDArray[Any],
        positives: NDArray[Any],
        squares: tuple[NDArray[Any], NDArray[Any]] | None = None,
    ) -> Self:
        """Curves from people and qualified people by group (as codes) and score; cells that agree add up.

        ``squares`` are the same two sums of squared weights. Every group must have a cell.
        """
        order = order_by_score(score, codes, len(groups))
        score, codes = score[order], codes[order]
        new = np.ones(len(codes), dtype=bool)
        new[1:] = (score[1:] != score[:-1]) | (codes[1:] != codes[:-1])
        first = np.flatnonzero(new)
        codes, score = codes[first], score[first]
        distinct = np.bincount(codes, minlength=len(groups))
        start = np.append(0, np.cumsum(distinct + 1)).astype(np.intp)
        step = np.arange(len(codes)) + codes + 1  # one more step at -inf before each group
        threshold = np.full(start[-1], -np.inf)
        threshold[step] = score

        def above(values: NDArray[Any]) -> NDArray[Any]:
            sums = np.zeros(start[-1], dtype=values.dtype)
            sums[step - 1] = np.add.reduceat(values[order], first)
            if np.issubdtype(sums.dtype, np.floating):  # one group's weights leave no rounding in another
                owner = np.repeat(np.arange(len(groups)), distinct + 1)
                return np.asarray(pd.Series(sums[::-1]).groupby(owner[::-1]).cumsum().to_numpy()[::-1])
            total = np.append(np.cumsum(sums[::-1])[::-1], 0)
            return np.asarray(total[:-1] - np.repeat(total[start[1:]], distinct + 1))

        def made(selected: NDArray[Any], true_positives: NDArray[Any], more: Any = None) -> Any:
            ends = start[:-1]
            return cls(groups, start, threshold, selected, true_positives, selected[ends], true_positives[ends], more)

        squared = None if squares is None else made(*map(above, squares))
        return cast("Self", made(above(n), above(positives), squared))

    def at(self, threshold: float) -> PublishedStatistics:
        """Statistics that would be published at one threshold."""
        return PublishedStatistics(self.groups, self.counts_of(self.step_at(threshold)))

    def published(self, statistic: Statistic | None = None) -> Published:
        """What is published about the group of each step, if the threshold is there."""
        return Published(_StepCounts(self), statistic, self.groups, self.group)

    @cached_property
    def _by_threshold(self) -> tuple[NDArray[np.intp], BoolArray]:
        """Steps of all groups by rising threshold, and which of these are the last with their threshold."""
        order = np.argsort(self.threshold, kind="stable")
        threshold = self.threshold[order]
        return order, np.append(threshold[1:] != threshold[:-1], True)

    @cached_property
    def distinct_thresholds(self) -> FloatArray:
        """Thresholds of all groups, -inf and the distinct scores, rising."""
        order, last_of_tie = self._by_threshold
        return np.asarray(self.threshold[order[last_of_tie]])

    @cached_property
    def rank_of_threshold(self) -> NDArray[np.intp]:
        """Position of each step's threshold among :attr:`distinct_thresholds`."""
        order, last_of_tie = self._by_threshold
        rank = np.empty(len(order), dtype=np.intp)
        rank[order] = np.cumsum(last_of_tie) - last_of_tie
        return rank

    def over_groups(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sum over groups, at every distinct threshold, of values that are given for each step."""
        order, last_of_tie = self._by_threshold
        first = self.start[:-1]
        total = values[first].sum()
        change = np.diff(values, prepend=values[:1])
        change[first] = 0
        change = change[order]
        return np.asarray(np.cumsum(change, out=change)[last_of_tie] + total)

    def fit_statistic(self, statistic: Statistic, *, one_threshold: bool, compared: int = 1) -> Statistic:
        """A statistic that learns from all groups, fitted to these counts; any other as it is.

        ``one_threshold`` says whether all groups have the same threshold, where the statistic is used, and ``compared``
        how many scores these people chose among.
        """
        fitted = getattr(statistic, "fitted", None)
        return (
            statistic
            if fitted is None
            else cast("Statistic", fitted(self, one_threshold=one_threshold, compared=compared))
        )

    def step_shares(self, terms: Terms, margin: float = 0.0) -> Shares:
        """Share of its group that applies at each step, and clears its cost by a margin."""
        costs = terms.effective_cost(self.groups)[self.group]
        return shares_with_margin(terms.behaviour, self.published(terms.statistic), costs, margin)

    def application_intervals(
        self, cost: Cost, subsidies: Subsidies = None, *, subsidy_kind: SubsidyKind = "additive"
    ) -> pd.DataFrame:
        """Thresholds at which each group applies.

        If the score is calibrated for a group, they are one interval that ends at its largest score (Corollary 2 of
        the paper, which omits this end). If the base rate also reaches the cost, it starts at -inf (Corollary 4).

        Returns
        -------
        DataFrame, indexed by group
            ``applies_from``, the lowest threshold at which the group applies (inf if it never does);
            ``applies_until``, from which on it does not (-inf if it never does); ``pieces``, the number of separate
            intervals in between.
        """
        applies = as_decisions(self.step_shares(Terms(cost, subsidies, subsidy_kind)))
        first = np.full(len(self.groups), np.inf)
        last = np.full(len(self.groups), -np.inf)
        steps = np.flatnonzero(applies)
        owner = self.group[steps]
        # nobody is selected at a group's last step, so every step at which the group applies has a next one
        np.minimum.at(first, owner, self.threshold[steps])
        np.maximum.at(last, owner, self.threshold[np.minimum(steps + 1, len(self.threshold) - 1)])
        begins = applies.copy()
        begins[1:] &= ~(applies[:-1] & (self.group[1:] == self.group[:-1]))
        pieces = np.bincount(self.group[begins], minlength=len(self.groups))
        return pd.DataFrame({"applies_from": first, "applies_until": last, "pieces": pieces}, index=self.groups)

    def application_order(
        self, cost: Cost, subsidies: Subsidies = None, *, subsidy_kind: SubsidyKind = "additive"
    ) -> pd.Series:
        """Groups sorted by the threshold from which they apply; those that never apply come last, at inf.

        If the score is calibrated for all groups, a rising threshold lets them in in this order (Corollary 3 of the
        paper), as long as somebody of each is selected.
        """
        intervals = self.application_intervals(cost, subsidies, subsidy_kind=subsidy_kind)
        return intervals["applies_from"].sort_values(kind="stable")

    def outcomes(
        self, cost: Cost, subsidies: Subsidies = None, *, subsidy_kind: SubsidyKind = "additive"
    ) -> pd.DataFrame:
        """Outcomes of all thresholds, one row per distinct score.

        Parameters
        ----------
        cost, subsidies, subsidy_kind
            As in :meth:`PublishedStatistics.applies`.

        Returns
        -------
        DataFrame
            Columns threshold (from -inf), induced_accuracy (NaN where nobody applies), assumed_accuracy,
            application_rate, social_cost (NaN if nobody is qualified), applying_groups, tested (share of people who
            apply and are selected) and hired (share who are qualified as well). If a hire is worth ``gain`` to the firm
            and a test costs ``price``, its utility per person is ``gain * hired - price * tested``
            (:func:`selfselect.metrics.firm_utility`).
        """
        return self.outcomes_under(Terms(cost, subsidies, subsidy_kind))

    def outcomes_under(self, terms: Terms, margin: float = 0.0) -> pd.DataFrame:
        """:meth:`outcomes` under any behaviour and published statistic, of groups that clear their cost by a margin."""
        running = self.running(self.step_shares(terms, margin))
        everyone, qualified = self.n.sum(), self.positives.sum()

        def share(part: NDArray[Any], whole: Any) -> FloatArray:
            return np.clip(ratio(part, whole), 0.0, 1.0)  # running sums of weights carry rounding

        return pd.DataFrame(
            {
                "threshold": running.threshold,
                "induced_accuracy": share(running.correct_applicants, running.applicants),
                "assumed_accuracy": share(running.correct, everyone),
                "application_rate": share(running.applicants, everyone),
                "social_cost": share(qualified - running.qualified_applicants, qualified),
                "applying_groups": running.applying_groups.astype(np.int64),
                "tested": share(running.selected_applicants, everyone),
                "hired": share(running.hired_applicants, everyone),
            }
        )

    def running(self, shares: Shares, required: BoolArray | None = None) -> ThresholdSums:
        """Sums over applicants at every threshold, if these shares apply at each step; ``required`` marks groups."""
        return ThresholdSums(self, shares, required)

    def best_by_group(
        self,
        cost: Cost,
        subsidies: Subsidies = None,
        *,
        subsidy_kind: SubsidyKind = "additive",
        min_selected: float = 0,
    ) -> pd.DataFrame:
        """Most accurate threshold of each group at which it applies.

        Parameters
        ----------
        cost, subsidies, subsidy_kind
            As in :meth:`PublishedStatistics.applies`.
        min_selected : float, default=0
            Smallest number of people that a threshold must select.

        Returns
        -------
        DataFrame, indexed by group
            ``accuracy``, ``threshold`` (the lowest if several are equal), ``selected`` and ``true_positives``; NaN if
            the group applies at no threshold.
        """
        applies = as_decisions(self.step_shares(Terms(cost, subsidies, subsidy_kind)))
        step = self.best_steps(applies & (self.selected >= check_threshold(min_selected, "min_selected")))
        frame = pd.DataFrame(
            {
                "accuracy": self.counts_of(step).accuracy,
                "threshold": self.threshold[step],
                "selected": self.selected[step],
                "true_positives": self.true_positives[step],
            },
            index=self.groups,
            dtype=np.float64,
        )
        frame[step < 0] = np.nan
        return frame

    def best_steps(self, allowed: BoolArray) -> NDArray[np.intp]:
        """Most accurate step of each group among those that are allowed, -1 if there is none."""
        gain = np.where(allowed, 2 * self.true_positives - self.selected, -np.inf)
        best = np.maximum.reduceat(gain, self.start[:-1])
        is_best = np.flatnonzero((gain == best[self.group]) & allowed)
        owner, where = np.unique(self.group[is_best], return_index=True)
        step = np.full(len(self.groups), -1, dtype=np.intp)
        step[owner] = is_best[where]
        return step

    def is_calibrated(self) -> pd.Series:
        """Whether the score is calibrated for each group: a higher threshold never lowers its precision.

        This is Definition 1 of the paper, by Lemma 1. The test is exact also for ties: ``precision(score > v) >=
        mean(y | score = v)`` for every score v of the group but the largest, compared on counts.
        """
        # the counts of consecutive steps differ by the people whose score is the second step's threshold
        tied = self.selected[:-1] - self.selected[1:]
        tied_positive = self.true_positives[:-1] - self.true_positives[1:]
        above, above_positive = self.selected[1:], self.true_positives[1:]
        same_group = self.group[1:] == self.group[:-1]
        slack = SLACK * np.maximum(above, 1) * np.maximum(tied, 1)
        falls = same_group & (above_positive * tied < tied_positive * above - slack)
        broken = np.bincount(self.group[1:][falls], minlength=len(self.groups)) > 0
        return pd.Series(~broken, index=self.groups, name="is_calibrated")
