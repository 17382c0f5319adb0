"""Training of a network with skorch: ordinary epochs first, then epochs on the strategic loss, with early stopping."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from skorch import NeuralNet
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.utils.data import DataLoader, StackDataset
from tqdm import tqdm

from .._validation import check_nonnegative, check_whole
from ..publishing.splits import Holdout, Rows
from .loss import StrategicLoss
from .network import MLP, Network, call
from .sampling import GroupBatchSampler

#: Share of the fitted people by whom epochs are compared, and epochs without improvement after which a stage ends.
VALIDATION_SIZE, PATIENCE = 0.15, 10


def check_settings(model: Any) -> None:
    """Refuse wrong parameters of a :class:`~selfselect.torch.TorchStrategicClassifier` by name."""
    check_whole(model.max_epochs, "max_epochs", 1)
    if model.batch_size not in (None, -1):
        check_whole(model.batch_size, "batch_size", 1)
    if not check_nonnegative(model.lr, "lr"):
        raise ValueError("lr must be above 0, got 0.")
    _find_optimizer(model.optimizer)
    try:
        torch.zeros(1, dtype=torch.float64, device=model.device).cpu()
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = str(error).partition(". ")[0].rstrip(".")
        raise ValueError(f"device={model.device!r} cannot be used here ({reason}). Use 'cpu'.") from error


def _find_optimizer(optimizer: Any) -> Any:
    found = getattr(torch.optim, optimizer, None) if isinstance(optimizer, str) else optimizer
    if not (isinstance(found, type) and issubclass(found, torch.optim.Optimizer)):
        raise ValueError(
            f"optimizer must be the name of a class of torch.optim, such as 'Adam' or 'SGD', or a class, got "
            f"{optimizer!r}."
        )
    return found


def train_network(
    model: Any,
    seed: int,
    people: Any,
    rows: Rows,
    make_loss: Callable[..., StrategicLoss],
    accuracy: Callable[[Any, NDArray[np.float64]], float],
) -> Network:
    """Train a network on some rows, with the parameters of a :class:`~selfselect.torch.TorchStrategicClassifier`.

    ``make_loss`` gets the arguments of the loss that are about batches. ``accuracy`` is that among applicants of the
    people set aside, given their scores. The weights of the best epoch are kept; if accuracies are equal, as when
    nobody applies, the one with the smallest ordinary loss.
    """
    weights = np.ones(len(people.qualified)) if people.weights is None else people.weights
    rows = rows[weights[rows] > 0]
    inner = Holdout(VALIDATION_SIZE).splits(people.X, people.qualified, people.groups, rows, people.person)
    fitted, aside = inner.final, inner.evaluated
    features, new = people.X[fitted], people.X[aside]
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(seed)
        network = Network(model.module, model.module_params, people.X.layout)
        if isinstance(network.module_, MLP):
            network.module_.standardise(features.flat())
        codes, y = people.groups.codes[fitted], people.qualified[fitted]
        size = len(fitted) if model.batch_size in (None, -1) else min(model.batch_size, len(fitted))
        sampler = GroupBatchSampler(2 * codes + y, size, seed=seed)
        inputs, weight = network.inputs(features), weights[fitted] / weights[fitted].mean()
        data = StackDataset(
            StackDataset(
                inputs=StackDataset(**inputs) if isinstance(inputs, dict) else inputs,
                group=torch.from_numpy(codes),
                weight=torch.from_numpy(weight.astype(np.float32)),
            ),
            torch.from_numpy(y.astype(np.float32)),
        )
        net = _Net(
            network.module_,
            make_loss(decay=None if size == len(fitted) else 1 - 1 / len(sampler), batches_per_epoch=len(sampler)),
            optimizer=_find_optimizer(model.optimizer),
            lr=model.lr,
            device=model.device,
            iterator_train=lambda dataset, **_: DataLoader(dataset, sampler=sampler, batch_size=None),
            train_split=None,
        ).initialize()
        ordinary = model.max_epochs // 2 if model.warm_start_naive else 0
        best, kept = (-np.inf, -np.inf), copy.deepcopy(network.module_.state_dict())
        with tqdm(total=model.max_epochs, desc="epochs", delay=2, leave=False, disable=None) as bar:
            for stage, epochs in (("naive", ordinary), ("strategic", model.max_epochs - ordinary)):
                net.ordinary, waited = stage == "naive", 0
                for _ in range(epochs):
                    net.fit_loop(data, epochs=1)
                    bar.update()
                    score = network.decision_function(new, model.device)
                    value = accuracy(inner, score), -_log_loss(score, people.qualified[aside], weights[aside])
                    network.history.append({"stage": stage, "accuracy": value[0], "log_loss": -value[1]})
                    waited = 0 if value > best else waited + 1
                    if value > best:
                        best, kept = value, copy.deepcopy(network.module_.state_dict())
                    if waited == PATIENCE:
                        break
                network.module_.load_state_dict(kept)
    return network


class _Net(NeuralNet):
    """Training loop of skorch for scores: groups and weights come with the features, and go to the loss."""

    ordinary = False

    def get_default_callbacks(self) -> list[Any]:
        """None: epochs are run and compared one by one."""
        return []

    def infer(self, x: Any, **_: Any) -> Tensor:
        """Scores of a batch."""
        return call(self.module_, x["inputs"], self.device)

    def get_loss(self, y_pred: Tensor, y_true: Tensor, X: Any = None, training: bool = False) -> Tensor:
        """Ordinary or strategic loss of a batch."""
        if self.ordinary:
            weight, y = X["weight"].to(y_pred.device), y_true.to(y_pred)
            return binary_cross_entropy_with_logits(y_pred, y, weight=weight)
        value: Tensor = self.criterion_(y_pred, y_true, X["group"], X["weight"])
        return value


def _log_loss(score: NDArray[np.float64], y: NDArray[np.bool_], weight: NDArray[np.float64]) -> float:
    return float(np.average(np.logaddexp(0, np.where(y, -score, score)), weights=weight))
