"""Populations for simulations, and a classifier that is a threshold on a column."""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin

from selfselect.simulation import CountedPopulation

THRESHOLD = 0.5


class Above(ClassifierMixin, BaseEstimator):
    """Selects people whose first feature is above a threshold; learns nothing."""

    def __init__(self, threshold=THRESHOLD):
        self.threshold = threshold

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return (np.asarray(X)[:, 0] > self.threshold).astype(int)


def some_people(n=400, seed=0):
    """Features (a score in tenths), labels and groups; A does well, C badly."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["A", "B", "C"], n)
    score = rng.integers(0, 10, n) / 10
    rate = score * pd.Series(group).map({"A": 1.0, "B": 0.85, "C": 0.6}).to_numpy()
    y = (rng.random(n) < rate).astype(int)
    return pd.DataFrame({"score": score, "noise": rng.normal(size=n)}), y, group


def counted(people):
    X, y, group = people
    return CountedPopulation.from_scores(y, X["score"], sensitive_features=group)


def swinging():
    """Two groups, one threshold: without B the firm is strict, which attracts B; with B it is lax, which drives B out.

    At the middle score A is seldom qualified and B often; at the high score both nearly always are.
    """
    cells = [
        ("A", 1, 200, 10), ("A", 2, 40, 12), ("A", 3, 300, 285),
        ("B", 1, 200, 10), ("B", 2, 100, 65), ("B", 3, 30, 28.5),
    ]  # fmt: skip
    return pd.DataFrame(cells, columns=["group", "score", "n", "positives"])
