"""Any classifier's score with the one threshold that has the highest induced accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._frames import take_rows
from .._validation import FloatArray, check_choice, check_fraction, check_nonnegative
from ..behaviour import Tolerance, check_tolerance
from ..constraints import Constraints
from ..costs import Cost, Subsidies, SubsidyKind, Terms
from ..learning import accuracy_lower_bound, shortfall_at_thresholds, threshold_between
from ..publishing.splits import Publish, Rows
from .docs import with_shared_docs
from .training_data import TrainingPeople
from .wrapped import WrappedClassifier, default_threshold_of, score_of

#: Values of ``criterion``.
CRITERIA = ("accuracy", "firm_utility")


@with_shared_docs
class SemiStrategicClassifier(WrappedClassifier):
    """Any classifier's score, with the threshold of the highest induced accuracy on people the score had not seen.

    Every distinct score is tried, exactly, in O(m log m) time for m rows and any number of groups. Among equally good
    thresholds the one with the most applicants is chosen.

    Parameters
    ----------
    $estimator
    $cost
    tolerance : float or "auto", default=0.0
        Margin over the cost within which it is uncertain whether a group applies ("auto": one standard error of its
        precision). The threshold is the best in the worse of two cases: these groups apply, or stay away.
    $min_selection_rate
    $subsidies
    caution : float, default=0.0
        Standard errors that are subtracted from induced accuracy (or utility) before thresholds are compared. 0 is the
        exact maximum; 1 protects against a high accuracy on few applicants.
    grid : int, optional
        Try only this number of thresholds, evenly spaced from the lowest score to the highest (the paper's released
        code uses 1,000). By default every distinct score is tried.
    criterion : {"accuracy", "firm_utility"}, default="accuracy"
        What is maximised: accuracy among applicants, or the utility of the firm, ``gain`` for each hire less ``price``
        for each test (:func:`selfselect.metrics.firm_utility`). If every application loses money, the best threshold is
        one at which nobody applies.
    gain : float, default=1.0
        Value of a hire, with "firm_utility".
    price : float, optional
        Cost of a test to the firm; required with "firm_utility".
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
    $attributes

    Examples
    --------
    >>> from selfselect.datasets import make_base_rate_groups
    >>> X, y, z = make_base_rate_groups((0.5, 0.15), random_state=0, return_X_y_group=True)
    >>> semi = SemiStrategicClassifier(cost=0.8, publish="train").fit(X, y, sensitive_features=z)
    >>> float(semi.curve_["induced_accuracy"].max()) == semi.audit(X, y, z).induced_accuracy
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        cost: Cost = 0.7,
        tolerance: Tolerance = 0.0,
        min_selection_rate: float = 0.0,
        subsidies: Subsidies = None,
        subsidy_kind: SubsidyKind = "additive",
        caution: float = 0.0,
        grid: int | None = None,
        criterion: str = "accuracy",
        gain: float = 1.0,
        price: float | None = None,
        prefit: bool = False,
        pos_label: Any = None,
        publish: Publish = "cross_fit",
        cv: Any = 5,
        holdout: float = 0.3,
        confidence: float | None = 0.9,
        guarantee: bool = False,
    ) -> None:
        super().__init__(cost, subsidies, subsidy_kind, pos_label, publish, cv, holdout, confidence, guarantee)
        self.estimator = estimator
        self.tolerance = tolerance
        self.min_selection_rate = min_selection_rate
        self.caution = caution
        self.grid = grid
        self.criterion = criterion
        self.gain = gain
        self.price = price
        self.prefit = prefit

    def _fit(self, X: Any, y: Any, people: TrainingPeople, sample_weight: Any) -> None:
        tolerance = check_tolerance(self.tolerance, self._terms().effective_cost(people.groups.labels))
        self._check_settings()
        if self.prefit:
            self._check_prefit(self.estimator)

        def fitted(rows: Rows) -> Any:
            return self.estimator if self.prefit else self._fit_inner(X, y, sample_weight, rows)

        def scores(inner: Any, rows: Rows) -> NDArray[np.float64]:
            return score_of(inner, take_rows(X, rows), self.positive_)

        score, self.estimator_ = people.splits.run(fitted, scores)
        self.threshold_ = self._search(people, score, tolerance)
        in_sample = score if people.splits.mode == "train" else scores(self.estimator_, people.splits.final)
        self._publish(people, score - self.threshold_, in_sample - self.threshold_)
        self._check_selection(self.min_selection_rate)

    def _check_settings(self) -> None:
        check_nonnegative(self.caution, "caution")
        check_fraction(self.min_selection_rate, "min_selection_rate")
        if self.grid is not None and (not isinstance(self.grid, int | np.integer) or self.grid < 2):
            raise ValueError(f"grid must be a whole number of at least 2, or None, got {self.grid!r}.")
        check_choice(self.criterion, "criterion", CRITERIA)
        check_nonnegative(self.gain, "gain")
        if self.criterion == "firm_utility" and self.price is None:
            raise ValueError("price is needed with criterion='firm_utility': what a test costs the firm.")
        if self.price is not None:
            check_nonnegative(self.price, "price")

    def _search(self, people: TrainingPeople, score: FloatArray, tolerance: Tolerance) -> float:
        curves = people.curves(score)
        costs = dict(zip(people.groups.labels, self._terms().effective_cost(people.groups.labels), strict=True))
        terms = Terms({label: costs[label] for label in curves.groups}, behaviour=self._behaviour)
        self.curve_ = curves.outcomes_under(terms)
        # it is uncertain whether groups within the tolerance apply: the worse of the two cases counts
        cases = [self.curve_] if tolerance == 0 else [self.curve_, curves.outcomes_under(terms, tolerance)]
        value = np.min([self._value(case, float(curves.n.sum())) for case in cases], axis=0)
        shortfall = np.zeros(len(value))
        if self.min_selection_rate > 0:
            shortfall = shortfall_at_thresholds(Constraints(min_selection_rate=self.min_selection_rate), curves)
            value = np.where(shortfall == 0, value, -np.inf)
        thresholds, rate = self.curve_["threshold"].to_numpy(), self.curve_["application_rate"].to_numpy()
        tried = None if self.grid is None else np.linspace(score.min(), score.max(), self.grid)
        steps = np.arange(len(value)) if tried is None else np.searchsorted(thresholds, tried, side="right") - 1
        value, rate = value[steps], rate[steps]
        if not rate[~np.isneginf(value)].any():
            return self._default_threshold(shortfall)
        best = np.flatnonzero(value >= value.max() - 1e-12)
        kept = int(best[np.argmax(rate[best])])
        return float(threshold_between(thresholds, kept) if tried is None else tried[kept])

    def _default_threshold(self, shortfall: FloatArray) -> float:
        """Threshold if nobody applies: that of the inner classifier, or the highest that selects enough people."""
        own, thresholds = default_threshold_of(self.estimator_), self.curve_["threshold"].to_numpy()
        highest = int(np.flatnonzero(shortfall == 0)[-1])  # at -inf everybody is selected
        kept = np.searchsorted(thresholds, own, side="right") - 1 <= highest
        return own if kept else float(threshold_between(thresholds, highest))

    def _value(self, case: pd.DataFrame, people: float) -> NDArray[np.float64]:
        if self.criterion == "firm_utility":
            return self._utility(case, people)
        applicants = case["application_rate"].to_numpy() * people
        correct = case["induced_accuracy"].fillna(0.0).to_numpy() * applicants
        return np.asarray(accuracy_lower_bound(correct, applicants, fitted_weights=0.0, errors=self.caution))

    def _utility(self, case: pd.DataFrame, people: float) -> NDArray[np.float64]:
        """Utility of the firm per person, minus standard errors; 0 where nobody applies."""
        gain, price = float(self.gain), float(self.price or 0.0)
        tested, hired = case["tested"].to_numpy(), case["hired"].to_numpy()
        utility = gain * hired - price * tested
        if not self.caution:
            return np.asarray(utility)
        squared = (gain - price) ** 2 * hired + price**2 * (tested - hired)
        return np.asarray(utility - self.caution * np.sqrt(np.clip(squared - utility**2, 0.0, None) / people))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Inner score minus the threshold; positive for the second class."""
        check_is_fitted(self, "threshold_")
        return self._for_second_class(self._inner_score(X) - self.threshold_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Label of each row: qualified where the inner score is above the threshold."""
        check_is_fitted(self, "threshold_")
        return self._as_labels(self._inner_score(X) > self.threshold_)
