"""Time of the best threshold per group under constraints, as groups grow. Writes results/allocation.md.

Times are also divided by the time numpy takes to sort the same scores (argsort), measured in the same run.
"""

from __future__ import annotations

from _common import best_of, to_markdown, write  # first: it sets the number of threads

# isort: split
import numpy as np
import pandas as pd

from selfselect.behaviour import BestResponse, LogitResponse
from selfselect.constraints import Constraints, DemographicParity, TruePositiveRateParity
from selfselect.costs import Terms
from selfselect.learning import optimise_thresholds
from selfselect.publishing import ThresholdCurves

ROWS = 1_000_000
GROUPS = (10, 1_000, 10_000)
COST = 0.6
BEHAVIOURS = {"best response": BestResponse(), "logit": LogitResponse(0.05)}
CONSTRAINTS = {
    "none": Constraints(),
    "social cost 0.2": Constraints(max_social_cost=0.2),
    "selection rates within 0.05": Constraints(between_groups=(DemographicParity(0.05),)),
    "four fifths": Constraints(between_groups=(DemographicParity(ratio_bound=0.8),)),
    "within 0.05, social cost 0.5": Constraints(max_social_cost=0.5, between_groups=(DemographicParity(0.05),)),
    "both rates within 0.2": Constraints(between_groups=(DemographicParity(0.2), TruePositiveRateParity(0.2))),
}


def population(n_rows, n_groups, seed=0):
    rng = np.random.default_rng(seed)
    z = np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, n_rows - n_groups)])
    score = rng.uniform(size=n_rows)
    easier = rng.normal(0, 0.2, n_groups)[z]
    return rng.uniform(size=n_rows) < np.clip(score + easier, 0.02, 0.98), score, z


def measure(n_groups):
    y, score, z = population(ROWS, n_groups)
    sort = best_of(lambda: np.argsort(score))
    curves = ThresholdCurves.from_scores(y, score, sensitive_features=z)
    rows = []
    for behaviour_name, behaviour in BEHAVIOURS.items():
        shares = curves.step_shares(Terms(COST, behaviour=behaviour))
        for name, constraints in CONSTRAINTS.items():
            best, seconds = timed(lambda: optimise_thresholds(curves, shares, constraints=constraints))  # noqa: B023
            rows.append(
                {
                    "groups": n_groups,
                    "behaviour": behaviour_name,
                    "constraints": name,
                    "seconds": f"{seconds:.2f}",
                    "time / sort": f"{seconds / sort:.1f}",
                    "groups applying": int(best.applying.sum()),
                    "people applying": f"{best.share @ curves.n / curves.n.sum():.3f}",
                    "value": f"{best.value:.4f}",
                    "gap": f"{best.gap:.1g}",
                    "exact": "yes" if best.exact else "NO",
                }
            )
    return rows


def timed(search, repeats=2):
    """Result of a search and the least time of a few calls."""
    results = []
    seconds = best_of(lambda: results.append(search()), repeats)
    return results[0], seconds


def main():
    table = pd.DataFrame([row for n_groups in GROUPS for row in measure(n_groups)])
    write(
        "allocation.md",
        "# The best threshold per group\n\n"
        f"Made by `make bench`. {ROWS:,} rows, a cost of {COST:g}; curves and shares are given. sort: numpy's argsort\n"
        "of the same scores in the same run. gap: by how much other thresholds might be better at most.\n\n"
        f"{to_markdown(table)}\n",
    )


if __name__ == "__main__":
    main()
