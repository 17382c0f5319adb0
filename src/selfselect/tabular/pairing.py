"""The same people under two models: one table with two columns of scores, or two tables that share an identifier."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .._errors import InputError
from .._text import shown
from .._validation import BoolArray, FloatArray
from ..auditing import PairedCounts, ScreeningResult, default_threshold
from .columns import NO, YES, numbers_or_missing
from .errors import TableError
from .loading import DecisionColumn, Model, PeopleColumns, ScoreColumn, TrainingTable, read_for_training
from .table import Table


@dataclass(frozen=True, eq=False)
class ModelTable:
    """People of a table, one entry each, with what models say of them.

    Attributes
    ----------
    name : str
        What complaints call the table.
    table : TrainingTable
        Labels, groups, and the columns that were asked for, as text.
    """

    name: str
    table: TrainingTable

    def __len__(self) -> int:
        return len(self.table.y)

    def taken(self, rows: NDArray[np.intp]) -> ModelTable:
        """Some of the people, in a given order."""
        table = self.table
        columns = {name: cells[rows] for name, cells in table.columns.items()}
        return ModelTable(self.name, TrainingTable(columns, table.y[rows], table.groups.take(rows), table.missing))

    def numbers(self, column: str) -> FloatArray:
        """A column as numbers, or a complaint about the first cell that is none."""
        cells = self.table.columns[column]
        values, _ = numbers_or_missing(cells)
        wrong = np.flatnonzero(np.isnan(values) | ~np.isfinite(values))
        if wrong.size:
            raise self._error(f"{shown(str(cells[wrong[0]]))} is not a number", int(wrong[0]), column)
        return values

    def decisions(self, model: DecisionColumn, positive: str | tuple[str, ...] | None) -> BoolArray:
        """Who passes screening, by a column of two values; ``positive`` is what the label calls so."""
        cells = np.array([str(cell).strip() for cell in self.table.columns[model.name]], dtype=object)
        seen = set(cells.tolist())
        called = (positive,) if isinstance(positive, str) else positive or ()
        yes = {model.positive} if model.positive is not None else seen.intersection(called)
        if not yes and not {cell.casefold() for cell in seen} <= YES | NO:
            known = ", ".join(shown(cell) for cell in sorted(seen)[:5])
            raise TableError(
                f"column {shown(model.name)} holds {known}; say which value means passing screening",
                place=self.name,
                key="prediction_positive",
            )
        if len(seen) > 2:
            raise TableError(f"column {shown(model.name)} holds more than two values", place=self.name, key="score")
        return np.array([cell in yes if yes else cell.casefold() in YES for cell in cells], dtype=bool)

    def _error(self, problem: str, row: int, column: str) -> TableError:
        return TableError(problem, place=f"{self.name}, person {row + 1}, column {shown(column)}")


def read_model_table(
    table: Table, people: PeopleColumns, models: list[Model], identifier: str | None = None
) -> ModelTable:
    """Labels, groups and the columns that are needed of everybody in a table."""
    wanted = {model.name for model in models} | {name for name in (identifier, people.weight) if name is not None}
    for model in models:
        table.position(model.name, "score" if isinstance(model, ScoreColumn) else "prediction")
    if identifier is not None:
        table.position(identifier, "same_people")
        taken: dict[str | None, str] = {people.label: "label", people.weight: "weight"}
        taken.update(dict.fromkeys(people.groups, "group"))
        if identifier in taken:
            raise table.error(
                f"it says who a person is, and is named as the {taken[identifier]} too",
                column=identifier,
                advice="People are matched by a column of their own, such as a number that each has once.",
                named_by="same_people",
            )
    if people.weight is not None:
        table.position(people.weight, "weight")
    plain = PeopleColumns(people.label, people.groups, people.positive, people.missing)
    ignored = [name for name in table.header if name not in wanted]
    return ModelTable(table.name, read_for_training(table, plain, ignore=ignored, learn_from_groups=False))


def match_people(
    first: ModelTable, second: ModelTable, identifier: str, weight: str | None = None
) -> tuple[ModelTable, ModelTable, int]:
    """Those who are in both tables, in one order, and how many are in one only.

    Their labels, groups and weights must agree: they are the same people.
    """
    keys = [np.array([str(cell).strip() for cell in rows.table.columns[identifier]]) for rows in (first, second)]
    for key, rows in zip(keys, (first, second), strict=True):
        values, counts = np.unique(key, return_counts=True)
        if (counts > 1).any():
            raise TableError(
                f"{shown(str(values[counts > 1][0]))} appears {counts.max()} times", place=f"{rows.name}, column "
                f"{shown(identifier)}", advice="People can only be matched by what each has once."
            )  # fmt: skip
    both, at_first, at_second = np.intersect1d(keys[0], keys[1], return_indices=True)
    if len(both) == 0:
        raise TableError(
            f"no value of column {shown(identifier)} is in both {first.name} and {second.name}",
            advice="Are they the same people?",
        )
    one, other = first.taken(at_first), second.taken(at_second)
    differ = np.flatnonzero(one.table.y != other.table.y)
    if differ.size:
        raise _disagree("is qualified in one table and not in the other", str(both[differ[0]]), identifier)
    if weight is not None:
        weighed = np.flatnonzero(one.numbers(weight) != other.numbers(weight))
        if weighed.size:
            raise _disagree("has another weight in each table", str(both[weighed[0]]), identifier)
    names = [rows.table.groups.labels.take(rows.table.groups.codes) for rows in (one, other)]
    apart = np.flatnonzero(np.array([a != b for a, b in zip(*names, strict=True)], dtype=bool))
    if apart.size:
        raise _disagree("is in another group in each table", str(both[apart[0]]), identifier)
    left_out = len(first) + len(second) - 2 * len(both)
    return one, other, left_out


def _disagree(problem: str, who: str, identifier: str) -> TableError:
    return TableError(
        f"{shown(who)} (column {shown(identifier)}) {problem}",
        advice="The same people under two models have one label and one group each; without that they are two sets "
        "of people.",
    )


def screen_twice(
    rows: tuple[ModelTable, ModelTable], models: tuple[Model, Model], people: PeopleColumns
) -> tuple[ScreeningResult, ScreeningResult, PairedCounts]:
    """What two models make of the same people, and of how many both say the same."""
    groups = rows[0].table.groups
    y = rows[0].table.y
    weights = None if people.weight is None else _weights(rows[0], people.weight)
    screened: list[ScreeningResult] = []
    passes: list[BoolArray] = []
    for part, model in zip(rows, models, strict=True):
        if isinstance(model, ScoreColumn):
            score = part.numbers(model.name)
            threshold = model.threshold
            if threshold is None:
                try:
                    threshold = default_threshold(float(score.min()), float(score.max()))
                except InputError as error:
                    raise TableError(str(error), place=part.name, key=error.key) from error
            if model.lower_passes:
                score, threshold = -score, -threshold
            passes.append(score > threshold)
            made = ScreeningResult.from_scores(
                y, score, threshold=threshold, sensitive_features=groups, sample_weight=weights
            )
            screened.append(replace(made, lower_passes=model.lower_passes))
        else:
            passes.append(part.decisions(model, people.positive))
            screened.append(
                ScreeningResult.from_predictions(y, passes[-1], sensitive_features=groups, sample_weight=weights)
            )
    pairs = PairedCounts.from_predictions(y, *passes, sensitive_features=groups, sample_weight=weights)
    return screened[0], screened[1], pairs


def _weights(rows: ModelTable, column: str) -> FloatArray:
    weights = rows.numbers(column)
    if (weights < 0).any():
        raise TableError("a weight is negative", place=f"{rows.name}, column {shown(column)}")
    return weights
