"""Who would apply at every threshold of a score, and what would follow."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray, check_threshold
from ..behaviour import SLACK, Behaviour, Shares, Tolerance, applies_with_margin, as_decisions, has_margin
from ..costs import Cost, Subsidies, SubsidyKind, Terms
from ..counting.intervals import ratio
from ..counting.steps import ScoreSteps
from .published import PublishedStatistics


class RunningSums:
    """Sums over a population at each threshold of a score, thresholds rising from -inf; each is made when asked for.

    Made by :meth:`ThresholdCurves.running`.

    Attributes
    ----------
    threshold : ndarray of shape (n_thresholds,)
        The distinct scores, after -inf.
    """

    def __init__(self, curves: ThresholdCurves, shares: Shares, required: BoolArray | None) -> None:
        self._curves, self._shares, self._required = curves, shares, required
        self._order = np.argsort(curves.threshold, kind="stable")
        threshold = curves.threshold[self._order]
        self._settled = np.append(threshold[1:] != threshold[:-1], True)
        self.threshold: FloatArray = threshold[self._settled]

    def over_groups(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sum over groups of a number per step, at every threshold: changes in the order in which they happen."""
        first = self._curves.start[:-1]
        total = values[first].sum()
        change = np.diff(values, prepend=values[:1])
        change[first] = 0
        change = change[self._order]
        return np.asarray(np.cumsum(change, out=change)[self._settled] + total)

    def _over_applicants(self, values: NDArray[Any]) -> NDArray[Any]:
        total = self.over_groups(self._shares * values)
        if np.issubdtype(total.dtype, np.floating):
            total[self._groups_with_applicants == 0] = 0.0  # weights leave rounding where nobody applies
        return total

    @cached_property
    def _groups_with_applicants(self) -> NDArray[np.int64]:
        return self.over_groups((self._shares > 0).astype(np.int64))

    @cached_property
    def applying_groups(self) -> NDArray[np.int64]:
        """Groups that apply."""
        return self.over_groups(as_decisions(self._shares).astype(np.int64))

    @cached_property
    def required_groups(self) -> NDArray[np.int64]:
        """Groups that apply among those that were asked for."""
        if self._required is None:
            return self.applying_groups
        return self.over_groups((as_decisions(self._shares) & self._required[self._curves.group]).astype(np.int64))

    @cached_property
    def correct(self) -> NDArray[Any]:
        """People judged rightly."""
        return self.over_groups(self._curves.correct)

    @cached_property
    def correct_applicants(self) -> NDArray[Any]:
        """Applicants judged rightly."""
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
        """People who apply and are selected: they are tested."""
        return self._over_applicants(self._curves.selected)

    @cached_property
    def hired_applicants(self) -> NDArray[Any]:
        """Qualified people among them: they are hired."""
        return self._over_applicants(self._curves.true_positives)


class ThresholdCurves(ScoreSteps):
    """Counts of each group at every threshold, who applies there, and what follows.

    Make one with :meth:`from_scores`; a person is selected when the score is above the threshold (``>``). Step ``i``
    belongs to group ``group[i]`` and holds for thresholds from ``threshold[i]`` up to the next step of the same group.
    A group's first step is at -inf (everyone is selected), its last one at its largest score (nobody is).

    Attributes
    ----------
    groups : Index of shape (n_groups,)
        The groups.
    start : ndarray of shape (n_groups + 1,)
        Steps ``start[z]`` to ``start[z + 1] - 1`` are those of group z.
    threshold, selected, true_positives : ndarray of shape (n_steps,)
        Where each step begins, and the counts there.
    n, positives : ndarray of shape (n_groups,)
        People and qualified people of each group.

    Examples
    --------
    >>> curves = ThresholdCurves.from_scores(
    ...     y_true=[0, 1, 0, 1], score=[0.1, 0.4, 0.4, 0.8], sensitive_features=["A"] * 4
    ... )
    >>> curves.application_intervals(cost=0.7).loc["A", ["applies_from", "applies_until"]].tolist()
    [0.4, 0.8]
    """

    def at(self, threshold: float) -> PublishedStatistics:
        """What would be published at one threshold."""
        return PublishedStatistics(self.groups, self.counts_of(self.step_at(threshold)))

    # ------------------------------------------------------------------ who applies, over thresholds

    def step_shares(self, terms: Terms, tolerance: Tolerance = 0.0) -> Shares:
        """Share of its group that applies at each step; with a tolerance, if it had to clear its cost by that much."""
        costs = terms.effective_cost(self.groups)[self.group]
        shares = terms.behaviour.shares(self.true_positives, self.selected, costs)
        return shares if tolerance == 0 else shares * has_margin(self.true_positives, self.selected, costs, tolerance)

    def step_applies(
        self, costs: FloatArray, tolerance: Tolerance = 0.0, behaviour: Behaviour | None = None
    ) -> BoolArray:
        """Whether its group clears its cost by the tolerance, at each step."""
        return applies_with_margin(self.true_positives, self.selected, costs[self.group], tolerance, behaviour)

    def application_intervals(
        self, cost: Cost, subsidies: Subsidies = None, *, subsidy_kind: SubsidyKind = "additive"
    ) -> pd.DataFrame:
        """Thresholds at which each group applies.

        If the score is calibrated for a group, they are one interval, up to its largest score (Corollary 2 of the
        paper, which forgets that end); if its base rate reaches the cost as well, from the lowest threshold on
        (Corollary 4).

        Returns
        -------
        DataFrame, indexed by group
            ``applies_from`` is the least threshold at which the group applies (inf if it never does), ``applies_until``
            the one from which on it never does again (exclusive; -inf if it never applies), ``pieces`` the number of
            separate intervals in between: one if the score is calibrated for the group.
        """
        applies = self.step_applies(Terms(cost, subsidies, subsidy_kind).effective_cost(self.groups))
        first = np.full(len(self.groups), np.inf)
        last = np.full(len(self.groups), -np.inf)
        steps = np.flatnonzero(applies)
        owner = self.group[steps]
        # a group's last step selects nobody, so it never applies, and each applying step has a next one in its group
        np.minimum.at(first, owner, self.threshold[steps])
        np.maximum.at(last, owner, self.threshold[np.minimum(steps + 1, len(self.threshold) - 1)])
        begins = applies.copy()
        begins[1:] &= ~(applies[:-1] & (self.group[1:] == self.group[:-1]))
        pieces = np.bincount(self.group[begins], minlength=len(self.groups))
        return pd.DataFrame({"applies_from": first, "applies_until": last, "pieces": pieces}, index=self.groups)

    def application_order(
        self, cost: Cost, subsidies: Subsidies = None, *, subsidy_kind: SubsidyKind = "additive"
    ) -> pd.Series:
        """Groups sorted by the threshold from which they apply; those that never do come last, at inf.

        If the score is calibrated for all groups, moving a threshold lets them in by this order (Corollary 3 of the
        paper), as long as someone of each is selected.
        """
        intervals = self.application_intervals(cost, subsidies, subsidy_kind=subsidy_kind)
        return intervals["applies_from"].sort_values(kind="stable")

    def outcomes(
        self,
        cost: Cost,
        subsidies: Subsidies = None,
        *,
        subsidy_kind: SubsidyKind = "additive",
        tolerance: Tolerance = 0.0,
    ) -> pd.DataFrame:
        """Consequences of every threshold at once, one row per distinct score of the pooled population.

        Parameters
        ----------
        cost, subsidies, subsidy_kind
            As in :meth:`PublishedStatistics.applies`.
        tolerance : float or "auto", default=0.0
            Margin by which a group must clear its cost to be counted as applying.

        Returns
        -------
        DataFrame
            threshold (the first is -inf), induced_accuracy (NaN where nobody applies), assumed_accuracy,
            application_rate, social_cost (NaN if nobody is qualified), applying_groups; tested and hired, the shares of
            people who apply and are selected, and who are qualified as well. A firm to which a hire is worth ``gain``
            and a test costs ``price`` has a utility of ``gain * hired - price * tested`` per person
            (:func:`selfselect.metrics.firm_utility`).
        """
        return self.outcomes_under(Terms(cost, subsidies, subsidy_kind), tolerance)

    def outcomes_under(self, terms: Terms, tolerance: Tolerance = 0.0) -> pd.DataFrame:
        """The same as :meth:`outcomes`, under terms of any behaviour."""
        running = self.running(self.step_shares(terms, tolerance))
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

    def running(self, shares: Shares, required: BoolArray | None = None) -> RunningSums:
        """Sums over those who apply at every threshold of the pooled population, behind :meth:`outcomes`.

        Parameters
        ----------
        shares : ndarray of shape (n_steps,)
            Share of its group that applies at each step; see :meth:`step_shares` and :meth:`step_applies`.
        required : ndarray of bool of shape (n_groups,), optional
            Groups to count apart.
        """
        return RunningSums(self, shares, required)

    def best_by_group(
        self,
        cost: Cost,
        subsidies: Subsidies = None,
        *,
        subsidy_kind: SubsidyKind = "additive",
        min_selected: float = 0,
        tolerance: Tolerance = 0.0,
    ) -> pd.DataFrame:
        """Most accurate threshold for each group alone, subject to the group applying.

        Parameters
        ----------
        cost, subsidies, subsidy_kind
            As in :meth:`PublishedStatistics.applies`.
        min_selected : float, default=0
            Leave out thresholds that select fewer people than this.
        tolerance : float or "auto", default=0.0
            Margin by which a group must clear its cost to be counted as applying.

        Returns
        -------
        DataFrame, indexed by group
            ``accuracy`` and ``threshold`` (the lowest among equals; NaN if the group cannot be made to apply),
            ``selected`` and ``true_positives`` there.
        """
        costs = Terms(cost, subsidies, subsidy_kind).effective_cost(self.groups)
        step = self.best_steps(costs, tolerance, min_selected)
        found = step >= 0
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
        frame[~found] = np.nan
        return frame

    def best_steps(
        self,
        costs: FloatArray,
        tolerance: Tolerance = 0.0,
        min_selected: float = 0,
        behaviour: Behaviour | None = None,
        among: BoolArray | None = None,
    ) -> NDArray[np.intp]:
        """Step of each group at which it is judged most accurately while it applies, -1 if there is none.

        Other steps than those ``among`` which it may be chosen are left out; by default all of them count.
        """
        allowed = self.step_applies(costs, tolerance, behaviour) & (
            self.selected >= check_threshold(min_selected, "min_selected")
        )
        allowed = allowed if among is None else allowed & among
        gain = np.where(allowed, 2 * self.true_positives - self.selected, -np.inf)
        best = np.maximum.reduceat(gain, self.start[:-1])
        is_best = np.flatnonzero((gain == best[self.group]) & allowed)
        owner, where = np.unique(self.group[is_best], return_index=True)
        step = np.full(len(self.groups), -1, dtype=np.intp)
        step[owner] = is_best[where]
        return step

    # ------------------------------------------------------------------ the shape of the score

    def is_calibrated(self) -> pd.Series:
        """Whether the score is calibrated for each group: raising the threshold never lowers its precision.

        This is Definition 1 of the paper, by Lemma 1. The test is exact, with ties: ``precision(score > v) >=
        mean(y | score = v)`` for every score value v of the group but the largest, compared on counts.
        """
        # between a step and the one before lie exactly the people whose score is the step's threshold
        tied = self.selected[:-1] - self.selected[1:]
        tied_positive = self.true_positives[:-1] - self.true_positives[1:]
        above, above_positive = self.selected[1:], self.true_positives[1:]
        same_group = self.group[1:] == self.group[:-1]
        slack = SLACK * np.maximum(above, 1) * np.maximum(tied, 1)
        falls = same_group & (above_positive * tied < tied_positive * above - slack)
        broken = np.bincount(self.group[1:][falls], minlength=len(self.groups)) > 0
        return pd.Series(~broken, index=self.groups, name="is_calibrated")
