"""Any classifier's score, with a threshold for each group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._validation import FloatArray, check_choice, check_nonnegative, list_some
from ..behaviour import Shares
from ..constraints import Constraint, InfeasibleError, RateParity
from ..counting import encode_groups, position_of, with_same_columns
from ..learning import OptimalThresholds, accuracy_lower_bound, majority_steps, optimise_thresholds, threshold_between
from ..publishing import GuaranteedThresholds, ThresholdCurves, guarantee_thresholds, threshold_sequences
from ..publishing.splits import as_publishing
from ..statistics import Statistic
from .docs import estimator_class
from .training_data import TrainingPeople
from .wrapped import WrappedClassifier, default_threshold_of

ShutOut = Literal["select_none", "select_all", "forbid"]


@estimator_class
class GroupThresholdClassifier(WrappedClassifier):
    """Any classifier's score, with the thresholds per group that have the highest induced accuracy.

    The optimum over all combinations of thresholds is exact. Without constraints it lets one group in, the one with the
    highest accuracy while it applies, and shuts out the others. Where shares of groups apply, a group is let in at
    thresholds at which at least half of it applies. A classifier that uses the group at the decision may be
    unlawful where you are.

    Parameters
    ----------
    estimator : classifier or list of classifiers, optional
        Any scikit-learn classifier with ``decision_function`` or ``predict_proba``; by default a logistic regression
        without penalty. Of several, the best on people it had not seen is kept.
    $cost
    $constraints
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
    $violations
    $attributes

    Notes
    -----
    Under a guarantee, thresholds that are fixed beforehand are tested on the people set aside; ``promised_`` marks the
    groups that are let in at a threshold that passed.

    **Raises** :class:`selfselect.InfeasibleError` if a constraint cannot be met, saying which one and what came
    closest.

    Examples
    --------
    >>> from selfselect.datasets import make_base_rate_groups
    >>> X, y, z = make_base_rate_groups((0.5, 0.15), random_state=0, return_X_y_group=True)
    >>> from selfselect.constraints import MaxSocialCost
    >>> model = GroupThresholdClassifier(cost=0.8, constraints=[MaxSocialCost(0.0)]).fit(X, y, sensitive_features=z)
    >>> model.applies().to_dict()
    {'z0': True, 'z1': True}
    >>> bool(model.thresholds_["z1"] > model.thresholds_["z0"])
    True
    """

    _guarantee_after_fit: ClassVar[bool] = False

    constraints: Sequence[Constraint] = ()
    shut_out: ShutOut = "select_none"
    caution: float = 2.0
    prefit: bool = False
    group_columns: Sequence[str] | None = None
    unseen: str = "error"

    def _fit(self, people: TrainingPeople) -> tuple[NDArray[Any], NDArray[Any]]:
        check_choice(self.unseen, "unseen", ("error", "pooled"))
        check_nonnegative(self.caution, "caution")
        candidates, optima = self._candidates(), []
        for candidate in candidates:
            score, model = self._fit_and_score(people, candidate)
            curves, guaranteed = people.curves(score), None
            if self._has_guarantee:
                fitted_score = self._score_of(model, *people.take(people.splits.final))
                guaranteed = self._guarantee(people, curves, fitted_score, len(candidates))
            statistic = people.fit_statistic(self._statistic, curves, one_threshold=False, compared=len(candidates))
            optimum = self._optimise(people, curves, model, guaranteed, statistic)
            optima.append((optimum, curves, score, model, guaranteed, statistic))
        best = max(optima, key=lambda each: float(np.nan_to_num(each[0].value, nan=-np.inf)))
        self.allocation_, curves, score, self.estimator_, guaranteed, statistic = best
        thresholds = self._thresholds(people, curves, self.allocation_, guaranteed)
        self.thresholds_ = pd.Series(thresholds, index=people.groups.labels, name="threshold")
        if guaranteed is None:
            self.statistic_ = statistic
        else:
            self.promise_level_ = guaranteed.level
            self.promised_ = pd.Series(False, index=people.groups.labels, name="promised")
            # groups that are not let in have a threshold that was not tested
            passed = guaranteed.groups(curves.groups) & self.allocation_.applying
            self.promised_.iloc[people.position_of(curves)] = passed.to_numpy()
        own = thresholds[people.groups.codes]
        in_sample = self._score_fitted(people, score) - own[people.splits.final]
        return score - own[people.splits.evaluated], in_sample

    def _candidates(self) -> list[Any]:
        if not isinstance(self.estimator, list | tuple):
            return [self.estimator]
        if not self.estimator:
            raise ValueError("estimator is an empty list: there must be at least one classifier.")
        return list(self.estimator)

    def _groups_of(self, X: Any, sensitive_features: Any) -> Any:
        if sensitive_features is not None or self.group_columns is None:
            return sensitive_features
        if not hasattr(X, "columns"):
            raise TypeError("group_columns names columns of X: pass X as a frame.")
        return X[list(self.group_columns)]

    def _guarantee(
        self, people: TrainingPeople, curves: ThresholdCurves, score: FloatArray, competing: int
    ) -> GuaranteedThresholds:
        """Thresholds that pass the test on the people set aside, from the scores of the fitted people."""
        fitted, labels = people.splits.final, people.groups.labels
        codes, hired = people.groups.codes[fitted], people.qualified[fitted]
        known = people.position_of(curves)
        sequences = [threshold_sequences(score[codes == z], float(hired[codes == z].mean() or 0.0)) for z in known]
        delta = 1 - as_publishing(self.publish).statistic.confidence
        return guarantee_thresholds(curves, sequences, self._terms().effective_cost(labels)[known], delta / competing)

    def _optimise(
        self,
        people: TrainingPeople,
        curves: ThresholdCurves,
        model: Any,
        guaranteed: GuaranteedThresholds | None,
        statistic: Statistic,
    ) -> OptimalThresholds:
        position = people.position_of(curves)
        terms = self._training_terms(people.groups.labels, statistic=statistic)
        not_evaluated = np.setdiff1d(np.flatnonzero(terms.required), position)
        if len(not_evaluated):
            raise InfeasibleError(
                f"{list_some(people.groups.labels[not_evaluated])} must apply, but nobody of it was evaluated (there "
                "are too few people, or all weigh 0), so nothing can be published about it."
            )
        terms = terms.take(position)
        shares: Shares
        if guaranteed is None:
            shares = terms.step_shares(curves, by_cost=True)
        else:
            shares = np.zeros(len(curves.threshold), dtype=bool)
            for code, thresholds in enumerate(guaranteed.thresholds):
                shares[_steps_of(curves, code, thresholds)] = True
        gain = accuracy_lower_bound(curves.correct, curves.n[curves.group], 0.0, self.caution) * curves.n[curves.group]
        for constraint in terms.between_groups:
            if not isinstance(constraint, RateParity) or constraint.relative:
                raise ValueError(
                    f"GroupThresholdClassifier cannot enforce {constraint!r}; StrategicClassifier and "
                    "SemiStrategicClassifier can."
                )
        by_itself = curves.counts_of(curves.step_at(default_threshold_of(model))).selected
        least = by_itself if self.shut_out == "forbid" else None
        constraints = replace(terms.constraints, required=terms.required | terms.free, min_selected=least)
        reliable = None if shares.dtype == bool else majority_steps(shares, np.ones(len(shares), dtype=bool))
        return optimise_thresholds(curves, shares, reliable, gain, shut_out=self.shut_out, constraints=constraints)

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
        kept_in = self.shut_out == "forbid" or self._training_terms(people.groups.labels).constraints.limits_selection
        thresholds = np.full(people.groups.n_groups, default_threshold_of(self.estimator_) if kept_in else np.inf)
        thresholds[people.position_of(curves)] = chosen
        return thresholds

    # ------------------------------------------------------------------ after fit

    def _threshold_of(self, groups: Any, n_rows: int) -> FloatArray:
        """Threshold of each person."""
        labels = self.thresholds_.index
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

    def _threshold_text(self, i: int) -> str:
        threshold = self.thresholds_.iloc[i]
        if np.isinf(threshold):
            return "nobody is selected; " if threshold > 0 else "everybody is selected; "
        return f"selected above {threshold:.4g}; "


def _steps_of(curves: ThresholdCurves, code: int, thresholds: FloatArray) -> NDArray[np.intp]:
    """Step of a group at each of some thresholds."""
    first, end = curves.start[code], curves.start[code + 1]
    return np.asarray(first + np.searchsorted(curves.threshold[first:end], thresholds, side="right") - 1, dtype=np.intp)
