"""A table on disk as what an audit or a training needs, read once, in chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from .._errors import InputError
from .._text import shown
from .._validation import BoolArray, FloatArray
from ..auditing import Screened, default_threshold
from ..counting import MISSING, GroupCodes, GroupCounts, encode_groups
from ..deciding import PublishedStatistics, ThresholdCurves
from .checking import GroupColumns, TwoValues, as_numbers
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
    """

    label: str
    groups: tuple[str, ...]
    positive: str | tuple[str, ...] | None = None
    missing: str = "error"

    def __post_init__(self) -> None:
        twice = [name for i, name in enumerate(self.groups) if name in self.groups[:i]]
        if twice:
            raise TableError(f"column {shown(twice[0])} is named twice for the groups", named_by="group")


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
            columns.label, columns.positive, "qualified", more_values="more_labels", rest_is_negative=True
        )
        self.groups = GroupColumns(columns.groups, columns.missing)
        self._where = [table.position(columns.label, "label")]
        self._where += [table.position(name, "group") for name in columns.groups]
        self.group_positions = range(1, len(self._where))
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

    def findings(self) -> list[Finding]:
        """What looks wrong with the labels."""
        return suspect_labels(self.columns.label, *self.labels.values())

    def keep_groups(self, chunk: Chunk) -> None:
        self.groups.keep(self.table, chunk, self.group_positions)

    def group_cells(self, chunk: Chunk) -> pd.DataFrame:
        return self.groups.cells(self.table, chunk, self.group_positions)


def read_screened(
    table: TableReader,
    people: PeopleColumns,
    model: ScoreColumn | DecisionColumn,
    found: list[Finding] | None = None,
) -> Screened:
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
    ...         found = read_screened(table, PeopleColumns("hired", ("team",)), ScoreColumn("score"))
    >>> found.threshold, found.table.precision.to_dict()
    (0.5, {'A': 0.5, 'B': nan})
    """
    if found is not None:
        found += suspect_columns(people.label, people.groups, model.name)
    if isinstance(model, ScoreColumn):
        return _read_scores(table, people, model, found)
    return _read_decisions(table, people, model, found)


def _read_scores(
    table: TableReader, columns: PeopleColumns, model: ScoreColumn, found: list[Finding] | None
) -> Screened:
    people = _People(table, columns)
    labels: list[BoolArray] = []
    scores: list[FloatArray] = []
    for y, chunk in people.chunks([table.position(model.name, "score")]):
        labels.append(y)
        scores.append(as_numbers(table, chunk, people.others, model.name))
        people.keep_groups(chunk)
    screened = _screened_at(table, model, np.concatenate(labels), np.concatenate(scores), people.groups.codes())
    if found is not None:
        found += people.findings()
        found += suspect_people(screened.table, columns.label)
        found += suspect_score(screened, model.name)
    return screened


def _screened_at(
    table: TableReader, model: ScoreColumn, y: BoolArray, score: FloatArray, groups: GroupCodes
) -> Screened:
    """People with a score, at the model's threshold; turned round where lower scores pass."""
    threshold = model.threshold
    if threshold is None:
        try:
            threshold = default_threshold(float(score.min()), float(score.max()))
        except InputError as error:
            raise table.error(str(error), column=model.name, key=error.key) from error
    if model.lower_passes:
        score, threshold = -score, -threshold
    curves = ThresholdCurves.from_codes(y, score, groups.codes, groups.labels)
    return replace(Screened.from_curves(curves, threshold), lower_passes=model.lower_passes)


def _passing(model: DecisionColumn) -> TwoValues:
    return TwoValues(model.name, model.positive, "passing screening", key="prediction_positive", more_values="score")


def _read_decisions(
    table: TableReader, columns: PeopleColumns, model: DecisionColumn, found: list[Finding] | None
) -> Screened:
    people = _People(table, columns)
    passing = _passing(model)
    counted: list[PublishedStatistics] = []
    for y, chunk in people.chunks([table.position(model.name, "prediction")]):
        if columns.positive and passing.positive is None:
            passing.adopt(columns.positive, chunk, people.others)
        selected = passing(table, chunk, people.others)
        counted.append(
            PublishedStatistics.from_predictions(
                y, selected, sensitive_features=people.group_cells(chunk), missing=columns.missing
            )
        )
    if model.positive is not None or not passing.seen <= people.labels.seen:
        passing.finish(table)  # a value that no row holds would mean that nobody passes
    screened = Screened(_in_order(sum(counted[1:], counted[0])))
    if found is not None:
        found += people.findings()
        found += suspect_people(screened.table, columns.label)
        found += suspect_decisions(screened, model.name)
    return screened


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
    for name in ignore:
        table.position(name, "ignore")
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
    columns = {name: np.concatenate(part) for name, part in zip(used, parts, strict=True)}
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
    for name in ignore:
        table.position(name, "ignore")
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
            return suspect_decisions(Screened(_counted(y, said, groups)), self._model.name)
        return suspect_score(_screened_at(table, self._model, y, said, groups), self._model.name)
