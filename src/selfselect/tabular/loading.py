"""Read from a table what an audit, a training or a check needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._errors import InputError
from .._formats import count
from .._text import quote
from .._validation import MAX_MAGNITUDE, BoolArray, FloatArray, outside_weight_range
from ..auditing import PairedCounts, ScreeningResult, default_threshold
from ..counting import GroupCodes, GroupCounts
from ..publishing import PublishedStatistics, ThresholdCurves
from .cells import Cells, ScoreKey, count_cells
from .columns import (
    BinaryColumn,
    GroupRules,
    as_numbers,
    encode_frame,
    group_frame,
    is_missing,
    normalise_decimals,
    read_binary,
)
from .data_checks import (
    MIN_COPIES,
    Finding,
    check_column_roles,
    check_copies,
    check_decisions,
    check_features,
    check_label_values,
    check_labels_and_groups,
    check_scores,
)
from .errors import Problems, TableError
from .table import Column, Table, TextArray

#: In larger tables, an audit does not read all columns to look for copies of rows.
MAX_ROWS_FOR_COPIES = 200_000


@dataclass(frozen=True)
class PeopleColumns(GroupRules):
    """Columns of labels, groups, weights and persons.

    The combinations of the group columns are the groups. How their cells become
    groups is said by :class:`GroupRules`. ``positive`` are
    the labels that mean qualified, if not 1, true or yes; all others then mean not qualified.
    With ``untested``, the label of people who do not pass screening may be empty.
    ``person`` has the id of each row's person.
    """

    label: str
    groups: tuple[str, ...]
    positive: tuple[str, ...] = ()
    weight: str | None = None
    untested: bool = False
    person: str | None = None

    def __post_init__(self) -> None:
        twice = [name for i, name in enumerate(self.groups) if name in self.groups[:i]]
        if twice:
            raise TableError(f"column {quote(twice[0])} is named twice for the groups", named_by="group")
        if self.person is not None and self.person in (self.label, *self.groups):
            problem = f"column {quote(self.person)} is the label or the group, and cannot name persons"
            raise TableError(problem, named_by="person")


@dataclass(frozen=True)
class ScoreColumn:
    """Score of a model; above the threshold (by default 0.5, for probabilities) passes screening.

    With ``lower_passes`` it is below the threshold: score and threshold are then negated.
    """

    name: str
    threshold: float | None = None
    lower_passes: bool = False
    named_by: ClassVar[str] = "score"


@dataclass(frozen=True)
class DecisionColumn:
    """Who passes screening: two values, of which ``positive`` (by default 1, true or yes) means passing."""

    name: str
    positive: str | None = None
    named_by: ClassVar[str] = "prediction"


#: Column of the scores or of the decisions of a model.
Model = ScoreColumn | DecisionColumn


@dataclass(frozen=True, eq=False)
class ModelOutput:
    """Decisions of a model and, if there is one, the score that they come from.

    Where lower scores pass, score and threshold are negated. ``passes`` says in words which value or score passes.
    """

    selected: BoolArray
    score: FloatArray | None = None
    threshold: float | None = None
    lower_passes: bool = False
    passes: str = ""

    @classmethod
    def read(cls, table: Table, model: Model, column: Column, extent: tuple[float, float] | None = None) -> ModelOutput:
        """Output of a model, from its column; ``extent`` has its smallest and largest score if they may be rounded."""
        if isinstance(model, DecisionColumn):
            decisions = read_binary(table, column, () if model.positive is None else (model.positive,))
            return cls(decisions.is_positive, passes=decisions.meaning)
        score, threshold = as_numbers(table, column), model.threshold
        if threshold is None:
            try:
                threshold = default_threshold(*(extent or (float(score.min()), float(score.max()))))
            except InputError as error:
                raise table.error(str(error), column=model.name, key=error.key) from error
        passes = f"{model.name} {'<' if model.lower_passes else '>'} {threshold:g}"
        if model.lower_passes:
            score, threshold = -score, -threshold
        return cls(score > threshold, score, threshold, model.lower_passes, passes)

    def take(self, rows: NDArray[np.intp]) -> ModelOutput:
        """The output for some of the people, in a given order."""
        return replace(self, selected=self.selected[rows], score=None if self.score is None else self.score[rows])

    def screen(self, people: Counted) -> ScreeningResult:
        """Counts, and if everybody's label is known the curves by which other thresholds can be tried."""
        if self.score is None or self.threshold is None or people.known is not None:
            table = PublishedStatistics(people.groups.labels, people.counts(self.selected))
            result = ScreeningResult(table, threshold=self.threshold)
        else:
            result = ScreeningResult.from_curves(people.curves(self.score), self.threshold)
        return replace(result, lower_passes=self.lower_passes)


@dataclass(frozen=True, eq=False)
class Counted:
    """Labels and groups of people, each row of whom stands for ``n`` people (or the sum of their weights).

    ``squares`` are sums of squared weights. ``known`` says whose label is known (None: everybody's). With ``person``, a
    code for each row, rows are not merged.
    """

    y: BoolArray
    groups: GroupCodes
    n: NDArray[Any]
    squares: FloatArray | None = None
    known: BoolArray | None = None
    person: NDArray[np.intp] | None = None

    @classmethod
    def of_rows(
        cls,
        y: BoolArray,
        groups: GroupCodes,
        weight: FloatArray | None = None,
        person: NDArray[np.intp] | None = None,
    ) -> Counted:
        """People with a row each."""
        squares = None if weight is None else weight**2
        return cls(y, groups, np.ones(len(y), dtype=np.int64) if weight is None else weight, squares, person=person)

    @property
    def _weight(self) -> FloatArray | None:
        return None if self.squares is None else self.n

    def take(self, rows: NDArray[np.intp]) -> Counted:
        """Some of the people, in a given order; all their labels are known."""
        squares = None if self.squares is None else self.squares[rows]
        person = None if self.person is None else self.person[rows]
        return Counted(self.y[rows], self.groups.take(rows), self.n[rows], squares, person=person)

    def curves(self, score: FloatArray) -> ThresholdCurves:
        """Counts at every threshold of a score."""
        labels, codes = self.groups.labels, self.groups.codes
        if self.person is not None:
            return ThresholdCurves.from_codes(self.y, score, codes, labels, self._weight, self.person)
        squares = None if self.squares is None else (self.squares, self.squares * self.y)
        return ThresholdCurves.from_cells(labels, codes, score, self.n, self.n * self.y, squares)

    def counts(self, selected: BoolArray) -> GroupCounts:
        """Counts of decisions."""
        codes, n_groups = self.groups.codes, self.groups.n_groups
        if self.person is not None:
            return GroupCounts.from_rows(
                self.y, selected, codes, n_groups, self._weight, known=self.known, person=self.person
            )
        positive = self.y if self.known is None else self.y & self.known
        masks = [np.ones(len(self.y), dtype=bool), positive, selected, positive & selected]
        masks += [] if self.known is None else [~self.known]

        def sums(values: NDArray[Any]) -> list[NDArray[Any]]:
            return [np.bincount(codes, values * mask, n_groups).astype(values.dtype) for mask in masks]

        squares = None if self.squares is None else GroupCounts(*sums(self.squares))
        return GroupCounts(*sums(self.n), squares=squares)

    def pairs(self, first: BoolArray, second: BoolArray) -> PairedCounts:
        """Counts of two decisions about the same people."""
        if self.person is not None:
            return PairedCounts.from_predictions(
                self.y, first, second, sensitive_features=self.groups, sample_weight=self._weight, person=self.person
            )
        cell, shape = 8 * self.groups.codes + 4 * self.y + 2 * first + second, (self.groups.n_groups, 2, 2, 2)

        def sums(values: NDArray[Any]) -> NDArray[Any]:
            return np.bincount(cell, values, 8 * shape[0]).astype(values.dtype).reshape(shape)

        return PairedCounts(self.groups.labels, sums(self.n), None if self.squares is None else sums(self.squares))


class People:
    """Labels, groups and weights of a table, the ``outputs`` of models, and ``others``: further columns by name.

    There is one entry per row, or per cell if rows that agree are given as ``cells``.

    ``label`` says which value means qualified ("repaid = yes"), ``passes`` who passes screening by the first model,
    ``person`` whose row each is (None: every row is another person's), and ``persons`` how many there are, in words.
    """

    def __init__(
        self,
        table: Table,
        columns: PeopleColumns,
        models: Sequence[Model] = (),
        others: Sequence[str] = (),
        named_by: str = "",
        cells: Cells | None = None,
    ) -> None:
        given = table.columns(_positions(table, columns, models, others, named_by)) if cells is None else cells.columns
        rows = np.ones(len(given[0].rows), dtype=np.int64) if cells is None else cells.rows
        self.kept, self.dropped = np.ones(len(rows), dtype=bool), 0
        if columns.missing == "drop":
            self.kept = columns.known_rows(table, given[1 : 1 + len(columns.groups)])
            self.dropped = int(rows[~self.kept].sum())
            if not self.kept.any():
                raise table.error("no row has a group", column=" / ".join(columns.groups), named_by="group")
        if self.dropped:
            rows, cells = rows[self.kept], None if cells is None else cells.take(self.kept)
            given = [column.take(self.kept) for column in given] if cells is None else cells.columns
        read, problems = iter(given), Problems()
        self.table, self.columns, self.models = table, columns, models
        self._label = next(read)
        values = {"is_label": True, "allow_empty": columns.untested}
        self._labels: BinaryColumn = problems.catch(read_binary, table, self._label, columns.positive, **values)
        self._group_frame: pd.DataFrame = problems.catch(
            group_frame, table, [next(read) for _ in columns.groups], columns, rows
        )
        self.weight: FloatArray | None = None
        if columns.weight is not None:
            column = next(read)
            self.weight = problems.catch(_weights, table, column) if cells is None else cells.n
            if self.weight is not None and not self.weight.any():
                raise table.error("every weight is 0", column=columns.weight, named_by="weight")
        self.person = None if columns.person is None else problems.catch(_persons, table, next(read))
        self.model_columns = [next(read) for _ in models]
        extent = None if cells is None else cells.extent
        self.outputs: list[ModelOutput] = [
            problems.catch(ModelOutput.read, table, *each, extent)
            for each in zip(models, self.model_columns, strict=True)
        ]
        problems.raise_all()
        self.y, self.label = self._labels.is_positive, self._labels.meaning
        self.n_rows = self.n_people = int(rows.sum())
        self.persons = ""
        if self.person is not None:
            self.n_people = int(self.person.max()) + 1
            about = f"{count(self.n_rows)} rows are about {count(self.n_people)} people"
            self.persons = (
                f"{about} (column {quote(str(columns.person))}): rows of one person count as one in intervals."
            )
        self.passes = self.outputs[0].passes if self.outputs else ""
        self.others = list(read)
        self._cells = cells

    def groups(self, column: str | None = None) -> GroupCodes:
        """Groups by one column, or by the combinations of all."""
        frame = self._group_frame if column is None else self._group_frame[[column]]
        return encode_frame(frame, self.columns)

    def screen(self, group_column: str | None = None) -> ScreeningResult:
        """Result of the first model (without one, nobody passes). People without a label must not pass screening."""
        output = self.outputs[0] if self.outputs else ModelOutput(np.zeros(len(self.y), dtype=bool))
        people = self.counted(group_column)
        untested = ~self._labels.known
        if not self.columns.untested or not untested.any():
            width = None if self._cells is None else self._cells.width
            return replace(output.screen(people), bin_width=width)
        wrong = np.flatnonzero(output.selected & untested)
        if wrong.size:
            raise self.table.error(
                "the label is empty, but this person passes screening; only people who do not pass can be untested",
                row=self._label.rows[int(wrong[0])],
                column=self.columns.label,
                advice="Precision is computed from people who pass: find their labels, or leave out those who were "
                "never meant to be tested.",
            )
        return output.screen(replace(people, known=~untested))

    def counted(self, group_column: str | None = None) -> Counted:
        """People by group and label."""
        groups = self.groups(group_column)
        if self._cells is None:
            return Counted.of_rows(self.y, groups, self.weight, self.person)
        return Counted(self.y, groups, self._cells.n, self._cells.squares)

    def findings(
        self, results: Sequence[ScreeningResult], copies: Iterable[Finding], features: Mapping[str, TextArray]
    ) -> Iterator[Finding]:
        """What looks wrong with labels, groups, the first model and features, and with copies of rows."""
        if self.dropped:
            text = f"{count(self.dropped)} rows without a group are left out; {count(self.n_rows)} are left."
            yield Finding("dropped", "hint", text)
        yield from check_label_values(self.columns.label, self._labels.positive, self._labels.negative)
        for result in results:
            yield from check_labels_and_groups(result.table, self.columns.label)
        if self.models:
            yield from check_output(results[0], self.models[0])
        if self.persons:
            yield Finding("persons", "hint", self.persons)
        else:
            yield from copies
        known = self._labels.known  # people without a label say nothing about what gives it away
        if not known.all():
            features = {name: cells[known] for name, cells in features.items()}
        yield from check_features(features, self.y[known])

    def copies(self, others: Sequence[Column]) -> Iterator[Finding]:
        """Copies of rows by further columns; without any, none."""
        return check_copies(self.y, self.groups().codes, [column.codes for column in others]) if others else iter(())


def _positions(
    table: Table, columns: PeopleColumns, models: Sequence[Model], others: Sequence[str] = (), named_by: str = ""
) -> list[int]:
    """Positions of the columns of labels, groups, weights, persons and models, in this order, and of others."""
    named = [(columns.label, "label"), *((name, "group") for name in columns.groups)]
    named += [(columns.weight, "weight")] if columns.weight is not None else []
    named += [(columns.person, "person")] if columns.person is not None else []
    named += [*((model.name, model.named_by) for model in models), *((name, named_by) for name in others)]
    problems = Problems()
    positions = [problems.catch(table.position, *each) for each in named]
    problems.raise_all()
    return positions


def read_people(
    table: Table, columns: PeopleColumns, models: Sequence[Model]
) -> tuple[list[People], PairedCounts | None]:
    """People under each of one or two models; of two, also how often they agree.

    Rows that agree are counted in one reading, so that the table need not fit into memory. Rows of persons are kept.
    """
    if columns.person is not None:
        people = [People(table, columns, [model]) for model in models]
        selected = [each.outputs[0].selected for each in people]
        return people, people[0].counted().pairs(*selected) if len(models) == 2 else None
    positions = _positions(table, columns, models)
    start = len(positions) - len(models)
    keys = {
        i: ScoreKey(start + i, 0.5 if model.threshold is None else model.threshold, model.lower_passes)
        for i, model in enumerate(models)
        if isinstance(model, ScoreColumn)
    }
    weight = None if columns.weight is None else 1 + len(columns.groups)
    convert = {"to_numbers": partial(as_numbers, table), "to_weights": partial(_weights, table)}
    try:
        everything, by_score = count_cells(table, positions, list(keys.values()), weight, **convert)
    except InputError:
        People(table, columns, models)  # all problems of the file at once
        raise
    each_model: list[People] = []
    for i, model in enumerate(models):
        cells = by_score[list(keys).index(i)] if i in keys else everything
        own = replace(cells, columns=[*cells.columns[:start], cells.columns[start + i]])
        each_model.append(People(table, columns, [model], cells=own))
    if len(models) < 2:
        return each_model, None
    both = People(table, columns, cells=replace(everything, columns=everything.columns[:start]))
    passes = everything.passes[both.kept]
    selected = [
        passes[:, list(keys).index(i)] if i in keys else each.outputs[0].selected for i, each in enumerate(each_model)
    ]
    return each_model, both.counted().pairs(*selected)


def _weights(table: Table, column: Column) -> FloatArray:
    numbers = as_numbers(table, column)
    negative = np.flatnonzero(numbers < 0)
    wrong = negative if negative.size else outside_weight_range(numbers)
    if wrong.size:
        at = int(wrong[0])
        problem = f"is no weight; other than 0 they lie between {1 / MAX_MAGNITUDE:g} and {MAX_MAGNITUDE:g}"
        if negative.size:
            problem = "is negative; a weight is at least 0"
        cell = quote(str(column.texts[column.codes[at]]).strip())
        raise table.error(f"{cell} {problem}", row=column.rows[at], column=column.name)
    return numbers


def _persons(table: Table, column: Column) -> NDArray[np.intp] | None:
    """A code of each row's person; None if every row is another person's."""
    missing = np.flatnonzero(is_missing(column.texts))
    if missing.size:
        row = min(map(column.first_row, missing.tolist()))
        raise table.error("the person is missing; give every row one", row=row, column=column.name, named_by="person")
    codes, persons = pd.factorize(np.array([str(text).strip() for text in column.texts], dtype=object)[column.codes])
    return None if len(persons) == len(codes) else np.asarray(codes, dtype=np.intp)


def check_output(result: ScreeningResult, model: Model) -> Iterator[Finding]:
    """What looks wrong with the scores or the decisions of a model."""
    return (check_scores if isinstance(model, ScoreColumn) else check_decisions)(result, model.name)


def read_screening_results(
    table: Table,
    columns: PeopleColumns,
    model: Model,
    findings: list[Finding] | None = None,
    group_columns: Sequence[str | None] = (None,),
) -> tuple[list[ScreeningResult], People]:
    """Results of a model for the people in a table: one for each column of groups; and the people.

    None stands for the combinations of all columns. What looks wrong with the table is added to ``findings``.
    """
    people = read_people(table, columns, [model])[0][0]
    results = [people.screen(name) for name in group_columns]
    if findings is not None:
        findings += check_column_roles(columns.label, columns.groups, model.name)
        findings += people.findings(results, _copies(people), {})
        findings += check_bins(results[0], model.name)
    return results, people


def check_bins(result: ScreeningResult, name: str) -> Iterator[Finding]:
    """How far scores are rounded, and what that can change."""
    width, curves = result.bin_width, result.curves
    if width is None or curves is None:
        return
    same = curves.group[1:] == curves.group[:-1]
    most = float(((curves.selected[:-1] - curves.selected[1:]) / curves.n[curves.group[1:]])[same].max())
    text = (
        f"The score {quote(name)} has too many different values to keep: it is rounded to {width:g}. Numbers at the "
        f"threshold in use are exact, and so are those at every other threshold that is shown. Thresholds between two "
        f"multiples of {width:g} are not tried; they would change who passes for at most {100 * most:.2g}% of a group."
    )
    yield Finding("bins", "hint", text)


def _copies(people: People) -> Iterator[Finding]:
    """Copies of rows by all other columns, if they agree in label, group and model more often than once or twice."""
    table, columns, output = people.table, people.columns, people.outputs[0]
    if people.persons or people.n_people > MAX_ROWS_FOR_COPIES:
        return
    scores = output.selected if output.score is None else output.score
    distinct = pd.DataFrame({"y": people.y, "group": people.groups().codes, "score": scores}).drop_duplicates()
    if people.n_people - len(distinct) >= MIN_COPIES:
        others = [i for i, name in enumerate(table.header) if name not in (columns.label, *columns.groups)]
        rows = People(table, columns)
        yield from rows.copies([column.take(rows.kept) if rows.dropped else column for column in table.columns(others)])


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """People to learn from: columns of text, who is qualified, groups, and how cells became groups.

    ``qualified`` is the value of the label that means qualified, as in ``repaid = yes``; ``person`` and ``persons`` are
    those of :class:`People`.
    """

    columns: dict[str, TextArray]
    y: BoolArray
    groups: GroupCodes
    rules: GroupRules = field(default_factory=GroupRules)
    qualified: str = ""
    person: NDArray[np.intp] | None = None
    persons: str = ""


def read_for_training(
    table: Table,
    columns: PeopleColumns,
    *,
    ignore: Sequence[str] = (),
    learn_from_groups: bool = True,
    findings: list[Finding] | None = None,
) -> TrainingTable:
    """Labels, groups and all columns to learn from, but the ignored ones."""
    if columns.label in columns.groups:
        raise TableError(f"the label and the groups are the same column {quote(columns.label)}", named_by="group")
    hidden = {columns.label, columns.person, *(() if learn_from_groups else columns.groups)}
    used = _other_columns(table, hidden, ignore)
    if not used:
        raise table.error("no column is left to learn from")
    people = People(table, columns, others=used)
    if people.y.all() or not people.y.any():
        raise table.error("all rows have the same value; training needs both", column=columns.label)
    features = {column.name: normalise_decimals(table, column) for column in people.others}
    if findings is not None:
        others = [column for column in people.others if column.name not in columns.groups]
        checked = {column.name: features[column.name] for column in others}
        findings += people.findings([people.screen()], people.copies(others), checked)
    who = people.person, people.persons
    return TrainingTable(features, people.y, people.groups(), columns, people.label, *who)


def _other_columns(table: Table, hidden: set[str | None], ignore: Sequence[str]) -> list[str]:
    """Names of all columns but the hidden ones. A column to ignore must exist; several of one name are all ignored."""
    for name in ignore:
        if not table.named(name):
            table.position(name, "ignore")
    ignored = {own for name in ignore for own in table.named(name)}
    return [name for name in table.header if name not in hidden | ignored]


def read_for_checking(
    table: Table, columns: PeopleColumns, model: Model | None, *, ignore: Sequence[str] = (), findings: list[Finding]
) -> People:
    """Check labels, groups, the column of a model and all other columns but the ignored ones."""
    models = [] if model is None else [model]
    hidden = {columns.label, columns.person, *columns.groups, *(model.name for model in models)}
    people = People(table, columns, models, list(dict.fromkeys(_other_columns(table, hidden, ignore))))
    features = {column.name: column.cells() for column in people.others}
    others = people.copies([*people.model_columns, *people.others])
    findings += people.findings([people.screen()], others, features)
    return people


# ---------------------------------------------------------------------- the same people under two models


def match_people(first: People, second: People) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows of the people who are in both tables, in one order, by their last column.

    Their labels, groups and weights must agree.
    """
    identifier, found = first.others[-1].name, []
    for people in (first, second):
        column = people.others[-1]
        found.append(np.array([str(text).strip() for text in column.texts])[column.codes])
        values, counts = np.unique(found[-1], return_counts=True)
        if (counts > 1).any():
            problem = f"{quote(str(values[counts > 1][0]))} appears {counts.max()} times"
            advice = "People can only be matched by what each has once."
            raise people.table.error(problem, column=identifier, advice=advice, named_by="same_people")
    both, one, other = np.intersect1d(found[0], found[1], return_indices=True)
    if len(both) == 0:
        problem = f"no value of column {quote(identifier)} is in both {first.table.name} and {second.table.name}"
        raise TableError(problem, advice="Are they the same people?")
    groups = [people.groups() for people in (first, second)]
    names = [each.labels.take(each.codes[rows]) for each, rows in zip(groups, (one, other), strict=True)]
    differ = {
        "is qualified in one table and not in the other": first.y[one] != second.y[other],
        "is in another group in each table": np.array([a != b for a, b in zip(*names, strict=True)]),
    }
    if first.weight is not None and second.weight is not None:
        differ["has another weight in each table"] = first.weight[one] != second.weight[other]
    for problem, wrong in differ.items():
        if wrong.any():
            advice = "The same people under two models have one label, one group and one weight each."
            who = f"{quote(str(both[wrong.argmax()]))} (column {quote(identifier)})"
            raise TableError(f"{who} {problem}", advice=advice)
    return one, other


def screen_twice(
    first: People, second: People, rows: tuple[NDArray[np.intp], NDArray[np.intp]]
) -> tuple[ScreeningResult, ScreeningResult, PairedCounts]:
    """Results of two models for the same people (the last model of the second table), and how often they agree."""
    people = first.counted().take(rows[0])
    outputs = [each.outputs[at].take(own) for each, at, own in zip((first, second), (0, -1), rows, strict=True)]
    before, after = (output.screen(people) for output in outputs)
    return before, after, people.pairs(*(output.selected for output in outputs))
