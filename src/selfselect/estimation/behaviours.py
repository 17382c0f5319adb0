"""Costs and scale of a response by maximum likelihood, with profile-likelihood intervals."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import chi2
from scipy.stats import f as f_distribution

from .._validation import BoolArray, FloatArray, check_choice, check_fraction, check_nonnegative
from ..auditing import group_names
from ..auditing.reported import Described
from ..behaviour import Behaviour, LogitResponse, PrivateCosts
from .identification import IdentifiedBy, identify
from .likelihood import (
    CDF,
    DISTRIBUTION,
    Fit,
    Inflation,
    Likelihood,
    Response,
    cost_interval,
    end_of_interval,
    inflation_by_period,
    row_correlation,
)
from .logs import read_log

CostModel: TypeAlias = Literal["per_group", "common"]
#: So many scales beyond every published value, nobody applies, or everybody.
NOBODY = 40.0


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedBehaviour(Described):
    """How people respond, estimated from a log of applications. Made by :func:`fit_behaviour`.

    Attributes
    ----------
    groups : Index
        The groups.
    cost, cost_low, cost_high : ndarray
        Cost of each group: the published value at which half of it applies, with an interval. An end is infinite if the
        log does not bound it; the cost itself is infinite if nobody of the group ever applied (or, minus infinity, if
        everybody always did). NaN if the slope is not positive.
    scale, scale_low, scale_high : float
        Scale of the response; NaN if the slope is not positive, and without an interval if it was assumed.
    slope : float
        ``1 / scale`` as estimated. At most 0 if no more people apply where more is published: the model does not fit.
    response : {"logit", "probit"}
        Shape of the response.
    cost_model : {"per_group", "common"}
        Whether each group has a cost of its own.
    identified_by : {"periods", "groups", "scale"}
        What the slope is estimated from: published values that differ between periods, or only between groups (with a
        common cost), or a scale that was assumed.
    confidence : float
        Level of the intervals.
    correlation : float
        Correlation of people within a row by which intervals allow for shares that vary more than by chance.
    clustered : bool
        Whether intervals allow for what changes all groups of one period together.
    dispersion : float
        Pearson's statistic over its degrees of freedom: about 1 if the model fits, above it if shares vary more than by
        chance. NaN without degrees of freedom.
    pearson, df_residual, p_value : float
        Pearson's statistic, its degrees of freedom, and its probability if the model holds.
    slope_p_value : float
        Of the likelihood-ratio test that the published value does not matter; NaN if the scale was assumed.
    observations : DataFrame
        The rows of the log: group, period, published, applicants, pool, rate and fitted rate.
    """

    groups: pd.Index
    cost: FloatArray
    cost_low: FloatArray
    cost_high: FloatArray
    scale: float
    scale_low: float
    scale_high: float
    slope: float
    response: Response
    cost_model: CostModel
    identified_by: IdentifiedBy
    confidence: float
    correlation: float
    clustered: bool
    dispersion: float
    pearson: float
    df_residual: int
    p_value: float
    slope_p_value: float
    observations: pd.DataFrame

    @property
    def names(self) -> list[str]:
        """One text per group."""
        return group_names(self.groups)

    @property
    def responds(self) -> bool:
        """Whether more people apply where more is published, as every behaviour assumes."""
        return self.slope > 0

    def row_names(self) -> list[str]:
        """Names of the groups."""
        return self.names

    def to_frame(self) -> pd.DataFrame:
        """Table of the groups.

        Returns
        -------
        DataFrame, indexed by group
            ``rows``, ``pool`` and ``applicants`` in all, ``application_rate``, ``published_low`` and
            ``published_high`` (the range of published values), ``cost``, ``cost_low``, ``cost_high``, and
            ``extrapolated``: whether the cost lies outside that range, so that it depends on the response's shape.
        """
        rows = self.observations.groupby("code")
        frame = pd.DataFrame({"rows": rows.size(), **{name: rows[name].sum() for name in ("pool", "applicants")}})
        frame["application_rate"] = frame["applicants"] / frame["pool"]
        frame["published_low"], frame["published_high"] = rows["published"].min(), rows["published"].max()
        frame["cost"], frame["cost_low"], frame["cost_high"] = self.cost, self.cost_low, self.cost_high
        within = frame["cost"].between(frame["published_low"], frame["published_high"])
        frame["extrapolated"] = ~within & frame["cost"].notna()
        return frame.set_axis(self.groups)

    @property
    def costs(self) -> dict[Any, float]:
        """Cost by group, as ``cost=`` takes it: estimates outside of [0, 1] are moved to its nearer end."""
        self._check_responds()
        return dict(zip(self.groups, np.clip(self.cost, 0.0, 1.0).tolist(), strict=True))

    @property
    def behaviour(self) -> Behaviour:
        """How people respond at these :attr:`costs`, ready for ``behaviour=``.

        A :class:`~selfselect.behaviour.LogitResponse`, or private costs of a normal distribution (probit). If some
        estimate lies outside of [0, 1], the distributions of these groups are shifted by what :attr:`costs` lacks.
        """
        self._check_responds()
        inside = (self.cost >= 0) & (self.cost <= 1)
        if inside.all():
            return LogitResponse(self.scale) if self.response == "logit" else self._private(0.0)
        beyond = NOBODY * self.scale
        shift = np.clip(self.cost, -beyond, 1 + beyond) - np.clip(self.cost, 0, 1)
        made = {z: self._private(by).distribution for z, by in zip(self.groups, shift.tolist(), strict=True)}
        return PrivateCosts(made)

    def _private(self, shift: float) -> PrivateCosts:
        return PrivateCosts(DISTRIBUTION[self.response](shift, self.scale))

    def _check_responds(self) -> None:
        if not self.responds:
            raise ValueError(
                "No more people apply where more is published (the slope is not positive), so no cost explains this "
                "log. Look for what else changed between its rows, such as pay or competition."
            )

    def share_at(self, gain: ArrayLike) -> FloatArray:
        """Fitted share that applies where the published value is above the cost by a gain (below it if negative)."""
        return np.asarray(CDF[self.response](np.asarray(gain, dtype=np.float64) / self.scale))


def fit_behaviour(
    log: Any,
    *,
    group: Hashable | Sequence[Hashable],
    published: Hashable,
    applicants: Hashable,
    pool: Hashable | None = None,
    period: Hashable | None = None,
    cost: CostModel = "per_group",
    response: Response = "logit",
    scale: float | None = None,
    overdispersion: bool = True,
    confidence: float = 0.95,
) -> EstimatedBehaviour:
    """Estimate the cost of each group, and how sharply people respond, from a log of applications.

    The model is ``applicants ~ Binomial(pool, F((published - cost) / scale))`` with a logistic or normal F: half of a
    group applies where its cost is published. It is a binomial regression with the slope ``1 / scale``, fitted by
    maximum likelihood. Intervals invert the likelihood-ratio test (profile likelihood), with a slope that is not
    negative. They are unbounded where the log does not exclude that the published value does not matter.

    Costs are identified only if published values vary: over the periods of some group, or between groups with
    ``cost="common"``. A log of one period with a cost per group needs an assumed ``scale``.

    Parameters
    ----------
    log : DataFrame
        One row per group and period, of pandas, polars or pyarrow.
    group : column, or list of columns
        Group of each row; combinations if there are several columns.
    published : column
        Value in [0, 1] that was published about the group: the share of those who passed who were qualified.
    applicants : column
        How many applied.
    pool : column
        How many could have applied. Without it, nothing is identified, and an error says so.
    period : column, optional
        Period of each row; a group has one row per period. By default every row is a period of its own. With periods,
        intervals allow for what changes all groups of one period together: their variances are clustered by period.
    cost : {"per_group", "common"}, default="per_group"
        Whether each group has a cost of its own.
    response : {"logit", "probit"}, default="logit"
        Distribution F.
    scale : float, optional
        Scale to assume instead of estimating it.
    overdispersion : bool, default=True
        Whether shares may vary more than by chance, because people of one row are correlated. Rows then weigh what they
        are worth, so that Pearson's statistic equals its degrees of freedom (quasi-likelihood with Williams' weights),
        and intervals use quantiles of the F distribution. Shares that vary less than by chance change no weights.
        Without it, intervals allow for chance alone.
    confidence : float, default=0.95
        Level of the intervals.

    Returns
    -------
    EstimatedBehaviour
        With ``to_frame()``, ``verdict()``, ``costs`` (for ``cost=``) and ``behaviour`` (for ``behaviour=``).

    Examples
    --------
    >>> log = pd.DataFrame({"year": [1, 2, 3] * 2, "region": ["A"] * 3 + ["B"] * 3})
    >>> log["rate"], log["people"] = [0.5, 0.6, 0.7, 0.6, 0.7, 0.8], 1000
    >>> log["applied"] = [270, 500, 730, 120, 270, 500]
    >>> columns = {"group": "region", "period": "year", "published": "rate", "applicants": "applied", "pool": "people"}
    >>> estimate = fit_behaviour(log, **columns)
    >>> {name: round(cost, 2) for name, cost in estimate.costs.items()}, round(estimate.scale, 2)
    ({'A': 0.6, 'B': 0.8}, 0.1)
    >>> type(estimate.behaviour).__name__
    'LogitResponse'
    """
    check_choice(cost, "cost", ("per_group", "common"))
    check_choice(response, "response", ("logit", "probit"))
    check_fraction(confidence, "confidence", inclusive=False)
    if scale is not None and check_nonnegative(scale, "scale") == 0:
        raise ValueError("scale must be positive.")
    rows = read_log(log, group, period, published, applicants, pool)
    per_group = cost == "per_group"
    codes = rows.groups.codes if per_group else np.zeros_like(rows.groups.codes)
    everything = Likelihood(
        response, rows.applicants, rows.pool, rows.published, codes, rows.groups.n_groups if per_group else 1
    )
    given = None if scale is None else 1 / scale
    identified_by = identify(rows, everything, given)
    rates = everything.rates
    interior = (rates > 0) & (rates < 1)
    used = interior[codes]
    likelihood = everything.of(used)
    best = likelihood.maximise(slope=given)
    df = int(used.sum() - interior.sum() - (given is None))
    pearson = likelihood.pearson(best)
    distribution: Any = chi2(1)
    correlation, wider, clustered = 0.0, Inflation(np.ones(len(interior)), 1.0, df), False
    if overdispersion and df > 0:
        correlation = row_correlation(likelihood, df, given)
        everything = everything.weighted(correlation)
        likelihood = everything.of(used)
        best = likelihood.maximise(slope=given)
        names, periods = np.unique(pd.factorize(rows.periods)[0][used], return_inverse=True)
        clustered = 1 < len(names) < len(periods) and best.slope > 0
        if clustered:
            wider = inflation_by_period(likelihood, best, periods, df, slope_is_given=given is not None)
        distribution = f_distribution(1, wider.df)
    limit = float(distribution.ppf(confidence))
    fitted = rates[codes]
    fitted[used] = likelihood.fitted(best)
    test = max(2 * (best.value - likelihood.maximise(slope=0.0).value), 0.0) / wider.slope
    limits = limit * np.where(interior, wider.costs, wider.slope)
    costs, ends = _costs(everything, likelihood, best, interior, limits, given, excluded=test > limit)
    scales = (np.nan, np.nan)
    if given is None and best.slope > 0:
        low, high = _slopes(likelihood, best, limit * wider.slope, excluded=test > limit)
        scales = 1 / high, 1 / low if low > 0 else np.inf
    observations = pd.DataFrame(
        {
            "group": rows.groups.labels[rows.groups.codes],
            "period": rows.periods.to_numpy(),
            "published": rows.published,
            "applicants": rows.applicants,
            "pool": rows.pool,
            "rate": rows.applicants / rows.pool,
            "fitted": fitted,
            "code": rows.groups.codes,
        }
    )
    positions = slice(None) if per_group else np.zeros(rows.groups.n_groups, dtype=np.intp)
    return EstimatedBehaviour(
        groups=rows.groups.labels,
        cost=costs[positions],
        cost_low=ends[positions, 0],
        cost_high=ends[positions, 1],
        scale=1 / best.slope if best.slope > 0 else np.nan,
        scale_low=scales[0],
        scale_high=scales[1],
        slope=best.slope,
        response=response,
        cost_model=cost,
        identified_by=identified_by,
        confidence=confidence,
        correlation=correlation,
        clustered=clustered,
        dispersion=pearson / df if df > 0 else np.nan,
        pearson=pearson,
        df_residual=df,
        p_value=float(chi2.sf(pearson, df)) if df > 0 else np.nan,
        slope_p_value=float(distribution.sf(test)) if given is None else np.nan,
        observations=observations,
    )


def _costs(
    everything: Likelihood,
    likelihood: Likelihood,
    best: Fit,
    interior: BoolArray,
    limits: FloatArray,
    given: float | None,
    *,
    excluded: bool,
) -> tuple[FloatArray, FloatArray]:
    """Costs and their intervals; ``excluded`` says whether a slope of 0 is."""
    if best.slope <= 0:
        unknown = (np.nan, np.nan) if excluded else (-np.inf, np.inf)
        return np.full(len(interior), np.nan), np.tile(unknown, (len(interior), 1))
    bound = np.where(everything.rates < 0.5, np.inf, -np.inf)
    costs = np.where(interior, -best.intercepts / best.slope, bound)
    ends = np.empty((len(interior), 2))
    for z in range(len(interior)):
        own = likelihood if interior[z] else everything.of(interior[everything.codes] | (everything.codes == z))
        ends[z] = cost_interval(own, best, z, limits[z], given)
    return costs, ends


def _slopes(likelihood: Likelihood, best: Fit, limit: float, *, excluded: bool) -> tuple[float, float]:
    """Interval of a positive slope; its lower end is 0 if that is not excluded."""

    def distance(slope: float) -> float:
        return 2 * (best.value - likelihood.maximise(slope=slope).value)

    low = end_of_interval(distance, limit, best.slope, -best.slope / 8) if excluded else 0.0
    return low, end_of_interval(distance, limit, best.slope, best.slope / 8)
