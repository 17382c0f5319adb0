"""Read from a table what an audit, a training or a check needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._errors import InputError
from .._text import quote
from .._validation import MAX_MAGNITUDE, BoolArray, FloatArray, outside_weight_range
from ..auditing import ScreeningResult, default_threshold
from ..counting import GroupCodes, GroupCounts, encode_groups
from ..publishing import PublishedStatistics, ThresholdCurves
from .columns import BinaryColumn, as_numbers, group_frame, normalise_decimals
from .data_checks import (
    Finding,
    check_column_roles,
    check_decisions,
    check_features,
    check_label_values,
    check_labels_and_groups,
    check_scores,
)
from .errors import TableError
from .table import Column, Table, TextArray


@dataclass(frozen=True)
class PeopleColumns:
    """Columns of labels, groups and weights.

    The combinations of the group columns are the groups. ``positive`` are the labels that mean qualified, if not 1 or
    true; all others then mean not qualified. ``missing`` ("error" or "own_group") is about rows without a group. With
    ``untested``, the label of people who do not pass screening may be empty.
    """

    label: str
    groups: tuple[str, ...]
    positive: str | tuple[str, ...] | None = None
    missing: str = "error"
    weight: str | None = None
    untested: bool = False

    def __post_init__(self) -> None:
        twice = [name for i, name in enumerate(self.groups) if name in self.groups[:i]]
        if twice:
            raise TableError(f"column {quote(twice[0])} is named twice for the groups", named_by="group")


@dataclass(frozen=True)
class ScoreColumn:
    """Score of a model; above the threshold (by default 0.5, for probabilities) passes screening.

    With ``lower_passes`` it is below the threshold: score and threshold are then negated.
    """

    name: str
    threshold: float | None = None
    lower_passes: bool = False


@dataclass(frozen=True)
class DecisionColumn:
    """Who passes screening: two values, of which ``positive`` (by default 1 or true) means passing."""

    name: str
    positive: str | None = None


#: Column of the scores or of the decisions of a model.
Model = ScoreColumn | DecisionColumn


@dataclass(frozen=True, eq=False)
class ModelOutput:
    """Decisions of a model and, if there is one, the score that they come from.

    Where lower scores pass, score and threshold are negated.
    """

    selected: BoolArray
    score: FloatArray | None = None
    threshold: float | None = None
    lower_passes: bool = False

    def screen(
        self, y: BoolArray, groups: GroupCodes, weight: FloatArray | None = None, known: BoolArray | None = None
    ) -> ScreeningResult:
        """Counts, and if everybody's label is known the curves by which other thresholds can be tried."""
        if self.score is not None and self.threshold is not None and known is None:
            curves = ThresholdCurves.from_codes(y, self.score, groups.codes, groups.labels, weight)
            result = ScreeningResult.from_curves(curves, self.threshold)
        else:
            counts = GroupCounts.from_rows(y, self.selected, groups.codes, groups.n_groups, weight, known=known)
            result = ScreeningResult(PublishedStatistics(groups.labels, counts), threshold=self.threshold)
        return replace(result, lower_passes=self.lower_passes)


class PeopleReader:
    """Labels, groups and weights of a table, and its ``others``: the columns at given positions."""

    def __init__(self, table: Table, people: PeopleColumns, positions: Sequence[int]) -> None:
        own = [table.position(people.label, "label"), *(table.position(name, "group") for name in people.groups)]
        own += [] if people.weight is None else [table.position(people.weight, "weight")]
        label, *columns = table.columns([*own, *positions])
        self._table, self._people, self._label = table, people, label
        self._labels = BinaryColumn(table, label, people.positive, is_label=True, allow_empty=people.untested)
        self._labels.check_named_values()
        self.y = self._labels.values
        self._group_frame = group_frame(table, columns[: len(people.groups)], people.missing)
        self.weight = None if people.weight is None else _weights(table, columns[len(people.groups)])
        self.others = columns[len(own) - 1 :]

    def groups(self, column: str | None = None) -> GroupCodes:
        """Groups by one column, or by the combinations of all."""
        frame = self._group_frame if column is None else self._group_frame[[column]]
        return encode_groups(frame, missing=self._people.missing)

    def output(self, model: Model, column: Column) -> ModelOutput:
        """Output of a model, from one of the other columns."""
        if isinstance(model, ScoreColumn):
            score = as_numbers(self._table, column)
            threshold = model.threshold
            if threshold is None:
                try:
                    threshold = default_threshold(float(score.min()), float(score.max()))
                except InputError as error:
                    raise self._table.error(str(error), column=model.name, key=error.key) from error
            if model.lower_passes:
                score, threshold = -score, -threshold
            return ModelOutput(score > threshold, score, threshold, model.lower_passes)
        decisions = BinaryColumn(self._table, column, model.positive, fallback=self._people.positive)
        if model.positive is not None or not decisions.seen <= self._labels.seen:
            decisions.check_named_values()  # if no row had the value, nobody would pass
        return ModelOutput(decisions.values)

    def screen(self, output: ModelOutput, group_column: str | None = None) -> ScreeningResult:
        """Result of a model. People without a label must not pass screening."""
        untested = ~self._labels.known
        if not self._people.untested or not untested.any():
            return output.screen(self.y, self.groups(group_column), self.weight)
        wrong = np.flatnonzero(output.selected & untested)
        if wrong.size:
            raise self._table.error(
                "the label is empty, but this person passes screening; only people who do not pass can be untested",
                row=self._label.rows[int(wrong[0])],
                column=self._people.label,
                advice="Precision is computed from people who pass: find their labels, or leave out those who were "
                "never meant to be tested.",
            )
        return output.screen(self.y, self.groups(group_column), self.weight, ~untested)

    def without_decisions(self) -> PublishedStatistics:
        """Labels and groups only."""
        return ModelOutput(np.zeros(len(self.y), dtype=bool)).screen(self.y, self.groups()).table

    def label_findings(self) -> Iterator[Finding]:
        """What looks wrong with the values of the label."""
        return check_label_values(self._people.label, *self._labels.texts_by_meaning())


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
    if not numbers.any():
        raise table.error("every weight is 0", column=column.name, named_by="weight")
    return numbers


def model_position(table: Table, model: Model) -> int:
    """Position of a model's column."""
    return table.position(model.name, "score" if isinstance(model, ScoreColumn) else "prediction")


def check_output(result: ScreeningResult, model: Model) -> Iterator[Finding]:
    """What looks wrong with the scores or the decisions of a model."""
    return (check_scores if isinstance(model, ScoreColumn) else check_decisions)(result, model.name)


def read_screening_results(
    table: Table,
    people: PeopleColumns,
    model: Model,
    findings: list[Finding] | None = None,
    group_columns: Sequence[str | None] = (None,),
) -> list[ScreeningResult]:
    """Results of a model for the people in a table: one for each column of groups.

    None stands for the combinations of all columns. What looks wrong with the table is added to ``findings``.
    """
    reader = PeopleReader(table, people, [model_position(table, model)])
    output = reader.output(model, reader.others[0])
    results = [reader.screen(output, name) for name in group_columns]
    if findings is not None:
        findings += [*check_column_roles(people.label, people.groups, model.name), *reader.label_findings()]
        for result in results:
            findings += check_labels_and_groups(result.table, people.label)
        findings += check_output(results[0], model)
    return results


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """People to learn from: columns of text, who is qualified, groups, and how rows without a group were treated."""

    columns: dict[str, TextArray]
    y: BoolArray
    groups: GroupCodes
    missing: str = "error"


def read_for_training(
    table: Table,
    people: PeopleColumns,
    *,
    ignore: Sequence[str] = (),
    learn_from_groups: bool = True,
    findings: list[Finding] | None = None,
) -> TrainingTable:
    """Labels, groups and all columns to learn from, but the ignored ones."""
    if people.label in people.groups:
        raise TableError(f"the label and the groups are the same column {quote(people.label)}", named_by="group")
    hidden = {people.label, *ignore, *(() if learn_from_groups else people.groups)}
    used = _other_columns(table, hidden, ignore)
    if not used:
        raise table.error("no column is left to learn from")
    reader = PeopleReader(table, people, [table.position(name) for name in used])
    if reader.y.all() or not reader.y.any():
        raise table.error("all rows have the same value; training needs both", column=people.label)
    columns = {column.name: normalise_decimals(table, column) for column in reader.others}
    if findings is not None:
        findings += reader.label_findings()
        findings += check_labels_and_groups(reader.without_decisions(), people.label)
        findings += check_features({name: columns[name] for name in used if name not in people.groups}, reader.y)
    return TrainingTable(columns, reader.y, reader.groups(), people.missing)


def _other_columns(table: Table, hidden: set[str], ignore: Sequence[str]) -> list[str]:
    """Names of all columns but the hidden ones. A column to ignore must exist; several of one name are all ignored."""
    for name in set(ignore) - set(table.header):
        table.position(name, "ignore")
    return [name for name in table.header if name not in hidden]


def read_for_checking(
    table: Table, people: PeopleColumns, model: Model | None, *, ignore: Sequence[str] = (), findings: list[Finding]
) -> int:
    """Check labels, groups, the column of a model and all other columns but the ignored ones; count the people."""
    hidden = {people.label, *people.groups, *ignore, *(() if model is None else (model.name,))}
    used = list(dict.fromkeys(_other_columns(table, hidden, ignore)))
    positions = [] if model is None else [model_position(table, model)]
    reader = PeopleReader(table, people, [*positions, *(table.position(name) for name in used)])
    findings += reader.label_findings()
    findings += check_labels_and_groups(reader.without_decisions(), people.label)
    if model is not None:
        findings += check_output(reader.screen(reader.output(model, reader.others[0])), model)
    findings += check_features({column.name: column.cells() for column in reader.others[len(positions) :]}, reader.y)
    return len(reader.y)
