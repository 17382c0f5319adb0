"""Any module of PyTorch as a classifier that is trained for the people who apply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data
from torch import nn

from .._frames import to_pandas
from .._validation import FloatArray, check_choice, check_same_rows
from ..constraints import Constraint, InfeasibleError
from ..costs import Cost
from ..estimators import GroupThresholdClassifier, SemiStrategicClassifier
from ..estimators.base import SelfSelectionClassifier
from ..estimators.docs import estimator_class
from ..estimators.io import SAVING
from ..estimators.training_data import TrainingPeople, plain_groups
from ..publishing.splits import Rows, Splits
from ..statistics import Precision
from .features import ALONE, Features, check_parts, unwrap
from .loss import StrategicLoss
from .network import Network
from .training import check_settings, train_network

#: Standard errors that are subtracted from the accuracy of an epoch: few people compare epochs.
CAUTION = 1.0


@estimator_class
class TorchStrategicClassifier(SelfSelectionClassifier):
    """A PyTorch module, trained for accuracy among those who apply, with the best threshold or thresholds.

    The module is trained with the ordinary log-loss, and then with :class:`~selfselect.torch.StrategicLoss`. A part of
    the fitted people is set aside to compare epochs: the weights with the highest accuracy among applicants are kept.
    Thresholds are chosen by the exact search of :class:`~selfselect.SemiStrategicClassifier` or
    :class:`~selfselect.GroupThresholdClassifier`, on people that the score has not seen.

    Parameters
    ----------
    module : nn.Module class or instance, optional
        It returns one score per row, of shape (n,) or (n, 1), without softmax or sigmoid. By default a network with two
        hidden layers of 64 units, on standardised features. Only a class can be saved in a model file.
    $cost
    thresholds : {"one", "per_group"}, default="one"
        Whether all groups have the same threshold. With thresholds per group, ``predict`` needs the groups.
    $constraints
        Those that have a penalty, such as parity, are also part of the loss.
    module_params : dict, optional
        Arguments of the class; of the default module ``hidden=(64, 64)`` and ``dropout=0.0``.
    max_epochs : int, default=100
        Largest number of epochs; at most half of them are ordinary.
    batch_size : int, optional, default=512
        People in a batch. Every batch has about the same share of each group. None or -1 is everybody at once.
    lr : float, default=0.003
        Learning rate.
    optimizer : str or class, default="Adam"
        Name of a class in :mod:`torch.optim`, or a class.
    device : str, default="cpu"
        Where the module is trained and evaluated. It must have double precision, which "mps" has not.
    warm_start_naive : bool, default=True
        Whether to start with ordinary epochs. A group that is far from applying has almost no strategic gradient.
    random_state : int or RandomState, optional
        Seed. PyTorch's own random state is not changed.
    $subsidies
    $publishing

    Attributes
    ----------
    estimator_ : Network
        The fitted network; ``estimator_.module_`` is the module.
    history_ : DataFrame
        Stage, and accuracy among applicants and log-loss of the people set aside, of each epoch of the final fit. The
        accuracy is less one standard error, and -1 if no threshold meets the constraints or nobody applies.
    threshold_ : float
        With one threshold: a person is selected when the score is above it.
    thresholds_ : Series, indexed by group
        With thresholds per group.
    $violations
    $attributes

    Notes
    -----
    ``X`` is a table, an array or tensor of any shape whose first dimension is that of people, a dict of arrays or
    tensors, which the module gets as keyword arguments, or a :class:`torch.utils.data.Dataset`, of whose items the
    first entry counts. Whole numbers reach the module as int64, other numbers as float32.

    Examples
    --------
    >>> from selfselect.datasets import make_base_rate_groups
    >>> X, y, z = make_base_rate_groups((0.5, 0.15), random_state=0, return_X_y_group=True)
    >>> model = TorchStrategicClassifier(cost=0.8, max_epochs=5, publish="holdout", random_state=0)
    >>> model = model.fit(X, y, sensitive_features=z)
    >>> model.predict(X).shape == y.shape
    True
    """

    # with metadata routing, groups are requested by default
    __metadata_request__predict = {"sensitive_features": True}  # noqa: RUF012
    __metadata_request__decision_function = {"sensitive_features": True}  # noqa: RUF012

    module: Any = field(default=None, kw_only=False)
    cost: Cost = 0.7
    thresholds: Literal["one", "per_group"] = "one"
    constraints: Sequence[Constraint] = ()
    module_params: dict[str, Any] | None = None
    max_epochs: int = 100
    batch_size: int | None = 512
    lr: float = 0.003
    optimizer: Any = "Adam"
    device: str = "cpu"
    warm_start_naive: bool = True
    random_state: Any = None

    def fit(
        self, X: Any, y: ArrayLike, *, sensitive_features: Any = None, sample_weight: Any = None, person: Any = None
    ) -> Self:
        """Train the network, choose thresholds and publish statistics; see :meth:`NaiveClassifier.fit`."""
        check_choice(self.thresholds, "thresholds", tuple(CHOOSERS))
        X = unwrap(X)
        X = check_parts(X) if type(X) is dict else X  # sparse tables may be subclasses of dict
        given = {"sensitive_features": sensitive_features, "sample_weight": sample_weight, "person": person}
        return super().fit(X, unwrap(y), **{name: unwrap(value) for name, value in given.items()})

    def _validate(self, X: Any, y: Any) -> tuple[Any, Any]:
        features = self._features(X, reset=True)
        check_consistent_length(features, y)
        return features, y

    def _features(self, X: Any, *, reset: bool) -> Features:
        """Checked features: finite numbers."""
        if isinstance(X, Features):
            return X
        if type(X) is dict:
            return check_parts(X)
        return Features({ALONE: validate_data(self, X, reset=reset, allow_nd=True)})

    def __getstate__(self) -> dict[str, Any]:
        if SAVING.get() is not None and isinstance(self.module, nn.Module):
            raise TypeError(
                f"module is an instance of {type(self.module).__name__}, which a model file cannot rebuild. Pass the "
                "class as module and its arguments as module_params, and fit again"
            )
        return super().__getstate__()

    @property
    def _guarantee_after_fit(self) -> bool:  # type: ignore[override]
        return self.thresholds == "one"

    def _fit(self, people: TrainingPeople) -> tuple[NDArray[Any], NDArray[Any]]:
        check_settings(self)
        for name in ("threshold_", "thresholds_", "curve_", "allocation_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        chooser = self._chooser(estimator=self)
        chooser.seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        scores: tuple[NDArray[Any], NDArray[Any]] = chooser._fit(people)
        self.__dict__.update(_fitted(chooser))
        return scores

    def _chooser(self, **params: Any) -> Any:
        """Classifier that chooses the thresholds, with what is fitted so far."""
        shared = ("cost", "subsidies", "subsidy_kind", "behaviour", "constraints", "publish", "pos_label")
        chooser = CHOOSERS[self.thresholds](**({name: getattr(self, name) for name in shared} | params))
        chooser.__dict__.update(_fitted(self))
        return chooser

    # ------------------------------------------------------------------ after fit

    @property
    def history_(self) -> pd.DataFrame:
        """Stage, accuracy among applicants and log-loss of the people set aside, after each epoch."""
        check_is_fitted(self, "published_")
        return pd.DataFrame(self.estimator_.history)

    def decision_function(self, X: Any, sensitive_features: Any = None) -> NDArray[np.float64]:
        """Score minus the threshold; positive for the second class."""
        return self._for_second_class(self._above_threshold(X, sensitive_features))

    def predict(self, X: Any, sensitive_features: Any = None) -> NDArray[Any]:
        """Label of each row: qualified where the score is above the threshold."""
        return self._as_labels(self._above_threshold(X, sensitive_features) > 0)

    def _above_threshold(self, X: Any, sensitive_features: Any) -> FloatArray:
        check_is_fitted(self, "published_")
        X, groups = unwrap(X), unwrap(sensitive_features)
        check_same_rows(X=X, sensitive_features=groups)
        score = self.estimator_.decision_function(self._features(to_pandas(X), reset=False), self.device)
        return np.asarray(score - self._chooser()._threshold_of(plain_groups(groups), len(score)))

    def audit(self, X: Any, y: ArrayLike, sensitive_features: Any = None, **settings: Any) -> Any:
        """Audit the classifier on new people; see :meth:`NaiveClassifier.audit`."""
        return super().audit(unwrap(X), unwrap(y), unwrap(sensitive_features), **settings)

    def _predict_with_groups(self, X: Any, sensitive_features: Any) -> NDArray[Any]:
        return self.predict(X, sensitive_features)

    def _threshold_text(self, i: int) -> str:
        text: str = self._chooser()._threshold_text(i)
        return text


def _fitted(model: Any) -> dict[str, Any]:
    """Fitted attributes of a classifier."""
    return {name: value for name, value in vars(model).items() if name.endswith("_") and not name.startswith("_")}


class _TrainsNetworks:
    """Mixin of classifiers that choose thresholds: their score is a network, trained to some of the people."""

    def _fit_inner(self: Any, people: TrainingPeople, rows: Rows, model: TorchStrategicClassifier) -> Network:
        labels = people.groups.labels
        costs = self._terms().effective_cost(labels)
        judge = type(self)(**(self.get_params(deep=False) | {"publish": "train", "caution": CAUTION}))

        def make_loss(**batches: Any) -> StrategicLoss:
            loss = StrategicLoss(costs, len(labels), self.behaviour, **batches)
            # constraints and behaviours know groups by their labels
            loss.objective = replace(loss.objective, constraints=tuple(self.constraints)).for_groups(labels)
            return loss

        def accuracy(splits: Splits, score: FloatArray) -> float:
            try:
                value = judge._accuracy(replace(people, splits=splits), score)
            except InfeasibleError:
                return -1.0
            return value if np.isfinite(value) else -1.0

        return train_network(model, self.seed, people, rows, make_loss, accuracy)

    def _score_of(self: Any, inner: Network, X: Features, groups: Any) -> FloatArray:
        return inner.decision_function(X, self.estimator.device)


class _OneThreshold(_TrainsNetworks, SemiStrategicClassifier):
    def _accuracy(self, people: TrainingPeople, score: FloatArray) -> float:
        """Accuracy among applicants at the best threshold, less standard errors."""
        self.estimator_ = self
        threshold = self._search(people, score, 0.0)
        step = int(np.searchsorted(self.curve_["threshold"].to_numpy(), threshold, side="right")) - 1
        return float(self._value(self.curve_.iloc[[step]], float(people.curves(score).n.sum()))[0])


class _PerGroup(_TrainsNetworks, GroupThresholdClassifier):
    def _accuracy(self, people: TrainingPeople, score: FloatArray) -> float:
        """Accuracy among applicants at the best thresholds, less standard errors."""
        return float(self._optimise(people, people.curves(score), self, None, Precision()).value)


CHOOSERS: dict[str, Any] = {"one": _OneThreshold, "per_group": _PerGroup}
