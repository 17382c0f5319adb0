"""A classifier from an ordinary table, with an evaluation on people it has not seen, kept as JSON."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .._validation import BoolArray, FloatArray, check_choice
from ..auditing import Audit, Provenance, Screened
from ..counting import encode_groups
from ..deciding import SubsidyKind, Terms, ThresholdCurves
from ..estimators import ApplicationWarning, NaiveClassifier, SemiStrategicClassifier, StrategicClassifier
from ..estimators.files import model_from_dict, model_to_dict
from .encoding import TableEncoder, TextArray

Method = Literal["naive", "semi", "strategic"]
METHODS: tuple[Method, ...] = ("naive", "semi", "strategic")
FORMAT, SCHEMA = "selfselect-table-model", 1
MOST_BYTES = 64 * 2**20


@dataclass(frozen=True, eq=False)
class TableModel:
    """A fitted classifier together with how to read a table for it.

    Attributes
    ----------
    encoder : TableEncoder
        How columns become features.
    classifier : NaiveClassifier, SemiStrategicClassifier or StrategicClassifier
        The fitted classifier.
    groups : tuple of str
        Columns that make up the groups.
    missing : {"error", "own_group"}
        What to do with rows whose group is missing.
    """

    encoder: TableEncoder
    classifier: Any
    groups: tuple[str, ...]
    missing: str = "error"

    def score(self, table: Mapping[str, TextArray]) -> FloatArray:
        """Score of each row; above 0 passes screening."""
        return np.asarray(self.classifier.decision_function(self.encoder.transform(table)), dtype=np.float64)

    def applies_to(self, groups: pd.DataFrame) -> tuple[BoolArray, BoolArray]:
        """Whether each person applies, and whether the person's group was there in training at all."""
        published = self.classifier.published_
        own = encode_groups(groups, n_rows=len(groups), missing=self.missing)
        position = published.groups.get_indexer(own.labels)
        known = position >= 0
        decided = np.where(known, self.classifier.applies().to_numpy()[np.maximum(position, 0)], False)
        return decided[own.codes], known[own.codes]

    def to_json(self) -> str:
        """Everything as JSON text."""
        content = {
            "format": FORMAT,
            "schema": SCHEMA,
            "groups": list(self.groups),
            "missing": self.missing,
            "columns": self.encoder.to_dict(),
            "classifier": model_to_dict(self.classifier),
        }
        return json.dumps(content, allow_nan=False, ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> TableModel:
        """The way back; whatever is not known is refused, and nothing is executed."""
        content = json.loads(text, parse_constant=_refuse_constant)
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise ValueError(f"it is no {FORMAT} (selfselect train writes them).")
        if content.get("schema") != SCHEMA:
            raise ValueError(f"it has schema version {content.get('schema')!r}; this version reads {SCHEMA}.")
        unknown = set(content) ^ {"format", "schema", "groups", "missing", "columns", "classifier"}
        if unknown:
            raise ValueError(f"it lacks or holds unknown parts: {sorted(map(str, unknown))}.")
        check_choice(content["missing"], "missing", ("error", "own_group"))
        encoder = TableEncoder.from_dict(content["columns"])
        classifier = model_from_dict(content["classifier"])
        if len(encoder.names) != classifier.n_features_in_:
            raise ValueError(f"its columns make {len(encoder.names)} features, its weights are for others.")
        groups = tuple(str(name) for name in content["groups"])
        if len(groups) != classifier.published_.groups.nlevels:
            raise ValueError("its group columns do not fit its published statistics.")
        return cls(encoder, classifier, groups, content["missing"])


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"it holds {name}, which is no number.")


def load_table_model(path: str | Path) -> TableModel:
    """Read a model that ``selfselect train`` wrote.

    Raises
    ------
    ValueError
        If the file is not such a model, is damaged, of another schema, or absurdly large. Nothing in it is executed.
    """
    with open(path, "rb") as file:
        data = file.read(MOST_BYTES + 1)  # never more, also from something that has no size
    if len(data) > MOST_BYTES:
        raise ValueError(f"{path} is no model: it has more than {MOST_BYTES:,} bytes.")
    try:
        return TableModel.from_json(data.decode("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{path} is no model: it is not JSON ({error}). Pickles are never read.") from error
    except (KeyError, IndexError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"{path} is a damaged model: {type(error).__name__} {error}.") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def make_classifier(
    method: Method,
    *,
    cost: float,
    subsidies: Mapping[Any, float] | None = None,
    subsidy_kind: SubsidyKind = "additive",
    parity: float = 0.0,
    equal_tpr: float = 0.0,
    tolerance: float = 0.0,
    random_state: int = 0,
) -> Any:
    """Classifier of a method by its name."""
    check_choice(method, "method", METHODS)
    common: dict[str, Any] = {"cost": cost, "subsidies": subsidies, "subsidy_kind": subsidy_kind}
    if method != "strategic" and (parity or equal_tpr):
        raise ValueError("parity and equal_tpr belong to the strategic method.")
    if method == "naive":
        if tolerance:
            raise ValueError("tolerance belongs to the semi-strategic and strategic methods.")
        return NaiveClassifier(**common)
    if method == "semi":
        return SemiStrategicClassifier(tolerance=tolerance, **common)
    return StrategicClassifier(
        parity=parity, equal_tpr=equal_tpr, tolerance=tolerance, random_state=random_state, **common
    )


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
    notes : tuple of str
        What the user should know.
    """

    model: TableModel
    audit: Audit
    trained_on: int
    held_out: int
    notes: tuple[str, ...]


def train_on_table(
    table: Mapping[str, TextArray],
    y: BoolArray,
    groups: pd.DataFrame,
    classifier: Any,
    *,
    holdout: float = 0.3,
    seed: int = 0,
    missing: str = "error",
    source: Provenance | None = None,
) -> TrainingResult:
    """Fit a classifier to a table of text and evaluate it on held-out rows.

    Parameters
    ----------
    table : mapping from column name to array of str
        Columns to learn from.
    y : ndarray of bool
        Who is qualified.
    groups : DataFrame
        Group columns.
    classifier : NaiveClassifier, SemiStrategicClassifier or StrategicClassifier
        Not yet fitted.
    holdout : float, default=0.3
        Share of rows kept for evaluation; 0 for none.
    seed : int, default=0
        Seed of the split.
    missing : {"error", "own_group"}, default="error"
        What to do with rows whose group is missing.
    source : Provenance, optional
        What a report should say about the data.
    """
    codes = encode_groups(groups, n_rows=len(y), missing=missing)
    test = hold_out(codes.codes * 2 + y, holdout, seed)
    train = ~test
    labels = codes.labels.take(codes.codes)  # missing ones are settled here
    encoder = TableEncoder.fit(table, train)
    features = encoder.transform(table)
    notes = [f"Column {name!r} is left out: {reason}." for name, reason in encoder.left_out.items()]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        classifier.fit(features[train], y[train].astype(int), sensitive_features=_as_groups(labels[train]))
    for item in caught:
        if issubclass(item.category, ApplicationWarning | ConvergenceWarning):
            notes.append(str(item.message).split("\n")[0])
    model = TableModel(encoder, classifier, tuple(str(name) for name in groups.columns), missing)
    score = np.asarray(classifier.decision_function(features), dtype=np.float64)

    def curves(rows: BoolArray) -> ThresholdCurves:
        return ThresholdCurves.from_scores(y[rows], score[rows], sensitive_features=_as_groups(labels[rows]))

    published = Screened.from_curves(curves(train), 0.0)
    others = Screened.from_curves(curves(test), 0.0) if test.any() else published
    terms = Terms(classifier.cost, classifier.subsidies, classifier.subsidy_kind)
    audit = Audit(published, others, terms, provenance=source or Provenance())
    return TrainingResult(model, audit, int(train.sum()), int(test.sum()), tuple(notes))


def _as_groups(labels: pd.Index) -> Any:
    return labels.to_frame(index=False) if labels.nlevels > 1 else pd.Series(labels, name=labels.name)
