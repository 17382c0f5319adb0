"""A classifier together with how to read a table for it: kept as JSON, and at work on new tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._files import DAMAGE, WrongPartError, read_json, texts_at
from .._text import json_text, shown
from .._validation import LARGEST, BoolArray, FloatArray, check_choice
from ..auditing import group_names
from ..counting import encode_groups
from ..estimators import GroupThresholdClassifier
from ..estimators.files import model_from_dict, model_to_dict
from .columns import group_frame, is_missing, numbers_or_missing, with_point
from .encoding import NumberColumn, TableEncoder
from .table import Chunk, Table, TextArray

FORMAT, SCHEMA = "selfselect-table-model", 1
PARTS = {"format", "schema", "groups", "missing", "columns", "classifier"}


@dataclass(frozen=True, eq=False)
class TableModel:
    """A fitted classifier together with how to read a table for it.

    Attributes
    ----------
    encoder : TableEncoder
        How columns become features.
    classifier : NaiveClassifier, SemiStrategicClassifier, GroupThresholdClassifier or StrategicClassifier
        The fitted classifier, with any classifier of scikit-learn's inside (but it must have a ``decision_function``).
    groups : tuple of str
        Columns that make up the groups.
    missing : {"error", "own_group"}
        What to do with rows whose group is missing.
    """

    encoder: TableEncoder
    classifier: Any
    groups: tuple[str, ...]
    missing: str = "error"

    @property
    def decides_by_group(self) -> bool:
        """Whether it takes the group of a person to decide, because each group has a threshold of its own."""
        return isinstance(self.classifier, GroupThresholdClassifier)

    def score(self, table: Mapping[str, TextArray], groups: Any = None) -> FloatArray:
        """Score of each row; above 0 passes screening.

        Parameters
        ----------
        table : mapping from column name to array of str
            Cells of the columns that it was trained on.
        groups : DataFrame or GroupCodes, optional
            Group of each row; needed if :attr:`decides_by_group`. A person of a group that was not there in training
            then has no score (NaN): there is no threshold.
        """
        return self.score_features(self.encoder.transform(table), groups)

    def score_features(self, features: FloatArray, groups: Any = None) -> FloatArray:
        """The same, of rows whose columns are features already."""
        if not self.decides_by_group:
            return np.asarray(self.classifier.decision_function(features), dtype=np.float64)
        known = np.ones(len(features), dtype=bool)
        if isinstance(groups, pd.DataFrame):
            known = self.applies_to(groups)[1]
            groups = (
                encode_groups(groups[known], n_rows=int(known.sum()), missing=self.missing) if known.any() else None
            )
        score = np.full(len(features), np.nan)
        if known.any():
            score[known] = self.classifier.decision_function(features[known], sensitive_features=groups)
        return score

    def applies_to(self, groups: pd.DataFrame) -> tuple[BoolArray, BoolArray]:
        """Whether each person applies, and whether the person's group was there in training at all."""
        published = self.classifier.published_
        own = encode_groups(groups, n_rows=len(groups), missing=self.missing)
        position = published.groups.get_indexer(own.labels)
        known = position >= 0
        decided = np.where(known, self.classifier.applies().to_numpy()[np.maximum(position, 0)], False)
        return decided[own.codes], known[own.codes]

    def to_dict(self) -> dict[str, Any]:
        """Everything, in JSON's own types."""
        return {
            "format": FORMAT,
            "schema": SCHEMA,
            "groups": list(self.groups),
            "missing": self.missing,
            "columns": self.encoder.to_dict(),
            "classifier": model_to_dict(self.classifier),
        }

    def to_json(self) -> str:
        """Everything as JSON text."""
        return json_text(self.to_dict(), indent=1)

    @classmethod
    def from_dict(cls, content: Any) -> TableModel:
        """The way back; whatever is not known is refused, and nothing is executed."""
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise ValueError(f"it is no {FORMAT} (selfselect train writes them).")
        if content.get("schema") != SCHEMA:
            raise ValueError(f"it has schema version {content.get('schema')!r}; this version reads {SCHEMA}.")
        unknown = set(content) ^ PARTS
        if unknown:
            raise ValueError(f"it lacks or holds unknown parts: {sorted(map(str, unknown))}.")
        check_choice(content["missing"], "missing", ("error", "own_group"))
        encoder = TableEncoder.from_dict(content["columns"])
        try:
            classifier = model_from_dict(content["classifier"])
        except WrongPartError as error:
            raise error.within("classifier") from error
        if len(encoder.names) != classifier.n_features_in_:
            raise ValueError(f"its columns make {len(encoder.names)} features, its weights are for others.")
        groups = tuple(texts_at(content["groups"], "groups"))
        if len(groups) != classifier.published_.groups.nlevels:
            raise ValueError("its group columns do not fit its published statistics.")
        return cls(encoder, classifier, groups, content["missing"])


def load_table_model(path: str | Path) -> TableModel:
    """Read a model that ``selfselect train`` wrote.

    Raises
    ------
    ValueError
        If the file is not such a model, is damaged, of another schema, absurdly large, or needs skops, which is not
        there. Nothing in it is executed.
    """
    content = read_json(path)
    try:
        return TableModel.from_dict(content)
    except DAMAGE as error:
        raise ValueError(f"{path} is a damaged model: {type(error).__name__} {error}.") from error
    except (ValueError, ImportError) as error:  # also an extra that the estimator inside needs
        raise ValueError(f"{path}: {error}") from error


# ---------------------------------------------------------------------- at work


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a model makes of some rows.

    Attributes
    ----------
    score : ndarray of float
        Above 0 passes screening; NaN where it takes the group to decide, and the group was not there in training.
    applies : ndarray of bool
        Whether the person's group applies, by what the model published in training.
    known : ndarray of bool
        Whether the group was there in training at all.
    strangers : set of str
        Groups that were not.
    """

    score: FloatArray
    applies: BoolArray
    known: BoolArray
    strangers: set[str]

    def cells(self) -> list[list[str]]:
        """Three columns of text: score, prediction (1 passes), applies; what cannot be said is left empty."""
        decided = [str(int(yes)) if sure else "" for yes, sure in zip(self.applies, self.known, strict=True)]
        scored = [None if np.isnan(value) else float(value) for value in self.score]
        return [
            ["" if value is None else repr(value) for value in scored],
            ["" if value is None else str(int(value > 0)) for value in scored],
            decided,
        ]


class TablePredictor:
    """A model at work on one table, chunk by chunk.

    Parameters
    ----------
    model : TableModel
        The model.
    table : Table
        A table with the columns that it was trained on; its chunks must hold all columns.
    """

    def __init__(self, model: TableModel, table: Table) -> None:
        self._model, self._table = model, table
        needed = dict.fromkeys([*(column.name for column in model.encoder.columns), *model.groups])
        self._where = {name: table.position(name, use="which the model needs") for name in needed}

    def __call__(self, chunk: Chunk) -> Predictions:
        """Predictions for a chunk, or a complaint with the place of a cell that does not fit."""
        cells = {name: chunk.columns[at].cells() for name, at in self._where.items()}
        for column in self._model.encoder.columns:
            if isinstance(column, NumberColumn):
                cells[column.name] = self._numbers(chunk, column.name, cells[column.name])
        groups = group_frame(
            self._table, [chunk.columns[self._where[name]] for name in self._model.groups], self._model.missing
        )
        applies, known = self._model.applies_to(groups)
        strangers = encode_groups(groups[~known], missing="own_group").labels if not known.all() else pd.Index([])
        return Predictions(self._model.score(cells, groups), applies, known, set(group_names(strangers)))

    def _numbers(self, chunk: Chunk, name: str, cells: TextArray) -> TextArray:
        """Cells of a column of numbers, with decimal points; or a complaint with the place of one that is none."""
        if self._table.decimal != ".":
            pointed = [with_point(str(cell), self._table.decimal) for cell in cells]
            cells = np.where(is_missing(cells), cells, np.array(pointed, dtype=object))
        numbers, wrong = numbers_or_missing(cells)
        problem = "is not a finite number; in training this column held numbers"
        if not wrong.size:
            wrong = np.flatnonzero(np.abs(np.nan_to_num(numbers)) > LARGEST)
            problem = "is too large to compute with"
        if wrong.size:
            at = int(wrong[0])
            cell = str(chunk.columns[self._where[name]].cells()[at])
            raise self._table.error(f"{shown(cell)} {problem}", row=chunk.rows[at], column=name)
        return cells
