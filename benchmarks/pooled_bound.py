"""What the pooled bound costs and gains on Adult and bank, against a bound of each group by itself.

Writes results/pooled_bound.md. Splits 10 to 29 were not used to choose anything. Finished fits are kept in a file:
after an interruption the same command goes on::

    python benchmarks/pooled_bound.py [--splits 20] [--kept build/pooled_bound.csv]
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from itertools import product
from pathlib import Path

from _common import to_markdown, write  # first: it sets the number of threads

# isort: split
import numpy as np
import pandas as pd
from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).parents[1]))
from reproduction.data import load_dataset, make_split
from selfselect import GroupThresholdClassifier, SemiStrategicClassifier, StrategicClassifier
from selfselect.publishing import CrossFit, LowerBound

DATA, COSTS, FIRST_SPLIT = {"adult": "Adult", "bank_30": "bank 30%"}, (0.65, 0.75, 0.85), 10
#: Name, classifier, and whether it sees the columns of the group.
METHODS = {
    "semi": (SemiStrategicClassifier, False),
    "thresholds": (GroupThresholdClassifier, False),
    "strat_no_group": (StrategicClassifier, False),
    "strat_x": (StrategicClassifier, True),
}
BOUNDS = {"by itself": CrossFit(statistic=LowerBound()), "pooled": "cross_fit"}
COLUMNS = ("data", "cost", "method", "bound", "split", "accuracy", "groups", "selected", "true_positives")


def fit(data, cost, method, bound, split):
    """Accuracy among applicants of the test people, groups that apply, and their selected and hired test people."""
    people, (classifier, sees_group) = make_split(load_dataset(data), split), METHODS[method]
    train, test = (
        part.features if sees_group else part.features[:, part.n_group_columns :]
        for part in (people.train, people.test)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = classifier(cost=cost, publish=BOUNDS[bound]).fit(
            train, people.train.y, sensitive_features=people.train.codes
        )
    found = model.audit(test, people.test.y, people.test.codes)
    told = found.to_frame()[model.applies().to_numpy()]
    return found.induced_accuracy, len(told), told["new_selected"].sum(), told["new_true_positives"].sum()


def summarise(table):
    """A row per cell: accuracy of both bounds, their difference over splits, groups, and precision delivered."""
    rows = []
    for (data, method, cost), cell in table.groupby(["data", "method", "cost"], sort=False):
        both = cell.pivot_table(index="split", columns="bound", values="accuracy", dropna=False)[list(BOUNDS)]
        difference = 100 * (both["pooled"] - both["by itself"]).dropna()
        row = {"data": DATA[data], "method": method, "cost": cost}
        for bound in BOUNDS:
            part = cell[cell["bound"] == bound]
            delivered = part["true_positives"].sum() / max(part["selected"].sum(), 1)
            nobody = int(part["accuracy"].isna().sum())
            row[bound] = f"{100 * both[bound].mean():.1f}" + (f" (nobody in {nobody})" if nobody else "")
            row[f"groups, {bound}"] = f"{part['groups'].mean():.1f}"
            row[f"delivered, {bound}"] = f"{delivered:.3f}" if part["selected"].sum() else ""
        row["difference"] = f"{difference.mean():+.2f} ± {difference.sem():.2f}" if len(difference) > 1 else ""
        rows.append(row)
    return pd.DataFrame(rows)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--splits", type=int, default=20)
    options.add_argument("--kept", type=Path, default=Path("build/pooled_bound.csv"))
    options = options.parse_args()
    options.kept.parent.mkdir(parents=True, exist_ok=True)
    if not options.kept.exists():
        options.kept.write_text(",".join(COLUMNS) + "\n")
    done = set(pd.read_csv(options.kept)[list(COLUMNS[:5])].itertuples(index=False, name=None))
    splits = range(FIRST_SPLIT, FIRST_SPLIT + options.splits)
    cells = [(*rest, split) for split, *rest in product(splits, DATA, COSTS, METHODS, BOUNDS)]
    for cell in tqdm([cell for cell in cells if cell not in done], disable=None):
        with options.kept.open("a", newline="") as file:
            csv.writer(file, lineterminator="\n").writerow([*cell, *fit(*cell)])
    table = pd.read_csv(options.kept)
    table = table[table["split"].isin(splits)]
    count = table.groupby(list(COLUMNS[:4]))["split"].nunique()
    write(
        "pooled_bound.md",
        "# The pooled bound on Adult and bank\n\n"
        "Made by `make bench BENCHMARKS=pooled_bound`. Accuracy among applicants (percent of test people) of the\n"
        "default, and of `CrossFit(statistic=LowerBound())`, which bounds each group by itself; groups that apply;\n"
        "precision delivered to their test people. The difference is over splits in which somebody applies under\n"
        f"both. {count.min()} to {count.max()} splits from {FIRST_SPLIT} on; nothing was chosen on them.\n\n"
        f"{to_markdown(summarise(table))}\n",
    )


if __name__ == "__main__":
    np.seterr(invalid="ignore")
    main()
