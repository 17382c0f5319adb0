"""Fitted classifiers as JSON: nothing in the file is ever executed, and nothing unknown is read.

A classifier takes part by the decorator :func:`saveable` and two methods: ``_fitted_state`` gives what it has learnt in
JSON's own types, ``_restore`` takes it back.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from .._files import DAMAGE, read_json, write_whole
from .._validation import check_binary, check_fraction
from ..counting import COUNTED
from ..deciding import PublishedStatistics

FORMAT, SCHEMA = "selfselect-model", 1
#: Classifiers that can be saved, by name.
_SAVEABLE: dict[str, type[Any]] = {}

Classifier = TypeVar("Classifier", bound=type[Any])


def saveable(cls: Classifier) -> Classifier:
    """Let a class of classifiers be saved and loaded."""
    _SAVEABLE[cls.__name__] = cls
    return cls


def save_model(model: Any, path: str | Path) -> None:
    """Write a fitted classifier as JSON.

    Parameters
    ----------
    model : NaiveClassifier, SemiStrategicClassifier or StrategicClassifier
        The first two with a logistic regression inside; other inner classifiers cannot be written without pickling
        them.
    path : str or Path
        Written whole or not at all; an existing file is replaced.
    """
    write_whole(path, json.dumps(model_to_dict(model), allow_nan=False, indent=1))


def load_model(path: str | Path) -> Any:
    """Read a classifier that :func:`save_model` wrote.

    Raises
    ------
    ValueError
        If the file is not such a model, is damaged, of another schema version, or absurdly large. Nothing in it is
        executed.
    """
    content = read_json(path)
    try:
        return model_from_dict(content)
    except DAMAGE as error:
        raise ValueError(f"{path} is a damaged model: {type(error).__name__} {error}.") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def model_to_dict(model: Any) -> dict[str, Any]:
    """What is kept of a fitted classifier, in JSON's own types."""
    name = type(model).__name__
    if _SAVEABLE.get(name) is not type(model):
        raise TypeError(f"Only {', '.join(_SAVEABLE)} can be saved, got {name}.")
    check_is_fitted(model)
    fitted: dict[str, Any] = {
        "classes": encode(model.classes_.tolist()),
        "positive": encode(model.positive_),
        "n_features": model.n_features_in_,
    }
    if hasattr(model, "feature_names_in_"):
        fitted["feature_names"] = [str(feature) for feature in model.feature_names_in_]
    if hasattr(model, "promise_level_"):
        fitted |= {"level": model.promise_level_, "promised": model.promised_.tolist()}
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "class": name,
        "params": {key: encode(value) for key, value in model.get_params(deep=False).items() if key != "estimator"},
        "fitted": fitted | model._fitted_state(),
        "published": _table_to_dict(model.published_),
    }


def model_from_dict(content: Any) -> Any:
    """The way back; whatever is not known is refused."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"This is no {FORMAT} file.")
    if content.get("schema") is not SCHEMA:
        raise ValueError(f"It has schema version {content.get('schema')!r}; this version reads {SCHEMA}.")
    expected = {"format", "schema", "class", "params", "fitted", "published"}
    if set(content) != expected or content["class"] not in _SAVEABLE:
        raise ValueError(f"It holds something unknown: {sorted(set(content) ^ expected) or content['class']!r}.")
    cls = _SAVEABLE[content["class"]]
    known = set(cls._get_param_names()) - {"estimator"}
    if set(content["params"]) != known:
        raise ValueError(f"Its parameters are not those of {cls.__name__}: {sorted(set(content['params']) ^ known)}.")
    model = cls(**{key: decode(value) for key, value in content["params"].items()})
    model.published_ = _table_from_dict(content["published"])
    rest = _restore_common(model, dict(content["fitted"]))
    unknown = set(rest) - set(cls._STATE)
    if unknown:
        raise ValueError(f"It holds something unknown: {sorted(unknown)}.")
    model._restore(rest, model.published_.groups)
    model.applies()  # cost and subsidies that make no sense are refused here rather than later
    return model


def _restore_common(model: Any, fitted: dict[str, Any]) -> dict[str, Any]:
    """Take back what every classifier has; the rest is left."""
    classes = decode(fitted.pop("classes"))
    model.classes_ = np.array(classes)
    if model.classes_.shape != (2,) or model.classes_[0] == model.classes_[1]:
        raise ValueError(f"It is damaged: its classes are {classes!r}.")
    positive = decode(fitted.pop("positive"))
    if positive not in model.classes_.tolist():
        raise ValueError(f"It is damaged: {positive!r} is none of its classes.")
    model.positive_ = model.classes_[model.classes_.tolist().index(positive)]
    model.n_features_in_ = int(fitted.pop("n_features"))
    if "feature_names" in fitted:
        model.feature_names_in_ = np.array(fitted.pop("feature_names"), dtype=object)
        if len(model.feature_names_in_) != model.n_features_in_:
            raise ValueError(
                f"It is damaged: {len(model.feature_names_in_)} names for {model.n_features_in_} features."
            )
    if getattr(model, "guarantee", False):
        groups = model.published_.groups
        model.promise_level_ = check_fraction(fitted.pop("level"), "level", inclusive=False)
        promised = check_binary(fitted.pop("promised"), "promised")
        model.promised_ = pd.Series(promised, index=groups, name="promised")
    return fitted


# ---------------------------------------------------------------------- parts of a file


def linear_state(linear: Any) -> dict[str, Any]:
    """Weights and intercept of a linear classifier."""
    state = {"coef": linear.coef_[0].tolist(), "intercept": float(linear.intercept_[0])}
    check_finite([*state["coef"], state["intercept"]], f"This {type(linear).__name__} has weights that are not finite.")
    return state


def restore_linear(linear: Any, state: dict[str, Any], n_features: int) -> None:
    """The way back."""
    coef = np.array(state["coef"], dtype=np.float64)
    if coef.shape != (n_features,):
        raise ValueError(f"It is damaged: {coef.shape} weights for {n_features} features.")
    linear.coef_, linear.intercept_ = coef[None, :], np.array([float(state["intercept"])])
    check_finite([*coef, *linear.intercept_], "It is damaged: its weights are not finite.")


def check_finite(values: Any, problem: str) -> None:
    """Refuse numbers that are none."""
    if not np.isfinite(values).all():
        raise ValueError(problem)


def _table_to_dict(table: PublishedStatistics) -> dict[str, Any]:
    return {
        "names": encode(list(table.groups.names)),
        "groups": [encode(label) for label in table.groups],
        **table.counts.to_dict(),
    }


def _table_from_dict(published: dict[str, Any]) -> PublishedStatistics:
    labels, names = [decode(label) for label in published["groups"]], decode(published["names"])
    several = len(names) > 1
    index = (
        pd.MultiIndex.from_tuples(labels, names=names)
        if several
        else pd.Index(labels, name=names[0], tupleize_cols=False)
    )
    if set(published) != {"names", "groups", *COUNTED}:
        raise ValueError(f"It holds something unknown about what was published: {sorted(published)}.")
    return PublishedStatistics.from_counts(pd.DataFrame({key: published[key] for key in COUNTED}, index=index))


def encode(value: Any) -> Any:
    """JSON's own types, with tags for the few others that parameters and group labels may hold.

    Examples
    --------
    >>> encode({"a": (1, float("inf"))})
    {'dict': [['a', {'tuple': [1, {'float': 'inf'}]}]]}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return {"float": repr(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, pd.Series):
        value = value.to_dict()
    if isinstance(value, dict):
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    if isinstance(value, tuple):
        return {"tuple": [encode(item) for item in value]}
    if isinstance(value, list | np.ndarray):
        return {"list": [encode(item) for item in value]}
    raise TypeError(f"Cannot write {value!r} of type {type(value).__name__} as JSON.")


def decode(value: Any) -> Any:
    """The way back.

    Examples
    --------
    >>> decode(encode({"a": (1, float("inf"))}))
    {'a': (1, inf)}
    """
    if not isinstance(value, dict):
        return value
    ((tag, inner),) = value.items()
    if tag == "float":
        return {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}[inner]
    if tag == "dict":
        return {decode(key): decode(item) for key, item in inner}
    if tag == "tuple":
        return tuple(decode(item) for item in inner)
    if tag == "list":
        return [decode(item) for item in inner]
    raise ValueError(f"It holds something unknown: {tag!r}.")
