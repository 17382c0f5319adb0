"""Fitted classifiers as JSON: nothing in the file is ever executed, and nothing unknown is read.

A classifier takes part by the decorator :func:`saveable` and three methods: ``_fitted_state`` gives what it has learnt
in JSON's own types, ``_held`` what JSON has no words for (estimators of scikit-learn's; see :mod:`.packing`),
``_restore`` takes both back.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from .._files import (
    DAMAGE,
    MOST_BYTES,
    WrongPartError,
    inside,
    number_at,
    numbers_at,
    read_json,
    texts_at,
    truth_at,
    truths_at,
    write_whole,
)
from .._validation import LARGEST, check_fraction
from ..counting import COUNTED
from ..publishing import PublishedStatistics
from .packing import pack, unpack

FORMAT, SCHEMA = "selfselect-model", 2
#: What files of older schema versions lack: then there were logistic regressions only, and one kind of counts.
_OLDER: dict[int, dict[str, Any]] = {1: {"skops": None, "published_in_sample": None}}
#: Parameters that older files lack are by default what they are by default now, except for these.
_BEFORE = {"publish": "train"}
#: Parameters that are estimators, which the classifier itself gives and takes back.
_ESTIMATORS = ("estimator", "estimators")
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
    model : NaiveClassifier, SemiStrategicClassifier, GroupThresholdClassifier or StrategicClassifier
        With a logistic regression inside, or any other classifier of scikit-learn's (these need the extra ``skops``).
    path : str or Path
        Written whole or not at all; an existing file is replaced.

    Raises
    ------
    TypeError
        If there is something inside that would not be read back, by its name.
    ValueError
        If the file would be too large to be read back.
    ImportError
        If skops is needed, and missing.

    Notes
    -----
    Kept are parameters (also the estimators that competed), what predicts, and what is published; not kept is what
    tells of the fit only: ``curve_``, ``allocation_``, ``n_iter_``.

    **What cannot be saved:** classes and functions of other packages or your own (``FunctionTransformer`` of your
    function, metrics, kernels and scorers that are yours; numpy's functions are fine); ``SplineTransformer``; a search
    over scipy's distributions (save its ``best_estimator_``); a pipeline with ``memory``; ``IsolationForest``.
    """
    text = json.dumps(model_to_dict(model), allow_nan=False, indent=1)
    if len(text) > MOST_BYTES:  # no letter of it takes more than a byte
        raise ValueError(
            f"This {type(model).__name__} is too large to be saved: {len(text):,} bytes, at most {MOST_BYTES:,}. Fewer "
            "or smaller trees make it smaller."
        )
    write_whole(path, text)


def load_model(path: str | Path) -> Any:
    """Read a classifier that :func:`save_model` wrote.

    Raises
    ------
    ValueError
        If the file is not such a model, is damaged, of another schema version, absurdly large, or holds a type that is
        not trusted. Nothing in it is executed.
    ImportError
        If it needs skops, and skops is missing.

    Warns
    -----
    UserWarning
        If the estimator inside was fitted with another version (major or minor) of scikit-learn.
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
    params, held = _params_to_dict(model)
    held |= model._held()
    in_sample = getattr(model, "published_in_sample_", model.published_)
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "class": name,
        "params": params,
        "fitted": fitted | model._fitted_state(),
        "published": _table_to_dict(model.published_),
        "published_in_sample": None if in_sample is model.published_ else _table_to_dict(in_sample),
        "skops": pack(held, name) if held else None,
    }


def _params_to_dict(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters in JSON's own types, and those that have none (folds and random states of scikit-learn's)."""
    plain: dict[str, Any] = {}
    held: dict[str, Any] = {}
    for key, value in model.get_params(deep=False).items():
        if key in _ESTIMATORS:
            continue
        try:
            plain[key] = encode(value)
        except TypeError:
            held[key] = value
    return plain, held


def model_from_dict(content: Any) -> Any:
    """The way back; whatever is not known is refused."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"This is no {FORMAT} file.")
    version = content.get("schema")
    if type(version) is not int or version not in (*_OLDER, SCHEMA):
        raise ValueError(f"It has schema version {version!r}; this version reads {min(_OLDER)} to {SCHEMA}.")
    older = version in _OLDER
    content = _OLDER.get(version, {}) | content
    expected = {"format", "schema", "class", "params", "fitted", "published", "published_in_sample", "skops"}
    if set(content) != expected or content["class"] not in _SAVEABLE:
        raise ValueError(f"It holds something unknown: {sorted(set(content) ^ expected) or content['class']!r}.")
    cls = _SAVEABLE[content["class"]]
    held = {} if content["skops"] is None else unpack(content["skops"])
    inner = {"estimator_": held.pop("estimator_")} if "estimator_" in held else {}
    model = cls(**_params_of(cls, content["params"], held, older))
    model.published_ = _table_from_dict(content["published"], "published")
    rest = _restore_common(model, dict(content["fitted"])) | inner
    unknown = set(rest) - set(cls._STATE)
    if unknown:
        raise ValueError(f"It holds something unknown: {sorted(unknown)}.")
    model._restore(rest, model.published_.groups)
    if content["published_in_sample"] is not None:
        model.published_in_sample_ = _table_from_dict(content["published_in_sample"], "published_in_sample")
    elif not older or model.publish == "train":  # older files do not tell what they do not have
        model.published_in_sample_ = model.published_
    model.applies()  # cost and subsidies that make no sense are refused here rather than later
    return model


def _params_of(cls: type[Any], plain: dict[str, Any], held: dict[str, Any], older: bool) -> dict[str, Any]:
    """Parameters of a file, which must be those of the class; older files may lack some."""
    known = set(cls._get_param_names())
    if older and plain.get("estimators", ...) is None:
        plain = {key: value for key, value in plain.items() if key != "estimators"}
    unknown = (set(plain) | set(held)) - known | set(plain) & set(_ESTIMATORS)
    lacking = set() if older else known - set(plain) - set(held) - set(_ESTIMATORS)
    if unknown or lacking or set(plain) & set(held):
        wrong = sorted(unknown | lacking | (set(plain) & set(held)))
        raise ValueError(f"Its parameters are not those of {cls.__name__}: {wrong}.")
    before = {key: value for key, value in _BEFORE.items() if older and key in known}
    decoded = {key: decode(value) for key, value in plain.items()}
    defaults = cls().get_params(deep=False) | {"subsidies": 0.0}  # numbers, unless there are none
    for key, value in decoded.items():
        _check_kind(value, defaults[key], inside("params", key))
    return before | decoded | held


def _check_kind(value: Any, default: Any, where: str) -> None:
    """Refuse a parameter that is no number, or not yes or no, where it is one by default.

    Numbers may be given for each group, or not at all; ``auto`` stands for one that is found out.
    """
    if isinstance(default, bool):
        truth_at(value, where)
    elif not isinstance(default, int | float) or value is None or value == "auto":
        return
    elif isinstance(value, dict):
        for key, each in value.items():
            _check_kind(each, default, inside(where, str(key)))
    elif isinstance(value, list | tuple):
        for i, each in enumerate(value):
            _check_kind(each, default, inside(where, i))
    else:
        number_at(value, where)


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
    features = fitted.pop("n_features")
    if number_at(features, "fitted.n_features") != int(features):
        raise WrongPartError("fitted.n_features", f"is {features!r}, not a whole number")
    model.n_features_in_ = int(features)
    if "feature_names" in fitted:
        names = texts_at(fitted.pop("feature_names"), "fitted.feature_names")
        model.feature_names_in_ = np.array(names, dtype=object)
        if len(model.feature_names_in_) != model.n_features_in_:
            raise ValueError(
                f"It is damaged: {len(model.feature_names_in_)} names for {model.n_features_in_} features."
            )
    if getattr(model, "guarantee", False):
        groups = model.published_.groups
        level = number_at(fitted.pop("level"), "fitted.level")
        model.promise_level_ = check_fraction(level, "level", inclusive=False)
        promised = truths_at(fitted.pop("promised"), "fitted.promised")
        model.promised_ = pd.Series(promised, index=groups, name="promised")
    return fitted


# ---------------------------------------------------------------------- parts of a file


def linear_state(linear: Any) -> dict[str, Any]:
    """Weights and intercept of a linear classifier."""
    state = {"coef": linear.coef_[0].tolist(), "intercept": float(linear.intercept_[0])}
    weights, name = [*state["coef"], state["intercept"]], type(linear).__name__
    check_finite(weights, f"This {name} has weights that are not finite.")
    if np.abs(weights).max() > LARGEST:
        raise ValueError(f"This {name} has weights beyond {LARGEST:g}, and would not be read back: scale its features.")
    return state


def restore_linear(linear: Any, state: dict[str, Any], n_features: int) -> None:
    """The way back."""
    coef = np.array(numbers_at(state["coef"], "fitted.coef"), dtype=np.float64)
    if coef.shape != (n_features,):
        raise ValueError(f"It is damaged: {coef.shape} weights for {n_features} features.")
    linear.coef_ = coef[None, :]
    linear.intercept_ = np.array([number_at(state["intercept"], "fitted.intercept")])


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


def _table_from_dict(published: dict[str, Any], where: str) -> PublishedStatistics:
    labels, names = [decode(label) for label in published["groups"]], decode(published["names"])
    several = len(names) > 1
    index = (
        pd.MultiIndex.from_tuples(labels, names=names)
        if several
        else pd.Index(labels, name=names[0], tupleize_cols=False)
    )
    if set(published) != {"names", "groups", *COUNTED}:
        raise ValueError(f"It holds something unknown about what was published: {sorted(published)}.")
    counts = {key: numbers_at(published[key], f"{where}.{key}") for key in COUNTED}
    return PublishedStatistics.from_counts(pd.DataFrame(counts, index=index))


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
