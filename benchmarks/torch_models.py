"""Models of several kinds, trained naively and strategically, on Adult and bank. Writes results/torch_models.md.

Needs the extras torch and boosting. Splits 10 to 19 were not used to choose anything. Finished fits are kept in a file:
after an interruption the same command goes on::

    python benchmarks/torch_models.py [--splits 10] [--kept build/torch_models.csv] [--boosting]

``--boosting`` compares the same trees, trained both ways, with one threshold. Writes results/torch_models_boosting.md.
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from itertools import product
from pathlib import Path
from time import process_time

from _common import to_markdown, write  # first: it sets the number of threads

# isort: split
import pandas as pd
import torch
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).parents[1]))
from reproduction.data import load_dataset, make_split
from selfselect import GroupThresholdClassifier, InfeasibleError, SemiStrategicClassifier, StrategicClassifier
from selfselect.boosting import ScoreClassifier, strategic_objective
from selfselect.constraints import MaxSocialCost
from selfselect.torch import TorchStrategicClassifier

DATA, COSTS, FIRST_SPLIT = {"adult": "Adult", "bank_30": "bank 30%"}, (0.65, 0.75, 0.85), 10
LIMITS = {"none": (), "social cost": (MaxSocialCost(0.3),)}
COLUMNS = ("data", "cost", "limit", "method", "split")
MEASURES = ("accuracy", "selected", "true_positives", "social_cost", "seconds")
TREES = {"n_estimators": 50, "num_leaves": 15, "n_jobs": 1, "verbosity": -1, "random_state": 0}


def mlp():
    return make_pipeline(StandardScaler(), MLPClassifier((64, 64), early_stopping=True, random_state=0))


def boosted(cost):
    strategic = LGBMRegressor(objective=strategic_objective(cost=cost), **TREES)
    return ScoreClassifier(strategic, start=LGBMClassifier(**TREES))


METHODS = {
    "MLP, naive": lambda cost, **more: SemiStrategicClassifier(mlp(), cost=cost, **more),
    "MLP, strategic": lambda cost, **more: TorchStrategicClassifier(cost=cost, random_state=0, **more),
    "linear, strategic": lambda cost, **more: StrategicClassifier(cost=cost, random_state=0, **more),
    "boosting, strategic": lambda cost, **more: SemiStrategicClassifier(boosted(cost), cost=cost, **more),
    "MLP, naive, per group": lambda cost, **more: GroupThresholdClassifier(mlp(), cost=cost, **more),
    "MLP, strategic, per group": lambda cost, **more: TorchStrategicClassifier(
        cost=cost, thresholds="per_group", random_state=0, **more
    ),
    "boosting, naive, per group": lambda cost, **more: GroupThresholdClassifier(
        HistGradientBoostingClassifier(max_iter=50, random_state=0), cost=cost, **more
    ),
}
BOOSTING = {
    "boosting, naive": lambda cost, **more: SemiStrategicClassifier(LGBMClassifier(**TREES), cost=cost, **more),
    "boosting, strategic": METHODS["boosting, strategic"],
}


def fit(data, cost, limit, method, split):
    """Measures of one fit on the test people; none but the time if the constraint cannot be met."""
    people = make_split(load_dataset(data), split)
    train, test = (part.features[:, part.n_group_columns :] for part in (people.train, people.test))
    start = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = (METHODS | BOOSTING)[method](cost, constraints=LIMITS[limit])
        try:
            model.fit(train, people.train.y, sensitive_features=people.train.codes)
        except InfeasibleError:
            return "", 0, 0, "", process_time() - start
        seconds = process_time() - start
        found = model.audit(test, people.test.y, people.test.codes)
    told = found.to_frame()[model.applies().to_numpy()]
    sums = told["new_selected"].sum(), told["new_true_positives"].sum()
    return found.induced_accuracy, *sums, found.social_cost, seconds


def summarise(table):
    """A row per method and cost: means over splits in which somebody applies."""
    rows = []
    unit = table[table["method"] == table["method"].iloc[0]].groupby(["data", "cost", "limit"])["seconds"].mean()
    for (data, limit, method), part in table.groupby(["data", "limit", "method"], sort=False):
        row = {"data": DATA[data], "limit": limit, "method": method}
        for cost, cell in part.groupby("cost"):
            delivered = cell["true_positives"].sum() / max(cell["selected"].sum(), 1)
            nobody = int(cell["accuracy"].isna().sum())
            text = f"{100 * cell['accuracy'].mean():.1f} ± {100 * cell['accuracy'].sem():.1f}, {delivered:.2f}, "
            text += f"{100 * cell['social_cost'].mean():.0f}%" + (f" (nobody in {nobody})" if nobody else "")
            row[str(cost)] = text if nobody < len(cell) else "nobody"
        row["time"] = f"{(part.groupby('cost')['seconds'].mean() / unit[data, :, limit]).mean():.1f}"
        rows.append(row)
    return pd.DataFrame(rows)


def differences(table):
    """What strategic training of the same trees adds, in points: mean and standard error over splits, paired."""
    rows = []
    cells = ["data", "limit", "cost", "split"]
    wide = table.pivot(index=cells, columns="method", values=["accuracy", "social_cost"])  # noqa: PD010, keeps empty rows
    for (data, limit), part in wide.groupby(level=["data", "limit"], sort=False):
        row = {"data": DATA[data], "limit": limit}
        for cost, cell in part.groupby(level="cost"):
            added = 100 * (
                cell.xs("boosting, strategic", axis=1, level=1) - cell.xs("boosting, naive", axis=1, level=1)
            )
            added = added.dropna()
            texts = (f"{added[name].mean():+.1f} ± {added[name].sem():.1f}" for name in ("accuracy", "social_cost"))
            row[str(cost)] = "; ".join(texts) if len(added) > 1 else "nobody"
        rows.append(row)
    return pd.DataFrame(rows)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--splits", type=int, default=10)
    options.add_argument("--kept", type=Path, default=Path("build/torch_models.csv"))
    options.add_argument("--boosting", action="store_true")
    options = options.parse_args()
    methods = BOOSTING if options.boosting else METHODS
    torch.set_num_threads(1)
    options.kept.parent.mkdir(parents=True, exist_ok=True)
    if not options.kept.exists():
        options.kept.write_text(",".join(COLUMNS + MEASURES) + "\n")
    done = set(pd.read_csv(options.kept)[list(COLUMNS)].itertuples(index=False, name=None))
    splits = range(FIRST_SPLIT, FIRST_SPLIT + options.splits)
    cells = [(*rest, split) for split, *rest in product(splits, DATA, COSTS, LIMITS, methods)]
    for cell in tqdm([cell for cell in cells if cell not in done], disable=None):
        measures = fit(*cell)
        with options.kept.open("a", newline="") as file:
            csv.writer(file, lineterminator="\n").writerow([*cell, *measures])
    table = pd.read_csv(options.kept, keep_default_na=False, na_values={"accuracy": ["", "nan"], "social_cost": [""]})
    table = table[table["split"].isin(splits) & table["method"].isin(methods)]
    more = (
        "\nStrategic minus naive, split by split: points of accuracy among applicants; points of qualified people who\n"
        f"stay away.\n\n{to_markdown(differences(table))}\n"
        if options.boosting
        else ""
    )
    command = "python benchmarks/torch_models.py" + " --boosting" * options.boosting
    write(
        f"torch_models{'_boosting' * options.boosting}.md",
        "# Naive and strategic training of several models\n\n"
        f"Made by `{command}` with the extras `torch` and `boosting`. For each cost: accuracy\n"
        "among applicants (percent, with its standard error over splits), precision delivered to groups that apply,\n"
        "and the share of qualified people who stay away. Features without the group, published out of fold;\n"
        "`social cost` is under `MaxSocialCost(0.3)`. Time of a fit is a multiple of the first method's.\n"
        f"{table['split'].nunique()} splits from {FIRST_SPLIT} on.\n\n"
        f"{to_markdown(summarise(table))}\n" + more,
    )


if __name__ == "__main__":
    main()
