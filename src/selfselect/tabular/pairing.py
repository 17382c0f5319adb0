"""The same people under two models: two columns of one table, or two tables that share an identifier."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .._text import quote
from .._validation import BoolArray, FloatArray
from ..auditing import PairedCounts, ScreeningResult
from ..counting import GroupCodes
from .errors import TableError
from .loading import Model, ModelOutput, PeopleColumns, PeopleReader, model_position
from .table import Table


@dataclass(frozen=True, eq=False)
class ModelTable:
    """People of a table with the outputs of one or two models, and the identifiers by which people are matched."""

    name: str
    y: BoolArray
    groups: GroupCodes
    weight: FloatArray | None
    outputs: list[ModelOutput]
    identifiers: NDArray[np.str_] | None
    qualified: str = ""

    def take(self, rows: NDArray[np.intp]) -> ModelTable:
        """Some of the people, in a given order."""
        return replace(
            self,
            y=self.y[rows],
            groups=self.groups.take(rows),
            weight=None if self.weight is None else self.weight[rows],
            outputs=[
                replace(one, selected=one.selected[rows], score=None if one.score is None else one.score[rows])
                for one in self.outputs
            ],
        )


def read_model_table(
    table: Table, people: PeopleColumns, models: list[Model], identifier: str | None = None
) -> ModelTable:
    """Labels, groups and the outputs of models of everybody in a table."""
    positions = [model_position(table, model) for model in models]
    if identifier is not None:
        positions.append(table.position(identifier, "same_people"))
    reader = PeopleReader(table, people, positions)
    outputs = [reader.output(model, column) for model, column in zip(models, reader.others, strict=False)]
    identifiers = None
    if identifier is not None:
        column = reader.others[-1]
        identifiers = np.array([str(text).strip() for text in column.texts])[column.codes]
    return ModelTable(table.name, reader.y, reader.groups(), reader.weight, outputs, identifiers, reader.qualified)


def match_people(first: ModelTable, second: ModelTable, identifier: str) -> tuple[ModelTable, ModelTable, int]:
    """People who are in both tables, in one order, and how many are in one only.

    Their labels, groups and weights must agree.
    """
    assert first.identifiers is not None
    assert second.identifiers is not None
    for table, own in ((first, first.identifiers), (second, second.identifiers)):
        values, counts = np.unique(own, return_counts=True)
        if (counts > 1).any():
            problem = f"{quote(str(values[counts > 1][0]))} appears {counts.max()} times"
            place, advice = (
                f"{table.name}, column {quote(identifier)}",
                "People can only be matched by what each has once.",
            )
            raise TableError(problem, place=place, advice=advice, named_by="same_people")
    both, in_first, in_second = np.intersect1d(first.identifiers, second.identifiers, return_indices=True)
    if len(both) == 0:
        problem = f"no value of column {quote(identifier)} is in both {first.name} and {second.name}"
        raise TableError(problem, advice="Are they the same people?")
    one, other = first.take(in_first), second.take(in_second)
    names = [table.groups.labels.take(table.groups.codes) for table in (one, other)]
    same_weights = one.weight is None or other.weight is None or one.weight == other.weight
    for same, problem in (
        (one.y == other.y, "is qualified in one table and not in the other"),
        (same_weights, "has another weight in each table"),
        ([a == b for a, b in zip(*names, strict=True)], "is in another group in each table"),
    ):
        wrong = np.flatnonzero(~np.atleast_1d(np.asarray(same, dtype=bool)))
        if wrong.size:
            advice = "The same people under two models have one label, one group and one weight each."
            raise TableError(f"{quote(str(both[wrong[0]]))} (column {quote(identifier)}) {problem}", advice=advice)
    return one, other, len(first.y) + len(second.y) - 2 * len(both)


def screen_twice(first: ModelTable, second: ModelTable) -> tuple[ScreeningResult, ScreeningResult, PairedCounts]:
    """Results of two models for the same people (the last model of the second table), and how often they agree."""
    outputs = first.outputs[0], second.outputs[-1]
    before, after = (output.screen(first.y, first.groups, first.weight) for output in outputs)
    selected = [output.selected for output in outputs]
    pairs = PairedCounts.from_predictions(
        first.y, *selected, sensitive_features=first.groups, sample_weight=first.weight
    )
    return before, after, pairs
