"""A module that scores people: built from a class or an instance, and kept as plain arrays in model files."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from .checks import as_array
from .features import ALONE, Features

#: People that are scored at once.
SCORED_AT_ONCE = 8192


class MLP(nn.Module):
    """The default module: standardised features, hidden layers with ReLU, and one score.

    Parameters
    ----------
    n_features : int
        Number of features.
    hidden : sequence of int, default=(64, 64)
        Number of units of each hidden layer; ``()`` is a linear score.
    dropout : float, default=0.0
        Share of hidden units that are left out at random in training.

    Examples
    --------
    >>> MLP(3, hidden=(8,))(torch.zeros(5, 3)).shape
    torch.Size([5])
    """

    def __init__(self, n_features: int, hidden: Sequence[int] = (64, 64), dropout: float = 0.0) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(n_features, dtype=torch.float64))
        self.register_buffer("scale", torch.ones(n_features, dtype=torch.float64))
        layers, width = [], n_features
        for size in hidden:
            layers += [nn.Linear(width, size), nn.ReLU(), nn.Dropout(dropout)]
            width = size
        self.layers = nn.Sequential(*layers, nn.Linear(width, 1))

    def standardise(self, table: NDArray[np.float64]) -> None:
        """Learn mean and standard deviation of the features; constant features get the scale 1."""
        mean, std = table.mean(axis=0), table.std(axis=0)
        self.mean.copy_(torch.from_numpy(mean))
        self.scale.copy_(torch.from_numpy(np.where(std > 1e-12 * np.abs(mean), std, 1.0)))

    def forward(self, X: Tensor) -> Tensor:
        """Score of each row."""
        standard = ((X - self.mean) / self.scale).float()
        score: Tensor = self.layers(standard).squeeze(-1)
        return score


class Network:
    """A module, how to build it again, and the shape of the rows that it takes.

    Parameters
    ----------
    module : nn.Module class, instance or None
        None is :class:`MLP`. An instance is copied, with its weights.
    params : dict or None
        Arguments of the class.
    layout : dict
        Shape of one row, by the name of the array.
    """

    def __init__(self, module: Any, params: dict[str, Any] | None, layout: dict[str, tuple[int, ...]]) -> None:
        self.module, self.params, self.layout = module, {} if params is None else params, layout
        self.history: list[dict[str, Any]] = []
        self.module_ = self._build()

    def _build(self) -> nn.Module:
        made: Any = self.module
        if isinstance(made, nn.Module):
            if self.params:
                raise ValueError("module_params are for a class; module is an instance. Pass the class as module.")
            return copy.deepcopy(made)
        if made is None:
            made = partial(MLP, sum(int(np.prod(shape)) for shape in self.layout.values()))
        elif not (isinstance(made, type) and issubclass(made, nn.Module)):
            raise TypeError(f"module must be a class or an instance of torch.nn.Module, or None, got {made!r}.")
        try:
            return made(**self.params)
        except TypeError as error:
            raise TypeError(f"module cannot be built: {error}. Pass its arguments as module_params.") from error

    def inputs(self, X: Features) -> Any:
        """Features as the module takes them: a tensor, or a dict of tensors; the default module takes a table."""
        if X.layout != self.layout:
            raise ValueError(
                f"X has rows of shape {_shapes(X.layout)}, but the classifier was fitted to rows of shape "
                f"{_shapes(self.layout)}. Pass the same features."
            )
        if self.module is None:  # a table that was mapped from a file cannot be written to
            return torch.from_numpy(np.require(X.flat(), requirements=["C", "W"]))
        return X.tensors()

    def decision_function(self, X: Features, device: str = "cpu") -> NDArray[np.float64]:
        """Score of each row, larger for the qualified."""
        self.module_.to(device).eval()
        scores = []
        with torch.inference_mode():
            for first in range(0, len(X), SCORED_AT_ONCE):
                part = self.inputs(X[slice(first, first + SCORED_AT_ONCE)])
                scores.append(call(self.module_, part, device).double().cpu().numpy())
        return np.concatenate(scores)

    def __getstate__(self) -> dict[str, Any]:
        weights = {name: as_array(value) for name, value in self.module_.state_dict().items()}
        return {name: value for name, value in vars(self).items() if name != "module_"} | {"weights": weights}

    def __setstate__(self, state: dict[str, Any]) -> None:
        weights = state.pop("weights")
        self.__dict__.update(state)
        with torch.random.fork_rng(devices=[]):  # building draws weights, which are then replaced
            self.module_ = self._build()
        self.module_.load_state_dict({name: torch.as_tensor(value) for name, value in weights.items()})


def call(module: nn.Module, inputs: Any, device: str = "cpu") -> Tensor:
    """Scores of a batch by a module; an error names what is wrong with its output."""
    named = inputs if isinstance(inputs, dict) else {ALONE: inputs}
    try:
        if inputs is named:
            output = module(**{name: part.to(device) for name, part in named.items()})
        else:
            output = module(inputs.to(device))
    except (RuntimeError, TypeError) as error:
        got = {name: f"{tuple(part.shape)} of {part.dtype}" for name, part in named.items()}
        error.add_note(f"module got a batch of shape {_shapes(got)}. Check module, module_params and X.")
        raise
    n_rows = len(next(iter(named.values())))
    if not isinstance(output, Tensor) or output.shape not in ((n_rows,), (n_rows, 1)):
        found = f"shape {tuple(output.shape)}" if isinstance(output, Tensor) else f"a {type(output).__name__}"
        raise ValueError(
            f"module returned {found} for {n_rows} rows; it must return one score per row, of shape ({n_rows},) or "
            f"({n_rows}, 1). End it with Linear(..., 1), without softmax or sigmoid."
        )
    if not torch.isfinite(output).all():
        raise ValueError(
            "The scores of module are NaN or infinite: training diverged. Lower lr, or scale the features."
        )
    return output.reshape(n_rows)


def _shapes(layout: dict[str, Any]) -> Any:
    return layout.get(ALONE, layout)
