"""Split people into two halves, to choose thresholds on one and evaluate them on the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..publishing import ThresholdCurves


def two_halves(curves: ThresholdCurves, seed: int) -> tuple[ThresholdCurves, ThresholdCurves]:
    """Split people into two halves at random, stratified by group and label.

    With weights, people of one group, score and label stay together, because only the sum of their weights is known. A
    very small group may be in one half only.
    """
    group, score, label, weight = _people(curves)
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(len(group))
    cell = 2 * group[shuffled] + label[shuffled]
    order = shuffled[np.argsort(cell, kind="stable")]
    _, size = np.unique(cell, return_counts=True)
    place = np.arange(len(order)) - np.repeat(np.cumsum(size) - size, size)
    # the odd person of each cell goes to either half by chance, so that neither half gets all of them
    in_first = (place + np.repeat(rng.integers(0, 2, len(size)), size)) % 2 == 0
    parts = []
    for rows in (order[in_first], order[~in_first]):
        rows = np.sort(rows)
        present, codes = np.unique(group[rows], return_inverse=True)
        weights = None if weight is None else weight[rows]
        parts.append(ThresholdCurves.from_codes(label[rows], score[rows], codes, curves.groups[present], weights))
    return parts[0], parts[1]


def _people(curves: ThresholdCurves) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    """Group, score, label and weight of each person (or of all who share the first three), from counts."""
    group = curves.group
    within = np.flatnonzero(group[1:] == group[:-1]) + 1  # between a step and the one before lie those of its score
    passed = curves.selected[within - 1] - curves.selected[within]
    true_positives = curves.true_positives[within - 1] - curves.true_positives[within]
    cells = np.concatenate([passed - true_positives, true_positives])
    codes, scores = np.tile(group[within], 2), np.tile(curves.threshold[within], 2)
    labels = np.repeat([False, True], len(within))
    if np.issubdtype(cells.dtype, np.integer):
        return np.repeat(codes, cells), np.repeat(scores, cells), np.repeat(labels, cells), None
    some = cells > 1e-12 * curves.n[codes]  # differences of sums of weights leave rounding
    return codes[some], scores[some], labels[some], cells[some]
