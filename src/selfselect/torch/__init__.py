"""The strategic objective as a loss of PyTorch: any module that returns one score per person can be trained with it.

``pip install selfselect[torch]`` installs PyTorch and skorch. No other part of the package imports them.
"""

try:
    import torch.nn  # noqa: F401, I001  (first: skorch needs it)
    import skorch  # noqa: F401
except ImportError as error:
    raise ImportError(f"selfselect.torch needs PyTorch and skorch ({error}): pip install selfselect[torch]") from error

from .classifier import TorchStrategicClassifier
from .loss import StrategicLoss
from .sampling import GroupBatchSampler

__all__ = ["GroupBatchSampler", "StrategicLoss", "TorchStrategicClassifier"]
