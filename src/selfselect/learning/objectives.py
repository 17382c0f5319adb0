"""The strategic objective, in parts: every one a function of per-group sums, with value and gradient.

Notation: score ``s = x.w + b``, weights ``v_i`` of rows, groups z, ``sigma`` the logistic function. A pass over the
rows gives, per group, sums of smooth predictions; the parts turn sums into a value and its slopes with respect to each
sum; one more pass turns slopes into the gradient:

    rows, w  ->  sums per group  ->  smooth precision  ->  smooth applications  ->  value, slopes  ->  gradient

Only the first and the last arrow touch rows, and both are sums over rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logit

from .._validation import BoolArray, FloatArray
from ..deciding.behaviour import PRECISION_CLIP, smooth_applies

#: Added inside the logarithms of the application penalty, so that it stays finite.
LOG_OFFSET = 1e-3


@dataclass(frozen=True, eq=False)
class GroupedRows:
    """Training rows, sorted by group, so that a sum per group is one pass.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
        Labels, 0.0 or 1.0.
    weight : ndarray of shape (n_rows,)
    start : ndarray of shape (n_groups,)
        First row of each group; no group is empty.
    """

    X: FloatArray
    y: FloatArray
    weight: FloatArray
    start: NDArray[np.intp]
    size: NDArray[np.intp] = field(init=False)
    n: FloatArray = field(init=False)
    positives: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", np.diff(np.append(self.start, len(self.y))))
        object.__setattr__(self, "n", self.total(self.weight))
        object.__setattr__(self, "positives", self.total(self.weight * self.y))

    @classmethod
    def from_unsorted(
        cls, X: FloatArray, y: BoolArray, codes: NDArray[np.intp], weight: FloatArray, n_groups: int
    ) -> GroupedRows:
        """Sort rows by group."""
        order = np.argsort(codes, kind="stable")
        size = np.bincount(codes, minlength=n_groups)
        start = (np.cumsum(size) - size).astype(np.intp)
        return cls(X[order], y[order].astype(np.float64), weight[order], start)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.start)

    @property
    def codes(self) -> NDArray[np.intp]:
        """Group of each row."""
        return np.repeat(np.arange(self.n_groups), self.size)

    def total(self, values: FloatArray) -> FloatArray:
        """Sum of values over the rows of each group."""
        return np.asarray(np.add.reduceat(values, self.start))

    def spread(self, values: FloatArray) -> FloatArray:
        """Value of each row's group."""
        return np.repeat(values, self.size)

    def only(self, groups: NDArray[np.intp]) -> GroupedRows:
        """Rows of some groups; for a single one they are not copied."""
        if len(groups) == 1:
            rows: Any = slice(self.start[groups[0]], self.start[groups[0]] + self.size[groups[0]])
        else:
            rows = np.isin(self.codes, groups)
        size = self.size[groups]
        return GroupedRows(self.X[rows], self.y[rows], self.weight[rows], (np.cumsum(size) - size).astype(np.intp))


@dataclass
class Sums:
    """Per-group sums of smooth predictions, or the slopes of a value with respect to them.

    Attributes
    ----------
    loss : ndarray of shape (n_groups,)
        ``sum v log-loss(y, sigma(t s))``.
    hits, passes : ndarray of shape (n_groups,)
        ``sum v y p`` and ``sum v p`` with ``p = sigma(t' s)``, the sharper sigmoid of the precision proxy.
    accepted, accepted_positives : ndarray of shape (n_groups,)
        ``sum v y~`` and ``sum v y y~`` with ``y~ = sigma(t s)``.
    largest : ndarray of shape (n_groups,)
        ``max y~``.
    """

    loss: FloatArray
    hits: FloatArray
    passes: FloatArray
    accepted: FloatArray
    accepted_positives: FloatArray
    largest: FloatArray

    @classmethod
    def zeros(cls, n_groups: int) -> Sums:
        """Slopes to add to."""
        return cls(*(np.zeros(n_groups) for _ in range(6)))


class SmoothRows:
    """One pass forward over the rows at given parameters, and the way back.

    Parameters
    ----------
    rows : GroupedRows
    parameters : ndarray of shape (n_features + 1,)
        Weights, then the intercept.
    temperature : float
        ``t`` of ``y~ = sigma(t s)`` in the loss and in the penalties.
    precision_temperature : float
        ``t'`` of ``p = sigma(t' s)`` in the precision proxy.
    """

    def __init__(
        self, rows: GroupedRows, parameters: FloatArray, temperature: float, precision_temperature: float
    ) -> None:
        self.rows = rows
        self.temperature, self.precision_temperature = temperature, precision_temperature
        self.score = rows.X @ parameters[:-1] + parameters[-1]
        self.soft = expit(temperature * self.score)
        sharp = precision_temperature != temperature
        self.proxy = expit(precision_temperature * self.score) if sharp else self.soft

    def sums(self, *, with_loss: bool = True, with_largest: bool = True) -> Sums:
        """Add up, per group; what is not asked for is left at 0."""
        rows, y, weight = self.rows, self.rows.y, self.rows.weight
        scaled = self.temperature * self.score
        weighted = weight * self.proxy
        hits, passes = rows.total(weighted * y), rows.total(weighted)
        same = self.proxy is self.soft
        return Sums(
            loss=rows.total(-weight * log_expit(np.where(y > 0, scaled, -scaled)))
            if with_loss
            else np.zeros_like(hits),
            hits=hits,
            passes=passes,
            accepted=passes if same else rows.total(weight * self.soft),
            accepted_positives=hits if same else rows.total(weight * y * self.soft),
            largest=np.asarray(np.maximum.reduceat(self.soft, rows.start)) if with_largest else np.zeros_like(hits),
        )

    def hard_counts(self) -> tuple[FloatArray, FloatArray]:
        """People selected at the current parameters, and true positives."""
        selected = self.rows.weight * (self.score > 0)
        return self.rows.total(selected), self.rows.total(selected * self.rows.y)

    def gradient(self, slopes: Sums) -> FloatArray:
        """Gradient with respect to weights and intercept, from slopes with respect to the sums."""
        rows, y = self.rows, self.rows.y
        bend = self.temperature * self.soft * (1 - self.soft)
        if self.proxy is self.soft:
            per_row = y * rows.spread(slopes.accepted_positives + slopes.hits)
            per_row += rows.spread(slopes.accepted + slopes.passes)
            per_row *= bend
        else:
            per_row = bend * (rows.spread(slopes.accepted) + y * rows.spread(slopes.accepted_positives))
            sharp = self.precision_temperature * self.proxy * (1 - self.proxy)
            per_row += sharp * (rows.spread(slopes.passes) + y * rows.spread(slopes.hits))
        if slopes.loss.any():
            per_row += self.temperature * (self.soft - y) * rows.spread(slopes.loss)
        per_row *= rows.weight
        if slopes.largest.any():
            top = np.flatnonzero(self.soft == rows.spread(np.maximum.reduceat(self.soft, rows.start)))
            owner = rows.codes[top]
            first = np.unique(owner, return_index=True)[1]  # of equals, the first carries the slope
            per_row[top[first]] += bend[top[first]] * slopes.largest[owner[first]]
        return np.append(per_row @ rows.X, per_row.sum())


# ---------------------------------------------------------------------- the parts


def smooth_precision(
    sums: Sums, costs: FloatArray, hard: tuple[FloatArray, FloatArray] | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Precision proxy ``q = hits / passes + E`` of each group, and its slopes in hits and passes.

    ``E = ((TP - c PP) - (hits - c passes)) / passes`` makes ``q - c`` have the sign of the hard rule exactly; it is
    held constant in the slopes (through it the gradient would point the other way). Without ``hard`` counts, or in a
    group of which nobody is selected (where it would say q = c), E is left out.

    Parameters
    ----------
    sums : Sums
    costs : ndarray of shape (n_groups,)
    hard : tuple of ndarray, optional
        Selected people and true positives at the current parameters.

    Returns
    -------
    q, dq_dhits, dq_dpasses : ndarray of shape (n_groups,)
    """
    passes = np.maximum(sums.passes, np.finfo(float).tiny)
    q = sums.hits / passes
    slope_hits, slope_passes = 1 / passes, -q / passes
    if hard is not None:
        selected, true_positives = hard
        gap = (true_positives - costs * selected) - (sums.hits - costs * sums.passes)
        q = np.where(selected > 0, q + gap / passes, q)
    return q, slope_hits, slope_passes


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


def rate_spread_penalty(
    accepted: FloatArray, n: FloatArray, wall: float = 0.0, tolerance: float = 0.0
) -> tuple[float, FloatArray]:
    """Distance of groups' rates from the overall rate: ``(1/K) sum_z e_z^2``, ``e_z = accepted_z / n_z - overall``.

    With ``accepted = sum y~`` and ``n`` people it is the parity penalty; over the qualified only, the penalty for
    equal true-positive rates. A wall adds ``wall (|e_z| - tolerance)^2`` where that is positive. Groups with ``n = 0``
    do not count. Slope in accepted.
    """
    n_groups, total = len(n), n.sum()
    counts = n > 0
    safe = np.where(counts, n, 1.0)
    gap = np.where(counts, accepted / safe - accepted.sum() / max(total, np.finfo(float).tiny), 0.0)
    beyond = np.sign(gap) * np.maximum(np.abs(gap) - tolerance, 0.0)
    value = (gap @ gap + wall * beyond @ beyond) / n_groups
    slope = 2 * (gap + wall * beyond) / n_groups
    return float(value), np.where(counts, slope / safe - slope.sum() / max(total, np.finfo(float).tiny), 0.0)


def weighted_error(
    hits: FloatArray, passes: FloatArray, positives: FloatArray, target: FloatArray, price: float
) -> tuple[float, FloatArray, FloatArray]:
    """Errors on target groups, a false positive counting ``price`` times; slopes in hits and passes.

    The value is ``sum_z T_z (P_z - hits_z + price (passes_z - hits_z))``.

    At price 1 it is the smooth number of errors. At ``price = c / (1 - c)`` the gain ``hits - price (passes - hits)``
    is positive exactly for a (smooth) precision above c, so lowering it turns the score towards precision at the very
    top. Slopes in hits and passes.
    """
    value = target @ (positives - hits + price * (passes - hits))
    return float(value), -(1 + price) * target, price * target


def precision_hinge(
    q: FloatArray, at_least: FloatArray | None = None, at_most: FloatArray | None = None
) -> tuple[float, FloatArray]:
    """Squared distance of log-odds of precision from their bounds, averaged over groups; slope in q.

    Groups are kept in by ``q >= at_least`` and out by ``q <= at_most``; NaN in a bound leaves the group alone.
    """
    clipped = np.clip(q, PRECISION_CLIP, 1 - PRECISION_CLIP)
    odds = logit(clipped)
    low = high = np.zeros(len(q))
    if at_least is not None:
        low = np.nan_to_num(np.maximum(logit(at_least) - odds, 0.0))
    if at_most is not None:
        high = np.nan_to_num(np.maximum(odds - logit(at_most), 0.0))
    slope = np.where(clipped == q, 2 * (high - low) / (clipped * (1 - clipped)), 0.0)
    return float(low @ low + high @ high) / len(q), slope / len(q)


def order_hinge(
    q: FloatArray, higher: NDArray[np.intp], lower: NDArray[np.intp], margin: float
) -> tuple[float, FloatArray]:
    """Squared amount by which log-odds of precision break an order of groups; slope in q.

    Group ``higher[i]`` should exceed group ``lower[i]`` by the margin.
    """
    clipped = np.clip(q, PRECISION_CLIP, 1 - PRECISION_CLIP)
    odds = logit(clipped)
    short = np.maximum(odds[lower] - odds[higher] + margin, 0.0)
    pull = np.bincount(lower, short, len(q)) - np.bincount(higher, short, len(q))
    slope = np.where(clipped == q, 2 * pull / (clipped * (1 - clipped)), 0.0)
    return float(short @ short) / len(q), slope / len(q)


# ---------------------------------------------------------------------- the paper's objective


@dataclass(frozen=True)
class StrategicObjective:
    """The paper's objective: loss over those who (smoothly) apply, plus penalties.

    ``sum_z a_z L_z / sum_z a_z n_z + application R_app + parity R_parity + equal_tpr R_tpr + (l2 / 2) |w|^2``.

    Attributes
    ----------
    rows : GroupedRows
    costs : ndarray of shape (n_groups,)
        Cost that each group faces, tolerance included.
    application, parity, equal_tpr, l2 : float
        Weights of the penalties.
    temperature, precision_temperature, application_temperature : float
        Sharpness of y~ (loss and penalties), of the precision proxy, and of applications.
    corrected : bool
        Whether the precision proxy carries its correction by hard predictions.
    """

    rows: GroupedRows
    costs: FloatArray
    application: float = 1 / 6
    parity: float = 0.0
    equal_tpr: float = 0.0
    l2: float = 0.0
    temperature: float = 2.0
    precision_temperature: float = 5.0
    application_temperature: float = 5.0
    corrected: bool = True

    def __call__(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Value and gradient at weights and intercept."""
        rows = self.rows
        smooth = SmoothRows(rows, parameters, self.temperature, self.precision_temperature)
        sums = smooth.sums()
        hard = smooth.hard_counts() if self.corrected else None
        q, q_hits, q_passes = smooth_precision(sums, self.costs, hard)
        applies, applies_q = smooth_applies(q, self.costs, self.application_temperature)

        slopes = Sums.zeros(rows.n_groups)
        # where nobody applies even smoothly, the weights must not vanish together
        value, slopes.loss, slope_applies = induced_loss(sums.loss, rows.n, applies + np.finfo(float).tiny)
        penalty, slope_largest, pull = application_penalty(sums.largest, applies)
        value += self.application * penalty
        slopes.largest = self.application * slope_largest
        slope_q = (slope_applies + self.application * pull) * applies_q
        slopes.hits, slopes.passes = slope_q * q_hits, slope_q * q_passes
        if self.parity:
            penalty, slope = rate_spread_penalty(sums.accepted, rows.n)
            value += self.parity * penalty
            slopes.accepted = self.parity * slope
        if self.equal_tpr:
            penalty, slope = rate_spread_penalty(sums.accepted_positives, rows.positives)
            value += self.equal_tpr * penalty
            slopes.accepted_positives = self.equal_tpr * slope
        gradient = smooth.gradient(slopes)
        weights = parameters[:-1]
        gradient[:-1] += self.l2 * weights
        return value + self.l2 / 2 * float(weights @ weights), gradient


# ---------------------------------------------------------------------- towards a chosen set of applicants


@dataclass(frozen=True)
class TargetedObjective:
    """Errors on groups that are meant to apply, with everything else as a wall.

    Where :class:`StrategicObjective` lets the data decide who applies, this one is told, and so cannot get stuck where
    a group's smooth application, and with it the gradient, is 0. Its terms: :func:`weighted_error` on the target, a
    :func:`precision_hinge` that keeps the target in and others out, the two :func:`rate_spread_penalty` with walls, an
    :func:`order_hinge`, and a pull ``(1/2) sum_j stay_j (w_j - anchor_j)^2`` towards an anchor.

    Attributes
    ----------
    rows : GroupedRows
    target : ndarray of shape (n_groups,)
        1 for groups meant to apply, 0 for the others.
    scale : float
        What the errors are divided by.
    price : float
        Errors that a false positive counts for.
    temperature : float
        Sharpness of predictions.
    """

    rows: GroupedRows
    target: FloatArray
    scale: float
    price: float = 1.0
    temperature: float = 4.0
    at_least: FloatArray | None = None
    at_most: FloatArray | None = None
    hinge: float = 1.0
    order: tuple[NDArray[np.intp], NDArray[np.intp]] | None = None
    order_margin: float = 0.05
    parity: float = 0.0
    parity_wall: float = 0.0
    parity_tolerance: float = 0.0
    equal_tpr: float = 0.0
    tpr_wall: float = 0.0
    tpr_tolerance: float = 0.0
    anchor: FloatArray | None = None
    stay: FloatArray | None = None
    with_log_loss: bool = False

    def __call__(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Value and gradient at weights and intercept."""
        rows = self.rows
        smooth = SmoothRows(rows, parameters, self.temperature, self.temperature)
        sums = smooth.sums(with_loss=self.with_log_loss, with_largest=False)
        slopes = Sums.zeros(rows.n_groups)
        if self.with_log_loss:
            value = float(self.target @ sums.loss) / self.scale
            slopes.loss = self.target / self.scale
        else:
            value, slopes.hits, slopes.passes = weighted_error(
                sums.hits, sums.passes, rows.positives, self.target / self.scale, self.price
            )
        if self.at_least is not None or self.at_most is not None or self.order is not None:
            q, q_hits, q_passes = smooth_precision(sums, np.zeros(rows.n_groups))
            penalty, slope_q = precision_hinge(q, self.at_least, self.at_most)
            if self.order is not None:
                broken, slope = order_hinge(q, *self.order, self.order_margin)
                penalty, slope_q = penalty + broken, slope_q + slope
            value += self.hinge * penalty
            slopes.hits = slopes.hits + self.hinge * slope_q * q_hits
            slopes.passes = slopes.passes + self.hinge * slope_q * q_passes
        if self.parity:
            penalty, slope = rate_spread_penalty(
                sums.accepted, rows.n, self.parity_wall / self.parity, self.parity_tolerance
            )
            value += self.parity * penalty
            slopes.accepted = self.parity * slope
        if self.equal_tpr:
            penalty, slope = rate_spread_penalty(
                sums.accepted_positives, rows.positives, self.tpr_wall / self.equal_tpr, self.tpr_tolerance
            )
            value += self.equal_tpr * penalty
            slopes.accepted_positives = self.equal_tpr * slope
        gradient = smooth.gradient(slopes)
        if self.stay is not None:
            away = parameters if self.anchor is None else parameters - self.anchor
            pull = np.append(self.stay * away[:-1], 0.0)
            value += float(pull @ away) / 2
            gradient += pull
        return value, gradient
