"""A table on disk as what an audit or a training needs, read once, in chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from .._errors import InputError
from .._text import shown
from .._validation import LARGEST, BoolArray, FloatArray, beyond_squaring
from ..auditing import ScreeningResult, default_threshold
from ..counting import MISSING, GroupCodes, GroupCounts, encode_groups
from ..publishing import PublishedStatistics, ThresholdCurves
from .checking import GroupColumns, TwoValues, as_numbers, in_points
from .chunks import Chunk, TableReader, TextArray
from .errors import TableError
from .suspicion import (
    Finding,
    suspect_columns,
    suspect_decisions,
    suspect_features,
    suspect_labels,
    suspect_people,
    suspect_score,
)


@dataclass(frozen=True)
class PeopleColumns:
    """Columns that say who is qualified, and who belongs to which group.

    Attributes
    ----------
    label : str
        Column of two values.
    groups : tuple of str
        Columns whose combinations are the groups.
    positive : str or tuple of str, optional
        The labels that mean qualified, if not 1 or true; all others then mean not qualified.
    missing : {"error", "own_group"}, default="error"
        What to do with rows whose group is empty.
    weight : str, optional
        Column of numbers of at least 0: how far each person stands for others.
    untested : bool, default=False
        Whether the label of people who do not pass screening may be empty.
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
            raise TableError(f"column {shown(twice[0])} is named twice for the groups", named_by="group")


#: What is said of an empty label: the advice to fill or drop such rows would change what is found.
NO_LABEL = (
    "the label is empty. People who were not tested have none; filling it in, or dropping those who lack it, changes "
    "base rates, accuracy and social cost without a word"
)


@dataclass(frozen=True)
class ScoreColumn:
    """Score of a model; above the threshold (by default 0.5, for probabilities) passes screening.

    With ``lower_passes`` it is below the threshold: the score is then turned round when it is read.
    """

    name: str
    threshold: float | None = None
    lower_passes: bool = False


@dataclass(frozen=True)
class DecisionColumn:
    """Who passes screening: two values, one of which (if not 1 or true) is named as positive."""

    name: str
    positive: str | None = None


class _People:
    """Labels and groups of a table; other columns are read along."""

    def __init__(self, table: TableReader, columns: PeopleColumns) -> None:
        self.table, self.columns = table, columns
        self.labels = TwoValues(
            columns.label,
            columns.positive,
            "qualified",
            more_values="more_labels",
            empty=NO_LABEL,
            empty_key="untested",
            allow_empty=columns.untested,
            rest_is_negative=True,
        )
        self.groups = GroupColumns(columns.groups, columns.missing)
        self._where = [table.position(columns.label, "label")]
        self._where += [table.position(name, "group") for name in columns.groups]
        self.group_positions = range(1, len(self._where))
        self._weighs = columns.weight is not None
        self._some_weight = not self._weighs
        if columns.weight is not None:
            self._where.append(table.position(columns.weight, "weight"))
        #: Where the other columns of a chunk begin.
        self.others = len(self._where)

    def chunks(self, others: Sequence[int]) -> Iterator[tuple[BoolArray, Chunk]]:
        """Who is qualified in each chunk, and the chunk: labels first, then groups, then the others."""
        rows = 0
        for chunk in self.table.chunks([*self._where, *others]):
            rows += len(chunk.rows)
            yield self.labels(self.table, chunk, 0), chunk
        if rows == 0:
            raise self.table.error("there is a header but no row")
        self.labels.finish(self.table)
        if not self._some_weight:
            raise self.table.error("every weight is 0", column=self.columns.weight, named_by="weight")

    def known(self, chunk: Chunk) -> BoolArray | None:
        """Whose label is known in a chunk; None where everybody's must be."""
        return self.labels.known(chunk, 0) if self.columns.untested else None

    def refuse_untested(self, rows: Sequence[int], selected: BoolArray) -> None:
        """Complain about people without a label, who stand in some rows, and pass all the same."""
        wrong = np.flatnonzero(selected)
        if wrong.size:
            raise self.table.error(
                "the label is empty, but this person passes screening; only people who do not pass can be untested",
                row=rows[int(wrong[0])],
                column=self.columns.label,
                advice="Those who pass make the precision: find their labels, or leave out those who were never meant "
                "to be tested.",
            )

    def weights(self, chunk: Chunk) -> FloatArray | None:
        """Weights of a chunk; None without a column of them."""
        if not self._weighs:
            return None
        name = self.columns.weight or ""
        numbers = as_numbers(self.table, chunk, self.others - 1, name)
        for wrong, why in (
            (np.flatnonzero(numbers < 0), "is negative; a weight is at least 0"),
            (beyond_squaring(numbers), f"is no weight; other than 0 they lie between {1 / LARGEST:g} and {LARGEST:g}"),
        ):
            if wrong.size:
                cell = shown(chunk.columns[self.others - 1][wrong[0]].strip())
                raise self.table.error(f"{cell} {why}", row=chunk.rows[int(wrong[0])], column=name)
        self._some_weight |= bool(numbers.any())
        return numbers

    def findings(self) -> list[Finding]:
        """What looks wrong with the labels."""
        return suspect_labels(self.columns.label, *self.labels.values())

    def keep_groups(self, chunk: Chunk) -> None:
        self.groups.keep(self.table, chunk, self.group_positions)

    def group_cells(self, chunk: Chunk) -> pd.DataFrame:
        return self.groups.cells(self.table, chunk, self.group_positions)


def read_screening_result(
    table: TableReader,
    people: PeopleColumns,
    model: ScoreColumn | DecisionColumn,
    found: list[Finding] | None = None,
) -> ScreeningResult:
    r"""What a model makes of the people in a table.

    Decisions become counts as they come, so that memory does not grow with the table; scores are kept to be sorted.

    Parameters
    ----------
    table : TableReader
        Not yet read.
    people : PeopleColumns
        Columns of labels and groups.
    model : ScoreColumn or DecisionColumn
        The column that says what the model made of them.
    found : list of Finding, optional
        What looks wrong with the table is added to it.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from selfselect.tabular.reading import open_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "t.csv")
    ...     _ = path.write_text("hired,team,score\n1,A,0.9\n0,A,0.6\n1,B,0.2\n")
    ...     with open_table(path) as table:
    ...         found = read_screening_result(table, PeopleColumns("hired", ("team",)), ScoreColumn("score"))
    >>> found.threshold, found.table.precision.to_dict()
    (0.5, {'A': 0.5, 'B': nan})
    """
    return _read(table, people, model, [None], found)[0]


def read_screening_results(
    table: TableReader,
    people: PeopleColumns,
    model: ScoreColumn | DecisionColumn,
    found: list[Finding] | None = None,
) -> list[ScreeningResult]:
    r"""The same by each column of groups on its own, from one pass over the table.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from selfselect.tabular.reading import open_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "t.csv")
    ...     _ = path.write_text("hired,team,sex,score\n1,A,f,0.9\n0,A,m,0.6\n1,B,f,0.2\n")
    ...     with open_table(path) as table:
    ...         found = read_screening_results(table, PeopleColumns("hired", ("team", "sex")), ScoreColumn("score"))
    >>> [one.table.precision.to_dict() for one in found]
    [{'A': 0.5, 'B': nan}, {'f': 1.0, 'm': 0.0}]
    """
    return _read(table, people, model, people.groups, found)


def _read(
    table: TableReader,
    people: PeopleColumns,
    model: ScoreColumn | DecisionColumn,
    ways: Sequence[str | None],
    found: list[Finding] | None,
) -> list[ScreeningResult]:
    """People by columns of groups: one of them, or all together for None."""
    if found is not None:
        found += suspect_columns(people.label, people.groups, model.name)
    reader = _People(table, people)
    if isinstance(model, ScoreColumn):
        screened = _read_scores(table, reader, model, ways)
    else:
        screened = _read_decisions(table, reader, model, ways)
    if found is not None:
        found += reader.findings()
        for one in screened:
            found += suspect_people(one.table, people.label)
        suspect = suspect_score if isinstance(model, ScoreColumn) else suspect_decisions
        found += suspect(screened[0], model.name)
    return screened


def _read_scores(
    table: TableReader, people: _People, model: ScoreColumn, ways: Sequence[str | None]
) -> list[ScreeningResult]:
    labels: list[BoolArray] = []
    scores: list[FloatArray] = []
    weights: list[FloatArray | None] = []
    known: list[BoolArray] = []
    untested_rows: list[int] = []
    for y, chunk in people.chunks([table.position(model.name, "score")]):
        labels.append(y)
        scores.append(as_numbers(table, chunk, people.others, model.name))
        weights.append(people.weights(chunk))
        tested = people.known(chunk)
        if tested is not None:
            known.append(tested)
            untested_rows += [chunk.rows[i] for i in np.flatnonzero(~tested).tolist()]
        people.keep_groups(chunk)
    score, threshold = _turned(table, model, np.concatenate(scores))
    labelled = np.concatenate(known) if untested_rows else None
    if labelled is not None:
        people.refuse_untested(untested_rows, (score > threshold)[~labelled])
    y, weight = np.concatenate(labels), _joined(weights)
    found = [_screened_at(y, score, threshold, people.groups.codes(way), weight, labelled) for way in ways]
    return [replace(one, lower_passes=model.lower_passes) for one in found]


def _turned(table: TableReader, model: ScoreColumn, score: FloatArray) -> tuple[FloatArray, float]:
    """Scores and threshold of a model, turned round where lower scores pass."""
    threshold = model.threshold
    if threshold is None:
        try:
            threshold = default_threshold(float(score.min()), float(score.max()))
        except InputError as error:
            raise table.error(str(error), column=model.name, key=error.key) from error
    return (-score, -threshold) if model.lower_passes else (score, threshold)


def _screened_at(
    y: BoolArray,
    score: FloatArray,
    threshold: float,
    groups: GroupCodes,
    weight: FloatArray | None = None,
    labelled: BoolArray | None = None,
) -> ScreeningResult:
    """People with a score; other thresholds are known only if everybody's label is."""
    if labelled is None:
        curves = ThresholdCurves.from_codes(y, score, groups.codes, groups.labels, weight, squares=True)
        return ScreeningResult.from_curves(curves, threshold)
    counts = GroupCounts.from_rows(
        y, score > threshold, groups.codes, groups.n_groups, weight, known=labelled, squares=True
    )
    return ScreeningResult(PublishedStatistics(groups.labels, counts), threshold=threshold)


def _joined(parts: list[FloatArray | None]) -> FloatArray | None:
    """Weights of all chunks; None if there are none."""
    return np.concatenate([part for part in parts if part is not None]) if parts[0] is not None else None


def _passing(model: DecisionColumn) -> TwoValues:
    return TwoValues(model.name, model.positive, "passing screening", key="prediction_positive", more_values="score")


def _read_decisions(
    table: TableReader, people: _People, model: DecisionColumn, ways: Sequence[str | None]
) -> list[ScreeningResult]:
    columns, passing = people.columns, _passing(model)
    counted: list[list[PublishedStatistics]] = [[] for _ in ways]
    for y, chunk in people.chunks([table.position(model.name, "prediction")]):
        if columns.positive and passing.positive is None:
            passing.adopt(columns.positive, chunk, people.others)
        selected = passing(table, chunk, people.others)
        known = people.known(chunk)
        if known is not None:
            people.refuse_untested([chunk.rows[i] for i in np.flatnonzero(~known).tolist()], selected[~known])
        cells, weights = people.group_cells(chunk), people.weights(chunk)
        for parts, way in zip(counted, ways, strict=True):
            groups = encode_groups(cells if way is None else cells[[way]], missing=columns.missing)
            counts = GroupCounts.from_rows(
                y, selected, groups.codes, groups.n_groups, weights, known=known, squares=True
            )
            parts.append(PublishedStatistics(groups.labels, counts))
    if model.positive is not None or not passing.seen <= people.labels.seen:
        passing.finish(table)  # a value that no row holds would mean that nobody passes
    return [ScreeningResult(_in_order(sum(parts[1:], parts[0]))) for parts in counted]


def _in_order(counted: PublishedStatistics) -> PublishedStatistics:
    """The groups as :func:`encode_groups` has them, whichever chunk they came in: those without a group last."""
    cells = counted.groups.to_frame(index=False).astype(object)
    labels = encode_groups(cells.where(cells != MISSING, None), missing="own_group").labels
    return counted.spread_over(labels)


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """People to learn from.

    Attributes
    ----------
    columns : dict
        Columns to learn from, as text, by name.
    y : ndarray of bool
        Who is qualified.
    groups : GroupCodes
        Group of each row; its labels carry the names of the group columns.
    missing : {"error", "own_group"}, default="error"
        What was done with rows whose group is missing.
    """

    columns: dict[str, TextArray]
    y: BoolArray
    groups: GroupCodes
    missing: str = "error"

    @property
    def group_columns(self) -> tuple[str, ...]:
        """Names of the group columns."""
        return tuple(str(name) for name in self.groups.labels.names)


def read_for_training(
    table: TableReader,
    people: PeopleColumns,
    *,
    ignore: Sequence[str] = (),
    learn_from_groups: bool = True,
    found: list[Finding] | None = None,
) -> TrainingTable:
    r"""Labels, groups and all columns to learn from.

    Parameters
    ----------
    table : TableReader
        Not yet read.
    people : PeopleColumns
        Columns of labels and groups.
    ignore : sequence of str, optional
        Columns not to learn from.
    learn_from_groups : bool, default=True
        Whether the group columns are learnt from too.
    found : list of Finding, optional
        What looks wrong with the table is added to it.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from selfselect.tabular.reading import open_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "t.csv")
    ...     _ = path.write_text("years,hired,sex\n1,0,m\n4,1,f\n")
    ...     with open_table(path) as table:
    ...         people = read_for_training(table, PeopleColumns("hired", ("sex",)), learn_from_groups=False)
    >>> list(people.columns), people.y.tolist(), people.groups.labels.tolist(), people.groups.codes.tolist()
    (['years'], [False, True], ['f', 'm'], [1, 0])
    """
    if people.label in people.groups:
        raise TableError(f"the label and the groups are the same column {shown(people.label)}", named_by="group")
    for name in set(ignore) - set(table.header):
        table.position(name, "ignore")  # complains; of several columns of one name, all are left out
    reader = _People(table, people)
    hidden = {people.label, *ignore, *(() if learn_from_groups else people.groups)}
    used = [name for name in table.header if name not in hidden]
    if not used:
        raise table.error("no column is left to learn from")
    labels: list[BoolArray] = []
    parts: list[list[TextArray]] = [[] for _ in used]
    for y, chunk in reader.chunks([table.position(name) for name in used]):
        labels.append(y)
        reader.keep_groups(chunk)
        for part, cells in zip(parts, chunk.columns[reader.others :], strict=True):
            part.append(np.array(cells, dtype=object))
    y = np.concatenate(labels)
    if y.all() or not y.any():
        raise table.error("all rows have the same value; training needs both", column=people.label)
    columns = {name: in_points(table, name, np.concatenate(part)) for name, part in zip(used, parts, strict=True)}
    groups = reader.groups.codes()
    if found is not None:
        found += reader.findings()
        found += suspect_people(_counted(y, np.zeros(len(y), dtype=bool), groups), people.label)
        found += suspect_features({name: columns[name] for name in used if name not in people.groups}, y)
    return TrainingTable(columns, y, groups, people.missing)


def read_for_checking(
    table: TableReader,
    people: PeopleColumns,
    model: ScoreColumn | DecisionColumn | None,
    *,
    ignore: Sequence[str] = (),
    found: list[Finding],
) -> int:
    r"""Look at everything in a table: labels, groups, what a model says, and all other columns.

    Parameters
    ----------
    table : TableReader
        Not yet read.
    people : PeopleColumns
        Columns of labels and groups.
    model : ScoreColumn or DecisionColumn, optional
        The column that says what a model made of them.
    ignore : sequence of str, optional
        Columns not to look at.
    found : list of Finding
        What looks wrong is added to it.

    Returns
    -------
    int
        How many people there are.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from selfselect.tabular.reading import open_table
    >>> found = []
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "t.csv")
    ...     _ = path.write_text("hired,team\n" + "1,north\n0,North\n" * 10)
    ...     with open_table(path) as table:
    ...         n = read_for_checking(table, PeopleColumns("hired", ("team",)), None, found=found)
    >>> n, [finding.key for finding in found]
    (20, ['group_is_label', 'case_of_groups'])
    """
    for name in set(ignore) - set(table.header):
        table.position(name, "ignore")  # complains; of several columns of one name, all are left out
    reader = _People(table, people)
    hidden = {people.label, *people.groups, *ignore, *(() if model is None else (model.name,))}
    used = [name for name in dict.fromkeys(table.header) if name not in hidden]
    said = (
        []
        if model is None
        else [table.position(model.name, "score" if isinstance(model, ScoreColumn) else "prediction")]
    )
    labels: list[BoolArray] = []
    parts: list[list[TextArray]] = [[] for _ in used]
    model_cells = _ModelCells(model, people)
    for y, chunk in reader.chunks([*said, *(table.position(name) for name in used)]):
        labels.append(y)
        reader.keep_groups(chunk)
        model_cells.add(table, chunk, reader.others)
        for part, cells in zip(parts, chunk.columns[reader.others + len(said) :], strict=True):
            part.append(np.array(cells, dtype=object))
    y, groups = np.concatenate(labels), reader.groups.codes()
    found += reader.findings()
    found += suspect_people(_counted(y, np.zeros(len(y), dtype=bool), groups), people.label)
    found += model_cells.findings(table, y, groups)
    found += suspect_features({name: np.concatenate(part) for name, part in zip(used, parts, strict=True)}, y)
    return len(y)


def _counted(y: BoolArray, selected: BoolArray, groups: GroupCodes) -> PublishedStatistics:
    return PublishedStatistics(groups.labels, GroupCounts.from_rows(y, selected, groups.codes, groups.n_groups))


class _ModelCells:
    """What a model says of people, chunk by chunk, and what looks wrong with it; without a model, nothing."""

    def __init__(self, model: ScoreColumn | DecisionColumn | None, people: PeopleColumns) -> None:
        self._model, self._people = model, people
        self._passing = _passing(model) if isinstance(model, DecisionColumn) else None
        self._parts: list[Any] = []

    def add(self, table: TableReader, chunk: Chunk, at: int) -> None:
        if isinstance(self._model, ScoreColumn):
            self._parts.append(as_numbers(table, chunk, at, self._model.name))
        elif self._passing is not None:
            if self._people.positive and self._passing.positive is None:
                self._passing.adopt(self._people.positive, chunk, at)
            self._parts.append(self._passing(table, chunk, at))

    def findings(self, table: TableReader, y: BoolArray, groups: GroupCodes) -> list[Finding]:
        if self._model is None:
            return []
        said = np.concatenate(self._parts)
        if isinstance(self._model, DecisionColumn):
            return suspect_decisions(ScreeningResult(_counted(y, said, groups)), self._model.name)
        people = _screened_at(y, *_turned(table, self._model, said), groups)
        return suspect_score(replace(people, lower_passes=self._model.lower_passes), self._model.name)
