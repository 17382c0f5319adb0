"""Where the counts come from that a classifier publishes: one place, for all classifiers.

What is published on the people that a classifier was fitted to is better than what new people get. So by default every
choice is made, and every count taken, on people that the score at hand has not seen:

- ``"cross_fit"``: people are splits into folds; each fold is scored by a classifier fitted to the others. Thresholds,
  groups and starts are chosen on these scores and published from them; then the score is fitted once more, to all.
- ``"holdout"``: a part is set aside; what is fitted to the rest is judged and published on it, and stays as it is.
- ``"train"``: the paper's way, on the very people that were fitted.

People are splits so that each part has its share of every group and label. That makes counts less noisy, but also ties
the part that is set aside to the rest: a group that was lucky in one is as lucky in the other. A guarantee needs them
to be independent, so for one people are set aside ``blindly``: at random within each group.

A classifier says how something is fitted to some rows, and how that scores (or selects) others; :class:`Splits` does
the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import check_cv

from .._frames import take_rows
from .._validation import BoolArray, check_choice, check_fraction
from ..counting import GroupCodes

Publish: TypeAlias = Literal["train", "cross_fit", "holdout"]
MODES: tuple[Publish, ...] = ("cross_fit", "holdout", "train")
Rows: TypeAlias = NDArray[np.intp]
Model = TypeVar("Model")

#: Multiplier that spreads bits: an odd number near 2^64 times the golden ratio's fraction.
ODD = np.uint64(0x9E3779B97F4A7C15)
#: People of the rarer label that each fold must have at least.
LEAST_PER_FOLD = 1


@dataclass(frozen=True, eq=False)
class Splits:
    """Which rows a score is fitted to while it is judged on others, time after time; and to which at last.

    Attributes
    ----------
    mode : {"cross_fit", "holdout", "train"}
        How it was splits; "train" also where there were too few people for anything else.
    parts : tuple of (ndarray, ndarray)
        Rows to fit, rows to judge.
    final : ndarray
        Rows that the classifier is fitted to at last.
    """

    mode: Publish
    parts: tuple[tuple[Rows, Rows], ...]
    final: Rows

    @property
    def judged(self) -> Rows:
        """Rows that are judged, in order."""
        return np.sort(np.concatenate([judged for _, judged in self.parts]))

    def run(
        self, fit: Callable[[Rows], Model], score: Callable[[Model, Rows], NDArray[Any]]
    ) -> tuple[NDArray[Any], Model]:
        """Fit and score all parts.

        Returns
        -------
        scores : ndarray
            Of all rows that are judged, in order; each by what was fitted without it (unless on training data).
        final : object
            What was fitted at last.
        """
        values = []
        for fitted, rows in self.parts:
            model = fit(fitted)
            values.append((rows, score(model, rows)))
        if self.mode == "cross_fit":
            model = fit(self.final)
        order = np.argsort(np.concatenate([rows for rows, _ in values]), kind="stable")
        return np.asarray(np.concatenate([scores for _, scores in values])[order]), model


def make_splits(
    publish: Publish,
    X: Any,
    qualified: BoolArray,
    groups: GroupCodes,
    *,
    cv: Any = 5,
    holdout: float = 0.3,
    counted: Rows | None = None,
    blindly: bool = False,
) -> Splits:
    """Splits people into those who are fitted and those who are judged, alike in group and label.

    Who falls where depends on what is known of people, never on the order of rows or the names of groups.

    Parameters
    ----------
    publish : {"cross_fit", "holdout", "train"}
        See the module.
    X : array-like of shape (n_rows, n_features)
        Features.
    qualified : ndarray of bool
        Labels.
    groups : GroupCodes
        Group of each row.
    cv : int, splitter or iterable, default=5
        Number of folds (fewer, with too few people of a label), or whatever scikit-learn takes for folds.
    holdout : float, default=0.3
        Share that is set aside.
    counted : ndarray of int, optional
        Rows that count for something; by default all.
    blindly : bool, default=False
        Whether "holdout" sets people aside without a look at their label.
    """
    check_choice(publish, "publish", MODES)
    rows = np.arange(len(qualified)) if counted is None else counted
    if publish == "train":
        return Splits("train", ((rows, rows),), rows)
    if publish == "cross_fit" and not isinstance(cv, int | np.integer | str | None):
        return _deal_by(check_cv(cv), rows, groups.codes * 2 + qualified)
    place = _places(X, qualified, groups, rows)
    rarer = int(min(qualified[rows].sum(), (~qualified[rows]).sum()))
    if publish == "holdout":
        share = check_fraction(holdout, "holdout", inclusive=False)
        if blindly:
            return _set_aside_blindly(X, rows, groups.codes[rows], qualified, share)
        return _set_aside(rows, place, qualified, share)
    folds = min(_check_folds(cv), rarer // LEAST_PER_FOLD)
    if folds < 2:
        return Splits("train", ((rows, rows),), rows)
    fold = place % folds
    return Splits("cross_fit", tuple((rows[fold != k], rows[fold == k]) for k in range(folds)), rows)


def _deal_by(splitter: Any, rows: Rows, strata: NDArray[Any]) -> Splits:
    """Folds of scikit-learn's, of all rows; everybody who counts must be judged once."""
    folds = splitter.split(np.zeros(len(strata)), strata)
    parts = tuple((np.intersect1d(fitted, rows), np.intersect1d(judged, rows)) for fitted, judged in folds)
    judged = np.concatenate([part for _, part in parts])
    if len(judged) != len(rows) or len(np.unique(judged)) != len(rows):
        raise ValueError(f"cv must judge everybody once, and {splitter!r} does not; use folds without repetition.")
    return Splits("cross_fit", parts, rows)


def _check_folds(cv: Any) -> int:
    if not isinstance(cv, int | np.integer) or isinstance(cv, bool) or cv < 2:
        raise ValueError(f"cv must be a whole number of at least 2, or a splitter of scikit-learn's, got {cv!r}.")
    return int(cv)


def _set_aside(rows: Rows, place: NDArray[np.intp], qualified: BoolArray, share: float) -> Splits:
    """Every so-manieth person is set aside, so that each label and group gives its share."""
    aside = np.floor((place + 1) * share + 1e-9) > np.floor(place * share + 1e-9)
    rest, apart = qualified[rows[~aside]], qualified[rows[aside]]
    if not (rest.any() and not rest.all() and apart.any() and not apart.all()):
        return Splits("train", ((rows, rows),), rows)  # too few people of a label to set any aside
    return Splits("holdout", ((rows[~aside], rows[aside]),), rows[~aside])


def _set_aside_blindly(X: Any, rows: Rows, codes: NDArray[np.intp], qualified: BoolArray, share: float) -> Splits:
    """A part of each group that looks random: by a hash of the features, and of the number among people just alike."""
    key = _hash(take_rows(X, rows), len(rows))
    mixed = pd.util.hash_array(_told_apart(key, codes))
    place = np.empty(len(rows), dtype=np.intp)
    size = np.bincount(codes)
    place[np.lexsort((mixed, codes))] = np.arange(len(rows)) - np.repeat(np.cumsum(size) - size, size)
    aside = place < np.floor(size * share + 1e-9)[codes]
    rest = qualified[rows[~aside]]
    if not (rest.any() and not rest.all() and aside.any()):
        return Splits("train", ((rows, rows),), rows)
    return Splits("holdout", ((rows[~aside], rows[aside]),), rows[~aside])


def _places(X: Any, qualified: BoolArray, groups: GroupCodes, rows: Rows) -> NDArray[np.intp]:
    """Place of each row in a line in which people of one label, and then of one group, stand together.

    Within a group the order is that of a hash of the features, and groups come in the order of their least hash (of
    equals, of what the hashes of their people add up to): both look random and know nothing of the order of rows and
    columns or the names of groups. People just alike stand anywhere: next to each other they would be splits to
    different parts, and tell on one another.
    """
    key = _hash(take_rows(X, rows), len(rows))
    codes = groups.codes[rows]
    least = np.full(groups.n_groups, np.iinfo(np.uint64).max, dtype=np.uint64)
    np.minimum.at(least, codes, key)
    total = np.zeros(groups.n_groups, dtype=np.uint64)
    np.add.at(total, codes, (key ^ qualified[rows]) * ODD)
    apart = _told_apart(key, codes * 2 + qualified[rows])
    order = np.lexsort((apart, codes, total[codes], least[codes], qualified[rows]))
    place = np.empty(len(rows), dtype=np.intp)
    place[order] = np.arange(len(rows))
    return place


def _told_apart(key: NDArray[np.uint64], among: NDArray[np.intp]) -> NDArray[np.uint64]:
    """Hashes in which the second, third, ... of people just alike is as far from the first as anybody."""
    alike = pd.Series(key).groupby([among, key], sort=False).cumcount().to_numpy().astype(np.uint64)
    return np.where(alike > 0, pd.util.hash_array(key + alike * ODD), key)


def _hash(X: Any, n_rows: int) -> NDArray[np.uint64]:
    if sparse.issparse(X):
        X = np.asarray(X.sum(axis=1)).reshape(n_rows, 1)
    key = np.zeros(n_rows, dtype=np.uint64)
    try:
        frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X).reshape(n_rows, -1))
        for i in range(frame.shape[1]):
            cells = pd.util.hash_pandas_object(frame.iloc[:, i], index=False, categorize=True).to_numpy(np.uint64)
            mixed = (cells ^ cells.sum()) * ODD  # a column is told from others by what it holds, not by its place
            key += mixed ^ (mixed >> np.uint64(32))
        return key
    except (TypeError, ValueError):  # whatever this is, the score that is to learn from it will say what is wrong
        return np.arange(n_rows, dtype=np.uint64)
