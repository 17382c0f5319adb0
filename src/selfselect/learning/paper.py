"""The paper's own objective: the loss over those who (smoothly) apply, plus penalties.

It asks for the largest prediction of each group, which is no sum: it is made from all rows at once and does not merge
over blocks, unlike everything in :mod:`.objectives`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from .._validation import FloatArray
from ..behaviour import smooth_applies
from .objectives import plus
from .sums import TINY, People, Slopes, SmoothScores, Sums, smooth_precision
from .ties import Tie

#: Added inside the logarithms of the application penalty, so that it stays finite.
LOG_OFFSET = 1e-3
#: The paper's weight of the application penalty.
APPLICATION = 1 / 6


def induced_loss(loss: FloatArray, n: FloatArray, applies: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Loss over applicants: ``sum a L / sum a n``; slopes in L and a."""
    total = applies @ n
    value = float(applies @ loss / total)
    return value, applies / total, (loss - value * n) / total


def application_penalty(largest: FloatArray, applies: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Push for someone selected in every group and some group applying; slopes in ``max y~`` and a.

    ``-(1/K) sum_z log(max_i y~_i + .001) - log(max_z a_z + .001)``.
    """
    n_groups = len(largest)
    top = int(np.argmax(applies))
    value = -np.log(largest + LOG_OFFSET).mean() - np.log(applies[top] + LOG_OFFSET)
    slope_applies = np.zeros(n_groups)
    slope_applies[top] = -1 / (applies[top] + LOG_OFFSET)
    return float(value), -1 / (largest + LOG_OFFSET) / n_groups, slope_applies


@dataclass(frozen=True, eq=False)
class PaperSums(Sums):
    """Sums of all rows, with what else the paper's objective asks for.

    Attributes
    ----------
    largest : ndarray of shape (n_groups,)
        ``max y~``.
    hard : tuple of ndarray, optional
        People selected at the current scores, and true positives.
    """

    largest: FloatArray
    hard: tuple[FloatArray, FloatArray] | None

    def __add__(self, other: Sums) -> Sums:
        raise TypeError(
            "The paper's objective needs the largest score of each group, which does not add up over blocks: hold all "
            "rows in memory, or lower another objective."
        )


class PaperScores(SmoothScores):
    """One pass over all scores, with the largest prediction of each group, and the way back."""

    def __init__(
        self,
        people: People,
        score: FloatArray,
        temperature: float,
        precision_temperature: float,
        *,
        corrected: bool = True,
    ) -> None:
        super().__init__(people, score, temperature, precision_temperature)
        self.corrected = corrected

    def sums(self) -> PaperSums:
        """Add up, per group, and look for the largest."""
        return PaperSums(
            **self._totals(),
            largest=self.people.reduced(np.maximum, self.soft),
            hard=self.people.hard_counts(self.score) if self.corrected else None,
        )

    def slopes_per_score(self, slopes: Slopes) -> FloatArray:
        """Slope of the value with respect to each score; of the largest ones of a group, the first carries theirs."""
        per_score = super().slopes_per_score(slopes)
        if slopes.largest is not None:
            people = self.people
            top = np.flatnonzero(self.soft == people.for_each_row(people.reduced(np.maximum, self.soft)))
            owner = people.codes[top]
            first = np.unique(owner, return_index=True)[1]
            per_score[top[first]] += self.bend[top[first]] * slopes.largest[owner[first]]
        return per_score


@dataclass(frozen=True, eq=False)
class StrategicObjective:
    """The paper's objective.

    ``sum_z a_z L_z / sum_z a_z n_z + application R_app + penalties of ties``.

    Attributes
    ----------
    costs : ndarray of shape (n_groups,)
        Cost that each group faces, tolerance included.
    application : float
        Weight of :func:`application_penalty`.
    ties : tuple of Tie
        The paper has equal selection rates, without a wall.
    temperature, precision_temperature, application_temperature : float
        Sharpness of y~ (loss and penalties), of the precision proxy, and of applications.
    corrected : bool
        Whether the precision proxy carries its correction by hard predictions.
    """

    costs: FloatArray
    application: float = APPLICATION
    ties: tuple[Tie, ...] = ()
    temperature: float = 2.0
    precision_temperature: float = 5.0
    application_temperature: float = 5.0
    corrected: bool = True

    def forward(self, people: People, score: FloatArray) -> PaperScores:
        """Pass over the scores of all people."""
        return PaperScores(people, score, self.temperature, self.precision_temperature, corrected=self.corrected)

    def __call__(self, sums: PaperSums) -> tuple[float, Slopes]:
        """Value and slopes."""
        q, _, _ = smooth_precision(sums, self.costs, sums.hard)
        applies, applies_q = smooth_applies(q, self.costs, self.application_temperature)
        # where nobody applies even smoothly, the weights must not vanish together
        value, slope_loss, slope_applies = induced_loss(sums.loss, sums.n, applies + TINY)
        penalty, slope_largest, pull = application_penalty(sums.largest, applies)
        value += self.application * penalty
        slopes = Slopes(
            loss=slope_loss,
            largest=self.application * slope_largest,
            precision=(slope_applies + self.application * pull) * applies_q,
        )
        value, slopes = reduce(plus, (tie.penalty(sums) for tie in self.ties), (value, slopes))
        return value, slopes.through_precision(sums)
