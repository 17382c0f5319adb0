"""Which labels the firm learns from in each round, and with which weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from .._validation import FloatArray, check_choice, check_whole

#: Why a model cannot be fitted.
NO_LABEL = "no label is left to learn from"


class Retraining(Protocol):
    """Weights of labelled people.

    For populations of counts, a class may set ``uses_age = False`` if its weights do not depend on the age, or
    ``rounds`` to the age from which all weights are 0. Both save time.
    """

    def weights(self, age: NDArray[Any], chance: FloatArray) -> FloatArray:
        """Weight of each person, 0 to leave the person out.

        ``age`` is the number of rounds since the label was found (0: in the last round), ``chance`` the probability
        that the person has a label by now.
        """
        ...


@dataclass(frozen=True)
class AllLabels:
    """All labels count the same, however old.

    Examples
    --------
    >>> AllLabels().weights(np.array([0, 7]), np.array([1.0, 0.1]))
    array([1., 1.])
    """

    uses_age: ClassVar[bool] = False

    def weights(self, age: NDArray[Any], chance: FloatArray) -> FloatArray:
        """Ones."""
        return np.ones(np.shape(chance))


@dataclass(frozen=True)
class Window:
    """Only labels of the last rounds count. The first labelled sample counts as that of round 0.

    Parameters
    ----------
    rounds : int, default=3
        Number of rounds, at least 1.

    Examples
    --------
    >>> Window(2).weights(np.array([0, 1, 2]), np.ones(3))
    array([1., 1., 0.])
    """

    rounds: int = 3
    uses_age: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_whole(self.rounds, "rounds", 1)

    def weights(self, age: NDArray[Any], chance: FloatArray) -> FloatArray:
        """1 inside the window, 0 outside."""
        return np.where(np.asarray(age) < self.rounds, 1.0, 0.0) * np.ones(np.shape(chance))


@dataclass(frozen=True)
class InverseProbability:
    """All labels count, weighted by one over the probability that the person has a label.

    This makes the labelled people represent everybody, if everybody has some probability: use it with exploration.

    Parameters
    ----------
    max_weight : float, default=50.0
        Larger weights are cut: without exploration, people who seldom have a label would weigh without limit.

    Examples
    --------
    >>> InverseProbability().weights(np.array([0, 0]), np.array([1.0, 0.05]))
    array([ 1., 20.])
    """

    max_weight: float = 50.0
    uses_age: ClassVar[bool] = False

    def weights(self, age: NDArray[Any], chance: FloatArray) -> FloatArray:
        """One over the probability, at most ``max_weight``."""
        return np.asarray(1 / np.maximum(chance, 1 / self.max_weight))


#: Retraining by its short name.
BY_NAME: dict[str, Any] = {"all": AllLabels, "window": Window, "weighted": InverseProbability}


def as_retraining(retrain: Any) -> Any:
    """The retraining that a short name stands for; an object is returned as it is."""
    if isinstance(retrain, str):
        check_choice(retrain, "retrain", tuple(BY_NAME))
        return BY_NAME[retrain]()
    if isinstance(retrain, type) or not hasattr(retrain, "weights"):
        raise TypeError(
            "retrain must be 'all', 'window', 'weighted' or an object with a method weights(age, chance), such as "
            f"Window(5), got {retrain!r}."
        )
    return retrain


def label_weights(retraining: Retraining, age: NDArray[Any], chance: FloatArray) -> FloatArray:
    """Weights of labelled people, checked."""
    weights = np.asarray(retraining.weights(age, chance), dtype=np.float64)
    if weights.shape not in ((), chance.shape) or not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError(f"{retraining!r} must return one weight of at least 0 for each of {chance.size} labels.")
    return weights + np.zeros(chance.shape)
