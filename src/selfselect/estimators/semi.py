"""Any classifier's score with the one threshold that has the highest induced accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._validation import FloatArray, check_nonnegative, check_whole
from ..behaviour import check_margin
from ..constraints import Constraint, InfeasibleError, check_constraints
from ..learning import accuracy_lower_bound, threshold_between, violation_at_thresholds
from .docs import estimator_class
from .training_data import TrainingPeople
from .wrapped import WrappedClassifier, default_threshold_of


@estimator_class
class SemiStrategicClassifier(WrappedClassifier):
    """Any classifier's score, with the threshold of the highest induced accuracy on people the score had not seen.

    Every distinct score is tried, exactly, in O(m log m) time for m rows and any number of groups. Among equally good
    thresholds the one with the most applicants is chosen. Where shares of groups apply, most of some group must, if
    possible.

    Parameters
    ----------
    $estimator
    $cost
    $constraints
    margin : float, default=0.0
        Margin over the cost within which it is uncertain whether a group applies. The threshold is the best in the
        worse of two cases: these groups apply, or stay away.
    $subsidies
    caution : float, default=0.0
        Standard errors that are subtracted from induced accuracy before thresholds are compared. 0 is the
        exact maximum; 1 protects against a high accuracy on few applicants.
    grid : int, optional
        Try only this number of thresholds, evenly spaced from the lowest score to the highest (the paper's released
        code uses 1,000). By default every distinct score is tried.
    $prefit
    $publishing

    Attributes
    ----------
    threshold_ : float
        A person is selected when the inner score is above it.
    curve_ : DataFrame
        :meth:`selfselect.ThresholdCurves.outcomes` of every threshold, for the evaluated people.
    estimator_ : classifier
        The fitted classifier.
    $violations
    $attributes

    Notes
    -----
    **Raises** :class:`selfselect.InfeasibleError` if no threshold meets all constraints.

    Examples
    --------
    >>> from selfselect.datasets import make_base_rate_groups
    >>> X, y, z = make_base_rate_groups((0.5, 0.15), random_state=0, return_X_y_group=True)
    >>> semi = SemiStrategicClassifier(cost=0.8, publish="train").fit(X, y, sensitive_features=z)
    >>> float(semi.curve_["induced_accuracy"].max()) == semi.audit(X, y, z).induced_accuracy
    True
    """

    constraints: Sequence[Constraint] = ()
    margin: float = 0.0
    caution: float = 0.0
    grid: int | None = None
    prefit: bool = False

    def _fit(self, people: TrainingPeople) -> tuple[NDArray[Any], NDArray[Any]]:
        margin = check_margin(self.margin, self._terms().effective_cost(people.groups.labels))
        check_nonnegative(self.caution, "caution")
        if self.grid is not None:
            check_whole(self.grid, "grid", 2)
        score, self.estimator_ = self._fit_and_score(people, self.estimator)
        self.threshold_ = self._search(people, score, margin)
        return score - self.threshold_, self._score_fitted(people, score) - self.threshold_

    def _search(self, people: TrainingPeople, score: FloatArray, margin: float) -> float:
        curves, labels = people.curves(score), people.groups.labels
        terms = self._terms().among(labels, curves.groups)
        self.statistic_ = people.fit_statistic(terms.statistic, curves)
        terms = replace(terms, statistic=self.statistic_)
        self.curve_ = curves.outcomes_under(terms)
        # it is uncertain whether groups within the margin apply: the worse of the two cases counts
        cases = [self.curve_] if margin == 0 else [self.curve_, curves.outcomes_under(terms, margin)]
        value = np.min([self._value(case, float(curves.n.sum())) for case in cases], axis=0)
        constraints = check_constraints(self.constraints)
        violation = np.zeros(len(value))
        if constraints:
            trained = self._training_terms(labels, statistic=terms.statistic).take(people.position_of(curves))
            violation = violation_at_thresholds(trained, curves)
        thresholds, rate = self.curve_["threshold"].to_numpy(), self.curve_["application_rate"].to_numpy()
        tried = None if self.grid is None else np.linspace(score.min(), score.max(), self.grid)
        steps = np.arange(len(value)) if tried is None else np.searchsorted(thresholds, tried, side="right") - 1
        if violation[steps].min() > 0:
            raise InfeasibleError(
                f"No threshold for all groups meets the constraints {constraints}: the nearest violates "
                f"them by {violation[steps].min():.3g} in all. Loosen them, lower the cost, or choose a threshold for "
                "each group (GroupThresholdClassifier)."
            )
        most_apply = self.curve_["applying_groups"].to_numpy() > 0
        if (most_apply & (violation == 0))[steps].any():  # otherwise a tiny share of one group could be the best
            value = np.where(most_apply, value, -np.inf)
        value, rate = np.where(violation == 0, value, -np.inf)[steps], rate[steps]
        if not rate[~np.isneginf(value)].any():
            return self._default_threshold(violation)
        best = np.flatnonzero(value >= value.max() - 1e-12)
        kept = int(best[np.argmax(rate[best])])
        return float(threshold_between(thresholds, kept)) if tried is None else float(tried[kept])

    def _default_threshold(self, violation: FloatArray) -> float:
        """Threshold if nobody applies: that of the inner classifier, or the highest that meets the constraints."""
        own, thresholds = default_threshold_of(self.estimator_), self.curve_["threshold"].to_numpy()
        if violation[np.searchsorted(thresholds, own, side="right") - 1] == 0:
            return own
        return float(threshold_between(thresholds, int(np.flatnonzero(violation == 0)[-1])))

    def _value(self, case: pd.DataFrame, people: float) -> NDArray[np.float64]:
        applicants = case["application_rate"].to_numpy() * people
        correct = case["induced_accuracy"].fillna(0.0).to_numpy() * applicants
        return np.asarray(accuracy_lower_bound(correct, applicants, fitted_weights=0.0, errors=self.caution))

    def _threshold_of(self, groups: Any, n_rows: int) -> float:
        return self.threshold_
