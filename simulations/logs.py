"""Intervals of costs that are estimated from logs of applications, against the costs that made the logs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit, ndtr

from selfselect.estimation import fit_behaviour


@dataclass(frozen=True)
class Log:
    """Settings of a log: costs are uniform on [0.4, 0.8], published values normal around them."""

    periods: int = 3
    groups: int = 4
    pool: int | tuple[int, int] = 500  # of each group; (smallest, largest): pools that grow geometrically
    scale: float = 0.1
    spread: float = 0.1  # standard deviation of published values around the cost
    variation: float = 0.0  # shares are Beta with this intraclass correlation, more than binomial
    shocks: float = 0.0  # standard deviation of what moves all groups of a period, in scales
    response: str = "logit"
    common: bool = False  # all groups have one cost
    together: float = 0.0  # share of the variance of published values that all groups of a period have in common

    def draw(self, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
        """A log, and the true costs."""
        shape = (self.periods, self.groups)
        costs = np.full(self.groups, rng.uniform(0.4, 0.8)) if self.common else rng.uniform(0.4, 0.8, self.groups)
        own, shared = (self.spread * np.sqrt(part) for part in (1 - self.together, self.together))
        published = np.clip(costs + rng.normal(0, own, shape) + rng.normal(0, shared, (self.periods, 1)), 0.02, 0.98)
        gain = (published - costs) / self.scale + self.shocks * rng.normal(size=(self.periods, 1))
        share = expit(gain) if self.response == "logit" else ndtr(gain)
        if self.variation:
            worth = 1 / self.variation - 1
            share = rng.beta(worth * share, worth * (1 - share))
        least, most = self.pool if isinstance(self.pool, tuple) else (self.pool, self.pool)
        pool = np.broadcast_to(np.geomspace(least, most, self.groups).astype(int), shape)
        period, group = np.indices(shape)
        frame = pd.DataFrame({"period": period.ravel(), "group": group.ravel(), "published": published.ravel()})
        return frame.assign(pool=pool.ravel(), applicants=rng.binomial(pool, share).ravel()), costs


SMALL, MANY = {"periods": 3, "groups": 4, "pool": 500}, {"periods": 20, "groups": 50, "pool": 50}
LOGS = (
    {
        f"{settings['periods']} periods, {settings['groups']} groups of {settings['pool']}{name}": Log(
            **settings, **more
        )
        for settings in (SMALL, MANY)
        for name, more in {
            "": {},
            ", varying": {"variation": 0.02},
            ", weak response": {"scale": 2.0},
            ", weak response, varying": {"scale": 2.0, "variation": 0.02},
            ", normal response": {"response": "probit"},
        }.items()
    }
    | {
        "5 periods, 10 groups of 20 to 2000, varying": Log(5, 10, (20, 2000), variation=0.02),
        "1 period, 8 groups of 500, common cost": Log(1, 8, common=True),
    }
    | {
        f"{periods} periods, 5 groups of 500, shocks of periods{name}": Log(periods, 5, shocks=0.5, together=together)
        for periods in (6, 20)
        for name, together in {"": 0.0, ", values move together": 0.5}.items()
    }
)


def log_intervals(settings: Log, rng: np.random.Generator) -> dict[str, float]:
    """Share of 95% intervals of costs that hold the truth, and of the scale; how many have no end."""
    log, costs = settings.draw(rng)
    found = fit_behaviour(
        log,
        group="group",
        period="period",
        published="published",
        applicants="applicants",
        pool="pool",
        response=settings.response,
        cost="common" if settings.common else "per_group",
    )
    inside = (found.cost_low <= costs) & (costs <= found.cost_high)
    of_scale = found.scale_low <= settings.scale <= found.scale_high if found.responds else np.isinf(found.cost_low[0])
    half = float(np.median((found.cost_high - found.cost_low) / 2))
    return {
        "cost": float(inside.mean()),
        "scale": float(of_scale),
        "no_end": float(np.mean(np.isinf(found.cost_low) | np.isinf(found.cost_high))),
        "half_width": half if np.isfinite(half) else np.nan,
    }
