"""Training on a table: columns of text become features, a classifier is fitted, and new tables are scored."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

from .. import constraints, estimators
from .._formats import count, percent
from .._notices import captured_warnings
from .._text import quote
from .._validation import MAX_MAGNITUDE, BoolArray, FloatArray, check_choice
from ..auditing import Audit, Provenance, ScreeningResult, group_names
from ..costs import Terms
from ..counting import locate_labels
from ..outcomes import outcome
from ..statistics import SLACK
from .columns import GroupRules, encode_frame, group_frame, numbers_or_missing, with_point
from .data_checks import Finding
from .features import as_frame, fit_encoder, read_features
from .loading import Counted, ModelOutput, TrainingTable
from .table import Column, Table, TextArray
from .training_ranges import compare_with_training, describe_columns

Method: TypeAlias = Literal["naive", "semi", "thresholds", "strategic"]

#: Classifier of each method.
METHODS: dict[Method, type[Any]] = {
    "naive": estimators.NaiveClassifier,
    "semi": estimators.SemiStrategicClassifier,
    "thresholds": estimators.GroupThresholdClassifier,
    "strategic": estimators.StrategicClassifier,
}
#: Condition of each setting that is one.
CONDITIONS: dict[str, Callable[[Any], constraints.Constraint]] = {
    "require": lambda groups: constraints.RequiredGroups(*groups),
    "max_social_cost": constraints.MaxSocialCost,
    "min_selection_rate": constraints.MinSelectionRate,
    "parity": lambda ratio: constraints.DemographicParity(ratio_bound=ratio),
    "tpr_parity": lambda ratio: constraints.TruePositiveRateParity(ratio_bound=ratio),
}
#: A group of which a smaller share passes is shut out.
MIN_PASS_RATE = 0.01
#: Groups with fewer qualified people are not reported: that none passes may be chance.
MIN_QUALIFIED = 10


@dataclass(frozen=True, eq=False)
class TableModel:
    """A fitted pipeline of a ``ColumnTransformer`` and a classifier, with the columns of a table that it needs.

    ``columns`` are those that it learnt from; ``numbers`` are those of them that hold numbers, the others hold
    categories. ``groups`` are the columns that make up the groups, by the rules of ``missing``, ``unknown`` and
    ``bands`` (:class:`.columns.GroupRules`), ``qualified`` the value that a prediction of 1 means (as in ``repaid =
    yes``), ``seen`` what training saw of each column (:mod:`.training_ranges`).
    """

    pipeline: Pipeline
    columns: tuple[str, ...]
    numbers: tuple[str, ...]
    groups: tuple[str, ...]
    missing: str = "error"
    unknown: tuple[str, ...] = ()
    bands: dict[str, tuple[float, ...]] = field(default_factory=dict)
    qualified: str = ""
    seen: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def rules(self) -> GroupRules:
        """How cells of new tables become groups. Of new people, none is left out."""
        missing = "own_group" if self.missing == "drop" else self.missing
        return GroupRules(missing=missing, unknown=self.unknown, bands=self.bands)

    @property
    def classifier(self) -> Any:
        """The fitted classifier."""
        return self.pipeline[-1]

    @property
    def decides_by_group(self) -> bool:
        """Whether each group has a threshold of its own, so that predictions need the group."""
        return isinstance(self.classifier, estimators.GroupThresholdClassifier)

    def frame(self, columns: Mapping[str, TextArray]) -> pd.DataFrame:
        """Columns of text, with decimal points, as the frame that the pipeline takes."""
        return as_frame({name: columns[name] for name in self.columns}, self.numbers)

    def score(self, frame: pd.DataFrame, groups: Any = None) -> FloatArray:
        """Score of each row; above 0 passes screening.

        A model that :attr:`decides_by_group` needs the groups, as a frame or as codes. The score of a group that was
        not there in training is NaN.
        """
        features = self.pipeline[:-1].transform(frame)
        if not self.decides_by_group:
            return np.asarray(self.classifier.decision_function(features), dtype=np.float64)
        known = np.ones(len(features), dtype=bool)
        if isinstance(groups, pd.DataFrame):
            known = self.applies_to(groups)[1]
            groups = encode_frame(groups[known], self.rules) if known.any() else None
        score = np.full(len(features), np.nan)
        if known.any():
            score[known] = self.classifier.decision_function(features[known], sensitive_features=groups)
        return score

    def applies_to(self, groups: pd.DataFrame) -> tuple[BoolArray, BoolArray]:
        """Whether each person applies, and whether the person's group was there in training."""
        own = encode_frame(groups, self.rules)
        position = self.classifier.published_.groups.get_indexer(own.labels)
        known = position >= 0
        applies = np.where(known, self.classifier.applies().to_numpy()[np.maximum(position, 0)], False)
        return applies[own.codes], known[own.codes]


def load_table_model(path: str | Path) -> TableModel:
    """Load a model that ``selfselect train`` wrote; any other file is an error that names it."""
    model = estimators.load_model(path)
    if not isinstance(model, TableModel):
        raise ValueError(f"{path} holds a {type(model).__name__}, not a model that selfselect train wrote.")
    return model


# ---------------------------------------------------------------------- train


def make_classifier(method: Method, terms: Terms, *, random_state: Any = None, **settings: Any) -> Any:
    """Classifier of a method by its name, trained for the conditions that it can aim at.

    ``settings`` are ``margin`` and those of :data:`CONDITIONS`; None is none. Every trained model is checked for who
    must apply and how many must be selected, but a method that cannot aim at the other settings
    refuses them.
    """
    check_choice(method, "method", list(METHODS))
    taken = METHODS[method]().get_params(deep=False)
    settings = {name: value for name, value in settings.items() if value not in (None, [])}
    for name, parameter in (("parity", "constraints"), ("tpr_parity", "constraints"), ("margin", "margin")):
        if name in settings and parameter not in taken:
            others = " or ".join(other for other, kind in METHODS.items() if parameter in kind().get_params(deep=False))
            raise ValueError(f"{name} is a setting of the method {others}, not of {method}.")
    conditions = tuple(make(settings.pop(name)) for name, make in CONDITIONS.items() if name in settings)
    settings |= {"constraints": conditions, "random_state": random_state}
    given = {name: value for name, value in settings.items() if name in taken}
    return METHODS[method](cost=terms.cost, subsidies=terms.subsidies, subsidy_kind=terms.kind, **given)


def hold_out(strata: NDArray[np.intp], share: float, seed: int) -> BoolArray:
    """Which rows to hold out: the same share of every stratum, rounded down.

    A stratum of one row stays in training, so that every evaluated group has published statistics.
    """
    draws = pd.Series(np.random.default_rng(seed).random(len(strata)))
    rank = draws.groupby(strata).rank(method="first").to_numpy()
    return np.asarray(rank <= np.floor(share * np.bincount(strata)[strata] + 1e-9), dtype=bool)


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """A trained model, and its audit on held-out people (on the training people if nobody was held out).

    ``trained_on`` and ``held_out`` are numbers of people. ``unseen`` says whether the published statistics come from
    people scored by a model that was not fitted to them.
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
    """Fit a classifier to a table of text and audit it on a share of rows that are held out."""
    strata = people.groups.codes * 2 + people.y
    person = np.arange(len(strata)) if people.person is None else people.person
    _, first = np.unique(person, return_index=True)
    test = hold_out(strata[first], holdout, seed)[person]
    # a group whose rows all belong to persons held out would have no published statistics
    whole = np.isin(people.groups.codes, people.groups.codes[~test], invert=True)
    test &= ~np.isin(person, person[whole])
    train = ~test

    def repeated(rows: BoolArray) -> NDArray[np.intp] | None:
        return None if people.person is None else person[rows]

    frame, left_out = read_features(people.columns)
    encoder = fit_encoder(frame[train])
    notes = [f"Column {name!r} is left out: {reason}." for name, reason in left_out.items()]
    features = encoder.transform(frame[train])
    notes += _fit(classifier, features, people.y[train], people.groups.take(train), repeated(train))
    model = TableModel(
        Pipeline([("columns", encoder), ("classifier", classifier)]),
        columns=tuple(frame.columns),
        numbers=tuple(frame.select_dtypes("number").columns),
        groups=tuple(map(str, people.groups.labels.names)),
        missing=people.rules.missing,
        unknown=people.rules.unknown,
        bands=dict(people.rules.bands),
        qualified=people.qualified,
        seen=describe_columns(frame[train]),
    )
    score = model.score(frame, people.groups)
    unseen_scores = classifier.unseen_scores_
    train_score = score[train] if unseen_scores is None else unseen_scores

    def screening(rows: BoolArray, score: FloatArray) -> ScreeningResult:
        # thresholds of groups differ and may be infinite: then there is no curve over one threshold
        output = ModelOutput(score > 0) if model.decides_by_group else ModelOutput(score > 0, score, threshold=0.0)
        return output.screen(Counted.of_rows(people.y[rows], people.groups.take(rows), person=repeated(rows)))

    scored = ~np.isnan(train_score)
    published_rows = train.copy()
    published_rows[train] = scored
    published = screening(published_rows, train_score[scored])
    evaluated = screening(test, score[test]) if test.any() else published
    audit = Audit(published, evaluated, classifier.terms_, (), provenance or Provenance())
    trained_on, held_out = (len(np.unique(person[rows])) for rows in (train, test))
    return TrainingResult(model, audit, trained_on, held_out, unseen_scores is not None, tuple(notes))


def _fit(classifier: Any, features: Any, y: BoolArray, groups: Any, person: NDArray[np.intp] | None) -> list[str]:
    """Fit, and return the first lines of warnings, without those about shut-out groups, which the audit reports."""
    # warnings of other libraries can only be caught for all threads; the command has one
    with warnings.catch_warnings(record=True) as caught, captured_warnings() as captured:
        warnings.simplefilter("always")
        classifier.fit(features, y.astype(int), sensitive_features=groups, person=person)
    notes = [str(warning) for warning in captured if not isinstance(warning, estimators.ShutOutWarning)]
    notes += [str(item.message) for item in caught if issubclass(item.category, ConvergenceWarning)]
    return [note.split("\n")[0] for note in notes]


# ---------------------------------------------------------------------- conditions


def shut_out(trained: Audit) -> list[str]:
    """A sentence for each group with enough qualified people that a model shuts out.

    The check uses held-out people. For groups with too few qualified people among them (or if nobody was held out) it
    uses those whose counts are published.
    """
    tables = [(trained.population, "held-out people")] if trained.of_new_people else []
    checked: set[Any] = set()
    sentences = []
    for table, whose in [*tables, (trained.published, "people")]:
        counts = table.counts
        for i, (label, name) in enumerate(zip(table.groups, group_names(table.groups), strict=True)):
            if label in checked or counts.positives[i] < MIN_QUALIFIED:
                continue
            checked.add(label)
            n, passed = counts.n[i], counts.selected[i]
            if passed < (MIN_PASS_RATE - SLACK) * n:
                passes = f"{count(passed)} ({percent(passed / n)})" if passed else "none"
                sentences.append(
                    f"The model passes {passes} of the {count(n)} {whose} of {name!r}, {count(counts.positives[i])} of "
                    "whom are qualified."
                )
    return sentences


def unmet_conditions(
    trained: Audit,
    *,
    require: Sequence[Any] = (),
    max_social_cost: float | None = None,
    min_selection_rate: float | None = None,
) -> list[tuple[str, str]]:
    """Conditions of :class:`selfselect.StrategicClassifier` that a trained model does not meet: their names, and why.

    They are checked on the published counts, on which training enforces them; held-out people may differ by chance.
    """
    table, counts = trained.published, trained.published.counts
    names, unmet = group_names(table.groups), []
    if len(require):
        required = locate_labels(list(require), table.groups, "require", "the table")
        unmet += [("require", f"{names[i]} does not apply") for i in required if not trained.applies.iloc[i]]
    social_cost = outcome(table, trained.shares).social_cost
    if max_social_cost is not None and social_cost > max_social_cost + SLACK:
        text = f"{percent(social_cost)} of qualified people do not apply, more than {percent(max_social_cost)}"
        unmet.append(("max_social_cost", text))
    least = min_selection_rate or 0.0
    for i in np.flatnonzero((counts.selected < (least - SLACK) * counts.n) & (counts.n > 0)):
        text = f"{percent(counts.selection_rate[i])} of {names[i]} pass, fewer than {percent(least)}"
        unmet.append(("min_selection_rate", text))
    return unmet


# ---------------------------------------------------------------------- predict


def predict_table(
    model: TableModel, table: Table, findings: list[Finding] | None = None
) -> tuple[list[list[str]], list[str]]:
    """All columns of a table with the columns score, prediction and applies added, and groups unknown in training.

    A score above 0 passes screening (prediction 1). ``applies`` is by the statistics published in training. Undefined
    values are empty. Columns that are unlike those of training are added to ``findings``.
    """
    position = {name: table.position(name, use="which the model needs") for name in [*model.columns, *model.groups]}
    columns = table.columns(range(len(table.header)))
    cells = {name: columns[position[name]].cells() for name in model.columns}
    cells |= {name: _numbers_with_points(table, columns[position[name]]) for name in model.numbers}
    groups = group_frame(table, [columns[position[name]] for name in model.groups], model.rules)
    applies, known = model.applies_to(groups)
    unknown = [] if known.all() else group_names(encode_frame(groups[~known], GroupRules(missing="own_group")).labels)
    frame = model.frame(cells)
    if findings is not None:
        known_groups = model.classifier.published_.groups
        labels = {name: known_groups.get_level_values(i).unique() for i, name in enumerate(model.groups)}
        findings += compare_with_training(
            model.seen, frame.join(groups[groups.columns.difference(frame.columns)]), labels
        )
    scores = model.score(frame, groups).tolist()
    added = [
        ["" if np.isnan(score) else repr(score) for score in scores],
        ["" if np.isnan(score) else str(int(score > 0)) for score in scores],
        [str(int(yes)) if is_known else "" for yes, is_known in zip(applies, known, strict=True)],
    ]
    return [*(column.cells().tolist() for column in columns), *added], unknown


def _numbers_with_points(table: Table, column: Column) -> TextArray:
    """Cells of a column of numbers with decimal points; any other cell is an error that names its place."""
    cells = np.array([with_point(str(cell), table.decimal) for cell in column.cells()], dtype=object)
    numbers, wrong = numbers_or_missing(cells)
    problem = "is not a finite number; in training this column held numbers"
    if not wrong.size:
        wrong = np.flatnonzero(np.abs(np.nan_to_num(numbers)) > MAX_MAGNITUDE)
        problem = "is too large to compute with"
    if wrong.size:
        at = int(wrong[0])
        raise table.error(f"{quote(str(column.cells()[at]))} {problem}", row=column.rows[at], column=column.name)
    return cells
