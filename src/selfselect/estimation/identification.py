"""Whether a log identifies costs, and what would identify them if it does not."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

from .._errors import InputError
from .._formats import MAX_NAMED
from ..auditing import group_names
from .likelihood import Likelihood
from .logs import ApplicationLog

IdentifiedBy: TypeAlias = Literal["periods", "groups", "scale"]


def identify(log: ApplicationLog, likelihood: Likelihood, slope: float | None) -> IdentifiedBy:
    """What the slope can be estimated from, or an error."""
    rates = likelihood.rates
    if not ((rates > 0) & (rates < 1)).any():
        who = "everybody" if (rates == 1).all() else "nobody" if (rates == 0).all() else "either nobody or everybody"
        raise InputError(
            f"In every group {who} applied, so the log only bounds costs. Add periods in which some apply and some "
            "stay away."
        )
    if slope is not None:
        return "scale"
    by_group = pd.Series(log.published).groupby(log.groups.codes)
    within, differs = bool((by_group.max() > by_group.min()).any()), bool(np.ptp(log.published) > 0)
    if not within and (likelihood.n_groups > 1 or not differs):
        raise InputError(_what_would_identify(log, differs), key="not_identified")
    _refuse_steps(log, likelihood)
    return "periods" if within else "groups"


def _what_would_identify(log: ApplicationLog, differs: bool) -> str:
    once = len(log.published) == log.groups.n_groups
    why = "Each group has one row" if once else "The published value of a group is the same in all its rows"
    ways = ["rows of other periods in which another value was published about some group"]
    if differs:
        ways.append("one cost for all groups, if that is plausible (groups were told different values)")
    ways.append("an assumed scale: the cost is then the published value minus scale times the logit of the share")
    most = log.applicants >= log.pool / 2
    bounds = ""
    if most.any() and not most.all() and log.published[~most].max() < log.published[most].min():
        bounds = (
            " If all people of a group did the same, a common cost would lie between "
            f"{log.published[~most].max():g}, at which most stayed away, and {log.published[most].min():g}, at which "
            "most applied."
        )
    return (
        f"{why}, so costs and scale cannot be told apart: any cost fits, with some scale. Any of these would identify "
        f"them: {'; '.join(ways)}.{bounds}"
    )


def _refuse_steps(log: ApplicationLog, likelihood: Likelihood) -> None:
    """Refuse a log in which every group steps from nobody to everybody: the scale is then 0, and costs are ranges."""
    q = pd.Series(likelihood.published)
    some, others = likelihood.applicants > 0, likelihood.applicants < likelihood.pool
    ends = (q.where(rows).groupby(likelihood.codes).agg(["min", "max"]) for rows in (some, others))
    applied, stayed = (part.fillna({"min": np.inf, "max": -np.inf}) for part in ends)
    if (applied["min"] >= stayed["max"]).all():
        names = group_names(log.groups.labels) if likelihood.n_groups > 1 else ["all groups"]
        rows = zip(names, stayed["max"], applied["min"], strict=True)
        shown = [f"{name}: {low:g} to {high:g}" for name, low, high in rows]
        listed = "; ".join(shown[:MAX_NAMED]) + ("; ..." if len(shown) > MAX_NAMED else "")
        raise InputError(
            "Nobody applies below some published value, and everybody above it, so the scale is 0 (the best response) "
            "and costs are only known to lie between the last value at which people stayed away and the first at which "
            f"all applied ({listed}). Choose costs in these ranges, or add periods with values in them."
        )
    if (applied["max"] <= stayed["min"]).all():
        raise InputError(
            "Everybody applies below some published value, and nobody above it: no cost explains this. Are published "
            "values, applicants and pool the right columns?"
        )
