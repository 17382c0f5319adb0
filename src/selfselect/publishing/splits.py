"""Whose counts are published: which rows a score is fitted to, and which rows it is evaluated and published on.

Statistics of the people that a classifier was fitted to are too good for new people. By default every choice is made,
and every count taken, on people that the score has not seen:

- :class:`CrossFit`: the rows are split into folds, and each fold is scored by a classifier fitted to the others.
  Thresholds, groups and starts are chosen on these scores, which are also published. The final score is fitted to all
  rows.
- :class:`Holdout`: a part is set aside. What is fitted to the rest is evaluated and published on this part.
- :class:`TrainingSet`: the fitted people are also evaluated, as in the paper.

Folds and holdout are stratified by label and group, which makes counts less noisy. Stratifying by label also makes the
part set aside depend on the rest. A guarantee needs them to be independent, so then the holdout is random within each
group. A split depends on the features, labels and groups of people, never on the order of rows or the names of groups.

If a person has several rows (``person``), all of them fall into the same part. Persons are split by one row of each,
drawn at random. Under a guarantee only this row of a person who is set aside is evaluated: the test needs independent
people.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._frames import take_rows
from .._validation import BoolArray, FloatArray, check_choice, check_fraction, is_sparse
from ..counting import GroupCodes
from ..statistics import LowerBound, Precision, Statistic
from .pooling import PooledLowerBound

Mode: TypeAlias = Literal["train", "cross_fit", "holdout"]
Rows: TypeAlias = NDArray[np.intp]
Model = TypeVar("Model")

#: Multiplier of Fibonacci hashing: an odd number near 2^64 times the golden ratio's fraction.
HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
#: Copies are reported if they are at least so many rows, and this share of them.
MIN_COPIES, MIN_COPIED_SHARE = 10, 0.01
#: Equal rows are copies if the odds ratio of agreement is higher; see :func:`count_copies`.
MAX_ODDS_RATIO = 10.0
#: With fewer distinct rows, relative to all, equal rows are categories that many people share.
MIN_DISTINCT_SHARE = 0.02


@dataclass(frozen=True, eq=False)
class Splits:
    """Rows to fit and rows to evaluate, for each part, and the rows of the final fit.

    The mode is "train" also if there are too few people for the mode that was asked for.
    """

    mode: Mode
    parts: tuple[tuple[Rows, Rows], ...]
    final: Rows

    @property
    def evaluated(self) -> Rows:
        """All rows that are evaluated, in order."""
        return np.sort(np.concatenate([evaluated for _, evaluated in self.parts]))

    def run(
        self, fit: Callable[[Rows], Model], score: Callable[[Model, Rows], NDArray[Any]]
    ) -> tuple[NDArray[Any], Model]:
        """Scores of the evaluated rows, in order, by models fitted to the rows of their part; and the final model."""
        values = []
        for fitted, rows in self.parts:
            model = fit(fitted)
            values.append((rows, score(model, rows)))
        if self.mode == "cross_fit":
            model = fit(self.final)
        order = np.argsort(np.concatenate([rows for rows, _ in values]), kind="stable")
        return np.asarray(np.concatenate([scores for _, scores in values])[order]), model


class Publishing(Protocol):
    """Whose counts are published, and which statistic of them."""

    @property
    def statistic(self) -> Statistic:
        """What is published of the counts."""
        ...

    def splits(
        self, X: Any, qualified: BoolArray, groups: GroupCodes, rows: Rows | None = None, person: Rows | None = None
    ) -> Splits:
        """Rows to fit and rows to evaluate; ``rows`` are those that are used, by default all.

        ``person`` has a code for each row that is the same for rows of one person; without it every row is a person.
        """
        ...


@dataclass(frozen=True)
class CrossFit:
    """Publish counts of everybody, each scored by a classifier that was fitted to others.

    Parameters
    ----------
    cv : int or splitter, default=5
        Number of folds (fewer if a label is rare), or a splitter of scikit-learn that evaluates every row once.
    statistic : Statistic, default=PooledLowerBound(0.9)
        What is published of these counts.
    """

    cv: Any = 5
    statistic: Statistic = field(default_factory=PooledLowerBound)

    mode: ClassVar[Mode] = "cross_fit"
    guarantee: ClassVar[bool] = False

    def splits(
        self, X: Any, qualified: BoolArray, groups: GroupCodes, rows: Rows | None = None, person: Rows | None = None
    ) -> Splits:
        """Folds, stratified by label and group."""
        rows = np.arange(len(qualified)) if rows is None else rows
        if not isinstance(self.cv, int | np.integer | str | None):
            from sklearn.model_selection import check_cv  # takes long

            return _split_by(check_cv(self.cv), rows, groups.codes * 2 + qualified, person)
        if not isinstance(self.cv, int | np.integer) or isinstance(self.cv, bool) or self.cv < 2:
            raise ValueError(f"cv must be a whole number of at least 2, or a scikit-learn splitter, got {self.cv!r}.")
        drawn, owner = _one_row_each(X, groups, qualified, rows, person)
        folds = min(int(self.cv), int(min(qualified[drawn].sum(), (~qualified[drawn]).sum())))
        if folds < 2:
            return _training_rows(rows)
        fold = (_positions(X, qualified, groups, drawn) % folds)[owner]
        return Splits("cross_fit", tuple((rows[fold != k], rows[fold == k]) for k in range(folds)), rows)


@dataclass(frozen=True)
class Holdout:
    """Publish counts of people who are set aside.

    Parameters
    ----------
    size : float, default=0.3
        Share of people who are set aside.
    statistic : Statistic, default=PooledLowerBound(0.9)
        What is published of their counts.
    guarantee : bool, default=False
        Whether the statements "the precision of this group reaches its cost" must all hold together with the
        probability that the :class:`~selfselect.publishing.LowerBound` states, for any model and any distribution.
        Everything is chosen on the other people and tested on those set aside; nothing is published about groups that
        do not pass. See :mod:`selfselect.publishing.guarantee`.
    """

    size: float = 0.3
    statistic: Statistic = field(default_factory=PooledLowerBound)
    guarantee: bool = False

    mode: ClassVar[Mode] = "holdout"

    def __post_init__(self) -> None:
        check_fraction(self.size, "size", inclusive=False)
        if self.guarantee and not isinstance(self.statistic, LowerBound):
            raise ValueError("guarantee=True needs statistic=LowerBound(confidence), whose confidence it keeps.")

    def splits(
        self, X: Any, qualified: BoolArray, groups: GroupCodes, rows: Rows | None = None, person: Rows | None = None
    ) -> Splits:
        """The people set aside: by label and group, or at random within groups for a guarantee."""
        rows = np.arange(len(qualified)) if rows is None else rows
        if self.guarantee:
            drawn, owner = _one_row_each(X, groups, np.zeros_like(qualified), rows, person)  # whatever the labels
            aside = _random_part(take_rows(X, drawn), groups.codes[drawn], self.size)
            evaluated = np.sort(drawn[aside])
        else:  # every so many people, sorted by label and group
            drawn, owner = _one_row_each(X, groups, qualified, rows, person)
            position = _positions(X, qualified, groups, drawn)
            aside = np.floor((position + 1) * self.size + 1e-9) > np.floor(position * self.size + 1e-9)
            evaluated = rows[aside[owner]]
        fitted = rows[~aside[owner]]
        enough = len(evaluated) > 0 if self.guarantee else _has_both(qualified[evaluated])
        if not (_has_both(qualified[fitted]) and enough):
            return _training_rows(rows)
        return Splits("holdout", ((fitted, evaluated),), fitted)


@dataclass(frozen=True)
class TrainingSet:
    """Publish counts of the very people that the classifier was fitted to, as in the paper.

    They are too good for new people, the more so the more flexible the classifier is.

    Parameters
    ----------
    statistic : Statistic, default=Precision()
        What is published of these counts.
    """

    statistic: Statistic = field(default_factory=Precision)

    mode: ClassVar[Mode] = "train"
    guarantee: ClassVar[bool] = False

    def splits(
        self, X: Any, qualified: BoolArray, groups: GroupCodes, rows: Rows | None = None, person: Rows | None = None
    ) -> Splits:
        """Everybody is fitted and evaluated."""
        return _training_rows(np.arange(len(qualified)) if rows is None else rows)


#: Publishing by its short name.
BY_NAME: dict[str, Any] = {"cross_fit": CrossFit, "holdout": Holdout, "train": TrainingSet}


def as_publishing(publish: Any) -> Any:
    """The publishing that a short name stands for; an object is returned as it is."""
    if isinstance(publish, str):
        check_choice(publish, "publish", tuple(BY_NAME))
        return BY_NAME[publish]()
    if not (hasattr(publish, "splits") and hasattr(publish, "statistic")) or isinstance(publish, type):
        raise TypeError(
            f"publish must be 'cross_fit', 'holdout', 'train' or an object such as CrossFit(cv=5), got {publish!r}."
        )
    return publish


def _training_rows(rows: Rows) -> Splits:
    return Splits("train", ((rows, rows),), rows)


def _split_by(splitter: Any, rows: Rows, strata: NDArray[Any], person: Rows | None) -> Splits:
    """Folds of a scikit-learn splitter, which gets persons as its groups; each row must be evaluated once."""
    folds = splitter.split(np.zeros(len(strata)), strata, *(() if person is None else (person,)))
    parts = tuple((np.intersect1d(fitted, rows), np.intersect1d(evaluated, rows)) for fitted, evaluated in folds)
    evaluated = np.concatenate([part for _, part in parts])
    if len(evaluated) != len(rows) or len(np.unique(evaluated)) != len(rows):
        raise ValueError(f"cv must evaluate every row once, and {splitter!r} does not; use folds without repetition.")
    if person is not None and any(np.isin(person[part], person[fitted]).any() for fitted, part in parts):
        raise ValueError(
            f"{splitter!r} separates rows of one person; pass a number of folds, GroupKFold or StratifiedGroupKFold."
        )
    return Splits("cross_fit", parts, rows)


def _one_row_each(
    X: Any, groups: GroupCodes, labels: BoolArray, rows: Rows, person: Rows | None
) -> tuple[Rows, NDArray[np.intp]]:
    """One row of each person, drawn at random, and the position of each row's person among them."""
    if person is None:
        return rows, np.arange(len(rows))
    person, key = person[rows], _hash_rows(take_rows(X, rows), len(rows))
    draw = pd.util.hash_array(key + pd.util.hash_array(person) * HASH_MULTIPLIER)  # not the same features for everyone
    order = np.lexsort((labels[rows], _group_ranks(key, groups, labels, rows), draw, person))
    first = np.append(True, np.diff(person[order]) > 0)
    owner = np.empty(len(rows), dtype=np.intp)
    owner[order] = np.cumsum(first) - 1
    return rows[order[first]], owner


def _random_part(X: Any, codes: NDArray[np.intp], share: float) -> BoolArray:
    """A share of each group, at random: the rows with the smallest hash of their features."""
    key = pd.util.hash_array(_distinct_hashes(_hash_rows(X, len(codes)), codes))
    position = np.empty(len(codes), dtype=np.intp)
    size = np.bincount(codes)
    position[np.lexsort((key, codes))] = np.arange(len(codes)) - np.repeat(np.cumsum(size) - size, size)
    return np.asarray(position < np.floor(size * share + 1e-9)[codes])


def draw_by_weight(X: Any, groups: GroupCodes, weights: FloatArray, rows: Rows) -> Rows:
    """Rows of a sample in which everybody counts once: each is kept with a probability of its weight over the largest.

    The largest is that of the group, among all rows. It should be a bound that holds for everybody, as trimmed weights
    of a survey have it: then the rows that are kept of a group are independent draws from the weighted population.
    """
    largest = np.zeros(groups.n_groups)
    np.maximum.at(largest, groups.codes, weights)
    key = _distinct_hashes(_hash_rows(take_rows(X, rows), len(rows)), groups.codes[rows])
    draw = pd.util.hash_array(key ^ HASH_MULTIPLIER) / 2.0**64  # unrelated to the hashes that split the rows
    return np.asarray(rows[draw < weights[rows] / largest[groups.codes[rows]]])


def _has_both(labels: BoolArray) -> bool:
    return bool(labels.any() and not labels.all())


def _positions(X: Any, qualified: BoolArray, groups: GroupCodes, rows: Rows) -> NDArray[np.intp]:
    """Position of each row when rows are sorted by label, then by group, then by a hash of the features.

    Neither the order of rows and columns nor the names of groups matter. Rows with equal features get distinct hashes:
    next to each other they would fall into different parts, and one would reveal the label of the other.
    """
    key = _hash_rows(take_rows(X, rows), len(rows))
    distinct = _distinct_hashes(key, groups.codes[rows] * 2 + qualified[rows])
    order = np.lexsort((distinct, _group_ranks(key, groups, qualified, rows), qualified[rows]))
    position = np.empty(len(rows), dtype=np.intp)
    position[order] = np.arange(len(rows))
    return position


def _group_ranks(key: NDArray[np.uint64], groups: GroupCodes, labels: BoolArray, rows: Rows) -> NDArray[np.intp]:
    """Rank of each row's group by the smallest hash of its rows (ties: by a sum over hashes), whatever its name."""
    codes = groups.codes[rows]
    smallest = np.full(groups.n_groups, np.iinfo(np.uint64).max, dtype=np.uint64)
    np.minimum.at(smallest, codes, key)
    total = np.zeros(groups.n_groups, dtype=np.uint64)
    np.add.at(total, codes, (key ^ labels[rows]) * HASH_MULTIPLIER)
    return np.asarray(np.argsort(np.lexsort((total, smallest)))[codes])


def _distinct_hashes(key: NDArray[np.uint64], strata: NDArray[np.intp]) -> NDArray[np.uint64]:
    """Hashes in which repeated values of a stratum are replaced by unrelated ones."""
    repetition = pd.Series(key).groupby([strata, key], sort=False).cumcount().to_numpy().astype(np.uint64)
    return np.where(repetition > 0, pd.util.hash_array(key + repetition * HASH_MULTIPLIER), key)


def _hash_rows(X: Any, n_rows: int) -> NDArray[np.uint64]:
    """Hash of the features of each row, the same for any order of rows and columns, and for sparse and dense X."""
    if is_sparse(X):
        return _hash_sparse_rows(X.tocsc(), n_rows)
    try:
        return np.asarray(sum(_hash_columns(X, n_rows), np.zeros(n_rows, dtype=np.uint64)))
    except (TypeError, ValueError):  # the classifier will raise the error about X
        return np.arange(n_rows, dtype=np.uint64)


def _mix(cells: Any, column: Any) -> Any:
    """Hashes of cells, mixed with that of their column: columns differ by their content, not by their position."""
    mixed = (cells ^ column) * HASH_MULTIPLIER
    return mixed ^ (mixed >> np.uint64(32))


def _hash_sparse_rows(X: Any, n_rows: int) -> NDArray[np.uint64]:
    """The same from the stored cells: all rows get the hash of zeros, and each stored cell replaces one of them."""
    cells, (zero,) = pd.util.hash_array(X.data), pd.util.hash_array(np.zeros(1, dtype=X.dtype))
    column = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
    total = (n_rows - np.diff(X.indptr)).astype(np.uint64) * zero
    np.add.at(total, column, cells)
    zeros = _mix(zero, total)
    key = np.full(n_rows, zeros.sum(), dtype=np.uint64)
    np.add.at(key, X.indices, _mix(cells, total[column]) - zeros[column])
    return key


def _hash_columns(X: Any, n_rows: int) -> Iterator[NDArray[np.uint64]]:
    """Hash of the cells of each column; columns differ by their content, not by their position."""
    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X).reshape(n_rows, -1))
    for i in range(frame.shape[1]):
        cells = pd.util.hash_pandas_object(frame.iloc[:, i], index=False, categorize=True).to_numpy(np.uint64)
        yield _mix(cells, cells.sum())


def count_copies(X: Any, qualified: BoolArray, groups: GroupCodes) -> int:
    """Number of rows that repeat an earlier one (features, label and group), unless chance explains them.

    In a table of categories many people are equal by chance: two rows agree in the most varied column nearly as often
    whether they agree in everything else or not. Equal rows are copies if the odds ratio of the two agreements is over
    :data:`MAX_ODDS_RATIO`. Few copies count as none, and copies of sparse rows are not looked for.

    Examples
    --------
    >>> from selfselect.counting import encode_groups
    >>> X, y = np.random.default_rng(0).normal(size=(500, 3)), np.arange(1000) % 500 < 250
    >>> count_copies(np.tile(X, (2, 1)), y, encode_groups(np.zeros(1000)))
    500
    >>> count_copies(np.tile(X > 0, (2, 1)), y, encode_groups(np.zeros(1000)))
    0
    """
    if is_sparse(X):
        return 0
    n_rows = len(qualified)
    everything = _hash_rows(X, n_rows) + pd.util.hash_array(groups.codes * 2 + qualified)
    n_distinct = len(pd.unique(everything))
    copies = n_rows - n_distinct
    if copies < max(MIN_COPIES, MIN_COPIED_SHARE * n_rows) or n_distinct < MIN_DISTINCT_SHARE * n_rows:
        return 0
    varied = min(_hash_columns(X, n_rows), key=_equal_pairs, default=everything)
    equal = _equal_pairs(everything)
    only_varied, only_others = _equal_pairs(varied) - equal, _equal_pairs(everything - varied) - equal
    neither = n_rows * (n_rows - 1) / 2 - only_varied - only_others - equal
    return copies if equal * neither > MAX_ODDS_RATIO * only_varied * only_others else 0


def _equal_pairs(key: NDArray[np.uint64]) -> float:
    """Number of pairs of rows with the same key."""
    times = pd.Series(key).value_counts(sort=False).to_numpy().astype(float)
    return float((times * (times - 1) / 2).sum())
