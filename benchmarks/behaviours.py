"""Classifiers trained for one behaviour, met by another. Writes results/behaviours.csv, and a picture in docs/images.

``StrategicClassifier`` with default settings at a cost of 0.7, with the group among the features and without, on splits
10 to 19 of Adult and of the bank data (30% of negatives removed). Finished fits are kept in ``build/behaviours.csv``,
from which a run goes on.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

from _common import RESULTS, to_markdown, write  # first: it sets the number of threads

# isort: split
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import norm
from sklearn.model_selection import train_test_split
from tqdm import tqdm

from selfselect import ApplicationWarning, StrategicClassifier
from selfselect.behaviour import BestResponse, BetaBeliefs, LogitResponse, PrivateCosts
from selfselect.datasets import fetch_adult, fetch_bank

COST = 0.7
SPLITS = range(10, 20)
BEHAVIOURS = {
    "best response": BestResponse(),
    "logit, scale 0.05": LogitResponse(0.05),
    "private costs, N(0, 0.1)": PrivateCosts(norm(0, 0.1)),
    "Beta beliefs, strength 50": BetaBeliefs(mean=0.5, strength=50),
}
METRICS = {
    "induced_accuracy": "accuracy among applicants",
    "social_cost": "qualified people who stay away",
    "application_rate": "people who apply",
}
#: End of the names of data sets whose features do not tell groups apart.
WITHOUT = ", without the group"
ROOT = Path(__file__).parents[1]
KEPT, PICTURE = ROOT / "build" / "behaviours.csv", ROOT / "docs" / "images" / "behaviours.png"


def rows_of(name, data, split, trained_for):
    """Outcomes of one fit under every behaviour."""
    features = data.data.drop(columns=data.group_columns if name.endswith(WITHOUT) else [])
    X, X_new, y, y_new, z, z_new = train_test_split(
        features, data.target, data.group, test_size=0.3, random_state=split
    )
    model = StrategicClassifier(COST, behaviour=BEHAVIOURS[trained_for], random_state=0)
    audit = model.fit(X, y, sensitive_features=z).audit(X_new, y_new, z_new)
    key = {"data": name, "split": split, "trained for": trained_for}
    for people, behaviour in BEHAVIOURS.items():
        outcome = audit.under(replace(model.terms_, behaviour=behaviour)).outcome
        yield key | {"people behave like": people} | {metric: getattr(outcome, metric) for metric in METRICS}


def run():
    """All outcomes; finished fits are not repeated."""
    tables = {"Adult": fetch_adult(), "bank 30%": fetch_bank()}
    tables = {f"{name}{end}": data for name, data in tables.items() for end in ("", WITHOUT)}
    done = pd.read_csv(KEPT) if KEPT.exists() else pd.DataFrame(columns=["data", "split", "trained for"])
    finished = set(zip(done["data"], done["split"], done["trained for"], strict=True))
    jobs = [(name, split, trained_for) for name in tables for split in SPLITS for trained_for in BEHAVIOURS]
    KEPT.parent.mkdir(exist_ok=True)
    for name, split, trained_for in tqdm([job for job in jobs if job not in finished], disable=None):
        rows = pd.DataFrame(rows_of(name, tables[name], split, trained_for))
        rows.to_csv(KEPT, mode="a", header=not KEPT.exists(), index=False)
    return pd.read_csv(KEPT).sort_values("data", kind="stable")


def matrix(values):
    """A column of values as a table: trained for x people behave like."""
    table = values.reset_index().pivot_table(
        index="trained for", columns="people behave like", values=values.name, aggfunc="first", dropna=False
    )
    return table.loc[list(BEHAVIOURS), list(BEHAVIOURS)]


def gains(results):
    """Accuracy gained by training for how people behave, over training for the best response, split by split."""
    accuracy = results.pivot_table(
        index=["data", "people behave like", "split"], columns="trained for", values="induced_accuracy"
    )
    rows = []
    for (name, people), fits in accuracy.groupby(["data", "people behave like"], sort=False):
        gain = 100 * (fits[people] - fits["best response"]).dropna()
        if people != "best response":
            error = gain.std(ddof=1) / np.sqrt(len(gain))
            rows.append(
                {
                    "data": name,
                    "people behave like": people,
                    "gain": f"{gain.mean():+.1f} ± {error:.1f}",
                    "splits": len(gain),
                }
            )
    return pd.DataFrame(rows)


def draw(means):
    """One matrix per data set and metric."""
    names = list(means.index.unique("data"))
    figure, axes = plt.subplots(len(names), len(METRICS), figsize=(13, 3.1 * len(names)), layout="constrained")
    for row, name in zip(axes, names, strict=True):
        for ax, (metric, title) in zip(row, METRICS.items(), strict=True):
            table = matrix(means.loc[name][metric])
            middle = (np.nanmin(table) + np.nanmax(table)) / 2
            reach = max(np.nanmax(table) - middle, 0.02)  # small differences look small
            colours = "Blues" if metric != "social_cost" else "Oranges"
            ax.imshow(table, cmap=colours, vmin=middle - reach, vmax=middle + reach, aspect="auto")
            for (i, j), value in np.ndenumerate(table.to_numpy()):
                text = "nobody" if np.isnan(value) else f"{100 * value:.1f}"
                ax.text(j, i, text, ha="center", va="center", color="white" if value > middle else "black")
            ax.set_xticks(range(len(table)), [text.split(",")[0] for text in table.columns], rotation=20)
            ax.set_yticks(range(len(table)), [text.split(",")[0] for text in table.index] if ax is row[0] else [])
            if name == names[0]:
                ax.set_title(f"{title} (%)")
        row[0].set_ylabel("\n".join([*name.split(", "), "trained for"]))
    for ax in axes[-1]:
        ax.set_xlabel("people behave like")
    figure.savefig(PICTURE, dpi=110)


def main():
    warnings.simplefilter("ignore", ApplicationWarning)
    results = run()
    keys = ["data", "trained for", "people behave like"]
    groups = results.groupby(keys, sort=False)[list(METRICS)]
    means, errors = groups.mean(), groups.std(ddof=1) / np.sqrt(groups.count())
    nobody = results["induced_accuracy"].isna().groupby([results[key] for key in keys], sort=False).sum()
    table = means.round(4).join(errors.round(4), rsuffix="_error").join(nobody.rename("splits without applicants"))
    table.reset_index().to_csv(RESULTS / "behaviours.csv", index=False)
    draw(means)
    sections = [
        "## Accuracy gained by training for how people behave, over training for the best response (points)\n\n"
        f"Over the splits in which somebody applies to both.\n\n{to_markdown(gains(results))}"
    ]
    for name in means.index.unique("data"):
        for metric, title in METRICS.items():
            cells = (100 * means.loc[name][metric]).map("{:.1f}".format)
            cells = cells + " ± " + (100 * errors.loc[name][metric]).map("{:.1f}".format)
            frame = matrix(cells.rename(metric)).reset_index()
            sections.append(f"## {name}: {title} (%)\n\n{to_markdown(frame)}")
    write(
        "behaviours.md",
        "# Trained for one behaviour, met by another\n\n"
        f"Made by `make bench BENCHMARKS=behaviours`. `StrategicClassifier`, cost {COST:g}, splits\n"
        f"{SPLITS[0]} to {SPLITS[-1]}: means and standard errors over splits. Rows: the behaviour that the classifier\n"
        "was trained for. Columns: how people behave.\n\n" + "\n\n".join(sections),
    )


if __name__ == "__main__":
    main()
