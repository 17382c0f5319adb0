"""Make applications.csv: an invented log of who applied for a loan, year by year; one_year.csv, its last; and pool.csv.

Each row is a region and a year: the share of those who passed screening the year before who repaid (published), how
many people wanted a loan (the pool), and how many applied. The costs of the regions are below. Run ``python
examples/make_applications.py``; the seed is fixed, so the files come out the same every time.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

#: Cost of applying, people who want a loan in a year, and the success rate published in the first year.
REGIONS = {
    "Centre": (0.66, 1900, 0.78),
    "Coast": (0.62, 1300, 0.66),
    "Islands": (0.70, 240, 0.64),
    "North": (0.66, 1400, 0.72),
    "South": (0.75, 1500, 0.70),
}
SCALE, YEARS = 0.06, range(2020, 2026)


def make(seed: int = 11) -> pd.DataFrame:
    """Invent the log. Shares of one year vary more than by chance, as they do in the world."""
    rng = np.random.default_rng(seed)
    rows = []
    for region, (cost, people, rate) in REGIONS.items():
        for year in YEARS:
            published = round(float(np.clip(rate + rng.normal(0, 0.05), 0, 1)), 3)
            pool = int(people * rng.uniform(0.95, 1.05))
            share = 1 / (1 + np.exp(-(published - cost) / SCALE))
            applied = rng.binomial(pool, rng.beta(300 * share, 300 * (1 - share)))
            rows.append((year, region, published, pool, applied))
    return pd.DataFrame(rows, columns=["year", "region", "published", "people", "applied"])


def make_pool() -> pd.DataFrame:
    """People of each region who could have asked for a loan of loans.csv."""
    return pd.DataFrame({"region": list(REGIONS), "pool": [people for _, people, _ in REGIONS.values()]})


if __name__ == "__main__":
    make().to_csv(Path(__file__).with_name("applications.csv"), index=False)
    make().query("year == 2025").to_csv(Path(__file__).with_name("one_year.csv"), index=False)
    make_pool().to_csv(Path(__file__).with_name("pool.csv"), index=False)
