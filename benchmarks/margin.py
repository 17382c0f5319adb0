"""What a margin over the cost does: induced accuracy, and precision on new people. Writes results/margin.md.

People decide by the training statistics, so a group applies as published; but new people of a group that was brought
just over the cost are usually less precise than that. A margin buys some of this back.
"""

from __future__ import annotations

import warnings

from _common import to_markdown, write  # first: it sets the number of threads

# isort: split
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from tqdm import tqdm

from selfselect import ApplicationWarning, PublishedStatistics, StrategicClassifier
from selfselect.datasets import fetch_adult, fetch_bank

COSTS = (0.65, 0.75, 0.85)
SPLITS = range(10)
MARGINS = (0.0, 0.02, 0.05)


def one_fit(data, split, cost, margin, with_group):
    columns = list(data.data.columns) if with_group else [c for c in data.data.columns if c not in data.group_columns]
    X, X_new, y, y_new, z, z_new = train_test_split(
        data.data[columns], data.target, data.group, test_size=0.3, random_state=split
    )
    model = StrategicClassifier(cost, margin=margin, publish="train").fit(X, y, sensitive_features=z)
    new = PublishedStatistics.from_estimator(model, X_new, y_new, sensitive_features=z_new).counts
    applies = model.applies().to_numpy()
    return (
        model.audit(X_new, y_new, z_new).induced_accuracy,
        new.true_positives[applies].sum(),
        new.selected[applies].sum(),
    )


def main():
    warnings.simplefilter("ignore", ApplicationWarning)
    tables = {"Adult": fetch_adult(), "bank 30%": fetch_bank(), "bank original": fetch_bank(negatives_removed=0.0)}
    jobs = [(name, with_group, t) for name in tables for with_group in (True, False) for t in MARGINS]
    rows = []
    for name, with_group, margin in tqdm(jobs, disable=None):
        row = {"data": name, "group columns": "yes" if with_group else "no", "margin": margin}
        for cost in COSTS:
            fits = np.array([one_fit(tables[name], k, cost, margin, with_group) for k in SPLITS])
            accuracy, precision = 100 * fits[:, 0].mean(), fits[:, 1].sum() / fits[:, 2].sum()
            row[f"cost {cost:g}"] = f"{accuracy:.1f} ({precision:.2f})"
        rows.append(row)
    write(
        "margin.md",
        "# A margin over the cost\n\n"
        "Made by `make bench`. Induced accuracy of `StrategicClassifier` on new people (percent), splits 0 to 9;\n"
        "in parentheses the precision among new people of the groups that apply, to be compared with the cost.\n\n"
        f"{to_markdown(pd.DataFrame(rows))}\n",
    )


if __name__ == "__main__":
    main()
