"""The same people under two models: two columns of one table, or two tables that share an identifier."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._text import quote
from ..auditing import PairedCounts, ScreeningResult
from .errors import TableError
from .loading import People


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
    outputs = [people.outputs[at].take(each) for people, at, each in zip((first, second), (0, -1), rows, strict=True)]
    y, groups = first.y[rows[0]], first.groups().take(rows[0])
    weight = None if first.weight is None else first.weight[rows[0]]
    before, after = (output.screen(y, groups, weight) for output in outputs)
    selected = [output.selected for output in outputs]
    pairs = PairedCounts.from_predictions(y, *selected, sensitive_features=groups, sample_weight=weight)
    return before, after, pairs
