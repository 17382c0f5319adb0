"""A naive score with the one threshold that is best once people decide whether to apply."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .._files import number_at
from .._frames import plain_frame, take_rows
from .._validation import FloatArray, check_at_least_zero, check_choice, check_fraction
from ..behaviour import Tolerance, check_tolerance
from ..constraints import Constraints
from ..costs import Cost, Subsidies, SubsidyKind, Terms
from ..learning import accuracy_lower_bound, shortfall_at_thresholds, threshold_between
from ..publishing.splits import Publish, Rows
from .files import check_finite, saveable
from .inner import InnerClassifier, default_threshold_of, score_of
from .people import TrainingPeople

#: What a threshold can be chosen for.
CRITERIA = ("accuracy", "firm_utility")


@saveable
class SemiStrategicClassifier(InnerClassifier):
    """Any classifier's score, with the threshold of the highest induced accuracy on people the score had not seen.

    Every distinct score is tried, exactly, in O(m log m) time for m rows, whatever the number of groups. Among equals
    the threshold with the most applicants is kept. Instead of accuracy it can be the utility of the firm.

    Parameters
    ----------
    estimator : classifier, optional
        Any scikit-learn classifier with ``decision_function`` or ``predict_proba``; by default a logistic regression
        without penalty.
    cost : float or mapping from group to float, default=0.7
        Cost of the test in [0, 1].
    tolerance : float or "auto", default=0.0
        Margin over the cost within which a group's application counts as unsure ("auto": one standard error of its
        precision). The threshold is then the best in the worse of two cases: such groups come, or stay away.
    min_selection_rate : float, default=0.0
        Least share of every group that is selected, whether it applies or not: of the people whose counts are
        published. Thresholds that select fewer of any group are left out.
    subsidies : float or mapping from group to float, optional
        Subsidies.
    subsidy_kind : {"additive", "proportional"}, default="additive"
        Kind of subsidies.
    caution : float, default=0.0
        Standard errors to take off an induced accuracy (or utility) before comparing. 0 is the exact maximum on the
        training set; 1 hedges against a high accuracy on few applicants.
    grid : int, optional
        Try only so many thresholds, evenly spaced from the lowest score to the highest (the paper's released code has
        1,000). By default every distinct score is tried.
    criterion : {"accuracy", "firm_utility"}, default="accuracy"
        What is maximised: accuracy over those who apply, or what they are worth to the firm, ``gain`` for each hire
        less ``price`` for each test (:func:`selfselect.metrics.firm_utility`). If it would lose by anybody's applying,
        the firm is best off with a threshold at which nobody does.
    gain : float, default=1.0
        What a hire is worth; only with "firm_utility".
    price : float, optional
        What a test costs the firm; must be given with "firm_utility".
    prefit : bool, default=False
        Whether ``estimator`` is fitted already and only wants a threshold. These people must then be new to it: for
        those that it was fitted to, publishing (and a guarantee) is as good as ``publish="train"``.
    pos_label : label, optional
        The label that means qualified; by default the larger of the two.
    publish : {"cross_fit", "holdout", "train"}, default="cross_fit"
        Where published counts come from: people scored by a classifier that was not fitted to them, a part set aside,
        or (as in the paper) the training data; see :mod:`selfselect.publishing.splits`.
    cv : int or splitter, default=5
        Folds of "cross_fit".
    holdout : float, default=0.3
        Share set aside by "holdout".
    confidence : float or None, default=0.9
        A group applies only if the lower Clopper-Pearson bound of its published precision, at this level, reaches its
        cost. None goes by the precision itself; so does ``publish="train"``, the paper's way.
    guarantee : bool, default=False
        Whether all promises together must hold with the probability ``confidence``, for any model and any people. It
        needs ``publish="holdout"``: everything is chosen on the people who are fitted (cross-fitted among themselves),
        and a group is told to apply only if that stands the test on the people set aside; see
        :mod:`selfselect.publishing.guarantee`.

    Attributes
    ----------
    threshold_ : float
        A person is selected when the inner score is above it.
    curve_ : DataFrame
        What :meth:`selfselect.ThresholdCurves.outcomes` tells of every threshold, of the people who are judged.
    estimator_ : classifier
        The fitted one.
    published_ : PublishedStatistics
        Counts per group that people decide by.
    promised_ : Series of bool, indexed by group
        With ``guarantee``: which groups can be promised anything at all. All these promises hold together with the
        probability ``confidence``.
    promise_level_ : float
        With ``guarantee``: level of each single test.
    classes_ : ndarray of shape (2,)
        The labels, in order.
    positive_ : label
        The one of them that means qualified.

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
        self.estimator = estimator
        self.cost = cost
        self.tolerance = tolerance
        self.min_selection_rate = min_selection_rate
        self.subsidies = subsidies
        self.subsidy_kind = subsidy_kind
        self.caution = caution
        self.grid = grid
        self.criterion = criterion
        self.gain = gain
        self.price = price
        self.prefit = prefit
        self.pos_label = pos_label
        self.publish = publish
        self.cv = cv
        self.holdout = holdout
        self.confidence = confidence
        self.guarantee = guarantee

    def fit(self, X: Any, y: ArrayLike, *, sensitive_features: Any = None, sample_weight: Any = None) -> Self:
        """Fit the inner classifier (unless prefit) and search all thresholds.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            Labels of two kinds; see ``pos_label``.
        sensitive_features : array-like, Series, DataFrame or dict of columns, optional
            Group of each row; without it everyone is one group.
        sample_weight : array-like of shape (n_rows,), optional
            Weights.
        """
        if self.guarantee:
            return self._fit_and_test(X, y, sensitive_features, sample_weight)
        X, y = plain_frame(X), plain_frame(y)
        if self.prefit:
            self._check_fitted()
        people = self._people(X, y, sensitive_features, sample_weight)
        tolerance = check_tolerance(self.tolerance, self._terms().effective_cost(people.groups.labels))
        check_at_least_zero(self.caution, "caution")
        check_fraction(self.min_selection_rate, "min_selection_rate")
        if self.grid is not None and (not isinstance(self.grid, int | np.integer) or self.grid < 2):
            raise ValueError(f"grid must be a whole number of at least 2, or None, got {self.grid!r}.")
        self._check_criterion()
        self._check_inner(X, y)
        if self.prefit:
            self._check_same_classes(self.estimator)

        def fitted(rows: Rows) -> Any:
            return self.estimator if self.prefit else self._fit_inner(X, y, sample_weight, rows)

        def scores(inner: Any, rows: Rows) -> NDArray[np.float64]:
            return score_of(inner, take_rows(X, rows), self.positive_)

        score, self.estimator_ = people.splits.run(fitted, scores)
        self.threshold_ = self._search(people, score, tolerance)
        in_sample = score if people.splits.mode == "train" else scores(self.estimator_, people.splits.final)
        self._publish(people, score - self.threshold_, in_sample - self.threshold_)
        self._check_selection(self.min_selection_rate)
        return self

    def _check_criterion(self) -> None:
        check_choice(self.criterion, "criterion", CRITERIA)
        check_at_least_zero(self.gain, "gain")
        if self.criterion == "firm_utility" and self.price is None:
            raise ValueError("price is needed with criterion='firm_utility': say what a test costs the firm.")
        if self.price is not None:
            check_at_least_zero(self.price, "price")

    def _check_fitted(self) -> None:
        if self.estimator is None:
            raise ValueError("prefit=True needs a fitted estimator; estimator is None.")
        check_is_fitted(self.estimator)

    def _search(self, people: TrainingPeople, score: FloatArray, tolerance: Tolerance) -> float:
        curves = people.curves(score)
        costs = dict(zip(people.groups.labels, self._terms().effective_cost(people.groups.labels), strict=True))
        terms = Terms({label: costs[label] for label in curves.groups}, behaviour=self._behaviour)
        self.curve_ = curves.outcomes_under(terms)
        # groups within the tolerance apply by a hair: what counts is the worse of their coming and their staying away
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
        if not rate[
            ~np.isneginf(value)
        ].any():  # nobody can be made to apply: the classifier's own threshold, or nearly
            return self._default_threshold(shortfall)
        best = np.flatnonzero(value >= value.max() - 1e-12)
        kept = int(best[np.argmax(rate[best])])
        return float(threshold_between(thresholds, kept) if tried is None else tried[kept])

    def _default_threshold(self, shortfall: FloatArray) -> float:
        """Threshold of the inner classifier itself; where that selects too few, the highest that does not."""
        own, thresholds = default_threshold_of(self.estimator_), self.curve_["threshold"].to_numpy()
        highest = int(np.flatnonzero(shortfall == 0)[-1])  # at -inf nothing is shortfall
        kept = np.searchsorted(thresholds, own, side="right") - 1 <= highest
        return own if kept else float(threshold_between(thresholds, highest))

    def _value(self, case: pd.DataFrame, people: float) -> NDArray[np.float64]:
        if self.criterion == "firm_utility":
            return self._utility(case, people)
        applicants = case["application_rate"].to_numpy() * people
        correct = case["induced_accuracy"].fillna(0.0).to_numpy() * applicants
        return np.asarray(accuracy_lower_bound(correct, applicants, fitted_weights=0.0, errors=self.caution))

    def _utility(self, case: pd.DataFrame, people: float) -> NDArray[np.float64]:
        """Utility of the firm per person, less standard errors; 0 where nobody applies."""
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

    # ------------------------------------------------------------------ as data

    _STATE = (*InnerClassifier._STATE, "threshold")

    def _fitted_state(self) -> dict[str, Any]:
        check_finite(self.threshold_, "The threshold is not finite, so that this classifier cannot be saved.")
        return super()._fitted_state() | {"threshold": self.threshold_}

    def _restore(self, state: dict[str, Any], groups: pd.Index) -> None:
        self.threshold_ = number_at(state["threshold"], "fitted.threshold")
        super()._restore(state, groups)
