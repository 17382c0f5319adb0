"""Time and memory of fits, as multiples of one logistic regression. Writes results/learners.md.

Every time is divided by that of scikit-learn's LogisticRegression(C=inf) on the same data in the same run, both in
processor time on one thread. How accurate the learners are is in the reproduction (``make reproduce``). Parts of the
table: ``python benchmarks/learners.py adult,bank strategic,parity``.
"""

from __future__ import annotations

import sys
import warnings
from time import process_time

from _common import peak_memory, to_markdown, write  # first: it sets the number of threads

# isort: split
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from selfselect import GroupThresholdClassifier, NaiveClassifier, StrategicClassifier
from selfselect.constraints import DemographicParity, MaxSocialCost
from selfselect.datasets import fetch_adult, fetch_bank

COST = 0.75
#: Each work: whether the group is among the features where there are such columns, and the classifier.
WORK = {
    "naive": (True, lambda **how: NaiveClassifier(cost=COST, **how)),
    "strategic": (True, lambda **how: StrategicClassifier(COST, **how)),
    "social cost": (False, lambda **how: StrategicClassifier(COST, constraints=[MaxSocialCost(0.9)], **how)),
    "parity": (
        False,
        lambda **how: StrategicClassifier(
            COST, constraints=[DemographicParity(0.2, relative=True, weight=12.0)], **how
        ),
    ),
    "thresholds": (True, lambda **how: GroupThresholdClassifier(cost=COST, **how)),
}
MODES = ("train", "cross_fit")
DATA = ("adult", "bank", "1e5", "1e6", "1e5xK1000")
#: Multiples that fits should stay below; under K=1000 a multiple of the time under K=10.
AIMS = {
    ("naive", "cross_fit"): dict.fromkeys(DATA[:4], 6.5),
    ("thresholds", "cross_fit"): dict.fromkeys(DATA[:4], 6.5),
    ("strategic", "train"): {"adult": 2.5, "bank": 2.5, "1e5": 4, "1e6": 4},
    ("strategic", "cross_fit"): {"adult": 6, "bank": 6, "1e6": 10},
    **{(work, "train"): dict.fromkeys(DATA[:4], 8) for work in ("social cost", "parity")},
    **{(work, "cross_fit"): dict.fromkeys(DATA[:4], 20) for work in ("social cost", "parity")},
}
MEMORY_AIMS = {"train": 1.0, "cross_fit": 2.0}
#: The same multiples before folds and starts were fitted at once.
BEFORE: dict[tuple[str, str], dict[str, float]] = {
    ("naive", "train"): {"adult": 1.2, "bank": 1.2, "1e5": 2.5, "1e6": 3},
    ("naive", "cross_fit"): {"adult": 6.7, "bank": 7.1, "1e5": 15.6, "1e6": 13.6},
    ("strategic", "train"): {"adult": 1.9, "bank": 2.2, "1e5": 8.2, "1e6": 17, "1e5xK1000": 17},
    ("strategic", "cross_fit"): {"adult": 20.9, "bank": 19.1, "1e5": 35.5, "1e6": 37},
    ("social cost", "train"): {"adult": 14.8, "bank": 14.4, "1e5": 145.5, "1e6": 91},
    ("social cost", "cross_fit"): {"adult": 72.8, "bank": 71.7, "1e5": 511, "1e6": 548},
    ("parity", "train"): {"adult": 13.9, "bank": 33.7, "1e5": 110, "1e6": 193, "1e5xK1000": 402},
    ("parity", "cross_fit"): {"adult": 114.3, "bank": 224.8, "1e5": 714, "1e6": 854},
    ("thresholds", "train"): {"adult": 1.1, "bank": 1.3},
    ("thresholds", "cross_fit"): {"adult": 7, "bank": 7.9, "1e5": 9.8, "1e6": 12.7},
}


def plain():
    return LogisticRegression(C=np.inf, max_iter=1000)


def population(n_rows, n_groups, n_features=20):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    z = rng.integers(0, n_groups, n_rows)
    score = X[:, :5].sum(axis=1) / 2 + rng.normal(size=n_groups)[z] - 1
    return X, rng.uniform(size=n_rows) < 1 / (1 + np.exp(-score)), z


def load(name):
    """Features with the columns of the group and without, labels and groups."""
    if name in ("adult", "bank"):
        data = fetch_adult() if name == "adult" else fetch_bank()
        X, _, y, _, z, _ = train_test_split(data.data, data.target, data.group, test_size=0.3, random_state=0)
        return X.to_numpy(), X.drop(columns=data.group_columns).to_numpy(), y.to_numpy(), z.to_numpy()
    X, y, z = population(int(float(name.split("x")[0])), 1000 if "K" in name else 10)
    return X, X, y, z


def least_time(call, repeats):
    """Least processor time of a few calls."""
    times = []
    for _ in range(repeats):
        start = process_time()
        call()
        times.append(process_time() - start)
    return min(times)


def fits(names, works):
    rows, times = [], {}
    for name in names:
        X, bare, y, z = load(name)
        small = len(y) <= 100_000
        once = least_time(lambda X=X, y=y: plain().fit(X, y), 5 if small else 3)
        for work in works:
            with_groups, make = WORK[work]
            for mode in MODES:
                model, features = make(publish=mode), X if with_groups else bare

                def fit(model=model, features=features, y=y, z=z):
                    model.fit(features, y, sensitive_features=z)

                seconds = times[work, mode, name] = least_time(fit, 3 if small else 1)
                aim, now = AIMS.get((work, mode), {}).get(name, ""), seconds / once
                if "K" in name and (work, mode, "1e5") in times:
                    aim = 2 * times[work, mode, "1e5"] / once
                before = BEFORE.get((work, mode), {}).get(name)
                rows.append(
                    {
                        "work": f"{work}, {'training counts' if mode == 'train' else 'cross-fit'}",
                        "data": name,
                        "before": "" if before is None else f"{before:.1f}",
                        "now": f"{now:.1f}",
                        "aim": aim if aim == "" else f"{aim:.1f}",
                        "met": "" if aim == "" else ("yes" if now <= aim else "NO"),
                        "seconds": f"{seconds:.2f}",
                        "extra memory / data": f"{peak_memory(fit) / features.nbytes:.1f}",
                        "memory aim": MEMORY_AIMS[mode],
                    }
                )
                print(*rows[-1].values(), sep=" | ", file=sys.stderr, flush=True)
    return pd.DataFrame(rows)


def limits(names):
    """What no fit can go below: reading the table once, sorting one score, and the logistic regression, in seconds."""
    rows = []
    for name in names:
        X, _, y, _ = load(name)
        score, once = X @ np.ones(X.shape[1]), least_time(lambda X=X, y=y: plain().fit(X, y), 3)
        read = least_time(X.sum, 5)
        sort = least_time(lambda s=score: np.sort(s), 5)
        rows.append(
            {
                "data": name,
                "rows": len(y),
                "features": X.shape[1],
                "logistic regression (ms)": f"{1e3 * once:.0f}",
                "read once (ms)": f"{1e3 * read:.1f}",
                "memory bandwidth (GB/s)": f"{X.nbytes / read / 1e9:.1f}",
                "sort one score (ms)": f"{1e3 * sort:.1f}",
            }
        )
    return pd.DataFrame(rows)


def main(names=None, works=None):
    warnings.simplefilter("ignore")
    names, works = (names or ",".join(DATA)).split(","), (works or ",".join(WORK)).split(",")
    write(
        "learners.md",
        "# Time and memory of fits\n\n"
        f"Made by `make bench`. One fit at a cost of {COST:g}, in multiples of one `LogisticRegression(C=inf).fit` on\n"
        "the same data in the same run, in processor time on one thread. Adult and bank (30% of the negatives\n"
        "removed): training part of split 0. Others: synthetic, 20 features, 10 groups unless stated, the group not\n"
        "among the features. Cross-fit is the default: five folds and a last fit. Extra memory is the peak of what\n"
        "is allocated during the fit, as a multiple of X.\n\n"
        f"{to_markdown(fits(names, works))}\n\n"
        "Limits: what one reading of the table, one sort and the logistic regression take.\n\n"
        f"{to_markdown(limits(names))}\n",
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
