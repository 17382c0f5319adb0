"""A lower bound of precision that stays true after thresholds and groups were chosen by the very counts it comes from.

The best of many thresholds and of many small groups looks better than it is. A bound of each group by itself does not
know that. This one asks what is usual for groups like it. Where a share ``q`` of each group is selected, the precision
of group z is assumed to vary between groups as

    p_z ~ Beta(M m_z, M (1 - m_z)),    logit m_z = location + slope logit r_z + size_slope log n_z

where ``r_z`` is the share of qualified people among those of the group who are *not* selected (shrunk towards that of
other groups): groups with a higher base rate mostly have a higher precision. Large groups may do better or worse than
small ones of ``n_z`` people. Location, slopes and strength ``M`` are
estimated from all groups at this ``q``, with their uncertainty; few groups say little about each other. What is
published is a lower quantile of the distribution of ``p_z`` given all counts, and never more than the precision itself.
Small groups borrow from the others; in large groups their own counts outweigh ``M``.

If all groups have the same threshold, ``q`` is not simply the share of the group that was counted. Groups differ partly
by chance, and one from which few were selected by chance would look as if it was screened more strictly. So the shares
are shrunk towards their mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, betaln, expit, logit, xlog1py, xlogy

from .._validation import BoolArray, FloatArray
from ..counting import CountCurves, GroupCounts, effective_trials, ratio
from ..counting.intervals import weights_by_label
from ..statistics import SLACK, LowerBound, Precision

#: Shares of a group that are selected at which groups are compared.
DEPTHS = np.geomspace(0.01, 1.0, 20)
#: Between these a step belongs to the depth that is nearest.
BETWEEN = np.sqrt(DEPTHS[1:] * DEPTHS[:-1])
#: Strengths of the prior that are tried, in people, each with all slopes; all are as likely beforehand.
STRENGTHS, *_SLOPES = (
    grid.ravel() for grid in np.meshgrid(np.geomspace(0.5, 1024.0, 8), [0.0, 0.5, 1.0], [-0.25, 0.0, 0.25])
)
#: Slopes in the log-odds among those who are not selected, and in the logarithm of the size of a group.
SLOPES = np.column_stack(_SLOPES)
#: Locations that are tried for each strength, in standard errors.
GRID = np.linspace(-5.0, 5.0, 11)
#: Locations and their standard errors are kept within these limits, far beyond all rates that occur.
MAX_LOCATION, MAX_ERROR = 12.0, 3.0
#: A smaller part of the prior is left out.
LEAST_WEIGHT = 1e-3
#: Most groups that a prior is fitted to; more would take longer and say nothing new.
MAX_GROUPS = 300
#: Above so many selected people a group's own counts say nearly everything, and one Beta distribution is as good.
MANY = 1_000
#: Entries times parts of a mixture that are computed at once.
CHUNK_CELLS = 2**16
#: Steps of Newton's method; after four the error is below 1e-9.
NEWTON_STEPS = 6
#: Share of the error that the quantile uses. The rest allows for what this model of groups leaves out, and for
#: thresholds that are chosen by the same counts.
ERROR_SHARE = 0.75
#: Scores that are compared by the same counts share the error: it is divided by this power of their number. They are
#: alike, so 1 (Bonferroni) would be too strict.
COMPARED_POWER = 0.5


@dataclass(frozen=True, eq=False)
class BetaPrior:
    """How a rate varies between groups: a mixture of Beta distributions.

    ``location``, ``slope`` (a row of two), ``strength`` and ``weight`` have an entry for each part of the mixture.
    """

    location: FloatArray
    slope: FloatArray
    strength: FloatArray
    weight: FloatArray

    @classmethod
    def fit(cls, successes: FloatArray, trials: FloatArray, offset: FloatArray) -> Self:
        """Fit to the successes of some groups, whose locations differ by slopes times known offsets, in two rows."""
        some, tried = trials > 0, ((SLOPES == 0) | (np.abs(offset) > SLACK).any(axis=1)).all(axis=1)
        strengths, slopes = STRENGTHS[tried], SLOPES[tried]
        t, p, shift = successes[some], trials[some], slopes @ offset[:, some]
        # people of one group are alike: so many independent ones are as informative, for each strength
        size = p / (1 + np.maximum(p - 1, 0) / (strengths[:, None] + 1))
        location = np.full(len(strengths), float(logit((t.sum() + 0.5) / (p.sum() + 1))))
        for _ in range(20):
            mean = expit(location[:, None] + shift)
            information = (size * mean * (1 - mean)).sum(axis=1) + 1e-3
            step = ((size * (ratio(t, p) - mean)).sum(axis=1) - 1e-3 * location) / information
            location = np.clip(location + np.clip(step, -2, 2), -MAX_LOCATION, MAX_LOCATION)
        error = np.minimum(information**-0.5, MAX_ERROR)
        points = np.clip(location[:, None] + error[:, None] * GRID, -MAX_LOCATION, MAX_LOCATION)
        mean = expit(points[..., None] + shift[:, None])
        a, b = strengths[:, None, None] * mean, strengths[:, None, None] * (1 - mean)
        likelihood = (betaln(a + t, b + p - t) - betaln(a, b)).sum(axis=-1)
        posterior = likelihood + np.log(error)[:, None]
        usual = expit(points + shift.sum(axis=1, keepdims=True) / max(len(t), 1))
        posterior += np.log(usual) + np.log1p(-usual)  # the usual rate may be any in (0, 1), all are as likely
        weight = np.exp(posterior - posterior.max())
        kept = weight > LEAST_WEIGHT * weight.max()
        setting = np.nonzero(kept)[0]
        return cls(points[kept], slopes[setting], strengths[setting], weight[kept] / weight[kept].sum())

    def _average(self, function: Callable[..., Any], *arrays: FloatArray) -> Any:
        """Average over the mixture of a function of Beta parameters, given successes, trials, offsets and more arrays.

        Some entries at a time are computed for all parts together, so that intermediate results stay in the cache.
        """
        n, chunk, strength = len(arrays[0]), max(CHUNK_CELLS // len(self.weight), 1), self.strength[:, None]
        results = []
        for first in range(0, max(n, 1), chunk):
            successes, trials, offset, *more = (array[..., first : first + chunk] for array in arrays)
            a = strength * expit(self.location[:, None] + self.slope @ offset) + successes
            results.append(self.weight @ np.asarray(function(a, strength + trials - a, *more)))
        return np.concatenate(results, axis=-1)

    def mean(self, successes: FloatArray, trials: FloatArray, offset: FloatArray) -> FloatArray:
        """Mean rate of groups with these successes."""
        return np.asarray(self._average(lambda a, b: a / (a + b), successes, trials, offset))

    def matched(self, successes: FloatArray, trials: FloatArray, offset: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Parameters of the one Beta distribution that has the mean and the variance of the mixture."""

        def moments(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
            mean = a / (a + b)
            return mean, mean * (a + 1) / (a + b + 1)

        mean, square = self._average(moments, successes, trials, offset)
        size = np.maximum(mean * (1 - mean) / np.maximum(square - mean**2, 1e-300) - 1, 1e-9)
        return np.maximum(mean * size, 1e-9), np.maximum((1 - mean) * size, 1e-9)

    def below(
        self, rate: FloatArray, successes: FloatArray, trials: FloatArray, offset: FloatArray, near: float
    ) -> FloatArray:
        """Probability that the rate of groups with these successes is below a rate, exact where it is near a level."""
        below = np.asarray(betainc(*self.matched(successes, trials, offset), rate))
        unclear = (trials <= MANY) & (below > near / 8) & (below < near * 8)
        given = successes[unclear], trials[unclear], offset[:, unclear]
        below[unclear] = self._average(betainc, *given, rate[unclear])
        return below

    def quantile(self, level: float, successes: FloatArray, trials: FloatArray, offset: FloatArray) -> FloatArray:
        """Rate below which the rate of groups with these successes is with a probability of ``level``."""
        rate = np.asarray(betaincinv(*self.matched(successes, trials, offset), level))
        few = trials <= MANY
        given, found = (successes[few], trials[few], offset[:, few]), rate[few]
        low, high = np.zeros(found.shape), np.ones(found.shape)
        for _ in range(NEWTON_STEPS):
            below, density = self._average(_below_and_density, *given, found)
            low, high = np.where(below < level, found, low), np.where(below < level, high, found)
            # the logarithm of the probability is nearly straight in the lower tail, where the level is
            step = found - below * np.log(np.maximum(below, 1e-300) / level) / np.maximum(density, 1e-300)
            found = np.where((step >= low) & (step <= high), step, (low + high) / 2)
        rate[few] = found
        return rate


def _below_and_density(a: FloatArray, b: FloatArray, rate: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Probability that a Beta variable is below a rate, and its density there."""
    return betainc(a, b, rate), np.exp(xlogy(a - 1, rate) + xlog1py(b - 1, -rate) - betaln(a, b))


@dataclass(frozen=True)
class PooledLowerBound(LowerBound):
    """Lower bound of the precision of each group that learns from all groups, see :mod:`selfselect.publishing.pooling`.

    Classifiers fit it to the counts at every threshold of their out-of-fold scores. The promise: of the groups whose
    bound reaches their cost, a share of at least ``confidence`` has a precision of at least the cost. Simulations show
    where that holds. Before it is fitted it is the :class:`LowerBound` of each group by itself.

    Parameters
    ----------
    confidence : float, default=0.9
        Level of the bound, in (0, 1).

    Examples
    --------
    >>> from selfselect import ThresholdCurves
    >>> rng = np.random.default_rng(0)
    >>> y, group = rng.random(600) < 0.8, rng.integers(0, 40, 600)
    >>> curves = ThresholdCurves.from_scores(y, np.ones(600), sensitive_features=group)
    >>> everybody = curves.at(0.0).counts
    >>> [int((bound.value(everybody) > 0.65).sum()) for bound in (LowerBound(), PooledLowerBound().fitted(curves))]
    [14, 34]
    """

    def fitted(self, curves: CountCurves, *, one_threshold: bool = True, compared: int = 1) -> FittedLowerBound:
        """The bound with what is usual for these groups.

        Parameters
        ----------
        curves : ThresholdCurves
            Counts of all groups at every threshold of a score, of people the score was not fitted to.
        one_threshold : bool, default=True
            Whether the bound is for counts of groups that all have the same threshold. If a smaller share of a group
            is selected than of others, that is then partly chance, and no sign of a stricter screen.
        compared : int, default=1
            Number of scores that these people chose among. The best of them looks better than it is.
        """
        error = (1 - self.confidence) * ERROR_SHARE / compared**COMPARED_POWER
        order = np.lexsort((curves.positives, curves.n))
        order = order[curves.n[order] > 0]
        order = order[np.linspace(0, len(order) - 1, min(len(order), MAX_GROUPS)).round().astype(np.intp)]
        # the steps of a group rise from everybody selected to nobody: position of the last that selects at least q
        share = ratio(curves.selected, curves.n[curves.group])
        key = 2 * curves.group + np.nan_to_num(1 - share, nan=1.0)
        rejected, selected = [], []
        for depth in DEPTHS:
            step = np.searchsorted(key, 2 * order + 1 - depth + SLACK, side="right") - 1
            counts = _Trials.of(_counts_at(curves, step), one_threshold=False)
            rejected.append(BetaPrior.fit(counts.missed, counts.rejected, np.zeros((2, len(order)))))
            centre = float(counts.log_size.mean()) if len(order) else 0.0
            offset = counts.offset(rejected[-1], centre)
            selected.append(BetaPrior.fit(counts.true_positives, counts.selected, offset))
        return FittedLowerBound(self.confidence, error, tuple(rejected), tuple(selected), one_threshold, centre)


@dataclass(frozen=True, eq=False)
class FittedLowerBound(LowerBound):
    """A :class:`PooledLowerBound` that was fitted: a function of the counts of a group.

    ``error`` is the level of the quantile. ``rejected`` and ``selected`` have what is usual at each of the
    :data:`DEPTHS`, for rates among the people who are not selected and who are. ``centre`` is the mean logarithm of the
    sizes of groups.
    """

    error: float = 0.1
    rejected: tuple[BetaPrior, ...] = ()
    selected: tuple[BetaPrior, ...] = ()
    one_threshold: bool = False
    centre: float = 0.0

    def value(self, counts: Any) -> FloatArray:
        """Bound of each group."""
        flat = _Trials.of(counts, self.one_threshold)
        bound = np.full(flat.selected.shape, np.nan)
        some = flat.selected > 0
        for where, part, prior, offset in self._by_depth(flat.take(some)):
            bound[np.flatnonzero(some)[where]] = prior.quantile(self.error, part.true_positives, part.selected, offset)
        return np.fmin(bound.reshape(np.shape(counts.selected)), ratio(counts.true_positives, counts.selected))

    def reaches(self, counts: Any, limit: FloatArray) -> BoolArray:
        """Whether the bound reaches a limit."""
        reaches = Precision().reaches(counts, limit)
        limits = np.clip(np.broadcast_to(limit, reaches.shape)[reaches] - SLACK, 0.0, 1.0)
        enough = np.empty(limits.shape, dtype=bool)
        for where, part, prior, offset in self._by_depth(_Trials.of(counts, self.one_threshold).take(reaches.ravel())):
            below = prior.below(limits[where], part.true_positives, part.selected, offset, near=self.error)
            enough[where] = below <= self.error + SLACK
        reaches[reaches] = enough
        return reaches

    def _by_depth(self, trials: _Trials) -> Iterator[tuple[NDArray[np.intp], _Trials, BetaPrior, FloatArray]]:
        """Entries at each depth, their counts, what is usual there, and their offsets."""
        depth = np.searchsorted(BETWEEN, trials.share)
        for i in np.unique(depth):
            where = np.flatnonzero(depth == i)
            part = trials.take(where)
            yield where, part, self.selected[i], part.offset(self.rejected[i], self.centre)


def _counts_at(curves: CountCurves, step: NDArray[np.intp]) -> GroupCounts:
    """Counts of a group at each of some steps."""
    group = curves.group[step]
    squares = None if curves.squares is None else _counts_at(curves.squares, step)
    own = curves.n[group], curves.positives[group], curves.selected[step], curves.true_positives[step]
    return GroupCounts(*own, squares=squares)


@dataclass(frozen=True, eq=False)
class _Trials:
    """Counts as numbers of people, of those selected and of those not."""

    true_positives: FloatArray
    selected: FloatArray
    missed: FloatArray
    rejected: FloatArray
    share: FloatArray
    log_size: FloatArray

    @classmethod
    def of(cls, counts: Any, one_threshold: bool) -> _Trials:
        """Counts of any shape, as one row."""
        shape = np.shape(counts.selected)
        n, positives, selected, true_positives = (
            np.asarray(getattr(counts, name), dtype=np.float64)
            for name in ("n", "positives", "selected", "true_positives")
        )
        people, missed, share = n, positives - true_positives, np.nan_to_num(ratio(selected, n))
        rejected = n - selected
        if getattr(counts, "squares", None) is not None:
            people_per_weight = np.nan_to_num(ratio(n, counts.squares.n))
            people, missed, rejected = (part * people_per_weight for part in (n, missed, rejected))
            # of people, not of weights: else a group with few unqualified people seems to be screened more strictly
            one, other = (1 / weight for weight in weights_by_label(counts))
            chosen = one * true_positives + other * (selected - true_positives)
            share = np.nan_to_num(ratio(chosen, one * positives + other * (n - positives)))
            true_positives, selected = effective_trials(counts)
        if one_threshold:
            over_groups = getattr(counts, "over_groups", lambda values: values.sum(axis=-1, keepdims=True))
            share = _shrunk_shares(share, np.broadcast_to(people, shape), over_groups)
        rejected = np.maximum(rejected, 0)
        log_size = np.log(np.maximum(people, 1.0))
        parts = (true_positives, selected, np.clip(missed, 0, rejected), rejected, share, log_size)
        return cls(*(np.broadcast_to(part, shape).ravel() for part in parts))

    def take(self, which: NDArray[Any]) -> _Trials:
        """Some of the entries."""
        return _Trials(*(getattr(self, name)[which] for name in self.__dataclass_fields__))

    def offset(self, rejected: BetaPrior, centre: float) -> FloatArray:
        """Log-odds of being qualified among those who are not selected, and the logarithm of the size of the group."""
        rate = rejected.mean(self.missed, self.rejected, np.zeros((2, len(self.missed))))
        return np.stack([logit(np.clip(rate, 1e-9, 1 - 1e-9)), self.log_size - centre])


def _shrunk_shares(
    share: FloatArray, people: FloatArray, over_groups: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """Selected shares of groups at one threshold, moved towards their mean as far as chance explains that they differ.

    The variance between groups is estimated by moments (DerSimonian and Laird).
    """
    total = over_groups(people)
    mean = ratio(over_groups(people * share), total)
    noise = mean * (1 - mean)
    excess = over_groups(people * share**2) - total * mean**2 - (over_groups(np.sign(people)) - 1) * noise
    between = np.maximum(np.nan_to_num(ratio(excess, total - ratio(over_groups(people**2), total))), 0.0)
    kept = ratio(between * people, between * people + noise)  # NaN where everybody or nobody is selected
    return np.asarray(share + np.nan_to_num(1 - kept) * (mean - share))
