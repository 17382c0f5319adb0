"""One set of people under one model: their counts, and for a score the counts at every threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
from numpy.typing import ArrayLike

from .._errors import InputError
from .._validation import check_binary, check_floats, check_same_length, check_weights
from ..counting import GroupCounts, encode_groups
from ..deciding import PublishedStatistics, ThresholdCurves


def default_threshold(lowest: float, highest: float) -> float:
    """One half for scores that can be probabilities; others must come with their threshold.

    Examples
    --------
    >>> default_threshold(0.1, 0.9)
    0.5
    """
    if lowest >= 0 and highest <= 1:
        return 0.5
    raise InputError(
        f"Scores run from {lowest:g} to {highest:g}, so they are no probabilities and 0.5 is no obvious threshold; "
        "pass a threshold (0 is usual for a decision function).",
        key="threshold",
    )


@dataclass(frozen=True, eq=False)
class Screened:
    """What a model makes of some people.

    Attributes
    ----------
    table : PublishedStatistics
        Counts per group.
    curves : ThresholdCurves or None
        What every other threshold would do; None if predictions were given.
    threshold : float or None
        Threshold on the score; None if predictions were given.
    lower_passes : bool, default=False
        Whether lower scores pass: curves and threshold are then those of the score turned round (times -1).
    """

    table: PublishedStatistics
    curves: ThresholdCurves | None = None
    threshold: float | None = None
    lower_passes: bool = False

    @classmethod
    def from_curves(cls, curves: ThresholdCurves, threshold: float) -> Screened:
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
    ) -> Screened:
        """People with a score; those above the threshold (by default 0.5, for probabilities) pass screening."""
        y, values = check_binary(y_true, "y_true"), check_floats(score, "score")
        check_same_length(y_true=y, score=values)
        groups = encode_groups(sensitive_features, n_rows=len(y), missing=missing)
        weights = check_weights(sample_weight, len(y))
        if threshold is None:
            threshold = default_threshold(float(values.min()), float(values.max()))
        return cls.from_curves(ThresholdCurves.from_codes(y, values, groups.codes, groups.labels, weights), threshold)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        sensitive_features: Any = None,
        sample_weight: ArrayLike | None = None,
        missing: str = "error",
    ) -> Screened:
        """People whose screening is decided already."""
        return cls(
            PublishedStatistics.from_predictions(
                y_true, y_pred, sensitive_features=sensitive_features, sample_weight=sample_weight, missing=missing
            )
        )

    @property
    def groups(self) -> pd.Index:
        """The groups."""
        return self.table.groups

    @property
    def counts(self) -> GroupCounts:
        """Counts per group."""
        return self.table.counts
