"""Split people into three parts: to choose thresholds on, to publish from, and to count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..publishing import ThresholdCurves


def three_parts(curves: ThresholdCurves, seed: int) -> list[ThresholdCurves]:
    """Split people into three parts at random, stratified by group.

    Not by label as well: parts with equal base rates would not be independent, and the best group of one part would be
    among the best of the others. With weights, people of one group, score and label stay together, because only the sum
    of their weights is known. A very small group may be missing in a part.
    """
    group, score, label, weight = _people(curves)
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(len(group))
    order = shuffled[np.argsort(group[shuffled], kind="stable")]
    _, size = np.unique(group, return_counts=True)
    place = np.arange(len(order)) - np.repeat(np.cumsum(size) - size, size)
    # the odd people of each group go to any part by chance, so that no part gets all of them
    part = (place + np.repeat(rng.integers(0, 3, len(size)), size)) % 3
    parts = []
    for own in range(3):
        rows = np.sort(order[part == own])
        present, codes = np.unique(group[rows], return_inverse=True)
        weights = None if weight is None else weight[rows]
        parts.append(ThresholdCurves.from_codes(label[rows], score[rows], codes, curves.groups[present], weights))
    return parts


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
