"""Sentences about costs that were estimated from a log of applications."""

from __future__ import annotations

import math
import shlex
from typing import TYPE_CHECKING

import numpy as np

from ..._formats import MAX_NAMED, amount, count, level, percent
from .words import WORTH, name_groups, several

if TYPE_CHECKING:  # importing estimation would import scipy.stats
    from ...estimation import EstimatedBehaviour

#: What the slope is estimated from.
IDENTIFIED_BY = {
    "periods": "Costs are identified by published values that changed between periods.",
    "groups": "Costs are identified only by published values that differ between groups, which are all taken to have "
    "the same cost.",
    "scale": "The scale was assumed, and costs depend on it.",
}
#: With more groups than this, options for single groups are not listed.
MAX_OPTIONS = 20
#: Shares that vary so much with a smaller probability than this are said to vary more than by chance.
MISFIT = 0.05


def cost_range_text(low: float, high: float) -> str:
    """An interval of a cost, which may have no end."""
    if math.isnan(low):
        return "none"
    if math.isinf(low) and math.isinf(high):
        return "unbounded"
    if math.isinf(high):
        return f"{amount(low)} or more"
    return f"{amount(high)} or less" if math.isinf(low) else f"{amount(low)} to {amount(high)}"


def cost_text(cost: float) -> str:
    """An estimated cost; one without an estimate in words."""
    if math.isinf(cost):
        return f"{'more' if cost > 0 else 'less'} than the log can tell"
    return "none" if math.isnan(cost) else amount(cost)


def p_text(value: float) -> str:
    """A probability of a test."""
    return "p < 0.001" if value < 0.001 else f"p = {amount(value)}"


def estimate_sentences(estimate: EstimatedBehaviour) -> list[str]:
    """The costs, the response, what they rest on, and how well the model fits."""
    if not estimate.responds:
        return [*_no_response(estimate), _fit(estimate)]
    return [
        _costs(estimate),
        _response(estimate),
        IDENTIFIED_BY[estimate.identified_by],
        *_open(estimate),
        _fit(estimate),
    ]


def _costs(estimate: EstimatedBehaviour) -> str:
    names, costs = estimate.names, estimate.cost.tolist()
    ends = [cost_range_text(*pair) for pair in zip(estimate.cost_low, estimate.cost_high, strict=True)]
    interval = f"{level(estimate.confidence)} interval"
    share = WORTH.replace("of what", "as a share of what")
    if estimate.cost_model == "common":
        return f"Applying costs {cost_text(costs[0])} ({interval} {ends[0]}), {share}, the same for all groups."
    if len(names) > MAX_NAMED:
        z = [min(range(len(names)), key=costs.__getitem__), max(range(len(names)), key=costs.__getitem__)]
        both = [f"{cost_text(costs[i])} for {name_groups([names[i]])} ({interval} {ends[i]})" for i in z]
        return f"What applying costs each of {len(names)} groups, {share}, runs from {both[0]} to {both[1]}."
    listed = [
        f"{cost_text(cost)} for {name_groups([name])} ({interval + ' ' if i == 0 else ''}{end})"
        for i, (name, cost, end) in enumerate(zip(names, costs, ends, strict=True))
    ]
    return f"Applying costs {', '.join(listed)}, {share}."


def _response(estimate: EstimatedBehaviour) -> str:
    interval = ""
    if not math.isnan(estimate.scale_low):
        ends = cost_range_text(estimate.scale_low, estimate.scale_high)
        interval = f", {level(estimate.confidence)} interval {ends}"
    return (
        f"Half of a group applies where its cost is published; where {amount(estimate.scale)} more is published (the "
        f"scale{interval}), {percent(float(estimate.share_at(estimate.scale)))} apply."
    )


def _open(estimate: EstimatedBehaviour) -> list[str]:
    """Why some intervals have no end."""
    frame = estimate.to_frame()
    extreme = frame["application_rate"].isin((0.0, 1.0)).to_numpy()
    open_ = np.isinf(frame["cost_low"]) | np.isinf(frame["cost_high"])
    parts = []
    if (open_ & ~extreme).any():
        parts.append(
            f"The log does not exclude that the published value hardly matters ({p_text(estimate.slope_p_value)}), so "
            "some intervals have no end. More periods, or values that differ more, would close them."
        )
    if extreme.any() and estimate.cost_model == "per_group":
        whom = several([name for name, is_so in zip(estimate.names, extreme, strict=True) if is_so], estimate.names)
        parts.append(f"Nobody, or everybody, ever applied of {whom}, so the cost has one bound only.")
    return parts


def _no_response(estimate: EstimatedBehaviour) -> list[str]:
    p = estimate.slope_p_value
    rarely = "it may be chance" if p > 1 - estimate.confidence else "this is more than chance"
    return [
        f"No more people apply where more is published ({p_text(p)}: {rarely}), so the model does not fit and no cost "
        "is estimated.",
        "Look for what else changed between the rows (pay, competition, who counts as the pool), or whether people saw "
        "the published values at all.",
    ]


def _fit(estimate: EstimatedBehaviour) -> str:
    if math.isnan(estimate.dispersion):
        return "There are as many parameters as rows, so the fit cannot be checked."
    df = estimate.df_residual
    chance = f"dispersion {amount(estimate.dispersion)}, {count(df)} degree{'s' if df > 1 else ''} of freedom"
    if estimate.p_value >= MISFIT:
        return f"Shares vary about as much as by chance ({chance})."
    return (
        f"Shares vary more than by chance ({chance}): people differ in more than their group, or something else "
        "changed. Intervals allow for it"
        + (", also where" if estimate.clustered else "; if you name the periods, they also do where")
        + " it changes all groups of one period together."
    )


def cost_notes(estimate: EstimatedBehaviour) -> list[str]:
    """What to know about each estimate; empty if nothing."""
    notes = []
    for row in estimate.to_frame().itertuples():
        outside = "above 1: used as 1" if row.cost > 1 else "below 0: used as 0" if row.cost < 0 else ""
        far = "outside of what was published" if row.extrapolated and math.isfinite(row.cost) else ""
        who = {0.0: "nobody ever applied", 1.0: "everybody always applied"}.get(row.application_rate, "")
        notes.append(", ".join(filter(None, (who, outside, far))))
    return notes


def cost_options(estimate: EstimatedBehaviour) -> str:
    """Options of the command for these costs; empty if there are too many groups, or names that cannot be typed."""
    costs = list(estimate.costs.values())
    if estimate.cost_model == "common":
        return f"--cost {amount(costs[0])}"
    if len(costs) > MAX_OPTIONS or not all(name.isprintable() for name in estimate.names):
        return ""
    rows = zip(estimate.names, costs, strict=True)
    return " ".join(f"--cost-of {shlex.quote(f'{name}={amount(cost)}')}" for name, cost in rows)
