"""Training data of a classifier: labels of two classes, groups, weights, and splits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from .._frames import to_pandas
from .._notices import PromiseWarning, warn
from .._validation import BoolArray, FloatArray, as_column, check_same_length, list_some, refuse_missing
from ..counting import GroupCodes, GroupCounts, position_of
from ..publishing import ThresholdCurves
from ..publishing.splits import Rows, Splits, count_copies
from ..statistics import Statistic


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
    """Labels, groups, weights and persons of the training rows, and their splits; and the groups as given.

    ``person`` has a code for each row that is the same for rows of one person; None means that every row is a person.
    """

    qualified: BoolArray
    groups: GroupCodes
    weights: FloatArray | None
    splits: Splits
    given_groups: Any = None
    person: Rows | None = None

    def counts(self, rows: Rows, selected: NDArray[np.bool_]) -> GroupCounts:
        """Counts per group of some rows."""
        weights = None if self.weights is None else self.weights[rows]
        person = None if self.person is None else _if_repeated(self.person[rows])
        return GroupCounts.from_rows(
            self.qualified[rows], selected, self.groups.codes[rows], self.groups.n_groups, weights, person=person
        )

    def fit_statistic(self, statistic: Statistic, curves: ThresholdCurves, *, one_threshold: bool = True) -> Statistic:
        """What is published, after it has learned from counts of people who were not fitted."""
        learns = self.splits.mode != "train"
        return curves.fit_statistic(statistic, one_threshold=one_threshold) if learns else statistic

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
