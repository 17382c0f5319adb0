"""A classifier from an ordinary table, with an evaluation on people it has not seen."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .._notices import notices_kept
from .._validation import BoolArray, FloatArray, check_choice
from ..auditing import Audit, Provenance, ScreeningResult
from ..costs import Terms
from ..counting import GroupCounts
from ..estimators import (
    GroupThresholdClassifier,
    NaiveClassifier,
    SemiStrategicClassifier,
    ShutOutWarning,
    StrategicClassifier,
)
from ..publishing import PublishedStatistics, ThresholdCurves
from .encoding import TableEncoder
from .loading import TrainingTable
from .models import TableModel

Method: TypeAlias = Literal["naive", "semi", "thresholds", "strategic"]

#: Classifier of each method, and the settings that it has besides the terms.
METHODS: dict[Method, tuple[type[Any], tuple[str, ...]]] = {
    "naive": (NaiveClassifier, ()),
    "semi": (SemiStrategicClassifier, ("tolerance", "min_selection_rate")),
    "thresholds": (GroupThresholdClassifier, ("require", "max_social_cost", "min_selection_rate")),
    "strategic": (
        StrategicClassifier,
        ("parity", "equal_tpr", "tolerance", "require", "max_social_cost", "min_selection_rate", "random_state"),
    ),
}
#: Conditions that a model must meet: training aims at them where the method can, and they are looked at in any case.
CONDITIONS = ("require", "max_social_cost", "min_selection_rate")


def make_classifier(
    method: Method,
    terms: Terms,
    *,
    parity: float | None = None,
    equal_tpr: float | None = None,
    tolerance: float | None = None,
    require: Sequence[Any] | None = None,
    max_social_cost: float | None = None,
    min_selection_rate: float | None = None,
    random_state: int | None = None,
) -> Any:
    """Classifier of a method by its name.

    Parameters
    ----------
    method : {"naive", "semi", "thresholds", "strategic"}
        Blind to applications; one good threshold; a good threshold for each group; or trained for those who apply.
    terms : Terms
        What groups face.
    parity, equal_tpr, tolerance : float, optional
        As in :class:`selfselect.StrategicClassifier`. What is not given is as the classifier has it by default; what it
        does not have is refused.
    require, max_social_cost, min_selection_rate : optional
        What the model must meet, as in :class:`selfselect.StrategicClassifier`. A classifier that has no such setting
        is made all the same: whether the model meets it is seen once it is trained (:mod:`.fitness`).
    random_state : int, optional
        Seed, for classifiers that have one.

    Examples
    --------
    >>> make_classifier("strategic", Terms(0.8)).tolerance, make_classifier("semi", Terms(0.8)).tolerance
    (0.02, 0.0)
    """
    check_choice(method, "method", list(METHODS))
    classifier, settings = METHODS[method]
    asked = {"parity": parity, "equal_tpr": equal_tpr, "tolerance": tolerance}
    for name, value in asked.items():
        if value and name not in settings:
            able = " or ".join(other for other, (_, theirs) in METHODS.items() if name in theirs)
            raise ValueError(f"{name} is a setting of the method {able}, not of {method}.")
    conditions = {
        "require": list(require) if require else None,
        "max_social_cost": max_social_cost,
        "min_selection_rate": min_selection_rate,
    }
    others = asked | conditions | {"random_state": random_state}
    given = {name: value for name, value in others.items() if value is not None}
    own = {name: value for name, value in given.items() if name in settings}
    return classifier(cost=terms.cost, subsidies=terms.subsidies, subsidy_kind=terms.kind, **own)


def hold_out(strata: NDArray[np.intp], share: float, seed: int) -> BoolArray:
    """Which rows to keep for evaluation: the same share of every stratum, rounded down.

    A stratum of one stays in training, so that no group is evaluated that was never published.

    Examples
    --------
    >>> strata = np.array([0, 0, 0, 0, 1])
    >>> strata[hold_out(strata, 0.5, seed=0)].tolist()
    [0, 0]
    """
    order = np.lexsort((np.random.default_rng(seed).random(len(strata)), strata))
    size = np.bincount(strata)
    start = np.cumsum(size) - size
    rank = np.empty(len(strata), dtype=np.intp)
    rank[order] = np.arange(len(strata)) - start[strata[order]]
    return np.asarray(rank < np.floor(share * size[strata] + 1e-9), dtype=bool)


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """A trained model, what it published, and what it does to people it has not seen.

    Attributes
    ----------
    model : TableModel
        The model.
    audit : Audit
        People decide by what was published in training; accuracy and social cost are those of held-out people (of the
        training people if nobody was held out).
    trained_on, held_out : int
        Numbers of rows.
    unseen : bool
        Whether what is published comes from people scored by a model that was not fitted to them.
    notes : tuple of str
        What the user should know.
    """

    model: TableModel
    audit: Audit
    trained_on: int
    held_out: int
    unseen: bool
    notes: tuple[str, ...]


def train_on_table(
    people: TrainingTable,
    classifier: Any,
    *,
    holdout: float = 0.3,
    seed: int = 0,
    provenance: Provenance | None = None,
) -> TrainingResult:
    """Fit a classifier to a table of text and evaluate it on held-out rows.

    Parameters
    ----------
    people : TrainingTable
        Columns to learn from, labels and groups.
    classifier : NaiveClassifier, SemiStrategicClassifier, GroupThresholdClassifier or StrategicClassifier
        Not yet fitted.
    holdout : float, default=0.3
        Share of rows kept for evaluation; 0 for none.
    seed : int, default=0
        Seed of the split.
    provenance : Provenance, optional
        What a report should say about the data.

    Examples
    --------
    >>> from selfselect.counting import encode_groups
    >>> cells = np.array(["1", "2", "3", "4"] * 10, dtype=object)
    >>> people = TrainingTable({"years": cells}, cells > "2", encode_groups(["A", "B"] * 20))
    >>> done = train_on_table(people, make_classifier("naive", Terms(0.7)))
    >>> done.trained_on, done.held_out, done.unseen, done.audit.applying_groups
    (28, 12, True, 2)
    """
    test = hold_out(people.groups.codes * 2 + people.y, holdout, seed)
    train = ~test
    encoder = TableEncoder.fit(people.columns, train)
    features = encoder.transform(people.columns)
    notes = [f"Column {name!r} is left out: {reason}." for name, reason in encoder.left_out.items()]
    notes += _fit(classifier, features[train], people.y[train], people.groups.take(train))
    model = TableModel(encoder, classifier, people.group_columns, people.missing)
    score = model.score_features(features, people.groups)
    unseen = classifier.unseen_scores_
    told = score[train] if unseen is None else unseen

    def screened(rows: BoolArray, score: FloatArray) -> ScreeningResult:
        groups, y = people.groups.take(rows), people.y[rows]
        if model.decides_by_group:  # thresholds may be infinite, and no threshold on what is left is one for all
            counts = GroupCounts.from_rows(y, score > 0, groups.codes, len(groups.labels))
            return ScreeningResult(PublishedStatistics(groups.labels, counts))
        return ScreeningResult.from_curves(ThresholdCurves.from_codes(y, score, groups.codes, groups.labels), 0.0)

    published = screened(_among(train, ~np.isnan(told)), told[~np.isnan(told)])
    evaluated = screened(test, score[test]) if test.any() else published
    found = Audit(published, evaluated, classifier.terms_, (), provenance or Provenance())
    return TrainingResult(model, found, int(train.sum()), int(test.sum()), unseen is not None, tuple(notes))


def _among(rows: BoolArray, which: BoolArray) -> BoolArray:
    """Some of the rows that are marked, by one yes or no for each of these."""
    marked = rows.copy()
    marked[rows] = which
    return marked


def _fit(classifier: Any, features: Any, y: BoolArray, groups: Any) -> list[str]:
    """Fit, and return what it warned about; who is shut out is found on the people that are evaluated."""
    # those of other libraries cannot be had without changing the filters of all threads; the command has one
    with warnings.catch_warnings(record=True) as caught, notices_kept() as kept:
        warnings.simplefilter("always")
        classifier.fit(features, y.astype(int), sensitive_features=groups)
    notes = [notice.message for notice in kept if not issubclass(notice.category, ShutOutWarning)]
    notes += [str(item.message) for item in caught if issubclass(item.category, ConvergenceWarning)]
    return [note.split("\n")[0] for note in notes]
