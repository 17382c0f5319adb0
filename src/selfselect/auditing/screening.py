"""One set of people under one model: their counts, and for a score the counts at every threshold."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .._errors import InputError
from .._validation import (
    BoolArray,
    as_column,
    check_binary,
    check_floats,
    check_same_length,
    check_same_rows,
    check_threshold,
    check_weights,
    list_some,
)
from ..counting import GroupCounts, encode_groups
from ..publishing import PublishedStatistics, ThresholdCurves
from ..publishing.privacy import OTHERS, Merging, merge_steps


def group_names(labels: pd.Index) -> list[str]:
    """One text per group: combinations of several columns are joined by " / "."""
    if labels.nlevels == 1:
        return [str(label) for label in labels]
    names = [OTHERS if set(label) == {OTHERS} else " / ".join(map(str, label)) for label in labels]
    if len(set(names)) < len(names):  # the separator is part of a value
        names = [json.dumps([str(part) for part in label], ensure_ascii=False) for label in labels]
    return names


def default_threshold(lowest: float, highest: float) -> float:
    """One half for scores that can be probabilities; other scores need a threshold."""
    if lowest >= 0 and highest <= 1:
        return 0.5
    raise InputError(
        f"Scores run from {lowest:g} to {highest:g}. Which score is the cut-off? Pass a threshold (0 is usual for a "
        "decision function).",
        key="threshold",
    )


def _labels(y_true: ArrayLike, untested: bool) -> tuple[BoolArray, BoolArray | None]:
    """Who is qualified, and whose label is known: None means everybody's."""
    column = as_column(y_true, "y_true")
    missing = np.asarray(pd.isna(column), dtype=bool)
    if not missing.any():
        return check_binary(column, "y_true"), None
    if not untested:
        raise InputError(
            f"y_true has {missing.sum()} missing value(s), first at row(s) {list_some(np.flatnonzero(missing))}. If "
            "these people were not tested because they did not pass screening, pass untested=True: precision and who "
            "applies are known all the same, other numbers within bounds. Dropping or filling such rows would "
            "change them.",
            key="untested",
        )
    y = np.zeros(len(column), dtype=bool)
    if not missing.all():
        y[~missing] = check_binary(column[~missing], "y_true")
    return y, ~missing


def person_codes(person: ArrayLike | None, n_rows: int) -> NDArray[np.intp] | None:
    """One code per row, the same for rows of one person; None if every row is a person."""
    if person is None:
        return None
    column = as_column(person, "person")
    check_same_length(person=column, **{"the rows": np.empty(n_rows)})
    codes, persons = pd.factorize(column)
    if (missing := np.flatnonzero(codes < 0)).size:
        raise InputError(
            f"person is missing at {missing.size} row(s), first at row(s) {list_some(missing)}. Give each person an "
            "identifier.",
            key="person",
        )
    return None if len(persons) == len(codes) else np.asarray(codes, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class ScreeningResult:
    """Decisions of one model about some people, counted.

    Attributes
    ----------
    table : PublishedStatistics
        Counts per group.
    curves : ThresholdCurves or None
        Counts at every other threshold; None if predictions were given, or if people were not tested.
    threshold : float or None
        Threshold on the score; None if predictions were given.
    lower_passes : bool, default=False
        Whether lower scores pass: curves and threshold are then those of the score times -1.
    bin_width : float, optional
        Width to which scores were rounded because they were too many to keep. Counts are exact at the steps of the
        curves, and at the threshold; nothing is known between two steps.
    """

    table: PublishedStatistics
    curves: ThresholdCurves | None = None
    threshold: float | None = None
    lower_passes: bool = False
    bin_width: float | None = None

    @classmethod
    def from_curves(cls, curves: ThresholdCurves, threshold: float) -> ScreeningResult:
        """People at one threshold of their score."""
        return cls(curves.at(threshold), curves, threshold)

    @classmethod
    def from_scores(
        cls,
        y_true: ArrayLike,
        score: ArrayLike,
        *,
        threshold: float | None = None,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
        missing: str = "error",
        untested: bool = False,
        person: ArrayLike | None = None,
    ) -> ScreeningResult:
        """People with a score; those above the threshold pass screening. Parameters as in :func:`audit`."""
        rows = {"sensitive_features": sensitive_features, "sample_weight": sample_weight, "person": person}
        check_same_rows(y_true=y_true, score=score, **rows)
        (y, known), values = _labels(y_true, untested), check_floats(score, "score")
        check_same_length(y_true=y, score=values)
        groups = encode_groups(sensitive_features, n_rows=len(y), missing=missing)
        if threshold is None:
            threshold = default_threshold(float(values.min()), float(values.max()))
        if known is not None:
            decided = values > check_threshold(threshold)
            made = cls.from_predictions(
                y_true, decided, sensitive_features=groups, sample_weight=sample_weight, untested=True, person=person
            )
            return replace(made, threshold=threshold)
        weights = check_weights(sample_weight, len(y))
        curves = ThresholdCurves.from_codes(
            y, values, groups.codes, groups.labels, weights, person_codes(person, len(y))
        )
        return cls.from_curves(curves, threshold)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
        missing: str = "error",
        untested: bool = False,
        person: ArrayLike | None = None,
    ) -> ScreeningResult:
        """People whose screening is decided already. Parameters as in :func:`audit`."""
        rows = {"sensitive_features": sensitive_features, "sample_weight": sample_weight, "person": person}
        check_same_rows(y_true=y_true, y_pred=y_pred, **rows)
        (y, known), selected = _labels(y_true, untested), check_binary(y_pred, "y_pred")
        check_same_length(y_true=y, y_pred=selected)
        weights = check_weights(sample_weight, len(y))
        groups = encode_groups(sensitive_features, n_rows=len(y), missing=missing)
        if known is not None and (wrong := np.flatnonzero(~known & selected)).size:
            raise ValueError(
                f"y_true is missing for {wrong.size} person(s) who pass screening, first at row(s) {list_some(wrong)}. "
                "Only people who do not pass can be untested: find these labels, or leave the people out."
            )
        people = person_codes(person, len(y))
        counts = GroupCounts.from_rows(y, selected, groups.codes, groups.n_groups, weights, known=known, person=people)
        return cls(PublishedStatistics(groups.labels, counts))

    def merged(self, merging: Merging, least: int) -> ScreeningResult:
        """The same people with merged groups, and curves whose every step has so many people of either label."""
        table, curves = merging.counts(self.table), None
        if self.curves is not None:
            curves = merge_steps(self.curves, merging, -np.inf if self.threshold is None else self.threshold, least)
            table = table if self.threshold is None else curves.at(self.threshold)
        return replace(self, table=table, curves=curves)

    @property
    def groups(self) -> pd.Index:
        """The groups."""
        return self.table.groups

    @property
    def counts(self) -> GroupCounts:
        """Counts per group."""
        return self.table.counts
