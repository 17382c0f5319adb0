"""Labels of two classes, one of which means qualified."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from .._notices import inside_checks, warn
from .._validation import BoolArray, some_of


def _two_classes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The two labels in order, and which row has which."""
    if y.dtype.kind in "biu":  # two whole numbers need no closer look, which takes longer
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) == 2:
            return classes, codes
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    if kind != "binary":
        check_classification_targets(y)
        raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y holds one class only ({classes[0]!r}): there must be qualified and unqualified people.")
    return classes, codes


def find_classes(y: Any, pos_label: Any) -> tuple[NDArray[Any], Any, BoolArray]:
    """The two labels in order, the one of them that means qualified, and which rows are qualified.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Labels of two kinds.
    pos_label : label or None
        The one that means qualified; by default the larger, with a warning if they are texts.
    """
    labels = np.asarray(column_or_1d(y, warn=True))
    if len(labels) == 0:
        raise ValueError("y is empty: there must be at least one row (0 sample(s) found).")
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    classes, codes = _two_classes(labels)
    positive = 1
    if pos_label is not None:
        found = [i for i, label in enumerate(classes.tolist()) if label == pos_label]
        if not found:
            raise ValueError(f"pos_label={pos_label!r} is not among the labels {some_of(classes)}.")
        positive = found[0]
    elif labels.dtype.kind in "OUST" and not inside_checks():
        warn(
            f"The label {some_of(classes[1:])} counts as qualified, {some_of(classes[:1])} as not: the later in the "
            "alphabet. Pass pos_label= to say which one does."
        )
    return classes, classes[positive], codes == positive


def qualified(y: Any, classes: NDArray[Any], positive: Any) -> BoolArray:
    """Which labels mean qualified; a label that was not there in training is an error that names it."""
    labels = np.asarray(column_or_1d(y))
    unknown = ~np.isin(labels, classes)
    if unknown.any():
        raise ValueError(
            f"y holds label(s) that were not there in training: {some_of(pd.unique(pd.Series(labels[unknown])))}; "
            f"the classifier knows {some_of(classes)}."
        )
    return np.asarray(labels == positive)
