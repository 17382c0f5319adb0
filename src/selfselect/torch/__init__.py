"""The strategic objective as a loss of PyTorch: any module that returns one score per person can be trained with it.

``pip install selfselect[torch]`` installs PyTorch. No other part of the package imports it.
"""

try:
    import torch.nn  # noqa: F401
except ImportError as error:
    raise ImportError("selfselect.torch needs PyTorch: pip install selfselect[torch]") from error

from .classifier import TorchStrategicClassifier
from .loss import StrategicLoss
from .sampling import GroupBatchSampler

__all__ = ["GroupBatchSampler", "StrategicLoss", "TorchStrategicClassifier"]
