"""The methods that are compared, by name: each fits on one split and says whom it selects at each cost."""

from __future__ import annotations

import inspect
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from .._notices import notices_kept
from .._validation import BoolArray
from ..constraints import RELEASED_FACTOR
from ..counting import GroupCounts
from ..estimators import (
    GradientDescentLogisticRegression,
    GroupThresholdClassifier,
    NaiveClassifier,
    SemiStrategicClassifier,
    StrategicClassifier,
)
from ..estimators.inner import default_estimator
from .choosing import chosen_by_folds
from .people import Split
from .remembering import Remembered

#: What strategic methods ask of a group's precision beyond the cost.
TOLERANCE = 0.02
#: Among which it is chosen where training data decide.
TOLERANCES = (0.02, 0.0, 0.05)
#: Largest difference of rates that are asked to be equal, as a share of the overall one (cf. the rule of four fifths).
RATE_TOLERANCE = 0.2


@dataclass(frozen=True, eq=False)
class Selection:
    """Whom a fitted method selects at one cost.

    Attributes
    ----------
    cost : float
        The cost that it was fitted for.
    train, test : ndarray of bool
        Who is selected.
    published : GroupCounts, optional
        Counts per group that people decide by, where they are not those of the training people.
    applies : ndarray of bool, optional
        Which groups apply because of them; by default those whose precision reaches the cost.
    """

    cost: float
    train: BoolArray
    test: BoolArray
    published: GroupCounts | None = None
    applies: BoolArray | None = None


#: Settings of a method at a cost, as passed to its estimator and as stored.
Settings = Callable[[float], dict[str, Any]]
#: Fits on a split, for some costs, with the settings of each and a seed; yields one selection per cost.
Fit = Callable[[Split, Iterable[float], Settings, int], Iterator[Selection]]


@dataclass(frozen=True)
class Method:
    """A method of the comparison.

    Attributes
    ----------
    title : str
        What people read.
    fit : callable
        Fits on a split for several costs. What it yields for a cost must not depend on which other costs are asked for.
    settings : callable
        Settings by name of the data set and cost, as stored with each result.
    shares : bool
        Whether fitting several costs at once costs hardly more than fitting one: then they are one unit of work.
    typical_seconds : float
        About how long one cost takes on the bundled Adult data, for estimates before anything is measured.
    """

    title: str
    fit: Fit
    settings: Callable[[str, float], dict[str, Any]]
    shares: bool
    typical_seconds: float


def _fit_naive(split: Split, costs: Iterable[float], settings: Settings, seed: int) -> Iterator[Selection]:
    model = _quietly_fitted(NaiveClassifier(publish="train"), split, split.train.features)
    train, test = model.predict(split.train.features) == 1, model.predict(split.test.features) == 1
    for cost in costs:
        yield Selection(cost, train, test)


def _fit_semi(split: Split, costs: Iterable[float], settings: Settings, seed: int) -> Iterator[Selection]:
    score = _quietly_fitted(NaiveClassifier(publish="train"), split, split.train.features).estimator_
    for cost in costs:
        semi = SemiStrategicClassifier(score, cost=cost, prefit=True, publish="train")
        model = _quietly_fitted(semi, split, split.train.features)
        yield Selection(cost, model.predict(split.train.features) == 1, model.predict(split.test.features) == 1)


def _fit_strategic(split: Split, costs: Iterable[float], settings: Settings, seed: int) -> Iterator[Selection]:
    for cost in costs:
        chosen = settings(cost)
        first = 0 if chosen.pop("group_columns") else split.train.n_group_columns
        train, test = split.train.features[:, first:], split.test.features[:, first:]
        model = _quietly_fitted(
            StrategicClassifier(cost=cost, random_state=seed, publish="train", **chosen), split, train
        )
        yield Selection(cost, model.predict(train) == 1, model.predict(test) == 1)


def _fit_chosen(split: Split, costs: Iterable[float], settings: Settings, seed: int) -> Iterator[Selection]:
    """As :func:`_fit_strategic`, with a tolerance chosen on training data alone."""
    tolerances: dict[float, float] = {}
    for cost in costs:
        offered = settings(cost)
        first = 0 if offered.pop("group_columns") else split.train.n_group_columns
        model = StrategicClassifier(cost=cost, random_state=seed, publish="train")
        with notices_kept():
            tolerances[cost] = chosen_by_folds(
                model, "tolerance", offered["tolerance"], split.train.features[:, first:], split.train
            )
    yield from _fit_strategic(split, tolerances, lambda cost: {**settings(cost), "tolerance": tolerances[cost]}, seed)


def _quietly_fitted(estimator: Any, split: Split, features: Any) -> Any:
    """Fit without the warning that nobody applies: that is a result here, and stored as one.

    Nor does a descent warn that it has not converged: it makes the paper's steps, and no more.
    """
    with notices_kept():
        return estimator.fit(features, split.train.y, sensitive_features=split.train.codes)


# ---------------------------------------------------------------------- published on people the score had not seen


def _fit_naive_honest(split: Split, costs: Iterable[float], settings: Settings, seed: int) -> Iterator[Selection]:
    model = _quietly_fitted(NaiveClassifier(publish="cross_fit"), split, split.train.features)
    for cost in costs:
        yield _honest(model, split, cost, model.predict(split.train.features), model.predict(split.test.features))


def _fit_semi_honest(split: Split, costs: Iterable[float], settings: Settings, seed: int) -> Iterator[Selection]:
    for cost in costs:
        semi = SemiStrategicClassifier(Remembered(default_estimator()), cost=cost, publish="cross_fit")
        model = _quietly_fitted(semi, split, split.train.features)
        yield _honest(model, split, cost, model.predict(split.train.features), model.predict(split.test.features))


def _fit_strategic_honest(split: Split, costs: Iterable[float], settings: Settings, seed: int) -> Iterator[Selection]:
    for cost in costs:
        first = 0 if settings(cost)["group_columns"] else split.train.n_group_columns
        train, test = split.train.features[:, first:], split.test.features[:, first:]
        strategic = StrategicClassifier(cost=cost, random_state=seed, publish="cross_fit")
        model = _quietly_fitted(strategic, split, train)
        yield _honest(model, split, cost, model.predict(train), model.predict(test))


def _fit_thresholds(split: Split, costs: Iterable[float], settings: Settings, seed: int) -> Iterator[Selection]:
    for cost in costs:
        inner = [_INNER[name](seed) for name in settings(cost)["scores"]]
        # of a group that nobody was trained on nobody applies, whoever of it is selected
        model = GroupThresholdClassifier(estimators=inner, cost=cost, publish="cross_fit", unseen="pooled")
        _quietly_fitted(model, split, split.train.features)
        train = model.predict(split.train.features, sensitive_features=split.train.codes)
        test = model.predict(split.test.features, sensitive_features=split.test.codes)
        yield _honest(model, split, cost, train, test)


#: Scores that thresholds are laid on, by the names under which they are stored; each is made with a seed.
_INNER: dict[str, Callable[[int], Remembered]] = {
    "logistic regression": lambda seed: Remembered(default_estimator()),
    "gradient boosting": lambda seed: Remembered(HistGradientBoostingClassifier(random_state=seed)),
}


def _honest(model: Any, split: Split, cost: float, train: Any, test: Any) -> Selection:
    """What a fitted classifier selects and publishes, by all groups, also those that nobody was trained on."""
    known = np.asarray(model.published_.groups, dtype=np.intp)
    n_groups = len(split.train.groups)
    published = [np.zeros(n_groups, dtype=column.dtype) for column in model.published_.counts.columns]
    for spread, column in zip(published, model.published_.counts.columns, strict=True):
        spread[known] = column
    applies = np.zeros(n_groups, dtype=bool)
    applies[known] = model.applies(cost).to_numpy()
    return Selection(cost, train == 1, test == 1, GroupCounts(*published), applies)


def parity_weight(dataset: str, cost: float) -> float:
    """Weight of the parity penalty: 100 on the bank data; 8 at a cost of .65, rising linearly to 16 at .85, elsewhere.

    Examples
    --------
    >>> parity_weight("adult", 0.75), parity_weight("bank_30", 0.75)
    (12.0, 100.0)
    """
    return 100.0 if dataset.startswith("bank_") else round(8.0 + 8.0 * (cost - 0.65) / 0.2, 6)


def _no_settings(dataset: str, cost: float) -> dict[str, Any]:
    return {}


def _strategic(
    title: str,
    *,
    group_columns: bool,
    parity: bool = False,
    equal_tpr: bool = False,
    told: Mapping[str, Any] | None = None,
    typical_seconds: float,
) -> Method:
    """A method of ours; ``told`` are settings beyond the usual ones."""

    def settings(dataset: str, cost: float) -> dict[str, Any]:
        weight = parity_weight(dataset, cost)
        # groups that their columns tell apart are kept out the paper's way, so that each has a precision and a rank
        shut_out = {"shut_out": "select_all"} if group_columns else {}
        rates = {"parity_tolerance": RATE_TOLERANCE, "ties": {"relative": True}} if parity else {}
        if equal_tpr:
            rates["tpr_tolerance"] = RATE_TOLERANCE
        return {
            "group_columns": group_columns,
            "parity": weight if parity else 0.0,
            "equal_tpr": weight if equal_tpr else 0.0,
            "tolerance": TOLERANCE,
            **shut_out,
            **rates,
            **(told or {}),
        }

    return Method(title, _fit_strategic, settings, shares=False, typical_seconds=typical_seconds)


def _honest_settings(classifier: type[Any], **chosen: Any) -> Callable[[str, float], dict[str, Any]]:
    """Settings of a classifier that is left as it comes: stored whole, so that other defaults are other results."""
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(classifier).parameters.items()
        if isinstance(parameter.default, bool | int | float | str | None) and name not in ("cost", "random_state")
    }
    return lambda dataset, cost: {**defaults, "publish": "cross_fit", **chosen}


def _thresholds(title: str, *scores: str, typical_seconds: float) -> Method:
    settings = _honest_settings(GroupThresholdClassifier, group_columns=True, scores=list(scores), unseen="pooled")
    return Method(title, _fit_thresholds, settings, shares=True, typical_seconds=typical_seconds)


#: The methods of the reproduction, in the order of the paper's tables; ``strat_order`` (parity with equal
#: true-positive rates) is ours.
METHODS: dict[str, Method] = {
    "naive": Method("naive", _fit_naive, _no_settings, shares=True, typical_seconds=0.02),
    "semi": Method("semi", _fit_semi, _no_settings, shares=True, typical_seconds=0.05),
    "strat_x": _strategic("strat_x", group_columns=True, typical_seconds=0.2),
    "strat_no_group": _strategic("strat_no_group", group_columns=False, typical_seconds=0.2),
    "strat_parity": _strategic("strat_parity", group_columns=False, parity=True, typical_seconds=0.7),
    "strat_order": _strategic("strat_order", group_columns=False, parity=True, equal_tpr=True, typical_seconds=0.8),
}

#: What was weak on splits that nobody had looked at, with a choice made on training data alone.
CHOSEN_METHODS: dict[str, Method] = {
    "strat_no_group_chosen": Method(
        "strat_no_group, margin chosen by folds",
        _fit_chosen,
        lambda *_: {"group_columns": False, "tolerance": list(TOLERANCES)},
        shares=False,
        typical_seconds=3.0,
    )
}

#: Methods that publish what people say whom the score had not seen, otherwise as the package has them by default.
HONEST_METHODS: dict[str, Method] = {
    "naive_honest": Method(
        "naive, honest", _fit_naive_honest, _honest_settings(NaiveClassifier), shares=True, typical_seconds=0.05
    ),
    "semi_honest": Method(
        "semi, honest", _fit_semi_honest, _honest_settings(SemiStrategicClassifier), shares=True, typical_seconds=0.1
    ),
    "strat_x_honest": Method(
        "strat_x, honest",
        _fit_strategic_honest,
        _honest_settings(StrategicClassifier, group_columns=True),
        shares=False,
        typical_seconds=1.0,
    ),
    "strat_no_group_honest": Method(
        "strat_no_group, honest",
        _fit_strategic_honest,
        _honest_settings(StrategicClassifier, group_columns=False),
        shares=False,
        typical_seconds=1.0,
    ),
    "thresholds_lr": _thresholds("thresholds over logistic regression", "logistic regression", typical_seconds=0.1),
    "thresholds_gb": _thresholds("thresholds over gradient boosting", "gradient boosting", typical_seconds=1.0),
    "thresholds_both": _thresholds(
        "thresholds over both", "logistic regression", "gradient boosting", typical_seconds=1.0
    ),
}

# ---------------------------------------------------------------------- the paper's own descent, as released


def _score_by_descent(settings: dict[str, Any], seed: int) -> GradientDescentLogisticRegression:
    return GradientDescentLogisticRegression(dtype=settings["dtype"], random_state=seed)


def _fit_naive_by_descent(split: Split, costs: Iterable[float], settings: Settings, seed: int) -> Iterator[Selection]:
    costs = tuple(costs)
    naive = NaiveClassifier(_score_by_descent(settings(costs[0]), seed), publish="train")
    model = _quietly_fitted(naive, split, split.train.features)
    train, test = model.predict(split.train.features) == 1, model.predict(split.test.features) == 1
    for cost in costs:
        yield Selection(cost, train, test)


def _fit_semi_by_descent(split: Split, costs: Iterable[float], settings: Settings, seed: int) -> Iterator[Selection]:
    costs = tuple(costs)
    score = _score_by_descent(settings(costs[0]), seed).fit(split.train.features, split.train.y)
    for cost in costs:
        semi = SemiStrategicClassifier(score, cost=cost, prefit=True, publish="train", grid=settings(cost)["grid"])
        model = _quietly_fitted(semi, split, split.train.features)
        yield Selection(cost, model.predict(split.train.features) == 1, model.predict(split.test.features) == 1)


def _by_descent(
    title: str,
    *,
    group_columns: bool,
    parity: bool = False,
    weight: float | None = None,
    starts: int | None = None,
    typical_seconds: float,
) -> Method:
    """A method by the released code.

    ``weight`` of parity is in the form of the text; it and the number of ``starts`` are by default what was released.
    """

    def settings(dataset: str, cost: float) -> dict[str, Any]:
        bank = dataset.startswith("bank_")
        released = 10.0 if bank else parity_weight(dataset, cost)
        # the released code adds up over groups what the text averages, and squares ten times the distance
        given = released if weight is None else weight / (RELEASED_FACTOR**2 * (10 if bank else 4))
        return {
            "solver": "gradient_descent",
            "preset": "released",
            "group_columns": group_columns,
            "tolerance": 0.05 if bank else 0.02,
            "n_starts": starts or (10 if bank else 5),
            "parity": given if parity else 0.0,
            "application": 1 / 64 if bank and parity else 1 / 6,
        }

    return Method(title, _fit_strategic, settings, shares=False, typical_seconds=typical_seconds)


#: The paper's methods trained its own way, by 30,000 steps of its released code: slow, and asked for by name only.
DESCENT_METHODS: dict[str, Method] = {
    "naive_descent": Method(
        "naive (descent)", _fit_naive_by_descent, lambda *_: {"dtype": "float32"}, shares=True, typical_seconds=2
    ),
    "semi_descent": Method(
        "semi (descent)",
        _fit_semi_by_descent,
        lambda *_: {"dtype": "float32", "grid": 1000},
        shares=True,
        typical_seconds=2,
    ),
    "strat_x_descent": _by_descent("strat_x (descent)", group_columns=True, typical_seconds=35),
    "strat_no_group_descent": _by_descent("strat_no_group (descent)", group_columns=False, typical_seconds=35),
    "strat_parity_descent": _by_descent("strat_parity (descent)", group_columns=False, parity=True, typical_seconds=40),
}

# ---------------------------------------------------------------------- experiments on parity and order

#: Weights of parity that the descent is tried with, in the form of the paper's text (an average over groups).
PARITY_WEIGHTS = (10, 100, 1_000, 10_000)


def parity_by_descent(weight: int) -> str:
    """Name of the descent with a weight of parity.

    Examples
    --------
    >>> parity_by_descent(100)
    'parity_100'
    """
    return f"parity_{weight}"


#: The paper's descent with parity of several weights.
WEIGHT_METHODS: dict[str, Method] = {
    parity_by_descent(weight): _by_descent(
        f"parity by descent, weight {weight:,}", group_columns=False, parity=True, weight=weight, typical_seconds=40
    )
    for weight in PARITY_WEIGHTS
}

#: The paper's descent with parity from a single start, so that none is chosen.
ONE_START = "strat_parity_one_start"
#: Our learner with parity, not told to push the precision of groups that are not meant to apply below the cost.
UNPUSHED = "strat_parity_unpushed"
#: Tolerances of equal rates that the order is looked for at, by kind.
RATE_TOLERANCES = {"absolute": (0.05, 0.02, 0.01, 0.005), "relative": (RATE_TOLERANCE, 0.05, 0.02, 0.01, 0.005)}


def equal_rates(tolerance: float, kind: str) -> str:
    """Name of the method that only makes selection and true-positive rates equal.

    Examples
    --------
    >>> equal_rates(0.05, "relative")
    'rates_relative_0.05'
    """
    return f"rates_{kind}_{tolerance:g}"


def _equal_rates(tolerance: float, kind: str) -> Method:
    told = {
        "parity_tolerance": tolerance,
        "tpr_tolerance": tolerance,
        "ties": {"order": False, "push_out": False, "relative": kind == "relative"},
    }
    title = f"equal rates, {kind} tolerance {tolerance:g}"
    return _strategic(title, group_columns=False, parity=True, equal_tpr=True, told=told, typical_seconds=1.0)


#: Our learner with equal rates alone, no order asked for.
RATE_METHODS: dict[str, Method] = {
    equal_rates(tolerance, kind): _equal_rates(tolerance, kind)
    for kind, tolerances in RATE_TOLERANCES.items()
    for tolerance in tolerances
}

#: Methods of experiments on parity and order: asked for by name only.
EXPERIMENT_METHODS: dict[str, Method] = {
    **WEIGHT_METHODS,
    ONE_START: _by_descent(
        "strat_parity (descent), one start", group_columns=False, parity=True, starts=1, typical_seconds=10
    ),
    UNPUSHED: _strategic(
        "strat_parity, others not pushed out",
        group_columns=False,
        parity=True,
        told={"ties": {"relative": True, "push_out": False}},
        typical_seconds=0.7,
    ),
    **RATE_METHODS,
}

#: All of them, by name.
ALL_METHODS: Mapping[str, Method] = ChainMap(
    EXPERIMENT_METHODS, DESCENT_METHODS, HONEST_METHODS, CHOSEN_METHODS, METHODS
)  # iterates from the last on
#: What is compared by what it promises and what it delivers: four methods of the paper, and all honest ones.
PROMISING = ("naive", "semi", "strat_x", "strat_no_group", *HONEST_METHODS)


@dataclass(frozen=True)
class Experiment:
    """Methods that are compared to answer one question.

    Attributes
    ----------
    title, question : str
        What people read.
    methods : tuple of str
        Whose results answer it.
    costs : tuple of float
        At which costs.
    target : str
        What ``make`` runs it by.
    """

    title: str
    question: str
    methods: tuple[str, ...]
    costs: tuple[float, ...]
    target: str


#: Experiments on parity and order, by name.
EXPERIMENTS: dict[str, Experiment] = {
    "weights": Experiment(
        "The paper's descent with parity of several weights.",
        "In the form of the paper's text, an average over groups of squared distances; the released code's parameter "
        "of 8 to 16 on Adult is 3,200 to 6,400 there, and its 10 on the bank data 10,000. What becomes of the order as "
        "rates are brought together?",
        tuple(WEIGHT_METHODS),
        (0.7,),
        "experiment-weights",
    ),
    "starts": Experiment(
        "The paper's descent with parity from one start.",
        "Of several starts that one is kept whose applicants are judged best in training, so that starts from which "
        "nobody applies are never kept while there is another. How much of what parity comes to is that choice?",
        ("strat_parity_descent", ONE_START),
        (0.65, 0.675, 0.7, 0.725, 0.75),
        "experiment-starts",
    ),
    "push": Experiment(
        "Parity with the others pushed out, and without.",
        "Our strat_parity lets one group apply and pushes the precision of the others below the cost; without that "
        "push, training only sees to equal rates and to the accuracy of those who apply. Is the order destroyed by "
        "parity, or by what the learner is told to do besides?",
        ("strat_parity", UNPUSHED),
        (0.7,),
        "experiment-push",
    ),
    "rates": Experiment(
        "How much of the order comes from equal rates alone.",
        "strat_order without its explicit demand of the order: selection and true-positive rates equal up to a "
        "tolerance, absolute or as a share of the overall rate. strat_order itself beside it, which has a tolerance of "
        f"{RATE_TOLERANCE:g} of the overall rate: an absolute one is met by selecting almost nobody.",
        (*RATE_METHODS, "strat_order"),
        (0.7,),
        "experiment-rates",
    ),
}
