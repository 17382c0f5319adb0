"""Any classifier's score, with a threshold for each group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._frames import take_rows, to_pandas
from .._validation import FloatArray, check_choice, check_fraction, check_nonnegative, list_some
from ..behaviour import SLACK
from ..constraints import Constraints, DemographicParity, TruePositiveRateParity
from ..costs import Cost, Subsidies, SubsidyKind
from ..counting import encode_groups, position_of, with_same_columns
from ..learning import InfeasibleError, OptimalThresholds, accuracy_lower_bound, optimise_thresholds, threshold_between
from ..publishing import GuaranteedThresholds, ThresholdCurves, guarantee_thresholds, threshold_sequences
from ..publishing.splits import Publish, Rows
from .docs import with_shared_docs
from .training_data import TrainingPeople
from .wrapped import WrappedClassifier, default_threshold_of, score_of

ShutOut = Literal["select_none", "select_all", "forbid"]


@with_shared_docs
class GroupThresholdClassifier(WrappedClassifier):
    """Any classifier's score, with the thresholds per group that have the highest induced accuracy.

    The optimum over all combinations of thresholds is exact. Without constraints it lets one group in, the one with the
    highest accuracy while it applies, and shuts out the others. A classifier that uses the group at the decision may be
    unlawful where you are.

    Parameters
    ----------
    $estimator
    $cost
    estimators : list of classifiers, optional
        Several candidates in place of ``estimator``; the best on people it had not seen is kept.
    $limits
    $min_selection_rate
    parity_tolerance, tpr_tolerance : float, optional
        Largest difference between the selection rates, and between the true-positive rates, of any two groups.
    parity_ratio, tpr_ratio : float, optional
        Least ratio of the smallest of these rates to the largest (0.8: the four-fifths rule).
    $subsidies
    shut_out : {"select_none", "select_all", "forbid"}, default="select_none"
        How to treat groups that are not let in: nobody of them is selected, or everybody (as in the paper: then their
        precision is their base rate, below the cost). "forbid" selects of every group at least as many people as the
        inner classifier does by itself.
    caution : float, default=2.0
        Standard errors that are subtracted from the accuracy of a group before groups are compared.
    $prefit
    group_columns : list of str, optional
        Columns of X that hold the group, for ``fit`` and ``predict`` without ``sensitive_features``.
    unseen : {"error", "pooled"}, default="error"
        How to treat people of a group that was not there in training: raise an error, or decide as the inner
        classifier does.
    $publishing

    Attributes
    ----------
    thresholds_ : Series, indexed by group
        A person is selected when the inner score is above it; inf selects nobody, -inf everybody.
    allocation_ : OptimalThresholds
        The optimum, with its value and how exact it is.
    estimator_ : classifier
        The fitted classifier (of several, the one that was kept).
    $attributes

    Notes
    -----
    With ``guarantee``, thresholds that are fixed beforehand are tested on the people set aside; ``promised_`` marks the
    groups that are let in at a threshold that passed.

    **Raises** :class:`selfselect.InfeasibleError` if a constraint cannot be met, saying which one and what came
    closest.

    Examples
    --------
    >>> from selfselect.datasets import make_base_rate_groups
    >>> X, y, z = make_base_rate_groups((0.5, 0.15), random_state=0, return_X_y_group=True)
    >>> model = GroupThresholdClassifier(cost=0.8, max_social_cost=0.0).fit(X, y, sensitive_features=z)
    >>> model.applies().to_dict()
    {'z0': True, 'z1': True}
    >>> bool(model.thresholds_["z1"] > model.thresholds_["z0"])
    True
    """

    # with metadata routing, groups are requested by default
    __metadata_request__predict = {"sensitive_features": True}  # noqa: RUF012
    __metadata_request__decision_function = {"sensitive_features": True}  # noqa: RUF012
    _guarantee_after_fit: ClassVar[bool] = False

    def __init__(
        self,
        estimator: Any = None,
        *,
        cost: Cost = 0.7,
        estimators: Sequence[Any] | None = None,
        require: Sequence[Any] | None = None,
        max_social_cost: float | None = None,
        min_selection_rate: float = 0.0,
        parity_tolerance: float | None = None,
        tpr_tolerance: float | None = None,
        parity_ratio: float | None = None,
        tpr_ratio: float | None = None,
        subsidies: Subsidies = None,
        subsidy_kind: SubsidyKind = "additive",
        shut_out: ShutOut = "select_none",
        caution: float = 2.0,
        prefit: bool = False,
        group_columns: Sequence[str] | None = None,
        unseen: str = "error",
        pos_label: Any = None,
        publish: Publish = "cross_fit",
        cv: Any = 5,
        holdout: float = 0.3,
        confidence: float | None = 0.9,
        guarantee: bool = False,
    ) -> None:
        super().__init__(cost, subsidies, subsidy_kind, pos_label, publish, cv, holdout, confidence, guarantee)
        self.estimator = estimator
        self.estimators = estimators
        self.require = require
        self.max_social_cost = max_social_cost
        self.min_selection_rate = min_selection_rate
        self.parity_tolerance = parity_tolerance
        self.tpr_tolerance = tpr_tolerance
        self.parity_ratio = parity_ratio
        self.tpr_ratio = tpr_ratio
        self.shut_out = shut_out
        self.caution = caution
        self.prefit = prefit
        self.group_columns = group_columns
        self.unseen = unseen

    def _fit(self, X: Any, y: Any, people: TrainingPeople, sample_weight: Any) -> None:
        check_choice(self.unseen, "unseen", ("error", "pooled"))
        check_nonnegative(self.caution, "caution")

        def scores(inner: Any, rows: Rows) -> FloatArray:
            return score_of(inner, take_rows(X, rows), self.positive_)

        candidates, optima = self._candidates(), []
        for candidate in candidates if self.prefit else ():
            self._check_prefit(candidate)
        for candidate in candidates:

            def fitted(rows: Rows, candidate: Any = candidate) -> Any:
                return candidate if self.prefit else self._fit_inner(X, y, sample_weight, rows, candidate)

            score, model = people.splits.run(fitted, scores)
            curves = people.curves(score)
            guaranteed = self._guarantee(people, curves, scores, model, len(candidates)) if self.guarantee else None
            optima.append((self._optimise(people, curves, model, guaranteed), curves, score, model, guaranteed))
        best = max(optima, key=lambda each: float(np.nan_to_num(each[0].value, nan=-np.inf)))
        self.allocation_, curves, score, self.estimator_, guaranteed = best
        thresholds = self._thresholds(people, curves, self.allocation_, guaranteed)
        self.thresholds_ = pd.Series(thresholds, index=people.groups.labels, name="threshold")
        if guaranteed is not None:
            self.promise_level_ = guaranteed.level
            self.promised_ = pd.Series(False, index=people.groups.labels, name="promised")
            # groups that are not let in have a threshold that was not tested
            passed = guaranteed.groups(curves.groups) & self.allocation_.applying
            self.promised_.iloc[_position(people, curves)] = passed.to_numpy()
        codes, final = people.groups.codes, people.splits.final
        in_sample = score if people.splits.mode == "train" else scores(self.estimator_, final)
        self._publish(people, score - thresholds[codes[people.splits.evaluated]], in_sample - thresholds[codes[final]])

    def _candidates(self) -> list[Any]:
        if self.estimators is None:
            return [self.estimator]
        if self.estimator is not None:
            raise ValueError("Pass either estimator or estimators, not both.")
        if not len(self.estimators):
            raise ValueError("estimators is empty: there must be at least one.")
        return list(self.estimators)

    def _groups_of(self, X: Any, sensitive_features: Any) -> Any:
        if sensitive_features is not None or self.group_columns is None:
            return sensitive_features
        if not hasattr(X, "columns"):
            raise TypeError("group_columns names columns of X: pass X as a frame.")
        return X[list(self.group_columns)]

    def _guarantee(
        self, people: TrainingPeople, curves: ThresholdCurves, scores: Any, model: Any, competing: int
    ) -> GuaranteedThresholds:
        """Thresholds that pass the test on the people set aside."""
        fitted = people.splits.final
        score, labels = scores(model, fitted), people.groups.labels
        codes, hired = people.groups.codes[fitted], people.qualified[fitted]
        known = _position(people, curves)
        sequences = [threshold_sequences(score[codes == z], float(hired[codes == z].mean() or 0.0)) for z in known]
        assert self.confidence is not None
        return guarantee_thresholds(
            curves, sequences, self._terms().effective_cost(labels)[known], (1 - self.confidence) / competing
        )

    def _optimise(
        self, people: TrainingPeople, curves: ThresholdCurves, model: Any, guaranteed: GuaranteedThresholds | None
    ) -> OptimalThresholds:
        position = _position(people, curves)
        costs = self._terms().effective_cost(people.groups.labels)[position]
        if guaranteed is None:
            applies = curves.step_applies(costs, behaviour=self._behaviour)
        else:
            applies = np.zeros(len(curves.threshold), dtype=bool)
            for code, thresholds in enumerate(guaranteed.thresholds):
                applies[_steps_of(curves, code, thresholds)] = True
        gain = accuracy_lower_bound(curves.correct, curves.n[curves.group], 0.0, self.caution) * curves.n[curves.group]
        required = self._required(people.groups.labels)
        not_evaluated = np.setdiff1d(np.flatnonzero(required), position)
        if len(not_evaluated):
            raise InfeasibleError(
                f"{list_some(people.groups.labels[not_evaluated])} must apply, but nobody of it was evaluated (there "
                "are too few people, or all weigh 0), so nothing can be published about it."
            )
        for name in ("parity_tolerance", "parity_ratio", "tpr_tolerance", "tpr_ratio"):
            if getattr(self, name) is not None:
                check_fraction(getattr(self, name), name)
        parity = DemographicParity(*_bounds(self.parity_tolerance, self.parity_ratio))
        tpr_parity = TruePositiveRateParity(*_bounds(self.tpr_tolerance, self.tpr_ratio))
        constraints = Constraints(
            required=required[position] | (costs <= SLACK),  # groups without a cost apply in any case
            max_social_cost=1.0 if self.max_social_cost is None else self.max_social_cost,
            min_selection_rate=self.min_selection_rate,
            min_selected=curves.counts_of(curves.step_at(default_threshold_of(model))).selected
            if self.shut_out == "forbid"
            else None,
            between_groups=(parity, tpr_parity),
        )
        return optimise_thresholds(curves, applies, gain=gain, shut_out=self.shut_out, constraints=constraints)

    def _thresholds(
        self,
        people: TrainingPeople,
        curves: ThresholdCurves,
        allocation: OptimalThresholds,
        guaranteed: GuaranteedThresholds | None,
    ) -> FloatArray:
        """Threshold of each group: halfway between its step and the next, or the threshold that was tested."""
        chosen = np.asarray(threshold_between(curves.threshold, allocation.step), dtype=np.float64)
        chosen = np.where(allocation.step == curves.start[:-1], -np.inf, chosen)
        chosen = np.where(allocation.step == curves.start[1:] - 1, np.inf, chosen)
        for code, tested in enumerate(() if guaranteed is None else guaranteed.thresholds):
            if allocation.applying[code]:
                chosen[code] = tested[_steps_of(curves, code, tested) == allocation.step[code]].max()
        # a group without evaluated people is shut out, unless that is not allowed
        kept_in = self.shut_out == "forbid" or self.min_selection_rate > 0
        thresholds = np.full(people.groups.n_groups, default_threshold_of(self.estimator_) if kept_in else np.inf)
        thresholds[_position(people, curves)] = chosen
        return thresholds

    # ------------------------------------------------------------------ after fit

    def _threshold_of(self, X: Any, sensitive_features: Any, n_rows: int) -> FloatArray:
        """Threshold of each person."""
        labels = self.thresholds_.index
        groups = self._groups_of(X, sensitive_features)
        if groups is None and len(labels) > 1:
            raise TypeError(
                "The threshold depends on the group: pass predict(X, sensitive_features=...), or set group_columns= to "
                "the columns of X that hold it."
            )
        own = encode_groups(groups, n_rows=n_rows)
        wanted = with_same_columns(own.labels, labels, "sensitive_features", "the training data")
        if self.unseen == "error":
            position = position_of(wanted, labels, "sensitive_features", "the training data")
        else:
            position = np.asarray(pd.Index(list(labels)).get_indexer(pd.Index(list(wanted))), dtype=np.intp)
        thresholds = self.thresholds_.to_numpy()
        by_group = np.where(position >= 0, thresholds[position], default_threshold_of(self.estimator_))
        return np.asarray(by_group[own.codes], dtype=np.float64)

    def _above_threshold(self, X: Any, sensitive_features: Any) -> FloatArray:
        """Inner score minus the threshold of the person's group; positive means selected."""
        check_is_fitted(self, "thresholds_")
        X = to_pandas(X)
        score = self._inner_score(X)
        return np.asarray(score - self._threshold_of(X, sensitive_features, len(score)))

    def decision_function(self, X: Any, sensitive_features: Any = None) -> NDArray[np.float64]:
        """Inner score minus the threshold of the person's group; positive for the second class."""
        return self._for_second_class(self._above_threshold(X, sensitive_features))

    def predict(self, X: Any, sensitive_features: Any = None) -> NDArray[Any]:
        """Label of each row: qualified where the inner score is above the threshold of the person's group."""
        return self._as_labels(self._above_threshold(X, sensitive_features) > 0)

    def _predict_with_groups(self, X: Any, sensitive_features: Any) -> NDArray[Any]:
        return self.predict(X, sensitive_features)

    def _threshold_text(self, i: int) -> str:
        threshold = self.thresholds_.iloc[i]
        if np.isinf(threshold):
            return "nobody is selected; " if threshold > 0 else "everybody is selected; "
        return f"selected above {threshold:.4g}; "


def _bounds(tolerance: float | None, ratio: float | None) -> tuple[float, float]:
    """Bounds of a rate's difference and ratio; no bound where None."""
    return 1.0 if tolerance is None else tolerance, ratio or 0.0


def _steps_of(curves: ThresholdCurves, code: int, thresholds: FloatArray) -> NDArray[np.intp]:
    """Step of a group at each of some thresholds."""
    first, end = curves.start[code], curves.start[code + 1]
    return np.asarray(first + np.searchsorted(curves.threshold[first:end], thresholds, side="right") - 1, dtype=np.intp)


def _position(people: TrainingPeople, curves: ThresholdCurves) -> NDArray[np.intp]:
    """Position among all groups of those that are evaluated."""
    return position_of(curves.groups, people.groups.labels, "The curves", "the training data")
