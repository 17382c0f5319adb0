"""Thresholds at which a promise can be made to groups, with a probability that holds for any model and any people.

Learn then Test, in fixed sequences. Some thresholds are named beforehand, without a look at the people who are judged,
in sequences: for each group, one after the other, it is tested on the judged whether its precision reaches its cost.
A sequence ends at the first threshold that fails. If each test is made at the level ``delta / (number of sequences)``,
the probability that any promise is made in vain, over all groups and thresholds together, is at most ``delta``:
a sequence errs only if the first of its untrue statements passes, and that has at most the level of one test. So
whatever is chosen among the thresholds that passed is safe.

A classifier that is finished before anybody is judged has one threshold per group, and it is known which groups it is
meant for. Then only those are tested, once each (:func:`promise_to_named`), at the level ``delta / (number of them)``.
A procedure in steps (Holm's, say) could promise somewhat more at one cost; an even level gives bounds that hold for all
groups and at all costs together, so that what is said of a group does not hang on the others.

Both need people who are judged to be independent of those who had a say beforehand: drawn apart blindly, not by label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._validation import BoolArray, FloatArray
from ..behaviour import SureRule, surely_reaches
from ..counting import GroupCounts, ScoreSteps

#: Parts of a group's base rate at which sequences start: who is selected first is about the best so many of it.
STARTS = (1.0, 0.5, 0.25, 0.125)
#: Thresholds of a sequence at most.
LONGEST = 100


@dataclass(frozen=True, eq=False)
class Promised:
    """Thresholds that passed.

    Attributes
    ----------
    level : float
        Level of each single test.
    thresholds : tuple of ndarray
        Of each group, those at which it can be promised that its precision reaches its cost.
    """

    level: float
    thresholds: tuple[FloatArray, ...]

    def groups(self, labels: pd.Index) -> pd.Series:
        """Whether each group can be promised anything at all."""
        return pd.Series([len(found) > 0 for found in self.thresholds], index=labels, name="promised")


def sequences_of(score: FloatArray, base_rate: float) -> list[FloatArray]:
    """Sequences of thresholds for a group, from scores and a base rate of people who will not be judged.

    Each starts where about a part of the base rate is selected, and goes down to where everybody is.

    Examples
    --------
    >>> [float(sequence[0]) for sequence in sequences_of(np.arange(100.0), 0.4)]
    [60.0, 80.0, 90.0, 95.0]
    """
    if not len(score):
        return []
    starts = dict.fromkeys(max(base_rate * part, 1 / len(score)) for part in STARTS)
    sequences = []
    for share in starts:
        levels = np.linspace(1 - share, 0, LONGEST)
        values = np.quantile(score, levels, method="higher")
        sequences.append(values[np.append(True, values[1:] < values[:-1])])
    return sequences


def promise_in_order(
    steps: ScoreSteps, sequences: Sequence[Sequence[FloatArray]], costs: FloatArray, delta: float
) -> Promised:
    """Test each sequence until it fails.

    Parameters
    ----------
    steps : ScoreSteps
        Scores of the people who are judged, none of whom had a say in the sequences.
    sequences : sequence of sequences of ndarray
        Of each group, thresholds in the order in which they are tested.
    costs : ndarray of shape (n_groups,)
        Cost that each group faces.
    delta : float
        Probability with which any promise at all may be made in vain.
    """
    total = sum(len(own) for own in sequences)
    level = delta / max(total, 1)
    found = []
    for code, own in enumerate(sequences):
        rows = slice(steps.start[code], steps.start[code + 1])
        passed = [_passing(steps, rows, thresholds, float(costs[code]), level) for thresholds in own]
        found.append(np.unique(np.concatenate(passed)) if passed else np.zeros(0))
    return Promised(level, tuple(found))


def promise_to_named(counts: GroupCounts, named: BoolArray, costs: FloatArray, delta: float) -> tuple[float, BoolArray]:
    """Test one statement for each group that was named beforehand: that its precision reaches its cost.

    Parameters
    ----------
    counts : GroupCounts
        Counts of the people who are judged, none of whom had a say in the classifier or in who is named.
    named : ndarray of bool of shape (n_groups,)
        Groups that are tested; nobody else is promised anything.
    costs : ndarray of shape (n_groups,)
        Cost that each group faces.
    delta : float
        Probability with which any promise at all may be made in vain.

    Returns
    -------
    level : float
        Level of each single test.
    promised : ndarray of bool of shape (n_groups,)
        Groups that passed.

    Examples
    --------
    >>> counts = GroupCounts(*(np.array(column) for column in ([60] * 3, [50] * 3, [40] * 3, [40, 38, 31])))
    >>> promise_to_named(counts, np.array([True, False, True]), np.full(3, 0.7), 0.1)
    (0.05, array([ True, False, False]))
    """
    level = delta / max(int(named.sum()), 1)
    sure = SureRule(1 - level).shares(counts.true_positives, counts.selected, costs)
    return level, np.asarray(named & sure)


def _passing(steps: ScoreSteps, rows: slice, thresholds: FloatArray, cost: float, level: float) -> FloatArray:
    """Thresholds of one sequence before the first that fails."""
    step: NDArray[np.intp] = np.searchsorted(steps.threshold[rows], thresholds, side="right") - 1
    selected, hits = steps.selected[rows][step], steps.true_positives[rows][step]
    passes = (selected > 0) & surely_reaches(hits, selected, np.full(len(step), cost), 1 - level)
    return thresholds[: len(passes) if passes.all() else int(np.argmin(passes))]
