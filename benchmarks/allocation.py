"""Time of the best threshold per group under demands, as groups grow. Writes results/allocation.md.

Times are also divided by the time numpy takes to sort the same scores (a stable argsort), measured in the same run.
"""

from __future__ import annotations

from _common import best_of, to_markdown, write  # first: it sets the number of threads

# isort: split
import numpy as np
import pandas as pd

from selfselect import ThresholdCurves
from selfselect.constraints import Constraints, DemographicParity, TruePositiveRateParity
from selfselect.learning import optimise_thresholds

ROWS = 1_000_000
GROUPS = (10, 1_000, 10_000)
COST = 0.6
DEMANDS = {
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
    sort = best_of(lambda: np.argsort(score, kind="stable"))
    curves = ThresholdCurves.from_scores(y, score, sensitive_features=z)
    applies = curves.step_applies(np.full(n_groups, COST))
    rows = []
    for name, demands in DEMANDS.items():
        found = optimise_thresholds(curves, applies, constraints=demands)
        seconds = best_of(lambda demands=demands: optimise_thresholds(curves, applies, constraints=demands), 2)
        rows.append(
            {
                "groups": n_groups,
                "demands": name,
                "seconds": f"{seconds:.2f}",
                "time / sort": f"{seconds / sort:.1f}",
                "let in": int(found.applying.sum()),
                "value": f"{found.value:.4f}",
                "gap": f"{found.gap:.1g}",
                "exact": "yes" if found.exact else "NO",
            }
        )
    return rows


def main():
    table = pd.DataFrame([row for n_groups in GROUPS for row in measure(n_groups)])
    write(
        "allocation.md",
        "# The best threshold per group\n\n"
        f"Made by `make bench`. {ROWS:,} rows, a cost of {COST:g}, the curves of the score being there already. sort:\n"
        "numpy's stable argsort of the same scores in the same run. gap: by how much another allocation might be\n"
        "better at most.\n\n"
        f"{to_markdown(table)}\n",
    )


if __name__ == "__main__":
    main()
