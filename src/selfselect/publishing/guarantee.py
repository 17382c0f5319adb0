"""Thresholds and groups whose precision reaches the cost, with a guarantee that holds for any model and population.

This is Learn then Test with fixed sequences. Thresholds are listed in sequences before looking at the evaluation data.
Each threshold of a sequence is tested in turn: does the group's precision reach its cost? A sequence ends at the first
threshold that fails. Each test has the level ``delta / (number of sequences)``. Then the probability that any guarantee
is wrong, over all groups and thresholds, is at most ``delta``: a sequence errs only if its first false statement
passes, and that has at most the probability of one test. So any choice among the thresholds that passed is safe.

A classifier that is finished before the evaluation has one threshold per group. Then each group that it is meant for is
tested once, at the level ``delta / (number of these groups)``: see :func:`guarantee_groups`. A step-wise procedure such
as Holm's could guarantee somewhat more at one cost. Equal levels give bounds that hold for all groups and at all costs.

Both need evaluation data that is independent of everything chosen before: split at random, not by label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray
from ..counting import CountCurves, GroupCounts
from ..statistics import LowerBound

#: Sequences start where about these multiples of the group's base rate are selected.
STARTS = (1.0, 0.5, 0.25, 0.125)
#: Largest number of thresholds in a sequence.
MAX_LENGTH = 100


@dataclass(frozen=True, eq=False)
class GuaranteedThresholds:
    """Level of each test, and the thresholds of each group at which its precision is guaranteed to reach its cost."""

    level: float
    thresholds: tuple[FloatArray, ...]

    def groups(self, labels: pd.Index) -> pd.Series:
        """Whether any threshold of each group passed."""
        return pd.Series([len(passed) > 0 for passed in self.thresholds], index=labels, name="promised")


def threshold_sequences(score: FloatArray, base_rate: float) -> list[FloatArray]:
    """Sequences of thresholds for a group, from the scores and the base rate of people who are not evaluated.

    Each starts where about a multiple of the base rate is selected, and goes down to where everybody is.

    Examples
    --------
    >>> [float(sequence[0]) for sequence in threshold_sequences(np.arange(100.0), 0.4)]
    [60.0, 80.0, 90.0, 95.0]
    """
    if not len(score):
        return []
    shares = dict.fromkeys(max(base_rate * part, 1 / len(score)) for part in STARTS)
    sequences = []
    for share in shares:
        values = np.quantile(score, np.linspace(1 - share, 0, MAX_LENGTH), method="higher")
        sequences.append(values[np.append(True, values[1:] < values[:-1])])
    return sequences


def guarantee_thresholds(
    steps: CountCurves, sequences: Sequence[Sequence[FloatArray]], costs: FloatArray, delta: float
) -> GuaranteedThresholds:
    """Test the thresholds of each sequence until one fails.

    ``steps`` are counts of the evaluation data. ``sequences`` has those of each group, ``costs`` the cost that each
    group faces. ``delta`` is the largest probability that any guarantee is wrong.
    """
    level = delta / max(sum(len(own) for own in sequences), 1)
    thresholds = []
    for code, own in enumerate(sequences):
        rows = slice(steps.start[code], steps.start[code + 1])
        passed = [_passing(steps, rows, sequence, float(costs[code]), level) for sequence in own]
        thresholds.append(np.unique(np.concatenate(passed)) if passed else np.zeros(0))
    return GuaranteedThresholds(level, tuple(thresholds))


def _passing(steps: CountCurves, rows: slice, thresholds: FloatArray, cost: float, level: float) -> FloatArray:
    """Thresholds of one sequence before the first that fails."""
    step: NDArray[np.intp] = np.searchsorted(steps.threshold[rows], thresholds, side="right") - 1
    counts = SimpleNamespace(selected=steps.selected[rows][step], true_positives=steps.true_positives[rows][step])
    passes = LowerBound(1 - level).reaches(counts, np.full(len(step), cost))
    return thresholds[: len(passes) if passes.all() else int(np.argmin(passes))]


def guarantee_groups(counts: GroupCounts, named: BoolArray, costs: FloatArray, delta: float) -> tuple[float, BoolArray]:
    """Test once for each named group, chosen beforehand, whether its precision reaches its cost.

    The result is the level of each test, and which groups passed. The others get no guarantee.

    Examples
    --------
    >>> counts = GroupCounts(*(np.array(column) for column in ([60] * 3, [50] * 3, [40] * 3, [40, 38, 31])))
    >>> guarantee_groups(counts, np.array([True, False, True]), np.full(3, 0.7), 0.1)
    (0.05, array([ True, False, False]))
    """
    level = delta / max(int(named.sum()), 1)
    return level, np.asarray(named & LowerBound(1 - level).reaches(counts, costs))
