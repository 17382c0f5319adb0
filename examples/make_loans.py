"""Make loans.csv: invented people who ask for a loan, with the score of an invented model; and loans_next_year.csv.

The year after, other people ask, the Coast fares better, and the Valley is new. Run ``python examples/make_loans.py``;
the seeds are fixed, so the files come out the same every time.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

#: Share of each region, and how its repayment differs from what the other columns say.
REGIONS = {
    "Centre": (0.35, 0.35),
    "North": (0.25, 0.1),
    "South": (0.2, -0.1),
    "Coast": (0.17, -0.8),
    "Islands": (0.03, -0.3),
}
#: The same a year later.
NEXT_YEAR = REGIONS | {"South": (0.16, -0.6), "Coast": (0.17, 0.1), "Valley": (0.04, 0.3)}


def make(n: int = 4000, seed: int = 7, regions: dict[str, tuple[float, float]] = REGIONS) -> pd.DataFrame:
    """Invent n people."""
    rng = np.random.default_rng(seed)
    region = rng.choice(list(regions), size=n, p=[share for share, _ in regions.values()])
    shift = np.array([regions[name][1] for name in region])
    age = rng.integers(21, 68, n)
    income = np.round(np.exp(rng.normal(7.8 + 0.2 * shift, 0.45, n)), -1)
    work = rng.choice(["salaried", "self-employed", "between jobs"], size=n, p=[0.7, 0.2, 0.1])
    debts = rng.poisson(1.2, n)
    signal = 1.4 * (np.log(income) - 7.8) + 0.015 * (age - 40) - 0.35 * debts + np.where(work == "salaried", 0.5, -0.4)
    repaid = rng.random(n) < 1 / (1 + np.exp(-(0.3 + 2.2 * signal + shift)))
    score = 1 / (1 + np.exp(-(0.05 + signal + rng.normal(0, 0.3, n))))
    frame = pd.DataFrame(
        {
            "applicant": np.arange(1, n + 1),
            "region": region,
            "age": age,
            "income": income.astype(object),
            "work": work,
            "debts": debts,
            "score": score.round(4),
            "repaid": np.where(repaid, "yes", "no"),
        }
    )
    frame.loc[rng.random(n) < 0.04, "income"] = None
    return frame


def make_next_year() -> pd.DataFrame:
    """Invent those of the year after."""
    return make(n=3000, seed=8, regions=NEXT_YEAR)


if __name__ == "__main__":
    make().to_csv(Path(__file__).with_name("loans.csv"), index=False)
    make_next_year().to_csv(Path(__file__).with_name("loans_next_year.csv"), index=False)
