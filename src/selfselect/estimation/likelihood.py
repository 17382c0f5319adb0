"""Binomial likelihood of applications: ``A ~ Binomial(N, F(a_z + b q))``, with an intercept per group and one slope.

The slope is ``b = 1 / scale``, and the cost of group z is ``c_z = -a_z / b``. Newton's method uses that the information
matrix has an arrow's shape: intercepts of different groups meet only in the slope. So a step takes time in proportion
to the rows, for any number of groups.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import entr, expit, log_expit, log_ndtr, logit, ndtr, ndtri
from scipy.stats import logistic, norm

from .._validation import BoolArray, FloatArray

Response: TypeAlias = Literal["logit", "probit"]
#: Distribution function, quantiles and frozen distributions of each response.
CDF: dict[str, Callable[[FloatArray], FloatArray]] = {"logit": expit, "probit": ndtr}
QUANTILE: dict[str, Callable[[FloatArray], FloatArray]] = {"logit": logit, "probit": ndtri}
DISTRIBUTION = {"logit": logistic, "probit": norm}
#: Newton's method ends when a step promises less than this in log-likelihood.
TOLERANCE = 1e-11
MAX_STEPS = 200
#: An interval that reaches further than this has no end.
FURTHEST = 1e6


class Fit(NamedTuple):
    """A maximum of the log-likelihood, counted from that of a model that fits every row."""

    value: float
    intercepts: FloatArray
    slope: float


def likelihood_terms(
    response: Response, eta: FloatArray, applied: FloatArray, stayed: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log-likelihood of each row at the linear predictor, its derivative, and minus its second derivative."""
    if response == "logit":
        share = expit(eta)
        pool = applied + stayed
        value = applied * log_expit(eta) + stayed * log_expit(-eta)
        return value, applied - pool * share, pool * share * expit(-eta)
    log_up, log_down = log_ndtr(eta), log_ndtr(-eta)
    log_density = -0.5 * (eta**2 + np.log(2 * np.pi))
    up, down = np.exp(log_density - log_up), np.exp(log_density - log_down)
    information = applied * up * (up + eta) + stayed * down * (down - eta)
    return applied * log_up + stayed * log_down, applied * up - stayed * down, information


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Likelihood of a log: applicants, pool and published value of each row, and the code of its group."""

    response: Response
    applicants: FloatArray
    pool: FloatArray
    published: FloatArray
    codes: NDArray[np.intp]
    n_groups: int

    def by_group(self, values: FloatArray) -> FloatArray:
        """Sums of the rows of each group."""
        return np.bincount(self.codes, values, self.n_groups).astype(np.float64)

    @property
    def rates(self) -> FloatArray:
        """Application rate of each group, over all its rows; NaN without rows."""
        pool = self.by_group(self.pool)
        return self.by_group(self.applicants) / np.where(pool > 0, pool, np.nan)

    def of(self, rows: BoolArray) -> Likelihood:
        """The same of some rows."""
        parts = {name: getattr(self, name)[rows] for name in ("applicants", "pool", "published", "codes")}
        return replace(self, **parts)

    def fitted(self, fit: Fit) -> FloatArray:
        """Share of each row that applies by a fit."""
        return np.asarray(CDF[self.response](fit.intercepts[self.codes] + fit.slope * self.published))

    def pearson(self, fit: Fit) -> float:
        """Pearson's statistic of a fit."""
        share = self.fitted(fit)
        return float((self.pool * (self.applicants / self.pool - share) ** 2 / (share * (1 - share))).sum())

    def weighted(self, correlation: float) -> Likelihood:
        """The same with pools as large as they are worth if people of one row are correlated (Williams' weights).

        The variance of a share is then ``1 + (pool - 1) correlation`` times the binomial one.
        """
        worth = 1 / (1 + np.maximum(self.pool - 1, 0.0) * correlation)
        return replace(self, applicants=self.applicants * worth, pool=self.pool * worth)

    @cached_property
    def saturated(self) -> float:
        """Log-likelihood of a model that fits every row."""
        share = self.applicants / self.pool
        return -float(self.pool @ (entr(share) + entr(1 - share)))

    def maximise(
        self,
        *,
        slope: float | None = None,
        tied: int | None = None,
        cost: float = 0.0,
        start: Fit | None = None,
    ) -> Fit:
        """Maximise over intercepts and slope; the slope may be given, and one group be tied to a cost.

        A group that is tied has the intercept ``-slope cost``.
        """
        applied, stayed, codes = self.applicants, self.pool - self.applicants, self.codes
        x, free = self.published, np.bincount(codes, minlength=self.n_groups) > 0
        intercepts = np.zeros(self.n_groups)
        if start is None:
            smooth = (self.by_group(applied) + 0.5) / (self.by_group(self.pool) + 1)
            b = 0.0 if slope is None else slope
            mean = self.by_group(x * self.pool) / np.maximum(self.by_group(self.pool), 1e-300)
            intercepts = QUANTILE[self.response](smooth) - b * mean
        else:
            intercepts, b = start.intercepts.copy(), start.slope if slope is None else slope
        if tied is not None:
            x = np.where(codes == tied, x - cost, x)
            free[tied] = False
            intercepts[tied] = 0.0
        saturated = self.saturated

        def evaluate(a: FloatArray, b: float) -> tuple[float, FloatArray, FloatArray]:
            value, score, information = likelihood_terms(self.response, a[codes] + b * x, applied, stayed)
            return float(value.sum()) - saturated, score, information

        value, score, information = evaluate(intercepts, b)
        for _ in range(MAX_STEPS):
            gradient = np.where(free, self.by_group(score), 0.0)
            weight = np.where(free, np.maximum(self.by_group(information), 1e-300), 1.0)
            mixed = np.where(free, self.by_group(information * x), 0.0)
            step_b = 0.0
            if slope is None:
                curvature = float(information @ x**2 - mixed @ (mixed / weight))
                step_b = float(score @ x - mixed @ (gradient / weight)) / max(curvature, 1e-300)
            step = (gradient - mixed * step_b) / weight
            promised = float(gradient @ step + (score @ x) * step_b)
            if promised < TOLERANCE:
                break
            length = 1.0
            while length > 1e-10:
                new = evaluate(intercepts + length * step, b + length * step_b)
                if new[0] >= value + 1e-4 * length * promised - 1e-12 * abs(value):
                    break
                length /= 2
            intercepts, b = intercepts + length * step, b + length * step_b
            value, score, information = new
        if tied is not None:
            intercepts[tied] = -b * cost
        return Fit(value, intercepts, b)


def row_correlation(likelihood: Likelihood, df: int, slope: float | None) -> float:
    """Correlation within rows at which Pearson's statistic equals its degrees of freedom; 0 if it is smaller anyway."""

    def excess(correlation: float) -> float:
        weighted = likelihood.weighted(correlation)
        return weighted.pearson(weighted.maximise(slope=slope)) - df

    if excess(0.0) <= 0:
        return 0.0
    if excess(1.0) >= 0:
        return 1.0
    result: float = brentq(excess, 0.0, 1.0, xtol=1e-7)
    return result


class Inflation(NamedTuple):
    """How much wider the variances of costs and slope are because rows of one period vary together.

    ``costs`` and ``slope`` are ratios of variances, at least 1; ``df`` replaces the degrees of freedom.
    """

    costs: FloatArray
    slope: float
    df: float


def inflation_by_period(
    likelihood: Likelihood, fit: Fit, periods: NDArray[np.intp], df: float, *, slope_is_given: bool
) -> Inflation:
    """Sandwich variances clustered by period over those of the likelihood, and the degrees of freedom left.

    A row changes the estimate of a cost by its influence, and the sum over a period of influences squared estimates
    the variance. Residuals with the correlation rho inside periods of m rows are worth ``1 + (m - 1) rho^2`` times
    fewer degrees of freedom (Satterthwaite).
    """
    codes, x, slope = likelihood.codes, likelihood.published, fit.slope
    applied, stayed = likelihood.applicants, likelihood.pool - likelihood.applicants
    _, score, information = likelihood_terms(likelihood.response, fit.intercepts[codes] + slope * x, applied, stayed)
    weight = np.maximum(likelihood.by_group(information), 1e-300)
    mean = likelihood.by_group(information * x) / weight
    centred = x - mean[codes]
    curvature = float(information @ centred**2)
    number, n_periods = np.bincount(periods), len(np.bincount(periods))
    by_period = np.bincount(periods, score * centred)
    own = np.zeros((n_periods, likelihood.n_groups))
    np.add.at(own, (periods, codes), score)
    # cost = -intercept / slope: its derivatives in the intercept and the slope
    in_intercept, in_slope = -1 / slope, fit.intercepts / slope**2
    through_slope = np.zeros(len(weight)) if slope_is_given else (in_slope - in_intercept * mean) / curvature
    influence = through_slope * by_period[:, None] + in_intercept * own / weight
    variance = through_slope**2 * curvature + in_intercept**2 / weight
    few = n_periods / (n_periods - 1)
    share = likelihood.fitted(fit)
    residual = (applied - likelihood.pool * share) / np.sqrt(likelihood.pool * share * (1 - share))
    pairs = float((number * (number - 1)).sum())
    together = float((np.bincount(periods, residual) ** 2).sum() - residual @ residual) / max(pairs, 1.0)
    rho = np.clip(together / max(float(np.mean(residual**2)), 1e-300), 0.0, 1.0)
    return Inflation(
        np.maximum(few * (influence**2).sum(axis=0) / variance, 1.0),
        max(few * float(by_period @ by_period) / curvature, 1.0),
        df / (1 + pairs * rho**2 / len(x)),
    )


def end_of_interval(distance: Callable[[float], float], limit: float, inside: float, step: float) -> float:
    """Where the distance reaches the limit, from a point inside in the direction of the step; infinite if nowhere."""
    near, far = inside, inside + step
    while distance(far) <= limit:
        near, step = far, 2 * step
        far = inside + step
        if abs(step) > FURTHEST:
            return float(np.copysign(np.inf, step))
    root = np.sqrt(limit)
    result: float = brentq(lambda at: np.sqrt(max(distance(at), 0.0)) - root, near, far, xtol=1e-9, rtol=1e-9)
    return result


def cost_interval(
    likelihood: Likelihood, best: Fit, group: int, limit: float, slope: float | None
) -> tuple[float, float]:
    """Costs of a group whose likelihood-ratio statistic is at most the limit, where the slope is not negative.

    For a cost c the likelihood is maximised with the group's intercept tied to ``-slope c``. As c goes to infinity,
    the slope goes to 0, so an end is infinite if a slope of 0 is not excluded. The set is an interval: pairs of
    intercept and slope of a high likelihood are convex, and costs are their directions.

    ``likelihood`` holds the rows that ``best`` was fitted to, and those of the group, of which nobody or everybody may
    have applied in every row: then its cost has one bound only.
    """
    scale, rate = 1 / best.slope, likelihood.rates[group]
    cost = -best.intercepts[group] / best.slope if 0 < rate < 1 else np.copysign(np.inf, 0.5 - rate)
    last = best

    def distance(at: float) -> float:
        nonlocal last
        last = likelihood.maximise(slope=slope, tied=group, cost=at, start=last)
        if slope is None and last.slope < 0:
            return without_slope(group)
        return 2 * (best.value - last.value)

    def without_slope(tied: int | None) -> float:
        """Likelihood-ratio statistic of a slope of 0, at which half of a tied group applies whatever its cost."""
        return 2 * (best.value - likelihood.maximise(slope=0.0, tied=tied).value)

    if not np.isfinite(cost):  # some cost beyond what was published, at which the statistic is small
        step, inside = np.copysign(scale, cost), float(np.mean(likelihood.published[likelihood.codes == group]))
        while distance(inside) > limit / 2:
            inside, step = inside + step, 2 * step
    else:
        inside = float(cost)
    ends = []
    for sign in (-1.0, 1.0):  # as the cost goes to infinity, at most half of the group applies
        tied = group if (rate - 0.5) * sign > 0 else None
        open_end = cost * sign == np.inf or (slope is None and without_slope(tied) <= limit)
        last = best
        ends.append(sign * np.inf if open_end else end_of_interval(distance, limit, inside, sign * scale / 4))
    return ends[0], ends[1]
