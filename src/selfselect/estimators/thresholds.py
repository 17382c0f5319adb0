"""Any classifier's score, with a threshold for each group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .._files import number_at
from .._frames import plain_frame, take_rows
from .._validation import FloatArray, check_at_least_zero, check_choice, check_fraction, some_of
from ..behaviour import SLACK
from ..constraints import Constraints, DemographicParity, TruePositiveRateParity
from ..costs import Cost, Subsidies, SubsidyKind
from ..counting import encode_groups, locate_labels, position_of, with_same_columns
from ..learning import (
    InfeasibleError,
    OptimalThresholds,
    accuracy_lower_bound,
    optimise_thresholds,
    threshold_between,
)
from ..publishing import Promised, ThresholdCurves, promise_in_order, sequences_of
from ..publishing.splits import Publish, Rows
from .files import decode, encode, saveable
from .inner import InnerClassifier, default_threshold_of, score_of
from .people import TrainingPeople

ShutOut = Literal["select_none", "select_all", "forbid"]


@saveable
class GroupThresholdClassifier(InnerClassifier):
    """Any classifier's score, with the threshold for each group that is best once people decide whether to apply.

    Every combination of steps of the groups' scores is considered, exactly: the one with the highest induced accuracy
    under what is asked. Without demands that is a single group, the one that is judged best while it applies; the
    others are shut out. A classifier that uses the group at the decision may be unlawful where you are.

    Parameters
    ----------
    estimator : classifier, optional
        Any scikit-learn classifier with ``decision_function`` or ``predict_proba``; by default a logistic regression
        without penalty.
    cost : float or mapping from group to float, default=0.7
        Cost of the test in [0, 1].
    estimators : list of classifiers, optional
        Several that compete, instead of ``estimator``; which one is kept is decided on people it had not seen.
    require : list of groups, optional
        Groups that must apply.
    max_social_cost : float, optional
        Largest share of the qualified that may stay away.
    min_selection_rate : float, default=0.0
        Least share of every group that is selected.
    parity_tolerance, tpr_tolerance : float, optional
        Largest difference between groups' selection rates, and true-positive rates.
    parity_ratio, tpr_ratio : float, optional
        Least that the smallest of these rates over the largest may be (0.8: four fifths).
    subsidies : float or mapping from group to float, optional
        Subsidies.
    subsidy_kind : {"additive", "proportional"}, default="additive"
        Kind of subsidies.
    shut_out : {"select_none", "select_all", "forbid"}, default="select_none"
        What becomes of groups that are not let in: nobody of them is selected, or everybody (the paper's way: then
        their precision is their base rate, below the cost). "forbid" selects of every group at least as many as the
        inner classifier would by itself.
    caution : float, default=2.0
        Standard errors that are taken off a group's accuracy before groups are compared.
    prefit : bool, default=False
        Whether ``estimator`` is fitted already and only wants thresholds. These people must then be new to it: for
        those that it was fitted to, publishing (and a guarantee) is as good as ``publish="train"``.
    group_columns : list of str, optional
        Columns of X that hold the group, for ``predict`` without ``sensitive_features``.
    unseen : {"error", "pooled"}, default="error"
        What to do with people of a group that was not there in training: complain, or select them as the inner
        classifier would.
    pos_label : label, optional
        The label that means qualified; by default the larger of the two.
    publish, cv, holdout, confidence
        As in :class:`NaiveClassifier`, but by default "cross_fit": thresholds are chosen, and counts published, on
        people that the score had not seen, and a group is let in only if it is sure to find the precision it is told.

    guarantee : bool, default=False
        Whether all promises together must hold with the probability ``confidence``, for any model and any people. It
        needs ``publish="holdout"``: thresholds that are named beforehand are tested on the people set aside; see
        :mod:`selfselect.publishing.guarantee`.

    Attributes
    ----------
    thresholds_ : Series, indexed by group
        A person is selected when the inner score is above it; inf selects nobody, -inf everybody.
    promised_, promise_level_
        With ``guarantee``: the groups that are let in at thresholds that passed the test; see
        :class:`NaiveClassifier`. What is tested is that they reach the cost they were fitted for.
    allocation_ : OptimalThresholds
        What was found, with its value and how exact it is.
    estimator_ : classifier
        The fitted one (the one that was kept, of several).
    published_ : PublishedStatistics
        Counts per group that people decide by.
    classes_ : ndarray of shape (2,)
        The labels, in order.
    positive_ : label
        The one of them that means qualified.

    Notes
    -----
    **Raises** :class:`selfselect.InfeasibleError` if what is asked cannot be met, saying which demand and what came
    nearest.

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

    # groups are asked for by default when metadata routing is on
    __metadata_request__predict = {"sensitive_features": True}  # noqa: RUF012
    __metadata_request__decision_function = {"sensitive_features": True}  # noqa: RUF012

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
        self.estimator = estimator
        self.cost = cost
        self.estimators = estimators
        self.require = require
        self.max_social_cost = max_social_cost
        self.min_selection_rate = min_selection_rate
        self.parity_tolerance = parity_tolerance
        self.tpr_tolerance = tpr_tolerance
        self.parity_ratio = parity_ratio
        self.tpr_ratio = tpr_ratio
        self.subsidies = subsidies
        self.subsidy_kind = subsidy_kind
        self.shut_out = shut_out
        self.caution = caution
        self.prefit = prefit
        self.group_columns = group_columns
        self.unseen = unseen
        self.pos_label = pos_label
        self.publish = publish
        self.cv = cv
        self.holdout = holdout
        self.confidence = confidence
        self.guarantee = guarantee

    def fit(self, X: Any, y: ArrayLike, *, sensitive_features: Any = None, sample_weight: Any = None) -> Self:
        """Fit the inner classifiers (unless prefit) and find the best thresholds.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            Labels of two kinds; see ``pos_label``.
        sensitive_features : array-like, Series, DataFrame or dict of columns, optional
            Group of each row; by default the ``group_columns`` of X, or everyone as one group.
        sample_weight : array-like of shape (n_rows,), optional
            Weights.
        """
        X, y = plain_frame(X), plain_frame(y)
        check_choice(self.unseen, "unseen", ("error", "pooled"))
        check_at_least_zero(self.caution, "caution")
        people = self._people(X, y, self._groups_of(X, sensitive_features), sample_weight)
        self._check_inner(X, y)

        def scores(inner: Any, rows: Rows) -> FloatArray:
            return score_of(inner, take_rows(X, rows), self.positive_)

        best: tuple[float, OptimalThresholds, ThresholdCurves, FloatArray, Any, Promised | None] | None = None
        candidates = self._candidates()
        for candidate in candidates if self.prefit else ():
            self._check_same_classes(candidate)
        for candidate in candidates:

            def fitted(rows: Rows, candidate: Any = candidate) -> Any:
                return candidate if self.prefit else self._fit_inner(X, y, sample_weight, rows, candidate)

            score, model = people.splits.run(fitted, scores)
            curves = people.curves(score)
            promised = self._promise(people, curves, scores, model, len(candidates)) if self.guarantee else None
            found = self._allocate(people, curves, model, promised)
            value = float(np.nan_to_num(found.value, nan=-np.inf))
            if best is None or value > best[0]:
                best = (value, found, curves, score, model, promised)
        assert best is not None
        _, self.allocation_, curves, score, self.estimator_, promised = best
        self.thresholds_ = self._cuts(people, curves, self.allocation_, promised)
        if promised is not None:
            self.promise_level_ = promised.level
            # who is kept out is at a threshold that nobody tested
            told = promised.groups(curves.groups) & self.allocation_.applying
            self.promised_ = _over_all(told, people.groups.labels)
        cut = self.thresholds_.to_numpy()
        final = people.splits.final
        in_sample = score if people.splits.mode == "train" else scores(self.estimator_, final)
        codes = people.groups.codes
        self._publish(people, score - cut[codes[people.splits.judged]], in_sample - cut[codes[final]])
        return self

    def _candidates(self) -> list[Any]:
        if self.estimators is None:
            if self.prefit and self.estimator is None:
                raise ValueError("prefit=True needs a fitted estimator; estimator is None.")
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
            raise TypeError("group_columns names columns of X, which must then be a frame.")
        return X[list(self.group_columns)]

    def _promise(
        self, people: TrainingPeople, curves: ThresholdCurves, scores: Any, model: Any, competing: int
    ) -> Promised:
        """Thresholds at which promises can be made, tested on the people set aside."""
        fitted = people.splits.final
        score, labels = scores(model, fitted), people.groups.labels
        codes, hired = people.groups.codes[fitted], people.qualified[fitted]
        known = position_of(curves.groups, labels, "The curves", "the training data")
        sequences = [sequences_of(score[codes == z], float(hired[codes == z].mean() or 0.0)) for z in known]
        assert self.confidence is not None
        return promise_in_order(
            curves, sequences, self._terms().effective_cost(labels)[known], (1 - self.confidence) / competing
        )

    def _allocate(
        self, people: TrainingPeople, curves: ThresholdCurves, model: Any, promised: Promised | None
    ) -> OptimalThresholds:
        position = position_of(curves.groups, people.groups.labels, "The curves", "the training data")
        faced = self._terms().effective_cost(people.groups.labels)[position]
        if promised is None:
            applies = curves.step_applies(faced, behaviour=self._behaviour)
        else:
            applies = np.zeros(len(curves.threshold), dtype=bool)
            for code, thresholds in enumerate(promised.thresholds):
                applies[_steps_of(curves, code, thresholds)] = True
        gain = accuracy_lower_bound(curves.correct, curves.n[curves.group], 0.0, self.caution) * curves.n[curves.group]
        required = np.zeros(len(people.groups.labels), dtype=bool)
        if self.require is not None:
            required[locate_labels(self.require, people.groups.labels, "require", "the training data")] = True
            vain = np.setdiff1d(np.flatnonzero(required), position)
            if len(vain):
                raise InfeasibleError(
                    f"{some_of(people.groups.labels[vain])} must apply, but nobody of it was judged (there are too few "
                    "people, or all weigh 0), so that nothing can be published about it."
                )
        for name in ("parity_tolerance", "parity_ratio", "tpr_tolerance", "tpr_ratio"):
            if getattr(self, name) is not None:
                check_fraction(getattr(self, name), name)
        parity = DemographicParity(*_bounds(self.parity_tolerance, self.parity_ratio))
        tpr_parity = TruePositiveRateParity(*_bounds(self.tpr_tolerance, self.tpr_ratio))
        constraints = Constraints(
            required=required[position] | (faced <= SLACK),  # who pays nothing cannot be kept out
            max_social_cost=1.0 if self.max_social_cost is None else self.max_social_cost,
            min_selection_rate=self.min_selection_rate,
            min_selected=curves.counts_of(curves.step_at(default_threshold_of(model))).selected
            if self.shut_out == "forbid"
            else None,
            between_groups=(parity, tpr_parity),
        )
        return optimise_thresholds(curves, applies, gain=gain, shut_out=self.shut_out, constraints=constraints)

    def _cuts(
        self, people: TrainingPeople, curves: ThresholdCurves, found: OptimalThresholds, promised: Promised | None
    ) -> pd.Series:
        """Threshold of each group between its step and the next, so that there is room on both sides.

        A promise is about the very threshold that was tested.
        """
        cut = np.asarray(threshold_between(curves.threshold, found.step), dtype=np.float64)
        cut = np.where(found.step == curves.start[:-1], -np.inf, cut)
        cut = np.where(found.step == curves.start[1:] - 1, np.inf, cut)
        for code, tested in enumerate(() if promised is None else promised.thresholds):
            if not found.applying[code]:
                continue
            cut[code] = tested[_steps_of(curves, code, tested) == found.step[code]].max()
        labels = people.groups.labels
        # of groups that nobody was judged of, nobody is selected, unless that is not allowed
        kept_in = self.shut_out == "forbid" or self.min_selection_rate > 0
        thresholds = np.full(len(labels), default_threshold_of(self.estimator_) if kept_in else np.inf)
        thresholds[position_of(curves.groups, labels, "The curves", "the training data")] = cut
        return pd.Series(thresholds, index=labels, name="threshold")

    # ------------------------------------------------------------------ after fit

    def _threshold_of(self, X: Any, sensitive_features: Any, n_rows: int) -> FloatArray:
        """Threshold of each person."""
        labels = self.thresholds_.index
        groups = self._groups_of(X, sensitive_features)
        if groups is None and len(labels) > 1:
            raise TypeError(
                "The threshold depends on the group: pass predict(X, sensitive_features=...), or name the columns of X "
                "that hold it as group_columns=."
            )
        own = encode_groups(groups, n_rows=n_rows)
        wanted = with_same_columns(own.labels, labels, "sensitive_features", "the training data")
        if self.unseen == "error":
            position = position_of(wanted, labels, "sensitive_features", "the training data")
        else:
            position = np.asarray(pd.Index(list(labels)).get_indexer(pd.Index(list(wanted))), dtype=np.intp)
        cut = self.thresholds_.to_numpy()
        by_group = np.where(position >= 0, cut[position], default_threshold_of(self.estimator_))
        return np.asarray(by_group[own.codes], dtype=np.float64)

    def _above_threshold(self, X: Any, sensitive_features: Any) -> FloatArray:
        """Inner score minus the threshold of the person's group; positive means selected."""
        check_is_fitted(self, "thresholds_")
        X = plain_frame(X)
        score = self._inner_score(X)
        return np.asarray(score - self._threshold_of(X, sensitive_features, len(score)))

    def decision_function(self, X: Any, sensitive_features: Any = None) -> NDArray[np.float64]:
        """Inner score minus the threshold of the person's group; positive for the second class."""
        return self._for_second_class(self._above_threshold(X, sensitive_features))

    def predict(self, X: Any, sensitive_features: Any = None) -> NDArray[Any]:
        """Label of each row: qualified where the inner score is above the threshold of the person's group."""
        return self._as_labels(self._above_threshold(X, sensitive_features) > 0)

    def _predict_people(self, X: Any, sensitive_features: Any) -> NDArray[Any]:
        return self.predict(X, sensitive_features)

    def _said_of(self, i: int) -> str:
        return f"{_threshold_text(self.thresholds_.iloc[i])}; "

    # ------------------------------------------------------------------ as data

    _STATE = (*InnerClassifier._STATE, "thresholds")

    def _fitted_state(self) -> dict[str, Any]:
        return super()._fitted_state() | {"thresholds": encode(self.thresholds_.tolist())}

    def _restore(self, state: dict[str, Any], groups: pd.Index) -> None:
        read = enumerate(decode(state["thresholds"]))
        thresholds = np.array([_threshold_at(value, f"fitted.thresholds[{i}]") for i, value in read])
        if thresholds.shape != (len(groups),) or np.isnan(thresholds).any():
            raise ValueError("It is damaged: its thresholds do not fit its groups.")
        self.thresholds_ = pd.Series(thresholds, index=groups, name="threshold")
        super()._restore(state, groups)


def _threshold_at(value: Any, where: str) -> float:
    """A threshold of a file, which may be infinite: then everybody of a group is selected, or nobody."""
    return value if isinstance(value, float) and np.isinf(value) else number_at(value, where)


def _bounds(tolerance: float | None, ratio: float | None) -> tuple[float, float]:
    """Bounds of a rate's difference and ratio; no bound where None."""
    return 1.0 if tolerance is None else tolerance, ratio or 0.0


def _steps_of(curves: ThresholdCurves, code: int, thresholds: FloatArray) -> NDArray[np.intp]:
    """Step of a group that holds at each of some thresholds."""
    first, end = curves.start[code], curves.start[code + 1]
    return np.asarray(first + np.searchsorted(curves.threshold[first:end], thresholds, side="right") - 1, dtype=np.intp)


def _over_all(values: pd.Series, labels: pd.Index) -> pd.Series:
    """Yes or no of some groups, spread over all; no for the others."""
    spread = np.zeros(len(labels), dtype=bool)
    spread[position_of(values.index, labels, "The curves", "the training data")] = values.to_numpy()
    return pd.Series(spread, index=labels, name=values.name)


def _threshold_text(threshold: float) -> str:
    if np.isinf(threshold):
        return "nobody is selected" if threshold > 0 else "everybody is selected"
    return f"selected above {threshold:.4g}"
