"""The paper's data sets, and their random splits into training and test people."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from sklearn.model_selection import train_test_split

from selfselect.datasets import fetch_adult, fetch_bank

#: The data sets by the name that results are stored under, with their titles.
DATASETS = {"adult": "Adult", "bank_30": "Bank (30% of negatives removed)", "bank_original": "Bank (original)"}
#: Share of the people in the test set of every split.
TEST_SHARE = 0.3


@dataclass(frozen=True, eq=False)
class Dataset:
    """Features, labels of 0 and 1, and groups of people.

    The first ``n_group_columns`` features are the one-hot columns of the group; ``codes`` are positions in ``groups``.
    """

    features: np.ndarray
    n_group_columns: int
    y: np.ndarray
    codes: np.ndarray
    groups: tuple[str, ...]

    def take(self, rows: np.ndarray) -> Dataset:
        """Some of the people; all groups stay known."""
        return Dataset(self.features[rows], self.n_group_columns, self.y[rows], self.codes[rows], self.groups)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of everything in it."""
        digest = hashlib.sha256(repr((self.features.shape, self.n_group_columns, self.groups)).encode())
        for array in (self.features, self.y, self.codes.astype(np.int64)):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test people of a data set."""

    train: Dataset
    test: Dataset


@lru_cache(maxsize=len(DATASETS))
def load_dataset(name: str) -> Dataset:
    """One of :data:`DATASETS`, read once per process.

    Examples
    --------
    >>> load_dataset("adult").groups
    ('Asian-Pac-Islander', 'Black', 'Other', 'White')
    """
    bunch = fetch_adult() if name == "adult" else fetch_bank(negatives_removed=0.3 if name == "bank_30" else 0.0)
    return Dataset(
        features=bunch.data.to_numpy(dtype=np.float64),
        n_group_columns=len(bunch.group_columns),
        y=bunch.target.to_numpy(dtype=np.int64),
        codes=bunch.group.cat.codes.to_numpy(dtype=np.intp),
        groups=tuple(map(str, bunch.group.cat.categories)),
    )


def make_split(dataset: Dataset, split: int) -> Split:
    """Random split into 70% training and 30% test people; the number of the split is its seed.

    Examples
    --------
    >>> halves = make_split(load_dataset("adult"), 0)
    >>> len(halves.train.y), len(halves.test.y)
    (11231, 4814)
    """
    train, test = train_test_split(np.arange(len(dataset.y)), test_size=TEST_SHARE, random_state=split)
    return Split(dataset.take(train), dataset.take(test))
