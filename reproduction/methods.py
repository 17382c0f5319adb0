"""The methods that are compared, by the names that results are stored under.

A method is a classifier of selfselect with settings that may depend on the data set and the cost. Settings are stored
with each result: they are parameters of the classifier, and

- ``group_columns``: whether the classifier sees the one-hot columns of the group;
- ``scores``: names of the classifiers whose scores get thresholds;
- ``dtype``: precision of the paper's own logistic regression;
- ``parity``, ``tpr_parity``, ``rate_bound``, ``relative``, ``order``: weights and bound of equal selection and
  true-positive rates, and whether precision must follow base rates (:mod:`selfselect.constraints`);
- ``push_out``: whether groups that are not meant to apply are pushed below their cost.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from selfselect import (
    ApplicationWarning,
    GroupCounts,
    GroupThresholdClassifier,
    NaiveClassifier,
    PaperClassifier,
    SemiStrategicClassifier,
    StrategicClassifier,
)
from selfselect.constraints import BaseRateOrder, Constraint, DemographicParity, TruePositiveRateParity
from selfselect.estimators import GradientDescentLogisticRegression

from .data import Dataset, Split
from .memoized import MemoizedClassifier

#: Costs and number of splits of the paper, and the splits on which published and delivered precision are compared.
COSTS = (0.65, 0.675, 0.7, 0.725, 0.75, 0.775, 0.8, 0.825, 0.85)
SPLITS = 10
PROMISE_SPLITS = range(10, 30)
#: The methods of the paper, in the order of its tables.
METHODS = ("naive", "semi", "strat_x", "strat_no_group", "strat_parity")
#: Splits that no constant of our learner was chosen on.
LATER_SPLITS = range(30, 50)
#: Largest difference between groups' rates that must be equal, as a share of the overall rate (four-fifths rule).
RATE_BOUND = 0.2
#: The released code multiplies differences of selection rates by this before it squares them.
RELEASED_FACTOR = 10.0
#: A footnote of the paper calls a weight of 10 in its code 100 in its text.
TEXT_OVER_CODE = 10.0

Settings = dict[str, Any]


@dataclass(frozen=True)
class Method:
    """A method of the comparison.

    ``build`` makes an unfitted classifier from a cost, settings and a seed; ``settings`` come from the name of the data
    set and the cost. Where methods share fits, all costs use the same scores, and are one unit of work.
    """

    title: str
    build: Callable[[float, Settings, int], Any]
    settings: Callable[[str, float], Settings]
    shares_fits: bool = False


@dataclass(frozen=True, eq=False)
class Fit:
    """Counts per group that a fitted method leaves at one cost, and which groups apply."""

    cost: float
    train: GroupCounts
    test: GroupCounts
    published: GroupCounts
    applies: np.ndarray


def fit_method(method: Method, dataset: str, split: Split, costs: Sequence[float], seed: int) -> Iterator[Fit]:
    """Fit a method for several costs on one split. No cost changes the fit of another."""
    for cost in costs:
        settings = method.settings(dataset, cost)
        first = 0 if settings.get("group_columns", True) else split.train.n_group_columns
        with warnings.catch_warnings():
            # that nobody applies is a result here, and the paper's descent makes its steps whether or not it converges
            warnings.simplefilter("ignore", ApplicationWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = method.build(cost, settings, seed)
            model.fit(split.train.features[:, first:], split.train.y, sensitive_features=split.train.codes)
        position, n_groups = np.asarray(model.published_.groups, dtype=np.intp), len(split.train.groups)
        applies = np.zeros(n_groups, dtype=bool)  # groups without training people do not apply
        applies[position] = model.applies(cost).to_numpy()
        yield Fit(
            cost,
            _count(model, split.train, first),
            _count(model, split.test, first),
            model.published_.counts.reindex(position, n_groups),
            applies,
        )


def _count(model: Any, people: Dataset, first: int) -> GroupCounts:
    by_group = {"sensitive_features": people.codes} if isinstance(model, GroupThresholdClassifier) else {}
    selected = model.predict(people.features[:, first:], **by_group) == 1
    return GroupCounts.from_rows(people.y == 1, selected, people.codes, len(people.groups))


# ---------------------------------------------------------------------- classifiers

#: Classifiers whose scores get thresholds, by the names in settings; each from a seed.
SCORES: dict[str, Callable[[int], Any]] = {
    "logistic regression": lambda seed: LogisticRegression(C=np.inf, max_iter=1000),
    "gradient boosting": lambda seed: HistGradientBoostingClassifier(random_state=seed),
}


def _score(settings: Settings, seed: int) -> MemoizedClassifier:
    """Score of naive and semi: a logistic regression without penalty, or the paper's descent where a dtype is set."""
    if "dtype" in settings:
        return MemoizedClassifier(GradientDescentLogisticRegression(dtype=settings["dtype"], random_state=seed))
    return MemoizedClassifier(SCORES["logistic regression"](seed))


class UnpushedClassifier(StrategicClassifier):
    """The strategic classifier without lowering the precision of groups that are not meant to apply."""

    _push_out = False


#: Settings that are parameters of a classifier.
PARAMETERS = ("publish", "margin", "shut_out", "grid", "unseen", "preset", "n_starts", "application_weight")


def _parameters(settings: Settings) -> dict[str, Any]:
    """Parameters of the classifier; published counts come from training people unless settings say otherwise."""
    return {"publish": "train", **{name: value for name, value in settings.items() if name in PARAMETERS}}


def constraints_of(settings: Settings) -> list[Constraint]:
    """Constraints between groups."""
    bound, relative = settings.get("rate_bound"), settings.get("relative", False)
    rates = {"parity": DemographicParity, "tpr_parity": TruePositiveRateParity}
    made: list[Constraint] = [BaseRateOrder()] if settings.get("order") else []
    for name, kind in rates.items():
        if settings.get(name):
            made.append(kind(bound, relative=relative, weight=settings[name]))
    return made


def _naive(cost: float, settings: Settings, seed: int) -> NaiveClassifier:
    return NaiveClassifier(_score(settings, seed), cost=cost, **_parameters(settings))


def _semi(cost: float, settings: Settings, seed: int) -> SemiStrategicClassifier:
    return SemiStrategicClassifier(_score(settings, seed), cost=cost, **_parameters(settings))


def _strategic(cost: float, settings: Settings, seed: int) -> StrategicClassifier:
    kind = StrategicClassifier if settings.get("push_out", True) else UnpushedClassifier
    return kind(cost, constraints=constraints_of(settings), random_state=seed, **_parameters(settings))


def _paper(cost: float, settings: Settings, seed: int) -> PaperClassifier:
    return PaperClassifier(cost, parity=settings["parity"], random_state=seed, **_parameters(settings))


def _thresholds(cost: float, settings: Settings, seed: int) -> GroupThresholdClassifier:
    scores = [MemoizedClassifier(SCORES[name](seed)) for name in settings["scores"]]
    return GroupThresholdClassifier(scores, cost=cost, **_parameters(settings))


# ---------------------------------------------------------------------- settings


def parity_weight(dataset: str, cost: float) -> float:
    """Weight of the parity penalty: 100 on the bank data; elsewhere 8 at a cost of .65, rising linearly to 16 at .85.

    Examples
    --------
    >>> parity_weight("adult", 0.75), parity_weight("bank_30", 0.75)
    (12.0, 100.0)
    """
    return 100.0 if dataset.startswith("bank_") else round(8.0 + 8.0 * (cost - 0.65) / 0.2, 6)


def margin(dataset: str) -> float:
    """By how much a group's precision must exceed the cost in training, as in the paper: .05 on the bank data."""
    return 0.05 if dataset.startswith("bank_") else 0.02


def _our_learner(
    title: str, *, group_columns: bool, parity: bool = False, tpr_parity: bool = False, **others: Any
) -> Method:
    """Our learner on the paper's objective; ``others`` are settings that replace these."""

    def settings(dataset: str, cost: float) -> Settings:
        weight = parity_weight(dataset, cost)
        chosen = {"group_columns": group_columns, "margin": margin(dataset)}
        if group_columns:  # as in the paper, so that groups that stay away have a precision and a rank
            chosen["shut_out"] = "select_all"
        if parity:  # the paper's objective does not lower the precision of groups that are not meant to apply
            chosen |= {"parity": weight, "rate_bound": RATE_BOUND, "relative": True, "push_out": tpr_parity}
        if tpr_parity:
            chosen |= {"tpr_parity": weight, "order": True}
        return chosen | others

    return Method(title, _strategic, settings)


def _cross_fitted(title: str, build: Callable[[float, Settings, int], Any], **chosen: Any) -> Method:
    """A classifier with its default parameters, which publishes the precision of people it was not fitted to."""
    settings = {"publish": "cross_fit", **chosen}
    return Method(title, build, lambda dataset, cost: dict(settings), shares_fits=build is not _strategic)


def _cross_fitted_thresholds(title: str, *scores: str) -> Method:
    chosen = {"group_columns": True, "scores": list(scores), "unseen": "pooled"}
    return _cross_fitted(title, _thresholds, **chosen)


def _released(
    title: str,
    *,
    group_columns: bool,
    parity: bool = False,
    by_footnote: bool = False,
    weight: float | None = None,
    starts: int | None = None,
) -> Method:
    """The paper's descent with the settings of its released code; ``weight`` of parity is in the form of its text.

    On Adult the text's weight of parity is taken for that of the code, or converted ``by_footnote``. On the bank data
    both are 10.
    """

    def settings(dataset: str, cost: float) -> Settings:
        bank = dataset.startswith("bank_")
        released = 10.0 if bank else parity_weight(dataset, cost) / (TEXT_OVER_CODE if by_footnote else 1.0)
        if weight is not None:  # the released code adds up over groups what the text averages
            released = weight / (RELEASED_FACTOR**2 * (10 if bank else 4))
        return {
            "preset": "released",
            "group_columns": group_columns,
            "margin": margin(dataset),
            "n_starts": starts or (10 if bank else 5),
            "parity": released if parity else 0.0,
            "application_weight": 1 / 64 if bank and parity else 1 / 6,
        }

    return Method(title, _paper, settings)


# ---------------------------------------------------------------------- the methods by name

#: The paper's methods, by our learner, in the order of its tables. ``strat_order`` (equal selection rates and equal
#: true-positive rates) is ours.
PAPER_METHODS = {
    "naive": Method("naive", _naive, lambda dataset, cost: {}, shares_fits=True),
    "semi": Method("semi", _semi, lambda dataset, cost: {}, shares_fits=True),
    "strat_x": _our_learner("strat_x", group_columns=True),
    "strat_no_group": _our_learner("strat_no_group", group_columns=False),
    "strat_parity": _our_learner("strat_parity", group_columns=False, parity=True),
    "strat_order": _our_learner("strat_order", group_columns=False, parity=True, tpr_parity=True),
}

_LOGISTIC, _BOOSTING = SCORES
#: Methods that publish the precision among people whom the classifier was not fitted to, with default parameters.
CROSS_FIT_METHODS = {
    "naive_honest": _cross_fitted("naive, cross-fitted", _naive),
    "semi_honest": _cross_fitted("semi, cross-fitted", _semi),
    "strat_x_honest": _cross_fitted("strat_x, cross-fitted", _strategic, group_columns=True),
    "strat_no_group_honest": _cross_fitted("strat_no_group, cross-fitted", _strategic, group_columns=False),
    "thresholds_lr": _cross_fitted_thresholds("thresholds over logistic regression", _LOGISTIC),
    "thresholds_gb": _cross_fitted_thresholds("thresholds over gradient boosting", _BOOSTING),
    "thresholds_both": _cross_fitted_thresholds("thresholds over both", _LOGISTIC, _BOOSTING),
}

#: The paper's methods by 30,000 steps of its own descent: slow.
DESCENT_METHODS = {
    "naive_descent": Method("naive (descent)", _naive, lambda dataset, cost: {"dtype": "float32"}, shares_fits=True),
    "semi_descent": Method(
        "semi (descent)", _semi, lambda dataset, cost: {"dtype": "float32", "grid": 1000}, shares_fits=True
    ),
    "strat_x_descent": _released("strat_x (descent)", group_columns=True),
    "strat_no_group_descent": _released("strat_no_group (descent)", group_columns=False),
    "strat_parity_descent": _released("strat_parity (descent)", group_columns=False, parity=True),
}

#: The descent with several weights of parity, in the form of the paper's text (an average over groups).
WEIGHT_METHODS = {
    f"parity_{weight}": _released(
        f"parity by descent, weight {weight:,}", group_columns=False, parity=True, weight=weight
    )
    for weight in (10, 100, 1_000, 10_000)
}

#: The descent with parity from a single start, so that none is chosen; and with the weight of parity by the paper's
#: footnote, which is a tenth of the other on Adult.
ONE_START, FOOTNOTE = "strat_parity_one_start", "strat_parity_footnote"
#: Our learner with parity, which also lowers the precision of groups that are not meant to apply.
PUSHED = "strat_parity_pushed"
#: Our learner with equal selection and true-positive rates, up to an absolute or a relative difference, and no order.
RATE_METHODS = {
    f"rates_{kind}_{tolerance}": _our_learner(
        f"equal rates, {kind} tolerance {tolerance}",
        group_columns=False,
        parity=True,
        tpr_parity=True,
        rate_bound=tolerance,
        order=False,
        push_out=False,
        relative=kind == "relative",
    )
    for kind, tolerance in (("absolute", 0.05), ("relative", RATE_BOUND))
}
#: Experiments on parity and order.
EXPERIMENT_METHODS = {
    **WEIGHT_METHODS,
    ONE_START: _released("strat_parity (descent), one start", group_columns=False, parity=True, starts=1),
    FOOTNOTE: _released("strat_parity (descent), footnote", group_columns=False, parity=True, by_footnote=True),
    PUSHED: _our_learner("strat_parity, others pushed out", group_columns=False, parity=True, push_out=True),
    **RATE_METHODS,
}

ALL_METHODS = {**PAPER_METHODS, **CROSS_FIT_METHODS, **DESCENT_METHODS, **EXPERIMENT_METHODS}
#: Methods whose published precision is compared with the delivered one.
PROMISE_METHODS = ("naive", "semi", "strat_x", "strat_no_group", *CROSS_FIT_METHODS)
