"""Fitted classifiers as JSON: nothing in the file is ever executed, and nothing unknown is read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from ..statistics import PublishedStatistics
from ._base import SelfSelectionClassifier
from ._naive import NaiveClassifier
from ._semi import SemiStrategicClassifier
from ._strategic import StrategicClassifier

FORMAT, SCHEMA = "selfselect-model", 1
MOST_BYTES = 64 * 2**20
CLASSES: dict[str, type[SelfSelectionClassifier]] = {
    cls.__name__: cls for cls in (NaiveClassifier, SemiStrategicClassifier, StrategicClassifier)
}


def save_model(model: SelfSelectionClassifier, path: str | Path) -> None:
    """Write a fitted classifier as JSON.

    Parameters
    ----------
    model : NaiveClassifier, SemiStrategicClassifier or StrategicClassifier
        The first two with a logistic regression inside; other inner classifiers cannot be written without pickling
        them.
    path : str or Path
        Written whole or not at all; an existing file is replaced.
    """
    target = Path(path)
    text = json.dumps(model_to_dict(model), allow_nan=False, indent=1)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def load_model(path: str | Path) -> Any:
    """Read a classifier that :func:`save_model` wrote.

    Raises
    ------
    ValueError
        If the file is not such a model, is damaged, of another schema version, or absurdly large. Nothing in it is
        executed.
    """
    source = Path(path)
    with source.open("rb") as file:
        data = file.read(MOST_BYTES + 1)  # a size on disk says nothing about pipes and devices
    if len(data) > MOST_BYTES:
        raise ValueError(f"{source} is no model: it has more than {MOST_BYTES:,} bytes.")
    try:
        content = json.loads(data.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{source} is no model: it is not JSON ({error}). Pickles are never read.") from error
    try:
        return model_from_dict(content)
    except (KeyError, IndexError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"{source} is a damaged model: {type(error).__name__} {error}.") from error
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error


def _refuse_constant(name: str) -> float:
    raise ValueError(f"it holds {name}, which no model does")


def model_to_dict(model: SelfSelectionClassifier) -> dict[str, Any]:
    """What is kept of a fitted classifier, in JSON's own types."""
    name = type(model).__name__
    if CLASSES.get(name) is not type(model):
        raise TypeError(f"Only {', '.join(CLASSES)} can be saved, got {name}.")
    check_is_fitted(model)
    params = {key: _encode(value) for key, value in model.get_params(deep=False).items() if key != "estimator"}
    fitted: dict[str, Any] = {"classes": _encode(model.classes_.tolist()), "n_features": model.n_features_in_}
    if hasattr(model, "feature_names_in_"):
        fitted["feature_names"] = [str(feature) for feature in model.feature_names_in_]
    if isinstance(model, StrategicClassifier):
        fitted |= {"origin": model.origin_, "constraints_met": model.constraints_met_}
        linear: Any = model
    else:
        linear = model.estimator_
        if type(linear) is not LogisticRegression:
            raise TypeError(
                f"Only a logistic regression inside {name} can be saved as JSON, not {type(linear).__name__}."
            )
        if model.estimator is not None:  # so that what is read back can be fitted again as it was
            fitted["estimator"] = {key: _encode(value) for key, value in linear.get_params().items()}
    fitted |= {"coef": linear.coef_[0].tolist(), "intercept": float(linear.intercept_[0])}
    if isinstance(model, SemiStrategicClassifier):
        fitted["threshold"] = model.threshold_
    if not np.isfinite([*fitted["coef"], fitted["intercept"], fitted.get("threshold", 0.0)]).all():
        raise ValueError(f"This {name} has weights that are not finite and cannot be saved.")
    table = model.published_
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "class": name,
        "params": params,
        "fitted": fitted,
        "published": {
            "names": _encode(list(table.groups.names)),
            "groups": [_encode(label) for label in table.groups],
            **{
                key: values.tolist()
                for key, values in zip(
                    ("n", "positives", "selected", "true_positives"), table.counts.columns, strict=True
                )
            },
        },
    }


def model_from_dict(content: Any) -> SelfSelectionClassifier:
    """The way back; whatever is not known is refused."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"This is no {FORMAT} file.")
    if content.get("schema") is not SCHEMA:
        raise ValueError(f"It has schema version {content.get('schema')!r}; this version reads {SCHEMA}.")
    expected = {"format", "schema", "class", "params", "fitted", "published"}
    if set(content) != expected or content["class"] not in CLASSES:
        raise ValueError(f"It holds something unknown: {sorted(set(content) ^ expected) or content['class']!r}.")
    cls, fitted = CLASSES[content["class"]], content["fitted"]
    known = set(cls._get_param_names()) - {"estimator"}
    if set(content["params"]) != known:
        raise ValueError(f"Its parameters are not those of {cls.__name__}: {sorted(set(content['params']) ^ known)}.")
    allowed = {
        "classes",
        "n_features",
        "feature_names",
        "origin",
        "constraints_met",
        "coef",
        "intercept",
        "threshold",
    } | ({"estimator"} if cls is not StrategicClassifier else set())
    if not set(fitted) <= allowed:
        raise ValueError(f"It holds something unknown: {sorted(set(fitted) - allowed)}.")
    model = cls(**{key: _decode(value) for key, value in content["params"].items()})
    model.classes_ = np.array(_decode(fitted["classes"]))
    if model.classes_.shape != (2,) or model.classes_[0] == model.classes_[1]:
        raise ValueError(f"It is damaged: its classes are {fitted['classes']!r}.")
    model.n_features_in_ = int(fitted["n_features"])
    if "feature_names" in fitted:
        model.feature_names_in_ = np.array(fitted["feature_names"], dtype=object)
        if len(model.feature_names_in_) != model.n_features_in_:
            raise ValueError(
                f"It is damaged: {len(model.feature_names_in_)} names for {model.n_features_in_} features."
            )
    linear: Any = model
    if not isinstance(model, StrategicClassifier):
        inner = {key: _decode(value) for key, value in fitted.get("estimator", {}).items()}
        if not set(inner) <= set(LogisticRegression._get_param_names()):
            raise ValueError("It holds something unknown about its logistic regression.")
        linear = model.estimator_ = LogisticRegression(**(inner or {"C": np.inf, "max_iter": 1000}))
        if inner:
            model.estimator = linear if getattr(model, "prefit", False) else clone(linear)
        linear.classes_, linear.n_features_in_ = model.classes_, model.n_features_in_
        if "feature_names" in fitted:
            linear.feature_names_in_ = model.feature_names_in_
    else:
        model.origin_, model.constraints_met_ = str(fitted["origin"]), fitted["constraints_met"]
        if not isinstance(model.constraints_met_, bool):
            raise ValueError(f"It is damaged: constraints_met is {fitted['constraints_met']!r}.")
    coef = np.array(fitted["coef"], dtype=np.float64)
    if coef.shape != (model.n_features_in_,):
        raise ValueError(f"It is damaged: {coef.shape} weights for {model.n_features_in_} features.")
    linear.coef_, linear.intercept_ = coef[None, :], np.array([float(fitted["intercept"])])
    if isinstance(model, SemiStrategicClassifier):
        model.threshold_ = float(fitted["threshold"])
    if not np.isfinite([*coef, *linear.intercept_, getattr(model, "threshold_", 0.0)]).all():
        raise ValueError("It is damaged: its weights are not finite.")
    model.published_ = _table(content["published"])
    model.applies()  # cost and subsidies that make no sense are refused here rather than later
    return model


def _table(published: dict[str, Any]) -> PublishedStatistics:
    labels, names = [_decode(label) for label in published["groups"]], _decode(published["names"])
    several = len(names) > 1
    index = (
        pd.MultiIndex.from_tuples(labels, names=names)
        if several
        else pd.Index(labels, name=names[0], tupleize_cols=False)
    )
    counted = ("n", "positives", "selected", "true_positives")
    if set(published) != {"names", "groups", *counted}:
        raise ValueError(f"It holds something unknown about what was published: {sorted(published)}.")
    columns = {key: published[key] for key in counted}
    return PublishedStatistics.from_counts(pd.DataFrame(columns, index=index))


def _encode(value: Any) -> Any:
    """JSON's own types, with tags for the few others that parameters and group labels may hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return {"float": repr(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, pd.Series):
        value = value.to_dict()
    if isinstance(value, dict):
        return {"dict": [[_encode(key), _encode(item)] for key, item in value.items()]}
    if isinstance(value, tuple):
        return {"tuple": [_encode(item) for item in value]}
    if isinstance(value, list | np.ndarray):
        return {"list": [_encode(item) for item in value]}
    raise TypeError(f"Cannot write {value!r} of type {type(value).__name__} as JSON.")


def _decode(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    ((tag, inner),) = value.items()
    if tag == "float":
        return {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}[inner]
    if tag == "dict":
        return {_decode(key): _decode(item) for key, item in inner}
    if tag == "tuple":
        return tuple(_decode(item) for item in inner)
    if tag == "list":
        return [_decode(item) for item in inner]
    raise ValueError(f"It holds something unknown: {tag!r}.")
