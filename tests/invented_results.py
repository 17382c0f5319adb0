"""Results of the reproduction with invented counts, and the slow way to their metrics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from reproduction.results import COLUMNS, COUNTS, with_metrics

GROUPS = {"adult": ("A", "B", "C", "D"), "bank_30": ("x", "y", "z"), "bank_original": ("x", "y", "z")}


def invented_row(dataset: str, method: str, cost: float, split: int, **settings: Any) -> dict[str, Any]:
    """One result: random counts that can be, published on training people; groups apply by their precision."""
    key = [ord(letter) for letter in f"{dataset} {method} {cost:g} {split}"]
    random = np.random.default_rng(key)
    row: dict[str, Any] = {"dataset": dataset, "method": method, "cost": cost, "split": split, "seed": split}
    row |= {"configuration": settings, "package_version": "0", "data_hash": "", "groups": GROUPS[dataset]}
    for people, most in (("train", 300), ("test", 120)):
        n = random.integers(most // 2, most, size=len(GROUPS[dataset]))
        positives = random.integers(1, n // 2)
        true_positives = random.integers(1, positives + 1)
        counts = (n, positives, true_positives + random.integers(0, n // 8), true_positives)
        row |= {f"{people}_{name}": tuple(column.tolist()) for name, column in zip(COUNTS, counts, strict=True)}
    row |= {f"published_{name}": row[f"train_{name}"] for name in COUNTS}
    pairs = zip(row["train_true_positives"], row["train_selected"], strict=True)
    return row | {
        "applies": tuple(true_positives / selected >= cost for true_positives, selected in pairs),
        "seconds": 0.5,
    }


def invented_results(
    methods: Iterable[str], datasets: Iterable[str] = ("adult",), costs: Iterable[float] = (0.7,), splits: int = 3
) -> pd.DataFrame:
    """Results with metrics of all combinations."""
    costs = tuple(costs)
    rows = [invented_row(d, m, c, s) for d in datasets for m in methods for c in costs for s in range(splits)]
    return with_metrics(pd.DataFrame(rows, columns=COLUMNS))


def slow_outcome(row: dict[str, Any]) -> dict[str, float]:
    """Accuracy of applicants, applying groups and social cost of one result, group by group."""
    right = people = away = qualified = 0
    for g, applies in enumerate(row["applies"]):
        n, positives, selected, true_positives = (
            row[f"test_{name}"][g] for name in ("n", "positives", "selected", "true_positives")
        )
        qualified += positives
        if applies:
            people += n
            right += true_positives + (n - positives - (selected - true_positives))
        else:
            away += positives
    accuracy = 100 * right / people if people else float("nan")
    return {"accuracy": accuracy, "groups": sum(row["applies"]), "social_cost": 100 * away / qualified}
