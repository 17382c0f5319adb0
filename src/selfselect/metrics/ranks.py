"""Whether published precisions follow base rates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats


@dataclass(frozen=True)
class RankAgreement:
    """How well the order of groups by precision agrees with their order by base rate.

    Attributes
    ----------
    r2 : float
        Squared Pearson correlation of base rates with the ranks of precisions, as in Horowitz et al. (2024). It ignores
        the direction, and need not be 1 for a perfect order.
    spearman, kendall : float
        Rank correlations in [-1, 1].
    respected : bool
        Whether a higher base rate never comes with a lower precision.
    n_groups : int
        Number of groups with a precision; the others are left out.
    """

    r2: float
    spearman: float
    kendall: float
    respected: bool
    n_groups: int


def rank_agreement(base_rates: ArrayLike, precisions: ArrayLike) -> RankAgreement:
    """Compare the order of groups by precision with their order by base rate.

    Parameters
    ----------
    base_rates, precisions : array-like of shape (n_groups,)
        One number per group; two Series are matched by their index. Groups whose precision is NaN are left out. A
        correlation of fewer than two groups, or of a constant, is NaN.

    Examples
    --------
    >>> agreement = rank_agreement([0.1, 0.2, 0.3], [0.9, 0.8, 0.7])
    >>> round(agreement.r2, 6), agreement.kendall, agreement.respected
    (1.0, -1.0, False)
    """
    if isinstance(base_rates, pd.Series) and isinstance(precisions, pd.Series):
        duplicates = base_rates.index.has_duplicates or precisions.index.has_duplicates
        if duplicates or len(base_rates.index.symmetric_difference(precisions.index)):
            raise ValueError("base_rates and precisions must be indexed by the same groups, each once.")
        precisions = precisions.reindex(base_rates.index)
    mu = np.asarray(base_rates, dtype=np.float64)
    precision = np.asarray(precisions, dtype=np.float64)
    if mu.ndim != 1 or mu.shape != precision.shape:
        raise ValueError(
            f"base_rates and precisions must have one number per group, got {mu.shape} and {precision.shape}."
        )
    if np.isnan(mu).any():
        raise ValueError("base_rates has missing values; every group with people has a base rate.")
    defined = ~np.isnan(precision)
    mu, precision = mu[defined], precision[defined]
    by_base_rate = pd.Series(precision).groupby(mu).agg(["min", "max"])
    highest_before = by_base_rate["max"].cummax().shift(fill_value=-np.inf)
    respected = bool((by_base_rate["min"] >= highest_before).all())
    if len(mu) < 2 or np.ptp(mu) == 0 or np.ptp(precision) == 0:
        return RankAgreement(np.nan, np.nan, np.nan, respected, len(mu))
    return RankAgreement(
        r2=float(stats.pearsonr(mu, stats.rankdata(precision)).statistic ** 2),
        spearman=float(stats.spearmanr(mu, precision).statistic),
        kendall=float(stats.kendalltau(mu, precision).statistic),
        respected=respected,
        n_groups=len(mu),
    )
