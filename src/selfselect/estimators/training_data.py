"""Training data of a classifier: labels of two classes, groups, weights and splits; groups for inner estimators."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils import assert_all_finite
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from .._frames import take_rows, to_pandas
from .._notices import PromiseWarning, warn
from .._validation import BoolArray, FloatArray, as_column, check_same_length, list_some, refuse_missing
from ..counting import GroupCodes, GroupCounts, encode_groups, position_of
from ..publishing import ThresholdCurves
from ..publishing.splits import Rows, Splits, count_copies
from ..statistics import Statistic

#: Name of the argument by which groups are passed.
GROUPS = "sensitive_features"


def find_classes(y: Any, pos_label: Any) -> tuple[NDArray[Any], Any, BoolArray]:
    """The two labels in order, the label that means qualified, and which rows are qualified."""
    labels = np.asarray(column_or_1d(y, warn=True))
    if len(labels) == 0:
        raise ValueError("y is empty: there must be at least one row (0 sample(s) found).")
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    classes, codes = two_classes(labels)
    positive = 1
    if pos_label is not None:
        positions = [i for i, label in enumerate(classes.tolist()) if label == pos_label]
        if not positions:
            raise ValueError(f"pos_label={pos_label!r} is not among the labels {list_some(classes)}.")
        positive = positions[0]
    elif labels.dtype.kind in "OUST":
        warn(
            f"The label {list_some(classes[1:])} counts as qualified and {list_some(classes[:1])} as not qualified, by "
            "alphabetical order. Pass pos_label= to choose."
        )
    return classes, classes[positive], codes == positive


def two_classes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The two labels in order, and the position of each row's label."""
    if y.dtype.kind in "biu":  # two integers are binary; type_of_target takes longer to find that out
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) == 2:
            return classes, codes
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    if kind != "binary":
        check_classification_targets(y)
        raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y holds one class only ({classes[0]!r}): there must be two.")
    return classes, codes


def is_qualified(y: Any, classes: NDArray[Any], positive: Any) -> BoolArray:
    """Which labels mean qualified; a label that is not among the training labels is an error that names it."""
    labels = np.asarray(column_or_1d(y))
    unknown = ~np.isin(labels, classes)
    if unknown.any():
        raise ValueError(
            f"y holds label(s) that were not there in training: {list_some(pd.unique(pd.Series(labels[unknown])))}; "
            f"the classifier knows {list_some(classes)}."
        )
    return np.asarray(labels == positive)


def as_counts(weights: FloatArray) -> FloatArray:
    """Weights scaled to average 1, without those of 0."""
    return np.asarray(weights / weights[weights > 0].mean())


def encode_person(person: Any, n_rows: int) -> Rows | None:
    """Ids of persons as codes, which do not depend on the order of rows; None if every row is another person."""
    if person is None:
        return None
    ids = as_column(to_pandas(person), "person")
    refuse_missing(ids, "person")
    check_same_length(person=ids, **{"the rows": np.empty(n_rows)})
    return _if_repeated(np.unique(pd.util.hash_array(ids), return_inverse=True)[1])


def _if_repeated(person: Rows) -> Rows | None:
    return None if len(np.unique(person)) == len(person) else person


def warn_about_copies(X: Any, qualified: BoolArray, groups: GroupCodes) -> None:
    """Warn if rows are exact copies of others: each would count as a person, and they are spread over folds."""
    copies = count_copies(X, qualified, groups)
    if copies:
        warn(
            f"{copies} of {len(qualified)} rows are exact copies of other rows (features, label and group). Copies of "
            "a person are fitted and evaluated at the same time, and what is published is then too good for new "
            "people. Drop the copies, or pass the id of each row's person to fit(..., person=...).",
            PromiseWarning,
        )


@dataclass(frozen=True, eq=False)
class TrainingPeople:
    """Training rows, their splits, and groups and weights also as given.

    ``person`` has a code for each row that is the same for rows of one person; None means that every row is a person.
    """

    X: Any
    y: Any
    qualified: BoolArray
    groups: GroupCodes
    weights: FloatArray | None
    splits: Splits
    given_groups: Any
    given_weights: Any
    person: Rows | None

    def take(self, rows: Rows) -> tuple[Any, Any]:
        """Features and groups of some rows, as inner estimators get them."""
        return take_rows(self.X, rows), take_rows(self.given_groups, rows)

    def counts(self, rows: Rows, selected: NDArray[np.bool_]) -> GroupCounts:
        """Counts per group of some rows."""
        weights = None if self.weights is None else self.weights[rows]
        person = None if self.person is None else _if_repeated(self.person[rows])
        return GroupCounts.from_rows(
            self.qualified[rows], selected, self.groups.codes[rows], self.groups.n_groups, weights, person=person
        )

    def fit_statistic(
        self, statistic: Statistic, curves: ThresholdCurves, *, one_threshold: bool = True, compared: int = 1
    ) -> Statistic:
        """What is published, after it has learned from counts of people who were not fitted."""
        learns = self.splits.mode != "train"
        if not learns:
            return statistic
        return curves.fit_statistic(statistic, one_threshold=one_threshold, compared=compared)

    def position_of(self, curves: ThresholdCurves) -> NDArray[np.intp]:
        """Position among all groups of those that are evaluated."""
        return position_of(curves.groups, self.groups.labels, "The curves", "the training data")

    def curves(self, score: FloatArray) -> ThresholdCurves:
        """Counts of the evaluated rows at every threshold; rows of weight 0 add no threshold."""
        rows = self.splits.evaluated
        weights = None if self.weights is None else self.weights[rows]
        if weights is not None and not weights.all():
            keep = weights > 0
            rows, score, weights = rows[keep], score[keep], weights[keep]
        groups, person = self.groups.take(rows), None if self.person is None else _if_repeated(self.person[rows])
        return ThresholdCurves.from_codes(self.qualified[rows], score, groups.codes, groups.labels, weights, person)


def groups_for(estimator: Any, method: str, groups: Any) -> dict[str, Any]:
    """Groups as a keyword argument for a method that takes them, otherwise nothing.

    A method takes groups if it has a parameter ``sensitive_features``, if it requests them by scikit-learn's metadata
    routing, or if it is the ``fit`` of one of fairlearn's reductions. If it cannot do without them, None is an error.
    """
    own = signature(getattr(estimator, method)).parameters.get(GROUPS)
    reduction = any(cls.__module__.startswith("fairlearn.reductions") for cls in type(estimator).__mro__)
    takes = own is not None or (reduction and method == "fit")
    if get_config()["enable_metadata_routing"]:
        routing = get_routing_for_object(estimator)
        requests = getattr(getattr(routing, method, None), "requests", {})  # a router has none of its own
        takes = bool(routing.consumes(method, [GROUPS])) or (takes and requests.get(GROUPS) is not False)
    if takes and groups is not None:
        return {GROUPS: groups}
    if takes and (own is None or own.default is Parameter.empty):
        call = "fit(X, y, sensitive_features=...)" if method == "fit" else f"{method}(X, sensitive_features=...)"
        raise TypeError(f"{type(estimator).__name__} needs the group of each row: pass {call}.")
    return {}


def plain_groups(groups: Any, codes: GroupCodes | None = None) -> Any:
    """Groups as inner estimators get them: pandas and arrays as they are, anything else as a column of labels."""
    groups = to_pandas(groups)
    if groups is None or isinstance(groups, pd.Series | pd.DataFrame | np.ndarray):
        return groups
    codes = encode_groups(groups) if codes is None else codes
    labels = codes.labels.take(codes.codes)
    return labels.to_frame(index=False, allow_duplicates=True) if labels.nlevels > 1 else labels.to_numpy()
