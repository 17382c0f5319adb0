"""Time of published statistics and threshold curves, as rows and groups grow. Writes results/statistics_and_curves.md.

Times are divided by the time numpy takes to sort the same scores (a stable argsort), measured in the same run: these
ratios can be compared across machines, and a flat column means the cost grows as m log m.
"""

from __future__ import annotations

from _common import best_of, peak_memory, to_markdown, write  # first: it sets the number of threads

# isort: split
import numpy as np
import pandas as pd

from selfselect import PublishedStatistics, ThresholdCurves

ROWS = (10_000, 100_000, 1_000_000)
GROUPS = (10, 1_000, 100_000)
COST = 0.7


def measure(n_rows, n_groups):
    rng = np.random.default_rng(0)
    z = rng.integers(0, n_groups, n_rows)  # with fewer rows than groups, not all of them occur
    score = rng.uniform(size=n_rows)
    y = rng.uniform(size=n_rows) < score
    repeats = 5 if n_rows <= 100_000 else 3
    curves = ThresholdCurves.from_scores(y, score, sensitive_features=z)
    steps = {
        "sort": lambda: np.argsort(score, kind="stable"),
        "statistics": lambda: PublishedStatistics.from_scores(y, score, threshold=0.5, sensitive_features=z).applies(
            COST
        ),
        "curves": lambda: ThresholdCurves.from_scores(y, score, sensitive_features=z),
        "intervals": lambda: curves.application_intervals(COST),
        "outcomes": lambda: curves.outcomes(COST),
        "calibrated": lambda: curves.is_calibrated(),
    }
    seconds = {name: best_of(call, repeats) for name, call in steps.items()}
    memory = peak_memory(lambda: ThresholdCurves.from_scores(y, score, sensitive_features=z).outcomes(COST))
    return {
        "rows": n_rows,
        "groups": n_groups,
        **{f"{name} (s)": f"{value:.4f}" for name, value in seconds.items()},
        **{f"{name} / sort": f"{seconds[name] / seconds['sort']:.1f}" for name in ("statistics", "curves", "outcomes")},
        "peak bytes per row": f"{memory / n_rows:.0f}",
    }


def main():
    table = pd.DataFrame([measure(rows, groups) for rows in ROWS for groups in GROUPS])
    write(
        "statistics_and_curves.md",
        "# Published statistics and threshold curves\n\n"
        "Made by `make bench`. sort: numpy's stable argsort of the same scores in the same run. statistics: counts,\n"
        "precisions and who applies. curves: all groups' counts at every threshold. The rest is read off them.\n\n"
        f"{to_markdown(table)}\n",
    )


if __name__ == "__main__":
    main()
