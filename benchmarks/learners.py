"""Time of the learners against one logistic regression, and how it grows. Writes results/learners.md.

Every time is divided by that of scikit-learn's LogisticRegression(C=inf) on the same data in the same run. How
accurate the learners are, cell by cell beside the paper, is in the reproduction (``make reproduce``).
"""

from __future__ import annotations

import warnings

from _common import best_of, peak_memory, to_markdown, write  # first: it sets the number of threads

# isort: split
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from selfselect import ApplicationWarning, NaiveClassifier, SemiStrategicClassifier, StrategicClassifier
from selfselect.constraints import BaseRateOrder, DemographicParity, TruePositiveRateParity
from selfselect.datasets import fetch_adult, fetch_bank

COST = 0.75
#: Multiples of one logistic regression that a fit should stay below.
BARS = {
    ("Adult", "strategic, on training data"): 10,
    ("bank 30%", "strategic, on training data"): 25,
    "naive, on training data": 1.2,
    "semi, search only": 1,
    "naive": 7,  # folds + 2
    "semi": 7,
    "strategic": 15,
}


def plain():
    return LogisticRegression(C=np.inf, max_iter=1000)


def on_real_data():
    rows = []
    for name, data in {
        "Adult": fetch_adult(),
        "bank 30%": fetch_bank(),
        "bank original": fetch_bank(negatives_removed=0.0),
    }.items():
        X, _, y, _, z, _ = train_test_split(data.data, data.target, data.group, test_size=0.3, random_state=0)
        bare = X.drop(columns=data.group_columns).to_numpy()
        X, y, z = X.to_numpy(), y.to_numpy(), z.to_numpy()
        fitted = plain().fit(X, y)
        weight = 12.0 if name == "Adult" else 100.0
        parity, tpr = (kind(0.2, relative=True, weight=weight) for kind in (DemographicParity, TruePositiveRateParity))
        tied, ordered = {"constraints": [parity]}, {"constraints": [BaseRateOrder(), parity, tpr]}
        search = SemiStrategicClassifier(fitted, cost=COST, prefit=True, publish="train")
        fits = {
            "naive": (NaiveClassifier(cost=COST), X),
            "naive, on training data": (NaiveClassifier(cost=COST, publish="train"), X),
            "semi": (SemiStrategicClassifier(cost=COST), X),
            "semi, search only": (search, X),
            "strategic": (StrategicClassifier(COST), X),
            "strategic, group not a feature": (StrategicClassifier(COST), bare),
            "strategic, equal selection rates": (StrategicClassifier(COST, **tied), bare),
            "strategic, precision ordered": (StrategicClassifier(COST, **ordered), bare),
            "strategic, on training data": (StrategicClassifier(COST, publish="train"), X),
            "... group not a feature": (StrategicClassifier(COST, publish="train"), bare),
            "... constructive": (StrategicClassifier(COST, publish="train", solver="constructive"), X),
            "... equal selection rates": (StrategicClassifier(COST, publish="train", **tied), bare),
            "... precision ordered": (StrategicClassifier(COST, publish="train", **ordered), bare),
        }
        baseline = best_of(lambda X=X, y=y: plain().fit(X, y), 5)
        for method, (model, features) in fits.items():
            seconds = best_of(lambda m=model, f=features, y=y, z=z: m.fit(f, y, sensitive_features=z), 3)
            bar = BARS.get((name, method), BARS.get(method, ""))
            rows.append(
                {
                    "data": name,
                    "rows": len(y),
                    "method": method,
                    "seconds": f"{seconds:.3f}",
                    "logistic regression (s)": f"{baseline:.3f}",
                    "multiple": f"{seconds / baseline:.1f}",
                    "bar": bar,
                    "met": "" if bar == "" else ("yes" if seconds / baseline <= bar else "NO"),
                }
            )
    return pd.DataFrame(rows)


def population(n_rows, n_groups, n_features=20):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    z = rng.integers(0, n_groups, n_rows)
    score = X[:, :5].sum(axis=1) / 2 + rng.normal(size=n_groups)[z] - 1
    return X, rng.uniform(size=n_rows) < 1 / (1 + np.exp(-score)), z


def growth(publish):
    rows = []
    sizes = [(10_000, 10), (100_000, 10), (1_000_000, 10), (100_000, 1_000), (100_000, 10_000)]
    for n_rows, n_groups in sizes:
        X, y, z = population(n_rows, n_groups)
        repeats = 3 if n_rows <= 100_000 else 1
        baseline = best_of(lambda X=X, y=y: plain().fit(X, y), repeats)
        model = StrategicClassifier(0.8, publish=publish)
        seconds = best_of(lambda m=model, X=X, y=y, z=z: m.fit(X, y, sensitive_features=z), repeats)
        memory = peak_memory(lambda m=model, X=X, y=y, z=z: m.fit(X, y, sensitive_features=z))
        rows.append(
            {
                "rows": n_rows,
                "groups": n_groups,
                "seconds": f"{seconds:.2f}",
                "microseconds per row": f"{1e6 * seconds / n_rows:.1f}",
                "multiple of logistic regression": f"{seconds / baseline:.1f}",
                "extra memory / data": f"{memory / X.nbytes:.1f}",
                "bar": 2,
                "met": "yes" if memory <= 2 * X.nbytes else "NO",
            }
        )
    return pd.DataFrame(rows)


def main():
    warnings.simplefilter("ignore", ApplicationWarning)
    real, grown, on_training = on_real_data(), growth("cross_fit"), growth("train")
    write(
        "learners.md",
        "# Time of the learners\n\n"
        f"Made by `make bench`. One fit at a cost of {COST:g}, least of three, beside one\n"
        "`LogisticRegression(C=inf).fit` on the same training split. Split 0. By default what is published comes from\n"
        'people scored out of five folds; "on training data" is the paper\'s way (`publish="train"`).\n\n'
        f"{to_markdown(real)}\n\n"
        "Growth of `StrategicClassifier.fit` on synthetic data, 20 features and the group not among them. Extra\n"
        "memory is the peak of what is allocated during fit, as a multiple of X.\n\n"
        f"{to_markdown(grown)}\n\n"
        'The same on training data (`publish="train"`).\n\n'
        f"{to_markdown(on_training)}\n",
    )


if __name__ == "__main__":
    main()
