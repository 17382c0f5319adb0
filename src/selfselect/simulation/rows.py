"""People as rows with features, screened by a classifier that is fitted again in each round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .._frames import take_rows, to_pandas
from .._notices import captured_warnings
from .._validation import BoolArray, FloatArray, check_fraction, check_same_length, check_same_rows, list_some
from ..counting import GroupCodes, GroupCounts, encode_groups, position_of
from ..estimators import NaiveClassifier
from ..estimators.base import SelfSelectionClassifier
from ..estimators.training_data import find_classes, groups_for
from ..publishing import Holdout
from ..statistics import Published
from .exploration import Exploration, Labels
from .retraining import NO_LABEL, Retraining, as_retraining, label_weights

if TYPE_CHECKING:
    from .entry import Entry

#: Round of the newest label of people who have none.
NEVER = -1


def as_people(data: Any, name: str) -> tuple[Any, Any, Any]:
    """Features, labels and groups of a data set: three of them, or a Bunch."""
    if hasattr(data, "data") and hasattr(data, "target") and hasattr(data, "group"):
        data = (data.data, data.target, data.group)
    if not isinstance(data, tuple | list) or len(data) != 3:
        raise TypeError(f"{name} must be a data set (X, y, group), got {type(data).__name__}.")
    X, y, group = data
    check_same_rows(X=X, y=y, sensitive_features=group)
    X, group = to_pandas(X), to_pandas(group)
    check_same_length(X=np.empty(X.shape[0] if hasattr(X, "shape") else len(X)), y=np.asarray(y))
    return X, y, group


def stack(tables: Sequence[Any]) -> Any:
    """Rows of several tables, one after the other."""
    if len(tables) == 1:
        return tables[0]
    if isinstance(tables[0], pd.DataFrame):
        columns = [list(getattr(table, "columns", ())) for table in tables]
        if columns[1:] != columns[:-1]:
            raise ValueError(f"some people have the columns {list_some(columns[0])}, others {list_some(columns[-1])}")
        return pd.concat(tables, ignore_index=True)
    if any(map(sparse.issparse, tables)):
        return sparse.vstack(tables).tocsr()
    return np.concatenate([np.asarray(table) for table in tables])


def as_firm(firm: Any, rng: np.random.Generator, **given: Any) -> SelfSelectionClassifier:
    """A classifier of this package with seeds: the firm's own, or one that wraps the firm's."""
    if not hasattr(firm, "fit") or isinstance(firm, type):
        raise TypeError(
            f"firm must be a classifier such as LogisticRegression(), got {firm!r}. Thresholds (a number, "
            "FixedThreshold, BestThreshold) are for a CountedPopulation."
        )
    if isinstance(firm, Pipeline) and isinstance(firm[-1], SelfSelectionClassifier):
        raise TypeError(
            f"firm is a pipeline around {type(firm[-1]).__name__}, which needs the groups. Pass the classifier itself, "
            "with the other steps inside of it (transformer=, estimator=)."
        )
    given = {name: value for name, value in given.items() if value is not None}
    made: SelfSelectionClassifier = (
        clone(firm) if isinstance(firm, SelfSelectionClassifier) else NaiveClassifier(clone(firm))
    )
    made.set_params(**given)
    seeds = rng.spawn(1)[0]
    unseeded = [name for name, value in made.get_params().items() if name.endswith("random_state") and value is None]
    made.set_params(**{name: int(seeds.integers(2**31)) for name in sorted(unseeded)})
    return made


class RowsWorld:
    """People as rows, and a classifier that learns from the labels found so far. Methods replace arrays."""

    def __init__(
        self,
        population: Any,
        firm: SelfSelectionClassifier,
        *,
        initial: Any,
        retrain: str | Retraining,
        rng: np.random.Generator,
    ) -> None:
        self.sampler: Callable[..., Any] | None = population if callable(population) else None
        self.firm, self.retraining = clone(firm).set_params(pos_label=None), as_retraining(retrain)
        self.model: Any = None
        self._fitted: tuple[Any, ...] | None = None
        first = as_people(population(rng) if self.sampler else population, "population")
        share = check_fraction(initial, "initial", inclusive=False) if isinstance(initial, int | float) else None
        if share is not None and self.sampler:
            share, initial = None, self.sampler(rng)
        parts = (first,) if share is not None else (as_people(initial, "initial"), first)
        self.X = stack([X for X, _, _ in parts])
        labels = np.concatenate([np.asarray(y) for _, y, _ in parts])
        self.classes, self.positive, self.y = find_classes(labels, firm.pos_label)
        encoded = [encode_groups(group, n_rows=len(np.asarray(y))) for _, y, group in parts]
        everybody = encoded[0]
        if share is None:
            known, new = (each.labels.take(each.codes) for each in encoded)
            everybody = encode_groups(known.append(new))
        self.codes, self.groups = everybody.codes, everybody.labels
        if share is None:
            start = np.arange(len(labels)) < len(encoded[0])
        else:
            start = np.zeros(len(labels), dtype=bool)
            splits = Holdout(share).splits(self.X, self.y, GroupCodes(self.codes, self.groups))
            if splits.mode == "train":
                raise ValueError("There are too few people to begin with a labelled sample that has both labels.")
            start[splits.evaluated] = True
        self.in_pool, self.newest = ~start, np.where(start, 0, NEVER)
        self.missed = np.where(start, 0.0, 1.0)
        self.selected = np.zeros(0, dtype=bool)

    def _codes_of(self, own: GroupCodes) -> NDArray[np.intp]:
        position = position_of(own.labels, self.groups, "The new people", "the population")
        return np.asarray(position[own.codes], dtype=np.intp)

    # ------------------------------------------------------------------ who is there

    def enter(self, entry: Entry | None, outcome: pd.DataFrame | None, rng: np.random.Generator) -> None:
        """Let people join the pool; of a sampler, keep only people with a label, and draw others."""
        if self.sampler is not None:
            kept = np.flatnonzero(self.newest != NEVER)
            self.X = take_rows(self.X, kept)
            for name in ("y", "codes", "newest", "missed"):
                setattr(self, name, getattr(self, name)[kept])
            self.in_pool = np.zeros(len(kept), dtype=bool)
            self._add(*as_people(self.sampler(rng), "The sample"))
        elif entry is not None:
            rows = np.flatnonzero(self.in_pool)
            labels = np.where(self.y[rows], self.positive, self.classes[self.classes != self.positive][0])
            new = entry.enter(outcome, (take_rows(self.X, rows), labels, self.groups.take(self.codes[rows])), rng)
            if new is not None:
                self._add(*as_people(new, "What entry returns"))

    def _add(self, X: Any, y: Any, group: Any) -> None:
        labels = np.asarray(y)
        unknown = ~np.isin(labels, self.classes)
        if unknown.any():
            raise ValueError(f"new people have a label {list_some(labels[unknown])} that the first people did not have")
        size = len(labels)
        self.X = stack([self.X, X])
        self.y = np.append(self.y, labels == self.positive)
        self.codes = np.append(self.codes, self._codes_of(encode_groups(group, n_rows=size)))
        self.newest = np.append(self.newest, np.full(size, NEVER))
        self.missed, self.in_pool = np.append(self.missed, np.ones(size)), np.append(self.in_pool, np.ones(size, bool))

    # ------------------------------------------------------------------ the firm

    def retrain(self, number: int, cost: FloatArray) -> None:
        """Fit the classifier to the labels found before this round; without anything new it stays as it is."""
        rows = np.flatnonzero(self.newest != NEVER)
        weights = label_weights(self.retraining, number - 1 - self.newest[rows], 1 - self.missed[rows])
        rows, weights = rows[weights > 0], weights[weights > 0]
        if not len(rows):
            raise ValueError(NO_LABEL)
        used = GroupCodes(self.codes, self.groups).take(rows)
        known = position_of(used.labels, self.groups, "The labels", "the population")
        faced = cost[known]
        learnt_from: tuple[Any, ...] = (rows, weights, faced, len(self.y))
        if (
            self._fitted is not None
            and all(np.array_equal(new, old) for new, old in zip(learnt_from, self._fitted, strict=True))
            and self.sampler is None
        ):
            return
        self._fitted = learnt_from
        alike = bool((faced == faced[0]).all())
        firm = clone(self.firm).set_params(
            cost=float(faced[0]) if alike else pd.Series(faced, index=used.labels), subsidies=None
        )
        weighted = {} if (weights == weights[0]).all() else {"sample_weight": weights}
        with captured_warnings():  # the history says who stays away
            self.model = firm.fit(
                take_rows(self.X, rows), self.y[rows].astype(int), sensitive_features=used, **weighted
            )

    def published(self) -> Published:
        """What the classifier publishes; nothing about groups without a label."""
        table, statistic = self.model.published_, self.model.terms_.statistic
        if table.groups.equals(self.groups):
            return Published(table.counts, statistic, self.groups)
        position = position_of(table.groups, self.groups, "The classifier", "the population")
        value = np.full(len(self.groups), np.nan)
        value[position] = statistic.value(table.counts)
        return Published(table.counts.reindex(position, len(value)), groups=self.groups).with_value(value)

    def counts(self) -> GroupCounts:
        """Decisions of the classifier about the pool."""
        rows = np.flatnonzero(self.in_pool)
        known = rows
        if hasattr(self.model, "thresholds_"):  # there is no threshold for a group without labels: nobody passes
            position = position_of(
                self.groups, self.model.thresholds_.index, "The pool", "the classifier", unseen="abstain"
            )
            known = rows[position[self.codes[rows]] >= 0]
        selected = np.zeros(len(self.y), dtype=bool)
        if len(known):
            groups = GroupCodes(self.codes, self.groups).take(known)
            passed = self.model.predict(take_rows(self.X, known), **groups_for(self.model, "predict", groups))
            selected[known] = np.asarray(passed) == 1
        self.selected = selected[rows]
        return self._count(rows, self.selected)

    def _count(self, rows: NDArray[np.intp], selected: BoolArray) -> GroupCounts:
        return GroupCounts.from_rows(self.y[rows], selected, self.codes[rows], len(self.groups))

    def learn(
        self, number: int, shares: FloatArray, labels: Labels, exploration: Exploration, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Draw who applies and who is explored, and find their labels."""
        rows = np.flatnonzero(self.in_pool)
        share = shares[self.codes[rows]]
        _, chance = exploration.chances(labels, share, share * self.selected)
        applies = rng.random(len(rows)) < share
        passes = applies & self.selected
        drawn = rng.random(len(rows)) < exploration.share
        invited = drawn & ~passes & (applies if exploration.among == "applicants" else True)
        known = {"selected": passes | invited, "applicants": applies | invited, "all": np.ones(len(rows), dtype=bool)}
        self.newest, self.missed = self.newest.copy(), self.missed.copy()
        self.newest[rows[known[labels]]] = number
        self.missed[rows] *= 1 - chance
        found = self._count(rows, invited)
        return found.selected.astype(float), found.true_positives.astype(float)
