"""Training of a network with skorch: ordinary epochs first, then epochs on the strategic loss, with early stopping."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.utils.data import DataLoader, Dataset
from tqdm import tqdm

from .._validation import check_nonnegative, check_whole
from ..publishing.splits import Holdout, Rows
from .loss import StrategicLoss
from .network import MLP, Network, call
from .sampling import GroupBatchSampler

try:
    from skorch import NeuralNet
except ImportError:  # the loss, and predictions of a loaded model, do without it
    NeuralNet = None

#: Share of the fitted people by whom epochs are compared, and epochs without improvement after which a stage ends.
VALIDATION_SIZE, PATIENCE = 0.15, 10


@dataclass(frozen=True, eq=False)
class TrainingSettings:
    """How a network is trained; parameters as in :class:`~selfselect.torch.TorchStrategicClassifier`."""

    module: Any
    module_params: dict[str, Any] | None
    max_epochs: int
    batch_size: int | None
    lr: float
    optimizer: Any
    device: str
    warm_start_naive: bool
    seed: int

    def check(self) -> None:
        """Refuse wrong settings by name."""
        if NeuralNet is None:
            raise ImportError("TorchStrategicClassifier needs skorch: pip install selfselect[torch]")
        check_whole(self.max_epochs, "max_epochs", 1)
        if self.batch_size not in (None, -1):
            check_whole(self.batch_size, "batch_size", 1)
        if not check_nonnegative(self.lr, "lr"):
            raise ValueError("lr must be above 0, got 0.")
        self.find_optimizer()
        try:
            torch.empty(0, device=self.device)
        except (RuntimeError, AssertionError, TypeError) as error:
            raise ValueError(f"device={self.device!r} cannot be used here ({error}). Use 'cpu'.") from error

    def find_optimizer(self) -> Any:
        """Class of the optimizer."""
        found = getattr(torch.optim, self.optimizer, None) if isinstance(self.optimizer, str) else self.optimizer
        if not (isinstance(found, type) and issubclass(found, torch.optim.Optimizer)):
            raise ValueError(
                f"optimizer must be the name of a class of torch.optim, such as 'Adam' or 'SGD', or a class, got "
                f"{self.optimizer!r}."
            )
        return found

    @property
    def stages(self) -> Iterator[tuple[str, int]]:
        """Names of the stages with their largest numbers of epochs."""
        ordinary = self.max_epochs // 2 if self.warm_start_naive else 0
        yield from (("naive", ordinary), ("strategic", self.max_epochs - ordinary))


def train_network(
    settings: TrainingSettings,
    people: Any,
    rows: Rows,
    make_loss: Callable[..., StrategicLoss],
    accuracy: Callable[[Any, NDArray[np.float64]], float],
) -> Network:
    """Train a network on some rows.

    ``make_loss`` gets the arguments of the loss that are about batches. ``accuracy`` is that among applicants of the
    people set aside, given their scores. The weights of the best epoch are kept; if accuracies are equal, as when
    nobody applies, the one with the smallest ordinary loss.
    """
    weights = np.ones(len(people.qualified)) if people.weights is None else people.weights
    rows = rows[weights[rows] > 0]
    inner = Holdout(VALIDATION_SIZE).splits(people.X, people.qualified, people.groups, rows, people.person)
    fitted, aside = inner.final, inner.evaluated
    features, new = people.X[fitted], people.X[aside]
    devices = range(torch.cuda.device_count())
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(settings.seed)
        network = Network(settings.module, dict(settings.module_params or {}), people.X.layout)
        if isinstance(network.module_, MLP):
            network.module_.standardise(features.flat())
        codes, y = people.groups.codes[fitted], people.qualified[fitted]
        size = len(fitted) if settings.batch_size in (None, -1) else min(int(settings.batch_size or 0), len(fitted))
        sampler = GroupBatchSampler(2 * codes + y, size, seed=settings.seed)
        decay = None if size == len(fitted) else 1 - 1 / len(sampler)
        data = _Rows(network.inputs(features), y, codes, weights[fitted] / weights[fitted].mean())
        net = _Net(
            network.module_,
            make_loss(decay=decay, batches_per_epoch=len(sampler)),
            optimizer=settings.find_optimizer(),
            lr=settings.lr,
            device=settings.device,
            iterator_train=lambda dataset, **_: DataLoader(dataset, sampler=sampler, batch_size=None),
            train_split=None,
        ).initialize()
        with tqdm(total=settings.max_epochs, desc="epochs", delay=2, leave=False, disable=None) as bar:
            best, kept = (-np.inf, -np.inf), network.state()
            for stage, epochs in settings.stages:
                net.ordinary, waited = stage == "naive", 0
                for _ in range(epochs):
                    net.fit_loop(data, epochs=1)
                    bar.update()
                    score = network.decision_function(new, settings.device)
                    value = accuracy(inner, score), -_log_loss(score, people.qualified[aside], weights[aside])
                    network.history.append({"stage": stage, "accuracy": value[0], "log_loss": -value[1]})
                    waited = 0 if value > best else waited + 1
                    if value > best:
                        best, kept = value, network.state()
                    if waited == PATIENCE:
                        break
                network.module_.load_state_dict(kept)
    return network


class _Rows(Dataset[Any]):
    """Inputs of a module, groups and weights in a dict, and labels; a list of rows selects a whole batch."""

    def __init__(self, inputs: Any, y: Any, group: Any, weight: Any) -> None:
        self.inputs, self.y = inputs, torch.from_numpy(y.astype(np.float32))
        self.group, self.weight = torch.from_numpy(group.astype(np.int64)), torch.from_numpy(weight.astype(np.float32))

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: Any) -> Any:
        if isinstance(self.inputs, dict):
            inputs = {name: part[rows] for name, part in self.inputs.items()}
        else:
            inputs = self.inputs[rows]
        return {"inputs": inputs, "group": self.group[rows], "weight": self.weight[rows]}, self.y[rows]


class _Net(NeuralNet or object):  # type: ignore[misc]
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
            weight, y = X["weight"].to(y_pred.device), y_true.to(y_pred.device)
            return binary_cross_entropy_with_logits(y_pred, y.to(y_pred.dtype), weight=weight)
        strategic: nn.Module = self.criterion_
        value: Tensor = strategic(y_pred, y_true, X["group"], X["weight"])
        return value


def _log_loss(score: NDArray[np.float64], y: NDArray[np.bool_], weight: NDArray[np.float64]) -> float:
    return float(np.average(np.logaddexp(0, np.where(y, -score, score)), weights=weight))
